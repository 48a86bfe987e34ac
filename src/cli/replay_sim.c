/* SPDX-License-Identifier: MIT */
/*
 * replay_sim.c — one search and one rule over a table of recorded trials, one trial at a time.
 *
 *   ask ──► x ──► nearest recorded setting not yet run ──► its curve, step by step ──► tell
 *                                                     rule: stop, or pause and go on later
 *
 * What the search asked for and did not get is told as never run.
 */
#include "cli/replay.h"
#include "search/search.h"

#include <errno.h>
#include <math.h>

enum run_state { RUN_NOT, RUN_ON, RUN_PAUSED, RUN_DONE, RUN_STOPPED };

struct sim {
    const struct replay_table *table;
    const struct replay_how *how;
    struct search *search; /* NULL: in the order of the record */
    enum run_state *states;
    double *places;    /* (trials, space.n) */
    size_t *used;      /* values of its curve that were seen */
    VEC(size_t) begun; /* in their order */
    int64_t steps;
    double best;
    struct replay_path *path;
};

/* ---- which next ---- */

/* Where a setting lies on the axes of param_to_unit(); an inactive parameter stays NaN. */
static void place(const struct space *space, const double *x, double *ret)
{
    for (size_t i = 0; i < space->n; i++)
        ret[i] = isnan(x[i]) ? NAN : param_to_unit(&space->params[i], x[i]);
}

/* Squared distance of two places; a different choice, or active here and not there, is as far as it
 * gets. More than `most` need not be exact. */
