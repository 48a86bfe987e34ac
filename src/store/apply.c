/* SPDX-License-Identifier: MIT */
/*
 * apply.c — a transaction becomes durable: BEGIN IMMEDIATE, a prepared statement a row, COMMIT.
 *
 * Every statement sets a whole row ("upsert"), so applying the same transaction again gives the
 * same database; that is what a caller does after a full disk. Only events are additions: they
 * get their numbers here, rising within an experiment; a failed transaction leaves a gap.
 *
 * SQLite stores NaN as NULL by itself.
 */
#include "base/json.h"
#include "store/changes.h"
#include "store/internal.h"

#include <errno.h>
#include <math.h>

#define TIMES "created_us=excluded.created_us, ended_us=excluded.ended_us, run_us=excluded.run_us"

static const char *const sql[STMTS] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_EXPERIMENT] =
        "INSERT INTO experiment (id, name, state, reason, error, code, created_us, ended_us, "
        "run_us,"
        " rerun_of_experiment, rerun_of_trial, best_trial, best_mean, best_deviation, owner,"
        " priority, paused) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (id) DO UPDATE SET name=excluded.name, state=excluded.state,"
        " reason=excluded.reason, error=excluded.error, code=excluded.code, " TIMES ","
        " rerun_of_experiment=excluded.rerun_of_experiment,"
        " rerun_of_trial=excluded.rerun_of_trial, best_trial=excluded.best_trial,"
        " best_mean=excluded.best_mean, best_deviation=excluded.best_deviation,"
        " owner=coalesce(excluded.owner, owner), priority=excluded.priority,"
        " paused=excluded.paused",
    /* Large texts are written only when they say something else; NULL: nothing new. */
    [STMT_TEXTS] =
        "INSERT INTO experiment_text (experiment, spec_json, environment) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (experiment) DO UPDATE SET spec_json=coalesce(?2, spec_json),"
        " environment=coalesce(?3, environment)"
        " WHERE (?2 IS NOT NULL AND spec_json IS NOT ?2)"
        " OR (?3 IS NOT NULL AND environment IS NOT ?3)",
    [STMT_FACTS] = "UPDATE experiment SET goal=coalesce(?2, goal), patch=coalesce(?3, patch)"
                   " WHERE id=?1",
    [STMT_SEARCH] = "INSERT INTO experiment_search (experiment, state, kernel) VALUES (?1, ?2, ?3)"
                    " ON CONFLICT (experiment) DO UPDATE SET state=?2, kernel=?3"
                    " WHERE state IS NOT ?2 OR kernel IS NOT ?3",
    [STMT_TRIAL] =
        "INSERT INTO trial (id, experiment, number, state, reason, value, best, last_step,"
        " first_nan_step, attempts, retries, created_us, started_us, ended_us, run_us, point,"
        " params_json, seen, told, repeat_of, why, verdict, extra, joules, joules_measured)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (id) DO UPDATE SET state=excluded.state, reason=excluded.reason,"
        " value=excluded.value, best=excluded.best, last_step=excluded.last_step,"
        " first_nan_step=excluded.first_nan_step, attempts=excluded.attempts,"
        " retries=excluded.retries, " TIMES ", started_us=excluded.started_us,"
        " point=coalesce(excluded.point, point),"
        " params_json=coalesce(excluded.params_json, params_json), seen=excluded.seen,"
        " told=excluded.told, repeat_of=excluded.repeat_of, why=coalesce(excluded.why, why),"
        " verdict=coalesce(excluded.verdict, verdict), extra=coalesce(excluded.extra, extra),"
        " joules=excluded.joules, joules_measured=excluded.joules_measured",
    [STMT_ATTEMPT] =
        "INSERT INTO attempt (id, trial_id, experiment, trial, number, state, reason, started_us,"
        " ended_us, run_us, cpu_us, max_rss_bytes, dropped_bytes, exit_status, signal, pid, error,"
        " gpus, host, code, system, generation, joules, joules_measured)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (id) DO UPDATE SET state=excluded.state, reason=excluded.reason,"
        " started_us=excluded.started_us, ended_us=excluded.ended_us, run_us=excluded.run_us,"
        " cpu_us=excluded.cpu_us, max_rss_bytes=excluded.max_rss_bytes,"
        " dropped_bytes=excluded.dropped_bytes, exit_status=excluded.exit_status,"
        " signal=excluded.signal, pid=excluded.pid, error=excluded.error, gpus=excluded.gpus,"
        " host=excluded.host, code=excluded.code, system=excluded.system,"
        " generation=excluded.generation, joules=excluded.joules,"
        " joules_measured=excluded.joules_measured",
    [STMT_SUMMARY] =
        "INSERT INTO summary (trial_id, metric, count, last, min, max, last_step, first_nan_step)"
        " VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (trial_id, metric) DO UPDATE SET"
        " count=excluded.count, last=excluded.last, min=excluded.min, max=excluded.max,"
        " last_step=excluded.last_step, first_nan_step=excluded.first_nan_step",
    [STMT_EVENT] = "INSERT INTO event (id, time_us, trial, json) VALUES (?,?,?,?)",
    [STMT_TAG] = "INSERT OR IGNORE INTO tag (experiment, trial, tag) VALUES (?,?,?)",
    [STMT_UNTAG] = "DELETE FROM tag WHERE experiment=? AND trial=? AND tag=?",
    [STMT_NOTE_EXPERIMENT] = "UPDATE experiment SET note=?2 WHERE id=?1",
    [STMT_NOTE_TRIAL] = "UPDATE trial SET note=?2 WHERE id=?1",
    [STMT_STAR_EXPERIMENT] = "UPDATE experiment SET starred=?2 WHERE id=?1",
    [STMT_STAR_TRIAL] = "UPDATE trial SET starred=?2 WHERE id=?1",
    /* Stored again: younger, so that a running `gc` spares it. */
    [STMT_OBJECT] = "INSERT INTO object (sha256, kind, size, created_us) VALUES (?,?,?,?)"
                    " ON CONFLICT (sha256) DO UPDATE SET"
                    " created_us=max(created_us, excluded.created_us)",
    [STMT_REMOVE_OBJECT] = "DELETE FROM object WHERE sha256=?",
    /* Not an upsert: that would use up an id each time. */
    [STMT_WORKLOAD] = "UPDATE workload SET name=?2, machine=?3, updated_us=?4, json=?6"
                      " WHERE identity=?1",
    [STMT_NEW_WORKLOAD] = "INSERT INTO workload (identity, name, machine, updated_us, cluster,"
                          " json) VALUES (?1,?2,?3,?4,?5,?6)",
    [STMT_CLUSTER_WORKLOAD] = "UPDATE workload SET cluster=?2"
                              " WHERE identity=?1 AND cluster<>?2",
    [STMT_REMOVE_WORKLOAD] = "DELETE FROM workload WHERE identity=?",
    [STMT_SUBMISSION] = "INSERT OR IGNORE INTO submission (owner, key, experiment) VALUES (?,?,?)",
    [STMT_TOKEN] = "INSERT INTO token (kind, user, role, sha256, parent, created_us, expires_us)"
                   " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
                   " WHERE NOT EXISTS (SELECT 1 FROM token WHERE sha256=?4)",
    /* What is over, and what browsers left behind long ago: nobody can ask for it any more. */
    [STMT_EXPIRE_TOKENS] = "DELETE FROM token WHERE (expires_us > 0 AND expires_us <= ?1) OR"
                           " (kind <> 'token' AND id <= (SELECT max(id) FROM token) - 1000)",
    [STMT_REMOVE_TOKEN] = "DELETE FROM token WHERE id=?1 OR parent=?1",
    [STMT_REMOVE_SECRET] = "DELETE FROM token WHERE sha256=?1",
    [STMT_REMOVE_USER] = "DELETE FROM token WHERE user=?1",
    [STMT_RUN] = "INSERT INTO run (trial_id, json) VALUES (?1,?2)"
                 " ON CONFLICT (trial_id) DO UPDATE SET json=?2",
    [STMT_ARTIFACT] =
        "INSERT INTO artifact (trial_id, path, sha256, size, time_us) VALUES (?1,?2,?3,?4,?5)"
        " ON CONFLICT (trial_id, path) DO UPDATE SET sha256=?3, size=?4, time_us=?5",
    [STMT_REMOVE_ARTIFACT] = "DELETE FROM artifact WHERE trial_id=?1 AND path=?2",
    [STMT_MODEL] = "INSERT INTO model (id, experiment, json) VALUES (?1,?2,?3)"
                   " ON CONFLICT (id) DO UPDATE SET json=?3",
    [STMT_META] = "INSERT INTO meta (key, value) VALUES (?1,?2)"
                  " ON CONFLICT (key) DO UPDATE SET value=?2",
};

