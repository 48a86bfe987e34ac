/* SPDX-License-Identifier: MIT */
/*
 * influx_write.h — bodies of InfluxDB line protocol, from requests and datagrams, on the loop's
 * thread: read, stored, answered as InfluxDB 1.x does.
 *
 * 204 leaves when what was sent survives the death of this process. A body with series that are new
 * waits for their trials' rows to be committed; while commits are held up (engine_held_up()) it is
 * answered by 503. At most 64 MB wait; beyond that requests are answered by 503 and datagrams
 * dropped.
 */
#ifndef HONE_INFLUX_WRITE_H
#define HONE_INFLUX_WRITE_H

#include "engine/observe.h"
#include "net/http.h"

#define INFLUX_VERSION "1.8.10" /* whose answers these are */

struct writes;

struct writes *writes_new(struct engine *engine, struct observe *observe);
/* Bodies that still wait are not stored, and nobody is told that they were. Nothing may be
 * committed any more. */
void writes_free(struct writes *writes);
DEFINE_AUTOFREE(writes);

/* POST /write?db=&precision=, /api/v2/write?bucket=&precision=. */
void writes_request(struct writes *writes, struct http_request *request);
/* Lines of datagrams; `body` is taken. An empty one is left, perhaps with room to be used again. */
void writes_datagrams(struct writes *writes, struct str *body);
/* Call it at the end of a turn, and while something waits: hand everything to the kernel, then
 * answer. What the disk does not take is kept and tried again; after 10 s it is answered by 500,
 * and what will be stored of it is unknown. now_us: mono. */
void writes_settle(struct writes *writes, int64_t now_us);

/* Does a body wait for a commit, or for room on the disk? */
bool writes_waiting(const struct writes *writes);

struct write_counts {
    uint64_t requests, bytes;
    uint64_t bad;           /* lines that were not understood */
    uint64_t refused;       /* lines that were, but went beyond a limit or against a type */
    uint64_t failed;        /* bodies that could not be stored, or not wholly */
    uint64_t overrun_bytes; /* of datagrams that came while too much waited */
};
void writes_counts(const struct writes *writes, struct write_counts *ret);

/* An answer with the headers that InfluxDB's have; `body` may be NULL. */
void influx_reply(struct http_request *request, unsigned status, const char *type,
                  struct str *body);
void influx_reply_error(struct http_request *request, unsigned status, const char *text);
/* The same of n bytes, which may hold a NUL. */
void influx_reply_error_n(struct http_request *request, unsigned status, const char *text,
                          size_t n);

#endif
