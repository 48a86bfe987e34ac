/* SPDX-License-Identifier: MIT */
/*
 * import_optuna.c — a study of an Optuna database (SQLite; versions 2.4 to 5).
 *
 *   studies(study_id, study_name)   study_directions(study_id, objective, direction)
 *   trials(trial_id, study_id, number, state, datetime_start, datetime_complete)
 *   trial_params(trial_id, param_name, param_value, distribution_json)
 *   trial_values(trial_id, objective, value [, value_type])
 *   trial_intermediate_values(trial_id, step, intermediate_value [, intermediate_value_type])
 *
 * A choice is stored as its index. A parameter's range may differ from trial to trial; ours then
 * covers them all. The file is opened read-only and may be in use.
 */
#include "base/clock.h"
#include "base/map.h"
#include "cli/import.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <time.h>

struct optuna {
    sqlite3 *db;
    int64_t study;
    struct map rows; /* trial_id → row + 1 */
    struct import_sheet *sheet;
    struct err *err;
};

/* ---- SQL ---- */

typedef int row_fn(struct optuna *optuna, sqlite3_stmt *row);

static int sql_error(struct optuna *optuna)
{
    return err_set(optuna->err, EINVAL, "not a readable Optuna database: %s",
                   sqlite3_errmsg(optuna->db));
}

/* Call fn for each row; ?1 is the study. */
static int each(struct optuna *optuna, const char *sql, row_fn *fn)
{
    sqlite3_stmt *stmt = NULL;
    int r = 0, rc;

    if (sqlite3_prepare_v2(optuna->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return sql_error(optuna);
    if (sqlite3_bind_parameter_count(stmt))
        sqlite3_bind_int64(stmt, 1, optuna->study);
    while (r == 0 && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        r = rc == SQLITE_ROW ? fn(optuna, stmt) : sql_error(optuna);
    sqlite3_finalize(stmt);
    return r;
}

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

static int count_row(struct optuna *optuna, sqlite3_stmt *row)
{
    optuna->study = sqlite3_column_int64(row, 0);
    return 0;
}

static bool has_column(struct optuna *optuna, const char *table, const char *column)
{
    int64_t study = optuna->study;
    autofree(mem) char *sql =
        xasprintf("SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'", table, column);
    int r = each(optuna, sql, count_row);
    bool has = r == 0 && optuna->study > 0;
    optuna->study = study;
    return has;
}

/* ---- the study ---- */

static int find_study(struct optuna *optuna, const char *wanted)
{
    sqlite3_stmt *stmt = NULL;
    autorelease(str) struct str names = STR_INIT;
    int64_t found = 0;
    size_t n = 0;

    if (sqlite3_prepare_v2(optuna->db, "SELECT study_id, study_name FROM studies ORDER BY study_id",
                           -1, &stmt, NULL) != SQLITE_OK)
        return sql_error(optuna);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = text_at(stmt, 1);
        if (!wanted || str_eq(name, wanted)) {
            found = sqlite3_column_int64(stmt, 0);
            free(optuna->sheet->name);
            optuna->sheet->name = xstrdup(name);
        }
        str_addf(&names, "%s%s", n++ ? ", " : "", name);
    }
    sqlite3_finalize(stmt);
    optuna->study = found;
    if (n == 0)
        return err_set(optuna->err, EINVAL, "it holds no study");
    if (wanted && !found)
        return err_set(optuna->err, EINVAL, "it holds no study '%s', but: %s", wanted, names.s);
    if (!wanted && n > 1)
        return err_set(optuna->err, EINVAL, "it holds %zu studies; say --study and one of: %s", n,
                       names.s);
    return 0;
}

static int on_direction(struct optuna *optuna, sqlite3_stmt *row)
{
    size_t k = optuna->sheet->objectives.len;
    struct objective objective = {
        .metric = k ? xasprintf("value_%zu", k + 1) : xstrdup("value"),
        .goal = str_eq(text_at(row, 0), "MAXIMIZE") ? GOAL_MAXIMIZE : GOAL_MINIMIZE,
        .target = NAN,
    };
    vec_push(&optuna->sheet->objectives, objective);
    return 0;
}

/* ["accuracy","latency"]: names that the study gave its objectives, since 3.2. */
static int on_metric_names(struct optuna *optuna, sqlite3_stmt *row)
{
    autofree(json) json_t *names = NULL;
    const char *text = text_at(row, 0);

    if (json_parse(text, strlen(text), &names, NULL) < 0 ||
        json_array_size(names) != optuna->sheet->objectives.len)
        return 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name || !*name)
            continue;
        free(optuna->sheet->objectives.at[i].metric);
        optuna->sheet->objectives.at[i].metric = xstrdup(name);
    }
    return 0;
}

