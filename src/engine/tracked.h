/* SPDX-License-Identifier: MIT */
/*
 * tracked.h — experiments and runs that a tracking client names (MLflow's). They are observed
 * experiments and trials: rows of our own tables, samples in the store of series. What has no
 * column there (tags with values, a run's name, parameters as they were written) is a JSON text
 * beside the trial (store/artifact.h).
 *
 * All of it is in memory while a server runs, an experiment's runs from when they are first asked
 * for. Changes go into the open tick: answer when it is committed. Samples are handed to the kernel
 * by tracked_log(): then they survive the death of this process. Used on the loop's thread only.
 */
#ifndef HONE_TRACKED_H
#define HONE_TRACKED_H

#include "base/json.h"
#include "engine/engine.h"
#include "series/db.h"

struct tracked;

struct tracked_pair {
    char *key, *value;
};
struct tracked_pairs { /* a VEC, by key */
    struct tracked_pair *at;
    size_t len, cap;
};
/* NULL: none. */
const char *tracked_find(const struct tracked_pairs *pairs, const char *key);

/* The latest value of a metric: of the highest step, then the latest, then the largest. */
struct tracked_metric {
    char *key;
    uint32_t name; /* in the store of series */
    double value;
    int64_t time_ms, step;
};

enum tracked_status {
    TRACKED_RUNNING,
    TRACKED_SCHEDULED,
    TRACKED_FINISHED,
    TRACKED_FAILED,
    TRACKED_KILLED,
    TRACKED_STATUSES
};

#define TRACKED_ID_SIZE 33
struct tracked_run {
    struct tracked_experiment *of;
    int64_t number; /* of the trial */
    char id[TRACKED_ID_SIZE];
    char *name, *user; /* as the client told them */
    char *owner;       /* who made it, as the server knows; NULL: not known */
    enum tracked_status status;
    int64_t start_ms, end_ms; /* 0: not yet */
    struct tracked_pairs params, tags;
    struct { /* a VEC, by key */
        struct tracked_metric *at;
        size_t len, cap;
    } metrics;
    json_t *inputs, *outputs; /* arrays: datasets; models as the client told them */
    int64_t last_step, last_ms;
    bool deleted;   /* hidden, not erased */
    bool committed; /* its row is in the database */
    bool changed;   /* it has samples that its summaries do not tell of */
    char *told;     /* tracked_told() */
};
struct tracked_experiment {
    struct tracked *tracked;
    struct experiment experiment; /* our row */
    char *name, *artifacts;       /* as the client named it; where it puts files, NULL: with us */
    int64_t created_ms, updated_ms;
    struct tracked_pairs tags;
    bool deleted;
    bool fallback; /* it is "Default", number 0 to the client */
    bool loaded;
    VEC(struct tracked_run *) runs; /* by number − 1; NULL: there is none */
    VEC(int64_t) changed;
};
/* A model that a run logged: the client's own description, as it is. */
struct tracked_model {
    char *id;
    int64_t experiment;
    json_t *json;
};

/* All are borrowed. */
int tracked_new(struct engine *engine, struct store *reader, struct series_db *db,
                struct tracked **ret, struct err *err);
void tracked_free(struct tracked *tracked);
DEFINE_AUTOFREE(tracked);

/* ---- experiments ---- */
size_t tracked_count(const struct tracked *tracked);
struct tracked_experiment *tracked_at(const struct tracked *tracked, size_t i);
/* By the client's number ("0": Default); NULL: none. Its runs are loaded. */
struct tracked_experiment *tracked_experiment(struct tracked *tracked, const char *id);
struct tracked_experiment *tracked_named(const struct tracked *tracked, const char *name);
/* The number that clients know it by. */
int64_t tracked_number(const struct tracked_experiment *experiment);
/* "Default" is made by whoever first needs it. `owner` may be NULL. */
int tracked_make(struct tracked *tracked, const char *name, const char *owner, struct now now,
                 struct tracked_experiment **ret, struct err *err);
