/* SPDX-License-Identifier: MIT */
/*
 * lever_use_test.c — the pure parts of the levers: sets of processors, what threads did between two
 * samples, when a program counts as spinning, and the environment at its start.
 */
#include "tests/test.h"

#include "exec/lever.h"
#include <errno.h>

#define MS 1000000ull

static void check_cpus(const char *text, const char *want, size_t count)
{
    autorelease(str) struct str again = STR_INIT;
    struct cpus cpus;

    assert_int_equal(cpus_parse(text, &cpus), 0);
    assert_int_equal(cpus_count(&cpus), count);
    cpus_format(&cpus, &again);
    assert_string_equal(again.s, want);
}

TEST(sets_of_processors_are_read_and_written_as_the_kernel_does)
{
    check_cpus("", "", 0);
    check_cpus("\n", "", 0);
    check_cpus("0", "0", 1);
    check_cpus("0-3,8\n", "0-3,8", 5);
    check_cpus(" 5,4,3", "3-5", 3);
    check_cpus("0-4095", "0-4095", 4096);
    check_cpus("63-64,4095", "63-64,4095", 3);
}

TEST(what_is_no_set_of_processors_is_refused_and_leaves_the_old_one)
{
    static const char *const bad[] = {"x", "1-", "-1", "3-1", "1,,2", "1,", "1 2", "0x1", "1-2-3"};
    struct cpus cpus = {{1}};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(cpus_parse(bad[i], &cpus), -EINVAL);
    assert_int_equal(cpus_parse("4096", &cpus), -ERANGE);
    assert_int_equal(cpus_parse("99999999999999999999999", &cpus), -ERANGE);
    assert_int_equal(cpus_count(&cpus), 1);
}

TEST(sets_intersect_and_unite)
{
    struct cpus a, b;

    assert_int_equal(cpus_parse("0-3,70", &a), 0);
    assert_int_equal(cpus_parse("2-70", &b), 0);
    cpus_intersect(&a, &b);
    assert_true(cpus_has(&a, 2) && cpus_has(&a, 70) && !cpus_has(&a, 0) && !cpus_has(&a, 9999));
    assert_int_equal(cpus_count(&a), 3);
    assert_false(cpus_equal(&a, &b));
    cpus_unite(&a, &b);
    assert_true(cpus_equal(&a, &b));
}

/* A second in which `n` threads run, wait for a processor and sleep so much. */
static struct lever_use use_of(const struct lever_thread *threads, size_t n)
{
    struct lever_sample before = {.at_us = 5}, after = {.at_us = 1000005};
    struct lever_use use;

    for (size_t i = 0; i < n; i++) {
        struct lever_thread began = {threads[i].tid, 77 * MS, 3 * MS, 40};
        struct lever_thread ended = {threads[i].tid, began.run_ns + threads[i].run_ns,
                                     began.wait_ns + threads[i].wait_ns,
                                     began.sleeps + threads[i].sleeps};
        vec_push(&before.threads, began);
        vec_push(&after.threads, ended);
    }
    lever_use(&before, &after, &use);
    lever_sample_release(&before);
    lever_sample_release(&after);
    return use;
}

TEST(two_threads_that_share_one_processor_without_ever_sleeping_spin)
{
    static const struct lever_thread threads[] = {{10, 500 * MS, 495 * MS, 0},
                                                  {11, 500 * MS, 495 * MS, 2},
                                                  {12, 1 * MS, 1 * MS, 90}}; /* a helper, idle */
    struct lever_use use = use_of(threads, 3);

    assert_int_equal(use.threads, 3);
    assert_int_equal(use.running, 2);
    assert_true(use.wanted_cpus > 1.98 && use.used_cpus < 1.01);
    assert_true(lever_spins(&use));
}

TEST(threads_that_sleep_at_a_barrier_do_not_spin_however_busy_they_are)
{
    static const struct lever_thread threads[] = {{10, 500 * MS, 495 * MS, 50},
                                                  {11, 500 * MS, 495 * MS, 60}};
    struct lever_use use = use_of(threads, 2);

    assert_int_equal(use.running, 2);
    assert_false(lever_spins(&use));
}

TEST(a_busy_machine_does_not_make_a_sleeping_program_look_spinning)
{
    static const struct lever_thread starved[] = {{10, 200 * MS, 790 * MS, 4},
                                                  {11, 200 * MS, 790 * MS, 4}};
    static const struct lever_thread hardly[] = {{10, 10 * MS, 985 * MS, 0},
                                                 {11, 10 * MS, 985 * MS, 0}};
    struct lever_use use = use_of(starved, 2);

    assert_true(use.sleeps_per_s > 19 && use.sleeps_per_s < 21);
    assert_false(lever_spins(&use));
    use = use_of(hardly, 2);
    assert_true(lever_spins(&use));
}

