/* SPDX-License-Identifier: MIT */
/*
 * v1_auth.c — coming in and going out: links, sessions, tokens, and who one is.
 *
 * A link's page has no script: it sets the cookie and leads on to the pages, so that the secret
 * leaves the address. It is a page and no redirect because a browser that came from elsewhere (a
 * chat, a mail) would not send a cookie of SameSite=Strict along with one.
 */
#include "api/auth_head.h"
#include "api/link.h"
#include "api/web_internal.h"
#include "base/clock.h"
#include "store/object.h"

#include <errno.h>

#define BODY_MAX   4096
#define SECRET_MAX 200

static const struct web_key login_keys[] = {
    {.name = "link", .type = KEY_TEXT, .min = 1, .max = SECRET_MAX},
    {.name = "token", .type = KEY_TEXT, .min = 1, .max = SECRET_MAX},
    {0},
};
static const struct web_key no_keys[] = {{0}};
static const struct web_key token_keys[] = {
    {.name = "user", .type = KEY_TEXT, .flags = KEY_NEEDED, .min = 1, .max = AUTH_USER_MAX},
    {.name = "role", .type = KEY_WORD, .words = "viewer user admin"},
    {.name = "expires_s", .type = KEY_INT, .min = 0, .max = 36500LL * 86400},
    {0},
};

/* ---- an answer that waits for the commit ---- */

struct pending {
    struct http_request *request;
    unsigned status;
    const char *type;
    struct str body, cookie; /* no cookie: "" */
    bool page;
};

static void on_committed(void *arg)
{
    struct pending *pending = arg;
    const char *headers[5] = {NULL};
    size_t n = 0;

    if (pending->cookie.len) {
        headers[n++] = "Set-Cookie";
        headers[n++] = pending->cookie.s;
    }
    if (pending->page) {
        headers[n++] = "Content-Security-Policy";
        headers[n++] = AUTH_CSP;
    }
    http_reply(pending->request, pending->status, pending->type, &pending->body, headers);
    str_release(&pending->body);
    str_release(&pending->cookie);
    free(pending);
}

static struct pending *pending_new(struct web_call *call, unsigned status)
{
    struct pending *pending = xcalloc(1, sizeof(*pending));

    *pending = (struct pending){
        .request = call->request,
        .status = status,
        .type = "application/json",
        .body = STR_INIT,
        .cookie = STR_INIT,
    };
    return pending;
}

static void answer_later(struct web_call *call, struct pending *pending)
{
    engine_when_committed(runtime_engine(call->runtime), on_committed, pending);
}

/* ---- who one is ---- */

static void put_who(struct json_out *out, const struct caller *who)
{
    json_put_text(out, "user", who->user);
    json_put_text(out, "role", role_name(who->role));
}

static void on_me(struct web_call *call)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    put_who(&out, &call->who);
    json_key(&out, "server");
    json_begin_object(&out);
    json_put_text(&out, "version", HONE_VERSION);
    json_put_text(&out, "home_id", store_home_id(call->store));
    json_put_time(&out, "started", call->web->started_us);
    json_end_object(&out);
    json_end_object(&out);
    web_json(call, 200, &body);
}

/* ---- in ---- */

/* Its rows and its cookie; the link is used up. */
static int open_session(struct web_call *call, const struct auth_entry *entry, struct str *cookie,
                        struct err *err)
{
    struct txn *txn = engine_txn(runtime_engine(call->runtime));
    char secret[AUTH_SECRET_SIZE], sha256[SHA256_HEX_SIZE];
    int r = secret_new(secret, err);

    if (r == 0)
        r = sha256_hex(secret, strlen(secret), sha256, err);
    if (r < 0)
        return r;
    if (entry->link)
        txn_remove_secret(txn, entry->sha256);
    txn_put_token(txn, &(struct token_row){
                           .kind = "session",
                           .user = entry->who.user,
                           .role = role_name(entry->who.role),
                           .sha256 = sha256,
                           .parent = entry->token,
                           .created_us = runtime_now().wall_us,
                           .expires_us = entry->expires_us,
                       });
    auth_cookie(call->web->auth, secret, cookie);
    return 0;
}

