/* SPDX-License-Identifier: MIT */
/*
 * internal.h — what the files of engine/ share: the state in memory.
 *
 *   engine ─┬─ run (an unfinished experiment) ─┬─ trials[number-1]
 *           │                                  ├─ waiting: trials to start (again), with not-before
 *           │                                  └─ live: attempts whose keepers may exist
 *           └─ tick being collected: rows, effects
 *
 * Memory is ahead of the database by the ticks that are not committed yet; effects wait for them.
 */
#ifndef HONE_ENGINE_INTERNAL_H
#define HONE_ENGINE_INTERNAL_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "engine/alerts.h"
#include "engine/engine.h"
#include "engine/tuning.h"
#include "search/search.h"
#include "search/stop.h"

#define ASK_AGAIN_US      (5 * US_PER_S)  /* a command without an answer is sent again */
#define SILENCE_US        (60 * US_PER_S) /* a silent attempt is asked for a report */
#define SAVE_US           US_PER_S        /* a running trial's figures are saved this often */
#define SAVE_START_US     (US_PER_S / 5)  /* a start is saved alone after this */
#define COUNT_TIME_US     (10 * US_PER_S) /* a kill forgets at most this much of limits.time */
#define CURVE_MAX         4096            /* points of the objective kept a trial */
#define CURVES_MAX        200             /* curves of completed, and of stopped trials kept */
#define CURVE_KEPT        256             /* points of the curves that rules look at */
#define HOPELESS_FAILURES 20              /* so many failures and nothing else: give up */

/* The objective over the steps of one trial, as the goal says (kept ones are turned around). */
struct curve_data {
    int64_t trial;
    VEC(int64_t) steps;
    VEC(double) values;
    struct curve_data *others; /* of the further objectives, n_others; NULL: there are none */
    size_t n_others;
};

/* Last values of the objective, for the mean that reaches the target. */
struct recent {
    double *at; /* a VEC */
    size_t len, cap;
};
struct worker {
    char *metric; /* loss{worker=2} */
    double last;
    struct recent recent;
};

/* An attempt whose keeper may exist. */
struct live {
    struct run *run;
    struct attempt attempt;
    struct grant grant;
    struct curve_data curve;
    struct recent recent;       /* of the objective */
    VEC(struct worker) workers; /* who told it one by one */
    struct curve_data before;   /* what earlier attempts told, where this one goes on from */
    struct curve_data stood;    /* where it was paused without an attempt; minimised */
    VEC(struct summary) summaries;
    int64_t samples_seen;
    int64_t started_mono_us;
    int64_t heard_mono_us; /* last event from its agent */
    int64_t sent_mono_us;  /* last command that wants an answer; 0: none is awaited */
    int64_t saved_mono_us;
    int64_t ran_us;      /* live_elapsed_us() as of then: the row of its trial has it */
    int64_t term_at_us;  /* mono: when a request through the control page has had its time */
    int64_t start_step;  /* of the checkpoint it began from; -1: none */
    int64_t judged_step; /* what an earlier engine saw of it is not judged again */
    int64_t turn;      /* of pausing: the newest that was asked for or has happened; odd: paused */
    int64_t paused_us; /* in pauses that are over */
    int64_t still_mono_us;              /* paused: since when */
    int64_t taken_mono_us;              /* when this engine began to look after it */
    double prior_mean, prior_deviation; /* of its value as the search expected it; NaN: none */
    uint64_t used_bytes;                /* paused: memory that it holds; 0: unknown */
    int64_t asked_us;                   /* wall: when that was decided; 0: by an earlier engine */
    enum reason asked;                  /* why it is to end; REASON_NONE: it is not */
    bool killing;                       /* asked to end at once */
    bool term_sent;                     /* the keeper was asked, not only the control page */
    bool sdk;    /* it has answered a generation: it looks at its control page */
    bool obeyed; /* it has answered after it was asked to end */
    bool reached_target;
    bool launched;   /* its START or ADOPT was sent by this engine */
    bool curve_grew; /* since it was judged */
    bool objective_seen;
    bool
        objective_whole; /* told for all of the trial: what its workers tell is not the objective */
    bool dirty;          /* its trial or summaries have unsaved figures */
    bool start_unsaved;  /* its row still says `starting` */
    bool cannot_start;   /* its program is missing or not executable: so are the others */
    bool adopted;
    bool prior_read;
    bool turn_awaited; /* a turn was sent and is not answered */
    bool paused;       /* its agent says that nothing of it runs; its cpus are given back */
    struct progress progress;
    struct tuned *tuned; /* NULL: the machine under it is not tuned */
    struct alert_watch watch;
};

