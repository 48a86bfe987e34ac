/* SPDX-License-Identifier: MIT */
/*
 * told.c — the results of a run in the order in which the search was told them.
 *
 * A trial tells at its end; one that a rule pauses tells what it has by then, too, as if it were
 * stopped there, and takes that back with what it tells next. Both kinds are numbered together. The
 * number of an end is in the trial's row; what a paused trial told is in the event of its pause,
 * whole, since the trial goes on from there. So the rows alone bring the order back.
 */
#include "engine/internal.h"

#include <math.h>

/* ---- what paused trials told ---- */

bool told_of_pause(const struct run *run, int64_t trial, int64_t until)
{
    vec_foreach (pause, &run->ask.pauses)
        if (pause->trial == trial && pause->told <= until)
            return true;
    return false;
}

/* `numbers` are of the result and owned from now on. */
static const struct pause_result *add_pause(struct run *run, int64_t told, int64_t trial,
                                            struct result result, double *numbers)
{
    result.passing = true;
    result.replaces = told_of_pause(run, trial, told);
    vec_push(&run->ask.pauses, ((struct pause_result){told, trial, result, numbers}));
    return vec_last(&run->ask.pauses);
}

const struct pause_result *told_add_pause(struct run *run, int64_t told, const struct trial *trial)
{
    size_t n = run->spec.others.len + run->spec.constraints.len;
    double *numbers = xcalloc(n + 1, sizeof(*numbers));
    struct result result;

    result_of(run, trial, numbers, &result);
    return add_pause(run, told, trial->number, result, numbers);
}

void told_release(struct run *run)
{
    vec_foreach (pause, &run->ask.pauses)
        free(pause->numbers);
    vec_release(&run->ask.pauses);
}

/* ---- in the event of the pause, as the search counts ---- */

void told_put_pause(const struct run *run, const struct pause_result *pause, struct json_out *out)
{
    size_t n = run->spec.others.len + run->spec.constraints.len;

    json_put_int(out, "told", pause->told);
    json_key(out, "result");
    json_begin_object(out);
    json_put_known(out, "value", pause->result.value);
    json_put_double(out, "deviation", pause->result.deviation);
    json_put_known(out, "cost", pause->result.cost);
    json_key(out, "numbers");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        if (isfinite(pause->numbers[i]))
            json_double(out, pause->numbers[i]);
        else
            json_null_out(out);
    json_end_array(out);
    json_end_object(out);
}

static int read_pause(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct run *run = arg;
    autofree(json) json_t *event = NULL;
    size_t n_others = run->spec.others.len, n = n_others + run->spec.constraints.len;
    (void)id, (void)time_us;

    if (!str_starts(json, STORE_PAUSED) || json_parse(json, strlen(json), &event, NULL) < 0)
        return 0;
    int64_t told = json_get_int(event, "told", 0);
    const json_t *from = json_object_get(event, "result");
    if (told <= 0 || !from || trial < 1 || trial > (int64_t)run->trials.len ||
        !run->trials.at[trial - 1].experiment)
        return 0;
    double *numbers = xcalloc(n + 1, sizeof(*numbers));
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(json_object_get(from, "numbers"), i);
        numbers[i] = json_is_number(x) ? json_number_value(x) : NAN;
    }
    add_pause(run, told, trial,
              (struct result){.kind = RESULT_STOPPED,
                              .value = json_get_double(from, "value", NAN),
                              .deviation = json_get_double(from, "deviation", 0),
                              .others = n_others ? numbers : NULL,
                              .excess = n > n_others ? numbers + n_others : NULL,
                              .cost = json_get_double(from, "cost", NAN)},
              numbers);
    return 0;
}

int told_load(struct run *run, struct store *store, struct err *err)
{
    return MIN(store_pauses(store, run->experiment.id, read_pause, run, err), 0);
}

/* ---- the order ---- */

static bool has_result(const struct run *run, const struct trial *trial)
{
    return trial->experiment && trial_state_ended(trial->state) &&
           result_kind_of(run, trial) != RESULT_VOID;
}

static int by_number(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Ends that have no number (of an import by an older version) get those that are free. */
static void number_others(struct run *run, struct told_list *list)
{
    size_t numbered = list->len, k = 0;
    int64_t next = 1;

    vec_foreach (trial, &run->trials) {
        if (trial->told || !has_result(run, trial))
            continue;
        for (; k < numbered && list->at[k].number <= next; k++)
            next = MAX(next, list->at[k].number + 1);
        trial->told = next++;
        vec_push(list, ((struct told){trial->told, trial, NULL}));
    }
    if (list->len > numbered)
        qsort(list->at, list->len, sizeof(*list->at), by_number);
}

void told_order(struct run *run, struct told_list *ret)
{
    vec_foreach (trial, &run->trials)
        if (trial->told && has_result(run, trial))
            vec_push(ret, ((struct told){trial->told, trial, NULL}));
    vec_foreach (pause, &run->ask.pauses)
        vec_push(ret, ((struct told){pause->told, run_trial(run, pause->trial), pause}));
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(*ret->at), by_number);
    number_others(run, ret);
}

enum result_kind told_tell(struct run *run, const struct trial *trial,
                           const struct pause_result *pause)
{
    size_t n = run->spec.others.len + run->spec.constraints.len;
    autofree(mem) double *numbers = xcalloc(n + 1, sizeof(*numbers));
    struct result result;

    if (pause) {
        result = pause->result;
    } else {
        result_of(run, trial, numbers, &result);
        result.replaces = told_of_pause(run, trial->number, INT64_MAX);
    }
    search_tell(run->search, trial->point, &result);
    return result.kind;
}
