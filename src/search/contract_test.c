/* SPDX-License-Identifier: MIT */
/*
 * contract_test.c — what every search algorithm promises, checked for all of them over a list of
 * spaces. A new algorithm is tested here by being in the list of search.c.
 */
#include "base/clock.h"
#include "base/map.h"
#include "model/test_space.h"
#include "search/search.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static void constants(struct space *space)
{
    space_add(space, CHOICE("7"));
    space_add(space, param_float(0.5, 0.5));
}

static void nothing(struct space *space UNUSED)
{
}

static void line(struct space *space)
{
    space_add(space, param_int(-5, 4));
}

static void mixed(struct space *space)
{
    space_add(space, CHOICE("sgd", "adam", "rmsprop"));
    space_add(space, param_int(1, 4));
    space_add(space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 0.4, 0.1));
    space_add(space, CHOICE("constant"));
}

static void log_ints(struct space *space)
{
    space_add(space, param_number(PARAM_INT, SCALE_LOG, 1, 300, 0));
    space_add(space, CHOICE("a", "b"));
}

static void conditional(struct space *space)
{
    space_add(space, CHOICE("sgd", "adam", "rmsprop"));
    space_add(space, param_int(0, 4));
    space_when(space, 0, 0, 0);
    space_add(space, CHOICE("no", "yes"));
    space_when(space, 1, 1, 4);
    space_add(space, param_int(1, 3));
}

/* Nine settings take nine tenths of the draws; 400 share the rest. */
static void skewed(struct space *space)
{
    space_add(space, param_int(0, 9));
    space_add(space, param_int(1, 20));
    space_when(space, 0, 9, 9);
    space_add(space, param_int(1, 20));
    space_when(space, 0, 9, 9);
}

/* A thousand settings behind doors that hardly ever open: each level halves the draws. */
static void deep(struct space *space)
{
    for (size_t i = 0; i < 12; i++) {
        space_add(space, CHOICE("stop", "on"));
        if (i > 0)
            space_when(space, i - 1, 1, 1);
    }
    space_add(space, param_int(1, 1000));
    space_when(space, 11, 1, 1);
}

static void wide(struct space *space)
{
    for (int i = 0; i < 100; i++)
        space_add(space, CHOICE("a", "b", "c"));
}

static void free_floats(struct space *space)
{
    space_add(space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-5, 0.1, 0));
    space_add(space, param_float(-1, 1));
    space_add(space, CHOICE("32", "64"));
}

static void free_or_not(struct space *space)
{
    space_add(space, CHOICE("plain", "tuned"));
    space_add(space, param_float(0, 1));
    space_when(space, 0, 1, 1);
}

static void wide_floats(struct space *space)
{
    for (int i = 0; i < 120; i++)
        space_add(space, param_float(0, 1));
}

static const struct case_space {
    const char *name;
    void (*fill)(struct space *space);
} spaces[] = {
    {"constants", constants},
    {"nothing", nothing},
    {"line", line},
    {"mixed", mixed},
    {"log_ints", log_ints},
    {"conditional", conditional},
    {"skewed", skewed},
    {"deep", deep},
    {"wide", wide},
    {"free_floats", free_floats},
    {"free_or_not", free_or_not},
    {"wide_floats", wide_floats},
};

#define MAX_PARAMS 128

/* One algorithm on one space. */
struct run {
    struct space space;
    const struct search_ops *ops;
    const struct case_space *what;
};

/* NULL where the algorithm refuses the space, with a sentence. */
static struct search *new_search(const struct run *run, uint64_t seed)
{
    struct err err = ERR_INIT;
    struct search *s = NULL;
    int r = search_new(run->ops->name, &run->space, 0, seed, &s, &err);
    assert_true(r == 0 || (r == -EINVAL && *err_text(&err)));
    err_release(&err);
    return s;
}

static void for_all(void (*check)(const struct run *run))
{
    for (size_t k = 0; k < ARRAY_LEN(spaces); k++)
        for (size_t i = 0; i < search_count(); i++) {
            struct run run = {.ops = search_at(i), .what = &spaces[k]};
            spaces[k].fill(&run.space);
            assert_true(run.space.n <= MAX_PARAMS);
            struct search *s = new_search(&run, 1);
            if (s)
                check(&run);
            search_free(s);
            space_release(&run.space);
        }
}

/* The first `n` asks, in `points`; how many there were before the end. */
static size_t ask_many(struct search *s, size_t n, double (*points)[MAX_PARAMS])
{
    for (size_t i = 0; i < n; i++) {
        int r = search_ask(s, points[i], NULL);
        if (r == -ENODATA)
            return i;
        assert_int_equal(r, 0);
    }
    return n;
}

