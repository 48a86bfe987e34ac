/* SPDX-License-Identifier: MIT */
/*
 * import.c — hone import: an Optuna study or a table of results becomes a finished experiment, to
 * be looked at, compared, and learned from (`knowledge: NAME`).
 *
 *   file ──► sheet (columns, rows) ──► spec + points ──► api/import.h ──► home
 *
 * A parameter that is missing in some trials is conditional if another one tells when: then it gets
 * a `when`. Curves of the objective go where a program's metrics would be, in attempt 0.
 */
#include "cli/import.h"
#include "api/import.h"
#include "base/fs.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define NO_PROGRAM "(imported)" /* what stands where the command would be */

static const struct cmd_option options[] = {
    {"name", 0, "NAME", "what to call it (the study's or the file's name)"},
    {"study", 0, "NAME", "which study of an Optuna database, if it holds several"},
    {"objective", 0, "COLUMN[:maximize]", "the result in a CSV file; again for several objectives"},
    {"ignore", 0, "COLUMN", "a column of a CSV file that is no parameter; may be repeated"},
    {NULL, 0, NULL, NULL},
};

bool spec_has_no_program(const struct spec *spec)
{
    return spec->command.len == 1 && str_eq(spec->command.at[0], NO_PROGRAM);
}

/* ---- sheets ---- */

void import_sheet_release(struct import_sheet *sheet)
{
    vec_foreach (column, &sheet->columns) {
        vec_foreach (choice, &column->choices)
            value_release(choice);
        vec_release(&column->choices);
        vec_release(&column->x);
        free(column->name);
    }
    vec_foreach (row, &sheet->rows) {
        vec_release(&row->curve);
        free(row->values);
    }
    vec_foreach (objective, &sheet->objectives)
        free(objective->metric);
    vec_release(&sheet->columns);
    vec_release(&sheet->rows);
    vec_release(&sheet->objectives);
    str_release(&sheet->notes);
    free(sheet->name);
    free(sheet->from);
}

struct import_row *import_add_row(struct import_sheet *sheet, size_t n_objectives)
{
    struct import_row row = {.values = xcalloc(n_objectives + 1, sizeof(double))};
    for (size_t i = 0; i < n_objectives; i++)
        row.values[i] = NAN;
    vec_push(&sheet->rows, row);
    return vec_last(&sheet->rows);
}

double import_choice(struct import_column *column, struct value value)
{
    for (size_t i = 0; i < column->choices.len; i++)
        if (value_equal(&column->choices.at[i], &value)) {
            value_release(&value);
            return (double)i;
        }
    vec_push(&column->choices, value);
    return (double)(column->choices.len - 1);
}

/* ---- names ---- */

struct import {
    struct cmd_call *call;
    const char *path;
    struct import_sheet sheet;
    char **names;  /* of the columns, as parameters of ours */
    size_t *hangs; /* a column each: one more than the column it depends on; 0: none */
    struct spec spec;
    double *points; /* (rows, space.n) */
};

/* Letters, digits, _ . - and a letter first. */
static char *valid_name(const char *text, bool dots)
{
    struct str name = STR_INIT;

    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_'))
        str_add_char(&name, '_');
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || *text == '_' || *text == '-' ||
                     (dots && *text == '.');
        if (((unsigned char)*text & 0xc0) != 0x80)
            str_add_char(&name, plain ? *text : '_');
    }
    return str_take(&name);
}

static bool is_taken(const struct import *import, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(import->names[i], name))
            return true;
    return str_eq(name, "checkpoint");
}

static void name_params(struct import *import)
{
    size_t n = import->sheet.columns.len;

    import->names = xcalloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        const char *from = import->sheet.columns.at[i].name;
        char *name = valid_name(from, true);
        for (int k = 2; is_taken(import, i, name); k++) {
            autofree(mem) char *base = valid_name(from, true);
            free(name);
            name = xasprintf("%s_%d", base, k);
        }
        if (!str_eq(name, from))
            str_addf(&import->sheet.notes, "parameter '%s' is called '%s' here\n", from, name);
        import->names[i] = name;
    }
}

static char *default_name(const struct import *import)
{
    const char *slash = strrchr(import->path, '/');
    autofree(mem) char *stem = xstrdup(slash ? slash + 1 : import->path);
    char *dot = strrchr(stem, '.');

    if (dot && dot > stem)
        *dot = '\0';
    char *name = valid_name(import->sheet.name ? import->sheet.name : stem, false);
    if (strlen(name) > 100)
        name[100] = '\0';
    if (str_eq(name, "last")) {
        free(name);
        name = xstrdup("imported");
    }
    return name;
}