static int enter(struct web_call *call, const char *secret, struct auth_entry *ret,
                 struct str *cookie, struct err *err)
{
    struct auth_ends ends;
    unsigned retry_s = 0;
    int r = auth_refresh(call->web->auth, call->store, err);

    if (r < 0)
        return r;
    auth_ends_of(call->request, &ends);
    r = auth_enter(call->web->auth, secret, &ends, runtime_now(), ret, &retry_s, err);
    http_retry_after(call->request, retry_s);
    return r < 0 ? r : open_session(call, ret, cookie, err);
}

static unsigned status_of(int r)
{
    return r == -EACCES ? 401 : r == -EBUSY ? 429 : 500;
}

static void on_login(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *body = NULL;
    struct pending *pending = pending_new(call, 200);
    struct json_out out = JSON_OUT(&pending->body);
    struct auth_entry entry = {.link = false};
    unsigned status = 400;
    int r = web_keys(call, login_keys, &body, &err);

    const char *secret = json_get_text(body, "link", json_get_text(body, "token", NULL));
    if (r == 0 && json_object_size(body) != 1)
        r = err_set(&err, EINVAL, "the body names neither a link nor a token, or both");
    if (r == 0) {
        r = enter(call, secret, &entry, &pending->cookie, &err);
        status = status_of(r);
    }
    if (r < 0) {
        free(pending);
        http_reply_error(call->request, status, err_text(&err));
        return;
    }
    json_begin_object(&out);
    put_who(&out, &entry.who);
    json_end_object(&out);
    str_add_char(&pending->body, '\n');
    answer_later(call, pending);
}

/* ---- the page of a link ---- */

#define PAGE_TYPE "text/html; charset=utf-8"

static void add_page(struct str *to, const struct link_page *page, const char *sentence)
{
    long long experiment = page->experiment, trial = page->trial;

    str_add(to, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" "
                "href=\"data:,\"><title>Hone</title>");
    if (!sentence && experiment && trial)
        str_addf(to, "<meta http-equiv=\"refresh\" content=\"0; url=/#/t/%lld.%lld\">", experiment,
                 trial);
    else if (!sentence && experiment)
        str_addf(to, "<meta http-equiv=\"refresh\" content=\"0; url=/#/e/%lld\">", experiment);
    else if (!sentence)
        str_add(to, "<meta http-equiv=\"refresh\" content=\"0; url=/\">");
    str_addf(to, "</head><body><p>%s</p></body></html>\n",
             sentence ? sentence : "<a href=\"/\">Hone</a>");
}

static void refuse_page(struct web_call *call, unsigned status, const char *sentence)
{
    static const char *const headers[] = {"Content-Security-Policy", AUTH_CSP, NULL};
    autorelease(str) struct str body = STR_INIT;

    add_page(&body, &(struct link_page){0}, sentence);
    http_reply(call->request, status, PAGE_TYPE, &body, headers);
}

/* experiment=3 or trial=3.7 */
static int read_page(struct web_call *call, struct link_page *ret)
{
    const char *trial = http_param(call->request, "trial");
    char *end;

    if (!trial)
        return web_number(call, "experiment", 0, INT32_MAX, 0, &ret->experiment, NULL);
    errno = 0;
    ret->experiment = strtoll(trial, &end, 10);
    if (*end != '.')
        return -EINVAL;
    ret->trial = strtoll(end + 1, &end, 10);
    return errno || *end || ret->experiment <= 0 || ret->trial <= 0 ? -EINVAL : 0;
}

static void on_open(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct pending *pending = NULL;
    struct auth_entry entry = {.link = false};
    struct link_page page = {0};

    if (!str_eq(http_method(call->request), "GET")) { /* a look must not use it up */
        http_reply(call->request, 200, PAGE_TYPE, NULL, NULL);
        return;
    }
    if (read_page(call, &page) < 0) {
        refuse_page(call, 400, "the number of an experiment or trial is wanted");
        return;
    }
    pending = pending_new(call, 200);
    int r = enter(call, http_segment(call->request, 0), &entry, &pending->cookie, &err);
    if (r < 0) {
        free(pending);
        refuse_page(call, status_of(r), err_text(&err));
        return;
    }
    pending->type = PAGE_TYPE;
    pending->page = true;
    add_page(&pending->body, &page, NULL);
    answer_later(call, pending);
}

