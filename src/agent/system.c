/* SPDX-License-Identifier: MIT */
/*
 * system.c — a configuration of the machine is put in place under a running attempt: levers from
 * outside, a new text on its control page.
 *
 * A command only notes what is wanted; the loop does it. What cannot be done yet stays noted: the
 * program may not have started, or starts processes faster than they can be reached. A newer
 * configuration takes over what an older one had not done. Each lever is moved on its own, so that
 * one which is refused does not hold back the others.
 *
 * Threads that spin collapse on fewer processors than there are of them. So `cpus` is not lowered
 * below their number. If the program was told in the same breath to change, it gets a few looks
 * to do so first.
 *
 * Invariant: answer.generation is the newest that was obeyed, in part or not at all; no older one
 * changes anything.
 */
#include "agent/local.h"

#include "base/log.h"
#include <errno.h>
#include <unistd.h>

#define MAX_TRIES   5  /* while it starts processes; a tick apart */
#define SPIN_USES   3  /* looks until threads that were to go are gone: one is of the time before */
#define END_TURNS   20 /* for the kernel to let go of the last process */
#define END_WAIT_US 5000

void system_want(struct watch *watch, const struct agent_command *command)
{
    struct wanted *wanted = &watch->wanted;

    if (watch->phase != PHASE_RUNNING)
        return; /* its end is the answer */
    if (command->generation <= watch->answer.generation) {
        watch->tell_system = true;
        watch_due(watch);
        return;
    }
    if (wanted->open && command->generation <= wanted->generation)
        return; /* under way */
    for (size_t i = 0; command->levers && i < LEVER_KINDS; i++)
        if (command->levers->given[i])
            lever_values_take(&wanted->levers, command->levers, (enum lever_kind)i);
    if (command->control_json) {
        free(wanted->control_json);
        wanted->control_json = xstrdup(command->control_json);
    }
    wanted->with_control = command->control_json != NULL;
    wanted->generation = command->generation;
    wanted->open = true;
    wanted->n_tries = 0;
    wanted->n_uses = watch->use.n;
    wanted->error = 0;
    str_cut(&wanted->text, 0);
    watch_due(watch);
}

/* One more sentence of the answer; a line end inside becomes a "; ". */
static void say(struct wanted *wanted, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (wanted->text.len && n)
            str_add(&wanted->text, "; ");
        str_add_n(&wanted->text, text, n);
    }
}

static void refuse(struct wanted *wanted, int error, const char *text)
{
    if (!wanted->error)
        wanted->error = error;
    say(wanted, text);
}

/* True if the program's threads would stall on so few processors. */
static bool would_stall(const struct watch *watch, const struct lever_values *want)
{
    const struct lever_use *use = &watch->use.newest;
    size_t asked = cpus_count(&want->cpus);
    struct lever_values now;

    if (lever_cpus_allowed(use->running, asked, lever_spins(use)) <= MAX(asked, 1))
        return false;
    return lever_read(watch->lever, &now, NULL) < 0 || !now.given[LEVER_CPUS] ||
           cpus_count(&now.cpus) > asked;
}

/* 1: go on; 0: refused, and noted so; -EINPROGRESS: its threads may still change. */
static int may_move_cpus(struct watch *watch, const struct lever_values *want)
{
    struct wanted *wanted = &watch->wanted;

    if (!would_stall(watch, want))
        return 1;
    if (wanted->with_control && watch->use.n < wanted->n_uses + SPIN_USES)
        return -EINPROGRESS;
    autofree(mem) char *text =
        xasprintf("its %zu threads spin: fewer cpus would stall them", watch->use.newest.running);
    refuse(wanted, -EBUSY, text);
    return 0;
}

/* 0: moved or refused, and noted so; else what it waits for. */
static int move_lever(struct watch *watch, enum lever_kind kind)
{
    struct wanted *wanted = &watch->wanted;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str notes = STR_INIT;
    struct lever_values want = {0};
    int r = 1;

    lever_values_take(&want, &wanted->levers, kind);
    if (kind == LEVER_CPUS)
        r = may_move_cpus(watch, &want);
    if (r <= 0)
        return r;
    r = lever_apply(watch->lever, &want, &notes, &err);
    if (r == -ESRCH || (r == -EAGAIN && wanted->n_tries < MAX_TRIES))
        return r;
    say(wanted, notes.s);
    if (r < 0)
        refuse(wanted, r, err_text(&err));
    return 0;
}

static bool has_levers(const struct wanted *wanted)
{
    for (size_t i = 0; i < LEVER_KINDS; i++)
        if (wanted->levers.given[i])
            return true;
    return false;
}

/* All that can be moved now. 0, or what the rest waits for. */
static int move_levers(struct watch *watch)
{
    struct wanted *wanted = &watch->wanted;
    autorelease(err) struct err err = ERR_INIT;
    int left = 0, r = has_levers(wanted) ? watch_lever(watch, &err) : 0;

    if (r == -ESRCH)
        return r;
    if (r < 0) {
        refuse(wanted, r, err_text(&err));
        memset(wanted->levers.given, 0, sizeof(wanted->levers.given));
        return 0;
    }
    for (size_t i = 0; i < LEVER_KINDS; i++) {
        if (!wanted->levers.given[i])
            continue;
        r = move_lever(watch, (enum lever_kind)i);
        if (r == -ESRCH)
            return r;
        wanted->levers.given[i] = r < 0;
        left = r < 0 ? r : left;
    }
    return left;
}

/* The page takes a text before there is anybody to read it. */
static void write_control(struct watch *watch)
{
    struct wanted *wanted = &watch->wanted;
    autorelease(err) struct err err = ERR_INIT;
    uint64_t generation;

    if (!wanted->control_json)
        return;
    int r = exec_control(watch->dir, wanted->control_json, &generation, &err);
    if (r < 0)
        refuse(wanted, r, err_text(&err));
    free(TAKE(wanted->control_json));
}

void system_try(struct watch *watch)
{
    struct wanted *wanted = &watch->wanted;

    write_control(watch);
    int r = move_levers(watch);
    wanted->unstarted = r == -ESRCH;
    wanted->n_tries += r == -EAGAIN;
    if (r < 0)
        return;
    wanted->open = false;
    free(watch->answer.text);
    watch->answer = (struct answer){
        .generation = wanted->generation,
        .error = wanted->error,
        .text = wanted->text.len ? xstrdup(wanted->text.s) : NULL,
    };
    watch->tell_system = true;
    watch_changed(watch);
    watch_due(watch);
}

void system_tell(struct watch *watch)
{
    struct agent_event event = {
        .kind = EVENT_SYSTEM,
        .generation = watch->answer.generation,
        .error = watch->answer.error,
        .text = watch->answer.text,
    };
    watch->tell_system = false;
    watch_tell(watch, &event);
}

/* Those whom a lost keeper left may be dead and not yet gone. */
void system_end(struct watch *watch)
{
    autorelease(err) struct err err = ERR_INIT;
    int r = lever_end(watch->dir, watch->local->roots, &err);

    for (int turn = 0; turn < END_TURNS && r == -EBUSY; turn++) {
        usleep(END_WAIT_US);
        err_release(&err);
        r = lever_end(watch->dir, watch->local->roots, &err);
    }
    if (r < 0)
        log_debug("%s", err_text(&err));
}

void system_release(struct watch *watch)
{
    lever_free(watch->lever);
    free(watch->wanted.control_json);
    str_release(&watch->wanted.text);
    free(watch->answer.text);
}
