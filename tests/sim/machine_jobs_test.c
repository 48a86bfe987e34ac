/* SPDX-License-Identifier: MIT */
/*
 * machine_jobs_test.c — experiments in line: all are served, in order, in every mode.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_jobs.h"
#include "tests/test.h"

#include <math.h>

#define JOBS 120

static double mean_service(enum service_mode mode, const struct arrival *jobs, double *ret_s)
{
    autofree(workshop) struct workshop *workshop = workshop_new(mode);
    double sum = 0;

    for (size_t i = 0; i < JOBS; i++)
        sum += ret_s[i] = workshop_run(workshop, &jobs[i]);
    return sum / JOBS;
}

TEST(all_jobs_finish_in_the_order_of_their_arrival)
{
    struct arrival jobs[JOBS];
    double arrived_s[JOBS], service_s[JOBS];
    struct turn turns[JOBS];
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    arrivals_draw(jobs, JOBS, 13);
    for (enum service_mode mode = 0; mode < SERVICE_MODES; mode++) {
        double mean = mean_service(mode, jobs, service_s), free_s = 0;
        arrivals_times(arrived_s, JOBS, mean / 0.95, 13);
        queue_run(arrived_s, service_s, JOBS, turns);
        for (size_t i = 0; i < JOBS; i++) {
            double start_s = fmax(arrived_s[i], free_s); /* Lindley's recursion */
            free_s = start_s + service_s[i];
            assert_int_equal(turns[i].job, i);
            assert_true(service_s[i] > 0 && isfinite(service_s[i]));
            assert_true(turns[i].start_s == start_s && turns[i].end_s == free_s);
        }
    }
}

TEST(tuning_inside_the_trials_is_faster_than_a_poor_start_and_knowledge_than_none)
{
    struct arrival jobs[JOBS];
    double service_s[JOBS], mean[SERVICE_MODES];
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    arrivals_draw(jobs, JOBS, 5);
    for (enum service_mode mode = 0; mode < SERVICE_MODES; mode++)
        mean[mode] = mean_service(mode, jobs, service_s);
    assert_true(mean[SERVICE_PIPELINED] < 0.85 * mean[SERVICE_HYPER]);
    assert_true(mean[SERVICE_PIPELINED] < mean[SERVICE_JOINT]);
    assert_true(mean[SERVICE_KNOWING] < mean[SERVICE_PIPELINED]);
    assert_true(mean[SERVICE_OFF_RAW] > 2 * mean[SERVICE_OFF]);
}

TEST(a_job_takes_as_long_whenever_it_comes)
{
    struct arrival jobs[3];
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    arrivals_draw(jobs, 3, 1);
    autofree(workshop) struct workshop *workshop = workshop_new(SERVICE_PIPELINED);
    double first = workshop_run(workshop, &jobs[0]);
    workshop_run(workshop, &jobs[1]);
    assert_true(workshop_run(workshop, &jobs[0]) == first);
}

/* Gaps of mean 2 s: the last of 100,000 comes near 200,000 s; the line of an idle machine is empty.
 */
TEST(arrivals_are_poisson)
{
    static double arrived_s[100000];
    double squares = 0;

    arrivals_times(arrived_s, ARRAY_LEN(arrived_s), 2, 1);
    for (size_t i = 1; i < ARRAY_LEN(arrived_s); i++) {
        double gap = arrived_s[i] - arrived_s[i - 1];
        assert_true(gap >= 0);
        squares += gap * gap / (double)ARRAY_LEN(arrived_s);
    }
    assert_true(fabs(arrived_s[ARRAY_LEN(arrived_s) - 1] / 200000 - 1) < 0.02);
    assert_true(fabs(squares / 8 - 1) < 0.03);
}

TEST_MAIN
