/* SPDX-License-Identifier: MIT */
/*
 * store.h — the database: everything but samples. SQLite in WAL mode, synchronous=FULL, one
 * writer. The engine fills a struct txn as it decides; the writer thread applies it as one
 * transaction; what rests on it (commands, replies) leaves only after that.
 */
#ifndef HONE_STORE_H
#define HONE_STORE_H

#include "base/arena.h"
#include "model/trial.h"

struct store;
struct txn;

/* HOME/hone.db. For writing it is created and migrated (the folder is made too); a database of a
 * newer version is refused untouched (-ENOTSUP). For reading it must exist (-ENOENT: "no
 * experiments yet in HOME"); an older one is migrated all the same. */
int store_open(const char *home, struct store **ret, struct err *err);
int store_open_read(const char *home, struct store **ret, struct err *err);
/* Read the file where it lies in the kernel's memory instead of copying its pages: for a handle
 * that is asked for single rows all the time. Where that cannot be, it reads as before. */
void store_map(struct store *store);
/* In memory, for tests and the simulator. */
int store_open_memory(struct store **ret, struct err *err);
void store_free(struct store *store);
DEFINE_AUTOFREE(store);
/* 16 hex digits that tell this home from all others; made with the database. */
const char *store_home_id(const struct store *store);

/* ---- writing: a transaction is a list of rows; everything is copied in. A row that is put twice
 * is written once, as it was last ---- */
struct txn *txn_new(void);
void txn_free(struct txn *txn);
DEFINE_AUTOFREE(txn);
bool txn_empty(const struct txn *txn);
/* spec_json, environment and search_state (which the kernel goes with): NULL keeps what is stored;
 * what did not change is not written again. The patch that the environment names becomes an object
 * row by itself. */
void txn_put_experiment(struct txn *txn, const struct experiment *experiment);
/* The point has `ndim` doubles; `params_json` is the same as people see it. NULL keeps what is
 * stored, for these and for why, verdict and extra. Experiments and trials are numbered below 2^31
 * and 2^32. */
void txn_put_trial(struct txn *txn, const struct trial *trial, size_t ndim,
                   const char *params_json);
void txn_put_attempt(struct txn *txn, const struct attempt *attempt);
void txn_put_summary(struct txn *txn, int64_t experiment, int64_t trial,
                     const struct summary *summary);
/* Something that happened, for `run --json`, the live view and `show`. `json`: the whole event
 * object without its id and time. */
void txn_put_event(struct txn *txn, int64_t time_us, int64_t experiment, int64_t trial,
                   const char *json);
/* Annotations. trial 0: the experiment itself. */
void txn_tag(struct txn *txn, int64_t experiment, int64_t trial, const char *tag, bool add);
void txn_note(struct txn *txn, int64_t experiment, int64_t trial,
              const char *text); /* NULL: none */
void txn_star(struct txn *txn, int64_t experiment, int64_t trial, bool star);
/* A stored file: named by its SHA-256. */
void txn_put_object(struct txn *txn, const char *sha256, const char *kind, uint64_t size,
                    int64_t time_us);
void txn_remove_object(struct txn *txn, const char *sha256);
/* What a workload taught about the machine, by its identity: new, or replaced but for its id and
 * cluster. */
struct workload_row {
    int64_t id; /* given by the store, never twice */
    const char *identity, *name, *machine;
    int64_t updated_us;
    int64_t cluster;  /* 0: none */
    const char *json; /* tune/workload.h; `cluster` here is the one that counts */
};
void txn_put_workload(struct txn *txn, const struct workload_row *row);
void txn_cluster_workload(struct txn *txn, const char *identity, int64_t cluster);
void txn_remove_workload(struct txn *txn, const char *identity); /* absent: nothing to do */
/* The experiment was submitted under this key of its owner ("": nobody's). It stays when the
 * experiment goes; of two the first counts. */
