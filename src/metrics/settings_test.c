/* SPDX-License-Identifier: MIT */
/*
 * settings_test.c — what a program prints of its parameters is no result of it.
 */
#include "tests/test.h"

#include "metrics/test_samples.h"
#include "model/spec.h"

#include <math.h>

static struct value widths[] = {{VALUE_TEXT, 0, (char *)"narrow"}, {VALUE_INT, 64, (char *)"64"}};
static struct param params[] = {
    {.name = (char *)"lr", .type = PARAM_FLOAT},
    {.name = (char *)"batch", .type = PARAM_INT},
    {.name = (char *)"batch-size", .type = PARAM_INT},
    {.name = (char *)"width", .type = PARAM_CHOICE, .choices = widths, .n_choices = 2},
    {.name = (char *)"absent", .type = PARAM_FLOAT},
};
static const double point[] = {0.0031622776601683794, 32, 16, 1, NAN};

static char *read_given(const struct spec *spec, enum metrics_source source, const char *text)
{
    struct str all = STR_INIT;
    struct metrics_given given = {spec, point};
    autofree(metrics_rules) struct metrics_rules *rules = NULL;
    assert_int_equal(metrics_rules_new(spec, &rules, NULL), 0);
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(rules, source, collect_sample, &all);

    metrics_parser_given(parser, &given);
    metrics_parser_feed(parser, text, strlen(text), 0);
    metrics_parser_finish(parser, 0);
    return str_take(&all);
}

static void check(const struct spec *spec, const char *text, const char *samples)
{
    autofree(mem) char *got = read_given(spec, METRICS_OUTPUT, text);
    if (!str_eq(got, samples))
        fail_msg("%s\n  gives    %s\n  expected %s", text, got, samples);
}

static struct spec a_spec(void)
{
    return (struct spec){.space = {.params = params, .n = ARRAY_LEN(params)}};
}

TEST(what_the_program_was_given_is_neither_metric_nor_step)
{
    static const struct {
        const char *text, *samples;
    } rows[] = {
        {"lr=0.0031622776601683794 batch=32", ""},
        {"lr=0.00316228 batch=32 width: 64", ""},
        {"batch=32", ""},
        {"Namespace(lr=0.0031622776601683794, batch=32, batch_size=16, workers=4)", ""},
        {"{'lr': 0.0031622776601683794, 'batch': 32, 'batch size': 16}", ""},
        {"{\"lr\": 0.0031622776601683794, \"batch\": 32, \"loss\": 0.4}", "loss=0.4"},
        {"lr=0.0031622776601683794 batch=32 loss=0.4", "loss=0.4"},
        {"epoch 3 loss 0.4 lr 0.00316228 batch size 16", "loss=0.4@3"},
        {"loss=0.4\nbatch: 32\nloss=0.3", "loss=0.4 loss=0.3"},
    };
    struct spec spec = a_spec();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&spec, rows[i].text, rows[i].samples);
}

TEST(what_shares_only_a_name_with_a_parameter_counts)
{
    static const struct {
        const char *text, *samples;
    } rows[] = {
        {"epoch 1 lr 0.002", "lr=0.002@1"},
        {"width=128 absent=1", "width=128 absent=1"},
        {"batch 31 loss 0.5\nbatch 32 loss 0.4", "loss=0.5@31 loss=0.4@32"},
        {"batch 32/938 loss 0.4", "loss=0.4@32"},
        {"batch 32 loss 0.4", "loss=0.4"}, /* a counter that begins there is believed */
        {"step 1 lr 0.00316228\nstep 2 lr 0.002\nstep 3 lr 0.00316228",
         "lr=0.002@2 lr=0.00316228@3"},
    };
    struct spec spec = a_spec();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&spec, rows[i].text, rows[i].samples);
}

TEST(what_the_spec_asks_for_counts)
{
    struct spec spec = a_spec();
    struct objective other = {.metric = (char *)"width"};
    struct text_pair pattern = {(char *)"lr", (char *)"rate ([0-9.]+)"};

    spec.objective.metric = (char *)"lr";
    check(&spec, "lr=0.00316228 width=64", "lr=0.00316228 width=64");
    spec.objective.metric = (char *)"loss";
    check(&spec, "lr=0.00316228 width=64", "");
    vec_push(&spec.others, other);
    check(&spec, "lr=0.00316228 width=64", "lr=0.00316228 width=64");
    vec_release(&spec.others);
    vec_push(&spec.patterns, pattern);
    check(&spec, "rate 0.00316228", "lr=0.00316228");
    vec_release(&spec.patterns);
}

TEST(the_metrics_file_is_taken_at_its_word)
{
    struct spec spec = a_spec();
    autofree(mem) char *got = read_given(&spec, METRICS_FILE, "train width=64,step=3i\n");
    assert_string_equal(got, "width=64@3");
}

TEST_MAIN
