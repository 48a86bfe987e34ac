/* SPDX-License-Identifier: MIT */
/*
 * local.h — the local agent and what it watches, for its files: local.c takes commands, watch.c
 * tells events, keepers.c waits for keepers and ends what lost ones left, system.c moves levers,
 * use.c and profile.c look at tuned attempts, power.c accounts for energy, figures_tell.c tells
 * figures.
 */
#ifndef HONE_AGENT_LOCAL_H
#define HONE_AGENT_LOCAL_H

#include "agent/counters_parts.h"
#include "agent/energy_meter.h"
#include "agent/figures.h"
#include "agent/internal.h"
#include "agent/pdu.h"

#include <uv.h>

struct sweep;

/* How long things take; a test shortens them before its first command. */
struct pace {
    int64_t tick_us;          /* between two looks at files */
    int64_t use_us;           /* between two looks at what a tuned attempt uses */
    int64_t profile_after_us; /* from its first sample to the beginning of its profile */
    int64_t profile_us;       /* length of the profile */
    int64_t silent_us;        /* so long without a sample is one */
    int64_t meter_us;         /* shortest time between two looks at the energy meter */
    int64_t pdu_us;           /* between two questions to the power meter */
};

struct local {
    struct agent base;
    uv_loop_t *loop;
    struct exec *exec;
    int epoll_fd;
    uv_poll_t poll;     /* of epoll_fd */
    uv_timer_t timer;   /* reads the files of what runs */
    uv_timer_t hurried; /* reads them more often, while somebody looks on or behind a change */
    uv_timer_t turns;   /* looks whether turns that were asked for have happened */
    uv_idle_t idle;     /* works off `due` */
    uv_timer_t figures_timer; /* looks at the machine and at what runs on it */
    int n_open;               /* handles not closed yet */
    struct map by_id;
    VEC(struct watch *) watches;
    VEC(struct watch *) due;
    size_t n_running;
    bool hurry;       /* somebody looks on */
    unsigned n_looks; /* for turns, since the newest was asked for */
    struct pace pace;
    const struct lever_roots *roots; /* NULL: the machine's own */
    struct machine_load load;        /* at load_us */
    int64_t load_us;
    struct watch *profiled; /* whose counters are open: one at a time, since they take many
                               descriptors; NULL: nobody's */
    struct energy_meter *meter;
    struct energy_model model; /* for what the meter cannot tell */
    int64_t meter_us;          /* when it was looked at */
    int64_t outlet_us;         /* of the power meter's newest reading; 0: none */
    struct pdu *pdu;           /* NULL: there is no power meter */
    struct figures *figures;   /* NULL: nobody wanted any yet */
};

enum phase {
    PHASE_RUNNING,  /* its keeper lives */
    PHASE_SWEEPING, /* its keeper is gone; a worker ends what it left */
    PHASE_ENDING,   /* nothing runs; files are read to their end */
};

/* The configuration that is to be put in place (system.c). */
struct wanted {
    int64_t generation;         /* the newest asked for; 0: none */
    bool open;                  /* something of it is still to be done */
    bool unstarted;             /* for its program was not there yet */
    struct lever_values levers; /* given[]: still to be moved */
    char *control_json;         /* still to be written; NULL: nothing */
    bool with_control;          /* the program was told to change too */
    unsigned n_tries;           /* in vain, while it started processes */
    size_t n_uses;              /* of the attempt when it was asked for */
    int error;                  /* of the first lever that was refused */
    struct str text;            /* what was refused or done in part */
};
struct answer { /* to the newest configuration that was obeyed */
    int64_t generation;
    int error;
    char *text; /* NULL: nothing to say */
};

/* All that a tuned attempt and the machine have done until a moment (use.c). */
struct use_look {
    int64_t at_us; /* 0: none */
    struct lever_sample sample;
    double values[COUNTERS];
    struct machine_load load;
};
struct use {
    struct use_look last;
    struct process_tree tree;
    size_t n; /* times told */
    struct lever_use newest;
};
struct profiling {
    struct counters *counters; /* NULL: outside of the window */
    struct counts before;
    int64_t first_us; /* of the first sample, or look; 0: none */
    int64_t look_us;
    struct profile *profile; /* ready, and told with the next use; NULL: not yet, or told */
    bool done;
};

/* How the meters stood when the attempt began (power.c). */
struct gpu_mark {
    char *id;
    struct energy before;
};
struct power_mark {
    int64_t at_us, wall_us; /* 0: this agent did not begin it */
    struct energy host;
    double cpu_s; /* of the machine */
    VEC(struct gpu_mark) gpus;
    int64_t outlet_us; /* of the power meter's first reading after that; 0: none yet */
    double outlet_j;
};

