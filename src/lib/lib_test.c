/* SPDX-License-Identifier: MIT */
/*
 * lib_test.c — libhone-search through its public header, in this process and under sanitizers.
 */
#include "tests/test.h"

#include "base/fs.h"
#include "base/json.h"
#include "hone_search.h"
#include "lib/save.h"

#include <math.h>

#define MIXED                                                                                      \
    "\"params\": {\"lr\": {\"min\": 1e-4, \"max\": 0.1, \"scale\": \"log\"},"                      \
    " \"opt\": [\"sgd\", \"adam\"], \"momentum\": {\"min\": 0, \"max\": 1, \"when\": "             \
    "{\"opt\": \"sgd\"}}, \"layers\": {\"min\": 1, \"max\": 4, \"type\": \"int\"}}"

static hone_search *begin(const char *problem)
{
    char error[500] = "";
    hone_search *s = hone_search_new(problem, error, sizeof(error));
    if (!s)
        fail_msg("%s", error);
    return s;
}

static hone_search *begin_with(const char *rest)
{
    autofree(mem) char *problem = xasprintf("{" MIXED "%s%s}", *rest ? ", " : "", rest);
    return begin(problem);
}

static void refused(const char *problem, const char *sentence)
{
    char error[500] = "";
    assert_null(hone_search_new(problem, error, sizeof(error)));
    if (!strstr(error, sentence))
        fail_msg("'%s' is not in '%s'", sentence, error);
}

/* What hone_search_trial(), _best() or one of _front() says under `key`. */
static json_t *parsed(const char *text)
{
    struct err err = ERR_INIT;
    json_t *json = NULL;
    assert_non_null(text);
    assert_ok(json_parse(text, strlen(text), &json, &err), &err);
    return json;
}

static double number_of(const char *text, const char *key)
{
    autofree(json) json_t *json = parsed(text);
    return json_get_double(json, key, NAN);
}

static void assert_text(const char *text, const char *key, const char *expected)
{
    autofree(json) json_t *json = parsed(text);
    assert_string_equal(json_get_text(json, key, ""), expected);
}

static double param_of(hone_search *s, int64_t id, const char *name)
{
    autofree(json) json_t *json = parsed(hone_search_trial(s, id));
    return json_get_double(json_object_get(json, "params"), name, NAN);
}

static int tell(hone_search *s, int64_t id, double value)
{
    return hone_search_tell(s, id, &value, 1);
}

static int report(hone_search *s, int64_t id, int64_t step, double value)
{
    return hone_search_report(s, id, step, &value, 1);
}

static int instance(hone_search *s, int64_t id, int64_t k, double value)
{
    return hone_search_instance(s, id, k, &value, 1);
}

TEST(trials_are_numbered_and_in_the_space)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 3}");
    for (int64_t id = 1; id <= 30; id++) {
        assert_int_equal(hone_search_ask(s), id);
        double lr = param_of(s, id, "lr"), layers = param_of(s, id, "layers");
        assert_true(lr >= 1e-4 && lr <= 0.1 && layers >= 1 && layers <= 4);
        assert_text(hone_search_trial(s, id), "state", "running");
        assert_text(hone_search_trial(s, id), "by", "random");
    }
    assert_int_equal(hone_search_count(s), 30);
    hone_search_free(s);
}

/* The texts in quotes between `from` and `to`, as a compiler would join them. */
static void add_literals(struct str *joined, const char *from, const char *to)
{
    bool inside = false;

    for (; from < to; from++) {
        if (*from == '\\' && inside)
            str_add_char(joined, *++from);
        else if (*from == '"')
            inside = !inside;
        else if (inside)
            str_add_char(joined, *from);
    }
}

TEST(the_example_in_the_header_is_a_problem)
{
    autorelease(str) struct str header = STR_INIT, problem = STR_INIT;
    struct err err = ERR_INIT;

    assert_ok(fs_read("sdk/c/hone_search.h", 1 << 20, &header, &err), &err);
    const char *at = strstr(header.s, "hone_search_new(\"");
    assert_non_null(at);
    add_literals(&problem, at, strstr(at, "why, sizeof(why)"));
    hone_search *s = begin(problem.s);
    int64_t id = hone_search_ask(s);
    assert_int_equal(id, 1);
    assert_int_equal(tell(s, id, 0.5), 0);
    assert_int_equal(number_of(hone_search_best(s), "id"), 1);
    hone_search_free(s);
}

