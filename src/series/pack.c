/* SPDX-License-Identifier: MIT */
/*
 * pack.c — frames of reference. Each run of up to 128 keys is written as
 *
 *     head (1 byte) │ base (varint) │ n × width bits, lowest first                 range
 *     head (1 byte) │ base (varint) │ n × width bits │ quotients in unary          rice
 *     63 │ width    │ base │ slope  │ n × width bits                               line
 *
 * The head is mode (1 bit), rice (1 bit) and width (6 bits). In a range, a remainder is key −
 * prediction − base, not negative and below 2^width. Noise with a bell's shape wastes a bit so, for
 * the width must hold the farthest of 128: there rice is shorter, where it is the distance from the
 * mean, zigzag, its low bits as they are and the quotient as so many zeros before a one (Rice
 * 1979). Widths of 57 to 63 are written as 64: a key is always found by one load and a shift.
 */
#include "series/pack.h"

#include "series/unpack.h"

#include <assert.h>

#define WIDTH_MAX  61
#define WIDTH_FULL 62 /* in the head: 64 bits */
#define WIDTH_LOAD UNPACK_WIDTH_MAX
#define HEAD_LINE  63
#define HEAD_DELTA 64
#define HEAD_RICE  128
#define LINE_MAX   (INT64_C(1) << 44)
#define RICE_MAX   54 /* bits of a range whose sums have room */

/* Smallest and largest remainder, signed, and their sum, which may wrap. */
struct span {
    int64_t min, max;
    uint64_t sum;
};
#define SPAN_NONE ((struct span){INT64_MAX, INT64_MIN, 0})

static inline void span_add(struct span *span, uint64_t signed_bits)
{
    int64_t x = (int64_t)signed_bits;
    span->min = MIN(span->min, x);
    span->max = MAX(span->max, x);
    span->sum += signed_bits;
}

static inline uint64_t low_mask(unsigned width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

static size_t bits_size(size_t n, unsigned width)
{
    return (n * width + 7) / 8;
}

static struct pack_run range_run(enum pack_mode mode, const struct span *span, size_t n)
{
    unsigned width = bit_width((uint64_t)span->max - (uint64_t)span->min);
    struct pack_run run = {.mode = mode, .base = (uint64_t)span->min};
    run.width = width > WIDTH_MAX ? 64 : width;
    run.bytes = 1 + varint_size(zigzag(run.base)) + bits_size(n, run.width);
    return run;
}

static inline uint64_t line_at(uint64_t slope, size_t i)
{
    return (uint64_t)((int64_t)(slope * (i + 1)) >> 8);
}

/* key − prediction − base, zigzag if rice. `moves` is all ones if the level follows the keys. */
static void remainders(const uint64_t *keys, size_t n, uint64_t before, const struct pack_run *run,
                       uint64_t *ret)
{
    uint64_t moves = run->mode == PACK_DELTA ? UINT64_MAX : 0, level = before;
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = keys[i] - level - run->base;
        level += (keys[i] - level) & moves;
        ret[i] = run->rice ? zigzag(rest) : rest;
    }
    for (size_t i = 0; run->mode == PACK_LINE && i < n; i++)
        ret[i] -= line_at(run->slope, i);
}

/* ---- which way is shortest ---- */
/* From the mean of the first half to that of the second. 0: no line, or too steep a one. */
static uint64_t slope_of(const uint64_t *keys, size_t n, uint64_t before)
{
    int64_t sums[2] = {0, 0};
    size_t half = n / 2;
    if (half < 8)
        return 0;
    for (size_t i = 0; i < 2 * half; i++) {
        int64_t rise = (int64_t)(keys[i] - before);
        if (rise > LINE_MAX || rise < -LINE_MAX)
            return 0;
        sums[i >= half] += rise;
    }
    return (uint64_t)((sums[1] - sums[0]) * 256 / (int64_t)(half * half));
}

