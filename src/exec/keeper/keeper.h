/* SPDX-License-Identifier: MIT */
/*
 * keeper.h — the supervisor of one attempt. It is alone in its process: one thread, no handler,
 * all signals blocked and read from a descriptor.
 *
 *     main.c     lock, records, the order of the steps
 *     start.c    from a launch to a running program
 *     watch.c    the loop: signals, limits, requests, the end
 *     pause.c    the tree stands still and goes on
 *     tree.c     everything that descends from the program
 *     cgroup.c   the attempt's folders in /sys/fs/cgroup
 *     memory.c   how much the tree uses, where no cgroup limits it
 *     output.c   the cap of stdout and stderr, and the pseudo-terminal
 *     sys.c      instead of a C library
 *
 * Invariant: the keeper is sub-reaper, so whatever the program starts, however it detaches, is or
 * becomes a descendant of the keeper. "No child left" therefore means "nothing left".
 */
#ifndef HONE_KEEPER_H
#define HONE_KEEPER_H

#include "exec/keeper/sys.h"
#include "exec/launch_args.h"
#include "exec/state_file.h"
#include <sys/types.h>

#define NEVER INT64_MAX
#define TICK  1000000 /* µs between looks at output and memory */

enum phase {
    PHASE_RUN,
    PHASE_STOP, /* SIGTERM sent; until stop_at */
    PHASE_KILL, /* killing until nothing is left */
};

struct stream {
    int fd;
    uint64_t hole_end; /* what lies between the kept head and this was punched out */
    uint64_t size;     /* at the last look */
    uint64_t lost;     /* bytes that the file could not take, or that a cut took with it */
};

struct keeper {
    /* the launch */
    int64_t attempt, time_limit_us, grace_us;
    uint64_t memory_bytes, output_bytes, files;
    unsigned flags;
    enum cgroup_kind kind;
    const char *dir, *cwd, *path;
    char *const *argv, *const *envp;

    /* the program */
    int32_t pid, parent; /* parent: who started the keeper */
    bool running;        /* started and not yet reaped */
    int spawn_errno;
    enum spawn_step spawn_step;
    bool in_tree;       /* it is in the tree's cgroup */
    bool kernel_limits; /* the kernel enforces memory_bytes */

    /* supervision; times by CLOCK_MONOTONIC */
    enum phase phase;
    bool ended_first; /* the program had ended before killing began: what dies now is a leftover */
    int kill_rounds;
    int64_t started_us, limit_at, stop_at, kill_at, give_up_at, output_at, memory_at;

    /* pausing */
    int64_t turn;                   /* the newest asked for; odd: paused */
    bool holding, still, by_cgroup; /* asked to stand still; does so; is frozen by its cgroup */
    int looks;                      /* whether it stands still */
    int64_t held_since, hold_at, paused_us; /* paused_us: in pauses that are over */

    int state_fd, signal_fd, pty_fd, slave_fd;
    struct stream out, err;
    struct keeper_record record;
    struct exit_record exit;
};

/* start.c: open the outputs, start the program. 0, or -errno with spawn_step set. */
int program_start(struct keeper *k);

/* watch.c: until the program and everything it started are gone; fills k->exit. */
void keeper_watch(struct keeper *k);
/* Look whether the agent asked for the end. True if it did. */
bool keeper_request(struct keeper *k, struct stop_request *ret);

/* pause.c. A turn may have been asked for: take it. */
void pause_ask(struct keeper *k, int64_t now);
/* Does it stand still by now? Then say so in the state file. */
void pause_look(struct keeper *k, int64_t now);
/* Whatever was asked, it is to go on now. */
void pause_end(struct keeper *k, int64_t now);
/* µs that it was paused, up to now. */
int64_t pause_total(const struct keeper *k, int64_t now);

/* tree.c. Send to all descendants; returns how many there are. */
int tree_signal(int sig);
/* Stop them all first, so that none forks away, then SIGKILL. */
void tree_kill(void);
/* One round of stopping. True if everybody was found stopped and nobody new; `waiting_counts`: so
 * does a process that waits inside the kernel. */
bool tree_stop(bool waiting_counts);
/* Let all go on, children first. */
void tree_continue(void);
/* Their ids, valid until the next call. */
int tree_list(const int **ret_pids);

/* cgroup.c */
void cgroup_make(struct keeper *k);
void cgroup_enter(struct keeper *k, bool tree_too); /* in the child */
void cgroup_kill(struct keeper *k);
/* Freeze or thaw the tree. False if it has no cgroup that can be frozen. */
bool cgroup_freeze(struct keeper *k, bool freeze);
bool cgroup_is_frozen(const struct keeper *k);
int cgroup_oom_kills(const struct keeper *k);
void cgroup_remove(const struct keeper *k);

/* memory.c: bytes used by the tree. */
uint64_t memory_used(uint64_t limit);

/* output.c */
int output_open(struct keeper *k);
/* Punch what is over the cap. Returns µs until the next look. */
int64_t output_cap(struct keeper *k);
/* Copy from the pseudo-terminal what is there. False when it is closed. */
bool output_copy(struct keeper *k);
uint64_t output_dropped(const struct keeper *k, const struct stream *stream);

#endif
