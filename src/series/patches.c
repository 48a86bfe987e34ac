/* SPDX-License-Identifier: MIT */
/*
 * patches.c — values kept beside the packed ones: NaN, ±Inf, −0 and whatever else a codec's keys
 * cannot say. Neighbours with the same bits are a run, so that a loss that went to NaN and stayed
 * there costs a dozen bytes:
 *
 *     runs │ per run: gap from the end of the last │ length × 2, + 1 if its bits are the last run's
 *          │ bits (8 bytes, unless they are)
 */
#include "series/codec.h"

struct patch_run {
    size_t gap, length;
    bool same;
    uint64_t bits;
};

/* The run that begins at patches->at[*i]; moves *i behind it. `end` is where the last one ended. */
static struct patch_run next_run(const struct patches *patches, const uint64_t *bits, size_t *i,
                                 size_t *end, const uint64_t *last)
{
    size_t at = patches->at[*i], length = 1;
    uint64_t value = bits[at];
    while (*i + length < patches->n && patches->at[*i + length] == at + length &&
           bits[at + length] == value)
        length++;
    struct patch_run run = {at - *end, length, last && *last == value, value};
    *i += length;
    *end = at + length;
    return run;
}

static size_t count_runs(const struct patches *patches, const uint64_t *bits, size_t *ret_bytes)
{
    size_t runs = 0, end = 0, bytes = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < patches->n; runs++) {
        struct patch_run run = next_run(patches, bits, &i, &end, runs ? &last : NULL);
        bytes += varint_size(run.gap) + varint_size(run.length * 2) + (run.same ? 0 : 8);
        last = run.bits;
    }
    *ret_bytes = bytes;
    return runs;
}

size_t patches_size(const struct patches *patches, const uint64_t *bits)
{
    size_t bytes, runs = count_runs(patches, bits, &bytes);
    return varint_size(runs) + bytes;
}

unsigned char *patches_put(const struct patches *patches, const uint64_t *bits, unsigned char *to)
{
    size_t bytes, runs = count_runs(patches, bits, &bytes), end = 0;
    uint64_t last = 0;
    to = put_varint(to, runs);
    for (size_t i = 0; i < patches->n;) {
        struct patch_run run = next_run(patches, bits, &i, &end, i ? &last : NULL);
        to = put_varint(to, run.gap);
        to = put_varint(to, run.length * 2 + run.same);
        if (!run.same) {
            store_u64(to, run.bits);
            to += 8;
        }
        last = run.bits;
    }
    return to;
}

bool patches_get(struct bytes_in *in, size_t n, uint64_t *ret)
{
    uint64_t runs, gap, length, bits = 0;
    size_t at = 0;
    if (!get_varint(in, &runs))
        return false;
    for (uint64_t run = 0; run < runs; run++) {
        if (!get_varint(in, &gap) || !get_varint(in, &length) || gap > n - at)
            return false;
        at += gap;
        if (length < 2 || length / 2 > n - at || (length % 2 && run == 0))
            return false;
        if (length % 2 == 0) {
            if (in_left(in) < 8)
                return false;
            bits = load_u64(in->at);
            in->at += 8;
        }
        for (uint64_t i = 0; i < length / 2; i++)
            ret[at++] = bits;
    }
    return true;
}

void patches_hide(const struct patches *patches, uint64_t *keys, size_t n)
{
    size_t first = 0; /* the first key that is not patched */
    while (first < patches->n && patches->at[first] == first)
        first++;
    uint64_t fill = first < n ? keys[first] : 0;
    for (size_t i = 0; i < patches->n; i++) {
        size_t at = patches->at[i];
        keys[at] = at > first ? keys[at - 1] : fill;
    }
}
