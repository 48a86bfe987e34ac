/* SPDX-License-Identifier: MIT */
/*
 * guided.c — from the models to a suggestion.
 */
#include "search/guided.h"
#include "linalg/linalg.h"
#include "linalg/normal.h"
#include "search/acquire.h"
#include "search/draw.h"
#include "search/pareto.h"

#include <assert.h>
#include <math.h>

#define REACH       0.07      /* so far from the best most asks take free floats */
#define WIDE_ASKS   8         /* where none was better for long, one in so many looks everywhere */
#define CLIMB       0.1       /* … and stays so near to where it begins to climb */
#define NEAR        4         /* of the best settings have their surroundings looked at */
#define HOPE        1.0       /* deviations below the mean, for several objectives */
#define COST_SHARE  1.0       /* how much of the (logarithmic) cost counts */
#define TOLD_MIN    (size_t)5 /* results before the model leads */
#define FOREST_ROWS 2000      /* at most */
#define SMALL       1e-9
#define TINY        1e-200
#define FAR_CORNER  2.0 /* so many deviations worse than the mean */
#define OWN_CORNER  0.1 /* of a front's width beyond it */
#define WIDE_EVERY  3
#define PRIOR_FADES 10.0 /* after so many results a prior counts as it is; later less */
#define PRIOR_DOUBT 0.1  /* of a prior's peak everywhere: it may be wrong */
/* Some early asks trust nothing that is known: next to their results the best of earlier
 * experiments that mislead shows up as bad. The later, the longer it is followed. A small budget
 * cannot spare them. */
#define DOUBT_FROM  3
#define DOUBT_EVERY 2
#define DOUBT_MOST  (size_t)6
#define DOUBT_SHARE 10 /* one in so many trials of the budget, but the first of them */

int guided_init(struct search *s, struct err *err)
{
    struct guided *guided = (struct guided *)s;
    int r = linalg_open(err);

    if (r < 0)
        return r;
    sobol_set_init(&guided->sobol, s->space, s->problem.seed);
    return 0;
}

void guided_release(struct search *s)
{
    sobol_set_release(&((struct guided *)s)->sobol);
}

void guided_save(const struct search *s, struct str *to)
{
    draw_save(((const struct guided *)s)->drawn, to);
}

int guided_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    return draw_load(bytes, n, &((struct guided *)s)->drawn, err);
}

/* The first is the middle of all free floats: of all points it is nearest to the others. */
static void first_point(const struct search *s, uint64_t number, double *ret_x)
{
    sobol_set_point(&((const struct guided *)s)->sobol, number, ret_x);
    for (size_t i = 0; number == 0 && i < s->space->n; i++)
        if (isinf(param_size(&s->space->params[i])))
            ret_x[i] = param_from_unit(&s->space->params[i], 0.5);
}

/* How many settings are spread over the space before the model leads. What earlier experiments
 * taught stands for most of them. */
static size_t first_points(const struct search *s)
{
    size_t d = 0;
    for (size_t i = 0; i < s->space->n; i++)
        d += param_size(&s->space->params[i]) > 1;
    return s->problem.n_tasks ? 0 : MIN(4 + d / 2, (size_t)12);
}

static bool doubts(const struct search *s)
{
    size_t trials = (size_t)MAX(s->problem.trials, (int64_t)0), most = DOUBT_MOST;

    if (trials)
        most = MIN(most, trials < DOUBT_SHARE ? 0 : trials / DOUBT_SHARE - 1);
    return s->problem.n_tasks && s->asks >= DOUBT_FROM &&
           s->asks < DOUBT_FROM + most * DOUBT_EVERY && (s->asks - DOUBT_FROM) % DOUBT_EVERY == 0;
}

bool guided_ready(struct search *s)
{
    bool ready = false;
    size_t first = first_points(s);

    /* With many in flight the first results are too few to lead the others. */
    return s->history.n + s->history.n_pending >= first && s->history.n >= MIN(first, TOLD_MIN) &&
           belief_of(s, &ready) && ready;
}