TEST(the_same_seed_gives_the_same_settings)
{
    const char *rest = "\"search\": {\"seed\": 7}";
    hone_search *s = begin_with(rest), *t = begin_with(rest);
    for (int64_t id = 1; id <= 20; id++) {
        assert_int_equal(hone_search_ask(s), hone_search_ask(t));
        autofree(mem) char *mine = xstrdup(hone_search_trial(s, id));
        assert_string_equal(mine, hone_search_trial(t, id));
        assert_int_equal(tell(s, id, (double)(id % 5)), tell(t, id, (double)(id % 5)));
    }
    hone_search_free(s);
    hone_search_free(t);
}

TEST(what_is_maximised_is_told_and_shown_as_it_is)
{
    hone_search *s = begin_with("\"objective\": {\"metric\": \"acc\", \"goal\": \"maximize\"},"
                                "\"search\": {\"algorithm\": \"random\", \"seed\": 1}");
    assert_null(hone_search_best(s));
    assert_true(strstr(hone_search_error(s), "no trial has a result"));
    const double values[] = {0.5, 0.9, 0.7};
    for (int i = 0; i < 3; i++)
        assert_int_equal(tell(s, hone_search_ask(s), values[i]), 0);
    assert_true(number_of(hone_search_best(s), "id") == 2);
    assert_true(number_of(hone_search_best(s), "value") == 0.9);
    assert_true(number_of(hone_search_trial(s, 3), "value") == 0.7);
    hone_search_free(s);
}

TEST(what_was_misunderstood_is_said)
{
    refused("{", "");
    refused("[1]", "");
    refused("{\"params\": {}}", "no parameters");
    refused("{\"params\": {\"x\": {\"min\": 2, \"max\": 1}}}", "min 2 is above max 1");
    refused("{\"params\": {\"x\": []}}", "empty");
    refused("{" MIXED ", \"search\": {\"algorithm\": \"magic\"}}", "magic");
    refused("{" MIXED ", \"serach\": {}}", "serach");
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\"}");
    double two[2] = {1, 2};
    assert_int_equal(tell(s, 1, 0), -ENOENT);
    assert_string_equal(hone_search_error(s), "there is no trial 1");
    assert_null(hone_search_trial(s, INT64_MIN));
    hone_search_ask(s);
    assert_int_equal(hone_search_tell(s, 1, two, 2), -EINVAL);
    assert_string_equal(hone_search_error(s), "trial 1: 2 values are given, not 1");
    assert_int_equal(hone_search_close(s, 1), -EINVAL);
    assert_string_equal(hone_search_error(s), "trial 1: nothing was reported, so it needs a value");
    assert_int_equal(tell(s, 1, 4), 0);
    assert_int_equal(tell(s, 1, 4), -EINVAL);
    assert_string_equal(hone_search_error(s), "trial 1 has ended: it is completed");
    hone_search_free(s);
}

TEST(an_error_is_cut_to_the_buffer_it_is_given)
{
    char small[4] = "xyz";
    assert_null(hone_search_new("{}", small, sizeof(small)));
    assert_true(strlen(small) <= 3);
    assert_null(hone_search_new("{}", NULL, 0));
}

TEST(results_that_are_no_number_are_failures)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    hone_search *s = begin_with("\"search\": {\"seed\": 1}");
    for (int i = 0; i < 3; i++) {
        int64_t id = hone_search_ask(s);
        assert_int_equal(tell(s, id, bad[i]), 0);
        assert_text(hone_search_trial(s, id), "state", "failed");
    }
    int64_t id = hone_search_ask(s);
    assert_int_equal(hone_search_fail(s, id), 0);
    assert_null(hone_search_best(s));
    for (int i = 0; i < 10; i++)
        assert_int_equal(tell(s, hone_search_ask(s), i % 2 ? 1e300 : -1e-300), 0);
    assert_true(number_of(hone_search_best(s), "value") == -1e-300);
    hone_search_free(s);
}

TEST(a_finite_space_ends_and_cancelled_settings_come_again)
{
    hone_search *s = begin("{\"params\": {\"a\": [1, 2], \"b\": [true, false]},"
                           " \"search\": {\"algorithm\": \"random\"}}");
    for (int i = 1; i <= 4; i++)
        assert_int_equal(hone_search_ask(s), i);
    assert_int_equal(hone_search_ask(s), -ENODATA);
    assert_true(*hone_search_error(s));
    assert_int_equal(hone_search_count(s), 4);
    assert_int_equal(hone_search_cancel(s, 2), 0);
    assert_text(hone_search_trial(s, 2), "state", "cancelled");
    assert_int_equal(hone_search_ask(s), 5);
    assert_true(param_of(s, 5, "a") == param_of(s, 2, "a"));
    assert_int_equal(hone_search_ask(s), -ENODATA);
    hone_search_free(s);
}

