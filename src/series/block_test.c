/* SPDX-License-Identifier: MIT */
/*
 * block_test.c — what was put is got, bit for bit, whatever it was; and no bytes do harm.
 */
#include "base/rng.h"
#include "series/block.h"

#include "tests/test.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Returns the size; the codec is in *ret_codec. The bytes lie where ASan sees their end. */
static size_t check_doubles(const double *values, size_t n, enum block_codec *ret_codec)
{
    unsigned char bytes[BLOCK_BYTES_MAX];
    autofree(mem) double *got = xcalloc(n, sizeof(*got));
    size_t size = block_put_doubles(values, n, bytes);
    assert_in_range(size, 1, n * 8 + 1);
    autofree(mem) unsigned char *copy = xmemdup(bytes, size);
    assert_int_equal(block_get_doubles(copy, size, n, got), 0);
    assert_memory_equal(got, values, n * sizeof(*got));
    if (ret_codec)
        *ret_codec = (enum block_codec)bytes[0];
    return size;
}

static size_t check_ints(const int64_t *values, size_t n, enum block_codec *ret_codec)
{
    unsigned char bytes[BLOCK_BYTES_MAX];
    autofree(mem) int64_t *got = xcalloc(n, sizeof(*got));
    size_t size = block_put_ints(values, n, bytes);
    assert_in_range(size, 1, n * 8 + 1);
    autofree(mem) unsigned char *copy = xmemdup(bytes, size);
    assert_int_equal(block_get_ints(copy, size, n, got), 0);
    assert_memory_equal(got, values, n * sizeof(*got));
    if (ret_codec)
        *ret_codec = (enum block_codec)bytes[0];
    return size;
}

/* ---- values of all kinds ---- */
static const uint64_t odd_bits[] = {
    0x0000000000000000, 0x8000000000000000, /* ±0 */
    0x7ff0000000000000, 0xfff0000000000000, /* ±Inf */
    0x7ff8000000000000, 0xfff8000000000000, /* quiet NaN */
    0x7ff0000000000001, 0x7ff8dead0000beef, 0xfff7ffffffffffff, 0x7fffffffffffffff,
    0xffffffffffffffff,                                         /* … with payloads, signalling */
    0x0000000000000001, 0x800fffffffffffff,                     /* denormal */
    0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, /* smallest normal, largest */
    0x3ff0000000000000, 0x3ff0000000000001, 0x43e0000000000000, 0xc3e0000000000000, /* 1, 2^63 */
    0x36a0000000000000, 0x380fffffc0000000, /* a float32's denormals */
    0x4340000000000000, 0x4330000000000001, /* 2^53 … */
};

typedef double value_fn(struct rng *rng, size_t i);

static double odd(struct rng *rng, size_t i)
{
    (void)i;
    return double_of(odd_bits[rng_below(rng, ARRAY_LEN(odd_bits))]);
}
static double any_bits(struct rng *rng, size_t i)
{
    (void)i;
    return double_of(rng_u64(rng));
}
static double noise(struct rng *rng, size_t i)
{
    (void)i;
    return rng_normal(rng);
}
static double narrow(struct rng *rng, size_t i)
{
    (void)i;
    return (float)(2.3 + 0.01 * rng_normal(rng));
}
static double centred(struct rng *rng, size_t i)
{
    return (float)(i % 3 ? rng_normal(rng) : 0);
}
static double decimal(struct rng *rng, size_t i)
{
    (void)i;
    return (double)((int64_t)rng_below(rng, 2000000) - 1000000) / 1e6;
}
static double whole(struct rng *rng, size_t i)
{
    return (double)(4096 * rng_below(rng, 1000 + i));
}
static double large_whole(struct rng *rng, size_t i)
{
    (void)i;
    return (double)(int64_t)rng_u64(rng);
}
static double alternating(struct rng *rng, size_t i)
{
    (void)rng;
    return i % 2 ? NAN : 0.1;
}
static double far_alternating(struct rng *rng, size_t i)
{
    (void)rng;
    return i % 2 ? DBL_MAX : -DBL_MAX;
}
static double long_runs(struct rng *rng, size_t i)
{
    static double value;
    if (i == 0 || rng_below(rng, 100) == 0)
        value = rng_normal(rng);
    return value;
}
static double rounded(double x, int digits)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*e", digits - 1, x);
    return strtod(text, NULL);
}
static double six_digits(struct rng *rng, size_t i)
{
    (void)i;
    return rounded(0.1 * exp(0.05 * rng_normal(rng)), 6); /* with six decimals or with seven */
}
static double counting(struct rng *rng, size_t i)
{
    (void)rng;
    return (double)i / 1e3;
}
static double short_float(struct rng *rng, size_t i)
{
    (void)i;
    return double_of(bits_of(-rng_unit(rng)) & ~((UINT64_C(1) << 45) - 1));
}
static double many_scales(struct rng *rng, size_t i)
{
    (void)i;
    return ldexp(rng_normal(rng), (int)rng_below(rng, 2000) - 1000);
}

