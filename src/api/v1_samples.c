/* SPDX-License-Identifier: MIT */
/*
 * v1_samples.c — what the store of series holds of an experiment.
 *
 * Whether the experiment goes on is read before its sources are listed: what was stored before its
 * end is in a list that says so.
 */
#include "api/v1_samples.h"

#include <errno.h>

const char *const samples_files[SERIES_FILES] = {
    [SERIES_METRICS] = "metrics", [SERIES_STDOUT] = "stdout", [SERIES_STDERR] = "stderr",
    [SERIES_OUTSIDE] = "outside", [SERIES_SYSTEM] = "system", [SERIES_EVENTS] = "events",
};

/* ---- bytes ---- */

static void put_u64(struct str *to, uint64_t x)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        str_add_char(to, (char)(x >> shift & 0xff));
}

static uint64_t get_u64(const char *bytes)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < 8; i++)
        x |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return x;
}

void samples_put(struct str *to, const int64_t *steps, const int64_t *times_ns,
                 const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_u64(to, (uint64_t)steps[i]);
    for (size_t i = 0; i < n; i++)
        put_u64(to, (uint64_t)times_ns[i]);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        put_u64(to, bits);
    }
}

void samples_get(const char *bytes, size_t n, int64_t *ret_steps, int64_t *ret_times_ns,
                 double *ret_values)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_u64(bytes + 8 * (2 * n + i));
        ret_steps[i] = (int64_t)get_u64(bytes + 8 * i);
        ret_times_ns[i] = (int64_t)get_u64(bytes + 8 * (n + i));
        memcpy(&ret_values[i], &bits, sizeof(bits));
    }
}

/* ---- GET /v1/experiments/E/sources ---- */

struct sources_ask {
    int64_t experiment, rows, values; /* rows, values: what who asks has seen; -1: nothing */
    int64_t machine;                  /* 1: its figures, too */
};

static int read_sources_ask(struct web_call *call, struct sources_ask *ret, struct err *err)
{
    int r = web_experiment_ref(call, 0, &ret->experiment, err);

    if (r >= 0)
        r = web_number(call, "rows", 0, INT64_MAX, -1, &ret->rows, err);
    if (r >= 0)
        r = web_number(call, "values", 0, INT64_MAX, -1, &ret->values, err);
    if (r >= 0)
        r = web_number(call, "machine", 0, 1, 0, &ret->machine, err);
    return r;
}

struct listing {
    struct series_db *series;
    struct json_out *out;
    struct series_wholes wholes;
};

static int put_source(const struct series_info *info, void *arg)
{
    struct listing *listing = arg;
    struct json_out *out = listing->out;

    json_begin_array(out);
    json_int(out, info->source.trial);
    json_int(out, info->source.attempt);
    json_text(out, samples_files[info->source.file]);
    json_text(out, series_db_name_text(listing->series, info->name));
    json_int(out, (int64_t)info->stats.count);
    json_bool(out, series_wholes_ask(&listing->wholes, listing->series, info));
    json_bool(out, series_db_is_lines(listing->series, &info->source));
    json_end_array(out);
    return 0;
}

/* null: no more than who asks has seen. */
static void put_sources(struct web_call *call, const struct sources_ask *ask, struct json_out *out)
{
    struct listing listing = {.series = call->series, .out = out};
    struct series_size size;

    series_db_size(call->series, &size);
    json_put_int(out, "rows", (int64_t)size.rows);
    json_put_int(out, "values", (int64_t)size.values);
    json_key(out, "sources");
    if (ask->rows == (int64_t)size.rows && ask->values == (int64_t)size.values) {
        json_null_out(out);
        return;
    }
    json_begin_array(out);
    series_db_every(call->series, true); /* positions must not change */
    series_db_list(call->series, ask->experiment, -1, SERIES_NAME_NONE, put_source, &listing);
    if (ask->machine)
        series_db_list(call->series, 0, 0, SERIES_NAME_NONE, put_source, &listing);
    series_db_every(call->series, false);
    vec_release(&listing.wholes.known);
    json_end_array(out);
}

