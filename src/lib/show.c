/* SPDX-License-Identifier: MIT */
/*
 * show.c — trials, the best and the front as JSON, numbers in the user's direction.
 */
#include "lib/internal.h"

#include <math.h>

static double turned(double sign, double x)
{
    return sign < 0 ? -x + 0.0 : x; /* no -0 */
}

static void put_params(const hone_search *s, struct json_out *out, const struct asked *asked)
{
    json_key(out, "params");
    space_json(&s->spec.space, asked->suggestion.x, out);
}

/* One number, or a list with several objectives; null where none is known. */
static void put_value(const hone_search *s, struct json_out *out, const struct asked *asked)
{
    if (s->n_objectives == 1) {
        json_put_known(out, "value", turned(s->sign[0], asked->values[0]));
        return;
    }
    json_key(out, "value");
    if (isnan(asked->values[0])) {
        json_null_out(out);
        return;
    }
    json_begin_array(out);
    for (size_t i = 0; i < s->n_objectives; i++)
        json_double(out, turned(s->sign[i], asked->values[i]));
    json_end_array(out);
}

static void put_bounded(const hone_search *s, struct json_out *out, const struct asked *asked)
{
    if (!s->n_constraints)
        return;
    json_key(out, "constraints");
    json_begin_array(out);
    for (size_t i = s->n_objectives; i < s->n_values; i++) {
        if (isnan(asked->values[i]))
            json_null_out(out);
        else
            json_double(out, asked->values[i]);
    }
    json_end_array(out);
}

static void put_suggestion(const hone_search *s, struct json_out *out, const struct asked *asked)
{
    const struct suggestion *suggestion = &asked->suggestion;

    json_put_text(out, "why", asked->own ? "own" : why_name(suggestion->why));
    json_put_text(out, "by", suggestion->by);
    json_put_int(out, "seen", suggestion->seen);
    json_put_known(out, "mean", turned(s->sign[0], suggestion->mean));
    json_put_known(out, "deviation", suggestion->deviation);
    json_put_known(out, "acquisition", suggestion->acquisition);
}

/* What the rule thought at the last step; nothing before one. */
static void put_verdict(const hone_search *s, struct json_out *out, const struct asked *asked)
{
    const struct stop_verdict *verdict = &asked->verdict;

    if (!asked->steps.len)
        return;
    json_key(out, "verdict");
    json_begin_object(out);
    json_put_bool(out, "stop", asked->poor);
    json_put_int(out, "step", verdict->step);
    json_put_known(out, "chance", verdict->chance);
    json_put_known(out, "mean", turned(s->sign[0], verdict->mean));
    json_put_known(out, "deviation", verdict->deviation);
    json_put_known(out, "threshold", verdict->threshold);
    json_end_object(out);
}

const char *hone_search_trial(hone_search *s, int64_t id)
{
    struct json_out out = JSON_OUT(&s->text);

    if (id < 1 || (uint64_t)id > s->trials.len) {
        err_set(&s->err, ENOENT, "there is no trial %lld", (long long)id);
        return NULL;
    }
    const struct asked *asked = s->trials.at[id - 1];
    str_cut(&s->text, 0);
    json_begin_object(&out);
    json_put_int(&out, "id", id);
    put_params(s, &out, asked);
    json_put_text(&out, "state", asked_state_name(asked->state));
    put_value(s, &out, asked);
    put_bounded(s, &out, asked);
    put_suggestion(s, &out, asked);
    put_verdict(s, &out, asked);
    json_end_object(&out);
    return s->text.s;
}

/* ---- the best ---- */

static bool feasible(const hone_search *s, const struct asked *asked)
{
    for (size_t i = 0; i < s->n_constraints; i++)
        if (!(asked_excess(s, asked, i) <= 0))
            return false;
    return true;
}

static bool may_be_best(const hone_search *s, const struct asked *asked)
{
    return asked->state == ASKED_COMPLETED && feasible(s, asked);
}

static bool same_setting(const hone_search *s, const struct asked *asked, const double *x)
{
    return point_equal(asked->suggestion.x, x, s->spec.space.n);
}

/* The first trial with this setting that may be the best; 0: none. */
static int64_t find_setting(const hone_search *s, const double *x)
{
    for (size_t i = 0; i < s->trials.len; i++)
        if (may_be_best(s, s->trials.at[i]) && same_setting(s, s->trials.at[i], x))
            return (int64_t)i + 1;
    return 0;
}

