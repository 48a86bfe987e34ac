/* SPDX-License-Identifier: MIT */
/*
 * table_parts.h — the table as its files see it: table.c (columns), table_load.c (rows into cells),
 * table_select.c (expressions over cells), table_sort.c.
 */
#ifndef HONE_TABLE_PARTS_H
#define HONE_TABLE_PARTS_H

#include "api/table.h"
#include "api/where_scope.h"

#define TABLE_FIELDS_MAX 32
#define TABLE_BYTES_MAX  ((size_t)256 << 20) /* of the columns of one table; more are left out */

/* A parameter of trials whose spec has none: somebody told it (params_json). */
struct told_param {
    char *name;
    double *x; /* numbers; from the first text on indices of words */
    bool text;
    VEC(char *) words;
    struct map_text index; /* word → its index + 1 */
};
/* A count below 0: that many, and some were NaN or infinite. */
struct table_metric {
    char *name;
    double *stat[STATS];
};
/* What few trials have. */
struct marks {
    char *note, *run_name;
    bool tagged; /* with more than the name of the run */
    VEC(char *) tags;
};

/* Smallest and largest, as of a version. */
struct range {
    uint64_t version;
    double min, max;
};
struct words {
    char **at;
    size_t len, cap;
};

struct trial_table {
    struct target target; /* the experiment's number and its spec, no more */
    size_t n, cap;        /* rows */
    size_t bytes;         /* of columns */
    uint64_t version;
    bool has_metrics;
    int64_t *numbers;
    double *fields[TABLE_FIELDS_MAX]; /* as where_trial_fields; aliases share theirs */
    bool alias[TABLE_FIELDS_MAX];
    double *measured;    /* are the joules of a trial? 1 or 0; no column of its own */
    double **params;     /* spec.space.n; choices of numbers are these numbers */
    struct words *words; /* spec.space.n; of other choices */
    VEC(struct told_param) told;
    struct map_text told_at; /* name → its index + 1 */
    VEC(struct table_metric) metrics;
    struct map_text metric_at; /* name → its index + 1 */
    struct map marks;          /* number → struct marks */
    size_t n_tagged, n_named;  /* of these */
    struct map ranges;         /* of a column's cells → struct range */
    struct map rests; /* table_rest_key() → what the cell lacks: steps may have more than 53 bits */
};

static inline uint64_t table_rest_key(int64_t number, size_t field)
{
    return (uint64_t)number * TABLE_FIELDS_MAX + field;
}

/* A column with room for all rows, NaN everywhere; NULL: the table is too large already. */
double *table_new_cells(struct trial_table *table);
void marks_free(struct marks *marks);
/* What a row has of it, in place of what was there. */
void table_put_marks(struct trial_table *table, const struct trial_row *row);
/* trial_table_value() for one who has the column's cells at hand: x, NULL: it has none. */
struct expr_value table_value(const struct trial_table *table, const struct table_column *column,
                              const double *x, size_t row);

/* Sort rows by a double each: ascending or descending, NaN last, equals by number. Only those in
 * [first, last) need be where they belong. `keys` has a cell for every row of the table. */
void table_sort(uint32_t *rows, size_t n, const double *keys, bool desc, size_t first, size_t last);

#endif