/* After a change of name, tags or `deleted`: into the open tick. */
void tracked_put_experiment(struct tracked_experiment *experiment, struct now now);
/* Hidden, with all of its runs, or shown again; nothing is erased. */
void tracked_hide_experiment(struct tracked_experiment *experiment, bool hide, struct now now);

/* ---- runs ---- */
/* By id; NULL: none. */
struct tracked_run *tracked_run(struct tracked *tracked, const char *id);
/* A new one: put it with tracked_put_run() when it has its tags. `owner` may be NULL. NULL: no room
 * for its experiment. */
struct tracked_run *tracked_start(struct tracked_experiment *experiment, const char *owner,
                                  int64_t start_ms, struct now now);
/* After a change of what it has: into the open tick. */
void tracked_put_run(struct tracked_run *run);
/* Whose the trial is (0: the experiment itself): who made the run, else the owner of the
 * experiment. NULL: nobody's, or it is none of a client's. */
const char *tracked_owner(struct tracked *tracked, int64_t experiment, int64_t trial);

/* The text in which clients were last told of the run, kept until it changes: most runs that are
 * searched have ended long ago. NULL: there is none. */
const char *tracked_told(const struct tracked_run *run);
/* Keep it; `text` is taken. Beyond TRACKED_TOLD_BYTES of all runs nothing more is kept. */
#define TRACKED_TOLD_BYTES ((size_t)64 << 20)
void tracked_tell(struct tracked_run *run, char *text);
void tracked_hide(struct tracked_run *run, bool hide);
/* Set its state; an end is told as an event. Not yet in the tick. */
void tracked_end(struct tracked_run *run, enum tracked_status status, struct now now);
/* New, or in place of the value it has. Not yet in the tick. */
void tracked_set(struct tracked_pairs *pairs, const char *key, const char *value);
bool tracked_unset(struct tracked_pairs *pairs, const char *key);
/* A tag of a run as people see it: ours beside it, in the open tick. value NULL: taken away. */
void tracked_tag(struct tracked_run *run, const char *key, const char *value);

/* NULL: it has told none of this name. */
const struct tracked_metric *tracked_latest(const struct tracked_run *run, const char *key);

struct tracked_sample {
    const char *key;
    double value;
    int64_t time_ms, step; /* 0 ≤ time_ms ≤ TRACKED_MS_MAX; step not STEP_NONE */
};
#define TRACKED_MS_MAX (INT64_MAX / 1000000)
/* Store samples; one that is the latest already is passed over, so sending it again doubles
 * nothing. 0: they survive the death of this process. -ENOSPC and the like: send them again. */
int tracked_log(struct tracked_run *run, const struct tracked_sample *samples, size_t n,
                struct err *err);
/* All values of a metric by time, step and value; the caller frees it. */
struct tracked_history { /* a VEC */
    struct tracked_sample *at;
    size_t len, cap;
};
int tracked_history(struct tracked_run *run, const char *key, struct tracked_history *ret);

/* ---- models ---- */
struct tracked_model *tracked_model(const struct tracked *tracked, const char *id);
size_t tracked_models(const struct tracked *tracked);
struct tracked_model *tracked_model_at(const struct tracked *tracked, size_t i);
/* `json` is taken. Put it again after each change. */
struct tracked_model *tracked_add_model(struct tracked_experiment *experiment, const char *id,
                                        json_t *json);
void tracked_put_model(struct tracked *tracked, const struct tracked_model *model);

/* ---- care ---- */
/* A command removes an experiment (trial 0) or a trial of it, in the open tick. */
void tracked_removed(struct tracked *tracked, int64_t experiment, int64_t trial);
/* About once a second: summaries of what has changed, into the open tick. True: there is more. */
bool tracked_turn(struct tracked *tracked);
struct txn *tracked_txn(const struct tracked *tracked);
struct engine *tracked_engine(const struct tracked *tracked);

/* The samples that were stored: how many. */
uint64_t tracked_values(const struct tracked *tracked);

#endif
