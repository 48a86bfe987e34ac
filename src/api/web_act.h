/* SPDX-License-Identifier: MIT */
/*
 * web_act.h — what the routes that act share: requests of routes.h over HTTP, whose they are, and
 * what is under way between a request and its answer.
 */
#ifndef HONE_WEB_ACT_H
#define HONE_WEB_ACT_H

#include "api/web_internal.h"

struct loads;
struct helper;
struct act;

/* One per server, of the loop's thread. */
struct acts {
    struct loads *loads;
    VEC(struct helper *) helpers; /* commands that run (v1_commands.c) */
    VEC(struct act *) waiting;    /* for their commit, which may come after the server has closed */
};
struct acts *acts_new(void);
/* End what still runs, and wait for it. */
void acts_free(struct acts *acts, uv_loop_t *loop);

/* Serve `request`, as routes.h knows it, on the loop's thread, and answer when it is committed. */
void web_act(struct web_call *call, const json_t *request, unsigned status);
/* 0 if the caller may change the experiment: its own, or an admin may. -EPERM with a sentence. */
int web_may_change(struct web_call *call, int64_t experiment, struct err *err);
/* The same of what is known to be owned by `owner`; trial 0: the experiment itself. */
int web_is_owner(const struct web_call *call, const char *owner, int64_t experiment, int64_t trial,
                 struct err *err);

/* Work that takes long, on another thread; then `done` on the loop's. The server waits for it
 * before it closes; `closing` says that it is about to. */
void web_work(struct web *web, void (*work)(void *arg), void (*done)(void *arg, bool closing),
              void *arg);

/* v1_submit.c: POST /v1/experiments, and of a trial once more. */
web_handler submit_asked, rerun_asked;
/* v1_import.c: POST /v1/imports, PUT /v1/trials/E.N/samples, POST /v1/experiments/E/gather. */
web_handler import_asked, samples_sent, gather_asked;
/* v1_objects.c: HEAD and PUT of /v1/objects/SHA256. */
web_handler object_asked, object_sent;
/* v1_change.c: POST /v1/changes. */
web_handler change_asked;

/* v1_commands.c */
void helper_stop(struct helper *helper);

#endif
