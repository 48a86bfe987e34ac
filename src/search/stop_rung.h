/* SPDX-License-Identifier: MIT */
/*
 * stop_rung.h — rungs of successive halving, shared by asha and hyperband; private to search/.
 *
 *     step   first   first·eta   first·eta²   …
 *            ──┬──────────┬───────────┬─────     at a rung one in eta goes on; the others pause
 *              └ paused   └ paused    └ …        (or end), and are resumed when they turn out to
 *                                                be among the best of a rung that has filled
 */
#ifndef HONE_SEARCH_STOP_RUNG_H
#define HONE_SEARCH_STOP_RUNG_H

#include "search/stop.h"

/* The rungs that some of the trials share. */
struct ladder {
    int64_t first, eta; /* eta ≥ 2; first > 0 */
    int64_t last;       /* no rung at or above this step */
    bool end;           /* what is not among the best ends instead of being paused */
    /* Does the trial with that number climb this ladder? NULL: all do. */
    bool (*has)(const struct ladder *ladder, int64_t number);
    const struct brackets *brackets; /* for `has` */
    int64_t bracket;
};

/* The settings with their defaults: eta as given, the first rung at the first step that any trial
 * reported, the end of a whole run (.last) where the longest completed trial ended; INT64_MAX while
 * none has. */
struct ladder ladder_of(const struct stop_view *view, int64_t eta);
void ladder_judge(const struct ladder *ladder, const struct stop_view *view, size_t mine,
                  struct stop_verdict *ret);
/* As stop_ops.promote, for the trials of this ladder; *ret_rung is where the trial waits. */
ptrdiff_t ladder_promote(const struct ladder *ladder, const struct stop_view *view,
                         int64_t *ret_rung);
/* As stop_ops.give_up: of the paused ones (of all ladders) the one that came least far; among
 * those, the worst by its last value. */
ptrdiff_t ladder_give_up(const struct stop_view *view);

#endif
