/* SPDX-License-Identifier: MIT */
/*
 * metrics_page.c — gathers what the page tells. Bounded: the newest EXPERIMENTS experiments; last
 * values only of trials that run.
 */
#include "api/metrics_page.h"
#include "api/rows.h"
#include "spec/parse.h"

#define EXPERIMENTS 200

struct running {
    struct prometheus_trial trial;
    VEC(struct prometheus_value) metrics;
};
struct told {
    struct prometheus_experiment experiment;
    VEC(struct running) running;
    VEC(struct prometheus_trial) trials; /* the same as the page wants them */
};
struct gathering {
    struct store *store;
    struct series_db *series;
    struct arena arena; /* of all texts */
    VEC(struct told) experiments;
    VEC(struct prometheus_experiment) list;
    VEC(struct prometheus_value) figures;
};

static const char *objective_of(struct gathering *all, const char *spec_json)
{
    struct spec spec;
    const char *metric = NULL;

    spec_init(&spec);
    if (spec_json && spec_parse(spec_json, strlen(spec_json), "stored spec", "/", NULL, &spec, NULL,
                                NULL) == 0) {
        metric = arena_strdup(&all->arena, spec.objective.metric);
    }
    spec_release(&spec);
    return metric;
}

struct scope { /* what is being read */
    struct gathering *all;
    struct told *told;
    struct running *running;
};

static int add_metric(int64_t trial, const struct summary *summary, void *arg)
{
    struct scope *scope = arg;
    struct prometheus_value value = {arena_strdup(&scope->all->arena, summary->metric),
                                     summary->last};
    (void)trial;
    vec_push(&scope->running->metrics, value);
    return 0;
}

static int add_running(const struct attempt *attempt, void *arg)
{
    struct scope *scope = arg;
    struct running running = {.trial = {.number = attempt->trial}};

    vec_push(&scope->told->running, running);
    return 0;
}

static int add_experiment(const struct experiment_row *row, void *arg)
{
    struct gathering *all = arg;
    struct told told = {.experiment = {
                            .id = row->experiment.id,
                            .name = arena_strdup(&all->arena, row->experiment.name),
                            .state = shown_row_state(row, /* engine= */ true),
                            .objective = objective_of(all, row->experiment.spec_json),
                            .best = row->best_value,
                        }};

    for (int i = 0; i < TRIAL_STATES; i++)
        told.experiment.trials[i] = (uint64_t)row->counts[i];
    vec_push(&all->experiments, told);
    return 0;
}

static void add_trials(struct gathering *all, struct told *told)
{
    struct scope scope = {.all = all, .told = told};
    int64_t id = told->experiment.id;

    if (told->experiment.state != EXPERIMENT_RUNNING)
        return;
    store_attempts(all->store, id, 0, true, add_running, &scope, NULL);
    vec_foreach (running, &told->running) {
        scope.running = running;
        store_summaries(all->store, id, running->trial.number, add_metric, &scope, NULL);
        running->trial.metrics = running->metrics.at;
        running->trial.n_metrics = running->metrics.len;
        vec_push(&told->trials, running->trial);
    }
    told->experiment.running = told->trials.at;
    told->experiment.n_running = told->trials.len;
}

static int add_figure(const struct series_info *info, void *arg)
{
    struct gathering *all = arg;
    struct prometheus_value value = {series_db_name_text(all->series, info->name),
                                     info->stats.last};

    if (info->source.file == SERIES_SYSTEM)
        vec_push(&all->figures, value);
    return 0;
}

static void release(struct gathering *all)
{
    vec_foreach (told, &all->experiments) {
        vec_foreach (running, &told->running)
            vec_release(&running->metrics);
        vec_release(&told->running);
        vec_release(&told->trials);
    }
    vec_release(&all->experiments);
    vec_release(&all->list);
    vec_release(&all->figures);
    arena_release(&all->arena);
}

void metrics_page(struct store *store, struct series_db *series, int64_t started_us,
                  const struct prometheus_ingest *ingest, struct str *to)
{
    struct gathering all = {.store = store, .series = series};

    store_experiments(store, EXPERIMENTS, add_experiment, &all, NULL);
    vec_foreach (told, &all.experiments) {
        add_trials(&all, told);
        vec_push(&all.list, told->experiment);
    }
    series_db_list(series, 0, 0, SERIES_NAME_NONE, add_figure, &all);
    prometheus_text(&(struct prometheus_view){.version = HONE_VERSION,
                                              .started_us = started_us,
                                              .experiments = all.list.at,
                                              .n_experiments = all.list.len,
                                              .figures = all.figures.at,
                                              .n_figures = all.figures.len,
                                              .ingest = ingest},
                    to);
    release(&all);
}
