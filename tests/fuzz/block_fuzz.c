/* SPDX-License-Identifier: MIT */
/*
 * block_fuzz.c — any bytes as a block, and any values into one. The first byte chooses: bit 0
 * doubles or whole numbers, bit 1 whether the rest are values or a block; for a block, two more
 * bytes are how many values it should have. What must hold: no crash, and what can be read comes
 * back bit for bit when it is written again.
 */
#include "series/block.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int get(bool ints, const unsigned char *bytes, size_t size, size_t n, void *ret)
{
    return ints ? block_get_ints(bytes, size, n, ret) : block_get_doubles(bytes, size, n, ret);
}

static void there_and_back(bool ints, const void *values, size_t n)
{
    unsigned char bytes[BLOCK_BYTES_MAX];
    autofree(mem) void *got = xmalloc(n * 8);
    size_t size = ints ? block_put_ints(values, n, bytes) : block_put_doubles(values, n, bytes);
    assert(size <= n * 8 + 1);
    autofree(mem) void *copy = xmemdup(bytes, size); /* ends where ASan can see it */
    int r = get(ints, copy, size, n, got);
    assert(r == 0 && memcmp(got, values, n * 8) == 0);
    (void)r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    bool ints = data[0] & 1;
    if (data[0] & 2) {
        size_t n = MIN((size - 1) / 8, (size_t)BLOCK_VALUES);
        autofree(mem) void *values = xmemdup(data + 1, n * 8);
        if (n > 0)
            there_and_back(ints, values, n);
        return 0;
    }
    size_t n = data[1] | (size_t)data[2] << 8;
    autofree(mem) void *values = xmalloc(MAX(n, (size_t)1) * 8);
    autofree(mem) void *copy = xmemdup(data + 3, size - 3);
    if (get(ints, copy, size - 3, n, values) == 0)
        there_and_back(ints, values, n);
    return 0;
}
