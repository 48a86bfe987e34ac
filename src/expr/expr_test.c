/* SPDX-License-Identifier: MIT */
/*
 * expr_test.c — tables of expressions: the value for one row, and the sentence for what is wrong.
 */
#include "base/str.h"
#include "expr/expr.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

#define NOW_US INT64_C(1763200000000000)

/* ---- a row ---- */

static const char *const states[] = {"queued", "running", "completed", "failed", NULL};
static const char *const optimizers[] = {"adam", "sgd", NULL};
enum {
    C_STATE,
    C_VALUE,
    C_STEP,
    C_NUMBER,
    C_TAGS,
    C_LABELS,
    C_NOTE,
    C_STARRED,
    C_STARTED,
    C_LR,
    C_OPT,
    C_MIX,
    C_P_ACC,
    C_LOSS,
    C_ACC,
    C_NORM,
    C_ODD,
    C_EMPTY
};
static const struct expr_column columns[] = {
    {"state", EXPR_FIELD, EXPR_TEXT, states, 0},
    {"value", EXPR_FIELD, EXPR_NUMBER, NULL, 0},
    {"step", EXPR_FIELD, EXPR_NUMBER, NULL, 0},
    {"number", EXPR_FIELD, EXPR_NUMBER, NULL, 0},
    {"tags", EXPR_FIELD, EXPR_LIST, NULL, 0},
    {"labels", EXPR_FIELD, EXPR_LIST, NULL, 0},
    {"note", EXPR_FIELD, EXPR_TEXT, NULL, 0},
    {"starred", EXPR_FIELD, EXPR_BOOL, NULL, 0},
    {"started", EXPR_FIELD, EXPR_TIME, NULL, 0},
    {"lr", EXPR_PARAM, EXPR_NUMBER, NULL, 0},
    {"optimizer", EXPR_PARAM, EXPR_TEXT, optimizers, 0},
    {"mix", EXPR_PARAM, EXPR_ANY, NULL, 0},
    {"acc", EXPR_PARAM, EXPR_NUMBER, NULL, 0},
    {"loss", EXPR_METRIC, EXPR_NUMBER, NULL, -1},
    {"acc", EXPR_METRIC, EXPR_NUMBER, NULL, 0},
    {"grad_norm", EXPR_METRIC, EXPR_NUMBER, NULL, 0},
    {"train/loss", EXPR_METRIC, EXPR_NUMBER, NULL, 0},
    {"empty", EXPR_METRIC, EXPR_NUMBER, NULL, 0},
};
static const struct expr_scope scope = {
    .noun = "trial", .columns = columns, .n = ARRAY_LEN(columns), .now_us = NOW_US};

static const char *const tags[] = {"good", "paper"};

static struct expr_value field(size_t column, void *arg UNUSED)
{
    switch (column) {
    case C_STATE:
        return expr_text("completed");
    case C_VALUE:
        return expr_number(0.25);
    case C_STEP:
        return expr_number(9);
    case C_NUMBER:
        return expr_number(7);
    case C_TAGS:
        return (struct expr_value){.type = EXPR_LIST, .n = 2, .list = tags};
    case C_LABELS:
        return (struct expr_value){.type = EXPR_LIST};
    case C_STARRED:
        return expr_bool(true);
    case C_STARTED:
        return expr_number(NOW_US / 1e6 - 3600);
    case C_LR:
        return expr_number(0.01);
    case C_OPT:
        return expr_text("adam");
    case C_MIX:
        return expr_text("auto");
    case C_P_ACC:
        return expr_number(5);
    default:
        return expr_null();
    }
}

/* loss: 10 … 1 at steps 0 … 9, a second each; acc: step/10; grad_norm: 1, NaN, Inf, 2, -Inf. */
static const double norms[] = {1, NAN, INFINITY, 2, -INFINITY};
static size_t curve(size_t column, struct expr_point *to)
{
    size_t n = column == C_LOSS || column == C_ACC ? 10 : column == C_NORM ? 5 : 0;

    n = column == C_ODD ? 1 : n;
    for (size_t i = 0; i < n; i++) {
        double value = column == C_LOSS  ? 10 - (double)i
                       : column == C_ACC ? (double)i / 10
                       : column == C_ODD ? 42
                                         : norms[i];
        to[i] = (struct expr_point){.step = (int64_t)i, .time_s = (double)i + 0.5, .value = value};
    }
    return n;
}

static size_t points_read;
static struct expr_range range_asked;