/* ---- a link for who asks, who has a token ---- */

struct shown {
    const char *sha256;
    int64_t id, expires_us; /* id 0: not found */
};

static int find_shown(const struct token_row *row, void *arg)
{
    struct shown *shown = arg;

    if (!str_eq(row->kind, "token") || !str_eq(row->sha256, shown->sha256))
        return 0;
    shown->id = row->id;
    shown->expires_us = row->expires_us;
    return 1;
}

/* Its session will be no more than the token, and end with it. A session makes none: it could go on
 * for ever. */
static int add_link(struct web_call *call, char secret[AUTH_SECRET_SIZE], struct err *err)
{
    const struct auth_caller *caller = http_attached(call->request);
    struct shown shown = {.sha256 = caller->shown};
    int64_t now_us = runtime_now().wall_us;
    char sha256[SHA256_HEX_SIZE];
    int r = store_tokens(call->store, find_shown, &shown, err);

    if (r >= 0 && !shown.id)
        return err_set(err, EPERM, "a link is made for a token: this request shows none");
    if (r >= 0)
        r = secret_new(secret, err);
    if (r >= 0)
        r = sha256_hex(secret, strlen(secret), sha256, err);
    if (r < 0)
        return r;
    int64_t ends_us = now_us + AUTH_LINK_US;
    txn_put_token(engine_txn(runtime_engine(call->runtime)),
                  &(struct token_row){
                      .kind = "link",
                      .user = call->who.user,
                      .role = role_name(call->who.role),
                      .sha256 = sha256,
                      .parent = shown.id,
                      .created_us = now_us,
                      .expires_us = shown.expires_us ? MIN(ends_us, shown.expires_us) : ends_us,
                  });
    return 0;
}

