/* SPDX-License-Identifier: MIT */
/*
 * decimal.h — a double from decimal text, the same bits as strtod gives, in a fifth of the time and
 * in any locale, from text that need not end with a NUL.
 */
#ifndef HONE_BASE_DECIMAL_H
#define HONE_BASE_DECIMAL_H

#include "base/base.h"

/* Read the longest decimal number at the beginning of text[0..n): "-0.5", "+.5", "1.", "1e-3". No
 * leading space, hexadecimal, nan or inf. An 'e' without digits behind it is not part of it.
 * Beyond the largest double it is ±inf, below half the smallest ±0.
 * Returns 0 and how many bytes it took, or -EINVAL (nothing set) if there is no number. */
int decimal_parse(const char *text, size_t n, double *ret, size_t *ret_used);

#endif
