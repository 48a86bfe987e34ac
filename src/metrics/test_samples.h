/* SPDX-License-Identifier: MIT */
/*
 * test_samples.h — for tests: what a parser makes of a text, as a text: "loss=0.41@3 acc=0.9".
 * Samples without a step have no '@'; those with a time of their own end with "#µs", and ".ns"
 * where there are nanoseconds. A whole number with a rest ends with an i.
 */
#ifndef HONE_METRICS_TEST_SAMPLES_H
#define HONE_METRICS_TEST_SAMPLES_H

#include "base/str.h"
#include "metrics/metrics.h"

static inline void collect_sample(const struct sample *sample, void *arg)
{
    struct str *to = arg;
    if (to->len)
        str_add(to, " ");
    str_addf(to, "%s=", sample->metric);
    str_add_exact(to, sample->value, sample->rest);
    if (sample->rest)
        str_add_char(to, 'i');
    if (sample->step != STEP_NONE)
        str_addf(to, "@%lld", (long long)sample->step);
    if (sample->time_us)
        str_addf(to, "#%lld", (long long)sample->time_us);
    if (sample->ns)
        str_addf(to, ".%03u", sample->ns);
}

static inline UNUSED char *samples_of(const struct metrics_rules *rules, enum metrics_source source,
                                      const char *bytes, size_t n)
{
    struct str all = STR_INIT;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(rules, source, collect_sample, &all);
    metrics_parser_feed(parser, bytes, n, 0);
    if (source == METRICS_FILE) /* a line there counts with its newline only */
        metrics_parser_feed(parser, "\n", 1, 0);
    metrics_parser_finish(parser, 0);
    return str_take(&all);
}

#endif
