/* SPDX-License-Identifier: MIT */
/*
 * replay.c — the history of a search again, from the rows alone.
 *
 * Trial k was suggested when the results 1 … seen were told and the trials before it were given
 * out. So: tell up to there, ask, compare; what differs ends it, for from then on the search would
 * know other things than it did. Where the experiment was extended, the search is made anew for the
 * larger budget, as it was then.
 */
#include "engine/replay.h"
#include "engine/internal.h"
#include "linalg/linalg.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

/* After `made` trials and `told` results the budget became `trials`. */
struct extended {
    int64_t from, trials, made, told, time_us;
};

struct replay {
    struct run run;         /* only spec, experiment, trials, knowledge and search are used */
    struct told_list order; /* all results, as they were told */
    size_t told;
    VEC(struct trial *) voids; /* those that ended without one, as they ended */
    size_t voided;
    VEC(struct extended) extensions;
    size_t extended;
};

/* Trials stand at their numbers; a removed one leaves a gap of experiment 0. */
static int load_trial(const struct trial_row *row, void *arg)
{
    struct run *run = arg;
    struct trial trial = row->trial;

    while ((int64_t)run->trials.len + 1 < trial.number)
        vec_push(&run->trials, ((struct trial){0}));
    trial.point = xmemdup(trial.point, MAX(row->ndim, 1) * sizeof(double));
    trial.extra = trial.n_extra ? xmemdup(trial.extra, trial.n_extra * sizeof(double)) : NULL;
    trial.why = trial.why ? xstrdup(trial.why) : NULL;
    trial.verdict = trial.verdict ? xstrdup(trial.verdict) : NULL;
    vec_push(&run->trials, trial);
    return 0;
}

static int by_ended(const void *a, const void *b)
{
    const struct trial *x = *(struct trial *const *)a, *y = *(struct trial *const *)b;
    return (x->ended_us > y->ended_us) - (x->ended_us < y->ended_us);
}

static void sort_trials(struct replay *replay)
{
    vec_foreach (trial, &replay->run.trials) {
        if (trial->experiment && trial_state_ended(trial->state) &&
            result_kind_of(&replay->run, trial) == RESULT_VOID)
            vec_push(&replay->voids, trial);
    }
    told_order(&replay->run, &replay->order);
    if (replay->voids.len)
        qsort(replay->voids.at, replay->voids.len, sizeof(*replay->voids.at), by_ended);
}

static int note_extension(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct replay *replay = arg;
    autofree(json) json_t *event = NULL;
    (void)id, (void)trial;

    if (!strstr(json, "\"event\":\"extended\"") || json_parse(json, strlen(json), &event, NULL) < 0)
        return 0;
    struct extended extended = {json_get_int(event, "from", 0), json_get_int(event, "trials", 0),
                                json_get_int(event, "made", 0), json_get_int(event, "told", 0),
                                time_us};
    vec_push(&replay->extensions, extended);
    return 0;
}

static int load(struct replay *replay, struct store *store, int64_t id, struct err *err)
{
    struct run *run = &replay->run;
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    struct trial_query query = {.experiment = id, .bare = true};
    struct experiment_row row = {0};
    int r = store_find_experiment(store, ref, true, &row, err);

    if (r < 0)
        return r;
    run->experiment = row.experiment;
    row.experiment = (struct experiment){0};
    experiment_row_release(&row);
    const char *spec = run->experiment.spec_json;
    r = spec_parse(spec, strlen(spec), "stored spec", "/", NULL, &run->spec, NULL, err);
    if (r >= 0)
        r = knowledge_load(run, store, err);
    if (r >= 0)
        r = store_events(store, id, 0, 0, note_extension, replay, err);
    if (r >= 0 && replay->extensions.len)
        run->spec.trials = replay->extensions.at[0].from;
    if (r >= 0)
        r = ask_open(run, err);
    if (r >= 0)
        r = store_trials(store, &query, load_trial, run, err);
    if (r >= 0)
        r = told_load(run, store, err);
    return r < 0 ? r : 0;
}

static void tell_next(struct replay *replay)
{
    const struct told *told = &replay->order.at[replay->told++];
    told_tell(&replay->run, told->trial, told->pause);
}

/* All that was known when this trial was suggested. */
static void tell_until(struct replay *replay, const struct trial *trial)
{
    while (replay->told < replay->order.len && search_told(replay->run.search) < trial->seen)
        tell_next(replay);
    while (replay->voided < replay->voids.len &&
           replay->voids.at[replay->voided]->ended_us < trial->created_us)
        told_tell(&replay->run, replay->voids.at[replay->voided++], NULL);
}

