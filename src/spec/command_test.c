/* SPDX-License-Identifier: MIT */
/*
 * command_test.c — what a program receives, word by word.
 */
#include "spec/parse.h"
#include "tests/test.h"

#include <math.h>

/* The words, then "||", then the variables, of the trial where each parameter has its k-th value;
 * inactive ones settled. */
static void assert_line_of(const char *text, size_t k, const double *system, const char *checkpoint,
                           const char *expected)
{
    autorelease(str) struct str got = STR_INIT;
    struct command_line line = {0};
    struct err err = ERR_INIT;
    struct spec spec;
    double x[16];

    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err), &err);
    for (size_t i = 0; i < spec.space.n; i++)
        x[i] = param_value_at(&spec.space.params[i],
                              MIN((double)k, param_size(&spec.space.params[i]) - 1));
    space_settle(&spec.space, x);
    assert_ok(spec_command_line(&spec, x, system, checkpoint, &line, &err), &err);
    for (size_t i = 0; i < line.argv.len; i++)
        str_addf(&got, "%s%s", i ? "|" : "", line.argv.at[i]);
    for (size_t i = 0; i < line.env.len; i++)
        str_addf(&got, "%s%s", i ? "|" : "||", line.env.at[i]);
    assert_string_equal(got.s, expected);
    command_line_release(&line);
    spec_release(&spec);
}

static void assert_line(const char *text, size_t k, const char *checkpoint, const char *expected)
{
    assert_line_of(text, k, NULL, checkpoint, expected);
}

TEST(parameters_are_appended_as_arguments)
{
    assert_line("command: a b\nparams: {lr: 1e-3, opt: 'x y', n: 007}\n", 0, NULL,
                "a|b|--lr=1e-3|--opt=x y|--n=007");
}

TEST(true_is_a_bare_flag_and_false_is_nothing)
{
    const char *bare = "command: a\nparams: {f: [true, false], t: 'true'}\n";
    const char *value = "command: a\nflags: value\nparams: {f: [true, false]}\n";

    assert_line(bare, 0, NULL, "a|--f|--t=true");
    assert_line(bare, 1, NULL, "a|--t=true");
    assert_line(value, 0, NULL, "a|--f=true");
    assert_line(value, 1, NULL, "a|--f=false");
}

TEST(names_in_braces_are_replaced_and_other_braces_stay)
{
    assert_line("command: [a, '{lr}', 'x={lr},{lr}', '{foo} {', '}', '{{lr}}', '{\"k\": {lr}}']\n"
                "params: {lr: 0.5, b: 1}\n",
                0, NULL, "a|0.5|x=0.5,0.5|{foo} {|}|{lr}|{\"k\": 0.5}|--b=1");
}

TEST(the_checkpoint_is_replaced_or_empty)
{
    assert_line("command: a --from={checkpoint}\n", 0, "/c/1-20", "a|--from=/c/1-20");
    assert_line("command: a --from={checkpoint}\n", 0, NULL, "a|--from=");
}

TEST(parameters_can_be_variables_or_only_a_file)
{
    assert_line("command: a {x}\npass: env\nenv: {K: v}\nparams: {x: 1, model.lr-2: 0.5}\n", 0,
                NULL, "a|1||K=v|HONE_PARAM_MODEL_LR_2=0.5");
    assert_line("command: a\npass: file\nparams: {x: 1}\n", 0, NULL, "a");
}

TEST(inactive_parameters_are_not_passed)
{
    const char *params = "params: {opt: [sgd, adam], m: {values: [0.9], when: {opt: sgd}}}\n";
    autofree(mem) char *appended = xasprintf("command: a\n%s", params);
    autofree(mem) char *pair = xasprintf("command: a --m {m} --opt {opt}\n%s", params);
    autofree(mem) char *joined = xasprintf("command: a --m={m} {opt}\n%s", params);
    autofree(mem) char *script = xasprintf("command: [sh, -c, 'run {m} {opt}']\n%s", params);

    assert_line(appended, 0, NULL, "a|--opt=sgd|--m=0.9");
    assert_line(appended, 1, NULL, "a|--opt=adam");
    assert_line(pair, 0, NULL, "a|--m|0.9|--opt|sgd");
    assert_line(pair, 1, NULL, "a|--opt|adam");
    assert_line(joined, 0, NULL, "a|--m=0.9|sgd");
    assert_line(joined, 1, NULL, "a|adam");
    assert_line(script, 1, NULL, "sh|-c|run  adam");
}

