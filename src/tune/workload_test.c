/* SPDX-License-Identifier: MIT */
/*
 * workload_test.c — what is learned is kept and merged, what is alike is found, and what is not
 * certain says little.
 */
#include "tests/test.h"

#include "base/json.h"
#include "base/rng.h"
#include "tune/workload.h"

#include <errno.h>
#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)
#define EPYC       "EPYC, 2 cpus"

static const char *identity_of(char digit)
{
    static char text[WORKLOAD_IDENTITY + 1];
    memset(text, digit, WORKLOAD_IDENTITY);
    return text;
}

/* Threads 1, 2, 4: the effects given, measured to 5 %. */
static struct workload a_workload(char digit, double one, double two, double four)
{
    struct workload workload;
    workload_init(&workload, identity_of(digit), "mnist", EPYC);
    workload.updated_us = 1000000;
    workload.runs = 1;
    assert_true(workload_learn(&workload, "{\"threads\":1}", one, 0.05, 4, 0));
    assert_true(workload_learn(&workload, "{\"threads\":2}", two, 0.05, 4, 0));
    assert_true(workload_learn(&workload, "{\"threads\":4}", four, 0.05, 4, 0));
    return workload;
}

static double effect_of(const struct workload *workload, const char *json)
{
    const struct workload_configuration *found = workload_find(workload, json);
    assert_non_null(found);
    return found->ln_effect;
}

/* ---- identity ---- */

static char *identity_text(const struct workload_program *program)
{
    struct str text = STR_INIT;
    workload_identity_text(program, &text);
    return str_take(&text);
}

TEST(the_same_program_has_the_same_text_whatever_the_order_of_names)
{
    const char *words[] = {"python3", "train.py"}, *files[] = {"f1", "f2"};
    const char *files_back[] = {"f2", "f1"}, *params[] = {"lr", "batch"};
    const char *params_back[] = {"batch", "lr"}, *system[] = {"threads"};
    struct workload_program a = {words, 2, files, 2, params, 2, system, 1, EPYC}, b = a;
    b.files = files_back;
    b.params = params_back;
    autofree(mem) char *text_a = identity_text(&a), *text_b = identity_text(&b);
    assert_string_equal(text_a, text_b);
}

TEST(another_word_file_parameter_or_machine_is_another_program)
{
    const char *words[] = {"python3", "train.py"}, *words_back[] = {"train.py", "python3"};
    const char *joined[] = {"python3 train.py"}, *names[] = {"lr", "threads"};
    const struct workload_program programs[] = {
        {words, 2, NULL, 0, names, 1, names, 0, EPYC},
        {words_back, 2, NULL, 0, names, 1, names, 0, EPYC},
        {joined, 1, NULL, 0, names, 1, names, 0, EPYC},
        {words, 2, names, 1, names, 0, names, 0, EPYC},
        {words, 2, NULL, 0, names, 2, names, 0, EPYC},
        {words, 2, NULL, 0, names, 0, names, 1, EPYC},
        {words, 2, NULL, 0, names, 1, names, 0, "other"},
    };
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        for (size_t j = 0; j < i; j++) {
            autofree(mem) char *a = identity_text(&programs[i]), *b = identity_text(&programs[j]);
            assert_string_not_equal(a, b);
        }
}

/* ---- learning ---- */

TEST(a_configuration_is_known_by_what_it_says_not_by_how_it_is_written)
{
    autorelease(workload) struct workload workload = a_workload('a', 0, 0, 0);
    assert_true(workload_learn(&workload, " {\"threads\": 2.0, \"cpus\":1}", 0.5, 0.1, 1, 0));
    assert_true(workload_learn(&workload, "{\"cpus\":1,\"threads\":2}", 0.7, 0.1, 1, 0));
    assert_int_equal(workload.configurations.len, 4);
    NEAR(effect_of(&workload, "{\"cpus\":1,\"threads\":2}"), 0.7);
}

