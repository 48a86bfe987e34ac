/* SPDX-License-Identifier: MIT */
#include "tune/remaining.h"

#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

#define N 200

/* A curve that is known beforehand, and what is seen of it. */
struct known {
    double ages[N], values[N];
};

static double power_law(double age)
{
    return 0.2 + 2 / sqrt(age);
}

static double decay(double age)
{
    return 0.1 + exp(-age / 40);
}

static void fill(struct known *known, double (*law)(double))
{
    for (size_t i = 0; i < N; i++) {
        known->ages[i] = (double)(i + 1);
        known->values[i] = law(known->ages[i]);
    }
}

static struct curve_points first(const struct known *known, size_t n)
{
    return (struct curve_points){known->ages, known->values, n};
}

static struct remaining ask(const struct curve_points *ended, size_t n, struct target target,
                            double horizon, struct curve_points mine)
{
    struct remaining left;
    autofree(remaining_model) struct remaining_model *model =
        remaining_model_new(ended, n, &target, horizon);
    assert_true(remaining_to_target(model, &mine, &left));
    assert_true(left.chance >= 0 && left.chance <= 1);
    if (left.chance > 0)
        assert_true(left.low >= 0 && left.low <= left.middle && left.middle <= left.high);
    return left;
}

static bool says_something(struct target target, size_t n_ended, struct curve_points mine)
{
    struct known known;
    struct remaining left;
    fill(&known, decay);
    struct curve_points ended[2] = {first(&known, N), first(&known, N)};
    autofree(remaining_model) struct remaining_model *model =
        remaining_model_new(ended, n_ended, &target, N);
    return remaining_to_target(model, &mine, &left);
}

static void check_foretells(double (*law)(double), double until)
{
    struct known known;
    fill(&known, law);
    struct target target = {.value = law(until)};
    struct remaining left = ask(NULL, 0, target, 400, first(&known, 50));
    double truth = until - 50;
    assert_true(remaining_is_sure(&left));
    assert_true(fabs(log(left.middle / truth)) < 0.25);
    assert_true(left.low < truth && truth < left.high);
}

TEST(a_power_law_and_a_decay_are_foretold_without_any_ended_curve)
{
    check_foretells(power_law, 75);
    check_foretells(decay, 80);
}

TEST(what_is_left_counts_from_now_and_shrinks_as_it_comes_nearer)
{
    struct known known;
    fill(&known, power_law);
    struct target target = {.value = power_law(100)};
    double before = INFINITY;
    for (size_t seen = 20; seen < 100; seen += 10) {
        struct remaining left = ask(NULL, 0, target, 400, first(&known, seen));
        assert_true(left.middle < before);
        before = left.middle;
    }
    assert_true(before < 15); /* 10 are left, though 90 were done */
}

/* An attempt that begins at step 1000 has not learned for 1000 steps less. */
TEST(only_ages_matter_not_where_the_seen_part_begins)
{
    struct known known;
    fill(&known, power_law);
    struct target target = {.value = power_law(130)};
    struct curve_points later = {known.ages + 60, known.values + 60, 40};
    struct remaining a = ask(NULL, 0, target, 400, first(&known, 100));
    struct remaining b = ask(NULL, 0, target, 400, later);
    assert_true(fabs(log(a.middle / b.middle)) < 0.15);
}

TEST(a_target_that_is_met_already_leaves_nothing)
{
    struct known known;
    fill(&known, decay);
    struct remaining left = ask(NULL, 0, (struct target){.value = 5}, N, first(&known, 10));
    assert_true(left.chance == 1 && left.middle == 0 && left.high == 0);
    left = ask(NULL, 0, (struct target){.value = known.values[9]}, N, first(&known, 10));
    assert_true(left.chance == 1 && left.middle == 0);
}

TEST(an_accuracy_is_a_loss_upside_down)
{
    struct known loss, accuracy;
    fill(&loss, decay);
    fill(&accuracy, decay);
    for (size_t i = 0; i < N; i++)
        accuracy.values[i] = -accuracy.values[i];
    struct target below = {.value = decay(90)}, above = {.value = -decay(90), .above = true};
    struct curve_points ended = first(&loss, N), ended_above = first(&accuracy, N);
    struct remaining a = ask(&ended, 1, below, N, first(&loss, 40));
    struct remaining b = ask(&ended_above, 1, above, N, first(&accuracy, 40));
    assert_true(a.chance == b.chance && a.middle == b.middle && a.low == b.low && a.high == b.high);
}

