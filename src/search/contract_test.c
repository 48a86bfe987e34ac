/* SPDX-License-Identifier: MIT */
/*
 * contract_test.c — what every search algorithm promises, checked for all of them over a list of
 * spaces. A new algorithm is tested here by being in the list of search.c.
 */
#include <errno.h>
#include <math.h>

#include "base/map.h"
#include "search/test_search.h"
#include "tests/cpu.h"

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

/* They look at no results. */
static bool is_blind(const struct search_ops *ops)
{
    return str_eq(ops->name, "grid") || str_eq(ops->name, "random") || str_eq(ops->name, "sobol");
}

/* They fit a model for each suggestion, which takes milliseconds. */
static bool is_slow(const struct search_ops *ops)
{
    return str_eq(ops->name, "auto") || str_eq(ops->name, "bayes") || str_eq(ops->name, "forest");
}

/* The algorithm itself, also where the name `auto` would give the grid. NULL where it refuses the
 * space, with a sentence. */
static struct search *new_search(const struct run *run, uint64_t seed)
{
    struct err err = ERR_INIT;
    struct search *s = NULL;
    struct problem problem = {.space = &run->space, .seed = seed, .trials = 1};
    int r = search_new(run->ops->name, &problem, &s, &err);
    assert_true(r == 0 || (r == -EINVAL && *err_text(&err)));
    err_release(&err);
    return s;
}

static void check_in_bounds_and_new(const struct run *run);

/* The widest spaces are for the first check only where it takes long. */
static void for_all(void (*check)(const struct run *run))
{
    for (size_t k = 0; k < ARRAY_LEN(spaces); k++)
        for (size_t i = 0; i < search_count(); i++) {
            struct run run = {.ops = search_at(i), .what = &spaces[k]};
            spaces[k].fill(&run.space);
            assert_true(run.space.n <= MAX_PARAMS);
            struct search *s = new_search(&run, 1);
            bool too_slow = is_slow(run.ops) && run.space.n > 50;
            if (s && (!too_slow || check == check_in_bounds_and_new))
                check(&run);
            search_free(s);
            space_release(&run.space);
        }
}

/* The first `n` asks, in `points`; how many there were before the end. */
static size_t ask_many(struct search *s, size_t n, double (*points)[MAX_PARAMS])
{
    for (size_t i = 0; i < n; i++)
        if (!ask_point(s, points[i]))
            return i;
    return n;
}

static struct result made_up(size_t i)
{
    switch (i % 7) {
    case 0:
        return (struct result){RESULT_FAILED, .value = NAN};
    case 1:
        return (struct result){RESULT_STOPPED, .value = NAN};
    case 2:
        return (struct result){RESULT_STOPPED, .value = 3.5, .deviation = 0.5};
    case 3:
        return (struct result){RESULT_VALUE, .value = i % 2 ? INFINITY : NAN};
    default:
        return (struct result){RESULT_VALUE, .value = (double)(i * 31 % 17)};
    }
}

#define LATE 3 /* so many are in flight, and the results come late */

static void tell_made_up(struct search *s, size_t i, double (*points)[MAX_PARAMS])
{
    struct result result = made_up(i);
    search_tell(s, points[i], &result);
}

/* Asks from..to, each followed by the result of one that was asked LATE before it. */
static size_t ask_and_tell(struct search *s, size_t from, size_t to, double (*points)[MAX_PARAMS])
{
    for (size_t i = from; i < to; i++) {
        if (!ask_point(s, points[i]))
            return i;
        if (i >= LATE)
            tell_made_up(s, i - LATE, points);
    }
    return to;
}

static bool all_equal(double (*a)[MAX_PARAMS], double (*b)[MAX_PARAMS], size_t n, size_t params)
{
    for (size_t i = 0; i < n; i++)
        if (!point_equal(a[i], b[i], params))
            return false;
    return true;
}

#define MANY 200

/* Enough for each to have looked at results. */
static size_t many(const struct run *run)
{
    return is_slow(run->ops) ? 14 : MANY;
}

static void check_in_bounds_and_new(const struct run *run)
{
    double points[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 42);
    size_t n = ask_and_tell(s, 0, many(run), points);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(space_contains(&run->space, points[i]));
        for (size_t k = 0; k < i; k++)
            if (point_equal(points[i], points[k], run->space.n))
                fail_msg("%s on %s: %zu is %zu again", run->ops->name, run->what->name, i, k);
    }
}

TEST(every_algorithm_stays_in_bounds_and_asks_nothing_twice)
{
    for_all(check_in_bounds_and_new);
}

