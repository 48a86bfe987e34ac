/* SPDX-License-Identifier: MIT */
/*
 * auth_test.c — who gets in: roles, sessions, stock clients, links.
 */
#include "api/auth.h"
#include "api/auth_limit.h"
#include "store/changes.h"
#include "store/object.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#define SECOND 1000000LL

static struct auth_ends ends_at(const char *peer, const char *local)
{
    struct auth_ends ends = {.peer = {.ss_family = AF_UNSPEC}};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(1000)};

    inet_pton(AF_INET, peer, &v4.sin_addr);
    memcpy(&ends.peer, &v4, sizeof(v4));
    inet_pton(AF_INET, local, &v4.sin_addr);
    memcpy(&ends.local, &v4, sizeof(v4));
    return ends;
}

/* A kernel that knows one user, or nothing (its number is -1). */
static int scripted_user(const struct auth_ends *ends, uid_t *ret, void *arg, struct err *err)
{
    const uid_t *user = arg;
    (void)ends;
    if (*user == (uid_t)-1)
        return err_set(err, EACCES, "not said");
    *ret = *user;
    return 0;
}

static const struct now now = {.wall_us = 1000 * SECOND, .mono_us = 50 * SECOND};

static void put_made_with(struct store *store, const char *kind, const char *user, const char *role,
                          const char *secret, int64_t expires_us, int64_t parent)
{
    autofree(txn) struct txn *txn = txn_new();
    char sha256[SHA256_HEX_SIZE];

    assert_int_equal(sha256_hex(secret, strlen(secret), sha256, NULL), 0);
    txn_put_token(txn, &(struct token_row){.kind = kind,
                                           .user = user,
                                           .role = role,
                                           .sha256 = sha256,
                                           .parent = parent,
                                           .created_us = 1,
                                           .expires_us = expires_us});
    assert_int_equal(store_apply(store, txn, NULL), 0);
}

static void put(struct store *store, const char *kind, const char *user, const char *role,
                const char *secret, int64_t expires_us)
{
    put_made_with(store, kind, user, role, secret, expires_us, 0);
}

struct gate {
    struct store *store;
    struct changes *changes;
    struct auth *auth;
    uid_t peer; /* as the kernel will say */
};

static void gate_open(struct gate *gate, struct auth_options options)
{
    *gate = (struct gate){.peer = 1000, .changes = changes_new()};
    assert_int_equal(store_open_memory(&gate->store, NULL), 0);
    store_tell(gate->store, gate->changes);
    put(gate->store, "token", "vera", "viewer", "hone_viewer", 0);
    put(gate->store, "token", "uwe", "user", "hone_user", 0);
    put(gate->store, "token", "ada", "admin", "hone_admin", 0);
    put(gate->store, "token", "old", "admin", "hone_over", 999 * SECOND);
    put(gate->store, "session", "sam", "user", "session", 2000 * SECOND);
    put(gate->store, "link", "me", "admin", "hone_link", 2000 * SECOND);
    options.home_id = "1234";
    options.owner = "me";
    options.changes = gate->changes;
    options.ends_user = scripted_user;
    options.arg = &gate->peer;
    gate->auth = auth_new(&options);
    assert_int_equal(auth_refresh(gate->auth, gate->store, NULL), 0);
}

static void gate_close(struct gate *gate)
{
    auth_free(gate->auth);
    store_free(gate->store);
    changes_free(gate->changes);
}

/* The status: 200 if it may. */
static unsigned ask(struct gate *gate, enum role role, unsigned flags, const struct asked *asked,
                    const char *from, struct auth_caller *ret)
{
    struct web_route route = {.path = "/x", .role = role, .flags = flags};
    struct auth_ends ends = ends_at(from, "127.0.0.1");
    autorelease(err) struct err err = ERR_INIT;
    struct auth_refusal refusal;
    struct auth_caller who;

    int r = auth_check(gate->auth, asked, &ends, &route, now, ret ? ret : &who, &refusal, &err);
    if (r < 0)
        assert_true(strlen(err_text(&err)) > 10);
    return r < 0 ? refusal.status : 200;
}

