/* SPDX-License-Identifier: MIT */
/*
 * world.c — the simulated machine. Everything that happens is an event in one queue.
 */
#include "tests/sim/world.h"
#include "base/map.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define FAIL(world, ...)                                                                           \
    do {                                                                                           \
        fprintf(stderr,                                                                            \
                "simulation failed: HONE_SIM_SEED=%llu: ", (unsigned long long)(world)->seed);     \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        abort();                                                                                   \
    } while (0)

#define SAMPLES_MAX 40

/* A program under its keeper, as its state file and output tell it. */
struct process {
    int64_t attempt, trial;
    bool coming;          /* its keeper has been started, but does not hold the lock yet */
    bool stop_left;       /* a stop was left in the state file for it to find */
    bool alive, recorded; /* recorded: an exit record was written */
    bool sdk, asked;      /* asked: the control page says that it is to end */
    bool unwanted;        /* the engine has decided that it ends */
    bool obeyed;          /* obeyed: it broke off at the engine's word */
    int64_t generation;   /* of the configuration that was put in place last */
    int64_t turn;         /* of pausing: odd while it stands still */
    int64_t still_us;     /* since when */
    int64_t paused_us;    /* in pauses that are over */
    int64_t step_left_us, end_left_us; /* when it goes on */
    uint64_t pace;                     /* counts turns: what was due before one does not happen */
    struct ending ending;
    struct agent_sample samples[SAMPLES_MAX];
    size_t n_samples;
    int64_t started_us, step_at_us, end_at_us;
};

enum happening {
    COMMAND_ARRIVES,
    KEEPER_COMES_UP,
    REPORT_ARRIVES,
    PROCESS_STEPS,
    PROCESS_ENDS,
    KEEPER_DIES,
    COMMIT_DONE,
    ENGINE_WAKES,
    ENGINE_DIES,
    ENGINE_COMES_UP,
    CLOCK_JUMPS,
    USER_INTERRUPTS,
    USER_STOPS,
    USER_HOLDS,
    SEARCH_DONE,
};

struct event {
    int64_t at_us;
    uint64_t order;
    enum happening what;
    int64_t attempt;
    uint64_t engine; /* which life of the engine sent or expects it; 0: any */
    enum agent_command_kind command;
    bool kill;
    int64_t trial;
    int64_t turn;
    int64_t generation;
    uint64_t pace;
    struct agent_event report; /* samples copied by the process */
    struct agent_sample sample_copy[SAMPLES_MAX];
};

struct world {
    uint64_t seed;
    struct rng rng;
    struct faults faults;
    int64_t now_us, wall_offset_us;
    VEC(struct event *) heap;
    uint64_t order;
    struct store *store;
    struct machine machine;
    char *spec;
    struct engine *engine; /* NULL while it is dead */
    uint64_t life;
    struct tick *in_flight;
    struct search_job *job; /* with a worker */
    int64_t wake_at_us;
    struct map processes; /* attempt → struct process */
    int64_t experiment;   /* acknowledged */
    bool submitted, ended;
    bool interrupted; /* the user means to resume it */
    bool stopped;     /* the user was told that it is being stopped */
    bool frozen;      /* … that it stands still */
    int64_t holds;    /* how often it was put off */
    double cpus;      /* what the machine had at first */
    int *successes;
    size_t n_successes;
    int64_t pauses, resumes;
    int64_t changes; /* of configurations */
};

static struct now world_now(const struct world *world)
{
    return (struct now){world->now_us + world->wall_offset_us, world->now_us};
}

static bool happens(struct world *world, double p)
{
    return world->now_us < world->faults.until_us && rng_chance(&world->rng, p);
}

static int64_t between(struct world *world, int64_t lo, int64_t hi)
{
    return lo + (int64_t)rng_below(&world->rng, (uint64_t)(hi - lo + 1));
}

/* ---- the queue: a binary heap by time, then by order of entry ---- */

