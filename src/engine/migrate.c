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
};

struct migration {
    char *home;
    struct store *store;
    struct series_db *db;
    VEC(int64_t) experiments; /* still to do; the last one is next */
    int64_t experiment;       /* under way; 0: none */
    struct spec spec;         /* its */
    VEC(struct old_trial) trials;
    size_t copied;
};

static char *marker_of(const char *home)
{
    return xasprintf("%s/series/whole", home);
}

static int add_experiment(const struct experiment_row *row, void *arg)
{
    struct migration *migration = arg;
    vec_push(&migration->experiments, row->experiment.id);
    return 0;
}

static void mark(const char *home)
{
    autofree(mem) char *path = marker_of(home);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        log_error("cannot write %s: %m", path);
}

struct migration *migration_new(const char *home, struct store *store, struct series_db *db)
{
    autofree(mem) char *path = marker_of(home);
    autofree(migration) struct migration *migration = xcalloc(1, sizeof(*migration));

    migration->home = xstrdup(home);
    migration->store = store;
    migration->db = db;
    if (fs_exists(path) || store_experiments(store, 0, add_experiment, migration, NULL) < 0)
        return NULL;
    if (migration->experiments.len == 0) {
        mark(home);
        return NULL;
    }
    return TAKE(migration);
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
    struct old_trial trial = {row->trial.number, row->trial.attempts};
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

static int copy_trial(struct migration *migration, struct old_trial trial)
{
    int r = 0;

    for (int64_t n = trial.attempts ? 1 : 0; r >= 0 && n <= trial.attempts; n++) {
        struct attempt attempt = {
            .experiment = migration->experiment, .trial = trial.number, .number = n};
        r = series_store(migration->db, migration->home, &migration->spec, &attempt, NULL);
    }
    return r;
}

bool migration_turn(struct migration *migration)
{
    if (migration->trials.len) {
        int r = copy_trial(migration, *vec_last(&migration->trials));
        if (r == -ENOSPC)
            return false;
        migration->trials.len--;
        migration->copied++;
        return false;
    }
    leave_experiment(migration);
    if (migration->experiments.len) {
        enter_experiment(migration);
        return false;
    }
    if (series_db_flush(migration->db, NULL) < 0)
        return false;
    mark(migration->home);
    log_info("the samples of %zu older trials are in the store of series", migration->copied);
    return true;
}