void txn_put_submission(struct txn *txn, const char *owner, const char *key, int64_t experiment);
void txn_pause_queue(struct txn *txn, bool paused);
/* What lets somebody in: a token of a program, a session of a browser, a link that opens one. The
 * secret itself is not kept. Putting one forgets those that are over. */
struct token_row {
    int64_t id;       /* given by the store, never twice */
    const char *kind; /* "token", "session", "link" */
    const char *user;
    const char *role;   /* "viewer", "user", "admin" */
    const char *sha256; /* of the secret, in hex */
    int64_t parent;     /* the token with which it was made; 0: none */
    int64_t created_us; /* wall */
    int64_t expires_us; /* wall; 0: never */
};
void txn_put_token(struct txn *txn, const struct token_row *row);
/* With what was made with it. */
void txn_remove_token(struct txn *txn, int64_t id);
void txn_remove_tokens_of(struct txn *txn, const char *user);
/* The one of this hash: a link that was used, a session that ends. */
void txn_remove_secret(struct txn *txn, const char *sha256);
void txn_remove_experiment(struct txn *txn, int64_t experiment); /* with all of its rows */
void txn_remove_trial(struct txn *txn, int64_t experiment, int64_t trial);
/* Apply as one transaction, durable when it returns 0. -ENOSPC: the disk is full; nothing of it is
 * there, and it may be tried again. Thread-safe against readers of other handles only. */
int store_apply(struct store *store, const struct txn *txn, struct err *err);

/* From now on `changes` (borrowed; store/changes.h) is told of every transaction. */
struct changes;
void store_tell(struct store *store, struct changes *changes);

/* ---- reading. A row that is handed to a callback is the store's and lives for that call; the
 * callback may ask the same handle further questions. A callback that returns not 0 ends the walk,
 * and that is what the walk returns. Rows in `ret` are the caller's to release ---- */
struct experiment_row {
    struct experiment experiment;
    int64_t counts[TRIAL_STATES];
    double best_value;  /* NaN: none */
    int64_t best_trial; /* 0: none; what the search says, else by objective.goal among completed */
    bool starred;
    char *note; /* NULL: none */
    VEC(char *) tags;
};
void experiment_row_release(struct experiment_row *row);
struct trial_row {
    struct trial trial; /* point has `ndim` doubles */
    size_t ndim;
    char *params_json;
    bool starred;
    char *note;
    char *run_name; /* what a tracking client called the run; NULL: nothing */
    char *owner; /* as store_owner(), where one trial was asked for by its number; NULL: nobody's */
    VEC(char *) tags;
};
void trial_row_release(struct trial_row *row);

/* By "3", a name (the newest of that name), or "last". -ENOENT with a sentence. Without spec_json,
 * environment and search_state unless `whole`. */
int store_find_experiment(struct store *store, const char *ref, bool whole,
                          struct experiment_row *ret, struct err *err);
/* The same, whole, but without what a walk over its trials tells: counts and best. */
int store_find_bare(struct store *store, const char *ref, struct experiment_row *ret,
                    struct err *err);
/* Only its number: quick, for questions that come by the thousand. */
int store_find_id(struct store *store, const char *ref, int64_t *ret, struct err *err);
/* Its name, and whose it is (NULL: nobody's); free both. */
int store_find_name(struct store *store, int64_t experiment, char **ret, char **ret_owner,
                    struct err *err);
/* Numbers of all experiments, newest first; free *ret. */
int store_experiment_ids(struct store *store, int64_t **ret, size_t *ret_n, struct err *err);
/* Those that `hone rerun` made of a trial, and of these again, oldest first; free *ret. Trial 1 of
 * each is the repeat. */
int store_reruns(struct store *store, int64_t experiment, int64_t trial, int64_t **ret,
                 size_t *ret_n, struct err *err);
/* What is read between them is of one moment, and a little quicker. Not nested. */
void store_view_begin(struct store *store);
void store_view_end(struct store *store);
typedef int experiment_row_fn(const struct experiment_row *row, void *arg); /* not 0: stop there */
/* Newest first; with spec_json, without environment and search_state. */
int store_experiments(struct store *store, int64_t limit, experiment_row_fn *fn, void *arg,
                      struct err *err);

