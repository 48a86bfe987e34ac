/* SPDX-License-Identifier: MIT */
/*
 * tracked.c — experiments and runs of tracking clients as rows of ours.
 *
 * A run's id is 32 hex digits: the home's 16, then 8 for the experiment and 8 for the trial. So it
 * needs no table, and a run of another home is not found here.
 */
#include "base/clock.h"
#include "engine/internal.h"
#include "engine/observe_internal.h"
#include "engine/tracked_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define LABEL_MAX 100 /* bytes of a tag of ours */

/* ---- experiments ---- */

size_t tracked_count(const struct tracked *tracked)
{
    return tracked->all.len;
}

struct tracked_experiment *tracked_at(const struct tracked *tracked, size_t i)
{
    return tracked->all.at[i];
}

int64_t tracked_number(const struct tracked_experiment *experiment)
{
    return experiment->fallback ? 0 : experiment->experiment.id;
}

struct tracked_experiment *tracked_named(const struct tracked *tracked, const char *name)
{
    vec_foreach (experiment, &tracked->all)
        if (str_eq((*experiment)->name, name))
            return *experiment;
    return NULL;
}

static struct tracked_experiment *find_fallback(const struct tracked *tracked)
{
    vec_foreach (experiment, &tracked->all)
        if ((*experiment)->fallback)
            return *experiment;
    return NULL;
}

struct tracked_experiment *tracked_experiment(struct tracked *tracked, const char *id)
{
    size_t n = strspn(id, "0123456789");
    struct tracked_experiment *found = NULL;

    if (!n || n > 10 || id[n])
        return NULL;
    unsigned long long number = strtoull(id, NULL, 10);
    found = number ? map_find(&tracked->by_id, number) : find_fallback(tracked);
    if (!found || (number && found->fallback))
        return NULL;
    if (!found->loaded && tracked_load(found, NULL) < 0)
        return NULL;
    return found;
}

struct tracked_experiment *tracked_add(struct tracked *tracked, const char *name)
{
    struct tracked_experiment *experiment = xcalloc(1, sizeof(*experiment));

    experiment->tracked = tracked;
    experiment->name = xstrdup(name);
    vec_push(&tracked->all, experiment);
    return experiment;
}

/* Our row: Default gets its number when it is first used. */
static int settle(struct tracked_experiment *experiment, struct now now, struct err *err)
{
    struct tracked *tracked = experiment->tracked;
    struct experiment *row = &experiment->experiment;

    if (row->id)
        return 0;
    *row = (struct experiment){
        .id = engine_next_experiment(tracked->engine),
        .name = observed_plain_name(experiment->name),
        .owner = row->owner,
        .state = EXPERIMENT_FINISHED,
        .created_us = now.wall_us,
        .ended_us = now.wall_us,
        .best_mean = NAN,
        .best_deviation = NAN,
    };
    int r = observed_spec(row->name, &row->spec_json, err);
    if (r == 0)
        r = series_db_drop(tracked->db, row->id, 0, err);
    if (r < 0) {
        row->id = 0;
        return r;
    }
    engine_take_experiment(tracked->engine);
    map_put(&tracked->by_id, (uint64_t)row->id, experiment);
    return 0;
}

void tracked_put_experiment(struct tracked_experiment *experiment, struct now now)
{
    struct experiment *row = &experiment->experiment;

    if (settle(experiment, now, NULL) < 0)
        return;
    free(row->name);
    free(row->environment);
    row->name = observed_plain_name(experiment->name);
    row->environment = tracked_environment(experiment);
    txn_put_experiment(engine_txn(experiment->tracked->engine), row);
}

void tracked_hide_experiment(struct tracked_experiment *experiment, bool hide, struct now now)
{
    experiment->deleted = hide;
    experiment->updated_ms = now.wall_us / 1000;
    tracked_put_experiment(experiment, now);
    txn_tag(engine_txn(experiment->tracked->engine), experiment->experiment.id, 0, "deleted", hide);
    vec_foreach (run, &experiment->runs)
        if (*run && (*run)->deleted != hide)
            tracked_hide(*run, hide);
}

