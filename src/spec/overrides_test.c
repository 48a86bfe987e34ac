/* SPDX-License-Identifier: MIT */
/*
 * overrides_test.c — what the command line changes, and how it says what is wrong.
 */
#include "base/fs.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static struct spec spec;
static struct err err;
static struct spec_overrides o;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    spec_overrides_release(&o);
    o = (struct spec_overrides){0};
    spec_init(&spec);
}

#define SET(text)   vec_push(&o.set, xstrdup(text))
#define FIX(text)   vec_push(&o.fix, xstrdup(text))
#define PARAM(text) vec_push(&o.param, xstrdup(text))

static const char base[] = "command: python3 train.py\n"
                           "params:\n"
                           "  lr: {min: 0.1, max: 1}\n"
                           "  opt: [sgd, adam]\n"
                           "  mom: {min: 0.0, max: 1, when: {opt: sgd}}\n"
                           "  a.b: {min: 1, max: 5, type: int}\n"
                           "objective: val_loss\n"
                           "search: {trials: 9}\n";

static int parse(void)
{
    return spec_parse(base, strlen(base), "t.yaml", "/w", &o, &spec, NULL, &err);
}

static void assert_bad(const char *sentence)
{
    assert_int_equal(parse(), -EINVAL);
    assert_string_equal(err_text(&err), sentence);
    clean();
}

static void assert_param(const char *name, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    ptrdiff_t i = space_find(&spec.space, name);

    assert_true(i >= 0);
    const struct param *param = &spec.space.params[i];
    for (double k = 0; k < fmin(param_size(param), 9); k++) {
        str_add(&text, k > 0 ? " " : "");
        param_text(param, param_value_at(param, k), &text);
    }
    assert_string_equal(text.s, expected);
}

TEST(any_key_can_be_set)
{
    clean();
    SET("search.parallel=4");
    SET("search.trials=12");
    SET("limits={time: 2h}");
    SET("name=other");
    SET("env.A=x");
    SET("objective.goal=maximize");
    SET("code.isolate=true");
    SET("params.lr.max=3");
    SET("params.a.b.max=2");
    SET("params.new.x=[u, v]");
    SET("metrics.loss='l (.*)'");
    assert_ok(parse(), &err);
    assert_int_equal(spec.parallel, 4);
    assert_int_equal(spec.trials, 12);
    assert_int_equal(spec.time_us, 7200000000);
    assert_string_equal(spec.name, "other");
    assert_string_equal(spec.env.at[0].key, "A");
    assert_string_equal(spec.objective.metric, "val_loss");
    assert_int_equal(spec.objective.goal, GOAL_MAXIMIZE);
    assert_true(spec.code_isolate);
    assert_true(spec.space.params[space_find(&spec.space, "lr")].max == 3);
    assert_param("a.b", "1 2");
    assert_param("new.x", "u v");
    assert_string_equal(spec.patterns.at[0].key, "loss");
    clean();
}

TEST(system_parameters_can_be_set_and_fixed)
{
    clean();
    SET("system.threads=[2, 1]");
    SET("system.cpus={min: 1, max: 4}");
    SET("system.cpus.start=3");
    SET("tune=hyper");
    assert_ok(parse(), &err);
    assert_int_equal(spec.tune, TUNE_HYPER);
    assert_int_equal(spec.system.n, 2);
    assert_string_equal(spec.system.params[0].choices[0].text, "2");
    assert_true(spec.settings[1].start == 3);
    clean();
    FIX("threads=1");
    SET("system.threads=[2, 1]");
    assert_ok(parse(), &err);
    assert_int_equal(spec.system.params[0].n_choices, 1);
    assert_string_equal(spec.system.params[0].choices[0].text, "1");
    clean();
}

