/* SPDX-License-Identifier: MIT */
/*
 * load.c — go on where an earlier engine stood, however it ended.
 *
 * The database knows every attempt that may have been started. One in state `starting` is started
 * again under the same number (if its keeper exists, the second one leaves); one in state
 * `running` is adopted: its keeper, its exit record or its loss is reported by the agent. So
 * nothing runs twice and nothing that ran is forgotten.
 */
#include "base/log.h"
#include "engine/internal.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define TRIALS_MAX 1000000 /* as the spec has it */

/* A trial that the user removed: its number and its place in the budget stay taken. */
static void add_removed(struct run *run)
{
    struct trial removed = {.number = (int64_t)run->trials.len + 1, .state = TRIAL_STOPPED};
    vec_push(&run->trials, removed);
}

static char *text_copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static int load_trial(const struct trial_row *row, void *arg)
{
    struct run *run = arg;
    struct trial trial = row->trial;

    if (row->ndim != run->spec.space.n || trial.number <= (int64_t)run->trials.len)
        return -EBADMSG;
    while (trial.number > (int64_t)run->trials.len + 1)
        add_removed(run);
    trial.point = xmemdup(row->trial.point, row->ndim * sizeof(double));
    trial.why = text_copy(trial.why);
    trial.verdict = text_copy(trial.verdict);
    if (trial.n_extra)
        trial.extra = xmemdup(trial.extra, trial.n_extra * sizeof(double));
    vec_push(&run->trials, trial);
    run->counts[trial.state]++;
    if (trial.state == TRIAL_QUEUED)
        vec_push(&run->waiting, ((struct waiting){trial.number, 0}));
    if (trial.state == TRIAL_COMPLETED)
        run->mean_run_us += (trial.run_us - run->mean_run_us) / run->counts[TRIAL_COMPLETED];
    return 0;
}

/* The devices that a living attempt holds, by their names. */
static void retake(struct live *live)
{
    struct machine *machine = &live->run->engine->machine;
    struct demand demand = run_demand(live->run);

    live->grant = (struct grant){.demand = demand};
    machine->cpus_used += demand.cpus;
    machine->mem_used += demand.mem_bytes;
    if (!live->attempt.gpus)
        return;
    autofree(mem) char *list = xasprintf(",%s,", live->attempt.gpus);
    for (int i = 0; i < machine->n_gpus; i++) {
        autofree(mem) char *word = xasprintf(",%s,", machine->gpu_ids[i]);
        if (strstr(list, word)) {
            machine->gpu_used[i] = true;
            live->grant.gpu_mask |= 1ULL << i;
        }
    }
}

struct load_context {
    struct run *run;
    struct store *store;
    struct now now;
};

static int add_ended(const struct attempt *attempt, void *arg)
{
    int64_t *run_us = arg;

    if (attempt->state == ATTEMPT_ENDED)
        *run_us += attempt->run_us;
    return 0;
}

/* Its row has the time of this attempt, too, as far as it was saved: the end will add all of it. */
static int part_time(struct live *live, struct store *store)
{
    struct trial *trial = run_trial(live->run, live->attempt.trial);
    int64_t before_us = 0;
    int r = live->attempt.number > 1 ? store_attempts(store, trial->experiment, trial->number,
                                                      false, add_ended, &before_us, NULL)
                                     : 0;

    live->ran_us = MAX(0, trial->run_us - before_us);
    trial->run_us = before_us;
    return MIN(r, 0);
}

static int load_attempt(const struct attempt *row, void *arg)
{
    struct load_context *context = arg;
    struct run *run = context->run;
    struct attempt attempt = *row;

    if (attempt.trial < 1 || (size_t)attempt.trial > run->trials.len)
        return -EBADMSG;
    attempt.error = text_copy(row->error);
    attempt.gpus = text_copy(row->gpus);
    attempt.host = text_copy(row->host);
    attempt.code = text_copy(row->code);
    attempt.system = text_copy(row->system);
    struct live *live = live_new(run, &attempt, context->now);
    live->adopted = true;
    live->asked = attempt.reason;
    live->judged_step = run_trial(run, attempt.trial)->last_step;
    live->term_sent = attempt.reason != REASON_NONE;
    live->sent_mono_us = context->now.mono_us;
    live->started_mono_us -= MAX(0, context->now.wall_us - attempt.started_us);
    retake(live);
    tuning_adopt(live, context->now);
    engine_effect(
        run->engine,
        (struct effect){.kind = attempt.state == ATTEMPT_STARTING ? EFFECT_START : EFFECT_ADOPT,
                        .id = attempt.id});
    if (live->asked != REASON_NONE)
        engine_effect(run->engine, (struct effect){.kind = EFFECT_STOP, .id = attempt.id});
    return part_time(live, context->store);
}

