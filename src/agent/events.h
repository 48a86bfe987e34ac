/* SPDX-License-Identifier: MIT */
/*
 * events.h — TensorBoard event files that a trial's program writes, followed as they grow.
 *
 * What they tell goes as lines into the attempt's own file `events` (the spool), which is then read
 * like its metrics file: so it has one order and one offset, however many files there are, and
 * reading goes on after a crash without loss or doubling. After each batch the spool has a line
 * `#END PATH`: of that file so many bytes are in.
 */
#ifndef HONE_AGENT_EVENTS_H
#define HONE_AGENT_EVENTS_H

#include "base/base.h"

struct event_tail;

struct event_place {
    const char *dir;        /* the attempt's folder: the spool is there */
    const char *cwd;        /* where its program runs */
    const char *folder;     /* relative to that, or absolute; any depth of folders below */
    const char *attempt_id; /* HONE_ATTEMPT_ID, to tell its files from those of others */
};
/* Files that were there before the attempt began are not read. Nothing is opened yet. */
struct event_tail *event_tail_new(const struct event_place *place);
void event_tail_free(struct event_tail *tail);
DEFINE_AUTOFREE(event_tail);
/* Another attempt writes to the same folder: from now on a file counts only if it is known to be of
 * this one, by the process id in its name. */
void event_tail_share(struct event_tail *tail);
/* The folder, in full. */
const char *event_tail_folder(const struct event_tail *tail);
/* Put what is new into the spool, at most a turn's share. True if there is more to read at once. */
bool event_tail_read(struct event_tail *tail, int64_t now_us);

#endif
