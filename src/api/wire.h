/* SPDX-License-Identifier: MIT */
/*
 * wire.h — one JSON object a line over HOME/hone.sock. A request names its route in "do"; its
 * answer is one line, {"ok":…} or {"error":"sentence","code":errno}. After "watch" the engine goes
 * on sending lines: {"event":{…}} as things happen, {"live":{…}} four times a second.
 */
#ifndef HONE_WIRE_H
#define HONE_WIRE_H

#include "base/json.h"

#define WIRE_LINE_MAX (16u << 20) /* a spec and an environment fit many times */

/* Listen on HOME/hone.sock (mode 0600), replacing a dead one. */
int wire_listen(const char *home, int *ret_fd, struct err *err);
/* Connect; -ENOENT or -ECONNREFUSED when no engine listens. */
int wire_connect(const char *home, int *ret_fd, struct err *err);
/* Connect, send one request, return its answer (json_decref). An {"error":…} becomes err. Waits at
 * most 30 s. -ENOENT, -ECONNREFUSED: no engine listens; -EPIPE: it died before it answered. */
int wire_call(const char *home, const char *request, json_t **ret, struct err *err);
/* The same, for who does without an answer that does not come soon. */
int wire_call_within(const char *home, const char *request, int timeout_ms, json_t **ret,
                     struct err *err);
/* Read one line (without its newline) from a blocking socket into `line`. */
int wire_read_line(int fd, struct str *line, struct err *err);
/* The peer is this user or root. */
bool wire_peer_allowed(int fd);
/* {"error":"…","code":N} */
void wire_error(const struct err *err, struct str *to);

#endif
