/* SPDX-License-Identifier: MIT */
/*
 * remote_watch.h — the events of an experiment at a server, as they happen there: each once, in
 * order, whatever becomes of the connection.
 */
#ifndef HONE_REMOTE_WATCH_H
#define HONE_REMOTE_WATCH_H

#include "cli/cmd.h"
#include <uv.h>

struct watch_options {
    int64_t experiment;
    bool from_now; /* what happened before is not told */
    /* On the loop's thread. "finished" is the last event. */
    void (*on_event)(const char *json, void *arg);
    void (*on_live)(const char *json, void *arg); /* may be NULL */
    void (*on_failure)(const struct err *err, void *arg);
    void *arg;
};

struct watch;
int watch_start(uv_loop_t *loop, const struct cmd_call *call, const struct watch_options *options,
                struct watch **ret, struct err *err);
/* Within a second. */
void watch_stop(struct watch *watch);

#endif
