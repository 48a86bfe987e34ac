/* SPDX-License-Identifier: MIT */
/*
 * query.c — a picture of a series. In each column of pixels the line is a vertical stroke from its
 * smallest to its largest value, and what leads from column to column are the lines from the last
 * value of one to the first of the next. So first, min, max and last of a column draw what all of
 * its values would (M4). Where the line has gaps, that is true of each piece between them.
 *
 * Points come with rising x: as long as x stays below `until`, the column is the same, and the loop
 * over the values of a column looks at y alone.
 */
#include "series/query.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define COLUMN_FAR (INT64_C(1) << 52)
#define ROOM       10 /* points behind those that are there: of two pieces, each with a gap */

/* Some of the line in one column. */
struct piece {
    bool gap;       /* no line leads here from what is before */
    bool min_first; /* min came before max */
    struct query_point first, min, max, last;
};
/* A column; which points of the line lie in it is known by where they begin. */
struct cell {
    double sum, last;
    uint32_t count; /* finite values; 0: the others mean nothing */
    uint32_t from;  /* its first point */
};
struct odd {
    uint32_t nans, infs;
};

struct query_chart {
    struct query_view view;
    int64_t column; /* of the last point fed; −1 before, `width` behind */
    double until;   /* where the next column begins */
    bool broken;    /* no line leads from what came last to what comes next */
    bool has_left;  /* `left` is the last point before the view, and unbroken so far */
    bool ended;     /* the point behind the view is known */
    bool is_open;   /* `open` is the last piece: its points are not among the others yet */
    struct query_point left;
    struct piece open;
    int64_t open_column;
    unsigned pieces;    /* of open_column */
    struct cell *cells; /* (width) */
    struct odd *odd;    /* (width); NULL: all values are finite */
    struct query_counts counts;
    double *x, *y; /* (cap) the line: M4, and a NaN for each gap */
    size_t len, cap;
};

int query_view_check(const struct query_view *view, struct err *err)
{
    if (view->width < 1 || view->width > QUERY_WIDTH_MAX)
        return err_set(err, EINVAL, "width: a number from 1 to %d, not %zu", QUERY_WIDTH_MAX,
                       view->width);
    if (!isfinite(view->x0) || !isfinite(view->x1) || !isfinite(view->x1 - view->x0))
        return err_set(err, EINVAL, "range: its ends must be finite numbers");
    if (view->x0 > view->x1)
        return err_set(err, EINVAL, "range: begins at %g, behind its end %g", view->x0, view->x1);
    return 0;
}

/* Where column c begins. That of x is the last that does not begin behind it: by this and nothing
 * else, so that rounding cannot tear a column's points apart. */
static double column_begin(const struct query_view *view, double c)
{
    return view->x0 + (view->x1 - view->x0) * (c / (double)view->width);
}

int64_t query_column_of(const struct query_view *view, double x)
{
    double span = view->x1 - view->x0, width = (double)view->width;
    if (x == view->x1 || span <= 0) /* the right end belongs to the last column */
        return x < view->x0 ? -1 : x > view->x1 ? (int64_t)view->width : (int64_t)view->width - 1;
    double c = floor((x - view->x0) / span * width);
    if (!(fabs(c) < (double)COLUMN_FAR))
        return x < view->x0 ? -COLUMN_FAR : COLUMN_FAR;
    c = fmax(c - 1, -(double)COLUMN_FAR);
    for (int i = 0; i < 2 && column_begin(view, c + 1) <= x; i++)
        c++;
    if (x > view->x1)
        return (int64_t)fmax(c, width);
    return (int64_t)(x < view->x0 ? fmin(c, -1) : fmin(c, width - 1));
}

static void reserve(struct query_chart *chart, size_t n)
{
    chart->cap = n;
    chart->x = xrealloc(chart->x, n * sizeof(*chart->x));
    chart->y = xrealloc(chart->y, n * sizeof(*chart->y));
}

/* n points more, which are stored already. */
static inline void add_points(struct query_chart *chart, size_t n)
{
    chart->len += n;
    if (chart->cap - chart->len < ROOM)
        reserve(chart, chart->cap * 2);
}

struct query_chart *query_chart_new(const struct query_view *view)
{
    assert(query_view_check(view, NULL) == 0);
    struct query_chart *chart = xcalloc(1, sizeof(*chart));
    chart->view = *view;
    chart->column = -1;
    chart->until = view->x0;
    chart->broken = true;
    chart->cells = xcalloc(view->width, sizeof(*chart->cells));
    return chart;
}

