/* SPDX-License-Identifier: MIT */
/*
 * stamps.c — do the times that samples carry fit the time that has passed? A clock that is set
 * would make seconds out of nothing: a window that is slow, a change that was dear.
 *
 * Two looks, both against the monotonic clock, which nobody sets. Our own wall clock is read beside
 * it, so a jump of that is seen at once. And the newest stamp of what was read in one turn leads it
 * by so much, less what reading took: reading is late, never early, so the largest lead is the
 * true one, and a still larger one means that the program's clock went ahead alone.
 */
#include "engine/internal.h"

#include <math.h>

#define CLOCK_S 0.2 /* two clocks are not read at the same moment */
#define SLACK_S 1.5 /* reading may have been so late */

/* For people, and for who reads the samples later: what lies between these times has no length. */
static void tell_jump(struct live *live, int64_t to_us, double by_s, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct run *run = live->run;
    struct json_out out = event_begin(&json, "tune_note", run, run_trial(run, live->attempt.trial));
    autofree(mem) char *text =
        xasprintf("the clock went %s by %.1f s: what was measured meanwhile does not count",
                  by_s < 0 ? "back" : "ahead", fabs(by_s));

    json_put_text(&out, "text", text);
    json_put_int(&out, "attempt", live->attempt.number);
    json_put_time(&out, "clock_from", live->progress.newest_us);
    json_put_time(&out, "clock_to", to_us);
    json_end_object(&out);
    engine_event(run, live->attempt.trial, &json, now);
}

/* What began before it and ends behind it says nothing: window, pace, the cost of a change. */
static void on_jump(struct live *live, int64_t to_us, double by_s, struct now now)
{
    struct progress *progress = &live->progress;

    if (progress->newest_us)
        tell_jump(live, to_us, by_s, now);
    progress->jumped = true;
    progress->holding = false;
    progress->at_s = progress->first_s = progress->first_step = NAN;
    window_change(&progress->window, (double)to_us / 1e6);
    if (live->tuned)
        live->tuned->changed_s = NAN;
}

void stamps_begin(struct progress *progress)
{
    progress->clock_s = progress->ahead_s = NAN;
    progress->newest_us = 0;
}

void stamps_clock(struct live *live, struct now now)
{
    struct progress *progress = &live->progress;
    double clock_s = (double)(now.wall_us - now.mono_us) / 1e6;
    double by_s = clock_s - progress->clock_s;

    progress->clock_s = clock_s;
    if (!(fabs(by_s) > CLOCK_S))
        return;
    progress->ahead_s += by_s;
    on_jump(live, now.wall_us, by_s, now);
}

void stamps_look(struct live *live, const struct agent_sample *samples, size_t n, struct now now)
{
    struct progress *progress = &live->progress;
    int64_t newest_us = 0;

    progress->jumped = false;
    stamps_clock(live, now);
    for (size_t i = 0; progress->metric && i < n; i++)
        if (samples[i].time_us > newest_us && str_eq(samples[i].metric, progress->metric))
            newest_us = samples[i].time_us;
    if (!newest_us)
        return;
    double ahead_s = ((double)newest_us - (double)now.mono_us) / 1e6;
    bool old = (double)newest_us / 1e6 < progress->window.changed_s; /* files are read anew */
    if (ahead_s - progress->ahead_s > SLACK_S && !old)
        on_jump(live, newest_us, ahead_s - progress->ahead_s, now);
    progress->ahead_s = fmax(progress->ahead_s, ahead_s); /* of a number and NaN: the number */
    progress->newest_us = newest_us;
}

void stamps_step(struct live *live, const struct agent_sample *sample, struct now now)
{
    struct progress *progress = &live->progress;
    double at_s = (double)sample->time_us / 1e6, by_s = at_s - progress->at_s;

    if (!(by_s < -SLACK_S))
        return;
    if ((double)sample->step > progress->step) {
        on_jump(live, sample->time_us, by_s, now);
        progress->ahead_s = at_s - (double)now.mono_us / 1e6;
    } else { /* told late, or again */
        window_change(&progress->window, at_s);
        progress->ahead_s = NAN;
    }
}

double stamps_now_s(const struct progress *progress, struct now now)
{
    if (isnan(progress->ahead_s))
        return (double)now.wall_us / 1e6;
    return (double)now.mono_us / 1e6 + progress->ahead_s;
}

bool stamps_same_clock(const struct progress *progress, double ahead_s)
{
    return !(fabs(progress->ahead_s - ahead_s) > SLACK_S);
}