static int read_objectives(struct optuna *optuna)
{
    int r = each(optuna,
                 "SELECT direction FROM study_directions WHERE study_id = ?1"
                 " ORDER BY objective",
                 on_direction);
    if (r == 0 && !optuna->sheet->objectives.len)
        r = err_set(optuna->err, EINVAL, "study '%s' has no objective", optuna->sheet->name);
    if (r == 0 && has_column(optuna, "study_system_attributes", "value_json"))
        r = each(optuna,
                 "SELECT value_json FROM study_system_attributes"
                 " WHERE study_id = ?1 AND key = 'study:metric_names'",
                 on_metric_names);
    return r;
}

/* ---- trials ---- */

/* "2026-11-16 02:36:50.123456", in the local time of who wrote it. */
static int64_t time_of(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    const char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
    int64_t us = 0, unit = 100000;

    if (!rest)
        return 0;
    for (rest += *rest == '.'; *rest >= '0' && *rest <= '9' && unit; rest++, unit /= 10)
        us += (*rest - '0') * unit;
    time_t s = mktime(&tm);
    return s == (time_t)-1 ? 0 : (int64_t)s * US_PER_S + us;
}

static const struct {
    const char *name;
    enum trial_state state;
    enum reason reason;
} states[] = {
    {"COMPLETE", TRIAL_COMPLETED, REASON_NONE},
    {"PRUNED", TRIAL_STOPPED, REASON_PRUNED},
    {"FAIL", TRIAL_FAILED, REASON_EXIT},
};

/* What waits or runs there has no result and is left out. */
static int on_trial(struct optuna *optuna, sqlite3_stmt *row)
{
    struct import_sheet *sheet = optuna->sheet;

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (!str_eq(text_at(row, 1), states[i].name))
            continue;
        if (sheet->rows.len >= IMPORT_ROWS_MAX)
            return err_set(optuna->err, EINVAL, "more than %d trials", IMPORT_ROWS_MAX);
        struct import_row *one = import_add_row(sheet, sheet->objectives.len);
        one->state = states[i].state;
        one->reason = states[i].reason;
        one->started_us = time_of(text_at(row, 2));
        one->ended_us = time_of(text_at(row, 3));
        map_put(&optuna->rows, (uint64_t)sqlite3_column_int64(row, 0),
                (void *)(uintptr_t)sheet->rows.len);
    }
    return 0;
}

/* NULL: a trial that was left out. */
static struct import_row *row_of(struct optuna *optuna, sqlite3_stmt *row)
{
    uintptr_t at = (uintptr_t)map_find(&optuna->rows, (uint64_t)sqlite3_column_int64(row, 0));
    return at ? &optuna->sheet->rows.at[at - 1] : NULL;
}

static double value_of(sqlite3_stmt *row, int column, const char *type)
{
    if (str_eq(type, "INF_POS"))
        return INFINITY;
    if (str_eq(type, "INF_NEG"))
        return -INFINITY;
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(row, column);
}

