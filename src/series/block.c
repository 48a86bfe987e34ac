/* SPDX-License-Identifier: MIT */
/*
 * block.c — tries the codecs on a block and keeps the shortest; one byte in front says which.
 *
 * A codec is tried by planning, which counts its bytes and writes none; only the winner writes.
 * Raw always can, so no block is longer than its values and a byte.
 */
#include "series/block.h"

#include "series/codec.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* ---- two codecs without a file of their own ---- */
static size_t plan_raw(const uint64_t *bits UNUSED, size_t n, size_t limit UNUSED,
                       struct codec_plan *ret UNUSED)
{
    return n * 8;
}

static unsigned char *put_raw(const uint64_t *bits, size_t n, const struct codec_plan *plan UNUSED,
                              unsigned char *to)
{
    for (size_t i = 0; i < n; i++, to += 8)
        store_u64(to, bits[i]);
    return to;
}

static bool get_raw(struct bytes_in *in, size_t n, uint64_t *ret)
{
    if (in_left(in) < n * 8)
        return false;
    for (size_t i = 0; i < n; i++, in->at += 8)
        ret[i] = load_u64(in->at);
    return true;
}

const struct codec codec_raw = {.name = "raw", .plan = plan_raw, .put = put_raw, .get = get_raw};

static size_t plan_constant(const uint64_t *bits, size_t n, size_t limit UNUSED,
                            struct codec_plan *ret UNUSED)
{
    for (size_t i = 1; i < n; i++)
        if (bits[i] != bits[0])
            return CODEC_CANNOT;
    return 8;
}

static unsigned char *put_constant(const uint64_t *bits, size_t n UNUSED,
                                   const struct codec_plan *plan UNUSED, unsigned char *to)
{
    store_u64(to, bits[0]);
    return to + 8;
}

static bool get_constant(struct bytes_in *in, size_t n, uint64_t *ret)
{
    if (in_left(in) < 8)
        return false;
    uint64_t bits = load_u64(in->at);
    in->at += 8;
    for (size_t i = 0; i < n; i++)
        ret[i] = bits;
    return true;
}

const struct codec codec_constant = {
    .name = "constant", .plan = plan_constant, .put = put_constant, .get = get_constant};

/* ---- the choice ---- */
static const struct codec *const codecs[BLOCK_CODECS] = {
    [CODEC_RAW] = &codec_raw,         [CODEC_CONSTANT] = &codec_constant,
    [CODEC_INTEGER] = &codec_integer, [CODEC_DECIMAL] = &codec_decimal,
    [CODEC_FLOAT] = &codec_float,     [CODEC_XOR] = &codec_xor,
    [CODEC_RUNS] = &codec_runs,       [CODEC_DIGITS] = &codec_digits,
};
static const enum block_codec for_doubles[] = {CODEC_DECIMAL, CODEC_DIGITS, CODEC_FLOAT, CODEC_XOR};
static const enum block_codec for_ints[] = {CODEC_RUNS, CODEC_INTEGER};

/* A codec must save as much to take the place of one that decodes faster. */
static size_t wanted(enum block_codec codec, size_t best)
{
    return codec == CODEC_XOR || codec == CODEC_DIGITS ? best - best / 32 : best;
}

static size_t put(const uint64_t *bits, size_t n, const enum block_codec *list, size_t count,
                  unsigned char *to)
{
    struct codec_plan plans[2], *plan = &plans[0], *spare = &plans[1];
    enum block_codec best = CODEC_RAW;
    size_t size = n * 8;
    if (n > 1 && plan_constant(bits, n, size, plan) < size) {
        best = CODEC_CONSTANT;
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t limit = wanted(list[i], size);
        size_t bytes = codecs[list[i]]->plan(bits, n, limit, spare);
        if (bytes >= limit)
            continue;
        struct codec_plan *loser = plan;
        plan = spare;
        spare = loser;
        best = list[i];
        size = bytes;
    }
    *to = (unsigned char)best;
    unsigned char *end = codecs[best]->put(bits, n, plan, to + 1);
    assert(end <= to + BLOCK_BYTES_MAX);
    return (size_t)(end - to);
}

size_t block_put_doubles(const double *values, size_t n, unsigned char *to)
{
    uint64_t bits[BLOCK_VALUES];
    assert(n >= 1 && n <= BLOCK_VALUES);
    memcpy(bits, values, n * sizeof(*bits));
    return put(bits, n, for_doubles, ARRAY_LEN(for_doubles), to);
}

size_t block_put_ints(const int64_t *values, size_t n, unsigned char *to)
{
    uint64_t bits[BLOCK_VALUES];
    assert(n >= 1 && n <= BLOCK_VALUES);
    memcpy(bits, values, n * sizeof(*bits));
    return put(bits, n, for_ints, ARRAY_LEN(for_ints), to);
}

/* All of `bytes` is one block of n values. */
static int get(const unsigned char *bytes, size_t size, size_t n, uint64_t *ret)
{
    unsigned char padded[BLOCK_BYTES_MAX + IN_PAD];
    if (n < 1 || n > BLOCK_VALUES || size < 1 || size > BLOCK_BYTES_MAX || bytes[0] >= BLOCK_CODECS)
        return -EBADMSG;
    memcpy(padded, bytes, size);
    memset(padded + size, 0, IN_PAD);
    struct bytes_in in = {padded + 1, padded + size};
    if (!codecs[bytes[0]]->get(&in, n, ret) || in.at != in.end)
        return -EBADMSG;
    return 0;
}

int block_get_doubles(const unsigned char *bytes, size_t size, size_t n, double *ret)
{
    uint64_t bits[BLOCK_VALUES];
    int r = get(bytes, size, n, bits);
    if (r == 0)
        memcpy(ret, bits, n * sizeof(*bits));
    return r;
}

int block_get_ints(const unsigned char *bytes, size_t size, size_t n, int64_t *ret)
{
    uint64_t bits[BLOCK_VALUES];
    int r = get(bytes, size, n, bits);
    if (r == 0)
        memcpy(ret, bits, n * sizeof(*bits));
    return r;
}

/* ---- what a block's header tells ---- */
void block_stats(const double *values, size_t n, struct block_stats *ret)
{
    *ret = (struct block_stats){.min = NAN, .max = NAN, .first = NAN, .last = NAN};
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double x = values[i];
        if (!isfinite(x)) {
            ret->nans += isnan(x);
            ret->infs += !isnan(x);
            continue;
        }
        min = MIN(x, min);
        max = MAX(x, max);
        ret->sum += x;
        ret->squares += x * x;
    }
    ret->count = (uint32_t)n;
    if (n == 0)
        return;
    ret->first = values[0];
    ret->last = values[n - 1];
    if (min <= max) {
        ret->min = min;
        ret->max = max;
    }
}

void block_stats_add(struct block_stats *to, const struct block_stats *next)
{
    if (next->count == 0)
        return;
    if (to->count == 0) {
        *to = *next;
        return;
    }
    to->count += next->count;
    to->nans += next->nans;
    to->infs += next->infs;
    to->min = fmin(to->min, next->min); /* the other one, if one is NaN */
    to->max = fmax(to->max, next->max);
    to->sum += next->sum;
    to->squares += next->squares;
    to->last = next->last;
}