TEST(values_in_other_units_change_nothing)
{
    struct known known, scaled;
    fill(&known, decay);
    fill(&scaled, decay);
    for (size_t i = 0; i < N; i++)
        scaled.values[i] = 1e6 * known.values[i] + 7e6;
    struct remaining a = ask(NULL, 0, (struct target){.value = decay(90)}, N, first(&known, 40));
    struct remaining b =
        ask(NULL, 0, (struct target){.value = 1e6 * decay(90) + 7e6}, N, first(&scaled, 40));
    assert_true(fabs(a.middle - b.middle) < 1e-3 * a.middle);
}

TEST(a_target_below_where_the_curve_settles_is_not_promised)
{
    struct known known;
    fill(&known, decay);
    struct remaining left = ask(NULL, 0, (struct target){.value = 0.05}, 400, first(&known, N));
    assert_false(remaining_is_sure(&left));
    left = ask(NULL, 0, (struct target){.value = -10}, 400, first(&known, 60));
    assert_true(left.chance < 0.2);
}

TEST(nothing_is_promised_beyond_the_horizon)
{
    struct known known;
    fill(&known, power_law);
    struct target target = {.value = power_law(75)};
    struct remaining far = ask(NULL, 0, target, 400, first(&known, 50));
    struct remaining near = ask(NULL, 0, target, 55, first(&known, 50));
    assert_true(remaining_is_sure(&far));
    assert_true(near.chance < 0.2);
    near = ask(NULL, 0, target, 50, first(&known, 50));
    assert_true(near.chance == 0 && isnan(near.middle));
}

/* A plateau and then a second descent: nothing in the seen part tells of it. */
static double two_steps(double age)
{
    return 1 + exp(-age / 5) - 0.8 / (1 + exp((90 - age) / 3));
}

TEST(ended_curves_of_the_experiment_tell_what_the_families_cannot)
{
    struct known known;
    struct curve_points ended[6];
    fill(&known, two_steps);
    for (size_t i = 0; i < ARRAY_LEN(ended); i++)
        ended[i] = first(&known, N);
    struct target target = {.value = 0.6};
    struct remaining alone = ask(NULL, 0, target, N, first(&known, 50));
    struct remaining taught = ask(ended, ARRAY_LEN(ended), target, N, first(&known, 50));
    assert_true(alone.chance < 0.2);
    assert_true(taught.chance > alone.chance + 0.3);
    assert_true(fabs(taught.middle - 40) < 8);
}

TEST(one_epoch_is_enough_when_others_have_ended)
{
    struct known known;
    fill(&known, decay);
    struct curve_points ended[2] = {first(&known, N), first(&known, N)};
    struct remaining left = ask(ended, 2, (struct target){.value = decay(30)}, N, first(&known, 1));
    assert_true(left.chance > 0.5 && left.middle > 15 && left.middle < 60);
}

TEST(with_too_little_nothing_is_said)
{
    struct known known;
    struct target target = {.value = 0.2};
    fill(&known, decay);
    assert_false(says_something(target, 0, first(&known, 0)));
    assert_false(says_something(target, 2, first(&known, 0)));
    assert_false(says_something(target, 0, first(&known, 1)));
    assert_false(says_something(target, 0, first(&known, 2)));
    assert_true(says_something(target, 0, first(&known, 3)));
    assert_true(says_something(target, 2, first(&known, 1)));
    assert_false(says_something((struct target){.value = NAN}, 2, first(&known, 20)));
}

TEST(a_constant_curve_reaches_nothing)
{
    double ages[20], values[20];
    for (size_t i = 0; i < 20; i++) {
        ages[i] = (double)i + 1;
        values[i] = 3;
    }
    struct remaining left =
        ask(NULL, 0, (struct target){.value = 2}, 100, (struct curve_points){ages, values, 20});
    assert_true(left.chance == 0 && isnan(left.middle));
}