static bool sooner(const struct event *a, const struct event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static struct event *push(struct world *world, enum happening what, int64_t after_us)
{
    struct event *event = xcalloc(1, sizeof(*event));
    event->what = what;
    event->at_us = world->now_us + after_us;
    event->order = world->order++;
    event->engine = world->life;
    vec_push(&world->heap, event);
    for (size_t i = world->heap.len - 1; i > 0 && sooner(event, world->heap.at[(i - 1) / 2]);) {
        world->heap.at[i] = world->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
        world->heap.at[i] = event;
    }
    return event;
}

static struct event *pop(struct world *world)
{
    struct event *top = world->heap.at[0], *last = world->heap.at[--world->heap.len];
    size_t n = world->heap.len, i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && sooner(world->heap.at[child + 1], world->heap.at[child]))
            child++;
        if (!sooner(world->heap.at[child], last))
            break;
        world->heap.at[i] = world->heap.at[child];
        i = child;
    }
    if (n)
        world->heap.at[i] = last;
    return top;
}

/* ---- messages ---- */

static void deliver(struct world *world, struct event *message)
{
    int copies = happens(world, world->faults.lose)    ? 0
                 : happens(world, world->faults.twice) ? 2
                                                       : 1;
    for (int i = 1; i < copies; i++) {
        struct event *copy = push(world, message->what, between(world, 1000, 3000000));
        int64_t at = copy->at_us;
        uint64_t order = copy->order;
        *copy = *message;
        copy->at_us = at;
        copy->order = order;
    }
    if (!copies)
        message->attempt = -1; /* arrives nowhere */
}

static void send_command(const struct agent_command *command, void *arg)
{
    struct world *world = arg;
    struct event *message = push(world, COMMAND_ARRIVES, between(world, 100, 20000));
    message->attempt = command->attempt;
    message->command = command->kind;
    message->kill = command->kill;
    message->turn = command->turn;
    message->generation = command->generation;
    struct process *process = map_find(&world->processes, (uint64_t)command->attempt);
    if (process && (command->kind == COMMAND_CONTROL || command->kind == COMMAND_STOP))
        process->unwanted = true;
    if (command->launch)
        for (char *const *p = command->launch->envp; p && *p; p++)
            if (str_starts(*p, "HONE_TRIAL="))
                message->trial = strtoll(strchr(*p, '.') + 1, NULL, 10);
    deliver(world, message);
}

static struct event *report(struct world *world, const struct process *process,
                            enum agent_event_kind kind, int64_t after_us)
{
    struct event *message = push(world, REPORT_ARRIVES, after_us);
    message->attempt = process->attempt;
    message->report = (struct agent_event){.kind = kind,
                                           .attempt = process->attempt,
                                           .time_us = world->now_us + world->wall_offset_us,
                                           .pid = 1000 + (pid_t)process->attempt,
                                           .turn = process->turn,
                                           .paused_us = process->paused_us,
                                           .turn_us = process->still_us + world->wall_offset_us,
                                           .used_bytes = 1u << 28,
                                           .ending = process->ending};
    return message;
}

static void report_samples(struct world *world, const struct process *process, size_t first,
                           int64_t after_us)
{
    struct event *message = report(world, process, EVENT_SAMPLES, after_us);
    message->report.first_sample = (int64_t)first;
    message->report.n_samples = process->n_samples - first;
    memcpy(message->sample_copy, process->samples + first,
           message->report.n_samples * sizeof(struct agent_sample));
    deliver(world, message);
}

/* ---- programs and keepers ---- */

static int64_t run_us(const struct world *world, const struct process *process)
{
    int64_t us = world->now_us - process->started_us - process->paused_us;
    return turn_paused(process->turn) ? us - (world->now_us - process->still_us) : us;
}

static void end_process(struct world *world, struct process *process, enum reason reason,
                        int status, int signal)
{
    if (!process->alive)
        return;
    process->alive = false;
    process->recorded = true;
    process->ending = (struct ending){.reason = reason,
                                      .exit_status = status,
                                      .signal = signal,
                                      .run_us = run_us(world, process)};
    if (reason == REASON_NONE && status == 0 && !process->obeyed &&
        (size_t)process->trial < world->n_successes)
        world->successes[process->trial]++;
}

static void tell_end(struct world *world, const struct process *process)
{
    /* One message: the samples of an attempt always come before its end. */
    struct event *message = report(world, process, EVENT_ENDED, between(world, 100, 20000));
    message->report.n_samples = process->n_samples;
    memcpy(message->sample_copy, process->samples, sizeof(process->samples));
    deliver(world, message);
}

