/* SPDX-License-Identifier: MIT */
/*
 * best.c — hone best: the best completed trials of an experiment under its objective; with several
 * objectives, those that no other one beats in all of them.
 *
 * A lucky run is not the best: where the search has a model of the results, its choice comes first,
 * with what the model makes of it and how often that setting was run.
 */
#include "base/clock.h"
#include "cli/bounds.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/ranking.h"
#include "api/where.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"number", 'n', "N", "how many (10; with --json the best one alone)"},
    {"where", 'w', "EXPR", "of these only those for which this holds, as in 'lr < 0.1'"},
    {NULL, 0, NULL, NULL},
};

struct best {
    const struct cmd_call *call;
    struct store *store;
    const struct target *target;
    struct ranking ranking;
    struct where *where; /* NULL: all of them */
    struct table table;
    struct str json;
    struct json_out out;
};

/* ---- those that fit ---- */

struct fitting {
    struct where *where;
    struct err *err;
    VEC(int64_t) numbers; /* rising */
};

static int on_trial(const struct trial_row *row, void *arg)
{
    struct fitting *fitting = arg;
    int r = where_trial(fitting->where, row, fitting->err);

    if (r == 1)
        vec_push(&fitting->numbers, row->trial.number);
    return MIN(r, 0);
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void keep_numbers(struct ranking *ranking, const int64_t *numbers, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < ranking->order.len; i++)
        if (n && bsearch(&ranking_at(ranking, i)->number, numbers, n, sizeof(*numbers), by_number))
            ranking->order.at[kept++] = ranking->order.at[i];
    ranking->order.len = kept;
}

/* The others leave the ranking. */
static int keep_fitting(struct best *best, struct err *err)
{
    struct trial_query query = {.experiment = best->target->experiment.experiment.id};
    struct fitting fitting = {.where = best->where, .err = err};

    if (!best->where)
        return 0;
    int r = store_trials(best->store, &query, on_trial, &fitting, err);
    if (r >= 0)
        keep_numbers(&best->ranking, fitting.numbers.at, fitting.numbers.len);
    vec_release(&fitting.numbers);
    if (r >= 0 && !best->ranking.order.len)
        return err_set(err, ENOENT, "none of the best trials of experiment %lld fits",
                       (long long)query.experiment);
    return r;
}

static int no_best(const struct best *best, struct err *err)
{
    long long id = best->target->experiment.experiment.id;
    autorelease(str) struct str words = STR_INIT;

    if (!best->ranking.completed)
        return err_set(err, ENOENT,
                       "no trial of experiment %lld has completed: 'hone ls %lld' shows how they "
                       "stand",
                       id, id);
    bounds_lack(&best->ranking.results, &best->target->spec, &words);
    return err_set(err, ENOENT, "experiment %lld: %s; 'hone ls %lld' shows how they stand", id,
                   words.s, id);
}

static int find_best(struct best *best, struct err *err)
{
    const struct ranking *ranking = &best->ranking;
    long long id = best->target->experiment.experiment.id;

    if (!best->target->spec.objective.metric)
        return err_set(err, ENOENT,
                       "experiment %lld has no objective, so none of its trials is the best; "
                       "'hone ls %lld' lists them",
                       id, id);
    int r = ranking_load(best->store, best->target, &best->ranking, err);
    if (r < 0)
        return r;
    return ranking->order.len ? keep_fitting(best, err) : no_best(best, err);
}

/* ---- for people ---- */

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
    for (size_t i = 0; i < best->ranking.results.n_objectives; i++)
        table_column(&best->table, objective_at(spec, i)->metric, COLUMN_RIGHT);
    if (best->ranking.repeated)
        table_column(&best->table, "runs", COLUMN_RIGHT);
    table_column(&best->table, "time", COLUMN_RIGHT);
    for (size_t i = 0; i < spec->space.n; i++)
        if (param_size(&spec->space.params[i]) != 1)
            table_column(&best->table, spec->space.params[i].name,
                         is_words(&spec->space.params[i]) ? COLUMN_SHRINK : COLUMN_RIGHT);
}

static void add_param(struct table *table, const struct param *param, double x)
{
    autorelease(str) struct str text = STR_INIT;
    if (isnan(x))
        table_add(table, PLAIN, "");
    else if (param->type == PARAM_FLOAT)
        table_number(table, PLAIN, x);
    else {
        param_text(param, x, &text);
        table_add(table, PLAIN, text.s);
    }
}

static void add_row(struct best *best, const struct outcome *row, bool first)
{
    const struct space *space = &best->target->spec.space;
    bool alone = best->ranking.results.n_objectives == 1;
    autorelease(str) struct str time = STR_INIT;

    str_add_duration(&time, row->run_us);
    table_addf(&best->table, BOLD, "%lld.%lld", (long long)best->target->experiment.experiment.id,
               (long long)row->number);
    for (size_t i = 0; i < best->ranking.results.n_objectives; i++)
        table_number(&best->table, alone && first ? GREEN : PLAIN, row->values[i]);
    if (best->ranking.repeated)
        table_addf(&best->table, PLAIN, "%zu", ranking_runs(&best->ranking, row));
    table_add(&best->table, PLAIN, time.s);
    for (size_t i = 0; i < space->n; i++)
        if (param_size(&space->params[i]) != 1)
            add_param(&best->table, &space->params[i], row->point[i]);
}

