/* SPDX-License-Identifier: MIT */
/*
 * json.h — JSON out and in. Reading is Jansson, after json_quick.h. Writing is ours, for one
 * reason: Jansson prints 0.1 as 0.10000000000000001, and our numbers are read by people.
 *
 * NaN and infinities have no place in JSON; they are written as the texts "nan", "inf", "-inf".
 */
#ifndef HONE_JSON_H
#define HONE_JSON_H

#include "base/err.h"
#include "base/str.h"
#include <jansson.h>

/* Writes into a text as it goes: no tree. Keys and values alternate inside an object. */
struct json_out {
    struct str *to;
    bool comma; /* something stands before on this level */
};
#define JSON_OUT(str)                                                                              \
    {                                                                                              \
        (str), false                                                                               \
    }

void json_begin_object(struct json_out *out);
void json_end_object(struct json_out *out);
void json_begin_array(struct json_out *out);
void json_end_array(struct json_out *out);
void json_key(struct json_out *out, const char *key);
void json_text(struct json_out *out,
               const char *text); /* NULL: null; broken UTF-8 becomes U+FFFD */
void json_text_n(struct json_out *out, const char *text, size_t n);
void json_double(struct json_out *out, double x);
void json_int(struct json_out *out, int64_t x);
void json_bool(struct json_out *out, bool x);
void json_null_out(struct json_out *out);
void json_time(struct json_out *out, int64_t wall_us); /* 0: null */
/* JSON text that is already valid, as it is. */
void json_raw(struct json_out *out, const char *json);

/* key and value in one. */
void json_put_text(struct json_out *out, const char *key, const char *text);
void json_put_double(struct json_out *out, const char *key, double x);
/* The same with its rest (base/rest.h). */
void json_put_exact(struct json_out *out, const char *key, double x, uint16_t rest);
/* NaN: null, where it means that there is no number. */
void json_put_known(struct json_out *out, const char *key, double x);
void json_put_int(struct json_out *out, const char *key, int64_t x);
void json_put_bool(struct json_out *out, const char *key, bool x);
void json_put_time(struct json_out *out, const char *key, int64_t wall_us);
void json_put_raw(struct json_out *out, const char *key, const char *json);

/* Parse; the error names the place. *ret: json_decref. */
int json_parse(const char *text, size_t n, json_t **ret, struct err *err);
/* Readers that take a wrong or missing value as `otherwise`. Texts "nan", "inf" read as numbers. */
const char *json_get_text(const json_t *object, const char *key, const char *otherwise);
double json_get_double(const json_t *object, const char *key, double otherwise);
int64_t json_get_int(const json_t *object, const char *key, int64_t otherwise);
bool json_get_bool(const json_t *object, const char *key, bool otherwise);
/* Any JSON value, with our numbers. */
void json_value(struct json_out *out, const json_t *value);

static inline UNUSED void json_autofree(json_t **p)
{
    json_decref(*p);
}

#endif
