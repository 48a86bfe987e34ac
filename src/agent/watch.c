/* SPDX-License-Identifier: MIT */
/*
 * watch.c — an attempt that the agent looks after, turn by turn: events out, files read, the end.
 *
 * Only process() ends a watch, and only from the idle handle, so a pointer to one is good for the
 * whole of any other callback.
 */
#include "agent/local.h"

#include "base/clock.h"
#include <unistd.h>

#define TURN_MS    5
#define HURRY_MS   25
#define TURN_QUICK 200 /* looks; then it takes its time, and so do we */
#define FRESH_US   1500000

/* ---- events out ---- */

void watch_tell(struct watch *watch, struct agent_event *event)
{
    struct agent *agent = &watch->local->base;
    event->attempt = watch->attempt;
    event->time_us = clock_wall_us();
    agent->on_event(event, agent->arg);
}

static void tell_samples(struct watch *watch)
{
    struct tail *tail = &watch->tail;
    struct agent_event event = {
        .kind = EVENT_SAMPLES,
        .samples = tail->samples.at,
        .n_samples = tail->samples.len,
        .first_sample = watch->n_told,
    };
    if (!tail->samples.len)
        return;
    watch->n_told += (int64_t)tail->samples.len;
    watch_tell(watch, &event);
    vec_release(&tail->samples);
}

static void tell_ended(struct watch *watch)
{
    struct agent_event event = {.kind = EVENT_ENDED};
    autorelease(str) struct str text = STR_INIT;

    if (watch->record.magic)
        ending_from_record(&watch->record, &watch->asked, &text, &event.ending);
    else if (watch->unstarted)
        ending_from_start(&watch->failure, &event.ending);
    else
        ending_lost(watch->failure.text, &event.ending);
    event.ending.energy = power_of(watch, &event.ending);
    watch_tell(watch, &event);
}

/* ---- the set of watches ---- */

struct watch *watch_find(struct local *local, int64_t attempt)
{
    return map_find(&local->by_id, (uint64_t)attempt);
}

/* Event files in a folder that another attempt writes to must be told apart. */
static void follow_events(struct watch *watch, const struct agent_command *command)
{
    struct event_place place = {
        .dir = watch->dir,
        .cwd = command->launch->cwd,
        .folder = command->tensorboard,
        .attempt_id = watch->attempt_id,
    };
    if (!place.folder || !place.cwd)
        return;
    struct event_tail *events = watch->tail.events = event_tail_new(&place);
    vec_foreach (other, &watch->local->watches) {
        struct event_tail *theirs = (*other)->tail.events;
        if (theirs && str_eq(event_tail_folder(theirs), event_tail_folder(events))) {
            event_tail_share(theirs);
            event_tail_share(events);
        }
    }
}

struct watch *watch_add(struct local *local, const struct agent_command *command)
{
    const struct launch *launch = command->launch;
    struct watch *watch = xcalloc(1, sizeof(*watch));

    watch->local = local;
    watch->attempt = command->attempt;
    watch->pidfd = -1;
    watch->dir = xstrdup(launch->dir);
    watch->attempt_id = xstrdup(launch->attempt_id);
    watch->program = launch->argv && launch->argv[0] ? xstrdup(launch->argv[0]) : NULL;
    watch->asked = (struct asked){
        .dir = watch->dir,
        .program = watch->program,
        .memory_bytes = launch->memory_bytes,
        .time_limit_us = launch->time_limit_us,
    };
    watch->cpus = command->cpus;
    watch->tuned = command->tuned;
    watch->figures_us = command->figures_us;
    watch->wanted.text = (struct str)STR_INIT;
    tail_init(&watch->tail, watch->dir, command->rules);
    watch->tail.given = command->given;
    follow_events(watch, command);
    watch->index = local->watches.len;
    watch->phase = PHASE_ENDING;
    vec_push(&local->watches, watch);
    map_put(&local->by_id, (uint64_t)watch->attempt, watch);
    return watch;
}

