/* SPDX-License-Identifier: MIT */
/*
 * sim_test.c — thousands of simulated experiments under faults, one a seed.
 *
 * HONE_SIM_SEEDS=N runs more of them; HONE_SIM_SEED=S replays one.
 */
#include "engine/replay.h"
#include "tests/sim/world.h"
#include "tests/test.h"

#include <math.h>

static int64_t pauses, resumes, changes, holds; /* over all seeds */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

struct verdicts {
    struct world *world;
    int64_t counts[TRIAL_STATES];
    int64_t rows;
    bool told[1000]; /* by a result's number */
    int64_t results, ends, seen;
};

/* Each number is given once. */
static void note_told(struct verdicts *verdicts, int64_t told)
{
    assert_in_range(told, 1, ARRAY_LEN(verdicts->told) - 1);
    assert_false(verdicts->told[told]);
    verdicts->told[told] = true;
    verdicts->results++;
}

/* Those that a rule pauses tell what they have. */
static int check_pause(int64_t number, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    autofree(json) json_t *event = NULL;
    (void)number, (void)time_us, (void)trial;

    assert_int_equal(json_parse(json, strlen(json), &event, NULL), 0);
    if (json_object_get(event, "told"))
        note_told(arg, json_get_int(event, "told", 0));
    return 0;
}

static int check_trial(const struct trial_row *row, void *arg)
{
    struct verdicts *verdicts = arg;
    const struct trial *trial = &row->trial;

    verdicts->rows++;
    verdicts->counts[trial->state]++;
    assert_true(trial_state_ended(trial->state));
    int successes = world_successes(verdicts->world, trial->number);
    if (trial->state == TRIAL_COMPLETED && trial->reason == REASON_NONE) {
        assert_int_equal(successes, 1); /* ran to its end exactly once */
        assert_true(isfinite(trial->value));
    }
    assert_true(successes <= 1);
    assert_true(trial->told || trial->state != TRIAL_COMPLETED);
    if (trial->told)
        note_told(verdicts, trial->told);
    verdicts->ends += trial->told > 0;
    assert_true(trial->seen >= verdicts->seen && trial->why);
    verdicts->seen = trial->seen;
    return 0;
}

/* When a setting was given back for want of a result is known by the clock only, which jumps. */
static void check_replays(struct world *world, int64_t experiment, const struct verdicts *verdicts)
{
    autorelease(err) struct err err = ERR_INIT;
    struct replay_check check;

    if (verdicts->ends < verdicts->rows)
        return;
    assert_ok(replay_check(world_store(world), experiment, &check, &err), &err);
    assert_int_equal(check.same, check.suggestions);
    replay_check_release(&check);
}

static struct faults random_faults(struct rng *rng)
{
    bool calm = rng_chance(rng, 0.1);
    double scale = calm ? 0 : rng_unit(rng);
    return (struct faults){
        .lose = 0.2 * scale * rng_unit(rng),
        .twice = 0.2 * scale * rng_unit(rng),
        .engine_dies = scale * rng_unit(rng),
        .keeper_dies = 0.3 * scale * rng_unit(rng),
        .spawn_fails = 0.1 * scale * rng_unit(rng),
        .program_fails = 0.3 * scale * rng_unit(rng),
        .checkpoints = 0.2 * scale * rng_unit(rng),
        .diverges = 0.05 * scale * rng_unit(rng),
        .clock_jumps = 0.2 * scale * rng_unit(rng),
        .user_interrupts = 0.3 * scale * rng_unit(rng),
        .user_stops = rng_chance(rng, 0.2) ? 0.3 * scale : 0,
        .user_holds = rng_chance(rng, 0.3) ? 0.5 * scale : 0,
        .late_keepers = 0.2 * scale * rng_unit(rng),
        .refuses = 0.2 * scale * rng_unit(rng),
        .misfits = 0.2 * scale * rng_unit(rng),
        .machine_shrinks = 0.3 * scale,
        .until_us = 600 * US_PER_S,
    };
}

/* Those that pause, and such that let everybody run; of the machine's memory paused ones may hold
 * all, little or nothing. */
static const char *random_rule(struct rng *rng)
{
    static const char *const rules[] = {
        "\"none\"",
        "\"median\"",
        "\"curve\"",
        "\"asha\"",
        "{\"asha\":{\"eta\":2,\"min\":1}}",
        "{\"asha\":{\"eta\":2,\"pause\":false}}",
        "{\"asha\":{\"eta\":3,\"min\":2}},\"paused_memory\":\"5%\"",
        "{\"hyperband\":{\"eta\":2,\"max\":20}},\"paused_memory\":\"90%\"",
    };
    return rules[rng_below(rng, ARRAY_LEN(rules))];
}