TEST(what_is_no_configuration_or_no_number_is_not_learned)
{
    const char *const bad[] = {"",  "{",           "[]",         "{}",
                               "3", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":null}"};
    autorelease(workload) struct workload workload = a_workload('a', 0, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(workload_learn(&workload, bad[i], 0, 0.1, 1, 0));
    assert_false(workload_learn(&workload, "{\"a\":1}", NAN, 0.1, 1, 0));
    assert_false(workload_learn(&workload, "{\"a\":1}", 0, INFINITY, 1, 0));
    assert_false(workload_learn(&workload, "{\"a\":1}", 0, -1, 1, 0));
    assert_false(workload_learn(&workload, "{\"a\":1}", 0, 0.1, NAN, 0));
    assert_false(workload_learn(&workload, "{\"a\":1}", 99, 0.1, 1, 0));
    assert_int_equal(workload.configurations.len, 3);
}

TEST(too_many_configurations_leave_the_best_known)
{
    autorelease(workload) struct workload workload = a_workload('a', 0, 0, 0);
    for (int i = 0; i < 2 * WORKLOAD_CONFIGURATIONS; i++) {
        autofree(mem) char *json = xasprintf("{\"workers\":%d}", i);
        assert_true(workload_learn(&workload, json, 0, 0.1, 1, 0));
    }
    assert_int_equal(workload.configurations.len, WORKLOAD_CONFIGURATIONS);
    assert_non_null(workload_find(&workload, "{\"threads\":4}"));
}

TEST(best_and_worst_are_by_effect)
{
    autorelease(workload) struct workload workload = a_workload('a', 0.2, -0.3, 0.9);
    assert_string_equal(workload_best(&workload)->json, "{\"threads\":2}");
    assert_string_equal(workload_worst(&workload)->json, "{\"threads\":4}");
    autorelease(workload) struct workload nothing;
    workload_init(&nothing, identity_of('b'), "x", EPYC);
    assert_null(workload_best(&nothing));
    assert_null(workload_worst(&nothing));
}

/* ---- JSON ---- */

TEST(a_workload_comes_back_as_it_was_written)
{
    autorelease(workload) struct workload workload = a_workload('a', 0.2, -0.3, 0.9), back;
    autorelease(str) struct str text = STR_INIT, again = STR_INIT;
    struct err err = ERR_INIT;
    workload.cluster = 3;
    workload.runs = 7;
    workload.updated_us = 1731700000123456;
    workload.response.cpus = 1.9;
    workload_count(&workload, "cycles", 2e9, 0.8, true);
    workload_count(&workload, "branches", NAN, NAN, true);
    workload_learn(&workload, "{\"policy\":\"a \\\"b\\\"\",\"pin\":true}", 1, 0.5, 0.5, 1.5);
    workload_encode(&workload, &text);
    assert_ok(workload_decode(text.s, text.len, &back, &err), &err);
    workload_encode(&back, &again);
    assert_string_equal(text.s, again.s);
    assert_int_equal(back.updated_us, workload.updated_us);
    assert_true(isnan(back.response.seconds) && back.response.cpus == 1.9);
    assert_true(back.profile.at[1].missing && !back.profile.at[0].missing);
}

#define HEAD                                                                                       \
    "\"identity\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","           \
    "\"name\":\"x\",\"machine\":\"m\",\"runs\":1,\"cluster\":0,"                                   \
    "\"updated\":\"2026-11-15T23:15:02Z\""
#define ONE                                                                                        \
    "{\"configuration\":{\"a\":1},\"ln_effect\":0,\"deviation\":0.1,\"windows\":1,\"load\":0}"

TEST(bad_json_gets_a_sentence)
{
    static const struct {
        const char *json, *sentence;
    } rows[] = {
        {"", "not valid JSON"},
        {"{", "not valid JSON"},
        {"[]", "a workload is a JSON object"},
        {"{\"identity\":\"12\"}", "'identity' is no SHA-256 of 64 hex digits"},
        {"{" HEAD ",\"configurations\":3}", "'configurations' is no list"},
        {"{" HEAD ",\"configurations\":[3]}",
         "member 1 of 'configurations': 'ln_effect' is no number from -50 to 50"},
        {"{" HEAD ",\"configurations\":[" ONE "," ONE "]}",
         "member 2 of 'configurations': {\"a\":1} comes twice"},
        {"{" HEAD ",\"configurations\":[{\"configuration\":{\"a\":[]},\"ln_effect\":0,"
         "\"deviation\":0.1,\"windows\":1,\"load\":0}]}",
         "member 1 of 'configurations': 'a' is no number, text, true or false"},
        {"{" HEAD ",\"response\":{\"cpus\":\"many\"}}",
         "'response': 'cpus' is no number from 0 to 1e+06"},
        {"{" HEAD ",\"profile\":[{\"value\":1}]}",
         "member 1 of 'profile': 'name' is no text of 1 to 200 bytes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autorelease(workload) struct workload workload;
        autorelease(err) struct err err = ERR_INIT;
        int r = workload_decode(rows[i].json, strlen(rows[i].json), &workload, &err);
        assert_int_equal(r, -EINVAL);
        if (!strstr(err_text(&err), rows[i].sentence))
            fail_msg("%s: %s", rows[i].json, err_text(&err));
    }
}

TEST(what_little_is_needed_is_enough)
{
    autorelease(workload) struct workload workload;
    struct err err = ERR_INIT;
    assert_ok(workload_decode("{" HEAD "}", strlen("{" HEAD "}"), &workload, &err), &err);
    assert_int_equal(workload.configurations.len, 0);
    assert_true(isnan(workload.response.memory_bytes));
}

/* ---- merging ---- */

TEST(the_same_effects_on_another_level_stay_what_they_are)
{
    autorelease(workload) struct workload a = a_workload('a', 0.2, -0.3, 0.9);
    autorelease(workload) struct workload b = a_workload('a', 5.2, 4.7, 5.9);
    b.updated_us++;
    workload_merge(&a, &b);
    NEAR(effect_of(&a, "{\"threads\":1}") - effect_of(&a, "{\"threads\":2}"), 0.5);
    NEAR(effect_of(&a, "{\"threads\":4}") - effect_of(&a, "{\"threads\":2}"), 1.2);
    assert_true(a.configurations.at[0].deviation < 0.05);
    assert_int_equal(a.runs, 2);
    assert_int_equal(a.updated_us, b.updated_us);
}

TEST(the_surer_effect_counts_more)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0, 0);
    autorelease(workload) struct workload b = a_workload('a', 0, 0, 0);
    workload_learn(&b, "{\"threads\":4}", 1, 0.5, 1, 0); /* hardly measured */
    b.updated_us++;
    workload_merge(&a, &b);
    double four = effect_of(&a, "{\"threads\":4}") - effect_of(&a, "{\"threads\":1}");
    assert_true(four > 0 && four < 0.05);
}

