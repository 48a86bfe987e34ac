/* SPDX-License-Identifier: MIT */
/*
 * space_keys_test.c — what is said about a space beside its parameters: priors, forbidden
 * combinations, settings to run first; and the part of a spec that a search without a program
 * needs.
 */
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct spec spec;
static struct err err;
static struct str notes = STR_INIT;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    str_release(&notes);
    spec_init(&spec);
}

/* Three lines of parameters, then the text. */
static int parse(const char *text, const struct spec_overrides *overrides)
{
    autofree(mem) char *whole = xasprintf(
        "{command: x, params: {lr: {min: 1e-4, max: 1e-1, scale: log}, opt: [sgd, adam, nag],\n"
        "  width: [64, 128, 256], n: {min: 1, max: 8, type: int},\n"
        "  m: {min: 0, max: 1, step: 0.1, when: {opt: sgd}}},\n%s}",
        text);

    clean();
    return spec_parse(whole, strlen(whole), "t", "/w", overrides, &spec, &notes, &err);
}

#define GOOD(text) assert_ok(parse(text, NULL), &err)
#define BAD(text, sentence)                                                                        \
    do {                                                                                           \
        assert_int_equal(parse(text, NULL), -EINVAL);                                              \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

static int parse_param(const char *param)
{
    autofree(mem) char *text = xasprintf("command: x\nparams:\n  a: %s\n", param);

    clean();
    return spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err);
}