static value_fn *const kinds[] = {odd,         any_bits,    noise,           narrow,   decimal,
                                  whole,       alternating, far_alternating, counting, short_float,
                                  large_whole, long_runs,   many_scales,     centred};
static const size_t lengths[] = {1, 2, 3, 7, 8, 127, 128, 129, 255, 1000, 1023, 1024};

static void fill(value_fn *kind, struct rng *rng, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = kind(rng, i);
}

TEST(doubles_of_every_kind_and_number_come_back_bit_for_bit)
{
    double values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
            fill(kinds[k], &rng, values, lengths[l]);
            check_doubles(values, lengths[l], NULL);
        }
}

TEST(mixtures_of_kinds_come_back_bit_for_bit)
{
    double values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + rng_below(&rng, BLOCK_VALUES);
        value_fn *usual = kinds[rng_below(&rng, ARRAY_LEN(kinds))];
        value_fn *rare = kinds[rng_below(&rng, ARRAY_LEN(kinds))];
        uint64_t one_in = 1 + rng_below(&rng, 200);
        for (size_t i = 0; i < n; i++)
            values[i] = (rng_below(&rng, one_in) ? usual : rare)(&rng, i);
        check_doubles(values, n, NULL);
    }
}

TEST(every_odd_value_alone_and_among_others_comes_back)
{
    double values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (size_t o = 0; o < ARRAY_LEN(odd_bits); o++) {
        values[0] = double_of(odd_bits[o]);
        check_doubles(values, 1, NULL);
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            fill(kinds[k], &rng, values, 200);
            values[0] = values[77] = values[199] = double_of(odd_bits[o]);
            check_doubles(values, 200, NULL);
        }
    }
}

TEST(whole_numbers_of_every_size_come_back)
{
    int64_t values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 4, 0);
    for (int round = 0; round < 600; round++) {
        size_t n = 1 + rng_below(&rng, BLOCK_VALUES);
        unsigned shift = (unsigned)rng_below(&rng, 64);
        uint64_t unit = rng_chance(&rng, 0.5) ? 1 : 1 + rng_below(&rng, 1000000);
        uint64_t slope = rng_u64(&rng) >> rng_below(&rng, 64);
        for (size_t i = 0; i < n; i++)
            values[i] = (int64_t)(((rng_u64(&rng) >> shift) + slope * i) * unit);
        check_ints(values, n, NULL);
    }
}

TEST(extremes_of_whole_numbers_come_back)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT64_MIN / 2};
    int64_t values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (size_t a = 0; a < ARRAY_LEN(ends); a++)
        for (size_t b = 0; b < ARRAY_LEN(ends); b++) {
            for (size_t i = 0; i < BLOCK_VALUES; i++)
                values[i] = i % 2 ? ends[a] : ends[b];
            check_ints(values, 1, NULL);
            check_ints(values, 2, NULL);
            check_ints(values, BLOCK_VALUES, NULL);
        }
    for (size_t i = 0; i < BLOCK_VALUES; i++)
        values[i] = ends[rng_below(&rng, ARRAY_LEN(ends))];
    check_ints(values, BLOCK_VALUES, NULL);
}

/* ---- that the right codec is found ---- */
TEST(steps_cost_next_to_nothing)
{
    int64_t values[BLOCK_VALUES];
    enum block_codec codec;
    for (size_t i = 0; i < BLOCK_VALUES; i++)
        values[i] = 5000000 + 100 * (int64_t)i;
    assert_true(check_ints(values, BLOCK_VALUES, &codec) <= 12);
    assert_int_equal(codec, CODEC_RUNS);
    for (size_t i = 500; i < BLOCK_VALUES; i++) /* one reading again from an earlier step */
        values[i] -= 12300;
    assert_true(check_ints(values, BLOCK_VALUES, &codec) <= 20);
    for (size_t i = 0; i < BLOCK_VALUES; i++)
        values[i] = INT64_MIN;
    assert_int_equal(check_ints(values, BLOCK_VALUES, &codec), 9);
    assert_int_equal(codec, CODEC_CONSTANT);
}

