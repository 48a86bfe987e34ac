/* SPDX-License-Identifier: MIT */
/*
 * metrics.h — from bytes that a program wrote to samples: line protocol in its metrics file, and
 * numbers recognised in its output. Pure: bytes in, samples out; feed in any pieces.
 */
#ifndef HONE_METRICS_H
#define HONE_METRICS_H

#include "model/spec.h"
#include "model/trial.h"

struct sample {
    const char *metric; /* borrowed, for the call only */
    double value;       /* may be NaN or Inf */
    uint16_t rest;      /* base/rest.h: of a whole number beyond ±2^53 */
    uint16_t ns;        /* so many nanoseconds behind time_us, 0 … 999 */
    int64_t step;       /* STEP_NONE if the program gave none: the reader counts then */
    int64_t time_us;    /* wall, as written by the program or of reading; 0: unknown */
    uint64_t end;       /* offset in the file behind the line that told it */
};
/* INT64_MIN: it is unknown. */
static inline int64_t sample_time_ns(int64_t time_us, uint16_t ns)
{
    __int128 time_ns = (__int128)time_us * 1000 + ns;

    if (!time_us)
        return INT64_MIN;
    return (int64_t)MIN(MAX(time_ns, (__int128)INT64_MIN + 1), (__int128)INT64_MAX);
}
typedef void sample_fn(const struct sample *sample, void *arg);

/* The patterns of a spec, compiled. Thread-safe once made. */
struct metrics_rules;
int metrics_rules_new(const struct spec *spec, struct metrics_rules **ret, struct err *err);
void metrics_rules_free(struct metrics_rules *rules);
DEFINE_AUTOFREE(metrics_rules);
/* Could one pattern work? 0, or -EINVAL with a sentence. `metric` "": only named groups. */
int metrics_check(const char *metric, const char *pattern, struct err *err);

enum metrics_source { METRICS_OUTPUT /* stdout or stderr */, METRICS_FILE /* line protocol */ };

#define METRICS_LINE_MAX (64 << 10)

/* Reads one file of one attempt from its beginning; keeps the broken-off last line between feeds
 * (lines over 64 KiB are skipped, and counted). A run of 512 zero bytes or more is a hole that was
 * punched: what is left of the lines at its two ends is dropped. `rules` is borrowed; NULL: no
 * patterns, built-in recognition. */
struct metrics_parser;
struct metrics_parser *metrics_parser_new(const struct metrics_rules *rules,
                                          enum metrics_source source, sample_fn *fn, void *arg);
/* What the program was given, so that it is no metric when it prints it (settings.c). `point` is of
 * spec->space. All is borrowed; NULL: nothing is known. */
struct metrics_given {
    const struct spec *spec;
    const double *point;
};
/* Once, before the first feed. */
void metrics_parser_given(struct metrics_parser *parser, const struct metrics_given *given);
void metrics_parser_free(struct metrics_parser *parser);
DEFINE_AUTOFREE(metrics_parser);
void metrics_parser_feed(struct metrics_parser *parser, const char *bytes, size_t n,
                         int64_t time_us);
/* What is fed next stands at this offset of the file: a hole was jumped over. */
void metrics_parser_at(struct metrics_parser *parser, uint64_t offset);
/* The file is complete. The last line of output counts even without its newline; that of a metrics
 * file does not: a kill in the middle of a write leaves such a line, and half a number in it. */
void metrics_parser_finish(struct metrics_parser *parser, int64_t time_us);

/* What a parser has seen so far. */
struct metrics_counts {
    uint64_t lines; /* and pieces ended by a carriage return, empty ones left out */
    uint64_t samples;
    uint64_t long_lines; /* over METRICS_LINE_MAX: skipped */
    uint64_t bad_lines;  /* not line protocol, or torn (METRICS_FILE only): skipped */
};
struct metrics_counts metrics_parser_counts(const struct metrics_parser *parser);

/* The step of a sample for readers that keep a series: its own, or one past the highest of its
 * metric in this attempt. *next starts at 0, one for each metric and attempt. */
static inline int64_t metrics_step(int64_t *next, int64_t step)
{
    if (step == STEP_NONE)
        step = *next;
    if (step >= *next && step < INT64_MAX)
        *next = step + 1;
    return step;
}

/* What a program says to Hone, not to people: its answer `hone generation=7i` is the sample
 * "hone.generation", the step at which it ends `hone total=99i`. */
#define METRIC_GENERATION "hone.generation"
#define METRIC_TOTAL      "hone.total"
static inline bool metric_is_word(const char *metric)
{
    return str_eq(metric, METRIC_GENERATION) || str_eq(metric, METRIC_TOTAL);
}

#endif
