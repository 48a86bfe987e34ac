/* SPDX-License-Identifier: MIT */
/*
 * influx_parts.h — what the files of the line-protocol reader share. Private to metrics/.
 *
 *     influx.c         lines of known series and names, in one pass; hands all others to
 *     influx_strict.c  every line, with the sentences of InfluxDB 1.6
 *     influx_cut.c     where its parts begin and end
 *     influx_value.c   what stands behind '=' without quotes
 *     influx_keys.c    series and names
 */
#ifndef HONE_METRICS_INFLUX_PARTS_H
#define HONE_METRICS_INFLUX_PARTS_H

#include "metrics/influx.h"

#define INFLUX_KEY_MAX  65535 /* bytes of measurement, tags and four more with a field */
#define INFLUX_TIME_MAX (INT64_MAX - 1)

struct influx_reader {
    struct influx_keys *keys;
    const char *p, *end;
    int64_t precision_ns, now_ns;
    VEC(struct influx_field) fields;
    VEC(struct influx_tag) tags;
    struct str scratch; /* names and strings of a line, when they had escapes */
    struct influx_counts counts;
    struct str bad;     /* sentences of lines that were not understood */
    struct str dropped; /* why one was dropped: the last, or the first by its type */
    size_t untold;      /* bad lines beyond REPORT_MAX */
};

/* Put the field behind the others, or in the place of one with the same name on this line. */
static inline void influx_put_field(struct influx_reader *reader, struct influx_field *field,
                                    uint64_t line)
{
    struct influx_name *name = field->name;
    if (name->line == line) {
        reader->fields.at[name->place] = *field;
        return;
    }
    name->line = line;
    name->place = reader->fields.len;
    vec_push(&reader->fields, *field);
}

static inline bool influx_scale_time(const struct influx_reader *reader, int64_t time, int64_t *ret)
{
    return !__builtin_mul_overflow(time, reader->precision_ns, ret) && *ret <= INFLUX_TIME_MAX &&
           *ret >= -INFLUX_TIME_MAX;
}

/* Read any line. 0; -EINVAL: not understood; -EPERM: refused; -EEXIST: refused, since a field has
 * another type. The reason is appended. */
int influx_strict_line(struct influx_reader *reader, const char *p, const char *end,
                       struct influx_line *ret, struct str *reason);

/* ---- values ---- */
/* Read the number, boolean, nan or inf at p. Returns its bytes; 0: there is none, or it does not
 * end at a comma, a space or the end. */
size_t influx_value_read(const char *p, const char *end, struct influx_field *ret);
/* Why influx_value_read() found none at p, in InfluxDB's words. */
void influx_value_reason(const char *p, const char *end, struct str *reason);
/* Digits with an optional '-', all of them. False: no digits, or beyond int64. */
bool influx_integer_read(const char *p, const char *end, int64_t *ret);

/* ---- lines ---- */
/* Where the parts of a line are, still with their escapes. */
struct influx_cut {
    struct influx_text measurement, head, fields, time; /* head: measurement and tags */
};
/* The end of the line at p: a newline that is not quoted or escaped, or the end of all. */
const char *influx_line_end(const char *p, const char *end);
/* Cut the head of a line (n > 0, no blanks before it), then what is behind it: between the two,
 * InfluxDB looks at the tags. 0, or -EINVAL and the reason is appended. */
int influx_head_cut(const char *line, size_t n, struct influx_cut *ret, struct str *reason);
int influx_rest_cut(const char *line, size_t n, struct influx_cut *ret, struct str *reason);
/* The next key and value of fields or of tags (without the comma before them) that were cut. */
struct influx_text influx_field_next(const char **p, const char *end,
                                     struct influx_text *ret_value);
struct influx_text influx_tag_next(const char **p, const char *end, struct influx_text *ret_value);
/* Without escapes of `which`; uses `to` only if there are some. It must have room: nothing moves.
 */
struct influx_text influx_unescape(struct influx_text text, const char *which, struct str *to);

/* ---- keys ---- */
/* NULL: not known by these very bytes. */
struct influx_series *influx_keys_find(const struct influx_keys *keys, const char *head, size_t n);
/* Make it known. NULL: beyond the limits, the reason is appended. `tags` are in order. */
struct influx_series *influx_keys_add(struct influx_keys *keys, struct influx_text head,
                                      struct influx_text measurement, const struct influx_tag *tags,
                                      size_t n_tags, struct str *reason);
struct influx_name *influx_name_find(const struct influx_keys *keys,
                                     const struct influx_series *series, const char *field,
                                     size_t n);
/* The name that came after `last` (NULL: first on the line) when it was met before; NULL: none. */
struct influx_name *influx_name_guess(const struct influx_series *series,
                                      const struct influx_name *last);
void influx_name_follows(const struct influx_series *series, struct influx_name *last,
                         struct influx_name *name);
/* Find or make. NULL: beyond the limits, the reason is appended. */
struct influx_name *influx_name_add(struct influx_keys *keys, const struct influx_series *series,
                                    struct influx_text field, enum influx_kind kind,
                                    struct str *reason);
bool influx_keys_fixed_kinds(const struct influx_keys *keys);
/* A number that no line had before. */
uint64_t influx_keys_line(struct influx_keys *keys);

#endif
