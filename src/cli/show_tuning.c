/* SPDX-License-Identifier: MIT */
/*
 * show_tuning.c — hone show: how the machine under a trial was tuned, decision by decision, and
 * the sums over an experiment.
 */
#include "api/tuning_sum.h"
#include "base/clock.h"
#include "cli/left.h"
#include "cli/show.h"
#include "cli/view.h"

#include <math.h>

#define DECISIONS_SHOWN 20

/* What the live view shows; nothing for what does not run. */
static struct time_left ask_left(const struct show *show)
{
    const struct experiment *experiment = &show->target->experiment.experiment;
    struct left left = {0};

    if (experiment->state != EXPERIMENT_RUNNING || !show->engine)
        return TIME_LEFT_UNKNOWN;
    left_ask(&left, show->call->home, experiment->id);
    struct time_left found = show->target->has_trial
                                 ? left_of_trial(&left, &show->target->trial.trial)
                                 : left_of_experiment(&left);
    left_release(&left);
    return found;
}

static void show_remaining(const struct show *show)
{
    autorelease(str) struct str text = STR_INIT;
    struct time_left left = ask_left(show);

    str_add_left_words(&text, &left);
    if (text.len)
        show_line(show, "left", PLAIN, "%s", text.s);
}

void show_left_json(const struct show *show, struct json_out *out)
{
    struct time_left left = ask_left(show);
    left_put(out, &left);
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
    show_remaining(show);
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
    show_left_json(show, out);
    rows_put_energy(out, row->trial.joules, row->trial.joules_measured);
    json_key(out, "tuning");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        put_decision(out, &events[i]);
    json_end_array(out);
    tuning_release(&tuning);
    tuning_log_release(&log);
}