static void check_processes(struct world *world)
{
    size_t cursor = 0, alive = 0;
    struct process *process;
    struct map trials = MAP_INIT;

    while ((process = map_next(&world->processes, &cursor, NULL))) {
        if (!process->alive)
            continue;
        if (map_find(&trials, (uint64_t)process->trial))
            FAIL(world, "trial %lld runs twice at once", (long long)process->trial);
        map_put(&trials, (uint64_t)process->trial, process);
        /* One that is woken to end needs no cpus of its own. */
        alive += !turn_paused(process->turn) && !(process->turn && process->unwanted);
    }
    if ((double)alive > world->cpus)
        FAIL(world, "%zu programs on %g cpus", alive, world->cpus);
    map_release(&trials);
}

/* What is due for it, at its present pace. */
static void keep_pace(struct world *world, struct process *process)
{
    struct event *step = push(world, PROCESS_STEPS, process->step_at_us - world->now_us);
    struct event *end = push(world, PROCESS_ENDS, process->end_at_us - world->now_us);

    step->attempt = end->attempt = process->attempt;
    step->pace = end->pace = process->pace;
}

static void start_process(struct world *world, int64_t attempt, int64_t trial)
{
    struct process *process = xcalloc(1, sizeof(*process));
    process->attempt = attempt;
    process->trial = trial;
    process->sdk = rng_chance(&world->rng, 0.5);
    process->coming = true;
    map_put(&world->processes, (uint64_t)attempt, process);
    bool late = happens(world, world->faults.late_keepers);
    push(world, KEEPER_COMES_UP, late ? between(world, 100, 20000000) : 0)->attempt = attempt;
}

/* It holds the lock now; a stop that came before it lies in the state file. */
static void come_up(struct world *world, struct process *process)
{
    int64_t attempt = process->attempt;

    if (!process->coming)
        return;
    process->coming = false;
    process->alive = true;
    process->started_us = world->now_us;
    if (process->stop_left) {
        end_process(world, process, REASON_CANCELLED, -1, 15);
        tell_end(world, process);
        return;
    }
    if (happens(world, world->faults.spawn_fails)) {
        end_process(world, process, REASON_SPAWN, -1, 0);
        process->ending.transient = true;
        tell_end(world, process);
        return;
    }
    check_processes(world);
    deliver(world, report(world, process, EVENT_STARTED, between(world, 100, 20000)));
    if (process->sdk && rng_chance(&world->rng, 0.5)) {
        process->samples[process->n_samples++] =
            (struct agent_sample){.metric = METRIC_GENERATION,
                                  .value = 2,
                                  .step = STEP_NONE,
                                  .time_us = world->now_us + world->wall_offset_us};
        report_samples(world, process, 0, between(world, 100, 20000));
    }
    process->step_at_us = world->now_us + between(world, 100000, 3000000);
    process->end_at_us = world->now_us + between(world, 500000, 60000000);
    keep_pace(world, process);
    if (happens(world, world->faults.keeper_dies))
        push(world, KEEPER_DIES, between(world, 0, 60000000))->attempt = attempt;
}

static void tell_use(struct world *world, const struct process *process)
{
    struct event *message = report(world, process, EVENT_USE, between(world, 100, 20000));

    message->report.use = (struct attempt_use){
        .seconds = 1,
        .cpu_s = rng_unit(&world->rng) * 2,
        .io_bytes = NAN,
        .machine_cpus = world->cpus,
        .machine_busy_cpus = rng_unit(&world->rng) * world->cpus,
    };
    deliver(world, message);
}

static void step_process(struct world *world, struct process *process)
{
    if (!process->alive || process->n_samples >= SAMPLES_MAX - 2)
        return;
    if (turn_paused(process->turn))
        FAIL(world, "trial %lld steps while it is paused", (long long)process->trial);
    double value = happens(world, world->faults.diverges) ? NAN : rng_unit(&world->rng);
    process->samples[process->n_samples++] =
        (struct agent_sample){.metric = "loss",
                              .value = value,
                              .step = (int64_t)process->n_samples,
                              .time_us = world->now_us + world->wall_offset_us};
    report_samples(world, process, process->n_samples - 1, between(world, 100, 20000));
    tell_use(world, process);
    process->step_at_us = world->now_us + between(world, 100000, 3000000);
    struct event *next = push(world, PROCESS_STEPS, process->step_at_us - world->now_us);
    next->attempt = process->attempt;
    next->pace = process->pace;
}

