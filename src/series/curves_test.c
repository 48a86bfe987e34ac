/* SPDX-License-Identifier: MIT */
/*
 * curves_test.c — what expressions are told from the store's index and blocks is what all samples
 * say; where it would not be, nothing is told.
 */
#include "series/curves.h"
#include "series/db_fixture.h"
#include "series/series.h"

#include <errno.h>
#include <math.h>

#define STEPS 3000

enum kind {
    WHOLE = 1, /* one attempt */
    FOLLOWS,   /* two, the second goes on behind the first */
    REPEATS,   /* … or tells steps again */
    OUTPUT,    /* printed only */
    BOTH,      /* printed and logged */
    RUNNING,
    HALF,     /* one of two attempts is stored */
    OBSERVED, /* without attempts and steps */
    OTHER,    /* has another metric */
    WOVEN,    /* told in rows of two kinds, in turns */
    KINDS
};

static double value_at(int64_t trial, int64_t step)
{
    if (trial == BOTH && step % 700 == 5)
        return step % 3 ? NAN : -INFINITY;
    return (double)((step * 7919 + trial * 31) % 1009) + 3000 - (double)step;
}

static void put_run(struct series_db *db, int64_t trial, int64_t attempt, enum series_file file,
                    int64_t from, int64_t to)
{
    struct series_source source = {1, trial, attempt, file};
    uint64_t end = 0;

    for (int64_t step = from; step < to; step++) {
        bool second = trial == WOVEN && step % 2;
        assert_int_equal(put2(db, source, ++end, trial == OBSERVED ? STEP_NONE : step,
                              trial == OTHER ? "acc" : "loss", value_at(trial, step),
                              second ? "acc" : NULL, 1),
                         0);
    }
}

static void fill(const char *home)
{
    struct series_db *db = must_open(home, SERIES_WRITE);

    for (int64_t trial = 1; trial < KINDS; trial++) {
        bool twice = trial == FOLLOWS || trial == REPEATS;
        enum series_file file = trial == OUTPUT     ? SERIES_STDOUT
                                : trial == OBSERVED ? SERIES_OUTSIDE
                                                    : SERIES_METRICS;
        put_run(db, trial, trial != OBSERVED, file, 0, twice ? STEPS / 2 : STEPS);
        if (trial == BOTH)
            put_run(db, trial, 1, SERIES_STDOUT, 0, 10);
        if (twice)
            put_run(db, trial, 2, file, trial == FOLLOWS ? STEPS / 2 : STEPS / 3, STEPS);
        if (trial == WHOLE)
            assert_int_equal(put1(db, (struct series_source){1, trial, 1, SERIES_SYSTEM}, 0,
                                  STEP_NONE, "system/cpu", 0.5),
                             0);
    }
    assert_int_equal(series_db_compact(db, NULL), 0);
    series_db_free(db);
}

static struct trial trial_of(int64_t number)
{
    return (struct trial){.experiment = 1,
                          .number = number,
                          .state = number == RUNNING ? TRIAL_RUNNING : TRIAL_COMPLETED,
                          .attempts = number == OBSERVED ? 0
                                      : number == FOLLOWS || number == REPEATS || number == HALF
                                          ? 2
                                          : 1,
                          .started_us = 1};
}

/* ---- the same by all samples ---- */

struct row {
    struct curves *curves;
    const char *home;
    struct trial trial;
    size_t metric, read;
};

static int by_reading(size_t column UNUSED, const struct expr_range *range UNUSED,
                      expr_points_fn *fn, void *fn_arg, void *arg, struct err *err)
{
    struct row *row = arg;
    static struct spec spec;
    autorelease(series_set) struct series_set set = {{NULL, 0, 0}};

    row->read++;
    assert_ok(series_read(curves_db(row->curves), row->home, &spec, &row->trial, "loss", &set, err),
              err);
    const struct series *series = series_find(&set, "loss");
    for (size_t i = 0; series && i < series->points.len; i++) {
        const struct series_point *at = &series->points.at[i];
        struct expr_point point = {at->step, at->time_us ? (double)(at->time_us - 1) / 1e6 : NAN,
                                   at->value};
        if (!fn(&point, 1, fn_arg))
            break;
    }
    return 0;
}

static bool by_stats(size_t column UNUSED, struct expr_stats *ret, void *arg)
{
    struct row *row = arg;
    enum curves_answer answer = curves_stats(row->curves, row->metric, &row->trial, ret);

    if (answer == CURVES_UNKNOWN)
        *ret = (struct expr_stats){.has = 0};
    return answer != CURVES_NONE;
}

static int by_blocks(size_t column UNUSED, expr_block_fn *block, expr_points_fn *fn, void *fn_arg,
                     void *arg, struct err *err UNUSED)
{
    struct row *row = arg;
    return curves_blocks(row->curves, row->metric, &row->trial, block, fn, fn_arg);
}

