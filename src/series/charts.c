/* SPDX-License-Identifier: MIT */
/*
 * charts.c — the cache of pictures and of traces. The caller's thread finds and makes the entries;
 * then workers take one picture after the other and bring it up to date, with the trace of its line
 * where there is one, so no entry is touched by two of them.
 *
 * A line of which a second view is asked for gets a trace: who zooms, moves or smooths asks for
 * many, and most of a drawing's time goes into reading.
 */
#include "series/charts.h"

#include "base/map.h"
#include "base/rng.h"
#include "series/drawing.h"
#include "series/seconds.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define ALONE_US    10000 /* of its own time, so that others on the machine change nothing */
#define LOOK_LINES  8 /* after so many, or so many values, it is asked whether that time is over */
#define LOOK_VALUES 32768
#define ASKED_MAX   100000
#define TRACE_SHARE 64 /* of the memory for all: one trace's */
#define TRACE_POINT (2 * sizeof(double))

/* All of what it is a picture of, but the metric. No holes: it is hashed as it lies. */
struct key {
    int64_t experiment, trial;
    uint64_t x0, x1, weight, scale; /* the bits of doubles */
    uint64_t width;
    uint32_t x;
    uint16_t bands, trace;
};
struct entry {
    struct key key;
    uint64_t hash;
    struct drawing drawing; /* a picture, or a trace */
    uint64_t used;          /* by which call */
};
struct charts {
    VEC(struct series_db *) dbs; /* one for each thread */
    VEC(struct entry *) entries;
    struct map places; /* hash → entry */
    struct map asked;  /* hashes of what was told and not kept → anything */
    struct drawing scratch;
    size_t max_bytes;
    uint64_t calls;
    _Atomic uint64_t drawn, grown, values;
};

/* ---- the entries ---- */

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static struct key key_of(const struct charts_ask *ask, const struct charts_line *line)
{
    return (struct key){.experiment = line->experiment,
                        .trial = line->trial,
                        .x0 = bits_of(ask->view.x0),
                        .x1 = bits_of(ask->view.x1),
                        .weight = bits_of(ask->weight),
                        .scale = bits_of(ask->scale),
                        .width = ask->view.width,
                        .x = ask->x,
                        .bands = ask->bands};
}

static struct key key_of_trace(const struct charts_ask *ask, const struct charts_line *line)
{
    return (struct key){line->experiment, line->trial, .x = ask->x, .trace = true};
}

static uint64_t hash_of(const struct key *key, const char *metric)
{
    _Static_assert(sizeof(*key) == 64, "no holes");
    return hash_bytes(key, sizeof(*key), hash_bytes(metric, strlen(metric), 0));
}

/* Two keys with one hash: the second is kept under the next number. NULL: *hash is free. */
static struct entry *find_entry(const struct charts *charts, const struct key *key,
                                const char *metric, uint64_t *hash)
{
    struct entry *entry;

    while ((entry = map_find(&charts->places, *hash)) &&
           (memcmp(&entry->key, key, sizeof(*key)) != 0 || !str_eq(entry->drawing.metric, metric)))
        ++*hash;
    return entry;
}

static struct entry *add_entry(struct charts *charts, const struct key *key, uint64_t hash,
                               const struct charts_ask *ask, const struct charts_line *line)
{
    struct entry *entry = xcalloc(1, sizeof(*entry));

    entry->key = *key;
    entry->hash = hash;
    if (key->trace)
        drawing_init_trace(&entry->drawing, ask, line,
                           MAX(charts->max_bytes / TRACE_SHARE / TRACE_POINT, (size_t)1));
    else
        drawing_init(&entry->drawing, ask, line);
    vec_push(&charts->entries, entry);
    map_put(&charts->places, hash, entry);
    return entry;
}

/* Is it the first time that it is asked for? */
static bool is_first(struct charts *charts, uint64_t hash)
{
    if (map_remove(&charts->asked, hash))
        return false;
    if (charts->asked.used >= ASKED_MAX) {
        map_release(&charts->asked);
        charts->asked = (struct map)MAP_INIT;
    }
    map_put(&charts->asked, hash, charts);
    return true;
}