/* ---- system parameters ---- */

static const char levers[] =
    "params: {lr: 0.5}\nsystem: {threads: [1, 2], io: [mmap, read], cpus: {min: 1, max: 4}}\n";
static const double levers_x[] = {1, 0, 3};

TEST(only_the_program_s_own_system_parameters_are_appended)
{
    autofree(mem) char *args = xasprintf("command: a\n%s", levers);
    autofree(mem) char *env = xasprintf("command: a\npass: env\n%s", levers);

    assert_line_of(args, 0, levers_x, NULL, "a|--lr=0.5|--io=mmap");
    assert_line_of(env, 0, levers_x, NULL, "a||HONE_PARAM_LR=0.5|HONE_PARAM_IO=mmap");
    assert_line_of(args, 0, NULL, NULL, "a|--lr=0.5");
}

TEST(system_parameters_in_braces_are_replaced)
{
    autofree(mem) char *text = xasprintf("command: a -t {threads} --n={cpus} {io}\n%s", levers);

    assert_line_of(text, 0, levers_x, NULL, "a|-t|2|--n=3|mmap|--lr=0.5");
    assert_line_of(text, 0, NULL, NULL, "a|--lr=0.5");
}

TEST(without_tuning_no_system_parameter_is_passed)
{
    autofree(mem) char *off = xasprintf("command: a -t {threads}\ntune: off\n%s", levers);
    autofree(mem) char *hyper = xasprintf("command: a -t {threads}\ntune: hyper\n%s", levers);

    assert_line_of(off, 0, levers_x, NULL, "a|--lr=0.5");
    assert_line_of(hyper, 0, levers_x, NULL, "a|-t|2|--lr=0.5|--io=mmap");
}

TEST(joint_system_parameters_are_passed_alike)
{
    autofree(mem) char *text = xasprintf("command: a {cpus}\ntune: joint\n%s", levers);
    assert_line(text, 1, NULL, "a|2|--lr=0.5|--io=read");
}

TEST(the_file_of_parameters_holds_the_program_s_own)
{
    static const char *const modes[] = {"pipelined", "joint"};

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        autofree(mem) char *text = xasprintf("command: a\ntune: %s\n%s", modes[i], levers);
        autorelease(str) struct str json = STR_INIT;
        struct json_out out = JSON_OUT(&json);
        struct err err = ERR_INIT;
        struct spec spec;
        const double point[] = {0, 1, 0, 3};
        spec_init(&spec);
        assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err), &err);
        spec_params_json(&spec, point, levers_x, &out);
        assert_string_equal(json.s, "{\"lr\":0.5,\"io\":\"mmap\"}");
        spec_release(&spec);
    }
}

static void assert_unknown(const char *command, const char *expected)
{
    autofree(mem) char *text = xasprintf("command: [a, '%s']\n%s", command, levers);
    autorelease(str) struct str names = STR_INIT;
    autorelease(spec) struct spec spec;
    struct err err = ERR_INIT;

    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t", "/w", NULL, &spec, NULL, &err), &err);
    spec_unknown_names(&spec, &names);
    assert_string_equal(names.s, expected);
}

TEST(names_in_braces_that_nobody_has_are_listed_once)
{
    assert_unknown("{lr} {cpus} {checkpoint}", "");
    assert_unknown("{rl}", "{rl}");
    assert_unknown("--a={rl},{rl} {b-c.d}", "{rl}, {b-c.d}");
    assert_unknown("{{rl}} ${HOME} {} {\"a\":1} {a,b} {print $1} { x } {1}", "");
    assert_unknown("{\"a\":{rl}}", "{rl}");
    assert_unknown("{rl", "");
    assert_unknown("{", "");
}

TEST_MAIN