/* ---- conditions ---- */

static bool is_whole(const struct import_column *column)
{
    vec_foreach (x, &column->x)
        if (isnan(*x))
            return false;
    return true;
}

/* Is `column` there exactly where `other`, a choice that always is, has certain values? */
static bool depends_on(const struct import_column *column, const struct import_column *other)
{
    autofree(mem) char *seen = xcalloc(other->choices.len + 1, 1);

    for (size_t i = 0; i < column->x.len; i++) {
        size_t value = (size_t)other->x.at[i];
        char is = isnan(column->x.at[i]) ? 1 : 2;
        if (seen[value] && seen[value] != is)
            return false;
        seen[value] = is;
    }
    return true;
}

static void find_conditions(struct import *import)
{
    struct import_sheet *sheet = &import->sheet;
    size_t n = sheet->columns.len;

    import->hangs = xcalloc(n + 1, sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
        const struct import_column *column = &sheet->columns.at[i];
        if (is_whole(column))
            continue;
        for (size_t k = 0; k < n && !import->hangs[i]; k++) {
            const struct import_column *other = &sheet->columns.at[k];
            if (other->type == PARAM_CHOICE && is_whole(other) && depends_on(column, other))
                import->hangs[i] = k + 1;
        }
        if (!import->hangs[i])
            str_addf(&sheet->notes, "parameter '%s' is missing in some trials\n", column->name);
    }
}

/* ---- the spec ---- */

static void put_when(struct json_out *out, const struct import *import, size_t i)
{
    const struct import_column *column = &import->sheet.columns.at[i];
    size_t at = import->hangs[i] - 1;
    const struct import_column *other = &import->sheet.columns.at[at];
    autofree(mem) bool *needs = xcalloc(other->choices.len + 1, sizeof(bool));

    for (size_t k = 0; k < column->x.len; k++)
        needs[(size_t)other->x.at[k]] |= !isnan(column->x.at[k]);
    json_key(out, "when");
    json_begin_object(out);
    json_key(out, import->names[at]);
    json_begin_array(out);
    for (size_t k = 0; k < other->choices.len; k++)
        if (needs[k])
            value_json(out, &other->choices.at[k]);
    json_end_array(out);
    json_end_object(out);
}

static void put_values(struct json_out *out, const struct import_column *column)
{
    json_key(out, "values");
    json_begin_array(out);
    vec_foreach (choice, &column->choices)
        value_json(out, choice);
    if (column->type != PARAM_CHOICE) /* a range of one number */
        json_double(out, column->min);
    json_end_array(out);
}

static bool is_range(const struct import_column *column)
{
    return column->type != PARAM_CHOICE && column->max > column->min;
}

static void put_param(struct json_out *out, const struct import *import, size_t i)
{
    const struct import_column *column = &import->sheet.columns.at[i];

    json_key(out, import->names[i]);
    json_begin_object(out);
    if (is_range(column)) {
        json_put_double(out, "min", column->min);
        json_put_double(out, "max", column->max);
        json_put_text(out, "type", column->type == PARAM_INT ? "int" : "float");
        if (column->log)
            json_put_text(out, "scale", "log");
        if (column->step > 0 && !(column->type == PARAM_INT && column->step == 1))
            json_put_double(out, "step", column->step);
    } else {
        put_values(out, column);
    }
    if (import->hangs[i])
        put_when(out, import, i);
    json_end_object(out);
}

