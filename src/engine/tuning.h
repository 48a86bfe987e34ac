/* SPDX-License-Identifier: MIT */
/*
 * tuning.h — the machine under running trials: what the files of engine/ that tune it share.
 *
 *     samples ─► progress.c ─► windows ─► tuned.c ─► decide ─► configure.c ─► agent
 *     use ─────────┘                        │                      │ answer, cost of the change
 *                                      speed model ◄───────────────┘
 *
 * tuning.c  of an experiment: its knobs, their configurations, with which one an attempt begins
 * left.c    how long a trial still runs
 *
 * A configuration is one double a system parameter, in units of tune/knob.h: for a list of whole
 * numbers the number itself, for other lists the index. spec.system has it as a point.
 */
#ifndef HONE_ENGINE_TUNING_H
#define HONE_ENGINE_TUNING_H

#include "agent/agent.h"
#include "base/map.h"
#include "model/space.h"
#include "tune/decide.h"
#include "tune/learning.h"
#include "tune/remaining.h"
#include "tune/window.h"
#include "tune/workload.h"

struct run;
struct live;
struct store;
struct trial;
struct now;

/* Windows of a trial that are kept to tell its pace. */
#define PACE_WINDOWS 8

/* How far a trial is: kept for every attempt. */
struct progress {
    char *metric;  /* whose steps are progress; NULL: not known yet; owned */
    uint64_t unit; /* a hash of it */
    struct window window;
    struct agent_sample held; /* newest sample of the progress metric; fed when time has passed */
    bool holding;
    double at_s, step;          /* the newest fed; NaN: none */
    double first_s, first_step; /* the first fed; NaN: none */
    bool from_0;                /* it counts them from 0 */
    double total;               /* steps that the program said it will make; 0: it did not */
    struct pace_window windows[PACE_WINDOWS]; /* a ring */
    size_t places[PACE_WINDOWS];              /* of their configurations; SIZE_MAX: none */
    size_t n_windows;
    double ln_seconds, error; /* of the newest window; NaN: none */
    double used;              /* CPU seconds and the like, where no step is reported */
    double clock_s;           /* our wall clock less the monotonic one; NaN: not read yet */
    double ahead_s;           /* … the program's, by the stamps of its samples; NaN: none yet */
    int64_t newest_us;        /* the newest stamp of the turn before; 0: none */
    bool jumped;              /* a clock was set in this turn: its stamps are of two clocks */
};

/* The configuration of a running attempt. */
/* What became of a trial over its attempts. */
struct trial_tuning {
    size_t restarts; /* that were asked of it, to change something */
    size_t blames;   /* failures that were laid on a configuration */
    bool stays;      /* it does not save itself when it is asked: no more restarts */
    double *good;    /* the newest configuration under which a window was complete; NULL: none */
    bool *suspects;  /* (n_list) it failed while these were tried; NULL: never */
    struct learning *learning; /* what a step teaches; NULL: the same under all */
};

struct tuned {
    double *now;           /* (n) in force, or being put in place */
    struct decide *decide; /* NULL: nothing is to be decided */
    size_t n_list;         /* configurations that it may choose from */
    size_t windows;        /* that were looked at */
    bool sdk, restarts;    /* as they were when that list was made */
    int64_t sent_mono_us;  /* sent and not answered; 0: it is in place */
    size_t resends;
    int64_t looked_us;       /* mono: when time was last found to pass */
    bool by_use;             /* no step is reported: judged by CPU time */
    size_t width_told;       /* windows that the width knows, or may not know */
    bool fitted;             /* knowledge was compared with its first window */
    bool trying;             /* what runs is on trial */
    uint64_t peak_bytes;     /* of its memory, as seen */
    double load, idle, used; /* cores */
    /* the last change, until the window after it is complete */
    enum change_kind change;
    double changed_s, changed_step; /* NaN: what it cost is not to be known */
    double changed_ahead_s;         /* the program's clock then */
    bool failed; /* one failed since: what that took is not what such a change costs */
    struct cpus cpus,
        cpus_told; /* that it is pinned to; empty: not pinned. Those of the last event */
};

/* With which configuration the next attempt of a trial begins. */
struct pending {
    double *configuration;
    enum change_kind kind; /* RESTART: its cost is to be measured */
    double since_s, step, ahead_s;
    bool failed;
};

