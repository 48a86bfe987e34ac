/* SPDX-License-Identifier: MIT */
/*
 * token.c — hone token: who may ask this home's server, or the one that was named.
 *
 * The secret is made and printed here, once; the home gets its hash. A server makes it itself.
 */
#include "api/auth.h"
#include "api/change.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/units.h"
#include "cli/influx_cursor.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "store/object.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"role", 0, "ROLE", "viewer (reads), user (the default: runs and changes), admin (all)"},
    {"expires", 0, "DURATION", "it ends after this long, as in 90d; without it, never"},
    {NULL, 0, NULL, NULL},
};

/* ---- add ---- */

static int read_lasts(const struct cmd_call *call, int64_t *ret_us)
{
    const char *text = cmd_value(call, "expires");
    int64_t lasts_us = 0;

    *ret_us = 0;
    if (!text)
        return 0;
    if (duration_parse(text, &lasts_us) < 0 || lasts_us <= 0 ||
        lasts_us > 36500LL * 86400 * US_PER_S)
        return cmd_usage(call, "--expires %s is no duration: 12h, 90d or 52w would be", text);
    *ret_us = lasts_us;
    return 0;
}

static void say_token(const struct cmd_call *call, const char *role, const char *secret,
                      int64_t expires_us)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    if (!call->json) {
        puts(secret);
        return;
    }
    json_begin_object(&out);
    json_put_text(&out, "token", secret);
    json_put_text(&out, "user", call->args[1]);
    json_put_text(&out, "role", role);
    json_put_time(&out, "expires", expires_us);
    json_end_object(&out);
    puts(json.s);
}

