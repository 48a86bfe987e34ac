/* SPDX-License-Identifier: MIT */
/*
 * remaining.c — when a learning curve will pass a target.
 *
 * Everything that could tell how the curve goes on is a template φ(age): the classic families over
 * a grid of rates and shapes, and every ended curve of the experiment, as it was and slower or
 * faster. Each is fitted as a + b·φ to what has been seen, the newest points counting most, is
 * weighted by how well it fits, and continues from where the curve is now:
 *
 *     value │·                         fall of a template: b·(φ(now) − φ(age))
 *           │  ·                       reaches `need` = level − target at its hitting time;
 *     level │─ ─ ─·                    each template hits at several times, as if it fell
 *           │     │ ╲ ─ ─ ─ ─          somewhat more or less, the later the more so
 *    target │─ ─ ─┼─ ─╲─ ─ ─ ─
 *           └─────┴────┴──── age
 *                now  hit
 *
 * The mass of the hits before the horizon is the chance; their quantiles are the answer. Points of
 * a curve lean on each other, so evidence is tempered: it counts as EVIDENCE independent points at
 * most. curve.h says where a curve ends, not when it passes a value, hence only its nouns are used.
 *
 * Constants were fitted on three of the six tasks in bench/machine/remaining.c.
 */
#include "tune/remaining.h"

#include "linalg/normal.h"
#include "tune/remaining_track.h"

#include <assert.h>
#include <math.h>

#define CURVES    48   /* ended curves that are kept */
#define LEAST     3    /* points, without an ended curve */
#define AGES      1e9  /* no horizon is farther than so many times the age */
#define TIMES     64   /* at which the future is computed */
#define LEVELS    7    /* hits of a template */
#define RECENT    16.0 /* a point counts by its share of the age to this power, at most */
#define CLEAR     4.0  /* … to a lower one while the slope is less than so many deviations */
#define EVIDENCE  6.0  /* points of a curve that count as independent */
#define FLOOR     0.02 /* no fit is better than this share of the curve's deviation */
#define FAMILY    0.2  /* weight of all families beside the ended curves */
#define STRETCHED 0.2  /* weight of an ended curve's slower and faster twins beside itself */
#define RIDGE     0.02 /* how strongly an ended curve is drawn towards b = 1 */
#define ALIKE     0.7  /* deviation of ln(b) among curves of one experiment */
#define NEAR      1.0  /* curves at a distance of one deviation of their level know less */
#define SURPRISE  0.1  /* deviation of the log of a fall … */
#define GROWTH    0.2  /* … and how it grows with ln(age) */
#define SLOWER    0.1  /* by how much falls are weaker than foretold, per unit of ln(age) */
#define LOWER     0.8  /* the interval's lower half, in those of the hits */
#define UPPER     1.45 /* … and its upper half: who comes late comes very late */
#define FEW       0.5  /* with no ended curve both are wider by this share … */
#define MANY      5.0  /* … of which so many take half */

struct remaining_model {
    struct target target;
    double goal; /* its value, minimised */
    double horizon;
    double longest;
    size_t n;
    struct track tracks[CURVES];
};

/* --- templates --- */

enum kind { POWER, EXPONENTIAL, HILL, LOGARITHM, STRAIGHT, ENDED };

static const struct family {
    enum kind kind;
    double rate; /* in units of the age now */
    double shape;
} families[] = {
    {POWER, 0, 0.25},       {POWER, 0, 0.5},       {POWER, 0, 1},         {POWER, 0, 2},
    {EXPONENTIAL, 0.15, 1}, {EXPONENTIAL, 0.3, 1}, {EXPONENTIAL, 0.6, 1}, {EXPONENTIAL, 1.2, 1},
    {EXPONENTIAL, 2.4, 1},  {HILL, 0.25, 1},       {HILL, 0.25, 2},       {HILL, 0.25, 4},
    {HILL, 1, 1},           {HILL, 1, 2},          {HILL, 1, 4},          {HILL, 2, 2},
    {HILL, 2, 4},           {LOGARITHM, 0, 0},     {STRAIGHT, 0, 0},
};

/* How much faster than an ended curve this one may be. */
static const double stretches[] = {1, 0.5, 2};

#define TEMPLATES (ARRAY_LEN(families) + CURVES * ARRAY_LEN(stretches))