static int load_rows(struct run *run, struct store *store, struct now now, struct err *err)
{
    struct trial_query query = {.experiment = run->experiment.id, .bare = true};
    struct load_context context = {run, store, now};
    int r = store_trials(store, &query, load_trial, run, err);

    if (r == -EBADMSG)
        err_set(err, EBADMSG, "its trials do not fit its spec");
    if (r >= 0)
        r = ask_load(run, store, err);
    if (r < 0)
        return r;
    curves_load(run);
    r = store_attempts(store, run->experiment.id, 0, true, load_attempt, &context, err);
    if (r >= 0)
        curves_load_parked(run);
    return r == -EBADMSG ? err_set(err, EBADMSG, "its attempts do not fit its trials") : r;
}

/* It was already ending when its engine died. */
static void load_closing(struct run *run)
{
    enum reason reason = run->experiment.reason;
    enum experiment_state state = EXPERIMENT_FAILED;

    if (run->experiment.state != EXPERIMENT_RUNNING || reason == REASON_NONE)
        return;
    if (reason == REASON_TARGET || reason == REASON_TIMEOUT || reason == REASON_SATISFIED)
        state = EXPERIMENT_FINISHED;
    else if (reason == REASON_CANCELLED)
        state = EXPERIMENT_STOPPED;
    else if (reason == REASON_INTERRUPTED)
        state = EXPERIMENT_INTERRUPTED;
    run_close(run, state, reason);
}

/* A larger budget, before the search is made for it. */
static int extend(struct run *run, const struct extension *extension, struct err *err)
{
    struct spec *spec = &run->spec;
    long long id = (long long)run->experiment.id;

    if (!extension)
        return 0;
    if (run->experiment.rerun_of_trial)
        return err_set(err, EINVAL, "experiment %lld repeats one trial: there is nothing to add to",
                       id);
    if (spec->trials == 0)
        return err_set(err, EINVAL, "experiment %lld tries all of its space: there is no more", id);
    if (spec->time_us && run->experiment.run_us >= spec->time_us)
        return err_set(err, EINVAL, "experiment %lld has used up its time limit", id);
    if (extension->add < 0 || extension->add > TRIALS_MAX || extension->total > TRIALS_MAX)
        return err_set(err, EINVAL, "an experiment has at most %d trials", TRIALS_MAX);
    int64_t trials = extension->total ? extension->total : spec->trials + extension->add;
    if (trials <= spec->trials)
        return err_set(err, EINVAL,
                       "experiment %lld has a budget of %lld trials already: ask for more than "
                       "that, or for +N more",
                       id, (long long)spec->trials);
    run->budget_before = spec->trials;
    spec->trials = trials;
    autorelease(str) struct str json = STR_INIT;
    spec_json(spec, &json);
    free(run->experiment.spec_json);
    run->experiment.spec_json = str_take(&json);
    /* `auto` may take another algorithm for the larger budget, which would not know this. */
    free(TAKE(run->experiment.search_state));
    return 0;
}

static int load_parts(struct run *run, struct store *store, const struct extension *extension,
                      struct now now, struct err *err)
{
    const char *spec = run->experiment.spec_json;
    int r = spec_parse(spec, strlen(spec), "stored spec", "/", NULL, &run->spec, NULL, err);

    if (r >= 0 && !run->experiment.rerun_of_trial)
        r = knowledge_load(run, store, err);
    if (r >= 0 && extend(run, extension, err) < 0)
        return -EINVAL; /* nothing is wrong with the experiment */
    if (r >= 0)
        r = run_prepare(run, err);
    if (r >= 0)
        workloads_open(run, store, now);
    if (r >= 0)
        r = load_rows(run, store, now, err);
    if (r >= 0)
        r = alerts_load(run, store, err);
    if (r >= 0)
        load_closing(run);
    if (r < 0)
        err_context(err, "experiment %lld cannot be loaded", (long long)run->experiment.id);
    return r;
}

/* Out of memory again, with what it holds of the machine. */
static void run_drop(struct run *run)
{
    struct engine *engine = run->engine;

    vec_foreach (live, &run->live) {
        machine_give(&engine->machine, &(*live)->grant);
        map_remove(&engine->live, (uint64_t)(*live)->attempt.id);
    }
    for (size_t i = 0; i < engine->runs.len; i++)
        if (engine->runs.at[i] == run) {
            vec_remove(&engine->runs, i);
            break;
        }
    run_free(run);
}

static int load_run(struct engine *engine, struct store *store, int64_t id,
                    const struct extension *extension, struct now now, struct run **ret,
                    struct err *err)
{
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    struct experiment_row row = {0};
    int r = store_find_experiment(store, ref, true, &row, err);

    if (r >= 0 && row.experiment.state == EXPERIMENT_FINISHED && !extension)
        r = err_set(err, EINVAL, "experiment %lld is finished: there is nothing to resume",
                    (long long)id);
    if (r < 0) {
        experiment_row_release(&row);
        return r;
    }
    struct run *run = xcalloc(1, sizeof(*run));
    run->engine = engine;
    spec_init(&run->spec);
    run->experiment = row.experiment;
    row.experiment = (struct experiment){0};
    experiment_row_release(&row);
    run->since_mono_us = now.mono_us;
    run_set_user(run);
    vec_push(&engine->runs, run);
    r = load_parts(run, store, extension, now, err);
    if (r < 0) {
        run_drop(run);
        return r;
    }
    *ret = run;
    return 0;
}

