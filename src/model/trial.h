/* SPDX-License-Identifier: MIT */
/*
 * trial.h — experiments, trials, attempts and metric summaries as rows: plain data with fixed
 * meaning, in memory and in the database. Times are wall µs, 0: not yet.
 */
#ifndef HONE_TRIAL_H
#define HONE_TRIAL_H

#include "model/spec.h"
#include "model/state.h"

#define STEP_NONE INT64_MIN

/* What a person has put off. */
enum held {
    HELD_NOT,
    HELD_STARTS, /* no trial starts; those that run go on */
    HELD_FROZEN, /* and those that run stand still */
};

struct experiment {
    int64_t id;
    char *name;
    char *owner;      /* who submitted it; NULL: not known */
    int64_t priority; /* -100 … 100: higher ones start trials first */
    enum held paused;
    enum experiment_state state;
    enum reason reason;
    char *spec_json; /* the whole spec, canonical; spec_parse() reads it */
    char *error;     /* sentence when failed; NULL */
    int64_t created_us, ended_us;
    int64_t run_us;     /* running time summed over engines; limits.time counts this */
    char *code;         /* SHA-256 (hex) of the code snapshot, NULL: none */
    char *environment;  /* JSON object: host, cpu, git, packages, …; NULL */
    void *search_state; /* blob of search_save(); NULL */
    size_t search_state_size;
    char *kernel; /* linalg_kernel() of the model that suggested; NULL: none did */
    int64_t rerun_of_experiment, rerun_of_trial; /* `hone rerun`; 0: no */
    int64_t best_trial;               /* as the search sees it; 0: not said; -1: there is none */
    double best_mean, best_deviation; /* of the objective there; NaN: no model */
};

struct trial {
    int64_t experiment;
    int64_t number; /* from 1 */
    enum trial_state state;
    enum reason reason;
    double *point;          /* spec.space.n doubles; owned */
    double value;           /* objective: its last value; NaN: none */
    double best;            /* objective: its best value so far; NaN: none */
    int64_t last_step;      /* STEP_NONE: none seen */
    int64_t first_nan_step; /* of any metric; STEP_NONE: none. With no step known: 0 */
    int64_t attempts;       /* how many were made; the newest has this number */
    int64_t retries;        /* of them, after failures (not 85, not interruptions) */
    int64_t created_us, started_us, ended_us;
    int64_t run_us;    /* summed over attempts, without the time it was paused */
    int64_t seen;      /* how many results its suggestion rests on */
    int64_t told;      /* it was the told-th result of the experiment; 0: not told yet */
    int64_t repeat_of; /* the trial whose setting it runs again; 0: none */
    char *why;         /* JSON: the numbers of its suggestion; NULL */
    char *verdict;     /* JSON: the numbers of the rule that stopped or paused it; NULL */
    double *extra;     /* last values of spec.others, then of spec.constraints; NaN: none; owned */
    size_t n_extra;
    double joules;        /* over all attempts; 0: not known */
    bool joules_measured; /* else estimated */
};

struct attempt {
    int64_t id; /* unique in the home, never reused: the fencing token */
    int64_t experiment, trial, number;
    enum attempt_state state;
    enum reason reason;
    int64_t started_us, ended_us;
    int64_t run_us, cpu_us;
    uint64_t max_rss_bytes;
    uint64_t dropped_bytes; /* of output, by the cap */
    int exit_status;        /* -1: did not exit by itself */
    int signal;             /* 0: none */
    char *error;            /* a sentence and the last lines of stderr; NULL */
    char *gpus;             /* "0,1"; NULL: none */
    char *host;             /* NULL until started */
    char *code;             /* snapshot, when it differs from the experiment's; NULL */
    int pid;                /* of the keeper; 0 until started */
    char *system;           /* JSON: the configuration in force, last; NULL: none */
    int64_t generation;     /* of it; 0: none was put in place yet */
    double joules;          /* 0: not known */
    bool joules_measured;   /* else estimated */
};

/* What is known of one metric of one trial without reading its samples. */
struct summary {
    char *metric;
    int64_t count;
    double last, min, max; /* min, max over finite values; NaN if none */
    int64_t last_step, first_nan_step;
};

void experiment_release(struct experiment *experiment);
void trial_release(struct trial *trial);
void attempt_release(struct attempt *attempt);
void summary_release(struct summary *summary);

/* "NAME", "3", "NAME.7", "3.7", "last", "last.2": an experiment and maybe a trial.
 * *ret_name points into `text`'s copy and must be freed; *ret_trial 0: none. */
int ref_parse(const char *text, char **ret_name, int64_t *ret_trial, struct err *err);

/* Where files of attempts are, relative to the home: experiments/E/T.N (free it). */
char *attempt_dir(const char *home, int64_t experiment, int64_t trial, int64_t number);
/* Where a trial keeps its checkpoints over all attempts: experiments/E/T.checkpoints. Made by
 * the program that first writes one. */
char *checkpoint_dir(const char *home, int64_t experiment, int64_t trial);

#endif