/* A statement being filled: values in the order of its parameters; the first failure is kept. */
struct fill {
    sqlite3_stmt *stmt;
    int at, rc;
};

static void fill_keep(struct fill *fill, int rc)
{
    if (fill->rc == SQLITE_OK)
        fill->rc = rc;
}

static void fill_int(struct fill *fill, int64_t x)
{
    fill_keep(fill, sqlite3_bind_int64(fill->stmt, ++fill->at, x));
}

static void fill_double(struct fill *fill, double x)
{
    fill_keep(fill, sqlite3_bind_double(fill->stmt, ++fill->at, x));
}

static void fill_step(struct fill *fill, int64_t step)
{
    if (step == STEP_NONE)
        fill_keep(fill, sqlite3_bind_null(fill->stmt, ++fill->at));
    else
        fill_int(fill, step);
}

/* Texts and bytes stay where they are until the statement has run. NULL: NULL. */
static void fill_text(struct fill *fill, const char *text)
{
    fill_keep(fill, sqlite3_bind_text(fill->stmt, ++fill->at, text, -1, SQLITE_STATIC));
}

static void fill_bytes(struct fill *fill, const void *bytes, size_t n)
{
    fill_keep(fill, sqlite3_bind_blob64(fill->stmt, ++fill->at, bytes, n, SQLITE_STATIC));
}

