/* SPDX-License-Identifier: MIT */
/*
 * observe_load.c — the databases of a home: found again after a restart, made, dropped; summaries.
 *
 * An observed experiment is one without a program whose environment names its database. It counts
 * as finished: what it has is what came. Its trials are read when something is written to it.
 */
#include "base/clock.h"
#include "engine/observe_internal.h"
#include "engine/outside.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define NAME_MAX_BYTES 200
#define TURN_TRIALS    500   /* whose summaries are written at once */
#define SUMMED_EXACTLY 20000 /* values of a trial: 1 ms */

/* ---- found again ---- */

static struct observed *add(struct observe *observe, const char *db, struct experiment *experiment)
{
    struct observed *observed = xcalloc(1, sizeof(*observed));

    *observed = (struct observed){.observe = observe, .db = xstrdup(db), .experiment = *experiment};
    *experiment = (struct experiment){.id = 0};
    vec_push(&observe->all, observed);
    return observed;
}

static int take_observed(struct observe *observe, int64_t id, struct err *err)
{
    autorelease(experiment_row) struct experiment_row row = {.starred = false};
    autofree(json) json_t *environment = NULL;
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    int r = store_find_experiment(observe->reader, ref, true, &row, err);

    if (r < 0 || !row.experiment.environment)
        return r;
    const char *text = row.experiment.environment;
    if (json_parse(text, strlen(text), &environment, NULL) < 0)
        return 0;
    const char *db = json_get_text(environment, "influx_db", NULL);
    if (db && !observe_find(observe, db))
        add(observe, db, &row.experiment)->stored = true;
    return 0;
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct observe *observe = arg;
    const char *spec = row->experiment.spec_json;

    if (spec && strstr(spec, OBSERVED_PROGRAM))
        take_observed(observe, row->experiment.id,
                      NULL); /* one that cannot be read is no database */
    return 0;
}

void observe_free(struct observe *observe)
{
    vec_foreach (observed, &observe->all)
        observed_free(*observed);
    vec_release(&observe->all);
    if (observe->tracked)
        tracked_free(observe->tracked);
    observe_release_rows(observe);
    free(observe);
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct observed *observed = arg;
    autofree(json) json_t *params = NULL;
    autorelease(str) struct str key = STR_INIT;
    size_t number = (size_t)row->trial.number;

    while (observed->trials.len < number) /* a removed one leaves its number unused */
        vec_push(&observed->trials,
                 ((struct observed_trial){.last_step = STEP_NONE, .removed = true}));
    observed->trials.at[number - 1] = (struct observed_trial){
        .created_us = row->trial.created_us,
        .started_us = row->trial.started_us,
        .ended_us = row->trial.ended_us,
        .last_step = row->trial.last_step,
    };
    if (!row->params_json || json_parse(row->params_json, strlen(row->params_json), &params, NULL))
        return 0;
    observed_key_json(params, &key);
    map_text_put(&observed->numbers, key.s, (void *)number);
    return 0;
}

struct leftovers {
    const struct observed *observed;
    VEC(int64_t) numbers;
};

static int on_stored(const struct series_info *info, void *arg)
{
    struct leftovers *left = arg;
    const struct observed *observed = left->observed;
    int64_t number = info->source.trial;
    bool there = number < 1 || (number <= (int64_t)observed->trials.len &&
                                !observed->trials.at[number - 1].removed);

    if (!there && (!left->numbers.len || *vec_last(&left->numbers) != number))
        vec_push(&left->numbers, number);
    return 0;
}

/* Rows go before samples do, so a crash may have left samples without a trial. They must not
 * appear in the next one that gets the number. */
static int drop_leftovers(const struct observed *observed, struct err *err)
{
    struct series_db *db = observed->observe->db;
    int64_t experiment = observed->experiment.id;
    struct leftovers left = {.observed = observed};
    int r = series_db_names(db, experiment, -1, on_stored, &left);

    for (size_t i = 0; r == 0 && i < left.numbers.len; i++)
        r = series_db_drop(db, experiment, left.numbers.at[i], err);
    vec_release(&left.numbers);
    return r;
}

static int load(struct observed *observed, struct err *err)
{
    struct trial_query query = {.experiment = observed->experiment.id, .order = ORDER_NUMBER};
    int r = store_trials(observed->observe->reader, &query, on_trial, observed, err);

    if (r >= 0)
        r = drop_leftovers(observed, err);
    observed->committed = (int64_t)observed->trials.len;
    observed->loaded = r >= 0;
    return r < 0 ? r : 0;
}

/* ---- summaries that a death came before ---- */

/* Trials whose last samples were not summed up when an earlier server died. */
static void mark_stale(struct observed *observed)
{
    struct untold untold = {NULL, 0, 0};
    const struct observe *observe = observed->observe;

    untold_find(observe->db, observe->reader, observed->experiment.id, &untold);
    if (untold_any(&untold) && load(observed, NULL) == 0)
        for (size_t i = 0; i < untold.len && i < observed->trials.len; i++)
            if (untold.at[i] && !observed->trials.at[i].removed)
                observed_mark(observed, (int64_t)i + 1);
    vec_release(&untold);
}

