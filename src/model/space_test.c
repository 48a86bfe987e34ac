/* SPDX-License-Identifier: MIT */
/*
 * space_test.c — cells of equal width, round trips through the unit interval, conditions, counting
 * (against a plain enumeration), texts and refusals.
 */
#include "model/test_space.h"
#include "base/rng.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static void check_round_trips(struct param param)
{
    struct space space = {0};
    space_add(&space, param);
    double n = param_size(&param), before = -1;
    for (double k = 0; k < n; k++) {
        double x = param_value_at(&param, k), u = param_to_unit(&param, x);
        assert_true(u > before && u >= 0 && u <= 1);
        assert_true(param_from_unit(&param, u) == x);
        assert_true(param_index(&param, x) == k);
        assert_true(space_contains(&space, &x));
        before = u;
    }
    assert_true(param_from_unit(&param, 0) == param_value_at(&param, 0));
    assert_true(param_from_unit(&param, 1) == param_value_at(&param, n - 1));
    space_release(&space);
}

TEST(every_value_comes_back_from_the_middle_of_its_cell)
{
    check_round_trips(param_number(PARAM_INT, SCALE_LINEAR, -3, 12, 0));
    check_round_trips(param_number(PARAM_INT, SCALE_LINEAR, 5, 21, 5));
    check_round_trips(param_number(PARAM_INT, SCALE_LOG, 1, 5000, 0));
    check_round_trips(param_number(PARAM_INT, SCALE_LOG, 1, 100, 7));
    check_round_trips(param_number(PARAM_INT, SCALE_LOG, 16, 512, 16));
    check_round_trips(param_number(PARAM_INT, SCALE_LINEAR, 4, 4, 0));
    check_round_trips(param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.1));
    check_round_trips(param_number(PARAM_FLOAT, SCALE_LINEAR, -0.3, 0.3, 0.1));
    check_round_trips(param_number(PARAM_FLOAT, SCALE_LOG, 0.001, 0.1, 0.001));
    check_round_trips(param_number(PARAM_FLOAT, SCALE_LINEAR, 1, 2, 1.0 / 3));
    check_round_trips(CHOICE("a", "b", "c"));
    check_round_trips(CHOICE("only"));
}

/* Shares of a fine sweep over [0,1]. */
static void check_equal_cells(struct param param)
{
    size_t n = (size_t)param_size(&param), sweep = 1000 * n;
    size_t *hits = xcalloc(n, sizeof(*hits));
    struct space space = {0};
    space_add(&space, param);
    for (size_t i = 0; i < sweep; i++) {
        double u = ((double)i + 0.5) / (double)sweep;
        hits[(size_t)param_index(&param, param_from_unit(&param, u))]++;
    }
    for (size_t k = 0; k < n; k++)
        assert_in_range(hits[k], 999, 1001);
    free(hits);
    space_release(&space);
}

TEST(linear_values_have_equal_cells)
{
    check_equal_cells(param_number(PARAM_INT, SCALE_LINEAR, 1, 4, 0));
    check_equal_cells(param_number(PARAM_INT, SCALE_LINEAR, 0, 100, 25));
    check_equal_cells(param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.25));
    check_equal_cells(CHOICE("a", "b", "c"));
}

TEST(log_integers_take_their_share_of_the_logarithm)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_INT, SCALE_LOG, 1, 7, 0));
    size_t hits[8] = {0};
    for (int i = 0; i < 100000; i++)
        hits[(int)param_from_unit(&space.params[0], (i + 0.5) / 100000)]++;
    for (int v = 1; v <= 7; v++) {
        double share = log((v + 0.5) / (v - 0.5)) / log(7.5 / 0.5);
        assert_true(fabs((double)hits[v] / 100000 - share) < 1e-4);
    }
    space_release(&space);
}

static void check_free(double min, double max, enum param_scale scale)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_FLOAT, scale, min, max, 0));
    const struct param *param = &space.params[0];
    struct rng rng;
    rng_init(&rng, 1, 0);
    assert_true(isinf(param_size(param)));
    for (int i = 0; i < 1000; i++) {
        double u = i == 0 ? 0 : i == 1 ? 1 : rng_unit(&rng), x = param_from_unit(param, u);
        assert_true(space_contains(&space, &x));
        assert_true(fabs(param_to_unit(param, x) - u) < 1e-9);
    }
    space_release(&space);
}

