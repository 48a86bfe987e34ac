/* SPDX-License-Identifier: MIT */
/*
 * scripted_programs.h — programs whose steps take as long as the configuration in force says, for
 * the tests of tuning.
 */
#ifndef HONE_ENGINE_SCRIPTED_PROGRAMS_H
#define HONE_ENGINE_SCRIPTED_PROGRAMS_H

#include "engine/scripted.h"

#define LONG_SPEC(system, more)                                                                    \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1,2,3,4]},"         \
    "\"search\":{\"algorithm\":\"grid\",\"parallel\":1,\"trials\":4},\"system\":{" system "}" more \
    "}"

/* A program: a step takes seconds(configuration). */
typedef double seconds_fn(const json_t *system);
struct program {
    int64_t attempt, step;
    double left_s; /* to the end of the step */
    seconds_fn *seconds;
    bool answers;
};

static UNUSED double by_threads(const json_t *system)
{
    return json_get_int(system, "threads", 0) == 1 ? 0.02 : 0.05;
}

static UNUSED double by_few_threads(const json_t *system)
{
    return json_get_int(system, "threads", 0) == 1 ? 0.05 : 0.02;
}

static UNUSED double by_cpus(const json_t *system)
{
    return 0.08 / (double)json_get_int(system, "cpus", 1);
}

static UNUSED const struct sent *last_sent(enum agent_command_kind kind, int64_t attempt)
{
    const struct sent *found = NULL;
    vec_foreach (sent, &t.sent)
        if (sent->kind == kind && sent->attempt == attempt)
            found = sent;
    return found;
}

static UNUSED const json_t *system_in(const char *control)
{
    static json_t *kept;
    struct err err = ERR_INIT;
    if (kept)
        json_decref(kept);
    kept = NULL;
    assert_non_null(control);
    assert_ok(json_parse(control, strlen(control), &kept, &err), &err);
    return json_object_get(kept, "system");
}

/* The agent puts in place what it is told, and says so. */
static UNUSED void obey(const struct program *program)
{
    const struct sent *sent = last_sent(COMMAND_SYSTEM, program->attempt);

    if (!sent || !program->answers)
        return;
    struct agent_event event = {.kind = EVENT_SYSTEM,
                                .attempt = program->attempt,
                                .time_us = now().wall_us,
                                .generation = sent->generation};
    engine_on_event(t.engine, &event, now());
    turn();
}

static UNUSED struct program launch(int64_t attempt, seconds_fn *seconds, bool sdk)
{
    struct program program = {attempt, 0, 0, seconds, true};

    started(attempt);
    if (sdk)
        report_metric(attempt, METRIC_GENERATION, 0, 2);
    return program;
}

/* What the attempt's row says. */
static char row_system[200];
static int keep_system(const struct attempt *attempt, void *arg)
{
    if (attempt->id == *(int64_t *)arg)
        snprintf(row_system, sizeof(row_system), "%s", attempt->system ? attempt->system : "");
    return 0;
}

static UNUSED const char *system_of(int64_t attempt)
{
    row_system[0] = 0;
    assert_ok(store_attempts(t.store, 0, 0, false, keep_system, &attempt, &t.err), &t.err);
    return row_system;
}

static UNUSED void train(struct program *program, double seconds)
{
    struct err err = ERR_INIT;

    for (double passed = 0; passed < seconds; passed += 0.01) {
        t.now_us += 10000;
        obey(program);
        autofree(json) json_t *system = NULL;
        const char *text = system_of(program->attempt);
        assert_ok(json_parse(text, strlen(text), &system, &err), &err);
        program->left_s -= 0.01;
        if (program->left_s > 1e-9)
            continue;
        program->step++;
        report_metric(program->attempt, "loss", program->step, 1.0 / (double)program->step);
        program->left_s += program->seconds(system);
    }
}

static UNUSED size_t count_events(const char *part)
{
    size_t n = 0;
    vec_foreach (event, &t.events)
        n += strstr(*event, part) != NULL;
    return n;
}

#endif
