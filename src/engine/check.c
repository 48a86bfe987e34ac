/* SPDX-License-Identifier: MIT */
/*
 * check.c — everything that always holds, asserted. Tests call it after every event.
 */
#include "engine/internal.h"

#include <math.h>

#define HOLDS(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "engine_check: %s:%d: %s does not hold\n", __FILE__, __LINE__, #what); \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void check_trial(struct run *run, const struct trial *trial)
{
    size_t live = 0, waiting = 0, parked = 0;

    vec_foreach (l, &run->live)
        live += (*l)->attempt.trial == trial->number;
    vec_foreach (w, &run->waiting)
        waiting += w->trial == trial->number;
    vec_foreach (curve, &run->parked)
        parked += curve->trial == trial->number;
    HOLDS(live + parked == (trial->state == TRIAL_RUNNING || trial->state == TRIAL_PAUSED));
    HOLDS(!parked || trial->state == TRIAL_PAUSED);
    HOLDS(waiting == (trial->state == TRIAL_QUEUED));
    HOLDS(space_contains(&run->spec.space, trial->point));
    HOLDS(trial->retries <= run->spec.retries);
    HOLDS(!trial_state_ended(trial->state) || trial->ended_us);
    HOLDS(trial->state != TRIAL_COMPLETED || !run->spec.objective.metric || isfinite(trial->value));
}

static int64_t count_known(const struct run *run)
{
    int64_t n = 0;

    vec_foreach (trial, &run->trials)
        n += trial->told > 0;
    return n;
}

static void check_ask(struct run *run)
{
    const struct ask *ask = &run->ask;

    HOLDS(run->search || (!ask->job && !ask->ready));
    HOLDS(!ask->untold.len || ask->job);
    HOLDS(count_known(run) + (int64_t)ask->pauses.len <= ask->told);
    HOLDS(ask->best_told <= ask->told);
    vec_foreach (trial, &run->trials) {
        HOLDS(trial->told <= ask->told);
        HOLDS(!trial->told || trial_state_ended(trial->state));
        HOLDS(trial->seen <= ask->told);
        HOLDS(trial->repeat_of < trial->number);
    }
    vec_foreach (it, &ask->untold)
        HOLDS(it->pause ? it->pause <= ask->pauses.len
                        : trial_state_ended(run_trial(run, it->trial)->state));
    vec_foreach (pause, &ask->pauses)
        HOLDS(pause->told <= ask->told);
}

static void check_run(struct run *run)
{
    int64_t counts[TRIAL_STATES] = {0};

    vec_foreach (trial, &run->trials) {
        HOLDS(trial->number == trial - run->trials.at + 1);
        if (!trial->experiment)
            continue; /* it was removed */
        HOLDS(trial->experiment == run->experiment.id);
        counts[trial->state]++;
        check_trial(run, trial);
    }
    HOLDS(memcmp(counts, run->counts, sizeof(counts)) == 0);
    HOLDS((int64_t)run->trials.len <= run->budget);
    HOLDS(!run->spec.parallel || run->counts[TRIAL_RUNNING] <= run->spec.parallel);
    HOLDS(run->experiment.state == EXPERIMENT_RUNNING || run->closing);
    HOLDS(!run->best || run_trial(run, run->best)->state == TRIAL_COMPLETED);
    HOLDS(!run->best || trial_feasible(run, run_trial(run, run->best)));
    HOLDS(!run->best || run->record);
    check_ask(run);
    vec_foreach (live, &run->live) {
        const struct attempt *attempt = &(*live)->attempt;
        HOLDS((*live)->run == run);
        HOLDS(attempt->state != ATTEMPT_ENDED);
        HOLDS(attempt->number == run_trial(run, attempt->trial)->attempts);
        HOLDS(map_find(&run->engine->live, (uint64_t)attempt->id) == *live);
        HOLDS(attempt->id < run->engine->next_attempt);
        /* Who stands still has given its cpus back; a turn is asked for where the other is wanted.
         */
        const struct trial *trial = run_trial(run, attempt->trial);
        HOLDS(!(*live)->paused || trial->state == TRIAL_PAUSED);
        HOLDS(!(*live)->paused || (*live)->grant.demand.cpus == 0);
        HOLDS((*live)->asked != REASON_NONE || attempt->state == ATTEMPT_STARTING ||
              !turn_paused((*live)->turn) || trial->state == TRIAL_PAUSED);
    }
}

/* What running attempts hold is what the machine says is used. */
static void check_machine(const struct engine *engine)
{
    double cpus = 0;
    uint64_t mem = 0, gpus = 0;
    bool adopted = false;

    vec_foreach (run, &engine->runs)
        vec_foreach (live, &(*run)->live) {
            adopted = adopted || (*live)->adopted;
            cpus += (*live)->grant.demand.cpus;
            mem += (*live)->grant.demand.mem_bytes;
            HOLDS(!(gpus & (*live)->grant.gpu_mask));
            gpus |= (*live)->grant.gpu_mask;
        }
    HOLDS(fabs(cpus - engine->machine.cpus_used) < 1e-6);
    HOLDS(mem == engine->machine.mem_used);
    for (int i = 0; i < engine->machine.n_gpus; i++)
        HOLDS(engine->machine.gpu_used[i] == !!(gpus & (1ULL << i)));
    /* What was adopted may come from a time when the machine had more. */
    HOLDS(adopted || engine->machine.cpus_used <= engine->machine.cpus + 1e-6);
}

void engine_check(const struct engine *engine)
{
    size_t live = 0;

    vec_foreach (run, &engine->runs) {
        check_run(*run);
        live += (*run)->live.len;
    }
    HOLDS(live == engine->live.len);
    check_machine(engine);
}