TEST(a_machine_that_changed_is_believed_after_a_few_runs)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.5, 1);
    for (int i = 0; i < 30; i++) {
        autorelease(workload) struct workload same = a_workload('a', 0, 0.5, 1);
        same.updated_us = a.updated_us + 1;
        workload_merge(&a, &same);
    }
    for (int i = 0; i < 8; i++) {
        autorelease(workload) struct workload news = a_workload('a', 0, -0.5, 1);
        news.updated_us = a.updated_us + 1;
        workload_merge(&a, &news);
    }
    assert_string_equal(workload_best(&a)->json, "{\"threads\":2}");
    assert_int_equal(a.runs, 39);
}

TEST(what_is_never_seen_again_fades_but_is_not_forgotten)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.2, 2);
    for (int i = 0; i < 200; i++) {
        autorelease(workload) struct workload one;
        workload_init(&one, identity_of('a'), "mnist", EPYC);
        one.updated_us = a.updated_us + 1;
        one.runs = 1;
        workload_learn(&one, "{\"threads\":1}", 0, 0.05, 4, 0);
        workload_merge(&a, &one);
    }
    const struct workload_configuration *four = workload_find(&a, "{\"threads\":4}");
    NEAR(four->deviation, 0.3);
    NEAR(four->ln_effect - effect_of(&a, "{\"threads\":1}"), 2);
}