static int points(size_t column, const struct expr_range *range, expr_points_fn *fn, void *fn_arg,
                  void *arg UNUSED, struct err *err UNUSED)
{
    struct expr_point all[10];
    size_t n = curve(column, all);

    points_read++;
    range_asked = *range;
    if (fn(all, n / 2, fn_arg))
        fn(all + n / 2, n - n / 2, fn_arg);
    return 0;
}

static void measure(const struct expr_point *all, size_t n, struct expr_stats *ret)
{
    *ret = (struct expr_stats){.has = ~0u,
                               .count = n,
                               .min = NAN,
                               .max = NAN,
                               .first_step = n ? all[0].step : 0,
                               .last_step = n ? all[n - 1].step : -1,
                               .first_nan = EXPR_NO_STEP};
    for (size_t i = 0; i < n; i++) {
        double x = all[i].value;
        ret->nans += isnan(x);
        ret->infs += isinf(x) != 0;
        ret->first = i ? ret->first : x;
        ret->last = x;
        if (isnan(x) && ret->first_nan == EXPR_NO_STEP)
            ret->first_nan = all[i].step;
        if (!isfinite(x))
            continue;
        ret->min = fmin(ret->min, x);
        ret->max = fmax(ret->max, x);
        ret->sum += x;
        ret->squares += x * x;
    }
}

static bool stats(size_t column, struct expr_stats *ret, void *arg UNUSED)
{
    struct expr_point all[10];
    size_t n = curve(column, all);

    measure(all, n, ret);
    return n > 0;
}

/* Two points each. */
static size_t blocks_read;
static int blocks(size_t column, expr_block_fn *fn, expr_points_fn *points_fn, void *fn_arg,
                  void *arg UNUSED, struct err *err UNUSED)
{
    struct expr_point all[10];
    size_t n = curve(column, all);

    if (column == C_ODD)
        return -EAGAIN;
    for (size_t i = 0, k; i < n; i += k) {
        k = MIN(2, n - i);
        struct expr_block block = {.first_s = all[i].time_s, .last_s = all[i + k - 1].time_s};
        measure(all + i, k, &block.stats);
        enum expr_verdict verdict = fn(&block, fn_arg);
        blocks_read += verdict == EXPR_POINTS;
        if (verdict == EXPR_ENOUGH || (verdict == EXPR_POINTS && !points_fn(all + i, k, fn_arg)))
            break;
    }
    return 0;
}

static const struct expr_source by_points = {.field = field, .points = points};
static const struct expr_source by_stats = {.field = field, .points = points, .stats = stats};
static const struct expr_source by_blocks = {.field = field, .points = points, .blocks = blocks};

/* ---- values ---- */

static void add_value(struct str *to, const struct expr_value *value)
{
    if (value->type == EXPR_NUMBER)
        str_add_double(to, value->number);
    else if (value->type == EXPR_BOOL)
        str_add(to, value->number != 0 ? "true" : "false");
    else if (value->type == EXPR_TEXT)
        str_add(to, value->text);
    else
        str_add(to, value->type == EXPR_NULL ? "null" : "?");
}

static void check_value(const char *text, const struct expr_source *source, const char *want)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str got = STR_INIT;
    autofree(expr) struct expr *expr = NULL;
    struct expr_value value;

    int r = expr_parse(text, &scope, EXPR_ANY, &expr, &err);
    if (r < 0)
        fail_msg("%s: %s", text, err_text(&err));
    assert_ok(expr_eval(expr, source, &value, &err), &err);
    add_value(&got, &value);
    if (!str_eq(got.s, want))
        fail_msg("%s: %s instead of %s", text, got.s, want);
    bool holds = str_eq(want, "true");
    assert_int_equal(expr_test(expr, source, &err), holds);
    int decided = expr_decide(expr, source);
    assert_true(decided == -EAGAIN || decided == holds);
}

