/* SPDX-License-Identifier: MIT */
/*
 * export.c — hone export: the trials of an experiment, or all of their metrics, as CSV (RFC 4180,
 * but lines end in \n as every Unix tool expects) or JSON lines. Rows are written as they are
 * read; numbers are exact. The header lines are fixed: scripts rely on them. Steps with the
 * configuration in which they ran are in export_iterations.c, sums in export_summary.c, following
 * in export_follow.c, InfluxDB in export_influx.c.
 */
#include "base/clock.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/export.h"
#include "cli/output.h"
#include "api/where.h"
#include "series/series.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"csv", 0, NULL, "comma-separated values (the default)"},
    {"jsonl", 0, NULL, "JSON lines: an object a line"},
    {"metrics", 0, NULL, "every sample of every metric, not the trials"},
    {"metric", 'm', "NAME", "with --metrics: only this one; may be given several times"},
    {"system", 0, NULL, "with --metrics: figures of attempts and of the machine, too"},
    {"iterations", 0, NULL, "every reported step with the configuration of the machine"},
    {"summary", 0, NULL, "a row for each trial: time, speed, changes of the machine, energy"},
    {"where", 'w', "EXPR", "only trials for which this holds; with the trials and --metrics"},
    {"follow", 'f', NULL, "with --metrics or --influx: go on until the experiment ends"},
    {"influx", 0, "URL", "send every sample to the InfluxDB there; goes on where it was left"},
    {"db", 0, "NAME", "its database (InfluxDB 1.x)"},
    {"org", 0, "NAME", "its organisation (2.x)"},
    {"bucket", 0, "NAME", "its bucket (2.x)"},
    {"user", 0, "NAME:PASSWORD", "for --influx, if they are not in the URL"},
    {"tags", 0, NULL, "with --influx: the parameters of a trial as tags"},
    {"output", 'o', "FILE", "write there instead of standard output"},
    {NULL, 0, NULL, NULL},
};

/* ---- CSV ---- */

void csv_field(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void csv_double(FILE *to, double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    fputs(double_text(buf, x), to);
}

void csv_exact(FILE *to, double x, uint16_t rest)
{
    if (rest)
        fprintf(to, "%lld", (long long)rest_whole(x, rest));
    else
        csv_double(to, x);
}

void csv_next_known(FILE *to, double x)
{
    fputc(',', to);
    if (!isnan(x))
        csv_double(to, x);
}

void csv_next(FILE *to, const char *text)
{
    fputc(',', to);
    csv_field(to, text);
}

void csv_next_value(FILE *to, const json_t *value)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_json_text(&text, value);
    csv_next(to, text.s);
}

static void next_param(FILE *to, const struct param *param, double x)
{
    autorelease(str) struct str text = STR_INIT;
    if (!isnan(x))
        param_text(param, x, &text);
    csv_next(to, text.s);
}

void csv_param_names(const struct export *export)
{
    const struct spec *spec = &export->target->spec;
    for (size_t i = 0; i < spec->space.n - spec->joint_n; i++)
        csv_next(export->to, spec->space.params[i].name);
}

void csv_params(const struct export *export, const struct trial *trial)
{
    const struct spec *spec = &export->target->spec;
    for (size_t i = 0; i < spec->space.n - spec->joint_n; i++)
        next_param(export->to, &spec->space.params[i], trial->point[i]);
}

/* ---- trials ---- */