static bool all_equal(double (*a)[MAX_PARAMS], double (*b)[MAX_PARAMS], size_t n, size_t params)
{
    for (size_t i = 0; i < n; i++)
        if (!point_equal(a[i], b[i], params))
            return false;
    return true;
}

#define MANY 200

static void check_in_bounds(const struct run *run)
{
    double points[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 42);
    size_t n = ask_many(s, MANY, points);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        assert_true(space_contains(&run->space, points[i]));
}

TEST(every_algorithm_stays_in_bounds)
{
    for_all(check_in_bounds);
}

static void check_deterministic(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 42), *t = new_search(run, 42);
    size_t n = ask_many(s, MANY, a);
    assert_int_equal(ask_many(t, MANY, b), n);
    assert_true(all_equal(a, b, n, run->space.n));
}

TEST(the_same_seed_gives_the_same_asks)
{
    for_all(check_deterministic);
}

static void check_seeds_differ(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 1), *t = new_search(run, 2);
    size_t n = ask_many(s, MANY, a);
    ask_many(t, MANY, b);
    if (n > 3 && !str_eq(run->ops->name, "grid"))
        assert_false(all_equal(a, b, n, run->space.n));
}

TEST(another_seed_gives_other_asks)
{
    for_all(check_seeds_differ);
}

/* Asks until the end; each point once, and as many as the space has. */
static void check_exhausts(const struct run *run)
{
    static char mark;
    double x[MAX_PARAMS], size = space_size(&run->space);
    struct map seen = MAP_INIT;
    autofree(search) struct search *s = new_search(run, 3);

    if (size > 5000)
        return;
    for (double i = 0; i < size; i++) {
        if (search_ask(s, x, NULL) < 0)
            fail_msg("%s ends %s after %g of %g", run->ops->name, run->what->name, i, size);
        uint64_t hash = point_hash(x, run->space.n);
        assert_null(map_find(&seen, hash));
        map_put(&seen, hash, &mark);
    }
    struct err err = ERR_INIT;
    for (int i = 0; i < 3; i++)
        assert_int_equal(search_ask(s, x, &err), -ENODATA);
    assert_string_equal(err_text(&err), "every setting was tried");
    err_release(&err);
    map_release(&seen);
}

TEST(a_finite_space_is_exhausted_exactly_and_without_repetition)
{
    for_all(check_exhausts);
}

static struct result made_up(size_t i)
{
    switch (i % 5) {
    case 0:
        return (struct result){RESULT_FAILED, NAN};
    case 1:
        return (struct result){RESULT_STOPPED, NAN};
    case 2:
        return (struct result){RESULT_STOPPED, 3.5};
    case 3:
        return (struct result){RESULT_VALUE, INFINITY};
    default:
        return (struct result){RESULT_VALUE, (double)(i % 17)};
    }
}

static size_t ask_and_tell(struct search *s, size_t n, double (*points)[MAX_PARAMS])
{
    for (size_t i = 0; i < n; i++) {
        if (ask_many(s, 1, &points[i]) == 0)
            return i;
        if (i < 3)
            continue; /* a few are in flight, and the results come late */
        struct result result = made_up(i - 3);
        search_tell(s, points[i - 3], &result);
    }
    return n;
}

static void check_tells(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 5), *t = new_search(run, 5);
    size_t n = ask_and_tell(s, MANY, a);
    assert_int_equal(ask_and_tell(t, MANY, b), n);
    assert_true(all_equal(a, b, n, run->space.n));
}

TEST(the_same_tells_give_the_same_asks_failures_among_them)
{
    for_all(check_tells);
}

/* Those without `tell` have no memory of results. */
static void check_memoryless(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 5), *t = new_search(run, 5);
    if (run->ops->tell)
        return;
    size_t n = ask_many(s, MANY, a);
    assert_int_equal(ask_and_tell(t, MANY, b), n);
    assert_true(all_equal(a, b, n, run->space.n));
}

TEST(algorithms_without_memory_do_not_depend_on_tells)
{
    for_all(check_memoryless);
}

static void check_outside_tell(const struct run *run)
{
    double x[MAX_PARAMS] = {0};
    struct result result = {RESULT_VALUE, 1};
    autofree(search) struct search *s = new_search(run, 5);
    for (size_t i = 0; i < run->space.n; i++)
        x[i] = 1e9;
    search_tell(s, x, &result);
    assert_int_equal(search_ask(s, x, NULL), 0);
}

