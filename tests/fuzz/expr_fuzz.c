/* SPDX-License-Identifier: MIT */
/*
 * expr_fuzz.c — any bytes as an expression: an error with a sentence, or a value for a row. The
 * first byte chooses the row. What must hold: what is decided from stats alone is what the points
 * say, and the value with stats or by blocks is the value without them.
 */
#include "expr/expr.h"

#include <assert.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define POINTS 12
static const char *const states[] = {"queued", "running", "completed", NULL};
static const struct expr_column columns[] = {
    {"state", EXPR_FIELD, EXPR_TEXT, states, 0},       {"value", EXPR_FIELD, EXPR_NUMBER, NULL, 0},
    {"step", EXPR_FIELD, EXPR_NUMBER, NULL, 0},        {"tags", EXPR_FIELD, EXPR_LIST, NULL, 0},
    {"starred", EXPR_FIELD, EXPR_BOOL, NULL, 0},       {"started", EXPR_FIELD, EXPR_TIME, NULL, 0},
    {"lr", EXPR_PARAM, EXPR_NUMBER, NULL, 0},          {"mix", EXPR_PARAM, EXPR_ANY, NULL, 0},
    {"loss", EXPR_METRIC, EXPR_NUMBER, NULL, -1},      {"acc", EXPR_METRIC, EXPR_NUMBER, NULL, 1},
    {"train/loss", EXPR_METRIC, EXPR_NUMBER, NULL, 0},
};
static const char *const tags[] = {"a", "b"};

static struct expr_value field(size_t column, void *arg)
{
    uint8_t seed = *(const uint8_t *)arg;

    if (seed & 1 && column > 3)
        return expr_null();
    switch (columns[column].type) {
    case EXPR_TEXT:
        return expr_text("completed");
    case EXPR_LIST:
        return (struct expr_value){.type = EXPR_LIST, .n = seed & 2, .list = tags};
    case EXPR_BOOL:
        return expr_bool(seed & 4);
    case EXPR_ANY:
        return seed & 8 ? expr_number(3) : expr_text("x");
    default:
        return expr_number((double)seed - 100);
    }
}

/* Whole numbers, so that sums are exact whichever way they are made. */
static size_t curve(size_t column, uint8_t seed, struct expr_point *to)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    size_t n = (seed + column) % POINTS;

    for (size_t i = 0; i < n; i++) {
        double value = (double)((seed * 7 + i * i * (column + 3)) % 23) - 9;
        bool none = seed & 16 && i % 4 == 1;
        to[i] = (struct expr_point){.step = none ? EXPR_NO_STEP : (int64_t)(i * 10),
                                    .time_s = seed & 32 && i % 3 == 1 ? NAN : (double)i,
                                    .value = seed & 64 && i % 5 == 2 ? odd[i % 3] : value};
    }
    return n;
}

/* Those outside of the range are left out, as a source may. */
static bool inside(const struct expr_range *range, const struct expr_point *point)
{
    bool any_time = isinf(range->min_time_s) && isinf(range->max_time_s);
    bool time = point->time_s >= range->min_time_s && point->time_s <= range->max_time_s;

    return point->step >= range->min_step && point->step <= range->max_step && (any_time || time);
}

static int points(size_t column, const struct expr_range *range, expr_points_fn *fn, void *fn_arg,
                  void *arg, struct err *err)
{
    struct expr_point all[POINTS];
    size_t n = curve(column, *(const uint8_t *)arg, all);

    size_t kept = 0;

    (void)err;
    for (size_t i = 0; i < n; i++)
        if (inside(range, &all[i]) || *(const uint8_t *)arg & 128)
            all[kept++] = all[i];
    for (size_t i = 0; i < kept && fn(all + i, MIN(5, kept - i), fn_arg); i += 5)
        ;
    return 0;
}

static void add(struct expr_stats *to, const struct expr_point *point, bool first)
{
    double x = point->value;

    to->nans += isnan(x) ? 1 : 0;
    to->infs += isinf(x) ? 1 : 0;
    to->first = first ? x : to->first;
    to->last = x;
    if (isnan(x) && to->nans == 1)
        to->first_nan = point->step;
    if (point->step != EXPR_NO_STEP) {
        to->first_step = to->first_step == EXPR_NO_STEP ? point->step : to->first_step;
        to->last_step = point->step;
    }
    if (!isfinite(x))
        return;
    to->min = fmin(to->min, x);
    to->max = fmax(to->max, x);
    to->sum += x;
    to->squares += x * x;
}