static void check_seeds(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS], c[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 1), *t = new_search(run, 1);
    autofree(search) struct search *u = new_search(run, 2);
    size_t n = ask_and_tell(s, 0, many(run), a);
    assert_int_equal(ask_and_tell(t, 0, many(run), b), n);
    assert_true(all_equal(a, b, n, run->space.n));
    assert_int_equal(ask_many(u, MIN(n, 20), c), MIN(n, 20));
    if (n > 3 && !str_eq(run->ops->name, "grid"))
        assert_false(all_equal(a, c, MIN(n, 20), run->space.n));
}

TEST(the_same_seed_and_tells_give_the_same_asks_another_seed_others)
{
    for_all(check_seeds);
}

/* Asks until the end; each point once, and as many as the space has. */
static void exhaust(const struct run *run, bool tell)
{
    static char mark;
    double x[MAX_PARAMS], size = space_size(&run->space);
    struct map seen = MAP_INIT;
    struct err err = ERR_INIT;
    struct suggestion next = {.x = x};
    autofree(search) struct search *s = new_search(run, 3);

    for (size_t i = 0; (double)i < size; i++) {
        if (search_ask(s, &next, NULL) < 0)
            fail_msg("%s ends %s after %zu of %g", run->ops->name, run->what->name, i, size);
        uint64_t hash = point_hash(x, run->space.n);
        assert_null(map_find(&seen, hash));
        map_put(&seen, hash, &mark);
        struct result result = made_up(i);
        if (tell)
            search_tell(s, x, &result);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(search_ask(s, &next, &err), -ENODATA);
    assert_string_equal(err_text(&err), "every setting was tried");
    err_release(&err);
    map_release(&seen);
}

static void check_exhausts(const struct run *run)
{
    double size = space_size(&run->space);
    if (size <= 5000)
        exhaust(run, false);
    if (size <= (is_slow(run->ops) ? 30 : 700))
        exhaust(run, true);
}

TEST(a_finite_space_is_exhausted_exactly_and_without_repetition)
{
    for_all(check_exhausts);
}

static void check_blind(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 5), *t = new_search(run, 5);
    if (!is_blind(run->ops))
        return;
    size_t n = ask_many(s, MANY, a);
    assert_int_equal(ask_and_tell(t, 0, MANY, b), n);
    assert_true(all_equal(a, b, n, run->space.n));
}

TEST(algorithms_that_look_at_no_results_do_not_depend_on_tells)
{
    for_all(check_blind);
}

static void check_outside_tell(const struct run *run)
{
    double x[MAX_PARAMS] = {0};
    autofree(search) struct search *s = new_search(run, 5);
    for (size_t i = 0; i < run->space.n; i++)
        x[i] = i % 3 ? NAN : i % 2 ? INFINITY : 1e9;
    if (run->space.n)
        tell_value(s, x, 1);
    assert_int_equal(s->history.n, 0);
    assert_true(ask_point(s, x));
}

TEST(a_tell_from_outside_the_space_does_no_harm)
{
    for_all(check_outside_tell);
}

/* What was never asked teaches too, and is not asked after. */
static void check_told_unasked(const struct run *run)
{
    double a[20][MAX_PARAMS], b[20][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 6), *t = new_search(run, 7);
    size_t n = ask_many(s, 10, a);
    for (size_t i = 0; i < n; i++)
        tell_made_up(t, i, a);
    size_t m = ask_many(t, 10, b);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < n; k++)
            assert_false(point_equal(b[i], a[k], run->space.n));
}

TEST(settings_that_others_ran_are_not_asked)
{
    for_all(check_told_unasked);
}

/* ---- paused trials ---- */

/* All are paused once or twice, and most of them end, failed ones too. */
static size_t pause_all(struct search *s, size_t n, double (*points)[MAX_PARAMS])
{
    for (size_t i = 0; i < n; i++) {
        if (!ask_point(s, points[i]))
            return i;
        assert_int_equal(history_given(&s->history, points[i]), 1);
        for (size_t k = 1; k <= 3 && k * LATE <= i; k++) {
            size_t of = i - k * LATE;
            struct result result = made_up(of + 7 - k);
            if ((k == 2 && of % 2) || (k == 3 && of % 5 == 0))
                continue;
            if (k < 3 && result.kind == RESULT_VALUE)
                result.kind = RESULT_STOPPED;
            result.passing = k < 3;
            result.replaces = k > 1;
            search_tell(s, points[of], &result);
        }
    }
    return n;
}

