/* SPDX-License-Identifier: MIT */
/*
 * decimal_text.c — the fewest digits that read back as the same double; of these, the nearest.
 * Giulietti, "The Schubfach way to render doubles" (2020): the ends of the interval that rounds to
 * the double are scaled by one multiplication with a power of ten each, and tell how many digits
 * are needed.
 */
#include "base/decimal.h"
#include "base/decimal_powers.h"
#include "base/str.h"

#include <endian.h>
#include <math.h>

#define FRACTION_BITS 52
#define BIAS          1075 /* of the exponent, with the fraction as a whole number */

__extension__ typedef unsigned __int128 wide;

/* x / 2^n, rounded down. */
static int floor_shift(int x, int n)
{
    return x < 0 ? ~(~x >> n) : x >> n;
}

static int floor_log2_pow10(int e)
{
    return floor_shift(e * 1741647, 19);
}

/* 10^k, its 128 leading bits rounded up. */
static struct decimal_power power_of_ten(int k)
{
    struct decimal_power power = decimal_powers[k - DECIMAL_POWER_MIN];
    bool as_it_is = k >= -27 && k <= 55; /* exact, or rounded up in the table */

    if (!as_it_is && ++power.low == 0)
        power.high++;
    return power;
}

/* The product's leading 64 bits; the last one is set if there is more behind. */
static uint64_t round_to_odd(struct decimal_power g, uint64_t x)
{
    uint64_t low = (uint64_t)(((wide)g.low * x) >> 64);
    wide high = (wide)g.high * x + low;

    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

struct digits {
    uint64_t m; /* × 10^e */
    int e;
};

static struct digits nearest(uint64_t lower, uint64_t middle, uint64_t upper, int k)
{
    uint64_t s = middle / 4;

    if (s >= 10) {
        uint64_t tenth = s / 10;
        bool down = lower <= 40 * tenth, up = 40 * tenth + 40 <= upper;
        if (down != up)
            return (struct digits){tenth + up, k + 1};
    }
    bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down != up)
        return (struct digits){s + up, k};
    uint64_t half = 4 * s + 2;
    bool round_up = middle > half || (middle == half && (s & 1));
    return (struct digits){s + round_up, k};
}

static struct digits shortest(uint64_t fraction, int exponent)
{
    uint64_t c = exponent ? fraction | (uint64_t)1 << FRACTION_BITS : fraction;
    int q = (exponent ? exponent : 1) - BIAS;

    if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return (struct digits){c >> -q, 0}; /* a whole number */
    bool even = c % 2 == 0, closer_below = fraction == 0 && exponent > 1;
    int k = floor_shift(q * 1262611 - (closer_below ? 524031 : 0), 22);
    int h = q + floor_log2_pow10(-k) + 1;
    struct decimal_power g = power_of_ten(-k);
    uint64_t lower = round_to_odd(g, (4 * c - 2 + closer_below) << h);
    uint64_t middle = round_to_odd(g, (4 * c) << h);
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h);
    return nearest(lower + !even, middle, upper - !even, k);
}

/* ---- as text, laid out as printf's %g does ---- */

static size_t count_digits(uint64_t m)
{
    static const uint64_t powers[] = {
        0,
        10,
        100,
        1000,
        10000,
        100000,
        1000000,
        10000000,
        100000000,
        1000000000,
        10000000000,
        100000000000,
        1000000000000,
        10000000000000,
        100000000000000,
        1000000000000000,
        10000000000000000,
        100000000000000000,
        1000000000000000000,
        10000000000000000000u,
    };
    size_t bits = 64 - (size_t)__builtin_clzll(m | 1);
    size_t n = bits * 1233 >> 12; /* log10(2): right, or one too few */

    return n + (m >= powers[n]);
}

/* The eight digits of m, with zeros in front, the first one in the lowest byte. Two numbers of four
 * digits lie side by side in a word, then four of two, then eight of one; a product and a shift
 * divide all of them at once. */
static inline uint64_t eight_digits(uint32_t m)
{
    uint64_t fours = m / 10000 | (uint64_t)(m % 10000) << 32;
    uint64_t high = (fours * 10486 >> 20) & 0x0000007f0000007f; /* / 100 */
    uint64_t twos = high | (fours - 100 * high) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f; /* / 10 */

    return tens | (twos - 10 * tens) << 8 | 0x3030303030303030;
}

/* Eight bytes. */
static inline void put_eight(uint64_t digits, char *to)
{
    digits = htole64(digits);
    memcpy(to, &digits, sizeof(digits));
}

/* The n digits of m, and up to seven bytes of rubbish behind them. */
static void put_digits(uint64_t m, char *to, size_t n)
{
    uint64_t eights[2] = {0, 0};
    size_t k = 0;

    for (; n > 8; n -= 8, m /= 100000000)
        eights[k++] = eight_digits((uint32_t)(m % 100000000));
    if (n == 1)
        to[0] = (char)('0' + m);
    else
        put_eight(eight_digits((uint32_t)m) >> 8 * (8 - n), to);
    for (to += n; k-- > 0; to += 8)
        put_eight(eights[k], to);
}

static char *put_zeros(char *to, int n)
{
    for (; n > 0; n--)
        *to++ = '0';
    return to;
}

static char *put_exponent(char *to, int x)
{
    *to++ = 'e';
    *to++ = x < 0 ? '-' : '+';
    x = x < 0 ? -x : x;
    if (x >= 100)
        *to++ = (char)('0' + x / 100);
    *to++ = (char)('0' + x / 10 % 10);
    *to++ = (char)('0' + x % 10);
    return to;
}

static char *put_scientific(char *to, uint64_t m, size_t n, int x)
{
    put_digits(m, to + 1, n);
    to[0] = to[1];
    to[1] = '.';
    return put_exponent(to + n + (n > 1), x);
}

static char *put_plain(char *to, uint64_t m, size_t n, int x)
{
    if (x < 0) {
        *to++ = '0';
        *to++ = '.';
        to = put_zeros(to, -x - 1);
        put_digits(m, to, n);
        return to + n;
    }
    size_t whole = (size_t)x + 1;
    bool point = n > whole;
    put_digits(m, to + point, n);
    if (!point)
        return put_zeros(to + n, (int)(whole - n));
    for (size_t i = 0; i < whole; i++)
        to[i] = to[i + 1];
    to[whole] = '.';
    return to + n + 1;
}

size_t decimal_text(char to[DOUBLE_TEXT_SIZE], double x)
{
    char *at = to;
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    if (bits >> 63)
        *at++ = '-';
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        *at++ = '0';
        *at = '\0';
        return (size_t)(at - to);
    }
    struct digits found =
        shortest(bits & (((uint64_t)1 << FRACTION_BITS) - 1), (int)(bits >> FRACTION_BITS));
    while (found.m % 10 == 0) {
        found.m /= 10;
        found.e++;
    }
    size_t n = count_digits(found.m);
    int exponent = found.e + (int)n - 1;
    int most = n <= 6 ? 6 : n <= 15 ? 15 : (int)n;
    at = exponent < -4 || exponent >= most ? put_scientific(at, found.m, n, exponent)
                                           : put_plain(at, found.m, n, exponent);
    *at = '\0';
    return (size_t)(at - to);
}

size_t decimal_integer(char to[DOUBLE_TEXT_SIZE], int64_t x)
{
    size_t minus = x < 0;
    uint64_t m = minus ? 0 - (uint64_t)x : (uint64_t)x;
    size_t n = count_digits(m);

    to[0] = '-';
    put_digits(m, to + minus, n);
    to[minus + n] = '\0';
    return minus + n;
}
