/* SPDX-License-Identifier: MIT */
/*
 * seconds.c — (double)ns / 1e9 would be rounded twice from 2^53 ns on, and all times since April
 * 1970 are behind that. So whole seconds and the rest are added:
 *
 *     ns / 10^9  =  q + r / 10^9,  |r / 10^9| < 2
 *
 * r / 10^9 is rounded by less than 2^-53, and the sum once more. That gives the nearest double: it
 * could be missed only if ns / 10^9 were closer than 2^-53 to the middle between two doubles, which
 * is an odd multiple of 2^(k-53) where 2^k ≤ ns / 10^9 < 2^(k+1). It is never there, 10^9 having
 * the factor 5^9, and so no closer than 2^(k-53) / 5^9, which is 2^-51 for k = 23 and more behind.
 */
#include "series/seconds.h"

#include "base/wide.h"

#define SECOND INT64_C(1000000000)
#define EXACT  (INT64_C(1) << 53) /* below it a double has every ns */

double seconds_of(int64_t ns)
{
    if (ns > -EXACT && ns < EXACT)
        return (double)ns / 1e9;
    int64_t whole = ns / SECOND;
    return (double)whole + (double)(ns - whole * SECOND) / 1e9;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define BEHIND (SECOND << 32) /* q has 32 bits: until 2106 */
#define WHOLE  0x1p52         /* added to a number below it: its low bits are a whole number … */
#define SIGNED 0x1.8p52       /* … also of one with a sign */

/* q is off by one at most: what matters is that r is what is left. */
WIDE_256 static size_t wide_seconds(const int64_t *ns, size_t n, double *ret)
{
    const __m256d whole = _mm256_set1_pd(WHOLE), with_sign = _mm256_set1_pd(SIGNED);
    const __m256d per = _mm256_set1_pd(0x1p30 / 1e9), second = _mm256_set1_pd(1e9);
    const __m256i least = _mm256_set1_epi64x(EXACT), behind = _mm256_set1_epi64x(BEHIND - 1);
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i all = _mm256_loadu_si256((const __m256i *)(ns + i));
        __m256i out =
            _mm256_or_si256(_mm256_cmpgt_epi64(least, all), _mm256_cmpgt_epi64(all, behind));
        if (!_mm256_testz_si256(out, out))
            break;
        __m256i high = _mm256_or_si256(_mm256_srli_epi64(all, 30), _mm256_castpd_si256(whole));
        __m256d q = _mm256_mul_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), whole), per);
        q = _mm256_add_pd(q, whole);
        __m256i product = _mm256_mul_epu32(_mm256_castpd_si256(q), _mm256_set1_epi64x(SECOND));
        __m256i rest = _mm256_sub_epi64(all, product);
        rest = _mm256_add_epi64(rest, _mm256_castpd_si256(with_sign));
        __m256d r = _mm256_sub_pd(_mm256_castsi256_pd(rest), with_sign);
        r = _mm256_add_pd(_mm256_sub_pd(q, whole), _mm256_div_pd(r, second));
        _mm256_storeu_pd(ret + i, r);
    }
    return i;
}

WIDE_512 static size_t wider_seconds(const int64_t *ns, size_t n, double *ret)
{
    const __m512d whole = _mm512_set1_pd(WHOLE), with_sign = _mm512_set1_pd(SIGNED);
    const __m512d per = _mm512_set1_pd(0x1p30 / 1e9), second = _mm512_set1_pd(1e9);
    const __m512i least = _mm512_set1_epi64(EXACT), behind = _mm512_set1_epi64(BEHIND);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i all = _mm512_loadu_si512(ns + i);
        if (_mm512_cmplt_epi64_mask(all, least) | _mm512_cmpge_epi64_mask(all, behind))
            break;
        __m512i high = _mm512_or_si512(_mm512_srli_epi64(all, 30), _mm512_castpd_si512(whole));
        __m512d q = _mm512_mul_pd(_mm512_sub_pd(_mm512_castsi512_pd(high), whole), per);
        q = _mm512_add_pd(q, whole);
        __m512i product = _mm512_mul_epu32(_mm512_castpd_si512(q), _mm512_set1_epi64(SECOND));
        __m512i rest = _mm512_sub_epi64(all, product);
        rest = _mm512_add_epi64(rest, _mm512_castpd_si512(with_sign));
        __m512d r = _mm512_sub_pd(_mm512_castsi512_pd(rest), with_sign);
        r = _mm512_add_pd(_mm512_sub_pd(q, whole), _mm512_div_pd(r, second));
        _mm512_storeu_pd(ret + i, r);
    }
    return i;
}

static size_t seconds_of_most(const int64_t *ns, size_t n, double *ret)
{
    unsigned bits = wide_bits();

    return bits == 512 ? wider_seconds(ns, n, ret) : bits == 256 ? wide_seconds(ns, n, ret) : 0;
}
#else
static size_t seconds_of_most(const int64_t *ns UNUSED, size_t n UNUSED, double *ret UNUSED)
{
    return 0;
}
#endif

void seconds_of_all(const int64_t *ns, size_t n, double *ret)
{
    for (size_t i = seconds_of_most(ns, n, ret); i < n; i++)
        ret[i] = seconds_of(ns[i]);
}
