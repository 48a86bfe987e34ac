/* SPDX-License-Identifier: MIT */
/*
 * exec.h — attempts on this machine: start a keeper, look at one, ask it to stop, end what a dead
 * one left. Knows processes, cgroups and the state file; decides nothing.
 */
#ifndef HONE_EXEC_H
#define HONE_EXEC_H

#include "base/err.h"
#include "base/str.h"
#include "exec/state_file.h"
#include <sys/types.h>

/* What a keeper is told. Everything is borrowed for the call. */
struct launch {
    int64_t attempt;        /* its id */
    const char *attempt_id; /* HONE_ATTEMPT_ID: home id + attempt id, unique everywhere */
    const char *dir;        /* the attempt's folder, absolute; made by exec_start if missing */
    const char *cwd;
    const char *params_json;  /* written to dir/params.json */
    const char *control_json; /* first text of the control page */
    char *const *argv;        /* NULL-terminated; argv[0] is searched in PATH of envp */
    char *const *envp;        /* NULL-terminated, the whole environment */
    int64_t time_limit_us;    /* 0: none */
    uint64_t memory_bytes;    /* 0: none */
    uint64_t output_bytes;    /* cap of each stream; 0: none */
    int64_t grace_us;
    bool pty; /* stdout is a pseudo-terminal that the keeper copies into the file */
};

/* How trees are held and limited here; found once. enum cgroup_kind is in state_file.h. */
struct cgroup_plan {
    enum cgroup_kind kind;
    char *tree;   /* v2 folder (or v1 freezer) under which each attempt gets one; NULL: none */
    char *memory; /* v1 memory folder for limits; NULL: v2 or none */
    bool limits_memory; /* the kernel enforces memory limits */
    bool delegated;     /* inside a user scope that systemd delegated to us */
    char *why;          /* sentence for doctor: what is used, or why none is */
};
/* `root` is where cgroups are mounted ("/sys/fs/cgroup"; a fake tree in tests). Under systemd as a
 * plain user this asks for a delegated scope. Never fails: the plan may be CGROUP_NONE. */
void cgroup_plan_init(struct cgroup_plan *plan, const char *root);
void cgroup_plan_release(struct cgroup_plan *plan);

/* The starter: keeper image in a memfd, cgroup plan. Programs get the limit of open files that this
 * process has now, whatever it does to its own later (src/net raises it for connections). */
struct exec;
int exec_new(const char *home_id, struct exec **ret, struct err *err);
void exec_free(struct exec *exec);
DEFINE_AUTOFREE(exec);
const struct cgroup_plan *exec_cgroups(const struct exec *exec);

/* Start the keeper of an attempt: make the folder, state, params; spawn. Idempotent: if a keeper
 * already holds the attempt or it has ended, the new one leaves. *ret_pidfd is readable when the
 * keeper ends. 0, or -errno with a sentence (folder cannot be made, cannot fork). */
int exec_start(struct exec *exec, const struct launch *launch, pid_t *ret_pid, int *ret_pidfd,
               struct err *err);

/* What the state file says now. */
enum attempt_life {
    LIFE_NONE,  /* never started: no keeper, no record */
    LIFE_ALIVE, /* a keeper holds the lock */
    LIFE_ENDED, /* there is an exit record */
    LIFE_LOST,  /* there was a keeper (its record is there), it is gone and left no exit record */
};
struct attempt_look {
    enum attempt_life life;
    struct keeper_record keeper; /* magic 0 if absent */
    struct turn_record turn;     /* magic 0, turn 0: it was never paused */
    struct exit_record exit;     /* valid if LIFE_ENDED */
};
int exec_look(const char *dir, struct attempt_look *ret, struct err *err);
/* Watch a living keeper that this process did not start: its pidfd, or -ESRCH if it is gone. */
int exec_watch(const struct attempt_look *look, int *ret_pidfd);

/* Ask the keeper to end the program: kill = at once, else SIGTERM then the grace. */
int exec_stop(const char *dir, bool kill, int64_t grace_us, struct err *err);
/* Ask the keeper to pause the program with all its tree (odd `turn`) or to let it go on (even).
 * Frozen by its cgroup where there is one, else stopped by signals; no clock of it moves meanwhile.
 * exec_look() tells when it has happened. Turns not larger than the newest asked for do nothing. A
 * stop ends a pause. */
int exec_pause(const char *dir, int64_t turn, struct err *err);
/* Write a new text into the control page. *ret_generation is the (even) number it got. */
int exec_control(const char *dir, const char *json, uint64_t *ret_generation, struct err *err);
/* End everything a lost keeper left: its cgroup, and every process that carries HONE_ATTEMPT_ID.
 * Returns the number of processes killed, or -errno (-EBUSY: some would not die within 10 s). */
int exec_sweep(const char *dir, const char *attempt_id, struct err *err);
/* The last `max` bytes of dir/stderr (stdout if stderr is empty), from a line start, printable. */
void exec_tail(const char *dir, size_t max, struct str *to);
/* Newest complete checkpoint (N-STEP, highest step, then N) in `dir`; NULL if none; free it. */
char *checkpoint_newest(const char *dir, int64_t *ret_step);

#endif
