/* SPDX-License-Identifier: MIT */
/*
 * http_request.c — what came with a request, decoded once, and the answer to it.
 */
#include "base/json.h"
#include "net/gzip.h"
#include "net/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <strings.h>

#define BODIES_MAX ((size_t)256 << 20)

/* ---- what came ---- */

static enum MHD_Result add_param(void *to, enum MHD_ValueKind kind, const char *key,
                                 size_t key_size, const char *value, size_t value_size)
{
    struct http_request *request = to;
    struct pair pair = {xstrndup(key, key_size), xstrndup(value ? value : "", value_size)};

    if (kind == MHD_HEADER_KIND)
        vec_push(&request->headers, pair);
    else
        vec_push(&request->params, pair);
    return MHD_YES;
}

struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const struct http_route *route, const char *method,
                                 const char *path)
{
    struct http_request *request = xcalloc(1, sizeof(*request));

    *request = (struct http_request){
        .http = http,
        .mhd = http->mhd,
        .connection = connection,
        .route = route,
        .method = xstrdup(method),
        .path = xstrdup(path),
        .body = STR_INIT,
        .owners = 1,
    };
    http->mhd->MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_param, request);
    http->mhd->MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_param, request);
    return request;
}

void request_free(struct http_request *request)
{
    vec_foreach (pair, &request->params) {
        free(pair->name);
        free(pair->value);
    }
    vec_foreach (pair, &request->headers) {
        free(pair->name);
        free(pair->value);
    }
    vec_release(&request->params);
    vec_release(&request->headers);
    if (request->response)
        request->mhd->MHD_destroy_response(request->response);
    str_release(&request->body);
    request_count(request, 0);
    free(request->method);
    free(request->path);
    free(request);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Of a form: '+' is a space, %41 an A; a lone % stays. */
static char *form_decode(const char *s, size_t n)
{
    struct str text = STR_INIT;

    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '%' && i + 2 < n ? hex_digit(s[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
        if (low >= 0) {
            str_add_char(&text, (char)(high << 4 | low));
            i += 2;
        } else {
            str_add_char(&text, s[i] == '+' ? ' ' : s[i]);
        }
    }
    return text.cap ? str_take(&text) : xstrdup("");
}

static void read_form(struct http_request *request)
{
    const char *s = request->body.s, *end = s + request->body.len;

    while (s < end) {
        const char *stop = memchr(s, '&', (size_t)(end - s));
        stop = stop ? stop : end;
        const char *equals = memchr(s, '=', (size_t)(stop - s));
        const char *name_end = equals ? equals : stop;
        const char *value = equals ? equals + 1 : stop;
        struct pair pair = {form_decode(s, (size_t)(name_end - s)),
                            form_decode(value, (size_t)(stop - value))};
        vec_push(&request->params, pair);
        s = stop + 1;
    }
}

static size_t bodies_max(const struct http *http)
{
    return http->options.bodies_max ? http->options.bodies_max : BODIES_MAX;
}

bool request_count(struct http_request *request, size_t n)
{
    struct http *http = request->http;
    size_t more = n - request->counted; /* may wrap: it is less, then */
    size_t all = __atomic_add_fetch(&http->bodies, more, __ATOMIC_RELAXED);

    if (n > request->counted && all > bodies_max(http)) {
        __atomic_sub_fetch(&http->bodies, more, __ATOMIC_RELAXED);
        return false;
    }
    request->counted = n;
    return true;
}

static unsigned refuse_for_now(struct err *err)
{
    err_set(err, EAGAIN, "too much is being sent here at once: send it again later");
    return MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned inflate_body(struct http_request *request, struct err *err)
{
    autorelease(str) struct str plain = STR_INIT;
    int r = gzip_inflate(request->body.s, request->body.len, request->route->body_max, &plain, err);

    if (r < 0)
        return r == -EFBIG ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_BAD_REQUEST;
    if (!request_count(request, plain.len))
        return refuse_for_now(err);
    struct str packed = request->body;
    request->body = plain;
    plain = packed;
    return 0;
}

unsigned request_finish(struct http_request *request, struct err *err)
{
    const char *encoding = http_header(request, "Content-Encoding");
    const char *type = http_header(request, "Content-Type");
    unsigned status = 0;

    if (request->too_large) {
        err_set(err, EFBIG, "the body is larger than %zu bytes", request->route->body_max);
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    if (request->no_room)
        return refuse_for_now(err);
    if (encoding && strcasecmp(encoding, "gzip") == 0) {
        status = inflate_body(request, err);
    } else if (encoding && *encoding && strcasecmp(encoding, "identity") != 0) {
        err_set(err, EINVAL, "Content-Encoding '%.50s' is not known here", encoding);
        status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    }
    if (!status && type && strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0)
        read_form(request);
    return status;
}

const char *http_method(const struct http_request *request)
{
    return request->method;
}

const char *http_path(const struct http_request *request)
{
    return request->path;
}

const char *http_param(const struct http_request *request, const char *name)
{
    vec_foreach (pair, &request->params)
        if (str_eq(pair->name, name))
            return pair->value;
    return NULL;
}

const char *http_header(const struct http_request *request, const char *name)
{
    vec_foreach (pair, &request->headers)
        if (strcasecmp(pair->name, name) == 0)
            return pair->value;
    return NULL;
}

struct str *http_body(struct http_request *request)
{
    return &request->body;
}

/* ---- the answer ---- */

static void add_headers(const struct microhttpd *mhd, struct MHD_Response *response,
                        const char *const *headers)
{
    for (; headers && headers[0]; headers += 2)
        mhd->MHD_add_response_header(response, headers[0], headers[1]);
}

struct MHD_Response *request_response(const struct http_request *request, const char *type,
                                      struct str *body, const char *const *headers)
{
    const struct microhttpd *mhd = request->mhd;
    size_t n = body ? body->len : 0;
    char *bytes = n ? str_take(body) : NULL;
    struct MHD_Response *response = mhd->MHD_create_response_from_buffer(
        n, bytes, bytes ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

    assert(response);
    if (type)
        mhd->MHD_add_response_header(response, "Content-Type", type);
    mhd->MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    add_headers(mhd, response, headers);
    add_headers(mhd, response, request->http->options.headers);
    return response;
}

/* With the server's mutex held. */
void request_answer(struct http_request *request, unsigned status, struct MHD_Response *response)
{
    if (request->state == REQUEST_ANSWERED) { /* the server stopped meanwhile */
        request->mhd->MHD_destroy_response(response);
        return;
    }
    request->status = status;
    request->response = response;
    if (request->state == REQUEST_STANDS)
        request->mhd->MHD_resume_connection(request->connection);
    request->state = REQUEST_ANSWERED;
}

void http_reply(struct http_request *request, unsigned status, const char *type, struct str *body,
                const char *const *headers)
{
    struct http *http = request->http;
    struct MHD_Response *response = request_response(request, type, body, headers);

    pthread_mutex_lock(&http->mutex);
    request_answer(request, status, response);
    pthread_mutex_unlock(&http->mutex);
    request_let_go(request);
}

void http_reply_error(struct http_request *request, unsigned status, const char *sentence)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    json_put_text(&out, "error", sentence);
    json_end_object(&out);
    str_add_char(&body, '\n');
    http_reply(request, status, "application/json", &body, NULL);
}
