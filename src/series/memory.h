/* SPDX-License-Identifier: MIT */
/*
 * memory.h — the rows of one log, in memory until they are sealed.
 *
 *     source ──► groups: rows with the same metrics   (rows, n) values, row by row
 *           └──► columns: one for each metric, with its place in each group that has it
 *
 * A row's number counts the rows of its source, so that what lies in different groups can be told
 * in the order in which it came. A source with random subsets of metrics would make a group for
 * each: beyond MEMORY_GROUPS of them a row is taken apart, and each metric has a group of its own
 * (with its rests, where it has some: a value and its rest are never in two groups).
 *
 * Once it is frozen, a worker may read names, sources, groups and rows while the owner reads, too.
 */
#ifndef HONE_SERIES_MEMORY_H
#define HONE_SERIES_MEMORY_H

#include "base/map.h"
#include "base/str.h"
#include "series/db.h"

#define MEMORY_GROUPS 64

struct intern;

struct memory_group {
    uint32_t n;      /* metrics */
    uint32_t *names; /* (n) of the handle */
    VEC(int64_t) steps, times_ns;
    VEC(uint64_t) rows; /* their numbers */
    VEC(double) values; /* (rows, n) */
    size_t risen;       /* times of so many rows were looked at: … */
    bool falls;         /* … one is not above that before it */
};
struct memory_strand { /* the part of a column that lies in one group */
    uint32_t group, place;
    size_t counted; /* rows that are in the column's stats */
};
struct memory_column {
    uint32_t name;
    VEC(struct memory_strand) strands;
    struct series_info info;      /* as of the last memory_column_info */
    uint64_t first_row, last_row; /* whose values are info.stats.first and .last */
};
struct memory_source {
    struct series_source key;
    const struct intern *intern; /* that of the log */
    uint64_t end;                /* highest seen */
    uint64_t rows;               /* seen */
    VEC(struct memory_group *) groups;
    VEC(struct memory_column) columns; /* in order of appearance */
    struct map shapes;                 /* hash of names → group + 1 */
    struct map by_name;                /* name → column + 1 */
    uint32_t last;                     /* group of the last row */
};
struct memory_drop {
    int64_t experiment, trial; /* trial 0: all of them */
};
struct memory {
    uint64_t number;             /* of the log */
    const struct intern *intern; /* of the handle */
    VEC(struct memory_source *) sources;
    struct map by_key;
    VEC(const char *) names;   /* defined in this log, by the log's numbers; NULL: not (yet) */
    VEC(uint32_t) handle_name; /* … their numbers in the handle */
    VEC(uint32_t) local;       /* by number of the handle: the log's; NONE: not defined */
    VEC(struct memory_drop) drops;
    struct memory_source *recent;
};

struct memory *memory_new(uint64_t number, const struct intern *intern);
void memory_free(struct memory *memory);
DEFINE_AUTOFREE(memory);

uint64_t source_hash(const struct series_source *source);
int source_compare(const struct series_source *a, const struct series_source *b);

/* Say that `number` of the log is `name` of the handle; the text must outlive it. */
void memory_define(struct memory *memory, uint32_t number, uint32_t name, const char *text);
/* NULL if there is none. */
struct memory_source *memory_find(const struct memory *memory, const struct series_source *key);
struct memory_source *memory_source(struct memory *memory, const struct series_source *key);
/* Names are those of the handle. */
void memory_add(struct memory_source *source, const struct series_row *row);
/* Forget what matches, and remember to forget it in what is older. */
void memory_drop(struct memory *memory, int64_t experiment, int64_t trial);
static inline bool drop_matches(const struct memory_drop *drop, const struct series_source *key)
{
    return drop->experiment == key->experiment && (!drop->trial || drop->trial == key->trial);
}

struct memory_column *memory_column(const struct memory_source *source, uint32_t name);
/* Brought up to date and borrowed until the next row. */
const struct series_info *memory_column_info(const struct memory_source *source,
                                             struct memory_column *column);
/* `n` values of one metric of a group from its row `from`. */
void memory_gather(const struct memory_group *group, uint32_t place, size_t from, size_t n,
                   double *ret);

/* Take in one record of a log. Notes get a sentence for what cannot be used. `intern` gives the
 * handle's number and text of a name. */
struct wal_record;
int memory_replay(struct memory *memory, struct intern *intern, const struct wal_record *record,
                  struct err *err);

/* Widen a range of steps or times by one more; INT64_MIN is none. */
static inline void range_add(int64_t x, int64_t *lo, int64_t *hi)
{
    if (x == INT64_MIN)
        return;
    if (*lo == INT64_MIN || x < *lo)
        *lo = x;
    if (*hi == INT64_MIN || x > *hi)
        *hi = x;
}

#endif
