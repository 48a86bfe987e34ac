/* SPDX-License-Identifier: MIT */
/*
 * machine_replay_test.c — made traces come back as they should: read right, tuned right.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_replay.h"
#include "tests/test.h"

#include "base/rng.h"
#include "base/str.h"

#include <math.h>
#include <unistd.h>

/* Load the text as a file. */
static int load_text(struct traces *traces, const char *text, struct err *err)
{
    char path[] = "/tmp/hone-traces-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int r = traces_load(traces, path, err);
    unlink(path);
    return r;
}

/* Two runs of 4 s of one configuration, with 5 % noise on each chunk of 20 ms. */
static void add_trace(struct str *text, const char *configuration, double step_s)
{
    struct rng rng;

    rng_init(&rng, 1, (uint64_t)(1e6 * step_s));
    for (int run = 1; run <= 2; run++) {
        str_addf(text, "made,loop,%s,%d,0,0\n", configuration, run);
        for (int i = 1; i <= 200; i++)
            str_addf(text, "made,loop,%s,%d,%d,%.6f\n", configuration, run, 4 * i,
                     4 * step_s * exp(0.05 * rng_normal(&rng)));
    }
}

TEST(a_good_start_loses_little_and_a_poor_one_is_left)
{
    struct str text = STR_INIT;
    struct traces traces = {0};
    struct err err = ERR_INIT;
    double from_best = 0, from_worst = 0;

    assert_ok(linalg_open(&err), &err);
    str_add(&text, "# made\nscene,workload,configuration,run,step,seconds\n");
    add_trace(&text, "threads=1", 0.010);
    add_trace(&text, "\"{\"\"threads\"\": 2}\"", 0.005);
    assert_ok(load_text(&traces, text.s, &err), &err);
    assert_int_equal(traces.sets.len, 1);
    const struct set *set = traces.sets.at;
    assert_int_equal(set->configurations.len, 2);
    assert_true(set->configurations.at[1].values[0] == 2);
    assert_true(fabs(set_mean(set, 0) - 0.010) < 2e-4 && fabs(set_mean(set, 1) - 0.005) < 1e-4);
    double best_s = 10000 * set_mean(set, 1);
    for (uint64_t seed = 0; seed < 10; seed++) {
        from_best += replay_job(set, 1, 10000, 0.1, seed) / best_s / 10;
        from_worst += replay_job(set, 0, 10000, 0.1, seed) / best_s / 10;
    }
    assert_true(from_best >= 1 && from_best < 1.03);
    assert_true(from_worst > from_best && from_worst < 1.15); /* staying would be 2 */
    assert_true(replay_job(set, 0, 500, 0.1, 3) == replay_job(set, 0, 500, 0.1, 3));
    traces_release(&traces);
    str_release(&text);
}

TEST(what_another_workload_taught_wrongly_is_measured_again)
{
    struct str text = STR_INIT;
    struct traces traces = {0};
    struct err err = ERR_INIT;
    struct workload wrong;
    double loss = 0, alike = 0;

    assert_ok(linalg_open(&err), &err);
    str_add(&text, "scene,workload,configuration,run,step,seconds\n");
    add_trace(&text, "threads=1", 0.010);
    add_trace(&text, "threads=2", 0.005);
    assert_ok(load_text(&traces, text.s, &err), &err);
    const struct set *set = traces.sets.at;
    set_workload(set, &wrong);
    assert_int_equal(wrong.configurations.len, 2);
    wrong.configurations.at[0].ln_effect -= 2; /* one thread were better by far */
    wrong.identity[0] = wrong.identity[0] == 'a' ? 'b' : 'a';
    struct replay_knowledge profile = {&wrong, 0.8}, response = {&wrong, 0};
    for (uint64_t seed = 0; seed < 10; seed++) {
        double without = replay_job(set, 0, 10000, 0.1, seed);
        loss += replay_job_known(set, 0, 10000, 0.1, seed, &profile) / without / 10;
        alike += replay_job_known(set, 0, 10000, 0.1, seed, &response) / without / 10;
    }
    assert_true(loss < 1.1);
    assert_true(fabs(alike - 1) < 1e-9); /* it does not answer alike */
    workload_release(&wrong);
    traces_release(&traces);
    str_release(&text);
}

static void check_refused(const char *text, const char *sentence)
{
    struct traces traces = {0};
    struct err err = ERR_INIT;

    assert_true(load_text(&traces, text, &err) < 0);
    assert_non_null(strstr(err_text(&err), sentence));
    err_release(&err);
    traces_release(&traces);
}

TEST(what_is_no_trace_is_said_in_a_sentence)
{
    struct traces traces = {0};
    struct err err = ERR_INIT;

    check_refused("a,b,threads=1,1,2\n", ":1: a row has 6 fields");
    check_refused("a,b,fast,1,2,3\n", "'fast' is no configuration");
    check_refused("a,b,,1,2,3\n", "'' is no configuration");
    check_refused("a,b,threads=1,1,2,0\na,b,cpus=1,1,2,0\n", ":2: 'cpus=1': other parameters");
    check_refused("a,b,threads=1,1,2,0\n", "run 1 has no steps");
    check_refused("a,b,threads=1,1,2,0\na,b,threads=1,1,1,nan\n", "run 1 has no steps");
    assert_true(traces_load(&traces, "/nonexistent", &err) < 0);
    assert_non_null(strstr(err_text(&err), "/nonexistent"));
    err_release(&err);
    traces_release(&traces);
}

TEST_MAIN
