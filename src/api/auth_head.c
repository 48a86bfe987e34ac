/* SPDX-License-Identifier: MIT */
/*
 * auth_head.c — the head of a request, as auth.c wants it.
 */
#include "api/auth_head.h"

/* What servers in between add. */
static bool was_forwarded(const struct http_request *request)
{
    static const char *const traces[] = {
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Port",
        "X-Forwarded-Server",
        "X-Forwarded-By",
        "X-Forwarded-Prefix",
        "X-Forwarded-Scheme",
        "X-Forwarded-Ssl",
        "X-Forwarded-User",
        "X-Forwarded-Uri",
        "X-Original-URL",
        "X-Real-IP",
        "X-Client-IP",
        "X-Cluster-Client-IP",
        "X-Original-Forwarded-For",
        "True-Client-IP",
        "CF-Connecting-IP",
        "Via",
    };
    for (size_t i = 0; i < ARRAY_LEN(traces); i++)
        if (http_header(request, traces[i]))
            return true;
    return false;
}

static struct asked asked_of(const struct http_request *request)
{
    const struct web_route *route = http_tag(request);
    bool influx = str_eq(route->path, "/write") || str_eq(route->path, "/query");

    return (struct asked){
        .method = http_method(request),
        .host = http_header(request, "Host"),
        .authorization = http_header(request, "Authorization"),
        .cookie = http_header(request, "Cookie"),
        .origin = http_header(request, "Origin"),
        .fetch_site = http_header(request, "Sec-Fetch-Site"),
        .password = influx ? http_param(request, "p") : NULL,
        .forwarded = route->flags & WEB_STOCK && was_forwarded(request),
    };
}

void auth_ends_of(const struct http_request *request, struct auth_ends *ret)
{
    *ret = (struct auth_ends){.peer = {.ss_family = AF_UNSPEC}};
    http_peer(request, &ret->peer);
    if (((const struct web_route *)http_tag(request))->flags & WEB_STOCK)
        http_local(request, &ret->local);
}

int auth_head(struct auth *auth, struct store *store, struct http_request *request, struct now now,
              unsigned *ret_status, struct err *err)
{
    const struct web_route *route = http_tag(request);
    struct auth_caller *who = xcalloc(1, sizeof(*who));
    struct auth_refusal refusal;
    struct auth_ends ends;

    http_attach(request, who, free);
    if (route->role == ROLE_NONE)
        return 0;
    *ret_status = 503;
    if (auth_refresh(auth, store, err) < 0)
        return err_context(err, "it cannot be told who asks");
    struct asked asked = asked_of(request);
    auth_ends_of(request, &ends);
    ends.known = http_note(request);
    int r = auth_check(auth, &asked, &ends, route, now, who, &refusal, err);
    if (r < 0) {
        *ret_status = refusal.status;
        http_retry_after(request, refusal.retry_s);
    }
    return r;
}
