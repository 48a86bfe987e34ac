/* SPDX-License-Identifier: MIT */
/*
 * parse_test.c — specs as people write them, and every error with its exact place.
 */
#include "spec/parse.h"
#include "tests/cpu.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct spec spec; /* of the test that runs */
static struct err err;
static struct str notes = STR_INIT;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    str_release(&notes);
    spec_init(&spec);
}

static int parse(const char *text)
{
    clean();
    return spec_parse(text, strlen(text), "t.yaml", "/w", NULL, &spec, &notes, &err);
}

#define GOOD(text) assert_ok(parse(text), &err)
#define BAD(text, sentence)                                                                        \
    do {                                                                                           \
        assert_int_equal(parse(text), -EINVAL);                                                    \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

TEST(the_whole_of_a_spec_is_read)
{
    GOOD("name: fashion-cnn\n"
         "description: a test\n"
         "tags: [a, b]\n"
         "command: python3 'my train.py' --x \"a b\"\n"
         "pass: env\nflags: value\nenv: {A: 1, B: 'x y'}\nworkdir: trial\noutput: pty\n"
         "metrics: {loss: 'l=(.*)'}\ndiverge: [loss]\n"
         "params: {lr: {min: 1e-4, max: 1e-1, scale: log}, seed: 7}\n"
         "objective: {metric: val_acc, goal: maximize, target: 93%}\n"
         "search: {algorithm: random, trials: 64, parallel: 3, stop: median, seed: 1}\n"
         "limits: {time: 2h, trial_time: 10m, retries: 0, output: 2M, grace: 500ms}\n"
         "retry: [3, 4]\n"
         "resources: {cpus: 1.5, memory: 2G, gpus: 2}\n"
         "code: {path: src, isolate: true}\n"
         "keep: {checkpoints: best 3, trials: 90d}\n");
    assert_string_equal(spec.name, "fashion-cnn");
    assert_string_equal(spec.description, "a test");
    assert_int_equal(spec.tags.len, 2);
    assert_int_equal(spec.command.len, 4);
    assert_string_equal(spec.command.at[1], "my train.py");
    assert_string_equal(spec.command.at[3], "a b");
    assert_int_equal(spec.pass, PASS_ENV);
    assert_true(spec.flags_value && spec.pty);
    assert_int_equal(spec.workdir, WORKDIR_TRIAL);
    assert_string_equal(spec.env.at[1].value, "x y");
    assert_string_equal(spec.patterns.at[0].key, "loss");
    assert_string_equal(spec.diverge.at[0], "loss");
    assert_int_equal(spec.space.n, 2);
    assert_string_equal(spec.objective.metric, "val_acc");
    assert_int_equal(spec.objective.goal, GOAL_MAXIMIZE);
    assert_true(fabs(spec.objective.target - 0.93) < 1e-12);
    assert_string_equal(spec.algorithm, "random");
    assert_int_equal(spec.trials, 64);
    assert_int_equal(spec.parallel, 3);
    assert_string_equal(spec.stop.rule, "median");
    assert_int_equal(spec.seed, 1);
    assert_int_equal(spec.time_us, 7200 * US_PER_S);
    assert_int_equal(spec.trial_time_us, 600 * US_PER_S);
    assert_int_equal(spec.retries, 0);
    assert_int_equal(spec.output_bytes, 2 << 20);
    assert_int_equal(spec.grace_us, 500000);
    assert_int_equal(spec.retry_codes.at[1], 4);
    assert_true(spec.cpus == 1.5);
    assert_int_equal(spec.memory_bytes, 2ull << 30);
    assert_int_equal(spec.gpus, 2);
    assert_string_equal(spec.code, "/w/src");
    assert_true(spec.code_isolate);
    assert_int_equal(spec.keep_checkpoints, KEEP_BEST);
    assert_int_equal(spec.keep_checkpoints_n, 3);
    assert_int_equal(spec.keep_trials_us, 90 * 86400 * US_PER_S);
    assert_string_equal(spec.dir, "/w");
    clean();
}

TEST(a_short_spec_has_sensible_defaults)
{
    GOOD("command: ./train\nparams: {lr: {min: 0.1, max: 1}}\n");
    assert_string_equal(spec.name, "t");
    assert_null(spec.objective.metric);
    assert_true(isnan(spec.objective.target));
    assert_string_equal(spec.algorithm, "auto");
    assert_string_equal(spec.stop.rule, "none");
    assert_int_equal(spec.trials, 100);
    assert_int_equal(spec.parallel, 0);
    assert_int_equal(spec.retries, 2);
    assert_int_equal(spec.output_bytes, 1 << 30);
    assert_int_equal(spec.grace_us, 10 * US_PER_S);
    assert_true(spec.cpus == 1 && spec.memory_bytes == 0 && spec.gpus == 0);
    assert_string_equal(spec.code, "/w");
    uint64_t seed = spec.seed;
    GOOD("command: ./train\nparams: {lr: {min: 0.1, max: 1}}\n");
    assert_true(seed != spec.seed);
    clean();
}

TEST(trials_are_at_most_the_settings_there_are)
{
    GOOD("command: x\n");
    assert_int_equal(spec.trials, 1);
    GOOD("command: x\nparams: {a: [1, 2, 3], b: [x, y]}\n");
    assert_int_equal(spec.trials, 6);
    GOOD("command: x\nparams: {a: {min: 1, max: 500, type: int}}\n");
    assert_int_equal(spec.trials, 100);
    GOOD("command: x\nparams: {a: {min: 1, max: 500, type: int}}\nsearch: {algorithm: grid}\n");
    assert_int_equal(spec.trials, 500);
    GOOD("command: x\nparams: {a: [1, 2]}\nsearch: {trials: 10}\n");
    assert_int_equal(spec.trials, 2);
    assert_string_equal(notes.s, "the space has only 2 different settings: 2 trials\n");
    clean();
}

TEST(an_unknown_key_gets_a_suggestion)
{
    BAD("command: x\nparms: {a: 1}\n", "t.yaml:2:1: unknown key 'parms', did you mean 'params'?");
    BAD("command: x\nsearch: {trails: 3}\n",
        "t.yaml:2:10: unknown key 'search.trails', did you mean 'search.trials'?");
    BAD("command: x\nzzz: 1\n", "t.yaml:2:1: unknown key 'zzz'");
    BAD("command: x\nsearch.trials: 1\n",
        "t.yaml:2:1: 'search.trials' is written as a mapping: search: {trials: …}");
}

TEST(an_objective_may_be_weighed_by_energy_and_averaged)
{
    GOOD("command: x\nobjective: {metric: a, per: energy, target: 1, average: 5}\n");
    assert_int_equal(spec.per, PER_ENERGY);
    assert_int_equal(spec.objective.average, 5);
    GOOD("command: x\nobjective: [a, b]\n");
    assert_int_equal(spec.objective.average, 1);
    assert_int_equal(spec.others.at[0].average, 1);
    BAD("command: x\nobjective: {metric: a, average: 0}\n",
        "t.yaml:2:33: 'objective.average' must be a whole number of 1 or more, not '0'");
    GOOD("command: x\nobjective: {metric: a, target: 1, workers: 90%}\n");
    assert_int_equal(spec.objective.workers, QUORUM_MOST);
    BAD("command: x\nobjective: {metric: a, workers: few}\n",
        "t.yaml:2:33: 'objective.workers' must be one of all, 90%, any, not 'few'");
    BAD("command: x\nobjective: [{metric: a, workers: any}, b]\n",
        "t.yaml:2:34: 'objective.workers' goes with one objective; there are several");
    BAD("command: x\nobjective: [{metric: a, average: 2}, b]\n",
        "t.yaml:2:34: 'objective.average' goes with one objective; there are several");
}

TEST(keys_of_later_issues_are_answered)
{
    BAD("command: x\nroles:\n", "t.yaml:2:1: 'roles' is not available yet");
    BAD("command: x\n\n\n\n\n\n\n\ncontainer: {image: x}\n",
        "t.yaml:9:1: 'container' is not available yet");
}

TEST(an_unknown_word_gets_a_suggestion)
{
    BAD("command: x\nsearch: {algorithm: randon}\n",
        "t.yaml:2:21: 'search.algorithm' cannot be 'randon', did you mean 'random'? (there are: "
        "auto, random, grid, sobol, bayes, forest, tpe, cmaes, evolve)");
    BAD("command: x\nsearch: {stop: medain}\n",
        "t.yaml:2:16: 'search.stop' cannot be 'medain', did you mean 'median'? (there are: none, "
        "median, curve, asha, hyperband)");
    BAD("command: x\npass: somehow\n",
        "t.yaml:2:7: 'pass' must be one of args, env, file, not 'somehow'");
    BAD("command: x\npass: [env]\n",
        "t.yaml:2:7: 'pass' must be one of args, env, file, not a list");
}

TEST(wrong_types_say_what_would_be_right)
{
    BAD("command: x\nsearch: {trials: many}\n",
        "t.yaml:2:18: 'search.trials' must be a whole number of 1 or more, not 'many'");
    BAD("command: x\nsearch: {trials: 0}\n",
        "t.yaml:2:18: 'search.trials' must be a whole number of 1 or more, not '0'");
    BAD("command: x\nsearch: {parallel: -1}\n",
        "t.yaml:2:20: 'search.parallel' must be a whole number from 1 to 100000 or auto, not '-1'");
    BAD("command: x\nsearch: 7\n", "t.yaml:2:9: 'search' must be a mapping, not '7'");
    BAD("command: x\nlimits: {time: soon}\n",
        "t.yaml:2:16: 'limits.time' must be a time like 90s, 10m or 2h30m or none, not 'soon'");
    BAD("command: x\nresources: {memory: big}\n",
        "t.yaml:2:21: 'resources.memory' must be a size like 512M or 2G or none, not 'big'");
    BAD("command: x\nresources: {cpus: no}\n",
        "t.yaml:2:19: 'resources.cpus' must be a number from 0.01 to 100000, not 'no'");
    BAD("command: x\nlimits: {deadline: teatime}\n",
        "t.yaml:2:20: 'limits.deadline' must be a time like 18:00 or 2026-11-20 18:00, not "
        "'teatime'");
    BAD("command: x\nretry: [0]\n",
        "t.yaml:2:9: 'retry' must be an exit code from 1 to 255, not '0'");
    BAD("command: x\nkeep: {checkpoints: best x}\n",
        "t.yaml:2:21: 'keep.checkpoints' must be all, best N or last N, not 'best x'");
    BAD("command: x\ncode: {isolate: maybe}\n",
        "t.yaml:2:17: 'code.isolate' must be true or false, not 'maybe'");
    BAD("command: x\nname: [a]\n", "t.yaml:2:7: 'name' must be a text, not a list");
    BAD("command: x\nname: a b\n", "t.yaml:2:7: 'a b' cannot be a name; it would be 'a_b'");
    BAD("command: x\nname: last\n",
        "t.yaml:2:7: 'last' cannot be a name: it means the newest experiment");
    BAD("command: {a: b}\n",
        "t.yaml:1:10: 'command' must be a text or a list of words, not a mapping");
    BAD("command: python3 'x\n", "t.yaml:1:10: 'command': a quote ' is opened and never closed");
    BAD("command: x\nparams: [a]\n",
        "t.yaml:2:9: 'params' must be a mapping of parameters, not a list");
    BAD("command: x\nenv: [a]\n",
        "t.yaml:2:6: 'env' must be a mapping of names to texts, not a list");
    BAD("command: x\nenv: {'a=b': c}\n", "t.yaml:2:7: 'a=b' cannot name a variable");
    BAD("command: x\nmetrics: {loss: 'no group'}\n",
        "t.yaml:2:17: 'metrics': the pattern of 'loss' needs a group (…) around its value");
    BAD("command: x\nmetrics: ['(.*)']\n",
        "t.yaml:2:11: 'metrics': a pattern in a list needs a named group like (?<loss>…)");
    BAD("- a\n", "t.yaml:1:1: a spec is a mapping (name: value), not a list");
    BAD("hello\n", "t.yaml:1:1: a spec is a mapping (name: value), not 'hello'");
}

TEST(what_does_not_go_together_is_refused)
{
    BAD("name: x\n", "t.yaml:1:1: no program to run: add 'command: …', or give it after --");
    BAD("command: ''\n", "t.yaml:1:1: no program to run: add 'command: …', or give it after --");
    BAD("command: x\nobjective: {goal: max}\n",
        "t.yaml:2:12: 'objective' needs a metric: {metric: val_loss}");
    BAD("command: x\nsearch: {stop: median}\n",
        "t.yaml:2:16: 'search.stop: median' needs an objective to compare trials by");
    BAD("command: x\nparams:\n  a: {min: 0.1, max: 2}\nsearch: {algorithm: grid}\n",
        "t.yaml:3:6: parameter 'a': a grid needs a finite number of values; give it a step or a "
        "list");
    BAD("command: x\nparams: {a: {min: 1, max: 1e6, type: int}, b: {min: 1, max: 1e6, type: int}}\n"
        "search: {algorithm: grid}\n",
        "t.yaml:3:9: the grid has 1e+12 settings, too many to run; give 'search.trials'");
}

TEST(broken_yaml_names_its_place)
{
    BAD("command: x\nparams: {a: [1\n", "t.yaml:3:1: flow sequence without a closing bracket");
    BAD("command: x\nsearch:\n\ttrials: 3\n",
        "t.yaml:3:1: tab character may not be used as indentation");
    BAD("command: x\ncommand: y\n",
        "t.yaml:2:1: the key 'command' stands here again; it was first on line 1");
    BAD("", "t.yaml: the file is empty");
    BAD("# only a comment\n", "t.yaml: the file is empty");
}

TEST(an_empty_value_counts_as_absent)
{
    GOOD("command: x\nparams:\nsearch:\nobjective:\nname:\n");
    assert_string_equal(spec.name, "t");
    clean();
}

TEST(metrics_have_three_forms)
{
    GOOD("command: x\nmetrics: ['a (?<x>.*)', {loss: '(.*)'}]\n");
    assert_int_equal(spec.patterns.len, 2);
    assert_string_equal(spec.patterns.at[0].key, "");
    assert_string_equal(spec.patterns.at[1].key, "loss");
    assert_false(spec.patterns_only);
    GOOD("command: x\nmetrics: {only: true, patterns: {loss: '(.*)'}}\n");
    assert_true(spec.patterns_only);
    assert_int_equal(spec.patterns.len, 1);
    GOOD("command: x\nmetrics: {only: true, loss: '(.*)'}\n");
    assert_true(spec.patterns_only);
    assert_string_equal(spec.patterns.at[0].key, "loss");
    BAD("command: x\nmetrics: {patterns: {}, loss: '(.*)'}\n",
        "t.yaml:2:25: 'metrics': 'loss' belongs under 'patterns'");
}

TEST(metrics_may_come_from_tensorboard_too)
{
    GOOD("command: x\nmetrics: {tensorboard: logs/}\n");
    assert_string_equal(spec.tensorboard, "logs/");
    assert_int_equal(spec.patterns.len, 0);
    GOOD("command: x\nmetrics: {tensorboard: /a/b, only: true, loss: '(.*)'}\n");
    assert_string_equal(spec.tensorboard, "/a/b");
    assert_string_equal(spec.patterns.at[0].key, "loss");
    assert_true(spec.patterns_only);
    GOOD("command: x\nmetrics: {tensorboard: ., patterns: ['(?<x>.*)']}\n");
    assert_string_equal(spec.tensorboard, ".");
    assert_int_equal(spec.patterns.len, 1);
    GOOD("command: x\nmetrics: {tensorboard: }\n");
    assert_null(spec.tensorboard);
    BAD("command: x\nmetrics: {tensorboard: ''}\n",
        "t.yaml:2:24: 'metrics.tensorboard' is the folder of the event files; '.' is where the "
        "trial runs");
    BAD("command: x\nmetrics: {tensorboard: [a]}\n",
        "t.yaml:2:24: 'metrics.tensorboard' must be a text, not a list");
}

TEST(metrics_of_the_system_are_taken_as_often_as_is_said)
{
    GOOD("command: x\n");
    assert_int_equal(spec.figures_us, 1000000);
    GOOD("command: x\nmetrics: {system: 250ms}\n");
    assert_int_equal(spec.figures_us, 250000);
    assert_int_equal(spec.patterns.len, 0);
    GOOD("command: x\nmetrics: {system: off, loss: '(.*)', tensorboard: .}\n");
    assert_int_equal(spec.figures_us, 0);
    assert_int_equal(spec.patterns.len, 1);
    GOOD("command: x\nmetrics: {system: }\n");
    assert_int_equal(spec.figures_us, 1000000);
    GOOD("command: x\nmetrics: {patterns: {system: 's (.*)'}}\n");
    assert_string_equal(spec.patterns.at[0].key, "system");
    BAD("command: x\nmetrics: {system: 10ms}\n",
        "t.yaml:2:19: 'metrics.system' must be off or how often to look, 100ms or longer, not "
        "'10ms'; a metric called so belongs under 'patterns'");
    BAD("command: x\nmetrics: {system: 's (.*)'}\n",
        "t.yaml:2:19: 'metrics.system' must be off or how often to look, 100ms or longer, not 's "
        "(.*)'; a metric called so belongs under 'patterns'");
    BAD("command: x\nmetrics: {system: [1s]}\n",
        "t.yaml:2:19: 'metrics.system' must be off or how often to look, 100ms or longer, not a "
        "list; a metric called so belongs under 'patterns'");
}

TEST(short_forms_mean_the_usual)
{
    GOOD("command: [a, 'b c']\nobjective: val_loss\ncode: none\n");
    assert_string_equal(spec.objective.metric, "val_loss");
    assert_int_equal(spec.objective.goal, GOAL_MINIMIZE);
    assert_null(spec.code);
    assert_string_equal(spec.command.at[1], "b c");
    GOOD("command: x\nobjective: {metric: a, goal: max}\ncode: ./sub\n");
    assert_int_equal(spec.objective.goal, GOAL_MAXIMIZE);
    assert_string_equal(spec.code, "/w/sub");
    clean();
}

TEST(a_deadline_is_resolved_from_now)
{
    struct spec_overrides o = {.now_us = 1700000000 * US_PER_S};
    const char *text = "command: x\nlimits: {deadline: '2023-11-20T18:00:00Z'}\n";

    clean();
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", &o, &spec, &notes, &err), &err);
    assert_int_equal(spec.deadline_us, 1700503200 * US_PER_S);
    assert_string_equal(notes.s, "");
    clean();
    o.now_us = 1700600000 * US_PER_S;
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", &o, &spec, &notes, &err), &err);
    assert_string_equal(notes.s, "limits.deadline: 2023-11-20T18:00:00Z is already past\n");
    clean();
    text = "command: x\nlimits: {deadline: 18:00}\n";
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", &o, &spec, &notes, &err), &err);
    assert_true(spec.deadline_us > o.now_us);
    assert_true(spec.deadline_us <= o.now_us + 25 * 3600 * US_PER_S);
    assert_string_equal(spec.deadline, "18:00");
    clean();
}

TEST(a_huge_file_is_refused_at_once)
{
    size_t n = 10 << 20;
    autofree(mem) char *text = xmalloc(n);

    memset(text, 'x', n);
    clean();
    assert_int_equal(spec_parse(text, n, "t.yaml", "/w", NULL, &spec, &notes, &err), -EFBIG);
    assert_string_equal(err_text(&err),
                        "t.yaml: larger than 4 MiB, too large for a file written by people");
    clean();
}

TEST(exploding_aliases_are_refused_quickly)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++)
        str_addf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    int64_t start = cpu_us();
    assert_int_equal(parse(text.s), -EINVAL);
    assert_non_null(strstr(err_text(&err), "more than 100000 values (aliases counted each time)"));
    assert_true(cpu_us() - start < 5 * US_PER_S);
    clean();
}

TEST(two_parameters_are_never_one_variable)
{
    BAD("pass: env\ncommand: x\nparams: {a-b: 1, a.b: 2}\n",
        "t.yaml:1:1: parameters 'a-b' and 'a.b' would both be the variable HONE_PARAM_A_B: rename "
        "one, or pass them otherwise than by 'pass: env'");
    GOOD("command: x\nparams: {a-b: 1, a.b: 2}\n");
}

TEST_MAIN
