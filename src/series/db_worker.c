/* SPDX-License-Identifier: MIT */
/*
 * db_worker.c — sealing and merging on threads of their own, at most one of each. A worker reads
 * what no longer changes and writes new files; only the owner's thread changes the handle, when it
 * looks. A seal that failed loses nothing: its log is still there, and it is tried again.
 */
#include "series/inside.h"
#include "series/merge_plan.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define RETRY_BYTES                                                                                \
    (1u << 20) /* after a failed seal, look again when the log has grown so much                   \
                */

static void *work(void *arg)
{
    struct job *job = arg;

    if (job->kind == JOB_SEAL)
        job->result = seal_memory(&job->folder, job->layer->memory, &job->err);
    else
        job->result = seal_merge(&job->folder, job->inputs.at, job->inputs.len, job->first,
                                 job->last, job->keep_drops, &job->err);
    job->done = true;
    return NULL;
}

static void job_free(struct job *job)
{
    vec_foreach (input, &job->inputs)
        free((void *)(uintptr_t)input->dropped);
    vec_release(&job->inputs);
    vec_release(&job->layers);
    err_release(&job->err);
    free(job);
}

/* Signals are for the owner's thread, but for the one of pages that were lost (mapping.c). */
static bool job_start(struct job *job)
{
    sigset_t all, before;

    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&job->thread, NULL, work, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0;
}

static struct job *job_new(const struct series_db *db, enum job_kind kind)
{
    struct job *job = xcalloc(1, sizeof(*job));

    job->kind = kind;
    job->folder = (struct seal_folder){db->dir_fd, db->io};
    return job;
}

/* ---- taking over what was made ---- */
static struct layer *open_sealed(struct series_db *db, uint64_t first, uint64_t last,
                                 struct err *err)
{
    char name[SEAL_NAME_SIZE];
    struct segment *segment = NULL;

    seal_name(name, first, last);
    if (segment_open(db->dir_fd, db->folder, name, &db->intern, db_note_fn, db, &segment, err) < 0)
        return NULL;
    struct layer *layer = layer_new(first, last);
    layer->segment = segment;
    return layer;
}

static int take_seal(struct series_db *db, struct job *job)
{
    char name[SEAL_NAME_SIZE];
    struct layer *made = NULL;

    if (job->result > 0) {
        made = open_sealed(db, job->layer->first, job->layer->last, &job->err);
        job->result = made ? 0 : -job->err.code;
    }
    if (job->result < 0)
        return job->result;
    wal_name(name, job->layer->first);
    unlinkat(db->dir_fd, name, 0);
    db_layer_remove(db, job->layer);
    if (made)
        db_layer_insert(db, made);
    return 0;
}

/* What cannot be opened must not stand for what it was made of: that is still there. */
static void forget_merged(struct series_db *db, const struct job *job)
{
    char name[SEAL_NAME_SIZE];

    vec_foreach (layer, &job->layers)
        if ((*layer)->first == job->first && (*layer)->last == job->last)
            return; /* it has taken the place of the only one */
    seal_name(name, job->first, job->last);
    unlinkat(db->dir_fd, name, 0);
}

static int take_merge(struct series_db *db, struct job *job)
{
    char name[SEAL_NAME_SIZE];
    struct layer *made = NULL;

    if (job->result > 0) {
        made = open_sealed(db, job->first, job->last, &job->err);
        job->result = made ? 0 : -job->err.code;
        if (!made)
            forget_merged(db, job);
    }
    if (job->result < 0)
        return job->result;
    vec_foreach (layer, &job->layers) {
        seal_name(name, (*layer)->first, (*layer)->last);
        if (!made || (*layer)->first != made->first || (*layer)->last != made->last)
            unlinkat(db->dir_fd, name, 0);
        db_layer_remove(db, *layer);
    }
    if (made)
        db_layer_insert(db, made);
    return 0;
}

static int take(struct series_db *db, struct job *job)
{
    int r = job->kind == JOB_SEAL ? take_seal(db, job) : take_merge(db, job);

    if (r < 0)
        db_note(db, "%s: %s; it will be tried again", db->folder, err_text(&job->err));
    db->retry_at = r < 0 ? db->log.at + RETRY_BYTES : 0;
    return r;
}

static int finish(struct series_db *db, struct job **slot, bool wait, struct err *err)
{
    struct job *job = *slot;

    if (!job || (!wait && !job->done))
        return 0;
    pthread_join(job->thread, NULL);
    *slot = NULL;
    int r = take(db, job);
    if (r < 0)
        err_set(err, -r, "%s", err_text(&job->err));
    job_free(job);
    return r;
}

/* ---- what is to do ---- */
static struct layer *oldest_frozen(const struct series_db *db)
{
    for (size_t i = 0; i + 1 < db->layers.len; i++)
        if (db->layers.at[i]->memory)
            return db->layers.at[i];
    return NULL;
}

/* What could not be opened is kept: a segment made of both its neighbours would cover its numbers,
 * and the next open would take it for left over. */
static bool lie_together(const struct series_db *db, const struct layer *a, const struct layer *b)
{
    vec_foreach (number, &db->left_out)
        if (*number > a->last && *number < b->first)
            return false;
    return true;
}

typedef size_t plan_fn(const struct merge_piece *pieces, size_t n, size_t *ret_from);

static size_t find_run(const struct series_db *db, plan_fn *plan, size_t *ret_from)
{
    struct layer *const *at = db->layers.at;
    autofree(mem) struct merge_piece *pieces = xcalloc(db->layers.len + 1, sizeof(*pieces));

    for (size_t i = 0; i < db->layers.len; i++)
        pieces[i] = (struct merge_piece){.bytes = at[i]->segment ? at[i]->segment->size : 0,
                                         .fixed = !at[i]->segment,
                                         .apart = i > 0 && !lie_together(db, at[i - 1], at[i])};
    return plan(pieces, db->layers.len, ret_from);
}