TEST(free_floats_stay_in_bounds_and_come_back)
{
    check_free(0, 1, SCALE_LINEAR);
    check_free(-1e308, 1e308, SCALE_LINEAR);
    check_free(1e-5, 0.1, SCALE_LOG);
    check_free(1e-300, 1e300, SCALE_LOG);
}

TEST(a_float_without_room_is_one_value)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0.5, 0.5, 0));
    assert_true(space_size(&space) == 1);
    assert_true(param_from_unit(&space.params[0], 0.7) == 0.5);
    space_release(&space);
}

TEST(steps_of_a_tenth_read_as_people_write_them)
{
    autorelease(str) struct str text = STR_INIT;
    struct space space = {0};
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 0.7, 0.1));
    assert_true(param_size(&space.params[0]) == 8);
    for (int k = 0; k < 8; k++) {
        param_text(&space.params[0], param_value_at(&space.params[0], k), &text);
        str_add_char(&text, ' ');
    }
    assert_string_equal(text.s, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 ");
    space_release(&space);
}

/* optimizer [sgd adam rmsprop]; momentum 0..4 when sgd; nesterov [no yes] when momentum 1..4 */
static struct space optimizers(void)
{
    struct space space = {0};
    space_add(&space, CHOICE("sgd", "adam", "rmsprop"));
    space_add(&space, param_number(PARAM_INT, SCALE_LINEAR, 0, 4, 0));
    space_when(&space, 0, 0, 0);
    space_add(&space, CHOICE("no", "yes"));
    space_when(&space, 1, 1, 4);
    return space;
}

TEST(inactive_parameters_become_nan_and_so_do_those_behind_them)
{
    struct space space = optimizers();
    double x[] = {1, 2, 1}, y[] = {0, 0, 1}, z[] = {0, 3, 1};
    assert_false(space_contains(&space, x));
    space_settle(&space, x);
    assert_true(x[0] == 1 && isnan(x[1]) && isnan(x[2]));
    assert_true(space_contains(&space, x));
    space_settle(&space, y);
    assert_true(y[1] == 0 && isnan(y[2]));
    space_settle(&space, z);
    assert_true(z[2] == 1 && space_contains(&space, z));
    space_release(&space);
}

TEST(points_outside_are_told)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_INT, SCALE_LINEAR, 2, 10, 4));
    space_add(&space, CHOICE("a", "b"));
    double good[] = {6, 1};
    double bad[][2] = {{7, 1}, {14, 1}, {-2, 1}, {6, 2}, {6, -1}, {6, 0.5}, {NAN, 1}, {6, NAN}};
    assert_true(space_contains(&space, good));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(space_contains(&space, bad[i]));
    space_release(&space);
}

TEST(the_size_counts_settings_and_not_combinations)
{
    struct space space = optimizers();
    assert_true(space_size(&space) == 2 + 1 + 4 * 2);
    space_add(&space, param_number(PARAM_INT, SCALE_LOG, 1, 10, 0));
    assert_true(space_size(&space) == 110);
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0));
    assert_true(isinf(space_size(&space)));
    space_release(&space);
    assert_true(space_size(&space) == 1);
}

/* Plain enumeration of the Cartesian product, counting the canonical ones. */
static double count_plainly(const struct space *space, size_t i, double *x)
{
    if (i == space->n)
        return space_forbids(space, x) ? 0 : 1;
    if (!param_active(&space->params[i], x)) {
        x[i] = NAN;
        return count_plainly(space, i + 1, x);
    }
    double sum = 0, n = param_size(&space->params[i]);
    for (double k = 0; k < n; k++) {
        x[i] = param_value_at(&space->params[i], k);
        sum += count_plainly(space, i + 1, x);
    }
    return sum;
}