void watch_free(struct watch *watch)
{
    if (watch->pidfd >= 0)
        close(watch->pidfd);
    profile_release(watch);
    use_release(watch);
    system_release(watch);
    power_release(watch);
    attempt_figures_release(&watch->figures);
    tail_release(&watch->tail);
    err_release(&watch->failure);
    free(watch->dir);
    free(watch->attempt_id);
    free(watch->program);
    free(watch);
}

int watch_lever(struct watch *watch, struct err *err)
{
    return watch->lever ? 0 : lever_open(watch->dir, watch->local->roots, &watch->lever, err);
}

static void watch_remove(struct watch *watch)
{
    struct local *local = watch->local;
    struct watch *last = *vec_last(&local->watches);

    local->watches.at[watch->index] = last;
    last->index = watch->index;
    local->watches.len--;
    map_remove(&local->by_id, (uint64_t)watch->attempt);
}

/* ---- the turn of one attempt ---- */

static void read_files(struct watch *watch)
{
    watch->behind = tail_read(&watch->tail, clock_wall_us());
    tell_samples(watch);
    if (watch->behind)
        watch_due(watch);
}

static void tell_started(struct watch *watch)
{
    struct agent_event event = {.kind = EVENT_STARTED,
                                .pid = watch->pid,
                                .turn = watch->turn.turn,
                                .paused_us = watch->turn.paused_us,
                                .turn_us = watch->turn.since_us,
                                .generation = watch->answer.generation};
    watch->tell_started = false;
    watch_tell(watch, &event);
}

/* What it said before it was paused is told before. */
static void tell_turn(struct watch *watch)
{
    struct agent_event event = {
        .kind = turn_paused(watch->turn.turn) ? EVENT_PAUSED : EVENT_RESUMED,
        .turn = watch->turn.turn,
        .paused_us = watch->turn.paused_us,
        .turn_us = watch->turn.since_us,
        .used_bytes = watch->turn.used_bytes,
    };
    watch->tell_turn = false;
    watch_tell(watch, &event);
}

/* The configuration that was asked for, and the answer. */
static void process_system(struct watch *watch)
{
    if (watch->wanted.open && watch->phase == PHASE_RUNNING) {
        system_try(watch);
        if (watch->wanted.unstarted)
            watch_soon(watch->local);
    }
    if (watch->tell_system)
        system_tell(watch);
}

/* The only place where a watch ends. */
static void process(struct watch *watch)
{
    if (watch->tell_started)
        tell_started(watch);
    process_system(watch);
    if (watch->behind || watch->tell_turn || watch->phase == PHASE_ENDING)
        read_files(watch);
    if (watch->tell_turn && !watch->behind)
        tell_turn(watch);
    if (watch->behind || watch->phase != PHASE_ENDING)
        return;
    tail_finish(&watch->tail, clock_wall_us());
    tell_samples(watch);
    system_end(watch);
    watch_remove(watch);
    tell_ended(watch);
    watch_free(watch);
}

static void on_idle(uv_idle_t *idle)
{
    struct local *local = idle->data;
    __typeof__(local->due) now = local->due;

    local->due.at = NULL;
    local->due.len = local->due.cap = 0;
    uv_idle_stop(idle);
    vec_foreach (watch, &now) {
        (*watch)->due = false;
        process(*watch);
    }
    vec_release(&now);
}

void watch_due(struct watch *watch)
{
    struct local *local = watch->local;
    if (watch->due)
        return;
    watch->due = true;
    vec_push(&local->due, watch);
    uv_idle_start(&local->idle, on_idle);
}

static uint64_t tick_ms(const struct local *local)
{
    return (uint64_t)local->pace.tick_us / 1000;
}

/* True while the turn that was asked for has not happened. */
static bool look_for_turn(struct watch *watch)
{
    autorelease(err) struct err err = ERR_INIT;
    struct attempt_look look;

    if (watch->phase != PHASE_RUNNING || watch->turn.turn >= watch->turn_asked)
        return false;
    if (exec_look(watch->dir, &look, &err) < 0 || look.turn.turn < watch->turn_asked)
        return true;
    watch->turn = look.turn;
    watch->tell_turn = true;
    watch_due(watch);
    return false;
}

