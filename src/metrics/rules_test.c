/* SPDX-License-Identifier: MIT */
/*
 * rules_test.c — the patterns of a spec: what they match, and what is refused with which words.
 */
#include "tests/test.h"

#include "metrics/test_samples.h"

static void check(const char *key, const char *pattern, bool only, const char *text,
                  const char *expected)
{
    struct err err = ERR_INIT;
    struct text_pair pair = {(char *)key, (char *)pattern};
    struct spec spec = {.patterns = {&pair, 1, 1}, .patterns_only = only};
    autofree(metrics_rules) struct metrics_rules *rules = NULL;
    assert_ok(metrics_rules_new(&spec, &rules, &err), &err);
    autofree(mem) char *got = samples_of(rules, METRICS_OUTPUT, text, strlen(text));
    if (!str_eq(got, expected))
        fail_msg("%s on %s\n  gives    %s\n  expected %s", pattern, text, got, expected);
}

TEST(a_pattern_finds_the_value_in_its_group)
{
    check("loss", "train loss is ([0-9.]+)", true, "the train loss is 0.5 now", "loss=0.5");
    check("loss", "loss (\\d+\\.\\d+)", true, "loss 0.5\nloss x\nloss 0.25\n",
          "loss=0.5 loss=0.25");
    check("loss", "^L\\s*=\\s*(\\S+)$", true, "L = nan", "loss=nan");
    check("acc", "(?i)ACCURACY (.*)", true, "Accuracy  93.1%", "acc=93.1");
    check("x", "(?:a|b)=([\\d.eE+-]+)", true, "b=1e-3", "x=0.001");
    check("x", "\\[([^\\]]+)\\]", true, "v [2.5]", "x=2.5");
    check("x", "a/b\\/c: ([-+\\w.]+)", true, "a/b/c: -3", "x=-3");
    check("x", "v([\\^\\-\\]\\d]+)", true, "v-3", "x=-3");
    check("my metric", "v=(\\d)", true, "v=3", "my_metric=3");
}

TEST(named_groups_are_metrics_and_axis)
{
    check("", "ep (?<epoch>\\d+) tr=(?<loss>\\S+) te=(?P<val.loss>\\S+)", true,
          "ep 3 tr=0.4 te=0.5", "loss=0.4@3 val.loss=0.5@3");
    check("loss", "s(?<step>\\d+) (?:x|y) l=(\\S+)", true, "s7 y l=0.4", "loss=0.4@7");
    check("", "== (?<epoch>\\d+) ==|loss (?<loss>\\S+)", true, "== 4 ==\nloss 0.5\n", "loss=0.5@4");
}

TEST(patterns_go_before_the_built_in_recognition)
{
    check("loss", "loss: [^ ]+ \\(([^)]+)\\)", false, "Epoch 2 loss: 0.5 (0.4) acc: 0.9",
          "loss=0.4@2 acc=0.9@2");
    check("x", "x<([0-9]+)>", false, "acc: 0.9", "acc=0.9");
    check("x", "x<([0-9]+)>", true, "acc: 0.9", "");
}

TEST(a_group_that_holds_no_number_gives_nothing)
{
    check("x", "x=(.*)", true, "x=abc 3", "");
    check("x", "x=(\\d*)", true, "x=a 3", "");
    check("x", "a|x=(\\d+)", true, "a 3", "");
}

static void check_refused(const char *key, const char *pattern, const char *words)
{
    autorelease(err) struct err err = ERR_INIT;
    struct text_pair pair = {(char *)key, (char *)pattern};
    struct spec spec = {.patterns = {&pair, 1, 1}};
    struct metrics_rules *rules = NULL;
    assert_true(metrics_rules_new(&spec, &rules, &err) < 0);
    assert_null(rules);
    err_release(&err);
    assert_true(metrics_check(key, pattern, &err) < 0);
    if (!strstr(err_text(&err), words) || !strstr(err_text(&err), pattern))
        fail_msg("%s: '%s' does not say '%s'", pattern, err_text(&err), words);
}

TEST(a_pattern_that_cannot_work_is_refused_with_its_text)
{
    check_refused("loss", "loss [0-9.]+", "metric 'loss'");
    check_refused("loss", "loss [0-9.]+", "put (…) around");
    check_refused("loss", "(a) (b)", "2 groups");
    check_refused("", "loss ([0-9.]+)", "no named group");
    check_refused("x", "(.*?)", "lazy");
    check_refused("x", "(a++)", "possessive");
    check_refused("x", "(?=a)(b)", "looking around");
    check_refused("x", "(?<=a)(b)", "looking around");
    check_refused("x", "(a)\\1", "back references");
    check_refused("x", "(\\q)", "unknown escape");
    check_refused("x", "([\\q])", "unknown escape");
    check_refused("x", "([a)", "not closed");
    check_refused("x", "(a", "(a");
    check_refused("x", "(a\\", "lone backslash");
    check_refused("x", "(?<n)", "not finished");
    check_refused("x", "(?<n m>a)", "letters");
    check_refused("x", "(?#a)", "begin with");
    check_refused("x", "", "empty");
}

TEST(many_groups_are_refused)
{
    autorelease(str) struct str pattern = STR_INIT;
    for (int i = 0; i < 40; i++)
        str_add(&pattern, "(?:a)");
    check_refused("x", pattern.s, "too many");
}

TEST(a_pattern_looks_at_the_first_4_kib_of_a_line)
{
    autorelease(str) struct str text = STR_INIT;
    for (int i = 0; i < 5000; i++)
        str_add_char(&text, 'a');
    str_add(&text, " x=3\nx=4\n");
    check("x", "x=([0-9])", true, text.s, "x=4");
}

TEST_MAIN
