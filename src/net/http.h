/* SPDX-License-Identifier: MIT */
/*
 * http.h — an HTTP server in its own thread (libmicrohttpd, epoll): it reads requests whole, finds
 * their route, and sends what was replied.
 *
 *     connection ──► route, Host, caps ──► body (inflated) ──► handler ──► http_reply()
 *                                            http thread        │  or: queued, taken by another
 *                                                               │  thread with http_next()
 *
 * A request is answered exactly once, from any thread. Until then its connection stands still and
 * costs nothing.
 */
#ifndef HONE_NET_HTTP_H
#define HONE_NET_HTTP_H

#include "base/err.h"
#include "base/str.h"

#define HTTP_SEGMENTS_MAX 4 /* stars in the path of a route */

struct http;
struct http_request;

/* On the http thread. Replies before it returns, or hands the request on to who will. */
typedef void http_handler(struct http_request *request, void *arg);

struct http_route {
    const char *methods;   /* "GET HEAD"; NULL ends a table */
    const char *path;      /* whole, "/write"; a '*' is any one segment, a last "**" all below */
    http_handler *handler; /* NULL: it waits for http_next() */
    size_t body_max;       /* bytes, as they come and inflated; 0: no body is taken */
    bool spool;            /* the body goes to an unnamed file, hashed on the way: http_spooled() */
    const void *tag;       /* the caller's: http_tag() */
    const char *challenge; /* WWW-Authenticate of a 401; NULL: Bearer */
    bool soon;             /* who takes it with http_next() mostly answers at once */
};

struct http_options {
    const char *address;             /* a loopback address or "localhost"; see any_address */
    int port;                        /* 0: any free one */
    const struct http_route *routes; /* borrowed; ends with methods NULL */
    const char *const *headers;      /* name, value, …, NULL: on every reply; may be NULL */
    const char *tls_cert, *tls_key;  /* PEM texts, both or none: HTTPS */
    const char *const *names;        /* further names in Host and Origin that are ours; NULL ends */
    bool any_address;                /* not only those of this machine: who starts it has tokens */
    const char *spool_dir;           /* for bodies of routes with `spool`; NULL: none */
    /* http thread, before the body is read: may it come in? 0, or < 0 with the status and a
     * sentence to answer. May be NULL. */
    int (*on_head)(struct http_request *request, void *arg, unsigned *ret_status, struct err *err);
    unsigned connections;          /* at most, and half of the files that may be open; 0: 4,096 */
    size_t bodies_max;             /* bytes of all bodies together; beyond: 503; 0: 256 MB */
    size_t unsent_max;             /* bytes of all answers that are not read yet, but for files and
                                      streams; beyond: 503, and the slowest reader loses its
                                      connection; 0: 256 MB */
    unsigned slow_s;               /* who has not read an answer by then is slow; 0: 5 */
    unsigned timeout_s;            /* of a silent connection; 0: 60 */
    unsigned head_s;               /* until a head is there; 0: 30 */
    unsigned body_s;               /* until a body is there, but for routes with `spool`; 0: 120 */
    double spool_free;             /* share of spool_dir's file system that stays free; 0: 0.05 */
    void (*on_waiting)(void *arg); /* http thread: http_next() has something; may be NULL */
    void *arg;                     /* of handlers and on_waiting */
};
/* -EADDRINUSE: the port is taken. -EACCES: not an address of this machine alone. -EINVAL: no
 * address, or the certificate and its key are not good. Raises the limit of open files. */
int http_start(const struct http_options *options, struct http **ret, struct err *err);
/* Requests that nobody has answered get 503. Those that others still hold stay valid until they
 * are answered (to nobody). */
void http_stop(struct http *http);
int http_port(const struct http *http);
/* "127.0.0.1:7470", "[::1]:7470" */
const char *http_address(const struct http *http);

/* An address or name of this machine alone: 127.…, ::1, localhost. */
bool http_loopback(const char *name);
/* Can it be served at all? -EINVAL: it is neither such a name nor a number. */
int http_check_address(const char *address, struct err *err);

/* The next request of a route without handler, NULL: none waits. */
struct http_request *http_next(struct http *http);

/* ---- a request; texts are valid until it is answered ---- */
const char *http_method(const struct http_request *request);
const char *http_path(const struct http_request *request);
/* Decoded once; NULL if it was not given. Those of a form in the body count, too, after those of
 * the address: the first 1,000 of a form of at most 1 MB. */
const char *http_param(const struct http_request *request, const char *name);
const char *http_header(const struct http_request *request, const char *name); /* NULL: none */
/* What the i-th '*' of the route's path stood for, decoded once; NULL: there is none. */
const char *http_segment(const struct http_request *request, size_t i);
const void *http_tag(const struct http_request *request);
/* Room for who serves it: freed with the request by `release` (may be NULL). */
void http_attach(struct http_request *request, void *data, void (*release)(void *data));
void *http_attached(const struct http_request *request);
/* Both ends of the connection; AF_UNSPEC when it is gone. IPv4 is AF_INET, however it came. */
struct sockaddr_storage;
void http_peer(const struct http_request *request, struct sockaddr_storage *ret);
void http_local(const struct http_request *request, struct sockaddr_storage *ret);
/* A number of the caller's that stays with the connection, through all its requests; 0 at first.
 * For on_head only; may be NULL. */
int64_t *http_note(const struct http_request *request);
/* The body, inflated. Its bytes may be changed. */
struct str *http_body(struct http_request *request);
/* The body of a route with `spool`: an unnamed file (borrowed), its size, its SHA-256 in hex. */
struct http_spool {
    int fd;
    uint64_t size;
    char sha256[65];
};
const struct http_spool *http_spooled(const struct http_request *request);

/* Answer; `body` is taken (and left empty; NULL: none), `type` is its Content-Type, `headers`
 * (name, value, …, NULL) are added; may be NULL. */
void http_reply(struct http_request *request, unsigned status, const char *type, struct str *body,
                const char *const *headers);
/* Answer with a file from its beginning, `fd` is taken: all of it, or what Range asks for (206,
 * 416). */
void http_reply_file(struct http_request *request, const char *type, int fd,
                     const char *const *headers);
/* When to come again: Retry-After of an error that is answered with. */
void http_retry_after(struct http_request *request, unsigned seconds);
/* {"error":"a sentence","code":"not_found"} */
void http_reply_error(struct http_request *request, unsigned status, const char *sentence);

/* ---- a reply that goes on: event streams. The request is answered with it. From any thread ----
 */
struct http_stream;
#define HTTP_BEHIND_MAX ((size_t)1 << 20)
struct http_stream *http_reply_stream(struct http_request *request, const char *type,
                                      const char *const *headers);
/* 0. -EPIPE: the reader is gone. -ENOBUFS: it would be more than HTTP_BEHIND_MAX behind; nothing is
 * added. */
int http_stream_write(struct http_stream *stream, const char *bytes, size_t n);
/* Bytes that wait for the reader are thrown away: for a `reset`. Never in the middle of a write. */
void http_stream_drop(struct http_stream *stream);
/* The end of it; what waits is still sent. */
void http_stream_close(struct http_stream *stream);

#endif
