/* SPDX-License-Identifier: MIT */
/*
 * plot_parallel.c — parallel coordinates: an upright axis a parameter and one for the value, each
 * trial a line across them. The best are drawn last, so they are on top.
 */
#include "cli/plot.h"

#include <errno.h>
#include <math.h>

#define AXES_MOST 12 /* without being asked for */

struct columns {
    VEC(size_t) params;
};

static int choose(const struct plot *plot, struct columns *ret, struct err *err)
{
    const struct space *space = &plot->target->spec.space;
    size_t at = 0;

    for (int i = 0; i < plot->n_words; i++) {
        int r = plot_param(plot, plot->words[i], &at, err);
        if (r < 0)
            return r;
        vec_push(&ret->params, at);
    }
    if (plot->n_words)
        return 0;
    for (size_t i = 0; i < space->n && ret->params.len < AXES_MOST; i++)
        if (param_size(&space->params[i]) != 1)
            vec_push(&ret->params, i);
    return 0;
}

static int by_shade(const void *a, const void *b)
{
    const struct chart_path *x = a, *y = b;
    return (x->shade > y->shade) - (x->shade < y->shade);
}

static void add_paths(const struct plot *plot, const struct columns *columns, struct chart *chart)
{
    autofree(mem) double *shades = plot_shades(plot);

    for (size_t i = 0; i < plot->results->rows.len; i++) {
        const struct outcome *row = &plot->results->rows.at[i];
        if (!outcome_counts(row))
            continue;
        struct chart_path path = {xcalloc(columns->params.len + 1, sizeof(double)), shades[i],
                                  row->number};
        for (size_t k = 0; k < columns->params.len; k++)
            path.y[k] = row->point[columns->params.at[k]];
        path.y[columns->params.len] = row->values[0];
        vec_push(&chart->paths, path);
    }
    if (chart->paths.len)
        qsort(chart->paths.at, chart->paths.len, sizeof(*chart->paths.at), by_shade);
}

static void add_axes(const struct plot *plot, const struct columns *columns, struct chart *chart)
{
    const struct spec *spec = &plot->target->spec;
    struct axis axis;

    vec_foreach (param, &columns->params) {
        axis_of_param(&axis, &spec->space.params[*param]);
        axis_tighten(&axis);
        vec_push(&chart->uprights, axis);
    }
    plot_value_axis(plot, 0, &axis);
    axis_tighten(&axis);
    vec_push(&chart->uprights, axis);
}

/* Shades are ranks: from the worst result to the best. */
static void add_shade_axis(const struct plot *plot, struct chart *chart)
{
    const char *metric = plot->target->spec.objective.metric;
    size_t last = chart->uprights.len - 1;

    chart->shade = (struct axis){.title = xasprintf("%s, by rank", metric),
                                 .min = chart->paths.at[0].y[last],
                                 .max = vec_last(&chart->paths)->y[last]};
}

int plot_parallel(const struct plot *plot, struct chart *chart, struct err *err)
{
    struct columns columns = {{0}};
    int r = choose(plot, &columns, err);

    if (r == 0 && !columns.params.len)
        r = err_set(err, ENODATA, "experiment %lld has no parameter that varies",
                    (long long)plot->target->experiment.experiment.id);
    if (r == 0) {
        add_paths(plot, &columns, chart);
        if (!chart->paths.len)
            r = err_set(err, ENODATA, "no trial of experiment %lld has completed yet",
                        (long long)plot->target->experiment.experiment.id);
    }
    if (r == 0) {
        add_axes(plot, &columns, chart);
        add_shade_axis(plot, chart);
    }
    vec_release(&columns.params);
    return r;
}
