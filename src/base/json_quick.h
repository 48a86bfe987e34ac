/* SPDX-License-Identifier: MIT */
/*
 * json_quick.h — ordinary JSON, quickly; json_parse() begins with it.
 */
#ifndef HONE_JSON_QUICK_H
#define HONE_JSON_QUICK_H

#include "base/base.h"
#include <jansson.h>

/* The caller's, with one reference. NULL: it is not ordinary, or wrong: Jansson knows. */
json_t *json_quick(const char *text, size_t n);

#endif
