/* SPDX-License-Identifier: MIT */
/*
 * cursor.h — where a page of a list begins: behind the last row of the page before, wherever that
 * is by now. So no row is told twice or left out because others came or went.
 */
#ifndef HONE_API_CURSOR_H
#define HONE_API_CURSOR_H

#include "api/web_route.h"

struct cursor {
    int64_t id, place; /* of the last row of the page before, and how many came up to it; 0: none */
};

enum cursor_order {
    CURSOR_UP,     /* by their ids */
    CURSOR_DOWN,   /* by their ids, the largest first */
    CURSOR_SORTED, /* by something else */
};

/* `cursor` of the address. -EINVAL with a sentence: it is none. */
int cursor_read(struct web_call *call, struct cursor *ret, struct err *err);
/* The place in ids[0..n) where the page begins. What comes behind a row that is gone is known if
 * they are ordered by their ids; else it is what stands in its place now. */
size_t cursor_first(const struct cursor *after, enum cursor_order order, const int64_t *ids,
                    size_t n);
/* "next" of a page that ends with `id`, the end-th of n rows: null if that is all. */
void cursor_put(struct json_out *out, int64_t id, size_t end, size_t n);

#endif
