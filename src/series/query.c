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
#include "series/query_columns.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    struct cell *cells; /* (width) with bands, else (1), which all columns share */
    size_t bands;       /* 1 or 0 */
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

static struct query_chart *chart_new(const struct query_view *view, bool bands)
{
    struct query_chart *chart = xcalloc(1, sizeof(*chart));

    chart->bands = bands;
    query_chart_reset(chart, view);
    return chart;
}

struct query_chart *query_chart_new(const struct query_view *view)
{
    return chart_new(view, true);
}

struct query_chart *query_chart_new_line(const struct query_view *view)
{
    return chart_new(view, false);
}

void query_chart_reset(struct query_chart *chart, const struct query_view *view)
{
    size_t bytes = (chart->bands ? view->width : 1) * sizeof(*chart->cells);
    struct cell *cells = xrealloc(chart->cells, bytes);

    assert(query_view_check(view, NULL) == 0);
    free(chart->odd);
    *chart = (struct query_chart){.view = *view,
                                  .column = -1,
                                  .until = view->x0,
                                  .broken = true,
                                  .cells = memset(cells, 0, bytes),
                                  .bands = chart->bands,
                                  .x = chart->x,
                                  .y = chart->y,
                                  .cap = chart->cap};
}

static inline struct cell *cell_of(const struct query_chart *chart, int64_t column)
{
    return &chart->cells[(size_t)column * chart->bands];
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
/* 1 or 0, without a branch: which points are the same is as good as random. */
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
        cell_of(chart, column)->from = (uint32_t)chart->len;
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
/* The sum one after the other, as the band has it, on top of what was before; and which values are
 * the smallest and the largest, of equals the first. Of values that are not all finite only the sum
 * means something: it is not finite either. */
struct look {
    double sum;
    size_t min_at, max_at;
};

static inline double sum_on(double sum, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += y[i];
    return sum;
}

#ifdef __SSE2__
#define FEW 32 /* places that a word holds */

/* Which of a few values are the smallest and the largest, by two at a time: the last two may be
 * looked at twice. No branch depends on the values, for that is as good as random. */
static inline void find_among_few(const double *y, size_t n, __m128d least, __m128d most,
                                  struct look *ret)
{
    uint32_t lowest = 0, highest = 0;

    for (size_t i = 0; i < n; i += 2) {
        size_t at = MIN(i, n - 2);
        __m128d two = _mm_loadu_pd(y + at);
        lowest |= (uint32_t)_mm_movemask_pd(_mm_cmpeq_pd(two, least)) << at;
        highest |= (uint32_t)_mm_movemask_pd(_mm_cmpeq_pd(two, most)) << at;
    }
    ret->min_at = (size_t)__builtin_ctz(lowest | UINT32_C(1) << (FEW - 1));
    ret->max_at = (size_t)__builtin_ctz(highest | UINT32_C(1) << (FEW - 1));
}

static size_t find(const double *y, size_t n, double value)
{
    size_t i = 0;
    while (i < n - 1 && y[i] != value)
        i++;
    return i;
}

static inline struct look look_at(double sum, const double *y, size_t n)
{
    struct look look = {sum_on(sum, y, n), 0, 0};

    if (n == 1)
        return look;
    __m128d least = _mm_loadu_pd(y), most = least;
    for (size_t i = 2; i < n; i += 2) {
        __m128d two = _mm_loadu_pd(y + MIN(i, n - 2));
        least = _mm_min_pd(least, two);
        most = _mm_max_pd(most, two);
    }
    least = _mm_min_pd(least, _mm_shuffle_pd(least, least, 1));
    most = _mm_max_pd(most, _mm_shuffle_pd(most, most, 1));
    if (n <= FEW) {
        find_among_few(y, n, least, most, &look);
        return look;
    }
    look.min_at = find(y, n, _mm_cvtsd_f64(least));
    look.max_at = find(y, n, _mm_cvtsd_f64(most));
    return look;
}
#else
static inline struct look look_at(double sum, const double *y, size_t n)
{
    struct look look = {sum_on(sum, y, n), 0, 0};

    for (size_t i = 1; i < n; i++) {
        look.min_at = y[i] < y[look.min_at] ? i : look.min_at;
        look.max_at = y[i] > y[look.max_at] ? i : look.max_at;
    }
    return look;
}
#endif

/* More values of the current column, all of them finite. */
static void extend(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    struct piece *piece = piece_for(chart, (struct query_point){x[0], y[0]});
    struct cell *cell = cell_of(chart, chart->column);
    struct look look = look_at(cell->sum, y, n);
    struct query_point min = {x[look.min_at], y[look.min_at]};
    struct query_point max = {x[look.max_at], y[look.max_at]};
    bool lower = min.y < piece->min.y;
    bool higher = max.y > piece->max.y;

    if (lower)
        piece->min = min;
    if (higher)
        piece->max = max;
    if (lower || higher) /* if only one of them is new, it came last */
        piece->min_first = higher && (!lower || look.min_at < look.max_at);
    piece->last = (struct query_point){x[n - 1], y[n - 1]};
    cell->sum = look.sum;
    cell->last = y[n - 1];
    cell->count += (uint32_t)n;
    chart->counts.finite += n;
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
static inline size_t column_end(const double *x, size_t i, size_t n, double until, size_t before)
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

/* ---- columns that come at once ---- */
/* Short columns of a line without bands. Returns how many values were drawn. */
static size_t draw_short(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    size_t columns = MIN(n, (size_t)((int64_t)chart->view.width - chart->column)), points;

    if (chart->bands)
        return 0;
    if (chart->cap - chart->len < 4 * columns + ROOM)
        reserve(chart, chart->cap * 2 + 4 * columns);
    size_t drawn = columns_draw_short(&chart->view, x, y, n, &chart->column, &chart->until,
                                      chart->x + chart->len, chart->y + chart->len, &points);
    chart->len += points;
    return drawn;
}

/* Columns one behind the other that begin and end in x[n], with finite values only, from the one
 * behind the current column on. Their points are known at once. Returns how many values were
 * drawn; where it stops, the next one is to be fed as others are. */
static size_t draw_columns(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    const struct query_view view = chart->view; /* which no store could change */
    close_piece(chart);
    size_t i = draw_short(chart, x, y, n), before = 1;
    int64_t column = chart->column, last = (int64_t)view.width - 2;

    while (column < last && i < n) {
        double until = column_begin(&view, (double)(column + 2));
        size_t end = x[i] < until ? column_end(x, i, n, until, before) : n, len = chart->len;
        if (end == n)
            break;
        before = end - i;
        struct look look = look_at(0, y + i, before);
        if (!isfinite(look.sum))
            break;
        *cell_of(chart, ++column) =
            (struct cell){look.sum, y[end - 1], (uint32_t)before, (uint32_t)len};
        add_points(chart, column_put(x + i, y + i, before, look.min_at, look.max_at, chart->x + len,
                                     chart->y + len));
        i = end;
        chart->until = until;
    }
    chart->column = column;
    chart->counts.finite += i;
    return i;
}

/* Does a line lead from inside the view to this point in a column behind? */
static bool goes_on(const struct query_chart *chart, double x)
{
    return x >= chart->until && chart->column >= 0 && !chart->broken && !chart->has_left;
}

void query_chart_feed(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    size_t i = 0;

    if (!chart->cap)
        reserve(chart, 4 * MIN(n, chart->view.width) + 2 * ROOM);
    while (i < n) {
        if (goes_on(chart, x[i]))
            i += draw_columns(chart, x + i, y + i, n - i);
        if (i < n && x[i] >= chart->until)
            enter_column(chart, x[i]);
        size_t end = i < n ? column_end(x, i, n, chart->until, 1) : n;
        if (i < end)
            feed_column(chart, x + i, y + i, end - i);
        i = end;
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
    struct cell *cell = cell_of(chart, chart->column);
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

    assert(chart->bands);
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
    assert(chart->bands);
    return chart->cells[column].count;
}

uint64_t query_chart_odd(const struct query_chart *chart, size_t column)
{
    return chart->odd ? (uint64_t)chart->odd[column].nans + chart->odd[column].infs : 0;
}

const struct query_view *query_chart_view(const struct query_chart *chart)
{
    return &chart->view;
}

size_t query_chart_bytes(const struct query_chart *chart)
{
    size_t column = chart->bands * sizeof(struct cell) + (chart->odd ? sizeof(struct odd) : 0);
    return sizeof(*chart) + chart->view.width * column + chart->cap * 2 * sizeof(double);
}
