/* SPDX-License-Identifier: MIT */
/*
 * ask.h — requests to the engine at work in the home, or to the server that was named.
 */
#ifndef HONE_ASK_H
#define HONE_ASK_H

#include "cli/cmd.h"

/* Which experiment is meant, by the home's database. 0, or an exit code after having said what is
 * wrong. */
int ask_find(const struct cmd_call *call, const char *ref, int64_t *ret);
/* A request of api/routes.h to the engine of the home, about experiment `id`; *ret (may be NULL) is
 * its answer (json_decref). 0, or an exit code after having said what is wrong. */
int ask_engine(const struct cmd_call *call, int64_t id, const char *request, json_t **ret);
/* Pause the queue, or let it go on: of the home, with or without an engine, or of the server. */
int ask_queue_pause(const struct cmd_call *call, bool paused);

#endif
