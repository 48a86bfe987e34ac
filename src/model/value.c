/* SPDX-License-Identifier: MIT */
/*
 * value.c — scalars as the user wrote them.
 *
 * The kind is guessed by the patterns of YAML 1.2's core schema, so `yes` and `1_000` are texts and
 * `0x1f` is a number. The text is kept: a program receives `1e-3` when the user wrote `1e-3`, and
 * JSON repeats a number as written wherever that is valid JSON.
 */
#include "model/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#define EXACT_INT 9007199254740992.0 /* 2^53: past this, doubles no longer tell integers apart */

void value_release(struct value *value)
{
    free(value->text);
    *value = (struct value){0};
}

static bool one_of(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(text, words[i]))
            return true;
    return false;
}
#define ONE_OF(text, ...)                                                                          \
    one_of(text, (const char *const[]){__VA_ARGS__},                                               \
           ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

static const char *skip_sign(const char *p)
{
    return *p == '-' || *p == '+' ? p + 1 : p;
}

/* Digits of `base` up to the end, at least one. */
static bool all_digits(const char *p, int base)
{
    const char *start = p;
    while (base == 16 ? isxdigit((unsigned char)*p) : *p >= '0' && *p < '0' + base)
        p++;
    return p > start && *p == '\0';
}

static bool guess_int(const char *text, double *ret)
{
    int base = str_starts(text, "0x") ? 16 : str_starts(text, "0o") ? 8 : 10;
    const char *digits = base == 10 ? skip_sign(text) : text + 2;

    if (!all_digits(digits, base))
        return false;
    *ret = 0;
    if (base == 10) {
        *ret = strtod(text, NULL);
        return true;
    }
    for (const char *p = digits; *p; p++) {
        int c = tolower((unsigned char)*p);
        *ret = *ret * base + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* [-+]? ( \.[0-9]+ | [0-9]+(\.[0-9]*)? ) ([eE][-+]?[0-9]+)? */
static bool is_float(const char *text)
{
    const char *start = skip_sign(text), *p = skip_digits(start);
    bool digits = p > start;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction);
        digits = digits || p > fraction;
    }
    if (!digits)
        return false;
    if (*p != 'e' && *p != 'E')
        return *p == '\0';
    return all_digits(skip_sign(p + 1), 10);
}

static bool guess_float(const char *text, double *ret)
{
    if (ONE_OF(text, ".nan", ".NaN", ".NAN")) {
        *ret = NAN;
        return true;
    }
    if (ONE_OF(skip_sign(text), ".inf", ".Inf", ".INF")) {
        *ret = text[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (!is_float(text))
        return false;
    *ret = strtod(text, NULL);
    return true;
}

struct value value_guess(const char *text, bool quoted)
{
    struct value value = {.kind = VALUE_TEXT, .text = xstrdup(text)};

    if (quoted)
        return value;
    if (ONE_OF(text, "", "~", "null", "Null", "NULL"))
        value.kind = VALUE_NULL;
    else if (ONE_OF(text, "true", "True", "TRUE", "false", "False", "FALSE")) {
        value.kind = VALUE_BOOL;
        value.number = tolower((unsigned char)text[0]) == 't';
    } else if (guess_int(text, &value.number))
        value.kind = VALUE_INT;
    else if (guess_float(text, &value.number))
        value.kind = VALUE_FLOAT;
    return value;
}

struct value value_int(int64_t x)
{
    return (struct value){VALUE_INT, (double)x, xasprintf("%lld", (long long)x)};
}

struct value value_float(double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    return (struct value){VALUE_FLOAT, x, xstrdup(double_text(buf, x))};
}

struct value value_bool(bool x)
{
    return (struct value){VALUE_BOOL, x, xstrdup(x ? "true" : "false")};
}

struct value value_text(const char *text)
{
    return (struct value){VALUE_TEXT, 0, xstrdup(text)};
}

struct value value_copy(const struct value *value)
{
    return (struct value){value->kind, value->number, value->text ? xstrdup(value->text) : NULL};
}

static bool is_number(const struct value *value)
{
    return value->kind == VALUE_INT || value->kind == VALUE_FLOAT;
}

static bool number_equal(const struct value *a, const struct value *b)
{
    if (isnan(a->number) || isnan(b->number))
        return isnan(a->number) && isnan(b->number);
    if (a->number != b->number)
        return false;
    bool huge = a->kind == VALUE_INT && b->kind == VALUE_INT && fabs(a->number) >= EXACT_INT;
    return !huge || str_eq(a->text, b->text);
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (is_number(a) && is_number(b))
        return number_equal(a, b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_TEXT)
        return str_eq(a->text, b->text);
    return a->number == b->number;
}

/* -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][-+]?[0-9]+)? */
static bool is_json_number(const char *text)
{
    const char *p = text[0] == '-' ? text + 1 : text, *end = skip_digits(p);
    if (end == p || (*p == '0' && end > p + 1))
        return false;
    if (*end == '.') {
        p = end + 1;
        end = skip_digits(p);
        if (end == p)
            return false;
    }
    if (*end != 'e' && *end != 'E')
        return *end == '\0';
    return all_digits(skip_sign(end + 1), 10);
}

/* As written where JSON and its readers allow it: Jansson refuses what does not fit. */
static void number_json(struct json_out *out, const struct value *value)
{
    bool fits =
        isfinite(value->number) && (value->kind == VALUE_FLOAT || fabs(value->number) < 0x1p63);
    if (fits && value->text && is_json_number(value->text))
        json_raw(out, value->text);
    else if (value->kind == VALUE_INT && fabs(value->number) < 0x1p63)
        json_int(out, (int64_t)value->number);
    else
        json_double(out, value->number);
}

void value_json(struct json_out *out, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        json_null_out(out);
        break;
    case VALUE_BOOL:
        json_bool(out, value->number != 0);
        break;
    case VALUE_INT:
    case VALUE_FLOAT:
        number_json(out, value);
        break;
    case VALUE_TEXT:
        json_text(out, value->text);
        break;
    }
}