void query_chart_free(struct query_chart *chart)
{
    free(chart->cells);
    free(chart->odd);
    free(chart->x);
    free(chart->y);
    free(chart);
}

/* ---- points of a piece ---- */
/* 1 or 0, without a branch: which points are the same is as good as random, and this is done for
 * every column of every line. */
static inline size_t differs(struct query_point a, struct query_point b)
{
    return (size_t)((a.x != b.x) | (a.y != b.y));
}

/* Each once: how many of the four that are written count. a, b: min and max as they came. */
static inline size_t put_points(struct query_point first, struct query_point a,
                                struct query_point b, struct query_point last, double *x, double *y)
{
    size_t n = 1;

    x[0] = first.x;
    y[0] = first.y;
    x[n] = a.x;
    y[n] = a.y;
    n += differs(a, first);
    x[n] = b.x;
    y[n] = b.y;
    n += differs(b, a);
    x[n] = last.x;
    y[n] = last.y;
    return n + differs(last, b);
}

/* The open piece behind all others; how many points. */
static size_t put_open(const struct query_chart *chart)
{
    const struct piece *piece = &chart->open;
    size_t at = chart->len, gap = piece->gap && at > 0;

    chart->x[at] = piece->first.x;
    chart->y[at] = NAN;
    at += gap;
    return gap + put_points(piece->first, piece->min_first ? piece->min : piece->max,
                            piece->min_first ? piece->max : piece->min, piece->last, chart->x + at,
                            chart->y + at);
}

static void close_piece(struct query_chart *chart)
{
    if (chart->is_open)
        add_points(chart, put_open(chart));
    chart->is_open = false;
}

/* ---- pieces ---- */
static void open_piece(struct query_chart *chart, int64_t column, struct query_point at)
{
    close_piece(chart);
    chart->pieces = column == chart->open_column ? chart->pieces + 1 : 1;
    if (chart->pieces == 1 && column >= 0 && column < (int64_t)chart->view.width)
        chart->cells[column].from = (uint32_t)chart->len;
    chart->open = (struct piece){chart->broken, true, at, at, at, at};
    chart->open_column = column;
    chart->is_open = true;
    chart->broken = false;
}

/* The piece that a point of the current column belongs to. */
static struct piece *piece_for(struct query_chart *chart, struct query_point at)
{
    if (chart->has_left) {
        chart->has_left = false;
        chart->broken = true; /* nothing is before the point on the left */
        open_piece(chart, -1, chart->left);
    }
    bool same = chart->is_open && chart->open_column == chart->column;
    if (!same || (chart->broken && chart->pieces < QUERY_PIECES))
        open_piece(chart, chart->column, at);
    chart->broken = false;
    return &chart->open;
}

/* ---- values ---- */
/* What values come to, one after the other; `NOWHERE`: it was so before them. */
#define NOWHERE (-1)
struct look {
    double sum, min, max;
    int64_t min_at, max_at;
};
typedef double pair __attribute__((vector_size(2 * sizeof(double))));
typedef int64_t places __attribute__((vector_size(2 * sizeof(int64_t))));

/* The largest is the smallest of −y: both side by side. No branches but the loop's own, for which
 * value of a column is the smallest is as good as random. */
static inline struct look look_at(const double *y, size_t n, const struct look *before)
{
    pair least = {before->min, -before->max};
    places at = {before->min_at, before->max_at}, here = {0, 0};
    double sum = before->sum;

    for (size_t i = 0; i < n; i++, here += 1) {
        pair now = {y[i], -y[i]};
        places less = now < least;
        sum += y[i];
        at ^= (at ^ here) & less;
        least = (pair)((places)least ^ (((places)least ^ (places)now) & less));
    }
    return (struct look){sum, least[0], -least[1], at[0], at[1]};
}

/* More values of the current column, all of them finite. */
static void extend(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    struct piece *piece = piece_for(chart, (struct query_point){x[0], y[0]});
    struct cell *cell = &chart->cells[chart->column];
    struct look before = {cell->sum, piece->min.y, piece->max.y, NOWHERE, NOWHERE};
    struct look look = look_at(y, n, &before);

    if (look.min_at != NOWHERE)
        piece->min = (struct query_point){x[look.min_at], look.min};
    if (look.max_at != NOWHERE)
        piece->max = (struct query_point){x[look.max_at], look.max};
    if (look.min_at != look.max_at) /* one of them is new: if only one, it came last */
        piece->min_first = look.max_at != NOWHERE && look.min_at < look.max_at;
    piece->last = (struct query_point){x[n - 1], y[n - 1]};
    cell->sum = look.sum;
    cell->last = y[n - 1];
    cell->count += (uint32_t)n;
    chart->counts.finite += n;
}

