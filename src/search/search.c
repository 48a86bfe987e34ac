/* SPDX-License-Identifier: MIT */
/*
 * search.c — the list of algorithms, the choice of `auto`, and the wrappers through which all
 * callers go. They keep the history, give out what comes before any search (the user's settings,
 * those that earlier experiments found good, repeats), and check what every algorithm promises.
 */
#include "search/search.h"
#include "search/belief.h"
#include "search/first.h"
#include "search/history.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* One row an algorithm, in the order in which they are listed to the user. */
#define ALGORITHMS(row)                                                                            \
    row(auto) row(grid) row(random) row(sobol) row(bayes) row(forest) row(tpe) row(cmaes)          \
        row(evolve)

#define DECLARE(name) extern const struct search_ops search_##name;
ALGORITHMS(DECLARE)

#define LIST(name) &search_##name,
static const struct search_ops *const algorithms[] = {ALGORITHMS(LIST)};

/* Without a budget, `auto` takes the grid for spaces up to this size. */
#define AUTO_GRID_MAX 100000

#define STATE_VERSION 2

size_t search_count(void)
{
    return ARRAY_LEN(algorithms);
}

const struct search_ops *search_at(size_t i)
{
    assert(i < ARRAY_LEN(algorithms));
    return algorithms[i];
}

const char *why_name(enum why why)
{
    static const char *const names[WHYS] = {
        [WHY_WALK] = "walk",   [WHY_DRAW] = "draw", [WHY_TRY] = "try",     [WHY_KNOWN] = "known",
        [WHY_MODEL] = "model", [WHY_NEAR] = "near", [WHY_BREED] = "breed", [WHY_REPEAT] = "repeat",
    };
    return names[why];
}

static const struct search_ops *ops_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (str_eq(algorithms[i]->name, name))
            return algorithms[i];
    return NULL;
}

/* Every setting if the budget allows it; else led by a model. */
static const struct search_ops *ops_auto(const struct problem *problem)
{
    double budget = problem->trials > 0 ? (double)problem->trials : AUTO_GRID_MAX;
    return space_size(problem->space) <= budget ? &search_grid : &search_auto;
}

static int refuse_name(const char *name, struct err *err)
{
    autorelease(str) struct str list = STR_INIT;
    str_add(&list, "auto");
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (!str_eq(algorithms[i]->name, "auto"))
            str_addf(&list, ", %s", algorithms[i]->name);
    return err_set(err, ENOENT, "unknown search algorithm '%s'; there are %s", name, list.s);
}

bool search_learns(const char *name, const struct problem *problem)
{
    const struct search_ops *ops = str_eq(name, "auto") ? ops_auto(problem) : ops_find(name);
    return ops && !ops->blind;
}

int search_new(const char *name, const struct problem *problem, struct search **ret,
               struct err *err)
{
    const struct search_ops *ops = str_eq(name, "auto") ? ops_auto(problem) : ops_find(name);
    if (!ops)
        return refuse_name(name, err);
    if (problem->n_objectives > 1 && !ops->several)
        return err_set(err, EINVAL, "%s search knows one objective only; take evolve, tpe or auto",
                       name);

    autofree(search) struct search *s = xcalloc(1, ops->size);
    s->ops = ops;
    s->problem = *problem;
    s->problem.n_objectives = MAX(problem->n_objectives, (size_t)1);
    s->space = problem->space;
    s->history.d = problem->space->n;
    s->before = (struct str)STR_INIT;
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
    belief_free(s->belief);
    free(s->prepared.x);
    str_release(&s->before);
    history_release(&s->history);
    free(s);
}

struct rng search_rng(const struct search *s, uint64_t purpose)
{
    struct rng rng;
    rng_init(&rng, hash_u64(s->problem.seed ^ hash_u64(purpose + 1)), s->asks + 1);
    return rng;
}

