/* SPDX-License-Identifier: MIT */
/*
 * influxql_verdicts_test.c — arithmetic and transformations answer as a real InfluxDB 1.6 did
 * (influxql_verdicts.txt, written by tests/peers/influxql_verdicts.py).
 */
#include "api/influxql.h"
#include "base/fs.h"
#include "base/json.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

#define TABLE "src/api/influxql_verdicts.txt"
#define S     1000000000LL

/* ---- the points of the table ---- */

struct kept {
    char *metric, *host;
    VEC(int64_t) times;
    VEC(double) values;
};
struct data {
    VEC(struct kept) series;
};

static struct kept *find(struct data *data, const char *metric, const char *host)
{
    vec_foreach (kept, &data->series)
        if (str_eq(kept->metric, metric) && str_eq(kept->host, host))
            return kept;
    struct kept fresh = {.metric = xstrdup(metric), .host = xstrdup(host)};
    vec_push(&data->series, fresh);
    return vec_last(&data->series);
}

/* m,host=a x=1,y=10 0 */
static void add_line(struct data *data, char *line)
{
    char *rest = NULL, *measurement = strtok_r(line, ",", &rest);
    char *host = strtok_r(NULL, " ", &rest), *fields = strtok_r(NULL, " ", &rest);
    int64_t time_ns = strtoll(rest, NULL, 10) * S;

    assert_non_null(fields);
    for (char *at = NULL, *field = strtok_r(fields, ",", &at); field;
         field = strtok_r(NULL, ",", &at)) {
        char *value = strchr(field, '=');
        assert_non_null(value);
        *value = '\0';
        autofree(mem) char *metric = xasprintf("%s.%s", measurement, field);
        struct kept *kept = find(data, metric, host + strlen("host="));
        vec_push(&kept->times, time_ns);
        vec_push(&kept->values, strtod(value + 1, NULL));
    }
}

static void data_release(struct data *data)
{
    vec_foreach (kept, &data->series) {
        free(kept->metric);
        free(kept->host);
        vec_release(&kept->times);
        vec_release(&kept->values);
    }
    vec_release(&data->series);
}

static int series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    const struct data *data = arg;
    (void)db;

    for (size_t i = 0; i < data->series.len; i++) {
        struct influxql_tag tag = {"host", data->series.at[i].host};
        struct influxql_series one = {data->series.at[i].metric, &tag, 1, i, NULL};
        fn(&one, to);
    }
    return 0;
}

static int points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                  int64_t max_ns, influxql_points_fn *fn, void *to)
{
    const struct data *data = arg;
    const struct kept *kept = &data->series.at[of->id];
    (void)db, (void)min_ns, (void)max_ns;

    struct influxql_points told = {kept->times.len, kept->times.at, kept->values.at, NULL};
    return fn(&told, to);
}

/* ---- answers ---- */

/* Numbers may differ in their last digit: sums are made in another order. */
static bool alike(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        return fabs(x - y) <= 1e-14 * fmax(fabs(x), fabs(y));
    }
    if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
        json_object_size(a) != json_object_size(b))
        return false;
    json_array_foreach(a, i, value) if (!alike(value, json_array_get(b, i))) return false;
    json_object_foreach((json_t *)(uintptr_t)a, key,
                        value) if (!json_object_get(b, key) ||
                                   !alike(value, json_object_get(b, key))) return false;
    return json_is_array(a) || json_is_object(a) || json_equal(a, b);
}

/* As /query answers: what cannot be parsed is an error of the whole. */
static char *ask(struct data *data, const char *text)
{
    struct influxql_source source = {.arg = data, .series = series, .points = points};
    struct influxql_options options = {.db = "v", .epoch = "s", .format = INFLUXQL_JSON};
    struct str answer = STR_INIT;
    struct json_out out = JSON_OUT(&answer);
    autofree(influxql) struct influxql *query = NULL;
    autorelease(err) struct err err = ERR_INIT;

    if (influxql_parse(text, 100 * S, &query, &err) == 0) {
        influxql_run(query, &source, &options, &answer);
    } else {
        json_begin_object(&out);
        json_put_text(&out, "error", err_text(&err));
        json_end_object(&out);
    }
    return str_take(&answer);
}

static bool check(struct data *data, const char *text, const char *wanted)
{
    autofree(mem) char *got = ask(data, text);
    autofree(json) json_t *a = NULL;
    autofree(json) json_t *b = NULL;

    assert_int_equal(json_parse(got, strlen(got), &a, NULL), 0);
    assert_int_equal(json_parse(wanted, strlen(wanted), &b, NULL), 0);
    if (alike(a, b))
        return true;
    printf("# %s\n#   InfluxDB: %s\n#   we:       %s", text, wanted, got);
    return false;
}

TEST(arithmetic_and_transformations_answer_as_influxdb_does)
{
    autorelease(str) struct str file = STR_INIT;
    struct data data = {{0}};
    size_t queries = 0, wrong = 0;

    assert_int_equal(fs_read(TABLE, 1 << 20, &file, NULL), 0);
    for (char *at = NULL, *line = strtok_r(file.s, "\n", &at); line;
         line = strtok_r(NULL, "\n", &at)) {
        char *rest = NULL, *kind = strtok_r(line, "\t", &rest);
        if (str_eq(kind, "w"))
            add_line(&data, rest);
        if (!str_eq(kind, "q"))
            continue;
        char *text = strtok_r(NULL, "\t", &rest);
        queries++;
        wrong += !check(&data, text, rest);
    }
    assert_int_equal(wrong, 0);
    assert_true(queries > 200);
    data_release(&data);
}

TEST_MAIN
