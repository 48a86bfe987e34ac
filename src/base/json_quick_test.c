/* SPDX-License-Identifier: MIT */
/* json_quick_test.c — what is read quickly is what Jansson reads, to the bit. */
#include "base/json_quick.h"

#include "base/json.h"
#include "base/rng.h"
#include "tests/test.h"

#define FLAGS (JSON_DECODE_ANY | JSON_REJECT_DUPLICATES)

/* Are the numbers of the same kind, and to the bit? json_equal() does not tell 0.0 from -0.0. */
static void check_same(const json_t *quick, const json_t *slow)
{
    char *a = json_dumps(quick, JSON_ENCODE_ANY), *b = json_dumps(slow, JSON_ENCODE_ANY);

    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* Was it read quickly? */
static bool check(const char *text, size_t n)
{
    json_t *quick = json_quick(text, n), *slow = json_loadb(text, n, FLAGS, NULL);

    if (quick) {
        assert_non_null(slow);
        check_same(quick, slow);
    }
    json_decref(quick);
    json_decref(slow);
    return quick;
}

TEST(ordinary_texts_are_read_quickly)
{
    static const char *const texts[] = {
        "{\"run_id\":\"0123\",\"key\":\"m\",\"value\":17.5,\"timestamp\":18,\"step\":17}",
        " { \"a\" : [ 1 , -2, 0, -0, 3.25e-7, 1E5, 2e+3, -0.0 ] , \"b\" : { } , \"c\":[]}\r\n\t",
        "[true,false,null]",
        "\"text\"",
        "123456789012345678",
        "0.1",
        "{\"a\":{\"b\":[{\"c\":[[\"d\"]]}]}}",
        "\"\"",
        "1e-400",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_true(check(texts[i], strlen(texts[i])));
}

TEST(odd_and_wrong_texts_are_left_to_jansson)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "{a:1}",
        "[1,]",
        "[1 2]",
        "[,1]",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1e400",
        "1234567890123456789",
        "99999999999999999999",
        "nul",
        "NaN",
        "\"a",
        "\"\\n\"",
        "\"\\u00e4\"",
        "\"\xc3\xa4\"",
        "\"\x01\"",
        "1 1",
        "[1]x",
        "\v1",
        "\f1",
        "0.00000000000000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(check(texts[i], strlen(texts[i])));
    assert_false(check("[1]\0", 4));
    assert_false(check("\"a\0b\"", 5));
}

TEST(deep_texts_are_left_to_jansson)
{
    char text[100];

    memset(text, '[', 50);
    memset(text + 50, ']', 50);
    assert_false(check(text, sizeof(text)));
}

/* Pieces of JSON in any order, and bytes changed: nothing is read that Jansson reads otherwise. */
TEST(whatever_is_read_quickly_jansson_reads_alike)
{
    static const char *const pieces[] = {
        "{", "}", "[", "]", ",",  ":",  "\"a\"", "\"b\"", "1",   "-",    "0",    ".",  "5",
        "e", "E", "+", " ", "\n", "\"", "12.5",  "\\",    "nul", "true", "null", "\v", "\x80"};
    struct rng rng;
    size_t quick = 0;

    rng_init(&rng, 7, 1);
    for (int i = 0; i < 200000; i++) {
        autorelease(str) struct str text = STR_INIT;
        size_t n = 1 + rng_below(&rng, 9);
        bool array = rng_below(&rng, 2);
        str_add(&text, array ? "[" : "");
        for (size_t k = 0; k < n; k++)
            str_add(&text, pieces[rng_below(&rng, ARRAY_LEN(pieces))]);
        str_add(&text, array ? "]" : "");
        quick += check(text.s, text.len);
    }
    assert_true(quick > 1000);
}

TEST_MAIN