/* A socket stays its user's; another connection is asked for anew. */
TEST(the_kernel_is_asked_once_about_a_connection)
{
    static const struct asked nothing = {.method = "POST", .host = "localhost"};
    struct web_route route = {.path = "/x", .role = ROLE_USER, .flags = WEB_STOCK};
    struct auth_ends ends = ends_at("127.0.0.1", "127.0.0.1");
    struct auth_refusal refusal;
    struct auth_caller who;
    struct gate gate;
    int64_t first = 0, second = 0;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    gate.peer = (uid_t)-1; /* it does not say */
    ends.known = &first;
    assert_int_equal(auth_check(gate.auth, &nothing, &ends, &route, now, &who, &refusal, NULL),
                     -EACCES);
    gate.peer = 1000;
    assert_int_equal(auth_check(gate.auth, &nothing, &ends, &route, now, &who, &refusal, NULL), 0);
    gate.peer = 1001;
    assert_int_equal(auth_check(gate.auth, &nothing, &ends, &route, now, &who, &refusal, NULL), 0);
    ends.known = &second;
    assert_int_equal(auth_check(gate.auth, &nothing, &ends, &route, now, &who, &refusal, NULL),
                     -EACCES);
    gate.peer = 1000;
    assert_int_equal(auth_check(gate.auth, &nothing, &ends, &route, now, &who, &refusal, NULL),
                     -EACCES);
    gate_close(&gate);
}

TEST(a_role_may_what_it_and_the_lower_ones_may)
{
    static const struct {
        const char *authorization;
        unsigned none, viewer, user, admin;
    } table[] = {
        {NULL, 200, 401, 401, 401},
        {"Bearer hone_nothing", 200, 401, 401, 401},
        {"Bearer hone_over", 200, 401, 401, 401},
        {"Bearer hone_link", 200, 401, 401, 401}, /* a link is no token */
        {"Bearer hone_viewer", 200, 200, 403, 403},
        {"Bearer hone_user", 200, 200, 200, 403},
        {"Bearer hone_admin", 200, 200, 200, 200},
        {"Bearer session", 200, 401, 401, 401}, /* nor is a session */
        {"Bearer hone_Admin", 200, 401, 401, 401},
        {"Bearer hone_admi", 200, 401, 401, 401},
    };
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct asked asked = {.method = "POST", .authorization = table[i].authorization};
        autofree(mem) char *from = xasprintf("10.0.0.%zu", i);
        assert_int_equal(ask(&gate, ROLE_NONE, 0, &asked, from, NULL), table[i].none);
        assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &asked, from, NULL), table[i].viewer);
        assert_int_equal(ask(&gate, ROLE_USER, 0, &asked, from, NULL), table[i].user);
        assert_int_equal(ask(&gate, ROLE_ADMIN, 0, &asked, from, NULL), table[i].admin);
    }
    gate_close(&gate);
}

TEST(a_session_gets_in_by_its_cookie_and_from_our_page_only)
{
    struct asked asked = {.method = "GET", .host = "h", .cookie = "hone-1234=session"};
    struct auth_caller who;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &asked, "127.0.0.1", &who), 200);
    assert_string_equal(who.who.user, "sam");
    assert_int_equal(strlen(who.sha256), 64);
    asked.method = "POST";
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &asked, "127.0.0.1", NULL), 403);
    asked.origin = "http://h";
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &asked, "127.0.0.1", NULL), 200);
    asked.cookie = "hone-1234=hone_admin"; /* a token is no session */
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &asked, "127.0.0.1", NULL), 401);
    gate_close(&gate);
}

TEST(what_was_removed_is_refused_with_the_next_request)
{
    struct asked asked = {.method = "GET", .authorization = "Bearer hone_user"};
    autofree(txn) struct txn *txn = txn_new();
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    assert_int_equal(ask(&gate, ROLE_USER, 0, &asked, "127.0.0.1", NULL), 200);
    txn_remove_tokens_of(txn, "uwe");
    assert_int_equal(store_apply(gate.store, txn, NULL), 0);
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    assert_int_equal(ask(&gate, ROLE_USER, 0, &asked, "127.0.0.1", NULL), 401);
    gate_close(&gate);
}