static int fill_begin(struct store *store, enum stmt which, struct fill *ret)
{
    sqlite3_stmt **stmt = &store->stmts[which];
    int rc = SQLITE_OK;
    if (!*stmt)
        rc = sqlite3_prepare_v3(store->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    *ret = (struct fill){*stmt, 0, rc};
    return rc;
}

/* Run it; it is ready for the next row whatever happened. Returns SQLite's code. */
static int fill_run(struct fill *fill)
{
    if (fill->rc != SQLITE_OK)
        return fill->rc;
    int rc = sqlite3_step(fill->stmt);
    sqlite3_reset(fill->stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int run_plain(struct store *store, enum stmt which)
{
    struct fill fill;
    fill_begin(store, which, &fill);
    return fill_run(&fill);
}

static int apply_object(struct store *store, const char *sha256, const char *kind, uint64_t size,
                        int64_t time_us)
{
    struct fill fill;
    if (fill_begin(store, STMT_OBJECT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, sha256);
    fill_text(&fill, kind);
    fill_int(&fill, (int64_t)size);
    fill_int(&fill, time_us);
    return fill_run(&fill);
}

static json_t *parse_quietly(const char *json)
{
    json_t *value = NULL;
    if (json)
        json_parse(json, strlen(json), &value, NULL);
    return value;
}

/* What the database itself must know of the texts: which way is better, and which object holds
 * the patch. */
static int apply_facts(struct store *store, const struct experiment *e)
{
    autofree(json) json_t *spec = parse_quietly(e->spec_json);
    autofree(json) json_t *environment = parse_quietly(e->environment);
    const json_t *git = json_object_get(environment, "git");
    const char *patch = json_get_text(git, "patch", NULL);
    struct fill fill;

    if (fill_begin(store, STMT_FACTS, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, e->id);
    fill_text(&fill, json_get_text(json_object_get(spec, "objective"), "goal", NULL));
    fill_text(&fill, patch);
    int rc = fill_run(&fill);
    if (rc != SQLITE_OK || !patch)
        return rc;
    return apply_object(store, patch, "patch", (uint64_t)json_get_int(git, "patch_bytes", 0),
                        e->created_us);
}

static int apply_texts(struct store *store, const struct experiment *e)
{
    struct fill fill;
    if (!e->spec_json && !e->environment)
        return SQLITE_OK;
    if (fill_begin(store, STMT_TEXTS, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, e->id);
    fill_text(&fill, e->spec_json);
    fill_text(&fill, e->environment);
    int rc = fill_run(&fill);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 0)
        return rc;
    return apply_facts(store, e);
}

static int apply_search(struct store *store, const struct experiment *e)
{
    struct fill fill;
    if (!e->search_state)
        return SQLITE_OK;
    if (fill_begin(store, STMT_SEARCH, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, e->id);
    fill_bytes(&fill, e->search_state, e->search_state_size);
    fill_text(&fill, e->kernel);
    return fill_run(&fill);
}

static int apply_experiment(struct store *store, const struct row *row)
{
    const struct experiment *e = &((const struct put_experiment *)row)->experiment;
    struct fill fill;

    if (fill_begin(store, STMT_EXPERIMENT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, e->id);
    fill_text(&fill, e->name);
    fill_text(&fill, experiment_state_name(e->state));
    fill_text(&fill, reason_name(e->reason));
    fill_text(&fill, e->error);
    fill_text(&fill, e->code);
    fill_int(&fill, e->created_us);
    fill_int(&fill, e->ended_us);
    fill_int(&fill, e->run_us);
    fill_int(&fill, e->rerun_of_experiment);
    fill_int(&fill, e->rerun_of_trial);
    fill_int(&fill, e->best_trial);
    fill_double(&fill, e->best_trial > 0 ? e->best_mean : NAN);
    fill_double(&fill, e->best_trial > 0 ? e->best_deviation : NAN);
    fill_text(&fill, e->owner);
    fill_int(&fill, e->priority);
    fill_int(&fill, e->paused);
    int rc = fill_run(&fill);
    if (rc == SQLITE_OK)
        rc = apply_texts(store, e);
    if (rc == SQLITE_OK)
        rc = apply_search(store, e);
    return rc;
}

static int apply_trial(struct store *store, const struct row *row)
{
    const struct put_trial *put = (const struct put_trial *)row;
    const struct trial *t = &put->trial;
    struct fill fill;

    if (fill_begin(store, STMT_TRIAL, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, pair_id(t->experiment, t->number));
    fill_int(&fill, t->experiment);
    fill_int(&fill, t->number);
    fill_text(&fill, trial_state_name(t->state));
    fill_text(&fill, reason_name(t->reason));
    fill_double(&fill, t->value);
    fill_double(&fill, t->best);
    fill_step(&fill, t->last_step);
    fill_step(&fill, t->first_nan_step);
    fill_int(&fill, t->attempts);
    fill_int(&fill, t->retries);
    fill_int(&fill, t->created_us);
    fill_int(&fill, t->started_us);
    fill_int(&fill, t->ended_us);
    fill_int(&fill, t->run_us);
    fill_bytes(&fill, t->point, put->ndim * sizeof(double));
    fill_text(&fill, put->params_json);
    fill_int(&fill, t->seen);
    fill_int(&fill, t->told);
    fill_int(&fill, t->repeat_of);
    fill_text(&fill, t->why);
    fill_text(&fill, t->verdict);
    fill_bytes(&fill, t->extra, t->n_extra * sizeof(double));
    fill_double(&fill, t->joules);
    fill_int(&fill, t->joules_measured);
    return fill_run(&fill);
}

static int apply_attempt(struct store *store, const struct row *row)
{
    const struct attempt *a = &((const struct put_attempt *)row)->attempt;
    struct fill fill;

    if (fill_begin(store, STMT_ATTEMPT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, a->id);
    fill_int(&fill, pair_id(a->experiment, a->trial));
    fill_int(&fill, a->experiment);
    fill_int(&fill, a->trial);
    fill_int(&fill, a->number);
    fill_text(&fill, attempt_state_name(a->state));
    fill_text(&fill, reason_name(a->reason));
    fill_int(&fill, a->started_us);
    fill_int(&fill, a->ended_us);
    fill_int(&fill, a->run_us);
    fill_int(&fill, a->cpu_us);
    fill_int(&fill, (int64_t)a->max_rss_bytes);
    fill_int(&fill, (int64_t)a->dropped_bytes);
    fill_int(&fill, a->exit_status);
    fill_int(&fill, a->signal);
    fill_int(&fill, a->pid);
    fill_text(&fill, a->error);
    fill_text(&fill, a->gpus);
    fill_text(&fill, a->host);
    fill_text(&fill, a->code);
    fill_text(&fill, a->system);
    fill_int(&fill, a->generation);
    fill_double(&fill, a->joules);
    fill_int(&fill, a->joules_measured);
    return fill_run(&fill);
}

static int apply_summary(struct store *store, const struct row *row)
{
    const struct put_summary *put = (const struct put_summary *)row;
    struct fill fill;

    if (fill_begin(store, STMT_SUMMARY, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, pair_id(put->experiment, put->trial));
    fill_text(&fill, put->summary.metric);
    fill_int(&fill, put->summary.count);
    fill_double(&fill, put->summary.last);
    fill_double(&fill, put->summary.min);
    fill_double(&fill, put->summary.max);
    fill_step(&fill, put->summary.last_step);
    fill_step(&fill, put->summary.first_nan_step);
    return fill_run(&fill);
}

/* The next event of an experiment. The first of this handle looks what there is. */
static int next_event(struct store *store, int64_t experiment, int64_t *ret_id)
{
    int64_t high = (int64_t)(intptr_t)map_find(&store->event_highs, (uint64_t)experiment);
    if (high == 0) {
        autofree(mem) char *sql_high = xasprintf(
            "SELECT 1 + max(coalesce((SELECT max(id) & 4294967295 FROM event WHERE id BETWEEN %lld"
            " AND %lld), 0), coalesce((SELECT value FROM meta WHERE key = 'event_high.%lld'), 0))",
            (long long)pair_id(experiment, 0), (long long)pair_id(experiment, NUMBER_MAX),
            (long long)experiment);
        int r = store_number(store, sql_high, 1, &high, NULL);
        if (r < 0)
            return sqlite3_errcode(store->db);
    }
    *ret_id = pair_id(experiment, high);
    map_put(&store->event_highs, (uint64_t)experiment, (void *)(intptr_t)(high + 1));
    return SQLITE_OK;
}

static int apply_event(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;
    int64_t id = 0;

    int rc = next_event(store, put->experiment, &id);
    if (rc == SQLITE_OK)
        rc = fill_begin(store, STMT_EVENT, &fill);
    if (rc != SQLITE_OK)
        return rc;
    fill_int(&fill, id);
    fill_int(&fill, put->time_us);
    fill_int(&fill, put->trial);
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static int apply_tag(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, put->on ? STMT_TAG : STMT_UNTAG, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, put->experiment);
    fill_int(&fill, put->trial);
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static void fill_target(struct fill *fill, const struct put_other *put)
{
    fill_int(fill, put->trial ? pair_id(put->experiment, put->trial) : put->experiment);
}

static int apply_note(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, put->trial ? STMT_NOTE_TRIAL : STMT_NOTE_EXPERIMENT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_target(&fill, put);
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static int apply_star(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, put->trial ? STMT_STAR_TRIAL : STMT_STAR_EXPERIMENT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_target(&fill, put);
    fill_int(&fill, put->on);
    return fill_run(&fill);
}

static int apply_put_object(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    return apply_object(store, put->text, put->kind, put->size, put->time_us);
}

static int apply_remove_object(struct store *store, const struct row *row)
{
    struct fill fill;
    if (fill_begin(store, STMT_REMOVE_OBJECT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, ((const struct put_other *)row)->text);
    return fill_run(&fill);
}

static int run_workload(struct store *store, enum stmt stmt, const struct workload_row *workload)
{
    struct fill fill;

    if (fill_begin(store, stmt, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, workload->identity);
    fill_text(&fill, workload->name);
    fill_text(&fill, workload->machine);
    fill_int(&fill, workload->updated_us);
    fill_int(&fill, workload->cluster);
    fill_text(&fill, workload->json);
    return fill_run(&fill);
}

static int apply_workload(struct store *store, const struct row *row)
{
    const struct workload_row *workload = &((const struct put_workload *)row)->workload;
    int rc = run_workload(store, STMT_WORKLOAD, workload);

    if (rc == SQLITE_OK && sqlite3_changes(store->db) == 0)
        rc = run_workload(store, STMT_NEW_WORKLOAD, workload);
    return rc;
}

static int apply_cluster_workload(struct store *store, const struct row *row)
{
    const struct workload_row *workload = &((const struct put_workload *)row)->workload;
    struct fill fill;

    if (fill_begin(store, STMT_CLUSTER_WORKLOAD, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, workload->identity);
    fill_int(&fill, workload->cluster);
    return fill_run(&fill);
}

static int apply_remove_workload(struct store *store, const struct row *row)
{
    struct fill fill;
    if (fill_begin(store, STMT_REMOVE_WORKLOAD, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, ((const struct put_other *)row)->text);
    return fill_run(&fill);
}

static int apply_submission(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, STMT_SUBMISSION, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, put->kind);
    fill_text(&fill, put->text);
    fill_int(&fill, put->experiment);
    return fill_run(&fill);
}

static int apply_queue(struct store *store, const struct row *row)
{
    struct fill fill;

    if (fill_begin(store, STMT_META, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, "queue_paused");
    fill_int(&fill, ((const struct put_other *)row)->on);
    return fill_run(&fill);
}

static int expire_tokens(struct store *store, int64_t now_us)
{
    struct fill fill;

    if (fill_begin(store, STMT_EXPIRE_TOKENS, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, now_us);
    return fill_run(&fill);
}

static int apply_token(struct store *store, const struct row *row)
{
    const struct token_row *token = &((const struct put_token *)row)->token;
    struct fill fill;

    int rc = expire_tokens(store, token->created_us);
    if (rc == SQLITE_OK)
        rc = fill_begin(store, STMT_TOKEN, &fill);
    if (rc != SQLITE_OK)
        return rc;
    fill_text(&fill, token->kind);
    fill_text(&fill, token->user);
    fill_text(&fill, token->role);
    fill_text(&fill, token->sha256);
    fill_int(&fill, token->parent);
    fill_int(&fill, token->created_us);
    fill_int(&fill, token->expires_us);
    return fill_run(&fill);
}

/* By whichever of them is given. */
static int apply_remove_token(struct store *store, const struct row *row)
{
    const struct token_row *token = &((const struct put_token *)row)->token;
    const char *text = token->user ? token->user : token->sha256;
    enum stmt stmt = token->user     ? STMT_REMOVE_USER
                     : token->sha256 ? STMT_REMOVE_SECRET
                                     : STMT_REMOVE_TOKEN;
    struct fill fill;

    if (fill_begin(store, stmt, &fill) != SQLITE_OK)
        return fill.rc;
    if (text)
        fill_text(&fill, text);
    else
        fill_int(&fill, token->id);
    return fill_run(&fill);
}

static int apply_run(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, STMT_RUN, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, pair_id(put->experiment, put->trial));
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static int apply_artifact(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, STMT_ARTIFACT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, pair_id(put->experiment, put->trial));
    fill_text(&fill, put->text);
    fill_text(&fill, put->kind);
    fill_int(&fill, (int64_t)put->size);
    fill_int(&fill, put->time_us);
    int rc = fill_run(&fill);
    return rc == SQLITE_OK ? apply_object(store, put->kind, "artifact", put->size, put->time_us)
                           : rc;
}

static int apply_remove_artifact(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, STMT_REMOVE_ARTIFACT, &fill) != SQLITE_OK)
        return fill.rc;
    fill_int(&fill, pair_id(put->experiment, put->trial));
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static int apply_model(struct store *store, const struct row *row)
{
    const struct put_other *put = (const struct put_other *)row;
    struct fill fill;

    if (fill_begin(store, STMT_MODEL, &fill) != SQLITE_OK)
        return fill.rc;
    fill_text(&fill, put->kind);
    fill_int(&fill, put->experiment);
    fill_text(&fill, put->text);
    return fill_run(&fill);
}

static apply_fn *const appliers[ROW_KINDS] = {
    [ROW_EXPERIMENT] = apply_experiment,
    [ROW_TRIAL] = apply_trial,
    [ROW_ATTEMPT] = apply_attempt,
    [ROW_SUMMARY] = apply_summary,
    [ROW_EVENT] = apply_event,
    [ROW_TAG] = apply_tag,
    [ROW_NOTE] = apply_note,
    [ROW_STAR] = apply_star,
    [ROW_OBJECT] = apply_put_object,
    [ROW_REMOVE_OBJECT] = apply_remove_object,
    [ROW_WORKLOAD] = apply_workload,
    [ROW_CLUSTER_WORKLOAD] = apply_cluster_workload,
    [ROW_REMOVE_WORKLOAD] = apply_remove_workload,
    [ROW_SUBMISSION] = apply_submission,
    [ROW_QUEUE] = apply_queue,
    [ROW_TOKEN] = apply_token,
    [ROW_REMOVE_TOKEN] = apply_remove_token,
    [ROW_RUN] = apply_run,
    [ROW_ARTIFACT] = apply_artifact,
    [ROW_REMOVE_ARTIFACT] = apply_remove_artifact,
    [ROW_MODEL] = apply_model,
    [ROW_REMOVE_EXPERIMENT] = apply_remove_experiment,
    [ROW_REMOVE_TRIAL] = apply_remove_trial,
};

void store_tell(struct store *store, struct changes *changes)
{
    store->changes = changes;
}

int store_apply(struct store *store, const struct txn *txn, struct err *err)
{
    if (txn_empty(txn))
        return 0;
    int rc = run_plain(store, STMT_BEGIN);
    if (rc != SQLITE_OK)
        return store_error(store, rc, "write", err);
    for (const struct row *row = txn->first; row && rc == SQLITE_OK; row = row->next)
        rc = appliers[row->kind](store, row);
    if (rc == SQLITE_OK)
        rc = run_plain(store, STMT_COMMIT);
    if (rc == SQLITE_OK && store->changes)
        changes_tell(store->changes, txn);
    if (rc == SQLITE_OK)
        return 0;
    int r = store_error(store, rc, "write", err);
    if (!sqlite3_get_autocommit(store->db)) /* a full disk may have rolled it back already */
        run_plain(store, STMT_ROLLBACK);
    return r;
}