TEST(settings_of_ones_own_are_trials_too)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 1}");
    assert_int_equal(hone_search_add(s, "{\"lr\": 0.01, \"opt\": \"adam\", \"layers\": 2}"), 1);
    assert_text(hone_search_trial(s, 1), "why", "own");
    assert_true(param_of(s, 1, "lr") == 0.01);
    tell(s, 1, 3);
    assert_true(number_of(hone_search_best(s), "id") == 1);
    static const char *const wrong[] = {
        "{\"lr\": 0.01}",
        "{\"lr\": 5, \"opt\": \"adam\", \"layers\": 2}",
        "{\"lr\": 0.01, \"opt\": \"adam\", \"layers\": 2.5}",
        "{\"lr\": 0.01, \"opt\": \"lion\", \"layers\": 2}",
        "{\"lr\": 0.01, \"opt\": \"adam\", \"layers\": 2, \"momentum\": 0.5}",
        "{\"lr\": 0.01, \"opt\": \"adam\", \"layers\": 2, \"x\": 0.5}",
        "{\"lr\": [1], \"opt\": \"adam\", \"layers\": 2}",
        "[]",
        "{",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(hone_search_add(s, wrong[i]), -EINVAL);
        assert_true(*hone_search_error(s));
    }
    assert_int_equal(hone_search_count(s), 1);
    hone_search_free(s);
}

/* ---- on the way ---- */

TEST(a_poor_curve_is_told_to_stop_and_teaches_all_the_same)
{
    hone_search *s =
        begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 1, \"stop\": \"median\"}");
    for (int64_t id = 1; id <= 6; id++) {
        hone_search_ask(s);
        for (int64_t step = 1; step <= 5; step++)
            assert_int_equal(report(s, id, step, 1.0 / (double)step + 0.01 * (double)id), 0);
        assert_int_equal(hone_search_close(s, id), 0);
        assert_text(hone_search_trial(s, id), "state", "completed");
        assert_true(number_of(hone_search_trial(s, id), "value") == 0.2 + 0.01 * (double)id);
    }
    hone_search_ask(s);
    int stop = 0;
    for (int64_t step = 1; step <= 5 && !stop; step++)
        stop = report(s, 7, step, 5);
    assert_int_equal(stop, 1);
    assert_int_equal(hone_search_close(s, 7), 0);
    assert_text(hone_search_trial(s, 7), "state", "stopped");
    assert_true(number_of(hone_search_best(s), "id") == 1);
    hone_search_free(s);
}

TEST(a_rule_that_would_pause_a_trial_ends_it)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 1, \"stop\": "
                                "{\"asha\": {\"eta\": 2, \"min\": 1, \"max\": 8}}}");
    int ended = 0;
    for (int64_t id = 1; id <= 6; id++) {
        hone_search_ask(s);
        int stop = 0;
        for (int64_t step = 1; step <= 8 && !stop; step++)
            stop = report(s, id, step, (double)id);
        assert_in_range(stop, 0, 1);
        assert_int_equal(hone_search_close(s, id), 0);
        assert_text(hone_search_trial(s, id), "state", stop ? "stopped" : "completed");
        ended += stop;
    }
    assert_in_range(ended, 3, 5);
    hone_search_free(s);
}

TEST(steps_rise_and_a_loss_that_is_no_number_ends_a_trial)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\"}");
    hone_search_ask(s);
    assert_int_equal(report(s, 1, 5, 1), 0);
    assert_int_equal(report(s, 1, 5, 1), -EINVAL);
    assert_string_equal(hone_search_error(s), "trial 1: step 5 was reported after step 5");
    assert_int_equal(instance(s, 1, 0, 1), -EINVAL);
    assert_int_equal(report(s, 1, 6, NAN), 1);
    assert_int_equal(hone_search_close(s, 1), 0);
    assert_text(hone_search_trial(s, 1), "state", "failed");
    hone_search_ask(s);
    assert_int_equal(hone_search_stopped(s, 2), 0);
    assert_text(hone_search_trial(s, 2), "state", "stopped");
    hone_search_free(s);
}

