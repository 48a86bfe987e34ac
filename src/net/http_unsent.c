/* SPDX-License-Identifier: MIT */
/*
 * http_unsent.c — answers that nobody reads. An answer stays in memory until the last of it is
 * handed to the kernel, and readers that are slow or do not read at all may be many: their answers
 * have a cap together. Beyond it there is no room for new ones, until the readers that have had
 * their answers for longest are cut off, as many as it takes. Small answers are not counted:
 * connections are limited, and so are these.
 */
#include "base/clock.h"
#include "net/http_internal.h"

#include <sys/socket.h>

#define SMALL ((size_t)4 << 10)

/* ---- with the server's mutex held ---- */

static void cut_off(struct http_request *request)
{
    const union MHD_ConnectionInfo *info = request->mhd->MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    request->cut_off = true;
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
}

/* Nobody who has had an answer for a moment only is to blame. NULL: there is no other. */
static struct http_request *find_slowest(const struct http *http)
{
    int64_t since_us = clock_mono_us() - http->options.slow_s * US_PER_S;
    struct http_request *slowest = NULL;

    for (struct http_request *request = http->open; request; request = request->next)
        if (request->state == REQUEST_ANSWERED && request->unsent && !request->cut_off &&
            request->answered_us <= since_us) {
            slowest = request;
            since_us = request->answered_us;
        }
    return slowest;
}

/* Those that were cut off before are about to go. */
static size_t count_leaving(const struct http *http)
{
    size_t n = 0;

    for (const struct http_request *request = http->open; request; request = request->next)
        n += request->cut_off ? request->unsent : 0;
    return n;
}

/* So that n bytes fit soon. */
static void make_room(const struct http *http, size_t n)
{
    size_t left = http->unsent - MIN(count_leaving(http), http->unsent);
    struct http_request *slowest;

    if (n > http->options.unsent_max)
        return; /* it never will */
    while (left + n > http->options.unsent_max && (slowest = find_slowest(http))) {
        left -= MIN(slowest->unsent, left);
        cut_off(slowest);
    }
}

/* ---- to count ---- */

bool unsent_add(struct http_request *request, size_t n)
{
    struct http *http = request->http;

    if (n <= SMALL)
        return true;
    pthread_mutex_lock(&http->mutex);
    bool fits =
        http->unsent <= http->options.unsent_max && n <= http->options.unsent_max - http->unsent;
    if (fits) {
        http->unsent += n;
        request->unsent = n;
    } else {
        make_room(http, n);
    }
    pthread_mutex_unlock(&http->mutex);
    return fits;
}

void unsent_remove(struct http_request *request)
{
    if (!request->unsent)
        return;
    pthread_mutex_lock(&request->http->mutex);
    request->http->unsent -= request->unsent;
    pthread_mutex_unlock(&request->http->mutex);
    request->unsent = 0;
}
