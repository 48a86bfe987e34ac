/* SPDX-License-Identifier: MIT */
/*
 * curves_run.c — one experiment on a table: trials run an epoch at a time in a number of slots, the
 * rule is asked after each, and what it pauses waits for a slot. It ends when the budget is used
 * up.
 *
 * With a model, the first TRIES settings are drawn at random; then each is the unseen row with the
 * largest expected improvement as search_predict() sees it. A stopped trial teaches the model what
 * the rule expected of its end.
 */
#include "bench/search/curves.h"

#include "base/rng.h"
#include "linalg/normal.h"
#include "search/search.h"

#include <assert.h>
#include <err.h>
#include <math.h>

#define TRIES 10

struct run {
    size_t row;
    double values[EPOCHS]; /* negated accuracy as seen */
    double clock;          /* when its next epoch begins */
};

struct world {
    const struct replay *replay;
    const struct stop_ops *rule;
    struct search *search; /* NULL: random */
    size_t *order;         /* (n) rows at random; those seen first */
    size_t used;
    VEC(struct stop_trial) trials;
    VEC(struct run *) runs; /* beside trials */
    ptrdiff_t *slots;       /* index of the trial that runs there, -1: free */
    double *free_at;
    double spent;
    struct outcome outcome;
};

static int64_t all_steps[EPOCHS];

static double truth(const struct world *world, size_t i)
{
    return -world->replay->table->accuracy[world->runs.at[i]->row][EPOCHS - 1];
}

static void shuffle(size_t *order, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)rng_below(rng, i);
        size_t swap = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swap;
    }
}

/* Put the unseen row with the largest expected improvement next in the order. */
static void choose(struct world *world, double *ret_mean, double *ret_deviation)
{
    const struct curve_table *table = world->replay->table;
    size_t left = table->n - world->used, chosen = 0;
    autofree(mem) double *x = xcalloc(left * PARAMS, sizeof(*x));
    autofree(mem) double *means = xcalloc(2 * left, sizeof(*means));
    struct best best;
    double most = -INFINITY;

    for (size_t i = 0; i < left; i++)
        memcpy(x + i * PARAMS, table->points[world->order[world->used + i]],
               PARAMS * sizeof(double));
    if (search_best(world->search, &best) < 0 ||
        !search_predict(world->search, x, left, means, means + left))
        return;
    for (size_t i = 0; i < left; i++) {
        double slope, s = means[left + i],
                      gain = log_ei((best.mean - means[i]) / s, &slope) + log(s);
        if (gain > most) {
            most = gain;
            chosen = i;
        }
    }
    *ret_mean = means[chosen];
    *ret_deviation = means[left + chosen];
    size_t *at = world->order + world->used, swap = at[chosen];
    at[chosen] = at[0];
    at[0] = swap;
}

static size_t begin(struct world *world)
{
    const struct replay *replay = world->replay;
    struct stop_trial trial = {
        .number = (int64_t)world->trials.len + 1, .prior_mean = NAN, .prior_deviation = NAN};
    double mean = NAN, deviation = NAN;
    if (world->search && world->used >= TRIES)
        choose(world, &mean, &deviation);
    if (replay->prior) {
        trial.prior_mean = mean;
        trial.prior_deviation = deviation;
    }
    struct run *run = xcalloc(1, sizeof(*run));
    struct rng rng;
    run->row = world->order[world->used++];
    rng_init(&rng, replay->seed, 1000 + run->row);
    for (size_t t = 0; t < EPOCHS; t++)
        run->values[t] = -replay->table->accuracy[run->row][t] + replay->noise * rng_normal(&rng);
    trial.curve = (struct curve){all_steps, run->values, 0};
    vec_push(&world->trials, trial);
    vec_push(&world->runs, run);
    return world->trials.len - 1;
}

static struct stop_view view_of(const struct world *world)
{
    return (struct stop_view){&world->replay->settings, world->trials.at, world->trials.len, 0, -1,
                              world->replay->seed};
}

static void tell(struct world *world, size_t i, enum result_kind kind, double value,
                 double deviation)
{
    struct result result = {.kind = kind, .value = value, .deviation = deviation};
    if (world->search)
        search_tell(world->search, world->replay->table->points[world->runs.at[i]->row], &result);
}

