/* SPDX-License-Identifier: MIT */
/*
 * value_test.c — kinds by the core schema, equality, and JSON that keeps what was written.
 */
#include "model/value.h"
#include "tests/test.h"

#include <math.h>

static void check_kind(const char *text, enum value_kind kind, double number)
{
    struct value value = value_guess(text, false);
    if (value.kind != kind)
        fail_msg("'%s' is of kind %d, not %d", text, (int)value.kind, (int)kind);
    if (isnan(number) ? !isnan(value.number) : value.number != number)
        fail_msg("'%s' reads as %g, not %g", text, value.number, number);
    assert_string_equal(value.text, text);
    value_release(&value);
}

TEST(kinds_follow_the_core_schema)
{
    static const struct {
        const char *text;
        enum value_kind kind;
        double number;
    } rows[] = {
        {"", VALUE_NULL, 0},
        {"~", VALUE_NULL, 0},
        {"null", VALUE_NULL, 0},
        {"true", VALUE_BOOL, 1},
        {"FALSE", VALUE_BOOL, 0},
        {"tRue", VALUE_TEXT, 0},
        {"0", VALUE_INT, 0},
        {"-17", VALUE_INT, -17},
        {"+4", VALUE_INT, 4},
        {"007", VALUE_INT, 7},
        {"0x1f", VALUE_INT, 31},
        {"0o17", VALUE_INT, 15},
        {"0o8", VALUE_TEXT, 0},
        {"0x", VALUE_TEXT, 0},
        {"-0x1f", VALUE_TEXT, 0},
        {"1e-3", VALUE_FLOAT, 1e-3},
        {".5", VALUE_FLOAT, 0.5},
        {"5.", VALUE_FLOAT, 5},
        {"+.5E2", VALUE_FLOAT, 50},
        {".", VALUE_TEXT, 0},
        {"1e", VALUE_TEXT, 0},
        {"e5", VALUE_TEXT, 0},
        {".inf", VALUE_FLOAT, INFINITY},
        {"-.Inf", VALUE_FLOAT, -INFINITY},
        {".nan", VALUE_FLOAT, NAN},
        {"nan", VALUE_TEXT, 0},
        {"inf", VALUE_TEXT, 0},
        {"1_000", VALUE_TEXT, 0},
        {"1.2.3", VALUE_TEXT, 0},
        {"yes", VALUE_TEXT, 0},
        {"-", VALUE_TEXT, 0},
        {"+", VALUE_TEXT, 0},
        {"1 ", VALUE_TEXT, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_kind(rows[i].text, rows[i].kind, rows[i].number);
}

TEST(what_is_quoted_is_text)
{
    struct value value = value_guess("3", true);
    assert_int_equal(value.kind, VALUE_TEXT);
    assert_string_equal(value.text, "3");
    value_release(&value);
    assert_null(value.text);
    value_release(&value);
}

static bool texts_equal(const char *a, const char *b)
{
    struct value x = value_guess(a, false), y = value_guess(b, false);
    bool equal = value_equal(&x, &y);
    assert_int_equal(equal, value_equal(&y, &x));
    value_release(&x);
    value_release(&y);
    return equal;
}

TEST(numbers_are_equal_by_value_and_texts_by_letter)
{
    assert_true(texts_equal("1", "1.0"));
    assert_true(texts_equal("1e-3", "0.001"));
    assert_true(texts_equal(".nan", ".NaN"));
    assert_true(texts_equal("~", "null"));
    assert_true(texts_equal("true", "True"));
    assert_false(texts_equal("true", "1"));
    assert_false(texts_equal("a", "A"));
    assert_false(texts_equal("1", "2"));
    assert_false(texts_equal("9007199254740993", "9007199254740992"));
}

static void check_json(struct value value, const char *json)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    value_json(&out, &value);
    assert_string_equal(text.s, json);
    value_release(&value);
}

TEST(json_repeats_numbers_as_written_where_that_is_json)
{
    check_json(value_guess("1e-3", false), "1e-3");
    check_json(value_guess("1.0", false), "1.0");
    check_json(value_guess("-0.5E+2", false), "-0.5E+2");
    check_json(value_guess("9007199254740993", false), "9007199254740993");
    check_json(value_guess(".5", false), "0.5");
    check_json(value_guess("5.", false), "5");
    check_json(value_guess("+3", false), "3");
    check_json(value_guess("007", false), "7");
    check_json(value_guess("0x1f", false), "31");
    check_json(value_guess(".inf", false), "\"inf\"");
    check_json(value_guess("99999999999999999999", false), "1e+20");
    check_json(value_guess("1e999", false), "\"inf\"");
}

TEST(json_of_the_other_kinds)
{
    check_json(value_guess("~", false), "null");
    check_json(value_bool(true), "true");
    check_json(value_bool(false), "false");
    check_json(value_text("say \"hi\""), "\"say \\\"hi\\\"\"");
    check_json(value_int(-9007199254740993), "-9007199254740993");
    check_json(value_float(0.1), "0.1");
    check_json(value_float(NAN), "\"nan\"");
}

TEST(a_copy_stands_alone)
{
    struct value a = value_guess("1e-3", false), b = value_copy(&a);
    assert_true(value_equal(&a, &b));
    value_release(&a);
    assert_string_equal(b.text, "1e-3");
    value_release(&b);
}

TEST_MAIN
