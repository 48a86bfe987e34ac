/* SPDX-License-Identifier: MIT */
/*
 * width.h — how many columns of a terminal a text takes, and texts cut or filled to a number of
 * columns. Texts are UTF-8 without control characters (str_add_printable makes them so). Does not
 * ask the locale: the terminal is UTF-8 even where LANG is not set.
 */
#ifndef HONE_WIDTH_H
#define HONE_WIDTH_H

#include "base/str.h"

/* Columns of one character: 0 (combining), 1, or 2 (East Asian, emoji). */
int char_width(uint32_t c);
size_t text_width(const char *text);
/* Bytes of the longest start of `text` that fits into `columns`; *ret_width: what it takes. */
size_t text_fit(const char *text, size_t columns, size_t *ret_width);
/* `text`, or as much of it as fits with … at the end. Returns the columns it took. */
size_t str_add_fitted(struct str *str, const char *text, size_t columns);

#endif