int tracked_make(struct tracked *tracked, const char *name, const char *owner, struct now now,
                 struct tracked_experiment **ret, struct err *err)
{
    struct tracked_experiment *experiment = tracked_add(tracked, name);

    experiment->created_ms = experiment->updated_ms = now.wall_us / 1000;
    experiment->experiment.owner = owner && *owner ? xstrdup(owner) : NULL;
    experiment->loaded = true;
    int r = settle(experiment, now, err);
    if (r < 0) {
        tracked_forget(experiment);
        return r;
    }
    tracked_put_experiment(experiment, now);
    *ret = experiment;
    return 0;
}

/* ---- runs ---- */

struct tracked_run *tracked_run(struct tracked *tracked, const char *id)
{
    const char *home = store_home_id(tracked->reader);
    unsigned experiment = 0, number = 0;
    struct tracked_experiment *of;

    if (strlen(id) != TRACKED_ID_SIZE - 1 ||
        strspn(id, "0123456789abcdef") != TRACKED_ID_SIZE - 1 || strncmp(id, home, 16) != 0 ||
        sscanf(id + 16, "%8x%8x", &experiment, &number) != 2)
        return NULL;
    of = map_find(&tracked->by_id, experiment);
    if (!of || (!of->loaded && tracked_load(of, NULL) < 0))
        return NULL;
    if (!number || number > of->runs.len)
        return NULL;
    return of->runs.at[number - 1];
}

struct tracked_run *tracked_add_run(struct tracked_experiment *experiment, int64_t number)
{
    struct tracked_run *run = xcalloc(1, sizeof(*run));

    *run = (struct tracked_run){.of = experiment, .number = number, .last_step = STEP_NONE};
    snprintf(run->id, sizeof(run->id), "%.16s%08x%08x", store_home_id(experiment->tracked->reader),
             (unsigned)experiment->experiment.id, (unsigned)number);
    run->name = xstrdup("");
    run->user = xstrdup("");
    run->inputs = json_array();
    run->outputs = json_array();
    while ((int64_t)experiment->runs.len < number)
        vec_push(&experiment->runs, NULL);
    experiment->runs.at[number - 1] = run;
    return run;
}

/* Freed by the commit that it waits for; the run may be gone by then. */
struct birth {
    struct tracked *tracked;
    char id[TRACKED_ID_SIZE];
};

static void on_born(void *arg)
{
    struct birth *birth = arg;
    struct tracked_run *run = tracked_run(birth->tracked, birth->id);

    if (run)
        run->committed = true;
    free(birth);
}

/* What pages and `show` tell of it. `state` NULL: it begins. */
static void tell(const struct tracked_run *run, const char *event, const char *state,
                 struct now now)
{
    struct engine *engine = run->of->tracked->engine;
    int64_t experiment = run->of->experiment.id, end_ms = run->end_ms ? run->end_ms : run->start_ms;
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    autofree(mem) char *id = xasprintf("%lld.%lld", (long long)experiment, (long long)run->number);

    json_begin_object(&out);
    json_put_text(&out, "event", event);
    json_put_int(&out, "experiment", experiment);
    json_put_text(&out, "trial", id);
    if (state) {
        json_put_text(&out, "state", state);
        json_put_double(&out, "seconds", (double)MAX(0, end_ms - run->start_ms) / 1e3);
    }
    json_end_object(&out);
    txn_put_event(engine_txn(engine), now.wall_us, experiment, run->number, json.s);
    engine_effect(engine,
                  (struct effect){.kind = EFFECT_EVENT, .id = experiment, .text = xstrdup(json.s)});
}