static int on_value(struct optuna *optuna, sqlite3_stmt *row)
{
    struct import_row *one = row_of(optuna, row);
    int64_t k = sqlite3_column_int64(row, 1);

    if (one && k >= 0 && (size_t)k < optuna->sheet->objectives.len)
        one->values[k] = value_of(row, 2, text_at(row, 3));
    return 0;
}

static int on_sample(struct optuna *optuna, sqlite3_stmt *row)
{
    struct import_row *one = row_of(optuna, row);
    double value = value_of(row, 2, text_at(row, 3));

    if (one && isfinite(value))
        vec_push(&one->curve, ((struct import_sample){sqlite3_column_int64(row, 1), value}));
    return 0;
}

static int read_trials(struct optuna *optuna)
{
    bool typed = has_column(optuna, "trial_values", "value_type");
    bool typed_steps = has_column(optuna, "trial_intermediate_values", "intermediate_value_type");
    int r = each(optuna,
                 "SELECT trial_id, state, datetime_start, datetime_complete FROM trials"
                 " WHERE study_id = ?1 ORDER BY number, trial_id",
                 on_trial);

    if (r == 0)
        r = each(optuna,
                 typed ? "SELECT trial_id, objective, value, value_type FROM trial_values"
                       : "SELECT trial_id, objective, value, '' FROM trial_values",
                 on_value);
    if (r == 0)
        r = each(optuna,
                 typed_steps
                     ? "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM"
                       " trial_intermediate_values ORDER BY trial_id, step"
                     : "SELECT trial_id, step, intermediate_value, '' FROM"
                       " trial_intermediate_values ORDER BY trial_id, step",
                 on_sample);
    return r;
}

/* ---- parameters ---- */

static struct value choice_value(const json_t *choice)
{
    if (json_is_boolean(choice))
        return value_bool(json_is_true(choice));
    if (json_is_integer(choice))
        return value_int(json_integer_value(choice));
    if (json_is_real(choice))
        return value_float(json_real_value(choice));
    return value_text(json_is_string(choice) ? json_string_value(choice) : "None");
}

/* Names of the same thing over the versions. */
static const struct {
    const char *name;
    enum param_type type;
    bool log;
} distributions[] = {
    {"FloatDistribution", PARAM_FLOAT, false},
    {"IntDistribution", PARAM_INT, false},
    {"CategoricalDistribution", PARAM_CHOICE, false},
    {"UniformDistribution", PARAM_FLOAT, false},
    {"LogUniformDistribution", PARAM_FLOAT, true},
    {"DiscreteUniformDistribution", PARAM_FLOAT, false},
    {"IntUniformDistribution", PARAM_INT, false},
    {"IntLogUniformDistribution", PARAM_INT, true},
};

/* Widen the column by one trial's distribution. */
static int add_distribution(struct optuna *optuna, struct import_column *column, bool first,
                            const json_t *json)
{
    const char *name = json_get_text(json, "name", "");
    const json_t *a = json_object_get(json, "attributes"), *choice;
    double low = json_get_double(a, "low", NAN), high = json_get_double(a, "high", NAN);
    double step = json_get_double(a, "step", json_get_double(a, "q", 0));
    size_t i, k;

    for (i = 0; i < ARRAY_LEN(distributions) && !str_eq(distributions[i].name, name);)
        i++;
    if (i == ARRAY_LEN(distributions))
        return err_set(optuna->err, EINVAL, "parameter '%s': unknown distribution '%s'",
                       column->name, name);
    if (!first && column->type != distributions[i].type)
        return err_set(optuna->err, EINVAL, "parameter '%s' is of two kinds", column->name);
    column->type = distributions[i].type;
    if (column->type == PARAM_CHOICE) {
        json_array_foreach(json_object_get(a, "choices"), k, choice) if (first)
            vec_push(&column->choices, choice_value(choice));
        return 0;
    }
    if (!isfinite(low) || !isfinite(high))
        return err_set(optuna->err, EINVAL, "parameter '%s' has no bounds", column->name);
    bool same = first || (low == column->min && step == column->step);
    column->log = (first || column->log) && low > 0 &&
                  (distributions[i].log || json_get_bool(a, "log", false));
    column->min = first ? low : fmin(column->min, low);
    column->max = first ? high : fmax(column->max, high);
    column->step = same && isfinite(step) ? step : column->type == PARAM_INT ? 1 : 0;
    return 0;
}

