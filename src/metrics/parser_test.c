/* SPDX-License-Identifier: MIT */
/*
 * parser_test.c — whatever a program writes, the parser goes on: long lines, garbage, zero bytes,
 * holes, numbers of every kind.
 */
#include "tests/test.h"

#include "base/rng.h"
#include "metrics/line.h"
#include "metrics/test_samples.h"

#include <math.h>

static char block[64 << 10];

TEST(a_line_of_100_mb_is_skipped_and_counted)
{
    autorelease(str) struct str got = STR_INIT;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_OUTPUT, collect_sample, &got);
    memset(block, '7', sizeof(block));
    metrics_parser_feed(parser, "a: 1\nloss: 0.5 ", 15, 0);
    for (size_t i = 0; i < (100 << 20) / sizeof(block); i++)
        metrics_parser_feed(parser, block, sizeof(block), 0);
    metrics_parser_feed(parser, " loss: 3\nb: 2", 13, 0);
    metrics_parser_finish(parser, 0);
    assert_string_equal(got.s, "a=1 b=2");
    assert_int_equal(metrics_parser_counts(parser).long_lines, 1);
    assert_int_equal(metrics_parser_counts(parser).samples, 2);
}

static char *line_of(size_t n)
{
    autorelease(str) struct str text = STR_INIT;
    str_add(&text, "train x=\"");
    while (text.len < n - 5)
        str_add_char(&text, '.');
    str_add(&text, "\",a=1\n");
    return str_take(&text);
}

TEST(a_line_of_64_kib_is_read_and_a_longer_one_is_not)
{
    autofree(mem) char *fits = line_of(METRICS_LINE_MAX);
    autofree(mem) char *over = line_of(METRICS_LINE_MAX + 1);
    assert_int_equal(strlen(fits), METRICS_LINE_MAX + 1); /* with its newline */
    autofree(mem) char *read = samples_of(NULL, METRICS_FILE, fits, strlen(fits));
    autofree(mem) char *skipped = samples_of(NULL, METRICS_FILE, over, strlen(over));
    assert_string_equal(read, "a=1");
    assert_string_equal(skipped, "");
}

TEST(a_bar_that_never_ends_its_line_is_read_piece_by_piece)
{
    autorelease(str) struct str text = STR_INIT;
    for (int i = 0; i < 10000; i++)
        str_addf(&text, "\r 1%%|#   | 1/100 [00:00<00:00, loss=%d]", i);
    autofree(mem) char *got = samples_of(NULL, METRICS_OUTPUT, text.s, text.len);
    assert_true(str_starts(got, "loss=0 loss=1 loss=2 "));
    assert_non_null(strstr(got, " loss=9999"));
}

TEST(a_zero_byte_ends_a_line_and_a_hole_tears_two)
{
    static const char zeros[4096];
    autorelease(str) struct str text = STR_INIT;
    str_add(&text, "a: 1\nb: 2");
    str_add_n(&text, zeros, 3);
    str_add(&text, "c: 3\nd: 0.4");
    str_add_n(&text, zeros, sizeof(zeros));
    str_add(&text, "9\ne: 5\n");
    str_add_n(&text, zeros, sizeof(zeros));
    autofree(mem) char *got = samples_of(NULL, METRICS_OUTPUT, text.s, text.len);
    assert_string_equal(got, "a=1 b=2 c=3 e=5");
}

TEST(a_metrics_file_that_begins_with_a_hole_goes_on_with_the_next_whole_line)
{
    static const char zeros[4096];
    autorelease(str) struct str text = STR_INIT;
    str_add_n(&text, zeros, sizeof(zeros));
    str_add(&text, "in loss=0.1\ntrain loss=0.2\n");
    autofree(mem) char *got = samples_of(NULL, METRICS_FILE, text.s, text.len);
    assert_string_equal(got, "loss=0.2");
}

TEST(garbage_is_survived_by_both_sources)
{
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int source = METRICS_OUTPUT; source <= METRICS_FILE; source++) {
        autorelease(str) struct str got = STR_INIT;
        autofree(metrics_parser) struct metrics_parser *parser =
            metrics_parser_new(NULL, (enum metrics_source)source, collect_sample, &got);
        for (int i = 0; i < 300; i++) {
            char bytes[1024];
            static const char likely[] =
                "=:,. 0123456789enaif[](){}%|/-+'\"\\\r\n\t\033\xe2\x94\x81";
            for (size_t k = 0; k < sizeof(bytes); k++)
                bytes[k] = rng_chance(&rng, 0.3) ? (char)rng_u64(&rng)
                                                 : likely[rng_below(&rng, sizeof(likely))];
            metrics_parser_feed(parser, bytes, sizeof(bytes), 0);
        }
        metrics_parser_finish(parser, 0);
        assert_true(metrics_parser_counts(parser).lines > 0);
    }
}

TEST(numbers_read_as_the_c_library_reads_them)
{
    struct rng rng;
    rng_init(&rng, 11, 0);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        uint64_t bits = rng_u64(&rng);
        double x;
        memcpy(&x, &bits, sizeof(x));
        int digits = (int)rng_below(&rng, 20);
        if (rng_chance(&rng, 0.5))
            x = (rng_unit(&rng) - 0.5) * 1000;
        snprintf(text, sizeof(text), "%.*g", digits, x);
        struct number number;
        size_t n = number_parse(text, text + strlen(text), &number);
        if (!isfinite(x))
            continue;
        assert_int_equal(n, strlen(text));
        double expected = strtod(text, NULL);
        assert_memory_equal(&number.value, &expected, sizeof(expected));
    }
}

static void collect_end(const struct sample *sample, void *arg)
{
    str_addf(arg, "%s@%d ", sample->metric, (int)sample->end);
}

TEST(a_sample_knows_where_its_line_ends_however_the_bytes_come)
{
    static const char text[] = "a: 1\n\nb: 2 c: 3\r\rd: 4\0e: 5\nf: 6";

    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        autorelease(str) struct str got = STR_INIT;
        autofree(metrics_parser) struct metrics_parser *parser =
            metrics_parser_new(NULL, METRICS_OUTPUT, collect_end, &got);
        for (size_t at = 0; at < sizeof(text) - 1; at += piece)
            metrics_parser_feed(parser, text + at, MIN(piece, sizeof(text) - 1 - at), 0);
        metrics_parser_finish(parser, 0);
        assert_string_equal(got.s, "a@5 b@16 c@16 d@22 e@27 f@31 ");
        metrics_parser_at(parser, 1000);
        metrics_parser_feed(parser, "g: 7\n", 5, 0);
        assert_non_null(strstr(got.s, "g@1005"));
    }
}

TEST(missing_steps_are_counted_past_the_highest)
{
    int64_t next = 0;
    assert_int_equal(metrics_step(&next, STEP_NONE), 0);
    assert_int_equal(metrics_step(&next, STEP_NONE), 1);
    assert_int_equal(metrics_step(&next, 10), 10);
    assert_int_equal(metrics_step(&next, 4), 4);
    assert_int_equal(metrics_step(&next, STEP_NONE), 11);
}

TEST_MAIN