TEST(a_tell_from_outside_the_space_does_no_harm)
{
    for_all(check_outside_tell);
}

/* Load what was saved into a new search and tell it the same results: then both go on alike. */
static struct search *resume(const struct run *run, const struct search *from, size_t told,
                             double (*points)[MAX_PARAMS])
{
    autorelease(str) struct str blob = STR_INIT;
    struct err err = ERR_INIT;
    struct search *s = new_search(run, 11);
    search_save(from, &blob);
    assert_true(blob.len < 1024);
    assert_ok(search_load(s, blob.s, blob.len, &err), &err);
    for (size_t i = 0; i < told; i++) {
        struct result result = made_up(i);
        search_tell(s, points[i], &result);
    }
    return s;
}

#define SAVES 60

static void check_resume(const struct run *run)
{
    double a[SAVES + 20][MAX_PARAMS], b[20][MAX_PARAMS];
    for (size_t at = 0; at <= SAVES; at += at < 12 ? 1 : 12) {
        autofree(search) struct search *s = new_search(run, 11);
        size_t n = ask_and_tell(s, at, a);
        if (n < at)
            ask_many(s, 1, b); /* saved past the end */
        autofree(search) struct search *t = resume(run, s, n > 3 ? n - 3 : 0, a);
        n = ask_many(s, 20, a);
        assert_int_equal(ask_many(t, 20, b), n);
        assert_true(all_equal(a, b, n, run->space.n));
    }
}

TEST(saved_and_restored_at_any_point_it_goes_on_the_same)
{
    for_all(check_resume);
}

/* The whole of a finite space, loaded again after every tenth ask: still no repetition. */
static void check_resume_to_the_end(const struct run *run)
{
    double x[1][MAX_PARAMS], size = space_size(&run->space), n = 0;
    struct search *s = new_search(run, 11), *next;
    if (size <= 1000) {
        while (ask_many(s, 1, x) == 1) {
            if (fmod(++n, 10) != 0)
                continue;
            next = resume(run, s, 0, x);
            search_free(s);
            s = next;
        }
        assert_true(n == size);
    }
    search_free(s);
}

TEST(interruptions_do_not_change_where_it_ends)
{
    for_all(check_resume_to_the_end);
}

static void check_bad_state(const struct run *run)
{
    struct err err = ERR_INIT;
    double x[MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 11);
    assert_int_equal(search_load(s, "abc", 3, &err), -EINVAL);
    assert_true(*err_text(&err));
    assert_int_equal(search_ask(s, x, NULL), 0);
    err_release(&err);
}

TEST(a_broken_state_is_refused)
{
    for_all(check_bad_state);
}

#define LOTS 100000

static void big(struct space *space)
{
    for (int i = 0; i < 8; i++)
        space_add(space, param_int(1, 6));
    space_add(space, param_number(PARAM_INT, SCALE_LOG, 1, 64, 0));
}

/* Nearly all of it is asked. */
static void nearly_full(struct space *space)
{
    space_add(space, param_int(1, 101));
    space_add(space, param_int(1, 1000));
}

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 20
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWER 20
#endif
#endif
#ifndef SLOWER
#define SLOWER 4 /* other work may hold the cores */
#endif

static void check_fast(void (*fill)(struct space *space), const struct search_ops *ops)
{
    struct run run = {.ops = ops};
    autorelease(str) struct str blob = STR_INIT;
    struct err err = ERR_INIT;
    double x[MAX_PARAMS];
    fill(&run.space);
    struct search *s = new_search(&run, 1), *t = s ? new_search(&run, 1) : NULL;
    if (s) {
        int64_t start = clock_mono_us();
        for (int i = 0; i < LOTS; i++)
            assert_int_equal(search_ask(s, x, NULL), 0);
        int64_t asked = clock_mono_us();
        search_save(s, &blob);
        assert_ok(search_load(t, blob.s, blob.len, &err), &err);
        int64_t loaded = clock_mono_us();
        assert_in_range(asked - start, 0, 1000000 * SLOWER);
        assert_in_range(loaded - asked, 0, 200000 * SLOWER);
        print_message("# %s: 100,000 asks %lld ms, load %lld ms\n", ops->name,
                      (long long)(asked - start) / 1000, (long long)(loaded - asked) / 1000);
    }
    search_free(s);
    search_free(t);
    space_release(&run.space);
}

TEST(a_hundred_thousand_asks_take_no_time)
{
    for (size_t i = 0; i < search_count(); i++) {
        check_fast(big, search_at(i));
        check_fast(nearly_full, search_at(i));
        check_fast(free_floats, search_at(i));
    }
}

TEST_MAIN