/* What is tuned in an experiment. */
struct tuning {
    struct space space; /* spec.system, or under TUNE_JOINT the last of spec.space; borrowed */
    size_t n;
    struct knob *knobs;
    double *start; /* (n) */
    double *begun; /* (n) with it, by the newest trial */
    double *list;  /* (n_list, n) all configurations that make sense */
    size_t n_list;
    bool *measured;      /* (n_list) by some trial */
    double load;         /* cores taken by others, as some trial saw it last */
    struct speed *speed; /* NULL: they stay as they start */
    struct map trials;   /* trial → struct trial_tuning */
    int64_t explored;    /* trials that began with what may be better */
    bool *told_of;       /* (n_list) by earlier knowledge */
    bool *frozen;        /* (n) cannot be moved on this machine */
    bool by_steps;       /* some trial has told its speed by steps */
    bool deaf; /* the program does not listen: what is its own to change is set at its start */
    bool stuck_noted;           /* it was said that nothing can be changed */
    bool restart_noted;         /* … that a restart needs a checkpoint */
    bool blind_noted;           /* … that what changes learning is judged by steps */
    bool back_noted;            /* … that steps go back */
    struct learning *learning;  /* of the newest trial that has told some; borrowed from it */
    int64_t clustered_us;       /* mono: when the map of workloads was drawn last */
    size_t running;             /* trials, when the width was last looked at */
    struct map pending;         /* trial → struct pending */
    struct workload workload;   /* what it is and teaches; identity NULL: it is not kept */
    VEC(struct workload) known; /* of this home, when it began */
    enum match_kind matched;
    bool failed;         /* under a configuration, which is not in the store yet */
    struct width *width; /* `parallel: auto`; NULL: it is given */
    size_t width_now;
    int64_t width_us; /* mono: when it was last looked at */
    double outside;   /* cores taken by what is not of this experiment */
    double startup_s; /* of a trial, to its first step; 0: not known */
    size_t looked;    /* configurations measured when one like it was looked for */
    double *values;   /* of the knobs, one after the other … */
    double *points;   /* … the same in units of spec.system */
    char **labels;    /* … and for people */
    size_t n_values;
};

/* ---- tuning.c ---- */
/* What spec.system asks for; run->tuning stays NULL where there is nothing. */
int tuning_open(struct run *run, struct err *err);
void tuning_close(struct run *run);
/* The configuration as a point of spec.system (n), and back. */
void tuning_point(const struct run *run, const double *configuration, double *ret_point);
bool tuning_from_json(const struct run *run, const char *json, double *ret_configuration);
void tuning_json(const struct run *run, const double *configuration, struct str *to);
/* For people: "threads=2 memory=400M". */
void tuning_name_values(const struct run *run, const double *configuration, struct str *to);
/* Value of a system parameter by its name; NaN: there is none. */
double tuning_value(const struct run *run, const double *configuration, enum system_name name);
/* Is it in the program's hands, not ours? */
bool tuning_inside(const struct knob *knob);
/* Its place in the list; SIZE_MAX: it is not there. */
size_t tuning_find(const struct tuning *tuning, const double *configuration);
/* Begin an attempt: with what is pending for its trial, what it had before, or the best known. */
void tuning_begin(struct live *live, struct now now);
/* Of one that an earlier engine started. */
void tuning_adopt(struct live *live, struct now now);
void tuned_free(struct tuned *tuned);
/* What became of the trial; made when it is first asked for. */
struct trial_tuning *tuning_trial(struct tuning *tuning, int64_t trial);
/* What a step teaches under each configuration, by the objective; NULL: nothing changes that, or
 * there is no objective to tell it by. */
struct learning *tuning_learning(struct run *run, int64_t trial);
/* Has it levers that differ only in place: all that needs a restart is the same? */
bool tuning_same_start(const struct tuning *tuning, const double *a, const double *b);
/* The trial's next attempt begins with this one. */
void tuning_pend(struct run *run, int64_t trial, const double *configuration, enum change_kind kind,
                 const struct progress *progress);

/* ---- progress.c ---- */
void progress_begin(struct live *live);
/* A sample came: it may be of the metric whose steps are progress; `count`: how many of it. */
void progress_sample(struct live *live, const struct agent_sample *sample, int64_t count,
                     struct now now);
