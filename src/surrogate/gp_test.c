/* SPDX-License-Identifier: MIT */
/*
 * gp_test.c — the process against a direct solution of its formulas, its slopes against finite
 * differences, and what it does where there is little or nothing to learn from.
 */
#include "surrogate/gp.h"
#include "base/rng.h"
#include "linalg/linalg.h"
#include "surrogate/gp_internal.h"
#include "tests/test.h"

#include <math.h>

#define D 4
#define N 24

static const bool category[D] = {false, true, false, false};

struct case_data {
    double x[N * D], y[N], scale[N], extra[N];
};

static struct case_data data_of(uint64_t seed)
{
    struct case_data data;
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < N; i++) {
        double *x = data.x + i * D;
        for (size_t j = 0; j < D; j++)
            x[j] = category[j] ? (double)rng_below(&rng, 4) - 1 : rng_unit(&rng);
        data.y[i] = sin(6 * x[0]) + (x[1] == 2) + 0.3 * x[2] * x[2] + 0.1 * rng_normal(&rng);
        data.scale[i] = 1 / (double)(1 + rng_below(&rng, 3));
        data.extra[i] = i % 4 ? 0 : 0.05;
    }
    return data;
}

/* Hyper-parameters away from the prior's middle, warped or not. */
static struct gp *gp_at(const struct case_data *data, bool warp, uint64_t seed)
{
    struct gp_prior prior = gp_prior_for(D);
    double theta[3 * D + 2];
    struct err err = ERR_INIT;
    struct rng rng;

    assert_ok(linalg_open(&err), &err);
    prior.warp_sd = warp ? 0.5 : 0;
    struct gp *gp = gp_new(D, category, &prior);
    assert_int_equal(gp_parameters(gp), ARRAY_LEN(theta));
    gp_get(gp, theta);
    rng_init(&rng, seed, 1);
    for (size_t k = 0; k < (warp ? ARRAY_LEN(theta) : D + 2); k++)
        if (k < D + 2 || !category[(k - D - 2) % D])
            theta[k] += 0.7 * (rng_unit(&rng) - 0.5);
    assert_true(gp_put(gp, theta));
    gp_set(gp, data->x, data->y, data->scale, data->extra, N);
    return gp;
}

static void check_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * (1 + fabs(wanted))))
        fail_msg("%.12g, wanted %.12g", got, wanted);
}

/* ---- the formulas of gp.h, as they stand ---- */

static double warped(const double *theta, size_t j, double x)
{
    double p = exp(theta[D + 2 + j]), q = exp(theta[2 * D + 2 + j]);
    double u = p == 1 && q == 1 ? x : WARP_EDGE + (1 - 2 * WARP_EDGE) * x;
    return category[j] ? x : 1 - pow(1 - pow(u, p), q);
}

static double kernel(const double *theta, const double *a, const double *b)
{
    double r2 = 0;
    for (size_t j = 0; j < D; j++) {
        double delta = warped(theta, j, a[j]) - warped(theta, j, b[j]);
        r2 += (category[j] ? a[j] != b[j] : delta * delta) / exp(2 * theta[j]);
    }
    double r = sqrt(r2);
    return exp(theta[D]) * (1 + sqrt(5) * r + 5 * r2 / 3) * exp(-sqrt(5) * r);
}

/* x of A·x = b by elimination; a is (N, N), destroyed. */
static void eliminate(double a[N][N], double *b)
{
    for (size_t k = 0; k < N; k++)
        for (size_t i = k + 1; i < N; i++) {
            double by = a[i][k] / a[k][k];
            for (size_t j = k; j < N; j++)
                a[i][j] -= by * a[k][j];
            b[i] -= by * b[k];
        }
    for (size_t k = N; k-- > 0; b[k] /= a[k][k])
        for (size_t j = k + 1; j < N; j++)
            b[k] -= a[k][j] * b[j];
}

