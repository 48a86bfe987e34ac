/* SPDX-License-Identifier: MIT */
/*
 * agent.h — the machine's side: numbered commands in, events out. The engine sees only this
 * interface; `hone run` uses the local agent (agent_local_new), tests use the simulator's.
 *
 * Commands may come twice, events may be reported twice; effects happen once. START of an attempt
 * that lives or has ended starts nothing and reports what is there: STARTED, and PAUSED or RESUMED
 * if it ever was paused.
 */
#ifndef HONE_AGENT_H
#define HONE_AGENT_H

#include "agent/energy.h"
#include "exec/exec.h"
#include "exec/lever.h"
#include "metrics/metrics.h"
#include "sched/sched.h"

enum agent_command_kind {
    COMMAND_START,   /* start the attempt, or report on it if it was already started */
    COMMAND_ADOPT,   /* report on an attempt started earlier; never starts anything */
    COMMAND_STOP,    /* ask it to end: SIGTERM, grace, kill. Repeated with `kill`: at once */
    COMMAND_CONTROL, /* new text for its control page */
    COMMAND_PAUSE,   /* hold it still with all its tree: turn odd */
    COMMAND_RESUME,  /* let it go on: turn even */
    COMMAND_SYSTEM,  /* put a configuration of the machine in place; answered by EVENT_SYSTEM */
};
struct agent_command {
    enum agent_command_kind kind;
    int64_t attempt;                   /* id */
    const struct launch *launch;       /* START; ADOPT uses its dir and attempt_id */
    const struct metrics_rules *rules; /* START, ADOPT: borrowed until the attempt's ENDED event */
    struct metrics_given given;        /* START, ADOPT: its parameters; as long as rules */
    const char *tensorboard;  /* START, ADOPT: folder of event files from launch->cwd; NULL: none */
    bool kill;                /* STOP */
    int64_t grace_us;         /* STOP */
    const char *control_json; /* CONTROL; SYSTEM: NULL if the page need not change */
    int64_t turn;             /* PAUSE, RESUME: 1, 2, 3 …; one that is not larger than the
                                 newest obeyed is answered, but changes nothing */
    int64_t generation;       /* SYSTEM: of the configuration, 1, 2, …; as with turns */
    const struct lever_values *levers; /* SYSTEM: what is moved from outside; NULL: nothing */
    bool tuned;                        /* START, ADOPT: tell EVENT_USE about once a second */
    double cpus;        /* START, ADOPT: granted to it; its part of the idle machine's energy */
    int64_t figures_us; /* START, ADOPT: tell EVENT_FIGURES so often; 0: never */
};

enum agent_event_kind {
    EVENT_STARTED, /* a keeper lives */
    EVENT_SAMPLES, /* read from its files; always before ENDED */
    EVENT_ENDED,   /* final; nothing of the attempt is running any more */
    EVENT_PAUSED,  /* nothing of it runs until it is resumed or stopped */
    EVENT_RESUMED, /* it runs again */
    EVENT_SYSTEM,  /* a configuration is in place, or could not be put there */
    EVENT_USE,     /* what it used of the machine since the last one */
    EVENT_FIGURES, /* how it is doing, or (attempt 0) the machine: samples without steps */
};
struct agent_sample { /* a struct sample that owns nothing: names are interned by the agent */
    const char *metric;
    double value;
    uint16_t rest, ns; /* as in struct sample */
    int64_t step;      /* counted by the agent where the program gave none */
    int64_t time_us;
    uint64_t end; /* offset in that file behind the line that told it; rises with every line */
    unsigned char file; /* where it was read: enum series_file */
};
struct ending {
    enum reason reason; /* NONE: exit 0; EXIT, SIGNAL, OOM, TIMEOUT, LOST, SPAWN; CANCELLED: ended
                           because the agent was asked to (STOP) */
    bool transient;     /* SPAWN, LOST: worth another try */
    int exit_status;    /* -1: by signal */
    int signal;
    int64_t ended_us; /* wall, as its keeper saw it; 0: not known */
    int64_t run_us, cpu_us;
    uint64_t max_rss_bytes, dropped_bytes;
    const char *error;    /* sentence + last lines of stderr; NULL if none */
    struct energy energy; /* of all of the attempt, as far as known */
};
/* What a tuned attempt and the machine did in the last `seconds`. NaN: not known. */
struct attempt_use {
    double seconds;
    double cpu_s, wait_s; /* its threads on a processor; ready, but waiting for one */
    size_t threads, running;
    bool spins;                              /* lever_spins() */
    double io_bytes;                         /* read and written, also from and to the cache */
    uint64_t memory_bytes;                   /* held at the end; 0: not known */
    double machine_cpus, machine_busy_cpus;  /* that there are; busy by anybody, on average */
    double voluntary_switches, major_faults; /* counts in that time */
    double pressure_cpu, pressure_memory;    /* share of the time that something waited */
};
struct profile; /* counters.h */
struct agent_event {
    enum agent_event_kind kind;
    int64_t attempt;     /* FIGURES: 0 is the machine, told while an attempt runs */
    int64_t time_us;     /* wall */
    pid_t pid;           /* STARTED */
    int64_t turn;        /* STARTED, PAUSED, RESUMED: the newest that has happened; odd: paused */
    int64_t paused_us;   /* with turn: in pauses that were over when it happened */
    int64_t turn_us;     /* with turn > 0: wall, when it happened */
    uint64_t used_bytes; /* PAUSED, FIGURES of an attempt: memory that it holds; 0: unknown */
    int64_t cpu_us;      /* FIGURES of an attempt: used since its beginning; 0: unknown */
    const struct agent_sample *samples; /* SAMPLES, FIGURES: borrowed for the call */
    size_t n_samples;
    int64_t first_sample; /* SAMPLES: how many samples of this attempt came before these (since the
                             agent began to read its files): the engine drops what it has seen */
    int64_t generation;   /* SYSTEM; STARTED: the newest that is in place, 0: not known */
    int error;            /* SYSTEM: 0, or -errno as lever_apply() */
    const char *text;     /* SYSTEM: a sentence of what was not or only in part possible; NULL */
    struct attempt_use use;        /* USE */
    const struct profile *profile; /* USE: once, when it has run for some seconds, what it does by
                                      the counters; borrowed for the call. Else NULL */
    struct ending ending;          /* ENDED */
};
typedef void agent_event_fn(const struct agent_event *event, void *arg);

struct agent;
struct agent_ops {
    const char *name;
    void (*command)(struct agent *agent, const struct agent_command *command);
    void (*free)(struct agent *agent); /* running attempts go on */
};
struct agent { /* head of every implementation */
    const struct agent_ops *ops;
    struct machine machine; /* what this machine has */
    agent_event_fn *on_event;
    void *arg;
};
void agent_command(struct agent *agent, const struct agent_command *command);
void agent_free(struct agent *agent);
DEFINE_AUTOFREE(agent);

/* The local one, on a libuv loop. Events are delivered on the loop's thread, never from inside
 * agent_command(). Freeing it (not from inside an event) closes its handles: let the loop turn once
 * more before closing it. It keeps the loop alive only while an attempt runs or an event is due. */
struct uv_loop_s;
int agent_local_new(struct uv_loop_s *loop, const char *home_id, agent_event_fn *on_event,
                    void *arg, struct agent **ret, struct err *err);
/* Somebody looks on: what runs is read 40 times a second instead of 5. */
void agent_local_hurry(struct agent *agent, bool hurry);
/* What this machine has: cpus (affinity and cgroup quota respected), memory, GPUs by NVML. */
void machine_probe(struct machine *ret);

#endif
