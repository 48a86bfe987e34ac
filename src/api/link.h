/* SPDX-License-Identifier: MIT */
/*
 * link.h — a link that opens the pages of a home in a browser: it works once, for ten minutes.
 */
#ifndef HONE_LINK_H
#define HONE_LINK_H

#include "base/err.h"

#include <stdint.h>

/* Which page a link opens. experiment 0: the list; trial 0: the experiment's own. */
struct link_page {
    int64_t experiment, trial;
};

/* Ask the engine at work in `home` to keep a link, and set *ret to it; free it. -ENOENT if nothing
 * serves pages there. */
int link_new(const char *home, const struct link_page *page, char **ret, struct err *err);
/* The link with the page that it opens; frees `link`. */
char *link_to(char *link, const struct link_page *page);

#endif
