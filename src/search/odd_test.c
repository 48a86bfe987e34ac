/* SPDX-License-Identifier: MIT */
/*
 * odd_test.c — bad input for every search algorithm: results that teach nothing or too much, spaces
 * at the end of what is sane. A suggestion in bounds, or a sentence; no crash, no NaN, no waiting.
 */
#include <errno.h>
#include <math.h>

#include "search/test_search.h"
#include "tests/cpu.h"

static bool is_slow(const struct search_ops *ops)
{
    return str_eq(ops->name, "auto") || str_eq(ops->name, "bayes") || str_eq(ops->name, "forest");
}

/* The result of ask i. */
typedef struct result odd_fn(size_t i);

static struct result constant(size_t i UNUSED)
{
    return (struct result){.value = 3};
}

static struct result failed(size_t i UNUSED)
{
    return (struct result){RESULT_FAILED, .value = NAN};
}

static struct result not_a_number(size_t i)
{
    return (struct result){i % 3 ? RESULT_VALUE : RESULT_STOPPED,
                           .value = i % 2   ? NAN
                                    : i % 4 ? INFINITY
                                            : -INFINITY,
                           .deviation = i % 2 ? NAN : INFINITY, .cost = i % 2 ? INFINITY : -1};
}

static struct result huge(size_t i)
{
    return (struct result){.value = i % 2 ? 1e300 : -1e300, .cost = 1e300};
}

static struct result largest(size_t i)
{
    return (struct result){.value = (i % 3 ? 1.7e308 : -1.7e308), .deviation = 1e308};
}

static struct result tiny(size_t i)
{
    return (struct result){.value = 1e-300 * (double)(i % 7), .cost = 1e-300};
}

static struct result smallest(size_t i)
{
    return (struct result){.value = 5e-324 * (double)(i % 5)};
}

static struct result one_disaster(size_t i)
{
    return (struct result){.value = i == 4 ? 1e300 : (double)(i * 7 % 11)};
}

/* From the smallest to the largest, and the models are compared on them. */
static struct result all_sizes(size_t i)
{
    return (struct result){.value = pow(10, (double)(i * 389 % 601) - 300)};
}

static struct result four_sizes(size_t i)
{
    static const double sizes[] = {1e-300, 1e300, 0, 1};
    return (struct result){.value = sizes[i * 7 % 11 % 4]};
}

/* The first value comes after the models would have been compared. */
static struct result late(size_t i)
{
    return i < 24 ? failed(i) : (struct result){.value = (double)i};
}

static struct result one_value(size_t i)
{
    return i == 2 ? (struct result){.value = 1} : failed(i);
}

static struct result stopped(size_t i)
{
    return (struct result){RESULT_STOPPED, .value = (double)i, .deviation = 1e-300};
}

static odd_fn *const odd_results[] = {
    constant,     failed, not_a_number, huge,    largest,   tiny,       smallest,
    one_disaster, late,   one_value,    stopped, all_sizes, four_sizes,
};

/* What shows only once the models are compared. */
static bool is_long(odd_fn *odd)
{
    return odd == late || odd == all_sizes || odd == four_sizes;
}

static void fill_plain(struct space *space)
{
    space_add(space, param_float(0, 1));
    space_add(space, param_int(3, 3));
    space_add(space, CHOICE("a", "b", "c"));
    space_add(space, param_number(PARAM_INT, SCALE_LOG, 1, 1000, 0));
}

/* What is believed does not depend on who asks: once for the blind is enough. */
static void check_best(struct search *s)
{
    struct best best;
    double mean, deviation;
    if (!is_slow(s->ops) && !str_eq(s->ops->name, "random"))
        return;
    if (search_best(s, &best) == 0) {
        assert_true(space_contains(s->space, best.x));
        assert_false(isnan(best.mean));
        if (search_predict(s, best.x, 1, &mean, &deviation))
            assert_false(isnan(mean));
    }
    search_expected_gain(s);
}

static void check_results(const struct search_ops *ops, odd_fn *odd)
{
    struct space space = {0};
    double x[4], excess;
    fill_plain(&space);
    struct problem problem = {
        .space = &space, .seed = 5, .trials = 40, .n_constraints = 1, .repeats = true};
    for (int plain = 0; plain < 2; plain++) {
        struct search *s = NULL;
        problem.n_constraints = plain ? 0 : 1;
        problem.weigh_cost = !plain;
        if (search_new(ops->name, &problem, &s, NULL) < 0)
            break; /* the grid: a free float */
        for (size_t i = 0; i < (is_slow(ops) && !is_long(odd) ? 12 : 30); i++) {
            if (!ask_point(s, x))
                break;
            struct result result = odd(i);
            excess = isnan(result.value) ? NAN : -result.value;
            result.excess = &excess;
            search_tell(s, x, &result);
        }
        check_best(s);
        search_free(s);
    }
    space_release(&space);
}