TEST(without_a_common_configuration_the_one_that_compares_more_is_kept)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.2, 2), one;
    workload_init(&one, identity_of('a'), "mnist", EPYC);
    one.updated_us = a.updated_us + 1;
    one.runs = 1;
    workload_learn(&one, "{\"threads\":8}", -3, 0.05, 100, 0);
    workload_merge(&a, &one);
    assert_int_equal(a.configurations.len, 3);
    assert_null(workload_find(&a, "{\"threads\":8}"));
    autorelease(workload) struct workload b = a_workload('a', 0, 0.2, 2);
    b.updated_us = one.updated_us + 1;
    workload_merge(&one, &b);
    assert_int_equal(one.configurations.len, 3);
    assert_null(workload_find(&one, "{\"threads\":8}"));
}

TEST(an_older_one_that_is_merged_later_does_not_count_as_the_news)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.2, 2);
    autorelease(workload) struct workload old = a_workload('a', 0, 0.2, 2);
    a.updated_us = 5000000;
    workload_count(&a, "cycles", 1, 1, true);
    workload_count(&old, "cycles", 2, 2, true);
    free(old.name);
    old.name = xstrdup("old name");
    workload_merge(&a, &old);
    assert_string_equal(a.name, "mnist");
    NEAR(a.profile.at[0].scaled, 1);
    assert_int_equal(a.updated_us, 5000000);
    assert_int_equal(a.runs, 2);
}

TEST(what_failed_is_remembered_until_it_was_measured)
{
    struct workload a, b, back;
    struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;

    workload_init(&a, identity_of('a'), "a", "m");
    a.updated_us = 1;
    assert_true(workload_fail(&a, "{\"threads\":8}"));
    assert_true(workload_fail(&a, "{ \"threads\" : 8 }"));
    assert_true(workload_fail(&a, "{\"threads\":9}"));
    assert_false(workload_fail(&a, "no object"));
    assert_int_equal(a.failed.len, 2);
    workload_encode(&a, &text);
    assert_ok(workload_decode(text.s, text.len, &back, &err), &err);
    assert_int_equal(back.failed.len, 2);
    workload_init(&b, identity_of('a'), "a", "m");
    b.updated_us = 2;
    assert_true(workload_learn(&b, "{\"threads\":9}", 0, 0.1, 2, 0));
    workload_fail(&b, "{\"threads\":10}");
    workload_merge(&back, &b);
    assert_int_equal(back.failed.len, 2);
    assert_true(workload_failed(&back, "{\"threads\":8}"));
    assert_true(workload_failed(&back, "{\"threads\":10}"));
    workload_release(&a);
    workload_release(&b);
    workload_release(&back);
}

TEST(the_same_knowledge_again_changes_nothing)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.2, 2), same;
    autorelease(str) struct str before = STR_INIT, after = STR_INIT;
    workload_copy(&a, &same);
    workload_encode(&a, &before);
    workload_merge(&a, &same);
    workload_encode(&a, &after);
    assert_string_equal(before.s, after.s);
}

TEST(a_response_that_was_not_measured_keeps_the_old_one)
{
    autorelease(workload) struct workload a = a_workload('a', 0, 0.2, 2);
    autorelease(workload) struct workload b = a_workload('a', 0, 0.2, 2);
    b.updated_us++;
    a.response = (struct workload_response){1, 100, NAN};
    b.response = (struct workload_response){NAN, 200, 3};
    workload_merge(&a, &b);
    NEAR(a.response.seconds, 1);
    NEAR(a.response.memory_bytes, 130);
    NEAR(a.response.cpus, 3);
}

/* ---- matching ---- */

static struct workload_match match_of(const struct workload *all, size_t n,
                                      const struct workload *query)
{
    struct workload_match match;
    workload_match(all, n, query, &match);
    return match;
}

static void release_all(struct workload *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        workload_release(&all[i]);
}