static void check_same(struct row *row, const char *text)
{
    static const struct expr_column loss = {"loss", EXPR_METRIC, EXPR_NUMBER, NULL, -1};
    struct expr_scope scope = {.noun = "trial", .columns = &loss, .n = 1};
    struct expr_source plain = {.arg = row, .points = by_reading};
    struct expr_source quick = {
        .arg = row, .points = by_reading, .stats = by_stats, .blocks = by_blocks};
    autofree(expr) struct expr *expr = NULL;
    struct expr_value a, b;
    struct err err = ERR_INIT;

    assert_ok(expr_parse(text, &scope, EXPR_ANY, &expr, &err), &err);
    assert_ok(expr_eval(expr, &plain, &a, &err), &err);
    row->read = 0;
    assert_ok(expr_eval(expr, &quick, &b, &err), &err);
    if (a.type != b.type || expr_value_compare(&a, &b, false) != 0)
        fail_msg("trial %d: %s: %g instead of %g", (int)row->trial.number, text, b.number,
                 a.number);
}

struct fixture {
    char *home;
    struct row row;
};

static void fixture_init(struct fixture *fixture)
{
    struct err err = ERR_INIT;

    *fixture = (struct fixture){.home = home_new()};
    fill(fixture->home);
    fixture->row.home = fixture->home;
    assert_ok(curves_open(fixture->home, 1, &fixture->row.curves, &err), &err);
    fixture->row.metric = curves_metric(fixture->row.curves, "loss");
}

static void fixture_release(struct fixture *fixture)
{
    curves_free(fixture->row.curves);
    home_end(fixture->home);
}

TEST(every_function_has_the_value_that_all_samples_give)
{
    static const char *const texts[] = {
        "min(loss, step > 1000)",
        "max(loss, step > 1000 and step < 2500)",
        "count(loss, step >= 1499)",
        "mean(loss, step < 1500)",
        "sum(loss)",
        "first(loss)",
        "last(loss)",
        "last(loss, step < 100)",
        "nans(loss)",
        "first_nan(loss)",
        "argmin(loss)",
        "step_to(loss < 1000)",
        "time_to(loss < 1000)",
        "any(loss > 1e9)",
        "median(loss, step > 2000)",
        "std(loss, last 100)",
        "improved(loss, last 10%)",
        "at(loss, 1800)",
        "min(loss, time < 1ms)",
    };
    struct fixture fixture;

    fixture_init(&fixture);
    for (int64_t trial = 1; trial < KINDS; trial++) {
        fixture.row.trial = trial_of(trial);
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
            check_same(&fixture.row, texts[i]);
    }
    fixture_release(&fixture);
}

TEST(only_what_the_store_vouches_for_is_told)
{
    static const enum curves_answer want[KINDS] = {
        [WHOLE] = CURVES_KNOWN,    [FOLLOWS] = CURVES_KNOWN,  [REPEATS] = CURVES_UNKNOWN,
        [OUTPUT] = CURVES_UNKNOWN, [BOTH] = CURVES_KNOWN,     [RUNNING] = CURVES_UNKNOWN,
        [HALF] = CURVES_UNKNOWN,   [OBSERVED] = CURVES_KNOWN, [OTHER] = CURVES_NONE,
        [WOVEN] = CURVES_KNOWN,
    };
    struct expr_stats stats;
    struct fixture fixture;

    fixture_init(&fixture);
    for (int64_t number = 1; number < KINDS; number++) {
        struct trial trial = trial_of(number);
        assert_int_equal(curves_stats(fixture.row.curves, 0, &trial, &stats), want[number]);
    }
    struct trial observed = trial_of(OBSERVED);
    size_t acc = curves_metric(fixture.row.curves, "acc");
    assert_int_equal(curves_stats(fixture.row.curves, acc, &observed, &stats), CURVES_UNKNOWN);
    struct trial absent = trial_of(KINDS);
    assert_int_equal(curves_stats(fixture.row.curves, 0, &absent, &stats), CURVES_UNKNOWN);
    fixture_release(&fixture);
}

TEST(where_blocks_tell_enough_no_trial_is_read_whole)
{
    struct fixture fixture;

    fixture_init(&fixture);
    fixture.row.trial = trial_of(FOLLOWS);
    check_same(&fixture.row, "min(loss, step > 1000)");
    assert_int_equal(fixture.row.read, 0);
    check_same(&fixture.row, "time_to(loss < 1000)");
    assert_int_equal(fixture.row.read, 0);
    fixture.row.trial = trial_of(WOVEN);
    check_same(&fixture.row, "time_to(loss < 1000)");
    assert_int_equal(fixture.row.read, 1);
    fixture_release(&fixture);
}

TEST(names_are_all_that_is_stored_figures_of_the_machine_too)
{
    struct fixture fixture;
    struct expr_stats stats;
    struct trial trial = trial_of(WHOLE);

    fixture_init(&fixture);
    struct curves *curves = fixture.row.curves;
    assert_string_equal(curves_name(curves, 0), "loss");
    assert_string_equal(curves_name(curves, 1), "system/cpu");
    assert_string_equal(curves_name(curves, 2), "acc");
    assert_null(curves_name(curves, 3));
    size_t cpu = curves_metric(curves, "system/cpu");
    assert_int_equal(curves_metric(curves, "system/cpu"), cpu);
    assert_int_equal(curves_stats(curves, cpu, &trial, &stats), CURVES_KNOWN);
    assert_true(stats.last == 0.5 && !(stats.has & EXPR_HAS_STEPS));
    size_t none = curves_metric(curves, "never told");
    assert_int_equal(curves_stats(curves, none, &trial, &stats), CURVES_NONE);
    fixture_release(&fixture);
}

TEST_MAIN
