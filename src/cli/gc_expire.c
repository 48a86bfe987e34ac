/* SPDX-License-Identifier: MIT */
/*
 * gc_expire.c — what `keep:` of a spec lets go: old trials, and checkpoints nobody will start
 * from. Only trials that have ended are touched: a queued one may go on from its checkpoint.
 */
#include "api/change.h"
#include "cli/disk.h"
#include "cli/gc.h"
#include "spec/parse.h"

struct expire {
    struct gc *gc;
    int64_t experiment;
    const struct spec *spec;
    VEC(int64_t) old;   /* trials that go as a whole */
    VEC(int64_t) ended; /* trials that stay */
};

int gc_change(struct gc *gc, const char *request, struct err *err)
{
    autofree(json) json_t *reply = NULL;
    return home_change(gc->call->home, request, &reply, err);
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct expire *expire = arg;
    const struct trial *trial = &row->trial;
    int64_t keep_us = expire->spec->keep_trials_us;

    if (!trial_state_ended(trial->state))
        return 0;
    if (keep_us > 0 && !row->starred && trial->ended_us > 0 &&
        trial->ended_us < expire->gc->now_us - keep_us)
        vec_push(&expire->old, trial->number);
    else
        vec_push(&expire->ended, trial->number);
    return 0;
}

static int remove_trial(struct expire *expire, int64_t trial, struct err *err)
{
    struct gc *gc = expire->gc;
    autofree(mem) char *request = xasprintf("{\"do\":\"rm\",\"experiment\":%lld,\"trial\":%lld}",
                                            (long long)expire->experiment, (long long)trial);
    char **paths = trial_paths(gc->call->home, expire->experiment, trial);
    int r = 0;

    gc->count[GC_TRIALS]++;
    gc->bytes += disk_bytes_of(paths);
    if (!gc->dry)
        r = gc_change(gc, request, err);
    if (r >= 0 && !gc->dry)
        r = disk_remove(paths, err);
    disk_paths_free(paths);
    return r;
}

/* ---- checkpoints ---- */

static int keep_number(const struct trial_row *row, void *arg)
{
    struct expire *expire = arg;
    vec_push(&expire->old, row->trial.number);
    return 0;
}

static bool has(const int64_t *list, size_t n, int64_t x)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* `best N`: checkpoints of all ended trials but the N best ones go. */
static int keep_best(struct expire *expire, struct err *err)
{
    struct trial_query query = {.experiment = expire->experiment,
                                .order = ORDER_BEST,
                                .goal = expire->spec->objective.goal,
                                .limit = MAX(expire->spec->keep_checkpoints_n, 1),
                                .bare = true};
    struct expire best = {0};
    int r = store_trials(expire->gc->store, &query, keep_number, &best, err);

    for (size_t i = 0; i < expire->ended.len && r >= 0; i++) {
        int64_t trial = expire->ended.at[i];
        autofree(mem) char *dir = checkpoint_dir(expire->gc->call->home, expire->experiment, trial);
        if (disk_bytes(dir) > 0 && !has(best.old.at, best.old.len, trial))
            r = gc_remove(expire->gc, GC_CHECKPOINTS, dir, err);
    }
    vec_release(&best.old);
    return r;
}

/* A checkpoint is called N-STEP: the later step is the newer one. */
static int by_step(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    const char *dash_x = strchr(x, '-'), *dash_y = strchr(y, '-');
    int64_t step_x = dash_x ? strtoll(dash_x + 1, NULL, 10) : 0;
    int64_t step_y = dash_y ? strtoll(dash_y + 1, NULL, 10) : 0;

    if (step_x != step_y)
        return step_x < step_y ? 1 : -1;
    long long n_x = strtoll(x, NULL, 10), n_y = strtoll(y, NULL, 10);
    return (n_x < n_y) - (n_x > n_y);
}

/* `last N`: of each ended trial the newest N stay. */
static int keep_last(struct expire *expire, int64_t trial, struct err *err)
{
    autofree(mem) char *dir = checkpoint_dir(expire->gc->call->home, expire->experiment, trial);
    struct names names = gc_list(dir);
    int r = 0;

    if (names.list.len)
        qsort(names.list.at, names.list.len, sizeof(char *), by_step);
    for (size_t i = (size_t)expire->spec->keep_checkpoints_n; i < names.list.len && r >= 0; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", dir, names.list.at[i]);
        r = gc_remove(expire->gc, GC_CHECKPOINTS, path, err);
    }
    names_release(&names);
    return r;
}

static int expire_checkpoints(struct expire *expire, struct err *err)
{
    int r = 0;

    if (expire->spec->keep_checkpoints == KEEP_BEST)
        return keep_best(expire, err);
    if (expire->spec->keep_checkpoints == KEEP_LAST)
        for (size_t i = 0; i < expire->ended.len && r >= 0; i++)
            r = keep_last(expire, expire->ended.at[i], err);
    return r;
}

static int expire_experiment(struct gc *gc, int64_t experiment, const struct spec *spec,
                             struct err *err)
{
    struct expire expire = {.gc = gc, .experiment = experiment, .spec = spec};
    struct trial_query query = {.experiment = experiment};
    int r = store_trials(gc->store, &query, on_trial, &expire, err);

    for (size_t i = 0; i < expire.old.len && r >= 0; i++)
        r = remove_trial(&expire, expire.old.at[i], err);
    if (r >= 0)
        r = expire_checkpoints(&expire, err);
    vec_release(&expire.old);
    vec_release(&expire.ended);
    return r;
}

/* ---- the experiments ---- */

struct specs {
    VEC(int64_t) ids;
    VEC(char *) json;
};

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct specs *specs = arg;
    if (!row->experiment.spec_json)
        return 0;
    vec_push(&specs->ids, row->experiment.id);
    vec_push(&specs->json, xstrdup(row->experiment.spec_json));
    return 0;
}

static int expire_one(struct gc *gc, int64_t id, const char *json, struct err *err)
{
    autorelease(spec) struct spec spec;

    spec_init(&spec);
    int r = spec_parse(json, strlen(json), "spec", "/", NULL, &spec, NULL, err);
    if (r < 0)
        return err_context(err, "experiment %lld", (long long)id);
    if (spec.keep_trials_us == 0 && spec.keep_checkpoints == KEEP_ALL)
        return 0;
    return expire_experiment(gc, id, &spec, err);
}

int gc_expire(struct gc *gc, struct err *err)
{
    struct specs specs = {{0}, {0}};
    int r = store_experiments(gc->store, 0, on_experiment, &specs, err);

    for (size_t i = 0; i < specs.ids.len; i++) {
        if (r >= 0)
            r = expire_one(gc, specs.ids.at[i], specs.json.at[i], err);
        free(specs.json.at[i]);
    }
    vec_release(&specs.ids);
    vec_release(&specs.json);
    return r;
}