static void finish_process(struct world *world, struct process *process)
{
    if (!process->alive)
        return;
    if (happens(world, world->faults.program_fails))
        end_process(world, process, REASON_EXIT, 1, 0);
    else if (happens(world, world->faults.checkpoints))
        end_process(world, process, REASON_EXIT, 85, 0);
    else {
        if (process->n_samples < 2)
            process->samples[process->n_samples++] =
                (struct agent_sample){.metric = "loss", .value = rng_unit(&world->rng), .step = 1};
        end_process(world, process, REASON_NONE, 0, 0);
    }
    tell_end(world, process);
}

/* ---- the agent: it knows only what the processes' records tell ---- */

static void tell_turn(struct world *world, const struct process *process)
{
    enum agent_event_kind kind = turn_paused(process->turn) ? EVENT_PAUSED : EVENT_RESUMED;
    deliver(world, report(world, process, kind, between(world, 100, 20000)));
}

static void agent_reports(struct world *world, const struct process *process)
{
    if (process->recorded) {
        tell_end(world, process);
        return;
    }
    deliver(world, report(world, process, EVENT_STARTED, between(world, 100, 20000)));
    if (process->n_samples)
        report_samples(world, process, 0, between(world, 100, 20000));
    if (process->turn)
        tell_turn(world, process);
}

static void obey_control(struct world *world, struct process *process)
{
    process->asked = true;
    if (!process->alive || !process->sdk || process->obeyed || turn_paused(process->turn))
        return;
    process->obeyed = true;
    process->samples[process->n_samples++] =
        (struct agent_sample){.metric = METRIC_GENERATION,
                              .value = 4,
                              .step = STEP_NONE,
                              .time_us = world->now_us + world->wall_offset_us};
    report_samples(world, process, process->n_samples - 1, between(world, 100, 20000));
}

/* The keeper holds it or lets it go. Nothing that is due happens meanwhile. */
static void take_turn(struct world *world, struct process *process, int64_t turn)
{
    bool was = turn_paused(process->turn);

    process->turn = turn;
    if (was == turn_paused(turn))
        return;
    process->pace++;
    world->pauses += !was;
    world->resumes += was;
    if (was) {
        int64_t us = world->now_us - process->still_us;
        process->paused_us += us;
        process->step_at_us += us;
        process->end_at_us += us;
        keep_pace(world, process);
        check_processes(world);
        if (process->asked)
            obey_control(world, process);
    }
    process->still_us = world->now_us;
}

static void on_turn(struct world *world, struct process *process, int64_t turn)
{
    if (!process->alive)
        return;
    if (turn > process->turn)
        take_turn(world, process, turn);
    tell_turn(world, process);
}

/* The machine obeys, cannot, or the program does not bear it. */
static void on_system(struct world *world, struct process *process, int64_t generation)
{
    bool refused = happens(world, world->faults.refuses);

    if (!process->alive)
        return;
    if (!refused && generation > process->generation) {
        world->changes++;
        process->generation = generation;
        if (generation > 1 && happens(world, world->faults.misfits)) {
            end_process(world, process, REASON_OOM, -1, 9);
            tell_end(world, process);
            return;
        }
    }
    struct event *answer = report(world, process, EVENT_SYSTEM, between(world, 100, 20000));
    answer->report.generation = generation;
    answer->report.error = refused ? -EBUSY : 0;
    deliver(world, answer);
}

static void on_command(struct world *world, const struct event *event)
{
    struct process *process = map_find(&world->processes, (uint64_t)event->attempt);

    if (!process && event->command == COMMAND_START) {
        start_process(world, event->attempt, event->trial);
        return;
    }
    if (process && process->coming) {
        process->stop_left |= event->command == COMMAND_STOP;
        return;
    }
    if (!process) {
        struct process none = {.attempt = event->attempt};
        none.ending = (struct ending){.reason = REASON_LOST, .transient = true, .exit_status = -1};
        if (event->command == COMMAND_ADOPT)
            deliver(world, report(world, &none, EVENT_ENDED, between(world, 100, 20000)));
        return;
    }
    switch (event->command) {
    case COMMAND_START:
    case COMMAND_ADOPT:
        agent_reports(world, process);
        break;
    case COMMAND_STOP:
        if (process->alive) {
            end_process(world, process, REASON_CANCELLED, -1, 15);
        }
        tell_end(world, process);
        break;
    case COMMAND_CONTROL:
        obey_control(world, process);
        break;
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        on_turn(world, process, event->turn);
        break;
    case COMMAND_SYSTEM:
        on_system(world, process, event->generation);
        break;
    }
}