/* Everything that a score needs. */
struct lead {
    struct search *s;
    struct belief *belief;
    const struct forest *forest; /* NULL: the objective's own model */
    bool priors;                 /* the user expects some values */
    bool held;                   /* free floats stay near the best */
    double target;               /* scaled; NaN: nothing keeps the constraints yet */
    /* several objectives */
    size_t m;
    double *front;   /* (n_front, m) scaled, the first objective rising */
    size_t *members; /* (n_front) their rows */
    size_t n_front;
    double *reference; /* (m) */
    double volume;     /* of the front */
};

/* A forest takes NaN for an inactive choice. */
static void forest_features(const struct encoder *encoder, const double *from, double *to)
{
    for (size_t j = 0; j < encoder->d; j++)
        to[j] = encoder->category[j] && from[j] < 0 ? NAN : from[j];
}

void guided_forest_predict(const struct forest *forest, const struct encoder *encoder,
                           const double *features, size_t n, double *ret_mean,
                           double *ret_deviation)
{
    autofree(mem) double *x = xcalloc(n * encoder->d + 1, sizeof(*x));

    for (size_t i = 0; i < n; i++)
        forest_features(encoder, features + i * encoder->d, x + i * encoder->d);
    forest_predict(forest, x, n, ret_mean, ret_deviation);
}

static void predict_objective(const struct lead *lead, const double *features, size_t n,
                              double *ret_mean, double *ret_deviation)
{
    const struct belief *belief = lead->belief;

    if (lead->forest)
        guided_forest_predict(lead->forest, &belief->encoder, features, n, ret_mean, ret_deviation);
    else
        model_predict(&belief->models[0], features, n, ret_mean, ret_deviation);
}

/* What the user expects of one value, as ln of its density over the largest. */
static double prior_of(const struct param *param, double feature, bool category, double *ret_slope)
{
    const struct prior *prior = &param->prior;
    double most = 0;

    *ret_slope = 0;
    if (prior->sd > 0) {
        double z = (feature - prior->mean) / prior->sd, peak = (1 - PRIOR_DOUBT) * exp(-z * z / 2);
        *ret_slope = -z / prior->sd * peak / (peak + PRIOR_DOUBT);
        return log(peak + PRIOR_DOUBT);
    }
    if (!prior->weights)
        return 0;
    for (size_t k = 0; k < param->n_choices; k++)
        most = fmax(most, prior->weights[k]);
    size_t k = (size_t)(category ? fmax(feature, 0) : param_from_unit(param, feature));
    return log((1 - PRIOR_DOUBT) * prior->weights[k] / most + PRIOR_DOUBT);
}

/* The user's priors, which fade as results come (Hvarfner et al. 2022). Features do not tell
 * whether a conditional parameter is active: its prior only makes candidates. slope: added to;
 * may be NULL. */
static double expected_by_user(const struct lead *lead, const double *features, double *slope)
{
    const struct encoder *encoder = &lead->belief->encoder;
    double weight = PRIOR_FADES / (double)MAX(lead->s->history.n, (size_t)1), sum = 0, by;

    for (size_t j = 0; lead->priors && j < encoder->d; j++) {
        const struct param *param = &encoder->space->params[encoder->param[j]];
        if (param->n_when)
            continue;
        sum += weight * prior_of(param, features[j], encoder->category[j], &by);
        if (slope)
            slope[j] += weight * by;
    }
    return sum;
}

/* ln of the chance that each constraint is kept, −ln of the cost, and what the user expects, added
 * to the score. */
static void add_conditions(const struct lead *lead, const double *features, size_t n, double *score)
{
    const struct problem *problem = &lead->s->problem;
    autofree(mem) double *block = xcalloc(2 * n + 1, sizeof(*block));
    double *mean = block, *deviation = block + n;

    for (size_t i = 0; i < n; i++)
        score[i] += expected_by_user(lead, features + i * lead->belief->encoder.d, NULL);
    for (size_t c = 0; c < problem->n_constraints; c++) {
        const struct model *model = &lead->belief->models[problem->n_objectives + c];
        double zero = scale_apply(&model->data.scale, 0);
        model_predict(model, features, n, mean, deviation);
        for (size_t i = 0; i < n; i++)
            score[i] += normal_log_cdf((zero - mean[i]) / fmax(deviation[i], SMALL));
    }
    const struct model *cost = belief_cost(lead->belief);
    if (!problem->weigh_cost || !cost)
        return;
    model_predict(cost, features, n, mean, NULL);
    for (size_t i = 0; i < n; i++)
        score[i] -= COST_SHARE * scale_undo(&cost->data.scale, mean[i]);
}