static void print_table(struct best *best, size_t limit)
{
    autorelease(str) struct str words = STR_INIT, cover = STR_INIT;

    ranking_words(&best->ranking, best->target, &words);
    if (words.len)
        printf("%s\n", words.s);
    ranking_cover_words(&best->ranking, best->target, &cover);
    if (cover.len && !best->where)
        printf("%s\n", cover.s);
    if (words.len)
        puts("");
    add_columns(best);
    for (size_t i = 0; i < best->ranking.order.len && i < limit; i++)
        add_row(best, ranking_at(&best->ranking, i), i == 0);
    table_print(&best->table, stdout, best->call->colour, terminal_width());
    if (best->ranking.results.n_objectives > 1 && best->ranking.order.len > limit)
        printf("and %zu more: -n %zu shows them\n", best->ranking.order.len - limit,
               best->ranking.order.len);
}

/* ---- for scripts ---- */

static int add_json(const struct trial_row *row, void *arg)
{
    struct best *best = arg;
    const struct experiment *experiment = &best->target->experiment.experiment;
    const struct outcome *outcome = NULL;

    vec_foreach (one, &best->ranking.results.rows)
        if (one->number == row->trial.number)
            outcome = one;
    rows_put_trial(&best->out, experiment->name, row, true);
    if (outcome) {
        bool model = ranking_has_model(best->target, outcome);
        json_put_int(&best->out, "runs", (int64_t)ranking_runs(&best->ranking, outcome));
        json_put_known(&best->out, "mean", model ? experiment->best_mean : NAN);
        json_put_known(&best->out, "deviation", model ? experiment->best_deviation : NAN);
        json_key(&best->out, "values");
        json_begin_array(&best->out);
        for (size_t i = 0; i < best->ranking.results.n_objectives; i++)
            json_double(&best->out, outcome->values[i]);
        json_end_array(&best->out);
    }
    json_end_object(&best->out);
    return 0;
}

static int print_json(struct best *best, size_t limit, bool many, struct err *err)
{
    int r = 0;

    if (many)
        json_begin_array(&best->out);
    for (size_t i = 0; i < best->ranking.order.len && i < limit && r >= 0; i++) {
        struct trial_query query = {.experiment = best->target->experiment.experiment.id,
                                    .number = ranking_at(&best->ranking, i)->number};
        r = store_trials(best->store, &query, add_json, best, err);
    }
    if (many)
        json_end_array(&best->out);
    if (r >= 0)
        output_line(&best->json);
    return r;
}

/* ---- the command ---- */

static int print_best(struct best *best, struct err *err)
{
    const struct cmd_call *call = best->call;
    bool given = cmd_value(call, "number") != NULL, several = best->target->spec.others.len > 0;
    int64_t limit = !call->json ? 10 : several ? INT32_MAX : 1;

    if (cmd_number(call, "number", 1, INT32_MAX, &limit))
        return CMD_USAGE;
    int r = find_best(best, err);
    if (r == 0 && call->json)
        r = print_json(best, (size_t)limit, given || several, err);
    else if (r == 0)
        print_table(best, (size_t)limit);
    return r < 0 ? cmd_fail(call, CMD_FAILED, err) : CMD_OK;
}

static int make_where(struct best *best, struct err *err)
{
    const struct cmd_call *call = best->call;
    struct where_ask ask = {.home = call->home,
                            .store = best->store,
                            .target = best->target,
                            .condition = cmd_value(call, "where"),
                            .now_us = clock_wall_us()};
    int r = ask.condition ? where_new(&ask, &best->where, err) : 0;

    return r < 0 ? where_fail(call, r, err) : CMD_OK;
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
    best.store = store;
    if (target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err) < 0)
        code = cmd_fail(call, CMD_FAILED, &err);
    else
        code = make_where(&best, &err);
    if (code == CMD_OK)
        code = print_best(&best, &err);
    where_free(best.where);
    ranking_release(&best.ranking);
    table_release(&best.table);
    str_release(&best.json);
    target_release(&target);
    return code;
}

const struct cmd cmd_best = {
    .name = "best",
    .args = "EXPERIMENT",
    .help = "the best trials of an experiment",
    .details =
        "Completed trials, best value of the objective first. Where the search has a model of the "
        "results, the setting that it takes for the best comes first, a lucky run does not: its "
        "mean is given with a 95 % interval, beside the value that was observed. With several "
        "objectives: the trials that no other one beats in all of them (the Pareto front). What "
        "breaks a constraint is left out.\n\n"
        "With --json the best one as an object; with -n N, or several objectives, an array.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
