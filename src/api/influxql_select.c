/* SPDX-License-Identifier: MIT */
/*
 * influxql_select.c — SELECT: which series are meant, in which groups, and the rows of each group.
 *
 *     series that match ──► measurements ──► columns (fields, tags, functions)
 *                                       └──► groups by tags ──► rows (influxql_rows.c)
 */
#include "api/influxql_rows.h"

#include <assert.h>
#include <errno.h>

struct select {
    struct select_run run;
    VEC(struct influxql_series) all; /* of all measurements, copied */
};

/* ---- series ---- */

const char *metric_field(const char *metric, const char *measurement)
{
    size_t n = strlen(measurement);

    if (strncmp(metric, measurement, n) != 0)
        return NULL;
    if (!metric[n])
        return "value";
    return metric[n] == '.' && metric[n + 1] ? metric + n + 1 : NULL;
}

static bool may_be_from(const struct statement *statement, const char *metric)
{
    struct metric_parts parts = metric_split(metric);
    bool may = false;

    vec_foreach (match, &statement->from)
        may = may || (match->op == MATCH_IS ? metric_field(metric, match->text) != NULL
                                            : match_text(match, parts.measurement));
    free(parts.measurement);
    return may;
}

static int on_series(const struct influxql_series *series, void *to)
{
    struct select *select = to;
    struct arena *arena = &select->run.result->arena;
    const struct statement *statement = select->run.statement;

    if (!may_be_from(statement, series->metric) || !cond_holds(statement->where, series))
        return 0;
    struct influxql_series copy = *series;
    copy.metric = arena_strdup(arena, series->metric);
    struct influxql_tag *tags = arena_alloc(arena, (series->n_tags + 1) * sizeof(*tags));
    for (size_t i = 0; i < series->n_tags; i++)
        tags[i] = (struct influxql_tag){arena_strdup(arena, series->tags[i].key),
                                        arena_strdup(arena, series->tags[i].value)};
    copy.tags = tags;
    vec_push(&select->all, copy);
    return 0;
}

/* ---- names, each once and sorted ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_unique(struct names *names)
{
    size_t n = 0;

    if (names->len)
        qsort(names->at, names->len, sizeof(*names->at), compare_texts);
    for (size_t i = 0; i < names->len; i++)
        if (i == 0 || !str_eq(names->at[i], names->at[n - 1]))
            names->at[n++] = names->at[i];
    names->len = n;
}

static void find_measurements(const struct select *select, struct names *ret)
{
    struct arena *arena = &select->run.result->arena;

    vec_foreach (match, &select->run.statement->from) {
        if (match->op == MATCH_IS) {
            vec_push(ret, match->text);
            continue;
        }
        vec_foreach (series, &select->all) {
            struct metric_parts parts = metric_split(series->metric);
            if (match_text(match, parts.measurement))
                vec_push(ret, arena_strdup(arena, parts.measurement));
            free(parts.measurement);
        }
    }
    sort_unique(ret);
}

/* ---- columns ---- */

static bool has_field(const struct select_run *run, const char *field)
{
    vec_foreach (picked, &run->picked)
        if (str_eq(picked->field, field))
            return true;
    return false;
}

/* Also one that is called so and is not there. A text is not there, but no tag either. */
static bool is_field(const struct select_run *run, const struct term *inside, const char *name)
{
    if (inside->cast == CAST_TAG || inside->cast == CAST_STRING)
        return false;
    return inside->cast != CAST_NONE || has_field(run, name);
}

/* max, max_busy of max(*), busy; of arithmetic those of its parts: max_busy. */
static void add_name(struct str *to, const struct leaf *leaf)
{
    bool call = leaf->term->kind == TERM_CALL;

    if (to->len)
        str_add_char(to, '_');
    str_add(to, call ? function_names[leaf->term->function] : leaf->field);
    if (call && term_inside(leaf->term)->kind == TERM_STAR)
        str_addf(to, "_%s", leaf->field);
}

/* `star`: the field that * stands for. */
static void add_column(struct select_run *run, const struct selected *selected, const char *star)
{
    autorelease(str) struct str name = STR_INIT;
    struct terms leaves = {0};
    int same = 0;

    term_leaves(selected->term, &leaves);
    vec_foreach (term, &leaves) {
        const struct term *inside = term_inside(*term);
        struct leaf leaf = {.term = *term,
                            .field = inside->kind == TERM_STAR ? star : inside->field};
        assert(leaf.field);
        leaf.is_field = is_field(run, inside, leaf.field);
        leaf.whole = inside->cast == CAST_INTEGER || inside->cast == CAST_UNSIGNED;
        vec_push(&run->leaves, leaf);
        if (!selected->alias)
            add_name(&name, &leaf);
    }
    vec_release(&leaves);
    if (selected->alias)
        str_add(&name, selected->alias);
    vec_foreach (column, &run->columns)
        same += str_eq(column->base, name.s);
    struct column column = {.base = arena_strdup(&run->result->arena, name.s),
                            .term = selected->term};
    if (same)
        str_addf(&name, "_%d", same);
    column.name = same ? arena_strdup(&run->result->arena, name.s) : column.base;
    vec_push(&run->columns, column);
}

static bool is_dimension(const struct statement *statement, const char *key)
{
    vec_foreach (by, &statement->by)
        if (str_eq(*by, key))
            return true;
    return statement->by_all;
}

