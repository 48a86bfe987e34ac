/* SPDX-License-Identifier: MIT */
/*
 * line_protocol.c — InfluxDB line protocol, as programs write it into their metrics file:
 *
 *     measurement[,tag=value…] field=value[,field=value…] [timestamp in ns]
 *
 * A field becomes a metric: `train loss=0.41` is "loss", `val loss=0.3` is "val.loss", a field
 * called `value` drops its name, tags follow in braces: "val.loss{fold=2}". Fields step, epoch and
 * iteration are the axis. Beyond InfluxDB: nan and inf are numbers. A line counts whole or not at
 * all, so that a damaged one cannot give half of its values.
 */
#include "base/rest.h"
#include "metrics/line.h"

#include <errno.h>

struct cursor {
    const char *p, *end;
};

static bool at(const struct cursor *in, char c)
{
    return in->p < in->end && *in->p == c;
}

static void skip_spaces(struct cursor *in)
{
    while (at(in, ' '))
        in->p++;
}

/* Append to `to` up to an unescaped character of `stops`, undoing escapes. Names are for people:
 * control characters make the line a bad one. */
static int read_key(struct cursor *in, const char *stops, struct str *to)
{
    size_t before = to->len;
    for (; in->p < in->end; in->p++) {
        char c = *in->p;
        bool escape = c == '\\' && in->p + 1 < in->end && strchr(",= ", in->p[1]) && in->p[1];
        if (escape)
            c = *++in->p;
        else if (strchr(stops, c))
            break;
        if ((unsigned char)c < 0x20)
            return -EINVAL;
        str_add_char(to, c);
    }
    return to->len > before ? 0 : -EINVAL;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool same_key(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && memcmp(a, b, n) == 0;
}

/* {a=1,b=2}: sorted, so that the order in which a program writes its tags does not matter. */
static int add_tags(char **tags, size_t n, struct str *to)
{
    qsort(tags, n, sizeof(*tags), compare_texts);
    for (size_t i = 0; i < n; i++) {
        if (i && same_key(tags[i - 1], tags[i]))
            return -EINVAL;
        str_add(to, i ? "," : "{");
        str_add(to, tags[i]);
    }
    str_add(to, "}");
    return 0;
}

static int read_tag(struct cursor *in, char **ret)
{
    autorelease(str) struct str tag = STR_INIT;
    int r = read_key(in, ",= ", &tag);
    if (r < 0)
        return r;
    if (!at(in, '='))
        return -EINVAL;
    in->p++;
    str_add_char(&tag, '=');
    r = read_key(in, ",= ", &tag);
    if (r < 0)
        return r;
    if (at(in, '='))
        return -EINVAL;
    *ret = str_take(&tag);
    return 0;
}

static int read_tags(struct cursor *in, struct str *to)
{
    VEC(char *) tags = {NULL, 0, 0};
    int r = 0;
    while (r == 0 && at(in, ',')) {
        char *tag = NULL;
        in->p++;
        r = read_tag(in, &tag);
        if (r == 0)
            vec_push(&tags, tag);
    }
    if (r == 0 && tags.len)
        r = add_tags(tags.at, tags.len, to);
    vec_foreach (tag, &tags)
        free(*tag);
    vec_release(&tags);
    return r;
}

enum field_kind { FIELD_NUMBER, FIELD_TEXT };

static int read_text(struct cursor *in)
{
    for (in->p++; in->p < in->end; in->p++) {
        if (*in->p == '\\' && in->p + 1 < in->end)
            in->p++;
        else if (*in->p == '"')
            break;
    }
    if (!at(in, '"'))
        return -EINVAL;
    in->p++;
    return FIELD_TEXT;
}

static size_t read_bool(const struct cursor *in, double *ret)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1}, {"false", 0}, {"t", 1}, {"f", 0}};
    size_t n = 0;
    while (in->p + n < in->end && in->p[n] != ',' && in->p[n] != ' ')
        n++;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (text_is(in->p, n, words[i].word)) {
            *ret = words[i].value;
            return n;
        }
    return 0;
}

/* The rest of `n` digits before an `i` (base/rest.h). The smallest number is no step, so
 * number_parse() does not tell it. */
static uint16_t rest_of_digits(const char *s, size_t n, const struct number *number)
{
    static const char smallest[] = "-9223372036854775808";

    if (number->integer != STEP_NONE)
        return rest_of(number->integer);
    return n == sizeof(smallest) - 1 && memcmp(s, smallest, n) == 0 ? rest_of(INT64_MIN) : 0;
}

