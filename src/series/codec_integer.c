/* SPDX-License-Identifier: MIT */
/*
 * codec_integer.c — columns of whole numbers: steps and times.
 *
 * runs: the first number, then how far it is to the next and how often that comes again. A step for
 * each row is six bytes. integer: unit taken out, then packed; a clock with jitter costs the bits
 * of its jitter.
 */
#include "series/codec.h"

/* ---- runs ---- */
/* How many neighbours from `at` on are as far apart as the first two. */
static size_t run_length(const uint64_t *bits, size_t at, size_t n)
{
    uint64_t delta = bits[at] - bits[at - 1];
    size_t length = 1;
    while (at + length < n && bits[at + length] - bits[at + length - 1] == delta)
        length++;
    return length;
}

static size_t plan_runs(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret UNUSED)
{
    size_t bytes = varint_size(zigzag(bits[0])), length;
    for (size_t at = 1; at < n && bytes < limit; at += length) {
        length = run_length(bits, at, n);
        bytes += varint_size(zigzag(bits[at] - bits[at - 1])) + varint_size(length);
    }
    return bytes;
}

static unsigned char *put_runs(const uint64_t *bits, size_t n, const struct codec_plan *plan UNUSED,
                               unsigned char *to)
{
    size_t length;
    to = put_varint(to, zigzag(bits[0]));
    for (size_t at = 1; at < n; at += length) {
        length = run_length(bits, at, n);
        to = put_varint(to, zigzag(bits[at] - bits[at - 1]));
        to = put_varint(to, length);
    }
    return to;
}

static bool get_runs(struct bytes_in *in, size_t n, uint64_t *ret)
{
    uint64_t first, delta, length;
    if (!get_varint(in, &first))
        return false;
    ret[0] = unzigzag(first);
    for (size_t at = 1; at < n;) {
        if (!get_varint(in, &delta) || !get_varint(in, &length) || length == 0 || length > n - at)
            return false;
        delta = unzigzag(delta);
        for (; length > 0; length--, at++)
            ret[at] = ret[at - 1] + delta;
    }
    return true;
}

const struct codec codec_runs = {
    .name = "runs", .plan = plan_runs, .put = put_runs, .get = get_runs};

/* ---- packed ---- */
static size_t plan_integer(const uint64_t *bits, size_t n, size_t limit UNUSED,
                           struct codec_plan *ret)
{
    memcpy(ret->keys, bits, n * sizeof(*bits));
    ret->scale = pack_scale(ret->keys, n);
    pack_plan(ret->keys, n, /* lines= */ true, &ret->pack);
    return pack_scale_size(&ret->scale) + ret->pack.bytes;
}

static unsigned char *put_integer(const uint64_t *bits UNUSED, size_t n,
                                  const struct codec_plan *plan, unsigned char *to)
{
    to = pack_put_scale(&plan->scale, to);
    return pack_put(plan->keys, n, &plan->pack, to);
}

static bool get_integer(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct pack_scale scale;
    if (!pack_get_scale(in, &scale) || !pack_get(in, n, ret))
        return false;
    pack_unscale(&scale, ret, n);
    return true;
}

const struct codec codec_integer = {
    .name = "integer", .plan = plan_integer, .put = put_integer, .get = get_integer};
