/* SPDX-License-Identifier: MIT */
/*
 * workers.c — a trial whose workers each tell the objective: `train,worker=2 loss=0.4` is
 * "loss{worker=2}". The trial's value is the mean of what they told last, and the target is reached
 * when enough of them have reached it, each by the mean of its own last values.
 */
#include "engine/internal.h"

#include <math.h>

/* "loss{worker=2}" of "loss"? */
bool metric_of_worker(const struct run *run, const char *metric)
{
    const char *objective = run->spec.objective.metric;
    size_t n = objective ? strlen(objective) : 0;

    return n && strncmp(metric, objective, n) == 0 &&
           strncmp(metric + n, "{worker=", strlen("{worker=")) == 0;
}

static struct worker *worker_of(struct live *live, const char *metric)
{
    vec_foreach (worker, &live->workers)
        if (str_eq(worker->metric, metric))
            return worker;
    vec_push(&live->workers, ((struct worker){.metric = xstrdup(metric)}));
    return vec_last(&live->workers);
}

void recent_add(struct recent *recent, double value, const struct objective *objective)
{
    size_t n = (size_t)MAX(1, objective->average);

    if (recent->len >= 4 * n) {
        memmove(recent->at, vec_last(recent) - (n - 1), n * sizeof(value));
        recent->len = n;
    }
    vec_push(recent, value);
}

bool recent_reach(const struct recent *recent, const struct objective *objective)
{
    struct target target = {objective->target, objective->goal == GOAL_MAXIMIZE,
                            (size_t)MAX(1, objective->average)};
    return target_is_reached(&target, recent->at, recent->len);
}

struct agent_sample workers_add(struct live *live, const struct agent_sample *sample)
{
    const struct objective *objective = &live->run->spec.objective;
    struct worker *worker = worker_of(live, sample->metric);
    struct agent_sample mean = *sample;

    worker->last = sample->value;
    if (isfinite(sample->value))
        recent_add(&worker->recent, sample->value, objective);
    mean.metric = objective->metric;
    mean.value = 0;
    vec_foreach (one, &live->workers)
        mean.value += one->last / (double)live->workers.len;
    return mean;
}

/* As many as the configuration says, also before all were heard of. */
static size_t count_workers(const struct live *live)
{
    autofree(json) json_t *system =
        live->attempt.system ? json_loads(live->attempt.system, 0, NULL) : NULL;
    double said = json_number_value(json_object_get(system, "worker"));

    return MAX(live->workers.len, said >= 1 && said < 1e6 ? (size_t)said : 0);
}

bool workers_reach(const struct live *live)
{
    const struct objective *objective = &live->run->spec.objective;
    size_t there = 0;

    vec_foreach (worker, &live->workers)
        there += recent_reach(&worker->recent, objective);
    return there >= quorum_needs(objective->workers, live->workers.len) &&
           there >= quorum_needs(objective->workers, count_workers(live));
}

void workers_forget(struct live *live)
{
    vec_foreach (worker, &live->workers) {
        vec_release(&worker->recent);
        free(worker->metric);
    }
    live->workers.len = 0;
}