TEST(nan_and_infinity_in_a_curve_are_skipped)
{
    struct known known, holes;
    double ages[N + 3], values[N + 3];
    fill(&known, decay);
    fill(&holes, decay);
    for (size_t i = 0, k = 0; i < N; i++) {
        if (i == 7 || i == 20 || i == 49) {
            ages[k] = i + 0.5;
            values[k++] = i == 7 ? NAN : i == 20 ? INFINITY : -INFINITY;
        }
        ages[k] = known.ages[i];
        values[k++] = known.values[i];
    }
    struct target target = {.value = decay(90)};
    struct remaining a = ask(NULL, 0, target, N, first(&known, 50));
    struct remaining b = ask(NULL, 0, target, N, (struct curve_points){ages, values, 53});
    assert_true(a.middle == b.middle && a.chance == b.chance);
}

TEST(after_a_step_back_the_later_points_count)
{
    struct known known;
    double ages[70], values[70];
    fill(&known, decay);
    for (size_t i = 0; i < 70; i++) { /* 1 … 40, then again from 31 */
        size_t at = i < 40 ? i : i - 10;
        ages[i] = known.ages[at];
        values[i] = known.values[at] + (i >= 30 && i < 40 ? 0.5 : 0);
    }
    struct target target = {.value = decay(90)};
    struct remaining a = ask(NULL, 0, target, N, first(&known, 60));
    struct remaining b = ask(NULL, 0, target, N, (struct curve_points){ages, values, 70});
    assert_true(a.middle == b.middle && a.chance == b.chance);
}

TEST(an_ended_curve_that_exploded_spoils_nothing)
{
    struct known known, exploded;
    struct curve_points ended[5];
    fill(&known, decay);
    fill(&exploded, decay);
    for (size_t i = 30; i < N; i++)
        exploded.values[i] = i % 2 ? 1e300 : -1e300;
    for (size_t i = 0; i < 5; i++)
        ended[i] = first(i == 4 ? &exploded : &known, N);
    struct target target = {.value = decay(90)};
    struct remaining a = ask(ended, 4, target, N, first(&known, 40));
    struct remaining b = ask(ended, 5, target, N, first(&known, 40));
    assert_true(fabs(a.chance - b.chance) < 0.05);
    assert_true(fabs(log(a.middle / b.middle)) < 0.05 && fabs(log(b.middle / 50)) < 0.1);
}

TEST(noise_costs_width_but_not_the_answer)
{
    struct rng rng;
    size_t held = 0, runs = 60;
    for (size_t run = 0; run < runs; run++) {
        struct known known;
        fill(&known, power_law);
        rng_init(&rng, 7, run);
        for (size_t i = 0; i < N; i++)
            known.values[i] += 0.01 * rng_normal(&rng);
        struct target target = {.value = power_law(120), .average = 5};
        struct remaining left = ask(NULL, 0, target, 400, first(&known, 60));
        held += left.chance > 0 && left.low < 62 && left.high > 62; /* the mean lags by 2 */
    }
    assert_true(held >= runs * 3 / 5);
}

TEST(long_curves_are_thinned_and_say_the_same)
{
    size_t n = 100000;
    autofree(mem) double *ages = xcalloc(2 * n, sizeof(*ages));
    double *values = ages + n;
    for (size_t i = 0; i < n; i++) {
        ages[i] = (double)(i + 1);
        values[i] = decay(ages[i] / 1000);
    }
    struct target target = {.value = decay(90), .average = 50};
    struct remaining left = ask(NULL, 0, target, 2e5, (struct curve_points){ages, values, n / 2});
    assert_true(fabs(log(left.middle / 40000)) < 0.25);
}

