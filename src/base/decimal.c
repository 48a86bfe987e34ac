/* SPDX-License-Identifier: MIT */
/*
 * decimal.c — decimal text to the nearest double, ties to even.
 *
 * The text is w·10^q with w the first 19 significant digits. Three ways, the first that can decide:
 * 1. w below 2^53 and |q| ≤ 22: one operation of exact doubles is rounded right (Clinger 1990).
 * 2. w times the 128 leading bits of 5^q (Lemire 2021, after Eisel): the product's leading 54 bits
 *    are right for every w and q, so its rounding is (Mushtak and Lemire 2022).
 * 3. More than 19 digits, and w and w+1 round differently: strtod, of at most 800 digits and a last
 *    one that says whether more follow. The text for it has no point, so no locale can change it.
 */
#include "base/decimal.h"
#include "base/decimal_powers.h"

#include <errno.h>
#include <math.h>

#define KEPT_DIGITS  19
#define EXACT_DIGITS 800         /* halfway between two doubles has at most 767 */
#define EXPONENT_CAP (1ll << 40) /* no text is long enough to bring one beyond it back */
#define FRACTION     52
#define BIAS         1023
#define INFINITE     0x7ff
#define LARGEST      308 /* no double has a larger power of ten */

struct number {
    uint64_t w;
    int64_t q;
    bool negative, cut;      /* cut: digits that are not 0 were left out of w */
    const char *first, *end; /* digits with at most one point, from the first that is not 0 */
};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline uint64_t load_u64(const char *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof(x));
    return x;
}

/* How many of the eight bytes (first in the lowest) are digits before the first that is not: those
 * whose high half is 3, even with 6 added. A carry only reaches bytes behind the one that made it.
 */
