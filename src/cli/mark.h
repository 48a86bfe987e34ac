/* SPDX-License-Identifier: MIT */
/*
 * mark.h — commands that change a row (tag, note, star, rm): from the words of the user to a
 * request for the engine, or for the home itself when there is none.
 */
#ifndef HONE_MARK_H
#define HONE_MARK_H

#include "cli/cmd.h"
#include "api/find.h"

/* Find what the user named. 0; or an exit code after having said what is wrong. */
int mark_find(const struct cmd_call *call, const char *ref, struct target *ret);
/* {"do":"tag","experiment":3,"trial":7 — the caller adds members and mark_send() closes it. */
void mark_begin(struct json_out *out, const char *what, const struct target *target);
/* Apply it. 0; or an exit code after having said what is wrong. */
int mark_send(const struct cmd_call *call, struct json_out *out);
/* Say what was done: `text` for people, {"experiment":…,"trial":…,"done":"…"} for scripts. */
void mark_done(const struct cmd_call *call, const struct target *target, const char *what,
               const char *text);

#endif
