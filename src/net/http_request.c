/* SPDX-License-Identifier: MIT */
/*
 * http_request.c — what came with a request, decoded once.
 */
#include "net/gzip.h"
#include "net/http_internal.h"
#include "net/http_text.h"

#include <assert.h>
#include <errno.h>
#include <strings.h>

/* ---- what came ---- */

static char *keep(struct http_request *request, const char *text, size_t n)
{
    char *copy = arena_alloc(&request->arena, n + 1);
    memcpy(copy, text, n);
    return copy;
}

static void add_pair(struct http_request *request, struct pair ***end, const char *name,
                     const char *value)
{
    struct pair *pair = arena_alloc(&request->arena, sizeof(*pair));

    *pair = (struct pair){NULL, name, value};
    **end = pair;
    *end = &pair->next;
}

struct copying {
    struct http_request *request;
    struct pair **end;
};

static enum MHD_Result copy_header(void *arg, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size)
{
    struct copying *to = arg;
    (void)kind;

    to->request->odd_header |= memchr(key, 0, key_size) || (value && memchr(value, 0, value_size));
    add_pair(to->request, &to->end, keep(to->request, key, key_size),
             keep(to->request, value ? value : "", value ? value_size : 0));
    return MHD_YES;
}

/* libmicrohttpd has split the query and made spaces of plus signs. */
static enum MHD_Result copy_param(void *arg, enum MHD_ValueKind kind, const char *key,
                                  size_t key_size, const char *value, size_t value_size)
{
    struct copying *to = arg;
    char *name = keep(to->request, key, key_size);
    char *text = keep(to->request, value ? value : "", value ? value_size : 0);
    (void)kind;

    name[text_decode(name, key_size, NULL)] = '\0';
    text[text_decode(text, value ? value_size : 0, NULL)] = '\0';
    add_pair(to->request, &to->end, name, text);
    return MHD_YES;
}

/* All of it is copied: whoever answers may still read it when the connection is gone. */
struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const char *method, const char *uri)
{
    struct http_request *request = xcalloc(1, sizeof(*request));
    const char *host;
    size_t host_n;
    const char *path = path_of_uri(uri, &host, &host_n);

    *request = (struct http_request){
        .http = http,
        .mhd = http->mhd,
        .connection = connection,
        .arena = ARENA_INIT,
        .body = STR_INIT,
        .owners = 1,
    };
    request->method = keep(request, method, strlen(method));
    request->path = keep(request, path, strlen(path));
    request->host = host ? keep(request, host, host_n) : NULL;
    struct copying params = {request, &request->params}, headers = {request, &request->headers};
    http->mhd->MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, copy_param, &params);
    http->mhd->MHD_get_connection_values_n(connection, MHD_HEADER_KIND, copy_header, &headers);
    return request;
}

int request_read_segments(struct http_request *request, struct err *err)
{
    const char *raw;
    size_t n;
    bool rest;

    for (size_t i = 0; (raw = path_star(request->route->path, request->path, i, &n, &rest)); i++) {
        assert(i < HTTP_SEGMENTS_MAX);
        char *segment = keep(request, raw, n);
        int r = path_decode(segment, rest, err);
        if (r < 0)
            return r;
        request->segments[i] = segment;
    }
    return 0;
}

void request_free(struct http_request *request)
{
    http_attach(request, NULL, NULL);
    if (request->response)
        request->mhd->MHD_destroy_response(request->response);
    spool_free(request->spool);
    str_release(&request->body);
    request_count(request, 0);
    unsent_remove(request);
    arena_release(&request->arena);
    free(request);
}

/* Of a form: '+' is a space, %41 an A; a lone % stays. */
static const char *form_text(struct http_request *request, const char *s, size_t n)
{
    char *text = keep(request, s, n);

    for (size_t i = 0; i < n; i++)
        if (text[i] == '+')
            text[i] = ' ';
    text[text_decode(text, n, NULL)] = '\0';
    return text;
}

/* Each field takes far more memory than its two bytes; and curl calls whatever it sends a form. */
#define FORM_FIELDS 1000
#define FORM_BYTES  ((size_t)1 << 20)

static void read_form(struct http_request *request)
{
    const char *s = request->body.s, *end = s + request->body.len, *name, *value;
    size_t name_n, value_n;
    struct pair **last = &request->params;

    while (*last)
        last = &(*last)->next;
    for (size_t n = 0; n < FORM_FIELDS && form_next(&s, end, &name, &name_n, &value, &value_n); n++)
        add_pair(request, &last, form_text(request, name, name_n),
                 form_text(request, value, value_n));
}

bool request_count(struct http_request *request, size_t n)
{
    struct http *http = request->http;
    size_t more = n - request->counted; /* may wrap: it is less, then */
    size_t all = __atomic_add_fetch(&http->bodies, more, __ATOMIC_RELAXED);

    if (n > request->counted && all > http->options.bodies_max) {
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
    if (request->spool)
        return spool_finish(request, err);
    if (request->no_room)
        return refuse_for_now(err);
    if (encoding && strcasecmp(encoding, "gzip") == 0) {
        status = inflate_body(request, err);
    } else if (encoding && *encoding && strcasecmp(encoding, "identity") != 0) {
        err_set(err, EINVAL, "Content-Encoding '%.50s' is not known here", encoding);
        status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    }
    if (!status && type && request->body.len <= FORM_BYTES &&
        strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0)
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
    for (const struct pair *pair = request->params; pair; pair = pair->next)
        if (str_eq(pair->name, name))
            return pair->value;
    return NULL;
}

/* Each head is looked at for some thirty names: most differ in the first letter. */
const char *http_header(const struct http_request *request, const char *name)
{
    for (const struct pair *pair = request->headers; pair; pair = pair->next)
        if ((*pair->name | 0x20) == (*name | 0x20) && strcasecmp(pair->name, name) == 0)
            return pair->value;
    return NULL;
}

const char *http_segment(const struct http_request *request, size_t i)
{
    return i < HTTP_SEGMENTS_MAX ? request->segments[i] : NULL;
}

const void *http_tag(const struct http_request *request)
{
    return request->route ? request->route->tag : NULL;
}

void http_attach(struct http_request *request, void *data, void (*release)(void *))
{
    if (request->attached && request->release_attached)
        request->release_attached(request->attached);
    request->attached = data;
    request->release_attached = release;
}

void *http_attached(const struct http_request *request)
{
    return request->attached;
}

struct str *http_body(struct http_request *request)
{
    return &request->body;
}
