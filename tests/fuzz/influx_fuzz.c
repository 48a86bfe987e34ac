/* SPDX-License-Identifier: MIT */
/*
 * influx_fuzz.c — any bytes as a body of line protocol. The first byte chooses: bits 0–2 the
 * precision, bit 3 tight limits, bit 4 fixed kinds. What must hold: no crash, what is handed out is
 * in order, and a body read again with all its names known (quickly) gives what it gave at first.
 */
#include "base/rng.h"
#include "metrics/influx.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct digest {
    uint64_t hash;
    struct influx_counts counts;
};

static void add_text(struct digest *digest, struct influx_text text)
{
    assert(!memchr(text.s, '\0', text.n));
    digest->hash = hash_bytes(text.s, text.n, digest->hash);
}

static int compare(struct influx_text a, struct influx_text b)
{
    int order = memcmp(a.s, b.s, MIN(a.n, b.n));
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static void add_series(struct digest *digest, const struct influx_series *series)
{
    add_text(digest, series->measurement);
    for (size_t i = 0; i < series->n_tags; i++) {
        assert(i == 0 || compare(series->tags[i - 1].key, series->tags[i].key) < 0);
        assert(series->tags[i].key.n && series->tags[i].value.n);
        add_text(digest, series->tags[i].key);
        add_text(digest, series->tags[i].value);
    }
}

static void add_line(struct digest *digest, const struct influx_line *line)
{
    add_series(digest, line->series);
    assert(line->n_fields);
    for (size_t i = 0; i < line->n_fields; i++) {
        const struct influx_field *field = &line->fields[i];
        assert(field->name->field.n && field->name->place == i);
        add_text(digest, field->name->field);
        digest->hash = hash_u64(digest->hash ^ (uint64_t)field->kind);
        if (field->kind == INFLUX_STRING)
            digest->hash = hash_bytes(field->text.s, field->text.n, digest->hash);
        else
            digest->hash = hash_bytes(&field->value, sizeof(field->value), digest->hash);
    }
    digest->hash = hash_u64(digest->hash ^ (uint64_t)line->time_ns);
}

static struct digest read_body(struct influx_keys *keys, const uint8_t *data, size_t n,
                               int64_t precision_ns)
{
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    autofree(mem) char *exact = xmemdup(data, n); /* ends where ASan can see it */
    autorelease(str) struct str error = STR_INIT;
    struct digest digest = {0};
    struct influx_line line;
    influx_reader_begin(reader, keys, exact, n, precision_ns, 1700000000123456789);
    while (influx_reader_next(reader, &line))
        add_line(&digest, &line);
    digest.counts = influx_reader_counts(reader);
    int status = influx_reader_status(reader, &error);
    bool good = !digest.counts.bad && !digest.counts.dropped;
    assert(status == (good ? 204 : 400) && good == !error.len);
    (void)status;
    (void)good;
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const precisions[] = {"n", "u", "ms", "s", "m", "h", "", "x"};
    if (size < 2)
        return 0;
    int64_t precision_ns = influx_precision_ns(precisions[data[0] & 7]);
    bool tight = data[0] & 8;
    struct influx_limits limits = {.series = tight ? 3 : 10000,
                                   .names = tight ? 5 : 10000,
                                   .bytes = tight ? 4096 : 64u << 20,
                                   .fixed_kinds = data[0] & 16};
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&limits, 1);
    struct digest first = read_body(keys, data + 1, size - 1, precision_ns);
    struct digest again = read_body(keys, data + 1, size - 1, precision_ns);
    assert(influx_keys_bytes(keys) <= limits.bytes);
    assert(first.counts.bad == again.counts.bad && first.counts.lines == again.counts.lines &&
           first.counts.dropped == again.counts.dropped && first.hash == again.hash);
    (void)first;
    (void)again;
    return 0;
}