struct waiting {
    int64_t trial;
    int64_t not_before_us; /* mono; 0: ready */
};

/* What a trial had when a rule paused it, as it was told to the search. */
struct pause_result {
    int64_t told, trial;
    struct result result;
    double *numbers; /* that the result points to; owned */
};
struct untold_result {
    int64_t trial;
    size_t pause; /* 1 + its index in `pauses`; 0: its end */
};

/* The search of a run: who uses it, what is prepared, what waits to be told (ask.c). */
struct ask {
    struct search_job *job;           /* holds the search just now; NULL: the engine does */
    VEC(struct untold_result) untold; /* that came meanwhile, in their order */
    VEC(struct pause_result) pauses;  /* what paused trials told, in its order (told.c) */
    bool ready;                       /* a suggestion is prepared */
    bool ahead;                       /* its suggestions rest on results: they are computed ahead */
    bool searched;                    /* there were such: the search knows better what is best */
    bool wanted;                      /* a slot waits for the next one */
    bool stalled;                     /* it gives none before the next result */
    bool final;                       /* all is run: only the best is still to be named */
    int64_t took_us;                  /* computing the last one; 0: not measured */
    int64_t told;                     /* results so far: the number of the last */
    int64_t best_told;                /* how many of them the best rests on */
    int64_t dull_told;                /* how many there were when little was last to be expected */
    int dull;                         /* how often in a row that was so */
};

/* How many steps a completed trial made, by the unit of its progress. */
struct length {
    uint64_t unit;
    double step;
};

/* What earlier experiments taught a run (knowledge.c). The arrays of tasks are owned. */
struct lesson {
    int64_t experiment;
    int64_t results; /* the first so many of it */
};
struct knowledge_data {
    VEC(struct task) tasks;
    VEC(struct lesson) from; /* as many as tasks */
};

/* An experiment in memory. */
struct run {
    struct engine *engine;
    struct experiment experiment;
    struct spec spec;
    struct metrics_rules *rules;
    struct search *search; /* NULL: rerun of one point */
    struct ask ask;
    struct knowledge_data knowledge;
    const struct stop_ops *stop; /* NULL: none */
    VEC(struct trial) trials;    /* of experiment 0: was removed, only its number is taken */
    VEC(struct waiting) waiting;
    VEC(struct live *) live;
    VEC(struct curve_data) finished_curves; /* of completed and pruned trials; minimised */
    VEC(struct curve_data)
    parked; /* of paused trials without an attempt; minimised */
    int64_t counts[TRIAL_STATES];
    int64_t best;          /* trial number; 0: none; as the search sees it */
    int64_t record;        /* the one with the best value that keeps the constraints; 0: none */
    int64_t best_repeats;  /* how often the best setting was run; 0: not known */
    int64_t budget;        /* trials to make; INT64_MAX: until the space is exhausted */
    int64_t budget_before; /* it was extended by this engine; 0: it was not */
    int64_t mean_run_us;   /* of completed trials; 0: none yet */
    int64_t since_mono_us; /* experiment.run_us counts up to here */
    int64_t look_us;       /* mono: when the deadline, a wall time, is compared again */
    size_t user;           /* index into engine.users */
    char *key;             /* of its submission by this engine; NULL: none */
    bool exhausted;
    bool closing;                    /* starts nothing more */
    bool dirty;                      /* its row is to be saved */
    enum experiment_state end_state; /* what it becomes when nothing of it is live (closing) */
    enum reason end_reason;
    struct tuning *tuning;      /* NULL: nothing of the machine is tuned */
    VEC(struct length) lengths; /* of completed trials */
    struct alerts *alerts;      /* NULL: the spec has none */
    bool draining;              /* closing, but what runs may end */
    char **envp;                /* owned; NULL: the engine's */
    char *code;                 /* newest snapshot; NULL: the experiment's */
    bool told_missing;          /* that a completed trial lacks a metric of a goal */
    bool code_due;              /* attempts began since the code was looked at */
};

