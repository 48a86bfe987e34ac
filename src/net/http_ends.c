/* SPDX-License-Identifier: MIT */
/*
 * http_ends.c — who is at the two ends of a connection. That does not change while it lives, so the
 * kernel is asked once, and what was found out about it is remembered beside it.
 */
#include "net/http_internal.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct http_ends {
    struct sockaddr_storage peer, local;
    int64_t note;
};

static void unmap(struct sockaddr_storage *address)
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4 = {.sin_family = AF_INET};

    memcpy(&v6, address, sizeof(v6));
    if (v6.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
        return;
    v4.sin_port = v6.sin6_port;
    memcpy(&v4.sin_addr, &v6.sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
    memset(address, 0, sizeof(*address));
    memcpy(address, &v4, sizeof(v4));
}

typedef int name_fn(int fd, struct sockaddr *ret, socklen_t *size);

static void name_end(int fd, name_fn *name, struct sockaddr_storage *ret)
{
    socklen_t size = sizeof(*ret);

    memset(ret, 0, sizeof(*ret));
    if (name(fd, (struct sockaddr *)ret, &size) < 0)
        ret->ss_family = AF_UNSPEC;
    unmap(ret);
}

struct http_ends *ends_new(int fd)
{
    struct http_ends *ends = xcalloc(1, sizeof(*ends));

    name_end(fd, getpeername, &ends->peer);
    name_end(fd, getsockname, &ends->local);
    return ends;
}

static void copy_end(const struct http_request *request, size_t offset,
                     struct sockaddr_storage *ret)
{
    struct http *http = request->http;

    memset(ret, 0, sizeof(*ret));
    ret->ss_family = AF_UNSPEC;
    pthread_mutex_lock(&http->mutex); /* the connection stays */
    const struct http_ends *ends = request->connection ? link_ends(request) : NULL;
    if (ends)
        memcpy(ret, (const char *)ends + offset, sizeof(*ret));
    pthread_mutex_unlock(&http->mutex);
}

void http_peer(const struct http_request *request, struct sockaddr_storage *ret)
{
    copy_end(request, offsetof(struct http_ends, peer), ret);
}

void http_local(const struct http_request *request, struct sockaddr_storage *ret)
{
    copy_end(request, offsetof(struct http_ends, local), ret);
}

int64_t *http_note(const struct http_request *request)
{
    struct http_ends *ends = link_ends(request);
    return ends ? &ends->note : NULL;
}
