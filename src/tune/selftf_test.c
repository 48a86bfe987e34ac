/* SPDX-License-Identifier: MIT */
/*
 * selftf_test.c — the whole tuner against a recorded response surface: 50 configurations of
 * (workers, threads) on 36 nodes with the seconds that one training took. Each is the start once.
 *
 * The job is one unit of progress, done at 1/seconds; a window is 0.25 % of the job, seen with 5 %
 * noise; each change costs 0, 2 or 15 s. Told is the time to the end over that of the best.
 */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "tests/test.h"
#include "tune/decide.h"

#include <math.h>

#define ROWS   50
#define WINDOW 0.0025
#define NOISE  0.05

struct surface {
    double configurations[ROWS * 2], seconds[ROWS], best;
    size_t n;
};

static bool load_surface(struct surface *s)
{
    FILE *file = fopen("../shared/data/selftf/cnn_cifar10_36nodes.csv", "re");
    char line[256];

    *s = (struct surface){.best = INFINITY};
    if (!file)
        return false;
    while (s->n < ROWS && fgets(line, sizeof(line), file)) {
        double *c = &s->configurations[2 * s->n], *t = &s->seconds[s->n];
        if (sscanf(line, "%*f,%lf,%lf,%*f,%*f,%lf", &c[0], &c[1], t) != 3)
            continue;
        s->best = fmin(s->best, *t);
        s->n++;
    }
    fclose(file);
    return s->n == ROWS;
}

static double seconds_of(const struct surface *s, const double *c)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->configurations[2 * i] == c[0] && s->configurations[2 * i + 1] == c[1])
            return s->seconds[i];
    fail_msg("(%g, %g) is not in the table", c[0], c[1]);
    return NAN;
}

/* Time of a job that starts under row `start`. */
static double replay(const struct surface *s, size_t start, double cost_s, uint64_t seed)
{
    const struct knob knobs[] = {
        {.name = "workers", .min = 1, .max = 35, .restart = cost_s > 0},
        {.name = "threads", .min = 1, .max = 15, .restart = cost_s > 0},
    };
    struct decide_limits limits = {.window_s = 0, .window_steps = WINDOW};
    autofree(speed) struct speed *speed = speed_new(knobs, 2);
    autofree(decide) struct decide *d = decide_new(speed, s->configurations, s->n, &limits);
    const double *now = &s->configurations[2 * start];
    struct decision decision;
    struct rng rng;
    double elapsed = 0;

    rng_init(&rng, seed, start);
    decide_begin(d, 1, now);
    for (double done = WINDOW; done < 1 + WINDOW / 2; done += WINDOW) {
        double truth = seconds_of(s, now), seen = truth * exp(NOISE * rng_normal(&rng));
        elapsed += WINDOW * truth;
        struct decide_input input = {.now_s = elapsed,
                                     .remaining_s = (1 - done) * seen,
                                     .remaining_at_s = elapsed,
                                     .ln_seconds = log(seen),
                                     .variance = NOISE * NOISE};
        decide_on_window(d, &input, &decision);
        if (decision.kind != CHANGE_NONE) {
            elapsed += cost_s;
            speed_tell_change(speed, decision.kind, cost_s);
        }
        now = decision.to;
    }
    return elapsed;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(double cost_s, double median_goal, double high_goal)
{
    struct surface s;
    struct err err = ERR_INIT;
    double ratio[ROWS];

    if (!load_surface(&s))
        SKIP("no recorded surface here");
    assert_ok(linalg_open(&err), &err);
    for (size_t start = 0; start < ROWS; start++)
        ratio[start] = replay(&s, start, cost_s, /* seed= */ 1) / s.best;
    qsort(ratio, ROWS, sizeof(*ratio), by_value);
    double median = (ratio[24] + ratio[25]) / 2, high = ratio[47];
    printf("# change %g s: median %.3f (goal %.2f), 95th percentile %.3f (goal %.2f), worst %.3f\n",
           cost_s, median, median_goal, high, high_goal, ratio[ROWS - 1]);
    assert_true(median <= median_goal);
    assert_true(high <= high_goal);
}

TEST(free_changes_find_the_best_of_a_recorded_surface)
{
    check(0, 1.10, 1.20);
}

TEST(changes_of_two_seconds_are_paid_back)
{
    check(2, 1.12, 1.25);
}

TEST(changes_of_fifteen_seconds_are_made_only_where_they_pay)
{
    check(15, 1.30, 1.60);
}

TEST_MAIN
