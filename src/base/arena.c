/* SPDX-License-Identifier: MIT */
/*
 * arena.c — a list of blocks, each filled from its start.
 */
#include "base/arena.h"

#define FIRST                                                                                      \
    900 /* bytes of the first block: malloc has such ones at hand, and most need no other */
#define MORE 4000

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->block;
    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!block || block->size - block->used < size) {
        size_t room = MAX(size, block ? MORE : FIRST);
        block = xmalloc(sizeof(*block) + room);
        block->next = arena->block;
        block->used = 0;
        block->size = room;
        arena->block = block;
    }
    void *p = block->bytes + block->used;
    block->used += size;
    return memset(p, 0, size);
}

void *arena_memdup(struct arena *arena, const void *p, size_t n)
{
    void *copy = arena_alloc(arena, n);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
    return s ? arena_memdup(arena, s, strlen(s) + 1) : NULL;
}

void arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->block, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->block = NULL;
}
