/* SPDX-License-Identifier: MIT */
/*
 * plot_history.c — each trial's value by its number, and the best so far. What was stopped early or
 * failed is marked as such; it never is the best.
 */
#include "cli/plot.h"

#include <errno.h>
#include <math.h>

static void add_kind(const struct plot *plot, struct chart *chart, enum mark mark, const char *name)
{
    struct chart_layer *layer = chart_add(chart, mark, name);

    vec_foreach (row, &plot->results->rows) {
        double x = (double)row->number, value = row->values[0];
        enum mark is = row->state == TRIAL_FAILED    ? MARK_FAILED
                       : row->state == TRIAL_STOPPED ? MARK_STOPPED
                                                     : MARK_DOT;
        if (is != mark || (is == MARK_DOT && !isfinite(value)))
            continue;
        layer_add(layer, x, mark == MARK_FAILED || !isfinite(value) ? NAN : value, NAN,
                  row->number);
    }
}

static void add_best_so_far(const struct plot *plot, struct chart *chart)
{
    const struct objective *objective = &plot->target->spec.objective;
    struct chart_layer *layer = chart_add(chart, MARK_STEPS, "best so far");
    double best = NAN;

    vec_foreach (row, &plot->results->rows) {
        if (outcome_counts(row) && row->kept && objective_better(objective, row->values[0], best))
            best = row->values[0];
        if (!isnan(best))
            layer_add(layer, (double)row->number, best, NAN, 0);
    }
}

static void add_best(const struct plot *plot, struct chart *chart)
{
    const struct outcome *best = results_best(plot->results, &plot->target->spec);
    if (best)
        layer_add(chart_add(chart, MARK_BEST, "best"), (double)best->number, best->values[0], NAN,
                  best->number);
}

int plot_history(const struct plot *plot, struct chart *chart, struct err *err)
{
    size_t n = plot->results->rows.len;
    double ends[2];

    if (n == 0)
        return err_set(err, ENODATA, "experiment %lld has no trials yet",
                       (long long)plot->target->experiment.experiment.id);
    ends[0] = (double)plot->results->rows.at[0].number;
    ends[1] = (double)plot->results->rows.at[n - 1].number;
    axis_of_values(&chart->x, "trial", false, ends, 2);
    chart->x.whole = true;
    plot_value_axis(plot, 0, &chart->y);
    add_best_so_far(plot, chart);
    add_kind(plot, chart, MARK_DOT, "value");
    add_kind(plot, chart, MARK_STOPPED, "stopped early");
    add_kind(plot, chart, MARK_FAILED, "failed");
    add_best(plot, chart);
    return 0;
}
