/* SPDX-License-Identifier: MIT */
/*
 * show_tuning.c — hone show: how the machine under a trial was tuned, decision by decision, and
 * the sums over an experiment.
 */
#include "api/tuning_sum.h"
#include "api/wire.h"
#include "base/clock.h"
#include "cli/show.h"
#include "cli/view.h"

#include <math.h>

#define DECISIONS_SHOWN 20
#define SECONDS_MAX     1e12
#define CHANCE_ENOUGH   0.8 /* of reaching the target: below, that is said instead of a time */

/* What the engine that runs it says of a trial now; NULL: nothing. */
static json_t *ask_live(const struct show *show, json_t **ret_reply)
{
    const struct trial *trial = &show->target->trial.trial;
    autofree(mem) char *request =
        xasprintf("{\"do\":\"live\",\"experiment\":%lld}", (long long)trial->experiment);
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);
    size_t i;
    json_t *live;

    if (wire_call(show->call->home, request, ret_reply, NULL) < 0)
        return NULL;
    json_array_foreach(json_object_get(json_object_get(*ret_reply, "live"), "active"), i,
                       live) if (str_eq(json_get_text(live, "trial", ""), id)) return live;
    return NULL;
}

static void add_seconds(struct str *to, double seconds)
{
    str_add_duration(to, (int64_t)(fmin(fmax(seconds, 0), SECONDS_MAX) * US_PER_S));
}

/* The time that the live view shows; where the target is in doubt, the chance of reaching it. */
static void show_remaining(const struct show *show)
{
    autofree(json) json_t *reply = NULL;
    autorelease(str) struct str text = STR_INIT;

    if (show->target->trial.trial.state != TRIAL_RUNNING || !show->engine)
        return;
    const json_t *live = ask_live(show, &reply);
    double left_s = json_get_double(live, "remaining_s", NAN);
    double low_s = json_get_double(live, "remaining_low_s", NAN);
    double high_s = json_get_double(live, "remaining_high_s", NAN);
    double chance = json_get_double(live, "chance", 1);
    if (chance < CHANCE_ENOUGH) {
        show_line(show, "left", PLAIN, "may not reach the target: chance %.0f %%", 100 * chance);
        return;
    }
    if (isnan(left_s))
        return;
    add_seconds(&text, left_s);
    if (low_s < high_s) {
        str_add(&text, " (");
        add_seconds(&text, low_s);
        str_add(&text, "–");
        add_seconds(&text, high_s);
        str_add(&text, ")");
    }
    show_line(show, "left", PLAIN, "about %s", text.s);
}

/* "    1.9s  step 30  threads 2 → 1: …": since the trial began. */
static void show_decision(const struct tuning_event *row, int64_t began_us)
{
    autofree(json) json_t *event = NULL;
    autorelease(str) struct str since = STR_INIT, line = STR_INIT, clean = STR_INIT;

    if (json_parse(row->json, strlen(row->json), &event, NULL) < 0 ||
        !view_event_line(event, &line))
        return;
    const char *words = strstr(line.s, "  "); /* the trial is known */
    double step = json_get_double(event, "step", NAN);
    str_add_duration(&since, MAX(row->time_us - began_us, 0));
    str_add_printable(&clean, words ? words + 2 : line.s, strlen(words ? words + 2 : line.s));
    printf("%8s  ", since.s);
    if (!isnan(step))
        printf("step %.0f  ", step);
    printf("%s\n", clean.s);
}

void show_trial_tuning(const struct show *show)
{
    const struct trial_row *row = &show->target->trial;
    const struct spec *spec = &show->target->spec;
    struct tuning_log log = TUNING_LOG_INIT;
    struct tuning tuning;
    autorelease(str) struct str machine = STR_INIT, changes = STR_INIT, energy = STR_INIT;

    tuning_log_load(&log, show->store, row->trial.experiment, row->trial.number, NULL);
    tuning_load(&tuning, show->store, spec, row, &log, NULL);
    tuning_words(&tuning, spec, tuning.phases.len - 1, &machine);
    str_add_changes(&changes, tuning.changes, tuning.asked,
                    tuning.live.sum_s + tuning.restart.sum_s);
    if (machine.len)
        show_line(show, "machine", PLAIN, "%s (%s)", machine.s, changes.s);
    show_remaining(show);
    str_add_energy(&energy, row->trial.joules, row->trial.joules_measured);
    if (energy.len)
        show_line(show, "energy", PLAIN, "%s", energy.s);
    tuning_release(&tuning);
    tuning_log_release(&log);
}

