/* SPDX-License-Identifier: MIT */
/*
 * v1_queue_test.c — how busy cpus were, from two looks at /proc/stat.
 */
#include "api/v1_queue.h"
#include "base/clock.h"
#include "tests/test.h"

static void check(const struct loads *loads, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    loads_json(loads, &out);
    assert_string_equal(text.s, expected);
}

TEST(the_first_look_knows_nothing_the_second_the_difference)
{
    struct loads *loads = loads_new();
    check(loads, "[]");
    loads_look(loads, "cpu  9 9 9 9\ncpu0 10 0 0 90 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\nintr 5\n",
               US_PER_S);
    check(loads, "[null,null]");
    loads_look(loads, "cpu  9 9 9 9\ncpu0 60 0 0 140 0 0 0 0\ncpu1 10 10 5 175 0 0 0 0\n",
               2 * US_PER_S);
    check(loads, "[0.5,0.25]");
    loads_free(loads);
}

TEST(waiting_for_the_disk_is_not_being_busy)
{
    struct loads *loads = loads_new();
    loads_look(loads, "cpu0 0 0 0 0 0 0 0 0\n", US_PER_S);
    loads_look(loads, "cpu0 10 0 0 60 30 0 0 0 99 99\n", 2 * US_PER_S);
    check(loads, "[0.1]");
    loads_free(loads);
}

TEST(two_looks_at_once_give_the_same_answer)
{
    struct loads *loads = loads_new();
    loads_look(loads, "cpu0 0 0 0 0\n", US_PER_S);
    loads_look(loads, "cpu0 50 0 0 50\n", 2 * US_PER_S);
    loads_look(loads, "cpu0 50 0 0 50\n", 2 * US_PER_S + 10);
    check(loads, "[0.5]");
    loads_free(loads);
}

TEST(odd_lines_and_cpus_that_come_and_go_are_survived)
{
    struct loads *loads = loads_new();
    loads_look(loads, "", US_PER_S);
    loads_look(loads, "cpu2 1 1 1 1\n\ncpux\ncpu99999999999999999999 1\ncpu-1 3\nc", 2 * US_PER_S);
    check(loads, "[null,null,null]");
    loads_look(loads, "cpu2 0 0 0 0\n", 3 * US_PER_S); /* it went backwards */
    check(loads, "[null,null,null]");
    loads_free(loads);
}

TEST_MAIN
