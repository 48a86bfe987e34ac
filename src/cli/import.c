/* SPDX-License-Identifier: MIT */
/*
 * import.c — hone import: an Optuna study, a table of results or the folder of another tracker
 * becomes a finished experiment, to be looked at, compared, and learned from (`knowledge: NAME`).
 *
 *   file, folder ──► sheets (columns, rows) ──► spec + points ──► api/import.h ──► home
 *
 * A parameter that is missing in some trials is conditional if another one tells when: then it gets
 * a `when`. Curves go where a program's metrics would be, in attempt 0.
 */
#include "cli/import.h"
#include "api/import.h"
#include "base/fs.h"
#include "cli/remote.h"
#include "cli/output.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static const struct cmd_option options[] = {
    {"name", 0, "NAME", "what to call it (the study's or the file's name)"},
    {"study", 0, "NAME", "which study of an Optuna database, if it holds several"},
    {"objective", 0, "COLUMN[:maximize]",
     "the result in a CSV file, or a metric of a folder's runs; again for several objectives"},
    {"ignore", 0, "COLUMN",
     "a column of a CSV file, or a setting of runs, that is no parameter; may be repeated"},
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

static void put_metrics(struct json_out *out, const struct import_row *row)
{
    if (row->label)
        json_put_text(out, "note", row->label);
    if (!row->metrics.len)
        return;
    int64_t step = STEP_NONE;
    vec_foreach (summary, &row->metrics)
        step = MAX(step, summary->last_step);
    if (step != STEP_NONE)
        json_put_int(out, "step", step);
    json_key(out, "metrics");
    json_begin_array(out);
    vec_foreach (summary, &row->metrics) {
        json_begin_object(out);
        json_put_text(out, "metric", summary->metric);
        json_put_int(out, "samples", summary->count);
        json_put_double(out, "last", summary->last);
        json_put_double(out, "min", summary->min);
        json_put_double(out, "max", summary->max);
        json_put_int(out, "step", summary->last_step);
        if (summary->first_nan_step != STEP_NONE)
            json_put_int(out, "first_nan", summary->first_nan_step);
        json_end_object(out);
    }
    json_end_array(out);
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
    for (size_t k = 0; k < import->sheet.objectives.len + import->sheet.constraints.len; k++)
        json_double(out, row->values[k]);
    json_end_array(out);
    if (row->repeat_of)
        json_put_int(out, "repeat_of", row->repeat_of);
    json_put_int(out, "started_us", row->started_us);
    json_put_int(out, "ended_us", row->ended_us);
    put_curve(out, row);
    put_metrics(out, row);
    json_end_object(out);
}

/* `owner` NULL: the server knows. */
static void request_text(const struct import *import, const char *owner, struct str *to)
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
    if (owner) {
        json_put_text(&out, "do", "import");
        json_put_text(&out, "owner", owner);
    }
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

static int write_curve(const struct import *import, size_t i, const char *path, struct err *err)
{
    struct import_row *row = &import->sheet.rows.at[i];
    autorelease(str) struct str text = STR_INIT;

    if (row->kind)
        return import_write_run(row, path, err);

    vec_foreach (sample, &row->curve) {
        str_addf(&text, "%s value=", import->spec.objective.metric);
        str_add_double(&text, sample->value);
        str_addf(&text, ",step=%lldi\n", (long long)sample->step);
    }
    return fs_write_atomic(path, text.s, text.len, 0666, err);
}

static bool has_curve(const struct import *import, size_t i)
{
    const struct import_row *row = &import->sheet.rows.at[i];
    return row->curve.len || row->metrics.len;
}

static int write_curves(const struct import *import, const char *home, int64_t experiment,
                        struct err *err)
{
    int r = 0;

    for (size_t i = 0; i < import->sheet.rows.len && r >= 0; i++) {
        if (!has_curve(import, i))
            continue;
        autofree(mem) char *dir = attempt_dir(home, experiment, (int64_t)i + 1, 0);
        autofree(mem) char *path = xasprintf("%s/metrics", dir);
        r = fs_make_dirs(dir, 0777, err);
        if (r >= 0)
            r = write_curve(import, i, path, err);
    }
    return r;
}

/* Sent again, it is the same: a server that is away is awaited. */
static int send_curve(struct remote *remote, int64_t experiment, size_t i, const char *file,
                      struct err *err)
{
    autofree(mem) char *path =
        xasprintf("/v1/trials/%lld.%zu/samples", (long long)experiment, i + 1);
    int tries = 0, r;

    do
        r = remote_put(remote, path, file, err);
    while (r < 0 && remote_again(remote, r, err, &tries));
    return r;
}

static int send_curves(const struct import *import, struct remote *remote, int64_t experiment,
                       struct err *err)
{
    autofree(mem) char *cache = remote_cache();
    autofree(mem) char *file = xasprintf("%s/import.%d", cache, (int)getpid());
    autofree(mem) char *path = xasprintf("/v1/experiments/%lld/gather", (long long)experiment);
    autofree(json) json_t *reply = NULL;
    int r = fs_make_dirs(cache, 0700, err);

