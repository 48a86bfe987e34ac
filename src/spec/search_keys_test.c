/* SPDX-License-Identifier: MIT */
/*
 * search_keys_test.c — objectives, constraints, rules of stopping, knowledge: every form, and every
 * error with its exact place.
 */
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

static int parse(const char *text, const char *set)
{
    autofree(mem) char *whole = xasprintf("command: x\nparams: {a: {min: 0, max: 1}}\n%s\n", text);
    struct spec_overrides o = {0};

    clean();
    if (set)
        vec_push(&o.set, xstrdup(set));
    int r = spec_parse(whole, strlen(whole), "t", "/w", &o, &spec, NULL, &err);
    spec_overrides_release(&o);
    return r;
}

#define GOOD(text) assert_ok(parse(text, NULL), &err)
#define BAD(text, sentence)                                                                        \
    do {                                                                                           \
        assert_int_equal(parse(text, NULL), -EINVAL);                                              \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

/* ---- objectives ---- */

TEST(objectives_may_be_a_list)
{
    GOOD("objective: [{metric: acc, goal: max}, ms, {metric: mb, goal: minimize}]");
    assert_string_equal(spec.objective.metric, "acc");
    assert_int_equal(spec.objective.goal, GOAL_MAXIMIZE);
    assert_int_equal(spec.others.len, 2);
    assert_string_equal(spec.others.at[0].metric, "ms");
    assert_int_equal(spec.others.at[0].goal, GOAL_MINIMIZE);
    assert_true(isnan(spec.others.at[0].target));
    assert_string_equal(spec.others.at[1].metric, "mb");
    GOOD("objective: [{metric: acc, goal: max, target: 90%}]");
    assert_int_equal(spec.others.len, 0);
    assert_true(spec.objective.target == 0.9);
    GOOD("objective: {metric: acc, per: seconds}");
    assert_int_equal(spec.per, PER_SECONDS);
    GOOD("objective: acc");
    assert_int_equal(spec.per, PER_TRIAL);
    clean();
}

TEST(bad_lists_of_objectives_are_refused_at_their_place)
{
    BAD("objective: []", "t:3:12: 'objective': a list holds 1 to 8 objectives");
    BAD("objective: [a, b, c, d, e, f, g, h, i]",
        "t:3:12: 'objective': a list holds 1 to 8 objectives");
    BAD("objective: [a, {metric: b, target: 3}]",
        "t:3:36: 'objective.target' goes with one objective; there are several");
    BAD("objective: [{metric: a, per: seconds}]",
        "t:3:30: 'objective.per' does not go with a list of objectives");
    BAD("objective: [a, b, a]", "t:3:19: 'objective': the metric 'a' stands twice");
    BAD("objective: [a, {goal: max}]", "t:3:16: 'objective' needs a metric: {metric: val_loss}");
    BAD("objective: [a, '']", "t:3:16: 'objective' needs a metric: {metric: val_loss}");
    BAD("objective: [a, [b]]",
        "t:3:16: 'objective': a list holds metrics or mappings {metric: …, goal: …}, not a list");
    BAD("objective: [a, {metric: b, gaol: max}]",
        "t:3:28: unknown key 'objective.gaol', did you mean 'objective.goal'?");
    BAD("objective: [a, {metric: b, goal: best}]",
        "t:3:34: 'objective.goal' must be one of minimize, maximize, min, max, not 'best'");
}

TEST(the_command_line_may_replace_a_list_of_objectives)
{
    assert_ok(parse("objective: [a, b]", "objective={metric: c, goal: max}"), &err);
    assert_string_equal(spec.objective.metric, "c");
    assert_int_equal(spec.others.len, 0);
    assert_ok(parse("objective: a", "objective=[c, d]"), &err);
    assert_int_equal(spec.others.len, 1);
    assert_ok(parse("objective: a", "objective.per=seconds"), &err);
    assert_int_equal(spec.per, PER_SECONDS);
    clean();
}

/* ---- constraints ---- */

TEST(a_constraint_is_a_metric_and_a_bound)
{
    GOOD("objective: a\nconstraint: latency_ms <= 20");
    assert_int_equal(spec.constraints.len, 1);
    assert_string_equal(spec.constraints.at[0].metric, "latency_ms");
    assert_true(!spec.constraints.at[0].at_least && spec.constraints.at[0].bound == 20);
    GOOD("objective: a\nconstraint: [acc>=90%, '  f1 score  >  -1e-3 ', x<5]");
    assert_int_equal(spec.constraints.len, 3);
    assert_true(spec.constraints.at[0].at_least && spec.constraints.at[0].bound == 0.9);
    assert_string_equal(spec.constraints.at[1].metric, "f1 score");
    assert_true(spec.constraints.at[1].at_least && spec.constraints.at[1].bound == -1e-3);
    assert_true(!spec.constraints.at[2].at_least && spec.constraints.at[2].bound == 5);
    clean();
}

TEST(a_bound_without_its_equals_sign_is_noted)
{
    const char *text = "command: x\nparams: {a: {min: 0, max: 1}}\nobjective: a\n"
                       "constraint: [ms < 20, b >= 1]\n";
    autorelease(str) struct str notes = STR_INIT;

    clean();
    assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, &notes, &err), &err);
    assert_string_equal(
        notes.s, "constraint: 'ms < 20' is taken as ms <= 20: the bound itself is allowed\n");
    clean();
}

