/* SPDX-License-Identifier: MIT */
/*
 * table.h — the trials of an experiment as columns in memory, for a thread that lists, filters and
 * sorts them many times a second. Rows are in the order of their numbers.
 *
 *     fields, parameters   read with the table: one walk over the trials
 *     metrics              read when one is asked for: one walk over the summaries
 *
 * A cell is a double: numbers as they are, times in seconds since 1970, states, reasons and choices
 * as the index of their word. NaN: the trial has none.
 */
#ifndef HONE_API_TABLE_H
#define HONE_API_TABLE_H

#include "api/find.h"
#include "expr/expr.h"

struct trial_table;
/* Read the experiment's trials. `experiment` and `spec_json` are its row's. */
int trial_table_new(struct store *store, int64_t experiment, const char *spec_json,
                    struct trial_table **ret, struct err *err);
void trial_table_free(struct trial_table *table);
DEFINE_AUTOFREE(trial_table);
/* Read one trial anew, or for the first time. -ESTALE: the table cannot follow (a trial is gone, or
 * one in the middle is new): make a new one. */
int trial_table_update(struct trial_table *table, struct store *store, int64_t number,
                       struct err *err);
/* Make sure that its metrics are there. */
int trial_table_metrics(struct trial_table *table, struct store *store, struct err *err);
bool trial_table_has_metrics(const struct trial_table *table);
size_t trial_table_bytes(const struct trial_table *table);

int64_t trial_table_experiment(const struct trial_table *table);
size_t trial_table_rows(const struct trial_table *table);
/* The place of a trial; as many as there are rows: it is not there. */
size_t trial_table_find(const struct trial_table *table, int64_t number);
int64_t trial_table_number(const struct trial_table *table, size_t row);
const struct spec *trial_table_spec(const struct trial_table *table);
/* Goes up with every change. */
uint64_t trial_table_version(const struct trial_table *table);

/* ---- columns: "state", "params.lr", "metrics.loss.last" ---- */
enum column_kind { COLUMN_FIELD, COLUMN_PARAM, COLUMN_METRIC };
enum metric_stat { STAT_LAST, STAT_MIN, STAT_MAX, STAT_COUNT, STATS };
struct table_column {
    enum column_kind kind;
    size_t at;             /* among the fields, parameters, metrics */
    enum metric_stat stat; /* METRIC */
    enum expr_type type;   /* as where.h has it; a mixed parameter is TEXT */
    const char *name;      /* without its prefix: of the table, until it is freed */
};
/* -ENOENT with a sentence: there is none of this name. A metric that no trial has told is not
 * there. */
int trial_table_column(const struct trial_table *table, const char *name, struct table_column *ret,
                       struct err *err);
/* "metrics.train/loss.last": is it of this form? Its name is ret_n bytes from the first dot on. */
bool metric_column_parse(const char *name, size_t *ret_n, enum metric_stat *ret_stat);
/* "params.lr" */
void str_add_column(struct str *to, const struct table_column *column);
/* The i-th parameter or metric; false: there are not so many. */
bool trial_table_param(const struct trial_table *table, size_t i, struct table_column *ret);
bool trial_table_metric(const struct trial_table *table, size_t i, struct table_column *ret);
/* How many trials have told the i-th metric. */
size_t trial_table_told(const struct trial_table *table, size_t i);
/* Its cells, a row each. NULL: it has no numbers (tags, note). */
const double *trial_table_cells(const struct trial_table *table, const struct table_column *column);
/* The word with this index; NULL: it is not a column of words, or has not so many. */
const char *trial_table_word(const struct trial_table *table, const struct table_column *column,
                             size_t i);
/* What stands in this row of a field or parameter, as where.h tells it; its texts are the table's.
 */
struct expr_value trial_table_value(const struct trial_table *table,
                                    const struct table_column *column, size_t row);
/* Does some trial have one? Of "tags" (more than the name of its run), "run_name", "starred". */
bool trial_table_any(const struct trial_table *table, const char *name);
/* Were its joules measured, or estimated? */
bool trial_table_measured(const struct trial_table *table, size_t row);
/* Smallest and largest finite cell; NaN: none. */
void trial_table_range(struct trial_table *table, const struct table_column *column,
                       double *ret_min, double *ret_max);

/* ---- which rows, in which order ---- */
struct table_ask {
    const char *home;
    struct store *store;
    const char *where; /* expression; NULL: all */
    const char *sort;  /* name of a column, or an expression; NULL: by number. A metric's column
                          that is not there (yet) changes nothing */
    bool desc;
    int64_t now_us;
    size_t first, last; /* places [first, last) are looked at; last 0: all */
    int64_t until_us;   /* mono: samples are read until then; 0: however long it takes */
};
/* Rows that fit, in their order (those that are looked at); free *ret_rows. -EINVAL: an expression
 * is wrong, with a sentence. What columns cannot tell is read from the samples (where.h); -EAGAIN
 * with a sentence: that takes too long. */
int trial_table_select(struct trial_table *table, const struct table_ask *ask, uint32_t **ret_rows,
                       size_t *ret_n, struct err *err);

#endif
