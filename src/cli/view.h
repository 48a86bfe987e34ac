/* SPDX-License-Identifier: MIT */
/*
 * view.h — the live view of an experiment on a terminal, drawn from the document that
 * engine_live() makes, in process or over the socket. Plain lines when not a terminal.
 *
 * The document: {"experiment":3,"name":"fashion","state":"running","reason":"","home":"/…",
 *   "elapsed_us":61000000,"eta_us":30000000|null,"metric":"val_acc"|null,"goal":"maximize",
 *   "target":0.9|null,"trials":{"total":64,"queued":1,"running":2,"paused":0,"completed":9,
 *   "stopped":0,"failed":1},"best":{"trial":"3.7","value":0.93,"params":{…},"words":"lr=0.01"}|null,
 *   "active":[{"trial":"3.9","words":"lr=0.01 batch=32","step":120|null,"value":0.41|null,
 *   "curve":[…at most 60 values of the objective…],"elapsed_us":…,"left_us":…|null,"attempt":1,
 *   "paused":false,"stopping":false}]}
 * A trial whose machine is tuned may also have "system":"threads=1 cpus=2", "remaining_s":41.2 with
 * "remaining_low_s" and "remaining_high_s", "chance":0.4 of reaching the target when that is in
 * doubt, and "tuning":"trying threads 2 → 1".
 */
#ifndef HONE_VIEW_H
#define HONE_VIEW_H

#include "base/json.h"

struct view;

/* Draw on `fd`, a terminal or not. `colour` as in cmd_call. */
struct view *view_new(int fd, bool colour);
/* Leave the last picture in the scrollback, restore the terminal, free. */
void view_free(struct view *view);
DEFINE_AUTOFREE(view);
/* Draw anew; call it at most ten times a second. Follows the size of the terminal. */
void view_update(struct view *view, const json_t *document);
/* A line of text above the live part ("trial 3.4 failed: exit 1"), kept in the scrollback. */
void view_say(struct view *view, const char *line);
/* Take the live part off the screen (before another program writes there, or at the end). */
void view_clear(struct view *view);
/* The same, cut to the terminal's width with … at its end; whole where there is no terminal. */
void view_say_cut(struct view *view, const char *line);
/* May the line of this event be cut? Not where the end is what one has to read: failures. */
bool view_event_may_cut(const json_t *event);
/* One event of the events table as a plain line for people; false if it is not worth one. */
bool view_event_line(const json_t *event, struct str *to);

#endif
