/* SPDX-License-Identifier: MIT */
/*
 * ask.c — the search of a run: what it is given, what it is told, and when it computes.
 *
 * A suggestion that rests on results may take a good part of a second, so it is not computed on
 * the loop. While trials run, a job prepares the next one aside, and a free slot takes it at once:
 *
 *     ask ──► job: search_prepare() ──► ready ──► ask …
 *                │ held: results wait in `untold`
 *                └──► told in their order
 *
 * A suggestion that looks at no results (draws, walks) costs nothing and is asked for when it is
 * needed. Results are numbered when they become known; told in that order after a restart, with
 * the trials asked in the order of their numbers, they bring the search back.
 *
 * Nobody but a job touches the search while it holds it.
 */
#include "base/log.h"
#include "engine/internal.h"
#include "linalg/linalg.h"

#include <errno.h>
#include <math.h>

#define LIGHT_US 1000 /* what takes less is computed on the loop */
#define LONG_RUN 20   /* a single trial this much longer than a suggestion deserves the newest */

static bool rests_on_results(enum why why)
{
    return why == WHY_MODEL || why == WHY_NEAR || why == WHY_BREED || why == WHY_REPEAT;
}

bool ask_anew(int64_t mean_run_us, int64_t took_us, int64_t others)
{
    return !others && mean_run_us / LONG_RUN >= took_us;
}

/* ---- its life ---- */

static struct problem problem_of(const struct run *run)
{
    const struct spec *spec = &run->spec;

    return (struct problem){
        .space = &spec->space,
        .trials = spec->trials,
        .seed = spec->seed,
        .n_objectives = 1 + spec->others.len,
        .n_constraints = spec->constraints.len,
        .weigh_cost = spec->per != PER_TRIAL,
        .repeats = !spec->no_repeats,
        .tries = (const double *const *)spec->tries.at,
        .n_tries = spec->tries.len,
        .tasks = run->knowledge.tasks.at,
        .n_tasks = run->knowledge.tasks.len,
    };
}

int ask_open(struct run *run, struct err *err)
{
    struct problem problem = problem_of(run);

    run->ask.ahead = problem.n_tasks > 0;
    return search_new(run->spec.algorithm, &problem, &run->search, err);
}

void ask_close(struct run *run)
{
    if (run->ask.job)
        search_job_free(run->ask.job);
    if (run->search)
        search_free(run->search);
    vec_release(&run->ask.untold);
    told_release(run);
}

/* ---- telling ---- */

void ask_tell_now(struct run *run, const struct trial *trial, const struct pause_result *pause)
{
    struct ask *ask = &run->ask;
    enum result_kind kind = told_tell(run, trial, pause);

    ask->stalled = false;
    if (kind == RESULT_VOID) {
        run->exhausted = false; /* its setting may come again */
    } else if (ask->ready && ask_anew(run->mean_run_us, ask->took_us, run->counts[TRIAL_RUNNING])) {
        search_forget(run->search);
        ask->ready = false;
    }
}

void ask_tell(struct run *run, struct trial *trial)
{
    if (result_kind_of(run, trial) != RESULT_VOID)
        trial->told = ++run->ask.told;
    if (!run->search)
        return;
    if (run->ask.job)
        vec_push(&run->ask.untold, ((struct untold_result){trial->number, 0}));
    else
        ask_tell_now(run, trial, NULL);
}

const struct pause_result *ask_tell_paused(struct run *run, const struct trial *trial)
{
    struct ask *ask = &run->ask;

    if (!run->search)
        return NULL;
    const struct pause_result *pause = told_add_pause(run, ++ask->told, trial);
    if (ask->job)
        vec_push(&ask->untold, ((struct untold_result){trial->number, ask->pauses.len}));
    else
        ask_tell_now(run, trial, pause);
    return pause;
}

/* ---- asking ---- */

/* The numbers of a suggestion, the objective's as the user counts it. */
static char *why_text(const struct run *run, const struct suggestion *suggestion)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    json_begin_object(&out);
    json_put_text(&out, "why", why_name(suggestion->why));
    json_put_text(&out, "by", suggestion->by);
    if (isfinite(suggestion->mean)) {
        json_put_double(&out, "mean", run_sign(run) * suggestion->mean);
        json_put_known(&out, "deviation", suggestion->deviation);
    }
    if (isfinite(suggestion->acquisition))
        json_put_double(&out, "acquisition", suggestion->acquisition);
    json_put_int(&out, "seen", suggestion->seen);
    json_end_object(&out);
    return str_take(&json);
}

enum why ask_why(const struct trial *trial)
{
    autofree(json) json_t *json = NULL;

    if (!trial->why || json_parse(trial->why, strlen(trial->why), &json, NULL) < 0)
        return WHY_DRAW;
    const char *name = json_get_text(json, "why", "");
    for (int why = 0; why < WHYS; why++)
        if (str_eq(why_name((enum why)why), name))
            return (enum why)why;
    return WHY_DRAW;
}

/* The first trial with this setting; 0: none. */
static int64_t find_point(const struct run *run, const double *x)
{
    vec_foreach (trial, &run->trials)
        if (trial->experiment && point_equal(trial->point, x, run->spec.space.n))
            return trial->number;
    return 0;
}