static const char *const values[][2] = {
    /* numbers and their units */
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"7 - 2 - 1", "4"},
    {"-2 * -3", "6"},
    {"- - 2", "2"},
    {"1 / 4", "0.25"},
    {"-1 / 0", "-inf"},
    {"0 / 0", "nan"},
    {"1e-3 * 1E3", "1"},
    {".5 + 1.", "1.5"},
    {"2h", "7200"},
    {"2h30m", "9000"},
    {"500ms", "0.5"},
    {"1d - 10s", "86390"},
    {"512M", "536870912"},
    {"1GiB = 1G", "true"},
    {"3%", "0.03"},
    {"inf > 1e308", "true"},
    {"abs(-3) + sqrt(4) + log10(1000) + floor(1.5) + ceil(1.5) + round(2.4)", "13"},
    {"log(exp(2))", "2"},
    /* logic */
    {"true and false or true", "true"},
    {"true or false and false", "true"},
    {"not true or true", "true"},
    {"not (true or true)", "false"},
    {"!true || true && !false", "true"},
    {"NOT true OR True", "true"},
    /* comparisons */
    {"value < 0.3", "true"},
    {"0.1 < value < 0.2", "false"},
    {"0.1 < value <= 0.25", "true"},
    {"number = 7 and number == 7 and number <> 8", "true"},
    {"state = 'completed'", "true"},
    {"state != \"failed\"", "true"},
    {"state in ('failed', 'completed')", "true"},
    {"state not in ('failed')", "true"},
    {"number in (1, 2, 3)", "false"},
    {"number in (1, 3 + 4)", "true"},
    {"state ~ '^comp'", "true"},
    {"state !~ 'ed$'", "false"},
    {"'a1' ~ '^[a-z]\\d$'", "true"},
    {"'it''s' = \"it's\"", "true"},
    {"tags = 'good'", "true"},
    {"tags != 'good'", "false"},
    {"'paper' in tags", "true"},
    {"'bad' not in tags", "true"},
    {"tags ~ '^pap'", "true"},
    {"tags in ('x', 'good')", "true"},
    {"tags is null", "false"},
    {"labels is null", "true"},
    {"labels = 'good'", "false"},
    {"labels != 'good'", "true"},
    {"'good' not in labels", "true"},
    {"starred", "true"},
    {"starred = false", "false"},
    {"mix = 'auto'", "true"},
    {"mix = 3", "false"},
    {"mix < 3", "false"},
    {"started > now - 2h", "true"},
    {"now - started", "3600"},
    {"started < '2020-01-01'", "false"},
    {"started > '2020-01-01T10:00:00Z'", "true"},
    /* null */
    {"note", "null"},
    {"note is null", "true"},
    {"note = 'x'", "false"},
    {"note != 'x'", "false"},
    {"not note = 'x'", "true"},
    {"note ~ '.'", "false"},
    {"empty is null and count(empty) = 0", "true"},
    {"empty < 1 or empty >= 1", "false"},
    {"empty + 1 is null", "true"},
    {"empty is not finite", "false"},
    {"max(empty)", "null"},
    {"value is not null", "true"},
    /* names */
    {"loss", "1"},
    {"metric.loss = last(loss)", "true"},
    {"param.lr + trial.value", "0.26"},
    {"param.acc", "5"},
    {"metric.acc", "0.9"},
    {"`train/loss`", "42"},
    {"metric.`train/loss`", "42"},
    {"max(`train/loss`)", "42"},
    /* functions over curves */
    {"min(loss)", "1"},
    {"max(loss)", "10"},
    {"mean(loss)", "5.5"},
    {"median(loss)", "5.5"},
    {"sum(loss)", "55"},
    {"count(loss)", "10"},
    {"first(loss)", "10"},
    {"last(loss)", "1"},
    {"std(loss) * std(loss) > 9.16 and std(loss) < 3.03", "true"},
    {"argmin(loss)", "9"},
    {"argmax(loss)", "0"},
    {"quantile(loss, 0.9)", "9.1"},
    {"quantile(loss, 0)", "1"},
    {"slope(loss)", "-1"},
    {"at(loss, 3)", "7"},
    {"at(loss, 3.5)", "7"},
    {"at(loss, 99)", "1"},
    {"at(loss, -1)", "null"},
    {"at(loss, step / 3)", "7"},
    {"time_to(metric.acc >= 0.5)", "5.5"},
    {"step_to(metric.acc >= 0.5)", "5"},
    {"time_to(metric.acc > 2)", "null"},
    {"time_to(metric.acc > 2) < 2h", "false"},
    {"time_to(loss < 5 and step > 7)", "8.5"},
    {"time_to(loss, value < 5)", "6.5"},
    {"step_to(`train/loss` = 42)", "0"},
    {"any(loss < 2)", "true"},
    {"any(loss > 11)", "false"},
    {"any(empty > 1)", "false"},
    {"count(loss > 5)", "5"},
    {"count(loss, step >= 2, step < 4)", "2"},
    /* conditions */
    {"min(loss, step > 3)", "1"},
    {"min(loss, step < 3)", "8"},
    {"max(loss, step > 3 and value < 5)", "4"},
    {"max(loss, time > 5s)", "5"},
    {"max(loss, epoch >= 8)", "2"},
    {"max(loss, loss < 4)", "3"},
    {"last(loss, step <= 4)", "6"},
    {"min(loss, step > 100)", "null"},
    {"count(loss, step > 100)", "0"},
    {"mean(metric.acc, step > argmin(loss, step < 5))", "0.7"},
    {"max(loss, step >= param.acc)", "5"},
    {"min(loss, state = 'completed')", "1"},
    {"count(loss, value > 9)", "1"},
    {"count(loss, value >= 9)", "2"},
    {"count(loss, value < 2)", "1"},
    {"count(loss, 2 >= value)", "2"},
    {"count(loss, value = 2)", "1"},
    {"count(loss, value != 2)", "9"},
    {"count(loss, value > 2 and value < 5 and step != 7)", "1"},
    {"count(loss, step > 2.5 and step < 4.5)", "2"},
    {"count(loss, time >= 2.5 and time < 4.5)", "2"},
    {"count(loss, step > last(empty))", "0"},
    {"count(loss, value < 0/0)", "0"},
    {"count(grad_norm, value <= inf)", "4"},
    {"count(grad_norm, value < inf)", "3"},
    {"count(grad_norm, value > -inf)", "3"},
    {"count(grad_norm, value > inf)", "0"},
    {"count(grad_norm, value = inf)", "1"},
    /* windows */
    {"max(loss, last 20%)", "2"},
    {"max(loss, last 11%)", "2"},
    {"max(loss, last 3)", "3"},
    {"max(loss, last 3 points)", "3"},
    {"min(loss, first 10%)", "10"},
    {"max(loss, last 4 steps)", "4"},
    {"max(loss, last 2s)", "2"},
    {"min(loss, first 2s)", "9"},
    {"min(loss, first 3 steps)", "8"},
    {"slope(loss, last 50%)", "-1"},
    {"slope(loss, last 1)", "null"},
    {"count(loss, last 0)", "0"},
    {"mean(loss, step < 5, last 2)", "6.5"},
    {"improved(loss, last 20%)", "true"},
    {"improved(loss)", "true"},
    {"improved(loss, max, last 20%)", "false"},
    {"improved(metric.acc, last 3, max)", "true"},
    {"improved(loss, last 100%)", "null"},
    /* values that are not finite */
    {"last(grad_norm)", "-inf"},
    {"last(grad_norm) is finite", "false"},
    {"last(grad_norm) is inf", "true"},
    {"last(grad_norm) is not nan", "true"},
    {"at(grad_norm, 1) is nan", "true"},
    {"at(grad_norm, 1) != 3", "true"},
    {"min(grad_norm)", "1"},
    {"max(grad_norm)", "2"},
    {"mean(grad_norm)", "1.5"},
    {"sum(grad_norm)", "3"},
    {"count(grad_norm)", "5"},
    {"nans(grad_norm)", "1"},
    {"first_nan(grad_norm)", "1"},
    {"first_nan(loss) is null", "true"},
    {"count(grad_norm is finite)", "2"},
    {"median(grad_norm)", "1.5"},
};