/* Returns the kind, or -EINVAL. */
static int read_value(struct cursor *in, struct number *ret, uint16_t *ret_rest)
{
    if (at(in, '"'))
        return read_text(in);
    size_t n = number_parse(in->p, in->end, ret);
    if (n) {
        in->p += n;
        if (at(in, '.')) /* "1." */
            in->p++;
        else if (ret->whole && (at(in, 'i') || at(in, 'u'))) {
            *ret_rest = rest_of_digits(in->p - n, n, ret);
            in->p++;
        }
    } else {
        *ret = (struct number){.whole = false};
        n = number_parse_special(in->p, in->end, &ret->value);
        if (!n)
            n = read_bool(in, &ret->value);
        in->p += n;
    }
    bool ended = in->p == in->end || *in->p == ',' || *in->p == ' ';
    return n && ended ? FIELD_NUMBER : -EINVAL;
}

/* The metric's name from measurement, field and tags. */
static int add_metric(struct line *line, const char *field, size_t n, double value, uint16_t rest)
{
    struct str *measurement = &line->work[0];
    const char *tags = measurement->s + strlen(measurement->s) + 1;
    bool plain = str_eq(measurement->s, "train") || str_eq(measurement->s, "metrics");
    bool nameless = n == 5 && memcmp(field, "value", 5) == 0;
    autorelease(str) struct str name = STR_INIT;
    if (!plain || nameless)
        str_add(&name, measurement->s);
    if (!plain && !nameless)
        str_add_char(&name, '.');
    if (!nameless)
        str_add_n(&name, field, n);
    str_add(&name, tags);
    if (name.len > FILE_NAME_LIMIT)
        return -EINVAL;
    line_add(line, name.s, name.len, value, false);
    vec_last(&line->readings)->rest = rest;
    return 0;
}

static enum axis field_axis(const struct str *field)
{
    static const char *const names[AXES] = {"step", "epoch", "iteration"};
    for (size_t i = 0; i < AXES; i++)
        if (str_eq(field->s, names[i]))
            return (enum axis)i;
    return AXIS_NONE;
}

static int read_field(struct line *line, struct cursor *in)
{
    struct str *field = &line->work[1];
    struct number value = {.value = 0};
    uint16_t rest = 0;

    str_cut(field, 0);
    if (read_key(in, ",= ", field) < 0 || !at(in, '='))
        return -EINVAL;
    in->p++;
    int kind = read_value(in, &value, &rest);
    if (kind != FIELD_NUMBER)
        return kind < 0 ? kind : 0;
    enum axis axis = field_axis(field);
    if (axis != AXIS_NONE && line_set_axis_number(line, axis, &value))
        return 0;
    return add_metric(line, field->s, field->len, value.value, rest);
}

static int read_fields(struct line *line, struct cursor *in)
{
    for (;;) {
        int r = read_field(line, in);
        if (r < 0)
            return r;
        if (!at(in, ','))
            break;
        in->p++;
    }
    bool both = line->axis[AXIS_STEP] != STEP_NONE && line->axis[AXIS_EPOCH] != STEP_NONE;
    int64_t epoch = line->axis[AXIS_EPOCH];
    return both ? add_metric(line, "epoch", 5, (double)epoch, rest_of(epoch)) : 0;
}

/* Nanoseconds to the end of the line. */
static int read_time(struct line *line, struct cursor *in)
{
    skip_spaces(in);
    if (in->p == in->end)
        return 0;
    bool minus = at(in, '-');
    if (minus)
        in->p++;
    int64_t ns = 0;
    const char *first = in->p;
    for (; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++)
        if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, *in->p - '0', &ns))
            return -EINVAL;
    if (in->p == first)
        return -EINVAL;
    skip_spaces(in);
    ns = minus ? -ns : ns;
    line->ns = (uint16_t)((ns % 1000 + 1000) % 1000);
    line->time_us = ns / 1000 - (ns % 1000 < 0);
    return in->p == in->end ? 0 : -EINVAL;
}

int line_protocol_read(struct line *line, const char *s, size_t n)
{
    struct cursor in = {s, s + n};
    struct str *measurement = &line->work[0];
    if (n && s[n - 1] == '\r')
        in.end--;
    while (at(&in, ' ') || at(&in, '\t'))
        in.p++;
    if (in.p == in.end || *in.p == '#')
        return 0;
    str_cut(measurement, 0);
    int r = read_key(&in, ", ", measurement);
    if (r < 0)
        return r;
    str_add_n(measurement, "", 1); /* measurement NUL tags NUL */
    r = read_tags(&in, measurement);
    if (r < 0)
        return r;
    if (!at(&in, ' '))
        return -EINVAL;
    skip_spaces(&in);
    r = read_fields(line, &in);
    return r < 0 ? r : read_time(line, &in);
}