enum effect_kind {
    EFFECT_START,
    EFFECT_ADOPT,
    EFFECT_STOP,
    EFFECT_CONTROL,
    EFFECT_TURN,
    EFFECT_SYSTEM,
    EFFECT_NOTIFY,
    EFFECT_EVENT,
    EFFECT_CALL
};
struct effect {
    enum effect_kind kind;
    int64_t id;            /* attempt; EVENT, NOTIFY: experiment */
    bool kill;             /* STOP */
    int64_t turn;          /* TURN: of pausing */
    char *text;            /* CONTROL, EVENT, NOTIFY: JSON; owned */
    void (*fn)(void *arg); /* CALL */
    void *arg;
};

struct tick {
    struct txn *txn;
    VEC(struct effect) effects;
    VEC(struct run *) ended; /* freed after the commit */
};

struct engine {
    struct engine_options options;
    char *home, *home_id, *python_path;
    struct machine machine;
    struct rng rng;
    VEC(struct run *) runs;
    VEC(char *) users;   /* owners of runs; never forgotten */
    bool paused;         /* the queue */
    struct map live;     /* attempt id → struct live */
    struct tick *tick;   /* being collected; never NULL */
    VEC(int64_t) ending; /* experiments that have ended in ticks not committed yet */
    int64_t next_experiment, next_attempt;
    char *held_up; /* why commits wait; NULL: they do not */
};

/* engine.c */
struct run *engine_find(const struct engine *engine, int64_t experiment);
struct trial *run_trial(struct run *run, int64_t number);
struct live *run_live_of(struct run *run, int64_t trial);
void engine_effect(struct engine *engine, struct effect effect);
void engine_event(struct run *run, int64_t trial, struct str *json, struct now now);
void run_free(struct run *run);
void live_free(struct live *live);
/* Change a trial's state and the counts; asserts that the change is lawful. */
void trial_become(struct run *run, struct trial *trial, enum trial_state state, enum reason reason);
/* Its row has the time of the attempt that runs, too; the trial in memory has it at its end. */
void run_save_trial(struct run *run, const struct trial *trial, bool with_params);
/* Begin a JSON event object in `json`. The caller adds keys and calls engine_event(). */
struct json_out event_begin(struct str *json, const char *event, const struct run *run,
                            const struct trial *trial);
/* +1 or −1: multiply an objective's value by it and smaller is better. */
double run_sign(const struct run *run);
struct demand run_demand(const struct run *run);

/* ask.c: the search. */
int ask_open(struct run *run, struct err *err);
void ask_close(struct run *run);
/* Bring it to where it stood, from the trials in memory and the saved state. */
int ask_load(struct run *run, struct store *store, struct err *err);
/* A new trial of the next suggestion: its number. 0: there is none just now. */
int64_t ask_next(struct run *run, struct now now);
/* The result of a trial that has ended: numbered, and told as soon as nobody holds the search. */
void ask_tell(struct run *run, struct trial *trial);
/* The same for what a trial has that a rule has paused. NULL: there is no search. */
const struct pause_result *ask_tell_paused(struct run *run, const struct trial *trial);
/* Tell what has its number (`pause` NULL: the end of the trial); nobody holds the search. */
void ask_tell_now(struct run *run, const struct trial *trial, const struct pause_result *pause);
/* There is no suggestion: search_ask() or search_prepare() said why. */
void ask_failed(struct run *run, int r, const struct err *err);
/* What its numbers say about why it was suggested. */
enum why ask_why(const struct trial *trial);
/* Is it better to compute a suggestion again, now that there is one more result, than to take the
 * prepared one? Not while others run: then this one result is not worth the wait, and the next
 * suggestion has it. Pure. */
