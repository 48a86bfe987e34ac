/* SPDX-License-Identifier: MIT */
/*
 * pause.c — the whole tree stands still, and goes on later as if nothing had been.
 *
 *     turn asked ──► hold: freeze ──► everybody still ──► turn record ──► … ──► thaw, record
 *
 * A cgroup is frozen by the kernel, which the program cannot see. Without one every process gets
 * SIGSTOP, parents first, again until a round finds everybody stopped and nobody new; they go on
 * children first, so that no parent wakes to find its child stopped.
 *
 * From the asking until the going on, limit_at moves along with the clock: a pause costs nothing.
 * The record is written when it has happened, not when it was asked for: who reads it may give the
 * processors to somebody else.
 */
#include "exec/keeper/keeper.h"

#include <signal.h>
#include <time.h>

#define LOOK_AGAIN_US  2000
#define LOOK_SLOWLY_US 50000
#define LOOK_QUICK     200 /* looks */
#define V1_PATIENCE    8   /* looks */

int64_t pause_total(const struct keeper *k, int64_t now)
{
    return k->paused_us + (k->holding ? now - k->held_since : 0);
}

static void turn_write(struct keeper *k)
{
    struct turn_record record = {
        .magic = TURN_MAGIC,
        .turn = k->turn,
        .paused_us = k->paused_us,
        .since_us = time_us(CLOCK_REALTIME),
        .used_bytes = turn_paused(k->turn) ? memory_used(0) : 0,
    };

    record.crc = RECORD_CRC(&record);
    SYS(SYS_pwrite64, k->state_fd, &record, sizeof(record), STATE_TURN_AT);
}

static void hold(struct keeper *k, int64_t now)
{
    k->holding = true;
    k->still = false;
    k->held_since = k->hold_at = now;
    k->looks = 0;
    k->by_cgroup = cgroup_freeze(k, true);
}

/* Who forks while it is being frozen may keep a v1 group freezing for ever: begin again. */
static void hold_again(struct keeper *k)
{
    if (k->kind != CGROUP_V1 || k->looks % V1_PATIENCE)
        return;
    cgroup_freeze(k, false);
    cgroup_freeze(k, true);
}

/* True when nothing of the tree runs any more. A process that waits in the kernel for a child that
 * we stopped (vfork) is never seen stopped: after a while that counts too. */
static bool is_still(struct keeper *k)
{
    if (!k->by_cgroup)
        return tree_stop(k->looks > LOOK_QUICK);
    if (cgroup_is_frozen(k))
        return true;
    hold_again(k);
    return false;
}

void pause_look(struct keeper *k, int64_t now)
{
    if (!k->holding || k->still || now < k->hold_at)
        return;
    k->looks++;
    k->still = is_still(k);
    k->hold_at = now + (k->looks < LOOK_QUICK ? LOOK_AGAIN_US : LOOK_SLOWLY_US);
    if (k->still)
        turn_write(k);
}

static void let_go(struct keeper *k, int64_t now)
{
    if (k->by_cgroup)
        cgroup_freeze(k, false);
    else
        tree_continue();
    k->paused_us = pause_total(k, now);
    if (k->limit_at != NEVER)
        k->limit_at += now - k->held_since;
    k->holding = k->still = false;
    turn_write(k);
}

void pause_ask(struct keeper *k, int64_t now)
{
    struct turn_request request;
    long n = SYS(SYS_pread64, k->state_fd, &request, sizeof(request), STATE_ASKED_AT);

    if (n != (long)sizeof(request) || !turn_request_valid(&request) || request.turn <= k->turn)
        return;
    k->turn = request.turn;
    if (turn_paused(k->turn) == k->holding) { /* the turns between were never heard */
        if (k->still || !k->holding)
            turn_write(k);
        return;
    }
    if (k->holding)
        let_go(k, now);
    else
        hold(k, now);
}

void pause_end(struct keeper *k, int64_t now)
{
    if (!k->holding)
        return;
    k->turn++;
    let_go(k, now);
}
