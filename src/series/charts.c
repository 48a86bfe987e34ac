/* SPDX-License-Identifier: MIT */
/*
 * charts.c — the cache of pictures. The caller's thread finds and makes the entries; then workers
 * take one after the other and bring it up to date, so no entry is touched by two of them.
 *
 * New values are those behind the last one drawn: with steps that never fall, these are the rows at
 * the last step that were not there before (`ties` were), and those behind it. If the count of rows
 * then differs from what the store has, steps fell or rows are lost: the picture is drawn anew.
 */
#include "series/charts.h"

#include "base/rng.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct entry {
    char *key; /* all of what it is a picture of */
    uint64_t hash;
    struct charts_ask ask;
    struct series_source source;
    char *metric;
    struct query_chart *chart; /* NULL: not drawn yet */
    struct query_smooth smooth;
    struct series_info seen; /* what the store said of it then */
    uint64_t rows, ties;     /* drawn; those of them at `last` */
    int64_t last, next;      /* the last x, as it is stored; the next step to count */
    bool grows;              /* all rows have an x of their own, which never falls */
    uint64_t used;           /* by which call */
    size_t bytes;
};
struct charts {
    VEC(struct series_db *) dbs; /* one for each thread */
    VEC(struct entry *) entries;
    size_t max_bytes;
    uint64_t calls;
    _Atomic uint64_t drawn, grown, values;
};

/* ---- feeding ---- */

struct feeding {
    struct entry *entry;
    uint64_t skip; /* rows at the last step that are drawn */
    bool append, falls;
    VEC(double) x; /* all of them, where they must be sorted */
    VEC(double) y;
    bool sort;
};

/* False: it has none, and is left out. */
static bool x_of(struct entry *entry, const struct series_chunk *chunk, size_t i, int64_t *ret)
{
    bool time = entry->ask.x == CHARTS_TIME;
    int64_t x = time ? chunk->times_ns[i] : chunk->steps[i];

    if (x == INT64_MIN) {
        entry->grows = false;
        x = entry->next;
    }
    if (!time && x >= entry->next && x < INT64_MAX)
        entry->next = x + 1;
    *ret = x;
    return !time || chunk->times_ns[i] != INT64_MIN;
}

static double to_double(const struct entry *entry, int64_t x)
{
    return entry->ask.x == CHARTS_TIME ? (double)x / 1e9 : (double)x;
}

/* Is the row drawn already? */
static bool is_old(struct feeding *feeding, const struct series_chunk *chunk, size_t i)
{
    const struct entry *entry = feeding->entry;

    if (!feeding->append)
        return false;
    int64_t x = entry->ask.x == CHARTS_TIME ? chunk->times_ns[i] : chunk->steps[i];
    if (x == entry->last && feeding->skip) {
        feeding->skip--;
        return true;
    }
    return x < entry->last;
}

/* `scratch` is for n values; it may be y. */
static void feed(struct entry *entry, const double *x, const double *y, size_t n, double *scratch)
{
    bool smooth = entry->smooth.weight > 0 || entry->smooth.scale > 0;

    if (smooth)
        query_smooth_feed(&entry->smooth, x, y, n, scratch);
    query_chart_feed(entry->chart, x, smooth ? scratch : y, n);
}

static void note_x(struct entry *entry, int64_t x)
{
    entry->ties = x == entry->last ? entry->ties + 1 : 1;
    entry->last = x;
}

static int feed_rows(struct feeding *feeding, const struct series_chunk *chunk)
{
    struct entry *entry = feeding->entry;
    double x[BLOCK_VALUES], y[BLOCK_VALUES];
    size_t n = 0;

    for (size_t i = 0; i < chunk->n; i++) {
        int64_t at;
        if (is_old(feeding, chunk, i))
            continue;
        entry->rows++;
        if (!x_of(entry, chunk, i, &at))
            continue;
        x[n] = to_double(entry, at);
        if (!feeding->sort && entry->ties && at < entry->last) {
            feeding->falls = true;
            return 1;
        }
        note_x(entry, at);
        y[n++] = chunk->values[i];
    }
    for (size_t i = 0; feeding->sort && i < n; i++) {
        vec_push(&feeding->x, x[i]);
        vec_push(&feeding->y, y[i]);
    }
    if (!feeding->sort)
        feed(entry, x, y, n, y);
    return 0;
}

