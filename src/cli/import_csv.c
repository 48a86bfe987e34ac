/* SPDX-License-Identifier: MIT */
/*
 * import_csv.c — a table with a header (RFC 4180; semicolons or tabs may part its cells). One
 * column or more are objectives, the others parameters (import_column.c). What 'hone export --csv'
 * wrote comes back as it was: its first columns are known, and the names of its last ones tell the
 * goals (acc:maximize), the constraints (ms<=20) and repeats.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/suggest.h"
#include "cli/import.h"

#include <errno.h>
#include <math.h>

#define FILE_MAX    (512u << 20)
#define COLUMNS_MAX 10000

static const char *const exported[] = {"trial", "state", "value", "attempts", "seconds"};

struct csv {
    char *at, *end; /* the rest of the file; fields are unquoted in place */
    size_t line;
    char mark; /* what parts cells */
    VEC(struct import_cell) head;
    VEC(struct import_cell) cells; /* all rows, head.len each */
    bool ours;                     /* made by hone export */
    VEC(size_t) results;           /* the columns of objectives and constraints, in their order */
};

/* ---- text to cells ---- */

/* One field; *ret_last: it was the last of its row. */
static int next_field(struct csv *csv, struct import_cell *ret, bool *ret_last, struct err *err)
{
    char *text = csv->at, *to = text;
    size_t line = csv->line;

    *ret = (struct import_cell){to, csv->at < csv->end && *csv->at == '"'};
    if (ret->quoted) {
        for (csv->at++;; csv->at++) {
            if (csv->at >= csv->end)
                return err_set(err, EINVAL, "line %zu: a quoted field does not end", line);
            if (*csv->at == '"' && (csv->at + 1 >= csv->end || csv->at[1] != '"'))
                break;
            csv->at += *csv->at == '"';
            csv->line += *csv->at == '\n';
            *to++ = *csv->at;
        }
        csv->at++;
        if (csv->at < csv->end && *csv->at != csv->mark && !strchr("\r\n", *csv->at))
            return err_set(err, EINVAL, "line %zu: text after a closing quote", line);
    } else {
        while (csv->at < csv->end && *csv->at != csv->mark && *csv->at != '\n' && *csv->at != '\r')
            *to++ = *csv->at++;
    }
    *ret_last = csv->at >= csv->end || *csv->at != csv->mark;
    if (csv->at < csv->end && *csv->at == '\r')
        csv->at++;
    if (csv->at < csv->end && (*csv->at == '\n' || *csv->at == csv->mark))
        csv->at++;
    csv->line += *ret_last;
    *to = '\0';
    if (csv->mark != ',' && !ret->quoted)
        import_decimal_comma(text);
    return 0;
}

static int read_head(struct csv *csv, struct err *err)
{
    for (bool last = false; !last;) {
        struct import_cell field;
        int r = next_field(csv, &field, &last, err);
        if (r < 0)
            return r;
        if (!*field.text)
            return err_set(err, EINVAL, "column %zu of the header has no name", csv->head.len + 1);
        for (size_t i = 0; i < csv->head.len; i++)
            if (str_eq(csv->head.at[i].text, field.text))
                return err_set(err, EINVAL, "the header has two columns '%s'", field.text);
        vec_push(&csv->head, field);
        if (csv->head.len > COLUMNS_MAX)
            return err_set(err, EINVAL, "the header has more than %d columns", COLUMNS_MAX);
    }
    csv->ours = csv->head.len >= ARRAY_LEN(exported);
    for (size_t i = 0; csv->ours && i < ARRAY_LEN(exported); i++)
        csv->ours = str_eq(csv->head.at[i].text, exported[i]);
    return 0;
}

static int read_row(struct csv *csv, struct err *err)
{
    size_t line = csv->line, n = 0;

    for (bool last = false; !last; n++) {
        struct import_cell field;
        int r = next_field(csv, &field, &last, err);
        if (r < 0)
            return r;
        if (n == 0 && last && !*field.text && !field.quoted && csv->head.len > 1)
            return 0; /* an empty line */
        vec_push(&csv->cells, field);
    }
    if (n != csv->head.len)
        return err_set(err, EINVAL, "line %zu has %zu fields, the header %zu", line, n,
                       csv->head.len);
    if (csv->cells.len / csv->head.len > IMPORT_ROWS_MAX)
        return err_set(err, EINVAL, "more than %d rows", IMPORT_ROWS_MAX);
    return 0;
}

static int read_cells(struct csv *csv, struct err *err)
{
    int r = read_head(csv, err);
    while (r == 0 && csv->at < csv->end)
        r = read_row(csv, err);
    if (r == 0 && !csv->cells.len)
        r = err_set(err, EINVAL, "there are no rows below the header");
    return r;
}

static const struct import_cell *cell_at(const struct csv *csv, size_t row, size_t column)
{
    return &csv->cells.at[row * csv->head.len + column];
}

/* ---- columns ---- */