struct tracked_run *tracked_start(struct tracked_experiment *experiment, const char *owner,
                                  int64_t start_ms, struct now now)
{
    struct birth *birth;

    if (settle(experiment, now, NULL) < 0)
        return NULL;
    struct tracked_run *run = tracked_add_run(experiment, (int64_t)experiment->runs.len + 1);
    run->start_ms = start_ms;
    run->owner = owner && *owner ? xstrdup(owner) : NULL;
    if (run->number == 1)
        tracked_put_experiment(experiment, now);
    tell(run, "trial_started", NULL, now);
    birth = xcalloc(1, sizeof(*birth));
    birth->tracked = experiment->tracked;
    memcpy(birth->id, run->id, sizeof(birth->id));
    engine_when_committed(experiment->tracked->engine, on_born, birth);
    return run;
}

static void fill_state(const struct tracked_run *run, struct trial *trial)
{
    static const struct {
        enum trial_state state;
        enum reason reason;
    } states[TRACKED_STATUSES] = {
        [TRACKED_RUNNING] = {TRIAL_RUNNING, REASON_NONE},
        [TRACKED_SCHEDULED] = {TRIAL_QUEUED, REASON_NONE},
        [TRACKED_FINISHED] = {TRIAL_COMPLETED, REASON_NONE},
        [TRACKED_FAILED] = {TRIAL_FAILED, REASON_EXIT},
        [TRACKED_KILLED] = {TRIAL_STOPPED, REASON_CANCELLED},
    };
    trial->state = states[run->status].state;
    trial->reason = states[run->status].reason;
}

void tracked_end(struct tracked_run *run, enum tracked_status status, struct now now)
{
    bool ends = status != run->status && status >= TRACKED_FINISHED;
    struct trial trial = {.number = run->number};

    run->status = status;
    fill_state(run, &trial);
    if (ends)
        tell(run, "trial_ended", trial_state_name(trial.state), now);
}

/* As numbers where they are numbers, so that tables and charts can use them. */
static void params_json(const struct tracked_pairs *params, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    vec_foreach (param, params) {
        char *end = param->value;
        double x = *end && strspn(end, "+-0123456789.eE") == strlen(end) ? strtod(end, &end) : NAN;
        json_key(&out, param->key);
        if (isfinite(x) && end != param->value && !*end)
            json_double(&out, x);
        else
            json_text(&out, param->value);
    }
    json_end_object(&out);
}

void tracked_put_run(struct tracked_run *run)
{
    struct txn *txn = engine_txn(run->of->tracked->engine);
    autorelease(str) struct str params = STR_INIT, json = STR_INIT;
    int64_t last_ms = run->end_ms ? run->end_ms : MAX(run->last_ms, run->start_ms);
    struct trial trial = {
        .experiment = run->of->experiment.id,
        .number = run->number,
        .value = NAN,
        .best = NAN,
        .last_step = run->last_step,
        .first_nan_step = STEP_NONE,
        .created_us = run->start_ms * 1000,
        .started_us = run->start_ms * 1000,
        .ended_us = run->end_ms * 1000,
        .run_us = MAX(0, last_ms - run->start_ms) * 1000,
    };
    tracked_untell(run);
    fill_state(run, &trial);
    params_json(&run->params, &params);
    tracked_run_json(run, &json);
    txn_put_trial(txn, &trial, 0, params.s);
    txn_put_run(txn, trial.experiment, trial.number, json.s);
}

void tracked_hide(struct tracked_run *run, bool hide)
{
    run->deleted = hide;
    tracked_put_run(run);
    txn_tag(engine_txn(run->of->tracked->engine), run->of->experiment.id, run->number, "deleted",
            hide);
}

