/* SPDX-License-Identifier: MIT */
/*
 * remote_samples.c — the samples at a server: its list of sources, and windows of values by
 * position (api/v1_samples.h). A server that goes away is awaited and asked for the same again.
 */
#include "api/tuning.h"
#include "api/v1_samples.h"
#include "cli/influx_cursor.h"
#include "cli/samples.h"

#include <errno.h>

struct server_samples {
    struct samples base;
    struct remote *remote;
    char *ref;
    json_t *sources;      /* the newest answer; NULL: none since the last look */
    int64_t rows, values; /* as of the last look; -1: none */
};

/* ---- sources ---- */

static int ask_json(struct remote *remote, const char *path, json_t **ret, struct err *err)
{
    int tries = 0, r;

    do
        r = remote_call(remote, "GET", path, NULL, ret, err);
    while (r < 0 && remote_again(remote, r, err, &tries));
    return r;
}

static int ask_sources(struct server_samples *samples, struct err *err)
{
    autorelease(str) struct str path = STR_INIT;

    str_add(&path, "/v1/experiments/");
    percent_encode(samples->ref, "", &path);
    str_addf(&path, "/sources?%s", samples->base.machine ? "machine=1&" : "");
    if (samples->rows >= 0 && samples->values >= 0)
        str_addf(&path, "rows=%lld&values=%lld", (long long)samples->rows,
                 (long long)samples->values);
    json_decref(samples->sources);
    samples->sources = NULL;
    return ask_json(samples->remote, path.s, &samples->sources, err);
}

/* What cannot be asked is told by the look that follows. */
static bool goes_on(struct samples *base)
{
    struct server_samples *samples = (struct server_samples *)base;
    autorelease(err) struct err err = ERR_INIT;

    return ask_sources(samples, &err) >= 0 && json_get_bool(samples->sources, "goes_on", false);
}

static int file_of(const char *word)
{
    for (int i = 0; i < SERIES_FILES; i++)
        if (str_eq(samples_files[i], word))
            return i;
    return -1;
}

static void tell_source(const struct samples *base, const json_t *row, samples_fn *fn, void *arg)
{
    const json_t *file = json_array_get(row, 2), *metric = json_array_get(row, 3);
    int number = json_is_string(file) ? file_of(json_string_value(file)) : -1;
    json_int_t count = json_integer_value(json_array_get(row, 4));

    if (number < 0 || !json_is_string(metric) || count < 0)
        return; /* of a newer server */
    struct samples_series series = {
        .source = {.experiment = base->experiment,
                   .trial = json_integer_value(json_array_get(row, 0)),
                   .attempt = json_integer_value(json_array_get(row, 1)),
                   .file = (enum series_file)number},
        .metric = json_string_value(metric),
        .count = (uint64_t)count,
        .whole = json_is_true(json_array_get(row, 5)),
        .lines = json_is_true(json_array_get(row, 6)),
    };
    if (!series.source.trial)
        series.source.experiment = 0;
    fn(&series, arg);
}

static int look(struct samples *base, bool always, samples_fn *fn, void *arg, struct err *err)
{
    struct server_samples *samples = (struct server_samples *)base;
    (void)always; /* the server tells what there is more than we have seen */
    int r = samples->sources ? 0 : ask_sources(samples, err);

    if (r < 0)
        return r;
    const json_t *sources = json_object_get(samples->sources, "sources");
    for (size_t i = 0; i < json_array_size(sources); i++)
        tell_source(base, json_array_get(sources, i), fn, arg);
    samples->rows = json_get_int(samples->sources, "rows", -1);
    samples->values = json_get_int(samples->sources, "values", -1);
    json_decref(samples->sources);
    samples->sources = NULL;
    return 0;
}

/* ---- values ---- */

static int ask_window(struct server_samples *samples, const struct samples_series *series,
                      uint64_t from, uint64_t limit, bool rests, const struct str **ret,
                      struct err *err)
{
    autorelease(str) struct str path = STR_INIT;
    int tries = 0, r;

    str_addf(&path, "/v1/experiments/%lld/samples?trial=%lld&attempt=%lld&source=%s",
             (long long)samples->base.experiment, (long long)series->source.trial,
             (long long)series->source.attempt, samples_files[series->source.file]);
    str_addf(&path, "&from=%llu&limit=%llu%s&metric=", (unsigned long long)from,
             (unsigned long long)limit, rests ? "&rests=1" : "");
    percent_encode(series->metric, "", &path);
    do
        r = remote_read(samples->remote, path.s, ret, err);
    while (r < 0 && remote_again(samples->remote, r, err, &tries));
    if (r >= 0 && ((*ret)->len % SAMPLES_BYTES || (*ret)->len / SAMPLES_BYTES > limit))
        r = err_set(err, EIO, "%s does not answer as a hone server does",
                    remote_url(samples->remote));
    return r;
}

