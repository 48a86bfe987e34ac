/* SPDX-License-Identifier: MIT */
/*
 * judge.c — early stopping: all curves of a run as its rule wants to see them, and what follows
 * from its verdict.
 *
 * A trial is judged by all that came together, once: one that is read again by another engine would
 * else be stopped for what it was long ago. The verdict's numbers stay with the trial, as the user
 * counts them; the search learns from them, and `hone show` makes a sentence of them.
 */
#include "engine/internal.h"

#include <math.h>

static double goal_sign(enum goal goal)
{
    return goal == GOAL_MAXIMIZE ? -1 : 1;
}

/* Thinned and turned around. Kept ones are so already. */
static struct curve curve_of(struct view *view, const struct curve_data *data, double sign)
{
    size_t n = data->steps.len, kept = MIN(n, CURVE_KEPT);
    int64_t *steps = arena_alloc(&view->arena, (kept + 1) * sizeof(*steps));
    double *values = arena_alloc(&view->arena, (kept + 1) * sizeof(*values));

    for (size_t i = 0; i < kept; i++) {
        size_t from = kept == n ? i : i * (n - 1) / (kept - 1);
        steps[i] = data->steps.at[from];
        values[i] = sign * data->values.at[from];
    }
    return (struct curve){steps, values, kept};
}

static struct curve curve_as_is(const struct curve_data *data)
{
    return (struct curve){data->steps.at, data->values.at, data->steps.len};
}

/* The further objectives: all of them or, where none was seen yet, empty ones. */
static const struct curve *others_of(struct view *view, const struct run *run,
                                     const struct curve_data *data, bool kept)
{
    size_t n = run->spec.others.len;
    struct curve *others = n ? arena_alloc(&view->arena, n * sizeof(*others)) : NULL;

    for (size_t i = 0; i < MIN(n, data->n_others); i++)
        others[i] = kept ? curve_as_is(&data->others[i])
                         : curve_of(view, &data->others[i], goal_sign(run->spec.others.at[i].goal));
    return others;
}

/* What the search expected of it, as it minimises. */
static void read_prior(const struct run *run, const struct trial *trial, double *ret_mean,
                       double *ret_deviation)
{
    autofree(json) json_t *why = NULL;

    *ret_mean = *ret_deviation = NAN;
    if (!trial->why || json_parse(trial->why, strlen(trial->why), &why, NULL) < 0)
        return;
    *ret_mean = run_sign(run) * json_get_double(why, "mean", NAN);
    *ret_deviation = json_get_double(why, "deviation", NAN);
}

static void add_kept(struct view *view, struct run *run, const struct curve_data *data,
                     enum curve_state state)
{
    struct stop_trial entry = {.number = data->trial,
                               .state = state,
                               .curve = curve_as_is(data),
                               .prior_mean = NAN,
                               .prior_deviation = NAN,
                               .others = others_of(view, run, data, true)};

    if (state == CURVE_PAUSED)
        read_prior(run, run_trial(run, data->trial), &entry.prior_mean, &entry.prior_deviation);
    vec_push(&view->trials, entry);
}

/* Did it begin anew, and has not got as far yet as it was when it was paused? */
static bool catches_up(const struct live *live)
{
    const struct curve_data *stood = &live->stood;

    return stood->steps.len &&
           (!live->curve.steps.len || *vec_last(&live->curve.steps) < *vec_last(&stood->steps));
}

static void add_live(struct view *view, struct live *live)
{
    struct run *run = live->run;
    const struct trial *trial = run_trial(run, live->attempt.trial);
    bool before = catches_up(live);
    const struct curve_data *curve = before ? &live->stood : &live->curve;
    struct stop_trial entry = {.number = trial->number,
                               .state = CURVE_RUNNING,
                               .curve = before ? curve_as_is(curve)
                                               : curve_of(view, curve, run_sign(run)),
                               .prior_mean = NAN,
                               .prior_deviation = NAN,
                               .judged = live->judged_step,
                               .others = others_of(view, run, curve, before)};

    if (live->asked != REASON_NONE)
        entry.state = CURVE_STOPPED;
    else if (trial->state == TRIAL_PAUSED)
        entry.state = CURVE_PAUSED;
    if (!live->prior_read)
        read_prior(run, trial, &live->prior_mean, &live->prior_deviation);
    live->prior_read = true;
    entry.prior_mean = live->prior_mean;
    entry.prior_deviation = live->prior_deviation;
    vec_push(&view->trials, entry);
}

