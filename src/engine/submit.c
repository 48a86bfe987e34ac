/* SPDX-License-Identifier: MIT */
/*
 * submit.c — a spec becomes an experiment: checked against the machine, numbered, announced.
 */
#include "engine/internal.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

int run_prepare(struct run *run, struct err *err)
{
    struct spec *spec = &run->spec;
    int r = metrics_rules_new(spec, &run->rules, err);

    if (r < 0)
        return r;
    if (spec->stop.rule && !str_eq(spec->stop.rule, "none"))
        run->stop = stop_find(spec->stop.rule);
    run->budget = spec->trials ? spec->trials : INT64_MAX / 2;
    r = tuning_open(run, err);
    if (r >= 0)
        r = alerts_open(run, err);
    if (r < 0)
        return r;
    if (run->experiment.rerun_of_trial) {
        run->budget = 1;
        return 0;
    }
    r = ask_open(run, err);
    if (r >= 0)
        parallel_open(run);
    return r;
}

static char **env_copy(char *const *envp)
{
    VEC(char *) copy = {0};
    for (; *envp; envp++)
        vec_push(&copy, xstrdup(*envp));
    vec_push(&copy, NULL);
    return copy.at;
}

static void add_given_point(struct run *run, const double *point, struct now now)
{
    size_t size = run->spec.space.n * sizeof(*point);
    struct trial *trial = run_add_trial(run, xmemdup(point, size), now);
    vec_push(&run->waiting, ((struct waiting){trial->number, 0}));
    run_save_trial(run, trial, true);
}

static void announce(struct run *run, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "started", run, NULL);
    json_put_text(&out, "name", run->experiment.name);
    json_put_int(&out, "trials", run->budget < INT64_MAX / 2 ? run->budget : 0);
    if (run->experiment.owner)
        json_put_text(&out, "owner", run->experiment.owner);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

const char *engine_spec_json(const struct engine *engine, int64_t experiment)
{
    const struct run *run = engine_find(engine, experiment);
    return run ? run->experiment.spec_json : NULL;
}

/* What is not committed yet is in memory. */
int engine_submitted(const struct engine *engine, struct store *store, const char *owner,
                     const char *key, int64_t *ret, struct err *err)
{
    *ret = 0;
    if (!key || !*key)
        return 0;
    vec_foreach (run, &engine->runs)
        if ((*run)->key && str_eq((*run)->key, key) &&
            str_eq((*run)->experiment.owner ? (*run)->experiment.owner : "", owner ? owner : "")) {
            *ret = (*run)->experiment.id;
            return 0;
        }
    return store_submission(store, owner ? owner : "", key, ret, err);
}

/* Who sent it, and under which name. */
static void note_owner(struct run *run, const struct submission *submission)
{
    struct experiment *experiment = &run->experiment;

    experiment->owner = submission->owner ? xstrdup(submission->owner) : NULL;
    experiment->priority = run->spec.priority;
    run_set_user(run);
    if (!submission->key || !*submission->key)
        return;
    run->key = xstrdup(submission->key);
    txn_put_submission(run->engine->tick->txn, submission->owner ? submission->owner : "",
                       submission->key, experiment->id);
}

int engine_submit(struct engine *engine, struct store *store, struct submission *submission,
                  struct now now, int64_t *ret_experiment, struct err *err)
{
    struct run *run = xcalloc(1, sizeof(*run));
    struct experiment *experiment = &run->experiment;
    autorelease(str) struct str json = STR_INIT;

    run->engine = engine;
    run->spec = *submission->spec;
    spec_init(submission->spec);
    experiment->rerun_of_experiment = submission->rerun_of_experiment;
    experiment->rerun_of_trial = submission->rerun_of_trial;
    struct demand demand = run_demand(run);
    int r = machine_can(&engine->machine, &demand, err);
    if (r == 0)
        r = spec_system_resolve(&run->spec, engine->machine.cpus, err);
    if (r == 0 && experiment->rerun_of_trial && run->spec.space.n && !submission->point)
        r = err_set(err, EINVAL, "the trial to repeat comes without its parameters");
    if (r == 0)
        r = knowledge_find(run, store, err);
    if (r == 0)
        r = run_prepare(run, err);
    if (r < 0) {
        run_free(run);
        return r;
    }
    spec_json(&run->spec, &json);
    experiment->id = engine->next_experiment++;
    experiment->name = xstrdup(run->spec.name);
    experiment->state = EXPERIMENT_RUNNING;
    experiment->spec_json = str_take(&json);
    experiment->created_us = now.wall_us;
    experiment->code = submission->code ? xstrdup(submission->code) : NULL;
    experiment->environment = submission->environment ? xstrdup(submission->environment) : NULL;
    note_owner(run, submission);
    run->envp = submission->envp ? env_copy(submission->envp) : NULL;
    run->since_mono_us = now.mono_us;
    run_note_best(run, NAN, NAN);
    run->dirty = true;
    vec_push(&engine->runs, run);
    txn_put_experiment(engine->tick->txn, experiment);
    vec_foreach (tag, &run->spec.tags)
        txn_tag(engine->tick->txn, experiment->id, 0, *tag, true);
    if (experiment->code)
        txn_put_object(engine->tick->txn, experiment->code, "code", submission->code_size,
                       now.wall_us);
    if (experiment->rerun_of_trial) /* without parameters there is no point, but a trial */
        add_given_point(run, submission->point, now);
    announce(run, now);
    knowledge_announce(run, now);
    workloads_open(run, store, now);
    *ret_experiment = experiment->id;
    return 0;
}