TEST(threads_with_time_to_spare_or_one_alone_do_not_spin)
{
    static const struct lever_thread spare[] = {{10, 700 * MS, 0, 0}, {11, 700 * MS, 0, 0}};
    static const struct lever_thread alone[] = {{10, 1000 * MS, 0, 0}, {11, 9 * MS, 0, 0}};
    struct lever_use use = use_of(spare, 2);

    assert_false(lever_spins(&use));
    use = use_of(alone, 2);
    assert_int_equal(use.running, 1);
    assert_false(lever_spins(&use));
    use = use_of(NULL, 0);
    assert_int_equal(use.running, 0);
    assert_false(lever_spins(&use));
}

TEST(one_thread_that_writes_the_log_does_not_hide_that_the_others_spin)
{
    static const struct lever_thread threads[] = {{10, 950 * MS, 20 * MS, 300},
                                                  {11, 980 * MS, 10 * MS, 0},
                                                  {12, 980 * MS, 10 * MS, 1},
                                                  {13, 980 * MS, 10 * MS, 0}};
    struct lever_use use = use_of(threads, 4);

    assert_true(lever_spins(&use));
}

TEST(a_thread_that_is_new_or_has_the_number_of_a_dead_one_counts_from_its_birth)
{
    struct lever_sample before = {.at_us = 0}, after = {.at_us = 1000000};
    struct lever_use use;

    vec_push(&before.threads, ((struct lever_thread){10, 9000 * MS, 0, 5}));
    vec_push(&after.threads, ((struct lever_thread){10, 300 * MS, 0, 5}));
    vec_push(&after.threads, ((struct lever_thread){11, 400 * MS, 0, 0}));
    lever_use(&before, &after, &use);
    assert_int_equal(use.running, 2);
    assert_true(use.used_cpus > 0.699 && use.used_cpus < 0.701);
    after.at_us = 50000; /* too short to tell, or a clock that went back */
    lever_use(&before, &after, &use);
    assert_int_equal(use.running, 0);
    after.at_us = -1;
    lever_use(&before, &after, &use);
    assert_int_equal(use.running, 0);
    lever_sample_release(&before);
    lever_sample_release(&after);
}

TEST(a_spinning_program_keeps_a_processor_for_each_running_thread)
{
    assert_int_equal(lever_cpus_allowed(4, 2, true), 4);
    assert_int_equal(lever_cpus_allowed(4, 6, true), 6);
    assert_int_equal(lever_cpus_allowed(4, 2, false), 2);
    assert_int_equal(lever_cpus_allowed(0, 0, true), 1);
    assert_int_equal(lever_cpus_allowed(3, 0, false), 1);
}

static void check_environment(char *const *envp, size_t cpus, const char *want)
{
    autofree(mem) char **list = lever_environment(envp, cpus);
    autorelease(str) struct str all = STR_INIT;

    for (char **at = list; *at; at++)
        str_addf(&all, "%s ", *at);
    assert_string_equal(all.s, want);
}

TEST(the_environment_asks_for_threads_that_soon_sleep_as_many_as_processors)
{
    static char *const other[] = {"PATH=/bin", "OMP_NUM_THREADSX=3", "OMP_NUM_THREADS", NULL};
    static const char *const all =
        "OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=600 KMP_BLOCKTIME=0 OMP_NUM_THREADS=2 "
        "OPENBLAS_NUM_THREADS=2 OPENBLAS_THREAD_TIMEOUT=16 MKL_NUM_THREADS=2 ";

    check_environment(NULL, 2, all);
    check_environment(other, 2, all);
    check_environment(
        NULL, 0,
        "OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=600 KMP_BLOCKTIME=0 OMP_NUM_THREADS=1 "
        "OPENBLAS_NUM_THREADS=1 OPENBLAS_THREAD_TIMEOUT=16 MKL_NUM_THREADS=1 ");
}

TEST(what_the_user_set_stays_and_is_not_overruled)
{
    static char *const threads[] = {"OMP_NUM_THREADS=3", NULL};
    static char *const active[] = {"OMP_WAIT_POLICY=active", "MKL_NUM_THREADS=", NULL};
    static char *const timeout[] = {"OMP_NUM_THREADS=3", "OPENBLAS_THREAD_TIMEOUT=26", NULL};
    static char *const spin[] = {"GOMP_SPINCOUNT=0", "OMP_NUM_THREADS=3", NULL};

    check_environment(
        threads, 8,
        "OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=600 KMP_BLOCKTIME=0 OPENBLAS_THREAD_TIMEOUT=16 ");
    check_environment(spin, 8,
                      "OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 OPENBLAS_THREAD_TIMEOUT=16 ");
    check_environment(active, 8,
                      "OMP_NUM_THREADS=8 OPENBLAS_NUM_THREADS=8 OPENBLAS_THREAD_TIMEOUT=16 ");
    check_environment(timeout, 8, "OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=600 KMP_BLOCKTIME=0 ");
}

TEST_MAIN