/* One trial: 1 it comes again, 0 it was not a suggestion, -ENODATA another one comes. */
static int ask_one(struct replay *replay, const struct trial *trial)
{
    struct search *search = replay->run.search;
    size_t n = replay->run.spec.space.n;
    autofree(mem) double *x = xcalloc(n + 1, sizeof(*x));
    struct suggestion suggestion = {.x = x};

    if (!trial->experiment || !trial->why) { /* removed, or not of the search */
        search_asked(search, trial->point ? trial->point : x, WHY_DRAW, true);
        return 0;
    }
    tell_until(replay, trial);
    if (search_ask(search, &suggestion, NULL) < 0 || !point_equal(x, trial->point, n))
        return -ENODATA;
    return 1;
}

static bool was_over(const struct run *run, const struct trial *trial, const struct extended *then)
{
    if (told_of_pause(run, trial->number, then->told))
        return true; /* it had told something, at least */
    if (trial->told)
        return trial->told <= then->told;
    return trial_state_ended(trial->state) && trial->ended_us <= then->time_us;
}

/* What had ended by then, or what was in flight. */
static void asked_until(struct replay *replay, const struct extended *then, bool over)
{
    struct run *run = &replay->run;
    autofree(mem) double *nowhere = xcalloc(run->spec.space.n + 1, sizeof(*nowhere));

    for (int64_t i = 0; i < MIN(then->made, (int64_t)run->trials.len); i++) {
        const struct trial *trial = &run->trials.at[i];
        bool gone = !trial->experiment;
        if ((gone || was_over(run, trial, then)) == over)
            search_asked(run->search, gone ? nowhere : trial->point, ask_why(trial), over);
    }
}

/* The search anew, with a larger budget and all that was known then. */
static int extend(struct replay *replay, const struct extended *to)
{
    struct run *run = &replay->run;

    search_free(TAKE(run->search));
    run->spec.trials = to->trials;
    int r = ask_open(run, NULL);
    if (r < 0)
        return r;
    asked_until(replay, to, true);
    replay->told = 0;
    while (replay->told < replay->order.len && replay->order.at[replay->told].number <= to->told)
        tell_next(replay);
    while (replay->voided < replay->voids.len &&
           replay->voids.at[replay->voided]->ended_us <= to->time_us)
        replay->voided++;
    asked_until(replay, to, false);
    return 0;
}

/* 0, or -errno if there is no search to ask any more. */
static int extend_if_due(struct replay *replay, const struct trial *trial)
{
    int r = 0;

    while (r >= 0 && replay->extended < replay->extensions.len &&
           trial->number > replay->extensions.at[replay->extended].made)
        r = extend(replay, &replay->extensions.at[replay->extended++]);
    return r;
}

static void check_all(struct replay *replay, struct replay_check *ret)
{
    vec_foreach (trial, &replay->run.trials) {
        ret->suggestions += trial->experiment && trial->why;
        if (ret->other)
            continue;
        int r = extend_if_due(replay, trial);
        if (r >= 0)
            r = ask_one(replay, trial);
        ret->same += r > 0;
        if (r < 0)
            ret->other = trial->number;
    }
}

static void replay_release(struct replay *replay)
{
    struct run *run = &replay->run;

    if (run->search)
        search_free(run->search);
    vec_foreach (trial, &run->trials)
        trial_release(trial);
    vec_release(&run->trials);
    vec_release(&replay->order);
    told_release(run);
    vec_release(&replay->voids);
    vec_release(&replay->extensions);
    knowledge_release(&run->knowledge);
    spec_release(&run->spec);
    experiment_release(&run->experiment);
}

int replay_check(struct store *store, int64_t experiment, struct replay_check *ret, struct err *err)
{
    struct replay replay = {0};

    *ret = (struct replay_check){.here = ""};
    spec_init(&replay.run.spec);
    int r = load(&replay, store, experiment, err);
    if (r >= 0) {
        sort_trials(&replay);
        check_all(&replay, ret);
        ret->kernel = TAKE(replay.run.experiment.kernel);
        ret->here = ret->kernel && linalg_open(NULL) >= 0 ? linalg_kernel() : "";
        if (!ret->suggestions)
            r = err_set(err, ENODATA, "the search of experiment %lld has suggested nothing",
                        (long long)experiment);
    }
    replay_release(&replay);
    return r;
}

void replay_check_release(struct replay_check *check)
{
    free(check->kernel);
}
