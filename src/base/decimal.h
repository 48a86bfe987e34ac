/* SPDX-License-Identifier: MIT */
/*
 * decimal.h — a double from decimal text, the same bits as strtod gives, in a fifth of the time and
 * in any locale, from text that need not end with a NUL; and the shortest text of a double.
 */
#ifndef HONE_BASE_DECIMAL_H
#define HONE_BASE_DECIMAL_H

#include "base/str.h"

/* Read the longest decimal number at the beginning of text[0..n): "-0.5", "+.5", "1.", "1e-3". No
 * leading space, hexadecimal, nan or inf. An 'e' without digits behind it is not part of it.
 * Beyond the largest double it is ±inf, below half the smallest ±0.
 * Returns 0 and how many bytes it took, or -EINVAL (nothing set) if there is no number. */
int decimal_parse(const char *text, size_t n, double *ret, size_t *ret_used);

/* The fewest digits that read back as the same bits, as printf's %g lays them out; x is finite.
 * Returns the length. */
size_t decimal_text(char to[DOUBLE_TEXT_SIZE], double x);
/* The same of an integer, as %lld. */
size_t decimal_integer(char to[DOUBLE_TEXT_SIZE], int64_t x);

#endif
