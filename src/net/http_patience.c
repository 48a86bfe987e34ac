/* SPDX-License-Identifier: MIT */
/*
 * http_patience.c — heads and bodies that trickle. libmicrohttpd ends a connection that is silent;
 * one that sends a byte now and then would hold its place for ever. So each connection has a time
 * at which it is cut off unless it has come further, and a thread looks at them now and then.
 *
 *     accepted ──► head there ──► body there ──► answered ──► next head there …
 *          head_s          body_s         none          timeout_s + head_s
 *
 * It also looks who has left: libmicrohttpd misses an end that comes together with the bytes before
 * it, and does not look at suspended connections at all.
 */
#include "base/clock.h"
#include "net/http_internal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define LOOKS       8 /* in the time that is the shortest limit */
#define LOOK_MAX_NS INT64_C(2000000000)

struct http_link {
    struct http_link *prev, *next;
    int fd;
    struct http_ends *ends;
    int64_t until_us; /* mono, or one of those below; atomic */
    bool has_left;    /* at the last look */
};
#define SPOOLS (INT64_MAX - 1) /* its body may take as long as it likes */
#define SERVED INT64_MAX       /* it is our turn */

static void set_until(struct http_link *link, int64_t us)
{
    __atomic_store_n(&link->until_us, us, __ATOMIC_RELAXED);
}

static int64_t after(unsigned seconds)
{
    return clock_mono_us() + seconds * US_PER_S;
}

/* ---- connections; http thread ---- */

static void add_link(struct http *http, struct http_link *link)
{
    pthread_mutex_lock(&http->links_mutex);
    link->next = http->links;
    if (http->links)
        http->links->prev = link;
    else
        pthread_cond_signal(&http->links_changed);
    http->links = link;
    pthread_mutex_unlock(&http->links_mutex);
}

/* Its socket is closed after this. */
static void remove_link(struct http *http, struct http_link *link)
{
    pthread_mutex_lock(&http->links_mutex);
    if (link->next)
        link->next->prev = link->prev;
    *(link->prev ? &link->prev->next : &http->links) = link->next;
    pthread_mutex_unlock(&http->links_mutex);
    free(link->ends);
    free(link);
}

void patience_on_connection(void *arg, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    struct http *http = arg;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*context)
            remove_link(http, *context);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        http->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_link *link = xcalloc(1, sizeof(*link));
    link->fd = info ? info->connect_fd : -1;
    link->ends = ends_new(link->fd);
    set_until(link, after(http->options.head_s));
    add_link(http, link);
    *context = link;
}

static struct http_link *link_of(const struct http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

struct http_ends *link_ends(const struct http_request *request)
{
    const struct http_link *link = link_of(request->http, request->connection);
    return link ? link->ends : NULL;
}

void patience_on_head(struct http_request *request)
{
    bool spools = request->route && request->route->spool;

    request->link = link_of(request->http, request->connection);
    if (request->link)
        set_until(request->link, spools ? SPOOLS : after(request->http->options.body_s));
}

void patience_on_body(struct http_request *request)
{
    if (request->link)
        set_until(request->link, SERVED);
}

void patience_on_answered(struct http_request *request)
{
    const struct http_options *options = &request->http->options;

    if (request->link)
        set_until(request->link, after(options->timeout_s + options->head_s));
    request->link = NULL;
}

/* ---- the thread that looks ---- */

/* It has closed its side, and all it said is read. */
static bool is_over(int fd)
{
    struct pollfd ends = {.fd = fd, .events = POLLRDHUP};
    int unread = 0;

    return poll(&ends, 1, 0) > 0 && ioctl(fd, FIONREAD, &unread) == 0 && !unread;
}

/* Twice: its last bytes may have become a request just now. */
static bool has_left(struct http_link *link, int64_t until_us)
{
    bool before = link->has_left;

    link->has_left = until_us != SERVED && is_over(link->fd);
    return before && link->has_left;
}

static void cut_off(struct http *http, int64_t now_us)
{
    for (struct http_link *link = http->links; link; link = link->next) {
        int64_t until_us = __atomic_load_n(&link->until_us, __ATOMIC_RELAXED);
        if (until_us <= now_us || has_left(link, until_us))
            shutdown(link->fd, SHUT_RDWR);
    }
}

static struct timespec next_look(const struct http *http)
{
    unsigned shortest = MIN(http->options.head_s, http->options.body_s);
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + MIN(shortest * (1000000000LL / LOOKS), LOOK_MAX_NS);
    at.tv_sec += ns / 1000000000;
    at.tv_nsec = ns % 1000000000;
    return at;
}

static void *look(void *arg)
{
    struct http *http = arg;

    pthread_mutex_lock(&http->links_mutex);
    while (!http->looked_enough) {
        struct timespec at = next_look(http);
        if (http->links)
            pthread_cond_timedwait(&http->links_changed, &http->links_mutex, &at);
        else
            pthread_cond_wait(&http->links_changed, &http->links_mutex);
        cut_off(http, clock_mono_us());
        pthread_mutex_unlock(&http->links_mutex);
        streams_look(http);
        pthread_mutex_lock(&http->links_mutex);
    }
    pthread_mutex_unlock(&http->links_mutex);
    return NULL;
}

int patience_start(struct http *http)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&http->links_mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&http->links_changed, &attr);
    pthread_condattr_destroy(&attr);
    return -pthread_create(&http->looker, NULL, look, http);
}

void patience_stop(struct http *http)
{
    pthread_mutex_lock(&http->links_mutex);
    http->looked_enough = true;
    pthread_cond_signal(&http->links_changed);
    pthread_mutex_unlock(&http->links_mutex);
    pthread_join(http->looker, NULL);
}