static ptrdiff_t find_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->head.len; i++)
        if (str_eq(csv->head.at[i].text, name))
            return (ptrdiff_t)i;
    return -1;
}

static int unknown_column(const struct csv *csv, const char *name, struct err *err)
{
    VEC(const char *) names = {0};
    vec_foreach (field, &csv->head)
        vec_push(&names, field->text);
    const char *closest = suggest(name, names.at, names.len);
    vec_release(&names);
    if (closest)
        return err_set(err, EINVAL, "there is no column '%s', did you mean '%s'?", name, closest);
    return err_set(err, EINVAL, "there is no column '%s'", name);
}

static bool is_listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], name))
            return true;
    return false;
}

/* "acc:maximize": the length of "acc" and the goal; a name that tells none is as long as it is. */
static size_t split_goal(const char *text, enum goal *ret)
{
    const char *colon = strrchr(text, ':');

    *ret = colon && str_eq(colon, ":maximize") ? GOAL_MAXIMIZE : GOAL_MINIMIZE;
    return colon && (*ret == GOAL_MAXIMIZE || str_eq(colon, ":minimize")) ? (size_t)(colon - text)
                                                                          : strlen(text);
}

/* Does the name of a column of ours tell a goal? No parameter has a colon in its name. */
static bool is_goal(const struct csv *csv, size_t i)
{
    enum goal goal;
    const char *name = csv->head.at[i].text;
    return csv->ours && split_goal(name, &goal) < strlen(name);
}

/* "ms<=20", in a table of ours. */
static bool read_bound(const struct csv *csv, size_t i, struct constraint *ret)
{
    const char *name = csv->head.at[i].text, *at = name + strlen(name);
    char *end;

    while (csv->ours && at > name && *at != '<' && *at != '>')
        at--;
    if (at == name || !csv->ours || at[1] != '=')
        return false;
    *ret = (struct constraint){.at_least = *at == '>', .bound = strtod(at + 2, &end)};
    if (end == at + 2 || *end)
        return false;
    ret->metric = xstrndup(name, (size_t)(at - name));
    return true;
}

/* The last column of ours, if the goals stand before it. */
static bool is_repeat_of(const struct csv *csv, size_t i)
{
    if (i + 1 != csv->head.len || !str_eq(csv->head.at[i].text, "repeat_of"))
        return false;
    for (size_t k = 0; k < i; k++)
        if (is_goal(csv, k))
            return true;
    return false;
}

static bool is_result(const struct csv *csv, size_t column)
{
    vec_foreach (at, &csv->results)
        if (*at == column)
            return true;
    return false;
}

