/* SPDX-License-Identifier: MIT */
/*
 * scripted.h — an engine with a scripted agent, for its tests: commands are noted, events are given
 * by hand, time is a number.
 */
#ifndef HONE_ENGINE_SCRIPTED_H
#define HONE_ENGINE_SCRIPTED_H

#include "base/clock.h"
#include "engine/engine.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

struct sent {
    enum agent_command_kind kind;
    int64_t attempt;
    bool kill;
    char *gpus, *control;
    int64_t turn;       /* of pausing */
    int64_t generation; /* of a configuration */
    size_t cpus;        /* that it is pinned to; 0: not */
    char *environment;  /* OMP_NUM_THREADS of a START */
};

static struct {
    struct engine *engine;
    struct store *store;
    struct machine machine;
    int64_t now_us;
    const char *home; /* NULL: none is needed */
    VEC(struct sent) sent;
    VEC(char *) events;
    struct err err;
    bool hold_jobs;
    int64_t job_us, job_clock_us;
} t;

static int64_t samples_told[1000]; /* by attempt */

static int64_t wall_back_us;    /* the clock was set back by so much */
static int64_t stamps_ahead_us; /* … the program's alone, ahead */

static UNUSED struct now now(void)
{
    return (struct now){1700000000LL * US_PER_S + t.now_us - wall_back_us, t.now_us};
}

static UNUSED void on_send(const struct agent_command *command, void *arg)
{
    struct sent sent = {.kind = command->kind,
                        .attempt = command->attempt,
                        .kill = command->kill,
                        .turn = command->turn,
                        .generation = command->generation};
    (void)arg;
    if (command->levers && command->levers->given[LEVER_CPUS])
        sent.cpus = cpus_count(&command->levers->cpus);
    for (char *const *p = command->launch ? command->launch->envp : NULL; p && *p; p++)
        if (str_starts(*p, "CUDA_VISIBLE_DEVICES="))
            sent.gpus = xstrdup(strchr(*p, '=') + 1);
    for (char *const *p = command->launch ? command->launch->envp : NULL; p && *p; p++)
        if (str_starts(*p, "OMP_NUM_THREADS="))
            sent.environment = xstrdup(strchr(*p, '=') + 1);
    if (command->control_json)
        sent.control = xstrdup(command->control_json);
    vec_push(&t.sent, sent);
}

static UNUSED void on_event(int64_t experiment, const char *json, void *arg)
{
    (void)experiment, (void)arg;
    vec_push(&t.events, xstrdup(json));
}

static UNUSED void come_up(bool go_on)
{
    t.engine = engine_new(&(struct engine_options){.home = t.home ? t.home : "/nowhere",
                                                   .home_id = "0123456789abcdef",
                                                   .machine = &t.machine,
                                                   .seed = 1,
                                                   .send = on_send,
                                                   .on_event = on_event});
    assert_ok(engine_load(t.engine, t.store, go_on, now(), &t.err), &t.err);
}

static UNUSED void set_up(double cpus, int gpus)
{
    static char *ids[] = {"GPU-a", "GPU-b", "GPU-c"};
    memset(&t, 0, sizeof(t));
    memset(samples_told, 0, sizeof(samples_told));
    t.now_us = US_PER_S;
    t.machine = (struct machine){
        .name = (char *)"here", .cpus = cpus, .mem_bytes = 1ULL << 30, .cpu_list = (char *)"0-3"};
    t.machine.n_gpus = gpus;
    for (int i = 0; i < gpus; i++)
        t.machine.gpu_ids[i] = ids[i];
    assert_ok(store_open_memory(&t.store, &t.err), &t.err);
    come_up(true);
}

static UNUSED void forget_sent(void)
{
    vec_foreach (sent, &t.sent) {
        free(sent->gpus);
        free(sent->control);
        free(sent->environment);
    }
    t.sent.len = 0;
}

static UNUSED void tear_down(void)
{
    forget_sent();
    vec_release(&t.sent);
    vec_foreach (event, &t.events)
        free(*event);
    vec_release(&t.events);
    engine_free(t.engine);
    store_free(t.store);
    err_release(&t.err);
}

/* The worker's clock: every look at it costs t.job_us. */
static UNUSED int64_t job_clock_us(void)
{
    return t.job_clock_us += t.job_us;
}

static UNUSED void finish_job(struct search_job *job)
{
    engine_check(t.engine);
    search_job_run(job, job_clock_us);
    engine_search_done(t.engine, job, now());
    engine_check(t.engine);
}

