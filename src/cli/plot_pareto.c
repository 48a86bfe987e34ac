/* SPDX-License-Identifier: MIT */
/*
 * plot_pareto.c — two objectives against each other; the trials that no other one beats in all
 * objectives are joined. Those that break a constraint are drawn as stopped ones are.
 */
#include "cli/plot.h"

#include <errno.h>
#include <math.h>

static int find_objective(const struct plot *plot, const char *name, size_t *ret, struct err *err)
{
    autorelease(str) struct str names = STR_INIT;

    for (size_t i = 0; i < plot->results->n_objectives; i++) {
        const char *metric = objective_at(&plot->target->spec, i)->metric;
        if (str_eq(metric, name)) {
            *ret = i;
            return 0;
        }
        str_addf(&names, "%s%s", i ? ", " : "", metric);
    }
    return err_set(err, EINVAL, "'%s' is no objective of experiment %lld: %s", name,
                   (long long)plot->target->experiment.experiment.id, names.s);
}

static int choose(const struct plot *plot, size_t ret[2], struct err *err)
{
    if (plot->results->n_objectives < 2)
        return err_set(err, EINVAL,
                       "experiment %lld has one objective: a Pareto front takes two or more",
                       (long long)plot->target->experiment.experiment.id);
    ret[0] = 0;
    ret[1] = 1;
    for (int i = 0; i < plot->n_words; i++) {
        int r = find_objective(plot, plot->words[i], &ret[i], err);
        if (r < 0)
            return r;
    }
    if (plot->n_words == 1)
        ret[1] = ret[0] == 0 ? 1 : 0;
    if (ret[0] == ret[1])
        return err_set(err, EINVAL, "it takes two different objectives");
    return 0;
}

static void add_points(const struct plot *plot, struct chart *chart, const size_t at[2],
                       enum mark mark, const char *name)
{
    struct chart_layer *layer = chart_add(chart, mark, name);
    vec_foreach (row, &plot->results->rows)
        if (outcome_counts(row) && row->kept == (mark == MARK_DOT) &&
            isfinite(row->values[at[0]]) && isfinite(row->values[at[1]]))
            layer_add(layer, row->values[at[0]], row->values[at[1]], NAN, row->number);
}

static int by_x(const void *a, const void *b)
{
    const struct chart_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

int plot_pareto(const struct plot *plot, struct chart *chart, struct err *err)
{
    autofree(mem) size_t *front = NULL;
    size_t at[2];
    int r = choose(plot, at, err);

    if (r < 0)
        return r;
    size_t n = results_front(plot->results, &plot->target->spec, &front);
    if (n == 0)
        return err_set(err, ENODATA,
                       "no trial of experiment %lld has completed yet with all of "
                       "its objectives",
                       (long long)plot->target->experiment.experiment.id);
    add_points(plot, chart, at, MARK_DOT, "completed");
    add_points(plot, chart, at, MARK_STOPPED, "breaks a bound");
    struct chart_layer *layer = chart_add(chart, MARK_BEST, "front");
    for (size_t i = 0; i < n; i++) {
        const struct outcome *row = &plot->results->rows.at[front[i]];
        layer_add(layer, row->values[at[0]], row->values[at[1]], NAN, row->number);
    }
    qsort(layer->points.at, n, sizeof(*layer->points.at), by_x);
    if (plot->results->n_objectives == 2) { /* with more it is no line in this plane */
        size_t from = chart->layers.len - 1;
        struct chart_layer *line = chart_add(chart, MARK_LINE, "");
        for (size_t i = 0; i < n; i++)
            vec_push(&line->points, chart->layers.at[from].points.at[i]);
    }
    plot_value_axis(plot, at[0], &chart->x);
    plot_value_axis(plot, at[1], &chart->y);
    return 0;
}
