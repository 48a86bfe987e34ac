/* SPDX-License-Identifier: MIT */
/*
 * metrics_fuzz.c — any bytes, in any pieces, to the metric parsers. The first byte chooses: bit 0
 * the source, bit 1 patterns of a spec, the rest the size of the pieces. What must hold: no crash,
 * and the samples do not depend on the pieces.
 */
#include "base/rng.h"
#include "metrics/metrics.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct digest {
    uint64_t hash;
    size_t samples;
};

static void on_sample(const struct sample *sample, void *arg)
{
    struct digest *digest = arg;
    assert(*sample->metric);
    digest->hash = hash_bytes(sample->metric, strlen(sample->metric), digest->hash);
    digest->hash = hash_bytes(&sample->value, sizeof(sample->value), digest->hash);
    digest->hash = hash_u64(digest->hash ^ (uint64_t)sample->step);
    digest->samples++;
}

static struct metrics_rules *make_rules(void)
{
    static struct text_pair pairs[] = {
        {(char *)"loss", (char *)"loss[ :=]+([-+0-9.a-zA-Z]+)"},
        {(char *)"", (char *)"e(?<epoch>\\d+) x=(?<x>\\S+)"},
    };
    struct spec spec = {.patterns = {pairs, ARRAY_LEN(pairs), ARRAY_LEN(pairs)}};
    struct metrics_rules *rules = NULL;
    int r = metrics_rules_new(&spec, &rules, NULL);
    assert(r == 0);
    (void)r;
    return rules;
}

static struct digest parse(const struct metrics_rules *rules, enum metrics_source source,
                           const uint8_t *data, size_t size, size_t piece)
{
    struct digest digest = {0, 0};
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(rules, source, on_sample, &digest);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = MIN(piece, size - at);
        autofree(mem) char *copy = xmemdup(data + at, n); /* ends where ASan can see it */
        metrics_parser_feed(parser, copy, n, 1);
    }
    metrics_parser_finish(parser, 1);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct metrics_rules *rules;
    if (size < 2)
        return 0;
    if (!rules)
        rules = make_rules();
    const struct metrics_rules *used = data[0] & 2 ? rules : NULL;
    enum metrics_source source = data[0] & 1 ? METRICS_FILE : METRICS_OUTPUT;
    size_t piece = 1 + (data[0] >> 2);
    struct digest whole = parse(used, source, data + 1, size - 1, size - 1);
    struct digest pieces = parse(used, source, data + 1, size - 1, piece);
    assert(whole.samples == pieces.samples && whole.hash == pieces.hash);
    (void)whole;
    (void)pieces;
    return 0;
}