/* Jobs of the search are done at once, unless the test holds them. */
static UNUSED bool compute(void)
{
    struct search_job *job;
    bool any = false;

    while (!t.hold_jobs && engine_search_due(t.engine, &job)) {
        finish_job(job);
        any = true;
    }
    return any;
}

/* Turn until nothing changes. */
static UNUSED void turn(void)
{
    struct tick *tick;
    engine_check(t.engine);
    do
        while ((tick = engine_tick(t.engine, now()))) {
            engine_check(t.engine);
            assert_ok(store_apply(t.store, tick_txn(tick), &t.err), &t.err);
            engine_committed(t.engine, tick);
        }
    while (compute());
}

static UNUSED int64_t submit(const char *spec_text)
{
    struct spec spec;
    struct submission submission = {.spec = &spec};
    int64_t id = 0;
    spec_init(&spec);
    assert_ok(spec_parse(spec_text, strlen(spec_text), "t", "/", NULL, &spec, NULL, &t.err),
              &t.err);
    assert_ok(engine_submit(t.engine, t.store, &submission, now(), &id, &t.err), &t.err);
    spec_release(&spec);
    turn();
    return id;
}

static UNUSED void started(int64_t attempt)
{
    struct agent_event event = {
        .kind = EVENT_STARTED, .attempt = attempt, .time_us = now().wall_us, .pid = 7};
    engine_on_event(t.engine, &event, now());
    turn();
}

static UNUSED void report_metric(int64_t attempt, const char *metric, int64_t step, double value)
{
    struct agent_sample sample = {
        .metric = metric, .value = value, .step = step, .time_us = now().wall_us + stamps_ahead_us};
    struct agent_event event = {.kind = EVENT_SAMPLES,
                                .attempt = attempt,
                                .samples = &sample,
                                .n_samples = 1,
                                .first_sample = samples_told[attempt]++};
    engine_on_event(t.engine, &event, now());
    turn();
}

static UNUSED void report(int64_t attempt, int64_t step, double value)
{
    report_metric(attempt, "loss", step, value);
}

static UNUSED void ended_after(int64_t attempt, enum reason reason, int status, int64_t run_us)
{
    struct agent_event event = {
        .kind = EVENT_ENDED,
        .attempt = attempt,
        .time_us = now().wall_us,
        .ending = {.reason = reason, .exit_status = status, .run_us = run_us},
    };
    samples_told[attempt] = 0;
    engine_on_event(t.engine, &event, now());
    turn();
}

static UNUSED void ended(int64_t attempt, enum reason reason, int status)
{
    ended_after(attempt, reason, status, US_PER_S);
}

/* It ran to its end with this loss. */
static UNUSED void finish(int64_t attempt, double loss)
{
    report(attempt, 1, loss);
    ended(attempt, REASON_NONE, 0);
}

static UNUSED size_t count(enum agent_command_kind kind)
{
    size_t n = 0;
    vec_foreach (sent, &t.sent)
        n += sent->kind == kind;
    return n;
}

static UNUSED const char *last_event(void)
{
    return t.events.len ? *vec_last(&t.events) : "";
}

/* The engine is killed, and another one takes over. */
static UNUSED void take_over(void)
{
    t.now_us += US_PER_S; /* time for what waits to be saved */
    turn();
    engine_free(t.engine);
    forget_sent();
    memset(samples_told, 0, sizeof(samples_told)); /* files are read anew */
    come_up(true);
    turn();
}

static struct trial trial_row;
static UNUSED int keep_trial(const struct trial_row *row, void *arg)
{
    (void)arg;
    trial_row = row->trial;
    trial_row.point = trial_row.extra = NULL; /* were the store's, as the texts */
    trial_row.why = trial_row.verdict = NULL;
    return 0;
}

static UNUSED const struct trial *trial(int64_t experiment, int64_t number)
{
    struct trial_query query = {.experiment = experiment, .number = number};
    memset(&trial_row, 0, sizeof(trial_row));
    assert_ok(store_trials(t.store, &query, keep_trial, NULL, &t.err), &t.err);
    assert_int_equal(trial_row.number, number);
    return &trial_row;
}

#define SPEC_SEARCH(search, more)                                                                  \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1,2,3,4,5,6,7,8]}," \
    "\"objective\":\"loss\",\"search\":{\"algorithm\":\"grid\"" search "}" more "}"
#define SPEC(more) SPEC_SEARCH("", more)

#endif