int observe_new(struct engine *engine, struct store *reader, struct series_db *db,
                struct observe **ret, struct err *err)
{
    autofree(observe) struct observe *observe = xcalloc(1, sizeof(*observe));

    observe->engine = engine;
    observe->reader = reader;
    observe->db = db;
    observe->series.most_series = 200000;
    int r = store_experiments(reader, INT64_MAX, on_experiment, observe, err);
    if (r >= 0)
        r = tracked_new(engine, reader, db, &observe->tracked, err);
    if (r < 0)
        return r;
    vec_foreach (observed, &observe->all)
        mark_stale(*observed);
    *ret = TAKE(observe);
    return 0;
}

/* ---- made ---- */

char *observed_plain_name(const char *db)
{
    struct str name = STR_INIT;

    if ((*db >= '0' && *db <= '9') || *db == '-' || str_eq(db, "last"))
        str_add_char(&name, '_');
    for (; *db && name.len < 100; db++) {
        bool plain = (*db >= 'a' && *db <= 'z') || (*db >= 'A' && *db <= 'Z') ||
                     (*db >= '0' && *db <= '9') || *db == '_' || *db == '-';
        str_add_char(&name, plain ? *db : '_');
    }
    return str_take(&name);
}

int observed_spec(const char *name, char **ret, struct err *err)
{
    autorelease(str) struct str text = STR_INIT, whole = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    struct spec spec;

    json_begin_object(&out);
    json_put_text(&out, "name", name);
    json_key(&out, "command");
    json_begin_array(&out);
    json_text(&out, OBSERVED_PROGRAM);
    json_end_array(&out);
    json_end_object(&out);
    spec_init(&spec);
    int r = spec_parse(text.s, text.len, "outside", "/", NULL, &spec, NULL, err);
    if (r >= 0)
        spec_json(&spec, &whole);
    spec_release(&spec);
    *ret = r < 0 ? NULL : str_take(&whole);
    return r;
}

static char *make_environment(const char *db)
{
    struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_text(&out, "influx_db", db);
    json_end_object(&out);
    return str_take(&text);
}

static int make(struct observe *observe, const char *db, struct now now, struct observed **ret,
                struct err *err)
{
    struct experiment experiment = {
        .id = engine_next_experiment(observe->engine),
        .name = observed_plain_name(db),
        .state = EXPERIMENT_FINISHED,
        .created_us = now.wall_us,
        .ended_us = now.wall_us,
        .best_mean = NAN,
        .best_deviation = NAN,
    };
    int r = observed_spec(experiment.name, &experiment.spec_json, err);
    if (r < 0) {
        experiment_release(&experiment);
        return r;
    }
    experiment.environment = make_environment(db);
    struct observed fresh = {.observe = observe, .experiment = {.id = experiment.id}};
    r = drop_leftovers(&fresh, err);
    if (r < 0) {
        experiment_release(&experiment);
        return r;
    }
    engine_take_experiment(observe->engine);
    txn_put_experiment(engine_txn(observe->engine), &experiment);
    *ret = add(observe, db, &experiment);
    (*ret)->loaded = true;
    return 0;
}

static struct observed *find(const struct observe *observe, const char *db)
{
    vec_foreach (observed, &observe->all)
        if (str_eq((*observed)->db, db))
            return *observed;
    return NULL;
}

int64_t observe_find(const struct observe *observe, const char *db)
{
    struct observed *observed = find(observe, db);
    return observed ? observed->experiment.id : 0;
}

const char *observe_field_type(const struct observe *observe, const char *db,
                               const char *measurement, const char *field)
{
    const struct observed *observed = find(observe, db);
    struct influx_text group = {measurement, strlen(measurement)}, text = {field, strlen(field)};
    const struct influx_name *name =
        observed && observed->keys ? influx_keys_name(observed->keys, group, text) : NULL;

    return name ? influx_kind_names[name->kind] : NULL;
}

int observe_walk(const struct observe *observe, observe_fn *fn, void *arg)
{
    vec_foreach (observed, &observe->all) {
        int r = fn((*observed)->db, (*observed)->experiment.id, arg);
        if (r)
            return r;
    }
    return 0;
}

int observe_open(struct observe *observe, const char *db, struct now now, struct observed **ret,
                 struct err *err)
{
    *ret = find(observe, db);
    if (*ret)
        return (*ret)->loaded ? 0 : load(*ret, err);
    if (!*db || strlen(db) > NAME_MAX_BYTES)
        return err_set(err, EINVAL, "a database's name has 1 to %d bytes", NAME_MAX_BYTES);
    if (observe->all.len >= OBSERVE_DATABASES)
        return err_set(err, E2BIG, "there are %d databases: no more are made here",
                       OBSERVE_DATABASES);
    return make(observe, db, now, ret, err);
}

static void forget(struct observe *observe, size_t i)
{
    observed_free(observe->all.at[i]);
    vec_remove(&observe->all, i);
}