static void on_keeper_death(struct world *world, struct process *process)
{
    if (!process->alive)
        return;
    /* The agent finds it lost, ends what it left, and says so. */
    end_process(world, process, REASON_LOST, -1, 0);
    process->ending.transient = true;
    tell_end(world, process);
}

/* ---- the engine's lives ---- */

static void on_engine_event(int64_t experiment, const char *json, void *arg)
{
    struct world *world = arg;
    if (world->stopped && strstr(json, "\"event\":\"trial_started\""))
        FAIL(world, "after the stop: %s", json);
    if (world->frozen && strstr(json, "\"event\":\"trial_started\""))
        FAIL(world, "while it is frozen: %s", json);
    if (experiment != world->experiment || !strstr(json, "\"event\":\"finished\""))
        return;
    if (strstr(json, "\"state\":\"interrupted\""))
        world->interrupted = !world->stopped;
    else
        world->ended = true;
}

static void acknowledge(void *arg)
{
    struct world *world = arg;
    world->submitted = true;
}

static void submit(struct world *world)
{
    struct spec spec;
    autorelease(err) struct err err = ERR_INIT;
    struct submission submission = {.spec = &spec};

    spec_init(&spec);
    if (spec_parse(world->spec, strlen(world->spec), "sim", "/", NULL, &spec, NULL, &err) < 0 ||
        engine_submit(world->engine, world->store, &submission, world_now(world),
                      &world->experiment, &err) < 0)
        FAIL(world, "%s", err_text(&err));
    spec_release(&spec);
    engine_when_committed(world->engine, acknowledge, world);
}

static void bring_up(struct world *world)
{
    autorelease(err) struct err err = ERR_INIT;
    world->life++;
    world->machine.cpus = happens(world, world->faults.machine_shrinks)
                              ? (double)between(world, 1, (int64_t)world->cpus)
                              : world->cpus;
    world->engine = engine_new(&(struct engine_options){
        .home = "/nowhere",
        .home_id = "0123456789abcdef",
        .machine = &world->machine,
        .seed = rng_u64(&world->rng),
        .send = send_command,
        .on_event = on_engine_event,
        .arg = world,
    });
    if (engine_load(world->engine, world->store, true, world_now(world), &err) < 0)
        FAIL(world, "the engine does not come up: %s", err_text(&err));
    if (!world->submitted)
        submit(world);
    else if (world->stopped && !engine_has(world->engine, world->experiment))
        world->ended = true;
    else if (!world->ended && !engine_has(world->engine, world->experiment)) {
        /* It ended just before the engine died, or was interrupted. */
        int r =
            engine_resume(world->engine, world->store, world->experiment, world_now(world), &err);
        world->ended = r == -EINVAL;
        world->interrupted = false;
    }
    push(world, ENGINE_DIES, between(world, 100000, 60000000));
}

static void take_down(struct world *world)
{
    if (world->in_flight) {
        if (rng_chance(&world->rng, 0.5)) /* the commit was quicker than the death */
            store_apply(world->store, tick_txn(world->in_flight), NULL);
        tick_free(TAKE(world->in_flight));
    }
    world->job = NULL; /* its worker has gone too */
    engine_free(TAKE(world->engine));
    world->life++;
    world->wake_at_us = 0;
    push(world, ENGINE_COMES_UP, between(world, 1000, 30000000));
}

/* A worker's clock: some suggestions take no time, others much. */
static int64_t clock_at_us, clock_step_us;
static int64_t worker_clock_us(void)
{
    clock_at_us += clock_step_us;
    return clock_at_us;
}

/* What is computed is computed now, but known later. */
static void start_job(struct world *world)
{
    if (world->job || !engine_search_due(world->engine, &world->job))
        return;
    clock_step_us = (int64_t[]){0, 100, 20000, 5000000}[rng_below(&world->rng, 4)];
    search_job_run(world->job, worker_clock_us);
    push(world, SEARCH_DONE, between(world, 0, 3000000));
    engine_check(world->engine);
}

