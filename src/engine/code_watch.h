/* SPDX-License-Identifier: MIT */
/*
 * code_watch.h — notices, away from the loop's thread, that the code of a running experiment has
 * changed, and stores the new snapshot.
 */
#ifndef HONE_CODE_WATCH_H
#define HONE_CODE_WATCH_H

#include "engine/engine.h"
#include <uv.h>

struct code_watch;

struct code_watch *code_watch_new(uv_loop_t *loop, const char *home);
/* Waits for the look that is under way; turns the loop. */
void code_watch_free(struct code_watch *watch);
/* After a turn of the loop: look at the next experiment that is due, at most every 2 s. */
void code_watch_turn(struct code_watch *watch, struct engine *engine, struct now now);
/* When the next look is due (mono); INT64_MAX: none is. */
int64_t code_watch_wake_us(const struct code_watch *watch, const struct engine *engine);

#endif
