/* SPDX-License-Identifier: MIT */
/*
 * http_head.c — heads that two programs could read differently. A proxy before us that ends a
 * request elsewhere than we do lets one client's bytes into another's request; so whatever leaves a
 * doubt about where a body ends, or for whom the request is, is refused and the connection closed.
 */
#include "net/http_internal.h"

#include <errno.h>
#include <strings.h>

static size_t count(const struct http_request *request, const char *name)
{
    size_t n = 0;

    for (const struct pair *pair = request->headers; pair; pair = pair->next)
        n += strcasecmp(pair->name, name) == 0;
    return n;
}

static int check_names(const struct http_request *request, struct err *err)
{
    if (request->odd_header)
        return err_set(err, EINVAL, "a header holds a NUL");
    for (const struct pair *pair = request->headers; pair; pair = pair->next)
        if (!*pair->name || pair->name[strcspn(pair->name, " \t\r\n")])
            return err_set(err, EINVAL, "a header has a name that is none");
    return 0;
}

static int check_length(const struct http_request *request, struct err *err)
{
    const char *length = http_header(request, "Content-Length");
    const char *coding = http_header(request, "Transfer-Encoding");

    if (count(request, "Content-Length") + count(request, "Transfer-Encoding") > 1)
        return err_set(err, EINVAL, "the head says twice how long the body is");
    if (length && (!*length || length[strspn(length, "0123456789")]))
        return err_set(err, EINVAL, "Content-Length '%.40s' is no number", length);
    if (coding && strcasecmp(coding, "chunked") != 0)
        return err_set(err, EINVAL, "Transfer-Encoding '%.40s' is not known here", coding);
    return 0;
}

int head_check(const struct http_request *request, const char *version, struct err *err)
{
    size_t hosts = count(request, "Host");
    int r = check_names(request, err);

    if (r < 0)
        return r;
    if (hosts > 1 || (!hosts && str_eq(version, "HTTP/1.1")))
        return err_set(err, EINVAL, "the head has %s Host", hosts ? "more than one" : "no");
    return check_length(request, err);
}