TEST(own_stock_clients_on_this_machine_need_no_token)
{
    static const struct {
        const char *why;
        struct auth_options options;
        struct asked asked;
        const char *from;
        uid_t peer;
        unsigned flags, status;
        enum role role;
    } table[] = {
        {"ours", {.uid = 1000}, {0}, "127.0.0.1", 1000, WEB_STOCK, 200, ROLE_USER},
        {"ours, elsewhere on loopback",
         {.uid = 1000},
         {0},
         "127.3.2.1",
         1000,
         WEB_STOCK,
         200,
         ROLE_USER},
        {"with its own password",
         {.uid = 1000},
         {.authorization = "Basic cm9vdDpyb290"},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         200,
         ROLE_USER},
        {"not what only admins may",
         {.uid = 1000},
         {0},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         403,
         ROLE_ADMIN},
        {"another route", {.uid = 1000}, {0}, "127.0.0.1", 1000, 0, 401, ROLE_USER},
        {"another user", {.uid = 1000}, {0}, "127.0.0.1", 1001, WEB_STOCK, 401, ROLE_USER},
        {"root is another user", {.uid = 1000}, {0}, "127.0.0.1", 0, WEB_STOCK, 401, ROLE_USER},
        {"nobody knows", {.uid = 1000}, {0}, "127.0.0.1", (uid_t)-1, WEB_STOCK, 401, ROLE_USER},
        {"another machine", {.uid = 1000}, {0}, "10.0.0.1", 1000, WEB_STOCK, 401, ROLE_USER},
        {"forwarded",
         {.uid = 1000},
         {.forwarded = true},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
        {"behind a proxy",
         {.uid = 1000, .proxy_name = "x"},
         {0},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
        {"a page",
         {.uid = 1000},
         {.origin = "http://h"},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
        {"a picture in a page",
         {.uid = 1000},
         {.fetch_site = "cross-site"},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
        {"a wrong token",
         {.uid = 1000},
         {.authorization = "Bearer hone_x"},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
        {"root", {.uid = 0}, {0}, "127.0.0.1", 0, WEB_STOCK, 401, ROLE_USER},
        {"root who is trusted",
         {.uid = 0, .trust_local = true},
         {0},
         "127.0.0.1",
         0,
         WEB_STOCK,
         200,
         ROLE_USER},
        {"another than the trusted root",
         {.uid = 0, .trust_local = true},
         {0},
         "127.0.0.1",
         1000,
         WEB_STOCK,
         401,
         ROLE_USER},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct asked asked = table[i].asked;
        struct auth_caller who;
        struct gate gate;

        asked.method = "POST";
        gate_open(&gate, table[i].options);
        gate.peer = table[i].peer;
        unsigned status = ask(&gate, table[i].role, table[i].flags, &asked, table[i].from, &who);
        if (status != table[i].status)
            fail_msg("%s: %u", table[i].why, status);
        if (status == 200) {
            assert_string_equal(who.who.user, "me");
            assert_int_equal(who.who.role, ROLE_USER);
        }
        gate_close(&gate);
    }
}

TEST(secrets_that_came_lately_are_not_taken_for_each_other)
{
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    for (int i = 0; i < 40; i++) { /* more than are remembered */
        autofree(mem) char *secret = xasprintf("hone_%d", i);
        put(gate.store, "token", "x", i % 2 ? "admin" : "viewer", secret, 0);
    }
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    for (int i = 0; i < 160; i++) {
        int k = i % 3 ? i % 40 : i % 7;
        autofree(mem) char *header = xasprintf("Bearer hone_%d", k);
        struct asked asked = {.method = "GET", .authorization = header};
        assert_int_equal(ask(&gate, ROLE_ADMIN, 0, &asked, "127.0.0.1", NULL), k % 2 ? 200 : 403);
    }
    gate_close(&gate);
}

/* ---- links ---- */

static int enter(struct gate *gate, const char *secret, struct auth_entry *ret, unsigned *ret_retry)
{
    struct auth_ends ends = ends_at("127.0.0.1", "127.0.0.1");
    return auth_enter(gate->auth, secret, &ends, now, ret, ret_retry, NULL);
}

TEST(a_link_opens_one_session_and_a_token_any_number)
{
    struct auth_entry entry;
    unsigned retry_s;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    assert_int_equal(enter(&gate, "hone_link", &entry, &retry_s), 0);
    assert_true(entry.link);
    assert_int_equal(entry.who.role, ROLE_ADMIN);
    assert_int_equal(entry.expires_us, now.wall_us + AUTH_SESSION_US);
    assert_int_equal(enter(&gate, "hone_link", &entry, &retry_s), -EACCES);
    assert_int_equal(enter(&gate, "hone_user", &entry, &retry_s), 0);
    assert_false(entry.link);
    assert_int_equal(entry.token, 2);
    assert_int_equal(enter(&gate, "hone_user", &entry, &retry_s), 0);
    assert_int_equal(enter(&gate, "session", &entry, &retry_s), -EACCES);
    assert_int_equal(enter(&gate, "hone_over", &entry, &retry_s), -EACCES);
    gate_close(&gate);
}

TEST(a_link_that_was_used_stays_so_while_the_database_still_has_it)
{
    struct auth_entry entry;
    unsigned retry_s;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    assert_int_equal(enter(&gate, "hone_link", &entry, &retry_s), 0);
    put(gate.store, "token", "new", "user", "hone_new", 0); /* all is read anew */
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    assert_int_equal(enter(&gate, "hone_link", &entry, &retry_s), -EACCES);
    gate_close(&gate);
}

TEST(a_session_ends_with_the_token_that_opens_it)
{
    struct auth_entry entry;
    unsigned retry_s;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    put(gate.store, "token", "tim", "user", "hone_soon", 1005 * SECOND);
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    assert_int_equal(enter(&gate, "hone_soon", &entry, &retry_s), 0);
    assert_int_equal(entry.expires_us, 1005 * SECOND);
    gate_close(&gate);
}

TEST(a_session_by_way_of_a_link_ends_with_the_token_that_made_the_link)
{
    struct auth_entry token, entry;
    unsigned retry_s;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    put(gate.store, "token", "tim", "viewer", "hone_soon", 1005 * SECOND);
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    assert_int_equal(enter(&gate, "hone_soon", &token, &retry_s), 0);
    put_made_with(gate.store, "link", "tim", "viewer", "hone_tims", 1004 * SECOND, token.token);
    assert_int_equal(auth_refresh(gate.auth, gate.store, NULL), 0);
    assert_int_equal(enter(&gate, "hone_tims", &entry, &retry_s), 0);
    assert_true(entry.link);
    assert_int_equal(entry.who.role, ROLE_VIEWER);
    assert_int_equal(entry.token, token.token);
    assert_int_equal(entry.expires_us, 1005 * SECOND);
    gate_close(&gate);
}

TEST(what_is_about_to_be_committed_is_known)
{
    struct auth_entry entry;
    unsigned retry_s;
    struct gate gate;
    char sha256[SHA256_HEX_SIZE];

    gate_open(&gate, (struct auth_options){.uid = 1000});
    assert_int_equal(sha256_hex("hone_early", 10, sha256, NULL), 0);
    struct token_row row = {.kind = "link",
                            .user = "me",
                            .role = "admin",
                            .sha256 = sha256,
                            .expires_us = 2000 * SECOND};
    assert_int_equal(auth_know(gate.auth, gate.store, &row, NULL), 0);
    assert_int_equal(enter(&gate, "hone_early", &entry, &retry_s), 0);
    gate_close(&gate);
}

TEST(the_cookie_says_who_may_see_it)
{
    autorelease(str) struct str text = STR_INIT;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    auth_cookie(gate.auth, "abc", &text);
    assert_string_equal(text.s,
                        "hone-1234=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    gate_close(&gate);
    gate_open(&gate, (struct auth_options){.uid = 1000, .secure = true});
    str_cut(&text, 0);
    auth_cookie(gate.auth, "", &text);
    assert_string_equal(text.s, "hone-1234=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure");
    gate_close(&gate);
}

TEST(a_right_token_is_never_held_up)
{
    struct asked wrong = {.method = "GET", .authorization = "Bearer hone_x"};
    struct asked right = {.method = "GET", .authorization = "Bearer hone_user"};
    struct auth_entry entry;
    unsigned retry_s;
    struct gate gate;

    gate_open(&gate, (struct auth_options){.uid = 1000});
    for (int i = 0; i < LIMIT_FREE; i++)
        assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &wrong, "127.0.0.1", NULL), 401);
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &wrong, "127.0.0.1", NULL), 429);
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &wrong, "10.0.0.1", NULL), 401);
    assert_int_equal(enter(&gate, "hone_y", &entry, &retry_s), -EBUSY);
    assert_int_equal(retry_s, 1);
    assert_int_equal(ask(&gate, ROLE_VIEWER, 0, &right, "127.0.0.1", NULL), 200);
    assert_int_equal(enter(&gate, "hone_link", &entry, &retry_s), 0);
    gate_close(&gate);
}

TEST_MAIN
