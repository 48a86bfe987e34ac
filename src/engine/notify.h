/* SPDX-License-Identifier: MIT */
/*
 * notify.h — tells people of alerts: runs a command, posts to a webhook. The runtime's: it never
 * holds up the engine, and what goes wrong is said on the log and forgotten.
 */
#ifndef HONE_NOTIFY_H
#define HONE_NOTIFY_H

#include "base/err.h"
#include <uv.h>

struct notify;

struct notify *notify_new(uv_loop_t *loop);
/* Waits some seconds for what is under way; what then still runs is ended, and that is said. */
void notify_free(struct notify *notify);

/* {"command":[…],"webhook":…,"dir":…,"alert":{…}}; command may be empty, webhook null. A command
 * runs in `dir`, with HONE_ALERT_JSON (the alert), HONE_EXPERIMENT, HONE_TRIAL, HONE_ALERT and
 * HONE_ALERT_TEXT in its environment; a webhook gets the alert as its body. */
void notify_send(struct notify *notify, const char *json);

#endif