TEST(a_clock_costs_the_bits_of_its_jitter)
{
    int64_t steady[BLOCK_VALUES], walking[BLOCK_VALUES], at = 1700000000000000000;
    struct rng rng;
    rng_init(&rng, 6, 0);
    for (size_t i = 0; i < BLOCK_VALUES; i++) {
        int64_t jitter_ns = 1000000 * (int64_t)rng_below(&rng, 11); /* ms in a clock of ns */
        steady[i] = 1700000000000000000 + 1000000000 * (int64_t)i + jitter_ns;
        walking[i] = at += 100000000 + jitter_ns;
    }
    assert_true(check_ints(steady, BLOCK_VALUES, NULL) <= BLOCK_VALUES * 5 / 8);
    assert_true(check_ints(walking, BLOCK_VALUES, NULL) <= BLOCK_VALUES * 5 / 8);
}

static void check_codec(value_fn *kind, enum block_codec expected, double bytes_max)
{
    double values[BLOCK_VALUES];
    enum block_codec codec;
    struct rng rng;
    rng_init(&rng, 7, 0);
    fill(kind, &rng, values, BLOCK_VALUES);
    size_t size = check_doubles(values, BLOCK_VALUES, &codec);
    assert_int_equal(codec, expected);
    if ((double)size > bytes_max * BLOCK_VALUES)
        fail_msg("codec %d: %zu bytes are more than %g a value", codec, size, bytes_max);
}

TEST(each_kind_finds_its_codec)
{
    check_codec(any_bits, CODEC_RAW, 8.01);
    check_codec(decimal, CODEC_DECIMAL, 21 / 8.0 + 0.07);
    check_codec(counting, CODEC_DECIMAL, 0.05);
    check_codec(whole, CODEC_DECIMAL, 11 / 8.0 + 0.07); /* pages: the unit is taken out */
    check_codec(narrow, CODEC_FLOAT, 19 / 8.0);
    check_codec(noise, CODEC_FLOAT, 7.3); /* to both sides of zero */
    check_codec(centred, CODEC_FLOAT, 3.6);
    check_codec(short_float, CODEC_FLOAT, 15 / 8.0);
    check_codec(long_runs, CODEC_XOR, 0.3);
    check_codec(six_digits, CODEC_DIGITS, 2.2); /* as decimals: 2.3 */
}

TEST(numbers_of_every_length_and_size_come_back)
{
    double values[300];
    struct rng rng;
    rng_init(&rng, 9, 0);
    for (int digits = 1; digits <= 17; digits++)
        for (int decade = -40; decade <= 40; decade++) {
            for (size_t i = 0; i < ARRAY_LEN(values); i++) {
                double size = pow(10, decade + 3 * rng_unit(&rng));
                values[i] = rounded(rng_chance(&rng, 0.1) ? -size : size, digits);
            }
            values[rng_below(&rng, ARRAY_LEN(values))] = 0;
            values[rng_below(&rng, ARRAY_LEN(values))] = -0.0;
            values[rng_below(&rng, ARRAY_LEN(values))] = NAN;
            check_doubles(values, ARRAY_LEN(values), NULL);
        }
}

TEST(values_that_turn_to_nan_cost_nothing_more)
{
    double values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 8, 0);
    fill(narrow, &rng, values, BLOCK_VALUES);
    size_t before = check_doubles(values, 512, NULL);
    for (size_t i = 512; i < BLOCK_VALUES; i++)
        values[i] = NAN;
    assert_true(check_doubles(values, BLOCK_VALUES, NULL) <= before + 40);
}

TEST(a_few_full_doubles_among_float32_cost_only_themselves)
{
    double values[BLOCK_VALUES];
    struct rng rng;
    rng_init(&rng, 9, 0);
    fill(narrow, &rng, values, BLOCK_VALUES);
    size_t before = check_doubles(values, BLOCK_VALUES, NULL);
    for (size_t i = 3; i < BLOCK_VALUES; i += 100)
        values[i] = 2.3 + 0.01 * rng_normal(&rng);
    assert_true(check_doubles(values, BLOCK_VALUES, NULL) <= before + 11 * 11);
}

