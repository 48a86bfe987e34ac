/* SPDX-License-Identifier: MIT */
/*
 * alert_columns.c — the columns of a running trial for conditions of alerts: a row for each field,
 * then the parameters of the space in their order, then metrics.
 */
#include "spec/alert_columns.h"
#include "base/clock.h"

#include <math.h>

struct row {
    const struct trial *trial;
    int64_t run_us;
};
struct field {
    const char *name;
    enum expr_type type;
    double (*get)(const struct row *row); /* NaN: not known */
};

static double step_number(int64_t step)
{
    return step == STEP_NONE ? NAN : (double)step;
}

static double moment(int64_t us)
{
    return us ? (double)us / US_PER_S : NAN;
}

#define FIELD(name, value)                                                                         \
    static double name(const struct row *row)                                                      \
    {                                                                                              \
        return value;                                                                              \
    }
FIELD(number, (double)row->trial->number)
FIELD(value, row->trial->value)
FIELD(best, row->trial->best)
FIELD(step, step_number(row->trial->last_step))
FIELD(first_nan, step_number(row->trial->first_nan_step))
FIELD(attempts, (double)row->trial->attempts)
FIELD(retries, (double)row->trial->retries)
FIELD(duration, (double)row->run_us / US_PER_S)
FIELD(created, moment(row->trial->created_us))
FIELD(started, moment(row->trial->started_us))

static const struct field fields[] = {
    {"number", EXPR_NUMBER, number},     {"trial", EXPR_NUMBER, number},
    {"value", EXPR_NUMBER, value},       {"best", EXPR_NUMBER, best},
    {"step", EXPR_NUMBER, step},         {"first_nan", EXPR_NUMBER, first_nan},
    {"attempts", EXPR_NUMBER, attempts}, {"retries", EXPR_NUMBER, retries},
    {"duration", EXPR_NUMBER, duration}, {"time", EXPR_NUMBER, duration},
    {"created", EXPR_TIME, created},     {"started", EXPR_TIME, started},
};

/* ---- parameters ---- */

static enum expr_type choice_type(const struct param *param)
{
    static const enum expr_type types[] = {
        [VALUE_NULL] = EXPR_NULL,    [VALUE_BOOL] = EXPR_BOOL, [VALUE_INT] = EXPR_NUMBER,
        [VALUE_FLOAT] = EXPR_NUMBER, [VALUE_TEXT] = EXPR_TEXT,
    };
    enum expr_type type = EXPR_NULL;

    for (size_t i = 0; i < param->n_choices; i++) {
        enum expr_type one = types[param->choices[i].kind];
        if (type != EXPR_NULL && one != EXPR_NULL && one != type)
            return EXPR_ANY;
        type = one == EXPR_NULL ? type : one;
    }
    return type == EXPR_NULL ? EXPR_ANY : type;
}

static const char *const *choice_words(const struct param *param, struct arena *arena)
{
    const char **words = arena_alloc(arena, (param->n_choices + 1) * sizeof(*words));
    size_t n = 0;

    for (size_t i = 0; i < param->n_choices; i++)
        if (param->choices[i].kind == VALUE_TEXT)
            words[n++] = param->choices[i].text;
    words[n] = NULL;
    return words;
}

static struct expr_column param_column(const struct param *param, struct arena *arena)
{
    enum expr_type type = param->type == PARAM_CHOICE ? choice_type(param) : EXPR_NUMBER;

    return (struct expr_column){.name = param->name,
                                .kind = EXPR_PARAM,
                                .type = type,
                                .words = type == EXPR_TEXT ? choice_words(param, arena) : NULL};
}

static struct expr_value value_of(const struct param *param, double x)
{
    if (isnan(x))
        return expr_null();
    if (param->type != PARAM_CHOICE)
        return expr_number(x);
    if (x < 0 || x >= (double)param->n_choices)
        return expr_null();
    const struct value *choice = &param->choices[(size_t)x];
    switch (choice->kind) {
    case VALUE_NULL:
        return expr_null();
    case VALUE_TEXT:
        return expr_text(choice->text);
    case VALUE_BOOL:
        return expr_bool(choice->number != 0);
    default:
        return expr_number(choice->number);
    }
}

/* ---- all of them ---- */

static void add_metric(struct expr_column *columns, size_t *n, const char *name, int better)
{
    for (size_t i = 0; i < *n; i++)
        if (columns[i].kind == EXPR_METRIC && str_eq(columns[i].name, name))
            return;
    if (name)
        columns[(*n)++] = (struct expr_column){
            .name = name, .kind = EXPR_METRIC, .type = EXPR_NUMBER, .better = better};
}

static void add_objective(struct expr_column *columns, size_t *n, const struct objective *objective)
{
    add_metric(columns, n, objective->metric, objective->goal == GOAL_MAXIMIZE ? 1 : -1);
}

const struct expr_column *alert_columns(const struct spec *spec, struct arena *arena, size_t *ret_n)
{
    size_t most = ARRAY_LEN(fields) + spec->space.n + 1 + spec->others.len + spec->diverge.len +
                  spec->constraints.len;
    struct expr_column *columns = arena_alloc(arena, most * sizeof(*columns));
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        columns[n++] = (struct expr_column){
            .name = fields[i].name, .kind = EXPR_FIELD, .type = fields[i].type};
    for (size_t i = 0; i < spec->space.n; i++)
        columns[n++] = param_column(&spec->space.params[i], arena);
    add_objective(columns, &n, &spec->objective);
    vec_foreach (other, &spec->others)
        add_objective(columns, &n, other);
    vec_foreach (constraint, &spec->constraints)
        add_metric(columns, &n, constraint->metric, constraint->at_least ? 1 : -1);
    vec_foreach (metric, &spec->diverge)
        add_metric(columns, &n, *metric, 0);
    *ret_n = n;
    return columns;
}

/* Fields of trials in filters (api/where_fields.c) that one that runs does not have. */
static const char *const absent[] = {"state", "reason", "ended",    "repeat_of", "joules",
                                     "tags",  "note",   "run_name", "starred",   NULL};

int alert_condition_parse(const char *text, const struct expr_column *columns, size_t n,
                          int64_t now_us, bool stored, struct expr **ret, struct err *err)
{
    struct expr_scope scope = {.noun = "trial",
                               .columns = columns,
                               .n = n,
                               .now_us = now_us,
                               .open = true,
                               .absent = stored ? NULL : absent,
                               .lenient = stored};

    return expr_parse(text, &scope, EXPR_BOOL, ret, err);
}

struct expr_value alert_field(const struct spec *spec, const struct trial *trial, int64_t run_us,
                              size_t column)
{
    const struct row row = {trial, run_us};

    if (column < ARRAY_LEN(fields)) {
        double x = fields[column].get(&row);
        return isnan(x) ? expr_null() : expr_number(x);
    }
    column -= ARRAY_LEN(fields);
    if (column >= spec->space.n)
        return expr_null();
    return value_of(&spec->space.params[column], trial->point[column]);
}
