/* SPDX-License-Identifier: MIT */
/*
 * segment_head_test.c — heads of blocks come back as they were put; those of the first version are
 * still read.
 */
#include "series/intern.h"
#include "series/segment.h"

#include "base/fs.h"
#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

static void assert_bits(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof(a));
}

static void assert_comes_back(struct segment_head *head)
{
    unsigned char bytes[SEGMENT_HEAD_MAX + 4096] = {0};
    struct segment_head got;
    size_t n = segment_head_put(head, bytes);

    assert_in_range(n, 20, SEGMENT_HEAD_MAX);
    assert_true(segment_head_get(bytes, n + head->size, 0, &got));
    assert_false(segment_head_get(bytes, n + head->size - 1, 0, &got));
    assert_true(segment_head_get(bytes, n + head->size, 0, &got));
    assert_int_equal(got.length, n);
    assert_int_equal(got.crc, head->crc);
    assert_int_equal(got.source, head->source);
    assert_int_equal(got.group, head->group);
    assert_int_equal(got.name, head->name);
    assert_int_equal(got.count, head->count);
    assert_int_equal(got.nans, head->nans);
    assert_int_equal(got.infs, head->infs);
    assert_true(got.row == head->row);
    if (head->kind != SEGMENT_VALUES)
        return;
    assert_bits(got.numbers.min, head->numbers.min);
    assert_bits(got.numbers.max, head->numbers.max);
    assert_bits(got.numbers.sum, head->numbers.sum);
    assert_bits(got.numbers.squares, head->numbers.squares);
    assert_bits(got.numbers.first, head->numbers.first);
    assert_bits(got.numbers.last, head->numbers.last);
}

static double any_number(struct rng *rng)
{
    static const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e300, -1e-300, 0.1, 5e-324};
    uint64_t bits = rng_u64(rng);
    double x;

    switch (rng_below(rng, 5)) {
    case 0:
        return odd[rng_below(rng, ARRAY_LEN(odd))];
    case 1:
        return (double)(float)rng_normal(rng);
    case 2:
        return (double)((int64_t)rng_below(rng, 2000000) - 1000000) / 1e6;
    case 3:
        memcpy(&x, &bits, sizeof(x));
        return x;
    default:
        return rng_normal(rng);
    }
}

TEST(any_head_comes_back_bit_for_bit)
{
    struct rng rng;

    rng_init(&rng, 7, 1);
    for (int i = 0; i < 20000; i++) {
        struct segment_head head = {
            .size = (uint32_t)rng_below(&rng, 4096) + 1,
            .crc = (uint32_t)rng_u64(&rng),
            .source = (uint32_t)(rng_u64(&rng) >> (32 + rng_below(&rng, 32))),
            .group = (uint32_t)rng_below(&rng, 3),
            .name = (uint32_t)rng_below(&rng, 100000),
            .count = (uint16_t)(rng_below(&rng, BLOCK_VALUES) + 1),
            .kind = SEGMENT_VALUES,
            .nans = (uint16_t)rng_below(&rng, 5),
            .row = rng_u64(&rng) >> rng_below(&rng, 64),
        };
        head.numbers =
            (struct segment_numbers){any_number(&rng), any_number(&rng), any_number(&rng),
                                     any_number(&rng), any_number(&rng), any_number(&rng)};
        assert_comes_back(&head);
    }
}

TEST(spans_come_back_whatever_they_are)
{
    static const struct segment_span spans[] = {
        {0, 0}, {-5, 7}, {INT64_MIN, INT64_MAX}, {INT64_MAX, INT64_MAX}, {1, INT64_MAX}};

    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        unsigned char bytes[SEGMENT_HEAD_MAX] = {0};
        struct segment_head head = {.kind = SEGMENT_TIMES, .count = 3, .span = spans[i]}, got;
        size_t n = segment_head_put(&head, bytes);

        assert_true(segment_head_get(bytes, n, 0, &got));
        assert_true(got.span.first == spans[i].first && got.span.last == spans[i].last);
    }
}

TEST(statistics_of_decimals_and_floats_are_short)
{
    unsigned char bytes[SEGMENT_HEAD_MAX];
    struct segment_head head = {.size = 1500,
                                .source = 300,
                                .name = 20,
                                .count = 1024,
                                .row = 100000,
                                .kind = SEGMENT_VALUES};

    head.numbers = (struct segment_numbers){0.123456, 0.987654, 512.3, 300.1, 0.5, 0.123457};
    assert_in_range(segment_head_put(&head, bytes), 20, 56);
    head.numbers = (struct segment_numbers){(double)0.1f, (double)0.9f, 512.3,
                                            300.1,        (double)0.2f, (double)0.3f};
    assert_in_range(segment_head_put(&head, bytes), 20, 60);
}

TEST(a_flipped_bit_anywhere_is_noticed)
{
    unsigned char bytes[SEGMENT_HEAD_MAX];
    struct segment_head head = {.size = 0, .count = 9, .kind = SEGMENT_VALUES}, got;
    size_t n = segment_head_put(&head, bytes);

    for (size_t bit = 0; bit < n * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        assert_false(segment_head_get(bytes, n, 0, &got));
        bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    assert_true(segment_head_get(bytes, n, 0, &got));
}

static void on_note(const char *sentence, void *arg)
{
    (void)arg;
    fail_msg("%s", sentence);
}

TEST(a_segment_of_the_first_version_is_read)
{
    autorelease(str) struct str file = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    autofree(segment) struct segment *segment = NULL;
    struct intern intern = {0};

    assert_int_equal(fs_read("tests/fuzz/corpus/series_segment/whole-1", 1 << 20, &file, &err), 0);
    /* behind a mark of the fuzzer's; aligned as a mapped file is */
    autofree(mem) unsigned char *bytes = xmemdup(file.s + 1, file.len - 1);
    assert_memory_equal(bytes, SEGMENT_MAGIC_1, 8);
    assert_int_equal(
        segment_open_bytes("whole-1", bytes, file.len - 1, &intern, on_note, NULL, &segment, &err),
        0);
    assert_true(segment->values > 0 && segment_sources(segment) > 0);
    assert_int_equal(segment_verify(segment, on_note, NULL), 0);
    intern_release(&intern);
}

TEST_MAIN
