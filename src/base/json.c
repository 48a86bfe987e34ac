/* SPDX-License-Identifier: MIT */
/*
 * json.c — the JSON writer, and forgiving readers over Jansson.
 */
#include "base/json.h"
#include "base/json_quick.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "base/rest.h"

#include <errno.h>
#include <math.h>

static void before_value(struct json_out *out)
{
    if (out->comma)
        str_add_char(out->to, ',');
    out->comma = true;
}

static void open_level(struct json_out *out, char c)
{
    before_value(out);
    str_add_char(out->to, c);
    out->comma = false;
}

static void close_level(struct json_out *out, char c)
{
    str_add_char(out->to, c);
    out->comma = true;
}

void json_begin_object(struct json_out *out)
{
    open_level(out, '{');
}

void json_end_object(struct json_out *out)
{
    close_level(out, '}');
}

void json_begin_array(struct json_out *out)
{
    open_level(out, '[');
}

void json_end_array(struct json_out *out)
{
    close_level(out, ']');
}

/* Bytes of the valid UTF-8 character at p, 0 if it is broken. */
static size_t utf8_valid(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char lo, hi, second_lo, second_hi, len;
    } rows[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (p[0] < rows[i].lo || p[0] > rows[i].hi)
            continue;
        if (n < rows[i].len || p[1] < rows[i].second_lo || p[1] > rows[i].second_hi)
            return 0;
        for (size_t k = 2; k < rows[i].len; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return rows[i].len;
    }
    return 0;
}

static void add_escaped(struct str *to, unsigned char c)
{
    switch (c) {
    case '"':
        str_add(to, "\\\"");
        break;
    case '\\':
        str_add(to, "\\\\");
        break;
    case '\n':
        str_add(to, "\\n");
        break;
    case '\t':
        str_add(to, "\\t");
        break;
    default:
        str_addf(to, "\\u%04x", c);
    }
}

/* How many characters from here on stand for themselves: most texts are nothing else. */
static size_t count_plain(const unsigned char *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

static void add_quoted(struct str *to, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    str_add_char(to, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = count_plain(p + i, n - i);
        str_add_n(to, text + i, plain);
        i += plain;
        if (i == n)
            break;
        size_t len = utf8_valid(p + i, n - i);
        if (len == 0)
            str_add(to, "\xef\xbf\xbd");
        else if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\' || p[i] == 0x7f)
            add_escaped(to, p[i]);
        else
            str_add_n(to, text + i, len);
        i += len ? len : 1;
    }
    str_add_char(to, '"');
}

void json_key(struct json_out *out, const char *key)
{
    before_value(out);
    add_quoted(out->to, key, strlen(key));
    str_add_char(out->to, ':');
    out->comma = false;
}

void json_text_n(struct json_out *out, const char *text, size_t n)
{
    before_value(out);
    add_quoted(out->to, text, n);
}

void json_text(struct json_out *out, const char *text)
{
    if (text)
        json_text_n(out, text, strlen(text));
    else
        json_null_out(out);
}

void json_raw(struct json_out *out, const char *json)
{
    before_value(out);
    str_add(out->to, json);
}

void json_double(struct json_out *out, double x)
{
    char text[DOUBLE_TEXT_SIZE];

    if (!isfinite(x)) {
        json_text(out, double_text(text, x));
        return;
    }
    size_t n = decimal_text(text, x);
    before_value(out);
    str_add_n(out->to, text, n);
}

void json_int(struct json_out *out, int64_t x)
{
    char text[DOUBLE_TEXT_SIZE];
    size_t n = decimal_integer(text, x);

    before_value(out);
    str_add_n(out->to, text, n);
}

void json_bool(struct json_out *out, bool x)
{
    json_raw(out, x ? "true" : "false");
}

void json_null_out(struct json_out *out)
{
    json_raw(out, "null");
}

void json_time(struct json_out *out, int64_t wall_us)
{
    if (!wall_us) {
        json_null_out(out);
        return;
    }
    before_value(out);
    str_add_char(out->to, '"');
    str_add_time(out->to, wall_us);
    str_add_char(out->to, '"');
}

#define DEFINE_PUT(what, type)                                                                     \
    void json_put_##what(struct json_out *out, const char *key, type x)                            \
    {                                                                                              \
        json_key(out, key);                                                                        \
        json_##what(out, x);                                                                       \
    }
DEFINE_PUT(text, const char *)
DEFINE_PUT(double, double)
DEFINE_PUT(int, int64_t)
DEFINE_PUT(bool, bool)
DEFINE_PUT(time, int64_t)
DEFINE_PUT(raw, const char *)

void json_put_exact(struct json_out *out, const char *key, double x, uint16_t rest)
{
    json_key(out, key);
    if (rest)
        json_int(out, rest_whole(x, rest));
    else
        json_double(out, x);
}

void json_put_known(struct json_out *out, const char *key, double x)
{
    json_key(out, key);
    if (isnan(x))
        json_null_out(out);
    else
        json_double(out, x);
}

int json_parse(const char *text, size_t n, json_t **ret, struct err *err)
{
    json_error_t error;

    *ret = json_quick(text, n);
    if (*ret)
        return 0;
    *ret = json_loadb(text, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (!*ret)
        return err_set(err, EINVAL, "line %d, column %d: not valid JSON: %s", error.line,
                       error.column, error.text);
    return 0;
}

const char *json_get_text(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

double json_get_double(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);

    if (json_is_number(value))
        return json_number_value(value);
    if (text && str_eq(text, "nan"))
        return NAN;
    if (text && str_eq(text, "inf"))
        return INFINITY;
    if (text && str_eq(text, "-inf"))
        return -INFINITY;
    return otherwise;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}

bool json_get_bool(const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

void json_value(struct json_out *out, const json_t *value)
{
    const char *key;
    json_t *child;
    size_t i;

    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        json_begin_object(out);
        json_object_foreach((json_t *)value, key, child)
        {
            json_key(out, key);
            json_value(out, child);
        }
        json_end_object(out);
        break;
    case JSON_ARRAY:
        json_begin_array(out);
        json_array_foreach((json_t *)value, i, child) json_value(out, child);
        json_end_array(out);
        break;
    case JSON_STRING:
        json_text_n(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        json_int(out, (int64_t)json_integer_value(value));
        break;
    case JSON_REAL:
        json_double(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        json_bool(out, json_is_true(value));
        break;
    default:
        json_null_out(out);
    }
}
