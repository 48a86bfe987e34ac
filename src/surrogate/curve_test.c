/* SPDX-License-Identifier: MIT */
/*
 * curve_test.c — forecasts of curves whose end is known, and what the margin promises.
 */
#include "surrogate/curve.h"
#include "base/rng.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>

#define N     40
#define STEPS 50

static double ages[STEPS];
static double values[N][STEPS];
static double ends[N]; /* without noise */
static struct curve_points points[N];

/* Curve i: end + scale·age^(-shape) + noise, drawn around shape 0.7. */
static void draw(struct rng *rng, size_t n, double noise)
{
    for (size_t i = 0; i < n; i++) {
        double end = rng_normal(rng), scale = 2 + rng_unit(rng), shape = 0.5 + 0.4 * rng_unit(rng);
        for (size_t t = 0; t < STEPS; t++) {
            ages[t] = (double)t + 1;
            values[i][t] = end + scale * pow(ages[t], -shape) + noise * rng_normal(rng);
        }
        ends[i] = end + scale * pow(STEPS, -shape);
        points[i] = (struct curve_points){ages, values[i], STEPS};
    }
}

static struct curve_points begun(size_t i, size_t n)
{
    return (struct curve_points){ages, values[i], n};
}

static struct forecast forecast_of(const struct curve_set *set, size_t i, size_t n)
{
    struct curve_points mine = begun(i, n);
    struct forecast forecast = {NAN, NAN};
    assert_true(curve_set_forecast(set, &mine, &forecast));
    return forecast;
}

TEST(a_smooth_curve_is_forecast_well)
{
    struct rng rng;
    rng_init(&rng, 1, 0);
    draw(&rng, N, 0);
    autofree(curve_set) struct curve_set *set = curve_set_new(points, N - 1);
    double early = forecast_of(set, N - 1, 10).mean, late = forecast_of(set, N - 1, 40).mean;
    double end = values[N - 1][STEPS - 1];
    assert_true(fabs(early - end) < 0.1);
    assert_true(fabs(late - end) < 0.01);
    assert_true(forecast_of(set, N - 1, 40).deviation < forecast_of(set, N - 1, 10).deviation);
}

TEST(ends_of_noisy_curves_are_smoothed)
{
    struct rng rng;
    double off = 0, raw = 0;
    rng_init(&rng, 2, 0);
    draw(&rng, N, 0);
    autofree(curve_set) struct curve_set *smooth = curve_set_new(points, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs(curve_set_end(smooth, i) - ends[i]) < 0.002);
        for (size_t t = 0; t < STEPS; t++)
            values[i][t] += 0.3 * rng_normal(&rng);
    }
    autofree(curve_set) struct curve_set *noisy = curve_set_new(points, N);
    for (size_t i = 0; i < N; i++) {
        off += pow(curve_set_end(noisy, i) - ends[i], 2);
        raw += pow(values[i][STEPS - 1] - ends[i], 2);
    }
    assert_true(off < 0.5 * raw);
}

TEST(forecasts_do_not_depend_on_units)
{
    struct rng rng;
    rng_init(&rng, 3, 0);
    draw(&rng, N, 0.05);
    autofree(curve_set) struct curve_set *set = curve_set_new(points, N - 1);
    struct forecast plain = forecast_of(set, N - 1, 12);
    double margin = curve_set_margin(set, 0.05);
    for (size_t i = 0; i < N; i++)
        for (size_t t = 0; t < STEPS; t++)
            values[i][t] = values[i][t] * 1e300 + 1e300;
    autofree(curve_set) struct curve_set *large = curve_set_new(points, N - 1);
    struct forecast huge = forecast_of(large, N - 1, 12);
    assert_true(fabs(huge.mean / 1e300 - 1 - plain.mean) < 1e-6);
    assert_true(fabs(huge.deviation / 1e300 - plain.deviation) < 1e-6);
    assert_true(fabs(curve_set_margin(large, 0.05) - margin) < 1e-6);
}

TEST(too_young_too_old_or_too_short_says_nothing)
{
    struct rng rng;
    struct forecast forecast;
    rng_init(&rng, 4, 0);
    draw(&rng, N, 0);
    autofree(curve_set) struct curve_set *set = curve_set_new(points, N - 1);
    assert_true(curve_set_horizon(set) == STEPS);
    for (size_t n = 0; n <= STEPS; n++) {
        struct curve_points mine = begun(N - 1, n);
        assert_int_equal(n && curve_set_forecast(set, &mine, &forecast), n >= 5 && n <= 45);
    }
}

