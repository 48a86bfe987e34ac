/* SPDX-License-Identifier: MIT */
/*
 * stream.h — GET /v1/events: what happens in this home, as it happens, for browsers and commands.
 *
 *     id: BOOT-SEQ      event: change   data: {"experiment":3,"trial":7|null,"time":"…","event":…}
 *                       event: live     data: the document of cli/view.h
 *                       event: points   data: {"experiment":3,"trial":7,"metric":…,"step":[…],…}
 *                       event: reset    data: {}     some were missed: load anew
 *
 * Changes of all experiments are told, live documents and points of those that are asked for
 * (?experiments=3,4). Each text is made once for all viewers. Everything is on the loop's thread.
 */
#ifndef HONE_STREAM_H
#define HONE_STREAM_H

#include "engine/runtime.h"
#include "net/http.h"

struct stream;
/* `runtime` is borrowed and has no other listener of events or rows. */
struct stream *stream_new(uv_loop_t *loop, struct runtime *runtime);
/* Answer the request with a stream. What it asks for is in its parameters `after` and
 * `experiments`, and in the header Last-Event-ID. It ends when `auth` (borrowed until stream_end())
 * would not let it in any more: at the next thing that is told, within 15 s in any case. */
struct auth;
void stream_join(struct stream *stream, struct http_request *request, struct auth *auth);
/* All viewers are told that it is over; nobody is taken any more. Before http_stop(). */
void stream_end(struct stream *stream);
/* Turns the loop. */
void stream_free(struct stream *stream);
/* Where the stream stands now, for an answer that is read after this call: `after` for who has that
 * answer and wants to miss nothing. BOOT-SEQ.ROWS: rows that no event tells of are counted, too, as
 * they are looked at only while somebody listens. From any thread. */
#define STREAM_CURSOR_SIZE 64
void stream_cursor(const struct stream *stream, char ret[STREAM_CURSOR_SIZE]);
size_t stream_viewers(const struct stream *stream);

#endif
