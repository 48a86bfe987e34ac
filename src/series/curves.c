/* SPDX-License-Identifier: MIT */
/*
 * curves.c — two passes over the index: the first finds the names and which attempts are stored,
 * the second the stats of one metric of all trials, when it is first asked for.
 *
 *     metric:   trial 1 attempt 1 │ trial 2 attempt 1 │ trial 2 attempt 2 │ …    in this order
 *
 * Of several sources of an attempt the most trusted one is kept. Attempts follow one another if
 * each begins behind the last step of the one before; else the later one replaces steps, and what
 * the stats say of the earlier one is not what it counts for.
 */
#include "series/curves.h"

#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

struct told { /* what is stored of a trial */
    int64_t trial;
    int64_t attempts; /* so many of them, from 1 */
    int64_t newest;
};
struct metric {
    char *name;
    VEC(struct series_info) pieces; /* by trial, then attempt */
};
struct head {
    const struct series_info *piece;
    struct expr_block block;
};
struct curves {
    struct series_db *db;
    int64_t experiment;
    VEC(struct told) told; /* by trial */
    VEC(const char *) names;
    VEC(bool) named; /* by the handle's number */
    VEC(struct metric) metrics;
    VEC(struct head) heads; /* of the curve being told */
};

/* ---- what there is ---- */

static bool of_file(enum series_file file)
{
    return file <= SERIES_STDERR || file == SERIES_EVENTS;
}

static void note_attempt(struct curves *curves, const struct series_source *source)
{
    if (!curves->told.len || vec_last(&curves->told)->trial != source->trial)
        vec_push(&curves->told, ((struct told){.trial = source->trial}));
    struct told *last = vec_last(&curves->told);
    if (of_file(source->file) && source->attempt > last->newest) {
        last->newest = source->attempt;
        last->attempts++;
    }
}

static int on_any(const struct series_info *info, void *arg)
{
    struct curves *curves = arg;

    note_attempt(curves, &info->source);
    while (curves->named.len <= info->name)
        vec_push(&curves->named, false);
    if (!curves->named.at[info->name]) {
        curves->named.at[info->name] = true;
        vec_push(&curves->names, series_db_name_text(curves->db, info->name));
    }
    return 0;
}

int curves_open(const char *home, int64_t experiment, struct curves **ret, struct err *err)
{
    autofree(curves) struct curves *curves = xcalloc(1, sizeof(*curves));

    curves->experiment = experiment;
    int r = series_db_open(home, SERIES_READ, &curves->db, err);
    if (r < 0)
        return r;
    series_db_names(curves->db, experiment, -1, on_any, curves);
    *ret = TAKE(curves);
    return 0;
}

void curves_free(struct curves *curves)
{
    if (!curves)
        return;
    vec_foreach (metric, &curves->metrics) {
        free(metric->name);
        vec_release(&metric->pieces);
    }
    vec_release(&curves->metrics);
    vec_release(&curves->told);
    vec_release(&curves->names);
    vec_release(&curves->named);
    vec_release(&curves->heads);
    series_db_free(curves->db);
    free(curves);
}

struct series_db *curves_db(struct curves *curves)
{
    return curves->db;
}

const char *curves_name(const struct curves *curves, size_t i)
{
    return i < curves->names.len ? curves->names.at[i] : NULL;
}

/* ---- one metric of all trials ---- */

/* As series.h orders them; 0 is the most trusted. */
static int trust(enum series_file file)
{
    static const int ranks[SERIES_FILES] = {
        [SERIES_METRICS] = 0, [SERIES_EVENTS] = 1, [SERIES_OUTSIDE] = 2,
        [SERIES_STDOUT] = 3,  [SERIES_STDERR] = 4, [SERIES_SYSTEM] = 5,
    };
    return ranks[file];
}

static int on_piece(const struct series_info *info, void *arg)
{
    struct metric *metric = arg;
    bool again = metric->pieces.len &&
                 vec_last(&metric->pieces)->source.trial == info->source.trial &&
                 vec_last(&metric->pieces)->source.attempt == info->source.attempt;

    if (!again)
        vec_push(&metric->pieces, *info);
    else if (trust(info->source.file) < trust(vec_last(&metric->pieces)->source.file))
        *vec_last(&metric->pieces) = *info;
    return 0;
}