TEST(the_size_is_exact_in_random_conditional_spaces)
{
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (int round = 0; round < 300; round++) {
        struct space space = {0};
        double x[7];
        size_t n = 1 + rng_below(&rng, 7);
        for (size_t i = 0; i < n; i++) {
            space_add(&space,
                      param_number(PARAM_INT, SCALE_LINEAR, 0, (double)rng_below(&rng, 4), 0));
            for (size_t w = rng_below(&rng, 3); i > 0 && w > 0; w--) {
                double from = (double)rng_below(&rng, 3);
                space_when(&space, rng_below(&rng, i), from, from + (double)rng_below(&rng, 3));
            }
        }
        assert_true(space_size(&space) == count_plainly(&space, 0, x));
        space_release(&space);
    }
}

TEST(independent_conditions_are_counted_apart)
{
    struct space space = {0};
    for (size_t i = 0; i < 100; i++) {
        space_add(&space, CHOICE("off", "on"));
        space_add(&space, CHOICE("a", "b", "c"));
        space_when(&space, 2 * i, 1, 1);
    }
    double expect = pow(4, 100), size = space_size(&space);
    assert_true(fabs(size / expect - 1) < 1e-12);
    space_release(&space);
}

TEST(entangled_conditions_give_an_upper_bound_in_time)
{
    struct space space = {0};
    for (size_t i = 0; i < 40; i++)
        space_add(&space, CHOICE("off", "on"));
    space_add(&space, CHOICE("a", "b"));
    for (size_t i = 0; i < 40; i++)
        space_when(&space, i, 1, 1);
    assert_true(space_size(&space) >= pow(2, 40) + 1);
    space_release(&space);
}

/* ---- forbidden combinations ---- */

static struct clause clause_values(size_t param, double from, double to)
{
    struct clause clause = {.param = param};
    clause.values = xcalloc((size_t)(to - from) + 1, sizeof(double));
    for (double v = from; v <= to; v++)
        clause.values[clause.n_values++] = v;
    return clause;
}

static struct clause clause_between(size_t param, double min, double max)
{
    return (struct clause){.param = param, .min = min, .max = max};
}

static void space_forbid(struct space *space, const struct clause *clauses, size_t n)
{
    struct forbid forbid = {.clauses = xmemdup(clauses, n * sizeof(*clauses)), .n = n};
    space->forbids = xrealloc(space->forbids, (space->n_forbids + 1) * sizeof(*space->forbids));
    space->forbids[space->n_forbids++] = forbid;
}
#define FORBID(space, ...)                                                                         \
    space_forbid((space), (const struct clause[]){__VA_ARGS__},                                    \
                 ARRAY_LEN(((const struct clause[]){__VA_ARGS__})))

TEST(a_combination_is_forbidden_where_all_its_clauses_hold)
{
    struct space space = optimizers();
    space_add(&space, param_float(0, 1));
    FORBID(&space, clause_values(0, 0, 0), clause_between(3, 0.5, INFINITY));
    FORBID(&space, clause_values(1, 2, 3), clause_values(2, 1, 1));
    double good[][4] = {{0, 0, NAN, 0.4}, {1, NAN, NAN, 0.9}, {0, 2, 0, 0}, {0, 4, 1, 0}};
    double bad[][4] = {{0, 0, NAN, 0.5}, {0, 2, 1, 0}, {0, 3, 1, 1}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(!space_forbids(&space, good[i]) && space_contains(&space, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_true(space_forbids(&space, bad[i]) && !space_contains(&space, bad[i]));
    space_release(&space);
}

TEST(what_is_not_given_yet_is_in_no_clause)
{
    struct space space = {0};
    space_add(&space, param_float(0, 1));
    FORBID(&space, clause_between(0, -INFINITY, INFINITY));
    double nothing = INFINITY, something = 0.5;
    assert_false(space_forbids(&space, &nothing));
    assert_true(space_forbids(&space, &something));
    assert_true(space_size(&space) == 0);
    space_release(&space);
}

TEST(the_size_leaves_out_what_is_forbidden)
{
    struct space space = {0};
    space_add(&space, CHOICE("a", "b", "c"));
    space_add(&space, param_int(0, 99));
    FORBID(&space, clause_values(0, 1, 1), clause_between(1, 10, 29));
    assert_true(space_size(&space) == 280);
    FORBID(&space, clause_values(0, 0, 2), clause_between(1, 20, INFINITY));
    assert_true(space_size(&space) == 50);
    FORBID(&space, clause_between(1, -INFINITY, 50));
    assert_true(space_size(&space) == 0);
    space_release(&space);
}

TEST(a_free_number_may_be_forbidden_in_part_or_whole)
{
    struct space space = {0};
    space_add(&space, CHOICE("a", "b"));
    space_add(&space, param_float(0, 1));
    FORBID(&space, clause_values(0, 0, 0), clause_between(1, 0, 1));
    assert_true(isinf(space_size(&space)));
    FORBID(&space, clause_values(0, 1, 1), clause_between(1, 0.25, INFINITY));
    assert_true(isinf(space_size(&space)));
    FORBID(&space, clause_values(0, 1, 1), clause_between(1, -INFINITY, 0.25));
    assert_true(space_size(&space) == 0);
    space_add(&space, param_float(0, 1));
    assert_true(space_size(&space) == 0);
    space_release(&space);
}

TEST(steps_and_bounds_of_a_clause_need_not_meet)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.1));
    FORBID(&space, clause_between(0, 0.25, 0.7));
    assert_true(space_size(&space) == 6);
    FORBID(&space, clause_between(0, 0.91, 0.99));
    FORBID(&space, clause_between(0, 7, 9));
    assert_true(space_size(&space) == 6);
    space_release(&space);
}

