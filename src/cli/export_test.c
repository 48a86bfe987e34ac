/* SPDX-License-Identifier: MIT */
/*
 * export_test.c — steps with the configuration in which they ran, and the sums over a trial, from a
 * home with rows, events and files as an engine leaves them.
 */
#include "cli/export.h"
#include "cli/help.h"
#include "spec/parse.h"
#include "store/testing.h"

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

#define SECOND  1000000LL
#define BEGAN   (1700000000 * SECOND)
#define STARTED "2023-11-14T22:13:"

/* Trial 1.1 of an experiment with one parameter, lr, and the system parameters threads and mode. */
struct bench {
    char *home;
    struct store *store;
    struct target target;
    struct trial_row row;
    double point[1];
    struct txn *txn;
};

static struct space parse_space(const char *params)
{
    struct spec spec;
    struct err err = ERR_INIT;
    struct space space;

    spec_init(&spec);
    assert_ok(spec_parse_params(params, strlen(params), &spec, &err), &err);
    space = spec.space;
    spec.space = (struct space){0};
    spec_release(&spec);
    return space;
}

static void bench_init(struct bench *bench, int64_t attempts)
{
    *bench = (struct bench){.home = make_home(), .point = {0.5}, .txn = txn_new()};
    bench->store = open_home(bench->home);
    spec_init(&bench->target.spec);
    bench->target.spec.space = parse_space("{params: {lr: {min: 0, max: 1}}}");
    bench->target.spec.system = parse_space("{params: {threads: [1, 2, 4], mode: [fast, 'a,b']}}");
    bench->target.experiment.experiment = an_experiment(1);
    bench->row.trial = a_trial(1, 1, 0.25);
    bench->row.trial.point = bench->point;
    bench->row.trial.attempts = attempts;
    bench->row.trial.started_us = BEGAN;
    bench->row.trial.run_us = 9 * SECOND;
    txn_put_experiment(bench->txn, &bench->target.experiment.experiment);
    txn_put_trial(bench->txn, &bench->row.trial, 1, "{\"lr\":0.5}");
}

static void bench_release(struct bench *bench)
{
    if (bench->txn)
        txn_free(bench->txn);
    store_free(bench->store);
    spec_release(&bench->target.spec);
    remove_home(bench->home);
}

static void attempt(struct bench *bench, int64_t number, double at_s, const char *system,
                    int64_t generation)
{
    struct attempt row = {.id = number,
                          .experiment = 1,
                          .trial = 1,
                          .number = number,
                          .state = ATTEMPT_ENDED,
                          .started_us = BEGAN + (int64_t)(at_s * 1e6),
                          .system = (char *)system,
                          .generation = generation};
    txn_put_attempt(bench->txn, &row);
}

static void event(struct bench *bench, double at_s, const char *json)
{
    txn_put_event(bench->txn, BEGAN + (int64_t)(at_s * 1e6), 1, 1, json);
}

static void file(const struct bench *bench, int64_t number, const char *name, const char *text)
{
    autofree(mem) char *dir = attempt_dir(bench->home, 1, 1, number);
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);
    assert_ok(fs_make_dirs(dir, 0700, NULL), NULL);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0600, NULL), NULL);
}

static void store_all(struct bench *bench)
{
    apply(bench->store, bench->txn);
    bench->txn = NULL;
}

static void check(struct bench *bench, int (*write)(const struct export *export), bool jsonl,
                  const char *expected)
{
    autofree(mem) char *text = NULL;
    size_t n = 0;
    struct err err = ERR_INIT;
    struct export export = {.home = bench->home,
                            .store = bench->store,
                            .target = &bench->target,
                            .to = open_memstream(&text, &n),
                            .jsonl = jsonl,
                            .err = &err};

    if (bench->txn)
        store_all(bench);
    assert_ok(write(&export), &err);
    fclose(export.to);
    assert_string_equal(text, expected);
}

/* Lines of a metrics file: steps from `first` on, `n` of them, one every `every_s`. */
static void add_steps(struct str *to, int first, int n, double at_s, double every_s)
{
    for (int i = 0; i < n; i++)
        str_addf(to, "train loss=%d,step=%di %lld\n", first + i, first + i,
                 (long long)(BEGAN + (int64_t)((at_s + i * every_s) * 1e6)) * 1000);
}