static void note_kind(struct run *run, enum why why)
{
    run->ask.searched = run->ask.searched || rests_on_results(why);
    run->ask.ahead = run->ask.ahead || run->ask.searched;
}

static void note_kernel(struct run *run, const struct suggestion *suggestion)
{
    const char *kernel = linalg_kernel();
    if (!run->experiment.kernel && isfinite(suggestion->mean) && *kernel)
        run->experiment.kernel = xstrdup(kernel);
}

/* What the search needs to go on is saved in the transaction of the trial it gave; now, while
 * nothing is prepared. */
static void save_state(struct run *run)
{
    autorelease(str) struct str state = STR_INIT;

    search_save(run->search, &state);
    free(run->experiment.search_state);
    run->experiment.search_state = xmemdup(state.s, state.len);
    run->experiment.search_state_size = state.len;
    run->dirty = true;
}

static int64_t add_trial(struct run *run, struct suggestion *suggestion, struct now now)
{
    int64_t repeat_of = suggestion->why == WHY_REPEAT ? find_point(run, suggestion->x) : 0;
    struct trial *trial = run_add_trial(run, suggestion->x, now);

    trial->seen = suggestion->seen;
    trial->repeat_of = repeat_of;
    trial->why = why_text(run, suggestion);
    run->ask.ready = run->ask.wanted = false;
    note_kind(run, suggestion->why);
    note_kernel(run, suggestion);
    save_state(run);
    return trial->number;
}

void ask_failed(struct run *run, int r, const struct err *err)
{
    if (r == -ENODATA) {
        run->exhausted = true;
    } else if (r == -EAGAIN) {
        run->ask.stalled = true;
    } else if (!run->closing) {
        run_close(run, EXPERIMENT_FAILED, REASON_NONE);
        free(run->experiment.error);
        run->experiment.error = xstrdup(err_text(err));
    }
}

static bool is_light(const struct ask *ask)
{
    return !ask->ahead || (ask->took_us && ask->took_us < LIGHT_US);
}

int64_t ask_next(struct run *run, struct now now)
{
    struct ask *ask = &run->ask;

    if (ask->job || (!ask->ready && !is_light(ask))) {
        ask->wanted = true;
        return 0;
    }
    if (ask->stalled)
        return 0;
    autorelease(err) struct err err = ERR_INIT;
    struct suggestion suggestion = {.x = xcalloc(run->spec.space.n + 1, sizeof(double))};
    int r = search_ask(run->search, &suggestion, &err);
    if (r < 0) {
        free(suggestion.x);
        ask->ready = false;
        ask_failed(run, r, &err);
        return 0;
    }
    return add_trial(run, &suggestion, now);
}

/* ---- after a restart ---- */

/* What was said to be the best stays so until the search names one anew. */
static void keep_best(struct run *run, int64_t said, double mean, double deviation)
{
    if (!run->ask.searched || said <= 0 || said > (int64_t)run->trials.len ||
        run_trial(run, said)->state != TRIAL_COMPLETED)
        return;
    run->best = said;
    run_note_best(run, mean, deviation);
}

/* Those that have told something, or those in flight. A removed one only has its number taken. */
static void asked_again(struct run *run, bool told)
{
    autofree(mem) double *nowhere = xcalloc(run->spec.space.n + 1, sizeof(*nowhere));

    vec_foreach (trial, &run->trials) {
        bool gone = !trial->experiment;
        bool over =
            gone || trial_state_ended(trial->state) || told_of_pause(run, trial->number, INT64_MAX);
        if (over == told)
            search_asked(run->search, gone ? nowhere : trial->point, ask_why(trial), told);
    }
}

/* What was saved may be of another algorithm or version, or damaged: the trials tell the rest. */
static int load_state(struct run *run, struct err *err)
{
    const struct experiment *experiment = &run->experiment;
    autorelease(err) struct err why = ERR_INIT;

    if (!experiment->search_state || search_load(run->search, experiment->search_state,
                                                 experiment->search_state_size, &why) >= 0)
        return 0;
    log_error("experiment %lld: %s; the search goes on from its results", (long long)experiment->id,
              err_text(&why));
    search_free(TAKE(run->search));
    return ask_open(run, err);
}

/* What is in flight comes last: a result of the same setting must not land a repeat of it. */
int ask_load(struct run *run, struct store *store, struct err *err)
{
    struct told_list known = {0};
    struct experiment before = run->experiment;
    int r = run->search ? load_state(run, err) : 0;

    if (r >= 0 && run->search)
        r = told_load(run, store, err);
    if (r < 0)
        return r;
    vec_foreach (trial, &run->trials) {
        note_kind(run, ask_why(trial));
        run->ask.told = MAX(run->ask.told, trial->told);
    }
    told_order(run, &known);
    if (run->search)
        asked_again(run, true);
    vec_foreach (told, &known) {
        run->ask.told = MAX(run->ask.told, told->number);
        if (run->search)
            ask_tell_now(run, told->trial, told->pause);
        if (!told->pause)
            run_consider_best(run, told->trial);
    }
    vec_foreach (told, &known)
        if (!told->pause) { /* the database keeps them */
            free(TAKE(told->trial->why));
            free(TAKE(told->trial->verdict));
        }
    if (run->search)
        asked_again(run, false);
    keep_best(run, before.best_trial, before.best_mean, before.best_deviation);
    vec_release(&known);
    return 0;
}
