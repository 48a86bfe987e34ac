/* SPDX-License-Identifier: MIT */
/*
 * v1_figures.c — GET /v1/trials/E.T/figures: what the machine measured of a trial, and which of its
 * own figures it has from the same time (docs/system.md). They have no summaries, so that
 * /v1/trials does not tell of them; their curves are those of /v1/series.
 */
#include "api/etag.h"
#include "api/v1_samples.h"

#include <errno.h>

struct span {
    int64_t from_ns, to_ns;
};
struct figures {
    struct series_db *series;
    struct json_out *out;
    const char *of; /* "3.7", or "machine" */
    struct span span;
    VEC(uint32_t) told; /* an attempt after the first has the same ones */
};

static int put_figure(const struct series_info *info, void *arg)
{
    struct figures *figures = arg;

    if (info->source.file != SERIES_SYSTEM || info->last_ns < figures->span.from_ns ||
        info->first_ns > figures->span.to_ns)
        return 0;
    vec_foreach (name, &figures->told)
        if (*name == info->name)
            return 0;
    vec_push(&figures->told, info->name);
    json_begin_object(figures->out);
    json_put_text(figures->out, "name", series_db_name_text(figures->series, info->name));
    json_put_text(figures->out, "of", figures->of);
    json_end_object(figures->out);
    return 0;
}

static void put_figures(struct web_call *call, struct json_out *out, const char *of,
                        int64_t experiment, int64_t trial, struct span span)
{
    struct figures figures = {.series = call->series, .out = out, .of = of, .span = span};

    series_db_list(call->series, experiment, trial, SERIES_NAME_NONE, put_figure, &figures);
    vec_release(&figures.told);
}

/* When it ran: until now if it has not ended, never if it has not begun. */
static int keep_span(const struct trial_row *row, void *arg)
{
    struct span *span = arg;
    const struct trial *trial = &row->trial;

    span->from_ns = trial->started_us ? trial->started_us * 1000 : INT64_MAX;
    span->to_ns = trial->ended_us ? trial->ended_us * 1000 : INT64_MAX;
    return 1;
}

static int figures_json(struct web_call *call, struct str *to, struct err *err)
{
    struct json_out out = JSON_OUT(to);
    struct span span = {0}, always = {INT64_MIN, INT64_MAX};
    struct trial_query query = {.bare = true};
    int r = web_trial_ref(call, 0, &query.experiment, &query.number, err);

    if (r >= 0)
        r = store_trials(call->store, &query, keep_span, &span, err);
    if (r >= 0 && !span.to_ns)
        r = err_set(err, ENOENT, "experiment %lld has no trial %lld", (long long)query.experiment,
                    (long long)query.number);
    if (r >= 0)
        r = series_db_refresh(call->series, err);
    if (r < 0)
        return r;
    autofree(mem) char *name =
        xasprintf("%lld.%lld", (long long)query.experiment, (long long)query.number);
    json_begin_object(&out);
    json_key(&out, "figures");
    json_begin_array(&out);
    put_figures(call, &out, name, query.experiment, query.number, always);
    put_figures(call, &out, "machine", 0, 0, span);
    json_end_array(&out);
    json_end_object(&out);
    return 0;
}

void figures_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    int r = figures_json(call, &text, &err);

    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_json(call, &text);
}