    for (size_t i = 0; i < import->sheet.rows.len && r >= 0; i++) {
        if (!has_curve(import, i))
            continue;
        r = write_curve(import, i, file, err);
        if (r >= 0)
            r = send_curve(remote, experiment, i, file, err);
        unlink(file);
    }
    return r < 0 ? r : remote_call(remote, "POST", path, "{}", &reply, err);
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

struct choices {
    VEC(const char *) objectives, ignore;
    struct import_options options;
};

static void choices_init(struct choices *choices, const struct cmd_call *call)
{
    *choices = (struct choices){.options = {.study = cmd_value(call, "study")}};
    for (size_t i = 0; i < call->n_given; i++) {
        if (str_eq(call->given[i].option->name, "objective"))
            vec_push(&choices->objectives, call->given[i].value);
        if (str_eq(call->given[i].option->name, "ignore"))
            vec_push(&choices->ignore, call->given[i].value);
    }
    choices->options.objectives = choices->objectives.at;
    choices->options.n_objectives = choices->objectives.len;
    choices->options.ignore = choices->ignore.at;
    choices->options.n_ignore = choices->ignore.len;
}

static void choices_release(struct choices *choices)
{
    vec_release(&choices->objectives);
    vec_release(&choices->ignore);
}

/* A file is one experiment, a folder may hold several. */
static int read_sheets(const char *path, const struct import_options *how, struct import_set *ret,
                       struct err *err)
{
    if (fs_is_dir(path)) {
        int r = import_folder(path, how, ret, err);
        if (r < 0)
            err_context(err, "%s", path);
        return r;
    }
    struct import_sheet sheet = {.notes = STR_INIT};
    int r = is_sqlite(path) ? import_optuna(path, how, &sheet, err)
                            : import_csv(path, how, &sheet, err);
    vec_push(&ret->sheets, sheet);
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

static void note_curves(struct import *import, const struct err *err)
{
    str_addf(&import->sheet.notes, "the curves of its trials are not there: %s\n", err_text(err));
}

static int import_here(const struct cmd_call *call, struct import *import, int64_t *ret,
                       struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    autofree(mem) char *owner = cmd_user();

    request_text(import, owner, &request);
    int r = home_import(call->home, request.s, ret, err);
    if (r >= 0 &&
        (write_curves(import, call->home, *ret, err) < 0 || home_gather(call->home, *ret, err) < 0))
        note_curves(import, err);
    return r;
}

/* The files are read here; the server gets the rows, then the samples of each trial. */
static int import_there(const struct cmd_call *call, struct import *import, int64_t *ret,
                        struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    autorelease(str) struct str request = STR_INIT;
    int r = remote_open(call, &remote, err);

    request_text(import, NULL, &request);
    if (r >= 0)
        r = remote_call(remote, "POST", "/v1/imports", request.s, &reply, err);
    *ret = json_get_int(reply, "experiment", 0);
    if (r >= 0 && send_curves(import, remote, *ret, err) < 0)
        note_curves(import, err);
    return r;
}

static int import_one(const struct cmd_call *call, struct import *import, int64_t *ret,
                      struct err *err)
{
    int r = import_make_spec(import, err);

    if (r < 0)
        return r;
    return call->server ? import_there(call, import, ret, err)
                        : import_here(call, import, ret, err);
}

/* The sheet moves into the import, which releases it. */
static int import_sheet(const struct cmd_call *call, struct import_sheet *sheet, struct err *err)
{
    struct import import = {.path = call->args[0],
                            .name = cmd_value(call, "name"),
                            .command = call->rest,
                            .n_command = (size_t)call->n_rest,
                            .sheet = *sheet};
    int64_t id = 0;

    *sheet = (struct import_sheet){.notes = STR_INIT};
    spec_init(&import.spec);
    int r = import_one(call, &import, &id, err);
    if (r >= 0)
        say_done(call, &import, id);
    import_release(&import);
    return r;
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(choices) struct choices choices;
    autorelease(import_set) struct import_set set = {{NULL, 0, 0}};

    choices_init(&choices, call);
    if (call->server && call->n_rest)
        return cmd_usage(call, "a COMMAND is for a home: its code would not be at the server");
    int r = read_sheets(call->args[0], &choices.options, &set, &err);
    if (r >= 0 && set.sheets.len > 1 && cmd_value(call, "name"))
        r = err_set(&err, EINVAL, "%s holds %zu experiments: --name is for one", call->args[0],
                    set.sheets.len);
    for (size_t i = 0; i < set.sheets.len && r >= 0; i++)
        r = import_sheet(call, &set.sheets.at[i], &err);
    if (r >= 0)
        return CMD_OK;
    return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
}

const struct cmd cmd_import = {
    .name = "import",
    .args = "FILE|DIR [-- COMMAND]",
    .help = "make an experiment of an Optuna study, a CSV table of results, or another tracker's "
            "folder",
    .details =
        "FILE is an Optuna database (SQLite), or a CSV file with a header line (semicolons or tabs "
        "may part its cells, and then numbers may have decimal commas): the columns of "
        "--objective are results, all others parameters, their kinds and ranges as seen. What was "
        "written by 'hone export --csv' needs no --objective: its header tells the goals and "
        "constraints.\n\n"
        "DIR is a folder of TensorBoard's event files (each folder with some is a trial, with the "
        "settings of its hparams plugin), MLflow's mlruns (each of its experiments becomes one; "
        "what "
        "was deleted there is left out), or one of CSV files (metrics.csv with hparams.yaml as "
        "Lightning leaves them: a trial a folder; else a trial a file). All samples of all metrics "
        "come along; --objective names the metric to rank by. Nothing is changed in DIR. A folder "
        "that is imported again becomes a further experiment. Of a damaged file what stands before "
        "the damage is read, and that is said.\n\n"
        "The result is a finished experiment that 'hone best', 'hone plot' and 'hone importance' "
        "look at, and that others learn from (knowledge: NAME). Its trials have no attempts. With "
        "a "
        "COMMAND that trains the same model, 'hone resume NAME --trials +50' goes on with it.\n\n"
        "Nothing is changed if the file cannot be read to its end. With --server it is read here, "
        "and "
        "the server keeps the rows and samples.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