size_t curves_metric(struct curves *curves, const char *name)
{
    for (size_t i = 0; i < curves->metrics.len; i++)
        if (str_eq(curves->metrics.at[i].name, name))
            return i;
    struct metric metric = {.name = xstrdup(name)};
    uint32_t number = series_db_name(curves->db, name, strlen(name));

    if (number != SERIES_NAME_NONE)
        series_db_list(curves->db, curves->experiment, -1, number, on_piece, &metric);
    vec_push(&curves->metrics, metric);
    return curves->metrics.len - 1;
}

/* ---- one metric of one trial ---- */

static const struct told *find_told(const struct curves *curves, int64_t trial)
{
    size_t low = 0, high = curves->told.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curves->told.at[middle].trial < trial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < curves->told.len && curves->told.at[low].trial == trial ? &curves->told.at[low]
                                                                         : NULL;
}

/* Are all its attempts in the store, and whole? */
static bool is_stored(const struct curves *curves, const struct trial *trial)
{
    const struct told *told = find_told(curves, trial->number);

    return told && trial->state != TRIAL_RUNNING && told->attempts == trial->attempts;
}

/* Its pieces, without those of attempts that are none of its own. */
static const struct series_info *find_pieces(const struct metric *metric, const struct trial *trial,
                                             size_t *ret_n)
{
    size_t low = 0, high = metric->pieces.len, n = 0;
    int64_t first = trial->attempts ? 1 : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct series_source *source = &metric->pieces.at[middle].source;
        if (source->trial < trial->number ||
            (source->trial == trial->number && source->attempt < first))
            low = middle + 1;
        else
            high = middle;
    }
    const struct series_info *pieces = metric->pieces.len ? metric->pieces.at + low : NULL;
    while (low + n < metric->pieces.len && pieces[n].source.trial == trial->number &&
           pieces[n].source.attempt <= trial->attempts)
        n++;
    *ret_n = n;
    return pieces;
}

/* Has every sample a step of its own? Agents give one to each; others need not. */
static bool is_stepped(const struct series_info *piece)
{
    return of_file(piece->source.file) && piece->first_step != STEP_NONE;
}

/* Do the stats of the pieces, one after the other, speak of the points that count? */
static bool follow_on(const struct series_info *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum series_file file = pieces[i].source.file;
        if (file == SERIES_STDOUT || file == SERIES_STDERR)
            return false;
        if (n > 1 && !is_stepped(&pieces[i]))
            return false;
        if (i && pieces[i].first_step <= pieces[i - 1].last_step)
            return false;
    }
    return true;
}

static void to_expr(const struct block_stats *stats, struct expr_stats *ret)
{
    *ret = (struct expr_stats){.has = EXPR_HAS_COUNT | EXPR_HAS_LAST | EXPR_HAS_FIRST |
                                      EXPR_HAS_RANGE | EXPR_HAS_SUM | EXPR_HAS_SQUARES |
                                      EXPR_HAS_NANS | EXPR_HAS_INFS,
                               .count = stats->count,
                               .nans = stats->nans,
                               .infs = stats->infs,
                               .first = stats->first,
                               .last = stats->last,
                               .min = stats->min,
                               .max = stats->max,
                               .sum = stats->sum,
                               .squares = stats->squares,
                               .first_nan = EXPR_NO_STEP};
    if (!stats->nans)
        ret->has |= EXPR_HAS_FIRST_NAN;
}

static void put_steps(struct expr_stats *stats, int64_t first, int64_t last)
{
    stats->has |= EXPR_HAS_STEPS;
    stats->first_step = first;
    stats->last_step = last;
}

enum curves_answer curves_stats(struct curves *curves, size_t metric, const struct trial *trial,
                                struct expr_stats *ret)
{
    assert(metric < curves->metrics.len);
    bool stored = is_stored(curves, trial);
    size_t n;
    const struct series_info *pieces = find_pieces(&curves->metrics.at[metric], trial, &n);