const char *tracked_owner(struct tracked *tracked, int64_t experiment, int64_t trial)
{
    struct tracked_experiment *of = map_find(&tracked->by_id, (uint64_t)experiment);
    const struct tracked_run *run = NULL;

    if (of && trial && !of->loaded)
        tracked_load(of, NULL);
    if (of && trial > 0 && trial <= (int64_t)of->runs.len)
        run = of->runs.at[trial - 1];
    if (run && run->owner)
        return run->owner;
    return of ? of->experiment.owner : NULL;
}

/* ---- what clients were told ---- */

const char *tracked_told(const struct tracked_run *run)
{
    return run->told;
}

void tracked_tell(struct tracked_run *run, char *text)
{
    struct tracked *tracked = run->of->tracked;
    size_t n = strlen(text) + 1;

    tracked_untell(run);
    if (tracked->told_bytes + n > TRACKED_TOLD_BYTES) {
        free(text);
        return;
    }
    tracked->told_bytes += n;
    run->told = text;
}

void tracked_untell(struct tracked_run *run)
{
    if (!run->told)
        return;
    run->of->tracked->told_bytes -= strlen(run->told) + 1;
    free(TAKE(run->told));
}

/* ---- tags ---- */

/* "team=vision", a word of ours; empty: it has none. The client's own tags but for the name stay
 * inside. */
static void label_of(const char *key, const char *value, struct str *to)
{
    bool name = str_eq(key, "mlflow.runName");

    if (!value || (!name && str_starts(key, "mlflow.")))
        return;
    str_add(to, name ? "name" : key);
    if (*value)
        str_addf(to, "=%s", value);
    for (size_t i = 0; i < to->len; i++)
        if ((unsigned char)to->s[i] <= ' ' || to->s[i] == ',' || to->s[i] == 0x7f)
            to->s[i] = '_';
    if (to->len > LABEL_MAX)
        str_cut(to, 0);
}

void tracked_tag(struct tracked_run *run, const char *key, const char *value)
{
    struct txn *txn = engine_txn(run->of->tracked->engine);
    int64_t experiment = run->of->experiment.id;
    autorelease(str) struct str before = STR_INIT, after = STR_INIT;

    label_of(key, tracked_find(&run->tags, key), &before);
    label_of(key, value, &after);
    if (before.len && !str_eq(before.s, after.s))
        txn_tag(txn, experiment, run->number, before.s, false);
    if (after.len)
        txn_tag(txn, experiment, run->number, after.s, true);
    if (str_eq(key, "mlflow.note.content"))
        txn_note(txn, experiment, run->number, value);
    if (str_eq(key, "mlflow.runName") && value) {
        free(run->name);
        run->name = xstrdup(value);
    }
    if (value)
        tracked_set(&run->tags, key, value);
    else
        tracked_unset(&run->tags, key);
}

/* ---- models ---- */

struct tracked_model *tracked_model(const struct tracked *tracked, const char *id)
{
    vec_foreach (model, &tracked->models)
        if (str_eq((*model)->id, id))
            return *model;
    return NULL;
}

size_t tracked_models(const struct tracked *tracked)
{
    return tracked->models.len;
}

struct tracked_model *tracked_model_at(const struct tracked *tracked, size_t i)
{
    return tracked->models.at[i];
}

struct tracked_model *tracked_add_model(struct tracked_experiment *experiment, const char *id,
                                        json_t *json)
{
    struct tracked_model *model = xcalloc(1, sizeof(*model));

    *model = (struct tracked_model){xstrdup(id), experiment->experiment.id, json};
    vec_push(&experiment->tracked->models, model);
    return model;
}

void tracked_put_model(struct tracked *tracked, const struct tracked_model *model)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    json_value(&out, model->json);
    txn_put_model(engine_txn(tracked->engine), model->experiment, model->id, json.s);
}

struct txn *tracked_txn(const struct tracked *tracked)
{
    return engine_txn(tracked->engine);
}

struct engine *tracked_engine(const struct tracked *tracked)
{
    return tracked->engine;
}

uint64_t tracked_values(const struct tracked *tracked)
{
    return tracked->values;
}
