/* SPDX-License-Identifier: MIT */
/*
 * on_ended.c — an attempt is over and nothing of it runs: what becomes of its trial.
 */
#include "base/suggest.h"
#include "engine/internal.h"
#include "engine/outcome.h"

#include <math.h>

static bool code_listed(const struct spec *spec, int status)
{
    vec_foreach (code, &spec->retry_codes)
        if (*code == status)
            return true;
    return false;
}

/* Why it was to end. Of a user's word NONE if it had ended before: nobody looked for a while. */
static enum reason asked_in_time(const struct live *live, const struct ending *ending)
{
    bool by_user = live->asked == REASON_CANCELLED || live->asked == REASON_BY_HAND;
    bool late = by_user && live->asked_us && ending->ended_us && ending->ended_us < live->asked_us;
    return late ? REASON_NONE : live->asked;
}

static struct outcome judge(const struct live *live, const struct trial *trial,
                            const struct ending *ending)
{
    const struct spec *spec = &live->run->spec;
    struct attempt_facts facts = {
        .ending = ending,
        .asked = asked_in_time(live, ending),
        .obeyed = live->obeyed,
        .paused = trial->state == TRIAL_PAUSED && trial->reason != REASON_HELD,
        .still = live->paused,
        .reached_target = live->reached_target,
        .has_value = !spec->objective.metric || isfinite(trial->value),
        .retries = trial->retries,
        .retries_allowed = spec->retries,
        .code_listed = ending->reason == REASON_EXIT && code_listed(spec, ending->exit_status),
    };
    if (ending->exit_status == EXIT_CHECKPOINTED || facts.asked == REASON_CHECKPOINT)
        facts.new_checkpoint = launch_new_checkpoint(live);
    return outcome_of(&facts);
}

static void add_closest(const struct live *live, struct str *to)
{
    VEC(const char *) names = {0};

    vec_foreach (summary, &live->summaries)
        vec_push(&names, summary->metric);
    const char *closest = suggest(live->run->spec.objective.metric, names.at, names.len);
    if (closest)
        str_addf(to, "; did you mean '%s'?", closest);
    vec_release(&names);
}

static void add_names(const struct live *live, struct str *to)
{
    if (!live->summaries.len)
        str_add(to, "nothing was recognised in its output");
    else
        str_add(to, "it reported ");
    for (size_t i = 0; i < live->summaries.len && i < 8; i++)
        str_addf(to, "%s%s", i ? ", " : "", live->summaries.at[i].metric);
}

/* "loss was nan at step 3": of those that count, the one that was first. */
static char *diverged_error(const struct live *live)
{
    const struct summary *first = NULL;

    vec_foreach (summary, &live->summaries)
        if (summary->first_nan_step != STEP_NONE && metric_diverges(live->run, summary->metric) &&
            (!first || summary->first_nan_step < first->first_nan_step))
            first = summary;
    if (!first)
        return xstrdup("a metric became NaN or infinite");
    return xasprintf("'%s' became NaN or infinite at step %lld", first->metric,
                     (long long)first->first_nan_step);
}

/* The sentence of the end, where the agent could not know it. */
static char *ending_error(const struct live *live, const struct ending *ending,
                          struct outcome outcome)
{
    const struct spec *spec = &live->run->spec;
    autorelease(str) struct str text = STR_INIT;

    if (outcome.reason == REASON_NO_METRIC) {
        str_addf(&text, "ended without reporting the objective '%s': ", spec->objective.metric);
        add_names(live, &text);
        add_closest(live, &text);
        return str_take(&text);
    }
    if (outcome.reason == REASON_DIVERGED)
        return diverged_error(live);
    if (outcome.verdict == VERDICT_FAILED && outcome.reason == REASON_CHECKPOINT)
        return xstrdup("asked to be started again without a new checkpoint");
    if (outcome.verdict == VERDICT_FAILED && outcome.reason == REASON_ALERT)
        return xasprintf("an alert was to start it again, but it has been started again %lld times "
                         "(limits.retries)",
                         (long long)spec->retries);
    if (outcome.verdict == VERDICT_COMPLETED || outcome.verdict == VERDICT_STOPPED)
        return NULL;
    autofree(mem) char *limit = ending->reason == REASON_OOM ? tuned_memory_limit(live) : NULL;
    if (limit)
        return xasprintf("over its memory limit of %s, which system.memory sets", limit);
    return ending->error ? xstrdup(ending->error) : NULL;
}

