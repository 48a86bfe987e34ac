/* SPDX-License-Identifier: MIT */
/*
 * rows_text_test.c — what is written quickly is what would have been written anyway.
 */
#include "api/rows_text.h"
#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

TEST(digits_are_those_of_printf)
{
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t x = i < 2 ? INT64_MAX * i : hash_u64(i) >> (1 + i % 63);
        char quick[24], plain[24];

        *digits_put(quick, x) = '\0';
        snprintf(plain, sizeof(plain), "%llu", (unsigned long long)x);
        assert_string_equal(quick, plain);
        *hex_put(quick, ~x) = '\0';
        snprintf(plain, sizeof(plain), "%016llx", (unsigned long long)~x);
        assert_string_equal(quick, plain);
    }
}

TEST(members_are_those_of_the_plain_writer)
{
    autorelease(str) struct str quick = STR_INIT, plain = STR_INIT;
    struct json_out a = JSON_OUT(&quick), b = JSON_OUT(&plain);

    json_begin_object(&a);
    ROWS_PUT(&a, int, "first", 1);
    ROWS_PUT(&a, text, "second", "a \"b\"");
    ROWS_PUT(&a, known, "third", NAN);
    ROWS_PUT(&a, known, "fourth", 0.1);
    ROWS_KEY(&a, "list");
    json_begin_array(&a);
    json_end_array(&a);
    ROWS_PUT(&a, time, "time", 1000000);
    ROWS_PUT(&a, bool, "last", true);
    json_end_object(&a);
    json_begin_object(&b);
    json_put_int(&b, "first", 1);
    json_put_text(&b, "second", "a \"b\"");
    json_put_known(&b, "third", NAN);
    json_put_known(&b, "fourth", 0.1);
    json_key(&b, "list");
    json_begin_array(&b);
    json_end_array(&b);
    json_put_time(&b, "time", 1000000);
    json_put_bool(&b, "last", true);
    json_end_object(&b);
    assert_string_equal(quick.s, plain.s);
}

TEST_MAIN