struct template
{
    struct family family;
    const struct track *track; /* of an ended curve, or NULL */
    double stretch;
    double log_weight;
    double b, level; /* its continuation is level − b·(φ(now) − φ(age)) */
};

/* φ at `x` ages of now: falling for every family. */
static double template_at(const struct template *t, double now, double x)
{
    double rate = t->family.rate, shape = t->family.shape;
    switch (t->family.kind) {
    case POWER:
        return pow(x, -shape);
    case EXPONENTIAL:
        return exp(-x / rate);
    case HILL:
        return 1 / (1 + pow(x / rate, shape));
    case LOGARITHM:
        return -log(x);
    case STRAIGHT:
        return -x;
    case ENDED:
        break;
    }
    return track_at(t->track, x * now * t->stretch);
}

struct view { /* of the running curve */
    const struct track *track;
    double now;             /* its age */
    double w[TRACK_POINTS]; /* weights, sum 1 */
    double mean, variance;
    double noise;  /* variance */
    double pooled; /* variance of the ended curves over the same ages */
    double spread; /* of the ended curves' values at this age; 0: unknown */
};

static void template_moments(const struct template *t, const struct view *view, double *ret_phi,
                             double *ret_mean, double *ret_xx, double *ret_xy)
{
    const struct track *track = view->track;
    double mean = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < track->n; i++) {
        ret_phi[i] = template_at(t, view->now, track->x[i] / view->now);
        mean += view->w[i] * ret_phi[i];
    }
    for (size_t i = 0; i < track->n; i++) {
        double d = ret_phi[i] - mean;
        xx += view->w[i] * d * d;
        xy += view->w[i] * d * (track->y[i] - view->mean);
    }
    *ret_mean = mean;
    *ret_xx = xx;
    *ret_xy = xy;
}

/* An ended curve is drawn towards b = 1: curves of one experiment are about alike. */
static void template_fit(struct template *t, const struct view *view)
{
    const struct track *track = view->track;
    assert(track->n > 0);
    double phi[TRACK_POINTS], mean, xx, xy, rest = 0, prior = t->track ? RIDGE * view->pooled : 0;
    template_moments(t, view, phi, &mean, &xx, &xy);
    t->b = xx + prior > 1e-300 ? fmax((xy + prior) / (xx + prior), 0) : t->track != NULL;
    for (size_t i = 0; i < track->n; i++) {
        double e = track->y[i] - view->mean - t->b * (phi[i] - mean);
        rest += view->w[i] * e * e;
    }
    double last = track->y[track->n - 1], fitted = view->mean + t->b * (phi[track->n - 1] - mean);
    t->level = last + (rest > 1e-300 ? fmin(view->noise / rest, 1) : 0) * (fitted - last);
    double floor = FLOOR * FLOOR * view->variance + view->noise;
    double evidence = fmax(fmin((double)track->n - 2, EVIDENCE), 0);
    t->log_weight -= evidence / 2 * log(fmax(rest + floor, 1e-300));
    if (t->track) {
        double off = log(fmax(t->b, 1e-9)) / ALIKE;
        double away = fabs(t->level - phi[track->n - 1]) / NEAR;
        away = view->spread > 0 ? fmin(away / view->spread, 7) : 0;
        t->log_weight -= (off * off + away * away) / 2;
    }
}

/* Families need points to be fitted to; an ended curve is at hand from the first. */
static size_t templates_init(const struct remaining_model *model, const struct track *seen,
                             struct template *ret)
{
    size_t k = 0, n_families = ARRAY_LEN(families);
    double share = seen->n < LEAST ? 0 : model->n > 0 ? FAMILY : 1;
    for (size_t i = 0; share > 0 && i < n_families; i++)
        ret[k++] =
            (struct template){.family = families[i], .log_weight = log(share / (double)n_families)};
    for (size_t i = 0; i < model->n; i++) {
        for (size_t j = 0; j < ARRAY_LEN(stretches); j++) {
            double part = stretches[j] == 1 ? 1 - STRETCHED : STRETCHED / 2;
            ret[k++] = (struct template){.family.kind = ENDED,
                                         .track = &model->tracks[i],
                                         .stretch = stretches[j],
                                         .log_weight = log((1 - share) * part / (double)model->n)};
        }
    }
    return k;
}

/* --- the running curve --- */