static void plan_line(const uint64_t *keys, size_t n, uint64_t before, struct pack_run *best)
{
    uint64_t slope = slope_of(keys, n, before);
    struct span span = SPAN_NONE;
    if (slope == 0)
        return;
    for (size_t i = 0; i < n; i++)
        span_add(&span, keys[i] - before - line_at(slope, i));
    struct pack_run run = range_run(PACK_LINE, &span, n);
    run.slope = slope;
    run.bytes += 1 + varint_size(zigzag(slope));
    if (run.bytes < best->bytes)
        *best = run;
}

/* `best` is a range; `sum` that of its remainders before the base was taken out. */
static void plan_rice(const uint64_t *keys, size_t n, uint64_t before, uint64_t sum,
                      struct pack_run *best)
{
    uint64_t rest[PACK_RUN], total = 0, quotients[3] = {0};
    struct pack_run run = {.mode = best->mode, .rice = true};
    if (best->width < 4 || best->width > RICE_MAX || n < 16)
        return;
    run.base = (uint64_t)((int64_t)(sum - n * best->base) / (int64_t)n) + best->base;
    remainders(keys, n, before, &run, rest);
    for (size_t i = 0; i < n; i++)
        total += rest[i];
    unsigned most = bit_width(total / n);
    unsigned least = most > 2 ? most - 2 : 0; /* one of three is the best for a bell */
    for (size_t i = 0; i < n; i++) {
        uint64_t quotient = rest[i] >> least;
        quotients[0] += quotient;
        quotients[1] += quotient >> 1;
        quotients[2] += quotient >> 2;
    }
    for (unsigned k = 0; k < 3; k++) {
        run.width = least + k;
        run.bytes = 1 + varint_size(zigzag(run.base)) + bits_size(n, run.width) +
                    (size_t)(quotients[k] + n + 7) / 8;
        if (run.bytes < best->bytes)
            *best = run;
    }
}

/* A level may have the smaller range and yet the wider bell: both are weighed as they would be
 * written. */
static struct pack_run plan_run(const uint64_t *keys, size_t n, uint64_t before, bool lines)
{
    struct span level = SPAN_NONE, delta = SPAN_NONE;
    uint64_t last = before;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        span_add(&level, key - before);
        span_add(&delta, key - last);
        last = key;
    }
    struct pack_run best = range_run(PACK_LEVEL, &level, n);
    struct pack_run run = range_run(PACK_DELTA, &delta, n);
    plan_rice(keys, n, before, level.sum, &best);
    plan_rice(keys, n, before, delta.sum, &run);
    if (run.bytes < best.bytes)
        best = run;
    if (lines && best.width > 0)
        plan_line(keys, n, before, &best);
    return best;
}

void pack_plan(const uint64_t *keys, size_t n, bool lines, struct pack_plan *ret)
{
    assert(n >= 1 && n <= BLOCK_VALUES);
    ret->bytes = 0;
    for (size_t at = 0; at < n; at += PACK_RUN) {
        struct pack_run *run = &ret->runs[at / PACK_RUN];
        *run = plan_run(keys + at, MIN(n - at, (size_t)PACK_RUN), at ? keys[at - 1] : 0, lines);
        ret->bytes += run->bytes;
    }
}

/* ---- there ---- */
static unsigned char *put_bits(const uint64_t *rest, size_t n, unsigned width, unsigned char *to)
{
    uint64_t mask = low_mask(width), word = 0;
    unsigned filled = 0;
    for (size_t i = 0; width && i < n; i++) {
        uint64_t low = rest[i] & mask;
        word |= low << filled;
        filled += width;
        if (filled >= 64) {
            store_u64(to, word);
            to += 8;
            filled -= 64;
            word = filled ? low >> (width - filled) : 0;
        }
    }
    for (unsigned left = (filled + 7) / 8; left > 0; left--, word >>= 8)
        *to++ = (unsigned char)word;
    return to;
}

