/* SPDX-License-Identifier: MIT */
/*
 * influxql_buckets_test.c — points whose times rise are put into buckets as they come; the same
 * points in another order are held and sorted. Both must be answered with the same bytes.
 */
#include "api/influxql.h"
#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

#define S    1000000000LL
#define MOST 400

struct stored {
    size_t n, chunk; /* told so many at a time */
    bool mixed;      /* the last one first */
    int64_t times_ns[MOST];
    double values[MOST];
};

static int one_series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    static const struct influxql_tag tag = {"run", "a"};
    static const struct influxql_series one = {"ml.x", &tag, 1, 0, NULL};

    (void)arg, (void)db;
    return fn(&one, to);
}

static int tell(const struct stored *stored, size_t at, size_t n, influxql_points_fn *fn, void *to)
{
    return fn(&(struct influxql_points){n, stored->times_ns + at, stored->values + at, NULL}, to);
}

static int points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                  int64_t max_ns, influxql_points_fn *fn, void *to)
{
    const struct stored *stored = arg;
    size_t n = stored->mixed && stored->n ? stored->n - 1 : stored->n;
    int r = 0;

    (void)db, (void)of, (void)min_ns, (void)max_ns;
    if (n < stored->n)
        r = tell(stored, n, 1, fn, to);
    for (size_t i = 0; r == 0 && i < n; i += stored->chunk)
        r = tell(stored, i, MIN(stored->chunk, n - i), fn, to);
    return r;
}

static char *ask(struct stored *stored, const char *text, bool mixed)
{
    struct influxql_source source = {.arg = stored, .series = one_series, .points = points};
    struct influxql_options options = {.db = "test", .epoch = "ms"};
    autofree(influxql) struct influxql *query = NULL;
    struct str answer = STR_INIT;
    struct err err = ERR_INIT;

    stored->mixed = mixed;
    assert_ok(influxql_parse(text, 2000 * S, &query, &err), &err);
    influxql_run(query, &source, &options, &answer);
    return str_take(&answer);
}

static double any_value(struct rng *rng)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0, 1, 1e300, -1e300};

    if (rng_chance(rng, 0.2))
        return odd[rng_below(rng, ARRAY_LEN(odd))];
    return rng_chance(rng, 0.1) ? floor(10 * rng_unit(rng)) : rng_normal(rng);
}

/* From −100 s on; some gaps are long, and some times come twice in some of them. */
static void make_points(struct stored *stored, struct rng *rng)
{
    int64_t now_ns = -100 * S;
    bool twice = rng_chance(rng, 0.1);

    stored->n = rng_below(rng, MOST + 1);
    stored->chunk = 1 + rng_below(rng, MOST);
    for (size_t i = 0; i < stored->n; i++) {
        bool still = twice && i + 1 < stored->n && rng_chance(rng, 0.1);
        now_ns += still ? 0 : 1 + (int64_t)rng_below(rng, rng_chance(rng, 0.03) ? 90 * S : 2 * S);
        stored->times_ns[i] = now_ns;
        stored->values[i] = any_value(rng);
    }
}

static char *random_query(struct rng *rng)
{
    static const char *const what[] = {
        "mean(x)",
        "sum(x)",
        "count(x)",
        "max(x)",
        "min(x)",
        "last(x)",
        "first(x)",
        "mean(*)",
        "spread(x)",
        "mean(x), max(x)",
        "max(x) - min(x)",
        "median(x)",
        "derivative(mean(x), 1s)",
        "moving_average(mean(x), 3)",
    };
    static const char *const fills[] = {"null", "none", "previous", "linear", "7"};

    return xasprintf("SELECT %s FROM ml WHERE time >= %llds AND time < %llds GROUP BY time(%llds%s)"
                     "%s fill(%s)%s",
                     what[rng_below(rng, ARRAY_LEN(what))], (long long)rng_below(rng, 300) - 150,
                     (long long)rng_below(rng, 600) - 50, (long long)rng_below(rng, 30) + 1,
                     rng_chance(rng, 0.3) ? ", 3s" : "", rng_chance(rng, 0.5) ? ", run" : "",
                     fills[rng_below(rng, ARRAY_LEN(fills))],
                     rng_chance(rng, 0.2) ? " ORDER BY time DESC" : "");
}

TEST(buckets_hold_the_same_however_the_points_come)
{
    autofree(mem) struct stored *stored = xcalloc(1, sizeof(*stored));
    size_t long_ones = 0;
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int round = 0; round < 3000; round++) {
        make_points(stored, &rng);
        autofree(mem) char *text = random_query(&rng);
        autofree(mem) char *rising = ask(stored, text, false);
        autofree(mem) char *mixed = ask(stored, text, true);
        if (!str_eq(rising, mixed))
            fail_msg("%s:\n%s%s", text, rising, mixed);
        long_ones += strlen(rising) > 200;
    }
    assert_true(long_ones > 500);
}

TEST(buckets_at_the_ends_of_time_are_those_of_held_points)
{
    static const char *const texts[] = {
        "SELECT count(x) FROM ml WHERE time >= -9223372036854775806 AND time < "
        "-9223372036854775000 GROUP BY time(100ns) fill(none)",
        "SELECT sum(x) FROM ml WHERE time >= 9223372036854775000 AND time <= 9223372036854775806 "
        "GROUP BY time(100ns) fill(none)",
        "SELECT mean(x) FROM ml WHERE time >= -9223372036854775806 AND time <= "
        "9223372036854775806 GROUP BY time(4611686018427387904ns)",
        "SELECT mean(x) FROM ml WHERE time >= 10s AND time < 5s GROUP BY time(1s)",
        "SELECT mean(x) FROM ml WHERE time >= 0s AND time < 5000000s GROUP BY time(1s)",
    };
    autofree(mem) struct stored *stored = xcalloc(1, sizeof(*stored));
    const int64_t times[] = {INT64_MIN + 2,   INT64_MIN + 99, -1, 0, S,
                             INT64_MAX - 600, INT64_MAX - 1};

    stored->chunk = 3;
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        stored->times_ns[stored->n] = times[i];
        stored->values[stored->n++] = 1 + (double)i;
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autofree(mem) char *rising = ask(stored, texts[i], false);
        autofree(mem) char *mixed = ask(stored, texts[i], true);
        if (!str_eq(rising, mixed))
            fail_msg("%s:\n%s%s", texts[i], rising, mixed);
    }
}

TEST_MAIN
