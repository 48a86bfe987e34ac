/* SPDX-License-Identifier: MIT */
/*
 * web_route.h — what may be asked over HTTP: tables of routes, one for each part, listed in web.c.
 *
 *     http thread: route, Host, who asks, role ──► body ──► desk: the thread on which it is served
 *         DESK_HTTP   at once, on the http thread: short reads of few rows
 *         DESK_READ   a reader thread: tables, files, whatever takes long
 *         DESK_DRAW   another one: pictures of series
 *         DESK_LOOP   the engine's loop: what acts; answered after the commit
 */
#ifndef HONE_WEB_ROUTE_H
#define HONE_WEB_ROUTE_H

#include "api/stream.h"
#include "api/web_keys.h"
#include "base/json.h"
#include "engine/runtime.h"
#include "net/http.h"
#include "series/charts.h"

enum role { ROLE_NONE, ROLE_VIEWER, ROLE_USER, ROLE_ADMIN };
enum web_desk { DESK_HTTP, DESK_READ, DESK_DRAW, DESK_LOOP, DESKS };

/* Who asks. */
struct caller {
    enum role role;
    char user[65];
};

struct web;
struct tables;      /* api/tables.h */
struct kept_trials; /* api/v1_trials_kept.h */
struct held_view;   /* store/held_view.h */
struct web_call {
    struct http_request *request;
    const struct web_route *route;
    struct caller who;
    struct web *web;
    const char *home;
    struct store *store;      /* for reading, the thread's own */
    struct series_db *series; /* DESK_READ: for reading, refreshed; DESK_LOOP: the engine's */
    struct charts *charts;    /* DESK_DRAW */
    struct tables *tables;    /* DESK_READ */
    struct kept_trials *kept; /* DESK_HTTP */
    struct held_view *view;   /* DESK_HTTP: of single trials */
    struct runtime *runtime;  /* DESK_LOOP */
    char cursor[STREAM_CURSOR_SIZE]; /* where the stream stood before it was served; "": not told */
};
/* Answers call->request once, now or later; `call` itself lives for the call only. */
typedef void web_handler(struct web_call *call);

#define WEB_SPOOL 1u /* the body is spooled: net/http.h */
#define WEB_STOCK 2u /* also for stock clients on this machine, without a token (auth.h) */
#define WEB_SOON  4u /* of DESK_LOOP: mostly answered in the turn that takes it */

struct web_route {
    const char *methods, *path; /* as in net/http.h; NULL ends a table */
    enum role role;             /* at least; ROLE_NONE: everybody */
    enum web_desk desk;
    web_handler *serve;
    size_t body_max;
    const char *help; /* what it does, a sentence: for docs/openapi.yaml */
    unsigned flags;   /* WEB_… */
};

/* One table for each part; all are listed in web.c. */
extern const struct web_route v1_logs_routes[];        /* v1_logs.c: what programs printed */
extern const struct web_route v1_files_routes[];       /* v1_files.c: files of trials */
extern const struct web_route v1_code_routes[];        /* v1_code.c: recorded code */
extern const struct web_route stream_routes[];         /* stream.c: what happens, as it happens */
extern const struct web_route v1_series_routes[];      /* v1_series.c: curves */
extern const struct web_route pages_routes[];          /* pages.c */
extern const struct web_route v1_queue_routes[];       /* v1_queue.c: the queue, machines */
extern const struct web_route v1_act_routes[];         /* v1_act.c: submit, stop, change */
extern const struct web_route v1_commands_routes[];    /* v1_commands.c */
extern const struct web_route v1_auth_routes[];        /* v1_auth.c: sessions, tokens, who one is */
extern const struct web_route mlflow_routes[];         /* mlflow.c: MLflow's tracking server */
extern const struct web_route v1_experiments_routes[]; /* v1_experiments.c: list, one of them */
extern const struct web_route v1_history_routes[]; /* v1_experiments_history.c: metrics, events */
extern const struct web_route v1_timeline_routes[];
extern const struct web_route v1_trials_routes[]; /* v1_trials.c: the table, one of them */
extern const struct web_route ingest_routes[]; /* ingest.c: line protocol, InfluxQL, Prometheus */

/* On answers: who listens to /v1/events from there on misses nothing that came after them. */
#define WEB_CURSOR "X-Hone-Cursor"

/* {"error":…,"code":…}; the status fits the errno of `r` (-ENOENT 404, -EINVAL 400, -EACCES 401,
 * -EPERM 403, -EEXIST and -EBUSY 409, -EFBIG 413, -EAGAIN 503; others 500). */
void web_fail(struct web_call *call, int r, const struct err *err);
/* Answer with JSON; `body` is taken, and a newline added. */
void web_json(struct web_call *call, unsigned status, struct str *body);
/* The body as a JSON object (json_decref); an empty one is {}. -EINVAL with a sentence. */
int web_body(struct web_call *call, json_t **ret, struct err *err);
/* The same, and it has the keys of the table: web_keys.h. *ret is the caller's after an error, too.
 */
int web_keys(struct web_call *call, const struct web_key *keys, json_t **ret, struct err *err);
/* A whole number among the parameters of the address, in [min, max]; `missing` if it is not given.
 */
int web_number(struct web_call *call, const char *name, int64_t min, int64_t max, int64_t missing,
               int64_t *ret, struct err *err);
/* "3.7" in segment i: an experiment that exists (by number, name or last) and the number of a
 * trial. -ENOENT with a sentence. */
int web_trial_ref(struct web_call *call, size_t i, int64_t *ret_experiment, int64_t *ret_trial,
                  struct err *err);
int web_experiment_ref(struct web_call *call, size_t i, int64_t *ret_experiment, struct err *err);

#endif
