/* SPDX-License-Identifier: MIT */
/*
 * ranking.c — best trials first. A lucky run is not the best: where the search has a model of the
 * results, its choice comes before higher values.
 */
#include "cli/ranking.h"
#include "cli/output.h"
#include "cli/reasons.h"

#include <math.h>

struct ranked {
    const struct objective *objective;
    const struct outcome *row;
    size_t at;
    bool chosen;
};

/* Of equals the first. */
static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->chosen != y->chosen)
        return x->chosen ? -1 : 1;
    if (objective_better(x->objective, x->row->values[0], y->row->values[0]))
        return -1;
    if (objective_better(x->objective, y->row->values[0], x->row->values[0]))
        return 1;
    return x->row->number < y->row->number ? -1 : x->row->number > y->row->number;
}

static void order_by_value(struct ranking *ranking, const struct target *target)
{
    int64_t chosen = target->experiment.experiment.best_trial;
    VEC(struct ranked) list = {0};

    for (size_t i = 0; i < ranking->results.rows.len; i++) {
        const struct outcome *row = &ranking->results.rows.at[i];
        if (outcome_counts(row) && row->kept)
            vec_push(&list,
                     ((struct ranked){&target->spec.objective, row, i, row->number == chosen}));
    }
    if (list.len)
        qsort(list.at, list.len, sizeof(*list.at), by_value);
    vec_foreach (one, &list)
        vec_push(&ranking->order, one->at);
    vec_release(&list);
}

static void order_front(struct ranking *ranking, const struct target *target)
{
    autofree(mem) size_t *front = NULL;
    size_t n = results_front(&ranking->results, &target->spec, &front);

    for (size_t i = 0; i < n; i++)
        vec_push(&ranking->order, front[i]);
}

int ranking_load(struct store *store, const struct target *target, struct ranking *ret,
                 struct err *err)
{
    *ret = (struct ranking){0};
    int r = results_load(store, target, &ret->results, err);

    if (r < 0)
        return r;
    vec_foreach (row, &ret->results.rows) {
        ret->completed |= outcome_counts(row);
        ret->repeated |= row->repeat_of != 0;
    }
    if (target->spec.others.len)
        order_front(ret, target);
    else
        order_by_value(ret, target);
    return 0;
}

void ranking_release(struct ranking *ranking)
{
    vec_release(&ranking->order);
    results_release(&ranking->results);
}

const struct outcome *ranking_at(const struct ranking *ranking, size_t i)
{
    return &ranking->results.rows.at[ranking->order.at[i]];
}

size_t ranking_runs(const struct ranking *ranking, const struct outcome *row)
{
    int64_t first = row->repeat_of ? row->repeat_of : row->number;
    size_t n = 0;

    vec_foreach (other, &ranking->results.rows)
        n +=
            outcome_counts(other) && (other->repeat_of ? other->repeat_of : other->number) == first;
    return n;
}

bool ranking_has_model(const struct target *target, const struct outcome *row)
{
    const struct experiment *experiment = &target->experiment.experiment;
    return experiment->best_trial == row->number && isfinite(experiment->best_mean) &&
           isfinite(experiment->best_deviation);
}

static void front_words(const struct ranking *ranking, const struct target *target, struct str *to)
{
    long long completed = target->experiment.counts[TRIAL_COMPLETED];

    if (ranking->order.len == 1)
        str_addf(to, "1 of %lld completed trials beats or equals all others in every objective",
                 completed);
    else
        str_addf(to, "%zu of %lld completed trials are beaten by no other in all objectives",
                 ranking->order.len, completed);
}

void ranking_cover_words(const struct ranking *ranking, const struct target *target, struct str *to)
{
    struct cover cover =
        results_cover(&ranking->results, &target->spec, ranking->order.at, ranking->order.len);

    if (!isfinite(cover.volume) || !isfinite(cover.share))
        return;
    str_add(to, "hypervolume ");
    str_add_number(to, cover.volume);
    str_addf(to, ", %.3g%% of the box between the worst (", 100 * cover.share);
    for (size_t k = 0; k < ranking->results.n_objectives; k++) {
        str_add(to, k ? ", " : "");
        str_add_number(to, cover.reference[k]);
    }
    str_add(to, ") and the best of each objective");
}

void ranking_words(const struct ranking *ranking, const struct target *target, struct str *to)
{
    const struct experiment *experiment = &target->experiment.experiment;

    if (!ranking->order.len)
        return;
    if (ranking->results.n_objectives > 1) {
        front_words(ranking, target, to);
        return;
    }
    const struct outcome *row = ranking_at(ranking, 0);
    bool model = ranking_has_model(target, row);
    size_t runs = ranking_runs(ranking, row);
    if (!model && runs < 2)
        return;
    str_add(to, "best ");
    str_add_number(to, row->values[0]);
    str_add(to, " (");
    if (model) {
        str_add(to, "model ");
        str_add_interval(to, experiment->best_mean, experiment->best_deviation);
        str_add(to, ", ");
    }
    if (runs == 1)
        str_add(to, "run once");
    else
        str_addf(to, "run %zu times", runs);
    str_addf(to, "): trial %lld.%lld", (long long)experiment->id, (long long)row->number);
}
