/* SPDX-License-Identifier: MIT */
/*
 * influxql_filter.c — conditions on fields: of a series the points stay at whose time the condition
 * holds, with what the fields of the same tags have at that very time.
 *
 *     points ──► at each time: fields of the condition, tags ──► does it hold? ──► points that stay
 */
#include "api/influxql_rows.h"

#include <math.h>

struct filter_field { /* a leaf of a comparison */
    const struct term *term;
    struct points points; /* by time */
    size_t at;
};
struct filter {
    const struct select_run *run;
    const struct influxql_series *series; /* whose points are looked at */
    struct range range;
    VEC(struct filter_field) fields; /* in the order in which the condition is read */
};

/* ---- fields ---- */

/* The series with the same tags and this field; NULL: there is none. */
static const struct influxql_series *sibling(const struct filter *filter, const char *field)
{
    for (size_t i = 0; i < filter->run->n_all; i++) {
        const struct influxql_series *one = &filter->run->all[i];
        const char *its = metric_field(one->metric, filter->run->measurement);
        if (its && str_eq(its, field) && same_tags(one, filter->series))
            return one;
    }
    return NULL;
}

static int load_field(struct filter *filter, const struct term *term, struct err *err)
{
    struct filter_field field = {.term = term};
    const struct influxql_series *series =
        term->kind == TERM_FIELD && term->cast != CAST_TAG ? sibling(filter, term->field) : NULL;
    int r = 0;

    if (series) {
        struct picked picked = {.series = *series, .field = term->field};
        r = read_points(filter->run, &picked, filter->range, &field.points, err);
    }
    vec_push(&filter->fields, field);
    return r;
}

static int load_side(struct filter *filter, const struct term *term, struct err *err)
{
    struct terms leaves = {0};
    int r = 0;

    term_leaves(term, &leaves);
    for (size_t i = 0; r == 0 && i < leaves.len; i++)
        r = load_field(filter, leaves.at[i], err);
    vec_release(&leaves);
    return r;
}

static int load_fields(struct filter *filter, const struct cond *cond, struct err *err)
{
    if (cond->kind == COND_TAG)
        return 0;
    bool field = cond->kind == COND_FIELD;
    int r = field ? load_side(filter, cond->a, err) : load_fields(filter, cond->left, err);

    if (r < 0)
        return r;
    return field ? load_side(filter, cond->b, err) : load_fields(filter, cond->right, err);
}

/* ---- does it hold? ---- */

static struct cell field_at(struct filter_field *field, int64_t time_ns)
{
    const struct points *points = &field->points;
    bool whole = field->term->cast == CAST_INTEGER || field->term->cast == CAST_UNSIGNED;

    while (field->at < points->len && points->at[field->at].time_ns < time_ns)
        field->at++;
    if (field->at == points->len || points->at[field->at].time_ns != time_ns)
        return (struct cell){.kind = CELL_NULL};
    double value = points->at[field->at].value;
    return (struct cell){.kind = CELL_NUMBER, .number = whole ? trunc(value) : value};
}

static bool compares(enum compare_op op, const struct cell *a, const struct cell *b)
{
    if (a->kind != CELL_NUMBER || b->kind != CELL_NUMBER)
        return false;
    double x = a->number, y = b->number;
    switch (op) {
    case COMPARE_IS:
        return x == y;
    case COMPARE_NOT:
        return x != y;
    case COMPARE_LESS:
        return x < y;
    case COMPARE_MOST:
        return x <= y;
    case COMPARE_MORE:
        return x > y;
    default:
        return x >= y;
    }
}

/* `cells` are those of the fields, and those of this condition are passed over. */
static bool holds(const struct filter *filter, const struct cond *cond, const struct cell **cells)
{
    if (cond->kind == COND_TAG)
        return cond_holds(cond, filter->series);
    if (cond->kind == COND_FIELD) {
        struct cell a = term_value(cond->a, cells), b = term_value(cond->b, cells);
        return compares(cond->op, &a, &b);
    }
    bool left = holds(filter, cond->left, cells), right = holds(filter, cond->right, cells);
    return cond->kind == COND_AND ? left && right : left || right;
}

static void keep_points(struct filter *filter, struct points *points, size_t from)
{
    size_t n = from, n_fields = filter->fields.len;
    autofree(mem) struct cell *cells = xcalloc(n_fields + 1, sizeof(*cells));

    for (size_t i = from; i < points->len; i++) {
        const struct cell *at = cells;
        for (size_t k = 0; k < n_fields; k++)
            cells[k] = field_at(&filter->fields.at[k], points->at[i].time_ns);
        if (holds(filter, filter->run->statement->where, &at))
            points->at[n++] = points->at[i];
    }
    points->len = n;
}

int filter_points(const struct select_run *run, const struct picked *picked, struct range range,
                  struct points *points, size_t from, struct err *err)
{
    struct filter filter = {.run = run, .series = &picked->series, .range = range};
    int r = load_fields(&filter, run->statement->where, err);

    if (r == 0)
        keep_points(&filter, points, from);
    vec_foreach (field, &filter.fields)
        vec_release(&field->points);
    vec_release(&filter.fields);
    return r;
}
