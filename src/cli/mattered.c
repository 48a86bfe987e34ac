/* SPDX-License-Identifier: MIT */
/*
 * mattered.c — the shares of search/importance.h as bars, largest first; small ones are left out.
 */
#include "cli/mattered.h"
#include "cli/table.h"
#include "cli/width.h"
#include "search/importance.h"

#include <math.h>

#define ROWS_MAX    6
#define SHARE_MIN   0.02
#define BAR_COLUMNS 20

struct results {
    VEC(double) points, values;
};

static int collect(const struct trial_row *row, void *arg)
{
    struct results *results = arg;
    if (row->trial.state != TRIAL_COMPLETED || !isfinite(row->trial.value))
        return 0;
    for (size_t i = 0; i < row->ndim; i++)
        vec_push(&results->points, row->trial.point[i]);
    vec_push(&results->values, row->trial.value);
    return 0;
}

struct share {
    const char *name;
    double share;
};

static int by_share(const void *a, const void *b)
{
    double x = ((const struct share *)a)->share, y = ((const struct share *)b)->share;
    return (x < y) - (x > y);
}

static void print_rows(const struct share *rows, size_t n, bool colour)
{
    size_t width = 14;

    for (size_t i = 0; i < n; i++)
        width = MAX(width, text_width(rows[i].name));
    printf("\n%swhat mattered%s (share of the spread that each explains alone)\n",
           colour_on(colour, BOLD), colour_off(colour, BOLD));
    for (size_t i = 0; i < n; i++) {
        printf("  %s%*s ", rows[i].name, (int)(width - text_width(rows[i].name)), "");
        for (int k = 0; k < (int)(rows[i].share * BAR_COLUMNS + 0.5); k++)
            fputs("█", stdout);
        printf(" %.0f%%\n", rows[i].share * 100);
    }
}

void mattered_print(struct store *store, const struct target *target, bool colour)
{
    const struct space *space = &target->spec.space;
    struct trial_query query = {.experiment = target->experiment.experiment.id, .bare = true};
    autofree(mem) double *shares = xcalloc(space->n + 1, sizeof(*shares));
    autofree(mem) struct share *rows = xcalloc(space->n + 1, sizeof(*rows));
    struct results results = {{0}, {0}};
    size_t n = 0;

    if (!target->spec.objective.metric)
        return;
    store_trials(store, &query, collect, &results, NULL);
    if (importance(space, results.points.at, results.values.at, results.values.len, shares) >= 0)
        for (size_t i = 0; i < space->n; i++)
            if (shares[i] >= SHARE_MIN)
                rows[n++] = (struct share){space->params[i].name, shares[i]};
    qsort(rows, n, sizeof(*rows), by_share);
    if (n)
        print_rows(rows, MIN(n, (size_t)ROWS_MAX), colour);
    vec_release(&results.points);
    vec_release(&results.values);
}
