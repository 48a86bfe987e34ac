/* SPDX-License-Identifier: MIT */
/*
 * pack.c — frames of reference. Each run of up to 128 keys is written as
 *
 *     mode and width (1 byte) │ base (varint) │ slope (varint, PACK_LINE only) │ n × width bits
 *
 * A remainder is key − prediction − base, not negative and below 2^width. Widths of 57 to 63 are
 * written as 64: so a key is always found by one load of eight bytes and a shift.
 */
#include "series/pack.h"

#include <assert.h>

#define WIDTH_MAX  56
#define WIDTH_FULL 57 /* in the byte: 64 bits */
#define LINE_MAX   (INT64_C(1) << 44)

/* Smallest and largest remainder, signed. */
struct span {
    int64_t min, max;
};
#define SPAN_NONE ((struct span){INT64_MAX, INT64_MIN})

static inline void span_add(struct span *span, uint64_t signed_bits)
{
    int64_t x = (int64_t)signed_bits;
    span->min = MIN(span->min, x);
    span->max = MAX(span->max, x);
}

static inline unsigned span_width(const struct span *span)
{
    unsigned width = bit_width((uint64_t)span->max - (uint64_t)span->min);
    return width > WIDTH_MAX ? 64 : width;
}

static inline uint64_t line_at(uint64_t slope, size_t i)
{
    return (uint64_t)((int64_t)(slope * (i + 1)) >> 8);
}

static size_t run_bytes(const struct pack_run *run, size_t n)
{
    return 1 + varint_size(zigzag(run->base)) +
           (run->mode == PACK_LINE ? varint_size(zigzag(run->slope)) : 0) +
           (n * run->width + 7) / 8;
}

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
    struct pack_run run = {.mode = PACK_LINE, .slope = slope_of(keys, n, before)};
    struct span span = SPAN_NONE;
    if (run.slope == 0)
        return;
    for (size_t i = 0; i < n; i++)
        span_add(&span, keys[i] - before - line_at(run.slope, i));
    run.width = span_width(&span);
    run.base = (uint64_t)span.min;
    if (run_bytes(&run, n) < run_bytes(best, n))
        *best = run;
}

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
    struct pack_run best = {PACK_LEVEL, span_width(&level), (uint64_t)level.min, 0};
    struct pack_run run = {PACK_DELTA, span_width(&delta), (uint64_t)delta.min, 0};
    if (run_bytes(&run, n) < run_bytes(&best, n))
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
        size_t count = MIN(n - at, (size_t)PACK_RUN);
        *run = plan_run(keys + at, count, at ? keys[at - 1] : 0, lines);
        ret->bytes += run_bytes(run, count);
    }
}

/* ---- bits, the lowest first ---- */
static unsigned char *put_bits(const uint64_t *rest, size_t n, unsigned width, unsigned char *to)
{
    uint64_t word = 0;
    unsigned filled = 0;
    for (size_t i = 0; width && i < n; i++) {
        word |= rest[i] << filled;
        filled += width;
        if (filled >= 64) {
            store_u64(to, word);
            to += 8;
            filled -= 64;
            word = filled ? rest[i] >> (width - filled) : 0;
        }
    }
    for (unsigned left = (filled + 7) / 8; left > 0; left--, word >>= 8)
        *to++ = (unsigned char)word;
    return to;
}

static void get_bits(const unsigned char *from, size_t n, unsigned width, uint64_t *ret)
{
    uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    size_t bit = 0;
    for (size_t i = 0; i < n; i++, bit += width)
        ret[i] = load_u64(from + bit / 8) >> (bit & 7) & mask;
}

static void remainders(const uint64_t *keys, size_t n, uint64_t before, const struct pack_run *run,
                       uint64_t *ret)
{
    uint64_t shift = before + run->base;
    if (run->mode == PACK_LEVEL) {
        for (size_t i = 0; i < n; i++)
            ret[i] = keys[i] - shift;
    } else if (run->mode == PACK_DELTA) {
        ret[0] = keys[0] - shift;
        for (size_t i = 1; i < n; i++)
            ret[i] = keys[i] - keys[i - 1] - run->base;
    } else {
        for (size_t i = 0; i < n; i++)
            ret[i] = keys[i] - shift - line_at(run->slope, i);
    }
}

static void predictions(uint64_t *keys, size_t n, uint64_t before, const struct pack_run *run)
{
    uint64_t shift = before + run->base;
    if (run->mode == PACK_LEVEL) {
        for (size_t i = 0; i < n; i++)
            keys[i] += shift;
    } else if (run->mode == PACK_DELTA) {
        for (size_t i = 0; i < n; i++) {
            before += keys[i] + run->base;
            keys[i] = before;
        }
    } else {
        for (size_t i = 0; i < n; i++)
            keys[i] += shift + line_at(run->slope, i);
    }
}

unsigned char *pack_put(const uint64_t *keys, size_t n, const struct pack_plan *plan,
                        unsigned char *to)
{
    uint64_t rest[PACK_RUN];
    for (size_t at = 0; at < n; at += PACK_RUN) {
        const struct pack_run *run = &plan->runs[at / PACK_RUN];
        size_t count = MIN(n - at, (size_t)PACK_RUN);
        unsigned width = run->width == 64 ? WIDTH_FULL : run->width;
        *to++ = (unsigned char)((unsigned)run->mode << 6 | width);
        to = put_varint(to, zigzag(run->base));
        if (run->mode == PACK_LINE)
            to = put_varint(to, zigzag(run->slope));
        remainders(keys + at, count, at ? keys[at - 1] : 0, run, rest);
        to = put_bits(rest, count, run->width, to);
    }
    return to;
}

static bool get_run(struct bytes_in *in, struct pack_run *ret)
{
    unsigned head;
    uint64_t base, slope = 0;
    if (!get_byte(in, &head) || head >> 6 >= PACK_MODES || (head & 63) > WIDTH_FULL ||
        !get_varint(in, &base) || (head >> 6 == PACK_LINE && !get_varint(in, &slope)))
        return false;
    ret->mode = (enum pack_mode)(head >> 6);
    ret->width = (head & 63) == WIDTH_FULL ? 64 : head & 63;
    ret->base = unzigzag(base);
    ret->slope = unzigzag(slope);
    return true;
}

bool pack_get(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct pack_run run;
    for (size_t at = 0; at < n; at += PACK_RUN) {
        size_t count = MIN(n - at, (size_t)PACK_RUN);
        if (!get_run(in, &run) || in_left(in) < (count * run.width + 7) / 8)
            return false;
        get_bits(in->at, count, run.width, ret + at);
        in->at += (count * run.width + 7) / 8;
        predictions(ret + at, count, at ? ret[at - 1] : 0, &run);
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
    for (size_t i = 0; i < n; i++)
        keys[i] = scale->first + scale->unit * keys[i];
}
