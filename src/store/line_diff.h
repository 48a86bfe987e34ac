/* SPDX-License-Identifier: MIT */
/*
 * line_diff.h — two texts compared line by line, as `diff -u` shows it.
 */
#ifndef HONE_STORE_LINE_DIFF_H
#define HONE_STORE_LINE_DIFF_H

#include "base/str.h"

/* Append the unified diff with three lines around each change; nothing if the texts are equal.
 * Beyond 2,000 differing lines what differs is shown as replaced as a whole. */
void line_diff(const char *name, const char *a, size_t a_size, const char *b, size_t b_size,
               struct str *to);

#endif
