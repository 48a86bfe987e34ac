/* SPDX-License-Identifier: MIT */
/*
 * normal_test.c — against values computed with 60 digits, and against itself.
 */
#include "linalg/normal.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>

static void check_near(const char *what, double at, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%s(%.17g) is %.17g, not %.17g", what, at, got, want);
}

TEST(probabilities_are_right_to_the_last_digits)
{
    static const double rows[][3] = {
        {-20, 2.7536241186062337e-89, -203.917155371097264},
        {-10, 7.61985302416052607e-24, -53.2312851505124706},
        {-5, 2.86651571879193912e-7, -15.0649983939887257},
        {-1, 0.158655253931457051, -1.84102164500926351},
        {-0.5, 0.308537538725986896, -1.17591176159361861},
        {0, 0.5, -0.693147180559945309},
        {0.5, 0.691462461274013104, -0.368946415288656393},
        {1, 0.841344746068542949, -0.17275377902344989},
        {3, 0.998650101968369905, -0.0013508099647481938},
        {6, 0.999999999013412355, -9.86587645524375732e-10},
        {9, 1.0, -1.12858840595384065e-19},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_near("cdf", rows[i][0], normal_cdf(rows[i][0]), rows[i][1], 1e-13);
        check_near("log_cdf", rows[i][0], normal_log_cdf(rows[i][0]), rows[i][2], 1e-14);
    }
    check_near("log_cdf", -40, normal_log_cdf(-40), -804.608442013753788, 1e-15);
    check_near("log_cdf", -1e3, normal_log_cdf(-1e3), -500007.826694812184, 1e-15);
    check_near("log_cdf", -1e6, normal_log_cdf(-1e6), -500000000014.73444909, 1e-15);
}

TEST(the_scaled_error_function_neither_under_nor_overflows)
{
    static const double rows[][2] = {
        {-5, 144009798674.66104},     {-1, 5.00898008076228347},     {0, 1},
        {0.5, 0.615690344192925875},  {2, 0.255395676310505744},     {9.8, 0.0572752084725718486},
        {9.9, 0.0567024569388322703}, {10, 0.0561409927438225859},   {26, 0.0216835848505629066},
        {100, 0.0056416137829894329}, {1e8, 5.64189583547756259e-9},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_near("erf_scaled", rows[i][0], erf_scaled(rows[i][0]), rows[i][1], 2e-15);
    assert_true(erf_scaled(1e300) > 0);
    assert_true(erf_scaled(INFINITY) == 0);
}

TEST(log_expected_improvement_and_its_slope_hold_from_far_below_to_far_above)
{
    static const double rows[][3] = {
        {-1e6, -500000000028.54996, 1000000.000002},
        {-1000, -500014.734452091158, 1000.00199999400004},
        {-100, -5010.12957880024979, 100.019994004195865},
        {-30, -457.724653760598004, 30.0664461541624189},
        {-14.5, -111.406274147488524, 14.6360255546406351},
        {-14, -104.212094750213809, 14.1407449472798906},
        {-13.5, -97.2654735467592461, 13.6457984102653234},
        {-6, -22.5788793921697974, 6.30984077320983158},
        {-1.5, -3.52993592080570985, 2.27958069415644616},
        {-1, -2.48512102571264134, 1.90427123332969182},
        {-0.9, -2.29828298945965173, 1.83269980492122724},
        {0, -0.918938533204672742, 1.25331413731550025},
        {1, 0.08002621884930694, 0.77663872520173926},
        {5, 1.60943792312643139, 0.199999940531220046},
        {40, 3.6888794541139363, 0.025},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double slope, value = log_ei(rows[i][0], &slope);
        check_near("log_ei", rows[i][0], value, rows[i][1], 2e-14);
        check_near("its slope", rows[i][0], slope, rows[i][2], 2e-13);
    }
}

TEST(the_slope_of_log_ei_is_its_finite_difference)
{
    for (double z = -40; z < 8; z += 0.37) {
        double slope, unused, h = 1e-4;
        log_ei(z, &slope);
        double difference = (log_ei(z + h, &unused) - log_ei(z - h, &unused)) / (2 * h);
        check_near("difference", z, difference, slope, 1e-6);
    }
}

TEST(quantiles_are_right_to_the_last_digits)
{
    static const double rows[][2] = {
        {1e-300, -37.0470962993611992},     {1e-100, -21.2734535609653243},
        {1e-16, -8.22208221613043562},      {1e-5, -4.26489079392282461},
        {0.02425, -1.97296105131188484},    {0.2499, -0.674804470110609987},
        {0.25, -0.674489750196081743},      {0.3, -0.524400512708040816},
        {0.4999, -0.000250662830088007492}, {0.5, 0},
        {0.9, 1.28155156554460059},         {0.975, 1.95996398454005386},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_near("quantile", rows[i][0], normal_quantile(rows[i][0]), rows[i][1], 1e-15);
    assert_true(normal_quantile(0) == -INFINITY && normal_quantile(1) == INFINITY);
    assert_true(isnan(normal_quantile(-0.1)) && isnan(normal_quantile(1.1)));
    assert_true(isnan(normal_quantile(NAN)));
    assert_true(normal_quantile(5e-324) < -38 && isfinite(normal_quantile(5e-324)));
}

TEST(the_quantile_undoes_the_distribution)
{
    for (double z = -37; z <= 0; z += 0.125)
        assert_true(fabs(normal_quantile(normal_cdf(z)) - z) <= 1e-14 * fmax(1, -z));
    for (double z = 0; z <= 5; z += 0.125) /* 1 − p has fewer digits there */
        assert_true(fabs(normal_quantile(normal_cdf(z)) - z) <= 1e-9);
    for (double p = 1e-9; p < 1; p += 0.001)
        assert_true(fabs(normal_cdf(normal_quantile(p)) - p) <= 2e-15);
}

TEST(expected_improvement_agrees_with_its_logarithm_and_its_limits)
{
    for (double z = -30; z < 10; z += 0.5) {
        double slope, deviation = 3;
        check_near("EI", z, expected_improvement(1 - deviation * z, deviation, 1),
                   deviation * exp(log_ei((1 - (1 - deviation * z)) / deviation, &slope)), 1e-13);
    }
    assert_true(expected_improvement(2, 0, 5) == 3);
    assert_true(expected_improvement(5, 0, 2) == 0);
    assert_true(expected_improvement(1e300, 1e-300, 0) == 0);
}

TEST(nothing_finite_gives_what_is_not_finite)
{
    static const double far[] = {1e100, 1e160, 1e300, DBL_MAX};
    for (size_t i = 0; i < ARRAY_LEN(far); i++) {
        double slope;
        assert_true(isfinite(normal_log_cdf(-far[i])) && isfinite(normal_log_cdf(far[i])));
        assert_true(isfinite(log_ei(-far[i], &slope)) && isfinite(slope));
        assert_true(isfinite(log_ei(far[i], &slope)) && isfinite(slope));
    }
}

TEST(what_is_no_number_stays_none)
{
    double slope;
    assert_true(isnan(normal_cdf(NAN)) && isnan(normal_log_cdf(NAN)) && isnan(normal_pdf(NAN)));
    assert_true(isnan(log_ei(NAN, &slope)) && isnan(slope));
}

TEST_MAIN
