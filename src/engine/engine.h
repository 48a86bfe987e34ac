/* SPDX-License-Identifier: MIT */
/*
 * engine.h — the part that decides. It holds every unfinished experiment in memory, takes events
 * (requests, what agents report, the passing of time), and turns them into rows to commit and
 * commands to agents.
 *
 *     event ──► engine_on_…() changes memory, notes rows
 *     turn  ──► engine_tick() decides what starts or ends; a struct tick holds the rows
 *     commit──► engine_committed() lets the tick's effects go: commands, replies, events
 *
 * Nothing leaves before its rows are durable, so a killed engine forgets nothing that anyone was
 * told. No clock, no thread, no file is touched in here but through these calls: the simulator
 * drives the same code.
 */
#ifndef HONE_ENGINE_H
#define HONE_ENGINE_H

#include "agent/agent.h"
#include "store/store.h"

struct engine;
struct tick;

struct now {
    int64_t wall_us, mono_us; /* records use wall; limits, waits and grace use mono */
};

struct engine_options {
    const char *home;              /* absolute; attempts' folders are under it */
    const char *home_id;           /* store_home_id() */
    const struct machine *machine; /* what there is; copied */
    uint64_t seed;                 /* of back-off jitter */
    char *const *envp;             /* environment for experiments that bring none; borrowed */
    struct series_db *series;      /* what the trials told; NULL: only what their files hold */
    const char *python_path; /* folder of the Python SDK, put last in PYTHONPATH; NULL: none */
    void (*send)(const struct agent_command *command, void *arg);
    /* A committed event: {"event":"trial_ended",…}. May be NULL. */
    void (*on_event)(int64_t experiment, const char *json, void *arg);
    /* Somebody is to be told of an alert: {"command":[…],"webhook":…,"dir":…,"alert":{…}}. May be
     * NULL. */
    void (*on_notify)(const char *json, void *arg);
    void *arg;
};
struct engine *engine_new(const struct engine_options *options);
void engine_free(struct engine *engine);
DEFINE_AUTOFREE(engine);

/* Bring back what an earlier engine left: every experiment in state running, its trials, and its
 * living attempts, which are adopted. With `go_on` they continue; else they only let their running
 * trials end and become interrupted. */
int engine_load(struct engine *engine, struct store *store, bool go_on, struct now now,
                struct err *err);
/* The same for one experiment that is not in memory: `resume`. -EEXIST if it is. A finished one
 * cannot be resumed (-EINVAL). */
int engine_resume(struct engine *engine, struct store *store, int64_t experiment, struct now now,
                  struct err *err);

/* More trials than the experiment was given at first: so many more, or so many in all. */
struct extension {
    int64_t add, total; /* one of them; the other 0 */
};
/* The same with a larger budget; also a finished one goes on. -EBUSY if it is in memory. */
int engine_extend(struct engine *engine, struct store *store, int64_t experiment,
                  const struct extension *extension, struct now now, struct err *err);

/* What comes with a submitted spec. Texts are borrowed, the spec is taken. */
struct submission {
    struct spec *spec; /* moved out; left initialised */
    const char *code;  /* snapshot's SHA-256 or NULL */
    uint64_t code_size;
    const char *environment; /* JSON or NULL */
    char *const *envp;       /* NULL-terminated; NULL: the engine's own */
    const double *point;     /* rerun: run exactly this point once; NULL: search */
    int64_t rerun_of_experiment, rerun_of_trial;
    const char *owner; /* the user; NULL: not known */
    const char *key;   /* the owner's own name for it: engine_submitted() finds it; NULL: none */
};
/* Check it against the machine, give it an id, and start it with the next tick. `store` is read for
 * what earlier experiments may teach it; NULL: nothing. */
int engine_submit(struct engine *engine, struct store *store, struct submission *submission,
                  struct now now, int64_t *ret_experiment, struct err *err);

/* The spec of an experiment that is at work here, as JSON; NULL: it is not. */
const char *engine_spec_json(const struct engine *engine, int64_t experiment);
/* What was submitted with this key, however long ago; 0: nothing. Who heard no answer sends the
 * same key again, and nothing runs twice. */
int engine_submitted(const struct engine *engine, struct store *store, const char *owner,
                     const char *key, int64_t *ret, struct err *err);

enum stop_mode {
    STOP_DRAIN,     /* start nothing more, let running trials finish: stopped */
    STOP_NOW,       /* ask running trials to end now: stopped */
    STOP_INTERRUPT, /* Ctrl-C: checkpoints, then end: interrupted, may be resumed */
    STOP_KILL,      /* Ctrl-C again: at once */
};
/* -ENOENT if the experiment is not in memory. */
int engine_stop(struct engine *engine, int64_t experiment, enum stop_mode mode, struct now now,
                struct err *err);
