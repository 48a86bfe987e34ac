/* SPDX-License-Identifier: MIT */
/*
 * schema.c — the tables, as a list of numbered migrations. PRAGMA user_version says how many of
 * them a database has had; application_id says that it is ours. Both change in the transaction
 * that makes the tables, so a crash leaves the old version or the new one.
 *
 * States and reasons are their names, times are µs, NaN is NULL, "no step" is NULL.
 *
 * A trial's id is experiment << 32 | number, an event's alike: those of an experiment lie side by
 * side in the table, and neither writing nor walking them needs an index. There are few indexes
 * on purpose: walking 100,000 trials takes 40 ms, and every index costs every trial a page more.
 * What is large and seldom changes (the spec, the environment, the search's state) lies apart
 * from what changes at every turn.
 */
#include "store/internal.h"

#include <errno.h>

static const char version_1[] =
    "CREATE TABLE meta ("
    " key TEXT PRIMARY KEY,"
    " value ANY"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE experiment ("
    " id INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " goal TEXT,"  /* of the objective, taken from the spec */
    " patch TEXT," /* object: what git had not committed, taken from the environment */
    " error TEXT,"
    " code TEXT," /* object */
    " created_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " rerun_of_experiment INTEGER NOT NULL,"
    " rerun_of_trial INTEGER NOT NULL,"
    " starred INTEGER NOT NULL DEFAULT 0,"
    " note TEXT"
    ") STRICT;"
    "CREATE INDEX experiment_name ON experiment (name);"
    "CREATE TABLE experiment_text ("
    " experiment INTEGER PRIMARY KEY,"
    " spec_json TEXT,"
    " environment TEXT"
    ") STRICT;"
    "CREATE TABLE experiment_search ("
    " experiment INTEGER PRIMARY KEY,"
    " state BLOB"
    ") STRICT;"

    "CREATE TABLE trial ("
    " id INTEGER PRIMARY KEY," /* experiment << 32 | number */
    " experiment INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " value REAL,"
    " best REAL,"
    " last_step INTEGER,"
    " first_nan_step INTEGER,"
    " attempts INTEGER NOT NULL,"
    " retries INTEGER NOT NULL,"
    " created_us INTEGER NOT NULL,"
    " started_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " point BLOB," /* doubles in the byte order of the machine: little endian */
    " params_json TEXT,"
    " starred INTEGER NOT NULL DEFAULT 0,"
    " note TEXT"
    ") STRICT;"

    "CREATE TABLE attempt ("
    " id INTEGER PRIMARY KEY,"
    " trial_id INTEGER NOT NULL,"
    " experiment INTEGER NOT NULL,"
    " trial INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " started_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " cpu_us INTEGER NOT NULL,"
    " max_rss_bytes INTEGER NOT NULL,"
    " dropped_bytes INTEGER NOT NULL,"
    " exit_status INTEGER NOT NULL,"
    " signal INTEGER NOT NULL,"
    " pid INTEGER NOT NULL,"
    " error TEXT,"
    " gpus TEXT,"
    " host TEXT,"
    " code TEXT" /* object */
    ") STRICT;"
    "CREATE INDEX attempt_trial ON attempt (trial_id);"
    "CREATE INDEX attempt_code ON attempt (code) WHERE code IS NOT NULL;"

    "CREATE TABLE summary ("
    " trial_id INTEGER NOT NULL,"
    " metric TEXT NOT NULL,"
    " count INTEGER NOT NULL,"
    " last REAL,"
    " min REAL,"
    " max REAL,"
    " last_step INTEGER,"
    " first_nan_step INTEGER,"
    " PRIMARY KEY (trial_id, metric)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE event ("
    " id INTEGER PRIMARY KEY," /* experiment << 32 | n */
    " time_us INTEGER NOT NULL,"
    " trial INTEGER NOT NULL,"
    " json TEXT NOT NULL"
    ") STRICT;"

    "CREATE TABLE tag ("
    " experiment INTEGER NOT NULL,"
    " trial INTEGER NOT NULL," /* 0: the experiment itself */
    " tag TEXT NOT NULL,"
    " PRIMARY KEY (experiment, trial, tag)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE object ("
    " sha256 TEXT PRIMARY KEY,"
    " kind TEXT NOT NULL,"
    " size INTEGER NOT NULL,"
    " created_us INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"

    "INSERT INTO meta (key, value) VALUES ('home_id', lower(hex(randomblob(8))));";

/* Why a trial was suggested or stopped, in which order results became known, and the best as the
 * search sees it. What version 1 kept of a search is not understood any more, and not needed: the
 * trials tell it. Its ended trials became known in the order of their numbers, but for those that
 * tell nothing of their setting. */
static const char version_2[] =
    "ALTER TABLE experiment ADD COLUMN best_trial INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE experiment ADD COLUMN best_mean REAL;"
    "ALTER TABLE experiment ADD COLUMN best_deviation REAL;"
    "ALTER TABLE experiment_search ADD COLUMN kernel TEXT;"
    "ALTER TABLE trial ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trial ADD COLUMN told INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trial ADD COLUMN repeat_of INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE trial ADD COLUMN why TEXT;"     /* JSON */
    "ALTER TABLE trial ADD COLUMN verdict TEXT;" /* JSON */
    "ALTER TABLE trial ADD COLUMN extra BLOB;"   /* doubles, as in point */
    "DELETE FROM experiment_search;"
    "UPDATE trial SET told = known.n FROM"
    " (SELECT id AS known_id, row_number() OVER (PARTITION BY experiment ORDER BY id) AS n"
    "  FROM trial WHERE state = 'completed' OR (state = 'stopped' AND reason = 'pruned')"
    "  OR (state = 'failed' AND reason NOT IN ('lost', 'spawn', 'cancelled', 'interrupted')))"
    " AS known WHERE trial.id = known.known_id;"
    "CREATE INDEX trial_told ON trial (experiment, told) WHERE told > 0;";

/* The configuration of the machine in force in an attempt, energy, and what workloads taught about
 * the machine. */
static const char version_3[] =
    "ALTER TABLE trial ADD COLUMN joules REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE trial ADD COLUMN joules_measured INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN system TEXT;" /* JSON */
    "ALTER TABLE attempt ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN joules REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN joules_measured INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE workload ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " identity TEXT NOT NULL UNIQUE," /* of program, parameters and kind of machine */
    " name TEXT NOT NULL,"            /* for people */
    " machine TEXT NOT NULL,"         /* its kind, for people */
    " updated_us INTEGER NOT NULL,"
    " cluster INTEGER NOT NULL DEFAULT 0," /* 0: none */
    " json TEXT NOT NULL"
    ") STRICT;";

/* Whose an experiment is, and its place in the queue. A submission's key outlives its experiment:
 * who sends it again must not start it again. */
static const char version_4[] =
    "ALTER TABLE experiment ADD COLUMN owner TEXT;"
    "ALTER TABLE experiment ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE experiment ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;" /* enum held */
    "CREATE TABLE submission ("
    " owner TEXT NOT NULL,"
    " key TEXT NOT NULL,"
    " experiment INTEGER NOT NULL,"
    " PRIMARY KEY (owner, key)"
    ") STRICT, WITHOUT ROWID;";

/* Who may ask over HTTP: tokens of programs, sessions of browsers, links that open one. Only hashes
 * of secrets are kept. What was made with a token goes with it. */
static const char version_5[] =
    "CREATE TABLE token ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " kind TEXT NOT NULL," /* token, session, link */
    " user TEXT NOT NULL,"
    " role TEXT NOT NULL,"
    " sha256 TEXT NOT NULL UNIQUE,"
    " parent INTEGER NOT NULL," /* token with which it was made; 0: none */
    " created_us INTEGER NOT NULL,"
    " expires_us INTEGER NOT NULL" /* 0: never */
    ") STRICT;";

/* Runs that a tracking client names: what it told of a trial that has no column, files that were
 * sent (logical names: data, never paths), and models. */
static const char version_6[] = "CREATE TABLE run ("
                                " trial_id INTEGER PRIMARY KEY,"
                                " json TEXT NOT NULL"
                                ") STRICT;"
                                "CREATE TABLE artifact ("
                                " trial_id INTEGER NOT NULL," /* number 0: of the experiment */
                                " path TEXT NOT NULL,"
                                " sha256 TEXT NOT NULL," /* object */
                                " size INTEGER NOT NULL,"
                                " time_us INTEGER NOT NULL,"
                                " PRIMARY KEY (trial_id, path)"
                                ") STRICT, WITHOUT ROWID;"
                                "CREATE INDEX artifact_sha256 ON artifact (sha256);"
                                "CREATE TABLE model ("
                                " id TEXT PRIMARY KEY,"
                                " experiment INTEGER NOT NULL,"
                                " json TEXT NOT NULL"
                                ") STRICT, WITHOUT ROWID;"
                                "CREATE INDEX model_experiment ON model (experiment);";

/* migrations[i] leads from version i to version i + 1. Never change one that was released. */
static const char *const migrations[] = {version_1, version_2, version_3,
                                         version_4, version_5, version_6};

int schema_newest(void)
{
    return (int)ARRAY_LEN(migrations);
}

/* Asked in one statement, so of one moment: somebody may be making our tables just now. */
static int refuse_foreign(struct store *store, struct err *err)
{
    autofree(mem) char *sql =
        xasprintf("SELECT CASE application_id WHEN %d THEN 0 WHEN 0 THEN"
                  " (SELECT count(*) FROM sqlite_schema) ELSE 1 END FROM pragma_application_id",
                  STORE_APPLICATION_ID);
    int64_t foreign;
    int r = store_number(store, sql, 0, &foreign, err);
    if (r < 0)
        return r;
    if (foreign)
        return err_set(err, EINVAL, "%s is a database of another program", store->path);
    return 0;
}

int schema_version(struct store *store, int *ret, struct err *err)
{
    int64_t application, version;
    int r = store_number(store, "PRAGMA application_id", 0, &application, err);
    if (r >= 0)
        r = store_number(store, "PRAGMA user_version", 0, &version, err);
    if (r < 0)
        return r;
    *ret = 0;
    if (application != STORE_APPLICATION_ID)
        return refuse_foreign(store, err);
    if (version > schema_newest())
        return err_set(err, ENOTSUP,
                       "this home was written by a newer Hone (schema %d, this one knows %d): use "
                       "that version",
                       (int)version, schema_newest());
    *ret = (int)version;
    return 0;
}

static int migrate_from(struct store *store, int version, struct err *err)
{
    int r = 0;
    for (int i = version; r >= 0 && i < schema_newest(); i++)
        r = store_exec(store, migrations[i], err);
    if (r < 0)
        return r;
    autofree(mem) char *stamp =
        xasprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", STORE_APPLICATION_ID,
                  schema_newest());
    return store_exec(store, stamp, err);
}

int schema_migrate(struct store *store, struct err *err)
{
    int version;
    int r = store_exec(store, "BEGIN IMMEDIATE", err);
    if (r < 0)
        return r;
    r = schema_version(store, &version, err); /* again: another process may have been quicker */
    if (r >= 0)
        r = migrate_from(store, version, err);
    if (r < 0)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}
