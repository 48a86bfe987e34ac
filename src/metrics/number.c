/* SPDX-License-Identifier: MIT */
/*
 * number.c — decimal numbers and words, read from text that does not end with a NUL. What is part
 * of a number is decided here ("3." at the end of a sentence is 3), its value in base/decimal.c.
 */
#include "base/decimal.h"
#include "metrics/line.h"

#include <math.h>
#include <strings.h>

#define NUMBER_TEXT_MAX 128 /* longer ones are not numbers that somebody wants to see */

static bool is_digit(const char *s, const char *end)
{
    return s < end && *s >= '0' && *s <= '9';
}

static const char *skip_digits(const char *s, const char *end)
{
    while (is_digit(s, end))
        s++;
    return s;
}

/* Behind the exponent at s; s itself if there is none. */
static const char *skip_exponent(const char *s, const char *end)
{
    if (s >= end || (*s != 'e' && *s != 'E'))
        return s;
    const char *p = s + 1;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    return is_digit(p, end) ? skip_digits(p, end) : s;
}

static bool starts_exponent(const char *s, const char *end)
{
    return skip_exponent(s, end) != s;
}

static int64_t integer_of(const char *s, size_t n)
{
    bool minus = n && *s == '-';
    int64_t x = 0;

    for (size_t i = minus || *s == '+'; i < n; i++)
        if (__builtin_mul_overflow(x, 10, &x) ||
            __builtin_sub_overflow(x, s[i] - '0', &x)) /* downwards: there is one more */
            return STEP_NONE;
    return minus ? x : x == INT64_MIN ? STEP_NONE : -x;
}

size_t number_parse(const char *s, const char *end, struct number *ret)
{
    const char *p = s;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *first = p;
    p = skip_digits(p, end);
    bool digits = p > first;
    ret->whole = digits;
    if (p < end && *p == '.' && (is_digit(p + 1, end) || (digits && starts_exponent(p + 1, end)))) {
        p = skip_digits(p + 1, end);
        digits = true;
        ret->whole = false;
    }
    if (!digits)
        return 0;
    if (starts_exponent(p, end)) {
        p = skip_exponent(p, end);
        ret->whole = false;
    }
    size_t n = (size_t)(p - s), used;
    if (n > NUMBER_TEXT_MAX || decimal_parse(s, n, &ret->value, &used) < 0)
        return 0;
    ret->integer = ret->whole ? integer_of(s, n) : STEP_NONE;
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