TEST(the_size_is_exact_in_random_spaces_with_forbidden_parts)
{
    struct rng rng;
    rng_init(&rng, 8, 0);
    for (int round = 0; round < 500; round++) {
        struct space space = {0};
        double x[6];
        size_t n = 1 + rng_below(&rng, 6);
        for (size_t i = 0; i < n; i++) {
            space_add(&space,
                      param_number(PARAM_INT, SCALE_LINEAR, 0, (double)rng_below(&rng, 5), 0));
            if (i > 0 && rng_below(&rng, 3) == 0)
                space_when(&space, rng_below(&rng, i), 0, (double)rng_below(&rng, 3));
        }
        for (size_t f = rng_below(&rng, 5); f > 0; f--) {
            struct clause clauses[3];
            size_t k = 1 + rng_below(&rng, 3);
            for (size_t c = 0; c < k; c++) {
                size_t param = rng_below(&rng, n);
                double from = (double)rng_below(&rng, 4), to = from + (double)rng_below(&rng, 3);
                clauses[c] = rng_below(&rng, 2) ? clause_values(param, from, to)
                                                : clause_between(param, from - 0.5, to);
            }
            space_forbid(&space, clauses, k);
        }
        assert_true(space_size(&space) == count_plainly(&space, 0, x));
        space_release(&space);
    }
}

TEST(a_million_connected_settings_are_counted)
{
    struct space space = {0};
    for (size_t i = 0; i < 6; i++)
        space_add(&space, param_int(0, 9));
    for (double v = 0; v < 10; v++) /* each value is told apart, and all are connected */
        FORBID(&space, clause_values(0, v, v), clause_values(1, v, v), clause_values(2, v, v),
               clause_values(3, v, v), clause_values(4, v, v), clause_values(5, v, v));
    assert_true(space_size(&space) == 999990);
    for (size_t i = 0; i < 6; i++)
        FORBID(&space, clause_between(i, 2, 9));
    FORBID(&space, clause_values(0, 0, 0));
    assert_true(space_size(&space) == 31);
    space_release(&space);
}

TEST(entangled_forbidden_combinations_give_an_upper_bound_in_time)
{
    struct space space = {0};
    for (size_t i = 0; i < 40; i++)
        space_add(&space, CHOICE("off", "on"));
    for (size_t i = 0; i < 40; i++)
        for (size_t k = 0; k < 40; k += 3)
            FORBID(&space, clause_values(i, 1, 1), clause_values((i + k + 1) % 40, 0, 0),
                   clause_values((i + 7) % 40, 1, 1));
    double size = space_size(&space);
    assert_true(size > 0 && size <= pow(2, 40));
    space_release(&space);
}