/* Newer points count more, by age to this power. */
static void view_weigh(struct view *view, double recent)
{
    const struct track *track = view->track;
    double sum = 0;
    view->mean = view->variance = 0;
    for (size_t i = 0; i < track->n; i++)
        sum += view->w[i] = pow(track->x[i] / view->now, recent);
    for (size_t i = 0; i < track->n; i++) {
        view->w[i] /= sum;
        view->mean += view->w[i] * track->y[i];
    }
    for (size_t i = 0; i < track->n; i++)
        view->variance += view->w[i] * (track->y[i] - view->mean) * (track->y[i] - view->mean);
}

/* Does the slope stand out from the noise under these weights? */
static bool view_is_clear(const struct view *view)
{
    const struct track *track = view->track;
    double mean = 0, xx = 0, xy = 0, error = 0;
    for (size_t i = 0; i < track->n; i++)
        mean += view->w[i] * track->x[i];
    for (size_t i = 0; i < track->n; i++) {
        double d = view->w[i] * (track->x[i] - mean);
        xx += d * (track->x[i] - mean);
        xy += d * (track->y[i] - view->mean);
        error += d * d * view->noise;
    }
    return xx > 0 && xy * xy >= CLEAR * CLEAR * error;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians and quartiles: a curve that exploded is just one of many. */
static void view_compare(struct view *view, const struct remaining_model *model)
{
    double falls[CURVES], levels[CURVES], phi[TRACK_POINTS], mean, xy;
    size_t n = model->n;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct template t = {.family.kind = ENDED, .track = &model->tracks[i], .stretch = 1};
        template_moments(&t, view, phi, &mean, &falls[i], &xy);
        levels[i] = phi[view->track->n - 1];
    }
    qsort(falls, n, sizeof(*falls), compare_doubles);
    qsort(levels, n, sizeof(*levels), compare_doubles);
    view->pooled = falls[n / 2];
    if (n >= 4)
        view->spread = (levels[3 * n / 4] - levels[n / 4]) / 1.349;
}

static void view_init(struct view *view, const struct track *track,
                      const struct remaining_model *model)
{
    *view =
        (struct view){.track = track, .now = track->x[track->n - 1], .noise = track_noise(track)};
    double recent = RECENT;
    view_weigh(view, recent);
    while (!view_is_clear(view) && recent > 1)
        view_weigh(view, recent /= 2);
    view_compare(view, model);
}

/* --- hits --- */

struct hit {
    double after; /* steps from now */
    double weight;
};

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    return (x->after > y->after) - (x->after < y->after);
}

struct future {
    double after[TIMES + 1];            /* steps from now, closer at first */
    double strength[LEVELS][TIMES + 1]; /* by which a fall may be larger or smaller until then */
};

static void future_init(struct future *future, double now, double horizon)
{
    for (size_t k = 0; k <= TIMES; k++) {
        double u = (double)k / TIMES, ages = u * u * log(horizon / now);
        future->after[k] = now * expm1(ages);
        for (size_t j = 0; j < LEVELS; j++) {
            double z = normal_quantile(((double)j + 0.5) / LEVELS);
            future->strength[j][k] = exp(z * (SURPRISE + GROWTH * ages) - SLOWER * ages);
        }
    }
}

/* When the template has fallen by what is needed, for several strengths of its fall. */
static size_t template_hits(const struct template *t, const struct future *future, double now,
                            double target, struct hit *ret)
{
    double falls[TIMES + 1], start = template_at(t, now, 1);
    const double *after = future->after;
    double need = fmax(t->level - target, 0), weight = exp(t->log_weight) / LEVELS;
    size_t n = 0;
    falls[0] = 0;
    for (size_t k = 1; k <= TIMES; k++)
        falls[k] = fmax(falls[k - 1], t->b * (start - template_at(t, now, 1 + after[k] / now)));
    for (size_t j = 0; j < LEVELS; j++) {
        double before = 0, at = 0;
        size_t k = 0;
        while (++k <= TIMES) {
            at = falls[k] * future->strength[j][k];
            if (at >= need)
                break;
            before = at;
        }
        if (k > TIMES)
            continue;
        double w = at > before ? fmax(need - before, 0) / (at - before) : 0;
        ret[n++] = (struct hit){after[k - 1] + w * (after[k] - after[k - 1]), weight};
    }
    return n;
}

