/* SPDX-License-Identifier: MIT */
/*
 * system_test.c — the section `system`: its forms, its errors with their places, joined to the
 * search, and fitted to a machine.
 */
#include "spec/parse.h"
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

/* The section alone. */
static int parse_system(const char *system)
{
    autofree(mem) char *text = xasprintf("command: x\nsystem: %s\n", system);
    return parse(text);
}

#define GOOD(system) assert_ok(parse_system(system), &err)
#define BAD(system, sentence)                                                                      \
    do {                                                                                           \
        assert_int_equal(parse_system(system), -EINVAL);                                           \
        assert_string_equal(err_text(&err), "t.yaml:2:" sentence);                                 \
        clean();                                                                                   \
    } while (0)

static const struct param *param_of(const char *name)
{
    ptrdiff_t i = space_find(&spec.system, name);
    assert_true(i >= 0);
    return &spec.system.params[i];
}

static const struct system_setting *setting_of(const char *name)
{
    return &spec.settings[param_of(name) - spec.system.params];
}

TEST(a_list_starts_with_its_first_value)
{
    GOOD("{threads: [4, 1, 2], workers: [0, 2], batch_io: [mmap, read]}");
    assert_int_equal(spec.system.n, 3);
    assert_int_equal(spec.space.n, 0);
    assert_int_equal(param_of("threads")->type, PARAM_CHOICE);
    assert_true(param_of("threads")->ordered);
    assert_true(setting_of("threads")->start == 0);
    assert_string_equal(param_of("threads")->choices[0].text, "4");
    assert_string_equal(param_of("batch_io")->choices[1].text, "read");
    assert_string_equal(notes.s, "");
    clean();
}

TEST(a_range_has_whole_numbers_and_a_start)
{
    GOOD("{cpus: {min: 1, max: 4}, threads: {min: 1, max: 8, start: 4}, workers: {min: 0, max: 4}, "
         "nice: {min: -5, max: 10, step: 5, start: 0}, interop: {range: [1, 5]}}");
    for (size_t i = 0; i < spec.system.n; i++)
        assert_int_equal(spec.system.params[i].type, PARAM_INT);
    assert_true(isnan(setting_of("cpus")->start));
    assert_true(setting_of("threads")->start == 4);
    assert_true(setting_of("workers")->start == 0);
    assert_true(setting_of("nice")->start == 0);
    assert_true(setting_of("interop")->start == 1);
    assert_true(param_of("interop")->max == 4);
    clean();
}

TEST(a_constant_and_a_start_within_a_list_are_read)
{
    GOOD("{threads: 2, cpus: {min: 3, max: 3}, memory: {values: [512M, 2G], start: 2048M}}");
    assert_true(param_size(param_of("threads")) == 1);
    assert_true(setting_of("threads")->start == 0);
    assert_true(setting_of("cpus")->start == 0);
    assert_true(setting_of("memory")->start == 1);
    clean();
}

TEST(sizes_and_frequencies_are_numbers_shown_as_written)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    const double x[] = {1, 0, 2};

    GOOD("{memory: ['512M', 2G, 4096], frequency: [2.4GHz, 800 MHz, 1200000, 1.5e6kHz], "
         "cpu_quota: [2, 1.5, 0.5]}");
    assert_true(param_of("memory")->choices[1].number == 2147483648.0);
    assert_true(param_of("frequency")->choices[0].number == 2400000);
    assert_true(param_of("frequency")->choices[1].number == 800000);
    assert_true(param_of("frequency")->choices[3].number == 1500000);
    space_json(&spec.system, x, &out);
    assert_string_equal(json.s, "{\"memory\":2147483648,\"frequency\":2400000,\"cpu_quota\":0.5}");
    space_words(&spec.system, x, &words);
    assert_string_equal(words.s, "memory=2G frequency=2.4GHz cpu_quota=0.5");
    clean();
}

static void check_typed(const char *name, double value, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    assert_true(system_add_typed(name, value, &text) == (*expected != '\0'));
    assert_string_equal(text.s ? text.s : "", expected);
}

TEST(sizes_and_frequencies_are_told_as_one_types_them)
{
    check_typed("memory", 419430400, "400M");
    check_typed("memory", 1610612736, "1536M");
    check_typed("memory", 2147483648.0, "2G");
    check_typed("memory", 1000000, "1000000");
    check_typed("memory", 0.5, "");
    check_typed("frequency", 1200000, "1.2GHz");
    check_typed("frequency", 800000, "800MHz");
    check_typed("frequency", 2399999, "2399999kHz");
    check_typed("threads", 419430400, "");
    GOOD("{memory: [400M, 1536M, 1000000, 3K], frequency: [1.2GHz, 800MHz, 2399999kHz]}");
    for (size_t k = 0; k < 4; k++) {
        const struct param *memory = param_of("memory");
        check_typed("memory", memory->choices[k].number, memory->choices[k].text);
    }
    clean();
}