static void head_objective(FILE *to, const struct objective *objective)
{
    autofree(mem) char *name = xasprintf(
        "%s:%s", objective->metric, objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
    csv_next(to, name);
}

/* What 'hone import' has to know of the results stands in their names: acc:maximize, ms<=20. */
static void head_results(FILE *to, const struct spec *spec)
{
    if (spec->objective.metric)
        head_objective(to, &spec->objective);
    vec_foreach (objective, &spec->others)
        head_objective(to, objective);
    vec_foreach (constraint, &spec->constraints) {
        char bound[DOUBLE_TEXT_SIZE];
        autofree(mem) char *name =
            xasprintf("%s%s%s", constraint->metric,
                      constraint->at_least ? ">=" : "<=", double_text(bound, constraint->bound));
        csv_next(to, name);
    }
}

static void csv_head(const struct export *export)
{
    const struct space *space = &export->target->spec.space;

    fputs("trial,state,value,attempts,seconds", export->to);
    for (size_t i = 0; i < space->n; i++)
        csv_next(export->to, space->params[i].name);
    head_results(export->to, &export->target->spec);
    fputs(",repeat_of\n", export->to);
}

static void csv_results(FILE *to, const struct spec *spec, const struct trial *trial)
{
    if (spec->objective.metric)
        csv_next_known(to, trial->value);
    for (size_t i = 0; i < spec->others.len + spec->constraints.len; i++)
        csv_next_known(to, i < trial->n_extra ? trial->extra[i] : NAN);
}

static void csv_trial(const struct export *export, const struct trial *trial)
{
    const struct space *space = &export->target->spec.space;
    FILE *to = export->to;

    fprintf(to, "%lld.%lld,%s", (long long)trial->experiment, (long long)trial->number,
            trial_state_name(trial->state));
    csv_next_known(to, trial->value);
    fprintf(to, ",%lld,", (long long)trial->attempts);
    csv_double(to, (double)trial->run_us / US_PER_S);
    for (size_t i = 0; i < space->n; i++)
        next_param(to, &space->params[i], trial->point[i]);
    csv_results(to, &export->target->spec, trial);
    fputc(',', to);
    if (trial->repeat_of)
        fprintf(to, "%lld.%lld", (long long)trial->experiment, (long long)trial->repeat_of);
    fputc('\n', to);
}

static void json_trial(const struct export *export, const struct trial_row *row)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    rows_put_trial(&out, export->target->experiment.experiment.name, row, true);
    rows_put_values(&out, &export->target->spec, &row->trial);
    json_end_object(&out);
    fprintf(export->to, "%s\n", text.s);
}

/* ---- metrics ---- */

static void csv_point(FILE *to, const char *trial, const char *metric,
                      const struct series_value *value)
{
    autorelease(str) struct str time = STR_INIT;

    if (value->time_ns != INT64_MIN)
        str_add_time_ns(&time, value->time_ns);
    fprintf(to, "%s,", trial);
    csv_field(to, metric);
    if (value->step == STEP_NONE)
        fprintf(to, ",,%s,", time.s);
    else
        fprintf(to, ",%lld,%s,", (long long)value->step, time.s);
    csv_exact(to, value->value, value->rest);
    fputc('\n', to);
}

static void json_point(FILE *to, const char *trial, const char *metric,
                       const struct series_value *value)
{
    autorelease(str) struct str text = STR_INIT, time = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (value->time_ns != INT64_MIN)
        str_add_time_ns(&time, value->time_ns);
    json_begin_object(&out);
    json_put_text(&out, "trial", trial);
    json_put_text(&out, "metric", metric);
    json_key(&out, "step");
    if (value->step == STEP_NONE)
        json_null_out(&out);
    else
        json_int(&out, value->step);
    json_put_text(&out, "time", time.len ? time.s : NULL);
    json_put_exact(&out, "value", value->value, value->rest);
    json_end_object(&out);
    fprintf(to, "%s\n", text.s);
}

void export_point(const struct export *export, const char *trial, const char *metric,
                  const struct series_value *value)
{
    for (size_t i = 0; i < export->metrics.len; i++)
        export->told[i] |= str_eq(export->metrics.at[i], metric);
    (export->jsonl ? json_point : csv_point)(export->to, trial, metric, value);
}

bool export_wants(const struct export *export, const char *metric)
{
    vec_foreach (name, &export->metrics)
        if (str_eq(*name, metric))
            return true;
    return export->metrics.len == 0;
}

struct pointing {
    const struct export *export;
    const char *trial;
};

static void on_value(const char *metric, const struct series_value *value, void *arg)
{
    const struct pointing *pointing = arg;
    export_point(pointing->export, pointing->trial, metric, value);
}

static int metrics_of(const struct export *export, const struct trial *trial)
{
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);
    struct pointing pointing = {export, id};
    struct series_ask ask = {.db = export->series,
                             .home = export->home,
                             .spec = &export->target->spec,
                             .trial = trial,
                             .metrics = export->metrics.at,
                             .n_metrics = export->metrics.len,
                             .system = export->system};

    return series_stream(&ask, on_value, &pointing, export->err);
}

/* ---- the machine ---- */

struct export_span export_span(int64_t created_us, int64_t ended_us)
{
    return (struct export_span){created_us * 1000, ended_us ? ended_us * 1000 : INT64_MAX};
}