static struct import_column *column_of(struct optuna *optuna, const char *name, bool *ret_new)
{
    struct import_sheet *sheet = optuna->sheet;

    *ret_new = false;
    vec_foreach (column, &sheet->columns)
        if (str_eq(column->name, name))
            return column;
    *ret_new = true;
    vec_push(&sheet->columns, ((struct import_column){.name = xstrdup(name)}));
    struct import_column *column = vec_last(&sheet->columns);
    for (size_t i = 0; i < sheet->rows.len; i++)
        vec_push(&column->x, NAN);
    return column;
}

static int on_param(struct optuna *optuna, sqlite3_stmt *row)
{
    uintptr_t at = (uintptr_t)map_find(&optuna->rows, (uint64_t)sqlite3_column_int64(row, 0));
    const char *text = text_at(row, 3);
    autofree(json) json_t *json = NULL;
    bool first;

    if (!at)
        return 0;
    struct import_column *column = column_of(optuna, text_at(row, 1), &first);
    if (json_parse(text, strlen(text), &json, NULL) < 0)
        return err_set(optuna->err, EINVAL, "parameter '%s': its distribution cannot be read",
                       column->name);
    int r = add_distribution(optuna, column, first, json);
    double x = sqlite3_column_double(row, 2);
    if (r == 0 && column->type == PARAM_CHOICE && !(x >= 0 && x < (double)column->choices.len))
        r = err_set(optuna->err, EINVAL, "parameter '%s' has no choice %g", column->name, x);
    if (r == 0)
        column->x.at[at - 1] = x;
    return r;
}

/* ---- the whole ---- */

/* A pruned trial without a value has the last one that it reported; one that completed without a
 * finite value did not work out. */
static void settle_rows(struct import_sheet *sheet)
{
    vec_foreach (row, &sheet->rows) {
        if (row->state == TRIAL_STOPPED && !isfinite(row->values[0]) && row->curve.len)
            row->values[0] = vec_last(&row->curve)->value;
        if (row->state == TRIAL_COMPLETED && !isfinite(row->values[0])) {
            row->state = TRIAL_FAILED;
            row->reason = REASON_DIVERGED;
        }
        if (row->state == TRIAL_FAILED)
            row->values[0] = NAN;
    }
}

static int read_study(struct optuna *optuna, const struct import_options *options)
{
    int r = find_study(optuna, options->study);

    if (r == 0)
        r = read_objectives(optuna);
    if (r == 0)
        r = read_trials(optuna);
    if (r == 0 && !optuna->sheet->rows.len)
        r = err_set(optuna->err, EINVAL, "study '%s' has no finished trial", optuna->sheet->name);
    if (r == 0)
        r = each(optuna,
                 "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
                 " ORDER BY trial_id, param_id",
                 on_param);
    if (r == 0) {
        settle_rows(optuna->sheet);
        optuna->sheet->from = xasprintf("Optuna study '%s'", optuna->sheet->name);
    }
    return r;
}

int import_optuna(const char *path, const struct import_options *options, struct import_sheet *ret,
                  struct err *err)
{
    struct optuna optuna = {.sheet = ret, .err = err};
    int r;

    if (options->n_objectives || options->n_ignore)
        return err_set(err, EINVAL,
                       "--objective and --ignore are for CSV files; a study knows its "
                       "objectives");
    if (sqlite3_open_v2(path, &optuna.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        r = sql_error(&optuna);
    else
        r = read_study(&optuna, options);
    if (r < 0)
        err_context(err, "%s", path);
    sqlite3_close(optuna.db);
    map_release(&optuna.rows);
    return r;
}
