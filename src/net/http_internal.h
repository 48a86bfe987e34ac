/* SPDX-License-Identifier: MIT */
/*
 * http_internal.h — what the files of the HTTP server share.
 *
 * A request has two owners: the connection, and who is to answer it. It goes with the later one.
 */
#ifndef HONE_NET_HTTP_INTERNAL_H
#define HONE_NET_HTTP_INTERNAL_H

#include "net/http.h"
#include "net/microhttpd.h"

#include <pthread.h>

struct pair {
    char *name, *value;
};

struct http {
    const struct microhttpd *mhd;
    struct http_options options;
    struct MHD_Daemon *daemon;
    int port;
    char *address;
    size_t bodies;                /* bytes of all that are held; atomic */
    pthread_mutex_t mutex;        /* guards all below, and the state of every request */
    struct http_request *open;    /* all that have a connection, by prev and next */
    struct http_request *waiting; /* for http_next(), oldest first, by next_waiting */
    bool stopping;
    size_t owners; /* the server itself, and each request */
};

enum request_state {
    REQUEST_READING, /* the connection's thread is at it */
    REQUEST_STANDS,  /* suspended */
    REQUEST_ANSWERED
};

struct http_request {
    struct http *http; /* stays until its last request goes */
    const struct microhttpd *mhd;
    struct MHD_Connection *connection;
    const struct http_route *route;
    struct http_request *prev, *next, *next_waiting;
    char *method, *path;
    VEC(struct pair) params, headers;
    struct str body;
    size_t counted;   /* bytes of it in http->bodies */
    size_t discarded; /* bytes beyond the cap */
    bool too_large, no_room;
    enum request_state state;
    int owners;
    struct MHD_Response *response;
    unsigned status;
};

/* http_request.c */
struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const struct http_route *route, const char *method,
                                 const char *path);
void request_free(struct http_request *request);
struct MHD_Response *request_response(const struct http_request *request, const char *type,
                                      struct str *body, const char *const *headers);
void request_answer(struct http_request *request, unsigned status, struct MHD_Response *response);
/* Its body holds n bytes. False: all bodies together would be too many, and nothing is changed. */
bool request_count(struct http_request *request, size_t n);
/* The body is there: inflate it, read the form in it. 0, or what to answer with `err`. */
unsigned request_finish(struct http_request *request, struct err *err);

/* http.c: one owner less; the last one frees it. */
void request_let_go(struct http_request *request);

/* http_guard.c: who may. 0, or -EACCES with a sentence. */
int guard_address(const char *address, struct err *err);
int guard_names(const char *host, const char *origin, struct err *err);

#endif
