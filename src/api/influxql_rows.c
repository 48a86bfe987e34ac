/* SPDX-License-Identifier: MIT */
/*
 * influxql_rows.c — the rows of one group.
 *
 * Of two points of a series with the same time the later one counts, as in InfluxDB.
 */
#include "api/influxql_rows.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* ---- points ---- */

struct load {
    struct points *to;
    int64_t min_ns, max_ns;
};

static int on_points(const int64_t *times_ns, const double *values, size_t n, void *to)
{
    struct load *load = to;

    if (load->to->len + n > POINTS_MAX)
        return -E2BIG;
    vec_reserve(load->to, load->to->len + n);
    for (size_t i = 0; i < n; i++)
        if (times_ns[i] >= load->min_ns && times_ns[i] <= load->max_ns)
            load->to->at[load->to->len++] = (struct point){times_ns[i], values[i]};
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

static int load_points(const struct select_run *run, const struct picked *picked, struct points *to,
                       struct err *err)
{
    const struct statement *statement = run->statement;
    size_t from = to->len;
    struct load load = {to, statement->min_ns, statement->max_ns};

    if (statement->interval_ns && !statement->has_max)
        load.max_ns = run->query->now_ns;
    int r = run->source->points(run->source->arg, run->db, &picked->series, load.min_ns,
                                load.max_ns, on_points, &load);
    if (r == -E2BIG)
        return err_set(err, E2BIG, "max-select-point limit exceeded: (%d)", POINTS_MAX);
    if (r < 0)
        return err_errno(err, -r, "reading");
    tidy(to, from);
    return 0;
}

/* ---- tables ---- */

static struct table *begin_table(struct select_run *run)
{
    struct names columns = {0};

    vec_push(&columns, "time");
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

static void put_number(struct table *table, double x)
{
    vec_push(&table->cells, ((struct cell){.kind = CELL_NUMBER, .number = x}));
}

static void put_null(struct table *table)
{
    vec_push(&table->cells, ((struct cell){.kind = CELL_NULL}));
}

/* Turn the rows around, then OFFSET and LIMIT. */
static void arrange(const struct statement *statement, struct table *table)
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
    size_t set, column;
    double value;
    const struct influxql_series *series;
};
struct items {
    struct item *at;
    size_t len, cap;
};

static bool same_tags(const struct influxql_series *a, const struct influxql_series *b)
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
    return r ? r : (a->column > b->column) - (a->column < b->column);
}

static int gather(struct select_run *run, const struct picked *picked, size_t n, struct items *ret,
                  struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        struct points points = {0};
        size_t set = set_of(picked, i);
        r = load_points(run, &picked[i], &points, err);
        if (r == 0 && ret->len + points.len * run->columns.len > POINTS_MAX)
            r = err_set(err, E2BIG, "max-select-point limit exceeded: (%d)", POINTS_MAX);
        for (size_t c = 0; r == 0 && c < run->columns.len; c++) {
            if (!str_eq(run->columns.at[c].field, picked[i].field))
                continue;
            vec_foreach (p, &points)
                vec_push(ret, ((struct item){p->time_ns, set, c, p->value, &picked[i].series}));
        }
        vec_release(&points);
    }
    return r;
}

static void put_row(const struct select_run *run, const struct item *items, size_t n,
                    struct table *table)
{
    size_t next = 0;

    put_time(table, items[0].time_ns);
    for (size_t c = 0; c < run->columns.len; c++) {
        const struct column *column = &run->columns.at[c];
        const char *tag = column->is_field ? "" : series_tag(items[0].series, column->field);
        if (next < n && items[next].column == c)
            put_number(table, items[next++].value);
        else if (*tag)
            table_text(table, tag);
        else
            put_null(table);
    }
}

static int plain_rows(struct select_run *run, const struct picked *picked, size_t n,
                      struct table **ret, struct err *err)
{
    struct items items = {0};
    int r = gather(run, picked, n, &items, err);

    if (r == 0 && items.len) {
        *ret = begin_table(run);
        qsort(items.at, items.len, sizeof(*items.at), compare_items);
        for (size_t i = 0, end; i < items.len; i = end) {
            for (end = i + 1; end < items.len && items.at[end].time_ns == items.at[i].time_ns &&
                              items.at[end].set == items.at[i].set;)
                end++;
            put_row(run, &items.at[i], end - i, *ret);
        }
        arrange(run->statement, *ret);
    }
    vec_release(&items);
    return r;
}

/* ---- functions ---- */

static int64_t floor_to(int64_t ns, int64_t interval, int64_t offset)
{
    int64_t rest = (int64_t)(((__int128)ns - offset) % interval);
    __int128 floor = (__int128)ns - (rest < 0 ? rest + interval : rest);
    return floor < INT64_MIN ? INT64_MIN : (int64_t)floor;
}

static int load_columns(struct select_run *run, const struct picked *picked, size_t n,
                        struct points *columns, struct err *err)
{
    int r = 0;

    for (size_t c = 0; r == 0 && c < run->columns.len; c++) {
        for (size_t i = 0; r == 0 && i < n; i++)
            if (str_eq(run->columns.at[c].field, picked[i].field))
                r = load_points(run, &picked[i], &columns[c], err);
        if (!in_order(&columns[c], 0) && columns[c].len)
            qsort(columns[c].at, columns[c].len, sizeof(*columns[c].at), compare_times);
    }
    return r;
}

