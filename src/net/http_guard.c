/* SPDX-License-Identifier: MIT */
/*
 * http_guard.c — until there are tokens and TLS, only this machine may ask, and no page of another
 * site by way of a browser here: its requests carry the other site's name in Host (when its name
 * was made to point at us) or in Origin.
 */
#include "net/http_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>

int guard_address(const char *address, struct err *err)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (strcasecmp(address, "localhost") == 0)
        return 0;
    if (inet_pton(AF_INET, address, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127)
        return 0;
    if (inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6))
        return 0;
    return err_set(err, EACCES,
                   "address '%s' is not one of this machine alone (127.0.0.1, ::1, localhost): "
                   "there is no protection yet that would allow others in",
                   address);
}

/* The name in "name", "name:80", "[::1]:80". */
static char *host_name(const char *host)
{
    size_t n = strcspn(host, ":/");

    if (*host == '[') {
        host++;
        n = strcspn(host, "]");
    }
    return xstrndup(host, n);
}

static bool is_ours(const char *host)
{
    autofree(mem) char *name = host_name(host);
    return guard_address(name, NULL) == 0;
}

int guard_names(const char *host, const char *origin, struct err *err)
{
    if (host && !is_ours(host))
        return err_set(err, EACCES, "Host '%.100s' is not a name of this server", host);
    if (!origin)
        return 0;
    const char *name = strstr(origin, "://");
    if (!name || !is_ours(name + 3))
        return err_set(err, EACCES, "pages of '%.100s' may not ask this server", origin);
    return 0;
}