TEST(errors_name_the_option)
{
    clean();
    SET("objective=[a, b]");
    SET("objective.goal=maximize");
    assert_bad("--set objective.goal=maximize: 'objective' is a list: give it whole, --set "
               "objective=[…]");
    SET("search.paralel=4");
    assert_bad("--set search.paralel=4: unknown key 'search.paralel', did you mean "
               "'search.parallel'?");
    SET("search.trials=many");
    assert_bad("--set search.trials=many: 'search.trials' must be a whole number of 1 or more, not "
               "'many'");
    SET("serch=1");
    assert_bad("--set serch=1: unknown key 'serch', did you mean 'search'?");
    SET("search");
    assert_bad("--set search: must be NAME=VALUE");
    SET("name=");
    assert_bad("--set name=: the value is missing");
    SET("system.threads=0");
    assert_bad("--set system.threads=0: 'system.threads' must be a whole number of 1 or more, not "
               "'0'");
    SET("tune=of");
    assert_bad("--set tune=of: 'tune' cannot be 'of', did you mean 'off'? (there are: pipelined, "
               "joint, hyper, off, off-raw)");
    SET("roles.ps=1");
    assert_bad("--set roles.ps=1: 'roles' is not available yet");
    SET("search.repeats=1");
    assert_bad("--set search.repeats=1: 'search.repeats' must be one of auto, never, not '1'");
    SET("params.lr.min=5");
    assert_bad("--set params.lr.min=5: parameter 'lr': min 5 is above max 1");
    SET("name=[1");
    assert_bad("--set name=[1: flow sequence without a closing bracket");
}

TEST(a_parameter_can_be_fixed)
{
    clean();
    FIX("lr=0.25");
    FIX("opt=adam");
    assert_ok(parse(), &err);
    assert_param("lr", "0.25");
    assert_param("opt", "adam");
    const struct param *mom = &spec.space.params[space_find(&spec.space, "mom")];
    assert_int_equal(mom->when[0].n_values, 0);
    clean();
    FIX("mom=0.9");
    assert_ok(parse(), &err);
    assert_param("mom", "0.9");
    assert_int_equal(spec.space.params[space_find(&spec.space, "mom")].n_when, 1);
    clean();
    FIX("lrr=1");
    assert_bad("-p lrr=1: there is no parameter 'lrr', did you mean 'lr'?");
    FIX("sleep=0.3");
    assert_bad("-p sleep=0.3: there is no parameter 'sleep'; --param sleep=0.3 adds it");
    FIX("lr");
    assert_bad("-p lr: must be NAME=VALUE");
}

TEST(parameters_can_be_given_in_short)
{
    clean();
    PARAM("lr=0.001..0.1:log");
    PARAM("batch=32,64,128");
    PARAM("layers=1..4:int");
    PARAM("depth=1..8:log:int");
    PARAM("epochs=5..20..5");
    PARAM("seed=7");
    PARAM("data=../here");
    PARAM("neg=-1..-0.5");
    assert_ok(parse(), &err);
    const struct param *lr = &spec.space.params[space_find(&spec.space, "lr")];
    assert_int_equal(lr->scale, SCALE_LOG);
    assert_true(lr->min == 0.001 && lr->max == 0.1);
    assert_param("batch", "32 64 128");
    assert_param("layers", "1 2 3 4");
    assert_int_equal(spec.space.params[space_find(&spec.space, "depth")].type, PARAM_INT);
    assert_param("epochs", "5 10 15");
    assert_param("seed", "7");
    assert_param("data", "../here");
    assert_true(spec.space.params[space_find(&spec.space, "neg")].max == -0.5);
    clean();
    PARAM("x=1..2:lgo");
    assert_bad("--param x=1..2:lgo: ':lgo' is unknown; there are :log, :linear, :int, :float");
    PARAM("x=3..2");
    assert_bad("--param x=3..2: parameter 'x': min 3 is above max 2");
    PARAM("a b=3");
    assert_bad("--param a b=3: parameter name 'a b' cannot be passed to a program; use letters, "
               "digits, '_', '-', '.', and begin with a letter or '_'");
    PARAM("x=1..5..1:log");
    assert_bad("--param x=1..5..1:log: parameter 'x': 'scale' does not go with 'range'");
}

