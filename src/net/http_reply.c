/* SPDX-License-Identifier: MIT */
/*
 * http_reply.c — the answer to a request: a text, an error, a file or a part of it.
 *
 * Every answer says that it is what it says it is, belongs to no other site's page, and is not to
 * be kept, unless who answers says how long.
 */
#include "base/clock.h"
#include "base/json.h"
#include "net/http_internal.h"
#include "net/http_text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- headers ---- */

static const char *find_header(const char *const *headers, const char *name)
{
    for (; headers && headers[0]; headers += 2)
        if (strcasecmp(headers[0], name) == 0)
            return headers[1];
    return NULL;
}

static void add_headers(const struct microhttpd *mhd, struct MHD_Response *response,
                        const char *const *headers)
{
    for (; headers && headers[0]; headers += 2)
        mhd->MHD_add_response_header(response, headers[0], headers[1]);
}

void response_add_headers(const struct http_request *request, struct MHD_Response *response,
                          const char *type, const char *const *headers)
{
    static const char *const always[] = {"X-Content-Type-Options",
                                         "nosniff",
                                         "Referrer-Policy",
                                         "no-referrer",
                                         "Cross-Origin-Resource-Policy",
                                         "same-origin",
                                         "X-Frame-Options",
                                         "DENY",
                                         NULL};
    const struct microhttpd *mhd = request->mhd;

    if (type)
        mhd->MHD_add_response_header(response, "Content-Type", type);
    if (!find_header(headers, "Cache-Control"))
        mhd->MHD_add_response_header(response, "Cache-Control", "no-store");
    add_headers(mhd, response, always);
    add_headers(mhd, response, headers);
    add_headers(mhd, response, request->http->options.headers);
}

struct MHD_Response *request_response(const struct http_request *request, const char *type,
                                      struct str *body, const char *const *headers)
{
    size_t n = body ? body->len : 0;
    char *bytes = n ? str_take(body) : NULL;
    if (body)
        str_release(body); /* room without bytes */
    const struct microhttpd *mhd = request->mhd;
    struct MHD_Response *response =
        bytes ? mhd->MHD_create_response_from_buffer_with_free_callback(n, bytes, str_give_back)
              : mhd->MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    assert(response);
    response_add_headers(request, response, type, headers);
    return response;
}

/* ---- to answer ---- */

bool request_answer(struct http_request *request, unsigned status, struct MHD_Response *response)
{
    if (request->state == REQUEST_ANSWERED)
        return false;
    request->status = status;
    request->response = response;
    request->answered_us = clock_mono_us();
    if (request->state == REQUEST_STANDS)
        request->mhd->MHD_resume_connection(request->connection);
    request_set_state(request, REQUEST_ANSWERED);
    return true;
}

static void answer(struct http_request *request, unsigned status, struct MHD_Response *response)
{
    struct http *http = request->http;

    pthread_mutex_lock(&http->mutex);
    bool taken = request_answer(request, status, response);
    bool awaited = http->awaited == request;
    pthread_mutex_unlock(&http->mutex);
    if (awaited)
        pthread_cond_signal(&http->answered); /* without the mutex: who wakes up wants it */
    if (!taken)
        request->mhd->MHD_destroy_response(response);
    request_let_go(request);
}

/* Small ones are always sent, and this is one of them. */
static void refuse_unsent(struct http_request *request, struct str *body)
{
    static const char *const headers[] = {"Retry-After", "1", NULL};

    str_release(body);
    request_reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                        "more answers wait to be read here than there is room for: ask again later",
                        headers);
}

void http_reply(struct http_request *request, unsigned status, const char *type, struct str *body,
                const char *const *headers)
{
    if (body && !unsent_add(request, body->len))
        refuse_unsent(request, body);
    else
        answer(request, status, request_response(request, type, body, headers));
}

/* ---- errors ---- */

static const char *code_of(unsigned status)
{
    static const struct {
        unsigned status;
        const char *code;
    } codes[] = {
        {401, "unauthorized"},       {403, "forbidden"},   {404, "not_found"},
        {405, "method_not_allowed"}, {409, "conflict"},    {413, "too_large"},
        {429, "rate_limited"},       {503, "unavailable"}, {507, "unavailable"},
    };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].status == status)
            return codes[i].code;
    return status < 500 ? "bad_request" : "internal";
}

void request_reply_error(struct http_request *request, unsigned status, const char *sentence,
                         const char *const *headers)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    json_put_text(&out, "error", sentence);
    json_put_text(&out, "code", code_of(status));
    json_end_object(&out);
    str_add_char(&body, '\n');
    http_reply(request, status, "application/json", &body, headers);
}