TEST(rubbish_gets_a_sane_answer)
{
    static const double odd[] = {NAN,    INFINITY, -INFINITY, 0,     -1, 1e308, -1e308,
                                 1e-308, 1,        2,         1e100, 3,  0.5};
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (size_t run = 0; run < 2000; run++) {
        double ages[12], values[12], other_ages[12], others[12];
        for (size_t i = 0; i < 12; i++) {
            ages[i] = odd[rng_below(&rng, ARRAY_LEN(odd))];
            values[i] = odd[rng_below(&rng, ARRAY_LEN(odd))];
            other_ages[i] = (double)i * odd[rng_below(&rng, ARRAY_LEN(odd))];
            others[i] = odd[rng_below(&rng, ARRAY_LEN(odd))];
        }
        struct curve_points ended = {other_ages, others, rng_below(&rng, 13)};
        struct curve_points mine = {ages, values, rng_below(&rng, 13)};
        struct target target = {odd[rng_below(&rng, ARRAY_LEN(odd))], rng_chance(&rng, 0.5),
                                rng_below(&rng, 4)};
        struct remaining left;
        autofree(remaining_model) struct remaining_model *model = remaining_model_new(
            &ended, rng_below(&rng, 2), &target, odd[rng_below(&rng, ARRAY_LEN(odd))]);
        remaining_to_target(model, &mine, &left);
        assert_true(left.chance >= 0 && left.chance <= 1);
        assert_true(left.chance == 0
                        ? isnan(left.middle)
                        : 0 <= left.low && left.low <= left.middle && left.middle <= left.high);
    }
}

/* --- reached, workers --- */

TEST(the_mean_of_the_last_values_decides_what_is_reached)
{
    const double loss[] = {3, 1, 3, 1, 1, 1};
    struct target at_once = {.value = 1}, slowly = {.value = 1, .average = 3};
    assert_true(target_is_reached(&at_once, loss, 2));
    assert_false(target_is_reached(&slowly, loss, 5));
    assert_true(target_is_reached(&slowly, loss, 6));
    assert_false(target_is_reached(&(struct target){.value = 9, .average = 3}, loss, 2));
    assert_true(target_is_reached(&(struct target){.value = 2, .above = true}, loss, 3));
    assert_false(target_is_reached(&(struct target){.value = 2, .above = true}, loss, 4));
    assert_false(target_is_reached(&at_once, loss, 0));
    assert_false(target_is_reached(&(struct target){.value = NAN}, loss, 6));
    assert_true(target_is_reached(&at_once, (double[]){1, NAN}, 2));
}

TEST(any_most_or_all_workers_are_needed)
{
    assert_int_equal(quorum_needs(QUORUM_ANY, 20), 1);
    assert_int_equal(quorum_needs(QUORUM_ALL, 20), 20);
    assert_int_equal(quorum_needs(QUORUM_MOST, 20), 18);
    assert_int_equal(quorum_needs(QUORUM_MOST, 19), 18);
    assert_int_equal(quorum_needs(QUORUM_MOST, 9), 9);
    assert_int_equal(quorum_needs(QUORUM_MOST, 1), 1);
}

TEST(the_last_worker_that_is_needed_decides)
{
    struct remaining workers[10];
    for (size_t i = 0; i < 10; i++)
        workers[i] = (struct remaining){0.9, (double)(10 - i), (double)(9 - i), (double)(12 - i)};
    workers[0] = (struct remaining){0, NAN, NAN, NAN};
    struct remaining any = remaining_of_workers(QUORUM_ANY, workers, 10);
    struct remaining most = remaining_of_workers(QUORUM_MOST, workers, 10);
    struct remaining all = remaining_of_workers(QUORUM_ALL, workers, 10);
    assert_true(any.middle == 1 && any.chance == 0.9);
    assert_true(most.middle == 9 && most.chance == 0.9);
    assert_true(all.chance == 0 && isnan(all.middle));
    assert_true(remaining_of_workers(QUORUM_ANY, NULL, 0).chance == 0);
}

/* --- known length --- */

TEST(steps_left_times_total_time_over_total_progress)
{
    const struct pace_window windows[] = {{10, 2}, {10, 3}, {0, 5}, {NAN, 1}, {-4, 1}, {3, 0}};
    struct pace pace;
    assert_true(pace_init(&pace, windows, ARRAY_LEN(windows)));
    assert_int_equal(pace.n, 3);
    struct remaining left = remaining_of_length(40, &pace);
    assert_true(fabs(left.middle - 20) < 1e-9);
    assert_true(left.chance == 1 && left.low < 20 && left.high > 20);
}

TEST(windows_without_progress_tell_no_pace)
{
    struct pace pace;
    assert_false(pace_init(&pace, NULL, 0));
    assert_false(pace_init(&pace, (struct pace_window[]){{0, 2}, {0, 3}}, 2));
    assert_false(pace_init(&pace, (struct pace_window[]){{NAN, NAN}}, 1));
}