TEST(an_expression_has_this_value)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        check_value(values[i][0], &by_points, values[i][1]);
}

TEST(stats_lead_to_the_same_values_as_points)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        check_value(values[i][0], &by_stats, values[i][1]);
}

TEST(blocks_lead_to_the_same_values_as_points)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        check_value(values[i][0], &by_blocks, values[i][1]);
}

/* ---- what is wrong ---- */

static const char *const errors[][2] = {
    {"", "the expression is empty"},
    {"   ", "the expression is empty"},
    {"lss < 1", "no column is called 'lss': did you mean 'loss'?"},
    {"zebra < 1", "no column is called 'zebra' (a text is written in quotes)"},
    {"state = running", "a text is written in quotes: 'running'"},
    {"train/loss < 1", "the name train/loss is written in backquotes: `train/loss`"},
    {"min(train/loss) < 1", "the name train/loss is written in backquotes: `train/loss`"},
    {"acc > 1", "'acc' can mean two things: write param.acc or metric.acc"},
    {"min(lr) < 1", "no metric is called 'lr'"},
    {"min(los) < 1", "no metric is called 'los': did you mean 'loss'?"},
    {"mim(loss) < 1", "no function is called 'mim': did you mean 'min'?"},
    {"xyzzy(loss)", "no function is called 'xyzzy': min, max, mean, last, time_to and others are"},
    {"state = 'complete'", "state is never 'complete': did you mean 'completed'?"},
    {"state in ('failed', 'x')",
     "state is never 'x': it is one of queued, running, completed, failed"},
    {"optimizer = 'adm'", "optimizer is never 'adm': did you mean 'adam'?"},
    {"state < 3", "'state' is text, which has no order: use =, !=, ~ or in"},
    {"starred > 1", "'starred' is true or false, which has no order: use =, !="},
    {"state = 3", "'state' is text, '3' is a number: a text is written in quotes"},
    {"loss = '3'", "'loss' is a number, ''3'' is text: a number is written without quotes"},
    {"starred = 1", "'starred' is true or false, '1' is a number: write = true or = false"},
    {"loss", "'loss' is a number, not a condition: compare it, as in loss > 0"},
    {"state", "'state' is text, not a condition: compare it, as in state = 'x'"},
    {"loss > 1 and value", "'value' is a number, not a condition: compare it, as in value > 0"},
    {"state + 1 > 2", "'state' is text: a number is needed there"},
    {"note = null", "nothing compares with null: write note is null"},
    {"loss = nan", "nothing compares with nan: write 'is nan' or 'is finite'"},
    {"loss is good",
     "'is' is followed by null, finite, nan or inf, or 'not' and one of these, not by 'good' "
     "(character 9)"},
    {"state is finite", "'state' is text: a number is needed there"},
    {"loss ~ 'x'", "'loss' is a number: ~ is for text"},
    {"state ~ 3", "~ is followed by a regular expression in quotes, not by '3' (character 9)"},
    {"state ~ '(x'", "the regular expression ''(x'' (character 9) is wrong: Unmatched ( or \\("},
    {"state ~ '(a)\\1'", "a regular expression cannot refer back to its groups"},
    {"state ~ '((a{99}){99}){99}'", "the regular expression repeats too much"},
    {"started > 'soon'",
     "'started' is a time, 'soon' is none: write '2026-11-15', '2026-11-15 18:00', or now - 2h"},
    {"loss <", "a value is missing before the end"},
    {"loss < 1 and", "a value is missing before the end"},
    {"(loss < 1", "a ) is missing before the end"},
    {"loss < 1)", "an operator such as 'and' is missing before ')' (character 9)"},
    {"loss < 1 value > 2", "an operator such as 'and' is missing before 'value' (character 10)"},
    {"loss not 3", "'in' is missing before '3' (character 10)"},
    {"loss in (1, 2", "a , or ) is missing before the end"},
    {"state = 'x", "a ' at character 9 is not closed by another '"},
    {"`` > 1", "there is no name between the backquotes at character 1"},
    {"loss # 1", "'#' (character 6) cannot stand in an expression"},
    {"loss < 3x",
     "'3x' (character 8) is no number with a unit: times are 2h, 30m, 10s, 500ms, 1d, sizes 512M, "
     "1G, shares 3%"},
    {"min(loss", "a , or ) is missing in min() before the end"},
    {"min(3) < 1", "min() is of a metric, as in min(loss), not of '3' (character 5)"},
    {"min(loss, step) < 1", "'step' is a number, not a condition: compare it, as in step > 0"},
    {"min(loss, grad_norm > 1) < 1",
     "the condition of min() is about the points of loss: for the last value of grad_norm write "
     "last(grad_norm)"},
    {"time_to(step > 3) < 1", "no metric is named in the condition of time_to()"},
    {"time_to(loss) < 1", "time_to() needs a condition, as in time_to(loss >= 0.9)"},
    {"quantile(loss) < 1", "quantile(loss) needs a number: quantile(loss, 0.9)"},
    {"quantile(loss, 1.5) > 0",
     "quantile() takes a share from 0 to 1, as 0.9 or 90%, not 1.5 (character 16)"},
    {"quantile(loss, -0.1) > 0",
     "quantile() takes a share from 0 to 1, as 0.9 or 90%, not -0.1 (character 16)"},
    {"min(loss, last 1G) < 1",
     "a part of a curve is last 10%, last 100, last 500 steps or last 5m, not '1G' (character "
     "16)"},
    {"min(loss, last 1, last 2) < 1", "min() has two windows: write only one"},
    {"improved(grad_norm)",
     "improved(grad_norm): say which way is better, improved(grad_norm, min) or with max"},
};

