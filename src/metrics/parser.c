/* SPDX-License-Identifier: MIT */
/*
 * parser.c — from bytes to lines, from lines to samples.
 *
 * A line of output ends at a newline, a carriage return (progress bars draw over themselves) or a
 * zero byte; a line of the metrics file at a newline. Bytes come in any pieces and the result does
 * not depend on them. Memory is bounded: at most METRICS_LINE_MAX bytes of an unfinished line are
 * kept, a longer one is skipped to its end.
 *
 * Invariant: line.len ≤ METRICS_LINE_MAX; while skipping, line.len is 0.
 */
#include "metrics/line.h"

#define HOLE_MIN 512 /* so many zero bytes in a row were punched, not written */

struct metrics_parser {
    const struct metrics_rules *rules;
    enum metrics_source source;
    sample_fn *fn;
    void *arg;
    struct str line;  /* the unfinished one */
    bool skipping;    /* … is too long, or began in a hole: wait for its end */
    size_t zeros;     /* of the run that the input ends with */
    int64_t epoch;    /* of the last heading, "Epoch 3/10" alone; STEP_NONE */
    struct str clean; /* a line without colours */
    struct line found;
    struct metrics_counts counts;
    const char *fed;  /* what is being read */
    uint64_t at, end; /* where that stands in the file; behind the line being read */
};

struct metrics_parser *metrics_parser_new(const struct metrics_rules *rules,
                                          enum metrics_source source, sample_fn *fn, void *arg)
{
    struct metrics_parser *parser = xcalloc(1, sizeof(*parser));
    *parser = (struct metrics_parser){
        .rules = rules,
        .source = source,
        .fn = fn,
        .arg = arg,
        .line = STR_INIT,
        .epoch = STEP_NONE,
        .clean = STR_INIT,
        .found = {.names = STR_INIT, .work = {STR_INIT, STR_INIT}},
    };
    return parser;
}

void metrics_parser_given(struct metrics_parser *parser, const struct metrics_given *given)
{
    if (parser->source == METRICS_OUTPUT)
        line_give(&parser->found, given);
}

void metrics_parser_free(struct metrics_parser *parser)
{
    str_release(&parser->line);
    str_release(&parser->clean);
    line_release(&parser->found);
    free(parser);
}

struct metrics_counts metrics_parser_counts(const struct metrics_parser *parser)
{
    return parser->counts;
}

static void emit(struct metrics_parser *parser)
{
    const struct line *found = &parser->found;
    int64_t step = line_step(found, parser->epoch);
    vec_foreach (reading, &found->readings) {
        struct sample sample = {
            .metric = found->names.s + reading->name,
            .value = reading->value,
            .step = step,
            .time_us = found->time_us,
            .ns = found->ns,
            .rest = reading->rest,
            .end = parser->end,
        };
        parser->counts.samples++;
        parser->fn(&sample, parser->arg);
    }
}

/* Nearly all lines of a chatty program have no number at all: look for a digit, nan or inf before
 * anything that costs. */
static bool may_have_number(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if ((unsigned char)(c - '0') < 10)
            return true;
        c |= 0x20;
        if ((c == 'n' || c == 'i') && i + 2 < n) {
            unsigned char second = s[i + 1] | 0x20, third = s[i + 2] | 0x20;
            if (c == 'n' ? second == 'a' && third == 'n' : second == 'n' && third == 'f')
                return true;
        }
    }
    return false;
}

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

/* The end of a terminal's escape sequence that begins at s: ESC [ … letter, ESC ] … BEL, ESC x. */
static const char *escape_end(const char *s, const char *end)
{
    const char *p = s + 1;
    if (p >= end)
        return end;
    char kind = *p++;
    if (kind == '[') {
        while (p < end && (*p < 0x40 || *p > 0x7e))
            p++;
    } else if (kind == ']') {
        while (p < end && *p != '\a' && *p != '\033')
            p++;
        if (p + 1 < end && *p == '\033')
            p++;
    } else {
        return p;
    }
    return MIN(p + 1, end);
}

/* Drop colours and other control characters; `s` itself if there are none. */
static void clean_line(struct metrics_parser *parser, const char **s, size_t *n)
{
    const char *p = *s, *end = p + *n;
    while (p < end && !is_control(*p))
        p++;
    if (p == end)
        return;
    str_cut(&parser->clean, 0);
    for (p = *s; p < end;) {
        const char *from = p;
        while (p < end && !is_control(*p))
            p++;
        str_add_n(&parser->clean, from, (size_t)(p - from));
        if (p < end)
            p = *p == '\033' ? escape_end(p, end) : p + 1;
    }
    *s = parser->clean.s;
    *n = parser->clean.len;
}

