/* SPDX-License-Identifier: MIT */
/*
 * stream_points.c — batches of samples. A series is found by a hash of what it is; two with the
 * same hash lie at neighbouring numbers.
 */
#include "api/stream_points.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "model/trial.h"
#include "series/course.h"

#include <assert.h>
#include <math.h>

#define TEXT_BYTES (64u << 10) /* handed out at a time */
#define TRUST_MAX  200000      /* series whose source is remembered */

struct point {
    int64_t step, time_ns;
    double value;
};
struct gathered {
    int64_t experiment, trial;
    uint32_t name;
    size_t stride, skip; /* of the samples that come every stride-th is kept, after `skip` others */
    uint64_t left_out;
    VEC(struct point) points;
};
struct points_batch {
    VEC(struct gathered) series;
    struct map places;  /* hash → place in series + 1 */
    struct map trusted; /* hash with the attempt → rank of its source + 1 */
};

struct points_batch *points_batch_new(void)
{
    return xcalloc(1, sizeof(struct points_batch));
}

static void clear(struct points_batch *batch)
{
    vec_foreach (one, &batch->series)
        vec_release(&one->points);
    batch->series.len = 0;
    map_release(&batch->places);
    batch->places = (struct map)MAP_INIT;
}

void points_batch_forget(struct points_batch *batch)
{
    map_release(&batch->trusted);
    batch->trusted = (struct map)MAP_INIT;
}

void points_batch_free(struct points_batch *batch)
{
    clear(batch);
    points_batch_forget(batch);
    vec_release(&batch->series);
    map_release(&batch->places);
    free(batch);
}

/* ---- gathering ---- */

static uint64_t hash_of(const struct series_source *source, uint32_t name, int64_t attempt)
{
    int64_t parts[] = {source->experiment, source->trial, attempt, name};
    return hash_bytes(parts, sizeof(parts), 0);
}

static bool is_trusted(struct points_batch *batch, const struct series_source *source,
                       uint32_t name)
{
    uint64_t hash = hash_of(source, name, source->attempt);
    uintptr_t rank = course_rank(source->file) + 1;
    uintptr_t known = (uintptr_t)map_find(&batch->trusted, hash);

    if (known && known < rank)
        return false;
    if (batch->trusted.len >= TRUST_MAX)
        points_batch_forget(batch);
    if (known != rank)
        map_put(&batch->trusted, hash, (void *)rank);
    return true;
}

static struct gathered *find_series(struct points_batch *batch, const struct series_source *source,
                                    uint32_t name)
{
    uint64_t hash = hash_of(source, name, 0);
    uintptr_t place;

    for (; (place = (uintptr_t)map_find(&batch->places, hash)); hash++) {
        struct gathered *one = &batch->series.at[place - 1];
        if (one->experiment == source->experiment && one->trial == source->trial &&
            one->name == name)
            return one;
    }
    if (batch->series.len >= POINTS_SERIES)
        return NULL;
    struct gathered fresh = {source->experiment, source->trial, name, 1, 0, 0, {NULL, 0, 0}};
    vec_reserve(&batch->series, batch->series.len + 1);
    assert(batch->series.at);
    batch->series.at[batch->series.len++] = fresh;
    map_put(&batch->places, hash, (void *)(uintptr_t)batch->series.len);
    return vec_last(&batch->series);
}

/* Every other one stays, and of those that come, too. */
static void thin(struct gathered *one)
{
    size_t n = one->points.len;

    for (size_t i = 0; i < n / 2; i++)
        one->points.at[i] = one->points.at[2 * i];
    one->points.len = n / 2;
    one->left_out += n - n / 2;
    one->stride *= 2; /* and the one that comes now is one of those that stay */
}

static void add_point(struct gathered *one, const struct point *point)
{
    if (one->points.len >= POINTS_MAX)
        thin(one);
    if (one->skip) {
        one->skip--;
        one->left_out++;
        return;
    }
    one->skip = one->stride - 1;
    vec_push(&one->points, *point);
}

void points_batch_add(struct points_batch *batch, const struct series_source *source,
                      const struct series_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        struct point point = {row->step, row->time_ns, row->values[i]};
        struct gathered *one;
        if (is_trusted(batch, source, row->names[i]) &&
            (one = find_series(batch, source, row->names[i])))
            add_point(one, &point);
    }
}

bool points_batch_empty(const struct points_batch *batch)
{
    return batch->series.len == 0;
}

/* ---- telling ---- */

static void put_value(struct json_out *out, double value)
{
    if (isnan(value))
        json_text(out, "NaN");
    else if (isinf(value))
        json_text(out, value > 0 ? "Infinity" : "-Infinity");
    else
        json_double(out, value);
}

static void put_seconds(struct json_out *out, int64_t ns)
{
    char text[48];
    int64_t us = ns / 1000;

    if (ns == INT64_MIN) {
        json_null_out(out);
        return;
    }
    snprintf(text, sizeof(text), "%s%lld.%06lld", us < 0 ? "-" : "", llabs(us / 1000000),
             llabs(us % 1000000));
    json_raw(out, text);
}

static void put_steps(struct json_out *out, const struct gathered *one)
{
    json_key(out, "step");
    json_begin_array(out);
    vec_foreach (point, &one->points) {
        if (point->step == STEP_NONE)
            json_null_out(out);
        else
            json_int(out, point->step);
    }
    json_end_array(out);
}

static void put_series(const struct gathered *one, const struct series_db *db, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    str_add(to, "event: points\ndata: ");
    json_begin_object(&out);
    json_put_int(&out, "experiment", one->experiment);
    json_put_int(&out, "trial", one->trial);
    json_put_text(&out, "metric", series_db_name_text(db, one->name));
    put_steps(&out, one);
    json_key(&out, "time");
    json_begin_array(&out);
    vec_foreach (point, &one->points)
        put_seconds(&out, point->time_ns);
    json_end_array(&out);
    json_key(&out, "value");
    json_begin_array(&out);
    vec_foreach (point, &one->points)
        put_value(&out, point->value);
    json_end_array(&out);
    if (one->left_out)
        json_put_int(&out, "left_out", (int64_t)one->left_out);
    json_end_object(&out);
    str_add(to, "\n\n");
}

static int compare_experiments(const void *x, const void *y)
{
    const struct gathered *a = x, *b = y;
    if (a->experiment != b->experiment)
        return a->experiment < b->experiment ? -1 : 1;
    return a->trial != b->trial ? (a->trial < b->trial ? -1 : 1)
                                : (a->name > b->name) - (a->name < b->name);
}

void points_batch_tell(struct points_batch *batch, const struct series_db *db, points_text_fn *fn,
                       void *arg)
{
    autorelease(str) struct str text = STR_INIT;
    size_t n = batch->series.len;

    if (n)
        qsort(batch->series.at, n, sizeof(*batch->series.at), compare_experiments);
    for (size_t i = 0; i < n; i++) {
        const struct gathered *one = &batch->series.at[i];
        if (!series_db_is_rest(db, one->name))
            put_series(one, db, &text);
        bool last = i + 1 == n || batch->series.at[i + 1].experiment != one->experiment;
        if (!last && text.len < TEXT_BYTES)
            continue;
        fn(one->experiment, &text, arg);
        str_cut(&text, 0);
    }
    clear(batch);
}