/* The same, numbers below `before` (0: all), without counts and best. */
int store_bare_experiments(struct store *store, int64_t before, int64_t limit,
                           experiment_row_fn *fn, void *arg, struct err *err);

enum trial_order {
    ORDER_NUMBER,
    ORDER_BEST /* completed ones, best value first, needs `goal` */,
    ORDER_NEWEST,
    ORDER_TOLD /* those whose result is known, in the order in which it became so */
};
struct trial_query {
    int64_t experiment;
    enum trial_order order;
    enum goal goal;
    int64_t limit;  /* 0: all */
    int64_t number; /* only this trial; 0: all */
    int64_t after;  /* ORDER_NUMBER: numbers above this */
    bool bare;      /* only the struct trial: no params_json, note, tags (fast, for the engine) */
};
typedef int trial_row_fn(const struct trial_row *row, void *arg);
int store_trials(struct store *store, const struct trial_query *query, trial_row_fn *fn, void *arg,
                 struct err *err);
/* Joules of all trials, and whether all of them were measured. */
int store_energy(struct store *store, int64_t experiment, double *ret_joules, bool *ret_measured,
                 struct err *err);
typedef int attempt_fn(const struct attempt *attempt, void *arg);
/* Of one trial (oldest first), or with trial 0 all of the experiment, by trial. `live`: only those
 * not ended. experiment 0: of all experiments. */
int store_attempts(struct store *store, int64_t experiment, int64_t trial, bool live,
                   attempt_fn *fn, void *arg, struct err *err);
typedef int summary_fn(int64_t trial, const struct summary *summary, void *arg);
int store_summaries(struct store *store, int64_t experiment, int64_t trial, summary_fn *fn,
                    void *arg, struct err *err);
typedef int event_fn(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg);
/* Events of an experiment with id > after, in order; ids rise within the experiment. */
int store_events(struct store *store, int64_t experiment, int64_t after, int64_t limit,
                 event_fn *fn, void *arg, struct err *err);
/* The same from the newest on: those with id < before, which is above 0. */
int store_events_back(struct store *store, int64_t experiment, int64_t before, event_fn *fn,
                      void *arg, struct err *err);
/* Those in which trials were paused and went on, which begin so; a few others may be between them.
 */
#define STORE_PAUSED  "{\"event\":\"trial_paused\""
#define STORE_RESUMED "{\"event\":\"trial_resumed\""
int store_pauses(struct store *store, int64_t experiment, event_fn *fn, void *arg, struct err *err);
/* Highest ids ever given, also of removed rows: ids are never reused. */
int store_high_water(struct store *store, int64_t *ret_experiment, int64_t *ret_attempt,
                     struct err *err);
/* Were trials of this experiment removed? */
bool store_trials_removed(struct store *store, int64_t experiment);
/* What was submitted under this key: *ret, 0: nothing. */
int store_submission(struct store *store, const char *owner, const char *key, int64_t *ret,
                     struct err *err);
int store_queue_paused(struct store *store, bool *ret, struct err *err);
/* All that lets somebody in, by id; what is over may still be there. */
typedef int token_fn(const struct token_row *row, void *arg);
int store_tokens(struct store *store, token_fn *fn, void *arg, struct err *err);
/* All workloads, by id. */
typedef int workload_fn(const struct workload_row *row, void *arg);
int store_workloads(struct store *store, workload_fn *fn, void *arg, struct err *err);
/* Objects that no row names, created before `before_us`. */
typedef int object_fn(const char *sha256, const char *kind, uint64_t size, void *arg);
int store_unused_objects(struct store *store, int64_t before_us, object_fn *fn, void *arg,
                         struct err *err);
/* Has this object a row, or does one name it? 1, 0, or an error. */
int store_has_object(struct store *store, const char *sha256, struct err *err);
/* PRAGMA quick_check and version, for `hone doctor`. */
int store_check(struct store *store, struct err *err);

#endif