static void turn(struct world *world)
{
    if (!world->engine)
        return;
    engine_check(world->engine);
    if (world->interrupted && !engine_has(world->engine, world->experiment)) {
        autorelease(err) struct err err = ERR_INIT;
        if (engine_resume(world->engine, world->store, world->experiment, world_now(world), &err) <
            0)
            FAIL(world, "cannot resume: %s", err_text(&err));
        world->interrupted = false;
        engine_check(world->engine);
    }
    if (!world->in_flight) {
        world->in_flight = engine_tick(world->engine, world_now(world));
        if (world->in_flight)
            push(world, COMMIT_DONE, between(world, 100, 50000));
        engine_check(world->engine);
    }
    start_job(world);
    int64_t wake_us = world->in_flight ? INT64_MAX : engine_wake_us(world->engine);
    if (wake_us != INT64_MAX && (!world->wake_at_us || wake_us < world->wake_at_us)) {
        world->wake_at_us = MAX(wake_us, world->now_us + 1);
        push(world, ENGINE_WAKES, world->wake_at_us - world->now_us);
    }
}

static void on_commit(struct world *world)
{
    autorelease(err) struct err err = ERR_INIT;
    if (store_apply(world->store, tick_txn(world->in_flight), &err) < 0)
        FAIL(world, "commit: %s", err_text(&err));
    engine_committed(world->engine, TAKE(world->in_flight));
}

static void on_report(struct world *world, struct event *event)
{
    if (!world->engine || event->attempt < 0)
        return;
    event->report.samples = event->sample_copy;
    if (event->report.kind == EVENT_ENDED && event->report.n_samples) {
        struct agent_event samples = event->report;
        samples.kind = EVENT_SAMPLES;
        engine_on_event(world->engine, &samples, world_now(world));
        engine_check(world->engine);
    }
    engine_on_event(world->engine, &event->report, world_now(world));
}

static void on_stop_kept(void *arg)
{
    struct world *world = arg;
    world->stopped = true;
}

static void user_stops(struct world *world)
{
    if (world->engine && world->submitted && happens(world, world->faults.user_stops)) {
        world->frozen = false;
        if (engine_stop(world->engine, world->experiment,
                        rng_chance(&world->rng, 0.5) ? STOP_DRAIN : STOP_NOW, world_now(world),
                        NULL) == 0)
            engine_when_committed(world->engine, on_stop_kept, world);
    }
    if (world->now_us < world->faults.until_us && !world->stopped)
        push(world, USER_STOPS, between(world, 1000000, 60000000));
}

static void on_frozen(void *arg)
{
    struct world *world = arg;
    world->frozen = true;
}

/* The user puts it off, lets it go on, or pauses the whole queue; in the end all goes on. */
static void user_holds(struct world *world)
{
    struct now now = world_now(world);
    bool over = world->now_us >= world->faults.until_us;

    if (!world->engine || !world->submitted) {
        push(world, USER_HOLDS, 1000000);
        return;
    }
    if (over || happens(world, world->faults.user_holds)) {
        enum held held = over ? HELD_NOT : (enum held)rng_below(&world->rng, 3);
        world->frozen = false;
        if (engine_hold(world->engine, world->experiment, held, now, NULL) == 0 &&
            held == HELD_FROZEN)
            engine_when_committed(world->engine, on_frozen, world);
        engine_pause_queue(world->engine, !over && rng_chance(&world->rng, 0.2), now);
        engine_prioritise(world->engine, world->experiment, between(world, -100, 100), now, NULL);
        world->holds += held != HELD_NOT;
    }
    if (!over)
        push(world, USER_HOLDS, between(world, 1000000, 60000000));
}

static void user_interrupts(struct world *world)
{
    if (world->engine && !world->stopped && world->submitted &&
        happens(world, world->faults.user_interrupts)) {
        world->frozen = false;
        engine_stop(world->engine, world->experiment,
                    rng_chance(&world->rng, 0.3) ? STOP_KILL : STOP_INTERRUPT, world_now(world),
                    NULL);
    }
    if (world->now_us < world->faults.until_us)
        push(world, USER_INTERRUPTS, between(world, 1000000, 60000000));
}

