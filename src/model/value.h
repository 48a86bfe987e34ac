/* SPDX-License-Identifier: MIT */
/*
 * value.h — one scalar as the user wrote it. The text is what a program receives, so `1e-3`
 * stays `1e-3`; the kind and the number are what JSON and the models see.
 */
#ifndef HONE_VALUE_H
#define HONE_VALUE_H

#include "base/json.h"

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_INT, VALUE_FLOAT, VALUE_TEXT };

struct value {
    enum value_kind kind;
    double number; /* bool: 0 or 1; int, float: the number; else 0 */
    char *text;    /* owned; exactly as written (unquoted) */
};

void value_release(struct value *value);
/* Guess the kind by YAML 1.2's core schema (true, 3, 0x1f, 1e-3, .5, .inf, ~); `quoted` is text. */
struct value value_guess(const char *text, bool quoted);
struct value value_int(int64_t x);
struct value value_float(double x);
struct value value_bool(bool x);
struct value value_text(const char *text);
struct value value_copy(const struct value *value);
bool value_equal(const struct value *a, const struct value *b); /* 1 equals 1.0 */
void value_json(struct json_out *out, const struct value *value);

#endif
