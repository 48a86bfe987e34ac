/* SPDX-License-Identifier: MIT */
/*
 * search.c — the list of algorithms, the choice of `auto`, and the wrappers through which all
 * callers go. The wrappers check what every algorithm promises: a point is canonical and in bounds.
 */
#include "search/search.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* One row an algorithm, in the order in which they are listed to the user. */
#define ALGORITHMS(row) row(grid) row(random) row(sobol)

#define DECLARE(name) extern const struct search_ops search_##name;
ALGORITHMS(DECLARE)

#define LIST(name) &search_##name,
static const struct search_ops *const algorithms[] = {ALGORITHMS(LIST)};

/* Without a budget, `auto` takes the grid for spaces up to this size. */
#define AUTO_GRID_MAX 100000

size_t search_count(void)
{
    return ARRAY_LEN(algorithms);
}

const struct search_ops *search_at(size_t i)
{
    assert(i < ARRAY_LEN(algorithms));
    return algorithms[i];
}

static const struct search_ops *ops_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (str_eq(algorithms[i]->name, name))
            return algorithms[i];
    return NULL;
}

/* Every setting if the budget allows it; else spread the trials evenly. */
static const struct search_ops *ops_auto(const struct space *space, int64_t trials)
{
    double budget = trials > 0 ? (double)trials : AUTO_GRID_MAX;
    return space_size(space) <= budget ? &search_grid : &search_sobol;
}

static int refuse_name(const char *name, struct err *err)
{
    autorelease(str) struct str list = STR_INIT;
    str_add(&list, "auto");
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        str_addf(&list, ", %s", algorithms[i]->name);
    return err_set(err, ENOENT, "unknown search algorithm '%s'; there are %s", name, list.s);
}

int search_new(const char *name, const struct space *space, int64_t trials, uint64_t seed,
               struct search **ret, struct err *err)
{
    const struct search_ops *ops = str_eq(name, "auto") ? ops_auto(space, trials) : ops_find(name);
    if (!ops)
        return refuse_name(name, err);

    autofree(search) struct search *s = xcalloc(1, ops->size);
    s->ops = ops;
    s->space = space;
    s->seed = seed;
    rng_init(&s->rng, seed, 0);
    int r = ops->init ? ops->init(s, err) : 0;
    if (r < 0)
        return r;
    *ret = TAKE(s);
    return 0;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    if (s->ops->release)
        s->ops->release(s);
    free(s);
}

int search_ask(struct search *s, double *ret_x, struct err *err)
{
    int r = s->ops->ask(s, ret_x, err);
    assert(r == 0 || r == -EAGAIN || r == -ENODATA);
    assert(r < 0 || space_contains(s->space, ret_x));
    return r;
}

/* Points of the store may be older than the space's rules: what lies outside teaches nothing. A
 * value that is no number is a failure. */
void search_tell(struct search *s, const double *x, const struct result *result)
{
    struct result told = *result;

    if (!s->ops->tell || !space_contains(s->space, x))
        return;
    if (told.kind == RESULT_VALUE && isnan(told.value))
        told.kind = RESULT_FAILED;
    s->ops->tell(s, x, &told);
}

void search_save(const struct search *s, struct str *to)
{
    s->ops->save(s, to);
}

int search_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    return s->ops->load(s, bytes, n, err);
}

const char *search_name(const struct search *s)
{
    return s->ops->name;
}
