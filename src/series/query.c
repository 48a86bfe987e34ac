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

struct query_chart {
    struct query_view view;
    int64_t column; /* of the last point fed; −1 before, `width` behind */
    double until;   /* where the next column begins */
    bool broken;    /* no line leads from what came last to what comes next */
    bool has_left;  /* `left` is the last point before the view, and unbroken so far */
    bool ended;     /* the point behind the view is known */
    struct query_point left;
    struct query_column *columns; /* (width) */
    VEC(struct query_piece) pieces;
    struct query_kept *kept;
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

struct query_chart *query_chart_new(const struct query_view *view)
{
    assert(query_view_check(view, NULL) == 0);
    struct query_chart *chart = xcalloc(1, sizeof(*chart));
    chart->view = *view;
    chart->column = -1;
    chart->until = view->x0;
    chart->broken = true;
    chart->columns = xcalloc(view->width, sizeof(*chart->columns));
    for (size_t i = 0; i < view->width; i++)
        chart->columns[i] = (struct query_column){.min = NAN, .max = NAN, .last = NAN};
    chart->kept = xcalloc(1, sizeof(*chart->kept));
    chart->kept->bytes = (struct str)STR_INIT;
    vec_reserve(&chart->pieces, view->width + 2);
    return chart;
}

void query_chart_free(struct query_chart *chart)
{
    free(chart->columns);
    vec_release(&chart->pieces);
    str_release(&chart->kept->bytes);
    free(chart->kept);
    free(chart);
}

/* ---- pieces ---- */
static void push_piece(struct query_chart *chart, int64_t column, struct query_point at)
{
    struct query_piece piece = {.column = (int32_t)column, .gap = chart->broken, .min_first = true};
    piece.first = piece.min = piece.max = piece.last = at;
    vec_push(&chart->pieces, piece);
    chart->broken = false;
}

static bool has_pieces_to_spare(const struct query_chart *chart)
{
    size_t n = chart->pieces.len;
    return n < QUERY_PIECES || chart->pieces.at[n - QUERY_PIECES].column != chart->column;
}

/* The piece that a point of the current column belongs to. */
static struct query_piece *piece_for(struct query_chart *chart, struct query_point at)
{
    if (chart->has_left) {
        chart->has_left = false;
        chart->broken = true; /* nothing is before the point on the left */
        push_piece(chart, -1, chart->left);
    }
    size_t n = chart->pieces.len;
    bool same = n > 0 && chart->pieces.at[n - 1].column == chart->column;
    if (!same || (chart->broken && has_pieces_to_spare(chart)))
        push_piece(chart, chart->column, at);
    chart->broken = false;
    return vec_last(&chart->pieces);
}

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

/* Values of one column up to the first that is not finite; y[0] is. Returns how many. */
static size_t extend(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    struct query_piece *piece = piece_for(chart, (struct query_point){x[0], y[0]});
    struct query_column *column = &chart->columns[chart->column];
    double min = piece->min.y, max = piece->max.y, sum = column->sum;
    size_t min_at = SIZE_MAX, max_at = SIZE_MAX, i = 0;
    do {
        double value = y[i];
        sum += value;
        if (value < min) {
            min = value;
            min_at = i;
        }
        if (value > max) {
            max = value;
            max_at = i;
        }
    } while (++i < n && isfinite(y[i]));
    if (min_at != SIZE_MAX)
        piece->min = (struct query_point){x[min_at], min};
    if (max_at != SIZE_MAX)
        piece->max = (struct query_point){x[max_at], max};
    if (min_at != max_at) /* one of them is new: if only one, it came last */
        piece->min_first = max_at == SIZE_MAX ? false : min_at == SIZE_MAX || min_at < max_at;
    piece->last = (struct query_point){x[i - 1], y[i - 1]};
    column->sum = sum;
    column->count += i;
    column->min = smaller(column->min, min);
    column->max = larger(column->max, max);
    column->last = y[i - 1];
    return i;
}

/* ---- columns ---- */
static void feed_inside(struct query_chart *chart, const double *x, const double *y, size_t n)
{
    struct query_column *column = &chart->columns[chart->column];
    for (size_t i = 0; i < n;) {
        if (isfinite(y[i])) {
            i += extend(chart, x + i, y + i, n - i);
            continue;
        }
        column->nans += isnan(y[i]);
        column->infs += !isnan(y[i]);
        chart->broken = true;
        chart->has_left = false;
        i++;
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

/* The first of rising x[i … n) that is not below `until`, at least i + 1: doubled steps, then
 * halved. */
static size_t column_end(const double *x, size_t i, size_t n, double until)
{
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
    str_release(&chart->kept->bytes);
    for (size_t i = 0; i < n;) {
        if (x[i] >= chart->until)
            enter_column(chart, x[i]);
        size_t end = column_end(x, i, n, chart->until);
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
    str_release(&chart->kept->bytes);
    if (first_x >= chart->until)
        enter_column(chart, first_x);
    struct query_column *now = &chart->columns[chart->column];
    uint64_t count = now->count + stats->count;
    double sum = now->sum + stats->sum;
    extend(chart, (const double[]){first_x, last_x}, (const double[]){stats->first, stats->last},
           2);
    struct query_piece *piece = vec_last(&chart->pieces);
    if (stats->min < piece->min.y)
        piece->min = (struct query_point){first_x, stats->min};
    if (stats->max > piece->max.y)
        piece->max = (struct query_point){first_x, stats->max};
    if (piece->min.x != piece->max.x)
        piece->min_first = piece->min.x < piece->max.x;
    now->count = count;
    now->sum = sum;
    now->min = smaller(now->min, stats->min);
    now->max = larger(now->max, stats->max);
    return true;
}

const struct query_piece *query_chart_pieces(const struct query_chart *chart, size_t *ret_n)
{
    *ret_n = chart->pieces.len;
    return chart->pieces.at;
}

const struct query_column *query_chart_columns(const struct query_chart *chart)
{
    return chart->columns;
}

const struct query_view *query_chart_view(const struct query_chart *chart)
{
    return &chart->view;
}

struct query_kept *query_chart_kept(const struct query_chart *chart)
{
    return chart->kept;
}

/* 1 or 0, without a branch: which points are the same is as good as random, and this is done for
 * every column of every line. */
static size_t differs(const struct query_point *a, const struct query_point *b)
{
    return (size_t)((a->x != b->x) | (a->y != b->y));
}

size_t query_piece_points(const struct query_piece *piece, struct query_point ret[4])
{
    const struct query_point *a = piece->min_first ? &piece->min : &piece->max;
    const struct query_point *b = piece->min_first ? &piece->max : &piece->min;
    size_t n = 1;

    ret[0] = piece->first;
    ret[n] = *a;
    n += differs(a, &piece->first);
    ret[n] = *b;
    n += differs(b, a);
    ret[n] = piece->last;
    n += differs(&piece->last, b);
    return n;
}
