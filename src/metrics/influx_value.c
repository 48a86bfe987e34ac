/* SPDX-License-Identifier: MIT */
/*
 * influx_value.c — what stands behind '=' in line protocol without quotes: 1.5, -3i, true, nan.
 *
 * Reading is quick and says yes or no; the reason for a no is found afterwards, in the order in
 * which InfluxDB 1.6 looks: so "1e" is an invalid float and "1x" an invalid number.
 */
#include "base/decimal.h"
#include "metrics/influx_parts.h"
#include "metrics/line.h"

#include <math.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *token_end(const char *p, const char *end)
{
    while (p < end && *p != ',' && *p != ' ')
        p++;
    return p;
}

bool influx_integer_read(const char *p, const char *end, int64_t *ret)
{
    bool minus = p < end && *p == '-';
    int64_t x = 0;
    p += minus;
    if (p == end)
        return false;
    for (; p < end; p++) {
        int digit = *p - '0';
        if (!is_digit(*p) || __builtin_mul_overflow(x, 10, &x) ||
            __builtin_sub_overflow(x, digit, &x)) /* below 0 there is room for one more */
            return false;
    }
    if (!minus && x == INT64_MIN)
        return false;
    *ret = minus ? x : -x;
    return true;
}

/* The number is n bytes long if it is a float, and ends with an 'i' if it is an integer. */
static size_t finish_number(const char *p, const char *end, size_t n, struct influx_field *ret)
{
    if (p + n < end && p[n] == 'i') {
        if (!influx_integer_read(p, p + n, &ret->integer))
            return 0;
        ret->kind = INFLUX_INTEGER;
        ret->value = (double)ret->integer;
        return n + 1;
    }
    ret->kind = INFLUX_FLOAT;
    return isinf(ret->value) ? 0 : n;
}

static size_t read_boolean(const char *p, const char *end, struct influx_field *ret)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"t", 1}, {"T", 1}, {"true", 1},  {"True", 1},  {"TRUE", 1},
                 {"f", 0}, {"F", 0}, {"false", 0}, {"False", 0}, {"FALSE", 0}};
    size_t n = (size_t)(token_end(p, end) - p);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i].word) == n && memcmp(p, words[i].word, n) == 0) {
            ret->kind = INFLUX_BOOLEAN;
            ret->value = words[i].value;
            return n;
        }
    return 0;
}

size_t influx_value_read(const char *p, const char *end, struct influx_field *ret)
{
    size_t n = 0;
    if (p == end)
        return 0;
    if (*p != '+' && decimal_parse(p, (size_t)(end - p), &ret->value, &n) == 0) {
        n = finish_number(p, end, n, ret);
    } else {
        ret->kind = INFLUX_FLOAT;
        n = number_parse_special(p, end, &ret->value);
        if (!n)
            n = read_boolean(p, end, ret);
    }
    return p + n == end || p[n] == ',' || p[n] == ' ' ? n : 0;
}

/* ---- why not ---- */

/* What the characters of a number show before its value is looked at. */
struct shape {
    bool integer, point, exponent;
    bool bad; /* something that is part of no number, or 'u', which 1.6 does not take */
};

static struct shape number_shape(const char *first, const char *end)
{
    struct shape shape = {0};
    for (const char *p = first + (*first == '-'); p < end && !shape.bad; p++) {
        bool behind_e = p > first && (p[-1] == 'e' || p[-1] == 'E');
        if (p > first && *p == 'i' && !shape.integer)
            shape.integer = true;
        else if (p > first && (*p == 'e' || *p == 'E'))
            shape.exponent = true;
        else if (*p == '.' && !shape.point)
            shape.point = true;
        else
            shape.bad = !is_digit(*p) && !((*p == '+' || *p == '-') && behind_e);
    }
    return shape;
}

static void number_reason(const char *p, const char *end, struct str *reason)
{
    struct shape shape = number_shape(p, end);
    int64_t digits = end - p - shape.integer - shape.point - (*p == '-');
    bool odd = shape.integer && (shape.point || shape.exponent || end[-1] != 'i');
    if (shape.bad || odd || digits == 0)
        str_add(reason, "invalid number");
    else if (shape.integer)
        str_addf(reason,
                 "unable to parse integer %.*s: strconv.ParseInt: parsing \"%.*s\": value out of "
                 "range",
                 (int)(end - p - 1), p, (int)(end - p - 1), p);
    else
        str_add(reason, "invalid float");
}

void influx_value_reason(const char *p, const char *end, struct str *reason)
{
    end = token_end(p, end);
    if (p < end && (is_digit(*p) || *p == '.' || *p == '-' || *p == 'n' || *p == 'N'))
        number_reason(p, end, reason);
    else
        str_add(reason, "invalid boolean");
}
