/* SPDX-License-Identifier: MIT */
/*
 * line.h — what the readers of this folder share: one line of text becomes readings (name and
 * number) and an axis (which step they belong to). The axis may stand at the end of the line, so
 * samples are made only when the whole line was read. Private to metrics/.
 */
#ifndef HONE_METRICS_LINE_H
#define HONE_METRICS_LINE_H

#include "base/str.h"
#include "metrics/metrics.h"

/* The first that a line has, in this order, is its step. */
enum axis { AXIS_STEP, AXIS_EPOCH, AXIS_ITERATION, AXES, AXIS_NONE };

struct reading {
    size_t name; /* where it begins in line.names, with a NUL behind it */
    double value;
    uint16_t rest; /* base/rest.h */
    bool weak;     /* `name 0.5`, without ':' or '=': counts only beside an axis */
};

/* A parameter of the trial whose value is a number. */
struct setting {
    const char *name; /* borrowed */
    double value;
    bool moves; /* the program has printed other values, too */
};

/* Cleared for each line; the memory and the settings stay. */
struct line {
    VEC(struct setting) settings;
    VEC(struct reading) readings;
    struct str names;
    int64_t axis[AXES]; /* STEP_NONE: not on this line */
    bool inner_step;    /* the step was written "100/600" */
    int64_t time_us;
    uint16_t ns;        /* … and so many nanoseconds, 0 … 999 */
    struct str work[2]; /* for readers that must copy what they read */
};

#define OUTPUT_NAME_MAX 64 /* bytes of a metric's name recognised in output */
#define FILE_NAME_LIMIT 255
#define OUTPUT_READINGS 256 /* a line with more is data, not a report: the rest is left out */

void line_clear(struct line *line, int64_t time_us);
void line_release(struct line *line);
/* A new reading; the name is copied, spaces become '_'. */
void line_add(struct line *line, const char *name, size_t n, double value, bool weak);
/* The same for output: a name already on the line, an empty, a long or one of ours ("hone.…", which
 * is an answer in the metrics file) is left out. */
void line_add_output(struct line *line, const char *name, size_t n, double value, bool weak);
/* The program behind all lines to come was given this; once. */
void line_give(struct line *line, const struct metrics_given *given);
/* Is that number in the output only what the program was given? */
bool line_is_setting(struct line *line, const char *name, size_t n, double value);
/* Keep the first `readings` readings. */
void line_cut(struct line *line, size_t readings);
void line_drop_weak(struct line *line, size_t from);
bool line_has_axis(const struct line *line);
/* The step of the line; `epoch` is that of a heading above it, or STEP_NONE. */
int64_t line_step(const struct line *line, int64_t epoch);

struct number {
    double value;
    bool whole;      /* digits only: no point, no exponent */
    int64_t integer; /* of a whole one its exact value, STEP_NONE: it has more than 64 bits */
};

/* The axis that a name in output stands for ("Epoch", "global_step", "iter"), or AXIS_NONE. */
enum axis axis_find(const char *name, size_t n);
/* Set the axis if the number is whole and small enough to be one: below 2^53. */
bool line_set_axis(struct line *line, enum axis axis, double value);
/* The same of a number as it was written: one of digits only is exact up to 64 bits. */
bool line_set_axis_number(struct line *line, enum axis axis, const struct number *number);

/* Read a decimal number at s: "-0.5", ".5", "1e-3". Returns the bytes read, 0: no number. */
size_t number_parse(const char *s, const char *end, struct number *ret);
/* Read nan, inf, infinity, with a sign and in any case, if no letter or digit follows. */
size_t number_parse_special(const char *s, const char *end, double *ret);

/* Bytes of a letter, digit or '_' at s, UTF-8 included; 0: it is something else. */
size_t word_char(const char *s, const char *end);
bool text_is(const char *s, size_t n, const char *word); /* ASCII case does not matter */
bool text_in(const char *s, size_t n, const char *const *words, size_t count);

/* Line protocol. 0, or -EINVAL for a bad line (the readings are then void). */
int line_protocol_read(struct line *line, const char *s, size_t n);
/* A JSON object (or a Python dictionary) that ends the line. False if there is none. */
bool json_line_read(struct line *line, const char *s, size_t n);
/* Numbers that people print: `name: 0.5` and the like, progress bars. */
void recognise(struct line *line, const char *s, size_t n);

/* The spec's patterns on one line. */
void metrics_rules_match(const struct metrics_rules *rules, struct line *line, const char *s,
                         size_t n);
bool metrics_rules_builtin(const struct metrics_rules *rules);

#endif
