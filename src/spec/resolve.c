/* SPDX-License-Identifier: MIT */
/*
 * resolve.c — the system parameters on the machine at hand: `auto` gets its end, values that the
 * machine does not have go away, and the configuration that a trial starts with.
 *
 * A parameter is cut by making a shorter one and moving everything that holds a value of the old
 * one over: where it starts and, under `tune: joint`, forbidden combinations and settings to try.
 */
#include "spec/parse.h"
#include "spec/params.h"

#include <errno.h>
#include <math.h>

#define THREADS_PER_CPU 4 /* more only wait for each other */

/* ---- a shorter parameter ---- */

static double number_at(const struct param *param, double x)
{
    return param->type == PARAM_CHOICE ? param->choices[(size_t)x].number : x;
}

static double least_of(const struct param *param)
{
    double least = INFINITY;

    if (param->type != PARAM_CHOICE)
        return param->min;
    for (size_t i = 0; i < param->n_choices; i++)
        least = fmin(least, param->choices[i].number);
    return least;
}

static void cut_choices(const struct param *param, double limit, struct param *ret)
{
    ret->type = PARAM_CHOICE;
    ret->choices = xcalloc(param->n_choices, sizeof(*ret->choices));
    for (size_t i = 0; i < param->n_choices; i++)
        if (param->choices[i].number <= limit)
            ret->choices[ret->n_choices++] = value_copy(&param->choices[i]);
    ret->ordered = ret->n_choices > 1;
}

static void cut_range(const struct param *param, double limit, struct param *ret)
{
    double step = param->step > 0 ? param->step : 1;
    double steps = floor((fmin(limit, param->max) - param->min) / step);

    if (steps < 1) { /* as it would be read */
        param_set_constant(ret, value_int((int64_t)param->min));
        return;
    }
    ret->type = PARAM_INT;
    ret->scale = param->scale;
    ret->min = param->min;
    ret->max = param->min + steps * step;
    ret->step = param->step;
}

static void release_param(struct param param)
{
    struct space one = {.params = xcalloc(1, sizeof(param)), .n = 1};

    one.params[0] = param;
    space_release(&one);
}

/* ---- what held its values ---- */

/* The same value of another parameter; false if it has none. */
static bool move_value(const struct param *from, const struct param *to, double *x)
{
    struct value value = param_value(from, *x);
    bool moved = param_parse(to, &value, x, NULL) == 0;

    value_release(&value);
    return moved;
}

static double greatest_of(const struct param *param)
{
    size_t top = 0;

    if (param->type != PARAM_CHOICE)
        return param->max;
    for (size_t i = 1; i < param->n_choices; i++)
        top = param->choices[i].number > param->choices[top].number ? i : top;
    return (double)top;
}

/* The nearest to a value that is gone is the greatest that is left. */
static void move_start(const struct param *from, const struct param *to, double *start)
{
    if (isnan(*start)) {
        *start = to->type == PARAM_CHOICE ? 0 : NAN;
        return;
    }
    if (!move_value(from, to, start))
        *start = greatest_of(to);
}

/* Is it one of the first n? One that leaves something to the search is new. */
static bool stands_before(const struct spec *spec, const double *x, size_t n)
{
    for (size_t i = 0; i < spec->space.n; i++)
        if (x[i] == TRY_FREE)
            return false;
    for (size_t k = 0; k < n; k++)
        if (point_equal(spec->tries.at[k], x, spec->space.n))
            return true;
    return false;
}

/* A setting with a value that is gone goes too. */
static void move_tries(struct spec *spec, size_t i, const struct param *to)
{
    const struct param *from = &spec->space.params[i];
    size_t kept = 0;

    vec_foreach (point, &spec->tries) {
        double *x = *point;
        bool stays = x[i] == TRY_FREE || move_value(from, to, &x[i]);
        if (x[i] == TRY_FREE && param_size(to) == 1)
            x[i] = param_value_at(to, 0);
        if (stays && !stands_before(spec, x, kept))
            spec->tries.at[kept++] = x;
        else
            free(x);
    }
    spec->tries.len = kept;
}

/* false: it cannot hold any more. */
static bool move_clause(const struct param *from, const struct param *to, struct clause *clause)
{
    size_t n = 0;

    if (clause->n_values == 0 && to->type != PARAM_CHOICE)
        return clause->min <= to->max;
    if (clause->n_values == 0) { /* a range of what is now a constant */
        double x = to->choices[0].number;
        clause->values = xcalloc(1, sizeof(*clause->values));
        clause->n_values = x >= clause->min && x <= clause->max;
        return clause->n_values > 0;
    }
    for (size_t k = 0; k < clause->n_values; k++) {
        double x = clause->values[k];
        if (move_value(from, to, &x))
            clause->values[n++] = x;
    }
    clause->n_values = n;
    return n > 0;
}

