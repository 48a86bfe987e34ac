/* SPDX-License-Identifier: MIT */
/*
 * runtime.h — the engine at work on a libuv loop: the home's lock, the database's writer thread,
 * the local agent, and the clock. One per home; whoever holds it is the engine.
 */
#ifndef HONE_RUNTIME_H
#define HONE_RUNTIME_H

#include "engine/engine.h"
#include "series/db.h"
#include <uv.h>

struct runtime;

struct runtime_options {
    const char *home; /* absolute; made if missing */
    bool go_on;       /* continue experiments that an engine left running; else only adopt them */
    void (*on_event)(int64_t experiment, const char *json, void *arg);
    /* The engine cannot go on (the database is gone): say why and end the loop. */
    void (*on_failure)(const struct err *err, void *arg);
    void *arg;
};

/* Take the lock and come up: load, adopt. -EAGAIN if another process is the engine here. */
int runtime_open(uv_loop_t *loop, const struct runtime_options *options, struct runtime **ret,
                 struct err *err);
/* Commit what is decided, let go of the lock. Running trials go on under their keepers. */
void runtime_close(struct runtime *runtime);
struct engine *runtime_engine(struct runtime *runtime);
/* A handle for reading the database. */
struct store *runtime_reader(struct runtime *runtime);
/* Told of every commit, for readers that keep copies. */
struct changes *runtime_changes(struct runtime *runtime);
/* The store of samples, open for writing. */
struct series_db *runtime_series(struct runtime *runtime);
/* Who is to be told that an experiment (trial 0) or a trial is removed in the open tick; fn NULL:
 * nobody. */
typedef void runtime_removed_fn(int64_t experiment, int64_t trial, void *arg);
void runtime_on_removed(struct runtime *runtime, runtime_removed_fn *fn, void *arg);
void runtime_removed(struct runtime *runtime, int64_t experiment, int64_t trial);
/* Who hears of events besides the options' on_event; fn NULL: nobody. */
typedef void runtime_event_fn(int64_t experiment, const char *json, void *arg);
void runtime_on_event(struct runtime *runtime, runtime_event_fn *fn, void *arg);
/* Somebody looks on: samples are read more often. */
void runtime_hurry(struct runtime *runtime, bool hurry);
const char *runtime_home(const struct runtime *runtime);
struct now runtime_now(void);

/* The files of an imported experiment are there: its samples go into the store beside the work. */
void runtime_gather(struct runtime *runtime, int64_t experiment);

/* Take HOME/engine.lock: *ret_fd holds it until closed. -EAGAIN if taken. */
int home_lock(const char *home, int *ret_fd, struct err *err);
/* Does some process hold it? */
bool home_locked(const char *home);

#endif