bool ask_anew(int64_t mean_run_us, int64_t took_us, int64_t others);
/* ask_job.c: what is computed aside. */
void search_job_free(struct search_job *job);
/* The search has nothing more to say about a run whose trials are all over. */
bool ask_settled(struct run *run);
/* told.c: the results in the order in which they were told. */
struct told {
    int64_t number;
    struct trial *trial;
    const struct pause_result *pause; /* NULL: the end of the trial */
};
struct told_list {
    struct told *at; /* a VEC */
    size_t len, cap;
};
/* Note what a trial has that is being paused; stays until the next is noted. */
const struct pause_result *told_add_pause(struct run *run, int64_t told, const struct trial *trial);
/* Add it to the event of the pause; read all of them back. */
void told_put_pause(const struct run *run, const struct pause_result *pause, struct json_out *out);
int told_load(struct run *run, struct store *store, struct err *err);
void told_release(struct run *run);
/* Was that trial among the paused ones in the first `until` results? */
bool told_of_pause(const struct run *run, int64_t trial, int64_t until);
/* All results; an end that had no number has one then. */
void told_order(struct run *run, struct told_list *ret);
/* Tell the search of one. */
enum result_kind told_tell(struct run *run, const struct trial *trial,
                           const struct pause_result *pause);
/* result.c: what a trial tells, and which is best. A paused one tells as if it were stopped. */
enum result_kind result_kind_of(const struct run *run, const struct trial *trial);
/* `numbers`: room for spec.others and spec.constraints. */
void result_of(const struct run *run, const struct trial *trial, double *numbers,
               struct result *ret);
/* Does it keep all constraints? What is not known is not kept. */
bool trial_feasible(const struct run *run, const struct trial *trial);
/* Note a sample of a further objective or of a constraint. */
void trial_note_extra(const struct run *run, struct trial *trial, const char *metric, double value);
/* A completed trial becomes the record if it is. True if so. */
bool run_consider_best(struct run *run, const struct trial *trial);
/* Put what is best into the experiment's row. */
void run_note_best(struct run *run, double mean, double deviation);
/* The completed trials that no other is better than in everything, by number; free it. */
int64_t *run_front(const struct run *run, size_t *ret_n);
/* lesson.c: the share of what varies in `mine` that `other` varied too. */
double lesson_overlap(const struct space *mine, const struct space *other);
/* Add what experiment `id` of spec `other` teaches: its first `results` results, 0: all. Returns
 * how many of them lie in our space; fewer than `least`: none is taken. */
ptrdiff_t lesson_add(struct run *run, struct store *store, int64_t id, const struct spec *other,
                     int64_t results, size_t least, struct err *err);
/* knowledge.c: choose what earlier experiments may teach, or take what was chosen before. */
int knowledge_find(struct run *run, struct store *store, struct err *err);
int knowledge_load(struct run *run, struct store *store, struct err *err);
void knowledge_announce(struct run *run, struct now now);
void knowledge_release(struct knowledge_data *knowledge);

/* submit.c: make the parts of a run that follow from its spec. */
int run_prepare(struct run *run, struct err *err);
/* queue.c: whose it is, by engine.users. */
void run_set_user(struct run *run);
/* May it start nothing new, because a person said so? */
bool run_held(const struct run *run);
/* plan.c */
/* It will not run (again): stopped, saved, and told to the search. */
void trial_drop(struct run *run, struct trial *trial, enum reason reason, struct now now);
/* What it wants of the machine just now. */
struct claim run_claim(struct run *run);
void plan(struct engine *engine, struct now now);
/* A new trial in state queued; takes `point`. */
struct trial *run_add_trial(struct run *run, double *point, struct now now);
void run_count_time(struct run *run, struct now now);
void run_announce_end(struct run *run, struct now now);
struct live *live_new(struct run *run, const struct attempt *attempt, struct now now);
/* launch.c: send START or ADOPT of a live attempt. */
void launch_send(struct live *live, enum agent_command_kind kind);
/* Is there a checkpoint that was not there when the attempt began? */
bool launch_new_checkpoint(const struct live *live);
/* on_stop.c */
void run_close(struct run *run, enum experiment_state state, enum reason reason);
void live_ask(struct live *live, enum reason why, bool kill, struct now now);
void live_timers(struct live *live, struct now now);
int64_t live_wake_us(const struct live *live);
/* on_samples.c */
void on_samples(struct live *live, const struct agent_event *event, struct now now);
/* What it has used so far, for its row. */
void on_figures(struct live *live, const struct agent_event *event);
/* Does NaN or Inf in this metric mean that the trial diverged? */
bool metric_diverges(const struct run *run, const char *metric);