TEST(what_hone_puts_in_place_is_live_and_the_rest_restarts)
{
    static const char *const live[] = {"cpus", "cpu_quota", "memory",
                                       "nice", "frequency", "threads"};
    static const char *const restart[] = {"interop", "workers", "ps", "worker", "own"};

    GOOD("{cpus: 1, cpu_quota: 1, memory: 1G, nice: 1, frequency: 1GHz, threads: 1, interop: 1, "
         "workers: 1, ps: 1, worker: 1, own: 1}");
    for (size_t i = 0; i < ARRAY_LEN(live); i++)
        assert_false(setting_of(live[i])->restart);
    for (size_t i = 0; i < ARRAY_LEN(restart); i++)
        assert_true(setting_of(restart[i])->restart);
    GOOD("{threads: {values: [1, 2], apply: restart}, workers: {min: 0, max: 2, apply: live}}");
    assert_true(setting_of("threads")->restart);
    assert_false(setting_of("workers")->restart);
    clean();
}

TEST(a_value_that_a_name_does_not_allow_is_refused_where_it_stands)
{
    BAD("{threads: [1, 0]}", "23: 'system.threads' must be a whole number of 1 or more, not '0'");
    BAD("{threads: [1, 1.5]}",
        "23: 'system.threads' must be a whole number of 1 or more, not '1.5'");
    BAD("{threads: [1, two]}",
        "23: 'system.threads' must be a whole number of 1 or more, not 'two'");
    BAD("{cpus: {min: 0, max: 4}}", "22: 'system.cpus' must be a whole number of 1 or more, not 0");
    BAD("{cpus: {min: 1, max: 1e6}}", "30: 'system.cpus' may be at most 100000, not 1e+06");
    BAD("{workers: -1}", "19: 'system.workers' must be a whole number of 0 or more, not '-1'");
    BAD("{workers: auto}", "19: 'system.workers' must be a whole number of 0 or more, not 'auto'");
    BAD("{cpu_quota: [0]}", "22: 'system.cpu_quota' must be a number of 0.01 or more, not '0'");
    BAD("{cpu_quota: [.nan]}",
        "22: 'system.cpu_quota' must be a number of 0.01 or more, not '.nan'");
    BAD("{nice: {values: [0, 20]}}",
        "29: 'system.nice' must be a whole number from -20 to 19, not '20'");
    BAD("{memory: [lots]}", "19: 'system.memory' must be a size like 512M or 2G, not 'lots'");
    BAD("{memory: 0}", "18: 'system.memory' must be a size like 512M or 2G, not '0'");
    BAD("{memory: [1G, 1024M]}", "23: system.memory: 1G and 1024M are the same");
    BAD("{memory: {min: 1, max: 2}}", "18: system.memory: give a list instead of a range");
    BAD("{frequency: [2.4GB]}",
        "22: 'system.frequency' must be a frequency like 2.4GHz, or a number of kHz, not '2.4GB'");
    BAD("{frequency: [inf]}",
        "22: 'system.frequency' must be a frequency like 2.4GHz, or a number of kHz, not 'inf'");
}

TEST(what_changes_learning_is_said_or_known)
{
    autorelease(str) struct str text = STR_INIT;

    GOOD("{worker: [1, 2], own: {values: [1, 2], learning: true}, threads: [1, 2]}");
    assert_true(spec.settings[0].learning && spec.settings[1].learning);
    assert_false(spec.settings[2].learning);
    spec_json(&spec, &text);
    assert_ok(parse(text.s), &err);
    assert_true(spec.settings[0].learning && spec.settings[1].learning);
    GOOD("{worker: {values: [1, 2], learning: false}}");
    assert_false(spec.settings[0].learning);
    clean();
}

