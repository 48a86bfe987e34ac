/* SPDX-License-Identifier: MIT */
/*
 * best.c — hone best: the best completed trials of an experiment under its objective.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/output.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"number", 'n', "N", "how many (10; with --json the best one alone)"},
    {NULL, 0, NULL, NULL},
};

struct best {
    const struct cmd_call *call;
    const struct target *target;
    struct table table;
    struct str json;
    struct json_out out;
    int64_t shown;
};

/* Does one of its values not read as a number? */
static bool is_words(const struct param *param)
{
    for (size_t i = 0; param->type == PARAM_CHOICE && i < param->n_choices; i++)
        if (param->choices[i].kind != VALUE_INT && param->choices[i].kind != VALUE_FLOAT)
            return true;
    return false;
}

static void add_columns(struct best *best)
{
    const struct spec *spec = &best->target->spec;

    table_column(&best->table, "trial", COLUMN_RIGHT);
    table_column(&best->table, spec->objective.metric ? spec->objective.metric : "value",
                 COLUMN_RIGHT);
    table_column(&best->table, "time", COLUMN_RIGHT);
    for (size_t i = 0; i < spec->space.n; i++)
        if (param_size(&spec->space.params[i]) != 1)
            table_column(&best->table, spec->space.params[i].name,
                         is_words(&spec->space.params[i]) ? COLUMN_SHRINK : COLUMN_RIGHT);
}

static void add_param(struct table *table, const struct param *param, double x)
{
    autorelease(str) struct str text = STR_INIT;
    if (x != x)
        table_add(table, PLAIN, "");
    else if (param->type == PARAM_FLOAT)
        table_number(table, PLAIN, x);
    else {
        param_text(param, x, &text);
        table_add(table, PLAIN, text.s);
    }
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct best *best = arg;
    const struct trial *trial = &row->trial;
    const struct space *space = &best->target->spec.space;

    best->shown++;
    if (best->call->json) {
        output_trial(&best->out, best->target->experiment.experiment.name, row, false);
        return 0;
    }
    autorelease(str) struct str time = STR_INIT;
    str_add_duration(&time, trial->run_us);
    table_addf(&best->table, BOLD, "%lld.%lld", (long long)trial->experiment,
               (long long)trial->number);
    table_number(&best->table, best->shown == 1 ? GREEN : PLAIN, trial->value);
    table_add(&best->table, PLAIN, time.s);
    for (size_t i = 0; i < space->n; i++)
        if (param_size(&space->params[i]) != 1)
            add_param(&best->table, &space->params[i], trial->point[i]);
    return 0;
}

static int find_best(struct best *best, struct store *store, int64_t limit, struct err *err)
{
    const struct spec *spec = &best->target->spec;
    struct trial_query query = {.experiment = best->target->experiment.experiment.id,
                                .order = ORDER_BEST,
                                .goal = spec->objective.goal,
                                .limit = limit};

    if (!spec->objective.metric)
        return err_set(err, ENOENT,
                       "experiment %lld has no objective, so none of its trials is the best; "
                       "'hone ls %lld' lists them",
                       (long long)query.experiment, (long long)query.experiment);
    int r = store_trials(store, &query, on_trial, best, err);
    if (r < 0)
        return r;
    if (best->shown == 0)
        return err_set(err, ENOENT,
                       "no trial of experiment %lld has completed: 'hone ls %lld' shows how they "
                       "stand",
                       (long long)query.experiment, (long long)query.experiment);
    return 0;
}

static int print_best(struct best *best, struct store *store, struct err *err)
{
    const struct cmd_call *call = best->call;
    bool many = cmd_value(call, "number") != NULL;
    int64_t limit = call->json ? 1 : 10;

    if (cmd_number(call, "number", 1, INT32_MAX, &limit))
        return CMD_USAGE;
    if (!call->json)
        add_columns(best);
    if (call->json && many)
        json_begin_array(&best->out);
    int r = find_best(best, store, limit, err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, err);
    if (call->json && many)
        json_end_array(&best->out);
    if (call->json)
        output_line(&best->json);
    else
        table_print(&best->table, stdout, call->colour, terminal_width());
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    struct best best = {.call = call, .target = &target, .json = STR_INIT};
    int code;

    best.out = (struct json_out)JSON_OUT(&best.json);
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err) < 0)
        code = cmd_fail(call, CMD_FAILED, &err);
    else
        code = print_best(&best, store, &err);
    table_release(&best.table);
    str_release(&best.json);
    target_release(&target);
    return code;
}

const struct cmd cmd_best = {
    .name = "best",
    .args = "EXPERIMENT",
    .help = "the best trials of an experiment",
    .details = "Completed trials, best value of the objective first. With --json the best one as "
               "an object; with -n N an array.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
