/* SPDX-License-Identifier: MIT */
/*
 * influxql_rows.c — the rows of one group.
 *
 * Of two points of a series with the same time the later one counts, as in InfluxDB.
 */
#include "api/influxql_rows.h"

#include <errno.h>
#include <math.h>

/* ---- points ---- */

struct load {
    struct points *to;
    int64_t min_ns, max_ns;
};

static struct point point_at(const struct influxql_points *points, size_t i)
{
    double value = points->values[i];
    uint16_t rest = points->rests ? rest_checked(value, points->rests[i]) : 0;

    return (struct point){points->times_ns[i], value, rest};
}

static int on_points(const struct influxql_points *points, void *to)
{
    struct load *load = to;
    const int64_t *times_ns = points->times_ns;
    size_t n = points->n;

    if (load->to->len + n > POINTS_MAX)
        return -E2BIG;
    vec_reserve(load->to, load->to->len + n);
    for (size_t i = 0; i < n; i++)
        if (times_ns[i] >= load->min_ns && times_ns[i] <= load->max_ns)
            load->to->at[load->to->len++] = point_at(points, i);
    return 0;
}

static int compare_times(const void *x, const void *y)
{
    const struct point *a = x, *b = y;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static bool in_order(const struct points *points, size_t from)
{
    for (size_t i = from + 1; i < points->len; i++)
        if (points->at[i].time_ns <= points->at[i - 1].time_ns)
            return false;
    return true;
}

static int compare_falling(const void *x, const void *y)
{
    return compare_times(y, x);
}

void points_sort(struct points *points, bool descending)
{
    if (points->len && (descending || !in_order(points, 0)))
        qsort(points->at, points->len, sizeof(*points->at),
              descending ? compare_falling : compare_times);
}

/* Sort what is behind `from` (glibc's qsort merges, so equal times keep their order); of equal
 * times keep the last. */
static void tidy(struct points *points, size_t from)
{
    size_t n = from;

    if (in_order(points, from))
        return;
    qsort(points->at + from, points->len - from, sizeof(*points->at), compare_times);
    for (size_t i = from; i < points->len; i++) {
        bool again = i > from && points->at[i].time_ns == points->at[n - 1].time_ns;
        points->at[again ? n - 1 : n] = points->at[i];
        n += !again;
    }
    points->len = n;
}

static int64_t moved(int64_t ns, __int128 by)
{
    __int128 to = ns + by;
    return to < INT64_MIN ? INT64_MIN : to > INT64_MAX ? INT64_MAX : (int64_t)to;
}

/* Some functions look at buckets before the first one, in the order in which rows are told. */
struct range range_of(const struct select_run *run, int64_t reach)
{
    const struct statement *s = run->statement;
    struct range range = {s->min_ns, s->max_ns};
    __int128 more = (__int128)reach * s->interval_ns;

    if (s->interval_ns && !s->has_max)
        range.max_ns = run->query->now_ns;
    if (s->descending)
        range.max_ns = moved(range.max_ns, more);
    else if (s->has_min)
        range.min_ns = moved(range.min_ns, -more);
    return range;
}

int read_points(const struct select_run *run, const struct picked *picked, struct range range,
                struct points *to, struct err *err)
{
    size_t from = to->len;
    struct load load = {to, range.min_ns, range.max_ns};

    int r = run->source->points(run->source->arg, run->db, &picked->series, load.min_ns,
                                load.max_ns, on_points, &load);
    if (r == -E2BIG)
        return err_set(err, E2BIG, "max-select-point limit exceeded: (%d)", POINTS_MAX);
    if (r < 0)
        return err_errno(err, -r, "reading");
    tidy(to, from);
    return 0;
}

int load_points(const struct select_run *run, const struct picked *picked, struct range range,
                struct points *to, struct err *err)
{
    size_t from = to->len;
    int r = read_points(run, picked, range, to, err);

    if (r < 0 || !run->statement->by_fields)
        return r;
    return filter_points(run, picked, range, to, from, err);
}

/* ---- points that are only looked at ---- */

struct look {
    struct whole whole;
    int64_t min_ns, max_ns;
};

/* -EILSEQ: a time comes again or earlier; which of two points counts is known at the end only. */
static int on_look(const struct influxql_points *points, void *to)
{
    struct look *look = to;

    for (size_t i = 0; i < points->n; i++) {
        struct point point = point_at(points, i);
        if (point.time_ns < look->min_ns || point.time_ns > look->max_ns)
            continue;
        if (look->whole.n && point.time_ns <= look->whole.last.time_ns)
            return -EILSEQ;
        whole_add(&look->whole, &point);
    }
    return 0;
}

int look_at_points(const struct select_run *run, const struct picked *picked, struct whole *to,
                   struct err *err)
{
    const struct statement *statement = run->statement;
    struct look look = {.min_ns = statement->min_ns, .max_ns = statement->max_ns};
    struct points points = {0};
    int r = run->source->points(run->source->arg, run->db, &picked->series, look.min_ns,
                                look.max_ns, on_look, &look);

    if (r == -EILSEQ) {
        look.whole = (struct whole){0};
        r = load_points(run, picked, range_of(run, 0), &points, err);
        vec_foreach (point, &points)
            whole_add(&look.whole, point);
        vec_release(&points);
    } else if (r < 0) {
        r = err_errno(err, -r, "reading");
    }
    whole_merge(to, &look.whole);
    return r;
}

/* ---- tables ---- */

struct table *begin_table(struct select_run *run)
{
    struct names columns = {0};
    const char *time_name = run->statement->time_name;

    vec_push(&columns, time_name ? time_name : "time");
    vec_foreach (column, &run->columns)
        vec_push(&columns, column->name);
    struct table *table = result_table(run->result, run->measurement, columns.at, columns.len);
    vec_release(&columns);
    return table;
}

static void put_time(struct table *table, int64_t ns)
{
    vec_push(&table->cells, ((struct cell){.kind = CELL_TIME, .time_ns = ns}));
}

/* Turn the rows around, then OFFSET and LIMIT. */
void arrange(const struct statement *statement, struct table *table)
{
    size_t width = table->n_columns, rows = table->cells.len / width;
    struct cell *cells = table->cells.at;

    for (size_t i = 0; statement->descending && i < rows / 2; i++)
        for (size_t k = 0; k < width; k++) {
            struct cell *a = &cells[i * width + k], *b = &cells[(rows - 1 - i) * width + k];
            struct cell swap = *a;
            *a = *b;
            *b = swap;
        }
    size_t skip = MIN(rows, (size_t)statement->offset);
    size_t left = rows - skip;
    if (statement->limit)
        left = MIN(left, (size_t)statement->limit);
    if (skip)
        memmove(cells, cells + skip * width, left * width * sizeof(*cells));
    table->cells.len = left * width;
}

/* ---- points as they are ---- */

struct item { /* of one row: those of a set of tags with the same time */
    int64_t time_ns;
    size_t set, leaf;
    double value;
    uint16_t rest;
    const struct influxql_series *series;
};
struct items {
    struct item *at;
    size_t len, cap;
};

bool same_tags(const struct influxql_series *a, const struct influxql_series *b)
{
    if (a->n_tags != b->n_tags)
        return false;
    for (size_t i = 0; i < a->n_tags; i++)
        if (!str_eq(a->tags[i].key, b->tags[i].key) || !str_eq(a->tags[i].value, b->tags[i].value))
            return false;
    return true;
}

static size_t set_of(const struct picked *picked, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_tags(&picked[k].series, &picked[i].series))
            return k;
    return i;
}

