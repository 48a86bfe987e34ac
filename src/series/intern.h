/* SPDX-License-Identifier: MIT */
/*
 * intern.h — the names of metrics in one process: text ↔ small number. Numbers are given in order
 * and never change; a text stays where it is until the end, so other threads may hold it.
 */
#ifndef HONE_SERIES_INTERN_H
#define HONE_SERIES_INTERN_H

#include "base/base.h"

struct intern {
    VEC(char *) texts;
    uint32_t *slots; /* (cap) number + 1; 0: free */
    size_t cap;      /* a power of two, or 0 */
};

void intern_release(struct intern *in);
/* UINT32_MAX: not there. */
uint32_t intern_find(const struct intern *in, const char *text, size_t n);
/* Its number; a new one is made. */
uint32_t intern_add(struct intern *in, const char *text, size_t n);

#endif
