/* SPDX-License-Identifier: MIT */
/*
 * plot.c — hone plot: an experiment as a picture, in the terminal or as an SVG file.
 */
#include "cli/plot.h"
#include "base/fs.h"
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/output.h"

#include <errno.h>
#include <math.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MOST    140
#define ROWS_DEFAULT    22

static const struct cmd_option options[] = {
    {"svg", 0, "FILE", "write a picture there; - is standard output"},
    {"width", 0, "N", "columns to draw with (the terminal's, else 80)"},
    {"height", 0, "N", "lines to draw with (22)"},
    {"ascii", 0, NULL, "draw with ASCII signs only (so by itself where the locale is not UTF-8)"},
    {NULL, 0, NULL, NULL},
};

static const struct kind {
    const char *name, *words, *title;
    int n_min, n_max;
    plot_fn *fill;
} kinds[] = {
    {"history", "", "results in their order", 0, 0, plot_history},
    {"slice", " PARAM", "results by one parameter", 1, 1, plot_slice},
    {"contour", " PARAM PARAM", "results by two parameters", 2, 2, plot_contour},
    {"parallel", " [PARAM…]", "settings and results", 0, -1, plot_parallel},
    {"pareto", " [METRIC METRIC]", "what cannot be had together", 0, 2, plot_pareto},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static int unknown_kind(const struct cmd_call *call, const char *name)
{
    const char *names[ARRAY_LEN(kinds)];
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        names[i] = kinds[i].name;
    const char *closest = suggest(name, names, ARRAY_LEN(kinds));
    if (closest)
        return cmd_usage(call, "there is no plot '%s', did you mean '%s'?", name, closest);
    return cmd_usage(call, "there is no plot '%s': history, slice, contour, parallel or pareto",
                     name);
}

/* ---- what the kinds share ---- */

int plot_param(const struct plot *plot, const char *name, size_t *ret, struct err *err)
{
    const struct space *space = &plot->target->spec.space;
    ptrdiff_t at = space_find(space, name);

    if (at < 0) {
        VEC(const char *) names = {0};
        for (size_t i = 0; i < space->n; i++)
            vec_push(&names, space->params[i].name);
        const char *closest = suggest(name, names.at, names.len);
        vec_release(&names);
        return closest ? err_set(err, EINVAL, "there is no parameter '%s', did you mean '%s'?",
                                 name, closest)
                       : err_set(err, EINVAL, "experiment %lld has no parameter '%s'",
                                 (long long)plot->target->experiment.experiment.id, name);
    }
    if (param_size(&space->params[at]) == 1)
        return err_set(err, EINVAL, "parameter '%s' has one value only: there is nothing to see",
                       name);
    *ret = (size_t)at;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorted values: those of the worst tenth that take more room than all the others are brought to
 * the edge of a little more than the others' room. */
static void tame(double *v, size_t n, bool up)
{
    size_t tenth = n / 10;
    double edge = up ? v[tenth] : v[n - 1 - tenth]; /* the worst of the others */
    double best = up ? v[n - 1] : v[0], worst = up ? v[0] : v[n - 1];
    double room = fabs(best / 2 - edge / 2);

    if (n < 10 || fabs(edge / 2 - worst / 2) <= room)
        return;
    for (size_t i = 0; i < n; i++)
        v[i] = up ? fmax(v[i], edge - room / 2) : fmin(v[i], edge + room / 2);
}

void plot_value_axis(const struct plot *plot, size_t objective, struct axis *ret)
{
    const struct objective *goal = objective_at(&plot->target->spec, objective);
    VEC(double) values = {0};

    vec_foreach (row, &plot->results->rows)
        if (isfinite(row->values[objective]) && row->state != TRIAL_FAILED)
            vec_push(&values, row->values[objective]);
    size_t n = values.len;
    bool log = false;
    if (n) {
        qsort(values.at, n, sizeof(double), by_number);
        log = values.at[0] > 0 && values.at[n - 1] / values.at[0] >= 1000;
        if (!log)
            tame(values.at, n, goal->goal == GOAL_MAXIMIZE);
    }
    axis_of_values(ret, goal->metric, log, values.at, n);
    vec_release(&values);
}

struct ranked {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

double *plot_shades(const struct plot *plot)
{
    const struct results *results = plot->results;
    bool up = plot->target->spec.objective.goal == GOAL_MAXIMIZE;
    double *shades = xcalloc(results->rows.len + 1, sizeof(*shades));
    VEC(struct ranked) list = {0};

    for (size_t i = 0; i < results->rows.len; i++) {
        const struct outcome *row = &results->rows.at[i];
        shades[i] = NAN;
        if (outcome_counts(row))
            vec_push(&list, ((struct ranked){up ? row->values[0] : -row->values[0], i}));
    }
    if (list.len)
        qsort(list.at, list.len, sizeof(*list.at), by_value);
    for (size_t k = 0; k < list.len; k++)
        shades[list.at[k].at] = list.len > 1 ? (double)k / (double)(list.len - 1) : 1;
    vec_release(&list);
    return shades;
}

/* ---- where it goes ---- */

/* What the environment says of the terminal's letters; where it says nothing, they are UTF-8. */
static bool is_ascii(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return !strcasestr(value, "utf-8") && !strcasestr(value, "utf8");
    }
    return false;
}

static int frame_of(const struct cmd_call *call, struct chart_frame *ret)
{
    struct winsize size;
    int64_t columns = COLUMNS_DEFAULT, rows = ROWS_DEFAULT;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
        columns = MIN(size.ws_col, COLUMNS_MOST);
        rows = MIN(MAX(size.ws_row - 2, 12), 40);
    }
    if (cmd_number(call, "width", 40, 1000, &columns) || cmd_number(call, "height", 8, 1000, &rows))
        return CMD_USAGE;
    *ret = (struct chart_frame){.columns = (size_t)columns,
                                .rows = (size_t)rows,
                                .ascii = cmd_flag(call, "ascii") || is_ascii(),
                                .colour = call->colour};
    return 0;
}

static int print_text(const struct cmd_call *call, const struct chart *chart)
{
    struct chart_frame frame;
    autorelease(str) struct str text = STR_INIT;
    int code = frame_of(call, &frame);

    if (code)
        return code;
    chart_text(chart, &frame, &text);
    fputs(text.s, stdout);
    return CMD_OK;
}

static int write_svg(const struct cmd_call *call, const struct chart *chart, const char *path)
{
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;

    chart_svg(chart, &text);
    if (str_eq(path, "-")) {
        fputs(text.s, stdout);
        return CMD_OK;
    }
    if (fs_write_atomic(path, text.s, text.len, 0644, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (!call->json)
        printf("wrote %s\n", path);
    return CMD_OK;
}

static int print_chart(const struct cmd_call *call, const struct chart *chart)
{
    const char *svg = cmd_value(call, "svg");
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    int code = svg ? write_svg(call, chart, svg) : CMD_OK;

    if (code != CMD_OK)
        return code;
    if (call->json) {
        chart_json(chart, &out);
        output_line(&text);
    } else if (!svg) {
        return print_text(call, chart);
    }
    return CMD_OK;
}

static int draw(const struct cmd_call *call, const struct plot *plot, const struct kind *kind)
{
    const struct experiment *experiment = &plot->target->experiment.experiment;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(chart) struct chart chart = {.kind = kind->name, .experiment = experiment->id};
    int r = 0;

    chart.title =
        xasprintf("%lld %s: %s", (long long)experiment->id, experiment->name, kind->title);
    if (!plot->target->spec.objective.metric)
        r = err_set(&err, ENODATA, "experiment %lld has no objective: there is nothing to plot",
                    (long long)experiment->id);
    if (r == 0)
        r = kind->fill(plot, &chart, &err);
    if (r == -EINVAL)
        return cmd_usage(call, "%s", err_text(&err));
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    return print_chart(call, &chart);
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    struct results results = {0};
    const struct kind *kind = find_kind(call->n_args > 1 ? call->args[1] : "history");
    struct plot plot = {&target, &results, call->args + 2, MAX(0, call->n_args - 2)};
    int code;

    if (!kind)
        return unknown_kind(call, call->args[1]);
    if (plot.n_words < kind->n_min || (kind->n_max >= 0 && plot.n_words > kind->n_max))
        return cmd_usage(call, "it is: hone plot EXPERIMENT %s%s", kind->name, kind->words);
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int r = target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err);
    if (r >= 0)
        r = results_load(store, &target, &results, &err);
    code = r < 0 ? cmd_fail(call, CMD_FAILED, &err) : draw(call, &plot, kind);
    results_release(&results);
    target_release(&target);
    return code;
}

const struct cmd cmd_plot = {
    .name = "plot",
    .args = "EXPERIMENT [KIND [NAME…]]",
    .help = "draw an experiment in the terminal or as SVG",
    .details = "history (the default): each trial's value and the best so far. slice PARAM: values "
               "over one parameter. contour PARAM PARAM: over two of them, guessed between the "
               "trials from those nearby. parallel [PARAM…]: each trial as a line over all "
               "parameters. pareto [METRIC METRIC]: two objectives against each other, with the "
               "trials that no other one beats in both.\n\n"
               "--json gives the numbers of the chart: axes, layers of points with their trials.",
    .min_args = 1,
    .max_args = -1,
    .options = options,
    .run = run,
};