static void score_one_objective(const double *features, size_t n, double *ret_score, void *arg)
{
    const struct lead *lead = arg;
    autofree(mem) double *block = xcalloc(2 * n + 1, sizeof(*block));
    double unused;

    predict_objective(lead, features, n, block, block + n);
    for (size_t i = 0; i < n; i++) {
        double deviation = fmax(block[n + i], SMALL);
        ret_score[i] =
            isnan(lead->target)
                ? 0
                : log_ei((lead->target - block[i]) / deviation, &unused) + log(deviation);
    }
    add_conditions(lead, features, n, ret_score);
}

/* Only for the plain case: one objective, a Gaussian process, no constraints, no cost. */
static double slope_one_objective(const double *features, double *ret_slope, void *arg)
{
    const struct lead *lead = arg;
    size_t d = lead->belief->encoder.d;
    double mean, deviation, by_z;
    autofree(mem) double *block = xcalloc(2 * d + 1, sizeof(*block));

    model_gradient(&lead->belief->models[0], features, &mean, &deviation, block, block + d);
    double z = (lead->target - mean) / deviation;
    double value = log_ei(z, &by_z) + log(deviation);
    for (size_t j = 0; j < d; j++)
        ret_slope[j] = (by_z * (-block[j] - z * block[d + j]) + block[d + j]) / deviation;
    return value + expected_by_user(lead, features, ret_slope);
}

/* What a hopeful outcome would add to the volume (Ponweiser et al. 2008); one that is dominated
 * even so: how far it is from not being so. */
static double hopeful_gain(const struct lead *lead, const double *hope)
{
    size_t m = lead->m;
    double *with = lead->front + lead->n_front * m, worst = 0;

    for (size_t i = 0; i < lead->n_front; i++) {
        double least = INFINITY;
        for (size_t k = 0; k < m; k++)
            least = fmin(least, hope[k] - lead->front[i * m + k]);
        worst = fmax(worst, least);
    }
    if (worst > 0)
        return -worst;
    memcpy(with, hope, m * sizeof(*hope));
    return pareto_hypervolume(lead->front, lead->n_front + 1, m, lead->reference) - lead->volume;
}

static void score_several(const double *features, size_t n, double *ret_score, void *arg)
{
    const struct lead *lead = arg;
    size_t m = lead->m;
    autofree(mem) double *block = xcalloc(2 * n + m * n + m + 1, sizeof(*block));
    double *mean = block, *deviation = mean + n, *hope = deviation + n;

    for (size_t k = 0; k < m; k++) {
        model_predict(&lead->belief->models[k], features, n, mean, deviation);
        for (size_t i = 0; i < n; i++)
            hope[i * m + k] = mean[i] - HOPE * deviation[i];
    }
    for (size_t i = 0; i < n; i++)
        ret_score[i] = hopeful_gain(lead, hope + i * m);
    if (lead->s->problem.n_constraints || lead->s->problem.weigh_cost || lead->priors) {
        for (size_t i = 0; i < n; i++)
            ret_score[i] = ret_score[i] > 0 ? log(ret_score[i]) : -30 + ret_score[i];
        add_conditions(lead, features, n, ret_score);
    }
}

/* What two objectives are expected to add to the volume; ret_slope NULL: not wanted. Where that is
 * nothing at all, the hopeful gain says where more is to be had. */
static double expected_volume(const struct lead *lead, const double *mean, const double *deviation,
                              double *ret_slope)
{
    double hope[2] = {mean[0] - HOPE * deviation[0], mean[1] - HOPE * deviation[1]};
    double gain = pareto_expected_gain(lead->front, lead->n_front, lead->reference, mean, deviation,
                                       ret_slope);

    assert(lead->m == 2);
    if (gain > TINY)
        return log(gain);
    if (ret_slope)
        memset(ret_slope, 0, 4 * sizeof(*ret_slope));
    return log(TINY) + fmin(hopeful_gain(lead, hope), 0);
}