#define TUNED_1                                                                                    \
    "{\"event\":\"tuned\",\"trial\":\"1.1\",\"advice\":\"try\",\"kind\":\"live\",\"from\":"        \
    "{\"threads\":2,\"mode\":\"a,b\"},\"to\":{\"threads\":1,\"mode\":\"a,b\"},\"generation\":1,"   \
    "\"step\":2}"

#define ANSWERED(generation, applied)                                                              \
    "{\"event\":\"answered\",\"attempt\":1,\"generation\":" generation ",\"applied\":" applied "}"

TEST(a_step_has_the_configuration_in_which_it_ran)
{
    struct bench bench;
    autorelease(str) struct str steps = STR_INIT;

    bench_init(&bench, 1);
    attempt(&bench, 1, 0, "{\"threads\":1,\"mode\":\"a,b\"}", 1);
    event(&bench, 2.5, TUNED_1);
    event(&bench, 3.5,
          "{\"event\":\"tuned\",\"advice\":\"adopt\",\"kind\":\"none\",\"generation\":1,"
          "\"from\":{\"threads\":1},\"to\":{\"threads\":1},\"step\":3}");
    add_steps(&steps, 1, 3, 1, 1);
    file(&bench, 1, "metrics", steps.s);
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1," STARTED "21.000000Z,1,1,0,2,\"a,b\",0.5\n"
          "1.1,1,2," STARTED "22.000000Z,2,2,0,2,\"a,b\",0.5\n"
          "1.1,1,3," STARTED "23.000000Z,3,3,1,1,\"a,b\",0.5\n");
    bench_release(&bench);
}

TEST(a_step_belongs_to_what_was_in_force_for_most_of_it)
{
    struct bench bench;
    autorelease(str) struct str steps = STR_INIT;

    bench_init(&bench, 1);
    attempt(&bench, 1, 0, "{\"threads\":1,\"mode\":\"a,b\"}", 1);
    event(&bench, 2.8, TUNED_1);
    event(&bench, 2.8, ANSWERED("1", "true"));
    add_steps(&steps, 1, 3, 1, 1);
    file(&bench, 1, "metrics", steps.s);
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1," STARTED "21.000000Z,1,1,0,2,\"a,b\",0.5\n"
          "1.1,1,2," STARTED "22.000000Z,2,2,0,2,\"a,b\",0.5\n"
          "1.1,1,3," STARTED "23.000000Z,3,3,0,2,\"a,b\",0.5\n");
    bench_release(&bench);
}

TEST(metrics_of_one_step_share_a_row_and_output_has_no_times)
{
    struct bench bench;

    bench_init(&bench, 1);
    attempt(&bench, 1, 0, NULL, 0);
    event(&bench, 2.5, TUNED_1);
    event(&bench, 2.5, ANSWERED("1", "true"));
    file(&bench, 1, "stdout",
         "step=1 loss=3 acc=0.1\nstep=2 loss=2.5\rstep=2 loss=2\nstep=3 loss=1 acc=0.3\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,acc,generation,threads,mode,lr\n"
          "1.1,1,1,,,3,0.1,0,2,\"a,b\",0.5\n"
          "1.1,1,2,,,2,,0,2,\"a,b\",0.5\n"
          "1.1,1,3,,,1,0.3,1,1,\"a,b\",0.5\n");
    check(&bench, export_iterations, true,
          "{\"trial\":\"1.1\",\"attempt\":1,\"step\":1,\"time\":null,\"elapsed_s\":null,"
          "\"metrics\":{\"loss\":3,\"acc\":0.1},\"generation\":0,\"system\":{\"threads\":2,"
          "\"mode\":\"a,b\"},\"params\":{\"lr\":0.5}}\n"
          "{\"trial\":\"1.1\",\"attempt\":1,\"step\":2,\"time\":null,\"elapsed_s\":null,"
          "\"metrics\":{\"loss\":2},\"generation\":0,\"system\":{\"threads\":2,"
          "\"mode\":\"a,b\"},\"params\":{\"lr\":0.5}}\n"
          "{\"trial\":\"1.1\",\"attempt\":1,\"step\":3,\"time\":null,\"elapsed_s\":null,"
          "\"metrics\":{\"loss\":1,\"acc\":0.3},\"generation\":1,\"system\":{\"threads\":1,"
          "\"mode\":\"a,b\"},\"params\":{\"lr\":0.5}}\n");
    bench_release(&bench);
}

