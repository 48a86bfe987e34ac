/* SPDX-License-Identifier: MIT */
/*
 * drawing.c — rows of the store become the picture of a line.
 *
 * New values are those behind the last one drawn: with steps that never fall, these are the rows at
 * the last step that were not there before (`ties` were), and those behind it. If the count of rows
 * then differs from what the store has, steps fell or rows are lost: the picture is drawn anew.
 *
 * Output that repeats a step at once (a progress bar) is one point, the last: such a row is held
 * back until the next one has another step.
 */
#include "series/drawing.h"

#include "base/wide.h"
#include "metrics/metrics.h"
#include "series/seconds.h"

#include <math.h>
#include <string.h>

/* ---- feeding ---- */

struct row {
    int64_t x, step;
    double y;
};
struct feeding {
    struct drawing *drawing;
    const struct course_part *part;
    uint64_t skip; /* rows at the last step that are drawn */
    bool append, falls;
    bool output, holds; /* of output the newest row is held back */
    struct row held;
    VEC(double) x; /* all of them, where they must be sorted */
    VEC(double) y;
    bool sort;
};

static bool has_times(const struct drawing *drawing)
{
    return drawing->ask.x != CHARTS_STEP;
}

/* Steps and times that were not asked for are none. */
static int64_t at_or_none(const int64_t *all, size_t i)
{
    return all ? all[i] : INT64_MIN;
}

/* False: it has none, and is left out. */
static bool x_of(struct drawing *drawing, const struct series_chunk *chunk, size_t i, int64_t *ret)
{
    bool time = has_times(drawing);
    int64_t x = time ? chunk->times_ns[i] : chunk->steps[i];

    if (x == INT64_MIN) {
        drawing->grows = false;
        x = drawing->next;
    }
    if (!time && x >= drawing->next && x < INT64_MAX)
        drawing->next = x + 1;
    *ret = x;
    return !time || chunk->times_ns[i] != INT64_MIN;
}

static double to_double(const struct drawing *drawing, int64_t x)
{
    switch (drawing->ask.x) {
    case CHARTS_TIME:
        return seconds_of(x);
    case CHARTS_RELATIVE: /* never before the first */
        return (double)((uint64_t)x - (uint64_t)drawing->first_ns) / 1e9;
    case CHARTS_STEP:
        break;
    }
    return (double)x;
}

/* Is the row drawn already? */
static bool is_old(struct feeding *feeding, const struct series_chunk *chunk, size_t i)
{
    const struct drawing *drawing = feeding->drawing;

    if (!feeding->append)
        return false;
    int64_t x = has_times(drawing) ? chunk->times_ns[i] : chunk->steps[i];
    if (x == drawing->last && feeding->skip) {
        feeding->skip--;
        return true;
    }
    return x < drawing->last;
}

static void keep(struct drawing *trace, const double *x, const double *y, size_t n)
{
    if (trace->cap - trace->n < n) {
        trace->cap = MAX(2 * trace->cap, trace->n + n);
        trace->x = xrealloc(trace->x, trace->cap * sizeof(*x));
        trace->y = xrealloc(trace->y, trace->cap * sizeof(*y));
    }
    memcpy(trace->x + trace->n, x, n * sizeof(*x));
    memcpy(trace->y + trace->n, y, n * sizeof(*y));
    trace->n += n;
}

static bool is_smooth(const struct drawing *drawing)
{
    return drawing->smooth.weight > 0 || drawing->smooth.scale > 0;
}

/* `scratch` is for n values; it may be y. */
static void feed(struct drawing *drawing, const double *x, const double *y, size_t n,
                 double *scratch)
{
    bool smooth = is_smooth(drawing);

    if (drawing->trace_max) {
        keep(drawing, x, y, n);
        return;
    }
    if (smooth)
        query_smooth_feed(&drawing->smooth, x, y, n, scratch);
    query_chart_feed(drawing->chart, x, smooth ? scratch : y, n);
}

static void feed_or_keep(struct feeding *feeding, const double *x, double *y, size_t n)
{
    if (!feeding->sort) {
        feed(feeding->drawing, x, y, n, y);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        vec_push(&feeding->x, x[i]);
        vec_push(&feeding->y, y[i]);
    }
}

static void note_x(struct drawing *drawing, const struct row *row)
{
    drawing->ties = row->x == drawing->last ? drawing->ties + 1 : 1;
    drawing->last = row->x;
    drawing->last_step = row->step;
}