TEST(a_smaller_risk_asks_for_more)
{
    struct rng rng;
    rng_init(&rng, 5, 0);
    draw(&rng, N, 0.1);
    for (size_t n = 5; n <= N; n += 7) {
        autofree(curve_set) struct curve_set *set = curve_set_new(points, n);
        double before = INFINITY;
        for (double risk = 0.001; risk < 0.4; risk *= 2) {
            double margin = curve_set_margin(set, risk);
            assert_true(margin >= curve_set_least_margin(set, risk) && margin <= before);
            before = margin;
        }
    }
}

TEST(the_chance_is_half_at_the_forecast_and_falls_with_distance)
{
    struct rng rng;
    rng_init(&rng, 6, 0);
    draw(&rng, 6, 0.1);
    autofree(curve_set) struct curve_set *set = curve_set_new(points, 6);
    struct forecast forecast = {10, 2};
    assert_true(fabs(curve_set_chance(set, &forecast, 10) - 0.5) < 1e-12);
    /* Student's t with 5 degrees of freedom: P(t < −2.015) = 0.05. */
    assert_true(fabs(curve_set_chance(set, &forecast, 10 - 2 * 2.015) - 0.05) < 0.001);
    assert_true(fabs(curve_set_chance(set, &forecast, 10 + 2 * 2.015) - 0.95) < 0.001);
}

/* How often the best of many is once forecast to lose against the second by the margin. */
static double killed(double risk, size_t known, double noise, uint64_t seed)
{
    size_t lost = 0, runs = 400;
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t r = 0; r < runs; r++) {
        draw(&rng, known + 1, noise);
        size_t best = known; /* its end shall be the best: swap */
        for (size_t i = 0; i < known; i++)
            if (ends[i] < ends[best])
                best = i;
        points[best].values = values[known];
        autofree(curve_set) struct curve_set *set = curve_set_new(points, known);
        double margin = curve_set_margin(set, risk), most = 0;
        for (size_t n = 5; n <= 45; n++) {
            struct forecast f = forecast_of(set, best, n);
            most = fmax(most, (f.mean - curve_set_best(set)) / f.deviation);
        }
        lost += most > margin;
        points[best].values = values[best];
    }
    return (double)lost / (double)runs;
}

TEST(the_winner_is_rarely_given_up)
{
    assert_true(killed(0.05, 8, 0, 7) <= 0.05);
    assert_true(killed(0.05, 30, 0.2, 8) <= 0.05);
    assert_true(killed(0.3, 8, 0.2, 9) <= 0.3);
}

TEST(odd_curves_do_no_harm)
{
    double one[] = {1}, same[] = {3, 3, 3, 3}, wild[] = {1e308, -1e308, 1e308, -1e308};
    double at[] = {1, 2, 3, 4}, tiny[] = {1e-308, 2e-308, 1e-308, 5e-324};
    struct curve_points odd[] = {{at, one, 1}, {at, same, 4}, {at, wild, 4}, {at, tiny, 4}};
    struct curve_points flat[] = {{at, same, 4}, {at, same, 4}};
    struct forecast forecast;

    autofree(curve_set) struct curve_set *set = curve_set_new(odd, ARRAY_LEN(odd));
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct curve_points mine = {odd[i].ages, odd[i].values, MIN(odd[i].n, 3)};
        if (!curve_set_forecast(set, &mine, &forecast))
            continue;
        double chance = curve_set_chance(set, &forecast, curve_set_best(set));
        assert_true(chance >= 0 && chance <= 1);
        assert_true(isfinite(forecast.mean) && forecast.deviation > 0);
        assert_true(isfinite(forecast.deviation));
    }
    assert_true(curve_set_margin(set, 0.05) > 0);
    autofree(curve_set) struct curve_set *level = curve_set_new(flat, 2);
    assert_false(curve_set_forecast(level, &(struct curve_points){at, same, 3}, &forecast));
    assert_true(curve_set_margin(level, 0.05) > 0);
    autofree(curve_set) struct curve_set *single = curve_set_new(odd, 1);
    assert_false(curve_set_forecast(single, &(struct curve_points){at, wild, 3}, &forecast));
}

TEST_MAIN
