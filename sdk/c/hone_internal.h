/* SPDX-License-Identifier: MIT */
/*
 * hone_internal.h — the parts of hone.c that read what others wrote, for its tests and fuzzer.
 */
#ifndef HONE_INTERNAL_H
#define HONE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HONE_CONTROL: 8 KiB, mapped. The generation is odd while the page is being written. */
#define HONE_PAGE_SIZE 8192
struct hone_page {
    uint64_t version; /* 1 */
    uint64_t generation;
    uint64_t length; /* of json */
    char json[HONE_PAGE_SIZE - 24];
};

enum hone_kind { HONE_NULL, HONE_BOOL, HONE_NUMBER, HONE_NESTED, HONE_TEXT };
/* One member of the outer object. Both texts point into the input; that of an object or array
 * (HONE_NESTED) is its JSON, untouched, so that it can be walked in turn. */
typedef void hone_member_fn(const char *name, enum hone_kind kind, const char *text, void *arg);

/* Walk a JSON object in `json` (ends with NUL; is changed: texts are unescaped in place). 0, or
 * -EINVAL at the first thing that is not JSON; members before it were reported. */
int hone_json_each(char *json, hone_member_fn *fn, void *arg);

struct hone_asked {
    uint64_t generation;
    bool stop, checkpoint;
    char system[HONE_PAGE_SIZE]; /* the object "system" as JSON; "": the page has none */
};
/* Read the page if it holds something other than `ret` knows. True if *ret is new; false when
 * nothing changed or it is just being written (look again at the next step). */
bool hone_page_read(const struct hone_page *page, struct hone_asked *ret);

/* Shortest text that reads back as exactly x, in any locale; nan, inf, -inf. Returns its length. */
#define HONE_DOUBLE_SIZE 32
size_t hone_double_text(char buf[HONE_DOUBLE_SIZE], double x);

#endif
