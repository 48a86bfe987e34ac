/* SPDX-License-Identifier: MIT */
/*
 * local.h — the local agent and what it watches, for its files: local.c takes commands, watch.c
 * tells events, keepers.c waits for keepers and ends what lost ones left.
 */
#ifndef HONE_AGENT_LOCAL_H
#define HONE_AGENT_LOCAL_H

#include "agent/internal.h"

#include <uv.h>

struct sweep;

struct local {
    struct agent base;
    uv_loop_t *loop;
    struct exec *exec;
    int epoll_fd;
    uv_poll_t poll;   /* of epoll_fd */
    uv_timer_t timer; /* reads the files of what runs */
    uv_timer_t turns; /* looks whether turns that were asked for have happened */
    uv_idle_t idle;   /* works off `due` */
    int n_open;       /* handles not closed yet */
    struct map by_id;
    VEC(struct watch *) watches;
    VEC(struct watch *) due;
    size_t n_running;
    unsigned n_looks; /* for turns, since the newest was asked for */
};

enum phase {
    PHASE_RUNNING,  /* its keeper lives */
    PHASE_SWEEPING, /* its keeper is gone; a worker ends what it left */
    PHASE_ENDING,   /* nothing runs; files are read to their end */
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
};

/* watch.c */
struct watch *watch_find(struct local *local, int64_t attempt);
struct watch *watch_add(struct local *local, const struct agent_command *command);
void watch_free(struct watch *watch);
/* On the next turn of the loop: tell STARTED if that is due, read on, end it if it has ended. */
void watch_due(struct watch *watch);
/* One more or less runs: the timer that reads files runs exactly while there is one. */
void watch_count(struct local *local, int change);

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

#endif
