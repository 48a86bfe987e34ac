/* SPDX-License-Identifier: MIT */
/*
 * report.c — hone report: an experiment as one file that opens without a server. The page and its
 * data are inside (web/src/report); what would make it larger than 1 MB is thinned out: rows beyond
 * the best ones, points of curves.
 */
#include "api/pages.h"
#include "api/rows.h"
#include "api/table_page.h"
#include "api/tuning_sum.h"
#include "base/clock.h"
#include "base/fs.h"
#include "cli/cmd.h"
#include "cli/mattered.h"
#include "cli/ranking.h"
#include "series/charts.h"

#include <errno.h>
#include <math.h>

#define REPORT_MAX    ((size_t)1 << 20)
#define CURVE_TRIALS  10
#define CURVE_METRICS 8
#define HISTORY_MAX   2000

/* How much of it fits is found by trying. */
struct thinning {
    size_t rows, width; /* of the table; of curves, in columns */
};
static const struct thinning thinnings[] = {
    {2000, 400}, {1000, 200}, {500, 100}, {200, 50}, {50, 20},
};

struct report {
    const struct cmd_call *call;
    struct store *store;
    struct target target;
    struct ranking ranking;
    struct trial_table *table;
    struct charts *charts;
};

/* ---- the table ---- */

static bool better(const struct report *report, double a, double b)
{
    return report->target.spec.objective.goal == GOAL_MAXIMIZE ? a > b : a < b;
}

static int put_table(struct report *report, const struct thinning *thin, struct json_out *out,
                     struct err *err)
{
    const struct spec *spec = &report->target.spec;
    autofree(mem) uint32_t *rows = NULL;
    struct page_columns columns = {0};
    size_t n = 0;
    struct table_ask ask = {
        .home = report->call->home,
        .store = report->store,
        .sort = spec->objective.metric ? "value" : NULL,
        .desc = spec->objective.goal == GOAL_MAXIMIZE,
        .now_us = clock_wall_us(),
    };
    int r = trial_table_metrics(report->table, report->store, err);

    if (r == 0)
        r = trial_table_select(report->table, &ask, &rows, &n, err);
    n = MIN(n, thin->rows);
    if (r == 0)
        r = page_columns_default(&columns, report->table, report->store, rows, n, err);
    if (r == 0) {
        json_put_int(out, "total", (int64_t)trial_table_rows(report->table));
        json_key(out, "columns");
        page_put_columns(out, report->table, &columns);
        json_key(out, "rows");
        r = page_put_rows(out, report->table, report->store, &columns, rows, n, err);
    }
    page_columns_release(&columns);
    return r;
}

static void put_number(struct json_out *out, double x)
{
    if (isfinite(x))
        json_double(out, x);
    else
        json_null_out(out);
}

/* Trial, value, best so far; every k-th where there are many, and those that were better. */
static void put_history(const struct report *report, struct json_out *out)
{
    const struct results *results = &report->ranking.results;
    size_t every = results->rows.len / HISTORY_MAX + 1, i = 0;
    double best = NAN;

    json_key(out, "history");
    json_begin_array(out);
    vec_foreach (row, &results->rows) {
        bool counts = report->target.spec.objective.metric && outcome_counts(row);
        double value = counts ? row->values[0] : NAN;
        bool first = counts && (isnan(best) || better(report, value, best));
        best = first ? value : best;
        if (!first && i++ % every)
            continue;
        json_begin_array(out);
        json_int(out, row->number);
        put_number(out, value);
        put_number(out, best);
        json_end_array(out);
    }
    json_end_array(out);
}

/* ---- curves ---- */

static void put_line(struct json_out *out, int64_t trial, const struct query_chart *chart)
{
    struct query_line line = query_chart_line(chart);
    autorelease(str) struct str y = STR_INIT;
    struct json_out ys = JSON_OUT(&y);

    json_begin_object(out);
    json_put_int(out, "trial", trial);
    json_key(out, "x");
    json_begin_array(out);
    json_begin_array(&ys);
    for (size_t i = 0; i < line.n; i++) {
        json_double(out, line.x[i]);
        put_number(&ys, line.y[i]);
    }
    json_end_array(out);
    json_end_array(&ys);
    json_put_raw(out, "y", y.s);
    json_end_object(out);
}

