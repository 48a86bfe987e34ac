/* SPDX-License-Identifier: MIT */
/*
 * test_influx.h — a body of line protocol and what became of it, in words. For tests of metrics/.
 */
#ifndef HONE_METRICS_TEST_INFLUX_H
#define HONE_METRICS_TEST_INFLUX_H

#include "metrics/influx.h"
#include "tests/test.h"

#define NOW_NS 1700000000123456789

static const struct influx_limits wide = {.series = 1000, .names = 1000, .bytes = 16u << 20};

static inline UNUSED bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static inline void add_quoted(struct str *to, struct influx_text text)
{
    str_add_char(to, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];
        if (c < 32 || c > 126 || c == '\\' || c == '"')
            str_addf(to, "\\x%02x", c);
        else
            str_add_char(to, (char)c);
    }
    str_add_char(to, '"');
}

static inline void add_value(struct str *to, const struct influx_field *field)
{
    switch (field->kind) {
    case INFLUX_FLOAT:
        str_addf(to, "float %.17g", field->value);
        break;
    case INFLUX_INTEGER:
        str_addf(to, "integer %lld", (long long)field->integer);
        break;
    case INFLUX_BOOLEAN:
        str_addf(to, "boolean %s", field->value != 0 ? "true" : "false");
        break;
    case INFLUX_STRING:
        str_add(to, "string ");
        add_quoted(to, field->text);
        break;
    }
}

static inline int compare_fields(const void *a, const void *b)
{
    const struct influx_text *x = &((const struct influx_field *)a)->name->field;
    const struct influx_text *y = &((const struct influx_field *)b)->name->field;
    int order = memcmp(x->s, y->s, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* "m"{"t"="v"} "f"=float 1 @1, fields by name */
static inline char *line_text(const struct influx_line *line, int64_t now_ns)
{
    struct str text = STR_INIT;
    add_quoted(&text, line->series->measurement);
    for (size_t i = 0; i < line->series->n_tags; i++) {
        str_add_char(&text, i ? ',' : '{');
        add_quoted(&text, line->series->tags[i].key);
        str_add_char(&text, '=');
        add_quoted(&text, line->series->tags[i].value);
    }
    str_add(&text, line->series->n_tags ? "} " : "{} ");
    autofree(mem) struct influx_field *fields =
        xmemdup(line->fields, line->n_fields * sizeof(*fields));
    qsort(fields, line->n_fields, sizeof(*fields), compare_fields);
    for (size_t i = 0; i < line->n_fields; i++) {
        str_add(&text, i ? "," : "");
        add_quoted(&text, fields[i].name->field);
        str_add_char(&text, '=');
        add_value(&text, &fields[i]);
    }
    if (line->time_ns == now_ns)
        str_add(&text, " @now");
    else
        str_addf(&text, " @%lld", (long long)line->time_ns);
    return str_take(&text);
}

static inline int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct outcome {
    int status;
    struct str error, stored;
};

static inline void outcome_release(struct outcome *outcome)
{
    str_release(&outcome->error);
    str_release(&outcome->stored);
}

/* The points sorted and each once, as a server shows them. */
static inline void read_body(struct influx_keys *keys, const char *body, size_t n,
                             const char *precision, struct outcome *ret)
{
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    autofree(mem) char *exact = xmemdup(body, n); /* ends where ASan can see it */
    int64_t unit = influx_precision_ns(precision);
    struct influx_line line;
    VEC(char *) points = {NULL, 0, 0};
    *ret = (struct outcome){0, STR_INIT, STR_INIT};
    influx_reader_begin(reader, keys, exact, n, unit, NOW_NS);
    while (influx_reader_next(reader, &line))
        vec_push(&points, line_text(&line, NOW_NS - NOW_NS % unit));
    ret->status = influx_reader_status(reader, &ret->error);
    if (points.len)
        qsort(points.at, points.len, sizeof(*points.at), compare_texts);
    for (size_t i = 0; i < points.len; i++) {
        if (!i || !str_eq(points.at[i], points.at[i - 1])) {
            str_add(&ret->stored, i ? "; " : "");
            str_add(&ret->stored, points.at[i]);
        }
    }
    vec_foreach (point, &points)
        free(*point);
    vec_release(&points);
}

#endif
