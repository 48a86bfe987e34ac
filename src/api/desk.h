/* SPDX-License-Identifier: MIT */
/*
 * desk.h — a thread that serves requests one after the other, with its own handles for reading.
 */
#ifndef HONE_DESK_H
#define HONE_DESK_H

#include "net/http.h"

struct desk;
typedef void desk_serve_fn(struct http_request *request, void *arg);
struct desk *desk_new(desk_serve_fn *serve, void *arg);
/* From any thread. After desk_stop(): answered with 503. */
void desk_put(struct desk *desk, struct http_request *request);
/* Finish the request that is being served, answer the others with 503, end the thread. */
void desk_free(struct desk *desk);

#endif