static void score_two(const double *features, size_t n, double *ret_score, void *arg)
{
    const struct lead *lead = arg;
    autofree(mem) double *block = xcalloc(4 * n + 1, sizeof(*block));

    for (size_t k = 0; k < 2; k++)
        model_predict(&lead->belief->models[k], features, n, block + k * n, block + (2 + k) * n);
    for (size_t i = 0; i < n; i++) {
        double mean[2] = {block[i], block[n + i]};
        double deviation[2] = {fmax(block[2 * n + i], SMALL), fmax(block[3 * n + i], SMALL)};
        ret_score[i] = expected_volume(lead, mean, deviation, NULL);
    }
    add_conditions(lead, features, n, ret_score);
}

static double slope_two(const double *features, double *ret_slope, void *arg)
{
    const struct lead *lead = arg;
    size_t d = lead->belief->encoder.d;
    double mean[2], deviation[2], by[4];
    autofree(mem) double *block = xcalloc(4 * d + 1, sizeof(*block));

    for (size_t k = 0; k < 2; k++) {
        model_gradient(&lead->belief->models[k], features, &mean[k], &deviation[k], block + k * d,
                       block + (2 + k) * d);
        deviation[k] = fmax(deviation[k], SMALL);
    }
    double value = expected_volume(lead, mean, deviation, by);
    for (size_t j = 0; j < d; j++) {
        ret_slope[j] = 0;
        for (size_t k = 0; k < 4; k++)
            ret_slope[j] += by[k] * block[k * d + j] / exp(value);
    }
    return value + expected_by_user(lead, features, ret_slope);
}

static int by_first(const void *a, const void *b, void *arg)
{
    const double *values = arg;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    return values[i] != values[k] ? (values[i] > values[k]) - (values[i] < values[k])
                                  : (i > k) - (i < k);
}

/* The volume is counted up to here. A point far out makes a front wide, one at its own corner makes
 * it dense; so the one in every third ask, the other in the rest. */
static void find_reference(struct lead *lead)
{
    size_t m = lead->m;

    lead->reference = xcalloc(m + 1, sizeof(double));
    for (size_t k = 0; k < m; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < lead->n_front; i++) {
            low = fmin(low, lead->front[i * m + k]);
            high = fmax(high, lead->front[i * m + k]);
        }
        lead->reference[k] = FAR_CORNER;
        if (lead->n_front > 1 && lead->s->asks % WIDE_EVERY != WIDE_EVERY - 1)
            lead->reference[k] = fmin(FAR_CORNER, high + OWN_CORNER * (high - low));
    }
}

/* The front of the model's means over what was run and keeps the constraints, scaled. */
static void find_front(struct lead *lead)
{
    struct search *s = lead->s;
    const struct data *data = &lead->belief->models[0].data;
    const size_t *rows = lead->belief->models[0].used.at;
    size_t n = lead->belief->models[0].used.len, m = lead->m = s->problem.n_objectives, kept = 0;
    autofree(mem) double *values = xcalloc(n * m + 1, sizeof(*values));
    autofree(mem) double *mean = xcalloc(n + 1, sizeof(*mean)); /* then of the first objective */
    autofree(mem) size_t *block = xcalloc(3 * n + 1, sizeof(*block));
    size_t *rank = block, *row = rank + n, *order = row + n;

    for (size_t k = 0; k < m; k++) {
        model_predict_rows(&lead->belief->models[k], rows, n, mean, NULL);
        for (size_t i = 0; i < n; i++)
            values[i * m + k] = mean[i];
    }
    for (size_t i = 0; i < n; i++)
        if (data->rows.at[rows[i]].finite && belief_feasible(s, data->rows.at[rows[i]].first)) {
            memmove(values + kept * m, values + i * m, m * sizeof(*values));
            mean[kept] = values[i * m];
            row[kept] = rows[i];
            order[kept] = kept;
            kept++;
        }
    qsort_r(order, kept, sizeof(*order), by_first, mean);
    lead->members = xcalloc(kept + 1, sizeof(*lead->members));
    lead->front = xcalloc((kept + 1) * m + 1, sizeof(double));
    pareto_sort(values, NULL, kept, m, rank);
    for (size_t i = 0; i < kept; i++)
        if (rank[order[i]] == 0) {
            lead->members[lead->n_front] = row[order[i]];
            memcpy(lead->front + lead->n_front++ * m, values + order[i] * m, m * sizeof(*values));
        }
    find_reference(lead);
    lead->volume = pareto_hypervolume(lead->front, lead->n_front, m, lead->reference);
}

