/* SPDX-License-Identifier: MIT */
/*
 * server.h — the engine's side of HOME/hone.sock: requests of other processes of this user.
 */
#ifndef HONE_SERVER_H
#define HONE_SERVER_H

#include "engine/runtime.h"

struct server;

int server_new(uv_loop_t *loop, struct runtime *runtime, struct server **ret, struct err *err);
/* Closes every connection; the socket's file stays for the next engine to replace. */
void server_free(struct server *server);
/* Pass a committed event on to those who watch its experiment. */
void server_event(struct server *server, int64_t experiment, const char *json);

#endif