static int change(const struct cmd_call *call, struct json_out *out)
{
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;

    json_end_object(out);
    if (home_change(call->home, out->to->s, &reply, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    return CMD_OK;
}

static int add_here(const struct cmd_call *call, const char *role, int64_t expires_us)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);
    char secret[AUTH_SECRET_SIZE], sha256[SHA256_HEX_SIZE];

    if (fs_make_dirs(call->home, 0700, &err) < 0 || secret_new(secret, &err) < 0 ||
        sha256_hex(secret, strlen(secret), sha256, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    json_begin_object(&out);
    json_put_text(&out, "do", "token_add");
    json_put_text(&out, "user", call->args[1]);
    json_put_text(&out, "role", role);
    json_put_text(&out, "sha256", sha256);
    json_put_int(&out, "expires_us", expires_us);
    int code = change(call, &out);
    if (code == CMD_OK)
        say_token(call, role, secret, expires_us);
    return code;
}

/* The server makes it, and keeps its hash. */
static int add_there(const struct cmd_call *call, const char *role, int64_t lasts_us)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    int64_t lasts_s = (lasts_us + US_PER_S - 1) / US_PER_S;

    json_begin_object(&out);
    json_put_text(&out, "user", call->args[1]);
    json_put_text(&out, "role", role);
    json_put_int(&out, "expires_s", lasts_s);
    json_end_object(&out);
    int r = remote_open(call, &remote, &err);
    if (r >= 0)
        r = remote_call(remote, "POST", "/v1/tokens", body.s, &reply, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    say_token(call, role, json_get_text(reply, "token", ""),
              lasts_s ? clock_wall_us() + lasts_s * US_PER_S : 0);
    return CMD_OK;
}

static int add(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    const char *role = cmd_value(call, "role") ? cmd_value(call, "role") : "user";
    enum role known;
    int64_t lasts_us;

    if (user_check(call->args[1], &err) < 0 || role_parse(role, &known, &err) < 0)
        return cmd_usage(call, "%s", err_text(&err));
    if (read_lasts(call, &lasts_us))
        return CMD_USAGE;
    if (call->server)
        return add_there(call, role, lasts_us);
    return add_here(call, role, lasts_us ? clock_wall_us() + lasts_us : 0);
}

/* ---- ls ---- */

struct listing {
    struct cmd_call *call;
    struct table table;
    struct json_out json;
    int64_t now_us;
    const char *wanted; /* rm: an id or a user */
    size_t found;
};

static void put_row(struct json_out *out, const struct token_row *row)
{
    json_begin_object(out);
    json_put_int(out, "id", row->id);
    json_put_text(out, "kind", row->kind);
    json_put_text(out, "user", row->user);
    json_put_text(out, "role", row->role);
    json_put_time(out, "created", row->created_us);
    json_put_time(out, "expires", row->expires_us);
    json_end_object(out);
}

static void add_row(struct listing *listing, const struct token_row *row)
{
    autorelease(str) struct str age = STR_INIT, left = STR_INIT;

    str_add_duration(&age, MAX(listing->now_us - row->created_us, 0));
    if (row->expires_us)
        str_add_duration(&left, row->expires_us - listing->now_us);
    table_addf(&listing->table, BOLD, "%lld", (long long)row->id);
    table_add(&listing->table, PLAIN, row->user);
    table_add(&listing->table, PLAIN, row->role);
    table_add(&listing->table, PLAIN, row->kind);
    table_add(&listing->table, PLAIN, age.s);
    table_add(&listing->table, PLAIN, row->expires_us ? left.s : "never");
}

static int list_one(const struct token_row *row, void *arg)
{
    struct listing *listing = arg;

    if (row->expires_us && row->expires_us <= listing->now_us)
        return 0;
    if (listing->call->json)
        put_row(&listing->json, row);
    else
        add_row(listing, row);
    return 0;
}

static void begin_table(struct table *table)
{
    table_column(table, "id", COLUMN_RIGHT);
    table_column(table, "user", COLUMN_SHRINK);
    table_column(table, "role", COLUMN_LEFT);
    table_column(table, "kind", COLUMN_LEFT);
    table_column(table, "age", COLUMN_RIGHT);
    table_column(table, "ends in", COLUMN_RIGHT);
}

static int64_t time_of(const json_t *json, const char *key)
{
    const char *text = json_get_text(json, key, NULL);
    int64_t wall_us = 0;

    return text && time_parse(text, &wall_us) >= 0 ? wall_us : 0;
}

static int walk_there(struct cmd_call *call, token_fn *fn, struct listing *listing, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    int r = remote_open(call, &remote, err);

    if (r >= 0)
        r = remote_call(remote, "GET", "/v1/tokens", NULL, &reply, err);
    const json_t *tokens = json_object_get(reply, "tokens");
    for (size_t i = 0; i < json_array_size(tokens) && r >= 0; i++) {
        const json_t *token = json_array_get(tokens, i);
        struct token_row row = {.id = json_get_int(token, "id", 0),
                                .kind = json_get_text(token, "kind", ""),
                                .user = json_get_text(token, "user", ""),
                                .role = json_get_text(token, "role", ""),
                                .created_us = time_of(token, "created"),
                                .expires_us = time_of(token, "expires")};
        r = fn(&row, listing);
    }
    return r;
}

/* No database yet: nobody has a token. */
static int walk(struct cmd_call *call, token_fn *fn, struct listing *listing, struct err *err)
{
    autofree(store) struct store *store = NULL;
    if (call->server)
        return walk_there(call, fn, listing, err);
    int r = store_open_read(call->home, &store, err);

    if (r == -ENOENT)
        return 0;
    return r < 0 ? r : store_tokens(store, fn, listing, err);
}

static int ls(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    struct listing listing = {
        .call = call, .table = TABLE_INIT, .json = JSON_OUT(&text), .now_us = clock_wall_us()};

    begin_table(&listing.table);
    json_begin_array(&listing.json);
    int r = walk(call, list_one, &listing, &err);
    json_end_array(&listing.json);
    if (r >= 0 && call->json)
        puts(text.s);
    else if (r >= 0 && table_rows(&listing.table))
        table_print(&listing.table, stdout, call->colour, terminal_width());
    else if (r >= 0)
        puts("no tokens yet: 'hone token add NAME' makes one");
    table_release(&listing.table);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

/* ---- rm ---- */

static bool is_id(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n < 19 && !text[n];
}

static int count_one(const struct token_row *row, void *arg)
{
    struct listing *listing = arg;
    const char *wanted = listing->wanted;

    if (is_id(wanted) ? row->id == strtoll(wanted, NULL, 10) : str_eq(row->user, wanted))
        listing->found++;
    return 0;
}

static int rm_here(const struct cmd_call *call, const char *wanted)
{
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);

    json_begin_object(&out);
    json_put_text(&out, "do", "token_rm");
    if (is_id(wanted))
        json_put_int(&out, "id", strtoll(wanted, NULL, 10));
    else
        json_put_text(&out, "user", wanted);
    return change(call, &out);
}

static int rm_there(const struct cmd_call *call, const char *wanted)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str path = STR_INIT;
    int r = remote_open(call, &remote, &err);

    str_add(&path, "/v1/tokens/");
    percent_encode(wanted, "", &path);
    if (r >= 0)
        r = remote_call(remote, "DELETE", path.s, NULL, &reply, &err);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

static int rm(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct listing listing = {.call = call, .wanted = call->args[1]};

    if (walk(call, count_one, &listing, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (!listing.found) {
        err_set(&err, ENOENT, "no token %s: 'hone token ls' lists them", listing.wanted);
        return cmd_fail(call, CMD_FAILED, &err);
    }
    int code = call->server ? rm_there(call, listing.wanted) : rm_here(call, listing.wanted);
    if (code == CMD_OK && call->json)
        printf("{\"removed\":%zu}\n", listing.found);
    else if (code == CMD_OK)
        printf("%zu removed\n", listing.found);
    return code;
}

static const struct {
    const char *name;
    int args; /* behind it */
    int (*run)(struct cmd_call *call);
} verbs[] = {{"ls", 0, ls}, {"add", 1, add}, {"rm", 1, rm}};

static int run(struct cmd_call *call)
{
    const char *name = call->n_args ? call->args[0] : "ls";
    size_t i = 0;

    while (i < ARRAY_LEN(verbs) && !str_eq(verbs[i].name, name))
        i++;
    if (i == ARRAY_LEN(verbs))
        return cmd_usage(call, "'%s' is none of add, ls, rm", name);
    if (verbs[i].run != add && (cmd_value(call, "role") || cmd_value(call, "expires")))
        return cmd_usage(call, "--role and --expires are for 'add'");
    int n = MAX(call->n_args - 1, 0);
    if (n < verbs[i].args)
        return cmd_usage(call, "'%s' wants %s", name,
                         verbs[i].run == add ? "the name of a user" : "an ID or a USER");
    if (n > verbs[i].args)
        return cmd_usage(call, "'%s' is one too many", call->args[verbs[i].args + 1]);
    return verbs[i].run(call);
}

const struct cmd cmd_token = {
    .name = "token",
    .args = "[VERB] [USER|ID]",
    .help = "who may ask this home's server: tokens and sessions of browsers",
    .details =
        "VERB is add USER, ls, rm ID or rm USER; ls without any.\n\n"
        "'add' prints a new token, once: only its hash is kept. Programs send it as "
        "'Authorization: Bearer TOKEN' (or 'Token TOKEN', or as the password of any user name); "
        "HONE_TOKEN gives it to the commands, MLFLOW_TRACKING_TOKEN to MLflow's client. A viewer "
        "reads; a user runs, stops and changes what is his or hers, and sends metrics; an admin "
        "may do all.\n\n"
        "'ls' lists tokens, the sessions of browsers and links not yet used ('hone open'). 'rm' "
        "takes one away, with the sessions that were opened with it, or all of a user: the next "
        "request is refused.",
    .max_args = 2,
    .options = options,
    .run = run,
};
