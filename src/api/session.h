/* SPDX-License-Identifier: MIT */
/*
 * session.h — a command's place at a home: it is the engine, or it has joined the one there is.
 * The caller need not know which: submit, stop, and follow an experiment all the same. When the
 * engine it joined ends or dies, the session takes the lock and goes on as the engine.
 */
#ifndef HONE_SESSION_H
#define HONE_SESSION_H

#include "api/web.h"

struct session;

struct session_options {
    const char *home;
    bool join_only; /* never become the engine: attach */
    bool go_on;     /* on becoming the engine at once: continue what was left running */
    /* Of the watched experiment. "finished" is the last one. */
    void (*on_event)(const char *json, void *arg);
    void (*on_live)(const char *json, void *arg); /* document of cli/view.h, four times a second */
    void (*on_failure)(const struct err *err, void *arg); /* the session is of no more use */
    /* As the engine, serve the pages while it lasts; NULL: do not. Tells the link to the watched
     * experiment once; joined to one that serves pages, too. */
    const struct web_options *web;
    void (*on_web)(const char *link, void *arg);
    void *arg;
};
/* join_only: -ENOENT if there is no engine. */
int session_open(uv_loop_t *loop, const struct session_options *options, struct session **ret,
                 struct err *err);
void session_close(struct session *session);
bool session_is_engine(const struct session *session);

/* Each begins to watch its experiment. */
int session_submit(struct session *session, struct submission *submission, int64_t *ret_experiment,
                   struct err *err);
int session_resume(struct session *session, int64_t experiment, struct err *err);
/* Resume with a larger budget; also what is finished. */
int session_extend(struct session *session, int64_t experiment, const struct extension *extension,
                   struct err *err);
int session_watch(struct session *session, int64_t experiment, struct err *err);

int session_stop(struct session *session, int64_t experiment, enum stop_mode mode, struct err *err);

#endif
