/* SPDX-License-Identifier: MIT */
/*
 * tuning_log.c — the events of tuning, found in those of an experiment once and then by trial.
 */
#include "api/tuning.h"

#include <stdlib.h>

bool tuning_is_event(const json_t *event)
{
    const char *name = json_get_text(event, "event", "");
    return str_eq(name, "tuned") || str_eq(name, "changed") || str_eq(name, "tune_note") ||
           str_eq(name, "answered") || str_eq(name, "pinned");
}

struct loading {
    struct tuning_log *log;
    int64_t trial; /* 0: all */
};

static int on_event(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct loading *loading = arg;
    autofree(json) json_t *event = NULL;

    if ((loading->trial && trial != loading->trial) ||
        json_parse(json, strlen(json), &event, NULL) < 0 || !tuning_is_event(event))
        return 0;
    vec_push(&loading->log->events, ((struct tuning_event){trial, id, time_us, xstrdup(json)}));
    return 0;
}

static int by_trial(const void *a, const void *b)
{
    const struct tuning_event *x = a, *y = b;
    if (x->trial != y->trial)
        return x->trial < y->trial ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

int tuning_log_load(struct tuning_log *log, struct store *store, int64_t experiment, int64_t trial,
                    struct err *err)
{
    struct loading loading = {log, trial};
    int r = store_events(store, experiment, 0, 0, on_event, &loading, err);

    if (log->events.len)
        qsort(log->events.at, log->events.len, sizeof(*log->events.at), by_trial);
    return r;
}

void tuning_log_release(struct tuning_log *log)
{
    vec_foreach (event, &log->events)
        free(event->json);
    vec_release(&log->events);
}

const struct tuning_event *tuning_log_find(const struct tuning_log *log, int64_t trial,
                                           size_t *ret_n)
{
    size_t low = 0, high = log->events.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->events.at[middle].trial < trial)
            low = middle + 1;
        else
            high = middle;
    }
    for (*ret_n = 0; low + *ret_n < log->events.len; ++*ret_n)
        if (log->events.at[low + *ret_n].trial != trial)
            break;
    return *ret_n ? &log->events.at[low] : NULL;
}