static const char *random_system(struct rng *rng)
{
    static const char *const systems[] = {
        "",
        ",\"system\":{\"threads\":[2,1]}",
        ",\"system\":{\"cpus\":\"auto\",\"nice\":[0,5]}",
        ",\"system\":{\"cpus\":[1,2,3,4,5,6],\"threads\":\"auto\",\"workers\":[0,2]}",
        ",\"system\":{\"cpus\":[1,2]},\"tune\":\"hyper\"",
        ",\"system\":{\"threads\":[1,2]},\"tune\":\"joint\"",
    };
    return systems[rng_below(rng, ARRAY_LEN(systems))];
}

static void run_seed(uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 0);
    int64_t trials = 1 + (int64_t)rng_below(&rng, 24);
    double kind = rng_unit(&rng);
    const char *algorithm = kind < 0.02   ? "auto"
                            : kind < 0.04 ? "bayes"
                            : kind < 0.1  ? "tpe"
                            : kind < 0.55 ? "random"
                                          : "sobol";
    autofree(mem) char *spec =
        xasprintf("{\"name\":\"sim\",\"command\":[\"true\"],\"code\":\"none\","
                  "\"params\":{\"x\":{\"min\":0.0,\"max\":1.0},\"n\":[1,2,3]},"
                  "\"objective\":{\"metric\":\"loss\"%s},"
                  "\"search\":{\"algorithm\":\"%s\",\"trials\":%lld,\"seed\":%llu,\"stop\":%s%s},"
                  "\"limits\":{\"retries\":%d,\"grace\":\"5s\"%s}%s}",
                  rng_chance(&rng, 0.2) ? ",\"target\":0.02" : "", algorithm, (long long)trials,
                  (unsigned long long)seed, random_rule(&rng),
                  rng_chance(&rng, 0.5) ? ",\"parallel\":3" : "", (int)rng_below(&rng, 4),
                  rng_chance(&rng, 0.1) ? ",\"time\":\"120s\"" : "", random_system(&rng));
    struct faults faults = random_faults(&rng);
    struct world *world = world_new(seed, spec, (double)(1 + rng_below(&rng, 6)), &faults);
    struct verdicts verdicts = {.world = world};
    struct experiment_row row = {0};
    autorelease(err) struct err err = ERR_INIT;

    world_run(world);
    assert_ok(store_find_experiment(world_store(world), "last", false, &row, &err), &err);
    struct trial_query query = {.experiment = row.experiment.id};
    assert_ok(store_trials(world_store(world), &query, check_trial, &verdicts, &err), &err);
    assert_true(row.experiment.state == EXPERIMENT_FINISHED ||
                row.experiment.state ==
                    (world_stopped(world) ? EXPERIMENT_STOPPED : EXPERIMENT_FAILED));
    assert_true(verdicts.rows <= trials);
    /* Results are numbered from 1, none is left out, whoever was the engine. */
    assert_ok(store_pauses(world_store(world), row.experiment.id, check_pause, &verdicts, &err),
              &err);
    for (int64_t told = 1; told <= verdicts.results; told++)
        assert_true(verdicts.told[told]);
    assert_true(verdicts.seen <= verdicts.results);
    if (row.experiment.state == EXPERIMENT_FINISHED && row.experiment.reason == REASON_NONE)
        assert_int_equal(verdicts.rows, trials);
    check_replays(world, row.experiment.id, &verdicts);
    world_turns(world, &pauses, &resumes);
    changes += world_changes(world);
    holds += world_holds(world);
    experiment_row_release(&row);
    world_free(world);
}

TEST(every_experiment_ends_with_each_trial_run_once_whatever_dies)
{
    uint64_t one = number_from("HONE_SIM_SEED", 0);
    uint64_t n = number_from("HONE_SIM_SEEDS", 2000);

    if (one) {
        run_seed(one);
        return;
    }
    for (uint64_t seed = 1; seed <= n; seed++)
        run_seed(seed);
    if (n >= 100) /* else the rules that pause may not have been among them */
        assert_true(pauses > 0 && resumes > 0 && changes > 0 && holds > 0);
    print_message("# %lld pauses, %lld resumed, %lld configurations, %lld holds\n",
                  (long long)pauses, (long long)resumes, (long long)changes, (long long)holds);
}

TEST(the_same_seed_gives_the_same_run)
{
    for (int i = 0; i < 2; i++)
        run_seed(4711);
}

TEST_MAIN