TEST(a_wrong_expression_is_refused_with_what_would_be_right)
{
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        autorelease(err) struct err err = ERR_INIT;
        autofree(expr) struct expr *expr = NULL;
        int r = expr_parse(errors[i][0], &scope, EXPR_BOOL, &expr, &err);
        if (r != -EINVAL || !str_eq(err_text(&err), errors[i][1]))
            fail_msg("%s: %d: %s", errors[i][0], r, err_text(&err));
    }
}

static int parse_repeated(const char *head, const char *part, size_t n, const char *tail)
{
    autorelease(str) struct str text = STR_INIT;
    autofree(expr) struct expr *expr = NULL;
    autorelease(err) struct err err = ERR_INIT;

    str_add(&text, head);
    for (size_t i = 0; i < n; i++)
        str_add(&text, part);
    str_add(&text, tail);
    int r = expr_parse(text.s, &scope, EXPR_ANY, &expr, &err);
    assert_true(r == 0 || *err_text(&err));
    return r;
}

TEST(depth_length_and_number_of_functions_are_limited)
{
    assert_int_equal(parse_repeated("", "(", 99, "1"), -EINVAL);
    assert_int_equal(parse_repeated("", "(", 5000, "1"), -EINVAL);
    assert_int_equal(parse_repeated("", "not ", 3000, "true"), -EINVAL);
    assert_int_equal(parse_repeated("", "-", 5000, "1"), -EINVAL);
    assert_int_equal(parse_repeated("", "abs(", 2000, "1"), -EINVAL);
    assert_int_equal(parse_repeated("1", "+1", 3000, ""), -EINVAL);
    assert_int_equal(parse_repeated("1", "+1", 90, ""), 0);
    assert_int_equal(parse_repeated("true", " or true", 2000, ""), 0);
    assert_int_equal(parse_repeated("number in (1", ",1", 3000, ")"), 0);
    assert_int_equal(parse_repeated("true", " or true", 5000, ""), -EINVAL);
    assert_int_equal(parse_repeated("min(loss)", " + min(loss)", 63, ""), 0);
    assert_int_equal(parse_repeated("min(loss)", " + min(loss)", 64, ""), -EINVAL);
    assert_int_equal(parse_repeated("loss", " + loss", 80, ""), 0); /* one and the same */
}