TEST(a_form_that_makes_no_sense_is_refused)
{
    BAD("[threads]", "9: 'system' must be a mapping of system parameters, not a list");
    BAD("{threads: }", "10: parameter 'threads' has no value");
    BAD("{threads: []}", "19: parameter 'threads': the list is empty, so there is nothing to try");
    BAD("{threads: {}}", "19: parameter 'threads': needs min and max, or values, or range");
    BAD("{threads: {min: 4, max: 1}}", "25: parameter 'threads': min 4 is above max 1");
    BAD("{threads: {min: 1, max: 2.5}}",
        "33: system.threads: a range has whole numbers, so 'max' cannot be '2.5'; list others");
    BAD("{threads: {min: 1, max: 2, type: float}}",
        "42: system.threads: a range has whole numbers; list others");
    BAD("{threads: {values: auto, max: 4}}",
        "39: parameter 'threads': 'max' does not go with 'values'");
    BAD("{workers: {values: auto}}",
        "28: parameter 'workers': 'values' must be a list, not 'auto'");
    BAD("{threads: {values: [1], when: {a: 1}}}",
        "33: system.threads: 'when' goes with hyperparameters only");
    BAD("{threads: {values: [1], prior: 1}}",
        "33: system.threads: 'prior' goes with hyperparameters only");
    BAD("{threads: {values: [1], strat: 1}}",
        "33: system.threads: unknown key 'strat', did you mean 'start'?");
    BAD("{threads: {min: 1, max: 8, start: 9}}",
        "43: system.threads: 'start' must be one of its values, not '9'");
    BAD("{threads: {values: [1, 2], start: 4}}",
        "43: system.threads: 'start' must be one of its values, not '4'");
    BAD("{memory: {values: [1G], start: [1]}}",
        "40: parameter 'memory': a value must be a number or a text, not a list");
    BAD("{threads: {values: [1], apply: livee}}",
        "40: system.threads: 'apply' must be live or restart, not 'livee', did you mean 'live'?");
    BAD("{threads: {values: [1], apply: [live]}}",
        "40: system.threads: 'apply' must be live or restart, not a list");
    BAD("{threads: [\"1\", 2]}",
        "20: 'system.threads' must be a whole number of 1 or more, not the "
        "text '1': leave out the quotes");
    BAD("{threads: {min: \"1\", max: 4}}",
        "25: system.threads: 'min' must be a number, not the text '1': leave out the quotes");
    BAD("{threads: 200000}", "19: 'system.threads' may be at most 100000, not '200000'");
    BAD("{threads: {min: 1, max: 1000000}}",
        "33: 'system.threads' may be at most 100000, not 1e+06");
    BAD("{own: {min: 0, max: 5000}}",
        "15: system.own: from 0 to 5000 are 5001 values; a range may hold at most 1000: give it a "
        "smaller 'max' or a larger 'step'");
    BAD("{own: {values: [1], learning: 7}}",
        "39: system.own: 'learning' must be true or false, not '7'");
    BAD("{threads: {values: [1], learning: true}}",
        "43: system.threads: it does not change learning; that goes with settings of the program's "
        "own");
    BAD("{interop: {values: [1], apply: live}}",
        "40: system.interop: it cannot be changed in a running program; 'apply' must be restart");
    BAD("{1x: 2}",
        "10: parameter name '1x' cannot be passed to a program; use letters, digits, '_', "
        "'-', '.', and begin with a letter or '_'");
    BAD("{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: "
        "1, "
        "p: 1, q: 1}",
        "106: more than 16 system parameters");
}

TEST(a_list_of_very_many_values_is_refused)
{
    autorelease(str) struct str list = STR_INIT;

    str_add(&list, "{own: [0");
    for (int i = 1; i <= 1000; i++)
        str_addf(&list, ", %d", i);
    str_add(&list, "]}");
    BAD(list.s, "15: system.own: a list may hold at most 1000 values");
}

TEST(a_name_is_a_parameter_or_a_system_parameter)
{
    assert_int_equal(parse("command: x\nsystem: {threads: [1, 2]}\nparams: {threads: [1]}\n"),
                     -EINVAL);
    assert_string_equal(err_text(&err), "t.yaml:2:10: system.threads: 'threads' stands in 'params' "
                                        "too; it must be one or the other");
    assert_int_equal(parse("command: x\npass: env\nsystem: {my-io: 1}\nparams: {my_io: 1}\n"),
                     -EINVAL);
    assert_non_null(strstr(err_text(&err), "would both be the variable HONE_PARAM_MY_IO"));
    clean();
}

TEST(a_name_close_to_one_of_hone_s_is_noted)
{
    GOOD("{thread: [1, 2]}");
    assert_string_equal(notes.s, "system.thread: Hone has no such one, so it is passed to the "
                                 "program, did you mean 'threads'?\n");
    clean();
}

