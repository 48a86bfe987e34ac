/* SPDX-License-Identifier: MIT */
/*
 * influx_strict.c — any line at all: cut it as InfluxDB would, then read its parts, and make known
 * what is new in it. Nothing becomes known by a line that was not understood.
 */
#include "metrics/influx_parts.h"

#include <errno.h>
#include <math.h>

static int read_time(const struct influx_reader *reader, const struct influx_cut *cut,
                     const char *end, int64_t *ret, struct str *reason)
{
    int64_t time = 0;
    const char *p = cut->time.s, *behind = p + cut->time.n;
    *ret = reader->now_ns;
    if (cut->time.n == 0)
        return 0;
    if (!influx_integer_read(p, behind, &time)) {
        str_addf(reason, "strconv.ParseInt: parsing \"%.*s\": ", (int)MIN(cut->time.n, 1u << 16),
                 p);
        str_add(reason, cut->time.n == 1 ? "invalid syntax" : "value out of range");
        return -EINVAL;
    }
    if (!influx_scale_time(reader, time, ret)) {
        str_addf(reason, "time outside range %lld - %lld", -(long long)INFLUX_TIME_MAX,
                 (long long)INFLUX_TIME_MAX);
        return -EINVAL;
    }
    while (behind < end && *behind == ' ')
        behind++;
    if (behind < end)
        str_add(reason, "point is invalid");
    return behind < end ? -EINVAL : 0;
}

