/* SPDX-License-Identifier: MIT */
/*
 * rows_text.c — digits without printf(), which takes as long as reading the rows does.
 */
#include "api/rows_text.h"
#include "base/decimal.h"

#include <assert.h>
#include <math.h>

char *digits_put(char *to, uint64_t x)
{
    char text[DOUBLE_TEXT_SIZE];
    size_t n = decimal_integer(text, (int64_t)x);

    assert(x <= INT64_MAX);
    memcpy(to, text, n);
    return to + n;
}

char *hex_put(char *to, uint64_t x)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *to++ = "0123456789abcdef"[x >> shift & 15];
    return to;
}

void rows_digits(struct str *to, int64_t x)
{
    char text[DOUBLE_TEXT_SIZE];
    str_add_n(to, text, decimal_integer(text, x));
}

void rows_known(struct json_out *out, double x)
{
    if (isnan(x))
        json_null_out(out);
    else
        json_double(out, x);
}
