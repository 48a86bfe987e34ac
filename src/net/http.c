/* SPDX-License-Identifier: MIT */
/*
 * http.c — the server: a listening socket, libmicrohttpd's thread, and requests on their way.
 *
 * libmicrohttpd calls on_access() for the head of a request, for each piece of its body, at its
 * end, and once more after a suspended connection was resumed. What is wrong with the head (route,
 * Host, announced size) is answered before the body is read.
 */
#include "net/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <unistd.h>

#define CONNECTIONS 1000
#define TIMEOUT_S   60
#define PATIENCE    4 /* times the cap: a body that goes on beyond loses its connection */

/* ---- owners ---- */

static void http_let_go(struct http *http)
{
    pthread_mutex_lock(&http->mutex);
    bool last = --http->owners == 0;
    pthread_mutex_unlock(&http->mutex);
    if (!last)
        return;
    pthread_mutex_destroy(&http->mutex);
    free(http->address);
    free(http);
}

void request_let_go(struct http_request *request)
{
    struct http *http = request->http;

    pthread_mutex_lock(&http->mutex);
    bool last = --request->owners == 0;
    pthread_mutex_unlock(&http->mutex);
    if (!last)
        return;
    request_free(request);
    http_let_go(http);
}

static void link_request(struct http *http, struct http_request *request)
{
    pthread_mutex_lock(&http->mutex);
    http->owners++;
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
    request->state = REQUEST_ANSWERED;
    pthread_mutex_unlock(&http->mutex);
}

/* ---- routes ---- */

static bool path_matches(const char *pattern, const char *path)
{
    size_t n = strlen(pattern);

    if (n > 1 && pattern[n - 1] == '*')
        return strncmp(pattern, path, n - 1) == 0;
    return str_eq(pattern, path);
}

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
        if (method_matches(route->methods, method))
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

/* Before there is anybody else who could answer. */
static enum MHD_Result refuse(struct http_request *request, unsigned status, const char *sentence)
{
    request->owners++;
    http_reply_error(request, status, sentence);
    return send_answer(request);
}

static int check_head(struct http_request *request, unsigned status, unsigned *ret_status,
                      struct err *err)
{
    const char *length = http_header(request, "Content-Length");
    int r = guard_names(http_header(request, "Host"), http_header(request, "Origin"), err);

    *ret_status = r < 0 ? MHD_HTTP_FORBIDDEN : status;
    if (r < 0)
        return r;
    if (!request->route)
        return err_set(err, ENOENT, "%s",
                       status == MHD_HTTP_NOT_FOUND ? "there is no such page here"
                                                    : "this page does not know that method");
    *ret_status = MHD_HTTP_CONTENT_TOO_LARGE;
    if (length && strtoull(length, NULL, 10) > request->route->body_max)
        return err_set(err, EFBIG, "the body is larger than %zu bytes", request->route->body_max);
    return 0;
}

static enum MHD_Result begin(struct http *http, struct MHD_Connection *connection,
                             const char *method, const char *path, void **ret)
{
    autorelease(err) struct err err = ERR_INIT;
    unsigned status = 0;
    const struct http_route *route = find_route(http, method, path, &status);
    struct http_request *request = request_new(http, connection, route, method, path);

    link_request(http, request);
    *ret = request;
    if (check_head(request, status, &status, &err) < 0)
        return refuse(request, status, err_text(&err));
    return MHD_YES;
}

static enum MHD_Result take_piece(struct http_request *request, const char *bytes, size_t n)
{
    size_t max = request->route->body_max;

    request->too_large |= n > max - request->body.len;
    if (!request->too_large && !request->no_room)
        request->no_room = !request_count(request, request->body.len + n);
    if (!request->too_large && !request->no_room) {
        str_add_n(&request->body, bytes, n);
        return MHD_YES;
    }
    str_release(&request->body);
    request_count(request, 0);
    request->discarded += n;
    return request->discarded > PATIENCE * max ? MHD_NO : MHD_YES;
}

static void wait_in_line(struct http *http, struct http_request *request)
{
    struct http_request **end = &http->waiting;

    while (*end)
        end = &(*end)->next_waiting;
    *end = request;
}

/* Suspend before anybody can see it, so that nobody resumes too early. */
static enum MHD_Result put_aside(struct http *http, struct http_request *request)
{
    pthread_mutex_lock(&http->mutex);
    bool stopping = http->stopping;
    if (!stopping) {
        request->owners++;
        request->state = REQUEST_STANDS;
        http->mhd->MHD_suspend_connection(request->connection);
        wait_in_line(http, request);
    }
    pthread_mutex_unlock(&http->mutex);
    if (stopping)
        return refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
    if (http->options.on_waiting)
        http->options.on_waiting(http->options.arg);
    return MHD_YES;
}