static void measure(const struct expr_point *all, size_t n, struct expr_stats *ret)
{
    *ret = (struct expr_stats){.has = ~0u & ~(unsigned)EXPR_HAS_SQUARES,
                               .count = n,
                               .min = NAN,
                               .max = NAN,
                               .first_step = EXPR_NO_STEP,
                               .last_step = EXPR_NO_STEP,
                               .first_nan = EXPR_NO_STEP};
    for (size_t i = 0; i < n; i++)
        add(ret, &all[i], i == 0);
}

static bool stats(size_t column, struct expr_stats *ret, void *arg)
{
    struct expr_point all[POINTS];
    size_t n = curve(column, *(const uint8_t *)arg, all);

    measure(all, n, ret);
    return n > 0;
}

static struct expr_block block_of(const struct expr_point *all, size_t n)
{
    struct expr_block block = {.first_s = NAN, .last_s = NAN};

    measure(all, n, &block.stats);
    for (size_t i = 0; i < n; i++) {
        block.first_s = fmin(block.first_s, all[i].time_s);
        block.last_s = fmax(block.last_s, all[i].time_s);
        if (all[i].step == EXPR_NO_STEP)
            block.stats.has &= ~(unsigned)EXPR_HAS_STEPS;
    }
    return block;
}

static int blocks(size_t column, expr_block_fn *fn, expr_points_fn *points_fn, void *fn_arg,
                  void *arg, struct err *err)
{
    struct expr_point all[POINTS];
    size_t n = curve(column, *(const uint8_t *)arg, all);

    (void)err;
    for (size_t i = 0; i < n; i += 3) {
        size_t k = MIN(3, n - i);
        struct expr_block block = block_of(all + i, k);
        enum expr_verdict verdict = fn(&block, fn_arg);
        if (verdict == EXPR_ENOUGH || (verdict == EXPR_POINTS && !points_fn(all + i, k, fn_arg)))
            break;
    }
    return 0;
}

static bool same(const struct expr_value *a, const struct expr_value *b)
{
    return a->type == b->type && expr_value_compare(a, b, false) == 0;
}

static void check(const struct expr *expr, uint8_t seed, bool condition)
{
    struct expr_source plain = {.arg = &seed, .field = field, .points = points};
    struct expr_source quick = {.arg = &seed, .field = field, .points = points, .stats = stats};
    struct expr_value value, again;
    int r = expr_eval(expr, &plain, &value, NULL);

    assert(r == 0 && value.type != EXPR_UNKNOWN);
    r = expr_eval(expr, &quick, &again, NULL);
    assert(r == 0 && same(&value, &again));
    struct expr_source cut = {.arg = &seed, .field = field, .points = points, .blocks = blocks};
    r = expr_eval(expr, &cut, &again, NULL);
    assert(r == 0 && same(&value, &again));
    if (!condition)
        return;
    bool holds = value.type == EXPR_BOOL && value.number != 0;
    int decided = expr_decide(expr, &quick);
    assert(decided < 0 || decided == holds);
    assert(expr_test(expr, &quick, NULL) == holds);
    (void)holds;
    (void)decided;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 1)
        return 0;
    autofree(mem) char *text = xstrndup((const char *)bytes + 1, n - 1);
    for (int open = 0; open < 2; open++)
        for (int sort = 0; sort < 2; sort++) {
            struct expr_scope scope = {.noun = "trial",
                                       .columns = columns,
                                       .n = ARRAY_LEN(columns),
                                       .now_us = 1700000000000000,
                                       .open = open};
            autofree(expr) struct expr *expr = NULL;
            autorelease(err) struct err err = ERR_INIT;
            int r = expr_parse(text, &scope, sort ? EXPR_ANY : EXPR_BOOL, &expr, &err);
            assert(r == 0 ? expr != NULL : err_text(&err)[0] != '\0');
            if (r == 0)
                check(expr, bytes[0], !sort);
        }
    return 0;
}
