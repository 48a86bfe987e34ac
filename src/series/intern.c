/* SPDX-License-Identifier: MIT */
/*
 * intern.c — open addressing over the numbers; the texts are the keys.
 */
#include "series/intern.h"

#include "base/rng.h"

void intern_release(struct intern *in)
{
    vec_foreach (text, &in->texts)
        free(*text);
    vec_release(&in->texts);
    free(in->slots);
    *in = (struct intern){0};
}

/* The slot of this text, or the free one where it belongs. Needs cap > 0. */
static uint32_t *probe(const struct intern *in, const char *text, size_t n)
{
    for (size_t i = hash_bytes(text, n, 0) & (in->cap - 1);; i = (i + 1) & (in->cap - 1)) {
        uint32_t slot = in->slots[i];
        if (!slot)
            return &in->slots[i];
        const char *there = in->texts.at[slot - 1];
        if (strncmp(there, text, n) == 0 && there[n] == '\0')
            return &in->slots[i];
    }
}

static void grow(struct intern *in)
{
    in->cap = in->cap ? in->cap * 2 : 64;
    free(in->slots);
    in->slots = xcalloc(in->cap, sizeof(*in->slots));
    for (size_t i = 0; i < in->texts.len; i++)
        *probe(in, in->texts.at[i], strlen(in->texts.at[i])) = (uint32_t)i + 1;
}

uint32_t intern_find(const struct intern *in, const char *text, size_t n)
{
    return in->cap ? *probe(in, text, n) - 1 : UINT32_MAX;
}

uint32_t intern_add(struct intern *in, const char *text, size_t n)
{
    if ((in->texts.len + 1) * 2 > in->cap)
        grow(in);
    uint32_t *slot = probe(in, text, n);
    if (!*slot) {
        char *copy = xstrndup(text, n);
        vec_push(&in->texts, copy);
        *slot = (uint32_t)in->texts.len;
        in->rests += intern_text_is_rest(text, n);
    }
    return *slot - 1;
}

uint32_t intern_rest(struct intern *in, uint32_t name, bool add)
{
    if (!in->rests && !add)
        return UINT32_MAX;
    size_t n = strlen(in->texts.at[name]);
    autofree(mem) char *text = xmalloc(n + 2);
    memcpy(text, in->texts.at[name], n);
    text[n] = INTERN_REST;
    return add ? intern_add(in, text, n + 1) : intern_find(in, text, n + 1);
}