/* The time before which a share of the hits' mass lies; n > 0, sorted. */
static double hits_quantile(const struct hit *hits, size_t n, double mass, double share)
{
    double before = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        double middle = (before + hits[i].weight / 2) / mass;
        if (middle >= share && i > 0 && middle > last)
            return hits[i - 1].after +
                   (hits[i].after - hits[i - 1].after) * (share - last) / (middle - last);
        if (middle >= share)
            return hits[i].after;
        last = middle;
        before += hits[i].weight;
    }
    return hits[n - 1].after;
}

static void hits_summarise(struct hit *hits, size_t n, double rest, double few,
                           struct remaining *ret)
{
    double mass = 0;
    for (size_t i = 0; i < n; i++)
        mass += hits[i].weight;
    *ret = REMAINING_NEVER;
    if (!(mass > 0))
        return;
    ret->chance = fmin(mass, 1);
    qsort(hits, n, sizeof(*hits), compare_hits);
    ret->middle = hits_quantile(hits, n, mass, 0.5);
    ret->low = hits_quantile(hits, n, mass, 0.1);
    ret->high = hits_quantile(hits, n, mass, 0.9);
    if (ret->low > 0) {
        ret->low = ret->middle * pow(ret->low / ret->middle, LOWER * few);
        ret->high = fmin(ret->middle * pow(ret->high / ret->middle, UPPER * few), rest);
    }
}

/* Weights become shares of 1. */
static void templates_weigh(struct template *templates, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, templates[i].log_weight);
    for (size_t i = 0; i < n; i++)
        sum += exp(templates[i].log_weight - most);
    for (size_t i = 0; i < n; i++)
        templates[i].log_weight -= most + log(sum);
}

static void forecast_hits(const struct remaining_model *model, const struct track *track,
                          double horizon, struct remaining *ret)
{
    autofree(mem) struct template *templates = xcalloc(TEMPLATES, sizeof(*templates));
    autofree(mem) struct hit *hits = xcalloc(TEMPLATES * LEVELS, sizeof(*hits));
    size_t n = templates_init(model, track, templates), n_hits = 0;
    struct view view;
    struct future future;
    view_init(&view, track, model);
    future_init(&future, view.now, horizon);
    for (size_t i = 0; i < n; i++)
        template_fit(&templates[i], &view);
    templates_weigh(templates, n);
    for (size_t i = 0; i < n; i++)
        n_hits += template_hits(&templates[i], &future, view.now, model->goal, hits + n_hits);
    hits_summarise(hits, n_hits, horizon - view.now, 1 + FEW / (1 + (double)model->n / MANY), ret);
}

/* --- the model --- */

struct remaining_model *remaining_model_new(const struct curve_points *ended, size_t n,
                                            const struct target *target, double horizon)
{
    struct remaining_model *model = xcalloc(1, sizeof(*model));
    model->target = *target;
    model->horizon = isfinite(horizon) && horizon > 0 ? horizon : 0;
    for (size_t i = n; i-- > 0 && model->n < CURVES;) {
        struct track *track = &model->tracks[model->n];
        track_init(track, &ended[i], target->above, target->average);
        if (track->n > 0) {
            model->longest = fmax(model->longest, track->x[track->n - 1]);
            model->n++;
        } else
            track_release(track);
    }
    model->goal = target->above ? -target->value : target->value;
    return model;
}

void remaining_model_free(struct remaining_model *model)
{
    for (size_t i = 0; i < model->n; i++)
        track_release(&model->tracks[i]);
    free(model);
}

bool remaining_to_target(const struct remaining_model *model, const struct curve_points *mine,
                         struct remaining *ret)
{
    struct track track;
    *ret = REMAINING_NEVER;
    if (!isfinite(model->goal))
        return false;
    if (target_is_reached(&model->target, mine->values, mine->n)) {
        *ret = (struct remaining){.chance = 1};
        return true;
    }
    track_init(&track, mine, model->target.above, model->target.average);
    bool enough = track.n >= LEAST || (track.n > 0 && model->n > 0);
    if (enough) {
        double now = track.x[track.n - 1], horizon = model->horizon;
        if (horizon <= 0)
            horizon = model->longest > 0 ? model->longest : 10 * now;
        if (now < horizon)
            forecast_hits(model, &track, fmin(horizon, now * AGES), ret);
    }
    track_release(&track);
    return enough;
}