static void check_paused(const struct run *run)
{
    double a[MANY][MAX_PARAMS], b[MANY][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 8), *t = new_search(run, 8);
    size_t n = pause_all(s, many(run), a), standing = 0;
    assert_int_equal(pause_all(t, many(run), b), n);
    assert_true(all_equal(a, b, n, run->space.n));
    for (size_t i = 0; i < s->history.n; i++)
        standing += !s->history.replaced.at[i];
    if (n == many(run))
        assert_int_equal(standing, n - LATE);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(history_given(&s->history, a[i]), 1);
}

TEST(what_a_paused_trial_tells_stands_until_it_tells_more)
{
    for_all(check_paused);
}

/* ---- interruption ---- */

/* A search in a new process: what was saved, the asks, and the results of the first `told`. */
static struct search *resume(const struct run *run, const struct search *from, size_t asked,
                             size_t told, double (*points)[MAX_PARAMS], const enum why *why)
{
    autorelease(str) struct str blob = STR_INIT;
    struct err err = ERR_INIT;
    struct search *s = new_search(run, 11);
    search_save(from, &blob);
    assert_true(blob.len < 2048);
    assert_ok(search_load(s, blob.s, blob.len, &err), &err);
    for (size_t i = 0; i < asked; i++)
        search_asked(s, points[i], why[i], i < told);
    for (size_t i = 0; i < told; i++)
        tell_made_up(s, i, points);
    return s;
}

#define SAVES 60

static void check_resume_at(const struct run *run, size_t at)
{
    double a[SAVES + 20][MAX_PARAMS], b[SAVES + 20][MAX_PARAMS];
    enum why why[SAVES] = {0};
    autofree(search) struct search *s = new_search(run, 11);
    size_t n = ask_and_tell(s, 0, at, a), more = is_slow(run->ops) ? 3 : 20;
    if (n < at)
        ask_many(s, 1, b); /* saved past the end */
    autofree(search) struct search *t = resume(run, s, n, n > LATE ? n - LATE : 0, a, why);
    memcpy(b, a, sizeof(a));
    size_t end = ask_and_tell(s, n, n + more, a);
    assert_int_equal(ask_and_tell(t, n, n + more, b), end);
    if (!all_equal(a, b, end, run->space.n))
        fail_msg("%s on %s saved at %zu goes on otherwise", run->ops->name, run->what->name, at);
}

static void check_resume(const struct run *run)
{
    for (size_t at = 0; at <= SAVES; at += at < 12 ? 1 : 12)
        if (!is_slow(run->ops) || at == 11 || (at == 36 && run->space.n <= 4))
            check_resume_at(run, at);
}

TEST(saved_and_restored_at_any_point_it_goes_on_the_same)
{
    for_all(check_resume);
}

/* The whole of a finite space, loaded again after every tenth ask: still no repetition. Each time a
 * suggestion was just prepared that nobody got. */
static void check_resume_to_the_end(const struct run *run)
{
    static double x[1000][MAX_PARAMS];
    static const enum why why[1000];
    double size = space_size(&run->space);
    struct search *s = new_search(run, 11), *next;
    size_t n = 0;
    if (size <= 999) {
        while (ask_many(s, 1, &x[n]) == 1) {
            if (++n % 10 != 0)
                continue;
            search_prepare(s, NULL);
            next = resume(run, s, n, 0, x, why);
            search_free(s);
            s = next;
        }
        assert_true((double)n == size);
    }
    search_free(s);
}

TEST(interruptions_do_not_change_where_it_ends)
{
    for_all(check_resume_to_the_end);
}

/* Cut anywhere, or with any byte changed: refused with a sentence, or a search that works. */
static void check_bad_state(const struct run *run)
{
    autorelease(str) struct str blob = STR_INIT;
    double x[LATE * 2][MAX_PARAMS];
    struct search *s = new_search(run, 11);
    ask_and_tell(s, 0, ARRAY_LEN(x), x);
    search_save(s, &blob);
    search_free(s);
    for (size_t i = 0; i < 2 * blob.len; i++) {
        struct err err = ERR_INIT;
        size_t len = i < blob.len ? i : blob.len;
        s = new_search(run, 11);
        if (i >= blob.len)
            blob.s[i - blob.len] ^= (char)0xa5;
        int r = search_load(s, blob.s, len, &err);
        assert_true(r == 0 || (r == -EINVAL && *err_text(&err)));
        if (r < 0)
            assert_true(ask_point(s, x[0]));
        else
            ask_point(s, x[0]);
        if (i >= blob.len)
            blob.s[i - blob.len] ^= (char)0xa5;
        err_release(&err);
        search_free(s);
    }
}