TEST(the_axis_is_as_long_as_the_cells_together)
{
    struct space space = {0};
    space_add(&space, param_int(1, 4));
    space_add(&space, param_float(-1, 2));
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-4, 1e-1, 0));
    space_add(&space, CHOICE("a", "b"));
    assert_true(param_width(&space.params[0]) == 4);
    assert_true(param_width(&space.params[1]) == 3);
    assert_true(fabs(param_width(&space.params[2]) - log(1000)) < 1e-12);
    assert_true(param_width(&space.params[3]) == 2);
    space_release(&space);
}

TEST(equal_points_have_equal_hashes)
{
    double a[] = {1, NAN, 0.0}, b[] = {1, -NAN, -0.0}, c[] = {1, 2, 0.0};
    assert_true(point_equal(a, b, 3));
    assert_true(point_hash(a, 3) == point_hash(b, 3));
    assert_false(point_equal(a, c, 3));
    assert_true(point_hash(a, 3) != point_hash(c, 3));
    assert_true(point_hash(a, 3) != point_hash(a, 2));
}

TEST(points_are_written_for_programs_and_people)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    struct space space = optimizers();
    space_add(&space, CHOICE("1e-3", "0.01"));
    space_add(&space, CHOICE("7"));
    double x[] = {1, NAN, NAN, 0, 0};
    for (size_t i = 0; i < space.n; i++) {
        free(space.params[i].name);
        space.params[i].name = xasprintf("p%zu", i);
    }
    space_json(&space, x, &out);
    space_words(&space, x, &words);
    assert_string_equal(json.s, "{\"p0\":\"adam\",\"p3\":1e-3,\"p4\":7}");
    assert_string_equal(words.s, "p0=adam p3=1e-3");
    assert_int_equal(space_find(&space, "p3"), 3);
    assert_int_equal(space_find(&space, "p9"), -1);
    space_release(&space);
}

static void check_parse(const struct param *param, const char *text, int expect, double expect_x,
                        const char *sentence)
{
    struct err err = ERR_INIT;
    struct value value = value_guess(text, false);
    double x = NAN;
    int r = param_parse(param, &value, &x, &err);
    assert_int_equal(r, expect);
    assert_string_equal(err_text(&err), sentence);
    if (r == 0)
        assert_true(x == expect_x);
    value_release(&value);
    err_release(&err);
}

TEST(values_of_the_user_are_taken_or_refused_with_a_sentence)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_INT, SCALE_LINEAR, 1, 9, 2));
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.1));
    space_add(&space, CHOICE("32", "64", "adam"));
    const struct param *p = space.params;
    check_parse(&p[0], "3", 0, 3, "");
    check_parse(&p[0], "3.0", 0, 3, "");
    check_parse(&p[0], "2.5", -EINVAL, 0, "parameter 'p': 2.5 is not an integer");
    check_parse(&p[0], "4", -EINVAL, 0, "parameter 'p': 4 is not on its steps, the nearest is 5");
    check_parse(&p[0], "11", -EINVAL, 0, "parameter 'p': 11 is not in 1 to 9");
    check_parse(&p[0], "abc", -EINVAL, 0, "parameter 'p': 'abc' is not a number");
    check_parse(&p[0], ".nan", -EINVAL, 0, "parameter 'p': '.nan' is not a number");
    check_parse(&p[1], "0.30000000000000004", 0, 0.3, "");
    check_parse(&p[1], "0", 0, 0, "");
    check_parse(&p[2], "64.0", 0, 1, "");
    check_parse(&p[2], "adam", 0, 2, "");
    check_parse(&p[2], "16", -EINVAL, 0, "parameter 'c': '16' is none of 32, 64, adam");
    space_release(&space);
}

TEST(a_value_keeps_its_kind)
{
    struct space space = {0};
    space_add(&space, param_number(PARAM_INT, SCALE_LINEAR, 1, 9, 0));
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0));
    space_add(&space, CHOICE("1e-3"));
    struct value a = param_value(&space.params[0], 3), b = param_value(&space.params[1], 0.25),
                 c = param_value(&space.params[2], 0);
    assert_int_equal(a.kind, VALUE_INT);
    assert_string_equal(a.text, "3");
    assert_int_equal(b.kind, VALUE_FLOAT);
    assert_string_equal(b.text, "0.25");
    assert_string_equal(c.text, "1e-3");
    value_release(&a);
    value_release(&b);
    value_release(&c);
    space_release(&space);
}

TEST_MAIN
