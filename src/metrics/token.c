/* SPDX-License-Identifier: MIT */
/*
 * token.c — splits a line of output into words, numbers and marks.
 *
 * A number counts only with a clean end: white space, a closing mark, a known unit. Whatever else
 * goes on after its digits (2026-11-15, 10:22:33, 1.2.3, 0x1f, 7abcdef, 1,234) makes the whole run
 * junk.
 */
#include "metrics/token.h"

#include <math.h>
#include <strings.h>

static const char *const units[] = {
    "s",      "sec",      "secs",  "second",     "seconds", "ms",      "us",       "ns",
    "m",      "min",      "mins",  "minutes",    "h",       "hr",      "hrs",      "hours",
    "d",      "days",     "x",     "b",          "kb",      "mb",      "gb",       "tb",
    "kib",    "mib",      "gib",   "tib",        "it",      "its",     "samples",  "images",
    "tokens", "examples", "steps", "iterations", "batches", "epochs",  "w",        "j",
    "kwh",    "hz",       "db",    "px",         "bits",    "percent", "millions", "points",
};

/* it/s, ms/step: what is behind the last '/'. */
static const char *const rates[] = {"s",    "sec",   "second", "min", "h",      "step", "it",
                                    "iter", "epoch", "batch",  "img", "sample", "tok",  "token"};

bool unit_known(const char *s, size_t n)
{
    const char *slash = memrchr(s, '/', n);
    if (!slash)
        return text_in(s, n, units, ARRAY_LEN(units));
    return text_in(slash + 1, n - (size_t)(slash + 1 - s), rates, ARRAY_LEN(rates));
}

/* What a character may do, in one look. */
enum { STOP = 1 /* ends junk */, SKIP = 2 /* between tokens */, JOIN = 4 /* inside a word */ };
static const unsigned char does[256] = {
    [' '] = STOP | SKIP, ['\t'] = STOP | SKIP, ['"'] = STOP | SKIP, ['\''] = STOP | SKIP | JOIN,
    ['`'] = SKIP,        ['#'] = SKIP,         [','] = STOP,        [';'] = STOP,
    ['|'] = STOP,        ['('] = STOP,         [')'] = STOP,        ['['] = STOP,
    [']'] = STOP,        ['{'] = STOP,         ['}'] = STOP,        ['-'] = JOIN,
    ['.'] = JOIN,        ['/'] = JOIN,         ['@'] = JOIN,        ['+'] = JOIN,
    ['^'] = JOIN,
};

static bool can(const char *p, const char *end, int what)
{
    return p < end && does[(unsigned char)*p] & what;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(const char *s, const char *end)
{
    return s < end && *s >= '0' && *s <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    return p;
}

static bool starts_with(const char *p, const char *end, const char *text)
{
    if (p >= end || *p != *text)
        return false;
    size_t n = strlen(text);
    return (size_t)(end - p) >= n && memcmp(p, text, n) == 0;
}

/* Everything that clings to what was read. */
static const char *junk_end(const char *p, const char *end)
{
    while (p < end && !can(p, end, STOP))
        p++;
    return p;
}

/* "3.2s", "3ms/step", "93.1%": the end of the unit at p, p if there is none, NULL if what follows
 * makes it no number. */
static const char *unit_end(const char *p, const char *end)
{
    if (p < end && *p == '%')
        return p + 1;
    if (starts_with(p, end, "\xc2\xb5s")) /* µs */
        return p + 3;
    const char *q = p;
    while (q < end && (is_letter(*q) || (q > p && *q == '/')))
        q++;
    if (q == p)
        return p;
    return unit_known(p, (size_t)(q - p)) ? q : NULL;
}

/* May a number end at p? */
static bool clean_end(const char *p, const char *end)
{
    if (p >= end)
        return true;
    if (word_char(p, end))
        return false;
    const char *next = p + 1;
    switch (*p) {
    case ',':
    case ':':
        return !is_digit(next, end);
    case '.':
        return next >= end || can(next, end, STOP);
    case '-':
        return !word_char(next, end);
    case '/':
    case '\\':
    case '@':
    case '#':
    case '~':
    case '^':
        return false;
    default:
        return true;
    }
}

/* "0.93 ± 0.01", "0.93 +/- 0.01": the spread is not a second value. */
static const char *skip_spread(const char *p, const char *end)
{
    static const char *const marks[] = {"\xc2\xb1", "+/-", "+-"};
    const char *q = skip_spaces(p, end);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        struct number number;
        if (!starts_with(q, end, marks[i]))
            continue;
        q = skip_spaces(q + strlen(marks[i]), end);
        size_t n = number_parse(q, end, &number);
        return n ? q + n : p;
    }
    return p;
}

/* "45/100", "100/  500000", "1 / 5": the end of the second number, or NULL. */
static const char *ratio_end(const char *p, const char *end, double *ret_of)
{
    const char *q = skip_spaces(p, end);
    if (q >= end || *q != '/')
        return NULL;
    q = skip_spaces(q + 1, end);
    struct number of;
    size_t n = is_digit(q, end) ? number_parse(q, end, &of) : 0;
    if (!n || !of.whole || !clean_end(q + n, end))
        return NULL;
    *ret_of = of.value;
    return q + n;
}