/* As doubles. False: one has none, or it falls. */
static bool to_rising(const int64_t *from, size_t n, int64_t last, bool time, double *ret)
{
    int64_t before = MAX(last, INT64_MIN + 1);
    bool falls = false;

    for (size_t i = 0; i < n; i++) {
        falls |= from[i] < before;
        before = from[i];
        ret[i] = (double)before;
    }
    for (size_t i = 0; time && i < n; i++)
        ret[i] /= 1e9;
    return !falls;
}

/* Nearly all chunks are new from their first row and rise: these are drawn as they are. */
static bool feed_whole(const struct feeding *feeding, const struct series_chunk *chunk)
{
    struct entry *entry = feeding->entry;
    bool time = entry->ask.x == CHARTS_TIME;
    const int64_t *from = time ? chunk->times_ns : chunk->steps;
    double x[BLOCK_VALUES], scratch[BLOCK_VALUES];
    size_t n = chunk->n;

    if (feeding->append || feeding->sort || !n || !to_rising(from, n, entry->last, time, x))
        return false;
    feed(entry, x, chunk->values, n, scratch);
    entry->rows += n;
    entry->ties = from[n - 1] == entry->last ? entry->ties : 0;
    for (size_t i = n; i > 0 && from[i - 1] == from[n - 1]; i--)
        entry->ties++;
    entry->last = from[n - 1];
    if (!time && entry->last >= entry->next && entry->last < INT64_MAX)
        entry->next = entry->last + 1;
    return true;
}

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct feeding *feeding = arg;

    return feed_whole(feeding, chunk) ? 0 : feed_rows(feeding, chunk);
}

/* ---- drawing ---- */

struct finding {
    const struct series_source *source;
    struct series_info found; /* count 0: none */
};

static int on_info(const struct series_info *info, void *arg)
{
    struct finding *finding = arg;
    const struct series_source *a = &info->source, *b = finding->source;

    if (a->attempt == b->attempt && a->file == b->file)
        finding->found = *info;
    return 0;
}

static struct series_info find_info(struct series_db *db, const struct entry *entry, uint32_t name)
{
    struct finding finding = {.source = &entry->source};

    if (name != SERIES_NAME_NONE)
        series_db_list(db, entry->source.experiment, entry->source.trial, name, on_info, &finding);
    return finding.found;
}

static bool same_bits(double a, double b)
{
    uint64_t x, y;

    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x == y;
}

/* One that was dropped and told anew begins otherwise, or at another time. */
static bool begins_alike(const struct series_info *a, const struct series_info *b)
{
    return same_bits(a->stats.first, b->stats.first) && a->first_step == b->first_step &&
           a->first_ns == b->first_ns;
}

static bool is_same(const struct series_info *a, const struct series_info *b)
{
    return a->stats.count == b->stats.count && begins_alike(a, b) &&
           same_bits(a->stats.last, b->stats.last) && a->stats.sum == b->stats.sum &&
           a->stats.squares == b->stats.squares && a->last_step == b->last_step &&
           a->last_ns == b->last_ns;
}

static void begin(struct entry *entry)
{
    if (entry->chart)
        query_chart_free(entry->chart);
    entry->chart = query_chart_new(&entry->ask.view);
    entry->smooth = (struct query_smooth){.weight = entry->ask.weight, .scale = entry->ask.scale};
    entry->rows = entry->ties = 0;
    entry->next = 0;
    entry->last = INT64_MIN;
    entry->grows = true;
}

