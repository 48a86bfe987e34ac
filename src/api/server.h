/* SPDX-License-Identifier: MIT */
/*
 * server.h — the engine's side of HOME/hone.sock: requests of other processes of this user.
 */
#ifndef HONE_SERVER_H
#define HONE_SERVER_H

#include "engine/runtime.h"

struct server;

int server_new(uv_loop_t *loop, struct runtime *runtime, struct server **ret, struct err *err);
/* Closes every connection, and there will be no more; the socket's file stays for the next engine
 * to replace. */
void server_stop(struct server *server);
/* Answers wait for their commit: where the loop still turns and the runtime still commits, stop it
 * first, and free it when no commit can come any more. */
void server_free(struct server *server);
/* Pass a committed event on to those who watch its experiment. */
void server_event(struct server *server, int64_t experiment, const char *json);

#endif
