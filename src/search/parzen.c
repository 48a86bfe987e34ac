/* SPDX-License-Identifier: MIT */
/*
 * parzen.c — the kernels of tree-structured Parzen estimation, as Optuna 5 has them.
 *
 * A number's kernel is a normal around the row's place in [0,1], cut at the ends, as wide as the
 * larger gap to its neighbours, and not narrower than 1/min(100, kernels + 1). A parameter with few
 * values takes the normal's share of each value's cell; with more values, the kernel is widened by
 * the cell's own deviation, which is the same but for a hair. A choice's kernel is the row's choice
 * with a little of every other. A row says nothing of a parameter that was inactive there: its
 * kernel for it is the prior.
 *
 * Speed: each axis keeps its rows sorted, so the widths come from one walk; the costly part of a
 * kernel, its normalisation, is kept until its width changes; the logarithms of a row's constants
 * are summed once for all settings; and the inner loop is a subtraction and two products, two rows
 * at a time.
 */
#include "search/parzen.h"
#include "linalg/normal.h"
#include "search/draw.h"

#include <assert.h>
#include <math.h>

#define CELLS_MAX   32 /* values of a parameter up to which cells are worked out */
#define LN_SQRT_2PI 0.91893853320467274178
#define NEGLIGIBLE  36.0 /* e⁻³⁶ of the largest term */
#define DRAWS_MAX   64

enum axis_kind { AXIS_NUMBER, AXIS_CELLS, AXIS_CATEGORY };

struct parzen_axis {
    const struct param *param;
    size_t index; /* of the parameter */
    enum axis_kind kind;
    bool conditional;
    double cell;     /* NUMBER: width of a value's cell; 0: free */
    double *place;   /* (cap) where the row is: [0,1], or the number of its choice; NaN */
    double *factor;  /* (cap) NUMBER: 1/(√2·width); 0: inactive or empty */
    double *level;   /* (cap) NUMBER: logarithm of the kernel at its middle */
    double *width;   /* (cap) NUMBER: that `level` was worked out for */
    uint8_t *group;  /* (cap) CELLS: 3·value + class */
    uint32_t *order; /* (active) slots by their place; not for choices */
    size_t active;
    double prior_mean, prior_width, prior_level;
    struct cells *cells; /* CELLS */
};

/* Few values: the widths of the kernels by value and class, and what they leave in each cell. */
struct cells {
    size_t n;
    double place[CELLS_MAX], edge[CELLS_MAX + 1];
    double prior[CELLS_MAX];
    double width[CELLS_MAX * 3];
    double share[CELLS_MAX][CELLS_MAX * 3]; /* logarithms; a cell's row is worked out when asked */
    bool known[CELLS_MAX];
};

typedef double v2 __attribute__((vector_size(16), aligned(8)));

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- rows ---- */

/* ln of the normal's share of [0,1]; 0 where it does not reach the ends. */
static double log_inside(double mean, double deviation)
{
    double low = mean / deviation, high = (1 - mean) / deviation;
    return low > 6 && high > 6 ? 0 : log(fmax(normal_cdf(high) - normal_cdf(-low), 1e-300));
}

/* ln of the share of [low, high] that a normal cut to [0,1] has. */
static double log_share(double mean, double deviation, double low, double high)
{
    double part = normal_cdf((high - mean) / deviation) - normal_cdf((low - mean) / deviation);
    return log(fmax(part, 1e-300)) - log_inside(mean, deviation);
}

static double prior_choice(const struct param *param, double k)
{
    return param->prior.weights ? fmax(param->prior.weights[(size_t)k], 1e-12)
                                : 1 / (double)param->n_choices;
}

/* Cells end halfway between the places of neighbouring values. */
static struct cells *cells_new(const struct parzen_axis *axis)
{
    const struct param *param = axis->param;
    struct cells *cells = xcalloc(1, sizeof(*cells));
    cells->n = (size_t)param_size(param);
    for (size_t k = 0; k < cells->n; k++)
        cells->place[k] = param_to_unit(param, param_value_at(param, (double)k));
    for (size_t k = 0; k + 1 < cells->n; k++)
        cells->edge[k + 1] = (cells->place[k] + cells->place[k + 1]) / 2;
    cells->edge[cells->n] = 1;
    for (size_t k = 0; k < cells->n; k++)
        cells->prior[k] = param->prior.weights ? log(prior_choice(param, (double)k))
                                               : log_share(axis->prior_mean, axis->prior_width,
                                                           cells->edge[k], cells->edge[k + 1]);
    return cells;
}