static void draw_sorted(struct series_db *db, struct entry *entry, uint32_t name)
{
    struct feeding feeding = {.entry = entry, .sort = true};

    begin(entry);
    entry->grows = false;
    series_db_read(db, &entry->source, name, &series_all, on_chunk, &feeding);
    query_sort(feeding.x.at, feeding.y.at, feeding.x.len);
    feed(entry, feeding.x.at, feeding.y.at, feeding.x.len, feeding.y.at);
    vec_release(&feeding.x);
    vec_release(&feeding.y);
}

static void draw(struct charts *charts, struct series_db *db, struct entry *entry, uint32_t name)
{
    struct feeding feeding = {.entry = entry};

    begin(entry);
    series_db_read(db, &entry->source, name, &series_all, on_chunk, &feeding);
    if (feeding.falls)
        draw_sorted(db, entry, name);
    atomic_fetch_add(&charts->drawn, 1);
    atomic_fetch_add(&charts->values, entry->rows);
}

/* False: that was not all. */
static bool grow(struct charts *charts, struct series_db *db, struct entry *entry,
                 const struct series_info *now)
{
    struct feeding feeding = {.entry = entry, .skip = entry->ties, .append = true};
    struct series_range range = series_all;
    uint64_t before = entry->rows;

    if (!entry->chart || !entry->grows || !entry->ties || now->stats.count <= before ||
        !begins_alike(&entry->seen, now))
        return false;
    *(entry->ask.x == CHARTS_TIME ? &range.min_ns : &range.min_step) = entry->last;
    series_db_read(db, &entry->source, now->name, &range, on_chunk, &feeding);
    if (feeding.falls || !entry->grows || entry->rows != now->stats.count)
        return false;
    atomic_fetch_add(&charts->grown, 1);
    atomic_fetch_add(&charts->values, entry->rows - before);
    return true;
}

static void update(struct charts *charts, struct series_db *db, struct entry *entry)
{
    uint32_t name = series_db_name(db, entry->metric, strlen(entry->metric));
    struct series_info now = find_info(db, entry, name);
    size_t pieces;

    if (entry->chart && is_same(&entry->seen, &now))
        return;
    if (!now.stats.count)
        begin(entry);
    else if (!grow(charts, db, entry, &now))
        draw(charts, db, entry, name);
    entry->seen = now;
    query_chart_pieces(entry->chart, &pieces);
    entry->bytes = sizeof(*entry) + entry->ask.view.width * sizeof(struct query_column) +
                   pieces * sizeof(struct query_piece) * 3 / 2;
}

/* ---- the entries ---- */

static char *key_of(const struct charts_ask *ask, const struct charts_line *line)
{
    const struct series_source *source = &line->source;

    return xasprintf("%lld.%lld.%lld.%d %d %a %a %zu %a %a %s", (long long)source->experiment,
                     (long long)source->trial, (long long)source->attempt, (int)source->file,
                     (int)ask->x, ask->view.x0, ask->view.x1, ask->view.width, ask->weight,
                     ask->scale, line->metric);
}

/* A few hundred at most: they are looked through. */
static struct entry *find_entry(const struct charts *charts, const char *key, uint64_t hash)
{
    vec_foreach (entry, &charts->entries)
        if ((*entry)->hash == hash && str_eq((*entry)->key, key))
            return *entry;
    return NULL;
}

static struct entry *take_entry(struct charts *charts, const struct charts_ask *ask,
                                const struct charts_line *line)
{
    autofree(mem) char *key = key_of(ask, line);
    uint64_t hash = hash_bytes(key, strlen(key), 0);
    struct entry *entry = find_entry(charts, key, hash);

    if (!entry) {
        entry = xcalloc(1, sizeof(*entry));
        entry->key = TAKE(key);
        entry->hash = hash;
        entry->ask = *ask;
        entry->source = line->source;
        entry->metric = xstrdup(line->metric);
        vec_push(&charts->entries, entry);
    }
    entry->used = charts->calls;
    return entry;
}

