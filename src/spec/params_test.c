/* SPDX-License-Identifier: MIT */
/*
 * params_test.c — every form of a parameter, what it means, and what is wrong with the bad ones.
 */
#include "base/clock.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct spec spec;
static struct err err;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    spec_init(&spec);
}

static int parse(const char *params)
{
    autofree(mem) char *text = xasprintf("command: x\nparams:\n%s", params);

    clean();
    return spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err);
}

#define GOOD(params) assert_ok(parse(params), &err)
#define BAD(params, sentence)                                                                      \
    do {                                                                                           \
        assert_int_equal(parse(params), -EINVAL);                                                  \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

static const struct param *at(const char *name)
{
    ptrdiff_t i = space_find(&spec.space, name);
    assert_true(i >= 0);
    return &spec.space.params[i];
}

static void assert_values(const char *name, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    const struct param *param = at(name);

    for (double k = 0; k < param_size(param); k++) {
        str_add(&text, k > 0 ? " " : "");
        param_text(param, param_value_at(param, k), &text);
    }
    assert_string_equal(text.s, expected);
}

TEST(constants_and_choices_keep_their_text)
{
    GOOD("  a: 7\n  b: 1e-3\n  c: [0x1f, .5, '7', on, true, 1_000]\n  d: {values: [3, 1]}\n");
    assert_values("a", "7");
    assert_values("b", "1e-3");
    assert_values("c", "0x1f .5 7 on true 1_000");
    assert_int_equal(at("c")->choices[2].kind, VALUE_TEXT);
    assert_false(at("c")->ordered);
    assert_values("d", "3 1");
    assert_true(at("d")->ordered);
    clean();
}

TEST(numbers_between_bounds)
{
    GOOD("  f: {min: 1e-4, max: 1e-1, scale: log}\n"
         "  i: {min: 1, max: 4, type: int}\n"
         "  g: {min: 1, max: 4, scale: log}\n"
         "  j: {min: 1, max: 1e3, type: int, scale: log}\n"
         "  k: {min: 0, max: 1, type: float}\n"
         "  s: {min: 0, max: 1, step: 0.25}\n"
         "  n: {min: 2, max: 10, step: 4}\n"
         "  c: {min: 3.0, max: 3}\n");
    assert_int_equal(at("f")->type, PARAM_FLOAT);
    assert_int_equal(at("f")->scale, SCALE_LOG);
    assert_int_equal(at("i")->type, PARAM_INT);
    assert_int_equal(at("g")->type, PARAM_FLOAT);
    assert_int_equal(at("j")->type, PARAM_INT);
    assert_true(at("j")->max == 1000);
    assert_int_equal(at("k")->type, PARAM_FLOAT);
    assert_values("s", "0 0.25 0.5 0.75 1");
    assert_values("n", "2 6 10");
    assert_values("c", "3.0");
    clean();
}

TEST(ranges_are_half_open_and_exact)
{
    GOOD("  a: {range: [5, 20, 5]}\n"
         "  b: {range: [0, 4]}\n"
         "  c: {range: [0, 1, 0.1]}\n"
         "  d: {range: [0.1, 0.35, 0.05]}\n"
         "  e: {range: [5, 0, -2]}\n"
         "  f: {range: [1e-3, 5e-3, 1e-3]}\n"
         "  g: {range: [0, 1000000000, 1]}\n"
         "  h: {range: [-0.2, 0.3, 0.2]}\n");
    assert_values("a", "5 10 15");
    assert_values("b", "0 1 2 3");
    assert_values("c", "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9");
    assert_values("d", "0.10 0.15 0.20 0.25 0.30");
    assert_values("e", "5 3 1");
    assert_values("f", "0.001 0.002 0.003 0.004");
    assert_true(param_size(at("g")) == 1e9);
    assert_values("h", "-0.2 0.0 0.2");
    clean();
}

TEST(bad_values_are_refused_at_their_place)
{
    BAD("  a: []\n", "t:3:6: parameter 'a': the list is empty, so there is nothing to try");
    BAD("  a: {values: []}\n",
        "t:3:15: parameter 'a': the list is empty, so there is nothing to try");
    BAD("  a: {values: 3}\n", "t:3:15: parameter 'a': 'values' must be a list, not '3'");
    BAD("  a: [1, 2, 1.0]\n", "t:3:13: parameter 'a': the value '1.0' stands twice");
    BAD("  a: [true, 1, True]\n", "t:3:16: parameter 'a': the value 'True' stands twice");
    BAD("  a: [x, 'x']\n", "t:3:10: parameter 'a': the value 'x' stands twice");
    BAD("  a:\n", "t:3:3: parameter 'a' has no value");
    BAD("  a: {range: [0, 0.9, 1e-4]}\n  b: {range: [0, 0.9, 1e-4]}\n  c: {range: [0, 0.9, "
        "1e-4]}\n",
        "t:5:6: more than 20000 values in the lists of all parameters; use min and max");
    BAD("  a: [[1], 2]\n", "t:3:7: parameter 'a': a value must be a number or a text, not a list");
}

TEST(bad_bounds_are_refused_at_their_place)
{
    BAD("  a: {min: 3, max: 1}\n", "t:3:12: parameter 'a': min 3 is above max 1");
    BAD("  a: {min: 0, max: 1, scale: log}\n",
        "t:3:12: parameter 'a': with scale: log, min must be above 0, not 0");
    BAD("  a: {min: 0, max: 1, step: 0}\n", "t:3:29: parameter 'a': step must be above 0, not 0");
    BAD("  a: {min: 0, max: 1, step: -1}\n", "t:3:29: parameter 'a': step must be above 0, not -1");
    BAD("  a: {min: true, max: 1}\n", "t:3:12: parameter 'a': 'min' must be a number, not 'true'");
    BAD("  a: {min: 0, max: .inf}\n", "t:3:20: parameter 'a': 'max' must be a number, not '.inf'");
    BAD("  a: {min: 0, max: '1'}\n", "t:3:20: parameter 'a': 'max' must be a number, not '1'");
    BAD("  a: {min: 0, max: [1]}\n", "t:3:20: parameter 'a': 'max' must be a number, not a list");
    BAD("  a: {min: 0.5, max: 2, type: int}\n",
        "t:3:12: parameter 'a': with type: int, 0.5 must be a whole number below 2^53");
    BAD("  a: {min: 0, max: 2, type: integer}\n",
        "t:3:29: parameter 'a': 'type' must be float or int, not 'integer'");
    BAD("  a: {min: 1, max: 2, scale: logg}\n",
        "t:3:30: parameter 'a': 'scale' must be linear or log, not 'logg', did you mean 'log'?");
    BAD("  a: {min: 0}\n", "t:3:6: parameter 'a': needs min and max, or values, or range");
    BAD("  a: {}\n", "t:3:6: parameter 'a': needs min and max, or values, or range");
    BAD("  a: {mim: 0, max: 1}\n", "t:3:7: parameter 'a': unknown key 'mim', did you mean 'min'?");
    BAD("  a: {values: [1], min: 0}\n", "t:3:25: parameter 'a': 'min' does not go with 'values'");
    BAD("  a: {values: [1], range: [1, 2]}\n",
        "t:3:6: parameter 'a': give values or range, not both");
}

TEST(bad_ranges_are_refused_at_their_place)
{
    BAD("  a: {range: [5, 5]}\n",
        "t:3:14: parameter 'a': range is empty: it is [start, end, step] without the end");
    BAD("  a: {range: [1, 2, 0]}\n", "t:3:14: parameter 'a': range has a step of 0");
    BAD("  a: {range: [1]}\n",
        "t:3:14: parameter 'a': range must be [start, end] or [start, end, step]");
    BAD("  a: {range: 3}\n",
        "t:3:14: parameter 'a': range must be [start, end] or [start, end, step]");
    BAD("  a: {range: [1, x]}\n", "t:3:18: parameter 'a': 'end' must be a number, not 'x'");
    BAD("  a: {range: [0, 1, 1e-5]}\n",
        "t:3:14: parameter 'a': range has more than 10000 values; use min and max");
    BAD("  a: {range: [0, 1, 1e-30]}\n",
        "t:3:14: parameter 'a': range has too many digits; use min and max");
}

TEST(names_that_cannot_be_passed_are_refused)
{
    static const char *const names[] = {"learning rate", "a\"b", "-x", "é", "3x", "a=b", "a/b", ""};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree(mem) char *params = xasprintf("  '%s': 1\n", names[i]);
        autofree(mem) char *sentence =
            xasprintf("t:3:3: parameter name '%s' cannot be passed to a program; use letters, "
                      "digits, '_', '-', '.', and begin with a letter or '_'",
                      names[i]);
        BAD(params, sentence);
    }
    BAD("  checkpoint: 1\n",
        "t:3:3: parameter name 'checkpoint' is taken: {checkpoint} is where a trial goes on from");
    GOOD("  model.lr-2_x: 1\n");
    clean();
}

