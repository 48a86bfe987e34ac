/* SPDX-License-Identifier: MIT */
/*
 * http_guard.c — who may come in by address, and no page of another site by way of a browser here:
 * its requests carry the other site's name in Host (when its name was made to point at us), in
 * Origin, or they say themselves that they come from elsewhere (Sec-Fetch-Site).
 *
 * A number in Host is never somebody else's name, so where all addresses are served, all numbers
 * are ours. Cookies do not know ports, Origin does: another port of this machine is another site.
 */
#include "net/http_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>

bool http_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;

    return strcasecmp(name, "localhost") == 0 ||
           (inet_pton(AF_INET, name, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127) ||
           (inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

static bool is_number(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;

    return inet_pton(AF_INET, name, &v4) == 1 || inet_pton(AF_INET6, name, &v6) == 1;
}

int http_check_address(const char *address, struct err *err)
{
    if (http_loopback(address) || is_number(address))
        return 0;
    return err_set(err, EINVAL, "'%s' is no address: 127.0.0.1, 0.0.0.0 or ::1 would be", address);
}

int guard_address(const char *address, bool any, struct err *err)
{
    int r = http_check_address(address, err);

    if (r < 0 || any || http_loopback(address))
        return r;
    return err_set(err, EACCES,
                   "address '%s' is not one of this machine alone (127.0.0.1, ::1, localhost): "
                   "others are let in over TLS or by a proxy only",
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

static bool is_named(const struct http_options *options, const char *name)
{
    for (const char *const *known = options->names; known && *known; known++)
        if (strcasecmp(*known, name) == 0)
            return true;
    return false;
}

static int guard_host(const struct http_options *options, const char *host, struct err *err)
{
    autofree(mem) char *name = host_name(host);

    if (http_loopback(name) || is_named(options, name) || (options->any_address && is_number(name)))
        return 0;
    return err_set(err, EACCES, "Host '%.100s' is not a name of this server", host);
}

static int guard_origin(const struct http_options *options, const char *origin, const char *host,
                        struct err *err)
{
    const char *authority = strstr(origin, "://");

    authority = authority ? authority + 3 : "";
    autofree(mem) char *name = host_name(authority);
    if (*name && ((host && strcasecmp(authority, host) == 0) || is_named(options, name)))
        return 0;
    return err_set(err, EACCES, "pages of '%.100s' may not ask this server", origin);
}

/* A link on another site may lead here, its scripts and pictures may not. */
static int guard_site(const struct http_request *request, struct err *err)
{
    const char *site = http_header(request, "Sec-Fetch-Site");
    const char *mode = http_header(request, "Sec-Fetch-Mode");

    if (!site || strcasecmp(site, "same-origin") == 0 || strcasecmp(site, "none") == 0 ||
        (mode && strcasecmp(mode, "navigate") == 0))
        return 0;
    return err_set(err, EACCES, "pages of other sites may not ask this server");
}

int guard_request(const struct http_request *request, struct err *err)
{
    const struct http_options *options = &request->http->options;
    const char *host = http_header(request, "Host");
    const char *origin = http_header(request, "Origin");
    int r = host ? guard_host(options, host, err) : 0;

    if (r == 0 && request->host)
        r = guard_host(options, request->host, err);
    if (r == 0 && origin)
        r = guard_origin(options, origin, host, err);
    return r < 0 ? r : guard_site(request, err);
}