static void close_attempt(struct live *live, const struct agent_event *event,
                          struct outcome outcome)
{
    struct attempt *attempt = &live->attempt;
    const struct ending *ending = &event->ending;

    attempt->state = ATTEMPT_ENDED;
    attempt->reason = outcome.reason;
    attempt->ended_us = event->time_us;
    attempt->run_us = ending->run_us;
    attempt->cpu_us = ending->cpu_us;
    attempt->max_rss_bytes = ending->max_rss_bytes;
    if (ending->energy.joules > 0) {
        attempt->joules = ending->energy.joules;
        attempt->joules_measured = ending->energy.measured;
    }
    attempt->dropped_bytes = ending->dropped_bytes;
    attempt->exit_status = ending->exit_status;
    attempt->signal = ending->signal;
    free(attempt->error);
    attempt->error = ending_error(live, ending, outcome);
    txn_put_attempt(live->run->engine->tick->txn, attempt);
}

void trial_announce_end(struct run *run, const struct trial *trial, const char *error, bool best,
                        struct now now)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = event_begin(&json, "trial_ended", run, trial);

    space_words(&run->spec.space, trial->point, &words);
    json_put_text(&out, "state", trial_state_name(trial->state));
    json_put_text(&out, "reason", reason_name(trial->reason));
    json_key(&out, "value");
    if (run->spec.objective.metric && !isnan(trial->value))
        json_double(&out, trial->value);
    else
        json_null_out(&out);
    json_put_bool(&out, "best", best);
    json_put_double(&out, "seconds", round((double)trial->run_us / 1e3) / 1e3);
    json_put_text(&out, "error", error);
    json_key(&out, "params");
    space_json(&run->spec.space, trial->point, &out);
    json_put_text(&out, "words", words.s);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

/* A further objective or a constraint that a completed trial said nothing of: most often its name
 * is misspelt, and hours later no trial would count. Said once. */
