/* SPDX-License-Identifier: MIT */
/*
 * import_test.c — files of mlframework and PipeTune are read as they are.
 */
#include "base/fs.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <unistd.h>

static struct spec spec;
static struct err err;
static struct str notes = STR_INIT;
static const char *const program[] = {"python3", "train.py"};
static struct spec_overrides o;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    str_release(&notes);
    spec_init(&spec);
    o = (struct spec_overrides){.command = program, .n_command = 2};
}

static int parse(const char *text)
{
    clean();
    return spec_parse(text, strlen(text), "parameters.yml", "/w", &o, &spec, &notes, &err);
}

static void assert_command(const char *expected)
{
    autorelease(str) struct str text = STR_INIT;

    for (size_t i = 0; i < spec.command.len; i++)
        str_addf(&text, "%s%s", i ? "|" : "", spec.command.at[i]);
    assert_string_equal(text.s, expected);
}

/* The words of one trial, each parameter at its k-th value. */
static void assert_trial(size_t k, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    struct command_line line = {0};
    double x[16], system[16];

    spec_system_start(&spec, 1, system);
    for (size_t i = 0; i < spec.space.n; i++) {
        double n = param_size(&spec.space.params[i]);
        x[i] = param_value_at(&spec.space.params[i], MIN((double)k, n - 1));
    }
    assert_ok(spec_command_line(&spec, x, system, NULL, &line, &err), &err);
    for (size_t i = 0; i < line.argv.len; i++)
        str_addf(&text, "%s%s", i ? "|" : "", line.argv.at[i]);
    command_line_release(&line);
    assert_string_equal(text.s, expected);
}

static const char parameters[] = "epochs: [10, 20]\n"
                                 "batch: !!python/tuple [100, 400, 100]\n"
                                 "drop: !!python/tuple [0.1, 0.4, 0.1]\n"
                                 "n: !!python/tuple [0, 2]\n"
                                 "unit: 1000\n"
                                 "lr: 0.01\n"
                                 "dataset: mnist\n"
                                 "verbose: true\n"
                                 "quiet: false\n"
                                 "nested: {a: 1}\n";

TEST(parameters_yml_is_every_combination)
{
    assert_ok(parse(parameters), &err);
    assert_string_equal(spec.algorithm, "grid");
    assert_int_equal(spec.trials, 2 * 3 * 3 * 2);
    assert_command("python3|train.py");
    assert_trial(0, "python3|train.py|--epochs=10|--batch=100|--drop=0.1|--n=0|--unit=1000|"
                    "--lr=0.01|--dataset=mnist|--verbose");
    assert_trial(9, "python3|train.py|--epochs=20|--batch=300|--drop=0.3|--n=1|--unit=1000|"
                    "--lr=0.01|--dataset=mnist|--verbose");
    assert_string_equal(notes.s,
                        "parameters.yml:10:1: 'nested' is a mapping; parameters.yml gives no "
                        "meaning to that, so it is left out\n"
                        "parameters.yml is read as mlframework's parameters.yml: every combination "
                        "is a trial\n");
    clean();
}

TEST(parameters_yml_needs_a_program)
{
    clean();
    assert_int_equal(
        spec_parse("epochs: [1, 2]\n", 15, "parameters.yml", "/w", NULL, &spec, &notes, &err),
        -EINVAL);
    assert_string_equal(err_text(&err),
                        "parameters.yml:1:1: this has no key of a Hone spec, so it is read as "
                        "mlframework's parameters.yml; give the program after --: hone run "
                        "parameters.yml -- python3 train.py");
    clean();
}

TEST(a_spec_with_typos_is_not_taken_for_parameters_yml)
{
    assert_int_equal(parse("parms: [1, 2]\n"), -EINVAL);
    assert_string_equal(err_text(&err),
                        "parameters.yml:1:1: unknown key 'parms', did you mean 'params'?");
    assert_int_equal(parse("comand: x\nlr: 1\n"), -EINVAL);
    clean();
}

/* ---- PipeTune ---- */

static char dir[32];

static void write_file(const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0600, &err), &err);
}

static int load(const char *conf)
{
    autofree(mem) char *path = xasprintf("%s/pipetune.conf", dir);

    clean();
    write_file("pipetune.conf", conf);
    o = (struct spec_overrides){0};
    return spec_load(path, &o, &spec, &notes, &err);
}

