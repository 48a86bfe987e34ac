/* SPDX-License-Identifier: MIT */
/*
 * write_test.c — what is stored reads back as the same; docs/spec.md is what the table says.
 */
#include "base/fs.h"
#include "base/json.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <math.h>

static void to_json(const char *text, struct str *json)
{
    struct err err = ERR_INIT;
    struct spec spec;

    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", NULL, &spec, NULL, &err), &err);
    spec_json(&spec, json);
    spec_release(&spec);
}

static const char *const specs[] = {
    "command: x\n",
    "command: x\nsearch: {seed: 9000000000000000}\n",
    "name: n\npriority: -7\ndescription: \"a\\tb \\\"q\\\" é\"\ntags: [a, '1']\ncommand: [a, 'b "
    "c', '{{}}', '']\n"
    "pass: file\nflags: value\nenv: {A: '1', B: yes}\nworkdir: trial\noutput: pty\n"
    "metrics: {tensorboard: logs, system: 2s500ms, patterns: ['(?<a>.*)', {b: 'x(.)'}]}\ndiverge: "
    "[b]\nobjective: "
    "{metric: a, goal: max, target: "
    "5%}\n"
    "search: {algorithm: sobol, trials: 3, parallel: 2, stop: median, seed: 0}\n"
    "limits: {time: 1h, trial_time: 1.5s, retries: 7, deadline: '2030-01-01 10:00', output: none, "
    "grace: 0}\nretry: [1, 255]\nresources: {cpus: 0.5, memory: 1000, gpus: 3}\n"
    "code: {path: /abs, isolate: true}\nkeep: {checkpoints: last 2, trials: 1w}\n"
    "params: {z: {min: 1, max: 9}}\n",
    "command: x\ncode: none\nparams:\n"
    "  a: 1e-3\n  b: [.5, 0x1f, True, ~, 'null', '1', 1.0, 007, +3, 4., x, '']\n"
    "  c: {min: 1e-7, max: 0.3, scale: log}\n  d: {min: 1, max: 9, step: 2}\n"
    "  e: {range: [0, 1, 0.1]}\n  f: {min: 0.1, max: 0.9, step: 0.2}\n"
    "  g: {values: [p, q], when: {h: [.5, 2]}}\n  h: [.5, 1, 2]\n"
    "  i: {values: [1], when: {d: 3, f: 0.3}}\n  j: {values: [u], when: {a: 7}}\n"
    "  k: 123456789012345678901234567890\n  l: 1e999\n  m: .nan\n  n: -.inf\n",
    "command: x\nparams: {lr: {min: 1e-4, max: 0.1, scale: log, prior: 0.003}, opt: {values: [sgd, "
    "adam, '1', 1], prior: {adam: 7}}, n: {min: 1, max: 7, type: int, prior: {mean: 3, sd: 2}}, "
    "f: {min: -1, max: 1, prior: {mean: 0.3, sd: 1e-9}}, m: {min: 0, max: 1, when: {opt: sgd}}, "
    "c: 1, b: {values: [.5, 2, 8], prior: .5}}\n"
    "forbid: [{opt: sgd, lr: {min: 1e-2}}, {opt: ['1', 1], n: [2, 3]}, {b: {max: 1}, f: {min: 0.1, "
    "max: 0.2}}]\n"
    "try: [{lr: 0.001, opt: adam}, {opt: sgd, m: 0.9, b: .5}, {}, {opt: 1}]\n"
    "knowledge: [auto, '7', other-one]\nuntil: {improvement: 0.1%}\n"
    "objective: [{metric: acc, goal: max}, ms]\nconstraint: [ms <= 20, 'acc>90%']\n"
    "search: {algorithm: evolve, stop: {asha: {eta: 4, min: 2, max: 81, pause: false}}, repeats: "
    "never, paused_memory: 10%}\n",
    "command: x\nobjective: {metric: a, per: seconds}\nsearch: {stop: {curve: 5%}}\nknowledge: "
    "off\n"
    "constraint: b < 1e-3\n",
    "command: x\nobjective: a\nsearch: {stop: {hyperband: {max: 81}}}\nknowledge: some\n",
    "command: x\nparams: {a: {min: -5, max: 1000000000000}, b: {range: [0, 30, 3]}}\n",
    "command: x\nobjective: {metric: a, per: energy, target: 3, average: 9, workers: any}\ntune: "
    "off-raw\n",
    "command: x\nsystem: {threads: [4, 0x2, 1], cpus: auto, memory: ['512M', 2G, 4096], frequency: "
    "[2.4GHz, 1200000], workers: {min: 0, max: 4, apply: live}, nice: {min: -5, max: 5, step: 5, "
    "start: 0}, interop: 2, own: {values: [.5, x, True], start: x}, cpu_quota: {range: [0.5, 2, "
    "0.5]}}\n",
    "command: x\ntune: joint\nobjective: a\nparams: {m: {values: [1, 2], when: {opt: sgd}}, opt: "
    "[sgd, adam]}\nsystem: {threads: auto, memory: {values: [1G, 2048M], start: 2G}, io: [mmap, "
    "read]}\nforbid: [{memory: 2048M, opt: sgd}, {threads: {min: 9}}]\n"
    "try: [{opt: adam, memory: 1G}, {threads: 3}]\n",
    "command: x\nobjective: a\nalerts: [{when: a > 2, do: [stop, notify]}, {when: {plateau: 50 "
    "steps}, command: sh -c 'a b'}, {when: {stall: 2.5}, do: requeue, webhook: 'http://h/'}, "
    "{when: diverged, do: notify}]\n",
    "command: x\ntune: hyper\nsystem: {ps: [1, 2], worker: {min: 1, max: 9, scale: log}}\n",
};