static void read_output(struct metrics_parser *parser, const char *s, size_t n)
{
    if (!may_have_number(s, n))
        return;
    clean_line(parser, &s, &n);
    struct line *found = &parser->found;
    metrics_rules_match(parser->rules, found, s, n);
    if (metrics_rules_builtin(parser->rules) && !json_line_read(found, s, n))
        recognise(found, s, n);
    if (found->readings.len)
        emit(parser);
    else if (found->axis[AXIS_EPOCH] != STEP_NONE)
        parser->epoch = found->axis[AXIS_EPOCH];
}

static void read_line(struct metrics_parser *parser, const char *s, size_t n, int64_t time_us)
{
    if (n == 0)
        return;
    parser->counts.lines++;
    line_clear(&parser->found, time_us);
    if (parser->source == METRICS_OUTPUT)
        read_output(parser, s, n);
    else if (line_protocol_read(&parser->found, s, n) < 0)
        parser->counts.bad_lines++;
    else
        emit(parser);
}

static void end_line(struct metrics_parser *parser, int64_t time_us)
{
    if (!parser->skipping)
        read_line(parser, parser->line.s, parser->line.len, time_us);
    str_cut(&parser->line, 0);
    parser->skipping = false;
}

/* Where a byte of what is being read stands in the file. */
static uint64_t place_of(const struct metrics_parser *parser, const char *s)
{
    return parser->at + (uint64_t)(s - parser->fed);
}

/* Zero bytes came before what comes now: they ended a line, or tore two. */
static void end_zeros(struct metrics_parser *parser, int64_t time_us)
{
    if (parser->zeros == 0)
        return;
    bool hole = parser->zeros >= HOLE_MIN;
    parser->zeros = 0;
    if (!hole) {
        end_line(parser, time_us);
        return;
    }
    str_cut(&parser->line, 0);
    parser->skipping = true;
}

/* More of the line, without a zero byte. */
static void add_text(struct metrics_parser *parser, const char *s, size_t n)
{
    if (parser->skipping)
        return;
    if (parser->line.len + n <= METRICS_LINE_MAX) {
        str_add_n(&parser->line, s, n);
        return;
    }
    str_cut(&parser->line, 0);
    parser->skipping = true;
    parser->counts.long_lines++;
}

/* A piece of one line, zero bytes and all. */
static void add_piece(struct metrics_parser *parser, const char *s, size_t n, int64_t time_us)
{
    const char *end = s + n;
    while (s < end) {
        const char *zero = memchr(s, '\0', (size_t)(end - s));
        const char *text_end = zero ? zero : end;
        if (text_end > s) {
            parser->end = place_of(parser, s);
            end_zeros(parser, time_us);
            add_text(parser, s, (size_t)(text_end - s));
        }
        for (s = text_end; s < end && *s == '\0'; s++)
            parser->zeros++;
    }
}

/* A whole line, most often read where it is. */
static void add_line(struct metrics_parser *parser, const char *s, size_t n, int64_t time_us)
{
    bool whole = parser->line.len == 0 && !parser->skipping && parser->zeros == 0;
    uint64_t end = place_of(parser, s + n) + 1;

    parser->end = end;
    if (whole && n <= METRICS_LINE_MAX && !memchr(s, '\0', n)) {
        read_line(parser, s, n, time_us);
        return;
    }
    add_piece(parser, s, n, time_us);
    parser->end = end;
    end_zeros(parser, time_us);
    end_line(parser, time_us);
}

/* Text up to a newline, or up to the end of what is there. */
static void feed_line(struct metrics_parser *parser, const char *s, size_t n, bool ended,
                      int64_t time_us)
{
    const char *end = s + n, *cr;
    while (parser->source == METRICS_OUTPUT && (cr = memchr(s, '\r', (size_t)(end - s)))) {
        add_line(parser, s, (size_t)(cr - s), time_us);
        s = cr + 1;
    }
    if (ended)
        add_line(parser, s, (size_t)(end - s), time_us);
    else
        add_piece(parser, s, (size_t)(end - s), time_us);
}

void metrics_parser_feed(struct metrics_parser *parser, const char *bytes, size_t n,
                         int64_t time_us)
{
    const char *end = bytes + n;

    parser->fed = bytes;
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *line_end = newline ? newline : end;
        feed_line(parser, bytes, (size_t)(line_end - bytes), newline != NULL, time_us);
        bytes = newline ? newline + 1 : end;
    }
    parser->at += n;
}

void metrics_parser_at(struct metrics_parser *parser, uint64_t offset)
{
    parser->at = offset;
}

void metrics_parser_finish(struct metrics_parser *parser, int64_t time_us)
{
    parser->end = parser->at;
    end_zeros(parser, time_us);
    if (parser->source == METRICS_FILE && parser->line.len) {
        parser->counts.bad_lines++;
        str_cut(&parser->line, 0);
    }
    end_line(parser, time_us);
}