struct figures {
    const struct export *export;
    struct export_span span;
    VEC(uint32_t) names;
    const char *metric;
};

static int on_figure(const struct series_info *info, void *arg)
{
    struct figures *figures = arg;

    if (export_wants(figures->export, series_db_name_text(figures->export->series, info->name)))
        vec_push(&figures->names, info->name);
    return 0;
}

static int on_figures(const struct series_chunk *chunk, void *arg)
{
    const struct figures *figures = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        struct series_value value = {STEP_NONE, chunk->times_ns[i], chunk->values[i],
                                     series_chunk_rest(chunk, i)};
        if (value.time_ns >= figures->span.from_ns && value.time_ns <= figures->span.to_ns)
            export_point(figures->export, EXPORT_MACHINE, figures->metric, &value);
    }
    return 0;
}

static void export_figures(const struct export *export)
{
    const struct experiment *experiment = &export->target->experiment.experiment;
    static const struct series_source machine = {.file = SERIES_SYSTEM};
    struct figures figures = {.export = export,
                              .span = export_span(experiment->created_us, experiment->ended_us)};
    struct series_range range = series_all;

    range.min_ns = figures.span.from_ns;
    range.max_ns = figures.span.to_ns;
    series_db_list(export->series, machine.experiment, machine.trial, SERIES_NAME_NONE, on_figure,
                   &figures);
    vec_foreach (name, &figures.names) {
        figures.metric = series_db_name_text(export->series, *name);
        series_db_read(export->series, &machine, *name, &range, on_figures, &figures);
    }
    vec_release(&figures.names);
}

/* ---- what is exported ---- */

/* What this file passes as a struct export. */
struct filtered {
    struct export base;
    struct where *where; /* NULL: all trials */
};

/* Is the trial to be written? 1, 0, or an error. */
static int fits(const struct export *export, const struct trial_row *row)
{
    return where_trial(((const struct filtered *)export)->where, row, export->err);
}

static int metrics_row(const struct trial_row *row, void *arg)
{
    int r = fits(arg, row);
    return r == 1 ? metrics_of(arg, &row->trial) < 0 : r;
}

static int trial_row(const struct trial_row *row, void *arg)
{
    const struct export *export = arg;
    int r = fits(export, row);

    if (r != 1)
        return r;
    if (export->jsonl)
        json_trial(export, row);
    else
        csv_trial(export, &row->trial);
    return 0;
}

static int walk(const struct export *export, trial_row_fn *fn)
{
    struct trial_query query = {.experiment = export->target->experiment.experiment.id,
                                .order = ORDER_NUMBER};
    return store_trials(export->store, &query, fn, (void *)export, export->err);
}

static int export_trials(const struct export *export)
{
    if (!export->jsonl)
        csv_head(export);
    return walk(export, trial_row);
}

static int export_metrics(const struct export *export)
{
    if (!export->jsonl)
        fputs("trial,metric,step,time,value\n", export->to);
    int r = walk(export, metrics_row);
    if (r == 0 && export->system)
        export_figures(export);
    for (size_t i = 0; r == 0 && i < export->metrics.len; i++)
        if (!export->told[i])
            r = err_set(export->err, ENOENT, "no trial has told of a metric '%s'",
                        export->metrics.at[i]);
    return r;
}

typedef int export_fn(const struct export *export);
static const struct {
    const char *option;
    export_fn *write;
} kinds[] = {
    {"metrics", export_metrics},
    {"iterations", export_iterations},
    {"summary", export_summary},
};

/* --metric and --system. */
static int read_narrow(const struct cmd_call *call, struct export *export, export_fn *write)
{
    static const char *const narrow[] = {"metric", "system"};

    for (size_t i = 0; i < ARRAY_LEN(narrow); i++)
        if (cmd_flag(call, narrow[i]) && write != export_metrics)
            return cmd_usage(call, "--%s goes with --metrics only", narrow[i]);
    export->system = cmd_flag(call, "system");
    for (size_t i = 0; i < call->n_given; i++)
        if (str_eq(call->given[i].option->name, "metric")) {
            vec_push(&export->metrics, call->given[i].value);
            export->system |= str_starts(call->given[i].value, "system/");
        }
    export->told = xcalloc(export->metrics.len + 1, sizeof(*export->told));
    return CMD_OK;
}

