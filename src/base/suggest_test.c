/* SPDX-License-Identifier: MIT */
/*
 * suggest_test.c — near misses are found, far ones are not.
 */
#include "base/suggest.h"
#include "tests/test.h"

static const char *const names[] = {"params", "command", "search.trials", "search.parallel", "env"};

#define SUGGEST(typed) suggest(typed, names, ARRAY_LEN(names))

TEST(distance_counts_edits)
{
    assert_int_equal(edit_distance("abc", "abc", 9), 0);
    assert_int_equal(edit_distance("abc", "abd", 9), 1);
    assert_int_equal(edit_distance("abc", "acb", 9), 1);
    assert_int_equal(edit_distance("", "abc", 9), 3);
    assert_int_equal(edit_distance("kitten", "sitting", 9), 3);
    assert_int_equal(edit_distance("kitten", "sitting", 1), 2);
}

TEST(near_misses_are_found)
{
    assert_string_equal(SUGGEST("parms"), "params");
    assert_string_equal(SUGGEST("comand"), "command");
    assert_string_equal(SUGGEST("search.paralel"), "search.parallel");
    assert_string_equal(SUGGEST("evn"), "env");
}

TEST(another_case_is_one_edit)
{
    static const char *const metrics[] = {"LOSS", "los", "X"};

    assert_string_equal(SUGGEST("PARAMS"), "params");
    assert_string_equal(suggest("loss", metrics, 1), "LOSS");
    assert_string_equal(suggest("loss", metrics, 3), "LOSS");
    assert_string_equal(suggest("x", metrics, 3), "X");
}

TEST(far_ones_are_not)
{
    assert_null(SUGGEST("banana"));
    assert_null(SUGGEST(""));
    assert_null(SUGGEST("x"));
    assert_null(suggest("params", NULL, 0));
}

TEST(very_long_names_are_compared_by_equality)
{
    char a[200], b[200];

    memset(a, 'a', sizeof(a) - 1);
    memset(b, 'a', sizeof(b) - 1);
    a[199] = b[199] = '\0';
    assert_int_equal(edit_distance(a, b, 3), 0);
    b[0] = 'b';
    assert_int_equal(edit_distance(a, b, 3), 4);
}

TEST_MAIN
