/* SPDX-License-Identifier: MIT */
/*
 * detach.h — go on in the background: no terminal, words to HOME/engine.log.
 */
#ifndef HONE_DETACH_H
#define HONE_DETACH_H

#include "cli/cmd.h"

struct detach {
    int pipe; /* to the terminal's side */
};

/* Fork. On the terminal's side: wait until the other has the experiment's number, print it, return
 * true with the exit code. In the background: return false. */
bool detach_fork(struct cmd_call *call, struct detach *ret, int *ret_code);
/* Tell the terminal's side that the experiment runs. Said twice, it counts once. */
void detach_ready(struct detach *detach, int64_t experiment);

/* It runs at a server, where it needs nobody. */
int detach_say(const struct cmd_call *call, int64_t experiment);

#endif
