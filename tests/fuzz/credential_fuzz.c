/* SPDX-License-Identifier: MIT */
/*
 * credential_fuzz.c — any text as what a request says about who sends it: lines are Authorization,
 * Cookie, p=, Host, Origin, Sec-Fetch-Site; an empty one is none. What must hold: no crash, a
 * secret that fits, none without a form; and a page of another origin is never ours.
 */
#include "api/auth.h"

#include <assert.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(const struct asked *asked)
{
    const char *name = asked->origin ? strstr(asked->origin, "://") : NULL;

    if (asked_by_us(asked, NULL, NULL) < 0)
        return;
    assert(!asked->origin || (name && asked->host && strcasecmp(name + 3, asked->host) == 0));
    (void)name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autofree(mem) char *text = xstrndup((const char *)data, size);
    const char *lines[6] = {NULL};
    struct credential credential;
    char *rest = text;

    for (size_t i = 0; rest && i < ARRAY_LEN(lines); i++) {
        char *line = strsep(&rest, "\n");
        lines[i] = *line ? line : NULL;
    }
    struct asked asked = {
        .method = size % 2 ? "GET" : "POST",
        .authorization = lines[0],
        .cookie = lines[1],
        .password = lines[2],
        .host = lines[3],
        .origin = lines[4],
        .fetch_site = lines[5],
    };
    credential_read(&asked, "hone-1234", &credential);
    assert(memchr(credential.secret, '\0', sizeof(credential.secret)));
    assert(credential.form != CREDENTIAL_NONE || !credential.secret[0]);
    assert(credential.form != CREDENTIAL_TOKEN || !credential.secret[0] ||
           str_starts(credential.secret, AUTH_PREFIX));
    check_page(&asked);
    return 0;
}
