/* SPDX-License-Identifier: MIT */
/*
 * mapping.h — a file in memory whose bytes may go away: somebody cuts it, its disk fails. A byte
 * that cannot be read is 0 then, for as long as the mapping lives; without this the process would
 * end by SIGBUS. Whoever reads must be ready for zeros anywhere, also where others were a moment
 * ago: checksums tell them.
 */
#ifndef HONE_SERIES_MAPPING_H
#define HONE_SERIES_MAPPING_H

#include "base/base.h"

struct mapping;
/* The first n bytes (> 0) of a file, to read. 0, or -errno. */
int mapping_open(int fd, size_t n, const unsigned char **ret_bytes, struct mapping **ret);
void mapping_close(struct mapping *mapping);
/* Listen to SIGBUS. The first mapping does it; again only where somebody took our place, as the
 * tests' library does before each test. */
void mapping_guard(void);
/* Was something lost at byte `from` or behind it? */
bool mapping_lost(const struct mapping *mapping, size_t from);
/* How often something was lost, in all mappings. Unchanged: nothing became 0 meanwhile. */
uint64_t mapping_losses(void);

#endif