/* ---- needs, and what is decided without points ---- */

static const struct expr_need *need_of(const struct expr *expr, const char *name)
{
    size_t n;
    const struct expr_need *needs = expr_needs(expr, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(needs[i].name, name))
            return &needs[i];
    return NULL;
}

static struct expr *parsed(const char *text)
{
    autorelease(err) struct err err = ERR_INIT;
    struct expr *expr = NULL;
    assert_ok(expr_parse(text, &scope, EXPR_BOOL, &expr, &err), &err);
    return expr;
}

TEST(an_expression_tells_what_it_needs)
{
    autofree(expr) struct expr *plain = parsed("min(loss) < 1 and lr > 0 and last(loss) > 0");
    autofree(expr) struct expr *curves = parsed("min(loss, step > 3) < 1 and grad_norm > 0");
    size_t n;

    expr_needs(plain, &n);
    assert_int_equal(n, 2);
    assert_int_equal(need_of(plain, "loss")->stats, EXPR_HAS_RANGE | EXPR_HAS_LAST);
    assert_int_equal(need_of(plain, "loss")->column, C_LOSS);
    assert_false(need_of(plain, "loss")->points);
    assert_int_equal(need_of(plain, "lr")->kind, EXPR_PARAM);
    assert_false(expr_needs_points(plain));
    assert_true(expr_needs_points(curves));
    assert_true(need_of(curves, "loss")->points);
    assert_false(need_of(curves, "grad_norm")->points);
}

TEST(bounds_decide_without_reading_points)
{
    static const struct {
        const char *text;
        int decided;
    } table[] = {
        {"min(loss, step > 3) < 0.5", 0}, /* no value is that small */
        {"min(loss, step > 3) < 3", -EAGAIN},
        {"not min(loss, step > 3) < 0.5", 1},
        {"max(loss, step > 3) > 0.5", -EAGAIN}, /* there may be no point */
        {"min(loss, step > 9) is null", 1},     /* there is none */
        {"time_to(loss < 0.5) < 2h", 0},
        {"time_to(loss < 0.5) is null", 1},
        {"time_to(loss < 5) < 2h", -EAGAIN},
        {"time_to(loss < 5) < 2h and number = 8", 0},
        {"time_to(loss < 5) < 2h or number = 7", 1},
        {"count(loss > 3) <= 10", 1},
        {"count(loss > 3) <= 9", -EAGAIN},
        {"count(loss > 3) < 11", 1},
        {"count(loss > 3) = 12", 0},
        {"argmin(loss) > 8", -EAGAIN},
        {"argmin(loss) > 9", 0},
        {"argmin(loss) > 9.5", 0},
        {"median(loss) in (11, 12)", 0},
        {"at(loss, 3) > 10.5", 0},
        {"at(grad_norm, 3) > 10.5", -EAGAIN}, /* it has infinite values */
        {"any(loss > 11)", 0},
        {"-quantile(loss, 0.5) > 0", 0},
    };
    points_read = 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autofree(expr) struct expr *expr = parsed(table[i].text);
        int r = expr_decide(expr, &by_stats);
        if (r != table[i].decided)
            fail_msg("%s: %d", table[i].text, r);
    }
    assert_int_equal(points_read, 0);
}

