/* SPDX-License-Identifier: MIT */
/*
 * tuning_sum.c — what tuning did in all trials of an experiment, summed up; and everything about
 * an experiment as one JSON object.
 */
#include "api/tuning_sum.h"
#include "api/rows.h"

#include <math.h>

static void count_ending(struct tuning_sum *sum, const char *words)
{
    if (!*words)
        return;
    sum->trials++;
    vec_foreach (ending, &sum->endings)
        if (str_eq(ending->words, words)) {
            ending->n++;
            return;
        }
    vec_push(&sum->endings, ((struct ending_count){xstrdup(words), 1}));
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct tuning_sum *sum = arg;
    const struct spec *spec = &sum->target->spec;
    autorelease(str) struct str words = STR_INIT;
    struct tuning tuning;

    if (row->trial.joules > 0) {
        sum->joules += row->trial.joules;
        sum->measured &= row->trial.joules_measured;
    }
    if (row->trial.attempts == 0)
        return 0;
    tuning_load(&tuning, sum->store, spec, row, &sum->log, NULL);
    sum->changes += tuning.changes;
    sum->asked += tuning.asked;
    sum->cost_s += tuning.live.sum_s + tuning.restart.sum_s;
    tuning_words(&tuning, spec, tuning.phases.len - 1, &words);
    count_ending(sum, words.s);
    tuning_release(&tuning);
    return 0;
}

/* Without system parameters only the energy is to be summed, and the database does it. */
void tuning_sum_load(struct tuning_sum *sum, struct store *store, const struct target *target)
{
    int64_t id = target->experiment.experiment.id;
    struct trial_query query = {.experiment = id};

    *sum = (struct tuning_sum){
        .store = store, .target = target, .log = TUNING_LOG_INIT, .measured = true};
    if (system_count(&target->spec) == 0) {
        store_energy(store, id, &sum->joules, &sum->measured, NULL);
        return;
    }
    tuning_log_load(&sum->log, store, id, 0, NULL);
    store_trials(store, &query, on_trial, sum, NULL);
}

void tuning_sum_release(struct tuning_sum *sum)
{
    vec_foreach (ending, &sum->endings)
        free(ending->words);
    vec_release(&sum->endings);
    tuning_log_release(&sum->log);
}

/* To the millionth: sums in another order differ behind that. */
void rows_put_energy(struct json_out *out, double joules, bool measured)
{
    bool known = joules > 0;
    json_put_known(out, "energy_j", known ? round(joules * 1e6) / 1e6 : NAN);
    json_put_text(out, "energy", !known ? NULL : measured ? "measured" : "estimated");
}

static void put_sums(struct json_out *out, struct store *store, const struct target *target)
{
    struct tuning_sum sum;

    tuning_sum_load(&sum, store, target);
    json_put_int(out, "changes", sum.changes);
    json_put_int(out, "changes_asked", sum.asked);
    json_put_double(out, "change_cost_s", sum.cost_s);
    rows_put_energy(out, sum.joules, sum.measured);
    tuning_sum_release(&sum);
}

static void put_json(struct json_out *out, const char *key, const char *json)
{
    json_put_raw(out, key, json ? json : "null");
}

void rows_put_counted_experiment(struct json_out *out, struct store *store,
                                 const struct target *target, bool engine, int64_t attempts)
{
    const struct experiment_row *row = &target->experiment;
    autofree(mem) char *params = trial_params(store, row->experiment.id, row->best_trial);
    autofree(mem) char *spec = shown_spec(row->experiment.spec_json);

    rows_put_experiment(out, row, engine, params, attempts, true);
    put_sums(out, store, target);
    json_put_text(out, "code", row->experiment.code);
    put_json(out, "environment", row->experiment.environment);
    put_json(out, "spec", spec);
}

void rows_put_whole_experiment(struct json_out *out, struct store *store,
                               const struct target *target, bool engine)
{
    int64_t attempts = count_attempts(store, target->experiment.experiment.id);
    rows_put_counted_experiment(out, store, target, engine, attempts);
}
