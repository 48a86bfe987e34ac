/* SPDX-License-Identifier: MIT */
/*
 * refit.c — fitting hyper-parameters aside.
 *
 * A fit starts from the prior, never from the fit before it: it is a function of its results. The
 * thread has its own copy of the data and its own processes and touches nothing else.
 */
#include "search/refit.h"
#include "base/rng.h"

#include <pthread.h>

#define FIT_ROWS    200 /* hyper-parameters are fitted to at most so many rows */
#define FIT_STEPS   30  /* iterations of a fit */
#define QUIET       0.022 /* deviation of the noise, of all values 1, below which there is hardly any */
#define SAMPLE_ROWS 60 /* up to so many rows hyper-parameters are drawn too */
#define SWEEPS      3  /* between two draws */
#define EACH        24 /* up to so many results, each is followed by a fit */
#define ASIDE       64 /* from so many on, fits run in their own thread */

struct refit {
    pthread_t thread;
    struct data data;
    struct gp_prior prior;
    uint64_t seed;
    struct fitted fitted;
};

/* The newest count up to n at which a fit begins: each up to EACH, then when there is a twelfth
 * more.
 */
static size_t begin_count(size_t n)
{
    size_t count = MIN(n, (size_t)EACH);
    while (count >= EACH && count + count / 12 <= n)
        count += count / 12;
    return count;
}

size_t refit_count(size_t n)
{
    return begin_count(n < ASIDE ? n : n - n / 24);
}

void fitted_release(struct fitted *fitted)
{
    free(fitted->theta);
    *fitted = (struct fitted){0};
}

/* Noise counts for more where the scale is fine; so it is only without. Tasks have plain scales. */
static void fit_likeliest(struct data *data, struct gp *gp, const size_t *rows, size_t n)
{
    data_load(data, gp, rows, n);
    gp_fit(gp, FIT_STEPS);
    if (data->transfer || gp_noise(gp) > QUIET)
        return;
    data_reshape(data, SHAPE_FINE);
    gp_reset(gp);
    data_load(data, gp, rows, n);
    gp_fit(gp, FIT_STEPS);
}

/* The first member has the likeliest hyper-parameters; each other goes on from the one before it.
 */
static void fit_to(struct data *data, const struct gp_prior *prior, uint64_t seed,
                   struct fitted *ret)
{
    const struct encoder *encoder = data->encoder;
    size_t max = MIN(data->rows.len, FIT_ROWS);
    autofree(mem) size_t *rows = xcalloc(max + 1, sizeof(*rows));
    autofree(gp) struct gp *gp = gp_new(encoder->d, encoder->category, prior);
    size_t n = data_choose(data, max, rows), m = gp_parameters(gp);
    struct rng rng;

    *ret = (struct fitted){.count = data->seen, .rows = data->rows.len};
    ret->members = n <= SAMPLE_ROWS ? MODEL_MEMBERS : 1;
    ret->theta = xcalloc(MODEL_MEMBERS * m + 1, sizeof(*ret->theta));
    rng_init(&rng, seed, data->seen);
    fit_likeliest(data, gp, rows, n);
    ret->shape = data->shape;
    gp_get(gp, ret->theta);
    for (size_t k = 1; k < ret->members; k++) {
        gp_sample(gp, SWEEPS, &rng);
        gp_get(gp, ret->theta + k * m);
    }
}

/* The data as it was after `count` results. */
static void rewind_data(const struct data *like, const struct search *s, size_t count,
                        struct data *ret)
{
    data_init(ret, like->encoder, like->transfer, like->column);
    data_update(ret, s, count);
}

void refit_run(const struct data *like, const struct search *s, const struct gp_prior *prior,
               size_t count, struct fitted *ret)
{
    struct data data;

    rewind_data(like, s, count, &data);
    fitted_release(ret);
    if (data_enough(&data))
        fit_to(&data, prior, s->problem.seed, ret);
    ret->count = count;
    data_release(&data);
}

static void *refit_main(void *arg)
{
    struct refit *refit = arg;
    fit_to(&refit->data, &refit->prior, refit->seed, &refit->fitted);
    return NULL;
}

void refit_free(struct refit *refit)
{
    if (!refit)
        return;
    pthread_join(refit->thread, NULL);
    data_release(&refit->data);
    fitted_release(&refit->fitted);
    free(refit);
}

void refit_begin(struct refit **refit, const struct data *like, const struct search *s,
                 const struct gp_prior *prior)
{
    size_t count = begin_count(s->history.n);

    if (s->history.n < ASIDE || count <= refit_count(s->history.n) ||
        (*refit && (*refit)->data.seen == count))
        return;
    refit_free(TAKE(*refit));
    struct refit *next = xcalloc(1, sizeof(*next));
    next->prior = *prior;
    next->seed = s->problem.seed;
    rewind_data(like, s, count, &next->data);
    if (data_enough(&next->data) && pthread_create(&next->thread, NULL, refit_main, next) == 0) {
        *refit = next;
        return;
    }
    data_release(&next->data); /* then it is fitted when it is needed */
    free(next);
}

bool refit_take(struct refit **refit, size_t count, struct fitted *ret)
{
    if (!*refit || (*refit)->data.seen != count)
        return false;
    pthread_join((*refit)->thread, NULL);
    fitted_release(ret);
    *ret = (*refit)->fitted;
    data_release(&(*refit)->data);
    free(TAKE(*refit));
    return true;
}
