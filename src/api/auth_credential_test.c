/* SPDX-License-Identifier: MIT */
/*
 * auth_credential_test.c — secrets in all their forms, and pages of others.
 */
#include "api/auth.h"
#include "tests/test.h"

#include <errno.h>

/* ---- forms of secrets ---- */

#define TOKEN "hone_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void check_form(const struct asked *asked, enum credential_form form, const char *secret)
{
    struct credential credential;

    credential_read(asked, "hone-1234", &credential);
    assert_int_equal(credential.form, form);
    assert_string_equal(credential.secret, secret);
}

TEST(a_token_comes_in_many_forms)
{
    static const struct {
        const char *authorization;
        enum credential_form form;
        const char *secret;
    } table[] = {
        {"Bearer " TOKEN, CREDENTIAL_TOKEN, TOKEN},
        {"bearer   " TOKEN, CREDENTIAL_TOKEN, TOKEN},
        {"Token " TOKEN, CREDENTIAL_TOKEN, TOKEN},
        {"Token me:" TOKEN, CREDENTIAL_TOKEN, TOKEN},
        /* me:hone_AAAA…, :hone_AAAA… */
        {"Basic bWU6aG9uZV9BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB",
         CREDENTIAL_TOKEN, TOKEN},
        {"Basic OmhvbmVfQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ==",
         CREDENTIAL_TOKEN, TOKEN},
        {"Basic cm9vdDpyb290", CREDENTIAL_FOREIGN, "root"}, /* Python's influxdb, by itself */
        {"Basic Og==", CREDENTIAL_NONE, ""},                /* ":" */
        {"Basic !!", CREDENTIAL_FOREIGN, "?"},
        {"Basic cm9vdDpyAG90", CREDENTIAL_FOREIGN, "?"}, /* a NUL in it */
        {"Bearer ", CREDENTIAL_NONE, ""},
        {"Bearer" TOKEN, CREDENTIAL_FOREIGN, "?"},
        {"Digest x", CREDENTIAL_FOREIGN, "?"},
        {"", CREDENTIAL_FOREIGN, "?"},
        {"Bearer " TOKEN "B", CREDENTIAL_TOKEN, ""}, /* longer than any: a wrong one */
        {"Bearer hone_", CREDENTIAL_TOKEN, "hone_"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        check_form(&(struct asked){.authorization = table[i].authorization}, table[i].form,
                   table[i].secret);
}

TEST(the_cookie_is_found_among_others_by_its_whole_name)
{
    static const struct {
        const char *cookie, *secret; /* NULL: none of ours */
    } table[] = {
        {"hone-1234=abc", "abc"},
        {"a=b; hone-1234=abc; c=d", "abc"},
        {"hone-1234=", ""},
        {"xhone-1234=abc", NULL},
        {"hone-12345=abc; hone-123=x", NULL},
        {"a=hone-1234=abc", NULL},
        {"", NULL},
        {";;; ", NULL},
        {"hone-1234", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        check_form(&(struct asked){.cookie = table[i].cookie},
                   table[i].secret ? CREDENTIAL_SESSION : CREDENTIAL_NONE,
                   table[i].secret ? table[i].secret : "");
}

TEST(what_is_said_first_counts)
{
    struct asked asked = {
        .authorization = "Bearer " TOKEN, .password = "hone_other", .cookie = "hone-1234=abc"};
    check_form(&asked, CREDENTIAL_TOKEN, TOKEN);
    asked.authorization = NULL;
    check_form(&asked, CREDENTIAL_TOKEN, "hone_other");
    asked.password = "";
    check_form(&asked, CREDENTIAL_SESSION, "abc");
}

TEST(secrets_are_long_and_differ)
{
    char a[AUTH_SECRET_SIZE], b[AUTH_SECRET_SIZE];
    struct credential credential;
    autofree(mem) char *header = NULL;

    assert_int_equal(secret_new(a, NULL), 0);
    assert_int_equal(secret_new(b, NULL), 0);
    assert_int_equal(strlen(a), AUTH_SECRET_SIZE - 1);
    assert_int_equal(
        strspn(a + 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 43);
    assert_string_not_equal(a, b);
    header = xasprintf("Bearer %s", a);
    credential_read(&(struct asked){.authorization = header}, "x", &credential);
    assert_string_equal(credential.secret, a);
}

TEST(names_of_users_and_roles_are_checked)
{
    enum role role;

    assert_int_equal(user_check("ann.b@x-y_z+1", NULL), 0);
    assert_int_equal(user_check("", NULL), -EINVAL);
    assert_int_equal(user_check("a b", NULL), -EINVAL);
    assert_int_equal(user_check("<script>", NULL), -EINVAL);
    assert_int_equal(
        user_check("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL),
        -EINVAL);
    assert_int_equal(role_parse("admin", &role, NULL), 0);
    assert_int_equal(role, ROLE_ADMIN);
    assert_int_equal(role_parse("none", &role, NULL), -EINVAL);
    assert_int_equal(role_parse("root", &role, NULL), -EINVAL);
}

/* ---- pages of others ---- */

TEST(a_change_with_a_cookie_comes_from_a_page_of_ours)
{
    static const struct {
        const char *method, *host, *origin, *site, *name;
        int r;
    } table[] = {
        {"GET", "127.0.0.1:7470", NULL, NULL, NULL, 0},
        {"GET", "127.0.0.1:7470", NULL, "none", NULL, 0},
        {"GET", "127.0.0.1:7470", NULL, "same-origin", NULL, 0},
        {"GET", "127.0.0.1:7470", NULL, "same-site", NULL, -EPERM},
        {"GET", "127.0.0.1:7470", NULL, "cross-site", NULL, -EPERM},
        {"GET", "127.0.0.1:7470", "http://evil.example", NULL, NULL, -EPERM},
        {"HEAD", "127.0.0.1:7470", NULL, NULL, NULL, 0},
        {"POST", "127.0.0.1:7470", NULL, NULL, NULL, -EPERM},
        {"POST", "127.0.0.1:7470", NULL, "none", NULL, -EPERM},
        {"POST", "127.0.0.1:7470", NULL, "same-origin", NULL, 0},
        {"POST", "127.0.0.1:7470", "http://127.0.0.1:7470", NULL, NULL, 0},
        {"POST", "127.0.0.1:7470", "http://127.0.0.1:7470", "same-origin", NULL, 0},
        {"POST", "127.0.0.1:7470", "http://127.0.0.1:7470", "cross-site", NULL, -EPERM},
        {"POST", "127.0.0.1:7470", "http://127.0.0.1:3000", NULL, NULL, -EPERM},
        {"POST", "127.0.0.1:7470", "http://127.0.0.1:74700", "same-origin", NULL, -EPERM},
        {"POST", "127.0.0.1:7470", "null", NULL, NULL, -EPERM},
        {"POST", NULL, "http://", NULL, NULL, -EPERM},
        {"POST", "", "http://", NULL, NULL, -EPERM},
        {"DELETE", "127.0.0.1:7470", NULL, NULL, NULL, -EPERM},
        {"POST", "127.0.0.1:7470", "https://hone.example.org", NULL, "hone.example.org", 0},
        {"POST", "127.0.0.1:7470", "https://evil.example.org", NULL, "hone.example.org", -EPERM},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct asked asked = {.method = table[i].method,
                              .host = table[i].host,
                              .origin = table[i].origin,
                              .fetch_site = table[i].site};
        assert_int_equal(asked_by_us(&asked, table[i].name, NULL), table[i].r);
    }
}

TEST_MAIN