static void axis_init(struct parzen_axis *axis, const struct param *param, size_t index)
{
    bool given = param->prior.sd > 0;
    double size = param_size(param);
    *axis = (struct parzen_axis){.param = param, .index = index};
    axis->conditional = param->n_when > 0;
    axis->cell = isinf(size) ? 0 : 1 / size;
    axis->prior_mean = given ? param->prior.mean : 0.5;
    axis->prior_width = given ? param->prior.sd : 1;
    axis->prior_level =
        -LN_SQRT_2PI - log(axis->prior_width) - log_inside(axis->prior_mean, axis->prior_width);
    if (param->type == PARAM_CHOICE && !param->ordered) {
        axis->kind = AXIS_CATEGORY;
    } else if (size <= CELLS_MAX) {
        axis->kind = AXIS_CELLS;
        axis->cells = cells_new(axis);
    }
}

void parzen_init(struct parzen *parzen, const struct space *space)
{
    *parzen = (struct parzen){.space = space};
    parzen->axes = xcalloc(space->n + 1, sizeof(*parzen->axes));
    for (size_t i = 0; i < space->n; i++)
        if (param_size(&space->params[i]) > 1)
            axis_init(&parzen->axes[parzen->d++], &space->params[i], i);
}

void parzen_release(struct parzen *parzen)
{
    for (size_t j = 0; j < parzen->d; j++) {
        struct parzen_axis *axis = &parzen->axes[j];
        free(axis->place);
        free(axis->factor);
        free(axis->level);
        free(axis->width);
        free(axis->group);
        free(axis->order);
        free(axis->cells);
    }
    free(parzen->axes);
    free(parzen->weight);
    free(parzen->base);
    free(parzen->sum);
    *parzen = (struct parzen){0};
}

static double *grow_to(double *at, size_t from, size_t to)
{
    at = xrealloc(at, to * sizeof(*at));
    memset(at + from, 0, (to - from) * sizeof(*at));
    return at;
}

static void reserve(struct parzen *parzen, size_t slots)
{
    size_t from = parzen->cap, to = MAX(slots, 2 * from + 32);
    if (slots <= from)
        return;
    for (size_t j = 0; j < parzen->d; j++) {
        struct parzen_axis *axis = &parzen->axes[j];
        axis->place = grow_to(axis->place, from, to);
        axis->factor = grow_to(axis->factor, from, to);
        axis->level = grow_to(axis->level, from, to);
        axis->width = grow_to(axis->width, from, to);
        axis->group = xrealloc(axis->group, to);
        memset(axis->group + from, 0, to - from);
        axis->order = xrealloc(axis->order, to * sizeof(*axis->order));
    }
    parzen->weight = grow_to(parzen->weight, from, to);
    parzen->base = grow_to(parzen->base, from, to);
    parzen->sum = grow_to(parzen->sum, from, to);
    parzen->cap = to;
}