TEST(a_written_spec_reads_back_as_the_same)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        autorelease(str) struct str once = STR_INIT, twice = STR_INIT;
        to_json(specs[i], &once);
        to_json(once.s, &twice);
        assert_string_equal(once.s, twice.s);
    }
}

TEST(a_written_spec_is_json_for_others)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        autorelease(str) struct str json = STR_INIT;
        struct err err = ERR_INIT;
        json_t *tree;
        to_json(specs[i], &json);
        assert_ok(json_parse(json.s, json.len, &tree, &err), &err);
        assert_string_equal(json_get_text(tree, "dir", ""), "/w");
        json_decref(tree);
    }
}

TEST(texts_of_values_survive)
{
    autorelease(str) struct str json = STR_INIT;
    struct spec spec;
    struct err err = ERR_INIT;

    to_json(specs[3], &json);
    spec_init(&spec);
    assert_ok(spec_parse(json.s, json.len, "stored", "/other", NULL, &spec, NULL, &err), &err);
    assert_string_equal(spec.dir, "/w");
    const struct param *b = &spec.space.params[space_find(&spec.space, "b")];
    static const char *const texts[] = {".5",  "0x1f", "True", "~",  "null", "1",
                                        "1.0", "007",  "+3",   "4.", "x",    ""};
    static const enum value_kind kinds[] = {VALUE_FLOAT, VALUE_INT,   VALUE_BOOL,  VALUE_NULL,
                                            VALUE_TEXT,  VALUE_TEXT,  VALUE_FLOAT, VALUE_INT,
                                            VALUE_INT,   VALUE_FLOAT, VALUE_TEXT,  VALUE_TEXT};
    assert_int_equal(b->n_choices, ARRAY_LEN(texts));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_string_equal(b->choices[i].text, texts[i]);
        assert_int_equal(b->choices[i].kind, kinds[i]);
    }
    spec_release(&spec);
}