#define GOOD_PARAM(text) assert_ok(parse_param(text), &err)
#define BAD_PARAM(text, sentence)                                                                  \
    do {                                                                                           \
        assert_int_equal(parse_param(text), -EINVAL);                                              \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

static const struct prior *prior(void)
{
    return &spec.space.params[0].prior;
}

static void assert_near(double x, double expect)
{
    if (fabs(x - expect) > 1e-12 * fmax(1, fabs(expect)))
        fail_msg("%.17g is not %.17g", x, expect);
}

/* ---- priors ---- */

TEST(a_prior_is_kept_on_the_unit_axis)
{
    GOOD_PARAM("{min: 0, max: 10, prior: 2.5}");
    assert_near(prior()->mean, 0.25);
    assert_near(prior()->sd, 0.15);
    GOOD_PARAM("{min: 0, max: 10, prior: {mean: 5, sd: 2}}");
    assert_near(prior()->mean, 0.5);
    assert_near(prior()->sd, 0.2);
    GOOD_PARAM("{min: 1, max: 4, type: int, prior: {mean: 3, sd: 1}}");
    assert_near(prior()->mean, 0.625);
    assert_near(prior()->sd, 0.25);
    GOOD_PARAM("{min: 1e-4, max: 1, scale: log, prior: {mean: 0.01, sd: 10}}");
    assert_near(prior()->mean, 0.5);
    assert_near(prior()->sd, 0.25);
    GOOD_PARAM("{min: 0, max: 1}");
    assert_true(prior()->sd == 0 && !prior()->weights);
    clean();
}

TEST(a_prior_of_a_choice_is_a_weight_each)
{
    GOOD_PARAM("{values: [x, y, z], prior: y}");
    assert_near(prior()->weights[0], 0.2);
    assert_near(prior()->weights[1], 0.6);
    assert_near(prior()->weights[2], 0.2);
    GOOD_PARAM("{values: [x, y, z], prior: {x: 5, z: 2}}");
    assert_near(prior()->weights[0], 0.625);
    assert_near(prior()->weights[1], 0.125);
    assert_near(prior()->weights[2], 0.25);
    GOOD_PARAM("{values: [16, 32], prior: 32.0}");
    assert_near(prior()->weights[1], 0.75);
    GOOD_PARAM("{values: [a, b], prior: {a: 70%, b: 30%}}");
    assert_true(prior()->weights[0] == 0.7);
    clean();
}

TEST(absurd_deviations_are_brought_to_reason)
{
    GOOD_PARAM("{min: 0, max: 1, prior: {mean: 0.5, sd: 1e-300}}");
    assert_near(prior()->sd, 1e-3);
    GOOD_PARAM("{min: 0, max: 1, prior: {mean: 0.5, sd: 1e300}}");
    assert_near(prior()->sd, 10);
    GOOD_PARAM("{min: -1e308, max: 1e308, prior: {mean: 0, sd: 1}}");
    assert_near(prior()->mean, 0.5);
    assert_near(prior()->sd, 1e-3);
    clean();
}

TEST(a_constant_needs_no_prior)
{
    GOOD_PARAM("{values: [7], prior: 9}");
    GOOD_PARAM("{min: 3, max: 3, prior: {mean: 3, sd: 1}}");
    assert_true(prior()->sd == 0 && !prior()->weights);
    clean();
}

TEST(priors_outside_are_refused_at_their_place)
{
    BAD_PARAM("{min: 0, max: 1, prior: 2}", "t:3:30: parameter 'a': the prior 2 is not in 0 to 1");
    BAD_PARAM("{min: 0, max: 1, prior: {mean: -1, sd: 1}}",
              "t:3:37: parameter 'a': the prior -1 is not in 0 to 1");
    BAD_PARAM("{min: 0, max: 1, prior: .nan}",
              "t:3:30: parameter 'a': 'prior' must be a number, not '.nan'");
    BAD_PARAM("{min: 0, max: 1, prior: adam}",
              "t:3:30: parameter 'a': 'prior' must be a number, not 'adam'");
    BAD_PARAM("{min: 0, max: 1, prior: {sd: 1}}", "t:3:30: parameter 'a': the prior needs a mean");
    BAD_PARAM("{min: 0, max: 1, prior: {mean: 1, std: 1}}",
              "t:3:40: parameter 'a': a prior is a value or {mean: …, sd: …}, not 'std'");
    BAD_PARAM("{min: 0, max: 1, prior: {mean: 1, sd: 0}}",
              "t:3:44: parameter 'a': 'sd' must be above 0, not 0");
    BAD_PARAM("{min: 1, max: 9, scale: log, prior: {mean: 1, sd: 0.5}}",
              "t:3:56: parameter 'a': in log scale 'sd' is a factor above 1, not 0.5");
    BAD_PARAM("{min: 0, max: 1, prior: {unit: [2, 1]}}",
              "t:3:37: parameter 'a': 'unit' is [mean from 0 to 1, sd from 0.001 to 10]");
    BAD_PARAM("{values: [x, y], prior: z}",
              "t:3:30: the prior of parameter 'a': 'z' is none of x, y");
    BAD_PARAM("{values: [x, y], prior: {z: 1}}",
              "t:3:31: the prior of parameter 'a': 'z' is none of x, y");
    BAD_PARAM("{values: [x, y], prior: {x: 0}}",
              "t:3:34: parameter 'a': a weight of the prior must be a number above 0, not '0'");
    BAD_PARAM("{values: [x, y], prior: {x: [1]}}",
              "t:3:34: parameter 'a': a weight of the prior must be a number above 0, not a list");
    BAD_PARAM("{values: [x, y], prior: {x: 1e9}}",
              "t:3:30: parameter 'a': weights of the prior go from 0.001 to 1000");
    BAD_PARAM("{values: [x, y], prior: [1, 2, 3]}",
              "t:3:30: parameter 'a': the prior has 3 weights for 2 values");
}

/* ---- forbidden combinations ---- */

TEST(combinations_are_values_lists_and_bounds)
{
    GOOD("forbid: [{opt: adam, lr: {min: 0.01}}, {width: [64, 128], n: {min: 2, max: 4}}]");
    assert_int_equal(spec.space.n_forbids, 2);
    const struct clause *a = spec.space.forbids[0].clauses, *b = spec.space.forbids[1].clauses;
    assert_int_equal(a[0].param, 1);
    assert_true(a[0].n_values == 1 && a[0].values[0] == 1);
    assert_true(a[1].n_values == 0 && a[1].min == 0.01 && isinf(a[1].max));
    assert_true(b[0].n_values == 2 && b[0].values[1] == 1);
    assert_true(b[1].min == 2 && b[1].max == 4);
    double bad[] = {0.05, 1, 0, 5, NAN}, good[] = {0.005, 1, 0, 5, NAN},
           worse[] = {1e-3, 1, 1, 3, NAN};
    assert_false(space_contains(&spec.space, bad));
    assert_true(space_contains(&spec.space, good));
    assert_false(space_contains(&spec.space, worse));
    GOOD("forbid: {opt: sgd}");
    assert_int_equal(spec.space.n_forbids, 1);
    clean();
}

TEST(bounds_of_a_list_of_numbers_mean_the_numbers)
{
    GOOD("forbid: [{width: {min: 100}}]");
    const struct clause *clause = spec.space.forbids[0].clauses;
    assert_true(clause->n_values == 2 && clause->values[0] == 1 && clause->values[1] == 2);
    clean();
}

TEST(bad_combinations_are_refused_at_their_place)
{
    BAD("forbid: 3", "t:4:9: 'forbid': a combination is a mapping like {optimizer: adam, lr: {min: "
                     "0.1}}, not '3'");
    BAD("forbid: [{}]", "t:4:10: 'forbid': a combination is a mapping like {optimizer: adam, lr: "
                        "{min: 0.1}}, not an empty one");
    BAD("forbid: [{opd: adam}]",
        "t:4:11: 'forbid' names an unknown parameter 'opd', did you mean 'opt'?");
    BAD("forbid: [{opt: adams}]",
        "t:4:16: 'forbid': parameter 'opt': 'adams' is none of sgd, adam, nag");
    BAD("forbid: [{opt: [adam, 3]}]",
        "t:4:23: 'forbid': parameter 'opt': '3' is none of sgd, adam, nag");
    BAD("forbid: [{n: 9}]", "t:4:14: 'forbid': parameter 'n': 9 is not in 1 to 8");
    BAD("forbid: [{n: []}]", "t:4:14: 'forbid': give 1 to 1000 values of 'n'");
    BAD("forbid: [{n: {min: 9}}]", "t:4:14: 'forbid': no value of 'n' lies there");
    BAD("forbid: [{n: {min: 4, max: 3}}]", "t:4:14: 'forbid': 'n' needs a min, or a max above it");
    BAD("forbid: [{n: {}}]", "t:4:14: 'forbid': 'n' needs a min, or a max above it");
    BAD("forbid: [{n: {from: 3}}]",
        "t:4:15: 'forbid': 'n' takes a value, a list, or {min: …, max: …}, not 'from'");
    BAD("forbid: [{n: {min: x}}]", "t:4:20: parameter 'n': 'min' must be a number, not 'x'");
    BAD("forbid: [{opt: {min: 3}}]",
        "t:4:16: 'forbid': the values of 'opt' are no numbers; list them");
    BAD("forbid: [{width: {min: 65, max: 99}}]",
        "t:4:18: 'forbid': no value of 'width' lies there");
}

TEST(a_space_without_a_setting_left_is_refused)
{
    BAD("forbid: [{lr: {min: 0}}]",
        "t:4:9: 'forbid' forbids every setting, so there is nothing to try");
    BAD("forbid: [{opt: [sgd, adam]}, {opt: nag, n: {max: 6}}, {n: {min: 6.5}}]",
        "t:4:9: 'forbid' forbids every setting, so there is nothing to try");
    GOOD("forbid: [{opt: [sgd, adam]}, {opt: nag, n: {max: 6}}, {n: {min: 8}}]");
    clean();
}

TEST(trials_are_at_most_the_settings_that_are_allowed)
{
    const char *text =
        "command: x\nparams: {a: [1, 2, 3], b: [x, y]}\nforbid: [{a: 1, b: y}, {a: 3}]\n";
    clean();
    assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, &notes, &err), &err);
    assert_int_equal(spec.trials, 3);
    text = "command: x\nparams: {a: 1}\nforbid: {a: 1}\n";
    clean();
    assert_int_equal(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, &notes, &err), -EINVAL);
    clean();
}

