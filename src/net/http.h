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

struct http;
struct http_request;

/* On the http thread. Replies before it returns, or hands the request on to who will. */
typedef void http_handler(struct http_request *request, void *arg);

struct http_route {
    const char *methods;   /* "GET HEAD"; NULL ends a table */
    const char *path;      /* whole, "/write"; one that ends in a '/' and a '*' takes all below */
    http_handler *handler; /* NULL: it waits for http_next() */
    size_t body_max;       /* bytes, as they come and inflated; 0: no body is taken */
};

struct http_options {
    const char *address;             /* a loopback address or "localhost"; others are refused */
    int port;                        /* 0: any free one */
    const struct http_route *routes; /* borrowed; ends with methods NULL */
    const char *const *headers;      /* name, value, …, NULL: on every reply; may be NULL */
    unsigned connections;            /* at most; 0: 1,000 */
    size_t bodies_max;               /* bytes of all bodies together; beyond: 503; 0: 256 MB */
    unsigned timeout_s;              /* of a silent connection; 0: 60 */
    void (*on_waiting)(void *arg);   /* http thread: http_next() has something; may be NULL */
    void *arg;                       /* of handlers and on_waiting */
};
/* -EADDRINUSE: the port is taken. -EACCES: not an address of this machine alone. */
int http_start(const struct http_options *options, struct http **ret, struct err *err);
/* Requests that nobody has answered get 503. Those that others still hold stay valid until they
 * are answered (to nobody). */
void http_stop(struct http *http);
int http_port(const struct http *http);
/* "127.0.0.1:7470", "[::1]:7470" */
const char *http_address(const struct http *http);

/* The next request of a route without handler, NULL: none waits. */
struct http_request *http_next(struct http *http);

/* ---- a request; texts are valid until it is answered ---- */
const char *http_method(const struct http_request *request);
const char *http_path(const struct http_request *request);
/* Decoded once; NULL if it was not given. Those of a form in the body count, too, after those of
 * the address. */
const char *http_param(const struct http_request *request, const char *name);
const char *http_header(const struct http_request *request, const char *name); /* NULL: none */
/* The body, inflated. Its bytes may be changed. */
struct str *http_body(struct http_request *request);

/* Answer; `body` is taken (and left empty; NULL: none), `type` is its Content-Type, `headers`
 * (name, value, …, NULL) are added; may be NULL. */
void http_reply(struct http_request *request, unsigned status, const char *type, struct str *body,
                const char *const *headers);
/* {"error":"a sentence"} */
void http_reply_error(struct http_request *request, unsigned status, const char *sentence);

#endif
