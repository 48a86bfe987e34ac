/* SPDX-License-Identifier: MIT */
/*
 * routes.h — what can be asked of a running engine. One table; every transport uses it.
 */
#ifndef HONE_ROUTES_H
#define HONE_ROUTES_H

#include "base/json.h"
#include "engine/runtime.h"

/* Serve one request; the reply (a JSON object) may leave only after the engine's next commit.
 * *ret_watch: the experiment whose events the caller wants from now on, 0: none. */
int route_request(struct runtime *runtime, const json_t *request, struct str *reply,
                  int64_t *ret_watch, struct err *err);

/* A request as text for `submit`. */
void route_submit_text(const struct submission *submission, struct str *to);

/* "paused":…,"experiments":[…] in the order of service, inside an object. */
void route_queue_text(struct runtime *runtime, struct json_out *out);

/* One who begins to watch gets the stored events behind the first `after` ones; with `after` < 0
 * (does not know how many it has missed) only the last one of an experiment that has ended. Call it
 * while no commit is under way: what is stored then has been told, and nothing else has. */
typedef void route_line_fn(void *to, const char *key, const char *json);
void route_catch_up(struct runtime *runtime, int64_t experiment, int64_t after, route_line_fn *fn,
                    void *to);
/* The same for any reader of the database: the experiment's last event if it has ended, or NULL
 * (free it). */
char *last_event(struct store *store, int64_t experiment);

#endif
