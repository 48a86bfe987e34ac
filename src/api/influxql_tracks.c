/* SPDX-License-Identifier: MIT */
/*
 * influxql_tracks.c — rows of functions. Each leaf becomes a track: its values by time, for every
 * bucket, for the whole range, or of points that were transformed. A row is made of what tracks
 * have at the same time.
 *
 *     points ──► buckets ──► filled ──► transformed ──► track ─┐
 *     points ───────────────────────► transformed ──► track ───┴──► rows
 */
#include "api/influxql_rows.h"

#include <errno.h>

struct entry { /* of a leaf: its value at a time */
    int64_t time_ns;
    double value;
    uint16_t rest;
    bool null;
};
struct track {
    struct points points;   /* that it is made of, by time, or … */
    struct whole whole;     /* … what was seen of them, … */
    struct buckets buckets; /* … also by buckets */
    struct entry *at;       /* a VEC */
    size_t len, cap;
    bool nothing; /* there are points, but the function makes nothing of them */
};

static int64_t floor_to(int64_t ns, int64_t interval, int64_t offset)
{
    int64_t rest = (int64_t)(((__int128)ns - offset) % interval);
    __int128 floor = (__int128)ns - (rest < 0 ? rest + interval : rest);
    return floor < INT64_MIN ? INT64_MIN : (int64_t)floor;
}

/* The call that makes one value of many; NULL: points are transformed as they are. */
static const struct term *aggregate_of(const struct term *leaf)
{
    while (leaf->kind == TERM_CALL && function_transforms(leaf->function))
        leaf = leaf->args[0];
    return leaf->kind == TERM_CALL ? leaf : NULL;
}

/* The one series that is the leaf's; NULL: there are several. */
static const struct picked *only_series(const struct picked *picked, size_t n,
                                        const struct leaf *leaf)
{
    const struct picked *only = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!leaf_reads(leaf, &picked[i]))
            continue;
        if (only)
            return NULL;
        only = &picked[i];
    }
    return only;
}

/* How many there are, from the one of first_ns on. */
static __int128 plan_buckets(const struct select_run *run, const struct leaf *leaf,
                             int64_t first_ns, int64_t *ret_first)
{
    const struct statement *s = run->statement;
    struct range range = range_of(run, transform_reach(leaf->term));
    int64_t last = floor_to(range.max_ns, s->interval_ns, s->offset_ns);

    *ret_first = floor_to(s->has_min ? range.min_ns : first_ns, s->interval_ns, s->offset_ns);
    return last < *ret_first ? 0 : ((__int128)last - *ret_first) / s->interval_ns + 1;
}

/* Of one series, into buckets that are known beforehand. -EILSEQ: that cannot be done. */
static int load_buckets(const struct select_run *run, const struct picked *picked, size_t n,
                        const struct leaf *leaf, struct track *track)
{
    const struct statement *s = run->statement;
    const struct term *call = aggregate_of(leaf->term);
    const struct picked *only = only_series(picked, n, leaf);

    if (!s->interval_ns || !s->has_min || !call || !whole_can(call->function) || !only ||
        leaf->whole || s->by_fields)
        return -EILSEQ;
    __int128 buckets = plan_buckets(run, leaf, 0, &track->buckets.first_ns);
    if (buckets > BUCKETS_MAX || track->buckets.first_ns == INT64_MIN)
        return -EILSEQ;
    track->buckets.interval_ns = s->interval_ns;
    track->buckets.len = (size_t)buckets;
    return buckets_fill(run, only, range_of(run, transform_reach(leaf->term)), call->function,
                        &track->buckets);
}

static int load_track(struct select_run *run, const struct picked *picked, size_t n,
                      const struct leaf *leaf, struct track *track, struct err *err)
{
    struct range range = range_of(run, transform_reach(leaf->term));
    int r = load_buckets(run, picked, n, leaf, track);

    if (r != -EILSEQ)
        return r < 0 ? err_errno(err, -r, "reading") : 0;
    r = 0;
    const struct statement *s = run->statement;
    bool whole =
        !s->interval_ns && !s->by_fields && !leaf->whole && whole_can(leaf->term->function);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (leaf_reads(leaf, &picked[i]))
            r = whole ? look_at_points(run, &picked[i], &track->whole, err)
                      : load_points(run, &picked[i], range, &track->points, err);
    points_sort(&track->points, false);
    vec_foreach (point, &track->points)
        point->value = leaf_value(leaf, point->value);
    return r;
}