static void tell_missing(struct run *run, const struct trial *trial, struct now now)
{
    autorelease(str) struct str names = STR_INIT, json = STR_INIT;
    const struct spec *spec = &run->spec;

    if (run->told_missing || trial->state != TRIAL_COMPLETED)
        return;
    for (size_t i = 0; i < spec->others.len + spec->constraints.len; i++)
        if (i >= trial->n_extra || isnan(trial->extra[i]))
            str_addf(&names, "%s'%s'", names.len ? ", " : "",
                     i < spec->others.len ? spec->others.at[i].metric
                                          : spec->constraints.at[i - spec->others.len].metric);
    if (!names.len)
        return;
    run->told_missing = true;
    autofree(mem) char *text =
        xasprintf("trial %lld.%lld reported no %s: it cannot be the best",
                  (long long)trial->experiment, (long long)trial->number, names.s);
    struct json_out out = event_begin(&json, "notice", run, trial);
    json_put_text(&out, "text", text);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

/* A program that cannot be started, or that only ever fails, will not get better. */
static void give_up_if_hopeless(const struct live *live, const struct trial *trial)
{
    struct run *run = live->run;
    const struct attempt *attempt = &live->attempt;
    bool never = live->cannot_start && trial->state == TRIAL_FAILED;
    bool all_fail = run->counts[TRIAL_FAILED] >= HOPELESS_FAILURES &&
                    !run->counts[TRIAL_COMPLETED] && !run->counts[TRIAL_STOPPED];

    if (run->closing || (!never && !all_fail))
        return;
    run_close(run, EXPERIMENT_FAILED, trial->reason);
    free(run->experiment.error);
    if (never)
        run->experiment.error = xstrdup(attempt->error ? attempt->error : "cannot be started");
    else
        run->experiment.error =
            xasprintf("the first %lld trials all failed; the last one: %s",
                      (long long)run->counts[TRIAL_FAILED], attempt->error ? attempt->error : "");
}

static void finish_trial(struct live *live, struct trial *trial, struct outcome outcome,
                         struct now now)
{
    static const enum trial_state states[] = {
        [VERDICT_COMPLETED] = TRIAL_COMPLETED,
        [VERDICT_STOPPED] = TRIAL_STOPPED,
        [VERDICT_FAILED] = TRIAL_FAILED,
    };
    struct run *run = live->run;

    trial_become(run, trial, states[outcome.verdict], outcome.reason);
    trial->ended_us = now.wall_us;
    if (trial->state == TRIAL_COMPLETED) {
        int64_t n = run->counts[TRIAL_COMPLETED];
        run->mean_run_us += (trial->run_us - run->mean_run_us) / n;
    }
    if (trial->state == TRIAL_COMPLETED || trial->reason == REASON_PRUNED)
        run_keep_curve(run, &live->curve);
    ask_tell(run, trial);
    trial_announce_end(run, trial, live->attempt.error, run_consider_best(run, trial), now);
    tell_missing(run, trial, now);
    give_up_if_hopeless(live, trial);
}

static void requeue_trial(struct live *live, struct trial *trial, struct outcome outcome,
                          struct now now)
{
    struct run *run = live->run;
    struct waiting waiting = {trial->number, 0};
    int64_t wait_us = 0;

    if (outcome.verdict == VERDICT_RETRY) {
        wait_us = sched_backoff_us(++trial->retries, &run->engine->rng);
        waiting.not_before_us = now.mono_us + wait_us;
    }
    trial_become(run, trial, TRIAL_QUEUED, outcome.reason);
    vec_push(&run->waiting, waiting);

    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "trial_retry", run, trial);
    json_put_text(&out, "reason", reason_name(outcome.reason));
    json_put_double(&out, "wait_s", round((double)wait_us / 1e5) / 10);
    json_put_text(&out, "error", live->attempt.error);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

static void forget(struct live *live)
{
    struct run *run = live->run;

    machine_give(&run->engine->machine, &live->grant);
    map_remove(&run->engine->live, (uint64_t)live->attempt.id);
    for (size_t i = 0; i < run->live.len; i++)
        if (run->live.at[i] == live) {
            vec_remove(&run->live, i);
            break;
        }
    live_free(live);
}

/* A trial's is known only if that of all its attempts is, and measured only if all were. */
static void add_energy(struct trial *trial, const struct attempt *attempt)
{
    bool first = attempt->number == 1;

    if (!attempt->joules || (!first && !trial->joules)) {
        trial->joules = 0;
        return;
    }
    trial->joules_measured = attempt->joules_measured && (first || trial->joules_measured);
    trial->joules += attempt->joules;
}

void on_ended(struct live *live, const struct agent_event *event, struct now now)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);
    struct outcome outcome = judge(live, trial, &event->ending);

    if (outcome.verdict == VERDICT_FAILED && tuned_to_blame(live, &event->ending, now))
        outcome = (struct outcome){VERDICT_REQUEUE, outcome.reason};
    if (outcome.verdict == VERDICT_COMPLETED && isfinite(live->progress.step))
        vec_push(&run->lengths, ((struct length){live->progress.unit, live->progress.step}));
    if (live->asked == REASON_RECONFIGURED && run->tuning && !launch_new_checkpoint(live))
        tuning_trial(run->tuning, trial->number)->stays = true;

    if (outcome.verdict != VERDICT_FAILED && outcome.verdict != VERDICT_RETRY)
        progress_end(live);
    pause_ended(live);
    if (outcome.verdict == VERDICT_COMPLETED || outcome.verdict == VERDICT_STOPPED)
        tuned_convict(live);
    workloads_learn(live, &event->ending, now,
                    outcome.verdict == VERDICT_COMPLETED || outcome.verdict == VERDICT_STOPPED);
    live->cannot_start = event->ending.reason == REASON_SPAWN && !event->ending.transient;
    close_attempt(live, event, outcome);
    trial->run_us += event->ending.run_us;
    add_energy(trial, &live->attempt);
    if (outcome.verdict == VERDICT_REQUEUE || outcome.verdict == VERDICT_RETRY)
        requeue_trial(live, trial, outcome, now);
    else if (outcome.verdict == VERDICT_PARK)
        pause_park(live, trial, outcome.reason, now);
    else
        finish_trial(live, trial, outcome, now);
    live_save(live, now);
    run_count_time(run, now);
    run->dirty = true;
    forget(live);
}