static int add_params(const struct csv *csv, const struct import_options *options,
                      struct import_sheet *ret, struct err *err)
{
    for (size_t i = 0; i < csv->head.len; i++) {
        const char *name = csv->head.at[i].text;
        if (is_result(csv, i) || is_listed(name, options->ignore, options->n_ignore) ||
            (csv->ours && i < ARRAY_LEN(exported)) || is_goal(csv, i) || is_repeat_of(csv, i))
            continue;
        int r = import_add_column(ret, name, cell_at(csv, 0, i), csv->head.len,
                                  csv->cells.len / csv->head.len, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- rows ---- */

/* The column of a result as the user names it; *ret_goal is set if the file tells it. */
static ptrdiff_t find_result(const struct csv *csv, const char *name, enum goal *ret_goal)
{
    for (size_t i = 0; i < csv->head.len; i++) {
        enum goal goal;
        size_t n = split_goal(csv->head.at[i].text, &goal);
        if (is_goal(csv, i) && n == strlen(name) && !strncmp(csv->head.at[i].text, name, n)) {
            *ret_goal = goal;
            return (ptrdiff_t)i;
        }
    }
    return find_column(csv, name);
}

static int read_objective(struct csv *csv, const char *text, struct import_sheet *ret,
                          struct err *err)
{
    enum goal goal, told = GOAL_MINIMIZE;
    size_t n = split_goal(text, &goal);
    autofree(mem) char *name = xstrndup(text, n);
    ptrdiff_t column = find_result(csv, name, &told);

    if (column < 0)
        return unknown_column(csv, name, err);
    if (is_result(csv, (size_t)column))
        return err_set(err, EINVAL, "objective '%s' is given twice", name);
    vec_push(&csv->results, (size_t)column);
    vec_push(&ret->objectives, ((struct objective){
                                   .metric = TAKE(name),
                                   .goal = text[n] ? goal : told,
                                   .target = NAN,
                               }));
    return 0;
}

static int read_told_objectives(struct csv *csv, struct import_sheet *ret, struct err *err)
{
    int r = 0;

    for (size_t i = 0; i < csv->head.len && r == 0; i++)
        if (is_goal(csv, i))
            r = read_objective(csv, csv->head.at[i].text, ret, err);
    return r;
}

static void read_constraints(struct csv *csv, struct import_sheet *ret)
{
    for (size_t i = ARRAY_LEN(exported); i < csv->head.len; i++) {
        struct constraint constraint;
        if (!read_bound(csv, i, &constraint))
            continue;
        vec_push(&csv->results, i);
        vec_push(&ret->constraints, constraint);
    }
}

static int no_objective(const struct csv *csv, struct err *err)
{
    if (csv->ours)
        return err_set(err, EINVAL,
                       "it does not tell whether a small or a large value is good. Say "
                       "--objective value:minimize or --objective value:maximize");
    return err_set(err, EINVAL,
                   "which column is the objective? Say --objective COLUMN or "
                   "--objective COLUMN:maximize");
}

static int read_results(struct csv *csv, const struct import_options *options,
                        struct import_sheet *ret, struct err *err)
{
    int r = 0;

    for (size_t i = 0; i < options->n_objectives && r == 0; i++)
        r = read_objective(csv, options->objectives[i], ret, err);
    if (r == 0 && !options->n_objectives)
        r = read_told_objectives(csv, ret, err);
    if (r == 0 && !ret->objectives.len)
        r = no_objective(csv, err);
    for (size_t i = 0; i < options->n_ignore && r == 0; i++)
        if (find_column(csv, options->ignore[i]) < 0)
            r = unknown_column(csv, options->ignore[i], err);
    if (r == 0)
        read_constraints(csv, ret);
    return r;
}

static int read_values(const struct csv *csv, size_t row, double *ret, struct err *err)
{
    for (size_t i = 0; i < csv->results.len; i++) {
        size_t column = csv->results.at[i];
        const struct import_cell *cell = cell_at(csv, row, column);
        if (!import_cell_number(cell, &ret[i]))
            return err_set(err, EINVAL, "row %zu: objective '%s' is '%s', which is no number",
                           row + 1, csv->head.at[column].text, cell->text);
    }
    return 0;
}

/* The row, from 1, of the trial that this one repeats; 0: none, or it was left out. */
static int64_t read_repeat_of(const struct csv *csv, size_t row)
{
    const char *trial = cell_at(csv, row, csv->head.len - 1)->text;

    for (size_t i = row; *trial && i-- > 0;)
        if (str_eq(cell_at(csv, i, 0)->text, trial))
            return (int64_t)i + 1;
    return 0;
}

/* How a row of ours ended. */
static int read_state(const struct csv *csv, size_t i, struct import_row *row, struct err *err)
{
    enum trial_state state;

    if (trial_state_parse(cell_at(csv, i, 1)->text, &state) < 0)
        return err_set(err, EINVAL, "row %zu: unknown state '%s'", i + 1, cell_at(csv, i, 1)->text);
    if (state != TRIAL_COMPLETED)
        row->state = state == TRIAL_FAILED ? TRIAL_FAILED : TRIAL_STOPPED;
    if (is_repeat_of(csv, csv->head.len - 1))
        row->repeat_of = read_repeat_of(csv, i);
    return 0;
}

static int add_rows(const struct csv *csv, struct import_sheet *ret, struct err *err)
{
    for (size_t i = 0; i < csv->cells.len / csv->head.len; i++) {
        struct import_row *row = import_add_row(ret, csv->results.len);
        int r = read_values(csv, i, row->values, err);
        row->state = isfinite(row->values[0]) ? TRIAL_COMPLETED : TRIAL_FAILED;
        if (r == 0 && csv->ours)
            r = read_state(csv, i, row, err);
        if (r < 0)
            return r;
        if (row->state == TRIAL_FAILED)
            row->reason = REASON_NO_METRIC;
    }
    return 0;
}

int import_csv(const char *path, const struct import_options *options, struct import_sheet *ret,
               struct err *err)
{
    autorelease(str) struct str text = STR_INIT;
    struct csv csv = {.line = 1};
    int r = fs_read(path, FILE_MAX, &text, err);

    if (r < 0)
        return r;
    if (memchr(text.s, '\0', text.len))
        return err_set(err, EINVAL, "%s is neither a CSV file nor an Optuna database", path);
    str_add_char(&text, '\0'); /* the last field ends there */
    csv.at = text.s + (str_starts(text.s, "\xef\xbb\xbf") ? 3 : 0);
    csv.end = text.s + text.len - 1;
    csv.mark = import_separator(csv.at, (size_t)(csv.end - csv.at));
    r = csv.at < csv.end ? read_cells(&csv, err) : err_set(err, EINVAL, "the file is empty");
    if (r == 0)
        r = read_results(&csv, options, ret, err);
    if (r == 0)
        r = add_params(&csv, options, ret, err);
    if (r == 0)
        r = add_rows(&csv, ret, err);
    if (r < 0)
        err_context(err, "%s", path);
    else
        ret->from = xasprintf("the table %s", path);
    vec_release(&csv.head);
    vec_release(&csv.cells);
    vec_release(&csv.results);
    return r;
}
