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
struct observe {
    struct engine *engine;
    struct store *reader;
    struct series_db *db;
    VEC(struct observed *) all;
    struct series_source source; /* of the rows that are gathered */
    VEC(struct series_row) rows; /* names and values are put in when they are stored */
    VEC(uint32_t) names;
    VEC(double) values;
    bool unflushed;
    struct observe_counts counts;
};

void observed_free(struct observed *observed);
/* It has samples that its summaries do not tell of yet. */
void observed_mark(struct observed *observed, int64_t number);
void observed_put_trial(struct observed *observed, int64_t number, const char *params);
void observed_await(struct observed *observed);
/* The same key as that of the tags that became these parameters. */
void observed_key_json(const json_t *params, struct str *to);

#endif