int observe_drop(struct observe *observe, const char *db, struct err *err)
{
    int r = observe_flush(observe, err);

    for (size_t i = 0; r == 0 && i < observe->all.len; i++) {
        struct observed *observed = observe->all.at[i];
        if (!str_eq(observed->db, db))
            continue;
        r = series_db_drop(observe->db, observed->experiment.id, 0, err);
        if (r < 0)
            return r;
        observe_forget_rows(observe, observed->experiment.id, 0);
        txn_remove_experiment(engine_txn(observe->engine), observed->experiment.id);
        forget(observe, i);
        return 0;
    }
    return r;
}

static void forget_trial(struct observed *observed, int64_t number)
{
    size_t kept = 0;

    if (!observed->loaded)
        load(observed, NULL); /* the row may be there until the commit */
    if (number > (int64_t)observed->trials.len)
        return;
    observed->trials.at[number - 1].removed = true;
    vec_foreach (changed, &observed->changed)
        if (*changed != number)
            observed->changed.at[kept++] = *changed;
    observed->changed.len = kept;
}

void observe_removed(struct observe *observe, int64_t experiment, int64_t trial)
{
    observe_forget_rows(observe, experiment, trial);
    tracked_removed(observe->tracked, experiment, trial);
    for (size_t i = 0; i < observe->all.len; i++) {
        if (observe->all.at[i]->experiment.id != experiment)
            continue;
        if (trial > 0)
            forget_trial(observe->all.at[i], trial);
        else
            forget(observe, i);
        return;
    }
}

/* ---- summaries ---- */

struct summing {
    struct observed *observed;
    int64_t number;
    bool timed; /* the trial has its times from samples */
};

static int on_info(const struct series_info *info, void *arg)
{
    struct summing *summing = arg;
    struct observed *observed = summing->observed;
    struct observed_trial *trial = &observed->trials.at[summing->number - 1];
    struct summary summary = outside_summary(observed->observe->db, info);

    if (info->first_ns > 0) { /* times before 1970 are data, but none of ours */
        trial->started_us =
            summing->timed ? MIN(trial->started_us, info->first_ns / 1000) : info->first_ns / 1000;
        trial->ended_us =
            summing->timed ? MAX(trial->ended_us, info->last_ns / 1000) : info->last_ns / 1000;
        summing->timed = true;
    }
    trial->last_step = MAX(trial->last_step, info->last_step);
    txn_put_summary(engine_txn(observed->observe->engine), observed->experiment.id, summing->number,
                    &summary);
    return 0;
}

/* Also of a large trial the last value is that of the largest time. */
static int on_large_info(const struct series_info *info, void *arg)
{
    struct summing *summing = arg;
    struct series_info ends = *info;

    series_db_ends(summing->observed->observe->db, &ends);
    return on_info(&ends, arg);
}

static int count_values(const struct series_info *info, void *arg)
{
    *(uint64_t *)arg += info->stats.count;
    return 0;
}

/* Which values of one time count is looked for on this thread in small trials only: the summaries
 * of others tell of all that came, and `show` and filters look for themselves. */
static void list_trial(struct observed *observed, int64_t number, struct summing *summing)
{
    struct series_db *db = observed->observe->db;
    int64_t experiment = observed->experiment.id;
    uint64_t values = 0;

    series_db_names(db, experiment, number, count_values, &values);
    if (values <= SUMMED_EXACTLY)
        series_db_list(db, experiment, number, SERIES_NAME_NONE, on_info, summing);
    else
        series_db_names(db, experiment, number, on_large_info, summing);
}

static void sum_up(struct observed *observed, size_t most)
{
    struct observe *observe = observed->observe;

    for (size_t i = 0; i < most && observed->changed.len; i++) {
        int64_t number = observed->changed.at[--observed->changed.len];
        struct observed_trial *trial = &observed->trials.at[number - 1];
        struct summing summing = {.observed = observed, .number = number};
        trial->changed = false;
        list_trial(observed, number, &summing);
        observed_put_trial(observed, number, NULL);
        observed->experiment.ended_us = MAX(observed->experiment.ended_us, trial->ended_us);
        observed->experiment.created_us = MIN(observed->experiment.created_us, trial->started_us);
    }
    txn_put_experiment(engine_txn(observe->engine), &observed->experiment);
}

/* Was it, or a trial of it, removed by a command? Then what is known of it is wrong. */
static bool was_removed(struct observed *observed)
{
    autorelease(experiment_row) struct experiment_row row = {.starred = false};
    autofree(mem) char *ref = xasprintf("%lld", (long long)observed->experiment.id);
    int r = store_find_experiment(observed->observe->reader, ref, false, &row, NULL);
    bool was = observed->stored;

    observed->stored = r >= 0;
    return was && r < 0;
}

bool observe_turn(struct observe *observe, struct now now)
{
    bool more = false;
    (void)now;

    if (observe_flush(observe, NULL) < 0)
        return true;
    for (size_t i = 0; i < observe->all.len; i++) {
        struct observed *observed = observe->all.at[i];
        if (!observed->changed.len)
            continue;
        if (was_removed(observed)) {
            forget(observe, i--);
            continue;
        }
        sum_up(observed, TURN_TRIALS);
        more |= observed->changed.len > 0;
    }
    return tracked_turn(observe->tracked) || more;
}