static void make_dir(void)
{
    snprintf(dir, sizeof(dir), "/tmp/hone-import-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void remove_dir(void)
{
    clean();
    assert_ok(fs_remove_tree(dir, &err), &err);
}

static const char app[] =
    "{\n\t\"master\": \"spark://m:7077\", \"driver_memory\": \"10g\",\n"
    "\t\"total_executor_cores\": 8, \"executor_cores\": 2,\n"
    "\t\"executor_memory\": \"4g\", \"py_files\": \"a.zip\",\n"
    "\t\"properties_file\": \"\", \"conf\": \"lenet.py\",\n"
    "\t\"extras\": {\"action\": \"train\", \"batchSize\": 128, \"x\": \"{y}\"}\n}\n";

TEST(pipetune_conf_becomes_spark_submit)
{
    make_dir();
    write_file("app.json", app);
    assert_ok(
        load("{\"bigdlConf\": \"app.json\",\n"
             " \"systemParameters\": {\"cores\": [16, 8], \"memory\": [\"8g\", \"4g\"]},\n"
             " \"hyperParameters\": {\"batchSize\": [32, 64], \"learningRate\": [0.1, 1e-3]},\n"
             " \"nodes\": [\"n1\"], \"powerMeter\": \"pdu\"}\n"),
        &err);
    assert_trial(1, "spark-submit|--master|spark://m:7077|--driver-memory|10g|"
                    "--total-executor-cores|16|--executor-memory|8g|--py-files|"
                    "a.zip|lenet.py|--action|train|--x|{y}|--batchSize|64|--learningRate|1e-3");
    assert_string_equal(spec.objective.metric, "accuracy");
    assert_int_equal(spec.objective.goal, GOAL_MAXIMIZE);
    assert_string_equal(spec.patterns.at[0].value, "accuracy: ([0-9.]+)");
    assert_string_equal(spec.algorithm, "auto");
    assert_string_equal(spec.name, "pipetune");
    assert_int_equal(spec.trials, 4);
    assert_int_equal(spec.tune, TUNE_PIPELINED);
    assert_int_equal(spec.system.n, 2);
    assert_string_equal(spec.system.params[0].name, "cores");
    assert_string_equal(spec.system.params[0].choices[1].text, "8");
    assert_string_equal(spec.system.params[1].name, "executor_memory");
    assert_true(spec.settings[0].restart && spec.settings[1].restart);
    assert_non_null(strstr(notes.s, "executor_cores: left out where cores vary"));
    assert_non_null(strstr(notes.s, "nodes: left out"));
    assert_non_null(strstr(notes.s, "powerMeter: left out"));
    remove_dir();
}

TEST(pipetune_conf_with_one_system_value_has_nothing_to_tune)
{
    make_dir();
    write_file("app.json", app);
    assert_ok(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {\"b\": [1]},\n"
                   " \"systemParameters\": {\"cores\": [16], \"memory\": \"8g\"}}"),
              &err);
    assert_int_equal(spec.system.n, 0);
    assert_trial(0, "spark-submit|--master|spark://m:7077|--driver-memory|10g|"
                    "--total-executor-cores|16|--executor-cores|4|--executor-memory|8g|--py-files|"
                    "a.zip|lenet.py|--action|train|--batchSize|128|--x|{y}|--b|1");
    remove_dir();
}

TEST(pipetune_conf_without_system_parameters_takes_the_application_s)
{
    make_dir();
    write_file("app.json", app);
    assert_ok(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {\"b\": [1]}}"), &err);
    assert_trial(0, "spark-submit|--master|spark://m:7077|--driver-memory|10g|"
                    "--total-executor-cores|8|--executor-cores|2|--executor-memory|4g|--py-files|"
                    "a.zip|lenet.py|--action|train|--batchSize|128|--x|{y}|--b|1");
    remove_dir();
}

TEST(a_broken_pipetune_conf_is_explained)
{
    make_dir();
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {}}"), -EINVAL);
    autofree(mem) char *missing =
        xasprintf("%s/pipetune.conf:1:15: 'bigdlConf': cannot read %s/app.json: No such file or "
                  "directory",
                  dir, dir);
    assert_string_equal(err_text(&err), missing);
    write_file("app.json", "{\"master\": \"x\"}");
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {}}"), -EINVAL);
    assert_string_equal(err_text(&err),
                        "app.json:1:1: 'conf', the application's program, is missing");
    write_file("app.json", app);
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": [1]}"), -EINVAL);
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {\"b\": []}}"),
                     -EINVAL);
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"hyperParameters\": {}, \"x\": 1}"),
                     -EINVAL);
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"systemParameters\": [1]}"), -EINVAL);
    assert_non_null(strstr(err_text(&err), "'systemParameters' must be a mapping of lists"));
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"systemParameters\": {\"disk\": [1]}}"),
                     -EINVAL);
    assert_non_null(strstr(err_text(&err), "'systemParameters' has cores and memory, not 'disk'"));
    assert_int_equal(load("{\"bigdlConf\": \"app.json\", \"systemParameters\": {\"cores\": []}}"),
                     -EINVAL);
    assert_non_null(strstr(err_text(&err), "the list is empty"));
    remove_dir();
}

TEST_MAIN
