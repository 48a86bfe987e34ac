/* SPDX-License-Identifier: MIT */
/*
 * migrate.c — experiment by experiment, trial by trial. HOME/series/whole says that it was done. A
 * migration that was broken off begins again: the store passes over what it has.
 */
#include "engine/migrate.h"

#include "base/fs.h"
#include "base/log.h"
#include "series/series.h"
#include "spec/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct old_trial {
    int64_t number, attempts;
    int64_t next; /* attempt to be copied */
};

struct migration {
    char *home;
    struct store *store;
    struct series_db *db;
    VEC(int64_t) experiments; /* still to do; the last one is next */
    int64_t experiment;       /* under way; 0: none */
    struct spec spec;         /* its */
    VEC(struct old_trial) trials;
    struct series_copy *copy; /* of one attempt, under way; NULL: none */
    size_t copied, failed;    /* trials */
    bool all;                 /* of the home: it is whole afterwards */
};

static int add_experiment(const struct experiment_row *row, void *arg)
{
    struct migration *migration = arg;
    vec_push(&migration->experiments, row->experiment.id);
    return 0;
}

static void mark(const char *home)
{
    autofree(mem) char *path = xasprintf("%s/series/whole", home);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        log_error("cannot write %s: %m", path);
}

struct migration *migration_new(const char *home, struct store *store, struct series_db *db)
{
    autofree(migration) struct migration *migration = xcalloc(1, sizeof(*migration));

    migration->home = xstrdup(home);
    migration->store = store;
    migration->db = db;
    migration->all = true;
    if (series_whole(home) || store_experiments(store, 0, add_experiment, migration, NULL) < 0)
        return NULL;
    if (migration->experiments.len == 0) {
        mark(home);
        return NULL;
    }
    return TAKE(migration);
}

struct migration *migration_of(const char *home, struct store *store, struct series_db *db,
                               int64_t experiment)
{
    struct migration *migration = xcalloc(1, sizeof(*migration));

    migration->home = xstrdup(home);
    migration->store = store;
    migration->db = db;
    migration_add(migration, experiment);
    return migration;
}

void migration_add(struct migration *migration, int64_t experiment)
{
    vec_push(&migration->experiments, experiment);
}

static void leave_experiment(struct migration *migration)
{
    if (migration->experiment)
        spec_release(&migration->spec);
    migration->experiment = 0;
    migration->trials.len = 0;
}

void migration_free(struct migration *migration)
{
    if (migration->copy)
        series_copy_free(migration->copy);
    leave_experiment(migration);
    vec_release(&migration->experiments);
    vec_release(&migration->trials);
    free(migration->home);
    free(migration);
}

/* One that has not ended is read by the engine, which stores what it reads. */
static int add_trial(const struct trial_row *row, void *arg)
{
    struct migration *migration = arg;
    struct old_trial trial = {row->trial.number, row->trial.attempts, row->trial.attempts ? 1 : 0};
    if (trial_state_ended(row->trial.state))
        vec_push(&migration->trials, trial);
    return 0;
}

static void enter_experiment(struct migration *migration)
{
    struct experiment_row row = {0};
    int64_t id = *vec_last(&migration->experiments);
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    struct trial_query query = {.experiment = id, .order = ORDER_NUMBER};

    migration->experiments.len--;
    spec_init(&migration->spec);
    if (store_find_experiment(migration->store, ref, true, &row, NULL) == 0 &&
        spec_parse(row.experiment.spec_json, strlen(row.experiment.spec_json), "stored spec", "/",
                   NULL, &migration->spec, NULL, NULL) == 0) {
        migration->experiment = id;
        store_trials(migration->store, &query, add_trial, migration, NULL);
    } else {
        spec_release(&migration->spec);
    }
    experiment_row_release(&row);
}

/* The next piece of the trial that is under way. 1: it is done. */
static int copy_turn(struct migration *migration)
{
    struct old_trial *trial = vec_last(&migration->trials);

    if (migration->copy) {
        int r = series_copy_turn(migration->copy);
        if (r != 0)
            series_copy_free(TAKE(migration->copy));
        if (r < 0)
            return r;
        trial->next += r;
        return 0;
    }
    if (trial->next > trial->attempts)
        return 1;
    struct attempt attempt = {
        .experiment = migration->experiment, .trial = trial->number, .number = trial->next};
    return series_copy_new(migration->db, migration->home, &migration->spec, &attempt,
                           &migration->copy, NULL);
}

/* All trials have had their turn. */
static bool finish(struct migration *migration)
{
    if (migration->failed || series_db_sync(migration->db, NULL) < 0) {
        log_warn("the samples of %zu trials could not be read into the store%s", migration->failed,
                 migration->all ? "; the next start tries again" : "");
        return true;
    }
    if (migration->all)
        mark(migration->home);
    log_info("the samples of %zu older trials are in the store of series", migration->copied);
    return true;
}

bool migration_turn(struct migration *migration)
{
    if (migration->trials.len) {
        int r = copy_turn(migration);
        if (r == 0 || r == -ENOSPC || r == -EDQUOT)
            return false;
        migration->trials.len--;
        migration->failed += r < 0;
        migration->copied += r > 0;
        return false;
    }
    leave_experiment(migration);
    if (migration->experiments.len) {
        enter_experiment(migration);
        return false;
    }
    return finish(migration);
}