/* What is in flight, with the values that are expected of it. */
struct imagined {
    double *features; /* (n, d) */
    double *value;    /* (n) scaled */
    size_t n;
};

static struct forest *fit_forest(const struct search *s, const struct data *data,
                                 const size_t *rows, size_t n, const struct imagined *also,
                                 struct rng *rng)
{
    const struct encoder *encoder = data->encoder;
    size_t d = encoder->d, all = n + also->n;
    autofree(mem) double *x = xcalloc(all * d + 1, sizeof(*x)), *y = xcalloc(all + 1, sizeof(*y));
    autofree(mem) double *weights = xcalloc(all + 1, sizeof(*weights));
    autofree(mem) size_t *categories = xcalloc(d + 1, sizeof(*categories));
    struct forest_options options = {.trees = 20, .min_leaf = 1, .min_split = 3, .bootstrap = true};

    for (size_t j = 0; j < d; j++)
        if (encoder->category[j])
            categories[j] = s->space->params[encoder->param[j]].n_choices;
    for (size_t i = 0; i < n; i++) {
        forest_features(encoder, data->features.at + rows[i] * d, x + i * d);
        y[i] = data_scaled(data, rows[i]);
        weights[i] = (double)data->rows.at[rows[i]].count;
    }
    for (size_t i = 0; i < also->n; i++) {
        forest_features(encoder, also->features + i * d, x + (n + i) * d);
        y[n + i] = also->value[i];
        weights[n + i] = 1;
    }
    return forest_fit(x, y, weights, all, d, categories, &options, rng);
}

struct forest *guided_forest(const struct search *s, const struct data *data, const size_t *rows,
                             size_t n, struct rng *rng)
{
    return fit_forest(s, data, rows, n, &(struct imagined){0}, rng);
}

/* What is in flight counts as if it had come out as the processes expect: else all suggestions
 * until the next result would look for the same. */
static struct forest *imagining_forest(const struct lead *lead, struct rng *rng)
{
    const struct history *history = &lead->s->history;
    const struct model *model = &lead->belief->models[0];
    size_t d = lead->belief->encoder.d, m = history->n_pending;
    autofree(mem) size_t *rows = xcalloc(model->data.rows.len + 1, sizeof(*rows));
    autofree(mem) double *features = xcalloc(m * d + 1, sizeof(*features));
    autofree(mem) double *mean = xcalloc(m + 1, sizeof(*mean));
    size_t n = data_choose(&model->data, FOREST_ROWS, rows);

    for (size_t i = 0; i < m; i++)
        encode(&lead->belief->encoder, history->pending.at + i * history->d, features + i * d);
    model_predict(model, features, m, mean, NULL);
    return fit_forest(lead->s, &model->data, rows, n, &(struct imagined){features, mean, m}, rng);
}

/* Settings whose surroundings are looked at: the best, or some of the front. Returns how many. */
static size_t choose_near(struct lead *lead, struct rng *rng, size_t *ret_rows)
{
    double mean[NEAR];
    size_t n = MIN(lead->n_front, (size_t)NEAR);

    if (lead->m == 1) {
        n = belief_top(lead->s, lead->belief, NEAR, ret_rows, mean, NULL);
        lead->target = n ? mean[0] : NAN;
    }
    for (size_t i = 0; i < n && lead->m > 1; i++) /* one of each part of it */
        ret_rows[i] =
            lead->members[i * lead->n_front / n +
                          rng_below(rng, (i + 1) * lead->n_front / n - i * lead->n_front / n)];
    return n;
}

/* Processes know least about the corners of a space: what they expect there is no worse than the
 * mean, and summits of the score stand in all of them. Around the best they know more, so it is
 * there that most asks look, and all while it still becomes better. */
static bool looks_wide(const struct lead *lead, size_t best_row)
{
    const struct search *s = lead->s;
    size_t since = s->history.n - lead->belief->models[0].data.rows.at[best_row].first;

    return s->asks % WIDE_ASKS == 0 && since > lead->belief->encoder.d;
}