TEST(points_are_read_once_for_each_function_at_most)
{
    autofree(expr) struct expr *expr =
        parsed("max(loss, step > argmin(metric.acc)) < 9 and loss < 2 and loss > 0 and "
               "min(loss) = 1");
    autorelease(err) struct err err = ERR_INIT;

    points_read = 0;
    assert_int_equal(expr_test(expr, &by_stats, &err), 0);
    assert_int_equal(points_read, 2);
}

TEST(only_blocks_that_a_condition_cuts_are_read)
{
    static const struct {
        const char *text, *value;
        size_t read;
    } rows[] = {
        {"min(loss, step > 3)", "1", 0},
        {"min(loss, step > 4)", "1", 0}, /* the one that is cut holds nothing smaller */
        {"min(loss, step < 5)", "6", 1},
        {"max(loss, step > 4)", "5", 1},
        {"count(loss, step > 4)", "5", 1},
        {"count(loss, step >= 20)", "0", 0},
        {"mean(loss, step > 5)", "2.5", 0},
        {"last(loss, step < 6)", "5", 0},
        {"step_to(metric.acc >= 0.5)", "5", 1},
        {"time_to(metric.acc >= 0.5)", "5.5", 1},
        {"any(metric.acc >= 0.5)", "true", 1},
        {"any(metric.acc >= 0.4)", "true", 0},
        {"any(metric.acc >= 2)", "false", 0},
        {"argmax(loss)", "0", 1},
        {"nans(grad_norm, step > 1)", "0", 0},
        {"count(grad_norm > 1)", "2", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        blocks_read = points_read = 0;
        check_value(rows[i].text, &by_blocks, rows[i].value);
        assert_int_equal(blocks_read, 2 * rows[i].read); /* it was evaluated twice */
        assert_int_equal(points_read, 0);
    }
}

static int broken_points(size_t column UNUSED, const struct expr_range *range UNUSED,
                         expr_points_fn *fn UNUSED, void *fn_arg UNUSED, void *arg UNUSED,
                         struct err *err)
{
    return err_set(err, EIO, "cannot read");
}

TEST(a_source_is_told_which_steps_are_asked_for)
{
    static const struct {
        const char *text;
        int64_t min, max;
    } table[] = {
        {"min(loss, step > 3) > 0", 4, INT64_MAX},
        {"min(loss, step >= 3.5, step < 7) > 0", 4, 6},
        {"min(loss, 3 <= step <= 6.5) > 0", 3, 6},
        {"min(loss, step = 4 and value > 1) > 0", 4, 4},
        {"min(loss, 8 > step) > 0", INT64_MIN + 1, 7},
        {"min(loss, step > argmin(loss) - 2) > 0", 8, INT64_MAX},
        {"min(loss, step > 3 or value > 1) > 0", INT64_MIN, INT64_MAX},
        {"min(loss, step > 3 and (step < 5 or value > 1)) > 0", 4, INT64_MAX},
        {"min(loss, step > 1e300 or true) > 0", INT64_MIN, INT64_MAX},
        {"min(loss, step < 1e300) > 0", INT64_MIN + 1, INT64_MAX},
        {"step_to(loss < 5) > 0", INT64_MIN, INT64_MAX},
    };
    autorelease(err) struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autofree(expr) struct expr *expr = parsed(table[i].text);
        assert_int_equal(expr_test(expr, &by_points, &err), 1);
        if (range_asked.min_step != table[i].min || range_asked.max_step != table[i].max)
            fail_msg("%s: %lld %lld", table[i].text, (long long)range_asked.min_step,
                     (long long)range_asked.max_step);
    }
}

TEST(an_error_of_reading_points_is_told)
{
    autofree(expr) struct expr *expr = parsed("min(loss, step > argmin(loss)) < 9");
    autorelease(err) struct err err = ERR_INIT;
    struct expr_source broken = {.field = field, .stats = stats, .points = broken_points};

    assert_int_equal(expr_test(expr, &broken, &err), -EIO);
    assert_string_equal(err_text(&err), "cannot read");
}