static double percent_of(const struct term *call)
{
    return call->n_args > 1 ? call->args[1]->number : 0;
}

/* ---- buckets ---- */

/* Of the i-th; it has its place in 64 bits, i × interval may not. */
static int64_t bucket_begin(int64_t first_ns, size_t i, int64_t interval_ns)
{
    return (int64_t)((uint64_t)first_ns + i * (uint64_t)interval_ns);
}

/* The first of rising points that is not before `until`. */
static size_t end_of_bucket(const struct points *points, size_t at, int64_t begin, int64_t interval)
{
    while (at < points->len && (__int128)points->at[at].time_ns - begin < interval)
        at++;
    return at;
}

static void bucket_entries(const struct select_run *run, const struct term *call, int64_t first,
                           size_t buckets, struct track *track)
{
    int64_t interval = run->statement->interval_ns;
    size_t at = 0;

    while (at < track->points.len && track->points.at[at].time_ns < first)
        at++;
    vec_reserve(track, buckets);
    for (size_t b = 0; b < buckets; b++) {
        struct entry entry = {.time_ns = bucket_begin(first, b, interval)};
        size_t from = at;
        at = end_of_bucket(&track->points, at, entry.time_ns, interval);
        struct point chosen = {.time_ns = 0};
        entry.null = at == from || !function_apply(call->function, percent_of(call),
                                                   track->points.at + from, at - from, &chosen);
        entry.value = chosen.value;
        entry.rest = chosen.rest;
        track->at[track->len++] = entry;
    }
}

static void filled_entries(const struct term *call, struct track *track)
{
    const struct buckets *buckets = &track->buckets;

    vec_reserve(track, buckets->len);
    for (size_t b = 0; b < buckets->len; b++) {
        struct entry entry = {.time_ns = bucket_begin(buckets->first_ns, b, buckets->interval_ns)};
        entry.null = !buckets_apply(buckets, b, call->function, &entry.value);
        track->at[track->len++] = entry;
    }
}

/* Between the neighbours of a gap; a gap at an end stays. */
static void fill_linear(struct track *track)
{
    size_t last = track->len;

    for (size_t i = 0; i < track->len; i++) {
        if (track->at[i].null)
            continue;
        for (size_t k = last + 1; last < track->len && k < i; k++) {
            double before = track->at[last].value, share = (double)(k - last) / (double)(i - last);
            track->at[k].value = before + share * (track->at[i].value - before);
            track->at[k].null = false;
        }
        last = i;
    }
}

static bool all_null(const struct track *track)
{
    vec_foreach (entry, track)
        if (!entry->null)
            return false;
    return true;
}

static void drop_nulls(struct track *track)
{
    size_t n = 0;

    vec_foreach (entry, track)
        if (!entry->null)
            track->at[n++] = *entry;
    track->len = n;
}

static void fill_track(const struct statement *s, enum function function, struct track *track)
{
    struct entry previous = {.null = true};

    if (s->fill == FILL_LINEAR)
        fill_linear(track);
    if (s->fill == FILL_NONE)
        drop_nulls(track);
    vec_foreach (entry, track) {
        if (!entry->null)
            previous = *entry;
        if (!entry->null || s->fill == FILL_LINEAR)
            continue;
        if (s->fill == FILL_PREVIOUS) {
            entry->value = previous.value;
            entry->rest = previous.rest;
            entry->null = previous.null;
        } else if (s->fill == FILL_NUMBER || function == FUNCTION_COUNT) {
            entry->value = s->fill_number; /* none counted is 0 */
            entry->null = false;
        }
    }
}

/* ---- transformations ---- */

static void apply_inside_out(const struct term *term, int64_t interval_ns, struct points *points)
{
    if (term->kind != TERM_CALL || !function_transforms(term->function))
        return;
    apply_inside_out(term->args[0], interval_ns, points);
    transform_apply(term, interval_ns, points);
}

