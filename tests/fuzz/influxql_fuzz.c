/* SPDX-License-Identifier: MIT */
/*
 * influxql_fuzz.c — any text as a query over a few series. What must hold: no crash and no long
 * wait; a sentence where it is refused; what is taken is answered the same way twice, and as JSON
 * that can be read, whole and in chunks.
 */
#include "api/influxql.h"
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define S INT64_C(1000000000)

static int databases(void *arg, influxql_name_fn *fn, void *to)
{
    (void)arg;
    return fn("v", to);
}

static int series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    static const struct influxql_tag a[] = {{"host", "a"}}, b[] = {{"host", "b"}, {"run", "1"}};
    static const struct influxql_series all[] = {{"m.x", a, 1, 0, NULL},
                                                 {"m.y", a, 1, 1, NULL},
                                                 {"m.x", b, 2, 2, NULL},
                                                 {"n", b, 2, 3, NULL}};
    (void)arg;

    if (!str_eq(db, "v"))
        return -ENOENT;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        fn(&all[i], to);
    return 0;
}

/* Times that come twice, go back, and lie at the ends of what there is. */
static int points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                  int64_t max_ns, influxql_points_fn *fn, void *to)
{
    static const int64_t times[] = {0,      10 * S, 10 * S,        30 * S,
                                    20 * S, 70 * S, INT64_MIN + 1, INT64_MAX};
    static const double values[] = {1, 4, NAN, -0x1p63, INFINITY, 0.5, 0x1p53, 1e300};
    static const double rests[] = {0, 1025, 1024, 1024, 1024, 0, NAN, 5};
    size_t n = of->id == 3 ? ARRAY_LEN(times) : ARRAY_LEN(times) - 2;
    (void)arg, (void)db, (void)min_ns, (void)max_ns;

    return fn(&(struct influxql_points){n - of->id % 2, times, values, rests}, to);
}

static int change(void *arg, const char *db, struct err *err)
{
    (void)arg, (void)err;
    assert(*db);
    return 0;
}

static void answer(const struct influxql *query, size_t chunk_rows, struct str *to)
{
    const struct influxql_source source = {.databases = databases,
                                           .series = series,
                                           .points = points,
                                           .create = change,
                                           .drop = change};
    struct influxql_options options = {
        .db = "v", .epoch = "s", .format = INFLUXQL_JSON, .chunk_rows = chunk_rows};

    influxql_run(query, &source, &options, to);
}

/* A line each is an object with results. */
static void check_json(const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        autofree(json) json_t *root = NULL;
        int r = json_parse(text, (size_t)(end - text), &root, NULL);
        assert(r == 0 && json_is_array(json_object_get(root, "results")));
        (void)r;
    }
    assert(!*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autofree(mem) char *text = xstrndup((const char *)data, size);
    autofree(influxql) struct influxql *query = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str first = STR_INIT, again = STR_INIT, chunks = STR_INIT;

    if (influxql_parse(text, 100 * S, &query, &err) < 0) {
        assert(err_text(&err)[0]);
        return 0;
    }
    answer(query, 0, &first);
    answer(query, 0, &again);
    assert(str_eq(first.s, again.s));
    check_json(first.s);
    answer(query, 2, &chunks);
    check_json(chunks.s);
    return 0;
}
