/* SPDX-License-Identifier: MIT */
/*
 * observe_rows.c — rows of lines wait here until they are stored, in a pile for each trial.
 *
 * Datagrams of many programs come in turn, a line of each. To store every row by itself would cost
 * more than to read its line; a pile is stored at once.
 *
 *     piles   ┌ trial 7: first 0, last 2 ┐   ┌ trial 9: first 1, last 1 ┐
 *     rows    0 ─► 2        1              names, values: of all rows, one after the other
 *
 * Invariant: if some piles cannot be stored, all rows stay where they are, and those that are
 * stored (or whose trial was removed) are done: they are passed over the next time.
 */
#include "engine/observe_internal.h"

#define ROWS_MAX 1024 /* gathered before they are stored */

static bool is_of(const struct observe_pile *pile, int64_t experiment, int64_t trial)
{
    return pile->source.experiment == experiment && (!trial || pile->source.trial == trial);
}

bool observe_rows_full(const struct observe *observe)
{
    return observe->rows.len >= ROWS_MAX;
}

static struct observe_pile *pile_of(struct observed *observed, int64_t number)
{
    struct observe *observe = observed->observe;
    struct observed_trial *trial = &observed->trials.at[number - 1];

    if (trial->pile < observe->piles.len) {
        struct observe_pile *pile = &observe->piles.at[trial->pile];
        if (!pile->done && is_of(pile, observed->experiment.id, number))
            return pile;
    }
    struct observe_pile made = {
        .source = {observed->experiment.id, number, 0, SERIES_OUTSIDE},
        .first = observe->rows.len,
        .last = observe->rows.len,
    };
    trial->pile = observe->piles.len;
    vec_push(&observe->piles, made);
    return vec_last(&observe->piles);
}

void observed_put_row(struct observed *observed, int64_t number, const struct series_row *row)
{
    struct observe *observe = observed->observe;
    struct observe_pile *pile = pile_of(observed, number);
    size_t at = observe->rows.len;
    struct observe_row waiting = {*row, observe->names.len - row->n, OBSERVE_NO_ROW};

    vec_push(&observe->rows, waiting);
    if (pile->last != at)
        observe->rows.at[pile->last].next = at;
    pile->last = at;
}

static int store_pile(struct observe *observe, const struct observe_pile *pile, struct err *err)
{
    observe->sorted.len = 0;
    for (size_t i = pile->first; i != OBSERVE_NO_ROW; i = observe->rows.at[i].next) {
        const struct observe_row *waiting = &observe->rows.at[i];
        struct series_row row = waiting->row;
        row.names = observe->names.at + waiting->at;
        row.values = observe->values.at + waiting->at;
        vec_push(&observe->sorted, row);
    }
    int r = series_db_lines(observe->db, pile->source.experiment, err);
    return r < 0 ? r
                 : series_db_append(observe->db, &pile->source, observe->sorted.at,
                                    observe->sorted.len, err);
}

int observe_store_rows(struct observe *observe, struct err *err)
{
    vec_foreach (pile, &observe->piles) {
        if (pile->done)
            continue;
        int r = store_pile(observe, pile, err);
        if (r < 0)
            return r;
        pile->done = observe->unflushed = true;
    }
    observe->piles.len = observe->rows.len = observe->names.len = observe->values.len = 0;
    return 0;
}

void observe_forget_rows(struct observe *observe, int64_t experiment, int64_t trial)
{
    vec_foreach (pile, &observe->piles)
        pile->done |= is_of(pile, experiment, trial);
}

void observe_release_rows(struct observe *observe)
{
    vec_release(&observe->piles);
    vec_release(&observe->rows);
    vec_release(&observe->sorted);
    vec_release(&observe->names);
    vec_release(&observe->values);
}
