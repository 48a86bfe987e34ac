/* SPDX-License-Identifier: MIT */
/*
 * web_internal.h — the server as its parts see it.
 */
#ifndef HONE_WEB_INTERNAL_H
#define HONE_WEB_INTERNAL_H

#include "api/desk.h"
#include "api/ingest.h"
#include "api/stream.h"
#include "api/web.h"
#include "api/web_route.h"

#define WEB_ROUTES_MAX 256

/* What a thread reads with. */
struct web_reader {
    struct store *store;
    struct series_db *series;
    struct charts *charts;
    struct tables *tables;
    struct kept_trials *kept;
    struct store *trials; /* a second handle, of the view alone */
    struct held_view *view;
};

struct web {
    uv_loop_t *loop;
    struct runtime *runtime;
    struct ingest *ingest;
    struct stream *stream;
    struct http *http;
    struct http_route routes[WEB_ROUTES_MAX]; /* all tables, their tags are the web_routes */
    struct desk *desks[DESKS];                /* DESK_READ and DESK_DRAW */
    struct web_reader readers[DESKS];         /* not of DESK_LOOP */
    struct acts *acts;                        /* web_act.h */
    const struct web_command *commands;       /* that it runs for its users; NULL: none */
    struct auth *auth;                        /* who may ask */
    char *names[2];                           /* further names of this server; ends with NULL */
    char *outside;                            /* how browsers reach it: "http://127.0.0.1:7470" */
    char *address_file;
    int wake_fd; /* readable: requests for the loop are there */
    uv_poll_t wake;
    int handles;
    int uploads;        /* of artifacts: a worker is at it */
    int64_t started_us; /* wall */
    bool closing;
};

/* web_auth.c, in this order: before the server starts, for its start, and when it has. */
struct web_options;
int web_auth_open(struct web *web, const struct web_options *options, struct err *err);
void web_auth_http(const struct web *web, const struct web_options *options,
                   struct http_options *ret);
int web_auth_address(struct web *web, const struct web_options *options, struct err *err);
void web_auth_close(struct web *web);
/* Where datagrams are taken: they bring no token, so on this machine alone. */
const char *web_auth_udp(const struct web_options *options);

/* mlflow.c: wait for the workers. */
void mlflow_drain(struct web *web);

/* All routes of all tables in order; ends with NULL. */
const struct web_route *web_route_at(size_t i);

#endif
