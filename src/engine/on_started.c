/* SPDX-License-Identifier: MIT */
/*
 * on_started.c — a keeper of an attempt was seen: it has begun, it was adopted, it was paused or
 * goes on.
 *
 * Nothing leaves because of it, so its row need not be synced at once: it goes with the next
 * transaction, which for a short trial is the one of its end. An engine that dies before finds
 * the attempt `starting`, starts it again, and the keeper that lives makes the new one leave.
 */
#include "engine/internal.h"

void on_started(struct live *live, const struct agent_event *event, struct now now)
{
    on_turn(live, event, now);
    if (!live->term_sent && !live->turn_awaited)
        live->sent_mono_us = 0;
    if (event->kind == EVENT_STARTED)
        configure_started(live, now);
    if (live->attempt.state != ATTEMPT_STARTING)
        return;
    live->attempt.state = ATTEMPT_RUNNING;
    if (event->kind == EVENT_STARTED) {
        live->attempt.pid = (int)event->pid;
        live->attempt.started_us = event->time_us;
        live->started_mono_us = now.mono_us - MAX(0, now.wall_us - event->time_us);
    }
    live->start_unsaved = true;
}
