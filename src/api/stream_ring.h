/* SPDX-License-Identifier: MIT */
/*
 * stream_ring.h — the newest committed events as they are sent to viewers, numbered, so that who
 * comes back is told what it missed. A cursor is BOOT-SEQ: BOOT is drawn anew by each process, SEQ
 * is the number of the last event that was heard. Pure.
 */
#ifndef HONE_STREAM_RING_H
#define HONE_STREAM_RING_H

#include "base/err.h"
#include "base/str.h"

#define RING_EVENTS 20000
#define RING_BYTES  ((size_t)8 << 20)

struct ring;
struct ring *ring_new(uint64_t boot, size_t max_events, size_t max_bytes);
void ring_free(struct ring *ring);
DEFINE_AUTOFREE(ring);

/* Add an event of an experiment: JSON of the engine, with its trial as "3.7". Returns its text,
 * borrowed until the next call: "id: …\nevent: change\ndata: {…}\n\n", with the trial as a number
 * and the time. */
const struct str *ring_add(struct ring *ring, int64_t experiment, const char *json,
                           int64_t wall_us);
/* The cursor behind the newest event. */
void ring_cursor(const struct ring *ring, struct str *to);
/* The same for any thread: what was committed before the call and told by an event is not behind
 * it. */
#define RING_CURSOR_SIZE 40
void ring_cursor_now(const struct ring *ring, char ret[RING_CURSOR_SIZE]);
/* What came after the cursor, at most max_bytes. -ESTALE: it is none of ours, or too old: there may
 * be events that nobody can tell any more. */
int ring_after(const struct ring *ring, const char *cursor, size_t max_bytes, struct str *to);

#endif
