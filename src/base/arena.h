/* SPDX-License-Identifier: MIT */
/*
 * arena.h — memory of one request or tick: many small pieces, released at once.
 */
#ifndef HONE_ARENA_H
#define HONE_ARENA_H

#include "base/base.h"

struct arena_block;
struct arena {
    struct arena_block *block; /* newest first */
};
#define ARENA_INIT                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }

void *arena_alloc(struct arena *arena, size_t size);    /* zeroed, aligned for anything */
char *arena_strdup(struct arena *arena, const char *s); /* NULL stays NULL */
void *arena_memdup(struct arena *arena, const void *p, size_t n);
void arena_release(struct arena *arena);

#endif