void sources_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(experiment_row) struct experiment_row row = {0};
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    struct sources_ask ask = {.experiment = 0};
    int r = read_sources_ask(call, &ask, &err);
    autofree(mem) char *ref = xasprintf("%lld", (long long)ask.experiment);

    if (r >= 0)
        r = store_find_experiment(call->store, ref, false, &row, &err);
    if (r >= 0)
        r = series_db_refresh(call->series, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    json_begin_object(&out);
    json_put_int(&out, "experiment", ask.experiment);
    json_put_int(&out, "created_us", row.experiment.created_us);
    json_put_int(&out, "ended_us", row.experiment.ended_us);
    json_put_bool(&out, "goes_on", row.experiment.state == EXPERIMENT_RUNNING);
    put_sources(call, &ask, &out);
    json_end_object(&out);
    web_json(call, 200, &body);
}

/* ---- GET /v1/experiments/E/samples ---- */

struct samples_ask {
    struct series_source source;
    const char *metric;
    int64_t from, limit;
    int64_t rests; /* 1: those in the place of the values */
    uint32_t name; /* of the metric; NONE: it is not there */
};

static int read_file(struct web_call *call, enum series_file *ret, struct err *err)
{
    const char *word = http_param(call->request, "source");

    for (int i = 0; i < SERIES_FILES; i++)
        if (word && str_eq(word, samples_files[i])) {
            *ret = (enum series_file)i;
            return 0;
        }
    return err_set(err, EINVAL,
                   "source: one of metrics, stdout, stderr, outside, system, events is wanted");
}

static int read_samples_ask(struct web_call *call, struct samples_ask *ret, struct err *err)
{
    int r = web_experiment_ref(call, 0, &ret->source.experiment, err);

    ret->name = SERIES_NAME_NONE;
    ret->metric = http_param(call->request, "metric");
    if (r >= 0)
        r = web_number(call, "trial", 0, INT64_MAX, 0, &ret->source.trial, err);
    if (r >= 0)
        r = web_number(call, "attempt", 0, INT64_MAX, 0, &ret->source.attempt, err);
    if (r >= 0)
        r = read_file(call, &ret->source.file, err);
    if (r >= 0)
        r = web_number(call, "from", 0, INT64_MAX, 0, &ret->from, err);
    if (r >= 0)
        r = web_number(call, "limit", 1, SAMPLES_PAGE, SAMPLES_PAGE, &ret->limit, err);
    if (r >= 0)
        r = web_number(call, "rests", 0, 1, 0, &ret->rests, err);
    if (r >= 0 && !ret->metric)
        r = err_set(err, EINVAL, "metric: the name of one is wanted");
    if (ret->source.trial == 0)
        ret->source.experiment = 0; /* the machine */
    return r;
}

struct search {
    struct series_db *series;
    struct samples_ask *ask;
};

static int match(const struct series_info *info, void *arg)
{
    struct search *search = arg;
    struct samples_ask *ask = search->ask;

    if (info->source.attempt != ask->source.attempt || info->source.file != ask->source.file ||
        !str_eq(series_db_name_text(search->series, info->name), ask->metric))
        return 0;
    ask->name = info->name;
    return 1;
}

struct window {
    uint64_t skip; /* values before the first that is wanted */
    size_t want;
    bool rests;
    VEC(int64_t) steps;
    VEC(int64_t) times_ns;
    VEC(double) values;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct window *window = arg;
    size_t from = (size_t)MIN(window->skip, chunk->n);

    window->skip -= from;
    for (size_t i = from; i < chunk->n && window->values.len < window->want; i++) {
        vec_push(&window->steps, chunk->steps[i]);
        vec_push(&window->times_ns, chunk->times_ns[i]);
        vec_push(&window->values, window->rests ? series_chunk_rest(chunk, i) : chunk->values[i]);
    }
    return window->values.len == window->want;
}

void samples_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct str body = STR_INIT;
    struct samples_ask ask = {.metric = NULL};
    struct search search = {call->series, &ask};
    int r = read_samples_ask(call, &ask, &err);

    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    struct window window = {
        .skip = (uint64_t)ask.from, .want = (size_t)ask.limit, .rests = ask.rests};
    series_db_every(call->series, true);
    series_db_list(call->series, ask.source.experiment, ask.source.trial, SERIES_NAME_NONE, match,
                   &search);
    if (ask.name != SERIES_NAME_NONE)
        series_db_read(call->series, &ask.source, ask.name, &series_all, on_chunk, &window);
    series_db_every(call->series, false);
    samples_put(&body, window.steps.at, window.times_ns.at, window.values.at, window.values.len);
    vec_release(&window.steps);
    vec_release(&window.times_ns);
    vec_release(&window.values);
    http_reply(call->request, 200, "application/octet-stream", &body, NULL);
}