    if (stored && !n) /* one that was only observed may have summaries without samples */
        return trial->attempts ? CURVES_NONE : CURVES_UNKNOWN;
    if (!stored || !follow_on(pieces, n))
        return CURVES_UNKNOWN;
    struct block_stats all = pieces[0].stats;
    for (size_t i = 1; i < n; i++)
        block_stats_add(&all, &pieces[i].stats);
    to_expr(&all, ret);
    if (is_stepped(&pieces[0]))
        put_steps(ret, pieces[0].first_step, pieces[n - 1].last_step);
    return CURVES_KNOWN;
}

/* ---- blocks ---- */

static double to_seconds(int64_t ns, int64_t started_us)
{
    int64_t us = ns == INT64_MIN ? 0 : ns / 1000;
    return us && started_us ? (double)(us - started_us) / 1e6 : NAN;
}

/* A bound of many times: 1970 is no time, but others may lie behind it. */
static double to_bound(int64_t ns, int64_t started_us)
{
    int64_t us = ns / 1000 - started_us;
    return ns == INT64_MIN || !started_us ? NAN : (double)us / 1e6;
}

struct gathering {
    struct curves *curves;
    const struct series_info *piece;
    int64_t started_us;
    int64_t last_step; /* of the block before; STEP_NONE: none yet */
};

/* Blocks must follow one another, too: then a range of steps is one block. */
static int on_head(const struct series_chunk *chunk, void *arg)
{
    struct gathering *gathering = arg;

    if (chunk->first_step == STEP_NONE || chunk->first_step <= gathering->last_step)
        return -EAGAIN;
    gathering->last_step = chunk->last_step;
    struct head head = {.piece = gathering->piece};
    head.block.first_s = to_bound(chunk->first_ns, gathering->started_us);
    head.block.last_s = to_bound(chunk->last_ns, gathering->started_us);
    to_expr(chunk->stats, &head.block.stats);
    put_steps(&head.block.stats, chunk->first_step, chunk->last_step);
    vec_push(&gathering->curves->heads, head);
    return 0;
}

static int gather_heads(struct curves *curves, const struct series_info *pieces, size_t n,
                        const struct trial *trial)
{
    struct gathering gathering = {
        .curves = curves, .started_us = trial->started_us, .last_step = STEP_NONE};
    int r = 0;

    curves->heads.len = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        gathering.piece = &pieces[i];
        if (!is_stepped(&pieces[i]))
            return -EAGAIN;
        r = series_db_headers(curves->db, &pieces[i].source, pieces[i].name, on_head, &gathering);
    }
    return r;
}

struct telling {
    expr_points_fn *fn;
    void *arg;
    int64_t started_us;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    const struct telling *telling = arg;
    struct expr_point some[256];
    bool more = true;

    for (size_t i = 0, n; more && i < chunk->n; i += n) {
        n = MIN(ARRAY_LEN(some), chunk->n - i);
        for (size_t k = 0; k < n; k++)
            some[k] = (struct expr_point){
                .step = chunk->steps[i + k],
                .time_s = to_seconds(chunk->times_ns[i + k], telling->started_us),
                .value = chunk->values[i + k]};
        more = telling->fn(some, n, telling->arg);
    }
    return more ? 0 : 1;
}

static int tell_points(struct curves *curves, const struct head *head, struct telling *telling)
{
    struct series_range range = series_all;

    range.min_step = head->block.stats.first_step;
    range.max_step = head->block.stats.last_step;
    return series_db_read(curves->db, &head->piece->source, head->piece->name, &range, on_chunk,
                          telling);
}

int curves_blocks(struct curves *curves, size_t metric, const struct trial *trial,
                  expr_block_fn *block, expr_points_fn *fn, void *fn_arg)
{
    struct telling telling = {fn, fn_arg, trial->started_us};
    struct expr_stats stats;

    if (curves_stats(curves, metric, trial, &stats) != CURVES_KNOWN)
        return -EAGAIN;
    size_t n;
    const struct series_info *pieces = find_pieces(&curves->metrics.at[metric], trial, &n);
    int r = gather_heads(curves, pieces, n, trial);
    for (size_t i = 0; i < curves->heads.len && r == 0; i++) {
        enum expr_verdict verdict = block(&curves->heads.at[i].block, fn_arg);
        if (verdict == EXPR_POINTS)
            r = tell_points(curves, &curves->heads.at[i], &telling);
        else
            r = verdict == EXPR_ENOUGH;
    }
    return r < 0 ? r : 0;
}
