/* SPDX-License-Identifier: MIT */
/*
 * follow.h — stay with an experiment until it ends: show it, pass Ctrl-C on, sum it up.
 */
#ifndef HONE_FOLLOW_H
#define HONE_FOLLOW_H

#include "api/session.h"
#include "cli/cmd.h"

struct detach;
struct follow;

struct follow_options {
    bool join_only; /* attach: never become the engine; Ctrl-C only leaves */
    bool go_on;     /* resume: continue everything that was left running */
    bool quiet;     /* print nothing but failures (detached) */
    bool no_summary;
    bool from_now;         /* at a server: what happened before is not told */
    struct detach *detach; /* told that the experiment runs at its first event: then it is kept */
};
/* Open the session; at a server there is none. 0, or an exit code after the sentence was said. */
int follow_open(struct cmd_call *call, const struct follow_options *options, struct follow **ret);
struct session *follow_session(struct follow *follow);
/* Stay until experiment `id`, already watched, has ended. Returns the exit code; frees. */
int follow_run(struct follow *follow, int64_t id);
/* Leave without staying. */
void follow_close(struct follow *follow);

#endif