static int parse_fixed(const char *text, const char *fix)
{
    struct spec_overrides o = {0};

    vec_push(&o.fix, xstrdup(fix));
    int r = parse(text, &o);
    spec_overrides_release(&o);
    return r;
}

TEST(what_was_fixed_to_another_value_cannot_come_up)
{
    assert_ok(parse_fixed("forbid: [{opt: adam, n: 3}, {n: 5}]", "opt=sgd"), &err);
    assert_int_equal(spec.space.n_forbids, 1);
    assert_ok(parse_fixed("forbid: [{width: {max: 100}, n: 3}]", "width=256"), &err);
    assert_int_equal(spec.space.n_forbids, 0);
    assert_ok(parse_fixed("forbid: [{width: {max: 100}, n: 3}]", "width=64"), &err);
    assert_int_equal(spec.space.n_forbids, 1);
    assert_ok(parse_fixed("try: [{opt: adam}, {n: 3}]", "opt=sgd"), &err);
    assert_int_equal(spec.tries.len, 1);
    assert_string_equal(notes.s, "try: setting 1 is left out, 'opt' is fixed to another value\n");
    clean();
}

/* ---- settings to run first ---- */

TEST(settings_to_try_may_be_partial)
{
    GOOD("try: [{lr: 0.01, opt: adam, width: 128, n: 4}, {m: 0.5}, {opt: nag}, {}]");
    assert_int_equal(spec.tries.len, 4);
    const double *x = spec.tries.at[0];
    assert_true(x[0] == 0.01 && x[1] == 1 && x[2] == 1 && x[3] == 4 && isnan(x[4]));
    x = spec.tries.at[1];
    assert_true(x[1] == TRY_FREE && x[4] == 0.5);
    x = spec.tries.at[2];
    assert_true(x[0] == TRY_FREE && x[1] == 2 && isnan(x[4]));
    x = spec.tries.at[3];
    for (size_t i = 0; i < 5; i++)
        assert_true(x[i] == TRY_FREE);
    clean();
}

TEST(the_same_setting_is_tried_once)
{
    GOOD("try: [{lr: 0.01, opt: adam, width: 128, n: 4}, {n: 4.0, width: 128.0, opt: adam, lr: "
         "1e-2}, {n: 4}, {n: 4}]");
    assert_int_equal(spec.tries.len, 3);
    clean();
}