/* All fields, and for plain rows the tags that are not grouped by; *::field, *::tag: only these. */
static void expand_star(struct select_run *run, const struct selected *selected)
{
    struct names names = {0};
    enum cast cast = term_inside(selected->term)->cast;
    bool tags = selected->term->kind == TERM_STAR && (cast == CAST_NONE || cast == CAST_TAG);

    vec_foreach (picked, &run->picked) {
        if (cast != CAST_TAG)
            vec_push(&names, picked->field);
        for (size_t i = 0; tags && i < picked->series.n_tags; i++)
            if (!is_dimension(run->statement, picked->series.tags[i].key))
                vec_push(&names, picked->series.tags[i].key);
    }
    sort_unique(&names);
    vec_foreach (name, &names)
        add_column(run, selected, *name);
    vec_release(&names);
}

static void make_columns(struct select_run *run)
{
    vec_foreach (selected, &run->statement->selected) {
        if (term_inside(selected->term)->kind == TERM_STAR)
            expand_star(run, selected);
        else
            add_column(run, selected, NULL);
    }
}

/* ---- groups ---- */

static void find_dimensions(struct select_run *run)
{
    const struct statement *statement = run->statement;

    vec_foreach (key, &statement->by)
        vec_push(&run->by, *key);
    vec_foreach (picked, &run->picked)
        for (size_t i = 0; statement->by_all && i < picked->series.n_tags; i++)
            vec_push(&run->by, picked->series.tags[i].key);
    sort_unique(&run->by);
}

static int compare_groups(const void *x, const void *y, void *arg)
{
    const struct picked *a = x, *b = y;
    const struct names *by = arg;

    vec_foreach (key, by) {
        int r = strcmp(series_tag(&a->series, *key), series_tag(&b->series, *key));
        if (r)
            return r;
    }
    return 0;
}

static const struct influxql_tag *group_tags(struct select_run *run, const struct picked *first)
{
    struct influxql_tag *tags = arena_alloc(&run->result->arena, (run->by.len + 1) * sizeof(*tags));

    for (size_t i = 0; i < run->by.len; i++)
        tags[i] = (struct influxql_tag){run->by.at[i], series_tag(&first->series, run->by.at[i])};
    return tags;
}

static int run_groups(struct select_run *run, struct err *err)
{
    const struct statement *statement = run->statement;
    size_t n = run->picked.len;
    int64_t tables = 0;

    qsort_r(run->picked.at, n, sizeof(*run->picked.at), compare_groups, &run->by);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && compare_groups(&run->picked.at[i], &run->picked.at[end], &run->by) == 0;)
            end++;
        struct table *table = NULL;
        int r = run_group(run, &run->picked.at[i], end - i, &table, err);
        if (r < 0)
            return r;
        if (!table)
            continue;
        table->tags = group_tags(run, &run->picked.at[i]);
        table->n_tags = run->by.len;
        tables++;
        if (tables <= statement->soffset ||
            (statement->slimit && tables > statement->soffset + statement->slimit)) {
            vec_release(&table->cells);
            run->result->tables.len--;
        }
    }
    return 0;
}

/* ---- the whole ---- */

/* Where a field is named, put together and compare; for * take the metric apart. */
static bool names_field(const struct term *term, const char *field, bool apart)
{
    if (term->kind == TERM_BINARY)
        return names_field(term->left, field, apart) || names_field(term->right, field, apart);
    const struct term *inside = term_inside(term);
    if (inside->cast == CAST_TAG || inside->cast == CAST_STRING)
        return false;
    return inside->kind == TERM_STAR ? apart
                                     : inside->kind == TERM_FIELD && str_eq(inside->field, field);
}

static void pick(struct select *select, const char *measurement)
{
    struct select_run *run = &select->run;

    vec_foreach (series, &select->all) {
        const char *field = metric_field(series->metric, measurement);
        struct metric_parts parts = metric_split(series->metric);
        bool apart = str_eq(parts.measurement, measurement), named = false;
        free(parts.measurement);
        vec_foreach (selected, &run->statement->selected)
            named = named || (field && names_field(selected->term, field, apart));
        if (named)
            vec_push(&run->picked, ((struct picked){.series = *series, .field = field}));
    }
}

static int run_measurement(struct select *select, const char *measurement, struct err *err)
{
    struct select_run *run = &select->run;
    int r = 0;

    run->measurement = measurement;
    run->all = select->all.at;
    run->n_all = select->all.len;
    pick(select, measurement);
    if (run->picked.len) {
        make_columns(run);
        find_dimensions(run);
        r = run_groups(run, err);
    }
    run->picked.len = run->columns.len = run->leaves.len = run->by.len = 0;
    return r;
}

/* Newest first is also last series first. */
static void turn_around(struct result *result)
{
    for (size_t i = 0, n = result->tables.len; i < n / 2; i++) {
        struct table swap = result->tables.at[i];
        result->tables.at[i] = result->tables.at[n - 1 - i];
        result->tables.at[n - 1 - i] = swap;
    }
}

int run_select(const struct influxql *query, const struct statement *statement,
               const struct influxql_source *source, const char *db, struct result *result,
               struct err *err)
{
    struct select select = {
        .run =
            {.query = query, .statement = statement, .source = source, .db = db, .result = result},
    };
    struct names measurements = {0};

    if (statement->error)
        return err_set(err, EINVAL, "%s", statement->error);
    int r = source->series(source->arg, db, on_series, &select);
    if (r == -ENOENT)
        r = err_set(err, ENOENT, "database not found: %s", db);
    else if (r < 0)
        r = err_errno(err, -r, "reading");
    if (r == 0)
        find_measurements(&select, &measurements);
    for (size_t i = 0; r == 0 && i < measurements.len; i++)
        r = run_measurement(&select, measurements.at[i], err);
    if (statement->descending)
        turn_around(result);
    vec_release(&measurements);
    vec_release(&select.all);
    vec_release(&select.run.picked);
    vec_release(&select.run.columns);
    vec_release(&select.run.leaves);
    vec_release(&select.run.by);
    return r;
}