TEST(the_plan_shows_what_would_run)
{
    autorelease(str) struct str plan = STR_INIT;
    const char *text =
        "command: python3 train.py\nparams: {lr: {min: 1, max: 100, type: float, scale: "
        "log}, b: [1, 2], m: {min: 0.0, max: 1, when: {b: 1}}}\n"
        "objective: {metric: acc, goal: max, target: 90%}\nsearch: {trials: 5, seed: 3}\n"
        "limits: {time: 2h}\n";
    struct spec spec;
    struct err err = ERR_INIT;

    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", NULL, &spec, NULL, &err), &err);
    spec_plan(&spec, &plan);
    assert_string_equal(
        plan.s, "experiment  t\n"
                "program     python3 train.py\n"
                "runs in     /w\n"
                "parameters  lr    1 to 100, log  (unlimited values)\n"
                "            b     1, 2  (2 values)\n"
                "            m     0 to 1  when b is 1  (unlimited values)\n"
                "for example python3 train.py --lr=10 --b=2\n"
                "objective   maximize acc, until 0.9\n"
                "search      5 trials of unlimited settings, algorithm auto, as many at once as "
                "fit, stop curve, seed 3\n"
                "limits      time 2h, output 1G, grace 10s, 2 retries\n"
                "a trial has 1 cpu, any memory, 0 gpus\n"
                "code        /w\n");
    spec_release(&spec);
}

static void assert_plan_has(const char *text, const char *part)
{
    autorelease(str) struct str plan = STR_INIT;
    struct spec spec;
    struct err err = ERR_INIT;

    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t.yaml", "/w", NULL, &spec, NULL, &err), &err);
    spec_plan(&spec, &plan);
    if (!strstr(plan.s, part))
        assert_string_equal(plan.s, part);
    spec_release(&spec);
}

TEST(the_plan_shows_what_may_change_about_the_machine)
{
    assert_plan_has(
        "command: t -j {threads}\nparams: {lr: [1, 2]}\n"
        "system: {threads: [2, 4], workers: {min: 0, max: 4}, cpus: {min: 1, max: 4}, "
        "nice: 5}\n",
        "parameters  lr    1, 2  (2 values)\n"
        "system      threads  2, 4, from 2, in place  (2 values)\n"
        "            workers  0 to 4, int, from 0, by restart  (5 values)\n"
        "            cpus     1 to 4, int, from the trial's cpus, in place  (4 values)\n"
        "            nice     5\n"
        "tune        pipelined: inside running trials; 40 configurations\n"
        "for example t -j 2 --lr=2 --workers=0\n");
    assert_plan_has("command: t\nsystem: {threads: auto}\n",
                    "system      threads  1 to what the machine has, from the trial's cpus, in "
                    "place\n"
                    "tune        pipelined: inside running trials\n");
    assert_plan_has("command: t\ntune: joint\nsystem: {threads: [1, 2]}\nobjective: a\n",
                    "runs in     /w\n"
                    "system      threads  1, 2  (2 values)\n"
                    "tune        joint: searched like parameters; 2 configurations\n"
                    "for example t\n"
                    "objective   minimize a per second\n");
    assert_plan_has("command: t\ntune: off\nsystem: {threads: [1, 2]}\n"
                    "objective: {metric: a, per: energy, target: 1, average: 5}\n",
                    "tune        off: system parameters are not used\n"
                    "for example t\n"
                    "objective   minimize a per joule, until 1 (mean of 5)\n");
}

TEST(the_template_is_a_valid_spec)
{
    autorelease(str) struct str text = STR_INIT, json = STR_INIT;

    spec_template("my project", "python3 'a b.py'", &text);
    to_json(text.s, &json);
    assert_non_null(strstr(json.s, "\"name\":\"my_project\""));
    assert_non_null(strstr(json.s, "\"command\":[\"python3\",\"a b.py\"]"));
    str_cut(&text, 0);
    str_cut(&json, 0);
    spec_template("x", NULL, &text);
    to_json(text.s, &json);
    assert_non_null(strstr(json.s, "\"command\":[\"python3\",\"train.py\"]"));
}

TEST(the_page_in_docs_is_up_to_date)
{
    autorelease(str) struct str made = STR_INIT, stored = STR_INIT;
    struct err err = ERR_INIT;

    spec_docs(&made);
    assert_ok(fs_read("docs/spec.md", 1 << 20, &stored, &err), &err);
    assert_string_equal(made.s, stored.s);
}

TEST_MAIN
