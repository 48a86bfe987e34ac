/* SPDX-License-Identifier: MIT */
/*
 * sched_test.c — nothing is given twice, nothing is lost, nobody waits for ever.
 */
#include "sched/sched.h"
#include "base/clock.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct machine machine_of(double cpus, uint64_t mem_bytes, int gpus)
{
    struct machine machine = {
        .name = xstrdup("box"), .cpus = cpus, .mem_bytes = mem_bytes, .n_gpus = gpus};
    for (int i = 0; i < gpus; i++)
        machine.gpu_ids[i] = xasprintf("GPU-%c", 'a' + i);
    return machine;
}

/* How many trials of this demand start on the empty machine. */
static int capacity(double machine_cpus, double cpus)
{
    struct machine machine = machine_of(machine_cpus, 0, 0);
    struct demand demand = {.cpus = cpus};
    struct grant grant;
    int n = 0;
    while (n < 10000 && machine_take(&machine, &demand, &grant))
        n++;
    machine_release(&machine);
    return n;
}

TEST(fractions_of_cpus_fill_the_machine_exactly)
{
    assert_int_equal(capacity(1, 0.1), 10);
    assert_int_equal(capacity(1, 1.0 / 3), 3);
    assert_int_equal(capacity(1, 0.3333334), 3);
    assert_int_equal(capacity(64, 2.0 / 3), 96);
    assert_int_equal(capacity(2, 0.7), 2);
    assert_int_equal(capacity(8, 1), 8);
    assert_int_equal(capacity(2, 0.001), 2001); /* the slack */
    assert_int_equal(capacity(2, 3), 0);
}

TEST(a_thousand_takes_and_gives_leave_nothing_behind)
{
    struct machine machine = machine_of(7, 1000, 3);
    struct grant grants[64];
    struct rng rng;
    size_t n = 0;
    rng_init(&rng, 3, 0);
    for (int i = 0; i < 5000; i++) {
        struct demand demand = {rng_unit(&rng), rng_below(&rng, 200), (int)rng_below(&rng, 2)};
        if (n < ARRAY_LEN(grants) && rng_chance(&rng, 0.6)) {
            n += machine_take(&machine, &demand, &grants[n]);
        } else if (n > 0) {
            size_t k = rng_below(&rng, n);
            machine_give(&machine, &grants[k]);
            grants[k] = grants[--n];
        }
        assert_true(machine.cpus_used <= 7.001 && machine.mem_used <= 1000);
    }
    while (n > 0)
        machine_give(&machine, &grants[--n]);
    assert_true(machine.cpus_used == 0);
    assert_int_equal(machine.mem_used, 0);
    for (int i = 0; i < 3; i++)
        assert_false(machine.gpu_used[i]);
    machine_release(&machine);
}

TEST(trials_get_distinct_devices)
{
    autorelease(str) struct str first = STR_INIT, second = STR_INIT, third = STR_INIT;
    struct machine machine = machine_of(8, 0, 4);
    struct demand one = {.gpus = 1}, two = {.gpus = 2};
    struct grant a, b, c;
    assert_true(machine_take(&machine, &one, &a));
    assert_true(machine_take(&machine, &two, &b));
    assert_false(machine_take(&machine, &two, &c));
    grant_gpus(&machine, &a, &first);
    grant_gpus(&machine, &b, &second);
    assert_string_equal(first.s, "GPU-a");
    assert_string_equal(second.s, "GPU-b,GPU-c");
    machine_give(&machine, &a);
    assert_true(machine_take(&machine, &two, &c));
    grant_gpus(&machine, &c, &third);
    assert_string_equal(third.s, "GPU-a,GPU-d");
    machine_release(&machine);
}

TEST(no_devices_are_named_when_none_were_asked_for)
{
    autorelease(str) struct str text = STR_INIT;
    struct machine machine = machine_of(1, 0, 2);
    struct demand demand = {.cpus = 1};
    struct grant grant;
    assert_true(machine_take(&machine, &demand, &grant));
    grant_gpus(&machine, &grant, &text);
    assert_string_equal(text.s, "");
    machine_release(&machine);
}

TEST(the_last_of_64_devices_can_be_had)
{
    struct machine machine = machine_of(1, 0, MACHINE_GPUS);
    struct demand demand = {.gpus = MACHINE_GPUS};
    struct grant grant;
    assert_true(machine_take(&machine, &demand, &grant));
    assert_true(grant.gpu_mask == UINT64_MAX);
    machine_give(&machine, &grant);
    assert_false(machine.gpu_used[63]);
    machine_release(&machine);
}

