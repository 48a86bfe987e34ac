/* SPDX-License-Identifier: MIT */
/*
 * save.c — a whole search as bytes, and back.
 *
 *     "HONESRCH" version crc32c │ problem seed │ trials by id │ order of results │ state of the
 * search └──────── of all that follows ───────────────────────────────────────────┘
 *
 * All numbers are 64 bits, little-endian. Loading trusts nothing: after the checksum every number
 * is checked as if a stranger had written it, so a search that was loaded is one that could have
 * been saved. The search itself is made anew from the problem, given its state, and told
 * everything again.
 */
#include "lib/save.h"
#include "base/crc32c.h"
#include "lib/bytes.h"

#include <math.h>

#define VERSION   1
#define HEAD_SIZE 24 /* magic, version, checksum */
#define TRIAL_MIN (15 * 8)
#define NAME_MAX_ 64 /* of an algorithm */

static const char magic[] = "HONESRCH";

/* ---- save ---- */

static void put_doubles(struct str *to, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_double(to, x[i]);
}

static void put_reports(const hone_search *s, struct str *to, const struct asked *asked)
{
    put_u64(to, asked->steps.len);
    for (size_t i = 0; i < asked->steps.len; i++) {
        put_u64(to, (uint64_t)asked->steps.at[i]);
        for (size_t k = 0; k < s->n_objectives; k++)
            put_double(to, asked_curve(asked, k)[i]);
    }
    put_u64(to, asked->instances.len);
    for (size_t i = 0; i < asked->instances.len; i++) {
        put_u64(to, (uint64_t)asked->instances.at[i]);
        put_doubles(to, &asked->scores.at[i * s->n_objectives], s->n_objectives);
    }
}

static void put_trial(const hone_search *s, struct str *to, const struct asked *asked)
{
    const struct suggestion *suggestion = &asked->suggestion;
    const struct stop_verdict *verdict = &asked->verdict;

    put_u64(to, asked->state);
    put_u64(to, (uint64_t)asked->own | (uint64_t)asked->poor << 1 | (uint64_t)asked->diverged << 2);
    put_doubles(to, suggestion->x, s->spec.space.n);
    put_u64(to, suggestion->why);
    put_bytes(to, suggestion->by, strlen(suggestion->by));
    put_u64(to, (uint64_t)suggestion->seen);
    put_double(to, suggestion->mean);
    put_double(to, suggestion->deviation);
    put_double(to, suggestion->acquisition);
    put_reports(s, to, asked);
    put_u64(to, (uint64_t)verdict->step);
    put_double(to, verdict->chance);
    put_double(to, verdict->mean);
    put_double(to, verdict->deviation);
    put_double(to, verdict->threshold);
    put_doubles(to, asked->values, s->n_values);
    put_double(to, asked->deviation);
}

/* Results by the ids of their trials. */
static void put_told(const hone_search *s, struct str *to)
{
    struct map ids = MAP_INIT;

    for (size_t i = 0; i < s->trials.len; i++)
        map_put(&ids, (uint64_t)(uintptr_t)s->trials.at[i], &s->trials.at[i]);
    put_u64(to, s->told.len);
    for (size_t i = 0; i < s->told.len; i++) {
        struct asked **at = map_find(&ids, (uint64_t)(uintptr_t)s->told.at[i]);
        put_u64(to, (uint64_t)(at - s->trials.at) + 1);
    }
    map_release(&ids);
}

void state_seal(struct str *body, struct str *to)
{
    str_add_n(to, magic, 8);
    put_u64(to, VERSION);
    put_u64(to, crc32c(0, body->s, body->len));
    str_add_n(to, body->s, body->len);
}

