/* SPDX-License-Identifier: MIT */
/*
 * pages.c — the pages over HTTP. They hold nothing of anybody, so everybody may have them; a
 * browser asks by tag whether it has the newest. Who names the tag of a part in its address, as
 * index.html does (web/build.mjs), need not ask again: under that address it never changes.
 */
#include "api/auth.h"
#include "api/pages.h"
#include "api/web_route.h"
#include "net/gzip.h"

#include <assert.h>

extern const struct page pages_packed[]; /* tools/pack-pages.mjs; ends with no path */

const struct page *page_find(const char *path)
{
    for (const struct page *page = pages_packed; page->path; page++)
        if (str_eq(page->path, path))
            return page;
    return NULL;
}

void page_text(const struct page *page, struct str *to)
{
    int r = gzip_inflate(page->gzip, page->n, page->plain, to, NULL);
    assert(r == 0);
    (void)r;
}

static bool takes_gzip(struct http_request *request)
{
    const char *accepted = http_header(request, "Accept-Encoding");
    return accepted && strstr(accepted, "gzip");
}

static const char *kept_how(struct http_request *request, const struct page *page)
{
    const char *tag = http_param(request, "v");
    return tag && str_eq(tag, page->tag) ? "max-age=31536000, immutable" : "no-cache";
}

static void send_page(struct http_request *request, const struct page *page)
{
    autorelease(str) struct str body = STR_INIT;
    autofree(mem) char *tag = xasprintf("\"%s\"", page->tag);
    const char *known = http_header(request, "If-None-Match");
    static const char csp[] = AUTH_CSP;
    bool zipped = takes_gzip(request);
    const char *headers[] = {
        "ETag",
        tag,
        "Cache-Control",
        kept_how(request, page),
        "Vary",
        "Accept-Encoding",
        "Content-Security-Policy",
        csp,
        zipped ? "Content-Encoding" : NULL,
        "gzip",
        NULL,
    };

    if (known && strstr(known, tag)) {
        headers[8] = NULL;
        http_reply(request, 304, NULL, NULL, headers);
        return;
    }
    if (zipped)
        str_add_n(&body, page->gzip, page->n);
    else
        page_text(page, &body);
    http_reply(request, 200, page->type, &body, headers);
}

static void on_page(struct web_call *call)
{
    const char *path = http_path(call->request);
    const struct page *page = page_find(str_eq(path, "/") ? "/index.html" : path);

    if (page)
        send_page(call->request, page);
    else
        http_reply_error(call->request, 404, "there is no such page here");
}

const struct web_route pages_routes[] = {
    {"GET HEAD", "/", ROLE_NONE, DESK_HTTP, on_page, 0, "The pages.", 0},
    {"GET HEAD", "/assets/**", ROLE_NONE, DESK_HTTP, on_page, 0, "Their parts.", 0},
    {NULL, NULL, ROLE_NONE, DESK_HTTP, NULL, 0, NULL, 0},
};