static void check_can(struct demand demand, int expect, const char *sentence)
{
    struct err err = ERR_INIT;
    struct machine machine = machine_of(2, 1024 << 20, 1);
    machine.cpus_used = 2; /* what is in use does not matter */
    assert_int_equal(machine_can(&machine, &demand, &err), expect);
    assert_string_equal(err_text(&err), sentence);
    machine_release(&machine);
    err_release(&err);
}

TEST(what_the_machine_never_has_is_said)
{
    check_can((struct demand){2, 1024 << 20, 1}, 0, "");
    check_can((struct demand){4, 0, 0}, -ERANGE, "a trial takes 4 cpus, box has 2");
    check_can((struct demand){1, 2048LL << 20, 0}, -ERANGE,
              "a trial takes 2048 MiB of memory, box has 1024 MiB");
    check_can((struct demand){1, 0, 2}, -ERANGE, "a trial takes 2 GPUs, box has 1");
}

TEST(the_experiment_with_the_least_cpus_in_use_is_next)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1}, .running = 3, .wanted = 9},
        {.experiment = 2, .demand = {.cpus = 2}, .running = 1, .wanted = 9},
        {.experiment = 3, .demand = {.cpus = 1}, .running = 0, .wanted = 0},
    };
    assert_int_equal(sched_next(&machine, claims, 3), 1);
    claims[2].wanted = 1;
    assert_int_equal(sched_next(&machine, claims, 3), 2);
    machine_release(&machine);
}

TEST(at_a_tie_the_older_experiment_is_next)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 5, .demand = {.cpus = 1}, .running = 2, .wanted = 1},
        {.experiment = 4, .demand = {.cpus = 2}, .running = 1, .wanted = 1},
    };
    assert_int_equal(sched_next(&machine, claims, 2), 1);
    machine_release(&machine);
}

TEST(a_higher_priority_is_served_first_whatever_it_has)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1}, .wanted = 1},
        {.experiment = 2, .demand = {.cpus = 1}, .running = 5, .wanted = 1, .priority = 3},
        {.experiment = 3, .demand = {.cpus = 1}, .wanted = 1, .priority = -3},
    };
    sched_share(claims, 3);
    assert_int_equal(sched_next(&machine, claims, 3), 1);
    claims[1].wanted = 0;
    assert_int_equal(sched_next(&machine, claims, 3), 0);
    claims[0].wanted = 0;
    assert_int_equal(sched_next(&machine, claims, 3), 2);
    machine_release(&machine);
}

/* Ann has three experiments, Bob one: he gets as much as she. */
TEST(users_share_evenly_however_many_experiments_they_have)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1}, .wanted = 9, .user = 0},
        {.experiment = 2, .demand = {.cpus = 1}, .wanted = 9, .user = 0},
        {.experiment = 3, .demand = {.cpus = 1}, .wanted = 9, .user = 0},
        {.experiment = 4, .demand = {.cpus = 1}, .wanted = 9, .user = 7},
    };
    struct grant grant;
    ptrdiff_t i;
    sched_share(claims, 4);
    while ((i = sched_next(&machine, claims, 4)) >= 0) {
        assert_true(machine_take(&machine, &claims[i].demand, &grant));
        claims[i].running++;
        sched_share(claims, 4);
    }
    assert_int_equal(claims[3].running, 4);
    assert_int_equal(claims[0].running, 2);
    assert_int_equal(claims[1].running + claims[2].running, 2);
    machine_release(&machine);
}

TEST(the_head_of_the_queue_is_not_overtaken_by_lower_priorities)
{
    struct machine machine = machine_of(4, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1}, .running = 2, .wanted = 9},
        {.experiment = 2, .demand = {.cpus = 4}, .wanted = 1, .priority = 1, .user = 1},
    };
    struct demand one = {.cpus = 1};
    struct grant first, second;
    assert_true(machine_take(&machine, &one, &first) && machine_take(&machine, &one, &second));
    sched_share(claims, 2);
    assert_int_equal(sched_next(&machine, claims, 2), -1); /* two cpus are free, and kept so */
    machine_give(&machine, &first);
    machine_give(&machine, &second);
    claims[0].running = 0;
    sched_share(claims, 2);
    assert_int_equal(sched_next(&machine, claims, 2), 1);
    machine_release(&machine);
}