struct window {
    size_t n;
    int64_t *steps, *times_ns;
    double *values, *rests; /* rests NULL: there are none */
};

static void window_release(struct window *window)
{
    free(window->steps);
    free(window->times_ns);
    free(window->values);
    free(window->rests);
}

static void window_init(struct window *window, const struct str *bytes)
{
    size_t n = bytes->len / SAMPLES_BYTES;

    window->n = n;
    window->steps = xcalloc(n + 1, sizeof(*window->steps));
    window->times_ns = xcalloc(n + 1, sizeof(*window->times_ns));
    window->values = xcalloc(n + 1, sizeof(*window->values));
    samples_get(bytes->s, n, window->steps, window->times_ns, window->values);
}

/* What the server has from a position on. */
static int load_window(struct server_samples *samples, const struct samples_series *series,
                       uint64_t from, uint64_t limit, struct window *ret, struct err *err)
{
    const struct str *bytes = NULL;
    int r = ask_window(samples, series, from, limit, false, &bytes, err);

    if (r < 0)
        return r;
    window_init(ret, bytes);
    if (!series->whole || !ret->n)
        return 0;
    r = ask_window(samples, series, from, ret->n, true, &bytes, err);
    if (r >= 0 && bytes->len == ret->n * SAMPLES_BYTES) {
        ret->rests = xcalloc(ret->n, sizeof(*ret->rests));
        samples_get(bytes->s, ret->n, ret->steps, ret->times_ns, ret->rests);
    }
    return r;
}

static int read_server(struct samples *base, const struct samples_series *series, uint64_t from,
                       uint64_t to, series_chunk_fn *fn, void *arg, struct err *err)
{
    struct server_samples *samples = (struct server_samples *)base;

    while (from < to) {
        autorelease(window) struct window window = {.n = 0};
        int r = load_window(samples, series, from, MIN(to - from, (uint64_t)SAMPLES_PAGE), &window,
                            err);
        if (r < 0)
            return r;
        if (!window.n)
            return 0;
        struct series_chunk chunk = {.n = window.n,
                                     .steps = window.steps,
                                     .times_ns = window.times_ns,
                                     .values = window.values,
                                     .rests = window.rests};
        from += window.n;
        fn(&chunk, arg);
    }
    return 0;
}

/* ---- parameters ---- */

static int params(struct samples *base, int64_t trial, samples_param_fn *fn, void *arg,
                  struct err *err)
{
    struct server_samples *samples = (struct server_samples *)base;
    autofree(mem) char *path =
        xasprintf("/v1/trials/%lld.%lld", (long long)base->experiment, (long long)trial);
    autofree(json) json_t *row = NULL;
    const char *name;
    json_t *value;
    int r = ask_json(samples->remote, path, &row, err);

    json_object_foreach(json_object_get(row, "params"), name, value)
    {
        autorelease(str) struct str text = STR_INIT;
        if (!json_is_null(value))
            str_add_json_text(&text, value);
        fn(name, text.s, arg);
    }
    return r;
}

static void free_server(struct samples *base)
{
    struct server_samples *samples = (struct server_samples *)base;

    json_decref(samples->sources);
    free(samples->ref);
    free(samples);
}

int samples_of_server(struct remote *remote, const char *ref, struct samples **ret, struct err *err)
{
    static const struct samples_ops ops = {goes_on, look, read_server, params, free_server};
    struct server_samples *samples = xcalloc(1, sizeof(*samples));

    *samples = (struct server_samples){
        .base = {.ops = &ops}, .remote = remote, .ref = xstrdup(ref), .rows = -1, .values = -1};
    int r = ask_sources(samples, err);
    if (r < 0) {
        free_server(&samples->base);
        return r;
    }
    samples->base.experiment = json_get_int(samples->sources, "experiment", 0);
    samples->base.created_us = json_get_int(samples->sources, "created_us", 0);
    samples->base.ended_us = json_get_int(samples->sources, "ended_us", 0);
    free(samples->ref); /* "last" may be another in a moment */
    samples->ref = xasprintf("%lld", (long long)samples->base.experiment);
    *ret = &samples->base;
    return 0;
}