TEST(results_that_teach_nothing_or_too_much)
{
    for (size_t i = 0; i < search_count(); i++)
        for (size_t k = 0; k < ARRAY_LEN(odd_results); k++)
            check_results(search_at(i), odd_results[k]);
}

TEST(one_setting_told_again_and_again)
{
    for (size_t i = 0; i < search_count(); i++)
        for (int others = 0; others < 2; others++) {
            struct space space = {0};
            double x[2] = {3, 1}, y[2];
            space_add(&space, param_int(1, 100));
            space_add(&space, CHOICE("a", "b", "c"));
            struct problem problem = {.space = &space, .seed = 5, .trials = 299};
            autofree(search) struct search *s = search_for(search_at(i)->name, &problem);
            for (int k = 0; k < 300; k++) {
                tell_value(s, x, k % 2);
                if (others && k % 100 == 50) {
                    assert_true(ask_point(s, y));
                    tell_value(s, y, 0.4);
                }
            }
            for (int k = 0; k < 5; k++) {
                assert_true(ask_point(s, y));
                assert_false(point_equal(x, y, 2));
            }
            check_best(s);
            space_release(&space);
        }
}

/* ---- spaces ---- */

static void fill_constants(struct space *space)
{
    space_add(space, param_int(3, 3));
    space_add(space, CHOICE("only"));
    space_add(space, param_float(0.5, 0.5));
}

static void fill_wide(struct space *space)
{
    for (int i = 0; i < 200; i++)
        switch (i % 4) {
        case 0:
            space_add(space, param_float(-1, 1));
            break;
        case 1:
            space_add(space, param_int(1, 100));
            break;
        case 2:
            space_add(space, CHOICE("a", "b", "c", "d"));
            break;
        default:
            space_add(space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-8, 1, 0));
        }
}

static void fill_choices(struct space *space)
{
    struct param param = {.name = xstrdup("c"), .type = PARAM_CHOICE, .n_choices = 10000};
    param.choices = xcalloc(param.n_choices, sizeof(*param.choices));
    for (size_t i = 0; i < param.n_choices; i++) {
        char text[16];
        snprintf(text, sizeof(text), "v%zu", i);
        param.choices[i] = value_guess(text, false);
    }
    space_add(space, param);
    space_add(space, param_float(0, 1));
}

static void fill_extreme(struct space *space)
{
    space_add(space, param_float(-1.7e308, 1.7e308));
    space_add(space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-300, 1e300, 0));
    space_add(space, param_float(1, 1 + 4.5e-16));
    space_add(space, param_int(-9e15, 9e15));
    space_add(space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1e-300, 1e-301));
}

static void fill_entangled(struct space *space)
{
    for (size_t i = 0; i < 24; i++) {
        space_add(space, param_int(0, 9));
        if (i > 0) { /* neighbours are never equal nor both large */
            for (double v = 0; v < 10; v++) {
                space_forbid(space, i - 1, v, v);
                space_forbid_and(space, i, v, v);
            }
            space_forbid(space, i - 1, 5, 9);
            space_forbid_and(space, i, 5, 9);
        }
    }
}

static void (*const odd_spaces[])(struct space *) = {
    fill_constants, fill_wide, fill_choices, fill_extreme, fill_entangled,
};

/* Seconds of this process that the slowest suggestion may take. */
#if defined(__SANITIZE_ADDRESS__)
#define PATIENCE 40
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PATIENCE 40
#endif
#endif
#ifndef PATIENCE
#define PATIENCE 10
#endif

static void check_space(const struct search_ops *ops, size_t which)
{
    struct space space = {0};
    struct search *s = NULL;
    int64_t slowest = 0;
    odd_spaces[which](&space);
    autofree(mem) double *x = xcalloc(space.n, sizeof(*x));
    struct problem problem = {.space = &space, .seed = 5, .trials = 40};
    int r = search_new(ops->name, &problem, &s, NULL);
    assert_true(r == 0 || r == -EINVAL);
    for (size_t i = 0; i < (is_slow(ops) ? 16 : 60) && r == 0; i++) {
        int64_t start = cpu_us();
        bool more = ask_point(s, x);
        slowest = MAX(slowest, cpu_us() - start);
        if (!more)
            break;
        assert_true(space_contains(&space, x));
        tell_value(s, x, (double)(i * 37 % 17));
    }
    if (s)
        check_best(s);
    if (slowest > 300000)
        print_message("# %s on space %zu: %lld ms\n", ops->name, which, (long long)slowest / 1000);
    assert_in_range(slowest, 0, PATIENCE * 1000000LL);
    search_free(s);
    space_release(&space);
}

TEST(spaces_at_the_end_of_what_is_sane)
{
    for (size_t i = 0; i < search_count(); i++)
        for (size_t k = 0; k < ARRAY_LEN(odd_spaces); k++)
            check_space(search_at(i), k);
}

TEST_MAIN