/* ---- workers.c ---- */
bool metric_of_worker(const struct run *run, const char *metric);
/* Keep what a worker told of the objective; returns what the trial has by it: the mean. */
struct agent_sample workers_add(struct live *live, const struct agent_sample *sample);
/* Have enough of them reached the target? */
bool workers_reach(const struct live *live);
void workers_forget(struct live *live);
void recent_add(struct recent *recent, double value, const struct objective *objective);
bool recent_reach(const struct recent *recent, const struct objective *objective);
void live_save(struct live *live, struct now now);
/* When that is due, mono: soon if there is something new; else when the time in its row is a tenth
 * short. INT64_MAX: never. */
int64_t live_save_us(const struct live *live);
/* on_started.c, on_ended.c */
void trial_announce_end(struct run *run, const struct trial *trial, const char *error, bool best,
                        struct now now);
void on_started(struct live *live, const struct agent_event *event, struct now now);
void on_ended(struct live *live, const struct agent_event *event, struct now now);

/* curves.c: the objectives over the steps, for early stopping. */
void curve_release(struct curve_data *curve);
/* Keeps at most CURVE_MAX points. Steps rise: a repeated one takes the place of what was there. */
void curve_add(struct curve_data *curve, int64_t step, double value);
/* Nothing of this attempt is known: only what was before it. */
void curve_begin(struct live *live);
/* Read what earlier attempts of the trial told. */
void curve_load_before(struct live *live);
/* Note a finite sample of a further objective. */
void curve_note_other(struct live *live, const struct agent_sample *sample);
/* A trial has ended, or goes without an attempt: rules still look at its curve, which is taken. */
void run_keep_curve(struct run *run, struct curve_data *curve);
void run_park_curve(struct run *run, struct curve_data *curve);
/* Read back those of finished trials; and of paused ones that have no attempt. */
void curves_load(struct run *run);
void curves_load_parked(struct run *run);

/* judge.c: the rule over all curves. */
struct view {
    struct stop_view base;
    VEC(struct stop_trial) trials;
    struct arena arena;
};
void view_init(struct view *view, struct run *run);
void view_release(struct view *view);
/* The curve has grown: let the rule judge it, then end it, pause it or let it go on. */
void live_judge(struct live *live, struct now now);

/* pause.c */
void pause_begin(struct live *live, struct now now);
/* Is there room for a paused trial to go on? Asked before the rule, which looks at all curves. */
bool pause_may(const struct run *run);
/* The paused trial that is to have the next free slot; 0: none. */
int64_t pause_next(struct run *run);
/* What it would take of the machine. */
struct demand pause_demand(struct run *run, int64_t trial);
/* Its running trials stand still until they are let go on. */
void pause_hold(struct run *run, struct now now);
/* Let it go on: it has an attempt that stands still. */
void pause_resume(struct run *run, struct trial *trial, struct now now);
/* Attempts that hold cpus. */
int64_t run_busy(const struct run *run);
/* After what could start has started: too much memory is held, a slot waits for what paused trials
 * hold, or nothing will ever wake them. */
void pause_settle(struct run *run, struct now now);
/* It is to end: wake it where it must act by itself. */
void pause_wake(struct live *live, struct now now);
/* Its attempt has ended: it is not paused any more. */
void pause_ended(struct live *live);
/* Its attempt has ended with a checkpoint, to make room, or was interrupted: it stays paused
 * without one. */
void pause_park(struct live *live, struct trial *trial, enum reason reason, struct now now);
/* It gets an attempt again, or none ever: its curve, which the caller releases. */
struct curve_data pause_unpark(struct run *run, int64_t trial);
/* The agent says which turn has happened (STARTED, PAUSED, RESUMED). */
void on_turn(struct live *live, const struct agent_event *event, struct now now);
/* How long it has run, without pauses. */
int64_t live_elapsed_us(const struct live *live, struct now now);

#endif