struct watch {
    struct local *local;
    int64_t attempt;
    enum phase phase;
    size_t index;      /* in local->watches */
    bool due;          /* is in local->due */
    bool behind;       /* its files hold more than one turn's share */
    bool tell_started; /* STARTED is to be told */
    bool tell_turn;    /* PAUSED or RESUMED is to be told */
    bool child;        /* the keeper is ours to reap */
    pid_t pid;
    int pidfd; /* -1: none */
    char *dir, *attempt_id, *program;
    struct asked asked;
    struct tail tail;
    int64_t n_told;            /* samples */
    int64_t turn_asked;        /* the newest that this agent was told; 0: none */
    struct turn_record turn;   /* the newest that has happened; magic 0: it was never paused */
    struct exit_record record; /* magic 0: none was left */
    struct err failure;        /* why it is lost or never began */
    bool unstarted;            /* exec_start failed */
    struct sweep *sweep;       /* while PHASE_SWEEPING */
    double cpus;               /* granted */
    bool tuned;
    struct lever *lever; /* NULL: not needed yet */
    struct wanted wanted;
    struct answer answer;
    bool tell_system;   /* the answer is to be told */
    int64_t changed_us; /* when that was put in place, or a tuned one began; 0: never */
    struct use use;
    struct profiling profiling;
    struct power_mark power;
    int64_t figures_us; /* between two looks; 0: its figures are not told */
    struct attempt_figures figures;
};

/* watch.c */
struct watch *watch_find(struct local *local, int64_t attempt);
struct watch *watch_add(struct local *local, const struct agent_command *command);
void watch_free(struct watch *watch);
/* On the next turn of the loop: tell STARTED if that is due, read on, end it if it has ended. */
void watch_due(struct watch *watch);
/* One more or less runs: the timer that reads files runs exactly while there is one. */
void watch_count(struct local *local, int change);
void watch_tell(struct watch *watch, struct agent_event *event);
/* The levers of the attempt; -ESRCH while its keeper has not come to its record. */
int watch_lever(struct watch *watch, struct err *err);
/* Its configuration is new: its files are read more often for a while. */
void watch_changed(struct watch *watch);
/* Look soon, and again until what was asked for has happened. */
void watch_soon(struct local *local);

/* A turn was asked of it: look soon, and until it has happened. */
void watch_turn(struct watch *watch, int64_t turn);
void on_turns(uv_timer_t *timer);

/* keepers.c */
/* Watch the keeper behind pidfd, which is owned from here on. False if that is not possible. */
bool keeper_watch(struct watch *watch, int pidfd, pid_t pid);
/* See by its state file how the attempt stands, and go on from there. */
void keeper_settle(struct watch *watch);
/* Before adopting: give one that was just begun half a second to come to its record. */
void keeper_await(const struct watch *watch);
/* End what a lost keeper left, in a worker; the watch goes on when nothing is left. */
void sweep_begin(struct watch *watch);
/* Keepers have ended: local->poll is readable. */
void on_keepers(uv_poll_t *poll, int status, int events);
/* The watch goes before its sweep does. */
void sweep_forget(struct sweep *sweep);

/* system.c */
/* A configuration was asked for: note it, and see to it from the loop. */
void system_want(struct watch *watch, const struct agent_command *command);
/* Do what can be done now; the answer is due when nothing is left to do. */
void system_try(struct watch *watch);
void system_tell(struct watch *watch);
/* The attempt has ended: take back what outlives it. */
void system_end(struct watch *watch);
void system_release(struct watch *watch);

/* use.c: a tuned attempt that runs, on every tick. now_us: monotonic. */
void use_tick(struct watch *watch, int64_t now_us);
void use_release(struct watch *watch);

/* profile.c: the same, for its profile. */
void profile_tick(struct watch *watch, int64_t now_us);
void profile_release(struct watch *watch);

/* power.c */
void power_open(struct local *local);
void power_close(struct local *local);
/* The attempt is about to begin. */
void power_begin(struct watch *watch, char *const *envp);
void power_tick(struct local *local, int64_t now_us);
/* What the ended attempt has taken. */
struct energy power_of(struct watch *watch, const struct ending *ending);
/* Somebody runs, or nobody does: ask the power meter, or leave it alone. */
void power_run(struct local *local, bool run);
void power_release(struct watch *watch);

/* figures_tell.c: somebody began to run, or ended: the timer runs as it is wanted. */
void figures_run(struct local *local);

#endif