/* A second one, whose answer is left out or says no. */
static void check_asked(const char *answer)
{
    struct bench bench;
    struct tuning tuning;
    struct tuning_log log = TUNING_LOG_INIT;

    bench_init(&bench, 1);
    attempt(&bench, 1, 0, "{\"threads\":4,\"mode\":\"a,b\"}", 2);
    event(&bench, 2.5, TUNED_1);
    event(&bench, 2.6, ANSWERED("1", "true"));
    event(&bench, 5.5,
          "{\"event\":\"tuned\",\"advice\":\"try\",\"kind\":\"live\",\"generation\":2,"
          "\"from\":{\"threads\":1},\"to\":{\"threads\":4},\"step\":5}");
    if (answer)
        event(&bench, 5.6, answer);
    file(&bench, 1, "stdout", "step=1 loss=9\nstep=6 loss=8\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1,,,9,0,2,\"a,b\",0.5\n1.1,1,6,,,8,1,1,\"a,b\",0.5\n");
    tuning_log_load(&log, bench.store, 1, 1, NULL);
    tuning_load(&tuning, bench.store, &bench.target.spec, &bench.row, &log, NULL);
    assert_int_equal(tuning.changes, 1);
    assert_int_equal(tuning.asked, 1);
    tuning_release(&tuning);
    tuning_log_release(&log);
    bench_release(&bench);
}

TEST(what_was_asked_for_and_never_made_is_no_change)
{
    check_asked(NULL);
    check_asked(ANSWERED("2", "false"));
}

TEST(a_restart_is_in_force_from_the_next_attempt_on)
{
    struct bench bench;

    bench_init(&bench, 2);
    attempt(&bench, 1, 0, "{\"threads\":2,\"mode\":\"fast\"}", 1);
    attempt(&bench, 2, 5, "{\"threads\":4,\"mode\":\"fast\"}", 2);
    event(&bench, 4,
          "{\"event\":\"tuned\",\"advice\":\"adopt\",\"kind\":\"restart\",\"generation\":2,"
          "\"from\":{\"threads\":2,\"mode\":\"fast\"},\"to\":{\"threads\":4,\"mode\":\"fast\"},"
          "\"step\":2}");
    file(&bench, 1, "stdout", "step=1 loss=9\nstep=2 loss=8\nstep=3 loss=7\n");
    file(&bench, 2, "stdout", "step=2 loss=6\nstep=3 loss=5\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1,,,9,1,2,fast,0.5\n1.1,1,2,,,8,1,2,fast,0.5\n1.1,1,3,,,7,1,2,fast,0.5\n"
          "1.1,2,2,,,6,2,4,fast,0.5\n1.1,2,3,,,5,2,4,fast,0.5\n");
    bench_release(&bench);
}

#define SUMMARY_HEAD                                                                               \
    "trial,state,reason,value,runtime_s,steps,seconds_per_step,first_seconds_per_step,"            \
    "last_seconds_per_step,target,changes,change_cost_s,live_change_s,restart_change_s,energy_j,"  \
    "energy,best_threads,best_mode,final_threads,final_mode,lr\n"

TEST(a_restart_that_failed_and_the_way_back_have_a_cost)
{
    struct bench bench;

    bench_init(&bench, 3);
    attempt(&bench, 1, 0, "{\"threads\":2,\"mode\":\"fast\"}", 1);
    attempt(&bench, 2, 5, "{\"threads\":4,\"mode\":\"fast\"}", 1);
    attempt(&bench, 3, 6, "{\"threads\":2,\"mode\":\"fast\"}", 1);
    event(&bench, 4,
          "{\"event\":\"tuned\",\"advice\":\"try\",\"kind\":\"restart\",\"generation\":2,"
          "\"from\":{\"threads\":2,\"mode\":\"fast\"},\"to\":{\"threads\":4,\"mode\":\"fast\"},"
          "\"step\":2}");
    event(&bench, 9,
          "{\"event\":\"changed\",\"kind\":\"restart\",\"generation\":1,\"cost_s\":2.5,"
          "\"system\":{\"threads\":2,\"mode\":\"fast\"},\"step\":4}");
    file(&bench, 1, "stdout", "step=1 loss=9\nstep=2 loss=8\n");
    file(&bench, 3, "stdout", "step=3 loss=7\nstep=5 loss=6\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1,,,9,1,2,fast,0.5\n1.1,1,2,,,8,1,2,fast,0.5\n"
          "1.1,3,3,,,7,1,2,fast,0.5\n1.1,3,5,,,6,1,2,fast,0.5\n");
    check(&bench, export_summary, false,
          SUMMARY_HEAD "1.1,completed,,0.25,9,,,,,,2,2.5,,2.5,,,,,2,fast,0.5\n");
    bench_release(&bench);
}