/* Ask one trial to end now; the others go on, and the search learns from it as from one that a rule
 * stopped. -ENOENT: it is not in memory; -EBUSY: it has ended, or is about to. */
int engine_stop_trial(struct engine *engine, int64_t experiment, int64_t number, struct now now,
                      struct err *err);
/* Put an experiment off, or (HELD_NOT) let it go on. -ENOENT if it is not in memory. */
int engine_hold(struct engine *engine, int64_t experiment, enum held held, struct now now,
                struct err *err);
/* -ERANGE: a priority is -100 … 100. */
int engine_prioritise(struct engine *engine, int64_t experiment, int64_t priority, struct now now,
                      struct err *err);
/* While the queue is paused no experiment starts a trial; those that run go on. */
void engine_pause_queue(struct engine *engine, bool paused, struct now now);
bool engine_queue_paused(const struct engine *engine);
/* The experiments in memory, in the order in which they are served. Texts live for the call. */
struct queue_entry {
    int64_t experiment;
    const char *name, *owner; /* owner NULL: not known */
    int64_t priority;
    enum held held;
    int64_t running; /* trials that hold cpus */
    int64_t wanted;  /* more that it could start now, if there were room; -1: any number */
    bool ending;
};
void engine_queue(struct engine *engine, void (*fn)(const struct queue_entry *entry, void *arg),
                  void *arg);
const struct machine *engine_machine(const struct engine *engine);
bool engine_has(const struct engine *engine, int64_t experiment);
/* How many experiments are in memory, i.e. not ended. */
size_t engine_experiments(const struct engine *engine);
/* Attempts whose keepers may live. */
size_t engine_active(const struct engine *engine);

/* An experiment that has started attempts since its code was last looked at: its id and folder, and
 * the number of the next attempt. False if there is none. */
bool engine_code_due(struct engine *engine, int64_t *ret_experiment, const char **ret_folder,
                     int64_t *ret_attempt);
bool engine_code_waits(const struct engine *engine);
/* The code in the experiment's folder has changed: attempts from now on, and those that run and
 * have the number `since` or a later one, carry this snapshot. */
void engine_set_code(struct engine *engine, int64_t experiment, const char *sha256, uint64_t size,
                     int64_t since, struct now now);
/* The transaction of the tick being collected: for rows that the engine does not hold in memory
 * (annotations). */
struct txn *engine_txn(struct engine *engine);
/* The number of the next experiment, and that it is given away: for one whose rows the caller puts
 * into that transaction (an import). */
int64_t engine_next_experiment(const struct engine *engine);
void engine_take_experiment(struct engine *engine);
/* Call fn when everything decided so far has been committed: that is when to reply. */
void engine_when_committed(struct engine *engine, void (*fn)(void *arg), void *arg);
/* Why commits wait just now (the disk is full), as a sentence; NULL: they do not. Who cannot wait
 * looks before it makes something. The runtime says it; `why` is copied. */
const char *engine_held_up(const struct engine *engine);
void engine_hold_up(struct engine *engine, const char *why);

void engine_on_event(struct engine *engine, const struct agent_event *event, struct now now);
/* The attempt that an event is about; NULL: it is none of ours any more. */
const struct attempt *engine_attempt(const struct engine *engine, int64_t attempt);

/* Decide, and cut a tick: NULL if nothing changed. Ticks are committed in order. */
struct tick *engine_tick(struct engine *engine, struct now now);
const struct txn *tick_txn(const struct tick *tick);
/* The tick is durable: its effects happen now. Frees it. */
void engine_committed(struct engine *engine, struct tick *tick);
/* The tick will never be: the engine is about to be thrown away. */
void tick_free(struct tick *tick);
/* When engine_tick() has to be called at the latest (mono); INT64_MAX: when something happens. */
int64_t engine_wake_us(const struct engine *engine);

/* ---- suggestions are computed aside, while trials run: a job holds the search of one experiment
 * until it is done; results that come meanwhile are told after it ---- */
struct search_job;
/* Something to compute. Call after each tick and each job, until false. */
bool engine_search_due(struct engine *engine, struct search_job **ret);
/* On any thread. Touches nothing but the job and its search; `clock_us` tells how long it took
 * (NULL: as if no time passed). */
void search_job_run(struct search_job *job, int64_t (*clock_us)(void));
/* It was run: take what it found, and free it. The engine must not be freed before. */
void engine_search_done(struct engine *engine, struct search_job *job, struct now now);

/* The document of the live view (cli/view.h). -ENOENT if not in memory. */
int engine_live(const struct engine *engine, int64_t experiment, struct now now, struct str *to);

/* Assert everything that always holds. Tests call it after every event. */
void engine_check(const struct engine *engine);

#endif
