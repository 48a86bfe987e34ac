/* SPDX-License-Identifier: MIT */
/*
 * shell_test.c — words come apart like in a shell, and quoted ones come back.
 */
#include "base/shell.h"
#include "tests/test.h"

#include <errno.h>

static void assert_words(const char *text, size_t n, const char *const *expected)
{
    struct words words = {0};
    struct err err = ERR_INIT;

    assert_ok(shell_split(text, &words, &err), &err);
    assert_int_equal(words.list.len, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(words.list.at[i], expected[i]);
    words_release(&words);
}
#define WORDS(text, ...)                                                                           \
    assert_words(text, ARRAY_LEN(((const char *const[]){__VA_ARGS__})),                            \
                 (const char *const[]){__VA_ARGS__})

TEST(words_split_like_in_a_shell)
{
    WORDS("python3 train.py", "python3", "train.py");
    WORDS("  a\tb\n c ", "a", "b", "c");
    WORDS("a 'b c' \"d e\" f\\ g", "a", "b c", "d e", "f g");
    WORDS("x'y'\"z\"", "xyz");
    WORDS("'' \"\"", "", "");
    WORDS("'a\\b' \"a\\\"b\\\\c\\d\"", "a\\b", "a\"b\\c\\d");
    WORDS("a \\\n b", "a", "b");
    WORDS("{lr} $HOME *", "{lr}", "$HOME", "*");
    assert_words("", 0, NULL);
    assert_words("   ", 0, NULL);
}

TEST(an_open_quote_is_an_error)
{
    struct words words = {0};
    struct err err = ERR_INIT;

    assert_int_equal(shell_split("a 'b", &words, &err), -EINVAL);
    assert_string_equal(err_text(&err), "a quote ' is opened and never closed");
    assert_int_equal(shell_split("a \"b", &words, &err), -EINVAL);
    words_release(&words);
    err_release(&err);
}

TEST(quoted_words_come_back)
{
    static const char *const list[] = {"plain", "",     "a b", "it's", "\"",
                                       "\\",    "a\nb", "$x",  "é",    "--a=1,2"};

    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        autorelease(str) struct str text = STR_INIT;
        shell_quote(list[i], &text);
        assert_words(text.s, 1, &list[i]);
    }
    autorelease(str) struct str text = STR_INIT;
    shell_quote("--lr=0.1", &text);
    assert_string_equal(text.s, "--lr=0.1");
}

TEST_MAIN