static enum MHD_Result handle(struct http *http, struct http_request *request)
{
    request->owners++;
    request->route->handler(request, http->options.arg);
    pthread_mutex_lock(&http->mutex);
    if (http->stopping && request->state != REQUEST_ANSWERED)
        request_answer(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       request_response(request, NULL, NULL, NULL));
    bool answered = request->state == REQUEST_ANSWERED;
    if (!answered) {
        request->state = REQUEST_STANDS;
        http->mhd->MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&http->mutex);
    return answered ? send_answer(request) : MHD_YES;
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload_data,
                                 size_t *upload_data_size, void **con_cls)
{
    struct http *http = arg;
    struct http_request *request = *con_cls;
    autorelease(err) struct err err = ERR_INIT;
    (void)version;

    if (!request)
        return begin(http, connection, method, url, con_cls);
    pthread_mutex_lock(&http->mutex);
    enum request_state state = request->state;
    pthread_mutex_unlock(&http->mutex);
    if (state == REQUEST_STANDS)
        return MHD_YES; /* it is called once more before it stands */
    if (state == REQUEST_ANSWERED)
        return send_answer(request);
    if (*upload_data_size) {
        size_t n = *upload_data_size;
        *upload_data_size = 0;
        return take_piece(request, upload_data, n);
    }
    unsigned status = request_finish(request, &err);
    if (status)
        return refuse(request, status, err_text(&err));
    return request->route->handler ? handle(http, request) : put_aside(http, request);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode how)
{
    struct http_request *request = *con_cls;
    (void)connection;
    (void)how;

    if (!request)
        return;
    *con_cls = NULL;
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

/* ---- the socket ---- */

static int bind_to(const struct addrinfo *info, int *ret_fd)
{
    autoclose int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
        return -errno;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int name_socket(int fd, struct http *http)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0 ||
        getnameinfo((struct sockaddr *)&name, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -EIO;
    http->port = (int)strtol(port, NULL, 10);
    http->address = xasprintf(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    return 0;
}

static int listen_at(struct http *http, int *ret_fd, struct err *err)
{
    const struct http_options *options = &http->options;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *info = NULL;
    char port[16];
    int r = guard_address(options->address, err);

    if (r < 0)
        return r;
    snprintf(port, sizeof(port), "%d", options->port);
    /* "localhost" is 127.0.0.1: a name server is not asked */
    const char *host = strchr("0123456789:", options->address[0]) ? options->address : "127.0.0.1";
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    if (getaddrinfo(host, port, &hints, &info) != 0)
        return err_set(err, EINVAL, "'%s' is no address", options->address);
    r = bind_to(info, ret_fd);
    freeaddrinfo(info);
    if (r == 0)
        r = name_socket(*ret_fd, http);
    return r < 0 ? err_errno(err, -r, "cannot listen at %s, port %s", host, port) : 0;
}

/* ---- the server ---- */

static int start_daemon(struct http *http, int fd, struct err *err)
{
    const struct http_options *options = &http->options;
    unsigned connections = options->connections ? options->connections : CONNECTIONS;
    unsigned timeout_s = options->timeout_s ? options->timeout_s : TIMEOUT_S;

    http->daemon = http->mhd->MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_access, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_END);
    if (!http->daemon)
        return err_set(err, EIO, "the HTTP server could not be started (%s)", strerror(errno));
    return 0;
}

int http_start(const struct http_options *options, struct http **ret, struct err *err)
{
    const struct microhttpd *mhd = microhttpd_load(err);
    autoclose int fd = -1;

    if (!mhd)
        return -ENOTSUP;
    struct http *http = xcalloc(1, sizeof(*http));
    *http = (struct http){.mhd = mhd, .options = *options, .owners = 1};
    pthread_mutex_init(&http->mutex, NULL);
    int r = listen_at(http, &fd, err);
    if (r == 0)
        r = start_daemon(http, fd, err);
    if (r < 0) {
        http_let_go(http);
        return r;
    }
    fd = -1; /* the daemon's now */
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
    pthread_mutex_unlock(&http->mutex);
}

void http_stop(struct http *http)
{
    struct http_request *request;

    answer_all(http);
    while ((request = http_next(http)))
        request_let_go(request);
    http->mhd->MHD_stop_daemon(http->daemon);
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