static int compute(struct search *s, struct suggestion *ret, struct err *err)
{
    ret->why = WHY_DRAW;
    ret->by = s->ops->name;
    ret->mean = ret->deviation = ret->acquisition = NAN;
    ret->seen = (int64_t)s->history.n;
    if (first_ask(s, ret))
        return 0;
    int r = s->ops->ask(s, ret, err);
    assert(r == 0 || r == -EAGAIN || r == -ENODATA);
    assert(r < 0 || space_contains(s->space, ret->x));
    return r;
}

static void count_ask(struct search *s, const double *x, enum why why)
{
    s->asks++;
    if (why == WHY_TRY)
        first_tried(s, x);
    s->repeats_used += why == WHY_REPEAT;
}

int search_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    double *x = ret->x;
    int r = 0;

    if (s->prepared.x && s->prepared.why != WHY_REPEAT && history_given(&s->history, s->prepared.x))
        search_forget(s); /* somebody else has run it since */
    if (s->prepared.x) {
        *ret = s->prepared;
        ret->x = x;
        memcpy(x, s->prepared.x, s->space->n * sizeof(*x));
        free(TAKE(s->prepared.x));
    } else {
        r = compute(s, ret, err);
    }
    if (r < 0)
        return r;
    count_ask(s, x, ret->why);
    history_ask(&s->history, x);
    return 0;
}

int search_prepare(struct search *s, struct err *err)
{
    if (s->prepared.x)
        return 0;
    struct suggestion next = {.x = xcalloc(s->space->n + 1, sizeof(double))};
    str_cut(&s->before, 0);
    if (s->ops->save)
        s->ops->save(s, &s->before);
    int r = compute(s, &next, err);
    if (r < 0)
        free(next.x);
    else
        s->prepared = next;
    return r;
}

/* A suggestion that nobody got leaves no trace: counters of draws go back. */
void search_forget(struct search *s)
{
    if (s->prepared.x && s->ops->load)
        s->ops->load(s, s->before.s, s->before.len, NULL);
    free(TAKE(s->prepared.x));
}

void search_asked(struct search *s, const double *x, enum why why, bool told)
{
    count_ask(s, x, why);
    if (!told && space_contains(s->space, x))
        history_ask(&s->history, x);
}

/* Points of the store may be older than the space's rules: what lies outside teaches nothing. A
 * value that is not finite is a failure. */
void search_tell(struct search *s, const double *x, const struct result *result)
{
    struct result told = *result;

    if (!space_contains(s->space, x))
        return;
    if (told.kind == RESULT_VALUE && !isfinite(told.value))
        told.kind = RESULT_FAILED;
    if (!isfinite(told.value))
        told.value = NAN;
    if (history_tell(&s->history, x, &told, s->problem.n_objectives - 1,
                     s->problem.n_constraints) &&
        s->ops->told)
        s->ops->told(s);
}

int64_t search_told(const struct search *s)
{
    return (int64_t)s->history.n;
}

struct state_head {
    uint64_t version, seed, d;
};

void search_save(const struct search *s, struct str *to)
{
    struct state_head head = {STATE_VERSION, s->problem.seed, s->space->n};
    str_add_n(to, (const char *)&head, sizeof(head));
    if (s->prepared.x) /* nobody got it yet, and nobody will if this is read again */
        str_add_n(to, s->before.s, s->before.len);
    else if (s->ops->save)
        s->ops->save(s, to);
}

int search_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    struct state_head head;

    if (n < sizeof(head))
        return err_set(err, EINVAL, "the saved state of %s search is cut short", s->ops->name);
    memcpy(&head, bytes, sizeof(head));
    if (head.version != STATE_VERSION)
        return err_set(err, EINVAL, "the saved state of %s search is of another version",
                       s->ops->name);
    if (head.seed != s->problem.seed || head.d != s->space->n)
        return err_set(err, EINVAL, "the saved state of %s search does not fit this space and seed",
                       s->ops->name);
    bytes = (const char *)bytes + sizeof(head);
    n -= sizeof(head);
    if (s->ops->load)
        return s->ops->load(s, bytes, n, err);
    return n ? err_set(err, EINVAL, "the saved state of %s search is too long", s->ops->name) : 0;
}

const char *search_name(const struct search *s)
{
    return s->ops->name;
}
