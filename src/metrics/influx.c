/* SPDX-License-Identifier: MIT */
/*
 * influx.c — lines of line protocol, one after the other.
 *
 * Nearly all lines look like the one before: a head that is known, fields in the usual order, a
 * value each, nothing escaped. quick_line() reads those in one pass and gives up at the
 * first thing that is odd; influx_strict_line() reads all others from their beginning, and finds
 * the reason when there is one. So a verdict is always that of the strict reader, and quickness is
 * never a second grammar: whatever quick_line() takes, the strict one would have taken, with the
 * same values.
 */
#include "metrics/influx_parts.h"

#include <errno.h>
#include <math.h>

#define REPORT_MAX (256u << 10)
#define ECHO_MAX   (128u << 10) /* of one line in a report */

int64_t influx_precision_ns(const char *precision)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"u", 1000},
                 {"ms", 1000000},
                 {"s", 1000000000},
                 {"m", 60 * 1000000000ll},
                 {"h", 3600 * 1000000000ll}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(precision, units[i].name))
            return units[i].ns;
    return 1;
}

struct influx_reader *influx_reader_new(void)
{
    struct influx_reader *reader = xcalloc(1, sizeof(*reader));
    reader->scratch = reader->bad = reader->dropped = (struct str)STR_INIT;
    return reader;
}

void influx_reader_free(struct influx_reader *reader)
{
    vec_release(&reader->fields);
    vec_release(&reader->tags);
    str_release(&reader->scratch);
    str_release(&reader->bad);
    str_release(&reader->dropped);
    free(reader);
}

void influx_reader_begin(struct influx_reader *reader, struct influx_keys *keys, const char *bytes,
                         size_t n, int64_t precision_ns, int64_t now_ns)
{
    reader->keys = keys;
    reader->p = n ? bytes : "";
    reader->end = reader->p + n;
    reader->precision_ns = MAX(precision_ns, 1);
    reader->now_ns = now_ns - now_ns % reader->precision_ns;
    reader->counts = (struct influx_counts){0};
    reader->untold = 0;
    str_cut(&reader->bad, 0);
    str_cut(&reader->dropped, 0);
}

/* ---- the usual line ---- */

/* The name at p, if it is known: most often the one that came here before. *p goes behind its '='.
 */
static inline struct influx_name *quick_name(struct influx_reader *reader, const char **p,
                                             const char *end, const struct influx_series *series,
                                             struct influx_name *last, size_t head)
{
    struct influx_name *guess = influx_name_guess(series, last);
    if (guess && guess->plain && (size_t)(end - *p) > guess->field.n &&
        (*p)[guess->field.n] == '=' && memcmp(*p, guess->field.s, guess->field.n) == 0) {
        *p += guess->field.n + 1;
        return head + 4 + guess->field.n <= INFLUX_KEY_MAX ? guess : NULL;
    }
    const char *equals = memchr(*p, '=', (size_t)(end - *p));
    if (!equals || head + 4 + (size_t)(equals - *p) > INFLUX_KEY_MAX)
        return NULL;
    struct influx_name *name = influx_name_find(reader->keys, series, *p, (size_t)(equals - *p));
    if (!name || !name->plain)
        return NULL;
    influx_name_follows(series, last, name);
    *p = equals + 1;
    return name;
}

/* A string that ends at its second quote, or what stands without quotes. */
static inline size_t quick_value(const char *p, const char *end, struct influx_field *ret)
{
    if (p == end || *p != '"')
        return influx_value_read(p, end, ret);
    const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
    if (!close || (close + 1 < end && close[1] != ',' && close[1] != ' '))
        return 0;
    ret->kind = INFLUX_STRING;
    ret->value = NAN;
    ret->text = (struct influx_text){p + 1, (size_t)(close - p - 1)};
    return (size_t)(close + 1 - p);
}

/* Fields up to a space or the end; NULL: something is odd. */
static const char *quick_fields(struct influx_reader *reader, const char *p, const char *end,
                                const struct influx_series *series, size_t head)
{
    bool fixed = influx_keys_fixed_kinds(reader->keys);
    uint64_t line = influx_keys_line(reader->keys);
    struct influx_field field = {0};
    reader->fields.len = 0;
    for (;; p++) {
        field.name = quick_name(reader, &p, end, series, field.name, head);
        if (!field.name)
            return NULL;
        size_t n = quick_value(p, end, &field);
        if (!n || (fixed && field.kind != field.name->kind))
            return NULL;
        influx_put_field(reader, &field, line);
        p += n;
        if (p == end || *p == ' ')
            return p;
    }
}