TEST(a_broken_state_is_refused_or_harmless)
{
    for_all(check_bad_state);
}

/* ---- computed ahead ---- */

/* t asks before the results of what is in flight, s prepares then and asks after: the same. */
static void check_prepared(const struct run *run)
{
    size_t at = many(run) < 30 ? many(run) - 2 : 30;
    double a[40][MAX_PARAMS], b[40][MAX_PARAMS];
    autofree(search) struct search *s = new_search(run, 9), *t = new_search(run, 9);
    size_t n = ask_and_tell(s, 0, at, a);
    if (ask_and_tell(t, 0, at, b) < at || search_prepare(s, NULL) < 0)
        return;
    int64_t seen = (int64_t)s->history.n;
    struct suggestion next = {.x = a[n]}, now = {.x = b[n]};
    assert_int_equal(search_ask(t, &now, NULL), 0);
    for (size_t i = n - LATE; i < n; i++) {
        tell_made_up(s, i, a);
        tell_made_up(t, i, b);
    }
    assert_int_equal(search_prepare(s, NULL), 0); /* there is one */
    assert_int_equal(search_ask(s, &next, NULL), 0);
    assert_true(next.seen == seen && now.seen == seen && next.why == now.why);
    size_t more = ask_many(s, 2, &a[n + 1]);
    assert_int_equal(ask_many(t, 2, &b[n + 1]), more);
    n += 1 + more;
    if (!all_equal(a, b, n, run->space.n))
        fail_msg("%s on %s prepared otherwise", run->ops->name, run->what->name);
}

TEST(a_suggestion_prepared_ahead_takes_later_results_as_still_in_flight)
{
    for_all(check_prepared);
}

/* s prepares and forgets all the time; nothing comes of it. */
static void check_forgotten(const struct run *run)
{
    double a[40][MAX_PARAMS], b[40][MAX_PARAMS];
    size_t last = is_slow(run->ops) ? 12 : 40;
    autofree(search) struct search *s = new_search(run, 9), *t = new_search(run, 9);
    for (size_t i = 0; i < last; i++) {
        bool end = search_prepare(s, NULL) == -ENODATA;
        search_forget(s);
        assert_int_equal(ask_and_tell(s, i, i + 1, a), i + !end);
        assert_int_equal(ask_and_tell(t, i, i + 1, b), i + !end);
        if (end)
            return;
        assert_true(point_equal(a[i], b[i], run->space.n));
    }
}

TEST(a_prepared_suggestion_that_is_thrown_away_leaves_no_trace)
{
    for_all(check_forgotten);
}

/* A trial that never ran gives its setting back: a finite space ends when all of them ran. */
static void check_void(const struct run *run)
{
    double x[MAX_PARAMS], size = space_size(&run->space);
    autofree(search) struct search *s = new_search(run, 9);
    size_t asked = 0, ran = 0;
    if (size > 60)
        return;
    while (asked < 1000 && ask_point(s, x)) {
        bool runs = ++asked % 3 != 0;
        ran += runs;
        search_tell(s, x, &(struct result){runs ? RESULT_FAILED : RESULT_VOID, .value = NAN});
    }
    assert_true((double)ran == size);
    assert_true((double)s->history.n == (double)ran && s->history.n_pending == 0);
}

TEST(a_setting_that_never_ran_may_come_again)
{
    for_all(check_void);
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
#define SLOWER 4 /* other work may hold the caches */
#endif

static void check_fast(void (*fill)(struct space *space), const struct search_ops *ops)
{
    struct run run = {.ops = ops};
    autorelease(str) struct str blob = STR_INIT;
    struct err err = ERR_INIT;
    double x[MAX_PARAMS];
    struct suggestion next = {.x = x};
    fill(&run.space);
    struct search *s = new_search(&run, 1), *t = s ? new_search(&run, 1) : NULL;
    if (s) {
        int64_t start = cpu_us();
        for (int i = 0; i < LOTS; i++)
            assert_int_equal(search_ask(s, &next, NULL), 0);
        int64_t asked = cpu_us();
        search_save(s, &blob);
        assert_ok(search_load(t, blob.s, blob.len, &err), &err);
        int64_t loaded = cpu_us();
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
        if (!is_blind(search_at(i)))
            continue;
        check_fast(big, search_at(i));
        check_fast(nearly_full, search_at(i));
        check_fast(free_floats, search_at(i));
    }
}

TEST_MAIN