TEST(bad_constraints_are_refused_at_their_place)
{
#define MUST "'constraint' must be like latency_ms <= 20 or acc >= 0.9, not "
    BAD("objective: a\nconstraint: latency", "t:4:13: " MUST "'latency'");
    BAD("objective: a\nconstraint: [a < 1, b = 2]", "t:4:21: " MUST "'b = 2'");
    BAD("objective: a\nconstraint: a <= b", "t:4:13: " MUST "'a <= b'");
    BAD("objective: a\nconstraint: a <= nan", "t:4:13: " MUST "'a <= nan'");
    BAD("objective: a\nconstraint: a =< 3", "t:4:13: " MUST "'a =< 3'");
    BAD("objective: a\nconstraint: ' <= 3'", "t:4:13: " MUST "' <= 3'");
    BAD("objective: a\nconstraint: a << 3", "t:4:13: " MUST "'a << 3'");
    BAD("objective: a\nconstraint: {a: 3}", "t:4:13: " MUST "a mapping");
    BAD("constraint: a <= 3", "t:3:13: 'constraint' needs an objective");
}

/* ---- stopping ---- */

TEST(the_default_rule_is_curve_where_there_is_an_objective)
{
    GOOD("objective: a");
    assert_string_equal(spec.stop.rule, "curve");
    assert_true(isnan(spec.stop.chance));
    GOOD("");
    assert_string_equal(spec.stop.rule, "none");
    clean();
}

TEST(a_rule_has_its_numbers)
{
    GOOD("objective: a\nsearch: {stop: {curve: 5%}}");
    assert_true(spec.stop.chance == 0.05);
    GOOD("objective: a\nsearch: {stop: {asha: {eta: 4, min: 2, max: 81, pause: false}}}");
    assert_string_equal(spec.stop.rule, "asha");
    assert_int_equal(spec.stop.eta, 4);
    assert_int_equal(spec.stop.min_step, 2);
    assert_int_equal(spec.stop.max_step, 81);
    assert_true(spec.stop.end);
    GOOD("objective: a\nsearch: {stop: {hyperband: {max: 27}}}");
    assert_true(spec.stop.max_step == 27 && spec.stop.eta == 0 && !spec.stop.end);
    GOOD("objective: a\nsearch: {stop: {median: {}}}");
    assert_string_equal(spec.stop.rule, "median");
    GOOD("objective: a\nsearch: {stop: {curve: }}");
    assert_true(isnan(spec.stop.chance));
    clean();
}

TEST(bad_rules_are_refused_at_their_place)
{
    BAD("objective: a\nsearch: {stop: {curve: 0}}",
        "t:4:24: 'search.stop: curve' takes a chance above 0 and up to 50%, like 2%, not '0'");
    BAD("objective: a\nsearch: {stop: {curve: 51%}}",
        "t:4:24: 'search.stop: curve' takes a chance above 0 and up to 50%, like 2%, not '51%'");
    BAD("objective: a\nsearch: {stop: {curve: 2}}",
        "t:4:24: 'search.stop: curve' takes a chance above 0 and up to 50%, like 2%, not '2'");
    BAD("objective: a\nsearch: {stop: {asha: {eta: 1}}}",
        "t:4:29: 'search.stop: asha': 'eta' must be a whole number of 2 or more, not '1'");
    BAD("objective: a\nsearch: {stop: {asha: {min: 1.5}}}",
        "t:4:29: 'search.stop: asha': 'min' must be a whole number of 1 or more, not '1.5'");
    BAD("objective: a\nsearch: {stop: {asha: {min: 9, max: 9}}}",
        "t:4:23: 'search.stop: asha': min 9 must be below max 9");
    BAD("objective: a\nsearch: {stop: {asha: {eat: 3}}}",
        "t:4:24: 'search.stop: asha': unknown key 'eat', did you mean 'eta'?");
    BAD("objective: a\nsearch: {stop: {asha: {pause: maybe}}}",
        "t:4:31: 'search.stop: asha': 'pause' must be true or false, not 'maybe'");
    BAD("objective: a\nsearch: {stop: {hyperband: {pause: true}}}",
        "t:4:29: 'search.stop: hyperband': unknown key 'pause'");
    BAD("objective: a\nsearch: {stop: {median: {eta: 3}}}",
        "t:4:26: 'search.stop: median': unknown key 'eta'");
    BAD("objective: a\nsearch: {stop: {asha: 3}}",
        "t:4:23: 'search.stop: asha' takes a mapping, not '3'");
    BAD("objective: a\nsearch: {stop: {asha: {}, curve: 2%}}",
        "t:4:16: 'search.stop' takes one rule, like {curve: 2%}");
    BAD("objective: a\nsearch: {stop: {}}",
        "t:4:16: 'search.stop' takes one rule, like {curve: 2%}");
    BAD("objective: a\nsearch: {stop: {ahsa: {}}}",
        "t:4:17: 'search.stop' cannot be 'ahsa', did you mean 'asha'? (there are: none, median, "
        "curve, asha, hyperband)");
    BAD("search: {stop: {asha: {}}}",
        "t:3:16: 'search.stop: asha' needs an objective to compare trials by");
}