static bool quick_time(const struct influx_reader *reader, const char *p, const char *end,
                       int64_t *ret)
{
    *ret = reader->now_ns;
    if (p == end)
        return true;
    int64_t time;
    return influx_integer_read(p + 1, end, &time) && influx_scale_time(reader, time, ret);
}

/* [p, end) is a line without backslashes. False: the strict reader must look at it. */
static bool quick_line(struct influx_reader *reader, const char *p, const char *end,
                       struct influx_line *ret)
{
    const char *space = memchr(p, ' ', (size_t)(end - p));
    if (!space)
        return false;
    size_t head = (size_t)(space - p);
    ret->series = influx_keys_find(reader->keys, p, head);
    if (!ret->series)
        return false;
    p = quick_fields(reader, space + 1, end, ret->series, head);
    return p && quick_time(reader, p, end, &ret->time_ns);
}

/* ---- the report ---- */

static void report_bad(struct influx_reader *reader, const char *p, const char *end,
                       const struct str *reason)
{
    reader->counts.bad++;
    if (reader->bad.len > REPORT_MAX) {
        reader->untold++;
        return;
    }
    str_add(&reader->bad, reader->bad.len ? "\nunable to parse '" : "unable to parse '");
    str_add_n(&reader->bad, p, MIN((size_t)(end - p), ECHO_MAX));
    str_add(&reader->bad, "': ");
    str_add_n(&reader->bad, reason->s, reason->len);
}

static void report(struct influx_reader *reader, int r, const char *p, const char *end,
                   const struct str *reason)
{
    if (r == -EINVAL) {
        report_bad(reader, p, end, reason);
        return;
    }
    reader->counts.dropped++;
    if (r == -EEXIST && reader->dropped.len) /* as InfluxDB: of those by their type the first */
        return;
    str_cut(&reader->dropped, 0);
    str_add_n(&reader->dropped, reason->s, reason->len);
}

struct influx_counts influx_reader_counts(const struct influx_reader *reader)
{
    return reader->counts;
}

int influx_reader_status(const struct influx_reader *reader, struct str *ret)
{
    const struct influx_counts *counts = &reader->counts;
    const struct str *reason = counts->dropped ? &reader->dropped : &reader->bad;
    bool partial = counts->lines || counts->dropped;
    if (!counts->bad && !counts->dropped)
        return 204;
    str_add(ret, partial ? "partial write: " : "");
    str_add_n(ret, reason->s, reason->len);
    if (reader->untold && !counts->dropped)
        str_addf(ret, "\nand %zu more lines", reader->untold);
    if (partial)
        str_addf(ret, " dropped=%zu", counts->dropped);
    return 400;
}

/* ---- line by line ---- */

/* The end of the line at p. *ret_plain: it has no backslashes. */
static const char *find_end(const char *p, const char *end, bool *ret_plain)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const char *behind = newline ? newline : end;
    if (memchr(p, '"', (size_t)(behind - p)) || memchr(p, '\\', (size_t)(behind - p)))
        behind = influx_line_end(p, end);
    *ret_plain = !memchr(p, '\\', (size_t)(behind - p));
    return behind;
}

/* Blanks before a line do not count; nor does a newline that was escaped at its very end. */
static bool is_line(const char **p, const char **end)
{
    while (*p < *end && (**p == ' ' || **p == '\t' || **p == '\0'))
        ++*p;
    if (*p == *end || **p == '#')
        return false;
    if ((*end)[-1] == '\n')
        --*end;
    return *p < *end;
}

bool influx_reader_next(struct influx_reader *reader, struct influx_line *ret)
{
    autorelease(str) struct str reason = STR_INIT;
    while (reader->p < reader->end) {
        bool plain;
        const char *p = reader->p, *end = find_end(p, reader->end, &plain);
        reader->p = MIN(end + 1, reader->end);
        if (!is_line(&p, &end))
            continue;
        int r = 0;
        if (!plain || !quick_line(reader, p, end, ret)) {
            str_cut(&reason, 0);
            r = influx_strict_line(reader, p, end, ret, &reason);
        }
        if (r < 0) {
            report(reader, r, p, end, &reason);
            continue;
        }
        ret->fields = reader->fields.at;
        ret->n_fields = reader->fields.len;
        reader->counts.lines++;
        return true;
    }
    return false;
}