static unsigned char *put_quotients(const uint64_t *rest, size_t n, unsigned width,
                                    unsigned char *to)
{
    uint64_t word = 0, filled = 0;
    for (size_t i = 0; i < n; i++) {
        for (filled += rest[i] >> width; filled >= 64; filled -= 64, word = 0, to += 8)
            store_u64(to, word);
        word |= UINT64_C(1) << filled++;
    }
    for (uint64_t left = (filled + 7) / 8; left > 0; left--, word >>= 8)
        *to++ = (unsigned char)word;
    return to;
}

static unsigned char *put_head(const struct pack_run *run, unsigned char *to)
{
    unsigned width = run->width == 64 ? WIDTH_FULL : run->width;
    unsigned flags = (run->mode == PACK_DELTA ? HEAD_DELTA : 0) | (run->rice ? HEAD_RICE : 0);
    if (run->mode == PACK_LINE)
        *to++ = HEAD_LINE;
    *to++ = (unsigned char)(flags | width);
    to = put_varint(to, zigzag(run->base));
    return run->mode == PACK_LINE ? put_varint(to, zigzag(run->slope)) : to;
}

unsigned char *pack_put(const uint64_t *keys, size_t n, const struct pack_plan *plan,
                        unsigned char *to)
{
    uint64_t rest[PACK_RUN];
    for (size_t at = 0; at < n; at += PACK_RUN) {
        const struct pack_run *run = &plan->runs[at / PACK_RUN];
        size_t count = MIN(n - at, (size_t)PACK_RUN);
        to = put_head(run, to);
        remainders(keys + at, count, at ? keys[at - 1] : 0, run, rest);
        to = put_bits(rest, count, run->width, to);
        if (run->rice)
            to = put_quotients(rest, count, run->width, to);
    }
    return to;
}

/* ---- and back: charts read millions of them, so the loops are unpack.c's ---- */
/* More than WIDTH_LOAD bits may reach into a ninth byte. */
static inline uint64_t wide_at(const unsigned char *from, size_t bit, uint64_t mask)
{
    uint64_t ninth = (uint64_t)from[bit / 8 + 8] << 1 << (63 - (bit & 7));
    return (load_u64(from + bit / 8) >> (bit & 7) | ninth) & mask;
}

static void get_wide(const unsigned char *from, size_t n, uint64_t before,
                     const struct pack_run *run, uint64_t *ret)
{
    uint64_t moves = run->mode == PACK_DELTA ? UINT64_MAX : 0, mask = low_mask(run->width);
    uint64_t level = before;
    for (size_t i = 0, bit = 0; i < n; i++, bit += run->width) {
        uint64_t rest = wide_at(from, bit, mask) + run->base;
        ret[i] = level + rest;
        level += rest & moves;
    }
}

static struct unpack unpack_of(const struct bytes_in *in, uint64_t before,
                               const struct pack_run *run)
{
    return (struct unpack){.low = in->at,
                           .width = run->width,
                           .base = run->base,
                           .before = before,
                           .delta = run->mode == PACK_DELTA};
}

static bool get_range(struct bytes_in *in, size_t n, uint64_t before, const struct pack_run *run,
                      uint64_t *ret)
{
    struct unpack unpack = unpack_of(in, before, run);
    if (in_left(in) < bits_size(n, run->width))
        return false;
    if (run->width > WIDTH_LOAD)
        get_wide(in->at, n, before, run, ret);
    else
        unpack_run(&unpack, n, ret);
    for (size_t i = 0; run->mode == PACK_LINE && i < n; i++)
        ret[i] += line_at(run->slope, i);
    in->at += bits_size(n, run->width);
    return true;
}

