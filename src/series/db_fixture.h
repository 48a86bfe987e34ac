/* SPDX-License-Identifier: MIT */
/*
 * db_fixture.h — for tests of the store: a home of its own, rows made and read with few words.
 */
#ifndef HONE_SERIES_DB_FIXTURE_H
#define HONE_SERIES_DB_FIXTURE_H

#include "base/fs.h"
#include "model/trial.h"
#include "series/db.h"
#include "series/inside.h"
#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

/* In memory if there is such a place: thousands of small files are written. */
static UNUSED char *home_new(void)
{
    bool shm = access("/dev/shm", W_OK) == 0;
    char *home = xstrdup(shm ? "/dev/shm/hone-series-XXXXXX" : "/tmp/hone-series-XXXXXX");
    assert_non_null(mkdtemp(home));
    return home;
}

static UNUSED void home_end(char *home)
{
    assert_int_equal(fs_remove_tree(home, NULL), 0);
    free(home);
}

/* No test here cuts the machine's own power. */
static UNUSED int sync_not(int fd)
{
    return fd < 0 ? -1 : 0;
}
static UNUSED const struct series_io quick_io = {pwrite, sync_not};

static UNUSED struct series_db *must_open(const char *home, enum series_mode mode)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    assert_ok(series_db_open_with(home, mode, &quick_io, &db, &err), &err);
    return db;
}

static UNUSED uint32_t name_of(struct series_db *db, const char *text)
{
    return series_db_name(db, text, strlen(text));
}

static UNUSED struct series_source source_of(int64_t experiment, int64_t trial)
{
    return (struct series_source){experiment, trial, 1, SERIES_METRICS};
}

/* One row of up to two metrics; b NULL: one. */
static UNUSED int put2(struct series_db *db, struct series_source source, uint64_t end,
                       int64_t step, const char *a, double x, const char *b, double y)
{
    uint32_t names[2] = {name_of(db, a), b ? name_of(db, b) : 0};
    double values[2] = {x, y};
    struct series_row row = {end,       step,  step == STEP_NONE ? INT64_MIN : step * 1000,
                             b ? 2 : 1, names, values};
    return series_db_append(db, &source, &row, 1, NULL);
}

static UNUSED int put1(struct series_db *db, struct series_source source, uint64_t end,
                       int64_t step, const char *name, double x)
{
    return put2(db, source, end, step, name, x, NULL, 0);
}

struct points {
    VEC(int64_t) steps;
    VEC(int64_t) times;
    VEC(double) values;
    uint32_t counted; /* by the chunks' statistics */
};

static UNUSED int take_chunk(const struct series_chunk *chunk, void *arg)
{
    struct points *points = arg;
    for (size_t i = 0; chunk->values && i < chunk->n; i++) {
        vec_push(&points->steps, chunk->steps[i]);
        vec_push(&points->times, chunk->times_ns[i]);
        vec_push(&points->values, chunk->values[i]);
    }
    points->counted += chunk->stats->count;
    return 0;
}

static UNUSED void points_release(struct points *points)
{
    vec_release(&points->steps);
    vec_release(&points->times);
    vec_release(&points->values);
}

static UNUSED struct points points_of(struct series_db *db, struct series_source source,
                                      const char *name)
{
    struct points points = {0};
    assert_int_equal(
        series_db_read(db, &source, name_of(db, name), &series_all, take_chunk, &points), 0);
    assert_int_equal(points.counted, points.values.len);
    return points;
}

static UNUSED size_t count_of(struct series_db *db, struct series_source source, const char *name)
{
    struct points points = points_of(db, source, name);
    size_t n = points.values.len;
    points_release(&points);
    return n;
}

static UNUSED void print_sentence(const char *sentence, void *arg UNUSED)
{
    printf("# %s\n", sentence);
}

static UNUSED int wrong_in(struct series_db *db)
{
    return series_db_verify(db, db->mode == SERIES_WRITE, print_sentence, NULL);
}

#endif