static int put_metric(struct report *report, const char *metric, size_t width, struct json_out *out,
                      struct err *err)
{
    const struct query_chart *charts[CURVE_TRIALS];
    struct charts_line lines[CURVE_TRIALS];
    struct charts_ask ask = {.x = CHARTS_STEP, .view = {.width = width}};
    size_t n = MIN(report->ranking.order.len, (size_t)CURVE_TRIALS);

    for (size_t i = 0; i < n; i++)
        lines[i] = (struct charts_line){report->target.experiment.experiment.id,
                                        ranking_at(&report->ranking, i)->number, metric};
    if (!n || !charts_extent(report->charts, ask.x, lines, n, &ask.view.x0, &ask.view.x1) ||
        ask.view.x0 >= ask.view.x1)
        return 0;
    int r = charts_draw(report->charts, &ask, lines, n, charts, err);
    if (r < 0)
        return r;
    json_begin_object(out);
    json_put_text(out, "metric", metric);
    json_key(out, "lines");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        put_line(out, lines[i].trial, charts[i]);
    json_end_array(out);
    json_end_object(out);
    return 0;
}

/* The objective first. */
static int put_curves(struct report *report, size_t width, struct json_out *out, struct err *err)
{
    const char *objective = report->target.spec.objective.metric;
    struct table_column column;
    size_t drawn = 0;
    int r = 0;

    json_key(out, "curves");
    json_begin_array(out);
    if (objective) {
        r = put_metric(report, objective, width, out, err);
        drawn++;
    }
    for (size_t i = 0; r == 0 && drawn < CURVE_METRICS; i++) {
        if (!trial_table_metric(report->table, i, &column))
            break;
        if (objective && str_eq(column.name, objective))
            continue;
        r = put_metric(report, column.name, width, out, err);
        drawn++;
    }
    json_end_array(out);
    return r;
}

/* ---- the document ---- */

static void put_importance(struct report *report, struct json_out *out)
{
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    int r = importance_json(report->store, &report->target, &text, &err);

    json_key(out, "importance");
    if (r == 0)
        json_raw(out, text.s);
    else
        json_null_out(out);
    json_put_text(out, "importance_why", r == 0 ? NULL : err_text(&err));
}

static void add_objective(const struct objective *objective, struct json_out *out)
{
    json_begin_object(out);
    json_put_text(out, "metric", objective->metric);
    json_put_text(out, "goal", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
    json_end_object(out);
}

static void put_objectives(const struct report *report, struct json_out *out)
{
    const struct spec *spec = &report->target.spec;

    json_key(out, "objective");
    if (spec->objective.metric)
        add_objective(&spec->objective, out);
    else
        json_null_out(out);
    json_key(out, "objectives");
    json_begin_array(out);
    for (size_t i = 0; spec->objective.metric && i <= spec->others.len; i++)
        add_objective(objective_at(spec, i), out);
    json_end_array(out);
}

/* What the command line says of the best, and why: the model's mean, how often it ran; of several
 * objectives which trials no other one beats. */
static void put_best(const struct report *report, struct json_out *out)
{
    const struct ranking *ranking = &report->ranking;
    autorelease(str) struct str words = STR_INIT;

    ranking_words(ranking, &report->target, &words);
    json_put_text(out, "best_words", words.len ? words.s : NULL);
    json_put_bool(out, "by_model",
                  ranking->results.n_objectives == 1 && ranking->order.len &&
                      ranking_has_model(&report->target, ranking_at(ranking, 0)));
    json_key(out, "front");
    json_begin_array(out);
    for (size_t i = 0; ranking->results.n_objectives > 1 && i < ranking->order.len; i++)
        json_int(out, ranking_at(ranking, i)->number);
    json_end_array(out);
}

static int put_document(struct report *report, const struct thinning *thin, struct str *to,
                        struct err *err)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_time(&out, "made", clock_wall_us());
    json_put_text(&out, "version", HONE_VERSION);
    json_key(&out, "experiment");
    rows_put_whole_experiment(&out, report->store, &report->target,
                              home_has_engine(report->call->home));
    json_end_object(&out);
    put_objectives(report, &out);
    put_best(report, &out);
    int r = put_table(report, thin, &out, err);
    put_history(report, &out);
    if (r == 0)
        r = put_curves(report, thin->width, &out, err);
    put_importance(report, &out);
    json_end_object(&out);
    return r;
}