struct id_list {
    VEC(int64_t) ids;
};

static int note_running(const struct experiment_row *row, void *arg)
{
    struct id_list *list = arg;
    if (row->experiment.state == EXPERIMENT_RUNNING)
        vec_push(&list->ids, row->experiment.id);
    return 0;
}

/* One whose records this version cannot read must not keep the others from going on: it becomes
 * interrupted and says why. What it still runs goes on under its keepers. */
static int set_aside(struct engine *engine, struct store *store, int64_t id, const char *why,
                     struct now now, struct err *err)
{
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    struct experiment_row row = {0};
    int r = store_find_experiment(store, ref, false, &row, err);

    if (r < 0)
        return r;
    struct run run = {.engine = engine, .experiment = row.experiment};
    memcpy(run.counts, row.counts, sizeof(run.counts));
    run.experiment.state = EXPERIMENT_INTERRUPTED;
    run.experiment.reason = REASON_INTERRUPTED;
    run.experiment.error = xstrdup(why);
    run_announce_end(&run, now);
    txn_put_experiment(engine->tick->txn, &run.experiment);
    log_error("%s", why);
    free(run.experiment.error);
    experiment_row_release(&row);
    return 0;
}

static int load_left(struct engine *engine, struct store *store, int64_t id, bool go_on,
                     struct now now, struct err *err)
{
    autorelease(err) struct err why = ERR_INIT;
    struct run *run = NULL;
    int r = load_run(engine, store, id, NULL, now, &run, &why);

    if (r == -EIO || r == -ENOMEM || r == -EBUSY)
        return err_set(err, -r, "%s", err_text(&why));
    if (r < 0)
        return set_aside(engine, store, id, err_text(&why), now, err);
    if (!go_on && !run->closing)
        run_close(run, EXPERIMENT_INTERRUPTED, REASON_INTERRUPTED);
    return 0;
}

int engine_load(struct engine *engine, struct store *store, bool go_on, struct now now,
                struct err *err)
{
    struct id_list list = {0};
    int64_t experiment = 0, attempt = 0;
    int r = store_high_water(store, &experiment, &attempt, err);

    if (r < 0)
        return r;
    engine->next_experiment = experiment + 1;
    engine->next_attempt = attempt + 1;
    r = store_queue_paused(store, &engine->paused, err);
    if (r < 0)
        return r;
    r = store_experiments(store, 0, note_running, &list, err);
    for (size_t i = list.ids.len; r >= 0 && i-- > 0;)
        r = load_left(engine, store, list.ids.at[i], go_on, now, err);
    vec_release(&list.ids);
    return r < 0 ? r : 0;
}

static void reopen(struct run *run)
{
    struct experiment *experiment = &run->experiment;

    experiment->state = EXPERIMENT_RUNNING;
    experiment->reason = REASON_NONE;
    experiment->ended_us = 0;
    experiment->paused = HELD_NOT;
    free(experiment->error);
    experiment->error = NULL;
    run->closing = false;
    run->dirty = true;
}

/* In memory it is running or ending; -EEXIST, -EBUSY. */
static int check_away(const struct engine *engine, int64_t experiment, struct err *err)
{
    if (engine_find(engine, experiment))
        return err_set(err, EEXIST, "experiment %lld is running", (long long)experiment);
    vec_foreach (ending, &engine->ending)
        if (*ending == experiment) /* the database does not know yet */
            return err_set(err, EBUSY, "experiment %lld is just ending: try again in a moment",
                           (long long)experiment);
    return 0;
}

int engine_resume(struct engine *engine, struct store *store, int64_t experiment, struct now now,
                  struct err *err)
{
    struct run *run = engine_find(engine, experiment);
    if (run && run->closing && run->end_state == EXPERIMENT_INTERRUPTED) {
        reopen(run);
        return 0;
    }
    if (run && !run->closing && run->experiment.paused)
        return engine_hold(engine, experiment, HELD_NOT, now, err);
    int r = check_away(engine, experiment, err);
    if (r >= 0)
        r = load_run(engine, store, experiment, NULL, now, &run, err);
    if (r < 0)
        return r;
    reopen(run);
    return 0;
}

/* Kept as an event: whoever asks the search again must know what it knew. */
static void announce_extension(struct run *run, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "extended", run, NULL);

    json_put_int(&out, "from", run->budget_before);
    json_put_int(&out, "trials", run->spec.trials);
    json_put_int(&out, "made", (int64_t)run->trials.len);
    json_put_int(&out, "told", run->ask.told);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

int engine_extend(struct engine *engine, struct store *store, int64_t experiment,
                  const struct extension *extension, struct now now, struct err *err)
{
    struct run *run = NULL;
    int r = check_away(engine, experiment, err);

    if (r == -EEXIST)
        return err_set(err, EBUSY, "experiment %lld is running: it can be extended when it is over",
                       (long long)experiment);
    if (r >= 0)
        r = load_run(engine, store, experiment, extension, now, &run, err);
    if (r < 0)
        return r;
    reopen(run);
    announce_extension(run, now);
    return 0;
}