static inline unsigned count_eight(uint64_t x)
{
    uint64_t other = (x ^ 0x3030303030303030) & 0xf0f0f0f0f0f0f0f0;
    other |= ((x + 0x0606060606060606) ^ 0x3030303030303030) & 0xf0f0f0f0f0f0f0f0;
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* The first n digits (1 … 8) as a number: pairs, then fours, then eight. */
static inline uint64_t join_eight(uint64_t x, unsigned n)
{
    x = (x ^ 0x3030303030303030) << (64 - 8 * n); /* zeros before them */
    x = x * 10 + (x >> 8);
    return ((x & 0x000000ff000000ff) * 0x000f424000000064 +
            ((x >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
           32;
}

/* Append digits to *w; it may overflow, which the caller sees by their count. */
static inline const char *read_digits(const char *p, const char *end, uint64_t *w)
{
    static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (end - p >= 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        uint64_t x = load_u64(p);
        unsigned n = count_eight(x);
        if (n)
            *w = *w * tens[n] + join_eight(x, n);
        p += n;
        if (n < 8)
            return p;
    }
    for (; p < end && is_digit(*p); p++)
        *w = *w * 10 + (uint64_t)(*p - '0');
    return p;
}

/* An exponent at p, or p itself if there is none. */
static const char *read_exponent(const char *p, const char *end, int64_t *ret)
{
    const char *s = p + 1;
    bool minus = s < end && *s == '-';
    if (s < end && (*s == '-' || *s == '+'))
        s++;
    if (s == end || !is_digit(*s))
        return p;
    int64_t value = 0;
    for (; s < end && is_digit(*s); s++)
        value = MIN(value * 10 + (*s - '0'), EXPONENT_CAP);
    *ret = minus ? -value : value;
    return s;
}

/* The digits are more than fit: keep 19 and note whether the others matter. */
static void keep_digits(struct number *number, int64_t exponent, const char *point)
{
    const char *p = number->first;
    int kept = 0;
    number->w = 0;
    for (; p < number->end && kept < KEPT_DIGITS; p++)
        if (*p != '.') {
            number->w = number->w * 10 + (uint64_t)(*p - '0');
            kept++;
        }
    const char *units = point ? point : number->end; /* behind the digit of the ones */
    number->q = exponent + (p <= units ? units - p : units - p + 1);
    for (; p < number->end && !number->cut; p++)
        number->cut = *p != '.' && *p != '0';
}

/* The text before the exponent is [first, end), its point NULL if it has none. */
static void count_digits(struct number *number, int64_t exponent, const char *point)
{
    const char *p = number->first;
    while (p < number->end && (*p == '0' || *p == '.'))
        p++;
    number->first = p;
    int64_t digits = number->end - p - (point && point >= p);
    number->q = exponent - (point ? number->end - point - 1 : 0);
    if (digits > KEPT_DIGITS)
        keep_digits(number, exponent, point);
}

/* Returns the bytes read, 0: no number. */
static inline size_t read_number(const char *text, size_t n, struct number *ret)
{
    const char *p = text, *end = text + n, *point = NULL;
    int64_t exponent = 0;
    *ret = (struct number){.negative = n && *p == '-'};
    if (n && (*p == '-' || *p == '+'))
        p++;
    ret->first = p;
    p = read_digits(p, end, &ret->w);
    if (p < end && *p == '.') {
        point = p;
        p = read_digits(p + 1, end, &ret->w);
    }
    ret->end = p;
    size_t digits = (size_t)(p - ret->first) - (point != NULL);
    if (digits == 0)
        return 0;
    if (p < end && (*p | 0x20) == 'e')
        p = read_exponent(p, end, &exponent);
    ret->q = exponent - (point ? ret->end - point - 1 : 0);
    if (digits > KEPT_DIGITS)
        count_digits(ret, exponent, point);
    return (size_t)(p - text);
}

static inline double join(uint64_t fraction, uint64_t exponent)
{
    uint64_t bits = exponent << FRACTION | fraction;
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The leading 128 bits of a·5^q; the lower half only where it can carry into what matters. */
static inline struct decimal_power multiply(uint64_t a, int64_t q)
{
    const struct decimal_power *five = &decimal_powers[q - DECIMAL_POWER_MIN];
    unsigned __int128 product = (unsigned __int128)a * five->high;
    if (((product >> 64) & 0x1ff) == 0x1ff)
        product += ((unsigned __int128)a * five->low) >> 64;
    return (struct decimal_power){(uint64_t)(product >> 64), (uint64_t)product};
}

/* floor(q·log2(10)) by 217706/2^16, near enough for every q here; no negative number is shifted. */
static inline int64_t log2_of_ten(int64_t q)
{
    return ((217706 * (q + 65536)) >> 16) - 217706;
}

/* m has 54 bits, the last one below the last that stays; the value is subnormal by `shift` bits. */
static double round_subnormal(uint64_t m, int64_t shift)
{
    if (shift >= 64)
        return 0;
    m >>= shift;
    m = (m + (m & 1)) >> 1;
    return join(m,
                0); /* rounded up to the smallest normal one, the bit carries into the exponent */
}

/* The double nearest to w·10^q. */
static double scale(uint64_t w, int64_t q)
{
    if (w == 0 || q < DECIMAL_POWER_MIN)
        return 0;
    if (q > LARGEST)
        return INFINITY;
    int zeros = __builtin_clzll(w);
    struct decimal_power product = multiply(w << zeros, q);
    int top = (int)(product.high >> 63);
    int shift = top + 64 - FRACTION - 3;
    uint64_t m = product.high >> shift;
    int64_t exponent = log2_of_ten(q) + 63 + top - zeros + BIAS;
    if (exponent <= 0)
        return round_subnormal(m, 1 - exponent);
    /* A tie can only be where 5^q or its inverse fits beside w; then to the even one. */
    if (product.low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << shift == product.high)
        m &= ~(uint64_t)1;
    m = (m + (m & 1)) >> 1;
    if (m >> (FRACTION + 1)) {
        m >>= 1;
        exponent++;
    }
    return exponent >= INFINITE ? INFINITY : join(m & ~(1ull << FRACTION), (uint64_t)exponent);
}

/* strtod of "DIGITSeEXPONENT". */
static double ask_strtod(const struct number *number)
{
    char text[EXACT_DIGITS + 32];
    size_t n = 0;
    bool more = false;
    for (const char *p = number->first; p < number->end && !more; p++) {
        if (*p != '.' && n < EXACT_DIGITS)
            text[n++] = *p;
        else
            more = *p != '.' && *p != '0';
    }
    text[n++] = more ? '1' : '0';
    int64_t exponent = number->q - ((int64_t)n - KEPT_DIGITS); /* q is that of 19 digits */
    snprintf(text + n, sizeof(text) - n, "e%lld", (long long)exponent);
    return strtod(text, NULL);
}

static inline double number_value(const struct number *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->w >> (FRACTION + 1) == 0 && number->q >= -22 && number->q <= 22 && !number->cut) {
        double x = (double)number->w;
        return number->q < 0 ? x / powers[-number->q] : x * powers[number->q];
    }
    double x = scale(number->w, number->q);
    if (!number->cut || x == scale(number->w + 1, number->q))
        return x;
    return ask_strtod(number);
}

int decimal_parse(const char *text, size_t n, double *ret, size_t *ret_used)
{
    struct number number;
    size_t used = read_number(text, n, &number);
    if (!used)
        return -EINVAL;
    double x = number_value(&number);
    *ret = number.negative ? -x : x;
    *ret_used = used;
    return 0;
}