TEST(the_mean_over_instances_is_the_result_and_who_loses_the_race_gives_up)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 1}");
    const double hard[] = {10, 0, 30, 20, 50, 5};
    hone_search_ask(s);
    for (int k = 0; k < 6; k++)
        assert_int_equal(instance(s, 1, k, hard[k]), 0);
    assert_int_equal(instance(s, 1, 3, 1), -EINVAL);
    assert_int_equal(report(s, 1, 3, 1), -EINVAL);
    assert_int_equal(hone_search_close(s, 1), 0);
    assert_true(fabs(number_of(hone_search_trial(s, 1), "value") - 115.0 / 6) < 1e-12);

    /* Two worse on each: seen after four of six, though those four are easier than the mean. */
    hone_search_ask(s);
    int lost = 0, k = 0;
    for (; k < 6 && !lost; k++)
        lost = instance(s, 2, k, hard[k] + 2 + 0.01 * k);
    assert_int_equal(k, 4);
    assert_int_equal(hone_search_close(s, 2), 0);
    assert_text(hone_search_trial(s, 2), "state", "stopped");
    assert_true(fabs(number_of(hone_search_trial(s, 2), "value") - 115.0 / 6 - 2.015) < 1e-9);

    /* Better on each: never. */
    hone_search_ask(s);
    for (k = 0; k < 6; k++)
        assert_int_equal(instance(s, 3, k, hard[k] - 1), 0);
    assert_int_equal(hone_search_close(s, 3), 0);
    assert_true(number_of(hone_search_best(s), "id") == 3);
    hone_search_free(s);
}

/* ---- several objectives, constraints ---- */

TEST(the_front_is_what_no_trial_beats_in_all_objectives)
{
    hone_search *s =
        begin_with("\"objective\": [{\"metric\": \"loss\"}, {\"metric\": \"speed\", \"goal\": "
                   "\"maximize\"}], \"search\": {\"seed\": 1}");
    const double values[][2] = {{1, 10}, {2, 20}, {2, 10}, {0.5, 5}, {NAN, 50}, {2, 20}};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_int_equal(hone_search_tell(s, hone_search_ask(s), values[i], 2), 0);
    autofree(json) json_t *front = parsed(hone_search_front(s));
    const int expected[] = {4, 1, 2, 6};
    assert_int_equal(json_array_size(front), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_get_int(json_array_get(front, i), "id", 0), expected[i]);
    const json_t *value = json_object_get(json_array_get(front, 0), "value");
    assert_true(json_number_value(json_array_get(value, 1)) == 5);
    assert_null(hone_search_best(s));
    hone_search_free(s);
}

TEST(what_breaks_a_constraint_is_neither_best_nor_on_the_front)
{
    hone_search *s = begin_with("\"constraint\": [\"latency <= 20\", \"acc >= 0.5\"],"
                                "\"search\": {\"seed\": 1}");
    const double values[][3] = {{1, 21, 0.9}, {2, 20, 0.5}, {3, 1, 0.9}, {0, 1, 0.4}, {0, NAN, 1}};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_int_equal(hone_search_tell(s, hone_search_ask(s), values[i], 3), 0);
    autofree(json) json_t *front = parsed(hone_search_front(s));
    assert_int_equal(json_array_size(front), 1);
    assert_int_equal(json_get_int(json_array_get(front, 0), "id", 0), 2);
    assert_true(number_of(hone_search_best(s), "id") == 2);
    hone_search_free(s);
}

/* ---- save and load ---- */

static hone_search *reload(hone_search *s)
{
    char error[500] = "";
    size_t n, m;
    autofree(mem) void *bytes = NULL;
    const void *saved = hone_search_save(s, &n);
    bytes = xmemdup(saved, n);
    hone_search *t = hone_search_load(bytes, n, error, sizeof(error));
    if (!t)
        fail_msg("%s", error);
    saved = hone_search_save(t, &m);
    assert_int_equal(n, m);
    assert_memory_equal(saved, bytes, n);
    return t;
}

/* One round of a life with everything in it. */
static void live(hone_search *s, int i)
{
    int64_t id = hone_search_ask(s);
    double x = id > 0 ? fabs(param_of(s, id, "layers") - 2) : 0;

    if (id < 0)
        return;
    if (i % 7 == 3) {
        hone_search_fail(s, id);
    } else if (i % 7 == 4) {
        hone_search_cancel(s, id);
    } else if (i % 7 == 5) {
        for (int k = 0; k < 4; k++)
            instance(s, id, k, x + k);
        hone_search_close(s, id);
    } else if (i % 7 == 6) {
        for (int step = 1; step < 4; step++)
            report(s, id, step, x + 1.0 / step);
        if (i % 2)
            hone_search_stopped(s, id);
    } else if (i % 7 != 2) {
        tell(s, id, x);
    }
}