TEST(a_length_that_is_over_or_unknown)
{
    struct pace pace;
    assert_true(pace_init(&pace, (struct pace_window[]){{10, 2}}, 1));
    assert_true(remaining_of_length(-3, &pace).high == 0);
    assert_true(remaining_of_length(-3, &pace).chance == 1);
    assert_true(remaining_of_length(NAN, &pace).chance == 0);
    assert_true(remaining_of_length(INFINITY, &pace).chance == 0);
}

TEST(steady_windows_give_a_narrower_interval_than_restless_ones)
{
    struct pace_window steady[8], restless[8];
    struct pace a, b;
    for (size_t i = 0; i < 8; i++) {
        steady[i] = (struct pace_window){10, 2};
        restless[i] = (struct pace_window){10, i % 2 ? 3 : 1};
    }
    assert_true(pace_init(&a, steady, 8) && pace_init(&b, restless, 8));
    struct remaining calm = remaining_of_length(200, &a), wild = remaining_of_length(200, &b);
    assert_true(fabs(calm.middle - wild.middle) < 1e-9);
    assert_true(wild.high - wild.low > 3 * (calm.high - calm.low));
    assert_true(pace_init(&b, steady, 1));
    assert_true(pace_margin(&b, 200) > pace_margin(&a, 200));
}

TEST(eight_of_ten_intervals_of_time_hold)
{
    struct rng rng;
    size_t held = 0, runs = 2000;
    for (size_t run = 0; run < runs; run++) {
        struct pace_window windows[6];
        struct pace pace;
        double truth = 0;
        rng_init(&rng, 11, run);
        for (size_t i = 0; i < 6; i++)
            windows[i] = (struct pace_window){10, 2 * exp(0.15 * rng_normal(&rng))};
        for (size_t i = 0; i < 10; i++)
            truth += 2 * exp(0.15 * rng_normal(&rng));
        assert_true(pace_init(&pace, windows, 6));
        struct remaining left = remaining_of_length(100, &pace);
        held += truth >= left.low && truth <= left.high;
    }
    assert_in_range(held, runs * 75 / 100, runs * 88 / 100);
}

TEST(doubts_about_steps_and_pace_add_up)
{
    struct pace pace;
    struct remaining steps = {.chance = 0.9, .middle = 100, .low = 50, .high = 300}, left;
    assert_true(pace_init(&pace, (struct pace_window[]){{10, 2}, {10, 2.2}, {10, 1.8}}, 3));
    left = remaining_in_seconds(&steps, &pace);
    assert_true(left.chance == 0.9 && fabs(left.middle - 20) < 1e-9);
    assert_true(left.low < 10 && left.low > 9);
    assert_true(left.high > 60 && left.high < 64);
}

TEST(what_is_not_complete_tells_less_surely_and_joins_the_newest_window)
{
    const struct pace_window none = {0, 0}, open = {20, 1}, all = {24, 3}, short_one = {2, 0.2};
    const struct pace_window whole[] = {{10, 1}, {10, 1}};
    struct pace early, pace;

    assert_false(pace_so_far(&pace, NULL, 0, none, none));
    assert_false(pace_so_far(&pace, NULL, 0, short_one, short_one));
    assert_false(pace_so_far(&pace, NULL, 0, none, (struct pace_window){NAN, NAN}));
    assert_false(pace_so_far(&pace, NULL, 0, none, (struct pace_window){0, 60}));
    assert_true(pace_so_far(&pace, NULL, 0, none, (struct pace_window){1, 60}));
    assert_true(pace.seconds_per_step == 60);
    assert_true(pace_so_far(&early, NULL, 0, short_one, all)); /* with its slow first steps */
    assert_true(early.seconds_per_step == 3.0 / 24);
    assert_true(pace_so_far(&early, NULL, 0, open, all)); /* without them */
    assert_true(early.seconds_per_step == 0.05);
    assert_true(pace_so_far(&pace, whole, 2, none, all));
    assert_true(pace.seconds_per_step == 0.1 && pace.n == 2);
    assert_true(pace_margin(&early, 100) > 2 * pace_margin(&pace, 100));
    assert_true(pace_so_far(&pace, whole, 2, open, all));
    assert_true(pace.seconds_per_step == 3.0 / 40 && pace.n == 2);
}

TEST_MAIN