/* All samples of this turn have been seen. */
void progress_turn(struct live *live, struct now now);
void progress_use(struct live *live, const struct attempt_use *use, struct now now);
/* Time passes without samples. */
void progress_timer(struct live *live, struct now now);
/* It has ended well: what it did since its last whole window is told, too. */
void progress_end(struct live *live);
/* What it went through is void: it was changed, paused, or goes on. */
void progress_changed(struct live *live, struct now now);
/* Its files are read anew: what is old does not count. */
void progress_again(struct live *live, struct now now);
/* The key of its trial in the speed model: another one where progress is counted otherwise. */
uint64_t progress_key(const struct live *live);

/* ---- stamps.c ---- */
void stamps_begin(struct progress *progress);
/* Time passes: has our clock been set? */
void stamps_clock(struct live *live, struct now now);
/* Before the samples of a turn are fed: has the program's? */
void stamps_look(struct live *live, const struct agent_sample *samples, size_t n, struct now now);
/* One is fed: has it gone back? */
void stamps_step(struct live *live, const struct agent_sample *sample, struct now now);
/* Now by the program's clock; by ours as long as it has told no time. */
double stamps_now_s(const struct progress *progress, struct now now);
/* Was nothing set since its clock was ahead by this? True where that is not known. */
bool stamps_same_clock(const struct progress *progress, double ahead_s);

/* ---- tuned.c ---- */
void tuned_on_window(struct live *live, const struct window_result *window, struct now now);
/* The last one, of a trial that has ended: it teaches, and nothing is left to decide. */
void tuned_on_rest(struct live *live, const struct window_result *rest);
void tuned_on_use(struct live *live, const struct attempt_use *use, struct now now);
/* It has failed: is what was tried to blame? Then the trial goes on with another configuration. */
bool tuned_to_blame(struct live *live, const struct ending *ending, struct now now);
/* The trial has come to its end without what it had failed under: that is to blame. */
void tuned_convict(struct live *live);
/* The most that the memory lever may allow; 0: there is none. An attempt has to begin with a limit:
 * cgroup v1 sets none for what runs already. */
uint64_t tuned_most_memory(const struct live *live);
/* The limit of memory that its configuration sets, as a text; NULL: none. */
char *tuned_memory_limit(const struct live *live);
/* What it may choose from, or how it is measured, has changed: decide from here. */
void tuned_again(struct live *live);
/* Say a sentence about the tuning of a trial. */
void tuned_note(const struct live *live, struct now now, const char *fmt, ...) PRINTF(3, 4);

/* ---- configure.c ---- */
/* Put it in place. RESTART: it is asked to save itself, and starts again. */
void configure(struct live *live, const double *configuration, enum change_kind kind,
               struct now now);
/* It has failed under what it had: its next attempt begins with this one, and what all of that took
 * is told when it goes on. */
void configure_failed(struct live *live, const double *configuration);
/* Tell the agent of the configuration (again). */
void configure_send(struct live *live);
void configure_started(struct live *live, struct now now);
void configure_timer(struct live *live, struct now now);
int64_t configure_wake_us(const struct live *live);
void on_system(struct live *live, const struct agent_event *event, struct now now);
/* A window is complete: what the change before it has cost. */
void configure_cost(struct live *live, const struct window_result *window, struct now now);

/* ---- workloads.c ---- */
/* Find out what is known of this workload, and take it as prior. */
void workloads_open(struct run *run, struct store *store, struct now now);
void workloads_close(struct tuning *tuning);
/* A window is complete: is one like it known? */
void workloads_look(struct live *live, struct now now);
void workloads_profile(struct live *live, const struct profile *profile);
/* Does its first window fit what was known? If not, that counts little from now on. */
void workloads_fit(struct live *live, const struct window_result *window, struct now now);
/* It failed under this one: the next experiment does not try it. */
void workloads_fail(struct live *live, const double *configuration);
/* An attempt has ended: what it taught goes into the store. `whole`: its trial has, too. */
void workloads_learn(struct live *live, const struct ending *ending, struct now now, bool whole);

/* ---- parallel.c ---- */
void parallel_open(struct run *run);
/* How many trials may run side by side. */
int64_t parallel_most(const struct run *run);
void parallel_turn(struct run *run, struct now now);
int64_t parallel_wake_us(const struct run *run);

/* ---- left.c ---- */
/* Seconds until it ends under the configuration that it is held to, and how sure that is. False:
 * nothing is known. `*ret_target`: it is the time to objective.target. */
bool live_left(const struct live *live, struct now now, struct remaining *ret, bool *ret_target);
/* The same for decisions: under what runs, always a number, at most what limits leave. */
double live_left_s(const struct live *live, struct now now);

#endif
