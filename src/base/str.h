/* SPDX-License-Identifier: MIT */
/*
 * str.h — a growing text. Always ends with a NUL that is not counted; `s` is "" when empty.
 */
#ifndef HONE_STR_H
#define HONE_STR_H

#include "base/base.h"
#include <stdarg.h>

struct str {
    char *s;
    size_t len, cap; /* cap 0: `s` is a constant "" */
};
#define STR_INIT                                                                                   \
    {                                                                                              \
        (char *)"", 0, 0                                                                           \
    }

void str_release(struct str *str);
void str_reserve(struct str *str, size_t more);
/* The same for bytes that will all be written, and at once. */
void str_reserve_filled(struct str *str, size_t more);
void str_add(struct str *str, const char *text);
void str_add_n(struct str *str, const char *bytes, size_t n);
void str_add_char(struct str *str, char c);
void str_addf(struct str *str, const char *fmt, ...) PRINTF(2, 3);
void str_addv(struct str *str, const char *fmt, va_list ap) PRINTF(2, 0);
/* Cut to `len` bytes; keeps the memory. */
void str_cut(struct str *str, size_t len);
/* Hand the text over (release with free()); `str` is empty again. */
char *str_take(struct str *str);
/* As free(), of what was taken; but one of a few MiB stays for the next that asks for such room,
 * with its pages: to get these and to give them back takes longer than to fill them. NULL is fine.
 */
void str_give_back(void *bytes);

/* Shortest text that reads back as exactly x: 0.1, 1e-05, 3, nan, inf, -inf. */
#define DOUBLE_TEXT_SIZE 32
const char *double_text(char buf[DOUBLE_TEXT_SIZE], double x);
void str_add_double(struct str *str, double x);
/* The same with its rest (base/rest.h): a whole number has all its digits. */
void str_add_exact(struct str *str, double x, uint16_t rest);

/* Text for a terminal: control characters and broken UTF-8 become '?'; tabs a space. */
void str_add_printable(struct str *str, const char *bytes, size_t n);

#endif