static int best_of(struct lead *lead, struct rng *rng, bool near, struct suggestion *ret,
                   struct err *err)
{
    struct search *s = lead->s;
    const struct data *data = &lead->belief->models[0].data;
    size_t width = s->space->n, rows[NEAR];
    size_t objectives = lead->m;
    autofree(mem) double *best = xcalloc(NEAR * width + 1, sizeof(*best));
    bool plain = !lead->forest && !s->problem.n_constraints && !s->problem.weigh_cost;
    struct acquire a = {.s = s,
                        .encoder = &lead->belief->encoder,
                        .score = objectives == 1   ? score_one_objective
                                 : objectives == 2 ? score_two
                                                   : score_several,
                        .slope = !plain || objectives > 2 ? NULL
                                 : objectives == 2        ? slope_two
                                                          : slope_one_objective,
                        .arg = lead,
                        .near = best,
                        .only_near = near};

    a.n_near = choose_near(lead, rng, rows);
    if (lead->held) {
        a.climb = CLIMB;
        a.reach = a.n_near && looks_wide(lead, rows[0]) ? 0 : REACH;
    }
    for (size_t i = 0; i < a.n_near; i++)
        memcpy(best + i * width, history_x(&s->history, data->rows.at[rows[i]].first),
               width * sizeof(*best));
    for (size_t i = 0; i < lead->belief->n_models; i++)
        model_imagine(&lead->belief->models[i], &s->history);
    return acquire(&a, rng, ret->x, &ret->acquisition, err);
}

static void explain(struct lead *lead, bool near, struct suggestion *ret)
{
    const struct model *model = &lead->belief->models[0];
    double mean, deviation;
    autofree(mem) double *features = xcalloc(lead->belief->encoder.d + 1, sizeof(*features));

    encode(&lead->belief->encoder, ret->x, features);
    predict_objective(lead, features, 1, &mean, &deviation);
    ret->mean = ret->deviation = NAN;
    if (belief_has_unit(lead->belief))
        model_unscale(model, mean, deviation, &ret->mean, &ret->deviation);
    ret->why = near ? WHY_NEAR : WHY_MODEL;
    ret->by = lead->forest ? "forest" : "bayes";
}

int guided_ask(struct search *s, enum guide guide, bool near, struct suggestion *ret,
               struct err *err)
{
    struct guided *guided = (struct guided *)s;
    struct rng rng = search_rng(s, 1);
    struct lead lead = {.s = s, .m = s->problem.n_objectives, .priors = draw_has_prior(s->space)};
    struct forest *forest = NULL;
    bool ready;

    bool ready_to_lead = guided_ready(s) && !doubts(s);
    if (!ready_to_lead && lead.priors && s->asks % 2 == 0)
        return draw_random(s, &rng, true, ret->x, err);
    if (!ready_to_lead)
        return draw_fresh(s, first_point, &guided->drawn, ret->x, err);
    lead.belief = belief_of(s, &ready);
    lead.held = lead.m == 1 && guide == GUIDE_BAYES;
    if (lead.m > 1)
        find_front(&lead);
    else if (guide == GUIDE_FOREST)
        lead.forest = forest = imagining_forest(&lead, &rng);
    int r = best_of(&lead, &rng, near && lead.m == 1, ret, err);
    if (r == 0 && !isnan(ret->acquisition))
        explain(&lead, near && lead.m == 1, ret);
    forest_free(forest);
    free(lead.front);
    free(lead.members);
    free(lead.reference);
    return r;
}

bool guided_look(struct search *s, double *ret_mean, double *ret_deviation)
{
    bool ready;
    struct rng rng = search_rng(s, 2);
    struct lead lead = {.s = s,
                        .m = 1,
                        .belief = belief_of(s, &ready),
                        .priors = draw_has_prior(s->space),
                        .held = true};
    autofree(mem) double *features = xcalloc(lead.belief->encoder.d + 1, sizeof(*features));
    struct suggestion look = {.x = xcalloc(s->space->n + 1, sizeof(double))};
    int r = best_of(&lead, &rng, false, &look, NULL);

    if (r == 0) {
        encode(&lead.belief->encoder, look.x, features);
        model_predict(&lead.belief->models[0], features, 1, ret_mean, ret_deviation);
    }
    free(look.x);
    return r == 0;
}
