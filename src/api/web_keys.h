/* SPDX-License-Identifier: MIT */
/*
 * web_keys.h — which keys a body may have: a table for each request, checked before anybody reads
 * it. docs/openapi.yaml tells the same. Pure.
 */
#ifndef HONE_WEB_KEYS_H
#define HONE_WEB_KEYS_H

#include "base/json.h"

enum web_key_type {
    KEY_ANY,  /* who reads it checks it */
    KEY_TEXT, /* of min to max characters; max 0: of any length */
    KEY_WORD, /* one of `words` */
    KEY_INT,  /* from min to max */
    KEY_BOOL,
    KEY_OBJECT, /* with `keys`; NULL: whatever it holds */
    KEY_TEXTS,  /* an array of at most max texts */
};

#define KEY_NEEDED 1u /* it must be there */
#define KEY_NULL   2u /* it may be null */

struct web_key {
    const char *name; /* NULL ends a table */
    enum web_key_type type;
    unsigned flags; /* KEY_NEEDED, KEY_NULL */
    int64_t min, max;
    const char *words; /* "now drain" */
    const struct web_key *keys;
};

/* 0, or -EINVAL with a sentence: `body` is no object, has a key that is not in the table, lacks one
 * that is needed, or a value is not of its type or out of its range. */
int web_keys_check(const json_t *body, const struct web_key *keys, struct err *err);

#endif
