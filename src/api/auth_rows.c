/* SPDX-License-Identifier: MIT */
/*
 * auth_rows.c — tokens and links come and go: requests become rows.
 *
 * Who asks makes the secret and sends its hash: the secret itself never leaves the command that
 * prints it.
 */
#include "api/auth.h"
#include "base/clock.h"

#include <errno.h>

static int check_hash(const char *sha256, struct err *err)
{
    if (strlen(sha256) != 64 || strspn(sha256, "0123456789abcdef") != 64)
        return err_set(err, EINVAL, "the hash of a token is 64 hexadecimal digits");
    return 0;
}

int auth_add_rows(const json_t *request, struct txn *txn, struct err *err)
{
    struct token_row row = {
        .kind = json_get_text(request, "kind", "token"),
        .user = json_get_text(request, "user", ""),
        .role = json_get_text(request, "role", ""),
        .sha256 = json_get_text(request, "sha256", ""),
        .created_us = clock_wall_us(),
        .expires_us = json_get_int(request, "expires_us", 0),
    };
    enum role role;
    int r = user_check(row.user, err);

    if (r == 0)
        r = role_parse(row.role, &role, err);
    if (r == 0)
        r = check_hash(row.sha256, err);
    if (r < 0)
        return r;
    if (str_eq(row.kind, "link"))
        row.expires_us = row.created_us + AUTH_LINK_US;
    else if (!str_eq(row.kind, "token"))
        return err_set(err, EINVAL, "'%.50s' is no kind of token", row.kind);
    if (row.expires_us && row.expires_us <= row.created_us)
        return err_set(err, EINVAL, "this token would be over before it begins");
    txn_put_token(txn, &row);
    return 0;
}

int auth_remove_rows(const json_t *request, struct txn *txn, struct err *err)
{
    const char *user = json_get_text(request, "user", NULL);
    int64_t id = json_get_int(request, "id", 0);

    if (user)
        txn_remove_tokens_of(txn, user);
    else if (id > 0)
        txn_remove_token(txn, id);
    else
        return err_set(err, EINVAL, "the request names no token and no user");
    return 0;
}