double db_dropped_share(const struct series_db *db, const struct layer *layer)
{
    uint32_t sources = layer->segment ? segment_sources(layer->segment) : 0, dropped = 0;

    for (uint32_t i = 0; i < sources; i++) {
        struct series_source key = segment_key(layer->segment, i);
        dropped += directory_dropped(&db->directory, &key, layer);
    }
    return (double)dropped / MAX(sources, 1);
}

/* A segment that is to a good part of what was removed: writing it anew is worth it. */
static size_t find_dropped(const struct series_db *db, size_t *ret_from)
{
    for (size_t i = 0; i < db->layers.len; i++)
        if (db_dropped_share(db, db->layers.at[i]) >= DROPPED_WORTH) {
            *ret_from = i;
            return 1;
        }
    return 0;
}

static struct job *merge_job(const struct series_db *db, size_t from, size_t n)
{
    struct job *job = job_new(db, JOB_MERGE);

    job->first = db->layers.at[from]->first;
    job->last = db->layers.at[from + n - 1]->last;
    job->keep_drops = from > 0 || db->left_out.len > 0;
    for (size_t i = from; i < from + n; i++) {
        struct layer *layer = db->layers.at[i];
        uint32_t sources = segment_sources(layer->segment);
        bool *dropped = xcalloc(sources + 1, sizeof(*dropped));
        for (uint32_t j = 0; j < sources; j++) {
            struct series_source key = segment_key(layer->segment, j);
            dropped[j] = directory_dropped(&db->directory, &key, layer);
        }
        struct merge_input input = {layer->segment, dropped};
        vec_push(&job->inputs, input);
        vec_push(&job->layers, layer);
    }
    return job;
}

static void start_merge(struct series_db *db)
{
    size_t from = 0, n = find_run(db, merge_plan, &from);

    if (!n)
        n = find_dropped(db, &from);
    if (!n)
        return;
    db->merging = merge_job(db, from, n);
    if (!job_start(db->merging)) {
        job_free(db->merging);
        db->merging = NULL;
    }
}

static void start_seal(struct series_db *db, struct layer *layer)
{
    db->sealing = job_new(db, JOB_SEAL);
    db->sealing->layer = layer;
    if (!job_start(db->sealing)) {
        job_free(db->sealing);
        db->sealing = NULL;
    }
}

/* The log is full: begin another, so that this one can be sealed. */
static void freeze(struct series_db *db)
{
    if (db->log.at + db->log.buffer.len < db->log_bytes || db->log.at < db->retry_at)
        return;
    if (db_log_write(db, NULL) == 0)
        db_log_begin(db, NULL);
}

void db_workers_look(struct series_db *db)
{
    finish(db, &db->merging, false, NULL);
    finish(db, &db->sealing, false, NULL);
    if (!db->merging)
        db_reopen_lost(db);
    if (!db->sealing) {
        freeze(db);
        struct layer *layer = oldest_frozen(db);
        if (layer && db->log.at >= db->retry_at)
            start_seal(db, layer);
    }
    if (db->merge_due && !db->merging) {
        db->merge_due = false;
        start_merge(db);
    }
}

int db_workers_wait(struct series_db *db, struct err *err)
{
    finish(db, &db->merging, true, NULL);
    return finish(db, &db->sealing, true, err);
}

/* ---- here and now ---- */
static int run_here(struct series_db *db, struct job *job, struct err *err)
{
    work(job);
    int r = take(db, job);
    if (r < 0)
        err_set(err, -r, "%s", err_text(&job->err));
    job_free(job);
    return r;
}

int db_seal_frozen(struct series_db *db, struct err *err)
{
    struct layer *layer;
    int r = 0;

    db_workers_wait(db, NULL);
    while (r == 0 && (layer = oldest_frozen(db))) {
        struct job *job = job_new(db, JOB_SEAL);
        job->layer = layer;
        r = run_here(db, job, err);
    }
    return r;
}

static int merge_small(struct series_db *db, struct err *err)
{
    size_t from = 0, n = find_run(db, merge_plan_small, &from);
    int r = n ? run_here(db, merge_job(db, from, n), err) : 0;

    for (size_t i = 0; r == 0 && i < db->layers.len; i++)
        if (db_dropped_share(db, db->layers.at[i]) > 0) {
            r = run_here(db, merge_job(db, i, 1), err);
            i = SIZE_MAX; /* the list has changed */
        }
    return r;
}

int db_seal_all(struct series_db *db, struct err *err)
{
    db_workers_wait(db, NULL);
    int r = db_log_write(db, err);
    struct layer *active = db_active(db);

    if (r == 0 && (active->memory->sources.len || active->memory->drops.len))
        r = db_log_begin(db, err);
    return r < 0 ? r : db_seal_frozen(db, err);
}

int series_db_seal(struct series_db *db, struct err *err)
{
    if (db->mode != SERIES_WRITE)
        return err_set(err, EROFS, "%s was opened for reading", db->folder);
    return db->log.at < LOG_SMALL ? 0 : db_seal_all(db, err);
}

int series_db_compact(struct series_db *db, struct err *err)
{
    if (db->mode != SERIES_WRITE)
        return err_set(err, EROFS, "%s was opened for reading", db->folder);
    int r = db_seal_all(db, err);
    return r < 0 ? r : merge_small(db, err);
}