TEST(without_decisions_the_row_of_the_attempt_tells)
{
    struct bench bench;

    bench_init(&bench, 2);
    attempt(&bench, 1, 0, "{\"threads\":2}", 1);
    attempt(&bench, 2, 5, "{\"threads\":1}", 1);
    file(&bench, 1, "stdout", "step=1 loss=9\n");
    file(&bench, 2, "stdout", "step=1 loss=8\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1,,,9,1,2,,0.5\n1.1,2,1,,,8,1,1,,0.5\n");
    bench_release(&bench);
}

TEST(the_summary_has_speeds_costs_and_the_best_configuration)
{
    struct bench bench;
    autorelease(str) struct str steps = STR_INIT;

    bench_init(&bench, 1);
    bench.target.spec.objective.target = 0.1;
    bench.row.trial.last_step = 22;
    bench.row.trial.joules = 12400;
    txn_put_trial(bench.txn, &bench.row.trial, 1, "{\"lr\":0.5}");
    attempt(&bench, 1, 0, "{\"threads\":4,\"mode\":\"a,b\"}", 2);
    event(&bench, 9.9, TUNED_1);
    event(&bench, 11,
          "{\"event\":\"changed\",\"kind\":\"live\",\"generation\":1,\"cost_s\":0.25,"
          "\"system\":{\"threads\":1,\"mode\":\"a,b\"},\"step\":12}");
    event(&bench, 15.9,
          "{\"event\":\"tuned\",\"advice\":\"try\",\"kind\":\"live\",\"generation\":2,"
          "\"from\":{\"threads\":1},\"to\":{\"threads\":4},\"step\":20}");
    event(&bench, 17,
          "{\"event\":\"changed\",\"kind\":\"live\",\"generation\":2,\"cost_s\":0.75,"
          "\"system\":{\"threads\":4,\"mode\":\"a,b\"},\"step\":21}");
    add_steps(&steps, 1, 10, 0.5, 1);
    add_steps(&steps, 11, 11, 10, 0.5);
    add_steps(&steps, 22, 3, 16, 2);
    file(&bench, 1, "metrics", steps.s);
    check(&bench, export_summary, false,
          SUMMARY_HEAD "1.1,completed,,0.25,9,22,0.8571428571428571,1,2,0.1,2,1,0.5,,12400,"
                       "estimated,1,\"a,b\",4,\"a,b\",0.5\n");
    bench_release(&bench);
}

TEST(where_the_clock_was_set_steps_have_no_length)
{
    struct bench bench;
    autorelease(str) struct str steps = STR_INIT;

    bench_init(&bench, 1);
    bench.row.trial.last_step = 24;
    txn_put_trial(bench.txn, &bench.row.trial, 1, "{\"lr\":0.5}");
    attempt(&bench, 1, 0, "{\"threads\":1,\"mode\":\"fast\"}", 1);
    event(&bench, 9.9,
          "{\"event\":\"tuned\",\"kind\":\"live\",\"from\":{\"threads\":2,\"mode\":\"fast\"},"
          "\"to\":{\"threads\":1,\"mode\":\"fast\"},\"generation\":1,\"step\":10}");
    event(&bench, 9.9, ANSWERED("1", "true"));
    event(&bench, 14,
          "{\"event\":\"tune_note\",\"attempt\":1,\"clock_from\":\"" STARTED
          "32.500000Z\",\"clock_to\":\"" STARTED "53.200000Z\"}");
    add_steps(&steps, 1, 10, 0.5, 1);
    add_steps(&steps, 11, 6, 10, 0.5);
    add_steps(&steps, 17, 8, 32.7, 0.5); /* 20 s too late */
    file(&bench, 1, "metrics", steps.s);
    check(&bench, export_summary, false,
          SUMMARY_HEAD "1.1,completed,,0.25,9,24,0.725,1,0.5,,1,0,,,,,1,fast,1,fast,0.5\n");
    bench_release(&bench);
}