/* The trial in this slot has run one more epoch. */
static void step(struct world *world, size_t slot)
{
    size_t i = (size_t)world->slots[slot];
    struct stop_trial *trial = &world->trials.at[i];
    size_t epoch = trial->curve.n++;

    if (epoch + 1 == EPOCHS) {
        trial->state = CURVE_COMPLETED;
        tell(world, i, RESULT_VALUE, trial->curve.values[epoch], 0);
        world->slots[slot] = -1;
        return;
    }
    struct stop_view view = view_of(world);
    struct stop_verdict verdict;
    world->rule->judge(&view, i, &verdict);
    if (verdict.action == STOP_GO_ON)
        return;
    trial->state = verdict.action == STOP_END ? CURVE_STOPPED : CURVE_PAUSED;
    if (verdict.action == STOP_END)
        tell(world, i, RESULT_STOPPED,
             isnan(verdict.mean) ? trial->curve.values[epoch] : verdict.mean, verdict.deviation);
    world->slots[slot] = -1;
}

static double cost(const struct world *world, size_t i)
{
    const struct replay *replay = world->replay;
    return replay->in_seconds ? replay->table->seconds[world->runs.at[i]->row] / EPOCHS : 1;
}

static void fill(struct world *world, size_t slot)
{
    struct stop_view view = view_of(world);
    ptrdiff_t i = world->rule->promote ? world->rule->promote(&view) : -1;
    if (i < 0)
        i = (ptrdiff_t)begin(world);
    world->trials.at[i].state = CURVE_RUNNING;
    world->slots[slot] = i;
}

static void work(struct world *world)
{
    const struct replay *replay = world->replay;
    while (world->spent < replay->budget && world->used < replay->table->n) {
        size_t slot = 0;
        for (size_t s = 1; s < replay->slots; s++)
            if (world->free_at[s] < world->free_at[slot])
                slot = s;
        if (world->slots[slot] < 0)
            fill(world, slot);
        double price = cost(world, (size_t)world->slots[slot]);
        world->spent += price;
        world->free_at[slot] += price;
        if (world->spent > replay->budget + 1e-9)
            break;
        world->outcome.epochs++;
        step(world, slot);
    }
}

static void conclude(struct world *world)
{
    struct outcome *outcome = &world->outcome;
    size_t winner = 0, seen = SIZE_MAX;
    double completed = INFINITY;
    outcome->started = world->trials.len;
    for (size_t i = 0; i < world->trials.len; i++) {
        const struct stop_trial *trial = &world->trials.at[i];
        if (truth(world, i) < truth(world, winner))
            winner = i;
        outcome->stopped += trial->state == CURVE_STOPPED;
        if (trial->state == CURVE_STOPPED || trial->state == CURVE_COMPLETED)
            outcome->whole_epochs += EPOCHS;
        else
            outcome->whole_epochs += (double)trial->curve.n;
        if (trial->state != CURVE_COMPLETED)
            continue;
        outcome->completed++;
        completed = fmin(completed, truth(world, i));
        if (seen == SIZE_MAX ||
            trial->curve.values[EPOCHS - 1] < world->trials.at[seen].curve.values[EPOCHS - 1])
            seen = i;
    }
    outcome->killed = world->trials.at[winner].state == CURVE_STOPPED;
    outcome->regret = world->replay->table->best;
    outcome->lost = completed - truth(world, winner);
    if (seen != SIZE_MAX)
        outcome->regret += truth(world, seen);
}

static void open_search(struct world *world)
{
    const struct replay *replay = world->replay;
    struct problem problem = {.space = &replay->table->space, .trials = 30, .seed = replay->seed};
    struct err err = {0};
    if (search_new("bayes", &problem, &world->search, &err) < 0)
        errx(1, "%s", err_text(&err));
}

struct outcome replay_run(const struct replay *replay)
{
    struct world world = {.replay = replay, .rule = stop_find(replay->rule)};
    struct rng rng;

    assert(world.rule);
    for (size_t t = 0; t < EPOCHS; t++)
        all_steps[t] = (int64_t)t + 1;
    rng_init(&rng, replay->seed, 1);
    world.order = xcalloc(replay->table->n, sizeof(*world.order));
    world.slots = xcalloc(replay->slots, sizeof(*world.slots));
    world.free_at = xcalloc(replay->slots, sizeof(*world.free_at));
    for (size_t s = 0; s < replay->slots; s++)
        world.slots[s] = -1;
    shuffle(world.order, replay->table->n, &rng);
    if (replay->model)
        open_search(&world);
    work(&world);
    conclude(&world);
    if (world.search)
        search_free(world.search);
    vec_foreach (run, &world.runs)
        free(*run);
    vec_release(&world.runs);
    vec_release(&world.trials);
    free(world.order);
    free(world.slots);
    free(world.free_at);
    return world.outcome;
}