static void predict_directly(const struct case_data *data, const double *theta, const double *at,
                             double *ret_mean, double *ret_deviation)
{
    double a[N][N], k[N], solved[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            a[i][j] = kernel(theta, data->x + i * D, data->x + j * D);
        a[i][i] += exp(theta[D + 1]) * data->scale[i] + data->extra[i];
        k[i] = solved[i] = kernel(theta, data->x + i * D, at);
    }
    eliminate(a, solved);
    *ret_mean = *ret_deviation = 0;
    for (size_t i = 0; i < N; i++) {
        *ret_mean += solved[i] * data->y[i];
        *ret_deviation += solved[i] * k[i];
    }
    *ret_deviation = sqrt(exp(theta[D]) - *ret_deviation);
}

TEST(predictions_are_those_of_a_direct_solution)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct case_data data = data_of(seed), other = data_of(seed + 100);
        autofree(gp) struct gp *gp = gp_at(&data, seed % 2, seed);
        double theta[3 * D + 2], mean[N], deviation[N], only_mean[N], wanted, wide;
        gp_get(gp, theta);
        gp_predict(gp, other.x, N, mean, deviation);
        gp_predict(gp, other.x, N, only_mean, NULL);
        for (size_t i = 0; i < N; i++) {
            predict_directly(&data, theta, other.x + i * D, &wanted, &wide);
            check_near(mean[i], wanted, 1e-9);
            check_near(deviation[i], wide, 1e-9);
            assert_true(mean[i] == only_mean[i]);
        }
    }
}

/* ---- slopes ---- */

TEST(slopes_of_a_prediction_are_its_differences)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct case_data data = data_of(seed), other = data_of(seed + 100);
        autofree(gp) struct gp *gp = gp_at(&data, seed % 2, seed);
        for (size_t i = 0; i < 8; i++) {
            double *x = other.x + i * D, mean, deviation, by_mean[D], by_deviation[D], m[2], s[2];
            gp_gradient(gp, x, &mean, &deviation, by_mean, by_deviation);
            gp_predict(gp, x, 1, m, s);
            check_near(mean, m[0], 1e-12);
            check_near(deviation, s[0], 1e-12);
            for (size_t j = 0; j < D; j++) {
                double was = x[j], h = 1e-6;
                for (size_t k = 0; k < 2; k++) {
                    x[j] = was + (category[j] ? 0 : k ? h : -h);
                    gp_predict(gp, x, 1, &m[k], &s[k]);
                }
                x[j] = was;
                check_near(by_mean[j], (m[1] - m[0]) / (2 * h), 1e-6);
                check_near(by_deviation[j], (s[1] - s[0]) / (2 * h), 1e-6);
            }
        }
    }
}

TEST(slopes_of_the_posterior_are_its_differences)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct case_data data = data_of(seed);
        autofree(gp) struct gp *gp = gp_at(&data, seed % 2, seed);
        double theta[3 * D + 2], slope[3 * D + 2], side[2];
        gp_repeats(gp, seed % 3 ? 7 : 0, seed % 3 ? 0.5 : 0);
        gp_get(gp, theta);
        check_near(gp_posterior(gp, theta, slope), -gp_evidence(gp), 1e-12);
        for (size_t k = 0; k < ARRAY_LEN(theta); k++) {
            double was = theta[k], h = 1e-5;
            if (k >= D + 2 && (seed % 2 == 0 || category[(k - D - 2) % D])) {
                assert_true(slope[k] == 0); /* no freedom */
                continue;
            }
            for (int i = 0; i < 2; i++) {
                theta[k] = was + (i ? h : -h);
                side[i] = gp_posterior(gp, theta, NULL);
            }
            theta[k] = was;
            check_near(slope[k], (side[1] - side[0]) / (2 * h), 1e-5);
        }
    }
}

/* ---- rows come and go ---- */

static void check_alike(const struct gp *a, const struct gp *b, double tolerance)
{
    struct case_data at = data_of(77);
    double mean[2][N], deviation[2][N];
    gp_predict(a, at.x, N, mean[0], deviation[0]);
    gp_predict(b, at.x, N, mean[1], deviation[1]);
    for (size_t i = 0; i < N; i++) {
        check_near(mean[0][i], mean[1][i], tolerance);
        check_near(deviation[0][i], deviation[1][i], tolerance);
    }
}