/* The one row of functions over the whole range. */
static void put_whole(struct select_run *run, const struct points *columns, struct table *table)
{
    const struct statement *statement = run->statement;
    int64_t time = statement->has_min ? statement->min_ns : 0, chosen = 0;

    put_time(table, time);
    for (size_t c = 0; c < run->columns.len; c++) {
        const struct column *column = &run->columns.at[c];
        double x = 0;
        if (function_apply(column->function, column->percent, columns[c].at, columns[c].len, &x,
                           &chosen))
            put_number(table, x);
        else
            put_null(table);
    }
    if (run->columns.len == 1 && function_chooses(run->columns.at[0].function))
        table->cells.at[0].time_ns = chosen;
}

static bool range_of(const struct select_run *run, const struct points *columns, int64_t *ret_first,
                     int64_t *ret_last)
{
    const struct statement *s = run->statement;
    int64_t first = INT64_MAX;

    for (size_t c = 0; c < run->columns.len; c++)
        if (columns[c].len)
            first = MIN(first, columns[c].at[0].time_ns);
    *ret_first = floor_to(s->has_min ? s->min_ns : first, s->interval_ns, s->offset_ns);
    *ret_last = floor_to(s->has_max ? s->max_ns : run->query->now_ns, s->interval_ns, s->offset_ns);
    return first != INT64_MAX;
}

/* A row for each bucket; columns are walked side by side. */
static void put_buckets(struct select_run *run, const struct points *columns, int64_t first,
                        size_t buckets, struct table *table)
{
    const struct statement *s = run->statement;
    autofree(mem) size_t *at = xcalloc(run->columns.len + 1, sizeof(*at));

    for (size_t b = 0; b < buckets; b++) {
        int64_t begin = first + (int64_t)b * s->interval_ns, chosen = 0;
        size_t row = table->cells.len;
        bool any = false;
        put_time(table, begin);
        for (size_t c = 0; c < run->columns.len; c++) {
            const struct points *points = &columns[c];
            size_t from = at[c];
            double x = 0;
            while (at[c] < points->len &&
                   (__int128)points->at[at[c]].time_ns - begin < s->interval_ns)
                at[c]++;
            bool there = function_apply(run->columns.at[c].function, run->columns.at[c].percent,
                                        points->at + from, at[c] - from, &x, &chosen);
            any |= there;
            if (there)
                put_number(table, x);
            else
                put_null(table);
        }
        if (!any && s->fill == FILL_NONE)
            table->cells.len = row;
    }
}

/* Between the neighbours of a gap; a gap at an end stays. */
static void fill_linear(struct table *table, size_t column)
{
    size_t width = table->n_columns, rows = table->cells.len / width, last = rows;

    for (size_t i = 0; i < rows; i++) {
        struct cell *cell = &table->cells.at[i * width + column];
        if (cell->kind != CELL_NUMBER)
            continue;
        for (size_t k = last + 1; last < rows && k < i; k++) {
            double before = table->cells.at[last * width + column].number;
            double share = (double)(k - last) / (double)(i - last);
            table->cells.at[k * width + column] = (struct cell){
                .kind = CELL_NUMBER, .number = before + share * (cell->number - before)};
        }
        last = i;
    }
}

static void fill_column(const struct statement *s, struct table *table, size_t column,
                        enum function function)
{
    size_t width = table->n_columns;
    struct cell previous = {.kind = CELL_NULL};
    struct cell number = {.kind = CELL_NUMBER, .number = s->fill_number};

    if (s->fill == FILL_LINEAR) {
        fill_linear(table, column);
        return;
    }
    for (size_t i = column; i < table->cells.len; i += width) {
        struct cell *cell = &table->cells.at[i];
        if (cell->kind == CELL_NUMBER)
            previous = *cell;
        else if (s->fill == FILL_PREVIOUS)
            *cell = previous;
        else if (s->fill == FILL_NUMBER || (s->fill == FILL_NULL && function == FUNCTION_COUNT))
            *cell = number; /* none counted is 0 */
    }
}

static int bucket_rows(struct select_run *run, const struct points *columns, struct table **ret,
                       struct err *err)
{
    const struct statement *s = run->statement;
    int64_t first, last;

    if (!range_of(run, columns, &first, &last) || last < first)
        return 0;
    __int128 buckets = ((__int128)last - first) / s->interval_ns + 1;
    if (buckets > BUCKETS_MAX)
        return err_set(err, E2BIG, "max-select-buckets limit exceeded: (%.0f/%d)", (double)buckets,
                       BUCKETS_MAX);
    *ret = begin_table(run);
    put_buckets(run, columns, first, (size_t)buckets, *ret);
    for (size_t c = 0; c < run->columns.len; c++)
        fill_column(s, *ret, c + 1, run->columns.at[c].function);
    arrange(s, *ret);
    return 0;
}

static int function_rows(struct select_run *run, const struct picked *picked, size_t n,
                         struct table **ret, struct err *err)
{
    struct points *columns = xcalloc(run->columns.len + 1, sizeof(*columns));
    int r = load_columns(run, picked, n, columns, err);
    bool any = false;

    for (size_t c = 0; c < run->columns.len; c++)
        any |= columns[c].len > 0;
    if (r == 0 && any && run->statement->interval_ns) {
        r = bucket_rows(run, columns, ret, err);
    } else if (r == 0 && any) {
        *ret = begin_table(run);
        put_whole(run, columns, *ret);
        arrange(run->statement, *ret);
    }
    for (size_t c = 0; c < run->columns.len; c++)
        vec_release(&columns[c]);
    free(columns);
    return r;
}

int run_group(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
              struct err *err)
{
    assert(n > 0);
    if (run->statement->selected.at[0].function)
        return function_rows(run, picked, n, ret, err);
    return plain_rows(run, picked, n, ret, err);
}
