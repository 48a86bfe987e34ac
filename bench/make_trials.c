/* SPDX-License-Identifier: MIT */
/*
 * make_trials.c — a home with an experiment of many trials, to measure what reading it takes.
 *
 *     make_trials HOME COUNT
 *
 * The engine itself makes the rows; only its agent is made up: whatever is started reports one
 * value and ends at once. So the database is what real trials would have left, but for the folders
 * of the attempts. The experiment is interrupted with one trial still to run.
 */
#include "engine/engine.h"
#include "spec/parse.h"

#include <stdio.h>

#define SIDE 200 /* trials a transaction */

static const char spec_text[] = "name: many\n"
                                "command: [sh, -c, 'echo loss=0.5']\n"
                                "params: {lr: {min: 1e-4, max: 0.1, scale: log}, batch: [32, 64, "
                                "128], layers: {min: 1, max: 4}}\n"
                                "objective: {metric: loss, goal: minimize}\n"
                                "search: {algorithm: random, seed: 1, trials: 1000000}\n"
                                "code: none\n";

struct world {
    struct engine *engine;
    int64_t now_us;
    VEC(int64_t) started; /* attempts that have not reported yet */
};

static struct now world_now(const struct world *world)
{
    return (struct now){1700000000000000 + world->now_us, world->now_us};
}

static void on_command(const struct agent_command *command, void *arg)
{
    struct world *world = arg;
    if (command->kind == COMMAND_START)
        vec_push(&world->started, command->attempt);
}

static void report(struct world *world, int64_t attempt)
{
    struct now now = world_now(world);
    struct agent_sample sample = {.metric = "loss",
                                  .value = 0.6 + (double)(attempt * 7919 % 100003) / 100003.0,
                                  .step = 1,
                                  .time_us = now.wall_us};
    struct agent_event events[] = {
        {.kind = EVENT_STARTED, .pid = 1},
        {.kind = EVENT_SAMPLES, .samples = &sample, .n_samples = 1},
        {.kind = EVENT_ENDED, .ending = {.run_us = 60000000, .cpu_us = 50000000}},
    };
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        events[i].attempt = attempt;
        events[i].time_us = now.wall_us;
        engine_on_event(world->engine, &events[i], now);
    }
}

static void report_all(struct world *world)
{
    vec_foreach (attempt, &world->started)
        report(world, *attempt);
    world->started.len = 0;
}

/* One transaction. Returns 0 when there was nothing to write. */
static int turn(struct world *world, struct store *store, struct err *err)
{
    world->now_us += 1000;
    struct tick *tick = engine_tick(world->engine, world_now(world));
    if (!tick)
        return 0;
    int r = store_apply(store, tick_txn(tick), err);
    if (r < 0) {
        tick_free(tick);
        return r;
    }
    engine_committed(world->engine, tick);
    return 1;
}

static int submit(struct world *world, int64_t count, struct err *err)
{
    autofree(mem) char *trials = xasprintf("search.trials=%lld", (long long)count + 1);
    struct spec_overrides overrides = {.now_us = 1};
    struct submission submission = {.environment = "{}"};
    struct spec spec;
    int64_t experiment = 0;

    spec_init(&spec);
    vec_push(&overrides.set, xstrdup(trials));
    int r =
        spec_parse(spec_text, strlen(spec_text), "make_trials", "/", &overrides, &spec, NULL, err);
    submission.spec = &spec;
    if (r >= 0)
        r = engine_submit(world->engine, NULL, &submission, world_now(world), &experiment, err);
    spec_release(&spec);
    spec_overrides_release(&overrides);
    return r;
}

/* Started ones are reported in whole rounds, so that exactly `count` have ended. */
static int make(struct world *world, struct store *store, int64_t count, struct err *err)
{
    int r = submit(world, count, err);

    for (int64_t ended = 0; r >= 0 && ended < count;) {
        r = turn(world, store, err);
        if (ended + (int64_t)world->started.len > count)
            world->started.len = (size_t)(count - ended);
        ended += (int64_t)world->started.len;
        report_all(world);
        if (r >= 0 && ended == count)
            r = engine_stop(world->engine, 1, STOP_KILL, world_now(world), err);
    }
    while (r >= 0 && (r = turn(world, store, err)) > 0)
        ;
    return r;
}

int main(int argc, char **argv)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(store) struct store *store = NULL;
    struct world world = {.now_us = 1000000};
    struct machine machine = {.name = (char *)"bench", .cpus = SIDE};

    if (argc != 3) {
        fputs("usage: make_trials HOME COUNT\n", stderr);
        return 2;
    }
    int r = store_open(argv[1], &store, &err);
    if (r >= 0) {
        world.engine = engine_new(&(struct engine_options){.home = argv[1],
                                                           .home_id = store_home_id(store),
                                                           .machine = &machine,
                                                           .seed = 1,
                                                           .send = on_command,
                                                           .arg = &world});
        r = make(&world, store, strtoll(argv[2], NULL, 10), &err);
        engine_free(world.engine);
    }
    vec_release(&world.started);
    if (r < 0) {
        fprintf(stderr, "make_trials: %s\n", err_text(&err));
        return 1;
    }
    return 0;
}