static int compare_items(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    int r = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);

    r = r ? r : (a->set > b->set) - (a->set < b->set);
    return r ? r : (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

double leaf_value(const struct leaf *leaf, double value)
{
    return leaf->whole ? trunc(value) : value;
}

static int gather(struct select_run *run, const struct picked *picked, size_t n, struct items *ret,
                  struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        struct points points = {0};
        size_t set = set_of(picked, i);
        r = load_points(run, &picked[i], range_of(run, 0), &points, err);
        if (r == 0 && ret->len + points.len * run->leaves.len > POINTS_MAX)
            r = err_set(err, E2BIG, "max-select-point limit exceeded: (%d)", POINTS_MAX);
        for (size_t c = 0; r == 0 && c < run->leaves.len; c++) {
            const struct leaf *leaf = &run->leaves.at[c];
            if (!leaf_reads(leaf, &picked[i]))
                continue;
            vec_foreach (p, &points)
                vec_push(ret, ((struct item){p->time_ns, set, c, leaf_value(leaf, p->value),
                                             p->rest, &picked[i].series}));
        }
        vec_release(&points);
    }
    return r;
}

/* The columns of a row, from the cells of its leaves. */
void put_row(const struct select_run *run, int64_t time_ns, const struct cell *leaves,
             struct table *table)
{
    put_time(table, time_ns);
    vec_foreach (column, &run->columns)
        vec_push(&table->cells, term_value(column->term, &leaves));
}

static void put_items(const struct select_run *run, const struct item *items, size_t n,
                      struct cell *cells, struct table *table)
{
    size_t next = 0;

    for (size_t c = 0; c < run->leaves.len; c++) {
        const struct leaf *leaf = &run->leaves.at[c];
        const char *tag = leaf->is_field ? "" : series_tag(items[0].series, leaf->field);
        cells[c] = (struct cell){.kind = *tag ? CELL_TEXT : CELL_NULL, .text = tag};
        if (next == n || items[next].leaf != c)
            continue;
        cells[c] = (struct cell){
            .kind = CELL_NUMBER, .number = items[next].value, .rest = items[next].rest};
        next++;
    }
    put_row(run, items[0].time_ns, cells, table);
}

static int plain_rows(struct select_run *run, const struct picked *picked, size_t n,
                      struct table **ret, struct err *err)
{
    struct items items = {0};
    int r = gather(run, picked, n, &items, err);

    if (r == 0 && items.len) {
        autofree(mem) struct cell *cells = xcalloc(run->leaves.len + 1, sizeof(*cells));
        *ret = begin_table(run);
        qsort(items.at, items.len, sizeof(*items.at), compare_items);
        for (size_t i = 0, end; i < items.len; i = end) {
            for (end = i + 1; end < items.len && items.at[end].time_ns == items.at[i].time_ns &&
                              items.at[end].set == items.at[i].set;)
                end++;
            put_items(run, &items.at[i], end - i, cells, *ret);
        }
        arrange(run->statement, *ret);
    }
    vec_release(&items);
    return r;
}

int run_group(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
              struct err *err)
{
    bool functions = run->leaves.len && run->leaves.at[0].term->kind == TERM_CALL;

    *ret = NULL;
    return functions ? function_rows(run, picked, n, ret, err)
                     : plain_rows(run, picked, n, ret, err);
}