static int compare_tags(const void *a, const void *b)
{
    const struct influx_text *x = &((const struct influx_tag *)a)->key;
    const struct influx_text *y = &((const struct influx_tag *)b)->key;
    int order = memcmp(x->s, y->s, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static bool text_eq(struct influx_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.s, word, text.n) == 0;
}

/* Tags of a head that was cut, without escapes, in order, each once. */
static int read_tags(struct influx_reader *reader, const struct influx_cut *cut, struct str *reason)
{
    const char *p = cut->measurement.s + cut->measurement.n, *end = cut->head.s + cut->head.n;
    reader->tags.len = 0;
    for (p = MIN(p + 1, end); p < end;) {
        struct influx_text value, key = influx_tag_next(&p, end, &value);
        struct influx_tag tag = {influx_unescape(key, ", =", &reader->scratch),
                                 influx_unescape(value, ", =", &reader->scratch)};
        vec_push(&reader->tags, tag);
    }
    if (reader->tags.len)
        qsort(reader->tags.at, reader->tags.len, sizeof(*reader->tags.at), compare_tags);
    for (size_t i = 1; i < reader->tags.len; i++)
        if (compare_tags(&reader->tags.at[i - 1], &reader->tags.at[i]) == 0) {
            str_add(reason, "duplicate tags");
            return -EINVAL;
        }
    return 0;
}

static int find_series(struct influx_reader *reader, const struct influx_cut *cut,
                       struct influx_series **ret, struct str *reason)
{
    struct influx_text name = influx_unescape(cut->measurement, ", =\"", &reader->scratch);
    vec_foreach (tag, &reader->tags)
        if (text_eq(tag->key, "time")) {
            str_add(reason, "invalid tag key: input tag \"time\" on measurement \"");
            str_add_n(reason, name.s, name.n);
            str_add(reason, "\" is invalid");
            return -EPERM;
        }
    *ret = influx_keys_find(reader->keys, cut->head.s, cut->head.n);
    if (!*ret)
        *ret = influx_keys_add(reader->keys, cut->head, name, reader->tags.at, reader->tags.len,
                               reason);
    return *ret ? 0 : -EPERM;
}

static bool is_string(struct influx_text value)
{
    return value.n >= 2 && value.s[0] == '"';
}

/* A value that is known to be one. */
static void read_value(struct influx_reader *reader, struct influx_text value,
                       struct influx_field *ret)
{
    if (!is_string(value)) {
        influx_value_read(value.s, value.s + value.n, ret);
        return;
    }
    struct influx_text inside = {value.s + 1, value.n - 2};
    ret->kind = INFLUX_STRING;
    ret->value = NAN;
    ret->text = influx_unescape(inside, "\"\\", &reader->scratch);
}

const char *const influx_kind_names[] = {"float", "integer", "boolean", "string"};

static void conflict_reason(const struct influx_series *series, const struct influx_field *field,
                            struct str *reason)
{
    str_add(reason, "field type conflict: input field \"");
    str_add_n(reason, field->name->field.s, field->name->field.n);
    str_add(reason, "\" on measurement \"");
    str_add_n(reason, series->measurement.s, series->measurement.n);
    str_addf(reason, "\" is type %s, already exists as type %s", influx_kind_names[field->kind],
             influx_kind_names[field->name->kind]);
}

/* Give the field its name, which may be a new one. */
static int name_field(struct influx_reader *reader, const struct influx_series *series,
                      struct influx_text name, struct influx_field *field, struct str *reason)
{
    field->name = influx_name_add(reader->keys, series, name, field->kind, reason);
    if (!field->name)
        return -EPERM;
    if (field->kind == field->name->kind || !influx_keys_fixed_kinds(reader->keys))
        return 0;
    conflict_reason(series, field, reason);
    return -EEXIST;
}

static int read_fields(struct influx_reader *reader, const struct influx_cut *cut,
                       const struct influx_series *series, struct str *reason)
{
    const char *p = cut->fields.s, *end = p + cut->fields.n;
    uint64_t line = influx_keys_line(reader->keys);
    struct influx_name *last = NULL;
    reader->fields.len = 0;
    while (p < end) {
        struct influx_field field = {0};
        struct influx_text value, name = influx_field_next(&p, end, &value);
        name = influx_unescape(name, ", =\"", &reader->scratch);
        if (text_eq(name, "time"))
            continue;
        read_value(reader, value, &field);
        int r = name_field(reader, series, name, &field, reason);
        if (r < 0)
            return r;
        influx_put_field(reader, &field, line);
        influx_name_follows(series, last, field.name);
        last = field.name;
    }
    if (reader->fields.len)
        return 0;
    str_add(reason, "invalid field name: input field \"time\" on measurement \"");
    str_add_n(reason, series->measurement.s, series->measurement.n);
    str_add(reason, "\" is invalid");
    return -EPERM;
}

/* What was cut must also be readable: a name without a NUL, and a value, since the quotes of
 * strings may be taken in pairs here that were none there. */
static int check_fields(const struct influx_cut *cut, struct str *reason)
{
    const char *p = cut->fields.s, *end = p + cut->fields.n;
    bool nul = memchr(cut->head.s, '\0', cut->head.n) != NULL;
    while (p < end) {
        struct influx_field ignored;
        struct influx_text value, key = influx_field_next(&p, end, &value);
        nul = nul || memchr(key.s, '\0', key.n);
        if (is_string(value) || influx_value_read(value.s, value.s + value.n, &ignored) == value.n)
            continue;
        influx_value_reason(value.s, value.s + value.n, reason);
        return -EINVAL;
    }
    if (nul)
        str_add(reason, "NUL in a name");
    return nul ? -EINVAL : 0;
}

int influx_strict_line(struct influx_reader *reader, const char *p, const char *end,
                       struct influx_line *ret, struct str *reason)
{
    struct influx_cut cut;
    size_t n = (size_t)(end - p);
    str_cut(&reader->scratch, 0);
    str_reserve(&reader->scratch, n); /* so that nothing in it moves */
    int r = influx_head_cut(p, n, &cut, reason);
    if (r == 0)
        r = read_tags(reader, &cut, reason);
    if (r == 0)
        r = influx_rest_cut(p, n, &cut, reason);
    if (r == 0)
        r = read_time(reader, &cut, end, &ret->time_ns, reason);
    if (r == 0)
        r = check_fields(&cut, reason);
    if (r == 0)
        r = find_series(reader, &cut, &ret->series, reason);
    return r < 0 ? r : read_fields(reader, &cut, ret->series, reason);
}