void show_decisions(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    struct tuning_log log = TUNING_LOG_INIT;
    size_t n = 0;

    tuning_log_load(&log, show->store, trial->experiment, trial->number, NULL);
    const struct tuning_event *events = tuning_log_find(&log, trial->number, &n);
    if (n)
        show_head(show, "tuning of the machine");
    if (n > DECISIONS_SHOWN)
        printf("  … %zu before; 'hone show %lld.%lld --json' has all\n", n - DECISIONS_SHOWN,
               (long long)trial->experiment, (long long)trial->number);
    for (size_t i = n > DECISIONS_SHOWN ? n - DECISIONS_SHOWN : 0; i < n; i++)
        show_decision(&events[i], trial->started_us);
    tuning_log_release(&log);
}

/* ---- sums over an experiment ---- */

/* What most trials ended with is what the tuner holds for the best. */
static const struct ending_count *most_common(const struct tuning_sum *sum)
{
    const struct ending_count *most = NULL;
    vec_foreach (ending, &sum->endings)
        if (!most || ending->n >= most->n)
            most = ending;
    return most;
}

void show_experiment_tuning(const struct show *show)
{
    struct tuning_sum sum;
    autorelease(str) struct str changes = STR_INIT, energy = STR_INIT;

    tuning_sum_load(&sum, show->store, show->target);
    const struct ending_count *most = most_common(&sum);
    str_add_changes(&changes, sum.changes, sum.asked, sum.cost_s);
    if (most && sum.trials > 1)
        show_line(show, "machine", PLAIN, "%s in %lld of %lld trials (%s)", most->words,
                  (long long)most->n, (long long)sum.trials, changes.s);
    else if (most)
        show_line(show, "machine", PLAIN, "%s (%s)", most->words, changes.s);
    str_add_energy(&energy, sum.joules, sum.measured);
    if (energy.len)
        show_line(show, "energy", PLAIN, "%s", energy.s);
    tuning_sum_release(&sum);
}

/* ---- JSON ---- */

static void put_decision(struct json_out *out, const struct tuning_event *row)
{
    autofree(json) json_t *event = NULL;
    const char *key;
    json_t *value;

    if (json_parse(row->json, strlen(row->json), &event, NULL) < 0)
        return;
    json_begin_object(out);
    json_put_time(out, "time", row->time_us);
    json_object_foreach(event, key, value)
    {
        json_key(out, key);
        json_value(out, value);
    }
    json_end_object(out);
}

void show_trial_tuning_json(const struct show *show, struct json_out *out)
{
    const struct trial_row *row = &show->target->trial;
    const struct spec *spec = &show->target->spec;
    struct tuning_log log = TUNING_LOG_INIT;
    struct tuning tuning;
    size_t n = 0;

    tuning_log_load(&log, show->store, row->trial.experiment, row->trial.number, NULL);
    tuning_load(&tuning, show->store, spec, row, &log, NULL);
    const struct tuning_event *events = tuning_log_find(&log, row->trial.number, &n);
    tuning_put_system(out, spec, "system", vec_last(&tuning.phases)->values);
    json_put_int(out, "generation", vec_last(&tuning.phases)->generation);
    json_put_int(out, "changes", tuning.changes);
    json_put_int(out, "changes_asked", tuning.asked);
    json_put_double(out, "change_cost_s", tuning.live.sum_s + tuning.restart.sum_s);
    rows_put_energy(out, row->trial.joules, row->trial.joules_measured);
    json_key(out, "tuning");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        put_decision(out, &events[i]);
    json_end_array(out);
    tuning_release(&tuning);
    tuning_log_release(&log);
}
