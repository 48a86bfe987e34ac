/* SPDX-License-Identifier: MIT */
/*
 * line_protocol_test.c — the metrics file: every accepted form, every refused one.
 */
#include "tests/test.h"

#include "metrics/test_samples.h"

static const struct {
    const char *line, *samples;
} good[] = {
    {"train loss=0.41,acc=0.87,step=120i 1700000000000000000",
     "loss=0.41@120#1700000000000000 acc=0.87@120#1700000000000000"},
    {"train loss=0.41", "loss=0.41"},
    {"metrics loss=0.41", "loss=0.41"},
    {"val loss=0.3,epoch=2i", "val.loss=0.3@2"},
    {"val value=0.3", "val=0.3"},
    {"train step=3i,epoch=1i,loss=1", "loss=1@3 epoch=1@3"},
    {"train loss=1,iteration=9i,epoch=4i", "loss=1@4"},
    {"train loss=1,iteration=9i", "loss=1@9"},
    {"train step=3,loss=1", "loss=1@3"},
    {"train step=-3i,loss=1", "loss=1@-3"},
    {"train step=9007199254740993i,loss=1", "loss=1@9007199254740993"},
    {"train step=-9007199254740993,loss=1", "loss=1@-9007199254740993"},
    {"train step=9223372036854775807i,loss=1", "loss=1@9223372036854775807"},
    {"train step=9223372036854775808i,loss=1", "step=9.223372036854776e+18 loss=1"},
    {"train epoch=0.5,loss=1", "epoch=0.5 loss=1"},
    {"train a=nan,b=NaN,c=inf,d=-inf,e=+Inf,f=-Infinity", "a=nan b=nan c=inf d=-inf e=inf f=-inf"},
    {"train a=t,b=F,c=true,d=False", "a=1 b=0 c=1 d=0"},
    {"train a=1.,b=.5,c=1e-05,d=-1.2E+3,e=3i,f=4u", "a=1 b=0.5 c=1e-05 d=-1200 e=3 f=4"},
    {"train name=\"x, y=3 \\\" z\",loss=0.4", "loss=0.4"},
    {"train name=\"only text\"", ""},
    {"val,fold=2,b=x loss=0.3", "val.loss{b=x,fold=2}=0.3"},
    {"train,fold=2 loss=0.3", "loss{fold=2}=0.3"},
    {"my\\ run,a\\,b=c\\=d lo\\ ss=0.3", "my_run.lo_ss{a,b=c=d}=0.3"},
    {"hone generation=7i,step=120i", "hone.generation=7@120"},
    {"train   loss=1   1000  ", "loss=1#1"},
    {"  train loss=1", "loss=1"},
    {"train loss=1\r", "loss=1"},
    {"train loss=1 -5000", "loss=1#-5"},
    {"train loss=1 1700000000123456789", "loss=1#1700000000123456.789"},
    {"train loss=1 -1", "loss=1#-1.999"},
    {"train loss=1 -9223372036854775807", "loss=1#-9223372036854776.193"},
    {"train a=9007199254740993i,b=9007199254740992i,c=-9007199254740993i",
     "a=9007199254740993i b=9007199254740992 c=-9007199254740993i"},
    {"train a=9223372036854775807i,b=-9223372036854775808i,c=1152921504606846976i",
     "a=9223372036854775807i b=-9223372036854775808i c=1152921504606846976i"},
    {"train a=-9223372036854775809i,b=9223372036854775808u,c=9007199254740993",
     "a=-9.223372036854776e+18 b=9.223372036854776e+18 c=9007199254740992"},
    {"train loss=1,step=1i,epoch=9007199254740993i", "loss=1@1 epoch=9007199254740993i@1"},
    {"# a comment", ""},
    {"   ", ""},
    {"pr\xc3\xa9"
     "cision value=1",
     "pr\xc3\xa9"
     "cision=1"},
    {"train x=179769313486231570000000000000e280", "x=inf"},
    {"train x=0.1234567890123456789,y=123456789012345678",
     "x=0.12345678901234568 y=1.2345678901234568e+17"},
};

TEST(each_form_of_line_protocol_is_read)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        autofree(mem) char *got =
            samples_of(NULL, METRICS_FILE, good[i].line, strlen(good[i].line));
        assert_string_equal(got, good[i].samples);
    }
}

static void count_nothing(const struct sample *sample UNUSED, void *arg UNUSED)
{
    fail_msg("a bad line gave the sample %s", sample->metric);
}

TEST(a_bad_line_is_skipped_whole_and_counted)
{
    static const char *const bad[] = {
        "train",
        "train ",
        "train loss",
        "train loss=",
        "train loss=x",
        "train loss=0.4x",
        "train loss=0.4,",
        "train loss=0.4,acc",
        "train loss=0.4 now",
        "train loss=0.4 12 13",
        "train loss=0.4 99999999999999999999",
        "train loss=0.4 -",
        "train =1",
        ",a=b loss=1",
        "train, loss=1",
        "train,a= loss=1",
        "train,a loss=1",
        "train,a=b=c loss=1",
        "train,a=1,a=2 loss=1",
        "train,a=1,a=2",
        "train name=\"open",
        "train loss=0.5i",
        "train loss=1e3i",
        "train loss=0x1f",
        "train lo\001ss=1",
        "train loss==1",
        "\xff\xfe\xfd",
        "{\"loss\": 1}",
    };
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_FILE, count_nothing, NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        metrics_parser_feed(parser, bad[i], strlen(bad[i]), 0);
        metrics_parser_feed(parser, "\n", 1, 0);
        if (metrics_parser_counts(parser).bad_lines != i + 1)
            fail_msg("'%s' was not refused", bad[i]);
    }
}

TEST(a_long_name_is_refused)
{
    autorelease(str) struct str line = STR_INIT;
    str_add(&line, "train ");
    for (int i = 0; i < 256; i++)
        str_add_char(&line, 'x');
    str_add(&line, "=1\n");
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_FILE, count_nothing, NULL);
    metrics_parser_feed(parser, line.s, line.len, 0);
    assert_int_equal(metrics_parser_counts(parser).bad_lines, 1);
}

TEST(a_torn_last_line_waits_for_its_rest_and_does_not_count_without)
{
    autorelease(str) struct str got = STR_INIT;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_FILE, collect_sample, &got);
    metrics_parser_feed(parser, "train loss=0.4", 14, 0);
    assert_string_equal(got.s, "");
    metrics_parser_feed(parser, "1\ntrain loss=0.3", 16, 0);
    assert_string_equal(got.s, "loss=0.41");
    metrics_parser_finish(parser, 0);
    assert_string_equal(got.s, "loss=0.41");
    assert_int_equal(metrics_parser_counts(parser).bad_lines, 1);
}

TEST(the_time_of_reading_stands_in_for_a_missing_one)
{
    autorelease(str) struct str got = STR_INIT;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_FILE, collect_sample, &got);
    metrics_parser_feed(parser, "train a=1\ntrain a=2 3000\n", 25, 77);
    assert_string_equal(got.s, "a=1#77 a=2#3");
}

TEST_MAIN
