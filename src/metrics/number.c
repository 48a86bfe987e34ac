/* SPDX-License-Identifier: MIT */
/*
 * number.c — decimal numbers, read from text that does not end with a NUL.
 *
 * Nearly all numbers in training logs have at most 15 digits and a small exponent. For those one
 * multiplication or division of exact doubles is correctly rounded (Clinger 1990), many times
 * faster than strtod, which does the rest.
 */
#include "metrics/line.h"

#include <math.h>
#include <strings.h>

#define NUMBER_TEXT_MAX 128 /* longer ones are not numbers that somebody wants to see */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(const char *s, const char *end)
{
    return s < end && *s >= '0' && *s <= '9';
}

/* Mantissa and exponent while they are read. */
struct decimal {
    uint64_t mantissa;
    int digits;   /* significant ones */
    int exponent; /* of ten */
};

static const char *read_digits(const char *s, const char *end, struct decimal *decimal, int shift)
{
    for (; is_digit(s, end); s++) {
        if (decimal->digits || *s != '0')
            decimal->digits++;
        if (decimal->digits <= 18)
            decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(*s - '0');
        decimal->exponent -= shift;
    }
    return s;
}

static const char *read_exponent(const char *s, const char *end, struct decimal *decimal)
{
    const char *p = s + 1;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!is_digit(p, end))
        return s;
    int value = 0;
    for (; is_digit(p, end); p++)
        value = MIN(value * 10 + (*p - '0'), 100000);
    decimal->exponent += minus ? -value : value;
    return p;
}

static bool starts_exponent(const char *s, const char *end)
{
    if (s >= end || (*s != 'e' && *s != 'E'))
        return false;
    struct decimal ignored = {0};
    return read_exponent(s, end, &ignored) != s;
}

static double slow_value(const char *s, size_t n)
{
    char text[NUMBER_TEXT_MAX + 1];
    memcpy(text, s, n);
    text[n] = '\0';
    return strtod(text, NULL);
}

static double decimal_value(const struct decimal *decimal, const char *s, size_t n)
{
    if (decimal->digits > 15 || decimal->exponent < -22 || decimal->exponent > 22)
        return slow_value(s, n);
    double x = (double)decimal->mantissa;
    x = decimal->exponent < 0 ? x / powers[-decimal->exponent] : x * powers[decimal->exponent];
    return *s == '-' ? -x : x;
}

size_t number_parse(const char *s, const char *end, struct number *ret)
{
    struct decimal decimal = {0};
    const char *p = s;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *first = p;
    p = read_digits(p, end, &decimal, 0);
    bool digits = p > first;
    ret->whole = digits;
    if (p < end && *p == '.' && (is_digit(p + 1, end) || (digits && starts_exponent(p + 1, end)))) {
        p = read_digits(p + 1, end, &decimal, 1);
        digits = true;
        ret->whole = false;
    }
    if (!digits)
        return 0;
    if (starts_exponent(p, end)) {
        p = read_exponent(p, end, &decimal);
        ret->whole = false;
    }
    size_t n = (size_t)(p - s);
    if (n > NUMBER_TEXT_MAX)
        return 0;
    ret->value = decimal_value(&decimal, s, n);
    return n;
}

size_t number_parse_special(const char *s, const char *end, double *ret)
{
    static const struct {
        const char *word;
        double value;
    } specials[] = {{"nan", NAN}, {"infinity", INFINITY}, {"inf", INFINITY}};
    const char *p = s;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p >= end || ((*p | 0x20) != 'n' && (*p | 0x20) != 'i'))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
        size_t n = strlen(specials[i].word);
        if ((size_t)(end - p) < n || strncasecmp(p, specials[i].word, n) != 0)
            continue;
        if (word_char(p + n, end))
            continue;
        *ret = *s == '-' ? -specials[i].value : specials[i].value;
        return (size_t)(p + n - s);
    }
    return 0;
}

/* Letters of other scripts belong to names; U+0080…U+00BF, U+2000…U+2BFF (punctuation, arrows, box
 * drawing, blocks), U+F000 and above (fullwidth forms, emoji) do not. */
static size_t wide_letter(const unsigned char *s, size_t left)
{
    if (left >= 2 && s[0] >= 0xc3 && s[0] <= 0xdf && (s[1] & 0xc0) == 0x80)
        return 2;
    if (left < 3 || s[0] < 0xe0 || s[0] > 0xee || (s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80)
        return 0;
    bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool symbol = s[0] == 0xe2 && s[1] < 0xb0;
    return overlong || surrogate || symbol || s[0] == 0xee ? 0 : 3;
}

size_t word_char(const char *s, const char *end)
{
    if (s >= end)
        return 0;
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    return wide_letter((const unsigned char *)s, (size_t)(end - s));
}

bool text_is(const char *s, size_t n, const char *word)
{
    if (n == 0 || ((s[0] ^ word[0]) & ~0x20)) /* most differ here already */
        return false;
    return strlen(word) == n && strncasecmp(s, word, n) == 0;
}

bool text_in(const char *s, size_t n, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_is(s, n, words[i]))
            return true;
    return false;
}