TEST(rows_one_by_one_are_rows_at_once)
{
    for (int warp = 0; warp < 2; warp++) {
        struct case_data data = data_of(3);
        autofree(gp) struct gp *gp = gp_at(&data, warp, 3), *one = gp_at(&data, warp, 3);
        gp_set(one, data.x, data.y, data.scale, data.extra, 2);
        for (size_t i = 2; i < N; i++)
            gp_append(one, data.x + i * D, data.y[i], data.scale[i], data.extra[i]);
        assert_int_equal(gp_rows(one), N);
        check_alike(one, gp, 1e-9);
        for (size_t i = 0; i < N; i++) /* past the room that there was */
            gp_append(one, data.x + i * D, 5, 1, 0);
        gp_cut(one, N);
        check_alike(one, gp, 1e-9);
        gp_cut(one, N + 7);
        assert_int_equal(gp_rows(one), N);
    }
}

TEST(cut_to_the_first_rows_it_is_as_if_the_others_never_came)
{
    struct case_data data = data_of(4);
    autofree(gp) struct gp *gp = gp_at(&data, true, 4), *few = gp_at(&data, true, 4);
    gp_set(few, data.x, data.y, data.scale, data.extra, 9);
    gp_cut(gp, 9);
    check_alike(gp, few, 1e-9);
}

TEST(other_values_and_shared_rows)
{
    struct case_data data = data_of(5), other = data_of(6);
    autofree(gp) struct gp *gp = gp_at(&data, true, 5), *set = gp_at(&data, true, 5);
    autofree(gp) struct gp *shared = gp_at(&other, true, 5);
    gp_values(gp, other.y);
    gp_set(set, data.x, other.y, data.scale, data.extra, N);
    check_alike(gp, set, 1e-12);
    gp_share(shared, gp);
    check_alike(shared, set, 1e-12);
}

TEST(left_out_rows_are_predicted_as_by_a_process_without_them)
{
    struct case_data data = data_of(7);
    autofree(gp) struct gp *gp = gp_at(&data, true, 7), *without = gp_at(&data, true, 7);
    double mean[N], deviation[N], wanted, wide, noise = gp_noise(gp) * gp_noise(gp);
    gp_leave_one_out(gp, mean, deviation);
    for (size_t i = 0; i < N; i++) {
        struct case_data rest = data;
        memcpy(rest.x + i * D, data.x + (N - 1) * D, D * sizeof(double));
        rest.y[i] = data.y[N - 1];
        rest.scale[i] = data.scale[N - 1];
        rest.extra[i] = data.extra[N - 1];
        gp_set(without, rest.x, rest.y, rest.scale, rest.extra, N - 1);
        gp_predict(without, data.x + i * D, 1, &wanted, &wide);
        check_near(mean[i], wanted, 1e-8);
        check_near(deviation[i], sqrt(wide * wide + noise * data.scale[i] + data.extra[i]), 1e-8);
    }
}

/* ---- hyper-parameters ---- */

TEST(a_fit_raises_the_posterior_and_finds_what_matters)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct case_data data = data_of(seed);
        autofree(gp) struct gp *gp = gp_at(&data, seed % 2, seed);
        double theta[3 * D + 2], before = gp_evidence(gp);
        gp_fit(gp, 100);
        assert_true(gp_evidence(gp) >= before);
        gp_get(gp, theta);
        assert_true(gp_put(gp, theta));
        assert_true(gp_length(gp, 0) < gp_length(gp, 3)); /* sin 6x; the last does nothing */
    }
}

/* 400 degrees of freedom outweigh prior and rows. */
TEST(repeats_tell_the_noise)
{
    for (double noise = 0.003; noise < 1; noise *= 4) {
        struct case_data data = data_of(3);
        autofree(gp) struct gp *gp = gp_at(&data, true, 3);
        gp_repeats(gp, 400, 400 * noise);
        gp_fit(gp, 100);
        check_near(gp_noise(gp) / sqrt(noise), 1, 0.05);
    }
}