/* All values of a column that has none yet, and to which a line leads: its points are known at
 * once. False: not all are finite. */
static bool draw_whole(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    struct look look = look_at(y, n, &(struct look){0, y[0], y[0], 0, 0});
    int64_t a = MIN(look.min_at, look.max_at), b = MAX(look.min_at, look.max_at);

    if (!isfinite(look.sum))
        return false;
    close_piece(chart);
    chart->cells[chart->column] =
        (struct cell){look.sum, y[n - 1], (uint32_t)n, (uint32_t)chart->len};
    chart->counts.finite += n;
    add_points(chart, put_points((struct query_point){x[0], y[0]}, (struct query_point){x[a], y[a]},
                                 (struct query_point){x[b], y[b]},
                                 (struct query_point){x[n - 1], y[n - 1]}, chart->x + chart->len,
                                 chart->y + chart->len));
    return true;
}

static size_t count_finite(const double *y, size_t n)
{
    size_t i = 0;
    while (i < n && isfinite(y[i]))
        i++;
    return i;
}

static void add_odd(struct query_chart *chart, double y)
{
    if (!chart->odd)
        chart->odd = xcalloc(chart->view.width, sizeof(*chart->odd));
    chart->odd[chart->column].nans += isnan(y);
    chart->odd[chart->column].infs += !isnan(y);
    chart->counts.odd++;
    chart->broken = true;
    chart->has_left = false;
}

/* ---- columns ---- */
static void feed_inside(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t finite = count_finite(y + i, n - i);
        if (finite)
            extend(chart, x + i, y + i, finite);
        i += finite;
        if (i < n)
            add_odd(chart, y[i]);
    }
}

/* Only the last point before the view matters, … */
static void feed_left(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    chart->left = (struct query_point){x[n - 1], y[n - 1]};
    chart->has_left = isfinite(y[n - 1]);
    chart->broken = !chart->has_left;
}

/* … and the first behind it. */
static void feed_right(struct query_chart *chart, double x, double y)
{
    if (!chart->ended && isfinite(y) && !chart->broken)
        piece_for(chart, (struct query_point){x, y});
    chart->ended = true;
}

static void feed_column(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    if (chart->column < 0)
        feed_left(chart, x, y, n);
    else if (chart->column < (int64_t)chart->view.width)
        feed_inside(chart, x, y, n);
    else
        feed_right(chart, x[0], y[0]);
}

/* Does a line lead into this column, out of the view's inside? */
static bool goes_on(const struct query_chart *chart)
{
    return !chart->broken && !chart->has_left && chart->column < (int64_t)chart->view.width;
}

/* Most often a line goes on to the very next column: that is known without a division by the span.
 * False: it does not. */
static bool enter_next(struct query_chart *chart, double x)
{
    int64_t behind = chart->column + 2;

    if (behind >= (int64_t)chart->view.width)
        return false;
    double end = column_begin(&chart->view, (double)behind);
    if (!(x < end))
        return false;
    chart->column++;
    chart->until = end;
    return true;
}

/* x lies at or behind `until`. */
static void enter_column(struct query_chart *chart, double x)
{
    const struct query_view *view = &chart->view;

    if (enter_next(chart, x))
        return;
    int64_t width = (int64_t)view->width, column = query_column_of(view, x);
    chart->column = MAX(chart->column, MIN(MAX(column, -1), width));
    if (chart->column < 0)
        chart->until = view->x0;
    else if (chart->column + 1 < width)
        chart->until = column_begin(view, (double)(chart->column + 1));
    else
        chart->until = chart->column < width ? nextafter(view->x1, INFINITY) : INFINITY;
}

/* The first of rising x[i … n) that is not below `until`, at least i + 1: where it was last time,
 * or by doubled steps, then halved. */