/* Without a model, or when its choice breaks a constraint: the best result. */
static int64_t best_result(const hone_search *s, struct best *ret)
{
    int64_t best = 0;

    for (size_t i = 0; i < s->trials.len; i++)
        if (may_be_best(s, s->trials.at[i]) &&
            (!best || s->trials.at[i]->values[0] < s->trials.at[best - 1]->values[0]))
            best = (int64_t)i + 1;
    if (!best)
        return 0;
    const struct asked *asked = s->trials.at[best - 1];
    *ret = (struct best){.mean = 0, .deviation = NAN, .noise = NAN};
    for (size_t i = 0; i < s->trials.len; i++)
        if (may_be_best(s, s->trials.at[i]) &&
            same_setting(s, s->trials.at[i], asked->suggestion.x))
            ret->mean += (s->trials.at[i]->values[0] - ret->mean) / (double)++ret->repeats;
    return best;
}

static int64_t find_best(hone_search *s, struct best *ret)
{
    int64_t id = search_best(s->search, ret) == 0 ? find_setting(s, ret->x) : 0;
    return id ? id : best_result(s, ret);
}

const char *hone_search_best(hone_search *s)
{
    struct json_out out = JSON_OUT(&s->text);
    struct best best;

    if (s->n_objectives > 1) {
        err_set(&s->err, EINVAL, "with several objectives there is no best trial, but a front");
        return NULL;
    }
    int64_t id = find_best(s, &best);
    if (!id) {
        err_set(&s->err, ENODATA, "no trial has a result%s yet",
                s->n_constraints ? " within the constraints" : "");
        return NULL;
    }
    const struct asked *asked = s->trials.at[id - 1];
    str_cut(&s->text, 0);
    json_begin_object(&out);
    json_put_int(&out, "id", id);
    put_params(s, &out, asked);
    put_value(s, &out, asked);
    put_bounded(s, &out, asked);
    json_put_known(&out, "mean", turned(s->sign[0], best.mean));
    json_put_known(&out, "deviation", best.deviation);
    json_put_known(&out, "noise", best.noise);
    json_put_int(&out, "repeats", (int64_t)best.repeats);
    json_end_object(&out);
    return s->text.s;
}

/* ---- the front ---- */

/* a is nowhere worse than b and somewhere better. */
static bool dominates(const hone_search *s, const struct asked *a, const struct asked *b)
{
    bool better = false;

    for (size_t i = 0; i < s->n_objectives; i++) {
        if (a->values[i] > b->values[i])
            return false;
        better |= a->values[i] < b->values[i];
    }
    return better;
}

struct ranked {
    const struct asked *asked;
    int64_t id;
};

static int by_values(const void *a, const void *b, void *arg)
{
    const hone_search *s = arg;
    const struct ranked *x = a, *y = b;

    for (size_t i = 0; i < s->n_objectives; i++) {
        double p = x->asked->values[i], q = y->asked->values[i];
        if (p != q)
            return p < q ? -1 : 1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

/* In the order of their values, so that what dominates comes first. */
static size_t rank(hone_search *s, struct ranked *ranked)
{
    size_t n = 0;

    for (size_t i = 0; i < s->trials.len; i++) {
        const struct asked *asked = s->trials.at[i];
        if (asked->state == ASKED_COMPLETED && feasible(s, asked))
            ranked[n++] = (struct ranked){asked, (int64_t)i + 1};
    }
    qsort_r(ranked, n, sizeof(*ranked), by_values, s);
    return n;
}

/* Keep what nothing before it dominates: whatever does is on the front, or is dominated from it. */
static size_t keep_front(const hone_search *s, struct ranked *ranked, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !dominates(s, ranked[k].asked, ranked[i].asked))
            k++;
        if (k == kept)
            ranked[kept++] = ranked[i];
    }
    return kept;
}

const char *hone_search_front(hone_search *s)
{
    struct json_out out = JSON_OUT(&s->text);
    autofree(mem) struct ranked *ranked = xcalloc(s->trials.len + 1, sizeof(*ranked));
    size_t n = keep_front(s, ranked, rank(s, ranked));

    str_cut(&s->text, 0);
    json_begin_array(&out);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(&out);
        json_put_int(&out, "id", ranked[i].id);
        put_params(s, &out, ranked[i].asked);
        put_value(s, &out, ranked[i].asked);
        put_bounded(s, &out, ranked[i].asked);
        json_end_object(&out);
    }
    json_end_array(&out);
    return s->text.s;
}