TEST(the_command_line_sets_a_rule)
{
    assert_ok(parse("objective: a", "search.stop=asha"), &err);
    assert_string_equal(spec.stop.rule, "asha");
    assert_ok(parse("objective: a\nsearch: {stop: {asha: {eta: 4}}}", "search.stop={curve: 1%}"),
              &err);
    assert_string_equal(spec.stop.rule, "curve");
    assert_true(spec.stop.chance == 0.01 && spec.stop.eta == 0);
    assert_int_equal(parse("objective: a", "search.stop={asha: {eta: 0}}"), -EINVAL);
    assert_string_equal(err_text(&err),
                        "--set search.stop={asha: {eta: 0}}: 'search.stop: asha': 'eta' must be a "
                        "whole number of 2 or more, not '0'");
    clean();
}

/* ---- the rest ---- */

TEST(every_algorithm_has_its_name)
{
    static const char *const names[] = {"auto",   "random", "grid",  "sobol", "bayes",
                                        "forest", "tpe",    "cmaes", "evolve"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree(mem) char *text = xasprintf("params: {}\nsearch: {algorithm: %s}", names[i]);
        clean();
        autofree(mem) char *whole = xasprintf("command: x\n%s\n", text);
        assert_ok(spec_parse(whole, strlen(whole), "t", "/w", NULL, &spec, NULL, &err), &err);
        assert_string_equal(spec.algorithm, names[i]);
    }
    clean();
}

TEST(knowledge_is_auto_off_or_experiments)
{
    GOOD("");
    assert_int_equal(spec.knowledge, KNOWLEDGE_AUTO);
    GOOD("knowledge: off");
    assert_int_equal(spec.knowledge, KNOWLEDGE_OFF);
    GOOD("knowledge: []");
    assert_int_equal(spec.knowledge, KNOWLEDGE_OFF);
    GOOD("knowledge: other");
    assert_int_equal(spec.knowledge, KNOWLEDGE_LIST);
    assert_string_equal(spec.knowledge_from.at[0], "other");
    GOOD("knowledge: [12, off, some]");
    assert_int_equal(spec.knowledge_from.len, 3);
    assert_string_equal(spec.knowledge_from.at[0], "12");
    assert_string_equal(spec.knowledge_from.at[1], "off");
#define KNOWS "'knowledge' must be auto, off, or experiments by name or number, not "
    BAD("knowledge: [a b]", "t:3:13: " KNOWS "'a b'");
    BAD("knowledge: last", "t:3:12: " KNOWS "'last'"); /* not the same when it is read again */
    BAD("knowledge: 0", "t:3:12: " KNOWS "'0'");
    BAD("knowledge: 1.5", "t:3:12: " KNOWS "'1.5'");
    BAD("knowledge: {a: 1}", "t:3:12: " KNOWS "a mapping");
}

TEST(an_experiment_may_end_when_little_is_to_be_gained)
{
    GOOD("objective: a\nuntil: {improvement: 0.1%}");
    assert_true(fabs(spec.until_improvement - 0.001) < 1e-15);
    GOOD("until: {improvement: never}");
    assert_true(spec.until_improvement == 0);
#define SHARE "'until.improvement' must be a share between 0 and 1 like 0.1%, or never, not "
    BAD("objective: a\nuntil: {improvement: 0}", "t:4:22: " SHARE "'0'");
    BAD("objective: a\nuntil: {improvement: 1}", "t:4:22: " SHARE "'1'");
    BAD("objective: a\nuntil: {improvement: [1]}", "t:4:22: " SHARE "a list");
    BAD("until: {improvement: 1%}", "t:3:22: 'until' needs an objective");
    BAD("until: {improvment: 1%}",
        "t:3:9: unknown key 'until.improvment', did you mean 'until.improvement'?");
}

TEST(repeats_and_paused_memory)
{
    GOOD("search: {}");
    assert_true(!spec.no_repeats && spec.paused_memory == 0.25);
    GOOD("search: {repeats: never, paused_memory: 0}");
    assert_true(spec.no_repeats && spec.paused_memory == 0);
    BAD("search: {repeats: 3}", "t:3:19: 'search.repeats' must be one of auto, never, not '3'");
    BAD("search: {paused_memory: 95%}",
        "t:3:25: 'search.paused_memory' must be a number from 0 to 0.9, not '95%'");
}

TEST_MAIN