static void put_objectives(struct json_out *out, const struct import_sheet *sheet)
{
    json_key(out, "objective");
    if (sheet->objectives.len > 1)
        json_begin_array(out);
    vec_foreach (objective, &sheet->objectives) {
        json_begin_object(out);
        json_put_text(out, "metric", objective->metric);
        json_put_text(out, "goal", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
        json_end_object(out);
    }
    if (sheet->objectives.len > 1)
        json_end_array(out);
}

static void spec_text(const struct import *import, const char *name, struct str *to)
{
    const struct cmd_call *call = import->call;
    const struct import_sheet *sheet = &import->sheet;
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_text(&out, "name", name);
    json_key(&out, "command");
    json_begin_array(&out);
    for (int i = 0; i < call->n_rest; i++)
        json_text(&out, call->rest[i]);
    if (!call->n_rest)
        json_text(&out, NO_PROGRAM);
    json_end_array(&out);
    json_key(&out, "params");
    json_begin_object(&out);
    for (int later = 0; later < 2; later++) /* what others depend on comes first */
        for (size_t i = 0; i < sheet->columns.len; i++)
            if ((import->hangs[i] != 0) == later)
                put_param(&out, import, i);
    json_end_object(&out);
    put_objectives(&out, sheet);
    json_key(&out, "search");
    json_begin_object(&out);
    json_put_int(&out, "trials", (int64_t)sheet->rows.len);
    json_end_object(&out);
    json_end_object(&out);
}

static int make_spec(struct import *import, struct err *err)
{
    autofree(mem) char *given = default_name(import), *here = fs_absolute(".");
    const char *name = cmd_value(import->call, "name");
    autorelease(str) struct str text = STR_INIT;

    if (!import->sheet.columns.len)
        return err_set(err, EINVAL, "%s has no parameters", import->path);
    name_params(import);
    find_conditions(import);
    spec_text(import, name ? name : given, &text);
    return spec_parse(text.s, text.len, import->path, here, NULL, &import->spec, NULL, err);
}

/* ---- points ---- */

/* The value of ours that is nearest: rounding there and here may differ in the last digit. */
static double snap(const struct param *param, double x)
{
    if (isnan(x) || param_contains(param, x))
        return x;
    if (param->type != PARAM_CHOICE && (param->step > 0 || param->type == PARAM_INT))
        return param_value_at(param, param_index(param, x));
    return fmin(fmax(x, param->min), param->max);
}

static void make_points(struct import *import)
{
    const struct space *space = &import->spec.space;
    const struct import_sheet *sheet = &import->sheet;

    import->points = xcalloc(sheet->rows.len * space->n + 1, sizeof(double));
    for (size_t i = 0; i < sheet->columns.len; i++) {
        const struct import_column *column = &sheet->columns.at[i];
        ptrdiff_t at = space_find(space, import->names[i]);
        for (size_t row = 0; at >= 0 && row < sheet->rows.len; row++) {
            double x = column->x.at[row];
            if (column->type != PARAM_CHOICE && !is_range(column))
                x = isnan(x) ? x : 0; /* the only choice */
            import->points[row * space->n + (size_t)at] = snap(&space->params[at], x);
        }
    }
    for (size_t row = 0; row < sheet->rows.len; row++)
        space_settle(space, import->points + row * space->n);
}

/* ---- the request ---- */

static void put_curve(struct json_out *out, const struct import_row *row)
{
    double min = INFINITY, max = -INFINITY;

    if (!row->curve.len)
        return;
    vec_foreach (sample, &row->curve) {
        min = fmin(min, sample->value);
        max = fmax(max, sample->value);
    }
    json_put_int(out, "step", vec_last(&row->curve)->step);
    json_put_int(out, "samples", (int64_t)row->curve.len);
    json_put_double(out, "min", min);
    json_put_double(out, "max", max);
}

static void put_row(struct json_out *out, const struct import *import, size_t i)
{
    const struct import_row *row = &import->sheet.rows.at[i];
    size_t n = import->spec.space.n;

    json_begin_object(out);
    json_key(out, "point");
    json_begin_array(out);
    for (size_t k = 0; k < n; k++)
        json_double(out, import->points[i * n + k]);
    json_end_array(out);
    json_put_text(out, "state", trial_state_name(row->state));
    json_put_text(out, "reason", reason_name(row->reason));
    json_key(out, "values");
    json_begin_array(out);
    for (size_t k = 0; k < import->sheet.objectives.len; k++)
        json_double(out, row->values[k]);
    json_end_array(out);
    json_put_int(out, "started_us", row->started_us);
    json_put_int(out, "ended_us", row->ended_us);
    put_curve(out, row);
    json_end_object(out);
}

static void request_text(const struct import *import, struct str *to)
{
    autorelease(str) struct str spec = STR_INIT, environment = STR_INIT;
    autofree(mem) char *file = fs_absolute(import->path);
    autofree(mem) char *text = xasprintf("imported from %s", import->sheet.from);
    struct json_out out = JSON_OUT(to), about = JSON_OUT(&environment);

    spec_json(&import->spec, &spec);
    json_begin_object(&about);
    json_put_text(&about, "imported", import->sheet.from);
    json_put_text(&about, "file", file);
    json_end_object(&about);
    json_begin_object(&out);
    json_put_text(&out, "do", "import");
    json_put_raw(&out, "spec", spec.s);
    json_put_raw(&out, "environment", environment.s);
    json_put_text(&out, "text", text);
    json_key(&out, "trials");
    json_begin_array(&out);
    for (size_t i = 0; i < import->sheet.rows.len; i++)
        put_row(&out, import, i);
    json_end_array(&out);
    json_end_object(&out);
}

/* ---- curves ---- */

static int write_curve(const struct import *import, int64_t experiment, size_t i, struct err *err)
{
    const struct import_row *row = &import->sheet.rows.at[i];
    autofree(mem) char *dir = attempt_dir(import->call->home, experiment, (int64_t)i + 1, 0);
    autofree(mem) char *path = xasprintf("%s/metrics", dir);
    autorelease(str) struct str text = STR_INIT;

    vec_foreach (sample, &row->curve) {
        struct json_out out = JSON_OUT(&text);
        json_begin_object(&out);
        json_put_int(&out, "step", sample->step);
        json_put_double(&out, import->spec.objective.metric, sample->value);
        json_end_object(&out);
        str_add_char(&text, '\n');
    }
    int r = fs_make_dirs(dir, 0777, err);
    return r < 0 ? r : fs_write_atomic(path, text.s, text.len, 0666, err);
}

static int write_curves(const struct import *import, int64_t experiment, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < import->sheet.rows.len && r >= 0; i++)
        if (import->sheet.rows.at[i].curve.len)
            r = write_curve(import, experiment, i, err);
    return r;
}

