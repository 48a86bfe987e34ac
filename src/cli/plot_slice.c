/* SPDX-License-Identifier: MIT */
/*
 * plot_slice.c — values over one parameter; darker points are later trials.
 */
#include "cli/plot.h"

#include <errno.h>
#include <math.h>

int plot_slice(const struct plot *plot, struct chart *chart, struct err *err)
{
    const struct spec *spec = &plot->target->spec;
    const struct outcome *best = results_best(plot->results, spec);
    size_t param = 0, n = plot->results->rows.len;
    int r = plot_param(plot, plot->words[0], &param, err);

    if (r < 0)
        return r;
    struct chart_layer *layer = chart_add(chart, MARK_DOT, "completed");
    for (size_t i = 0; i < n; i++) {
        const struct outcome *row = &plot->results->rows.at[i];
        if (outcome_counts(row) && !isnan(row->point[param]))
            layer_add(layer, row->point[param], row->values[0],
                      n > 1 ? (double)i / (double)(n - 1) : 1, row->number);
    }
    if (!layer->points.len)
        return err_set(err, ENODATA, "no trial with parameter '%s' has completed yet",
                       plot->words[0]);
    if (best && !isnan(best->point[param]))
        layer_add(chart_add(chart, MARK_BEST, "best"), best->point[param], best->values[0], NAN,
                  best->number);
    axis_of_param(&chart->x, &spec->space.params[param]);
    plot_value_axis(plot, 0, &chart->y);
    double numbers[2] = {1, (double)plot->results->rows.at[n - 1].number};
    chart->shade = (struct axis){.title = xstrdup("trial"), .min = numbers[0], .max = numbers[1]};
    return 0;
}