void http_reply_error(struct http_request *request, unsigned status, const char *sentence)
{
    bool wanted = status == MHD_HTTP_UNAUTHORIZED && request->route;
    const char *challenge =
        wanted ? request->route->challenge : NULL; /* else the routes may be gone */
    const char *const ask[] = {"WWW-Authenticate", challenge ? challenge : "Bearer", NULL};
    char seconds[16];
    const char *const again[] = {"Retry-After", seconds, NULL};

    snprintf(seconds, sizeof(seconds), "%u", request->retry_s);
    request_reply_error(request, status, sentence,
                        status == MHD_HTTP_UNAUTHORIZED ? ask
                        : request->retry_s              ? again
                                                        : NULL);
}

void http_retry_after(struct http_request *request, unsigned seconds)
{
    request->retry_s = seconds;
}

/* ---- files ---- */

/* What a client compares to know whether it has this version of the file. */
struct version {
    char made[64], modified[64];
    const char *tag; /* the caller's, or made of the file's time and size */
};

static void version_of(const struct stat *st, const char *const *headers, struct version *ret)
{
    const char *given = find_header(headers, "ETag");
    struct tm tm;

    snprintf(ret->made, sizeof(ret->made), "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"",
             (uint64_t)st->st_ino, (uint64_t)st->st_size,
             (uint64_t)st->st_mtim.tv_sec * 1000000000U + (uint64_t)st->st_mtim.tv_nsec);
    ret->tag = given ? given : ret->made;
    gmtime_r(&st->st_mtim.tv_sec, &tm);
    strftime(ret->modified, sizeof(ret->modified), "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

/* If-Range with another version: the client is to get all of the new one. */
static enum range range_wanted(const struct http_request *request, const struct version *version,
                               uint64_t size, uint64_t *ret_from, uint64_t *ret_n)
{
    const char *range = http_header(request, "Range");
    const char *only_if = http_header(request, "If-Range");

    *ret_from = 0;
    *ret_n = size;
    if (!range ||
        (only_if && !str_eq(only_if, version->tag) && !str_eq(only_if, version->modified)))
        return RANGE_ALL;
    return range_parse(range, size, ret_from, ret_n);
}

static void reply_no_range(struct http_request *request, uint64_t size)
{
    char there[48];
    const char *const headers[] = {"Content-Range", there, NULL};

    snprintf(there, sizeof(there), "bytes */%" PRIu64, size);
    request_reply_error(request, MHD_HTTP_RANGE_NOT_SATISFIABLE,
                        "the file has no bytes in this range", headers);
}

static void reply_part(struct http_request *request, const char *type, int fd, uint64_t size,
                       uint64_t from, uint64_t n, const struct version *version,
                       const char *const *headers)
{
    const struct microhttpd *mhd = request->mhd;
    bool part = n != size;
    char which[80];
    struct MHD_Response *response = mhd->MHD_create_response_from_fd_at_offset64(n, fd, from);

    assert(response);
    response_add_headers(request, response, type, headers);
    mhd->MHD_add_response_header(response, "Accept-Ranges", "bytes");
    mhd->MHD_add_response_header(response, "Last-Modified", version->modified);
    if (!find_header(headers, "ETag"))
        mhd->MHD_add_response_header(response, "ETag", version->tag);
    snprintf(which, sizeof(which), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, from, from + n - 1,
             size);
    if (part)
        mhd->MHD_add_response_header(response, "Content-Range", which);
    answer(request, part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
}

void http_reply_file(struct http_request *request, const char *type, int fd,
                     const char *const *headers)
{
    autoclose int file = fd;
    struct version version = {"", "", ""};
    struct stat st;
    uint64_t from, n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        http_reply_error(request, MHD_HTTP_NOT_FOUND, "this is not a file");
        return;
    }
    uint64_t size = (uint64_t)st.st_size;
    version_of(&st, headers, &version);
    const char *known = http_header(request, "If-None-Match");
    if (known && tag_listed(known, version.tag)) {
        const char *const tag[] = {"ETag", version.tag, NULL};
        http_reply(request, MHD_HTTP_NOT_MODIFIED, NULL, NULL, tag);
        return;
    }
    if (range_wanted(request, &version, size, &from, &n) == RANGE_NONE) {
        reply_no_range(request, size);
        return;
    }
    file = -1; /* the response's now */
    reply_part(request, type, fd, size, from, n, &version, headers);
}