/* No text of a user ends the script that holds it. */
static void add_safely(struct str *to, const struct str *json)
{
    for (size_t i = 0; i < json->len; i++) {
        if (json->s[i] == '<')
            str_add(to, "\\u003c");
        else
            str_add_char(to, json->s[i]);
    }
}

static void add_page(struct str *to, const char *path)
{
    const struct page *page = page_find(path);
    if (page)
        page_text(page, to);
}

static void add_title(struct str *to, const char *name)
{
    for (const char *s = name; *s; s++) {
        if (*s == '<' || *s == '&')
            str_addf(to, "&#%d;", *s);
        else
            str_add_char(to, *s);
    }
}

static void make_file(const struct report *report, const struct str *document, struct str *to)
{
    str_add(to, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<title>");
    add_title(to, report->target.experiment.experiment.name);
    str_add(to, "</title>\n<style>");
    add_page(to, "/assets/report.css");
    str_add(to, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
                "<script type=\"application/json\" id=\"data\">");
    add_safely(to, document);
    str_add(to, "</script>\n<script type=\"module\">");
    add_page(to, "/assets/report.js");
    str_add(to, "</script>\n</body>\n</html>\n");
}

static int make_report(struct report *report, struct str *to, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(thinnings); i++) {
        autorelease(str) struct str document = STR_INIT;
        int r = put_document(report, &thinnings[i], &document, err);
        if (r < 0)
            return r;
        str_cut(to, 0);
        make_file(report, &document, to);
        if (to->len <= REPORT_MAX)
            return 0;
    }
    return err_set(err, EFBIG, "the report would be larger than 1 MB even with few trials");
}

/* ---- the command ---- */

static int open_report(struct report *report, struct err *err)
{
    const struct cmd_call *call = report->call;
    const struct experiment *experiment = &report->target.experiment.experiment;
    int r = store_open_read(call->home, &report->store, err);

    if (r == 0)
        r = target_find(report->store, call->args[0], FIND_EXPERIMENT, &report->target, err);
    if (r == 0)
        r = ranking_load(report->store, &report->target, &report->ranking, err);
    if (r == 0)
        r = trial_table_new(report->store, experiment->id, experiment->spec_json, &report->table,
                            err);
    if (r == 0)
        r = charts_open(call->home, 1, CHARTS_BYTES, &report->charts, err);
    return r;
}

static void close_report(struct report *report)
{
    if (report->charts)
        charts_free(report->charts);
    if (report->table)
        trial_table_free(report->table);
    ranking_release(&report->ranking);
    target_release(&report->target);
    if (report->store)
        store_free(report->store);
}

static int write_report(const struct cmd_call *call, const struct str *text, struct err *err)
{
    const char *path = cmd_value(call, "output");

    if (!path || str_eq(path, "-")) {
        fwrite(text->s, 1, text->len, stdout);
        return 0;
    }
    int r = fs_write_atomic(path, text->s, text->len, 0644, err);
    if (r == 0 && call->json)
        printf("{\"file\":\"%s\",\"bytes\":%zu}\n", path, text->len);
    else if (r == 0)
        printf("%s: %zu KB\n", path, (text->len + 1023) / 1024);
    return r;
}

static int run(struct cmd_call *call)
{
    struct report report = {.call = call};
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    int r = open_report(&report, &err);

    if (r == 0)
        r = make_report(&report, &text, &err);
    if (r == 0)
        r = write_report(call, &text, &err);
    close_report(&report);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

static const struct cmd_option options[] = {
    {"output", 'o', "FILE", "where to write it (standard output)"},
    {NULL, 0, NULL, NULL},
};

const struct cmd cmd_report = {
    .name = "report",
    .args = "EXPERIMENT",
    .help = "write an experiment as one HTML file that opens without a server",
    .details = "How it went, its best trials, their curves, what mattered, the spec and the "
               "environment: one file of at most 1 MB that asks nothing of any network. Of large "
               "experiments it holds the best trials, and curves with fewer points.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