/* ---- bytes that are no block ---- */
TEST(the_wrong_length_and_the_wrong_count_are_refused)
{
    double values[BLOCK_VALUES], got[BLOCK_VALUES];
    unsigned char bytes[BLOCK_BYTES_MAX + 1] = {0};
    struct rng rng;
    rng_init(&rng, 10, 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        fill(kinds[k], &rng, values, 300);
        size_t size = block_put_doubles(values, 300, bytes);
        for (size_t cut = 0; cut < size; cut++) {
            autofree(mem) unsigned char *copy = xmemdup(bytes, cut + 1);
            assert_int_equal(block_get_doubles(copy, cut, 300, got), -EBADMSG);
        }
        bytes[size] = 0;
        assert_int_equal(block_get_doubles(bytes, size + 1, 300, got), -EBADMSG);
    }
    assert_int_equal(block_get_doubles(bytes, 0, 300, got), -EBADMSG);
    assert_int_equal(block_get_doubles(bytes, 9, 0, got), -EBADMSG);
    assert_int_equal(block_get_doubles(bytes, 9, BLOCK_VALUES + 1, got), -EBADMSG);
    assert_int_equal(block_get_doubles(bytes, sizeof(bytes), 1, got), -EBADMSG);
    bytes[0] = BLOCK_CODECS;
    assert_int_equal(block_get_doubles(bytes, 9, 1, got), -EBADMSG);
}

TEST(flipped_bits_do_no_harm)
{
    double values[BLOCK_VALUES];
    unsigned char bytes[BLOCK_BYTES_MAX];
    struct rng rng;
    rng_init(&rng, 11, 0);
    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + rng_below(&rng, 200);
        fill(kinds[rng_below(&rng, ARRAY_LEN(kinds))], &rng, values, n);
        size_t size = block_put_doubles(values, n, bytes);
        for (uint64_t flips = 1 + rng_below(&rng, 4); flips > 0; flips--)
            bytes[rng_below(&rng, MIN(size, 40U))] ^= (unsigned char)(1U << rng_below(&rng, 8));
        autofree(mem) unsigned char *copy = xmemdup(bytes, size);
        autofree(mem) double *got = xcalloc(n, sizeof(*got));
        int r = block_get_doubles(copy, size, n, got);
        assert_true(r == 0 || r == -EBADMSG);
        r = block_get_ints(copy, size, n, (int64_t *)(void *)got);
        assert_true(r == 0 || r == -EBADMSG);
    }
}

/* ---- headers ---- */
TEST(stats_tell_of_finite_values_and_count_the_others)
{
    const double values[] = {NAN, 3, -INFINITY, -1, INFINITY, 2, -NAN};
    struct block_stats stats;
    block_stats(values, ARRAY_LEN(values), &stats);
    assert_int_equal(stats.count, 7);
    assert_int_equal(stats.nans, 2);
    assert_int_equal(stats.infs, 2);
    assert_true(stats.min == -1 && stats.max == 3 && stats.sum == 4 && stats.squares == 14);
    assert_true(isnan(stats.first) && isnan(stats.last));
    block_stats(values, 1, &stats);
    assert_true(isnan(stats.min) && isnan(stats.max) && stats.sum == 0 && stats.squares == 0);
    block_stats(values + 1, 1, &stats);
    assert_true(stats.min == 3 && stats.max == 3 && stats.first == 3 && stats.last == 3);
    block_stats(values, 0, &stats);
    assert_true(stats.count == 0 && isnan(stats.first) && isnan(stats.min));
}

TEST(stats_of_pieces_add_up)
{
    const double values[] = {NAN, 3, -INFINITY, -1, INFINITY, 2, 8, NAN, NAN};
    struct block_stats whole_stats;
    block_stats(values, ARRAY_LEN(values), &whole_stats);
    for (size_t cut = 0; cut <= ARRAY_LEN(values); cut++) {
        struct block_stats sum, next;
        block_stats(values, cut, &sum);
        block_stats(values + cut, ARRAY_LEN(values) - cut, &next);
        block_stats_add(&sum, &next);
        assert_memory_equal(&sum.count, &whole_stats.count, 3 * sizeof(sum.count));
        assert_true(sum.min == -1 && sum.max == 8 && sum.sum == 12 && sum.squares == 78);
        assert_true(isnan(sum.first) && isnan(sum.last));
    }
}

TEST_MAIN
