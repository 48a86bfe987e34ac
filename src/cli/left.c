/* SPDX-License-Identifier: MIT */
/*
 * left.c — what is left of what runs, from the document that the live view draws (cli/view.h tells
 * its keys).
 *
 * Of an experiment whose last trials run, the one that ends last tells, which is better than the
 * mean time of those before it, and known while the first trial runs.
 */
#include "cli/left.h"
#include "api/wire.h"
#include "base/clock.h"

#include <errno.h>

#define TIMEOUT_MS    2000
#define SECONDS_MAX   1e12
#define CHANCE_ENOUGH 0.8 /* of reaching the target: below, that is said instead of a time */

void left_ask(struct left *left, const char *home, int64_t experiment)
{
    autofree(mem) char *request =
        xasprintf("{\"do\":\"live\",\"experiment\":%lld}", (long long)experiment);

    json_decref(TAKE(left->reply));
    if (!left->silent &&
        wire_call_within(home, request, TIMEOUT_MS, &left->reply, NULL) == -ETIMEDOUT)
        left->silent = true;
}

void left_release(struct left *left)
{
    json_decref(TAKE(left->reply));
}

static struct time_left read_left(const json_t *live)
{
    return (struct time_left){
        .runs = true,
        .seconds = json_get_double(live, "remaining_s", NAN),
        .low_s = json_get_double(live, "remaining_low_s", NAN),
        .high_s = json_get_double(live, "remaining_high_s", NAN),
        .chance = json_get_double(live, "chance", NAN),
    };
}

struct time_left left_of_trial(const struct left *left, const struct trial *trial)
{
    const json_t *active = json_object_get(json_object_get(left->reply, "live"), "active");
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);

    for (size_t i = 0; i < json_array_size(active); i++) {
        const json_t *live = json_array_get(active, i);
        if (str_eq(json_get_text(live, "trial", ""), id) && !json_get_bool(live, "paused", false))
            return read_left(live);
    }
    return TIME_LEFT_UNKNOWN;
}

/* Are those that are active the last ones? */
static bool are_last(const json_t *document, size_t n_active)
{
    const json_t *trials = json_object_get(document, "trials");
    int64_t ended = json_get_int(trials, "completed", 0) + json_get_int(trials, "stopped", 0) +
                    json_get_int(trials, "failed", 0);

    return n_active > 0 && ended + (int64_t)n_active >= json_get_int(trials, "total", INT64_MAX);
}

/* Until the last of them ends; unknown if one of them is. */
static struct time_left last_of(const json_t *active)
{
    struct time_left last = read_left(json_array_get(active, 0));

    for (size_t i = 1; i < json_array_size(active); i++) {
        struct time_left next = read_left(json_array_get(active, i));
        bool known = !isnan(last.seconds) && !isnan(next.seconds);
        last.seconds = known ? fmax(last.seconds, next.seconds) : NAN;
        last.low_s = known ? fmax(last.low_s, next.low_s) : NAN;
        last.high_s = known ? fmax(last.high_s, next.high_s) : NAN;
        last.chance = fmax(last.chance, next.chance); /* one that reaches it is enough */
    }
    return last;
}

struct time_left left_of_experiment(const struct left *left)
{
    const json_t *document = json_object_get(left->reply, "live");
    const json_t *active = json_object_get(document, "active");
    int64_t eta_us = json_get_int(document, "eta_us", -1);
    struct time_left found = TIME_LEFT_UNKNOWN;

    if (!document)
        return found;
    if (are_last(document, json_array_size(active)))
        found = last_of(active);
    if (isnan(found.seconds) && eta_us >= 0)
        found.seconds = (double)eta_us / US_PER_S;
    found.runs = true;
    return found;
}

/* ---- in words ---- */

static bool is_doubtful(const struct time_left *left)
{
    return left->chance < CHANCE_ENOUGH;
}

static void add_seconds(struct str *to, double seconds)
{
    str_add_duration(to, (int64_t)(fmin(fmax(seconds, 0), SECONDS_MAX) * US_PER_S));
}

void str_add_left(struct str *to, const struct time_left *left)
{
    if (is_doubtful(left))
        str_addf(to, "chance %.0f %%", 100 * left->chance);
    else if (!isnan(left->seconds))
        add_seconds(to, left->seconds);
}

void str_add_left_words(struct str *to, const struct time_left *left)
{
    if (is_doubtful(left)) {
        str_addf(to, "may not reach the target: chance %.0f %%", 100 * left->chance);
        return;
    }
    if (isnan(left->seconds))
        return;
    str_add(to, "about ");
    add_seconds(to, left->seconds);
    if (left->low_s < left->high_s) {
        str_add(to, " (");
        add_seconds(to, left->low_s);
        str_add(to, "–");
        add_seconds(to, left->high_s);
        str_add(to, ")");
    }
}

void left_put(struct json_out *out, const struct time_left *left)
{
    if (!left->runs)
        return;
    json_put_known(out, "remaining_s", left->seconds);
    json_put_known(out, "remaining_low_s", left->low_s);
    json_put_known(out, "remaining_high_s", left->high_s);
    json_put_known(out, "chance", left->chance);
}
