/* SPDX-License-Identifier: MIT */
/*
 * lesson.c — the results of an earlier experiment, carried over into the space of another, value by
 * value: a parameter that it did not have is NaN, one that is constant now has its value of now,
 * and a result whose setting lies outside is left out.
 */
#include "engine/internal.h"

#include <math.h>

#define RESULTS_MAX 200 /* of one experiment: the best half, and others evenly */

/* Lists are most often the same: looked up where it would stand, before it is searched for. */
static bool same_choice(const struct param *a, const struct param *b, double k)
{
    return a->type == PARAM_CHOICE && b->type == PARAM_CHOICE && k < (double)a->n_choices &&
           k < (double)b->n_choices && value_equal(&a->choices[(size_t)k], &b->choices[(size_t)k]);
}

static bool choices_meet(const struct param *a, const struct param *b)
{
    for (size_t i = 0; i < a->n_choices; i++) {
        double x;
        if (same_choice(a, b, (double)i) || param_parse(b, &a->choices[i], &x, NULL) >= 0)
            return true;
    }
    return false;
}

static bool params_meet(const struct param *a, const struct param *b)
{
    if (a->type != b->type || param_size(a) < 2 || param_size(b) < 2)
        return false;
    if (a->type == PARAM_CHOICE)
        return choices_meet(a, b);
    return a->min <= b->max && b->min <= a->max;
}

double lesson_overlap(const struct space *mine, const struct space *other)
{
    double varied = 0, common = 0;

    for (size_t i = 0; i < mine->n; i++) {
        ptrdiff_t k = space_find(other, mine->params[i].name);
        varied += param_size(&mine->params[i]) > 1;
        common += k >= 0 && params_meet(&mine->params[i], &other->params[k]);
    }
    return varied > 0 ? common / varied : 0;
}

struct row {
    int64_t told, number;
    double y;
    double *x; /* NULL: it lies outside of our space */
    bool kept;
};

struct reading {
    const struct space *mine, *other;
    double sign;
    VEC(struct row) rows;
};

/* A value of theirs as ours; false if we have no such value. */
static bool carry_over(const struct param *from, double x, const struct param *to, double *ret)
{
    if (same_choice(from, to, x)) {
        *ret = x;
        return true;
    }
    struct value value = param_value(from, x);
    int r = param_parse(to, &value, ret, NULL);

    value_release(&value);
    return r >= 0 && param_contains(to, *ret);
}

static bool map_point(const struct reading *reading, const double *from, double *ret_x)
{
    const struct space *mine = reading->mine;
    bool known = false;

    for (size_t i = 0; i < mine->n; i++) {
        const struct param *param = &mine->params[i];
        ptrdiff_t k = space_find(reading->other, param->name);
        ret_x[i] = NAN;
        if (!param_active(param, ret_x))
            continue;
        if (param_size(param) == 1)
            ret_x[i] = param_value_at(param, 0);
        else if (k < 0 || isnan(from[k]))
            continue;
        else if (!carry_over(&reading->other->params[k], from[k], param, &ret_x[i]))
            return false;
        else
            known = true;
    }
    return known && !space_forbids(mine, ret_x);
}

static int read_row(const struct trial_row *row, void *arg)
{
    struct reading *reading = arg;
    const struct trial *trial = &row->trial;

    if (trial->state != TRIAL_COMPLETED || !isfinite(trial->value) ||
        row->ndim != reading->other->n)
        return 0;
    double *x = xcalloc(reading->mine->n + 1, sizeof(*x));
    if (!map_point(reading, trial->point, x))
        free(TAKE(x));
    vec_push(&reading->rows,
             ((struct row){trial->told, trial->number, reading->sign * trial->value, x, false}));
    return 0;
}

static int by_told(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int64_t p = x->told ? x->told : INT64_MAX, q = y->told ? y->told : INT64_MAX;
    if (p != q)
        return p < q ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_value(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    if (x->y != y->y)
        return x->y < y->y ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Mark at most RESULTS_MAX of the first `n`: the best half, and others evenly over the time. */
static size_t choose_rows(struct row *rows, size_t n)
{
    VEC(struct row *) usable = {0};
    size_t kept = 0, m;

    for (size_t i = 0; i < n; i++)
        if (rows[i].x)
            vec_push(&usable, &rows[i]);
    m = usable.len;
    if (m)
        qsort(usable.at, m, sizeof(*usable.at), by_value);
    for (; kept < m && (m <= RESULTS_MAX || kept < RESULTS_MAX / 2); kept++)
        usable.at[kept]->kept = true;
    size_t rest = m - kept, room = MIN(rest, RESULTS_MAX - MIN(kept, RESULTS_MAX)), seen = 0;
    for (size_t i = 0; i < n && room; i++) {
        if (!rows[i].x || rows[i].kept)
            continue;
        if ((seen + 1) * room / rest > seen * room / rest) {
            rows[i].kept = true;
            kept++;
        }
        seen++;
    }
    vec_release(&usable);
    return kept;
}

static void make_task(const struct reading *reading, size_t n, size_t kept, struct task *ret)
{
    size_t d = reading->mine->n, k = 0;
    double *x = xcalloc(kept * d + 1, sizeof(*x)), *y = xcalloc(kept + 1, sizeof(*y));

    for (size_t i = 0; i < n; i++) {
        const struct row *row = &reading->rows.at[i];
        if (!row->kept)
            continue;
        memcpy(x + k * d, row->x, d * sizeof(*x));
        y[k++] = row->y;
    }
    *ret = (struct task){x, y, kept};
}

ptrdiff_t lesson_add(struct run *run, struct store *store, int64_t id, const struct spec *other,
                     int64_t results, size_t least, struct err *err)
{
    struct reading reading = {.mine = &run->spec.space,
                              .other = &other->space,
                              .sign = other->objective.goal == GOAL_MAXIMIZE ? -1 : 1};
    struct trial_query query = {.experiment = id, .bare = true};
    ptrdiff_t r = store_trials(store, &query, read_row, &reading, err);
    size_t n = reading.rows.len;

    if (r >= 0 && n) {
        qsort(reading.rows.at, n, sizeof(*reading.rows.at), by_told);
        n = results ? MIN(n, (size_t)results) : n;
        r = (ptrdiff_t)choose_rows(reading.rows.at, n);
    }
    if (r > 0 && (size_t)r >= least) {
        struct task task;
        make_task(&reading, n, (size_t)r, &task);
        vec_push(&run->knowledge.tasks, task);
        vec_push(&run->knowledge.from, ((struct lesson){id, (int64_t)n}));
    }
    vec_foreach (row, &reading.rows)
        free(row->x);
    vec_release(&reading.rows);
    return r;
}
