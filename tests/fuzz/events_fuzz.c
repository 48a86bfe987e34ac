/* SPDX-License-Identifier: MIT */
/*
 * events_fuzz.c — any bytes as an event file. The first byte chooses: bit 0 whether the rest is a
 * file or the payload of a record (which gets its CRCs, so that they keep nothing from the reader
 * of payloads), the others the size of the pieces. What must hold: no crash, and the samples do not
 * depend on the pieces.
 */
#include "base/crc32c.h"
#include "base/rng.h"
#include "base/str.h"
#include "metrics/events.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct digest {
    uint64_t hash;
    size_t samples, params;
};

static void on_sample(const struct sample *sample, void *arg)
{
    struct digest *digest = arg;
    assert(*sample->metric && strlen(sample->metric) <= EVENTS_NAME_MAX);
    digest->hash = hash_bytes(sample->metric, strlen(sample->metric), digest->hash);
    digest->hash = hash_bytes(&sample->value, sizeof(sample->value), digest->hash);
    digest->hash = hash_u64(digest->hash ^ (uint64_t)sample->step);
    digest->samples++;
}

static void on_param(const struct events_param *param, void *arg)
{
    struct digest *digest = arg;
    digest->hash = hash_bytes(param->name, strlen(param->name), digest->hash);
    if (param->kind == EVENTS_TEXT)
        digest->hash = hash_bytes(param->text, strlen(param->text), digest->hash);
    digest->params++;
}

static void put_number(struct str *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_add_char(to, (char)(value >> (8 * i)));
}

static uint32_t masked(const void *bytes, size_t n)
{
    uint32_t crc = crc32c(0, bytes, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static void frame(struct str *to, const uint8_t *payload, size_t n)
{
    put_number(to, n, 8);
    put_number(to, masked(to->s, 8), 4);
    str_add_n(to, (const char *)payload, n);
    put_number(to, masked(payload, n), 4);
}

static struct digest parse(const char *bytes, size_t size, size_t piece)
{
    struct digest digest = {0, 0, 0};
    struct events_sink sink = {on_sample, on_param, &digest};
    autofree(events) struct events *events = events_new("run", &sink);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = MIN(piece, size - at);
        autofree(mem) char *copy = xmemdup(bytes + at, n); /* ends where ASan can see it */
        events_feed(events, copy, n);
    }
    assert(events_counts(events)->samples == digest.samples && events_end(events) <= size);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autorelease(str) struct str file = STR_INIT;
    if (size < 2)
        return 0;
    if (data[0] & 1)
        frame(&file, data + 1, size - 1);
    else
        str_add_n(&file, (const char *)data + 1, size - 1);
    struct digest whole = parse(file.s, file.len, file.len);
    struct digest pieces = parse(file.s, file.len, 1 + (data[0] >> 1));
    assert(whole.samples == pieces.samples && whole.params == pieces.params);
    assert(whole.hash == pieces.hash);
    (void)whole;
    (void)pieces;
    return 0;
}