static const char *read_ratio(const char *p, const char *end, struct token *ret)
{
    ret->kind = TOKEN_RATIO;
    const char *next = skip_spaces(p, end);
    bool keras = next + 1 < end && *next == '[' && strchr("=>.", next[1]);
    bool rich = starts_with(next, end, "\xe2\x94\x81"); /* ━ */
    if (keras || rich)
        ret->kind = TOKEN_BAR;
    return p;
}

static const char *read_number(const char *s, const char *end, struct token *ret)
{
    struct number number;
    size_t n = number_parse(s, end, &number);
    ret->kind = TOKEN_JUNK;
    if (!n)
        return junk_end(s, end);
    const char *p = s + n;
    ret->value = number.value;
    ret->whole = number.whole;
    const char *ratio = number.whole ? ratio_end(p, end, &ret->of) : NULL;
    if (ratio)
        return read_ratio(ratio, end, ret);
    const char *after = unit_end(p, end);
    if (!after || !clean_end(after, end))
        return junk_end(s, end);
    ret->kind = after < end && *after == '|' && after[-1] == '%' ? TOKEN_BAR : TOKEN_NUMBER;
    ret->whole = number.whole && after == p;
    if (after < end && *after == '.')
        after++;
    return skip_spread(after, end);
}

/* The names of metrics hold more than letters: val/loss, top-1, acc@5, valid_0's. */
static const char *read_word(const char *p, const char *end)
{
    for (;;) {
        size_t n = word_char(p, end);
        if (!n && can(p, end, JOIN))
            n = word_char(p + 1, end) ? 1 : 0;
        if (!n)
            return p;
        p += n;
    }
}

static bool starts_number(const char *p, const char *end)
{
    if (is_digit(p, end))
        return true;
    if (*p == '-' || *p == '+')
        p++;
    if (p < end && *p == '.')
        p++;
    return is_digit(p, end);
}

/* --lr=0.1, -lr, /a/path, ./a/path, ~/a/path, @user, \word: nothing in there is a metric. */
static bool starts_junk(const struct scan *scan)
{
    const char *p = scan->p, *next = p + 1;
    if (next >= scan->end)
        return false;
    switch (*p) {
    case '-':
        return *next == '-' ? next + 1 < scan->end && word_char(next + 1, scan->end)
                            : word_char(next, scan->end);
    case '/':
    case '@':
    case '\\':
        return !is_space(*next);
    case '.':
    case '~':
        return *next == '/' || *next == '.';
    default:
        return false;
    }
}

static const char *read_mark(const struct scan *scan, struct token *ret)
{
    const char *p = scan->p;
    ret->kind = TOKEN_MARK;
    if ((unsigned char)*p < 0x80)
        return p + 1;
    if (starts_with(p, scan->end, "\xe2\x94\x81") || starts_with(p, scan->end, "\xe2\x96"))
        ret->kind = TOKEN_BAR; /* ━ and the blocks █ ▌ … */
    while (p < scan->end && (unsigned char)*p >= 0x80 && (p == scan->p || !word_char(p, scan->end)))
        p++;
    return p;
}

void token_next(struct scan *scan, struct token *ret)
{
    *ret = (struct token){.kind = TOKEN_END, .of = NAN};
    while (can(scan->p, scan->end, SKIP))
        scan->p++;
    ret->s = scan->p;
    if (scan->p >= scan->end)
        return;
    double special;
    bool sign = *scan->p == '-' || *scan->p == '+';
    size_t n = sign ? number_parse_special(scan->p, scan->end, &special) : 0;
    if (n) {
        ret->kind = TOKEN_NUMBER;
        ret->value = special;
        scan->p += n;
    } else if (starts_number(scan->p, scan->end)) {
        scan->p = read_number(scan->p, scan->end, ret);
    } else if (starts_junk(scan)) {
        ret->kind = TOKEN_JUNK;
        scan->p = junk_end(scan->p, scan->end);
    } else if (word_char(scan->p, scan->end)) {
        ret->kind = TOKEN_WORD;
        scan->p = read_word(scan->p, scan->end);
    } else {
        scan->p = read_mark(scan, ret);
    }
    ret->n = (size_t)(scan->p - ret->s);
}

/* tensor(0.41, grad_fn=…), np.float64(0.41), array(0.41, dtype=float32): up to the ')'. */
static size_t unwrap(const char *s, const char *end, double *ret)
{
    static const char *const wrappers[] = {"tensor(",     "array(",        "np.float64(",
                                           "np.float32(", "np.float16(",   "np.int64(",
                                           "np.int32(",   "numpy.float64("};
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
        if (!starts_with(s, end, wrappers[i]))
            continue;
        const char *p = skip_spaces(s + strlen(wrappers[i]), end);
        struct number number = {0};
        size_t n = number_parse(p, end, &number);
        if (!n)
            n = number_parse_special(p, end, &number.value);
        const char *close = n ? memchr(p, ')', (size_t)(end - p)) : NULL;
        if (!close)
            return 0;
        *ret = number.value;
        return (size_t)(close + 1 - s);
    }
    return 0;
}

size_t value_parse(const char *s, const char *end, double *ret)
{
    struct number number;
    size_t n = number_parse(s, end, &number);
    if (n)
        *ret = number.value;
    if (!n)
        n = number_parse_special(s, end, ret);
    return n ? n : unwrap(s, end, ret);
}
