/* SPDX-License-Identifier: MIT */
/*
 * http_listen.c — the listening socket and libmicrohttpd's thread behind it, with TLS or without.
 */
#include "net/http_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTIONS    4096
#define FILES          65536
#define TLS_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

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

int http_listen(struct http *http, int *ret_fd, struct err *err)
{
    const struct http_options *options = &http->options;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *info = NULL;
    char port[16];
    int r = guard_address(options->address, options->any_address, err);

    if (r < 0)
        return r;
    snprintf(port, sizeof(port), "%d", options->port);
    /* "localhost" is 127.0.0.1: a name server is not asked */
    const char *host =
        strcasecmp(options->address, "localhost") == 0 ? "127.0.0.1" : options->address;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    if (getaddrinfo(host, port, &hints, &info) != 0)
        return err_set(err, EINVAL, "'%s' is no address", options->address);
    r = bind_to(info, ret_fd);
    freeaddrinfo(info);
    if (r == 0)
        r = name_socket(*ret_fd, http);
    return r < 0 ? err_errno(err, -r, "cannot listen at %s, port %s", host, port) : 0;
}

/* ---- limits ---- */

/* Connections are files. Half of what may be open is left for everything else. */
static unsigned connections_of(const struct http_options *options)
{
    unsigned wanted = options->connections ? options->connections : CONNECTIONS;
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return MIN(wanted, 500);
    if (files.rlim_cur < FILES && files.rlim_cur < files.rlim_max) {
        struct rlimit more = {MIN(files.rlim_max, FILES), files.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            files = more;
    }
    return (unsigned)MIN(wanted, files.rlim_cur / 2);
}

/* ---- the daemon ---- */

/* Each segment of a path is decoded once it is one, and parameters are when they are split. */
static size_t leave_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg, (void)connection;
    return strlen(text);
}

/* What libmicrohttpd says while it starts; later it is only that some client was odd. */
static void PRINTF(2, 0) on_log(void *arg, const char *fmt, va_list ap)
{
    struct http *http = arg;

    if (!__atomic_load_n(&http->started, __ATOMIC_RELAXED) && http->log.len < 1000)
        str_addv(&http->log, fmt, ap);
}

static int refuse_start(struct http *http, int error, struct err *err)
{
    const char *said = http->log.s;

    if (http->options.tls_cert)
        return err_set(err, EINVAL, "the certificate and its key do not work together: %.*s",
                       (int)strcspn(said, "\n"), *said ? said : "they are not PEM");
    return err_set(err, EIO, "the HTTP server could not be started: %.*s (%s)",
                   (int)strcspn(said, "\n"), said, strerror(error));
}

/* libmicrohttpd closes its socket when some of its steps fail, and leaves it when others do. */
static void close_unless_closed(int fd, int same)
{
    struct stat a, b;

    if (fstat(fd, &a) == 0 && fstat(same, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        close(fd);
}

int http_start_daemon(struct http *http, int socket_fd, struct err *err)
{
    const struct http_options *options = &http->options;
    int fd = fcntl(socket_fd, F_DUPFD_CLOEXEC, 3); /* libmicrohttpd's own */
    bool tls = options->tls_cert != NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem with_tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };

    http->daemon = http->mhd->MHD_start_daemon(
        flags | (tls ? MHD_USE_TLS : 0), 0, NULL, NULL, http_on_access, http,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, connections_of(options), MHD_OPTION_CONNECTION_TIMEOUT,
        options->timeout_s, MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, patience_on_connection, http, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escaped, NULL, MHD_OPTION_ARRAY, tls ? with_tls : with_tls + ARRAY_LEN(with_tls) - 1,
        MHD_OPTION_END);
    int error = errno;
    __atomic_store_n(&http->started, true, __ATOMIC_RELAXED);
    if (http->daemon)
        return 0;
    close_unless_closed(fd, socket_fd);
    return refuse_start(http, error, err);
}