TEST(identity_comes_first_and_is_certain)
{
    struct workload all[] = {a_workload('a', 0, 0.2, 0.4), a_workload('b', 0, 1, 2)};
    autorelease(workload) struct workload query = a_workload('b', 0, 0.2, 0.4);
    struct workload_match match = match_of(all, 2, &query);
    assert_int_equal(match.kind, MATCH_IDENTITY);
    assert_int_equal(match.index, 1);
    assert_true(match.certainty == 1 && match.distance == 0);
    release_all(all, 2);
}

TEST(a_response_finds_the_workload_that_answers_alike)
{
    struct workload all[] = {a_workload('a', 0, 1, 2), a_workload('b', 0, -0.6, -1),
                             a_workload('c', 0, -0.1, 0.3)};
    autorelease(workload) struct workload query = a_workload('d', 3, 2.42, 1.97); /* as b */
    struct workload_match match = match_of(all, 3, &query);
    assert_int_equal(match.kind, MATCH_RESPONSE);
    assert_int_equal(match.index, 1);
    assert_true(match.certainty > 0.5 && match.certainty < 1);
    assert_true(match.distance < 1);
    release_all(all, 3);
}

TEST(a_response_is_not_compared_across_machines_or_by_one_configuration)
{
    struct workload all[] = {a_workload('a', 0, 1, 2)};
    autorelease(workload) struct workload other = a_workload('b', 0, 1, 2), one;
    free(other.machine);
    other.machine = xstrdup("Xeon, 64 cpus");
    assert_int_equal(match_of(all, 1, &other).kind, MATCH_NONE);
    workload_init(&one, identity_of('c'), "x", EPYC);
    workload_learn(&one, "{\"threads\":1}", 0, 0.05, 4, 0);
    one.response = all[0].response = (struct workload_response){1, 1e9, 2};
    assert_int_equal(match_of(all, 1, &one).kind, MATCH_NONE);
    release_all(all, 1);
}

TEST(memory_and_cpus_tell_equal_ratios_apart)
{
    struct workload all[] = {a_workload('a', 0, 0, 0), a_workload('b', 0, 0, 0)};
    autorelease(workload) struct workload query = a_workload('c', 0, 0, 0);
    all[0].response = (struct workload_response){NAN, 2e8, 1};
    all[1].response = (struct workload_response){NAN, 4e9, 1};
    query.response = (struct workload_response){NAN, 3.9e9, 1};
    struct workload_match match = match_of(all, 2, &query);
    assert_int_equal(match.index, 1);
    all[1].response.memory_bytes = 2e8;
    assert_int_equal(match_of(all, 2, &query).kind, MATCH_NONE);
    release_all(all, 2);
}

TEST(what_was_hardly_measured_or_under_another_load_is_less_certain)
{
    struct workload all[] = {a_workload('a', 0, 0.5, 1)};
    autorelease(workload) struct workload sure = a_workload('b', 0, 0.5, 1);
    autorelease(workload) struct workload vague = a_workload('b', 0, 0.5, 1);
    autorelease(workload) struct workload loaded = a_workload('b', 0, 0.5, 1);
    for (size_t i = 0; i < 3; i++) {
        vague.configurations.at[i].deviation = 0.4;
        loaded.configurations.at[i].load = 1;
    }
    double certainty = match_of(all, 1, &sure).certainty;
    assert_true(match_of(all, 1, &vague).certainty < certainty / 2);
    assert_true(match_of(all, 1, &loaded).certainty < certainty / 1.5);
    release_all(all, 1);
}

static void add_counters(struct workload *workload, double level, bool hardware)
{
    for (int i = 0; i < 6; i++) {
        autofree(mem) char *name = xasprintf("counter-%d", i);
        workload_count(workload, name, 1e9 * level, level, hardware);
    }
}

static struct workload a_profile(char digit, double level, bool hardware)
{
    struct workload workload;
    workload_init(&workload, identity_of(digit), "x", EPYC);
    workload_learn(&workload, "{\"threads\":1}", 0, 0.05, 4, 0);
    add_counters(&workload, level, hardware);
    return workload;
}