TEST(more_settings_than_trials_are_worth_a_word)
{
    GOOD("try: [{n: 1}, {n: 2}, {n: 3}], search: {trials: 2}");
    assert_string_equal(notes.s, "try: there are 3 settings, but only 2 trials\n");
    clean();
}

TEST(bad_settings_are_refused_at_their_place)
{
    BAD("try: 3", "t:4:6: 'try': a setting is a mapping of parameters to values, not '3'");
    BAD("try: [{lr: 0.01},\n {lt: 0.01}]",
        "t:5:3: 'try' names an unknown parameter 'lt', did you mean 'lr'?");
    BAD("try: [{lr: 0.01},\n {lr: 1}]", "t:5:7: 'try': parameter 'lr': 1 is not in 0.0001 to 0.1");
    BAD("try: [{opt: [adam]}]",
        "t:4:13: parameter 'opt': a value must be a number or a text, not a list");
    BAD("try: [{opt: adam, m: 0.5}]", "t:4:22: 'try': parameter 'm' is not active in this setting");
    BAD("try: [{n: 3},\n{opt: adam, n: 5}],\nforbid: [{opt: adam, n: {min: 4}}]",
        "t:5:1: 'try': this setting is forbidden by 'forbid'");
    BAD("try: [{n: 3}],\nforbid: [{n: 3, opt: [adam, nag]}, {n: 3, m: {min: 0}}]",
        "t:4:7: 'try': whatever fills in this setting, 'forbid' forbids it");
    GOOD("try: [{n: 3}], forbid: [{n: 3, opt: [adam, nag]}, {n: 3, m: {min: 0.1}}]");
}

TEST(keys_may_stand_before_the_parameters_they_name)
{
    const char *text = "try: [{a: 2}]\nforbid: [{a: 1}]\ncommand: x\nparams: {a: [1, 2, 3]}\n";

    clean();
    assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err), &err);
    assert_int_equal(spec.trials, 2);
    assert_int_equal(spec.tries.len, 1);
    clean();
}

/* ---- a part of a spec ---- */

static int parse_part(const char *text)
{
    clean();
    return spec_parse_params(text, strlen(text), &spec, &err);
}

TEST(a_search_needs_no_program)
{
    assert_ok(parse_part("{\"params\": {\"lr\": {\"min\": 1e-4, \"max\": 0.1, \"scale\": \"log\"}, "
                         "\"opt\": [\"sgd\", \"adam\"]}, \"forbid\": [{\"opt\": \"sgd\", \"lr\": "
                         "{\"max\": 0.01}}], \"try\": [{\"opt\": \"adam\"}]}"),
              &err);
    assert_int_equal(spec.space.n, 2);
    assert_int_equal(spec.space.n_forbids, 1);
    assert_int_equal(spec.tries.len, 1);
    assert_int_equal(spec.trials, 0);
    assert_string_equal(spec.stop.rule, "none");
    assert_ok(parse_part("params: {a: [1, 2]}\nsearch: {stop: {curve: 5%}, trials: 7, seed: 3}\n"
                         "objective: {metric: x, goal: max}\n"),
              &err);
    assert_int_equal(spec.trials, 7);
    assert_true(spec.stop.chance == 0.05 && spec.objective.goal == GOAL_MAXIMIZE);
    clean();
}

static void assert_part(const char *text, const char *sentence)
{
    assert_true(parse_part(text) < 0);
    assert_string_equal(err_text(&err), sentence);
    clean();
}

TEST(errors_of_a_part_name_the_parameter_and_no_place)
{
    assert_part("{\"params\": {\"lr\": {\"min\": 3, \"max\": 1}}}",
                "parameter 'lr': min 3 is above max 1");
    assert_part("{\"parms\": {}}", "unknown key 'parms', did you mean 'params'?");
    assert_part("{\"params\": {\"a\": [1, 2]}, \"forbid\": [{\"a\": [1, 2]}]}",
                "'forbid' forbids every setting, so there is nothing to try");
    assert_part("[1]", "a spec is a mapping (name: value), not a list");
    assert_part("{\"command\": \"x\"}", "unknown key 'command'");
    assert_part("", "the file is empty");
    assert_part("{", "params:2:1: did not find expected node content");
}

TEST(ten_thousand_choices_with_everything_are_read_quickly)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text,
            "command: x\nforbid: [{a: {max: 5000}}]\ntry: [{a: 9999}]\nparams:\n  a: {prior: "
            "9998, values: [0");
    for (int i = 1; i < 10000; i++)
        str_addf(&text, ",%d", i);
    str_add(&text, "]}\n");
    clean();
    assert_ok(spec_parse(text.s, text.len, "t", "/w", NULL, &spec, NULL, &err), &err);
    assert_true(space_size(&spec.space) == 4999);
    clean();
}

TEST_MAIN
