/* SPDX-License-Identifier: MIT */
/*
 * queue.c — what people say about the order: whose experiment it is, its priority, that it waits.
 *
 * An experiment that is held starts nothing new; what runs goes on or, frozen, stands still
 * (pause.c). That is in its row, and that the queue as a whole waits is in the database, too: a new
 * engine holds what the old one held.
 */
#include "engine/internal.h"

#include <errno.h>

#define PRIORITY_MAX 100
#define MANY         INT64_C(1000000000) /* more is any number */

void run_set_user(struct run *run)
{
    struct engine *engine = run->engine;
    const char *owner = run->experiment.owner ? run->experiment.owner : "";

    for (run->user = 0; run->user < engine->users.len; run->user++)
        if (str_eq(engine->users.at[run->user], owner))
            return;
    vec_push(&engine->users, xstrdup(owner));
}

bool run_held(const struct run *run)
{
    return run->experiment.paused != HELD_NOT || run->engine->paused;
}

static int find_running(struct engine *engine, int64_t experiment, struct run **ret,
                        struct err *err)
{
    *ret = engine_find(engine, experiment);
    if (!*ret)
        return err_set(err, ENOENT, "experiment %lld is not running", (long long)experiment);
    return 0;
}

static void announce(struct run *run, const char *event, const char *key, int64_t value,
                     struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, event, run, NULL);

    json_put_int(&out, key, value);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

static const char *held_event(enum held held)
{
    return held == HELD_NOT ? "unpaused" : held == HELD_STARTS ? "paused" : "frozen";
}

int engine_hold(struct engine *engine, int64_t experiment, enum held held, struct now now,
                struct err *err)
{
    struct run *run = NULL;
    int r = find_running(engine, experiment, &run, err);

    if (r < 0)
        return r;
    if (run->closing)
        return err_set(err, EBUSY, "experiment %lld is just ending", (long long)experiment);
    if (held == HELD_FROZEN)
        pause_hold(run, now); /* also what has begun since it was frozen */
    if (run->experiment.paused == held)
        return 0;
    run_count_time(run, now);
    run->experiment.paused = held;
    run->dirty = true;
    announce(run, held_event(held), "running", run_busy(run), now);
    return 0;
}

int engine_prioritise(struct engine *engine, int64_t experiment, int64_t priority, struct now now,
                      struct err *err)
{
    struct run *run = NULL;
    int r = find_running(engine, experiment, &run, err);

    if (r < 0)
        return r;
    if (priority < -PRIORITY_MAX || priority > PRIORITY_MAX)
        return err_set(err, ERANGE, "a priority is a whole number from %d to %d, not %lld",
                       -PRIORITY_MAX, PRIORITY_MAX, (long long)priority);
    if (run->experiment.priority == priority)
        return 0;
    run->experiment.priority = priority;
    run->dirty = true;
    announce(run, "priority", "priority", priority, now);
    return 0;
}

void engine_pause_queue(struct engine *engine, bool paused, struct now now)
{
    if (engine->paused == paused)
        return;
    vec_foreach (run, &engine->runs)
        run_count_time(*run, now);
    engine->paused = paused;
    txn_pause_queue(engine->tick->txn, paused);
    vec_foreach (run, &engine->runs)
        announce(*run, paused ? "queue_paused" : "queue_unpaused", "running", run_busy(*run), now);
}

bool engine_queue_paused(const struct engine *engine)
{
    return engine->paused;
}

const struct machine *engine_machine(const struct engine *engine)
{
    return &engine->machine;
}

/* ---- who is served when ---- */

struct place {
    struct claim claim;
    const struct run *run;
};

static int by_service(const void *a, const void *b)
{
    const struct claim *x = &((const struct place *)a)->claim;
    const struct claim *y = &((const struct place *)b)->claim;
    return sched_before(y, x) - sched_before(x, y);
}

static struct queue_entry entry_of(const struct place *place)
{
    const struct experiment *experiment = &place->run->experiment;

    return (struct queue_entry){
        .experiment = experiment->id,
        .name = experiment->name,
        .owner = experiment->owner,
        .priority = experiment->priority,
        .held = experiment->paused,
        .running = place->claim.running,
        .wanted = place->claim.wanted < MANY ? place->claim.wanted : -1,
        .ending = place->run->closing,
    };
}

void engine_queue(struct engine *engine, void (*fn)(const struct queue_entry *entry, void *arg),
                  void *arg)
{
    size_t n = engine->runs.len;
    autofree(mem) struct claim *claims = xcalloc(n + 1, sizeof(*claims));
    autofree(mem) struct place *places = xcalloc(n + 1, sizeof(*places));

    for (size_t i = 0; i < n; i++)
        claims[i] = run_claim(engine->runs.at[i]);
    sched_share(claims, n);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){claims[i], engine->runs.at[i]};
    qsort(places, n, sizeof(*places), by_service);
    for (size_t i = 0; i < n; i++) {
        struct queue_entry entry = entry_of(&places[i]);
        fn(&entry, arg);
    }
}