TEST(tune_has_its_modes)
{
    static const char *const words[] = {"pipelined", "joint", "hyper", "off", "off-raw"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        autofree(mem) char *text = xasprintf("command: x\ntune: %s\n", words[i]);
        assert_ok(parse(text), &err);
        assert_int_equal(spec.tune, i);
        assert_false(spec_has_system(&spec));
    }
    assert_ok(parse("command: x\n"), &err);
    assert_int_equal(spec.tune, TUNE_PIPELINED);
    assert_int_equal(parse("command: x\ntune: pipeline\n"), -EINVAL);
    assert_string_equal(err_text(&err), "t.yaml:2:7: 'tune' cannot be 'pipeline', did you mean "
                                        "'pipelined'? (there are: pipelined, joint, hyper, off, "
                                        "off-raw)");
    assert_ok(parse("command: x\ntune: off\nsystem: {threads: [1, 2]}\n"), &err);
    assert_false(spec_has_system(&spec));
    clean();
}

/* ---- joint ---- */

TEST(joint_system_parameters_are_the_last_of_the_space)
{
    assert_ok(parse("command: x\nsystem: {threads: [1, 2], workers: {min: 0, max: 3}}\n"
                    "tune: joint\nobjective: loss\n"
                    "forbid: [{opt: sgd, threads: 2}]\ntry: [{opt: sgd}, {threads: 2, opt: adam}]\n"
                    "params: {m: {values: [1, 2], when: {opt: sgd}}, opt: [sgd, adam]}\n"),
              &err);
    assert_int_equal(spec.space.n, 4);
    assert_int_equal(spec.joint_n, 2);
    assert_int_equal(spec.system.n, 0);
    assert_true(spec_has_system(&spec));
    assert_string_equal(spec.space.params[0].name, "opt");
    assert_string_equal(spec.space.params[2].name, "threads");
    assert_string_equal(spec.space.params[3].name, "workers");
    assert_true(spec.settings[1].restart);
    assert_int_equal(spec.space.n_forbids, 1);
    assert_true(spec.tries.at[0][2] == TRY_FREE);
    assert_true(spec.tries.at[1][2] == 1);
    assert_true(space_size(&spec.space) == (1 * 2 + 2) * 4);
    assert_int_equal(spec.per, PER_SECONDS);
    clean();
}

TEST(joint_weighs_by_seconds_unless_told_otherwise)
{
    assert_ok(parse("command: x\ntune: joint\nsystem: {threads: [1, 2]}\n"
                    "objective: {metric: a, per: trial}\n"),
              &err);
    assert_int_equal(spec.per, PER_TRIAL);
    assert_ok(parse("command: x\ntune: joint\nobjective: a\n"), &err);
    assert_int_equal(spec.per, PER_TRIAL);
    assert_ok(parse("command: x\ntune: joint\nsystem: {threads: [1, 2]}\nobjective: [a, b]\n"),
              &err);
    assert_int_equal(spec.per, PER_TRIAL);
    clean();
}

/* ---- on a machine ---- */

static void resolve(double cpus)
{
    assert_ok(spec_system_resolve(&spec, cpus, &err), &err);
}

TEST(auto_ends_at_the_machine_s_cpus)
{
    double x[2];

    GOOD("{threads: auto, cpus: auto}");
    resolve(6);
    assert_true(param_of("threads")->min == 1 && param_of("threads")->max == 6);
    assert_true(param_of("cpus")->max == 6);
    assert_true(isnan(setting_of("cpus")->start));
    spec_system_start(&spec, 2.5, x);
    assert_true(x[0] == 2 && x[1] == 2);
    spec_system_start(&spec, 0.5, x);
    assert_true(x[0] == 1);
    spec_system_start(&spec, 100, x);
    assert_true(x[0] == 6);
    GOOD("{threads: auto}");
    resolve(1);
    assert_true(param_size(param_of("threads")) == 1);
    spec_system_start(&spec, 1, x);
    assert_true(x[0] == 0);
    assert_string_equal(param_of("threads")->choices[0].text, "1");
    clean();
}

