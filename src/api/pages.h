/* SPDX-License-Identifier: MIT */
/*
 * pages.h — the pages that the program carries: made from web/, compressed when it was built.
 */
#ifndef HONE_PAGES_H
#define HONE_PAGES_H

#include "base/err.h"
#include "base/str.h"

struct page {
    const char *path, *type, *tag; /* "/assets/app.js"; the tag follows from its content */
    const char *gzip;
    uint64_t n, plain; /* bytes, compressed and not */
};
/* NULL: there is no such page. */
const struct page *page_find(const char *path);
/* Its text, appended. */
void page_text(const struct page *page, struct str *to);

#endif