static void handle(struct world *world, struct event *event)
{
    struct process *process = map_find(&world->processes, (uint64_t)event->attempt);
    bool this_life = event->engine == world->life && world->engine;

    switch (event->what) {
    case COMMAND_ARRIVES:
        if (event->attempt >= 0)
            on_command(world, event);
        break;
    case REPORT_ARRIVES:
        on_report(world, event);
        break;
    case KEEPER_COMES_UP:
        come_up(world, process);
        break;
    case PROCESS_STEPS:
        if (event->pace == process->pace)
            step_process(world, process);
        break;
    case PROCESS_ENDS:
        if (event->pace == process->pace)
            finish_process(world, process);
        break;
    case KEEPER_DIES:
        on_keeper_death(world, process);
        break;
    case COMMIT_DONE:
        if (this_life && world->in_flight)
            on_commit(world);
        break;
    case ENGINE_WAKES:
        if (this_life)
            world->wake_at_us = 0;
        break;
    case ENGINE_DIES:
        if (!this_life)
            break;
        if (happens(world, world->faults.engine_dies))
            take_down(world);
        else if (world->now_us < world->faults.until_us)
            push(world, ENGINE_DIES, between(world, 100000, 60000000));
        break;
    case ENGINE_COMES_UP:
        bring_up(world);
        break;
    case CLOCK_JUMPS:
        if (happens(world, world->faults.clock_jumps))
            world->wall_offset_us += between(world, -86400 * US_PER_S, 86400 * US_PER_S);
        if (world->now_us < world->faults.until_us)
            push(world, CLOCK_JUMPS, between(world, 1000000, 60000000));
        break;
    case USER_STOPS:
        user_stops(world);
        break;
    case USER_HOLDS:
        user_holds(world);
        break;
    case SEARCH_DONE:
        if (this_life && world->job)
            engine_search_done(world->engine, TAKE(world->job), world_now(world));
        break;
    case USER_INTERRUPTS:
        user_interrupts(world);
        break;
    }
}

struct world *world_new(uint64_t seed, const char *spec, double cpus, const struct faults *faults)
{
    struct world *world = xcalloc(1, sizeof(*world));
    autorelease(err) struct err err = ERR_INIT;

    world->seed = seed;
    rng_init(&world->rng, seed, 1);
    world->faults = *faults;
    world->now_us = 1000000;
    world->wall_offset_us = 1700000000LL * US_PER_S;
    world->spec = xstrdup(spec);
    world->cpus = cpus;
    world->machine =
        (struct machine){.name = xstrdup("sim"), .cpus = cpus, .mem_bytes = 1ULL << 34};
    world->n_successes = 10000;
    world->successes = xcalloc(world->n_successes, sizeof(int));
    if (store_open_memory(&world->store, &err) < 0)
        FAIL(world, "%s", err_text(&err));
    bring_up(world);
    push(world, CLOCK_JUMPS, 1000000);
    push(world, USER_INTERRUPTS, 1000000);
    push(world, USER_STOPS, 1000000);
    push(world, USER_HOLDS, 1000000);
    return world;
}

void world_run(struct world *world)
{
    size_t events = 0;
    turn(world);
    while (!world->ended) {
        if (!world->heap.len)
            FAIL(world, "nothing happens any more at %lld s",
                 (long long)(world->now_us / US_PER_S));
        if (++events > 500000)
            FAIL(world, "does not end");
        struct event *event = pop(world);
        world->now_us = event->at_us;
        handle(world, event);
        free(event);
        turn(world);
    }
}

void world_free(struct world *world)
{
    size_t cursor = 0;
    struct process *process;

    while ((process = map_next(&world->processes, &cursor, NULL)))
        free(process);
    map_release(&world->processes);
    vec_foreach (event, &world->heap)
        free(*event);
    vec_release(&world->heap);
    if (world->in_flight)
        tick_free(world->in_flight);
    if (world->engine)
        engine_free(world->engine);
    store_free(world->store);
    free(world->machine.name);
    free(world->spec);
    free(world->successes);
    free(world);
}

struct store *world_store(struct world *world)
{
    return world->store;
}

bool world_stopped(const struct world *world)
{
    return world->stopped;
}

void world_turns(const struct world *world, int64_t *add_pauses, int64_t *add_resumes)
{
    *add_pauses += world->pauses;
    *add_resumes += world->resumes;
}

int64_t world_holds(const struct world *world)
{
    return world->holds;
}

int64_t world_changes(const struct world *world)
{
    return world->changes;
}

int world_successes(const struct world *world, int64_t trial)
{
    return world->successes[trial];
}
