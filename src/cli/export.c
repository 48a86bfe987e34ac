/* SPDX-License-Identifier: MIT */
/*
 * export.c — hone export: the trials of an experiment, or all of their metrics, as CSV (RFC 4180,
 * but lines end in \n as every Unix tool expects) or JSON lines. Rows are written as they are
 * read; numbers are exact. The header lines are fixed: scripts rely on them.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/output.h"
#include "series/series.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"csv", 0, NULL, "comma-separated values (the default)"},
    {"jsonl", 0, NULL, "JSON lines: an object a line"},
    {"metrics", 0, NULL, "every sample of every metric, not the trials"},
    {"output", 'o', "FILE", "write there instead of standard output"},
    {NULL, 0, NULL, NULL},
};

struct export
{
    const char *home;
    const struct target *target;
    FILE *to;
    bool jsonl, metrics;
    struct err *err;
};

/* A field, quoted if it must be. */
static void csv_field(FILE *to, const char *text)
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

static void csv_double(FILE *to, double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    fputs(double_text(buf, x), to);
}

static void csv_head(const struct export *export)
{
    const struct space *space = &export->target->spec.space;

    if (export->metrics) {
        fputs("trial,metric,step,time,value\n", export->to);
        return;
    }
    fputs("trial,state,value,attempts,seconds", export->to);
    for (size_t i = 0; i < space->n; i++) {
        fputc(',', export->to);
        csv_field(export->to, space->params[i].name);
    }
    fputc('\n', export->to);
}

static void csv_trial(const struct export *export, const struct trial *trial)
{
    const struct space *space = &export->target->spec.space;
    FILE *to = export->to;

    fprintf(to, "%lld.%lld,%s,", (long long)trial->experiment, (long long)trial->number,
            trial_state_name(trial->state));
    if (!isnan(trial->value))
        csv_double(to, trial->value);
    fprintf(to, ",%lld,", (long long)trial->attempts);
    csv_double(to, (double)trial->run_us / US_PER_S);
    for (size_t i = 0; i < space->n; i++) {
        autorelease(str) struct str text = STR_INIT;
        if (!isnan(trial->point[i]))
            param_text(&space->params[i], trial->point[i], &text);
        fputc(',', to);
        csv_field(to, text.s);
    }
    fputc('\n', to);
}

static void json_trial(const struct export *export, const struct trial_row *row)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    output_trial(&out, export->target->experiment.experiment.name, row, false);
    fprintf(export->to, "%s\n", text.s);
}

/* ---- metrics ---- */

static void csv_point(FILE *to, const char *trial, const char *metric,
                      const struct series_point *point)
{
    autorelease(str) struct str time = STR_INIT;

    if (point->time_us)
        str_add_time(&time, point->time_us);
    fprintf(to, "%s,", trial);
    csv_field(to, metric);
    if (point->step == STEP_NONE)
        fprintf(to, ",,%s,", time.s);
    else
        fprintf(to, ",%lld,%s,", (long long)point->step, time.s);
    csv_double(to, point->value);
    fputc('\n', to);
}

static void json_point(FILE *to, const char *trial, const char *metric,
                       const struct series_point *point)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_text(&out, "trial", trial);
    json_put_text(&out, "metric", metric);
    json_key(&out, "step");
    if (point->step == STEP_NONE)
        json_null_out(&out);
    else
        json_int(&out, point->step);
    json_put_time(&out, "time", point->time_us);
    json_put_double(&out, "value", point->value);
    json_end_object(&out);
    fprintf(to, "%s\n", text.s);
}

static int export_metrics(const struct export *export, const struct trial *trial)
{
    struct series_set set = {{0}};
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);
    int r = series_read(export->home, &export->target->spec, trial, NULL, &set, export->err);

    vec_foreach (series, &set.series)
        vec_foreach (point, &series->points)
            (export->jsonl ? json_point : csv_point)(export->to, id, series->metric, point);
    series_set_release(&set);
    return r;
}

static int on_trial(const struct trial_row *row, void *arg)
{
    const struct export *export = arg;

    if (export->metrics)
        return export_metrics(export, &row->trial) < 0;
    if (export->jsonl)
        json_trial(export, row);
    else
        csv_trial(export, &row->trial);
    return 0;
}

static int write_all(struct export *export, struct store *store, struct err *err)
{
    struct trial_query query = {.experiment = export->target->experiment.experiment.id,
                                .order = ORDER_NUMBER};
    if (!export->jsonl)
        csv_head(export);
    int r = store_trials(store, &query, on_trial, export, err);
    return r < 0 || *err_text(err) ? -EIO : 0;
}

/* To a file beside, renamed when complete: a broken export leaves the old file as it was. */
static int write_file(struct export *export, struct store *store, const char *path, struct err *err)
{
    autofree(mem) char *beside = xasprintf("%s.tmp", path);

    export->to = fopen(beside, "we");
    if (!export->to)
        return err_errno(err, errno, "cannot write %s", path);
    int r = write_all(export, store, err);
    bool broken = ferror(export->to);
    if (fclose(export->to) != 0 || broken)
        r = err_errno(err, errno ? errno : EIO, "cannot write %s", path);
    if (r == 0 && rename(beside, path) < 0)
        r = err_errno(err, errno, "cannot write %s", path);
    if (r < 0)
        remove(beside);
    return r;
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    const char *path = cmd_value(call, "output");
    struct target target;
    struct export export = {.home = call->home,
                            .target = &target,
                            .to = stdout,
                            .jsonl = cmd_flag(call, "jsonl") || call->json,
                            .metrics = cmd_flag(call, "metrics"),
                            .err = &err};

    if (export.jsonl && cmd_flag(call, "csv"))
        return cmd_usage(call, "--csv or --jsonl, not both");
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int r = target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err);
    if (r == 0)
        r = path ? write_file(&export, store, path, &err) : write_all(&export, store, &err);
    target_release(&target);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_export = {
    .name = "export",
    .args = "EXPERIMENT",
    .help = "its trials or metrics as CSV or JSON lines",
    .details = "Columns of --csv: trial,state,value,attempts,seconds, then one for each parameter. "
               "With --metrics: trial,metric,step,time,value; the time is empty where it is not "
               "known. --jsonl writes the objects of 'hone ls --json', a line each.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