/* With --follow or --influx. The exit code. */
static int go_with(const struct cmd_call *call, const struct export *export, export_fn *write)
{
    static const char *const influx[] = {"db", "org", "bucket", "user", "tags"};

    if (cmd_value(call, "influx"))
        return export_influx(call, export);
    for (size_t i = 0; i < ARRAY_LEN(influx); i++)
        if (cmd_flag(call, influx[i]))
            return cmd_usage(call, "--%s goes with --influx only", influx[i]);
    if (write != export_metrics || cmd_value(call, "where") || cmd_value(call, "output"))
        return cmd_usage(call, "--follow goes with --metrics or --influx, to standard output, "
                               "without --where");
    return export_follow(export) < 0 ? cmd_fail(call, CMD_FAILED, export->err) : CMD_OK;
}

bool export_is_sent(const struct cmd_call *call)
{
    static const char *const sent[] = {"follow", "influx", "db", "org", "bucket", "user", "tags"};

    for (size_t i = 0; i < ARRAY_LEN(sent); i++)
        if (cmd_flag(call, sent[i]))
            return true;
    return false;
}

/* The one that was asked for, the trials if none was; NULL: several were. */
static export_fn *chosen(const struct cmd_call *call)
{
    export_fn *write = export_trials;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (cmd_flag(call, kinds[i].option)) {
            write = kinds[i].write;
            n++;
        }
    return n > 1 ? NULL : write;
}

static int write_all(const struct export *export, export_fn *write)
{
    int r = write(export);
    return r < 0 || *err_text(export->err) ? -EIO : 0;
}

/* To a file beside, renamed when complete: a broken export leaves the old file as it was. */
static int write_file(struct export *export, export_fn *write, const char *path)
{
    struct err *err = export->err;
    autofree(mem) char *beside = xasprintf("%s.tmp", path);

    export->to = fopen(beside, "we");
    if (!export->to)
        return err_errno(err, errno, "cannot write %s", path);
    int r = write_all(export, write);
    bool broken = ferror(export->to);
    if (fclose(export->to) != 0 || broken)
        r = err_errno(err, errno ? errno : EIO, "cannot write %s", path);
    if (r == 0 && rename(beside, path) < 0)
        r = err_errno(err, errno, "cannot write %s", path);
    if (r < 0)
        remove(beside);
    return r;
}

/* The trials to be written, if not all of them are. */
static int make_where(const struct cmd_call *call, const struct export *export, export_fn *write,
                      struct where **ret)
{
    struct where_ask ask = {.home = call->home,
                            .store = export->store,
                            .target = export->target,
                            .condition = cmd_value(call, "where"),
                            .now_us = clock_wall_us()};

    if (!ask.condition)
        return CMD_OK;
    if (write != export_trials && write != export_metrics)
        return cmd_usage(call, "--where goes with the trials and --metrics only");
    int r = where_new(&ask, ret, export->err);
    return r < 0 ? where_fail(call, r, export->err) : CMD_OK;
}

static int export_target(const struct cmd_call *call, struct filtered *filtered, export_fn *write)
{
    struct export *export = &filtered->base;
    const char *path = cmd_value(call, "output");
    if (export_is_sent(call)) {
        autofree(samples) struct samples *samples =
            samples_of_home(export->home, export->store, export->series, export->target);
        export->samples = samples;
        return go_with(call, export, write);
    }
    int code = make_where(call, export, write, &filtered->where);

    if (code != CMD_OK)
        return code;
    bool file = path && !str_eq(path, "-");
    int r = file ? write_file(export, write, path) : write_all(export, write);
    return r < 0 ? cmd_fail(call, CMD_FAILED, export->err) : CMD_OK;
}

/* The samples are at a server: how far they were sent is kept in a folder of ours, one for each of
 * its homes. */
static int export_there(const struct cmd_call *call, struct export *export, export_fn *write)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(samples) struct samples *samples = NULL;
    autofree(json) json_t *me = NULL;
    autofree(mem) char *cache = remote_cache();
    int r = remote_open(call, &remote, export->err);

    if (r >= 0)
        r = remote_call(remote, "GET", "/v1/me", NULL, &me, export->err);
    if (r >= 0)
        r = samples_of_server(remote, call->args[0], &samples, export->err);
    if (r < 0)
        return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, export->err);
    const char *id = json_get_text(json_object_get(me, "server"), "home_id", "");
    autofree(mem) char *home =
        xasprintf("%s/server-%.*s", cache, (int)strspn(id, "0123456789abcdef-"), id);
    export->home = home;
    export->samples = samples;
    return go_with(call, export, write);
}

