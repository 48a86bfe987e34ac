/* SPDX-License-Identifier: MIT */
/*
 * observe_internal.h — what the files of observe share.
 */
#ifndef HONE_OBSERVE_INTERNAL_H
#define HONE_OBSERVE_INTERNAL_H

#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "engine/observe.h"

struct observed_trial { /* trials[number - 1] */
    int64_t created_us, started_us, ended_us;
    int64_t last_step;
    size_t pile;  /* of its rows that wait, if that one is its own */
    bool changed; /* since its summary was written */
    bool removed; /* its number stays unused */
};
/* Freed by the commit that it waits for; the database may be gone by then. */
struct commit {
    struct observed *observed; /* NULL: gone */
    int64_t number;            /* trials up to this one */
};
struct observed {
    struct observe *observe;
    char *db;
    struct experiment experiment;
    struct influx_keys *keys; /* NULL: nothing came yet */
    struct map_text numbers;  /* set of tags → number of its trial */
    VEC(struct observed_trial) trials;
    VEC(int64_t) changed;
    int64_t committed; /* trials up to this one are in the database */
    struct commit *commit;
    bool loaded; /* its trials are known */
    bool stored; /* its row was in the database when last looked at */
};
#define OBSERVE_NO_ROW SIZE_MAX
struct observe_row {
    struct series_row row; /* names and values are put in when it is stored */
    size_t at;             /* of its first name and value */
    size_t next;           /* of its pile */
};
struct observe_pile { /* the rows of one trial that wait */
    struct series_source source;
    size_t first, last;
    bool done; /* stored, or not to be stored any more */
};
struct observe {
    struct engine *engine;
    struct store *reader;
    struct series_db *db;
    VEC(struct observed *) all;
    VEC(struct observe_pile) piles; /* observe_rows.c has these */
    VEC(struct observe_row) rows;
    VEC(struct series_row) sorted; /* those of one pile, for the store */
    VEC(uint32_t) names;
    VEC(double) values;
    bool unflushed;
    struct observe_counts counts;
    struct influx_all series; /* what the databases' keys know together */
    struct tracked *tracked;
};

#define OBSERVED_PROGRAM                                                                           \
    "(imported)" /* where the command would be: `rerun` and the like refuse it */

void observed_free(struct observed *observed);
/* A name that commands understand: letters, digits, _ and -. Free it. */
char *observed_plain_name(const char *db);
/* The spec of an experiment without a program, as JSON (free it). */
int observed_spec(const char *name, char **ret, struct err *err);
/* It has samples that its summaries do not tell of yet. */
void observed_mark(struct observed *observed, int64_t number);
void observed_put_trial(struct observed *observed, int64_t number, const char *params);
void observed_await(struct observed *observed);
/* The same key as that of the tags that became these parameters. */
void observed_key_json(const json_t *params, struct str *to);

/* ---- observe_rows.c ---- */
bool observe_rows_full(const struct observe *observe);
/* One more row of a trial; its names and values are the last row->n of observe's. */
void observed_put_row(struct observed *observed, int64_t number, const struct series_row *row);
/* If it fails all that is not stored stays: whose it is may not be who asks. */
int observe_store_rows(struct observe *observe, struct err *err);
/* trial 0: of all trials of the experiment. */
void observe_forget_rows(struct observe *observe, int64_t experiment, int64_t trial);
void observe_release_rows(struct observe *observe);

#endif