TEST(values_beyond_the_machine_go_away)
{
    GOOD("{cpus: [4, 1, 2, 8], threads: [32, 8, 1], workers: [64]}");
    resolve(2);
    assert_int_equal(param_of("cpus")->n_choices, 2);
    assert_string_equal(param_of("cpus")->choices[(size_t)setting_of("cpus")->start].text, "2");
    assert_int_equal(param_of("threads")->n_choices, 2);
    assert_string_equal(param_of("threads")->choices[(size_t)setting_of("threads")->start].text,
                        "8");
    assert_int_equal(param_of("workers")->n_choices, 1);
    GOOD("{cpus: {min: 1, max: 64, step: 3, start: 40}, threads: {min: 1, max: 3, start: 2}}");
    resolve(9);
    assert_true(param_of("cpus")->max == 7 && setting_of("cpus")->start == 7);
    assert_true(param_of("threads")->max == 3 && setting_of("threads")->start == 2);
    resolve(9);
    assert_true(param_of("cpus")->max == 7 && setting_of("cpus")->start == 7);
    clean();
}

TEST(a_machine_that_is_too_small_is_told)
{
    GOOD("{cpus: [8, 4]}");
    assert_int_equal(spec_system_resolve(&spec, 2, &err), -EINVAL);
    assert_string_equal(err_text(&err),
                        "system.cpus: this machine has 2 cpus, and 4 is the least that is listed");
    GOOD("{cpus: {min: 2, max: 4}}");
    assert_int_equal(spec_system_resolve(&spec, 1, &err), -EINVAL);
    assert_string_equal(err_text(&err),
                        "system.cpus: this machine has 1 cpu, and 2 is the least of its range");
    GOOD("{threads: [16]}");
    assert_int_equal(spec_system_resolve(&spec, 2, &err), -EINVAL);
    assert_string_equal(err_text(&err), "system.threads: this machine has 2 cpus, enough for 8 "
                                        "threads, and 16 is the least that is listed");
    assert_ok(parse("command: x\ntune: off\nsystem: {cpus: [8, 4]}\n"), &err);
    resolve(2);
    clean();
}

TEST(joint_settings_and_combinations_follow_what_the_machine_leaves)
{
    assert_ok(parse("command: x\ntune: joint\nparams: {a: [1, 2]}\n"
                    "system: {cpus: [8, 2, 1], threads: {min: 1, max: 99}}\n"
                    "forbid: [{cpus: 8}, {cpus: [8, 1], a: 2}, {threads: {min: 50}}, "
                    "{threads: [3, 60]}]\n"
                    "try: [{cpus: 1, threads: 4}, {cpus: 2, threads: 49}, {threads: 5}]\n"),
              &err);
    resolve(2);
    assert_int_equal(spec.space.n_forbids, 2);
    assert_int_equal(spec.space.forbids[0].clauses[0].n_values, 1);
    assert_true(spec.space.forbids[0].clauses[0].values[0] == 1);
    assert_int_equal(spec.space.forbids[1].clauses[0].n_values, 1);
    assert_int_equal(spec.tries.len, 2);
    assert_true(spec.tries.at[0][1] == 1 && spec.tries.at[0][2] == 4);
    assert_true(spec.tries.at[1][1] == TRY_FREE && spec.tries.at[1][2] == 5);
    assert_int_equal(spec.trials, 2 * 7 + 7);
    clean();
}

TEST(joint_combinations_may_forbid_all_that_is_left)
{
    assert_ok(parse("command: x\ntune: joint\nsystem: {cpus: {min: 1, max: 4}}\n"
                    "forbid: [{cpus: {max: 1}}]\n"),
              &err);
    assert_int_equal(spec_system_resolve(&spec, 1, &err), -EINVAL);
    assert_string_equal(err_text(&err), "'forbid' forbids every setting that this machine allows");
    clean();
}

TEST(what_was_resolved_reads_back_as_the_same)
{
    static const char *const texts[] = {
        "{threads: auto, cpus: auto}",
        "{cpus: [4, 1, 2], threads: {min: 2, max: 64, step: 3}, memory: [1G]}"};
    static const char *const modes[] = {"pipelined", "joint"};

    for (size_t i = 0; i < 2 * 2 * 3; i++) {
        autorelease(str) struct str once = STR_INIT, twice = STR_INIT;
        size_t cpus = 1 + i / 4;
        autofree(mem) char *text = xasprintf(
            "command: x\ntune: %s\nsystem: %s\nsearch: {trials: 2}\n%s", modes[i % 2],
            texts[i / 2 % 2],
            i % 2 ? "try: [{cpus: 4}, {cpus: 1}, {}, {}]\nforbid: {threads: {min: 60}}\n" : "");
        assert_ok(parse(text), &err);
        resolve((double)cpus);
        spec_json(&spec, &once);
        assert_ok(parse(once.s), &err);
        spec_json(&spec, &twice);
        assert_string_equal(once.s, twice.s);
    }
    clean();
}

TEST_MAIN