/* A row of output: what is to be drawn now, the one before it, goes to *row. False: nothing yet. */
static bool hold(struct feeding *feeding, struct row *row)
{
    struct row next = *row;

    if (feeding->holds && row->step == feeding->held.step && row->step != STEP_NONE) {
        feeding->held.y = row->y;
        feeding->drawing->grows = false;
        return false;
    }
    *row = feeding->held;
    feeding->held = next;
    bool held = feeding->holds;
    feeding->holds = true;
    return held;
}

static void feed_held(struct feeding *feeding)
{
    double x, y;

    if (!feeding->holds)
        return;
    x = to_double(feeding->drawing, feeding->held.x);
    y = feeding->held.y;
    feeding->holds = false;
    feed_or_keep(feeding, &x, &y, 1);
}

/* Would it fall back behind what is drawn, or change it? */
static bool goes_back(const struct feeding *feeding, const struct row *row)
{
    const struct drawing *drawing = feeding->drawing;

    if (feeding->append && feeding->output && !feeding->holds && row->step == drawing->last_step)
        return true;
    return !feeding->sort && row->x < drawing->last;
}

static int feed_rows(struct feeding *feeding, const struct series_chunk *chunk)
{
    struct drawing *drawing = feeding->drawing;
    double x[BLOCK_VALUES], y[BLOCK_VALUES];
    size_t n = 0;

    for (size_t i = 0; i < chunk->n; i++) {
        struct row row = {.step = at_or_none(chunk->steps, i), .y = chunk->values[i]};
        if (is_old(feeding, chunk, i))
            continue;
        drawing->rows++;
        if ((row.step != STEP_NONE && row.step >= feeding->part->before) ||
            !x_of(drawing, chunk, i, &row.x))
            continue;
        if (goes_back(feeding, &row)) {
            feeding->falls = true;
            return 1;
        }
        note_x(drawing, &row);
        if (feeding->output && !hold(feeding, &row))
            continue;
        x[n] = to_double(drawing, row.x);
        y[n++] = row.y;
    }
    feed_or_keep(feeding, x, y, n);
    return 0;
}

#define LANES 4
typedef uint64_t four __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* As long as all of x[n] have 62 bits, a difference that is below 0 says so by its top bit. Returns
 * how many are known to rise, from the first on; 0: one may fall, or has more bits. */
__attribute__((always_inline)) static inline size_t rise_by_lanes(const int64_t *x, size_t n)
{
    four all = {0, 0, 0, 0}, falls = {0, 0, 0, 0};
    size_t i = 0;

    for (; i + LANES + 1 <= n; i += LANES) {
        four now, next;
        memcpy(&now, x + i, sizeof(now));
        memcpy(&next, x + i + 1, sizeof(next));
        all |= next;
        falls |= next - now;
    }
    falls |= all | all << 1;
    return (falls[0] | falls[1] | falls[2] | falls[3]) >> 63 ? 0 : i;
}

#if defined(__x86_64__)
WIDE_256 static size_t rise_by_wide_lanes(const int64_t *x, size_t n)
{
    return rise_by_lanes(x, n);
}
#endif

static size_t known_to_rise(const int64_t *x, size_t n)
{
#if defined(__x86_64__)
    if (wide_bits())
        return rise_by_wide_lanes(x, n);
#endif
    return rise_by_lanes(x, n);
}

/* False: one has none, or it falls. n ≥ 1. */
static bool rises(const int64_t *x, size_t n, int64_t last)
{
    if (x[0] < MAX(last, INT64_MIN + 1))
        return false;
    for (size_t i = x[0] < 0 ? 1 : known_to_rise(x, n) + 1; i < n; i++)
        if (x[i] < x[i - 1])
            return false;
    return true;
}