static bool get_rice(struct bytes_in *in, size_t n, uint64_t before, const struct pack_run *run,
                     uint64_t *ret)
{
    uint32_t ones[1 + PACK_RUN + UNPACK_ROOM];
    struct unpack unpack = unpack_of(in, before, run);
    size_t low_size = bits_size(n, run->width);
    if (in_left(in) < low_size)
        return false;
    const unsigned char *unary = in->at + low_size;
    size_t left = in_left(in) - low_size;
    ones[0] = UINT32_MAX;
    if (!unpack_ones(unary, left, n, ones + 1))
        return false;
    unpack.ones = ones;
    unpack_run(&unpack, n, ret);
    in->at = unary + ones[n] / 8 + 1;
    return ones[n] / 8 < left;
}

static bool get_head(struct bytes_in *in, struct pack_run *ret)
{
    unsigned head, line = 0;
    uint64_t base, slope = 0;
    if (!get_byte(in, &head))
        return false;
    if (head == HEAD_LINE) {
        line = 1;
        if (!get_byte(in, &head) || head > WIDTH_FULL)
            return false;
    }
    unsigned width = head & 63;
    if (width > (head & HEAD_RICE ? WIDTH_LOAD : WIDTH_FULL) || !get_varint(in, &base) ||
        (line && !get_varint(in, &slope)))
        return false;
    ret->mode = line ? PACK_LINE : head & HEAD_DELTA ? PACK_DELTA : PACK_LEVEL;
    ret->rice = head & HEAD_RICE;
    ret->width = width == WIDTH_FULL ? 64 : width;
    ret->base = unzigzag(base);
    ret->slope = unzigzag(slope);
    return true;
}

bool pack_get(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct pack_run run;
    for (size_t at = 0; at < n; at += PACK_RUN) {
        size_t count = MIN(n - at, (size_t)PACK_RUN);
        uint64_t before = at ? ret[at - 1] : 0;
        if (!get_head(in, &run) ||
            !(run.rice ? get_rice : get_range)(in, count, before, &run, ret + at))
            return false;
    }
    return true;
}

/* ---- units ---- */
static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest unit that divides all distances from the first; 1 if a distance has no place in 63
 * bits. */
static uint64_t unit_of(const uint64_t *keys, size_t n)
{
    uint64_t unit = 0;
    for (size_t i = 1; i < n && unit != 1; i++) {
        int64_t distance;
        if (__builtin_sub_overflow((int64_t)keys[i], (int64_t)keys[0], &distance))
            return 1;
        uint64_t length = distance < 0 ? 0 - (uint64_t)distance : (uint64_t)distance;
        if (unit == 0 || length % unit != 0)
            unit = gcd(length, unit);
    }
    return unit ? unit : 1;
}

struct pack_scale pack_scale(uint64_t *keys, size_t n)
{
    struct pack_scale scale = {unit_of(keys, n), keys[0]};
    if (scale.unit <= 1 || scale.unit > INT64_MAX)
        return (struct pack_scale){1, 0};
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint64_t)((int64_t)(keys[i] - scale.first) / (int64_t)scale.unit);
    return scale;
}

size_t pack_scale_size(const struct pack_scale *scale)
{
    return scale->unit == 1 ? 1 : varint_size(scale->unit) + varint_size(zigzag(scale->first));
}

unsigned char *pack_put_scale(const struct pack_scale *scale, unsigned char *to)
{
    to = put_varint(to, scale->unit);
    return scale->unit == 1 ? to : put_varint(to, zigzag(scale->first));
}

bool pack_get_scale(struct bytes_in *in, struct pack_scale *ret)
{
    uint64_t first = 0;
    if (!get_varint(in, &ret->unit) || (ret->unit != 1 && !get_varint(in, &first)))
        return false;
    ret->first = unzigzag(first);
    return true;
}

void pack_unscale(const struct pack_scale *scale, uint64_t *keys, size_t n)
{
    if (scale->unit == 1 && scale->first == 0)
        return;
    unpack_scale(keys, n, scale->unit, scale->first);
}