/* Where in the order the slot is, or belongs: by place, then by slot. */
static size_t find_order(const struct parzen_axis *axis, double place, size_t slot)
{
    size_t low = 0, high = axis->active;
    while (low < high) {
        size_t middle = (low + high) / 2, other = axis->order[middle];
        double theirs = axis->place[other];
        if (theirs < place || (theirs == place && other < slot))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void axis_add(struct parzen_axis *axis, size_t slot, double x)
{
    bool plain = isnan(x) || axis->kind == AXIS_CATEGORY;
    axis->place[slot] = plain ? x : param_to_unit(axis->param, x);
    if (axis->kind == AXIS_CELLS && !isnan(x))
        axis->group[slot] = (uint8_t)(3 * param_index(axis->param, x));
    if (!plain) {
        size_t at = find_order(axis, axis->place[slot], slot);
        memmove(axis->order + at + 1, axis->order + at, (axis->active - at) * sizeof(*axis->order));
        axis->order[at] = (uint32_t)slot;
    }
    axis->active += !isnan(x);
}

static void axis_remove(struct parzen_axis *axis, size_t slot)
{
    bool active = !isnan(axis->place[slot]);
    if (active && axis->kind != AXIS_CATEGORY) {
        size_t at = find_order(axis, axis->place[slot], slot);
        memmove(axis->order + at, axis->order + at + 1,
                (axis->active - at - 1) * sizeof(*axis->order));
    }
    axis->active -= active;
    axis->factor[slot] = axis->level[slot] = axis->width[slot] = axis->place[slot] = 0;
    axis->group[slot] = 0;
}

void parzen_add(struct parzen *parzen, size_t slot, const double *x)
{
    reserve(parzen, slot + 2); /* the loops go by twos */
    assert(parzen->weight[slot] == 0);
    parzen->weight[slot] = 1;
    parzen->slots = MAX(parzen->slots, slot + 1);
    for (size_t j = 0; j < parzen->d; j++)
        axis_add(&parzen->axes[j], slot, x[parzen->axes[j].index]);
}

void parzen_remove(struct parzen *parzen, size_t slot)
{
    assert(slot < parzen->slots);
    parzen->weight[slot] = 0;
    for (size_t j = 0; j < parzen->d; j++)
        axis_remove(&parzen->axes[j], slot);
    while (parzen->slots && parzen->weight[parzen->slots - 1] == 0)
        parzen->slots--;
}

/* ---- widths ---- */

static void set_width(struct parzen_axis *axis, size_t slot, double width)
{
    if (axis->width[slot] == width)
        return;
    double wide = sqrt(width * width + axis->cell * axis->cell / 12);
    axis->width[slot] = width;
    axis->factor[slot] = M_SQRT1_2 / wide;
    axis->level[slot] = -LN_SQRT_2PI - log(wide) - log_inside(axis->place[slot], wide);
}

/* A row among others of its value: the first one sees the gap on its left, the last one that on its
 * right, those between none. */
static void set_group(struct parzen_axis *axis, size_t slot, double left, double right,
                      double width)
{
    size_t group = axis->group[slot] / 3 * 3u + (left > 0 ? 1 : right > 0 ? 2 : 0);
    axis->group[slot] = (uint8_t)group;
    if (axis->cells->width[group] != width)
        memset(axis->cells->known, 0, sizeof(axis->cells->known));
    axis->cells->width[group] = width;
}

static void fit_axis(struct parzen_axis *axis)
{
    size_t n = axis->active;
    double least = 1 / fmin(100, 2 + (double)n);
    for (size_t i = 0; i < n; i++) {
        size_t slot = axis->order[i];
        double at = axis->place[slot];
        double left = i > 0 ? at - axis->place[axis->order[i - 1]] : n == 1 ? at : 0;
        double right = i + 1 < n ? axis->place[axis->order[i + 1]] - at : n == 1 ? 1 - at : 0;
        double width = clamp(fmax(left, right), least, 1);
        if (axis->kind == AXIS_CELLS)
            set_group(axis, slot, left, right, width);
        else
            set_width(axis, slot, width);
    }
}

void parzen_prepare(struct parzen *parzen)
{
    reserve(parzen, parzen->slots + 2);
    for (size_t i = 0; i < parzen->slots; i++)
        parzen->base[i] = parzen->weight[i] > 0 ? log(parzen->weight[i]) : -INFINITY;
    for (size_t j = 0; j < parzen->d; j++) {
        struct parzen_axis *axis = &parzen->axes[j];
        if (axis->kind == AXIS_CATEGORY)
            continue;
        fit_axis(axis);
        if (axis->kind == AXIS_NUMBER && !axis->conditional)
            for (size_t i = 0; i < parzen->slots; i++)
                parzen->base[i] += axis->level[i];
    }
    parzen->base[parzen->slots] = -INFINITY;
}

/* ---- density ---- */

/* ln of the prior's density at x; of its share, for cells and choices. */
static double log_prior(const struct parzen_axis *axis, double x)
{
    const struct param *param = axis->param;
    if (axis->kind == AXIS_CATEGORY)
        return log(prior_choice(param, x));
    if (axis->kind == AXIS_CELLS)
        return axis->cells->prior[(size_t)param_index(param, x)];
    if (param->prior.weights)
        return log(prior_choice(param, x) * (double)param->n_choices);
    double z = (param_to_unit(param, x) - axis->prior_mean) / axis->prior_width;
    return axis->prior_level - 0.5 * z * z;
}

static void sum_numbers(struct parzen *parzen, const struct parzen_axis *axis, double x)
{
    double at = param_to_unit(axis->param, x);
    v2 middle = {at, at};
    for (size_t i = 0; i < parzen->slots; i += 2) {
        v2 z = (middle - *(const v2 *)(axis->place + i)) * *(const v2 *)(axis->factor + i);
        *(v2 *)(parzen->sum + i) -= z * z;
    }
}

/* The same where some rows are inactive. */
static void sum_conditional(struct parzen *parzen, const struct parzen_axis *axis, double x)
{
    double at = param_to_unit(axis->param, x), prior = log_prior(axis, x);
    for (size_t i = 0; i < parzen->slots; i++) {
        double z = (at - axis->place[i]) * axis->factor[i];
        parzen->sum[i] += isnan(axis->place[i]) ? prior : axis->level[i] - z * z;
    }
}

/* What each kernel leaves in cell k. */
static const double *cell_shares(struct cells *cells, size_t k)
{
    for (size_t g = 0; !cells->known[k] && g < cells->n * 3; g++)
        cells->share[k][g] = cells->width[g] > 0 ? log_share(cells->place[g / 3], cells->width[g],
                                                             cells->edge[k], cells->edge[k + 1])
                                                 : 0;
    cells->known[k] = true;
    return cells->share[k];
}

static void sum_cells(struct parzen *parzen, const struct parzen_axis *axis, double x)
{
    double prior = log_prior(axis, x);
    const double *share = cell_shares(axis->cells, (size_t)param_index(axis->param, x));
    for (size_t i = 0; i < parzen->slots; i++)
        parzen->sum[i] += isnan(axis->place[i]) ? prior : share[axis->group[i]];
}

static void sum_choices(struct parzen *parzen, const struct parzen_axis *axis, double x)
{
    double kernels = (double)axis->active + 1, n = (double)axis->param->n_choices;
    double p = prior_choice(axis->param, x), little = n * p / kernels, all = 1 + n / kernels;
    double hit = log((1 + little) / all), miss = log(little / all), prior = log(p);
    for (size_t i = 0; i < parzen->slots; i++) {
        double place = axis->place[i];
        parzen->sum[i] += place == x ? hit : isnan(place) ? prior : miss;
    }
}

/* ln Σ exp over the rows and the prior's own term; terms that vanish are not worked out. */
static double log_sum(const struct parzen *parzen, double prior)
{
    double most = prior, sum = 0;
    for (size_t i = 0; i < parzen->slots; i++)
        most = parzen->sum[i] > most ? parzen->sum[i] : most;
    for (size_t i = 0; i < parzen->slots; i++)
        if (parzen->sum[i] > most - NEGLIGIBLE)
            sum += exp(parzen->sum[i] - most);
    return most + log(sum + exp(prior - most));
}

double parzen_log_density(struct parzen *parzen, const double *x)
{
    double prior = 0, weight = 1;
    memcpy(parzen->sum, parzen->base, (parzen->slots + 1) * sizeof(*parzen->sum));
    for (size_t j = 0; j < parzen->d; j++) {
        const struct parzen_axis *axis = &parzen->axes[j];
        double at = x[axis->index];
        if (isnan(at))
            continue;
        prior += log_prior(axis, at);
        if (axis->kind == AXIS_CATEGORY)
            sum_choices(parzen, axis, at);
        else if (axis->kind == AXIS_CELLS)
            sum_cells(parzen, axis, at);
        else if (axis->conditional)
            sum_conditional(parzen, axis, at);
        else
            sum_numbers(parzen, axis, at);
    }
    for (size_t i = 0; i < parzen->slots; i++)
        weight += parzen->weight[i];
    return log_sum(parzen, prior) - log(weight);
}

/* ---- drawing ---- */

/* A slot by weight; `slots` stands for the prior. */
static size_t draw_slot(const struct parzen *parzen, struct rng *rng)
{
    double sum = 1;
    for (size_t i = 0; i < parzen->slots; i++)
        sum += parzen->weight[i];
    double u = rng_unit(rng) * sum;
    for (size_t i = 0; i < parzen->slots; i++) {
        u -= parzen->weight[i];
        if (u < 0)
            return i;
    }
    return parzen->slots;
}

/* A normal cut to [0,1]. */
static double draw_inside(double mean, double deviation, struct rng *rng)
{
    for (int i = 0; i < DRAWS_MAX; i++) {
        double u = mean + deviation * rng_normal(rng);
        if (u >= 0 && u <= 1)
            return u;
    }
    return clamp(mean, 0, 1);
}

static double draw_axis(const struct parzen_axis *axis, size_t slot, struct rng *rng)
{
    double place = axis->place[slot];
    if (axis->kind == AXIS_CATEGORY) {
        double kernels = (double)axis->active + 1, n = (double)axis->param->n_choices;
        return rng_unit(rng) * (1 + n / kernels) < 1 ? place : draw_param(axis->param, true, rng);
    }
    double width =
        axis->kind == AXIS_CELLS ? axis->cells->width[axis->group[slot]] : axis->width[slot];
    return param_from_unit(axis->param, draw_inside(place, width, rng));
}

static double draw_prior(const struct parzen_axis *axis, struct rng *rng)
{
    if (axis->kind == AXIS_CATEGORY || axis->param->prior.weights)
        return draw_param(axis->param, true, rng);
    return param_from_unit(axis->param, draw_inside(axis->prior_mean, axis->prior_width, rng));
}

void parzen_draw(const struct parzen *parzen, struct rng *rng, double *ret_x)
{
    size_t slot = draw_slot(parzen, rng), j = 0;
    for (size_t i = 0; i < parzen->space->n; i++) {
        const struct param *param = &parzen->space->params[i];
        const struct parzen_axis *axis =
            j < parzen->d && parzen->axes[j].index == i ? &parzen->axes[j++] : NULL;
        if (!param_active(param, ret_x))
            ret_x[i] = NAN;
        else if (!axis)
            ret_x[i] = param_value_at(param, 0);
        else if (slot == parzen->slots || isnan(axis->place[slot]))
            ret_x[i] = draw_prior(axis, rng);
        else
            ret_x[i] = draw_axis(axis, slot, rng);
    }
}