static void release_forbid(struct forbid *forbid)
{
    for (size_t i = 0; i < forbid->n; i++)
        free(forbid->clauses[i].values);
    free(forbid->clauses);
}

static void move_forbids(struct space *space, size_t i, const struct param *to)
{
    size_t kept = 0;

    for (size_t f = 0; f < space->n_forbids; f++) {
        struct forbid *forbid = &space->forbids[f];
        bool holds = true;
        for (size_t k = 0; k < forbid->n; k++)
            if (forbid->clauses[k].param == i)
                holds = move_clause(&space->params[i], to, &forbid->clauses[k]) && holds;
        if (holds)
            space->forbids[kept++] = *forbid;
        else
            release_forbid(forbid);
    }
    space->n_forbids = kept;
}

/* ---- one parameter on the machine ---- */

static int refuse(const struct param *param, bool is_cpus, double cpus, double limit,
                  struct err *err)
{
    const char *where = param->type == PARAM_CHOICE ? "that is listed" : "of its range";
    double least = least_of(param);

    if (is_cpus)
        return err_set(err, EINVAL,
                       "system.%s: this machine has %.0f cpu%s, and %.0f is the least %s",
                       param->name, cpus, cpus == 1 ? "" : "s", least, where);
    return err_set(err, EINVAL,
                   "system.%s: this machine has %.0f cpu%s, enough for %.0f threads, and %.0f is "
                   "the least %s",
                   param->name, cpus, cpus == 1 ? "" : "s", limit, least, where);
}

static void cut_param(struct spec *spec, size_t i, double limit)
{
    bool joint = spec->joint_n > 0;
    size_t at = joint ? spec->space.n - spec->joint_n + i : i;
    struct param *param = joint ? &spec->space.params[at] : &spec->system.params[at];
    struct param cut = {.name = xstrdup(param->name)};

    if (param->type == PARAM_CHOICE)
        cut_choices(param, limit, &cut);
    else
        cut_range(param, limit, &cut);
    move_start(param, &cut, &spec->settings[i].start);
    if (joint) {
        move_tries(spec, at, &cut);
        move_forbids(&spec->space, at, &cut);
    }
    release_param(*param);
    *param = cut;
}

static int resolve_one(struct spec *spec, size_t i, double cpus, struct err *err)
{
    size_t n;
    const struct param *param = spec_system_params(spec, &n) + i;
    struct system_setting *setting = &spec->settings[i];
    enum system_name name = system_name_of(param->name);

    if (name != SYSTEM_CPUS && name != SYSTEM_THREADS)
        return 0;
    double limit = name == SYSTEM_CPUS || setting->is_auto ? cpus : THREADS_PER_CPU * cpus;
    if (least_of(param) > limit)
        return refuse(param, name == SYSTEM_CPUS, cpus, limit, err);
    setting->is_auto = false;
    if (number_at(param, greatest_of(param)) > limit)
        cut_param(spec, i, limit);
    return 0;
}

int spec_system_resolve(struct spec *spec, double machine_cpus, struct err *err)
{
    double cpus = fmax(1, floor(machine_cpus));
    size_t n;

    spec_system_params(spec, &n);
    for (size_t i = 0; spec_has_system(spec) && i < n; i++) {
        int r = resolve_one(spec, i, cpus, err);
        if (r < 0)
            return r;
    }
    if (spec->joint_n == 0)
        return 0;
    double size = space_size(&spec->space);
    if (size == 0)
        return err_set(err, EINVAL, "'forbid' forbids every setting that this machine allows");
    if ((double)spec->trials > size)
        spec->trials = (int64_t)size;
    return 0;
}

/* ---- where a trial starts ---- */

void spec_system_start(const struct spec *spec, double cpus, double *ret_x)
{
    for (size_t i = 0; i < spec->system.n; i++) {
        const struct param *param = &spec->system.params[i];
        ret_x[i] = spec->settings[i].start;
        if (!isnan(ret_x[i]))
            continue;
        double k = param_index(param, fmax(floor(cpus), param->min));
        ret_x[i] = param_value_at(param, fmin(k, param_size(param) - 1));
    }
}
