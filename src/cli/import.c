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

static const struct cmd_option options[] = {
    {"name", 0, "NAME", "what to call it (the study's or the file's name)"},
    {"study", 0, "NAME", "which study of an Optuna database, if it holds several"},
    {"objective", 0, "COLUMN[:maximize]", "the result in a CSV file; again for several objectives"},
    {"ignore", 0, "COLUMN", "a column of a CSV file that is no parameter; may be repeated"},
    {NULL, 0, NULL, NULL},
};

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

static int write_curve(const struct import *import, const char *home, int64_t experiment, size_t i,
                       struct err *err)
{
    const struct import_row *row = &import->sheet.rows.at[i];
    autofree(mem) char *dir = attempt_dir(home, experiment, (int64_t)i + 1, 0);
    autofree(mem) char *path = xasprintf("%s/metrics", dir);
    autorelease(str) struct str text = STR_INIT;

    vec_foreach (sample, &row->curve) {
        str_addf(&text, "%s value=", import->spec.objective.metric);
        str_add_double(&text, sample->value);
        str_addf(&text, ",step=%lldi\n", (long long)sample->step);
    }
    int r = fs_make_dirs(dir, 0777, err);
    return r < 0 ? r : fs_write_atomic(path, text.s, text.len, 0666, err);
}

static int write_curves(const struct import *import, const char *home, int64_t experiment,
                        struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < import->sheet.rows.len && r >= 0; i++)
        if (import->sheet.rows.at[i].curve.len)
            r = write_curve(import, home, experiment, i, err);
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

static int read_sheet(const struct cmd_call *call, struct import *import, struct err *err)
{
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

static void say_done(const struct cmd_call *call, const struct import *import, int64_t id)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    size_t n = import->sheet.rows.len;

    if (call->json) {
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
    printf("experiment %lld '%s': %zu trial%s imported from %s, %zu parameter%s\n", (long long)id,
           import->spec.name, n, n == 1 ? "" : "s", import->sheet.from, import->spec.space.n,
           import->spec.space.n == 1 ? "" : "s");
}

static int import_file(const struct cmd_call *call, struct import *import, int64_t *ret,
                       struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    int r = read_sheet(call, import, err);

    if (r == 0)
        r = import_make_spec(import, err);
    if (r < 0)
        return r;
    request_text(import, &request);
    r = home_import(call->home, request.s, ret, err);
    if (r >= 0 && write_curves(import, call->home, *ret, err) < 0)
        str_addf(&import->sheet.notes, "the curves of its trials are not there: %s\n",
                 err_text(err));
    return r;
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct import import = {.path = call->args[0],
                            .name = cmd_value(call, "name"),
                            .command = call->rest,
                            .n_command = (size_t)call->n_rest,
                            .sheet = {.notes = STR_INIT}};
    int64_t id = 0;

    spec_init(&import.spec);
    int r = import_file(call, &import, &id, &err);
    if (r >= 0)
        say_done(call, &import, id);
    import_release(&import);
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