static size_t column_end(const double *x, size_t i, size_t n, double until, size_t before)
{
    if (before < n - i && x[i + before] >= until && x[i + before - 1] < until)
        return i + before;
    size_t low = i, step = 1;
    while (low + step < n && x[low + step] < until) {
        low += step;
        step *= 2;
    }
    size_t high = MIN(low + step, n);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (x[middle] < until)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void query_chart_feed(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    size_t end, before = 1;

    if (!chart->cap)
        reserve(chart, 4 * MIN(n, chart->view.width) + 2 * ROOM);
    for (size_t i = 0; i < n; i = end) {
        bool enters = x[i] >= chart->until;
        if (enters)
            enter_column(chart, x[i]);
        end = column_end(x, i, n, chart->until, before);
        before = end - i;
        bool whole = enters && end < n && goes_on(chart);
        if (!whole || !draw_whole(chart, x + i, y + i, before))
            feed_column(chart, x + i, y + i, before);
    }
}

bool query_chart_feed_block(struct query_chart *chart, double first_x, double last_x,
                            const struct block_stats *stats)
{
    int64_t column = query_column_of(&chart->view, first_x);
    if (stats->count == 0 || stats->nans > 0 || stats->infs > 0 || column < MAX(chart->column, 0) ||
        column >= (int64_t)chart->view.width || query_column_of(&chart->view, last_x) != column)
        return false;
    if (!chart->cap)
        reserve(chart, 2 * ROOM);
    if (first_x >= chart->until)
        enter_column(chart, first_x);
    struct cell *cell = &chart->cells[chart->column];
    double sum = cell->sum + stats->sum;
    extend(chart, (const double[]){first_x, last_x}, (const double[]){stats->first, stats->last},
           2);
    struct piece *piece = &chart->open;
    if (stats->min < piece->min.y)
        piece->min = (struct query_point){first_x, stats->min};
    if (stats->max > piece->max.y)
        piece->max = (struct query_point){first_x, stats->max};
    if (piece->min.x != piece->max.x)
        piece->min_first = piece->min.x < piece->max.x;
    cell->sum = sum;
    cell->count += stats->count - 2; /* may wrap on the way: of one value two were told */
    chart->counts.finite += (uint64_t)stats->count - 2;
    return true;
}

struct query_line query_chart_line(const struct query_chart *chart)
{
    size_t open = chart->is_open ? put_open(chart) : 0;
    return (struct query_line){chart->x, chart->y, chart->len + open};
}

struct query_counts query_chart_counts(const struct query_chart *chart)
{
    return chart->counts;
}

/* ---- bands ---- */
/* The smaller and the larger one; of no number yet (NaN) and a number the number. fmin() would be
 * a call. */
static double smaller(double old, double now)
{
    return old <= now ? old : now;
}

static double larger(double old, double now)
{
    return old >= now ? old : now;
}

/* Points y[n] of the line, NaN at gaps. */
static struct query_column column_of(const struct cell *cell, const double *y, size_t n)
{
    struct query_column column = {.count = cell->count, .sum = cell->sum};

    column.last = cell->last;
    column.min = column.max = NAN;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i])) {
            column.min = smaller(column.min, y[i]);
            column.max = larger(column.max, y[i]);
        }
    return column;
}

/* The point behind the view is the only one of its piece. */
static size_t points_inside(const struct query_chart *chart)
{
    size_t n = query_chart_line(chart).n;
    return chart->is_open && chart->open_column == (int64_t)chart->view.width ? n - 1 : n;
}

void query_chart_columns(const struct query_chart *chart, struct query_column *ret)
{
    size_t end = points_inside(chart);

    for (size_t c = chart->view.width; c-- > 0;) {
        const struct cell *cell = &chart->cells[c];
        ret[c] = (struct query_column){.min = NAN, .max = NAN, .last = NAN};
        if (cell->count) {
            ret[c] = column_of(cell, chart->y + cell->from, end - cell->from);
            end = cell->from;
        }
        ret[c].nans = chart->odd ? chart->odd[c].nans : 0;
        ret[c].infs = chart->odd ? chart->odd[c].infs : 0;
    }
}

uint64_t query_chart_count(const struct query_chart *chart, size_t column)
{
    return chart->cells[column].count;
}

const struct query_view *query_chart_view(const struct query_chart *chart)
{
    return &chart->view;
}

size_t query_chart_bytes(const struct query_chart *chart)
{
    size_t column = sizeof(struct cell) + (chart->odd ? sizeof(struct odd) : 0);
    return sizeof(*chart) + chart->view.width * column + chart->cap * 2 * sizeof(double);
}
