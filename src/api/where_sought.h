/* SPDX-License-Identifier: MIT */
/*
 * where_sought.h — words that are no expression: what an experiment has to say them.
 */
#ifndef HONE_WHERE_SOUGHT_H
#define HONE_WHERE_SOUGHT_H

#include "api/where_parts.h"

/* Words with spaces between, and none of the signs or words that make an expression: what does not
 * parse then is no mistake in one. NULL: no. */
bool where_only_words(const char *text);
/* Is each of them a part of the experiment's name, a tag, its note, its owner or its description,
 * or its number? Capitals count as small letters. 1 or 0; n 0: 1. */
int where_seeks(const struct where_row *row, const char *const *words, size_t n);

#endif
