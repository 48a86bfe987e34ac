/* SPDX-License-Identifier: MIT */
/*
 * remove.c — experiments and trials go, with every row that belongs to them.
 *
 * Ids are never given twice, so before rows go the highest ids are noted in `meta`; as long as
 * nothing was removed the tables themselves know them, and writing a row costs nothing more.
 */
#include "store/internal.h"

/* ?1 … ?2: the ids of the trials, ?3: the experiment, ?4: the trial, ?5 … ?6: ids of events. */
static const char *const note_high_water[] = {
    "INSERT INTO meta (key, value)"
    " SELECT 'experiment_high', max(id) FROM experiment HAVING max(id) IS NOT NULL UNION ALL"
    " SELECT 'attempt_high', max(id) FROM attempt HAVING max(id) IS NOT NULL"
    " ON CONFLICT (key) DO UPDATE SET value=max(value, excluded.value)",
};
static const char *const remove_trials[] = {
    "DELETE FROM trial WHERE id BETWEEN ?1 AND ?2",
    "DELETE FROM attempt WHERE trial_id BETWEEN ?1 AND ?2",
    "DELETE FROM summary WHERE trial_id BETWEEN ?1 AND ?2",
    "DELETE FROM run WHERE trial_id BETWEEN ?1 AND ?2",
    "DELETE FROM artifact WHERE trial_id BETWEEN ?1 AND ?2",
};
static const char *const remove_of_trial[] = {
    "INSERT INTO meta (key, value) SELECT 'event_high.' || ?3, max(id) & 4294967295 FROM event"
    " WHERE id BETWEEN ?5 AND ?6 HAVING max(id) IS NOT NULL"
    " ON CONFLICT (key) DO UPDATE SET value=max(value, excluded.value)",
    "DELETE FROM event WHERE id BETWEEN ?5 AND ?6 AND trial=?4",
    "DELETE FROM tag WHERE experiment=?3 AND trial=?4",
    "UPDATE experiment SET best_trial=0 WHERE id=?3 AND best_trial=?4",
};
static const char *const remove_of_experiment[] = {
    "DELETE FROM event WHERE id BETWEEN ?5 AND ?6",
    "DELETE FROM meta WHERE key = 'event_high.' || ?3",
    "DELETE FROM tag WHERE experiment=?3",
    "DELETE FROM experiment_text WHERE experiment=?3",
    "DELETE FROM experiment_search WHERE experiment=?3",
    "DELETE FROM model WHERE experiment=?3",
    "DELETE FROM experiment WHERE id=?3",
};

static int run_one(struct store *store, const char *sql, const int64_t values[6])
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
    for (int i = 0; rc == SQLITE_OK && i < sqlite3_bind_parameter_count(stmt); i++)
        rc = sqlite3_bind_int64(stmt, i + 1, values[i]);
    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_step(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int run_all(struct store *store, const char *const *sql, size_t n,
                   const struct put_other *put)
{
    const int64_t values[6] = {
        pair_id(put->experiment, put->trial),
        pair_id(put->experiment, put->trial ? put->trial : NUMBER_MAX),
        put->experiment,
        put->trial,
        pair_id(put->experiment, 0),
        pair_id(put->experiment, NUMBER_MAX),
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
        rc = run_one(store, sql[i], values);
    return rc;
}
#define RUN_ALL(store, list, put) run_all(store, list, ARRAY_LEN(list), put)

int apply_remove_trial(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    int rc = RUN_ALL(store, note_high_water, put);
    if (rc == SQLITE_OK)
        rc = RUN_ALL(store, remove_trials, put);
    if (rc == SQLITE_OK)
        rc = RUN_ALL(store, remove_of_trial, put);
    return rc;
}

int apply_remove_experiment(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    int rc = RUN_ALL(store, note_high_water, put);
    if (rc == SQLITE_OK)
        rc = RUN_ALL(store, remove_trials, put);
    if (rc == SQLITE_OK)
        rc = RUN_ALL(store, remove_of_experiment, put);
    return rc;
}