TEST(a_profile_is_trusted_with_hardware_counters_only)
{
    struct workload hard[] = {a_profile('a', 0.2, true), a_profile('b', 0.7, true)};
    struct workload soft[] = {a_profile('a', 0.2, false), a_profile('b', 0.7, false)};
    autorelease(workload) struct workload query = a_profile('c', 0.68, true);
    struct workload_match match = match_of(hard, 2, &query);
    assert_int_equal(match.kind, MATCH_PROFILE);
    assert_int_equal(match.index, 1);
    assert_true(match.certainty > 0.7);
    match = match_of(soft, 2, &query);
    assert_int_equal(match.index, 1);
    assert_true(match.certainty < 0.2);
    release_all(hard, 2);
    release_all(soft, 2);
}

TEST(missing_counters_are_left_out_and_too_few_tell_nothing)
{
    struct workload all[] = {a_profile('a', 0.5, true)};
    autorelease(workload) struct workload query = a_profile('c', 0.5, true);
    workload_count(&query, "counter-0", NAN, 0.5, true);
    workload_count(&query, "counter-1", 1, INFINITY, true);
    assert_int_equal(match_of(all, 1, &query).kind, MATCH_PROFILE);
    workload_count(&query, "counter-2", NAN, NAN, true);
    assert_int_equal(match_of(all, 1, &query).kind, MATCH_NONE);
    release_all(all, 1);
}

TEST(nothing_known_matches_nothing)
{
    autorelease(workload) struct workload query = a_workload('a', 0, 0, 0), nothing;
    struct workload_match match = match_of(NULL, 0, &query);
    assert_int_equal(match.kind, MATCH_NONE);
    assert_true(match.index == SIZE_MAX && match.certainty == 0);
    workload_init(&nothing, identity_of('a'), "x", EPYC);
    assert_int_equal(match_of(&nothing, 1, &query).kind, MATCH_NONE);
}

/* Workloads of a drawn shape, seen again through 5 % of noise: the right one is found. */
TEST(noisy_responses_find_their_own_among_many)
{
    struct workload all[20];
    double shapes[20][3];
    struct rng rng;
    size_t right = 0, asked = 0;
    rng_init(&rng, 7, 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        for (size_t j = 0; j < 3; j++)
            shapes[i][j] = rng_normal(&rng);
        all[i] = a_workload('a', shapes[i][0], shapes[i][1], shapes[i][2]);
        all[i].response.memory_bytes = exp(20 + 2 * rng_normal(&rng));
    }
    for (size_t i = 0; i < 200; i++, asked++) {
        size_t k = rng_below(&rng, ARRAY_LEN(all));
        autorelease(workload) struct workload query = a_workload(
            'b', shapes[k][0] + 0.05 * rng_normal(&rng), shapes[k][1] + 0.05 * rng_normal(&rng),
            shapes[k][2] + 0.05 * rng_normal(&rng));
        query.response.memory_bytes = all[k].response.memory_bytes * exp(0.05 * rng_normal(&rng));
        right += match_of(all, ARRAY_LEN(all), &query).index == k;
    }
    assert_true(right >= asked * 19 / 20);
    release_all(all, ARRAY_LEN(all));
}

/* ---- as a prior ---- */

TEST(the_less_certain_a_match_the_less_it_says)
{
    autorelease(workload) struct workload workload = a_workload('a', 0, 0.2, 2);
    double identity = 0, response = 0, profile = 0, none = -1;
    assert_true(workload_prior(&workload, 0, 1, &identity));
    assert_true(workload_prior(&workload, 0, 0.6, &response));
    assert_true(workload_prior(&workload, 0, 0.15, &profile));
    NEAR(identity, 0.05);
    assert_true(response > 0.7 && response < 1);
    assert_true(profile > 1.5);
    assert_true(workload_prior(&workload, 2, 0.8, &none) && none > 1.1); /* too far to be closed */
    none = -1;
    assert_false(workload_prior(&workload, 0, 0, &none));
    assert_false(workload_prior(&workload, 0, NAN, &none));
    assert_false(workload_prior(&workload, 0, 1e-9, &none));
    assert_false(workload_prior(&workload, 3, 1, &none));
    assert_true(none == -1);
}

TEST_MAIN
