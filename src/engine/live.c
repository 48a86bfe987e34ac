/* SPDX-License-Identifier: MIT */
/*
 * live.c — the document that the live view draws (cli/view.h tells its keys).
 */
#include "engine/internal.h"

#include <errno.h>
#include <math.h>

#define CURVE_SHOWN 60

static void put_us(struct json_out *out, const char *key, int64_t us)
{
    json_key(out, key);
    if (us < 0)
        json_null_out(out);
    else
        json_int(out, us);
}

static void put_curve(struct json_out *out, const struct curve_data *curve)
{
    size_t n = curve->values.len, shown = MIN(n, CURVE_SHOWN);

    json_key(out, "curve");
    json_begin_array(out);
    for (size_t i = 0; i < shown; i++)
        json_double(out, curve->values.at[shown == n ? i : i * (n - 1) / (shown - 1)]);
    json_end_array(out);
}

static void put_remaining(struct json_out *out, const struct live *live, struct now now)
{
    struct remaining left;
    bool target;

    if (!live_left(live, now, &left, &target))
        return;
    json_put_known(out, "remaining_s", left.middle);
    json_put_known(out, "remaining_low_s", left.low);
    json_put_known(out, "remaining_high_s", left.high);
    if (target)
        json_put_known(out, "chance", left.chance);
}

static void put_tuned(struct json_out *out, const struct live *live)
{
    struct run *run = live->run;
    autofree(mem) double *point = xcalloc(run->tuning->n, sizeof(*point));
    autorelease(str) struct str words = STR_INIT;

    tuning_point(run, live->tuned->now, point);
    space_words(&run->tuning->space, point, &words);
    json_put_text(out, "system", words.s);
    if (live->tuned->trying) {
        autofree(mem) char *text = xasprintf("trying %s", words.s);
        json_put_text(out, "tuning", text);
    }
}

static void put_live(struct json_out *out, const struct live *live, struct now now)
{
    struct run *run = live->run;
    const struct trial *trial = run_trial(run, live->attempt.trial);
    int64_t elapsed_us = live_elapsed_us(live, now);
    bool paused = trial->state == TRIAL_PAUSED;
    autorelease(str) struct str words = STR_INIT;
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);

    space_words(&run->spec.space, trial->point, &words);
    json_begin_object(out);
    json_put_text(out, "trial", id);
    json_put_text(out, "words", words.s);
    json_key(out, "step");
    if (trial->last_step == STEP_NONE)
        json_null_out(out);
    else
        json_int(out, trial->last_step);
    json_put_known(out, "value", trial->value);
    put_curve(out, &live->curve);
    json_put_int(out, "elapsed_us", elapsed_us);
    /* Longer than the others took: nobody knows. */
    put_us(out, "left_us",
           !paused && run->mean_run_us > elapsed_us ? run->mean_run_us - elapsed_us : -1);
    if (!paused)
        put_remaining(out, live, now);
    if (live->tuned)
        put_tuned(out, live);
    json_put_int(out, "attempt", live->attempt.number);
    json_put_bool(out, "paused", paused);
    json_put_bool(out, "stopping", live->asked != REASON_NONE);
    json_end_object(out);
}

static int64_t run_total(const struct run *run)
{
    double size = space_size(&run->spec.space);
    if (run->exhausted || run->closing)
        return (int64_t)run->trials.len;
    return size < (double)run->budget ? (int64_t)size : run->budget;
}

/* Trials still to run, at the mean time of those that completed, side by side as now. */
static int64_t run_eta_us(const struct run *run, struct now now)
{
    if (!run->mean_run_us)
        return -1;
    int64_t left = run_total(run) - (int64_t)run->trials.len + (int64_t)run->waiting.len;
    int64_t work_us = (int64_t)MIN((double)left * (double)run->mean_run_us, 1e18);
    vec_foreach (live, &run->live)
        if (!(*live)->paused)
            work_us += MAX(0, run->mean_run_us - live_elapsed_us(*live, now));
    return work_us / MAX(1, run_busy(run));
}

static void put_counts(struct json_out *out, const struct run *run)
{
    json_key(out, "trials");
    json_begin_object(out);
    json_put_int(out, "total", run_total(run));
    for (int state = 0; state < TRIAL_STATES; state++)
        json_put_int(out, trial_state_name(state), run->counts[state]);
    json_end_object(out);
}

static void put_best(struct json_out *out, struct run *run)
{
    json_key(out, "best");
    if (!run->best) {
        json_null_out(out);
        return;
    }
    const struct trial *best = run_trial(run, run->best);
    autorelease(str) struct str words = STR_INIT;
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)best->experiment, (long long)best->number);
    space_words(&run->spec.space, best->point, &words);
    json_begin_object(out);
    json_put_text(out, "trial", id);
    json_put_double(out, "value", best->value);
    json_key(out, "params");
    space_json(&run->spec.space, best->point, out);
    json_put_text(out, "words", words.s);
    json_end_object(out);
}

int engine_live(const struct engine *engine, int64_t experiment, struct now now, struct str *to)
{
    struct run *run = engine_find(engine, experiment);
    struct json_out out = JSON_OUT(to);

    if (!run)
        return -ENOENT;
    json_begin_object(&out);
    json_put_int(&out, "experiment", run->experiment.id);
    json_put_text(&out, "name", run->experiment.name);
    json_put_text(&out, "state", experiment_state_name(run->experiment.state));
    json_put_text(&out, "reason", reason_name(run->closing ? run->end_reason : REASON_NONE));
    json_put_text(&out, "home", engine->home);
    json_put_int(&out, "elapsed_us", run->experiment.run_us + now.mono_us - run->since_mono_us);
    put_us(&out, "eta_us", run_eta_us(run, now));
    json_put_text(&out, "metric", run->spec.objective.metric);
    json_put_text(&out, "goal",
                  run->spec.objective.goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
    json_put_known(&out, "target", run->spec.objective.target);
    put_counts(&out, run);
    put_best(&out, run);
    json_key(&out, "active");
    json_begin_array(&out);
    for (int paused = 0; paused <= 1; paused++) /* those that run first: there may not be room */
        vec_foreach (live, &run->live)
            if ((run_trial(run, (*live)->attempt.trial)->state == TRIAL_PAUSED) == paused)
                put_live(&out, *live, now);
    json_end_array(&out);
    json_end_object(&out);
    return 0;
}
