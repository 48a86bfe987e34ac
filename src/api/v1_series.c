/* SPDX-License-Identifier: MIT */
/*
 * v1_series.c — POST /v1/series: names become trials, trials pictures (series/charts.h), pictures
 * bytes. A trial or metric that is not there is an empty line: it may come.
 */
#include "api/v1_samples.h"
#include "api/v1_series.h"
#include "api/web_route.h"

#include <errno.h>
#include <math.h>

#define BODY_MAX ((size_t)1 << 20)

/* ---- whose lines ---- */

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0' && strlen(text) < 19;
}

/* The last name that was looked for in the database. */
struct names {
    char *name;
    int64_t experiment; /* 0: there is none */
};

static int64_t find_experiment(struct web_call *call, struct names *names, const char *name)
{
    autorelease(experiment_row) struct experiment_row row = {.note = NULL};

    if (is_number(name))
        return atoll(name);
    if (names->name && str_eq(names->name, name))
        return names->experiment;
    free(names->name);
    names->name = xstrdup(name);
    names->experiment =
        store_find_experiment(call->store, name, false, &row, NULL) < 0 ? 0 : row.experiment.id;
    return names->experiment;
}

static int find_line(struct web_call *call, struct names *names, const struct series_ask_line *ask,
                     struct charts_line *ret, struct err *err)
{
    autofree(mem) char *name = NULL;
    int64_t trial;

    *ret = (struct charts_line){0, 0, ask->metric};
    if (str_eq(ask->trial, "machine"))
        return 0;
    int r = ref_parse(ask->trial, &name, &trial, err);
    if (r < 0)
        return r;
    if (!trial)
        return err_set(err, EINVAL, "'%.100s' names no trial: 3.7 would", ask->trial);
    ret->experiment = find_experiment(call, names, name);
    ret->trial = ret->experiment ? trial : INT64_MAX; /* nobody's */
    return 0;
}

static int find_lines(struct web_call *call, const struct series_ask *ask, struct charts_line *ret,
                      struct err *err)
{
    struct names names = {.name = NULL};
    int r = 0;

    for (size_t i = 0; i < ask->lines.len && r == 0; i++)
        r = find_line(call, &names, &ask->lines.at[i], &ret[i], err);
    free(names.name);
    return r;
}

/* ---- the answer ---- */

static struct query_view view_of(struct web_call *call, const struct series_ask *ask,
                                 const struct charts_line *lines)
{
    struct query_view view = {ask->from, ask->to, ask->width};
    double x0 = 0, x1 = 1;

    if (!isnan(view.x0) && !isnan(view.x1))
        return view;
    if (!charts_extent(call->charts, ask->x, lines, ask->lines.len, &x0, &x1)) {
        x0 = 0;
        x1 = 1;
    }
    if (isnan(view.x0))
        view.x0 = isnan(view.x1) ? x0 : fmin(x0, view.x1);
    if (isnan(view.x1))
        view.x1 = fmax(x1, view.x0);
    return view;
}

struct telling {
    const struct series_ask *ask;
    struct str *to;
};

static void on_line(const struct query_chart *chart, size_t line, void *arg)
{
    const struct telling *telling = arg;

    series_answer_line(telling->ask, chart, telling->ask->lines.len - line, telling->to);
}

static int answer_lines(struct web_call *call, const struct series_ask *ask,
                        const struct charts_ask *chart, const struct charts_line *lines,
                        struct str *to, struct err *err)
{
    struct telling telling = {ask, to};

    series_answer_begin(ask, &chart->view, to);
    return charts_tell(call->charts, chart, lines, ask->lines.len, on_line, &telling, err);
}

static int answer_groups(struct web_call *call, const struct series_ask *ask,
                         const struct charts_ask *chart, const struct charts_line *lines,
                         struct str *to, struct err *err)
{
    size_t n = ask->lines.len;
    autofree(mem) const struct query_chart **drawn = xcalloc(n + 1, sizeof(*drawn));
    int r = charts_draw(call->charts, chart, lines, n, drawn, err);

    if (r == 0)
        series_answer(ask, &chart->view, drawn, to);
    return r;
}

static int answer(struct web_call *call, const struct series_ask *ask, struct str *to,
                  struct err *err)
{
    autofree(mem) struct charts_line *lines = xcalloc(ask->lines.len + 1, sizeof(*lines));
    int r = find_lines(call, ask, lines, err);

    if (r < 0)
        return r;
    struct charts_ask chart = {.x = ask->x,
                               .view = view_of(call, ask, lines),
                               .weight = ask->smooth,
                               .bands = ask->grouped};
    return (ask->grouped ? answer_groups : answer_lines)(call, ask, &chart, lines, to, err);
}

static void on_series(struct web_call *call)
{
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    autofree(json) json_t *json = NULL;
    int r = web_body(call, &json, &err);

    if (r == 0)
        r = series_ask_parse(json, &ask, &err);
    if (r == 0)
        r = answer(call, &ask, &body, &err);
    if (r < 0)
        web_fail(call, r, &err);
    else
        http_reply(call->request, 200, "application/octet-stream", &body, NULL);
}

const struct web_route v1_series_routes[] = {
    {"POST", "/v1/series", ROLE_VIEWER, DESK_DRAW, on_series, BODY_MAX,
     "Curves of many trials for a picture, as little-endian arrays.", 0},
    {"GET", "/v1/experiments/*/sources", ROLE_VIEWER, DESK_READ, sources_asked, 0,
     "Which metric of which attempt has how many samples, and whether there will be more.", 0},
    {"GET", "/v1/experiments/*/samples", ROLE_VIEWER, DESK_READ, samples_asked, 0,
     "All samples of a metric of an attempt in their order, as little-endian arrays.", 0},
    {"GET", "/v1/trials/*/figures", ROLE_VIEWER, DESK_READ, figures_asked, 0,
     "What the machine measured of a trial, and its own figures from the same time.", 0},
    {.methods = NULL},
};
