/* SPDX-License-Identifier: MIT */
/*
 * stop_asha.c — asynchronous successive halving: at each rung the best 1 in eta go on, the others
 * are paused and resumed when later trials show that they belong to the best after all. With
 * `end: true` they are ended at once, as most tools do.
 */
#include "search/stop_rung.h"

#define ETA 4

static void asha_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    struct ladder ladder = ladder_of(view, ETA);
    ladder_judge(&ladder, view, mine, ret);
}

static ptrdiff_t asha_promote(const struct stop_view *view)
{
    struct ladder ladder = ladder_of(view, ETA);
    int64_t rung;
    return ladder_promote(&ladder, view, &rung);
}

const struct stop_ops stop_asha = {
    .name = "asha",
    .help = "successive halving: at each rung the best 1 in 4 go on, the others wait",
    .judge = asha_judge,
    .promote = asha_promote,
    .give_up = ladder_give_up,
};
