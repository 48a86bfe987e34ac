/* SPDX-License-Identifier: MIT */
/*
 * spec.h — what an experiment is to do: program, parameters, objective, search, limits. The noun;
 * folder spec/ reads it from files and command lines. Immutable once submitted.
 */
#ifndef HONE_MODEL_SPEC_H
#define HONE_MODEL_SPEC_H

#include "model/space.h"

#define FIGURES_US 1000000 /* metrics: system, where it is not said */

enum goal { GOAL_MINIMIZE, GOAL_MAXIMIZE };
/* How parameters that the command does not name as {name} reach the program. */
enum pass { PASS_ARGS, PASS_ENV, PASS_FILE };
enum workdir { WORKDIR_SPEC, WORKDIR_TRIAL };

/* Of several workers, each of which reports values: how many must have reached a target. */
enum quorum { QUORUM_ALL, QUORUM_MOST, QUORUM_ANY }; /* most: 90 %, rounded up */

struct objective {
    char *metric; /* NULL: no objective, trials only run */
    enum goal goal;
    double target;       /* NaN: none */
    int64_t average;     /* it is compared with the mean of this many last values */
    enum quorum workers; /* of a trial whose workers report it one by one */
};

/* A metric that must stay within a bound: latency_ms <= 20. Its last value counts. */
struct constraint {
    char *metric;
    bool at_least; /* >= bound; else <= bound */
    double bound;
};

/* What an improvement is weighed against. */
enum per { PER_TRIAL, PER_SECONDS, PER_ENERGY };

/* Which earlier experiments may teach this one. */
enum knowledge { KNOWLEDGE_AUTO, KNOWLEDGE_OFF, KNOWLEDGE_LIST };

/* Early stopping: the rule and its numbers; 0 (chance: NaN) takes the rule's default. */
struct stop_settings {
    char *rule;                 /* "none", "median", "curve", "asha", "hyperband" */
    double chance;              /* curve: of stopping the eventual winner, per experiment */
    int64_t eta;                /* asha, hyperband: one in eta goes on */
    int64_t min_step, max_step; /* asha, hyperband: first rung, end of a whole run */
    bool end;                   /* asha: stop what is not promoted at once, instead of pausing it */
};

#define TRY_FREE INFINITY /* in a setting of `try`: the search fills it in */

/* How hyperparameters and the machine are tuned. */
enum tune_mode {
    TUNE_PIPELINED, /* the machine inside running trials, the hyperparameters by the search */
    TUNE_JOINT,     /* system parameters are searched like hyperparameters */
    TUNE_HYPER,     /* system parameters stay as they start */
    TUNE_OFF,       /* there are none: `system` counts as absent */
    TUNE_OFF_RAW,   /* nor does Hone set variables for threads */
};

/* Beside a parameter of spec.system: where it starts, and what it takes to change it. */
struct system_setting {
    double start;  /* natural units, as in a point; NaN: the trial's cpus, or the nearest to it */
    bool restart;  /* the program starts again from its checkpoint; else in place */
    bool learning; /* it changes what a step teaches, so steps are not progress */
    bool is_auto;  /* from 1 to the machine's cpus, once spec_system_resolve() knows them */
};

struct text_pair {
    char *key, *value;
};

/* What is watched while a trial runs, and what is done about it. */
enum alert_kind { ALERT_CONDITION, ALERT_DIVERGED, ALERT_PLATEAU, ALERT_STALL };
enum { /* bits */
       ALERT_NOTIFY = 1,
       ALERT_STOP = 2,
       ALERT_REQUEUE = 4
};
struct alert {
    enum alert_kind kind;
    char *condition;     /* CONDITION: an expression over a running trial; else NULL */
    double number;       /* PLATEAU: steps; STALL: times the usual interval; 0: the default */
    unsigned actions;    /* what is done, in the order of the bits */
    VEC(char *) command; /* NOTIFY: words to run; none: no command */
    char *webhook;       /* NOTIFY: where to POST; NULL: nowhere */
};

enum keep { KEEP_ALL, KEEP_BEST, KEEP_LAST };

struct spec {
    char *name;          /* [A-Za-z_][A-Za-z0-9_-]* */
    char *description;   /* may be NULL */
    char *file;          /* where it was read from; NULL: the command line */
    char *dir;           /* absolute: programs run here, `code` is relative to it */
    VEC(char *) command; /* words, {name} not yet replaced */
    enum pass pass;
    bool flags_value; /* true gives --name=true instead of --name */
    VEC(struct text_pair) env;
    enum workdir workdir;
    bool pty;
    VEC(char *) tags;

