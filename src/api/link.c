/* SPDX-License-Identifier: MIT */
/*
 * link.c — links from outside the engine: the address is in HOME/address, the engine keeps the hash
 * of the secret.
 */
#include "api/link.h"
#include "api/auth.h"
#include "api/wire.h"
#include "base/fs.h"
#include "store/object.h"

#include <errno.h>

#define ADDRESS_MAX 4096

/* "http://127.0.0.1:7470", or what the second line of HOME/address says browsers should use. */
static int read_base(const char *home, char **ret, struct err *err)
{
    autofree(mem) char *path = xasprintf("%s/address", home);
    autorelease(str) struct str text = STR_INIT;
    int r = fs_read(path, ADDRESS_MAX, &text, NULL);

    if (r < 0 || !text.len)
        return err_set(err, ENOENT,
                       "nothing serves %s: 'hone serve' does, and 'hone run' while it runs", home);
    char *line = text.s + strcspn(text.s, "\n");
    char *other = *line ? line + 1 : line;
    *line = '\0';
    other[strcspn(other, "\n")] = '\0';
    *ret = *other ? xstrdup(other) : xasprintf("http://%s", text.s);
    return 0;
}

static int keep(const char *home, char ret[AUTH_SECRET_SIZE], struct err *err)
{
    autofree(mem) char *user = user_self();
    autofree(json) json_t *reply = NULL;
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);
    char sha256[SHA256_HEX_SIZE];
    int r = secret_new(ret, err);

    if (r == 0)
        r = sha256_hex(ret, strlen(ret), sha256, err);
    if (r < 0)
        return r;
    json_begin_object(&out);
    json_put_text(&out, "do", "token_add");
    json_put_text(&out, "kind", "link");
    json_put_text(&out, "user", user);
    json_put_text(&out, "role", role_name(ROLE_ADMIN));
    json_put_text(&out, "sha256", sha256);
    json_end_object(&out);
    return wire_call(home, request.s, &reply, err);
}

int link_new(const char *home, const struct link_page *page, char **ret, struct err *err)
{
    autofree(mem) char *base = NULL;
    char secret[AUTH_SECRET_SIZE];
    int r = read_base(home, &base, err);

    if (r >= 0)
        r = keep(home, secret, err);
    if (r < 0)
        return r;
    *ret = link_to(xasprintf("%s/open/%s", base, secret), page);
    return 0;
}

char *link_to(char *link, const struct link_page *page)
{
    char *longer;

    if (!page->experiment)
        return link;
    if (page->trial)
        longer = xasprintf("%s?trial=%lld.%lld", link, (long long)page->experiment,
                           (long long)page->trial); /* without &, which shells take for theirs */
    else
        longer = xasprintf("%s?experiment=%lld", link, (long long)page->experiment);
    free(link);
    return longer;
}