TEST(steps_that_go_back_count_as_they_were_made)
{
    struct bench bench;
    autorelease(str) struct str steps = STR_INIT;

    bench_init(&bench, 1);
    bench.row.trial.last_step = 9;
    txn_put_trial(bench.txn, &bench.row.trial, 1, "{\"lr\":0.5}");
    attempt(&bench, 1, 0, "{\"threads\":2,\"mode\":\"fast\"}", 1);
    for (int i = 0; i < 3; i++) {
        add_steps(&steps, 0, 10, 1 + 10 * i, 0.5);
        str_addf(&steps, "train loss=8,step=8i %lld000\n",
                 (long long)(BEGAN + (6 + 10 * i) * SECOND));
        str_addf(&steps, "val acc=1,step=%di %lld000\n", i,
                 (long long)(BEGAN + (7 + 10 * i) * SECOND));
    }
    file(&bench, 1, "metrics", steps.s);
    check(&bench, export_summary, false,
          SUMMARY_HEAD "1.1,completed,,0.25,9,27,0.5,0.5,0.5,,0,0,,,,,2,fast,2,fast,0.5\n");
    bench_release(&bench);
}

TEST(a_trial_without_anything_has_a_row_too)
{
    struct bench bench;

    bench_init(&bench, 0);
    bench.row.trial.value = NAN;
    bench.row.trial.run_us = 0;
    txn_put_trial(bench.txn, &bench.row.trial, 1, "{\"lr\":0.5}");
    check(&bench, export_summary, false, SUMMARY_HEAD "1.1,completed,,,0,,,,,,0,0,,,,,,,,,0.5\n");
    check(&bench, export_summary, true,
          "{\"trial\":\"1.1\",\"state\":\"completed\",\"reason\":null,\"value\":null,"
          "\"runtime_s\":0,\"steps\":null,\"seconds_per_step\":null,\"first_seconds_per_step\":"
          "null,\"last_seconds_per_step\":null,\"target\":null,\"changes\":0,\"change_cost_s\":0,"
          "\"live_change_s\":null,\"restart_change_s\":null,\"energy_j\":null,\"energy\":null,"
          "\"best\":null,\"final\":{\"threads\":null,\"mode\":null},\"params\":{\"lr\":0.5}}\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,generation,threads,mode,lr\n");
    bench_release(&bench);
}

TEST(broken_events_are_passed_over)
{
    static const char *const odd[] = {
        "{\"event\":\"tuned\"}",
        "{\"event\":\"tuned\",\"kind\":\"live\",\"to\":7,\"from\":[1]}",
        "{\"event\":\"changed\",\"system\":null,\"cost_s\":\"nan\"}",
        "{\"event\":\"changed\",\"system\":{\"threads\":null},\"generation\":-3}",
    };
    struct bench bench;

    bench_init(&bench, 1);
    attempt(&bench, 1, 0, "not JSON", 0);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        event(&bench, (double)i, odd[i]);
    file(&bench, 1, "stdout", "step=1 loss=9\n");
    check(&bench, export_iterations, false,
          "trial,attempt,step,time,elapsed_s,loss,generation,threads,mode,lr\n"
          "1.1,1,1,,,9,0,,,0.5\n");
    bench_release(&bench);
}

static void check_energy(double joules, bool measured, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_energy(&text, joules, measured);
    assert_string_equal(text.s, expected);
}

TEST(energy_says_whether_it_was_measured_and_that_it_is_a_share)
{
    check_energy(12400, false, "12.4 kJ estimated");
    check_energy(0.5, true, "0.5 J measured, its share by CPU time");
    check_energy(999.7, true, "1 kJ measured, its share by CPU time");
    check_energy(2.5e9, true, "2.5 GJ measured, its share by CPU time");
    check_energy(0, true, "");
    check_energy(NAN, true, "");
    check_energy(INFINITY, false, "");
}

TEST_MAIN