static void entry_free(struct entry *entry)
{
    if (entry->chart)
        query_chart_free(entry->chart);
    free(entry->metric);
    free(entry->key);
    free(entry);
}

static size_t sum_bytes(const struct charts *charts)
{
    size_t bytes = 0;

    vec_foreach (entry, &charts->entries)
        bytes += (*entry)->bytes;
    return bytes;
}

/* The least recently used one, out of the list; NULL: all are of this call. */
static struct entry *take_oldest(struct charts *charts)
{
    size_t n = charts->entries.len, oldest = n;
    uint64_t used = charts->calls;

    for (size_t i = 0; i < n; i++)
        if (charts->entries.at[i]->used < used) {
            used = charts->entries.at[i]->used;
            oldest = i;
        }
    if (oldest == n)
        return NULL;
    struct entry *entry = charts->entries.at[oldest];
    charts->entries.at[oldest] = charts->entries.at[n - 1];
    charts->entries.at[n - 1] = NULL;
    charts->entries.len--;
    return entry;
}

static void evict(struct charts *charts)
{
    struct entry *entry;

    while (sum_bytes(charts) > charts->max_bytes && (entry = take_oldest(charts)))
        entry_free(entry);
}

/* ---- many at once ---- */

struct work {
    struct charts *charts;
    struct entry **entries;
    size_t n;
    _Atomic size_t next;
};
struct worker {
    struct work *work;
    struct series_db *db;
    pthread_t thread;
    bool started;
};

static void *run_worker(void *arg)
{
    const struct worker *worker = arg;
    struct work *work = worker->work;
    size_t i;

    while ((i = atomic_fetch_add(&work->next, 1)) < work->n)
        update(work->charts, worker->db, work->entries[i]);
    return NULL;
}

/* The caller's thread is one of them. */
static void run_all(struct work *work)
{
    struct charts *charts = work->charts;
    size_t n = MIN(charts->dbs.len, work->n);
    autofree(mem) struct worker *workers = xcalloc(n + 1, sizeof(*workers));

    for (size_t i = 0; i < n; i++) {
        workers[i] = (struct worker){.work = work, .db = charts->dbs.at[i]};
        workers[i].started =
            i > 0 && pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
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
static size_t gather_entries(struct charts *charts, const struct charts_ask *ask,
                             const struct charts_line *lines, size_t n, struct entry **ret,
                             const struct query_chart **ret_charts)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct entry *entry = take_entry(charts, ask, &lines[i]);
        bool twice = false;
        for (size_t k = 0; k < kept && !twice; k++)
            twice = ret[k] == entry;
        if (!twice)
            ret[kept++] = entry;
        ret_charts[i] = NULL;
    }
    return kept;
}

int charts_draw(struct charts *charts, const struct charts_ask *ask,
                const struct charts_line *lines, size_t n, const struct query_chart **ret,
                struct err *err)
{
    int r = check_ask(ask, err);

    if (r < 0)
        return r;
    charts->calls++;
    vec_foreach (db, &charts->dbs)
        if (r >= 0)
            r = series_db_refresh(*db, err);
    if (r < 0)
        return r;
    autofree(mem) struct entry **entries = xcalloc(n + 1, sizeof(struct entry *));
    struct work work = {.charts = charts, .entries = entries};
    work.n = gather_entries(charts, ask, lines, n, entries, ret);
    run_all(&work);
    for (size_t i = 0; i < n; i++)
        ret[i] = take_entry(charts, ask, &lines[i])->chart;
    evict(charts);
    return 0;
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
    vec_release(&charts->entries);
    vec_release(&charts->dbs);
    free(charts);
}

struct charts_counts charts_counts(const struct charts *charts)
{
    return (struct charts_counts){.drawn = atomic_load(&charts->drawn),
                                  .grown = atomic_load(&charts->grown),
                                  .values = atomic_load(&charts->values),
                                  .kept = charts->entries.len,
                                  .bytes = sum_bytes(charts)};
}