TEST(the_order_of_service_is_total)
{
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1}, .running = 2},
        {.experiment = 2, .demand = {.cpus = 1}, .running = 2, .user = 1},
        {.experiment = 3, .user = 1},
        {.experiment = 4, .running = 1, .user = 2},
        {.experiment = 5, .demand = {.cpus = 0.5}, .running = 4, .priority = 100, .user = 2},
        {.experiment = 6, .demand = {.cpus = 0.5}, .priority = -100},
    };
    sched_share(claims, ARRAY_LEN(claims));
    for (size_t a = 0; a < ARRAY_LEN(claims); a++)
        for (size_t b = 0; b < ARRAY_LEN(claims); b++) {
            bool either =
                sched_before(&claims[a], &claims[b]) != sched_before(&claims[b], &claims[a]);
            assert_int_equal(either, a != b);
        }
}

TEST(trials_without_cpus_are_shared_by_number)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .running = 2, .wanted = 1},
        {.experiment = 2, .running = 1, .wanted = 1},
    };
    assert_int_equal(sched_next(&machine, claims, 2), 1);
    machine_release(&machine);
}

TEST(a_large_trial_is_not_overtaken_for_ever_by_small_ones)
{
    struct machine machine = machine_of(4, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 4}, .running = 0, .wanted = 1},
        {.experiment = 2, .demand = {.cpus = 1}, .running = 4, .wanted = 100},
    };
    struct grant grants[4];
    for (int i = 0; i < 4; i++)
        assert_true(machine_take(&machine, &claims[1].demand, &grants[i]));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sched_next(&machine, claims, 2), -1);
        machine_give(&machine, &grants[i]);
        claims[1].running--;
    }
    assert_int_equal(sched_next(&machine, claims, 2), 0);
    machine_release(&machine);
}

TEST(waiting_for_a_device_does_not_idle_the_cpus)
{
    struct machine machine = machine_of(4, 0, 1);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 1, .gpus = 1}, .running = 0, .wanted = 1},
        {.experiment = 2, .demand = {.cpus = 1}, .running = 0, .wanted = 1},
    };
    machine.gpu_used[0] = true;
    assert_int_equal(sched_next(&machine, claims, 2), 1);
    machine_release(&machine);
}

TEST(what_never_fits_holds_nobody_up)
{
    struct machine machine = machine_of(2, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 4}, .running = 0, .wanted = 1},
        {.experiment = 2, .demand = {.cpus = 1}, .running = 1, .wanted = 1},
    };
    assert_int_equal(sched_next(&machine, claims, 2), 1);
    assert_int_equal(sched_next(&machine, claims, 1), -1);
    assert_int_equal(sched_next(&machine, claims, 0), -1);
    machine_release(&machine);
}

/* Two experiments, one with trials twice as wide, on a machine that is always full. */
TEST(over_time_cpus_are_shared_evenly)
{
    struct machine machine = machine_of(8, 0, 0);
    struct claim claims[] = {
        {.experiment = 1, .demand = {.cpus = 2}, .wanted = 1000},
        {.experiment = 2, .demand = {.cpus = 1}, .wanted = 1000},
    };
    struct {
        struct grant grant;
        ptrdiff_t claim;
    } running[8] = {0};
    double served[2] = {0};
    size_t n = 0;
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (int tick = 0; tick < 2000; tick++) {
        ptrdiff_t i;
        while ((i = sched_next(&machine, claims, 2)) >= 0) {
            assert_true(machine_take(&machine, &claims[i].demand, &running[n].grant));
            running[n++].claim = i;
            claims[i].running++;
        }
        for (size_t k = 0; k < n; k++)
            served[running[k].claim] += running[k].grant.demand.cpus;
        size_t end = rng_below(&rng, n);
        machine_give(&machine, &running[end].grant);
        claims[running[end].claim].running--;
        running[end] = running[--n];
    }
    assert_true(fabs(served[0] / served[1] - 1) < 0.05);
    machine_release(&machine);
}

TEST(retries_wait_twice_as_long_each_time_up_to_a_minute)
{
    struct rng rng;
    rng_init(&rng, 1, 0);
    static const int64_t seconds[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++)
        for (int k = 0; k < 100; k++) {
            int64_t us = sched_backoff_us((int64_t)i + 1, &rng);
            assert_in_range(us, seconds[i] * US_PER_S * 3 / 4, seconds[i] * US_PER_S * 5 / 4);
        }
    assert_in_range(sched_backoff_us(INT64_MAX, &rng), 45 * US_PER_S, 75 * US_PER_S);
}

TEST_MAIN
