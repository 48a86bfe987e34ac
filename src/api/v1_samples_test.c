/* SPDX-License-Identifier: MIT */
/*
 * v1_samples_test.c — samples as bytes and back, bit by bit.
 */
#include "api/v1_samples.h"
#include "tests/test.h"

#include <math.h>

TEST(samples_come_back_bit_by_bit)
{
    const int64_t steps[] = {0, INT64_MIN, -1, INT64_MAX, 258};
    const int64_t times_ns[] = {INT64_MIN, 1700000000123456789, 0, -7, 1};
    const double values[] = {-0.0, NAN, -INFINITY, 5e-324, 0.1};
    int64_t got_steps[5], got_times_ns[5];
    double got_values[5];
    autorelease(str) struct str bytes = STR_INIT;

    samples_put(&bytes, steps, times_ns, values, 5);
    assert_int_equal(bytes.len, 5 * SAMPLES_BYTES);
    samples_get(bytes.s, 5, got_steps, got_times_ns, got_values);
    assert_memory_equal(got_steps, steps, sizeof(steps));
    assert_memory_equal(got_times_ns, times_ns, sizeof(times_ns));
    assert_memory_equal(got_values, values, sizeof(values));
}

TEST(the_smallest_byte_comes_first)
{
    const int64_t step = 0x0102030405060708, time_ns = 2;
    const double value = 1;
    static const char expected[] = "\x08\x07\x06\x05\x04\x03\x02\x01\x02\0\0\0\0\0\0\0"
                                   "\0\0\0\0\0\0\xf0\x3f";
    autorelease(str) struct str bytes = STR_INIT;

    samples_put(&bytes, &step, &time_ns, &value, 1);
    assert_int_equal(bytes.len, SAMPLES_BYTES);
    assert_memory_equal(bytes.s, expected, SAMPLES_BYTES);
}

TEST_MAIN
