/* SPDX-License-Identifier: MIT */
/*
 * rows_text.h — members of the JSON objects in rows.c, written as quickly as they can be: a single
 * trial has sixty, and a server tells tens of thousands of trials a second. What is written is what
 * json.h would write, to the byte. And the digits of what every answer brings along.
 */
#ifndef HONE_ROWS_TEXT_H
#define HONE_ROWS_TEXT_H

#include "base/json.h"

/* A key that is a literal, and of which nothing needs a backslash. */
#define ROWS_KEY(out, key) rows_key((out), ",\"" key "\":", sizeof(",\"" key "\":") - 1)
/* A key with its value: ROWS_PUT(out, text, "state", "running"). */
#define ROWS_PUT(out, what, key, x) (ROWS_KEY(out, key), rows_##what((out), (x)))

/* `text` begins with a comma, which is left out where nothing stands before. */
static inline void rows_key(struct json_out *out, const char *text, size_t n)
{
    size_t skip = out->comma ? 0 : 1;

    str_add_n(out->to, text + skip, n - skip);
    out->comma = false;
}

/* The digits of x, at most INT64_MAX; where they end. No NUL. */
char *digits_put(char *to, uint64_t x);
/* Sixteen digits, 0 to f. */
char *hex_put(char *to, uint64_t x);
void rows_digits(struct str *to, int64_t x);
void rows_known(struct json_out *out, double x); /* NaN: null */
#define rows_int    json_int
#define rows_time   json_time
#define rows_text   json_text
#define rows_double json_double
#define rows_bool   json_bool
#define rows_raw    json_raw

#endif