/* What is there goes through the functions in the order of the rows; nulls are passed over. */
static void transform_track(const struct select_run *run, const struct term *term,
                            struct track *track)
{
    const struct statement *s = run->statement;
    struct points *points = &track->points;

    if (!function_transforms(term->function))
        return;
    if (aggregate_of(term)) {
        points->len = 0;
        vec_foreach (entry, track)
            if (!entry->null)
                vec_push(points, ((struct point){entry->time_ns, entry->value, 0}));
    }
    track->len = 0;
    points_sort(points, s->descending);
    apply_inside_out(term, s->interval_ns, points);
    for (size_t i = 0; i < points->len; i++) {
        const struct point *p = &points->at[s->descending ? points->len - 1 - i : i];
        vec_push(track, ((struct entry){.time_ns = p->time_ns, .value = p->value}));
    }
}

/* ---- rows of tracks ---- */

/* The one value of a function over the whole range. */
static void whole_entry(const struct select_run *run, const struct term *call, struct track *track)
{
    const struct statement *s = run->statement;
    struct entry entry = {.time_ns = s->has_min ? s->min_ns : 0};
    struct point chosen = {.time_ns = entry.time_ns};

    entry.null = track->whole.n ? !whole_apply(call->function, &track->whole, &chosen)
                                : !function_apply(call->function, percent_of(call),
                                                  track->points.at, track->points.len, &chosen);
    entry.value = chosen.value;
    entry.rest = chosen.rest;
    if (run->leaves.len == 1 && function_chooses(call->function))
        entry.time_ns = chosen.time_ns;
    vec_push(track, entry);
    track->nothing = entry.null;
}

/* When the buckets begin if nobody says it. False: there is no point. */
static bool first_time(const struct select_run *run, const struct track *tracks, int64_t *ret)
{
    bool any = false;

    *ret = INT64_MAX;
    for (size_t i = 0; i < run->leaves.len; i++) {
        any |= tracks[i].points.len || tracks[i].whole.n || tracks[i].buckets.n;
        if (tracks[i].points.len)
            *ret = MIN(*ret, tracks[i].points.at[0].time_ns);
    }
    return any;
}

/* Can a bucket be told without its neighbours, and is there a row for each? */
static bool rows_of_buckets(const struct select_run *run)
{
    const struct statement *s = run->statement;

    vec_foreach (leaf, &run->leaves)
        if (function_transforms(leaf->term->function))
            return false;
    return s->fill == FILL_NULL || s->fill == FILL_NUMBER;
}

/* Too many buckets up to now, but LIMIT asks for few rows: those of the first ones, or if they
 * depend on others, of the ones up to the newest point. */
static __int128 limit_buckets(const struct select_run *run, const struct track *track,
                              __int128 buckets, int64_t *first_ns)
{
    const struct statement *s = run->statement;
    __int128 wanted = (__int128)s->limit + s->offset;
    bool rows = rows_of_buckets(run);

    if (!s->limit || buckets <= BUCKETS_MAX || (s->descending && !rows))
        return buckets;
    if (s->descending && wanted < buckets)
        *first_ns = (int64_t)(*first_ns + (buckets - wanted) * s->interval_ns);
    if (!rows && track->points.len) {
        __int128 newest = vec_last(&track->points)->time_ns;
        wanted = MAX(wanted, (newest - *first_ns) / s->interval_ns + 1);
    }
    return MIN(wanted, buckets);
}

static int fill_buckets(const struct select_run *run, const struct leaf *leaf, int64_t first_ns,
                        struct track *track, struct err *err)
{
    const struct statement *s = run->statement;
    const struct term *call = aggregate_of(leaf->term);
    int64_t first;
    __int128 all = plan_buckets(run, leaf, first_ns, &first);
    __int128 buckets = limit_buckets(run, track, all, &first);