/* What could not be read is not passed over in silence. */
static size_t tell_damage(const struct series_db *series)
{
    size_t n = 0;

    for (const char *const *notes = series_db_notes(series); notes[n]; n++)
        log_warn("series: %s; 'hone doctor --store' names all damage", notes[n]);
    return n;
}

static int export_here(const struct cmd_call *call, const struct export *export, export_fn *write)
{
    autofree(store) struct store *store = NULL;
    autofree(series_db) struct series_db *series = NULL;
    struct filtered filtered = {.base = *export};
    struct err *err = export->err;
    struct target target;

    if (store_open_read(call->home, &store, err) < 0 ||
        series_db_open(call->home, SERIES_READ, &series, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    filtered.base.store = store;
    filtered.base.series = series;
    filtered.base.target = &target;
    int r = target_find(store, call->args[0], FIND_EXPERIMENT, &target, err);
    int code = r < 0 ? cmd_fail(call, CMD_FAILED, err) : export_target(call, &filtered, write);
    if (code == CMD_OK && tell_damage(series) > 0)
        code = CMD_FAILED;
    where_free(filtered.where);
    target_release(&target);
    return code;
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct export export = {.home = call->home,
                            .to = stdout,
                            .jsonl = cmd_flag(call, "jsonl") || call->json,
                            .err = &err};
    export_fn *write = chosen(call);

    if (export.jsonl && cmd_flag(call, "csv"))
        return cmd_usage(call, "--csv or --jsonl, not both");
    if (!write)
        return cmd_usage(call, "one of --metrics, --iterations and --summary, not several");
    int code = read_narrow(call, &export, write);
    if (code == CMD_OK)
        code =
            call->server ? export_there(call, &export, write) : export_here(call, &export, write);
    vec_release(&export.metrics);
    free(export.told);
    return code;
}

const struct cmd cmd_export = {
    .name = "export",
    .args = "EXPERIMENT",
    .help = "its trials, metrics or steps as CSV, JSON lines or to InfluxDB",
    .details =
        "Columns of --csv: trial,state,value,attempts,seconds, then one for each parameter, for "
        "each objective (acc:maximize) and constraint (ms<=20), and repeat_of. "
        "With --metrics: trial,metric,step,time,value; the time is empty where it is not "
        "known, and has nine digits behind the seconds where it takes them. --metric NAME, once or "
        "more, picks metrics. --system adds the figures of docs/system.md, without steps: those "
        "of a trial's processes, and with 'machine' as the trial those of the machine while the "
        "experiment was there. --jsonl writes the objects of 'hone ls --json', a line each.\n\n"
        "--iterations: trial,attempt,step,time,elapsed_s, one column for each metric, "
        "generation, one for each system parameter (its value when the step ran), one for "
        "each parameter. Samples of one step that the program told together are one row; a "
        "step that was run twice, since its trial started again, has two.\n\n"
        "--summary: trial,state,reason,value,runtime_s,steps (made),seconds_per_step "
        "(also in the first and in the last configuration),target,changes (of the machine), "
        "change_cost_s (all of them),live_change_s and restart_change_s (one, on average),"
        "energy_j,energy (measured or estimated), then best_NAME and final_NAME for each "
        "system parameter, then the parameters. The best configuration is the quickest that "
        "made five steps or more.\n\n"
        "--metrics --follow writes what comes, in the order of the store, until nobody works "
        "at the experiment any more; steps that a trial runs again are written again.\n\n"
        "--influx sends lines of measurement (what stands before the first slash of a "
        "metric's name, else hone), tags experiment, trial, attempt, source, and with --tags "
        "the parameters; fields are the metrics and step. HONE_INFLUX_TOKEN is sent if set. "
        "How far it came is in HOME/export, of a server's samples in ~/.cache/hone: started again "
        "it goes on there, and nothing is "
        "lost or doubled. With --follow a server that is away is waited for; else it is an "
        "error. NaN and infinite values, which InfluxDB does not take, are left out and "
        "counted. Points of a trial's measurement that were told in the same nanosecond, or "
        "without a time, are set a nanosecond apart.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