TEST(an_open_scope_takes_names_for_metrics_that_may_come)
{
    struct expr_scope open = scope;
    autofree(expr) struct expr *expr = NULL;
    autorelease(err) struct err err = ERR_INIT;

    open.open = true;
    assert_ok(expr_parse("new_loss > 3 and max(new_loss) > 4 and metric.other > 1 and loss < inf",
                         &open, EXPR_BOOL, &expr, &err),
              &err);
    assert_int_equal(need_of(expr, "new_loss")->column, scope.n);
    assert_int_equal(need_of(expr, "other")->column, scope.n + 1);
    assert_int_equal(need_of(expr, "loss")->column, C_LOSS);
    assert_int_equal(expr_test(expr, &by_stats, &err), 0);
}

TEST(values_have_an_order_with_null_last)
{
    struct expr_value one = expr_number(1), two = expr_number(2), nan = expr_number(NAN),
                      null = expr_null(), a = expr_text("a"), b = expr_text("b");

    assert_true(expr_value_compare(&one, &two, false) < 0);
    assert_true(expr_value_compare(&one, &two, true) > 0);
    assert_true(expr_value_compare(&a, &b, false) < 0);
    assert_true(expr_value_compare(&a, &b, true) > 0);
    for (int desc = 0; desc < 2; desc++) {
        assert_true(expr_value_compare(&one, &nan, desc) < 0);
        assert_true(expr_value_compare(&nan, &null, desc) < 0);
        assert_true(expr_value_compare(&null, &b, desc) > 0);
        assert_int_equal(expr_value_compare(&null, &null, desc), 0);
    }
}

/* ---- steps from 2^53 on ---- */

#define BIG INT64_C(9007199254740992)
static const struct expr_point late[] = {
    {BIG, 0, 3}, {BIG + 1, 1, 2}, {BIG + 3, 2, 1}, {INT64_MAX - 1, 3, 7}, {INT64_MAX, 4, 9}};

static struct expr_value late_field(size_t column, void *arg UNUSED)
{
    return column == C_STEP ? expr_integer(BIG + 1) : expr_null();
}

static bool late_stats(size_t column UNUSED, struct expr_stats *ret, void *arg UNUSED)
{
    *ret = (struct expr_stats){
        .has = EXPR_HAS_STEPS, .first_step = late[0].step, .last_step = late[4].step};
    return true;
}

static int late_points(size_t column UNUSED, const struct expr_range *range UNUSED,
                       expr_points_fn *fn, void *fn_arg, void *arg UNUSED, struct err *err UNUSED)
{
    fn(late, ARRAY_LEN(late), fn_arg);
    return 0;
}

TEST(steps_of_64_bits_are_compared_exactly)
{
    static const char *const hold[] = {
        "count(loss, step > 9007199254740992) = 4",
        "count(loss, step >= 9007199254740993) = 4",
        "count(loss, step > 9007199254740993) = 3",
        "count(loss, step = 9007199254740993) = 1",
        "count(loss, step != 9007199254740993) = 4",
        "count(loss, step < 9007199254740993) = 1",
        "count(loss, 9007199254740993 <= step < 9007199254740995) = 1",
        "count(loss, step >= 9223372036854775807) = 1",
        "count(loss, step < 9223372036854775807) = 4",
        "count(loss, step > 9223372036854775807) = 0",
        "count(loss, step > 1e19) = 0",
        "count(loss, step > -9007199254740993) = 5",
        "count(loss, step > 9007199254740992 or value > 100) = 4",
        "argmin(loss) = 9007199254740995",
        "not argmin(loss) = 9007199254740996",
        "argmin(loss) < 9007199254740996",
        "step = 9007199254740993",
        "step > 9007199254740992",
        "not step > 9007199254740993",
        "step in (1, 9007199254740993)",
        "not step in (9007199254740992, 9007199254740994)",
        "-step = -9007199254740993",
    };
    struct expr_source source = {.field = late_field, .stats = late_stats, .points = late_points};
    autorelease(err) struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(hold); i++) {
        autofree(expr) struct expr *expr = parsed(hold[i]);
        if (expr_test(expr, &source, &err) != 1)
            fail_msg("%s", hold[i]);
    }
    struct expr_value a = expr_integer(BIG), b = expr_integer(BIG + 1);
    assert_true(expr_value_compare(&a, &b, false) < 0 && expr_value_compare(&a, &b, true) > 0);
}

TEST(every_function_has_a_name_and_a_line_about_it)
{
    const char *help = NULL;
    size_t n = 0;

    for (; expr_function(n, &help); n++)
        assert_true(*help);
    assert_true(n > 20);
}

TEST_MAIN