static double distance(const struct space *space, const double *a, const double *b, double most)
{
    double sum = 0;
    for (size_t i = 0; i < space->n && sum < most; i++) {
        const struct param *param = &space->params[i];
        if (isnan(a[i]) && isnan(b[i]))
            continue;
        if (isnan(a[i]) || isnan(b[i]) || (param->type == PARAM_CHOICE && !param->ordered))
            sum += a[i] != b[i];
        else
            sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
}

/* The unseen trial nearest to x; with x NULL the first one. */
static size_t nearest(const struct sim *sim, const double *x)
{
    const struct replay_table *table = sim->table;
    size_t best = table->trials.len, n = table->space->n;
    autofree(mem) double *here = xcalloc(n + 1, sizeof(*here));
    double least = INFINITY;

    if (x)
        place(table->space, x, here);
    for (size_t i = 0; i < table->trials.len; i++) {
        if (sim->states[i] != RUN_NOT)
            continue;
        double d = x ? distance(table->space, here, sim->places + i * n, least) : 0;
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

static int choose(struct sim *sim, size_t *ret, struct err *err)
{
    const struct space *space = sim->table->space;
    autofree(mem) double *x = xcalloc(space->n + 1, sizeof(*x));
    struct suggestion suggestion = {.x = x};
    struct result none = {.kind = RESULT_VOID, .value = NAN};
    int r = sim->search ? search_ask(sim->search, &suggestion, err) : -ENODATA;

    if (r < 0 && r != -ENODATA) /* -ENODATA: all is asked, take what is left */
        return r;
    *ret = nearest(sim, r < 0 ? NULL : x);
    const double *mine = sim->table->trials.at[*ret].x;
    if (sim->search && (r < 0 || !point_equal(x, mine, space->n))) {
        if (r == 0)
            search_tell(sim->search, x, &none);
        search_asked(sim->search, mine, WHY_DRAW, false);
    }
    return 0;
}

/* ---- running it ---- */

struct view {
    struct stop_view base;
    struct stop_trial *trials;
    size_t mine; /* where the judged one stands in it */
};

static void view_init(const struct sim *sim, size_t mine, struct view *ret)
{
    static const enum curve_state states[] = {
        [RUN_ON] = CURVE_RUNNING,
        [RUN_PAUSED] = CURVE_PAUSED,
        [RUN_DONE] = CURVE_COMPLETED,
        [RUN_STOPPED] = CURVE_STOPPED,
    };
    size_t n = 0, left = sim->table->trials.len - sim->begun.len;

    *ret = (struct view){.trials = xcalloc(sim->begun.len + 1, sizeof(*ret->trials))};
    for (size_t k = 0; k < sim->begun.len; k++) {
        size_t i = sim->begun.at[k];
        const struct replay_trial *trial = &sim->table->trials.at[i];
        if (!sim->used[i])
            continue; /* nothing to be seen */
        if (i == mine)
            ret->mine = n;
        ret->trials[n++] = (struct stop_trial){
            .number = (int64_t)k + 1,
            .state = states[sim->states[i]],
            .curve = {trial->steps.at, trial->values.at, sim->used[i]},
            .prior_mean = NAN,
            .prior_deviation = NAN,
        };
    }
    ret->base = (struct stop_view){.settings = &sim->how->settings,
                                   .trials = ret->trials,
                                   .n = n,
                                   .trials_left = (int64_t)left,
                                   .seed = sim->how->seed};
}

static struct stop_verdict judge(const struct sim *sim, size_t mine)
{
    struct stop_verdict verdict = {.action = STOP_GO_ON, .mean = NAN, .deviation = NAN};
    struct view view;

    if (!sim->how->stop || !sim->how->stop->judge)
        return verdict;
    view_init(sim, mine, &view);
    stop_verdict_init(&view.base, view.mine, &verdict);
    sim->how->stop->judge(&view.base, view.mine, &verdict);
    free(view.trials);
    return verdict;
}

static void tell(struct sim *sim, size_t i, enum result_kind kind, double value, double deviation)
{
    struct result result = {.kind = kind, .value = value, .deviation = deviation};

    if (kind == RESULT_VALUE && isnan(value))
        result.kind = RESULT_FAILED;
    if (kind == RESULT_VALUE && (isnan(sim->best) || value < sim->best))
        sim->best = value;
    if (sim->search)
        search_tell(sim->search, sim->table->trials.at[i].x, &result);
}

static void note(struct sim *sim)
{
    struct replay_mark mark = {(int64_t)sim->begun.len, sim->steps, sim->best};
    vec_push(&sim->path->marks, mark);
}

/* It has come to the end of its record. */
static void finish(struct sim *sim, size_t i)
{
    const struct replay_trial *trial = &sim->table->trials.at[i];

    sim->states[i] = trial->state == TRIAL_STOPPED ? RUN_STOPPED : RUN_DONE;
    tell(sim, i, trial->state == TRIAL_STOPPED ? RESULT_STOPPED : RESULT_VALUE, trial->value, 0);
    note(sim);
}

static void end_early(struct sim *sim, size_t i, const struct stop_verdict *verdict)
{
    bool predicted = isfinite(verdict->mean);
    double last = sim->table->trials.at[i].values.at[sim->used[i] - 1];

    sim->states[i] = RUN_STOPPED;
    sim->path->stopped++;
    tell(sim, i, RESULT_STOPPED, predicted ? verdict->mean : last,
         predicted && isfinite(verdict->deviation) ? verdict->deviation : 0);
    note(sim);
}

/* Run until its record ends or the rule has enough of it. */
static void go_on(struct sim *sim, size_t i)
{
    const struct replay_trial *trial = &sim->table->trials.at[i];

    sim->states[i] = RUN_ON;
    if (!trial->steps.len || !sim->table->curves) {
        sim->steps++;
        finish(sim, i);
        return;
    }
    while (sim->used[i] < trial->steps.len) {
        sim->used[i]++;
        sim->steps++;
        if (sim->used[i] == trial->steps.len)
            break; /* its end is its end */
        struct stop_verdict verdict = judge(sim, i);
        if (verdict.action == STOP_END) {
            end_early(sim, i, &verdict);
            return;
        }
        if (verdict.action == STOP_PAUSE) {
            sim->states[i] = RUN_PAUSED;
            return;
        }
    }
    finish(sim, i);
}

/* A paused trial that deserves the slot more than a new one; -1: none. */
static ptrdiff_t promoted(const struct sim *sim)
{
    struct view view;
    ptrdiff_t at;

    if (!sim->how->stop || !sim->how->stop->promote)
        return -1;
    view_init(sim, SIZE_MAX, &view);
    at = sim->how->stop->promote(&view.base);
    int64_t number = at < 0 ? 0 : view.trials[at].number;
    free(view.trials);
    return number && sim->begun.at ? (ptrdiff_t)sim->begun.at[number - 1] : -1;
}

/* What is still paused when nothing is left to begin is over. */
static void end_paused(struct sim *sim)
{
    struct stop_verdict none = {.mean = NAN};

    vec_foreach (i, &sim->begun)
        if (sim->states[*i] == RUN_PAUSED)
            end_early(sim, *i, &none);
}

static int run_all(struct sim *sim, struct err *err)
{
    for (;;) {
        ptrdiff_t paused = promoted(sim);
        size_t next = 0;
        if (paused >= 0) {
            go_on(sim, (size_t)paused);
            continue;
        }
        if (sim->begun.len == sim->table->trials.len)
            break;
        int r = choose(sim, &next, err);
        if (r < 0)
            return r;
        vec_push(&sim->begun, next);
        go_on(sim, next);
    }
    end_paused(sim);
    return 0;
}

int replay_simulate(const struct replay_table *table, const struct replay_how *how,
                    struct replay_path *ret, struct err *err)
{
    struct problem problem = {.space = table->space,
                              .trials = (int64_t)table->trials.len,
                              .seed = how->seed,
                              .n_objectives = 1};
    struct sim sim = {.table = table,
                      .how = how,
                      .states = xcalloc(table->trials.len, sizeof(*sim.states)),
                      .used = xcalloc(table->trials.len, sizeof(*sim.used)),
                      .best = NAN,
                      .path = ret};
    sim.places = xcalloc(table->trials.len * table->space->n + 1, sizeof(double));
    for (size_t i = 0; i < table->trials.len; i++)
        place(table->space, table->trials.at[i].x, sim.places + i * table->space->n);
    int r = how->search ? search_new(how->search, &problem, &sim.search, err) : 0;

    *ret = (struct replay_path){.stopped = 0};
    if (r >= 0)
        r = run_all(&sim, err);
    if (sim.search)
        search_free(sim.search);
    vec_release(&sim.begun);
    free(sim.states);
    free(sim.used);
    free(sim.places);
    return r;
}

void replay_path_release(struct replay_path *path)
{
    vec_release(&path->marks);
}

double replay_best_at(const struct replay_path *path, double steps)
{
    double best = NAN;
    vec_foreach (mark, &path->marks)
        if ((double)mark->steps <= steps)
            best = mark->best;
    return best;
}

const struct replay_mark *replay_reaches(const struct replay_path *path, double value)
{
    vec_foreach (mark, &path->marks)
        if (mark->best <= value)
            return mark;
    return NULL;
}
