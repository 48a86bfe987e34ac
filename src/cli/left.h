/* SPDX-License-Identifier: MIT */
/*
 * left.h — how long trials and experiments that run still take, as the engine says, for ls and
 * show. Without an engine, or of what does not run, nothing is known.
 */
#ifndef HONE_LEFT_H
#define HONE_LEFT_H

#include "base/json.h"
#include "model/trial.h"

#include <math.h>

/* Seconds from now; NaN: not known. */
struct time_left {
    bool runs; /* and an engine answered */
    double seconds, low_s, high_s;
    double chance; /* of reaching the target; NaN: there is none, or it is not known */
};
#define TIME_LEFT_UNKNOWN ((struct time_left){false, NAN, NAN, NAN, NAN})

/* An engine's answer about one experiment; {0}: nobody was asked. */
struct left {
    json_t *reply;
    bool silent; /* it did not answer in time: it is not asked again */
};
/* Ask, in place of what is there. */
void left_ask(struct left *left, const char *home, int64_t experiment);
void left_release(struct left *left);
struct time_left left_of_trial(const struct left *left, const struct trial *trial);
/* Until the last trial ends, at the time that trials took so far. */
struct time_left left_of_experiment(const struct left *left);

/* "41s", "chance 40 %" where the target is in doubt; nothing if nothing is known. */
void str_add_left(struct str *to, const struct time_left *left);
/* "about 41s (35s–50s)", "may not reach the target: chance 40 %" */
void str_add_left_words(struct str *to, const struct time_left *left);
/* "remaining_s", "remaining_low_s", "remaining_high_s" and "chance", null where not known; no
 * member for what does not run. */
void left_put(struct json_out *out, const struct time_left *left);

#endif