    if (buckets > BUCKETS_MAX)
        return err_set(err, E2BIG, "max-select-buckets limit exceeded: (%.0f/%d)", (double)buckets,
                       BUCKETS_MAX);
    if (track->buckets.at)
        filled_entries(call, track);
    else
        bucket_entries(run, call, first, (size_t)buckets, track);
    track->nothing = buckets == all && all_null(track);
    fill_track(s, call->function, track);
    return 0;
}

static int make_track(const struct select_run *run, const struct leaf *leaf, int64_t first_ns,
                      struct track *track, struct err *err)
{
    const struct term *call = aggregate_of(leaf->term);
    int r = 0;

    if (call && run->statement->interval_ns)
        r = fill_buckets(run, leaf, first_ns, track, err);
    else if (call)
        whole_entry(run, call, track);
    if (r == 0)
        transform_track(run, leaf->term, track);
    return r;
}

/* False: all tracks are at their end. */
static bool next_time(const struct track *tracks, const size_t *at, size_t n, int64_t *ret)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (at[i] == tracks[i].len)
            continue;
        int64_t time = tracks[i].at[at[i]].time_ns;
        *ret = any ? MIN(*ret, time) : time;
        any = true;
    }
    return any;
}

static void merge_tracks(const struct select_run *run, const struct track *tracks,
                         struct table *table)
{
    size_t n = run->leaves.len;
    autofree(mem) size_t *at = xcalloc(n + 1, sizeof(*at));
    autofree(mem) struct cell *cells = xcalloc(n + 1, sizeof(*cells));
    int64_t time;

    while (next_time(tracks, at, n, &time)) {
        for (size_t i = 0; i < n; i++) {
            const struct entry *entry = at[i] < tracks[i].len ? &tracks[i].at[at[i]] : NULL;
            bool now = entry && entry->time_ns == time;
            cells[i] = now && !entry->null ? (struct cell){.kind = CELL_NUMBER,
                                                           .number = entry->value,
                                                           .rest = entry->rest}
                                           : (struct cell){.kind = CELL_NULL};
            at[i] += now;
        }
        put_row(run, time, cells, table);
    }
}

/* Rows of one function alone. */
static void put_track(const struct track *track, struct table *table)
{
    vec_reserve(&table->cells, 2 * track->len);
    vec_foreach (entry, track) {
        struct cell *row = &table->cells.at[table->cells.len];
        row[0] = (struct cell){.kind = CELL_TIME, .time_ns = entry->time_ns};
        row[1] = (struct cell){.kind = entry->null ? CELL_NULL : CELL_NUMBER,
                               .number = entry->value,
                               .rest = entry->rest};
        table->cells.len += 2;
    }
}

static void put_rows(const struct select_run *run, const struct track *tracks, struct table *table)
{
    bool alone = run->leaves.len == 1 && run->columns.len == 1 &&
                 run->columns.at[0].term == run->leaves.at[0].term;

    if (alone)
        put_track(&tracks[0], table);
    else
        merge_tracks(run, tracks, table);
}

static int make_tracks(struct select_run *run, const struct picked *picked, size_t n,
                       struct track *tracks, bool *ret_any, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < run->leaves.len; i++)
        r = load_track(run, picked, n, &run->leaves.at[i], &tracks[i], err);
    int64_t first_ns;
    *ret_any = first_time(run, tracks, &first_ns);
    for (size_t i = 0; r == 0 && *ret_any && i < run->leaves.len; i++)
        r = make_track(run, &run->leaves.at[i], first_ns, &tracks[i], err);
    return r;
}

static bool has_entries(const struct track *tracks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tracks[i].len && !tracks[i].nothing)
            return true;
    return false;
}

int function_rows(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
                  struct err *err)
{
    autofree(mem) struct track *tracks = xcalloc(run->leaves.len + 1, sizeof(*tracks));
    bool any = false;
    int r = make_tracks(run, picked, n, tracks, &any, err);

    if (r == 0 && any && has_entries(tracks, run->leaves.len)) {
        *ret = begin_table(run);
        put_rows(run, tracks, *ret);
        arrange(run->statement, *ret);
    }
    for (size_t i = 0; i < run->leaves.len; i++) {
        vec_release(&tracks[i].points);
        buckets_release(&tracks[i].buckets);
        vec_release(&tracks[i]);
    }
    return r;
}