/* to_double() of each, but what x is is asked once. */
static void to_doubles(const struct drawing *drawing, const int64_t *from, size_t n, double *ret)
{
    uint64_t first = (uint64_t)drawing->first_ns;

    switch (drawing->ask.x) {
    case CHARTS_TIME:
        seconds_of_all(from, n, ret);
        return;
    case CHARTS_RELATIVE:
        for (size_t i = 0; i < n; i++)
            ret[i] = (double)((uint64_t)from[i] - first) / 1e9;
        return;
    case CHARTS_STEP:
        break;
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = (double)from[i];
}

/* Nearly all chunks are new from their first row and rise: these are drawn as they are. */
static bool feed_whole(const struct feeding *feeding, const struct series_chunk *chunk)
{
    struct drawing *drawing = feeding->drawing;
    const int64_t *from = has_times(drawing) ? chunk->times_ns : chunk->steps;
    double x[BLOCK_VALUES], scratch[BLOCK_VALUES];
    size_t n = chunk->n;

    if (feeding->append || feeding->sort || feeding->output || feeding->part->before < INT64_MAX ||
        !n || !rises(from, n, drawing->last))
        return false;
    to_doubles(drawing, from, n, x);
    feed(drawing, x, chunk->values, n, scratch);
    drawing->rows += n;
    drawing->ties = from[n - 1] == drawing->last ? drawing->ties : 0;
    for (size_t i = n; i > 0 && from[i - 1] == from[n - 1]; i--)
        drawing->ties++;
    drawing->last = from[n - 1];
    drawing->last_step = at_or_none(chunk->steps, n - 1);
    if (!has_times(drawing) && drawing->last >= drawing->next && drawing->last < INT64_MAX)
        drawing->next = drawing->last + 1;
    return true;
}

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct feeding *feeding = arg;

    return feed_whole(feeding, chunk) ? 0 : feed_rows(feeding, chunk);
}

/* ---- drawing ---- */

static bool is_output(const struct series_source *source)
{
    return source->file == SERIES_STDOUT || source->file == SERIES_STDERR;
}

static void read_part(struct feeding *feeding, struct series_db *db, const struct course_part *part,
                      const struct series_range *range)
{
    const struct series_info *info = &part->info;
    struct series_range wanted = *range;
    uint64_t before = feeding->drawing->rows;

    feeding->part = part;
    feeding->output = is_output(&info->source);
    wanted.no_times = !has_times(feeding->drawing);
    wanted.no_steps = !wanted.no_times && !feeding->output && part->before == INT64_MAX;
    series_db_read(db, &info->source, info->name, &wanted, on_chunk, feeding);
    if (!feeding->falls)
        feed_held(feeding);
    feeding->drawing->values += feeding->drawing->rows - before;
}

static void begin(struct drawing *drawing, const struct course *course)
{
    int64_t last_ns;

    drawing->n = 0;
    if (drawing->chart)
        query_chart_reset(drawing->chart, &drawing->ask.view);
    else if (!drawing->trace_max)
        drawing->chart = drawing->ask.bands ? query_chart_new(&drawing->ask.view)
                                            : query_chart_new_line(&drawing->ask.view);
    drawing->smooth =
        (struct query_smooth){.weight = drawing->ask.weight, .scale = drawing->ask.scale};
    drawing->last = INT64_MIN;
    drawing->last_step = STEP_NONE;
    drawing->rows = drawing->ties = 0;
    drawing->next = 0;
    drawing->grows = true;
    course_times(course, &drawing->first_ns, &last_ns);
}

static bool draw_parts(struct feeding *feeding, struct series_db *db, const struct course *course)
{
    struct drawing *drawing = feeding->drawing;

    begin(drawing, course);
    vec_foreach (part, &course->parts) {
        drawing->rows = drawing->ties = 0;
        drawing->next = 0;
        read_part(feeding, db, part, &series_all);
        if (feeding->falls)
            return false;
    }
    return true;
}

static void draw(struct drawing *drawing, struct series_db *db, const struct course *course)
{
    struct feeding feeding = {.drawing = drawing}, sorting = {.drawing = drawing, .sort = true};

    if (draw_parts(&feeding, db, course))
        return;
    draw_parts(&sorting, db, course);
    drawing->grows = false;
    query_sort(sorting.x.at, sorting.y.at, sorting.x.len);
    feed(drawing, sorting.x.at, sorting.y.at, sorting.x.len, sorting.y.at);
    vec_release(&sorting.x);
    vec_release(&sorting.y);
}

/* ---- from a trace ---- */

static size_t count_rows(const struct course *course)
{
    size_t n = 0;

    vec_foreach (part, &course->parts)
        n += part->info.stats.count;
    return n;
}

/* Its points are those that the store would tell. */
static void feed_trace(struct drawing *drawing, const struct drawing *trace)
{
    double scratch[BLOCK_VALUES];
    size_t most = is_smooth(drawing) ? BLOCK_VALUES : MAX(trace->n, (size_t)1), n;

    for (size_t i = 0; i < trace->n; i += n) {
        n = MIN(most, trace->n - i);
        feed(drawing, trace->x + i, trace->y + i, n, scratch);
    }
}

