/* SPDX-License-Identifier: MIT */
/*
 * queue.c — hone queue: who runs and who waits, in the order in which they are served; and whose
 * turn comes earlier.
 */
#include "api/rows.h"
#include "api/wire.h"
#include "cli/ask.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "store/store.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"priority", 0, "N", "put EXPERIMENT there, -100 to 100: higher ones start trials first"},
    {NULL, 0, NULL, NULL},
};

/* ---- the order ---- */

/* Nobody is at work: the queue is empty, but may be paused. */
static int read_idle(const struct cmd_call *call, json_t **ret, struct err *err)
{
    autofree(store) struct store *store = NULL;
    bool paused = false;
    int r = store_open_read(call->home, &store, err);

    if (r >= 0)
        r = store_queue_paused(store, &paused, err);
    else if (r == -ENOENT)
        r = 0; /* a home without experiments */
    if (r >= 0)
        *ret = json_pack("{s:b,s:[]}", "paused", paused, "experiments");
    return r;
}

static int read_queue(const struct cmd_call *call, json_t **ret, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;

    if (call->server) {
        int r = remote_open(call, &remote, err);
        return r < 0 ? r : remote_call(remote, "GET", "/v1/queue", NULL, ret, err);
    }
    if (!home_has_engine(call->home))
        return read_idle(call, ret, err);
    return wire_call(call->home, "{\"do\":\"queue\"}", ret, err);
}

static void add_row(struct table *table, const json_t *entry)
{
    const json_t *wanted = json_object_get(entry, "wanted");
    int64_t running = json_get_int(entry, "running", 0);
    bool frozen = json_get_bool(entry, "frozen", false);
    const char *how = frozen                                                ? "frozen"
                      : json_get_bool(entry, "paused", false)               ? "paused"
                      : str_eq(json_get_text(entry, "state", ""), "ending") ? "ending"
                      : running                                             ? "running"
                                                                            : "waiting";

    table_addf(table, BOLD, "%lld", (long long)json_get_int(entry, "experiment", 0));
    table_add(table, PLAIN, json_get_text(entry, "name", ""));
    table_add(table, PLAIN, json_get_text(entry, "owner", "-"));
    table_addf(table, PLAIN, "%lld", (long long)json_get_int(entry, "priority", 0));
    table_add(table, str_eq(how, "running") ? CYAN : str_eq(how, "waiting") ? PLAIN : YELLOW, how);
    table_addf(table, PLAIN, "%lld", (long long)running);
    if (json_is_integer(wanted))
        table_addf(table, PLAIN, "%lld", (long long)json_integer_value(wanted));
    else
        table_add(table, PLAIN, "any");
}

static void print_table(const struct cmd_call *call, const json_t *queue)
{
    const json_t *list = json_object_get(queue, "experiments");
    struct table table = TABLE_INIT;

    table_column(&table, "experiment", COLUMN_RIGHT);
    table_column(&table, "name", COLUMN_SHRINK);
    table_column(&table, "owner", COLUMN_SHRINK);
    table_column(&table, "priority", COLUMN_RIGHT);
    table_column(&table, "state", COLUMN_LEFT);
    table_column(&table, "running", COLUMN_RIGHT);
    table_column(&table, "waiting", COLUMN_RIGHT);
    for (size_t i = 0; i < json_array_size(list); i++)
        add_row(&table, json_array_get(list, i));
    if (json_get_bool(queue, "paused", false))
        puts("the queue is paused: 'hone resume --all' lets it go on");
    if (table_rows(&table))
        table_print(&table, stdout, call->colour, terminal_width());
    else
        puts("nothing runs or waits");
    table_release(&table);
}

static int list(const struct cmd_call *call)
{
    autofree(json) json_t *queue = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (read_queue(call, &queue, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    json_object_del(queue, "ok");
    if (!call->json) {
        print_table(call, queue);
        return CMD_OK;
    }
    json_value(&out, queue);
    puts(text.s);
    return CMD_OK;
}

/* ---- the place of one ---- */

static int set_priority(const struct cmd_call *call, const char *ref, int64_t priority)
{
    autofree(mem) char *body = xasprintf("{\"priority\":%lld}", (long long)priority);
    int64_t id = 0;
    int code;

    if (call->server) {
        code = remote_act(call, "experiments", ref, "priority", body);
    } else {
        code = ask_find(call, ref, &id);
        if (code)
            return code;
        autofree(mem) char *request =
            xasprintf("{\"do\":\"priority\",\"experiment\":%lld,\"priority\":%lld}", (long long)id,
                      (long long)priority);
        code = ask_engine(call, id, request, NULL);
    }
    if (code == 0 && call->json)
        puts("{\"ok\":true}");
    else if (code == 0)
        printf("experiment %s has priority %lld\n", ref, (long long)priority);
    return code;
}

static int run(struct cmd_call *call)
{
    int64_t priority = 0;

    if (cmd_number(call, "priority", -100, 100, &priority))
        return CMD_USAGE;
    if (!cmd_value(call, "priority") != !call->n_args)
        return cmd_usage(call, "a place in the queue is given by EXPERIMENT and --priority N");
    return call->n_args ? set_priority(call, call->args[0], priority) : list(call);
}

const struct cmd cmd_queue = {
    .name = "queue",
    .args = "[EXPERIMENT]",
    .help = "who runs and who waits, in the order of service; --priority N changes it",
    .details = "Experiments of a higher priority start their trials first. Among equals it is fair "
               "between users, then between a user's experiments: who has the least cpus in use is "
               "next. One that needs more than is free now is not overtaken by smaller ones.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