const void *hone_search_save(hone_search *s, size_t *ret_n)
{
    autorelease(str) struct str body = STR_INIT, state = STR_INIT;

    put_bytes(&body, s->problem_text, strlen(s->problem_text));
    put_u64(&body, s->spec.seed);
    put_u64(&body, s->trials.len);
    vec_foreach (asked, &s->trials)
        put_trial(s, &body, *asked);
    put_told(s, &body);
    search_save(s->search, &state);
    put_bytes(&body, state.s, state.len);
    str_cut(&s->text, 0);
    state_seal(&body, &s->text);
    *ret_n = s->text.len;
    return s->text.s;
}

/* ---- load ---- */

static int refuse(struct err *err)
{
    return err_set(err, EINVAL, "the saved search is damaged");
}

static void take_doubles(struct bytes_in *in, double *ret, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = take_double(in);
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static void take_steps(const hone_search *s, struct bytes_in *in, struct asked *asked,
                       double *values)
{
    size_t n = take_count(in, 8 * (1 + s->n_objectives));

    for (size_t i = 0; i < n; i++) {
        int64_t step = (int64_t)take_u64(in);
        take_doubles(in, values, s->n_objectives);
        if (!all_finite(values, s->n_objectives) || (i && step <= asked->steps.at[i - 1]))
            in->bad = true;
        if (in->bad)
            return;
        asked_add_step(s, asked, step, values);
    }
}

static void take_instances(const hone_search *s, struct bytes_in *in, struct asked *asked,
                           double *values)
{
    size_t n = take_count(in, 8 * (1 + s->n_objectives));
    struct map seen = MAP_INIT;

    for (size_t i = 0; i < n && !in->bad; i++) {
        int64_t instance = (int64_t)take_u64(in);
        take_doubles(in, values, s->n_objectives);
        if (!all_finite(values, s->n_objectives) || map_find(&seen, (uint64_t)instance))
            in->bad = true;
        map_put(&seen, (uint64_t)instance, asked);
        asked_add_instance(s, asked, instance, values);
    }
    map_release(&seen);
}

static void take_suggestion(const hone_search *s, struct bytes_in *in, struct suggestion *ret)
{
    size_t n;

    take_doubles(in, ret->x, s->spec.space.n);
    uint64_t why = take_u64(in);
    const char *by = take_bytes(in, &n);
    in->bad |=
        !space_contains(&s->spec.space, ret->x) || why >= WHYS || n > NAME_MAX_ || memchr(by, 0, n);
    if (in->bad)
        return;
    ret->why = (enum why)why;
    ret->by = xstrndup(by, n);
    ret->seen = (int64_t)take_u64(in);
    ret->mean = take_double(in);
    ret->deviation = take_double(in);
    ret->acquisition = take_double(in);
}

static void take_verdict(struct bytes_in *in, struct stop_verdict *ret)
{
    ret->step = (int64_t)take_u64(in);
    ret->chance = take_double(in);
    ret->mean = take_double(in);
    ret->deviation = take_double(in);
    ret->threshold = take_double(in);
}

/* Completed: all objectives known. Stopped: known or not. Else none. */
static bool values_fit(const hone_search *s, const struct asked *asked)
{
    const double *values = asked->values;

    for (size_t i = 0; i < s->n_values; i++) {
        bool objective = i < s->n_objectives;
        if (isinf(values[i]) || (isnan(values[i]) && objective && asked->state == ASKED_COMPLETED))
            return false;
        if (!isnan(values[i]) && asked->state != ASKED_COMPLETED &&
            (!objective || asked->state != ASKED_STOPPED))
            return false;
    }
    return asked->deviation >= 0 && isfinite(asked->deviation);
}

static struct asked *take_trial(const hone_search *s, struct bytes_in *in)
{
    struct asked *asked = asked_new(s);
    autofree(mem) double *values = xcalloc(s->n_values, sizeof(*values));
    uint64_t state = take_u64(in), flags = take_u64(in);

    in->bad |= state >= ASKED_STATES || flags > 7;
    asked->state = in->bad ? ASKED_RUNNING : (enum asked_state)state;
    asked->own = flags & 1;
    asked->poor = flags & 2;
    asked->diverged = flags & 4;
    take_suggestion(s, in, &asked->suggestion);
    take_steps(s, in, asked, values);
    take_instances(s, in, asked, values);
    take_verdict(in, &asked->verdict);
    take_doubles(in, asked->values, s->n_values);
    asked->deviation = take_double(in);
    in->bad |= (asked->steps.len && asked->instances.len) || !values_fit(s, asked);
    return asked;
}

static bool is_told(const struct asked *asked)
{
    return asked->state != ASKED_RUNNING && asked->state != ASKED_CANCELLED;
}

/* Every result once. */
static void take_told(hone_search *s, struct bytes_in *in)
{
    autofree(mem) bool *seen = xcalloc(s->trials.len + 1, sizeof(*seen));
    size_t n = take_count(in, 8), expected = 0;

    for (size_t i = 0; i < s->trials.len; i++)
        expected += is_told(s->trials.at[i]);
    for (size_t i = 0; i < n && !in->bad; i++) {
        uint64_t id = take_u64(in);
        if (id < 1 || id > s->trials.len || seen[id - 1] || !is_told(s->trials.at[id - 1])) {
            in->bad = true;
            return;
        }
        seen[id - 1] = true;
        vec_push(&s->told, s->trials.at[id - 1]);
    }
    in->bad |= n != expected;
}

/* What is in flight comes last: a result of the same setting must not land a repeat of it. */
static void repeat_history(hone_search *s)
{
    vec_foreach (asked, &s->trials)
        if ((*asked)->state != ASKED_RUNNING)
            search_asked(s->search, (*asked)->suggestion.x, (*asked)->suggestion.why, true);
    vec_foreach (asked, &s->told)
        asked_tell(s, *asked);
    vec_foreach (asked, &s->trials)
        if ((*asked)->state == ASKED_RUNNING)
            search_asked(s->search, (*asked)->suggestion.x, (*asked)->suggestion.why, false);
}

static int take_all(hone_search *s, struct bytes_in *in, struct err *err)
{
    size_t n = take_count(in, TRIAL_MIN), n_state;

    for (size_t i = 0; i < n && !in->bad; i++)
        vec_push(&s->trials, take_trial(s, in));
    if (!in->bad)
        take_told(s, in);
    const void *state = take_bytes(in, &n_state);
    if (in->bad || in->left)
        return refuse(err);
    int r = search_load(s->search, state, n_state, err);
    if (r < 0)
        return r;
    repeat_history(s);
    return 0;
}

static int load(const void *bytes, size_t n, hone_search **ret, struct err *err)
{
    struct bytes_in in = {bytes, n, false};
    size_t n_problem;

    if (n < HEAD_SIZE || memcmp(bytes, magic, 8) != 0)
        return err_set(err, EINVAL, "these bytes are not a saved search");
    in.at += 8;
    in.left -= 8;
    uint64_t version = take_u64(&in), crc = take_u64(&in);
    if (version != VERSION)
        return err_set(err, EINVAL, "the saved search is of version %llu, this library reads %d",
                       (unsigned long long)version, VERSION);
    if (crc != crc32c(0, in.at, in.left))
        return refuse(err);
    const char *text = take_bytes(&in, &n_problem);
    uint64_t seed = take_u64(&in);
    if (in.bad || memchr(text, 0, n_problem))
        return refuse(err);
    autofree(mem) char *problem = xstrndup(text, n_problem);
    int r = lib_new(problem, &seed, ret, err);
    return r < 0 ? r : take_all(*ret, &in, err);
}

hone_search *hone_search_load(const void *bytes, size_t n, char *error, size_t size)
{
    struct err err = ERR_INIT;
    hone_search *s = NULL;

    if (load(bytes, n, &s, &err) < 0) {
        if (size)
            snprintf(error, size, "%s", err_text(&err));
        hone_search_free(TAKE(s));
    }
    err_release(&err);
    return s;
}