/* `always`: also what was never asked for before; else NULL for that. */
static struct entry *take_entry(struct charts *charts, struct key key, const struct charts_ask *ask,
                                const struct charts_line *line, bool always)
{
    uint64_t hash = hash_of(&key, line->metric);
    struct entry *entry = find_entry(charts, &key, line->metric, &hash);

    if (!entry && (always || !is_first(charts, hash)))
        entry = add_entry(charts, &key, hash, ask, line);
    return entry;
}

/* `another`: it is for a view that was not asked for before. NULL: there is none yet. */
static struct entry *take_trace(struct charts *charts, const struct charts_ask *ask,
                                const struct charts_line *line, bool another)
{
    struct key key = key_of_trace(ask, line);
    uint64_t hash = hash_of(&key, line->metric);

    if (!another)
        return find_entry(charts, &key, line->metric, &hash);
    struct entry *trace = take_entry(charts, key, ask, line, false);
    if (trace && !trace->used)
        trace->used = charts->calls;
    return trace;
}

static void update(struct charts *charts, struct series_db *db, struct drawing *drawing,
                   struct entry *trace)
{
    uint64_t before = drawing->values;
    enum drawing_done done = drawing_update(drawing, db, trace ? &trace->drawing : NULL);

    if (done == DRAWING_SAME)
        return;
    if (trace && done == DRAWING_DRAWN)
        trace->used = charts->calls;
    atomic_fetch_add(done == DRAWING_GREW ? &charts->grown : &charts->drawn, 1);
    atomic_fetch_add(&charts->values, drawing->values - before);
}

static void entry_free(struct entry *entry)
{
    drawing_release(&entry->drawing);
    free(entry);
}

static size_t bytes_of(const struct entry *entry)
{
    const struct drawing *drawing = &entry->drawing;

    return sizeof(*entry) + drawing->cap * TRACE_POINT +
           (drawing->chart ? query_chart_bytes(drawing->chart) : 0);
}

static size_t sum_bytes(const struct charts *charts)
{
    size_t bytes = 0;

    vec_foreach (entry, &charts->entries)
        bytes += bytes_of(*entry);
    return bytes;
}

/* The call by which the least recently used ones were. */
static uint64_t oldest_use(const struct charts *charts)
{
    uint64_t used = charts->calls;

    vec_foreach (entry, &charts->entries)
        used = MIN(used, (*entry)->used);
    return used;
}

/* Those of a call, as many as must go; returns what all take then. */
static size_t evict_use(struct charts *charts, uint64_t used, size_t bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < charts->entries.len; i++) {
        struct entry *entry = charts->entries.at[i];
        if (entry->used != used || bytes <= charts->max_bytes) {
            charts->entries.at[kept++] = entry;
            continue;
        }
        bytes -= bytes_of(entry);
        map_remove(&charts->places, entry->hash);
        entry_free(entry);
    }
    charts->entries.len = kept;
    return bytes;
}

static void evict(struct charts *charts)
{
    size_t bytes = sum_bytes(charts);
    uint64_t used;

    while (bytes > charts->max_bytes && (used = oldest_use(charts)) < charts->calls)
        bytes = evict_use(charts, used, bytes);
}

/* ---- many at once ---- */

struct work {
    struct charts *charts;
    struct entry **entries;
    struct entry **traces; /* of each; NULL: none */
    size_t n;
    _Atomic size_t next;
};
struct worker {
    struct work *work;
    struct series_db *db;
    pthread_t thread;
    bool started;
};

static int64_t thread_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Until all is done, or until the time. */
static void take_entries(struct work *work, struct series_db *db, int64_t until_us)
{
    size_t i;

    while ((i = atomic_fetch_add(&work->next, 1)) < work->n) {
        update(work->charts, db, &work->entries[i]->drawing, work->traces[i]);
        if (thread_us() >= until_us)
            return;
    }
}

static void *run_worker(void *arg)
{
    const struct worker *worker = arg;

    take_entries(worker->work, worker->db, INT64_MAX);
    return NULL;
}

/* The caller's thread is the first of them. The others are begun when it has had enough to do: most
 * questions are answered by then, and a thread costs more than it saves. */