/* True while a configuration waits for its program to start. */
static bool look_for_program(struct watch *watch)
{
    const struct wanted *wanted = &watch->wanted;

    if (watch->phase != PHASE_RUNNING || !wanted->open || !wanted->unstarted)
        return false;
    system_try(watch);
    return wanted->open && wanted->unstarted;
}

void on_turns(uv_timer_t *timer)
{
    struct local *local = timer->data;
    bool awaited = false;

    vec_foreach (watch, &local->watches) {
        awaited = look_for_turn(*watch) || awaited;
        awaited = look_for_program(*watch) || awaited;
    }
    if (!awaited)
        uv_timer_stop(timer);
    else if (++local->n_looks == TURN_QUICK)
        uv_timer_set_repeat(timer, tick_ms(local));
}

void watch_soon(struct local *local)
{
    local->n_looks = 0;
    uv_timer_start(&local->turns, on_turns, 1, TURN_MS);
}

void watch_turn(struct watch *watch, int64_t turn)
{
    struct local *local = watch->local;

    watch->turn_asked = MAX(watch->turn_asked, turn);
    if (watch->turn.turn >= turn) { /* said again: so is the answer */
        watch->tell_turn = true;
        watch_due(watch);
        return;
    }
    watch_soon(local);
}

static void tick(struct watch *watch, int64_t now_us)
{
    if (!watch->due)
        read_files(watch);
    if (watch->tuned) {
        use_tick(watch, now_us);
        profile_tick(watch, now_us);
    }
    if (watch->wanted.open)
        system_try(watch);
}

static void on_timer(uv_timer_t *timer)
{
    struct local *local = timer->data;
    int64_t now_us = clock_mono_us();

    power_tick(local, now_us);
    for (size_t i = 0; i < local->watches.len; i++)
        if (local->watches.at[i]->phase == PHASE_RUNNING)
            tick(local->watches.at[i], now_us);
}

/* Somebody looks on; or its configuration is new, and what it does under a bad one until that is
 * seen is lost. */
static bool in_hurry(const struct watch *watch, int64_t now_us)
{
    bool fresh = watch->changed_us && now_us - watch->changed_us < FRESH_US;

    return watch->phase == PHASE_RUNNING && (watch->local->hurry || fresh);
}

static void on_hurried(uv_timer_t *timer)
{
    struct local *local = timer->data;
    int64_t now_us = clock_mono_us();
    bool any = local->hurry;

    for (size_t i = 0; i < local->watches.len; i++) {
        struct watch *watch = local->watches.at[i];
        if (!in_hurry(watch, now_us))
            continue;
        any = true;
        if (!watch->due)
            read_files(watch);
    }
    if (!any)
        uv_timer_stop(timer);
}

static void set_hurry(struct local *local)
{
    int64_t now_us = clock_mono_us();
    bool on = local->hurry && local->n_running > 0;

    vec_foreach (watch, &local->watches)
        on = on || in_hurry(*watch, now_us);
    if (!on)
        uv_timer_stop(&local->hurried);
    else if (!uv_is_active((uv_handle_t *)&local->hurried))
        uv_timer_start(&local->hurried, on_hurried, HURRY_MS, HURRY_MS);
}

void watch_changed(struct watch *watch)
{
    watch->changed_us = clock_mono_us();
    set_hurry(watch->local);
}

void agent_local_hurry(struct agent *agent, bool hurry)
{
    struct local *local = (struct local *)agent;

    local->hurry = hurry;
    set_hurry(local);
}

void watch_count(struct local *local, int change)
{
    bool before = local->n_running > 0;
    local->n_running += (size_t)change;
    if (!before && local->n_running > 0)
        uv_timer_start(&local->timer, on_timer, tick_ms(local), tick_ms(local));
    else if (before && local->n_running == 0)
        uv_timer_stop(&local->timer);
    set_hurry(local);
    power_run(local, local->n_running > 0);
    figures_run(local);
}
