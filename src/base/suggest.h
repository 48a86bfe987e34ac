/* SPDX-License-Identifier: MIT */
/*
 * suggest.h — "did you mean": the closest name to what was typed.
 */
#ifndef HONE_SUGGEST_H
#define HONE_SUGGEST_H

#include "base/base.h"

/* Edits (insert, delete, change, swap of neighbours) that lead from a to b; at most `limit` + 1. */
size_t edit_distance(const char *a, const char *b, size_t limit);
/* The name closest to `typed`, NULL if none is close enough to be meant. Another case of the same
 * letters is one edit. */
const char *suggest(const char *typed, const char *const *names, size_t n);

#endif
