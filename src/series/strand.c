/* SPDX-License-Identifier: MIT */
/*
 * strand.c — rows of several groups in the order in which they came. Mostly a metric lies in one
 * group, and its chunks are handed on as they are.
 */
#include "series/strand.h"

#include "series/memory.h"

const struct series_range series_all = {
    .min_step = INT64_MIN, .max_step = INT64_MAX, .min_ns = INT64_MIN, .max_ns = INT64_MAX};

int strand_rows_tell(const struct strand_rows *rows, series_chunk_fn *fn, void *arg)
{
    struct series_chunk chunk = {
        .n = rows->n,
        .steps = rows->steps,
        .times_ns = rows->times_ns,
        .values = rows->values,
        .rests = rows->rests,
        .stats = &rows->stats,
        .first_step = rows->first_step,
        .last_step = rows->last_step,
        .first_ns = rows->first_ns,
        .last_ns = rows->last_ns,
    };
    return fn(&chunk, arg);
}

void strand_rows_measure(struct strand_rows *rows)
{
    block_stats(rows->values, rows->n, &rows->stats);
    rows->first_step = rows->last_step = rows->first_ns = rows->last_ns = INT64_MIN;
    for (size_t i = 0; i < rows->n; i++) {
        range_add(rows->steps[i], &rows->first_step, &rows->last_step);
        range_add(rows->times_ns[i], &rows->first_ns, &rows->last_ns);
    }
}

/* What has no step or no time is told unless all is known to lie outside. */
bool range_meets(const struct series_range *range, const struct strand_rows *rows)
{
    bool step = rows->first_step == INT64_MIN ||
                (rows->first_step <= range->max_step && rows->last_step >= range->min_step);
    bool time = rows->first_ns == INT64_MIN ||
                (rows->first_ns <= range->max_ns && rows->last_ns >= range->min_ns);
    return step && time;
}

static int read_one(struct strand *strand, series_chunk_fn *fn, void *arg)
{
    int r;

    while ((r = strand->load(strand)) > 0)
        if ((r = strand_rows_tell(&strand->now, fn, arg)) != 0)
            return r;
    return r;
}

/* ---- several ---- */
struct weave {
    struct strand_rows rows; /* points to what follows */
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    double values[BLOCK_VALUES], rests[BLOCK_VALUES];
};

static bool has_row(struct strand *strand)
{
    if (strand->at == strand->now.n) {
        strand->at = strand->now.n = 0;
        if (strand->load(strand) <= 0) {
            strand->now.n = 0;
            return false;
        }
    }
    return true;
}

static uint64_t row_of(const struct strand *strand)
{
    return strand->now.rows[strand->at];
}

/* The strand whose next row came first, and how far it may go before another one's turn. */
static struct strand *earliest(struct strand *strands, size_t n, uint64_t *ret_until)
{
    struct strand *best = NULL;

    *ret_until = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!has_row(&strands[i]))
            continue;
        if (!best || row_of(&strands[i]) < row_of(best)) {
            *ret_until = best ? row_of(best) : *ret_until;
            best = &strands[i];
        } else {
            *ret_until = MIN(*ret_until, row_of(&strands[i]));
        }
    }
    return best;
}

static int flush(struct weave *weave, series_chunk_fn *fn, void *arg)
{
    if (!weave->rows.n)
        return 0;
    strand_rows_measure(&weave->rows);
    int r = strand_rows_tell(&weave->rows, fn, arg);
    weave->rows.n = 0;
    return r;
}

int strands_read(struct strand *strands, size_t n, series_chunk_fn *fn, void *arg)
{
    if (n == 1)
        return read_one(strands, fn, arg);
    autofree(mem) struct weave *weave = xcalloc(1, sizeof(*weave));
    struct strand *from;
    uint64_t until;

    weave->rows.steps = weave->steps;
    weave->rows.times_ns = weave->times_ns;
    weave->rows.values = weave->values;
    for (size_t i = 0; i < n; i++)
        if (strands[i].rest)
            weave->rows.rests = weave->rests;
    while ((from = earliest(strands, n, &until))) {
        do {
            size_t to = weave->rows.n++, at = from->at++;
            weave->steps[to] = from->now.steps[at];
            weave->times_ns[to] = from->now.times_ns[at];
            weave->values[to] = from->now.values[at];
            weave->rests[to] = from->now.rests ? from->now.rests[at] : 0;
        } while (weave->rows.n < BLOCK_VALUES && from->at < from->now.n && row_of(from) <= until);
        int r = weave->rows.n == BLOCK_VALUES ? flush(weave, fn, arg) : 0;
        if (r != 0)
            return r;
    }
    return flush(weave, fn, arg);
}