static void run_all(struct work *work)
{
    struct charts *charts = work->charts;
    size_t n = MIN(charts->dbs.len, work->n);
    autofree(mem) struct worker *workers = xcalloc(n + 1, sizeof(*workers));

    if (n > 1)
        take_entries(work, charts->dbs.at[0], thread_us() + ALONE_US);
    for (size_t i = 0; i < n; i++) {
        workers[i] = (struct worker){.work = work, .db = charts->dbs.at[i]};
        workers[i].started = i > 0 && atomic_load(&work->next) < work->n &&
                             pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
    }
    if (n)
        run_worker(&workers[0]);
    for (size_t i = 1; i < n; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

static int check_ask(const struct charts_ask *ask, struct err *err)
{
    if (!(ask->weight >= 0 && ask->weight < 1))
        return err_set(err, EINVAL, "smoothing: from 0 to below 1, not %g", ask->weight);
    if (!(ask->scale >= 0 && isfinite(ask->scale)))
        return err_set(err, EINVAL, "smoothing: a distance of 0 or more, not %g", ask->scale);
    return query_view_check(&ask->view, err);
}

/* The same line twice is one entry: it is given to one worker only. */
static void gather_entries(struct work *work, const struct charts_ask *ask,
                           const struct charts_line *lines, size_t n, struct entry **ret_all)
{
    struct charts *charts = work->charts;

    for (size_t i = 0; i < n; i++) {
        struct entry *entry = take_entry(charts, key_of(ask, &lines[i]), ask, &lines[i], true);
        if (entry->used != charts->calls) {
            work->traces[work->n] = take_trace(charts, ask, &lines[i], !entry->used);
            work->entries[work->n++] = entry;
        }
        entry->used = charts->calls;
        ret_all[i] = entry;
    }
}

static int refresh(struct charts *charts, struct err *err)
{
    int r = 0;

    vec_foreach (db, &charts->dbs)
        if (r >= 0)
            r = series_db_refresh(*db, err);
    return r;
}

int charts_draw(struct charts *charts, const struct charts_ask *ask,
                const struct charts_line *lines, size_t n, const struct query_chart **ret,
                struct err *err)
{
    int r = check_ask(ask, err);

    if (r < 0)
        return r;
    r = refresh(charts, err);
    if (r < 0)
        return r;
    charts->calls++;
    autofree(mem) struct entry **all = xcalloc(n + 1, sizeof(struct entry *));
    autofree(mem) struct entry **once = xcalloc(n + 1, sizeof(struct entry *));
    autofree(mem) struct entry **traces = xcalloc(n + 1, sizeof(struct entry *));
    struct work work = {.charts = charts, .entries = once, .traces = traces};
    gather_entries(&work, ask, lines, n, all);
    run_all(&work);
    for (size_t i = 0; i < n; i++)
        ret[i] = all[i]->drawing.chart;
    evict(charts);
    return 0;
}

/* ---- one after the other ---- */

static const struct query_chart *draw_one(struct charts *charts, const struct charts_ask *ask,
                                          const struct charts_line *line)
{
    struct entry *entry = take_entry(charts, key_of(ask, line), ask, line, false);
    struct entry *trace = take_trace(charts, ask, line, !entry);
    struct drawing *drawing = entry ? &entry->drawing : &charts->scratch;

    if (entry)
        entry->used = charts->calls;
    else
        drawing_restart(drawing, ask, line);
    update(charts, charts->dbs.at[0], drawing, trace);
    return drawing->chart;
}

/* At the clock, which costs as much as some lines that are there already. */
static bool is_time_to_look(const struct charts *charts, size_t line, uint64_t *looked)
{
    uint64_t values = atomic_load(&charts->values);

    if (line % LOOK_LINES && values - *looked < LOOK_VALUES)
        return false;
    *looked = values;
    return true;
}

/* What takes long goes on as charts_draw() does it, by all threads. */
static int tell_rest(struct charts *charts, const struct charts_ask *ask,
                     const struct charts_line *lines, size_t from, size_t n, charts_fn *fn,
                     void *arg, struct err *err)
{
    autofree(mem) const struct query_chart **drawn = xcalloc(n + 1, sizeof(*drawn));
    int r = charts_draw(charts, ask, lines + from, n - from, drawn, err);

    for (size_t i = from; r == 0 && i < n; i++)
        fn(drawn[i - from], i, arg);
    return r;
}

int charts_tell(struct charts *charts, const struct charts_ask *ask,
                const struct charts_line *lines, size_t n, charts_fn *fn, void *arg,
                struct err *err)
{
    int64_t until_us = thread_us() + ALONE_US;
    int r = check_ask(ask, err);

    assert(!ask->bands);
    if (r == 0)
        r = series_db_refresh(charts->dbs.at[0], err);
    if (r < 0)
        return r;
    charts->calls++;
    uint64_t looked = atomic_load(&charts->values);
    for (size_t i = 0; i < n; i++) {
        if (charts->dbs.len > 1 && is_time_to_look(charts, i, &looked) && thread_us() >= until_us)
            return tell_rest(charts, ask, lines, i, n, fn, arg, err);
        fn(draw_one(charts, ask, &lines[i]), i, arg);
    }
    evict(charts);
    return 0;
}

/* ---- extents ---- */

static bool extent_of(struct series_db *db, enum charts_x x, const struct charts_line *line,
                      double *ret_x0, double *ret_x1)
{
    uint32_t name = series_db_name(db, line->metric, strlen(line->metric));
    struct course found;
    int64_t first, last;

    course_find(db, line->experiment, line->trial, name, &found);
    bool any = x == CHARTS_STEP ? course_steps(&found, &first, &last)
                                : course_times(&found, &first, &last);
    course_release(&found);
    if (!any)
        return false;
    if (x == CHARTS_RELATIVE) {
        *ret_x0 = 0;
        *ret_x1 = (double)((uint64_t)last - (uint64_t)first) / 1e9;
    } else { /* as drawing.c has them: the ends lie in the view */
        *ret_x0 = x == CHARTS_STEP ? (double)first : seconds_of(first);
        *ret_x1 = x == CHARTS_STEP ? (double)last : seconds_of(last);
    }
    return true;
}

bool charts_extent(struct charts *charts, enum charts_x x, const struct charts_line *lines,
                   size_t n, double *ret_x0, double *ret_x1)
{
    bool any = false;

    *ret_x0 = INFINITY;
    *ret_x1 = -INFINITY;
    if (series_db_refresh(charts->dbs.at[0], NULL) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        double x0, x1;
        if (!extent_of(charts->dbs.at[0], x, &lines[i], &x0, &x1))
            continue;
        any = true;
        *ret_x0 = fmin(*ret_x0, x0);
        *ret_x1 = fmax(*ret_x1, x1);
    }
    return any;
}

/* ---- the cache ---- */

int charts_open(const char *home, size_t threads, size_t max_bytes, struct charts **ret,
                struct err *err)
{
    autofree(charts) struct charts *charts = xcalloc(1, sizeof(*charts));

    charts->max_bytes = max_bytes;
    for (size_t i = 0; i < MAX(threads, 1); i++) {
        struct series_db *db = NULL;
        int r = series_db_open(home, SERIES_READ, &db, err);
        if (r < 0)
            return r;
        vec_push(&charts->dbs, db);
    }
    *ret = TAKE(charts);
    return 0;
}

void charts_free(struct charts *charts)
{
    if (!charts)
        return;
    vec_foreach (entry, &charts->entries)
        entry_free(*entry);
    vec_foreach (db, &charts->dbs)
        series_db_free(*db);
    drawing_release(&charts->scratch);
    map_release(&charts->places);
    map_release(&charts->asked);
    vec_release(&charts->entries);
    vec_release(&charts->dbs);
    free(charts);
}

struct charts_counts charts_counts(const struct charts *charts)
{
    size_t traces = 0;

    vec_foreach (entry, &charts->entries)
        traces += (*entry)->key.trace;
    return (struct charts_counts){.drawn = atomic_load(&charts->drawn),
                                  .grown = atomic_load(&charts->grown),
                                  .values = atomic_load(&charts->values),
                                  .kept = charts->entries.len - traces,
                                  .traces = traces,
                                  .bytes = sum_bytes(charts)};
}