static void check_goes_on(const char *algorithm)
{
    autofree(mem) char *rest =
        xasprintf("\"forbid\": [{\"opt\": \"sgd\", \"layers\": 3}], \"try\": [{\"lr\": 0.01}],"
                  "\"search\": {\"algorithm\": \"%s\", \"trials\": 30, \"seed\": 5}",
                  algorithm);
    for (int at = 0; at <= 24; at += 6) {
        hone_search *s = begin_with(rest);
        for (int i = 0; i < at; i++)
            live(s, i);
        hone_search *t = reload(s);
        for (int i = at; i < at + 8; i++) {
            live(s, i);
            live(t, i);
        }
        assert_int_equal(hone_search_count(s), hone_search_count(t));
        for (int64_t id = 1; id <= hone_search_count(s); id++) {
            autofree(mem) char *mine = xstrdup(hone_search_trial(s, id));
            assert_string_equal(mine, hone_search_trial(t, id));
        }
        hone_search_free(s);
        hone_search_free(t);
    }
}

TEST(saved_and_loaded_it_goes_on_the_same)
{
    check_goes_on("auto");
    for (size_t i = 0; i < search_count(); i++)
        if (!str_eq(search_at(i)->name, "grid")) /* there is a free float */
            check_goes_on(search_at(i)->name);
}

TEST(a_random_seed_is_kept)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\"}"), *t = reload(s);
    hone_search_ask(s);
    hone_search_ask(t);
    assert_true(param_of(s, 1, "lr") == param_of(t, 1, "lr"));
    hone_search_free(s);
    hone_search_free(t);
}

static char *saved_example(size_t *ret_n)
{
    hone_search *s = begin_with("\"search\": {\"algorithm\": \"random\", \"seed\": 5}");
    for (int i = 0; i < 14; i++)
        live(s, i);
    const void *saved = hone_search_save(s, ret_n);
    char *bytes = xmemdup(saved, *ret_n);
    hone_search_free(s);
    return bytes;
}

TEST(damaged_bytes_are_refused)
{
    char error[500];
    size_t n;
    autofree(mem) char *bytes = saved_example(&n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0x10;
        assert_null(hone_search_load(bytes, n, error, sizeof(error)));
        bytes[i] ^= 0x10;
        autofree(mem) char *cut = xmemdup(bytes, i + (i == 0));
        assert_null(hone_search_load(cut, i, error, sizeof(error)));
    }
    assert_null(hone_search_load(NULL, 0, error, sizeof(error)));
    assert_string_equal(error, "these bytes are not a saved search");
}

/* With a right checksum too: refused, or a search that works. */
TEST(foreign_bytes_never_do_harm)
{
    struct rng rng;
    size_t n, accepted = 0;
    autofree(mem) char *bytes = saved_example(&n);
    rng_init(&rng, 1, 0);
    for (int i = 0; i < 3000; i++) {
        autorelease(str) struct str body = STR_INIT, sealed = STR_INIT;
        str_add_n(&body, bytes + 24, n - 24);
        for (uint64_t k = 0; k <= rng_below(&rng, 3); k++)
            body.s[rng_below(&rng, body.len)] ^= (char)(1u << rng_below(&rng, 8));
        state_seal(&body, &sealed);
        hone_search *s = hone_search_load(sealed.s, sealed.len, NULL, 0);
        if (!s)
            continue;
        accepted++;
        live(s, 0);
        hone_search_best(s);
        hone_search_free(s);
    }
    print_message("# %zu of 3000 were still a search\n", accepted);
    assert_true(accepted > 0 && accepted < 2500);
}

/* ---- odd problems ---- */

TEST(wide_spaces_and_long_lists_are_searched)
{
    autorelease(str) struct str wide = STR_INIT, list = STR_INIT;
    str_add(&wide, "{\"params\": {");
    str_add(&list, "{\"params\": {\"c\": [");
    for (int i = 0; i < 200; i++)
        str_addf(&wide, "%s\"x%d\": {\"min\": 0, \"max\": 1}", i ? "," : "", i);
    for (int i = 0; i < 10000; i++)
        str_addf(&list, "%s\"c%d\"", i ? "," : "", i);
    str_add(&wide, "}}");
    str_add(&list, "], \"one\": [7]}}");
    const char *const problems[] = {wide.s, list.s, "{\"params\": {\"one\": 7}}"};
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        hone_search *s = begin(problems[i]);
        for (int64_t id = 1; id <= 12; id++)
            if (hone_search_ask(s) == id)
                assert_int_equal(tell(s, id, 1), 0); /* constant */
        assert_true(fabs(number_of(hone_search_best(s), "value") - 1) < 1e-9);
        hone_search *t = reload(s);
        hone_search_free(s);
        hone_search_free(t);
    }
}

TEST_MAIN
