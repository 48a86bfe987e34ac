/* SPDX-License-Identifier: MIT */
/*
 * intern.h — the names of metrics in one process: text ↔ small number. Numbers are given in order
 * and never change; a text stays where it is until the end, so other threads may hold it.
 */
#ifndef HONE_SERIES_INTERN_H
#define HONE_SERIES_INTERN_H

#include "base/base.h"

/* A name with this behind it is that of the rests (base/rest.h) of the metric, which stand in the
 * same rows. */
#define INTERN_REST '\x01'

struct intern {
    VEC(char *) texts;
    size_t rests;    /* so many of them are of rests */
    uint32_t *slots; /* (cap) number + 1; 0: free */
    size_t cap;      /* a power of two, or 0 */
};

void intern_release(struct intern *in);
/* UINT32_MAX: not there. */
uint32_t intern_find(const struct intern *in, const char *text, size_t n);
/* Its number; a new one is made. */
uint32_t intern_add(struct intern *in, const char *text, size_t n);
/* The name of the rests of a metric. UINT32_MAX: there is none; `add`: it is made. */
uint32_t intern_rest(struct intern *in, uint32_t name, bool add);
static inline bool intern_text_is_rest(const char *text, size_t n)
{
    return n > 0 && text[n - 1] == INTERN_REST;
}
static inline bool intern_is_rest(const struct intern *in, uint32_t name)
{
    return in->rests && name < in->texts.len &&
           intern_text_is_rest(in->texts.at[name], strlen(in->texts.at[name]));
}

#endif