TEST(drawn_hyper_parameters_stay_in_bounds_and_follow_the_seed)
{
    struct case_data data = data_of(8);
    autofree(gp) struct gp *gp = gp_at(&data, true, 8), *same = gp_at(&data, true, 8);
    double theta[3 * D + 2], again[3 * D + 2], before[3 * D + 2];
    struct rng rng, copy;
    rng_init(&rng, 3, 0);
    copy = rng;
    gp_get(gp, before);
    for (int i = 0; i < 20; i++) {
        gp_sample(gp, 2, &rng);
        gp_sample(same, 2, &copy);
        gp_get(gp, theta);
        gp_get(same, again);
        assert_true(gp_put(gp, theta)); /* it checks the bounds */
        assert_memory_equal(theta, again, sizeof(theta));
        assert_true(isfinite(gp_evidence(gp)));
    }
    for (size_t k = 0; k < D + 2; k++)
        assert_true(theta[k] != before[k]);
    check_alike(gp, same, 0);
}

TEST(hyper_parameters_out_of_bounds_are_refused)
{
    struct case_data data = data_of(9);
    autofree(gp) struct gp *gp = gp_at(&data, true, 9);
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -50};
    double theta[3 * D + 2], after[3 * D + 2];
    gp_get(gp, theta);
    for (size_t k = 0; k < ARRAY_LEN(theta); k++)
        for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
            double bad[3 * D + 2];
            memcpy(bad, theta, sizeof(theta));
            bad[k] = odd[i];
            assert_false(gp_put(gp, bad));
            gp_get(gp, after);
            assert_memory_equal(theta, after, sizeof(theta));
        }
}

/* ---- little and odd data ---- */

static void check_finite(const struct gp *gp, const double *x)
{
    double mean, deviation;
    gp_predict(gp, x, 1, &mean, &deviation);
    assert_true(isfinite(mean) && isfinite(deviation) && deviation > 0);
}

TEST(nothing_one_and_many_of_the_same)
{
    struct case_data data = data_of(10);
    struct rng rng;
    autofree(gp) struct gp *gp = gp_at(&data, true, 10);
    for (size_t n = 0; n < 3; n++) {
        rng_init(&rng, 3, 0);
        gp_set(gp, data.x, data.y, NULL, NULL, n);
        gp_fit(gp, 20);
        gp_sample(gp, 1, &rng);
        check_finite(gp, data.x);
    }
    for (int i = 0; i < 200; i++)
        gp_append(gp, data.x, i % 2, 1, 0);
    gp_fit(gp, 20);
    check_finite(gp, data.x);
    double mean, deviation;
    gp_predict(gp, data.x, 1, &mean, &deviation);
    assert_true(fabs(mean - 0.5) < 0.15 && deviation < 0.3);
}

/* Without noise copies make the matrix singular: the jitter saves it. */
TEST(copies_without_noise_need_jitter)
{
    struct gp_prior prior = gp_prior_for(D);
    struct case_data data = data_of(11);
    prior.noise_mean = -80;
    prior.noise_sd = 0;
    autofree(gp) struct gp *gp = gp_new(D, category, &prior);
    for (size_t i = 1; i < N; i++)
        memcpy(data.x + i * D, data.x + (i % 3) * D, D * sizeof(double));
    gp_set(gp, data.x, data.y, NULL, NULL, N);
    assert_true(gp->jitter > 0);
    check_finite(gp, data.x);
    gp_append(gp, data.x, 3, 1, 0);
    gp_fit(gp, 10);
    check_finite(gp, data.x);
}

TEST(no_feature_and_three_hundred)
{
    static const size_t sizes[] = {0, 300};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        size_t d = sizes[k];
        struct gp_prior prior = gp_prior_for(d);
        autofree(mem) bool *plain = xcalloc(d + 1, sizeof(*plain));
        autofree(mem) double *x = xcalloc(10 * d + 1, sizeof(*x));
        autofree(mem) double *slopes = xcalloc(2 * d + 1, sizeof(*slopes));
        autofree(gp) struct gp *gp = gp_new(d, plain, &prior);
        double y[10], mean, deviation;
        for (size_t i = 0; i < 10; i++) {
            y[i] = i % 3;
            for (size_t j = 0; j < d; j++)
                x[i * d + j] = (double)((i * 7 + j * 3) % 11) / 10;
        }
        gp_set(gp, x, y, NULL, NULL, 10);
        gp_fit(gp, 5);
        check_finite(gp, x);
        gp_gradient(gp, x, &mean, &deviation, slopes, slopes + d);
        assert_true(isfinite(mean));
    }
}

TEST_MAIN
