/* SPDX-License-Identifier: MIT */
/*
 * record.c — samples go into the store of series. Rows wait here only while the disk is full.
 */
#include "engine/record.h"

#include "base/log.h"
#include "series/gather.h"

#include <errno.h>

struct waiting { /* a row that found no room */
    struct series_source source;
    struct series_row row; /* its arrays are one piece of memory, at `values` */
};

struct record {
    struct series_db *db;
    struct gather gather;
    VEC(struct waiting) waiting;
    bool unsynced;
    size_t told; /* of the store's notes */
};

static void waiting_release(struct waiting *waiting)
{
    free((void *)waiting->row.values);
}

static void wait_for_room(struct record *record, const struct series_source *source,
                          const struct series_row *row)
{
    size_t values = row->n * sizeof(*row->values), names = row->n * sizeof(*row->names);
    char *memory = xmalloc(values + names);
    struct waiting waiting = {.source = *source, .row = *row};

    waiting.row.values = memcpy(memory, row->values, values);
    waiting.row.names = memcpy(memory + values, row->names, names);
    vec_push(&record->waiting, waiting);
}

static void put(const struct series_source *source, const struct series_row *row, void *arg)
{
    struct record *record = arg;

    if (record->waiting.len || series_db_append(record->db, source, row, 1, NULL) < 0)
        wait_for_room(record, source, row);
    record->unsynced = true;
}

/* What the store found wrong and mended, or left out, is said once. */
static void tell_notes(struct record *record)
{
    const char *const *notes = series_db_notes(record->db);

    for (; notes[record->told]; record->told++)
        log_warn("series: %s", notes[record->told]);
}

int record_open(const char *home, struct record **ret, struct err *err)
{
    struct series_db *db = NULL;
    int r = series_db_open(home, SERIES_WRITE, &db, err);

    if (r < 0)
        return r;
    struct record *record = xcalloc(1, sizeof(*record));
    record->db = db;
    tell_notes(record);
    gather_init(&record->gather, db, put, record);
    *ret = record;
    return 0;
}

void record_free(struct record *record)
{
    vec_foreach (waiting, &record->waiting)
        waiting_release(waiting);
    vec_release(&record->waiting);
    gather_release(&record->gather);
    series_db_free(record->db);
    free(record);
}

struct series_db *record_db(struct record *record)
{
    return record->db;
}

static struct gather_sample told_by(const struct agent_sample *sample, int64_t step)
{
    return (struct gather_sample){.metric = sample->metric,
                                  .step = step,
                                  .time_ns = sample_time_ns(sample->time_us, sample->ns),
                                  .value = sample->value,
                                  .rest = sample->rest};
}

void record_samples(struct record *record, const struct attempt *attempt,
                    const struct agent_event *event)
{
    struct series_source source = {attempt->experiment, attempt->trial, attempt->number,
                                   SERIES_METRICS};

    for (size_t i = 0; i < event->n_samples; i++) {
        const struct agent_sample *sample = &event->samples[i];
        source.file = (enum series_file)sample->file;
        struct gather_sample told = told_by(sample, sample->step);
        gather_sample(&record->gather, &source, sample->end, &told);
    }
    gather_end(&record->gather);
}

void record_figures(struct record *record, const struct attempt *attempt,
                    const struct agent_event *event)
{
    struct series_source source = {.file = SERIES_SYSTEM};

    if (attempt)
        source = (struct series_source){attempt->experiment, attempt->trial, attempt->number,
                                        SERIES_SYSTEM};
    for (size_t i = 0; i < event->n_samples; i++) {
        const struct agent_sample *sample = &event->samples[i];
        struct gather_sample told = told_by(sample, STEP_NONE);
        gather_sample(&record->gather, &source, 0, &told);
    }
    gather_end(&record->gather);
}

static int put_waiting(struct record *record, struct err *err)
{
    size_t done = 0;
    int r = 0;

    for (; done < record->waiting.len; done++) {
        struct waiting *waiting = &record->waiting.at[done];
        r = series_db_append(record->db, &waiting->source, &waiting->row, 1, err);
        if (r < 0)
            break;
        waiting_release(waiting);
    }
    size_t left = record->waiting.len - done;
    if (done)
        memmove(record->waiting.at, record->waiting.at + done, left * sizeof(*record->waiting.at));
    record->waiting.len = left;
    return r;
}

int record_flush(struct record *record, struct err *err)
{
    int r = record->waiting.len ? put_waiting(record, err) : 0;

    tell_notes(record);
    return r < 0 ? r : series_db_flush(record->db, err);
}

bool record_unsynced(const struct record *record)
{
    return record->unsynced;
}

int record_sync(struct record *record, struct err *err)
{
    int r = record->waiting.len ? -ENOSPC : series_db_sync_begin(record->db, err);

    if (r == -ENOSPC)
        return 0; /* said by the flush, which is tried again */
    record->unsynced = r != 0;
    return MIN(r, 0);
}