TEST(what_was_meant_as_a_range_is_no_text)
{
    static const char *const spans[] = {"nan..1", "0.1..abc",     "0.001-0.1", "1e-3-1e-1:log",
                                        "-5--1",  "0.1..abc:log", "..",        "1..2,3..4",
                                        "1..2..x"};
    static const char *const texts[] = {"../here", "a/..",       "1e-3", "-5",
                                        "a-b",     "2020-01-01", "-",    "1.5"};

    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        autofree(mem) char *given = xasprintf("x=%s", spans[i]);
        autofree(mem) char *sentence =
            xasprintf("--param %s: '%s' is no range: a range is written 0.001..0.1; if it is a "
                      "text, say --set params.x='%s'",
                      given, spans[i], spans[i]);
        clean();
        PARAM(given);
        assert_bad(sentence);
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autofree(mem) char *given = xasprintf("x=%s", texts[i]);
        clean();
        PARAM(given);
        assert_ok(parse(), &err);
        assert_param("x", texts[i]);
    }
    clean();
    SET("params.x='0.001-0.1'");
    assert_ok(parse(), &err);
    assert_param("x", "0.001-0.1");
    clean();
}

TEST(without_a_file_the_program_gives_the_name)
{
    static const char *const python[] = {"python3", "./my train.py", "-v"};
    static const char *const own[] = {"/opt/bin/solver.exe"};

    clean();
    o.command = python;
    o.n_command = 3;
    PARAM("lr=0.001..0.1:log");
    assert_ok(spec_load(NULL, &o, &spec, NULL, &err), &err);
    assert_string_equal(spec.name, "my_train");
    assert_null(spec.file);
    assert_int_equal(spec.command.len, 3);
    assert_int_equal(spec.dir[0], '/');
    clean();
    o.command = own;
    o.n_command = 1;
    assert_ok(spec_load(NULL, &o, &spec, NULL, &err), &err);
    assert_string_equal(spec.name, "solver");
    clean();
    assert_int_equal(spec_load(NULL, &o, &spec, NULL, &err), -EINVAL);
    assert_string_equal(err_text(&err), "no program to run: give its command after --, or a spec "
                                        "with 'command'");
    clean();
}

TEST(the_command_line_wins_over_the_file)
{
    static const char *const words[] = {"./other", "{lr}", ""};

    clean();
    o.command = words;
    o.n_command = 3;
    assert_ok(parse(), &err);
    assert_int_equal(spec.command.len, 3);
    assert_string_equal(spec.command.at[0], "./other");
    assert_string_equal(spec.command.at[2], "");
    clean();
}

TEST(a_shared_branch_is_changed_in_one_place_only)
{
    const char *text = "command: x\nparams:\n  a: &r {min: 1, max: 3, type: int}\n  b: *r\n";

    clean();
    SET("params.a.max=2");
    assert_ok(spec_parse(text, strlen(text), "t", "/w", &o, &spec, NULL, &err), &err);
    assert_param("a", "1 2");
    assert_param("b", "1 2 3");
    clean();
}

TEST(a_file_gives_folder_and_name)
{
    char dir[] = "/tmp/hone-spec-XXXXXX";
    static const char text[] = "command: x\n";

    clean();
    assert_non_null(mkdtemp(dir));
    autofree(mem) char *path = xasprintf("%s/3 nets.v2.yaml", dir);
    autofree(mem) char *missing = xasprintf("%s/none.yaml", dir);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0600, &err), &err);
    assert_ok(spec_load(path, NULL, &spec, NULL, &err), &err);
    assert_string_equal(spec.name, "_3_nets_v2");
    assert_string_equal(spec.dir, dir);
    assert_string_equal(spec.file, path);
    assert_string_equal(spec.code, dir);
    clean();
    assert_int_equal(spec_load(missing, NULL, &spec, NULL, &err), -ENOENT);
    clean();
    assert_int_equal(spec_load(dir, NULL, &spec, NULL, &err), -EISDIR);
    clean();
    assert_ok(fs_remove_tree(dir, &err), &err);
}

TEST_MAIN
