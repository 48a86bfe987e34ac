/* SPDX-License-Identifier: MIT */
/*
 * http_internal.h — what the files of the HTTP server share.
 *
 * A request has two owners: the connection, and who is to answer it. It goes with the later one.
 * Locks: the server's mutex first, then a stream's; libmicrohttpd's own are taken under both.
 */
#ifndef HONE_NET_HTTP_INTERNAL_H
#define HONE_NET_HTTP_INTERNAL_H

#include "base/arena.h"
#include "net/http.h"
#include "net/microhttpd.h"

#include <pthread.h>

struct pair {
    struct pair *next;
    const char *name, *value;
};

struct http {
    const struct microhttpd *mhd;
    struct http_options options;
    struct MHD_Daemon *daemon;
    int port;
    char *address;
    struct str log;               /* what libmicrohttpd said until it had started */
    bool started;                 /* atomic */
    size_t bodies;                /* bytes of all that are held; atomic */
    size_t behind;                /* bytes that wait in all streams; atomic */
    size_t owners;                /* the server itself, each request and each stream; atomic */
    pthread_mutex_t mutex;        /* guards all below, and changes of the state of every request */
    struct http_request *open;    /* all that have a connection, by prev and next */
    struct http_request *waiting; /* for http_next(), oldest first, by next_waiting */
    const struct http_request *awaited; /* its answer, by the http thread; NULL: none */
    pthread_cond_t answered;            /* that one is */
    const void *talks;                  /* the connection whose request came last; http thread */
    unsigned vain; /* requests until an answer is watched for again; UINT_MAX: never */
    struct http_stream *streams; /* all that have a connection, by prev and next */
    size_t unsent;               /* bytes of all answers that are not sent whole */
    bool stopping;
    pthread_mutex_t links_mutex;  /* guards all below */
    pthread_cond_t links_changed; /* there is one, or it is enough */
    struct http_link *links;      /* all connections */
    bool looked_enough;
    pthread_t looker;
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
    const struct http_route *route; /* NULL: there is none */
    struct http_request *prev, *next, *next_waiting;
    struct arena arena;        /* of all texts below */
    const char *method, *path; /* the path as it came */
    const char *host;          /* in the address itself; NULL: none */
    struct pair *params, *headers;
    bool odd_header;                         /* one holds a NUL */
    const char *segments[HTTP_SEGMENTS_MAX]; /* what the stars of the route's path stood for */
    void *attached;                          /* the caller's, freed by release_attached */
    void (*release_attached)(void *data);
    struct http_link *link; /* its connection's patience; NULL: answered */
    struct spool *spool;    /* of a route with `spool` */
    struct str body;
    size_t counted;   /* bytes of it in http->bodies */
    size_t discarded; /* bytes beyond the cap */
    bool too_large, no_room;
    enum request_state state; /* atomic; what is answered stays so */
    int owners;               /* atomic */
    struct MHD_Response *response;
    unsigned status;
    unsigned retry_s;    /* Retry-After of an error; 0: none */
    size_t unsent;       /* bytes of its answer in http->unsent */
    int64_t answered_us; /* mono: when it was given its answer */
    bool cut_off;        /* for it was slow to read that */
};

/* Read by any owner, changed with the server's mutex held. */
static inline enum request_state request_state(const struct http_request *request)
{
    return __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
}
static inline void request_set_state(struct http_request *request, enum request_state state)
{
    __atomic_store_n(&request->state, state, __ATOMIC_RELEASE);
}

/* http.c: one owner less; the last one frees it. */
void request_let_go(struct http_request *request);
void http_let_go(struct http *http);

/* http_request.c */
struct http_request *request_new(struct http *http, struct MHD_Connection *connection,
                                 const char *method, const char *uri);
void request_free(struct http_request *request);
/* Its route is known: decode what the stars stand for. -EINVAL with a sentence. */
int request_read_segments(struct http_request *request, struct err *err);
/* Its body holds n bytes. False: all bodies together would be too many, and nothing is changed. */
bool request_count(struct http_request *request, size_t n);
/* The body is there: inflate it, read the form in it. 0, or what to answer with `err`. */
unsigned request_finish(struct http_request *request, struct err *err);

/* http_unsent.c: its answer has n bytes. False: all answers together would be too many, nothing is
 * counted, and who reads slowest is cut off. */
bool unsent_add(struct http_request *request, size_t n);
void unsent_remove(struct http_request *request); /* it is sent, or never will be */

/* http_reply.c: an answer with what every one has; then give it, with the server's mutex held.
 * False: it is answered already (the server stopped meanwhile), and `response` is the caller's
 * still, to be destroyed without the mutex. */
struct MHD_Response *request_response(const struct http_request *request, const char *type,
                                      struct str *body, const char *const *headers);
void response_add_headers(const struct http_request *request, struct MHD_Response *response,
                          const char *type, const char *const *headers);
void request_reply_error(struct http_request *request, unsigned status, const char *sentence,
                         const char *const *headers);
bool request_answer(struct http_request *request, unsigned status, struct MHD_Response *response);

/* http_stream.c: with the server's mutex held: all end. */
void streams_end(struct http *http);
/* Those whose reader has left end. */
void streams_look(struct http *http);

/* http_listen.c */
int http_listen(struct http *http, int *ret_fd, struct err *err);
/* The socket stays the caller's: the daemon has another descriptor of it. */
int http_start_daemon(struct http *http, int socket_fd, struct err *err);
/* http.c: what libmicrohttpd calls. */
enum MHD_Result http_on_access(void *arg, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload_data,
                               size_t *upload_data_size, void **con_cls);
void http_on_completed(void *arg, struct MHD_Connection *connection, void **con_cls,
                       enum MHD_RequestTerminationCode how);

/* http_patience.c: how long a connection may take, as it goes on. */
int patience_start(struct http *http);
void patience_stop(struct http *http);
void patience_on_connection(void *arg, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what);
void patience_on_head(struct http_request *request);
void patience_on_body(struct http_request *request);
void patience_on_answered(struct http_request *request);
/* NULL: it is not known. The request has its connection. */
struct http_ends *link_ends(const struct http_request *request);

/* http_ends.c: of a new connection; free it. */
struct http_ends *ends_new(int fd);

/* http_spool.c: the head is there: 0, or what to answer with `err`. */
unsigned spool_begin(struct http_request *request, struct err *err);
/* False: the disk is full. */
bool spool_add(struct http_request *request, const char *bytes, size_t n);
uint64_t spool_size(const struct http_request *request);
/* It is whole. */
unsigned spool_finish(struct http_request *request, struct err *err);
void spool_free(struct spool *spool); /* NULL: nothing */

/* http_soon.c: at the start; for each request that is whole: is it to be awaited? Until it is
 * answered, the server stops, or enough was waited. */
void soon_init(struct http *http);
bool soon_alone(struct http *http, const struct http_request *request);
void soon_await(struct http *http, const struct http_request *request);

/* http_head.c: -EINVAL with a sentence. */
int head_check(const struct http_request *request, const char *version, struct err *err);

/* http_guard.c: who may. 0, -EACCES with a sentence (-EINVAL: that is no address). */
int guard_address(const char *address, bool any, struct err *err);
int guard_request(const struct http_request *request, struct err *err);

#endif