TEST(conditions_may_look_ahead)
{
    GOOD("  momentum: {min: 0.0, max: 0.9, when: {optimizer: [sgd, nag], depth: 2}}\n"
         "  batch: [1, 2]\n"
         "  depth: {min: 1, max: 3}\n"
         "  optimizer: {values: [sgd, adam, nag], when: {batch: 2}}\n");
    const struct space *space = &spec.space;
    assert_string_equal(space->params[0].name, "batch");
    assert_string_equal(space->params[1].name, "depth");
    assert_string_equal(space->params[2].name, "optimizer");
    assert_string_equal(space->params[3].name, "momentum");
    const struct param *momentum = &space->params[3];
    assert_int_equal(momentum->n_when, 2);
    assert_int_equal(momentum->when[0].param, 2);
    assert_int_equal(momentum->when[0].n_values, 2);
    assert_true(momentum->when[0].values[1] == 2);
    assert_int_equal(momentum->when[1].param, 1);
    assert_true(momentum->when[1].values[0] == 2);
    clean();
}

TEST(bad_conditions_are_refused_at_their_place)
{
    BAD("  a: {values: [1, 2], when: {b: 1}}\n  b: {values: [1, 2], when: {a: 1}}\n",
        "t:3:29: parameter 'a': its 'when' leads back to itself");
    BAD("  a: {values: [1, 2], when: {a: 1}}\n",
        "t:3:29: parameter 'a': its 'when' leads back to itself");
    BAD("  opt: [x, y]\n  a: {values: [1], when: {opd: x}}\n",
        "t:4:27: parameter 'a': 'when' names an unknown parameter 'opd', did you mean 'opt'?");
    BAD("  opt: [x, y]\n  a: {values: [1], when: {opt: z}}\n",
        "t:4:32: parameter 'a': 'when' is never true: 'z' is no value of 'opt'");
    BAD("  a: {values: [1], when: b}\n",
        "t:3:26: parameter 'a': 'when' must be a mapping like {other: value}");
}

TEST(a_condition_on_a_constant_may_be_never_true)
{
    GOOD("  opt: adam\n  m: {min: 0.0, max: 1, when: {opt: sgd}}\n");
    assert_int_equal(at("m")->when[0].n_values, 0);
    assert_int_equal(spec.trials, 1);
    clean();
}

TEST(many_parameters_in_the_worst_order_are_put_in_order)
{
    autorelease(str) struct str text = STR_INIT;

    for (int i = 0; i < 999; i++)
        str_addf(&text, "  p%d: {values: [1, 2], when: {p%d: 1}}\n", i, i + 1);
    str_add(&text, "  p999: [1, 2]\n");
    GOOD(text.s);
    assert_string_equal(spec.space.params[0].name, "p999");
    str_add(&text, "  p1000: 1\n");
    BAD(text.s, "t:1003:3: more than 1000 parameters");
}

TEST_MAIN