static void draw_from(struct drawing *drawing, struct series_db *db, struct drawing *trace)
{
    uint64_t before = trace->values;

    drawing_update(trace, db, NULL);
    begin(drawing, &trace->seen);
    feed_trace(drawing, trace);
    drawing->values += trace->values - before;
    drawing->rows = trace->rows;
    drawing->ties = trace->ties;
    drawing->last = trace->last;
    drawing->last_step = trace->last_step;
    drawing->next = trace->next;
    drawing->grows = trace->grows;
}

/* ---- what is new ---- */

static bool same_bits(double a, double b)
{
    uint64_t x, y;

    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x == y;
}

/* One that was dropped and told anew begins otherwise, or at another time. */
static bool begins_alike(const struct course_part *p, const struct course_part *q)
{
    const struct series_info *a = &p->info, *b = &q->info;

    return a->source.attempt == b->source.attempt && a->source.file == b->source.file &&
           p->before == q->before && same_bits(a->stats.first, b->stats.first) &&
           a->first_step == b->first_step && a->first_ns == b->first_ns;
}

static bool is_same(const struct course_part *p, const struct course_part *q)
{
    const struct series_info *a = &p->info, *b = &q->info;

    return a->stats.count == b->stats.count && begins_alike(p, q) &&
           same_bits(a->stats.last, b->stats.last) && a->stats.sum == b->stats.sum &&
           a->stats.squares == b->stats.squares && a->last_step == b->last_step &&
           a->last_ns == b->last_ns;
}

/* As many parts, and the first n of them are the same. */
static bool same_parts(const struct course *a, const struct course *b, size_t n)
{
    bool same = a->parts.len == b->parts.len;

    for (size_t i = 0; i < n && same; i++)
        same = is_same(&a->parts.at[i], &b->parts.at[i]);
    return same;
}

/* False: that was not all. */
static bool grow(struct drawing *drawing, struct series_db *db, const struct course *now)
{
    struct feeding feeding = {.drawing = drawing, .skip = drawing->ties, .append = true};
    struct series_range range = series_all;
    size_t n = now->parts.len;

    if (!n || !drawing->drawn || !drawing->grows || !drawing->ties ||
        !same_parts(&drawing->seen, now, n - 1))
        return false;
    const struct course_part *was = &drawing->seen.parts.at[n - 1], *is = &now->parts.at[n - 1];
    if (is->info.stats.count <= drawing->rows || is->info.replaced || !begins_alike(was, is))
        return false;
    *(has_times(drawing) ? &range.min_ns : &range.min_step) = drawing->last;
    read_part(&feeding, db, is, &range);
    return !feeding.falls && drawing->grows && drawing->rows == is->info.stats.count;
}

enum drawing_done drawing_update(struct drawing *drawing, struct series_db *db,
                                 struct drawing *trace)
{
    uint32_t name = series_db_name(db, drawing->metric, strlen(drawing->metric));
    enum drawing_done done = DRAWING_SAME;
    struct course now;

    course_find(db, drawing->experiment, drawing->trial, name, &now);
    if (!drawing->drawn || !same_parts(&drawing->seen, &now, now.parts.len)) {
        done = grow(drawing, db, &now) ? DRAWING_GREW : DRAWING_DRAWN;
        if (done == DRAWING_DRAWN && trace && count_rows(&now) <= trace->trace_max)
            draw_from(drawing, db, trace);
        else if (done == DRAWING_DRAWN)
            draw(drawing, db, &now);
    }
    course_release(&drawing->seen);
    drawing->seen = now;
    drawing->drawn = true;
    return done;
}

void drawing_init(struct drawing *drawing, const struct charts_ask *ask,
                  const struct charts_line *line)
{
    *drawing = (struct drawing){.ask = *ask,
                                .experiment = line->experiment,
                                .trial = line->trial,
                                .metric = xstrdup(line->metric)};
}

void drawing_init_trace(struct drawing *drawing, const struct charts_ask *ask,
                        const struct charts_line *line, size_t max)
{
    drawing_init(drawing, &(struct charts_ask){.x = ask->x}, line);
    drawing->trace_max = max;
}

void drawing_restart(struct drawing *drawing, const struct charts_ask *ask,
                     const struct charts_line *line)
{
    struct query_chart *chart = TAKE(drawing->chart);
    uint64_t values = drawing->values;

    drawing_release(drawing);
    drawing_init(drawing, ask, line);
    drawing->chart = chart;
    drawing->values = values;
}

void drawing_release(struct drawing *drawing)
{
    if (drawing->chart)
        query_chart_free(drawing->chart);
    course_release(&drawing->seen);
    free(drawing->metric);
    free(drawing->x);
    free(drawing->y);
}