static void on_add_link(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *body = NULL;
    char secret[AUTH_SECRET_SIZE];
    int r = web_keys(call, no_keys, &body, &err);

    if (r == 0)
        r = add_link(call, secret, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    struct pending *pending = pending_new(call, 201);
    str_addf(&pending->body, "{\"link\":\"/open/%s\"}\n", secret);
    answer_later(call, pending);
}

/* ---- out ---- */

static void on_logout(struct web_call *call)
{
    const struct auth_caller *who = http_attached(call->request);
    struct pending *pending = pending_new(call, 200);

    if (*who->sha256)
        txn_remove_secret(engine_txn(runtime_engine(call->runtime)), who->sha256);
    auth_cookie(call->web->auth, "", &pending->cookie);
    str_add(&pending->body, "{\"ok\":true}\n");
    answer_later(call, pending);
}

/* ---- tokens ---- */

static int put_token(const struct token_row *row, void *arg)
{
    struct json_out *out = arg;

    json_begin_object(out);
    json_put_int(out, "id", row->id);
    json_put_text(out, "kind", row->kind);
    json_put_text(out, "user", row->user);
    json_put_text(out, "role", row->role);
    json_put_time(out, "created", row->created_us);
    json_put_time(out, "expires", row->expires_us);
    json_end_object(out);
    return 0;
}

static void on_tokens(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    json_key(&out, "tokens");
    json_begin_array(&out);
    int r = store_tokens(call->store, put_token, &out, &err);
    json_end_array(&out);
    json_end_object(&out);
    if (r < 0)
        web_fail(call, r, &err);
    else
        web_json(call, 200, &body);
}

static int add_token(struct web_call *call, json_t *body, char secret[AUTH_SECRET_SIZE],
                     struct err *err)
{
    char sha256[SHA256_HEX_SIZE];
    int64_t seconds = json_get_int(body, "expires_s", 0);
    int r = secret_new(secret, err);

    if (r == 0)
        r = sha256_hex(secret, strlen(secret), sha256, err);
    if (r < 0)
        return r;
    json_object_set_new(body, "kind", json_string("token"));
    json_object_set_new(body, "sha256", json_string(sha256));
    json_object_set_new(body, "expires_us",
                        json_integer(seconds ? runtime_now().wall_us + seconds * US_PER_S : 0));
    if (!json_object_get(body, "role"))
        json_object_set_new(body, "role", json_string("user"));
    return auth_add_rows(body, engine_txn(runtime_engine(call->runtime)), err);
}

static void on_add_token(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *body = NULL;
    char secret[AUTH_SECRET_SIZE];
    int r = web_keys(call, token_keys, &body, &err);

    if (r == 0)
        r = add_token(call, body, secret, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    struct pending *pending = pending_new(call, 201);
    struct json_out out = JSON_OUT(&pending->body);
    json_begin_object(&out);
    json_put_text(&out, "token", secret);
    json_end_object(&out);
    str_add_char(&pending->body, '\n');
    answer_later(call, pending);
}

struct unwanted {
    int64_t id; /* 0: all of the user */
    const char *user;
};

static int match(const struct token_row *row, void *arg)
{
    const struct unwanted *unwanted = arg;
    return unwanted->id ? row->id == unwanted->id : str_eq(row->user, unwanted->user);
}

static void on_remove_token(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct txn *txn = engine_txn(runtime_engine(call->runtime));
    const char *name = http_segment(call->request, 0);
    struct unwanted unwanted = {.user = name ? name : ""};
    size_t digits = strspn(unwanted.user, "0123456789");

    if (digits && digits < 19 && !unwanted.user[digits])
        unwanted.id = strtoll(unwanted.user, NULL, 10);
    int r = store_tokens(call->store, match, &unwanted, &err);
    if (r == 0)
        r = err_set(&err, ENOENT, "there is no such token");
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    if (unwanted.id)
        txn_remove_token(txn, unwanted.id);
    else
        txn_remove_tokens_of(txn, unwanted.user);
    struct pending *pending = pending_new(call, 200);
    str_add(&pending->body, "{\"ok\":true}\n");
    answer_later(call, pending);
}

/* ---- what may be asked ---- */

static void put_route(struct json_out *out, const struct web_route *route)
{
    json_begin_object(out);
    json_put_text(out, "methods", route->methods);
    json_put_text(out, "path", route->path);
    json_put_text(out, "role", role_name(route->role));
    json_put_bool(out, "stock", route->flags & WEB_STOCK);
    json_put_int(out, "body_max", (int64_t)route->body_max);
    json_put_text(out, "help", route->help);
    json_end_object(out);
}

static void on_routes(struct web_call *call)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    const struct web_route *route;

    json_begin_object(&out);
    json_key(&out, "routes");
    json_begin_array(&out);
    for (size_t i = 0; (route = web_route_at(i)); i++)
        put_route(&out, route);
    json_end_array(&out);
    json_end_object(&out);
    web_json(call, 200, &body);
}

const struct web_route v1_auth_routes[] = {
    {"GET", "/open/*", ROLE_NONE, DESK_LOOP, on_open, 0,
     "The page of a one-time link: sets the session's cookie and leads on.", 0},
    {"POST", "/v1/login", ROLE_NONE, DESK_LOOP, on_login, BODY_MAX,
     "A session of a browser, for a link or a token.", 0},
    {"POST", "/v1/logout", ROLE_VIEWER, DESK_LOOP, on_logout, BODY_MAX, "End this session.", 0},
    {"POST", "/v1/links", ROLE_VIEWER, DESK_LOOP, on_add_link, BODY_MAX,
     "A one-time link to the pages, for the token that is shown and its role.", 0},
    {"GET", "/v1/me", ROLE_VIEWER, DESK_HTTP, on_me, 0, "Who asks, and whom.", 0},
    {"GET", "/v1/tokens", ROLE_ADMIN, DESK_HTTP, on_tokens, 0,
     "Tokens, sessions and links, without their secrets.", 0},
    {"POST", "/v1/tokens", ROLE_ADMIN, DESK_LOOP, on_add_token, BODY_MAX, "A new token: told once.",
     0},
    {"DELETE", "/v1/tokens/*", ROLE_ADMIN, DESK_LOOP, on_remove_token, 0,
     "Take a token or session away, or all of a user.", 0},
    {"GET", "/v1/routes", ROLE_VIEWER, DESK_HTTP, on_routes, 0, "All routes of this table.", 0},
    {NULL, NULL, ROLE_NONE, DESK_HTTP, NULL, 0, NULL, 0},
};
