/* SPDX-License-Identifier: MIT */
/*
 * state_fuzz.c — any bytes as a state file: judged without a fault, and never taken for a record
 * whose seal does not fit. The first byte says whether a keeper holds the lock.
 */
#include "exec/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct attempt_look look;
    bool locked = n > 0 && bytes[0] & 1;

    state_judge(bytes + (n > 0), n > 0 ? n - 1 : 0, locked, &look);
    if ((look.life == LIFE_ENDED) != exit_record_valid(&look.exit))
        abort();
    if (look.life == LIFE_LOST && (locked || look.keeper.magic != KEEPER_MAGIC))
        abort();
    if (look.life == LIFE_NONE && (locked || look.keeper.magic))
        abort();
    if (strlen(look.keeper.cgroup) >= sizeof(look.keeper.cgroup) ||
        strlen(look.keeper.cgroup_limits) >= sizeof(look.keeper.cgroup_limits) ||
        strlen(look.keeper.boot_id) >= sizeof(look.keeper.boot_id))
        abort();
    return 0;
}
