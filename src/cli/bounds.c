/* SPDX-License-Identifier: MIT */
/*
 * bounds.c — a constraint that nothing keeps, or a metric that never comes, is said: a search for
 * the best of nothing would end without a word.
 */
#include "cli/bounds.h"
#include "cli/output.h"

#include <math.h>

void bounds_add(struct str *to, const struct constraint *constraint)
{
    str_addf(to, "%s %s ", constraint->metric, constraint->at_least ? ">=" : "<=");
    str_add_number(to, constraint->bound);
}

bool bounds_broken(const struct spec *spec, const struct trial *trial, struct str *to)
{
    size_t before = to->len;

    for (size_t i = 0; i < spec->constraints.len; i++) {
        const struct constraint *constraint = &spec->constraints.at[i];
        double x = trial_bounded(spec, trial, i);
        if (constraint_kept(constraint, x) || (isnan(x) && trial->state != TRIAL_COMPLETED))
            continue;
        str_add(to, to->len > before ? ", " : "");
        bounds_add(to, constraint);
        if (isnan(x)) {
            str_addf(to, " (%s was not reported)", constraint->metric);
        } else {
            str_add(to, " (it is ");
            str_add_number(to, x);
            str_add(to, ")");
        }
    }
    return to->len > before;
}

/* ---- no trial is the best ---- */

/* How the completed trials stand to one constraint. */
struct standing {
    size_t completed, known, kept;
    double nearest;
};

static struct standing standing_of(const struct results *results, const struct constraint *bound,
                                   size_t i)
{
    struct standing standing = {.nearest = NAN};

    vec_foreach (row, &results->rows) {
        double x = row->bounded[i];
        if (!outcome_counts(row))
            continue;
        standing.completed++;
        standing.known += !isnan(x);
        standing.kept += constraint_kept(bound, x);
        standing.nearest = bound->at_least ? fmax(standing.nearest, x) : fmin(standing.nearest, x);
    }
    return standing;
}

static void add_standing(const struct results *results, const struct constraint *bound, size_t i,
                         struct str *to)
{
    struct standing standing = standing_of(results, bound, i);

    bounds_add(to, bound);
    if (!standing.known) {
        str_addf(to, " (no trial reported %s)", bound->metric);
    } else if (!standing.kept) {
        str_addf(to, " (the %s is ", bound->at_least ? "highest" : "lowest");
        str_add_number(to, standing.nearest);
        str_add(to, ")");
    } else {
        str_addf(to, " (%zu of %zu do)", standing.kept, standing.completed);
    }
}

/* Objectives that no completed trial has. */
static void add_missing(const struct results *results, const struct spec *spec, struct str *to)
{
    for (size_t k = 1; k < results->n_objectives; k++) {
        bool seen = false;
        vec_foreach (row, &results->rows)
            seen |= outcome_counts(row) && isfinite(row->values[k]);
        if (!seen)
            str_addf(to, ": no trial reported %s", objective_at(spec, k)->metric);
    }
}

void bounds_lack(const struct results *results, const struct spec *spec, struct str *to)
{
    bool kept = false;

    vec_foreach (row, &results->rows)
        kept |= outcome_counts(row) && row->kept;
    if (kept) {
        str_add(to, "no trial has all objectives");
        add_missing(results, spec, to);
        return;
    }
    str_add(to, "no trial keeps its constraints: ");
    for (size_t i = 0; i < spec->constraints.len; i++) {
        str_add(to, i ? ", " : "");
        add_standing(results, &spec->constraints.at[i], i, to);
    }
}