/* ---- the command ---- */

static bool is_sqlite(const char *path)
{
    char head[16] = {0};
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(head, 1, sizeof(head), file) : 0;

    if (file)
        fclose(file);
    return n == sizeof(head) && memcmp(head, "SQLite format 3", 16) == 0;
}

static int read_sheet(struct import *import, struct err *err)
{
    const struct cmd_call *call = import->call;
    VEC(const char *) objectives = {0}, ignore = {0};

    for (size_t i = 0; i < call->n_given; i++) {
        if (str_eq(call->given[i].option->name, "objective"))
            vec_push(&objectives, call->given[i].value);
        if (str_eq(call->given[i].option->name, "ignore"))
            vec_push(&ignore, call->given[i].value);
    }
    struct import_options how = {.study = cmd_value(call, "study"),
                                 .objectives = objectives.at,
                                 .n_objectives = objectives.len,
                                 .ignore = ignore.at,
                                 .n_ignore = ignore.len};
    int r = is_sqlite(import->path) ? import_optuna(import->path, &how, &import->sheet, err)
                                    : import_csv(import->path, &how, &import->sheet, err);
    vec_release(&objectives);
    vec_release(&ignore);
    return r;
}

static void say_done(const struct import *import, int64_t id)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    size_t n = import->sheet.rows.len;

    if (import->call->json) {
        json_begin_object(&out);
        json_put_int(&out, "experiment", id);
        json_put_text(&out, "name", import->spec.name);
        json_put_int(&out, "trials", (int64_t)n);
        json_put_int(&out, "params", (int64_t)import->spec.space.n);
        json_end_object(&out);
        output_line(&json);
        return;
    }
    fputs(import->sheet.notes.s, stdout);
    printf("experiment %lld '%s': %zu trials imported from %s, %zu parameters\n", (long long)id,
           import->spec.name, n, import->sheet.from, import->spec.space.n);
}

static int import_file(struct import *import, int64_t *ret, struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    int r = read_sheet(import, err);

    if (r == 0)
        r = make_spec(import, err);
    if (r < 0)
        return r;
    make_points(import);
    request_text(import, &request);
    r = home_import(import->call->home, request.s, ret, err);
    if (r >= 0 && write_curves(import, *ret, err) < 0)
        str_addf(&import->sheet.notes, "the curves of its trials are not there: %s\n",
                 err_text(err));
    return r;
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct import import = {.call = call, .path = call->args[0], .sheet = {.notes = STR_INIT}};
    int64_t id = 0;

    spec_init(&import.spec);
    int r = import_file(&import, &id, &err);
    if (r >= 0)
        say_done(&import, id);
    for (size_t i = 0; import.names && i < import.sheet.columns.len; i++)
        free(import.names[i]);
    free(import.names);
    free(import.hangs);
    free(import.points);
    spec_release(&import.spec);
    import_sheet_release(&import.sheet);
    if (r >= 0)
        return CMD_OK;
    return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
}

const struct cmd cmd_import = {
    .name = "import",
    .args = "FILE [-- COMMAND]",
    .help = "make an experiment of an Optuna study or a CSV table of results",
    .details =
        "FILE is an Optuna database (SQLite), or a CSV file with a header line: the columns of "
        "--objective are results, all others parameters, their kinds and ranges as seen. What was "
        "written by 'hone export --csv' needs no --objective.\n\n"
        "The result is a finished experiment that 'hone best', 'hone plot' and 'hone importance' "
        "look at, and that others learn from (knowledge: NAME). Its trials have no attempts. With "
        "a "
        "COMMAND that trains the same model, 'hone resume NAME --trials +50' goes on with it.\n\n"
        "Nothing is changed if the file cannot be read to its end.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
