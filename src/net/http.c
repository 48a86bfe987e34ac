/* SPDX-License-Identifier: MIT */
/*
 * http.c — the server: routes, and requests on their way through libmicrohttpd's thread.
 *
 * libmicrohttpd calls http_on_access() for the head of a request, for each piece of its body, at
 * its end, and once more after a suspended connection was resumed. What is wrong with the head
 * (route, Host, announced size) is answered before the body is read.
 */
#include "net/http_internal.h"
#include "net/http_text.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#define TIMEOUT_S  60
#define HEAD_S     30
#define BODY_S     120
#define BODIES_MAX ((size_t)256 << 20)
#define UNSENT_MAX ((size_t)256 << 20)
#define SLOW_S     5
#define SPOOL_FREE 0.05
#define PATIENCE   ((size_t)4 << 20) /* bytes beyond the cap; then it loses its connection */

/* ---- owners ---- */

void http_let_go(struct http *http)
{
    if (__atomic_sub_fetch(&http->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    pthread_mutex_destroy(&http->mutex);
    pthread_cond_destroy(&http->answered);
    str_release(&http->log);
    free(http->address);
    free(http);
}

void request_let_go(struct http_request *request)
{
    struct http *http = request->http;

    if (__atomic_sub_fetch(&request->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    request_free(request);
    http_let_go(http);
}

static void link_request(struct http *http, struct http_request *request)
{
    __atomic_add_fetch(&http->owners, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&http->mutex);
    request->next = http->open;
    if (http->open)
        http->open->prev = request;
    http->open = request;
    pthread_mutex_unlock(&http->mutex);
}

static void unlink_request(struct http *http, struct http_request *request)
{
    pthread_mutex_lock(&http->mutex);
    if (request->next)
        request->next->prev = request->prev;
    *(request->prev ? &request->prev->next : &http->open) = request->next;
    request->connection = NULL;
    request_set_state(request, REQUEST_ANSWERED);
    pthread_mutex_unlock(&http->mutex);
}

/* ---- routes ---- */

static bool method_matches(const char *methods, const char *method)
{
    size_t n = strlen(method);

    for (const char *s = methods; *s; s += strspn(s, " ")) {
        size_t word = strcspn(s, " ");
        if (word == n && memcmp(s, method, n) == 0)
            return true;
        s += word;
    }
    return false;
}

/* NULL: none; *ret_status says why. */
static const struct http_route *find_route(const struct http *http, const char *method,
                                           const char *path, unsigned *ret_status)
{
    *ret_status = MHD_HTTP_NOT_FOUND;
    for (const struct http_route *route = http->options.routes; route->methods; route++) {
        if (!path_matches(route->path, path))
            continue;
        if (method_matches(route->methods, method) ||
            (str_eq(method, "HEAD") && method_matches(route->methods, "GET")))
            return route;
        *ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    return NULL;
}

/* ---- a request, on the http thread ---- */

static enum MHD_Result send_answer(struct http_request *request)
{
    return request->mhd->MHD_queue_response(request->connection, request->status,
                                            request->response);
}

static void add_allowed(const struct http *http, const char *path, struct str *to)
{
    for (const struct http_route *route = http->options.routes; route->methods; route++)
        if (path_matches(route->path, path))
            str_addf(to, "%s%s", to->len ? ", " : "", route->methods);
    for (size_t i = 0; i < to->len; i++)
        if (to->s[i] == ' ' && i && to->s[i - 1] != ',')
            to->s[i] = ',';
}

/* Before there is anybody else who could answer. */
static enum MHD_Result refuse(struct http_request *request, unsigned status, const char *sentence)
{
    request->owners++;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        autorelease(str) struct str methods = STR_INIT;
        add_allowed(request->http, request->path, &methods);
        request_reply_error(request, status, sentence,
                            (const char *const[]){"Allow", methods.s, NULL});
    } else {
        http_reply_error(request, status, sentence);
    }
    return send_answer(request);
}

static int check_head(struct http_request *request, unsigned status, unsigned *ret_status,
                      struct err *err)
{
    const char *length = http_header(request, "Content-Length");
    int r = guard_request(request, err);

    *ret_status = r < 0 ? MHD_HTTP_FORBIDDEN : status;
    if (r < 0)
        return r;
    if (!request->route)
        return err_set(err, ENOENT, "%s",
                       status == MHD_HTTP_NOT_FOUND ? "there is no such page here"
                                                    : "this page does not know that method");
    r = request_read_segments(request, err);
    *ret_status = r == -ENOENT ? MHD_HTTP_NOT_FOUND : MHD_HTTP_BAD_REQUEST;
    if (r < 0)
        return r;
    *ret_status = MHD_HTTP_CONTENT_TOO_LARGE;
    if (length && strtoull(length, NULL, 10) > request->route->body_max)
        return err_set(err, EFBIG, "the body is larger than %zu bytes", request->route->body_max);
    return 0;
}

/* 0, or what to answer with `err`. */
static unsigned look_at_head(struct http_request *request, unsigned found, struct err *err)
{
    const struct http_options *options = &request->http->options;
    unsigned status = 0;

    if (check_head(request, found, &status, err) < 0)
        return status;
    status = MHD_HTTP_UNAUTHORIZED;
    if (options->on_head && options->on_head(request, options->arg, &status, err) < 0)
        return status;
    return request->route->spool ? spool_begin(request, err) : 0;
}

static enum MHD_Result refuse_head(struct http_request *request, const char *sentence)
{
    static const char *const headers[] = {"Connection", "close", NULL};

    request->owners++;
    request_reply_error(request, MHD_HTTP_BAD_REQUEST, sentence, headers);
    return send_answer(request);
}

static enum MHD_Result begin(struct http *http, struct MHD_Connection *connection,
                             const char *method, const char *uri, const char *version, void **ret)
{
    autorelease(err) struct err err = ERR_INIT;
    unsigned status = 0;
    struct http_request *request = request_new(http, connection, method, uri);

    request->route = find_route(http, method, request->path, &status);
    link_request(http, request);
    *ret = request;
    patience_on_head(request);
    if (head_check(request, version, &err) < 0)
        return refuse_head(request, err_text(&err));
    status = look_at_head(request, status, &err);
    return status ? refuse(request, status, err_text(&err)) : MHD_YES;
}

static bool keep_piece(struct http_request *request, const char *bytes, size_t n)
{
    size_t max = request->route->body_max;
    uint64_t held = request->spool ? spool_size(request) : request->body.len;

    request->too_large |= n > max - held;
    if (request->too_large || request->no_room)
        return false;
    if (request->spool) {
        request->no_room = !spool_add(request, bytes, n);
        return !request->no_room;
    }
    request->no_room = !request_count(request, request->body.len + n);
    if (!request->no_room)
        str_add_n(&request->body, bytes, n);
    return !request->no_room;
}

/* The answer comes when the body ends: most clients do not listen before. */
static enum MHD_Result take_piece(struct http_request *request, const char *bytes, size_t n)
{
    if (keep_piece(request, bytes, n))
        return MHD_YES;
    str_release(&request->body);
    request_count(request, 0);
    request->discarded += n;
    return request->discarded > PATIENCE + 4 * MIN(request->route->body_max, PATIENCE) ? MHD_NO
                                                                                       : MHD_YES;
}

static void wait_in_line(struct http *http, struct http_request *request)
{
    struct http_request **end = &http->waiting;

    while (*end)
        end = &(*end)->next_waiting;
    *end = request;
}

/* It is sent if it is there; else the connection stands until it comes. */
static enum MHD_Result send_or_stand(struct http *http, struct http_request *request)
{
    if (request_state(request) == REQUEST_ANSWERED)
        return send_answer(request);
    pthread_mutex_lock(&http->mutex);
    if (http->stopping && request->state != REQUEST_ANSWERED)
        request_answer(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       request_response(request, NULL, NULL, NULL));
    bool answered = request->state == REQUEST_ANSWERED;
    if (!answered) {
        request_set_state(request, REQUEST_STANDS);
        http->mhd->MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&http->mutex);
    return answered ? send_answer(request) : MHD_YES;
}

/* Suspend before anybody can see it, so that nobody resumes too early. */
static enum MHD_Result put_aside(struct http *http, struct http_request *request, bool alone)
{
    pthread_mutex_lock(&http->mutex);
    bool stopping = http->stopping;
    if (!stopping) {
        request->owners++;
        wait_in_line(http, request);
    }
    if (!stopping && !alone) {
        request_set_state(request, REQUEST_STANDS);
        http->mhd->MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&http->mutex);
    if (stopping)
        return refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
    if (http->options.on_waiting)
        http->options.on_waiting(http->options.arg);
    if (!alone)
        return MHD_YES;
    soon_await(http, request);
    return send_or_stand(http, request);
}

/* Who answers one that stands resumes its connection first: until he lets the mutex go, it is not
 * told yet that it is answered. */
static enum request_state look_at_state(struct http *http, const struct http_request *request)
{
    enum request_state state = request_state(request);

    if (state != REQUEST_STANDS)
        return state;
    pthread_mutex_lock(&http->mutex);
    state = request_state(request);
    pthread_mutex_unlock(&http->mutex);
    return state;
}

static enum MHD_Result handle(struct http *http, struct http_request *request)
{
    request->owners++;
    request->route->handler(request, http->options.arg);
    return send_or_stand(http, request);
}

enum MHD_Result http_on_access(void *arg, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload_data,
                               size_t *upload_data_size, void **con_cls)
{
    struct http *http = arg;
    struct http_request *request = *con_cls;
    autorelease(err) struct err err = ERR_INIT;

    if (!request)
        return begin(http, connection, method, url, version, con_cls);
    enum request_state state = look_at_state(http, request);
    if (state == REQUEST_STANDS)
        return MHD_YES; /* it is called once more before it stands */
    if (state == REQUEST_ANSWERED)
        return send_answer(request);
    if (*upload_data_size) {
        size_t n = *upload_data_size;
        *upload_data_size = 0;
        return take_piece(request, upload_data, n);
    }
    patience_on_body(request);
    unsigned status = request_finish(request, &err);
    if (status)
        return refuse(request, status, err_text(&err));
    bool alone = soon_alone(http, request);
    return request->route->handler ? handle(http, request) : put_aside(http, request, alone);
}

void http_on_completed(void *arg, struct MHD_Connection *connection, void **con_cls,
                       enum MHD_RequestTerminationCode how)
{
    struct http_request *request = *con_cls;
    (void)connection;
    (void)how;

    if (!request)
        return;
    *con_cls = NULL;
    patience_on_answered(request);
    unlink_request(arg, request);
    request_let_go(request);
}

struct http_request *http_next(struct http *http)
{
    pthread_mutex_lock(&http->mutex);
    struct http_request *request = http->waiting;
    if (request)
        http->waiting = request->next_waiting;
    pthread_mutex_unlock(&http->mutex);
    return request;
}

/* ---- the server ---- */

static void fill_options(struct http_options *options)
{
    options->timeout_s = options->timeout_s ? options->timeout_s : TIMEOUT_S;
    options->head_s = options->head_s ? options->head_s : HEAD_S;
    options->body_s = options->body_s ? options->body_s : BODY_S;
    options->bodies_max = options->bodies_max ? options->bodies_max : BODIES_MAX;
    options->unsent_max = options->unsent_max ? options->unsent_max : UNSENT_MAX;
    options->slow_s = options->slow_s ? options->slow_s : SLOW_S;
    options->spool_free = options->spool_free > 0 ? options->spool_free : SPOOL_FREE;
}

static int start_threads(struct http *http, int fd, struct err *err)
{
    int r = patience_start(http);

    if (r < 0)
        return err_errno(err, -r, "a thread could not be started");
    r = http_start_daemon(http, fd, err);
    if (r < 0)
        patience_stop(http);
    return r;
}

int http_start(const struct http_options *options, struct http **ret, struct err *err)
{
    const struct microhttpd *mhd = microhttpd_load(err);
    autoclose int fd = -1;

    if (!mhd)
        return -ENOTSUP;
    struct http *http = xcalloc(1, sizeof(*http));
    *http = (struct http){.mhd = mhd, .options = *options, .log = STR_INIT, .owners = 1};
    fill_options(&http->options);
    pthread_mutex_init(&http->mutex, NULL);
    soon_init(http);
    int r = http_listen(http, &fd, err);
    if (r == 0)
        r = start_threads(http, fd, err);
    if (r < 0) {
        http_let_go(http);
        return r;
    }
    *ret = http;
    return 0;
}

/* Suspended connections would keep the daemon from stopping for ever. */
static void answer_all(struct http *http)
{
    pthread_mutex_lock(&http->mutex);
    http->stopping = true;
    for (struct http_request *request = http->open; request; request = request->next)
        if (request->state == REQUEST_STANDS)
            request_answer(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                           request_response(request, NULL, NULL, NULL));
    streams_end(http);
    pthread_cond_signal(&http->answered);
    pthread_mutex_unlock(&http->mutex);
}

void http_stop(struct http *http)
{
    struct http_request *request;

    answer_all(http);
    while ((request = http_next(http)))
        request_let_go(request);
    http->mhd->MHD_stop_daemon(http->daemon);
    patience_stop(http);
    http_let_go(http);
}

int http_port(const struct http *http)
{
    return http->port;
}

const char *http_address(const struct http *http)
{
    return http->address;
}
