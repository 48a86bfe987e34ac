/* SPDX-License-Identifier: MIT */
/*
 * line_write_test.c — what is written as a line is read back as it was.
 */
#include "tests/test.h"

#include "metrics/line_write.h"
#include "metrics/test_samples.h"

#include <float.h>
#include <math.h>

static struct sample sample_of(const char *metric, double value, int64_t step, int64_t time_us)
{
    return (struct sample){.metric = metric, .value = value, .step = step, .time_us = time_us};
}

static bool write_one(struct str *to, const char *metric)
{
    struct sample sample = sample_of(metric, 1, 2, 0);
    return line_write(to, &sample);
}

static void check(struct sample sample)
{
    autorelease(str) struct str line = STR_INIT, wanted = STR_INIT;

    assert_true(line_write(&line, &sample));
    collect_sample(&sample, &wanted);
    autofree(mem) char *got = samples_of(NULL, METRICS_FILE, line.s, line.len);
    assert_string_equal(got, wanted.s);
}

TEST(a_line_reads_back_as_it_was)
{
    static const char *const names[] = {"loss", "train", "metrics", "value",    "epoch",
                                        "step", "a/b.c", "x{f=2}",  "top,1=ok", "größe"};
    static const double values[] = {
        0.1, -0.0, DBL_TRUE_MIN, DBL_MAX, NAN, INFINITY, -INFINITY, 1e300, -3, 0.10000000149011612};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            check(sample_of(names[i], values[k], STEP_NONE, 0));
            check(sample_of(names[i], values[k], (int64_t)k - 3, 1700000000123456));
            check(sample_of(names[i], values[k], INT64_MAX - (int64_t)k, 0));
            check(sample_of(names[i], values[k], (INT64_C(1) << 53) + (int64_t)k, 0));
        }
}

TEST(nanoseconds_and_whole_numbers_read_back_as_they_were)
{
    struct sample sample = sample_of("n", 0x1p63, 7, 1700000000123456);

    sample.ns = 789;
    sample.rest = 1023; /* 2^63 - 1 */
    check(sample);
}

TEST(what_no_name_can_have_is_replaced)
{
    autorelease(str) struct str line = STR_INIT;

    assert_true(write_one(&line, "#a b\\\tc\n"));
    assert_string_equal(line.s, "_a_b__c_ value=1,step=2i\n");
}

TEST(names_that_cannot_be_are_not_written)
{
    autorelease(str) struct str line = STR_INIT;
    char longer[300];

    memset(longer, 'x', sizeof(longer));
    longer[256] = '\0';
    assert_false(write_one(&line, ""));
    assert_false(write_one(&line, longer));
    assert_int_equal(line.len, 0);
}

TEST_MAIN
