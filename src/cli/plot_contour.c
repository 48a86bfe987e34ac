/* SPDX-License-Identifier: MIT */
/*
 * plot_contour.c — values over two parameters. Between the trials the value is guessed from those
 * nearby: a mean weighed by distance (Shepard 1968), so it never leaves their range, and where
 * trials agree about nothing it is their average. The other parameters are not looked at.
 */
#include "cli/plot.h"

#include <errno.h>
#include <math.h>

#define CELLS 48
#define NEAR  0.02 /* places closer than this count as one */

struct spot {
    double x, y; /* places, 0 … 1 */
    double value;
};
struct spots {
    VEC(struct spot) list;
};

static double guess(const struct spots *spots, double x, double y)
{
    double sum = 0, weights = 0;
    vec_foreach (spot, &spots->list) {
        double dx = spot->x - x, dy = spot->y - y;
        double w = 1 / (dx * dx + dy * dy + NEAR * NEAR);
        sum += w * w * spot->value;
        weights += w * w;
    }
    return sum / weights;
}

static size_t cells_of(const struct axis *axis)
{
    return axis->kind == AXIS_NAMES ? MIN(axis->names.len, (size_t)CELLS) : CELLS;
}

static void fill_cells(struct chart *chart, const struct spots *spots)
{
    chart->columns = cells_of(&chart->x);
    chart->rows = cells_of(&chart->y);
    chart->cells = xcalloc(chart->columns * chart->rows, sizeof(*chart->cells));
    for (size_t row = 0, i = 0; row < chart->rows; row++)
        for (size_t column = 0; column < chart->columns; column++)
            chart->cells[i++] = guess(spots, ((double)column + 0.5) / (double)chart->columns,
                                      ((double)row + 0.5) / (double)chart->rows);
}

static void collect(const struct plot *plot, struct chart *chart, size_t px, size_t py,
                    struct spots *ret)
{
    struct axis values;
    struct chart_layer *layer = chart_add(chart, MARK_DOT, "trial");

    plot_value_axis(plot, 0, &values);
    vec_foreach (row, &plot->results->rows) {
        double x = row->point[px], y = row->point[py];
        if (!outcome_counts(row) || isnan(x) || isnan(y))
            continue;
        layer_add(layer, x, y, NAN, row->number);
        double value = fmin(fmax(row->values[0], values.min), values.max);
        vec_push(&ret->list,
                 ((struct spot){axis_place(&chart->x, x), axis_place(&chart->y, y), value}));
    }
    axis_release(&values);
}

/* From the worst cell to the best. */
static void shade_axis(const struct plot *plot, struct chart *chart)
{
    const struct objective *objective = &plot->target->spec.objective;

    axis_of_values(&chart->shade, objective->metric, false, chart->cells,
                   chart->columns * chart->rows);
    axis_tighten(&chart->shade);
    if (objective->goal == GOAL_MINIMIZE) {
        double min = chart->shade.min;
        chart->shade.min = chart->shade.max;
        chart->shade.max = min;
    }
}

int plot_contour(const struct plot *plot, struct chart *chart, struct err *err)
{
    const struct spec *spec = &plot->target->spec;
    const struct outcome *best = results_best(plot->results, spec);
    struct spots spots = {{0}};
    size_t px = 0, py = 0;
    int r = plot_param(plot, plot->words[0], &px, err);

    if (r == 0)
        r = plot_param(plot, plot->words[1], &py, err);
    if (r == 0 && px == py)
        r = err_set(err, EINVAL, "it takes two different parameters, not '%s' twice",
                    plot->words[0]);
    if (r < 0)
        return r;
    axis_of_param(&chart->x, &spec->space.params[px]);
    axis_of_param(&chart->y, &spec->space.params[py]);
    collect(plot, chart, px, py, &spots);
    if (!spots.list.len)
        return err_set(err, ENODATA, "no trial with parameters '%s' and '%s' has completed yet",
                       plot->words[0], plot->words[1]);
    fill_cells(chart, &spots);
    shade_axis(plot, chart);
    if (best && !isnan(best->point[px]) && !isnan(best->point[py]))
        layer_add(chart_add(chart, MARK_BEST, "best"), best->point[px], best->point[py], NAN,
                  best->number);
    vec_release(&spots.list);
    return 0;
}