    struct space space;
    struct objective objective;   /* the first, or only one */
    VEC(struct objective) others; /* further ones: then the Pareto front is looked for */
    enum per per;
    VEC(struct constraint) constraints;
    VEC(char *) diverge; /* metrics whose NaN or Inf also means diverged */
    VEC(struct text_pair)
    patterns;           /* metrics: key = metric name, value = regex with one group;
                           key "" = a regex with named groups */
    bool patterns_only; /* metrics: … only: true — no built-in recognition */
    char *tensorboard;  /* metrics: folder of event files, from where a trial runs; NULL: none */
    int64_t figures_us; /* metrics: system — between two looks at its attempts; 0: off */

    char *algorithm;  /* "auto", "random", … */
    int64_t trials;   /* how many to run; 0: as many as the space has */
    int64_t parallel; /* 0: auto */
    struct stop_settings stop;
    uint64_t seed;
    bool no_repeats;      /* repeats: never */
    double paused_memory; /* share of the machine's memory that paused trials may hold */
    enum knowledge knowledge;
    VEC(char *) knowledge_from; /* KNOWLEDGE_LIST: experiments, by name or number */
    VEC(double *) tries;      /* settings to run first, space.n doubles each; TRY_FREE: not given */
    double until_improvement; /* end when less than this share is to be expected; 0: never */

    int64_t priority;               /* -100 … 100: higher ones are served first */
    int64_t time_us, trial_time_us; /* 0: none */
    int64_t deadline_us;            /* wall; 0: none */
    char *deadline;                 /* as written ("18:00"), NULL: none */
    int64_t grace_us;               /* between asking and killing */
    int64_t retries;                /* of failures that are worth it */
    uint64_t output_bytes;          /* cap of stdout, and of stderr */
    VEC(int64_t) retry_codes;

    VEC(struct alert) alerts;

    enum tune_mode tune;
    /* What may be changed about the machine under a trial. A configuration is a point of this
     * space. Under TUNE_JOINT it is empty, and the last joint_n parameters of `space` are these.
     * Under TUNE_OFF and TUNE_OFF_RAW it is what was written, and not to be used. */
    struct space system;
    struct system_setting *settings; /* system.n, or joint_n */
    size_t joint_n;

    double cpus;           /* a trial takes this many */
    uint64_t memory_bytes; /* 0: no limit */
    int64_t gpus;

    char *code;        /* folder of the snapshot, absolute; NULL: none */
    bool code_isolate; /* run in a checkout of the snapshot */
    enum keep keep_checkpoints;
    int64_t keep_checkpoints_n;
    int64_t keep_trials_us; /* 0: for ever */
};

void spec_init(struct spec *spec); /* zero; NaN target and chance, average 1 */
void spec_release(struct spec *spec);
/* a better than b under the goal; NaN is worse than everything. */
bool objective_better(const struct objective *objective, double a, double b);

/* System parameters that Hone puts in place itself; the others reach the program as parameters do.
 */
enum system_name {
    SYSTEM_CPUS, /* from outside, of any program */
    SYSTEM_CPU_QUOTA,
    SYSTEM_MEMORY,
    SYSTEM_NICE,
    SYSTEM_FREQUENCY,
    SYSTEM_THREADS, /* by the environment, and with the SDK in place */
    SYSTEM_INTEROP, /* by the environment */
    SYSTEM_OTHER,   /* the program's own: workers, ps, … */
};
enum system_name system_name_of(const char *name);
/* A value of memory (bytes) or frequency (kHz) as one types it, and exactly: "400M", "1.2GHz".
 * false: of the others; nothing is added. */
bool system_add_typed(const char *name, double value, struct str *to);
/* The system parameters, beside spec->settings, wherever they stand. */
const struct param *spec_system_params(const struct spec *spec, size_t *ret_n);
/* Are there some that count? */
bool spec_has_system(const struct spec *spec);
/* Can it only be changed by starting again? interop, ps and worker. */
bool system_needs_restart(const char *name);
/* Does it change learning itself, unless the spec says otherwise? ps and worker. */
bool system_changes_learning(const char *name);

#endif