static int by_number(const void *a, const void *b)
{
    const struct stop_trial *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

void view_init(struct view *view, struct run *run)
{
    bool over = run->exhausted || run->closing;
    int64_t left = over ? 0 : run->budget - (int64_t)run->trials.len;
    bool unlimited = left && !run->spec.trials;

    if (!run->closing && !unlimited)
        left += (int64_t)run->waiting.len; /* they come again */
    *view = (struct view){.base = {.settings = &run->spec.stop,
                                   .n_others = run->spec.others.len,
                                   .trials_left = unlimited ? -1 : left,
                                   .seed = run->spec.seed}};
    vec_foreach (curve, &run->finished_curves)
        add_kept(view, run, curve,
                 run_trial(run, curve->trial)->state == TRIAL_COMPLETED ? CURVE_COMPLETED
                                                                        : CURVE_STOPPED);
    vec_foreach (curve, &run->parked)
        if (curve->steps.len)
            add_kept(view, run, curve, CURVE_PAUSED);
    vec_foreach (live, &run->live)
        if ((*live)->curve.steps.len || (*live)->stood.steps.len)
            add_live(view, *live);
    if (view->trials.len)
        qsort(view->trials.at, view->trials.len, sizeof(*view->trials.at), by_number);
    view->base.trials = view->trials.at;
    view->base.n = view->trials.len;
}

void view_release(struct view *view)
{
    vec_release(&view->trials);
    arena_release(&view->arena);
}

static void put_number(struct json_out *out, const char *key, double x)
{
    if (isfinite(x))
        json_put_double(out, key, x);
}

/* What it was compared with: a chance; the step of a rung; or a value, which is turned back. */
static void put_threshold(struct json_out *out, const struct run *run,
                          const struct stop_verdict *verdict)
{
    if (!isnan(verdict->chance))
        put_number(out, "threshold", verdict->threshold);
    else if (run->stop->promote)
        put_number(out, "rung", verdict->threshold);
    else
        put_number(out, "threshold", run_sign(run) * verdict->threshold);
}

/* The numbers of a verdict, as the user counts. */
static char *verdict_text(const struct run *run, const struct stop_verdict *verdict)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    double sign = run_sign(run);

    json_begin_object(&out);
    json_put_text(&out, "rule", run->stop->name);
    put_number(&out, "chance", verdict->chance);
    put_threshold(&out, run, verdict);
    put_number(&out, "mean", sign * verdict->mean);
    put_number(&out, "deviation", verdict->deviation);
    json_put_int(&out, "step", verdict->step);
    json_end_object(&out);
    return str_take(&json);
}

static struct stop_verdict ask_rule(const struct live *live)
{
    struct run *run = live->run;
    struct stop_verdict verdict = {.action = STOP_GO_ON,
                                   .chance = NAN,
                                   .mean = NAN,
                                   .deviation = NAN,
                                   .threshold = NAN,
                                   .step = *vec_last(&live->curve.steps)};
    struct view view;

    view_init(&view, run);
    for (size_t i = 0; i < view.trials.len; i++)
        if (view.trials.at[i].number == live->attempt.trial)
            run->stop->judge(&view.base, i, &verdict);
    view_release(&view);
    return verdict;
}

void live_judge(struct live *live, struct now now)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);

    if (!run->stop || !run->stop->judge || !live->curve.steps.len || !live->curve_grew ||
        *vec_last(&live->curve.steps) <= live->judged_step || live->asked != REASON_NONE ||
        trial->state != TRIAL_RUNNING)
        return;
    live->curve_grew = false;
    struct stop_verdict verdict = ask_rule(live);
    live->judged_step = *vec_last(&live->curve.steps);
    if (verdict.action == STOP_GO_ON || (verdict.action == STOP_PAUSE && run->closing))
        return; /* what runs to the end of a closing experiment will not be woken again */
    free(trial->verdict);
    trial->verdict = verdict_text(run, &verdict);
    if (verdict.action == STOP_PAUSE) {
        pause_begin(live, now);
        return;
    }
    run_save_trial(run, trial, false);
    live_ask(live, REASON_PRUNED, false, now);
}
