/* SPDX-License-Identifier: MIT */
/*
 * draw.h — what searches share that draw candidates without looking at results: no setting twice,
 * the exact end of a finite space, and a state of a few numbers. Private to search/.
 *
 * An algorithm embeds struct draw first, gives a draw_fn in its init, and names draw_ask, draw_save
 * and draw_load in its ops. Its draws must follow from `base.rng` and `drawn` alone.
 */
#ifndef HONE_SEARCH_DRAW_H
#define HONE_SEARCH_DRAW_H

#include "base/map.h"
#include "search/search.h"

struct draw;
/* Write candidate number d->drawn; values of inactive parameters do not matter. */
typedef void draw_fn(struct draw *d, double *ret_x);

struct draw {
    struct search base;
    draw_fn *next;
    struct rng start;      /* base.rng before the first draw */
    uint64_t drawn, asked; /* candidates drawn; points given out */
    bool watch;            /* settings can come twice: remember them */
    bool finite;
    struct map seen; /* point_hash() of the settings given out */
    double *cursor;  /* where the walk stands; NULL: it has not begun */
    double *begin;   /* where it began */
    bool exhausted;
};

/* Call at the end of init. */
void draw_init(struct draw *d, draw_fn *next);
void draw_release(struct search *s);
int draw_ask(struct search *s, double *ret_x, struct err *err);
void draw_save(const struct search *s, struct str *to);
int draw_load(struct search *s, const void *bytes, size_t n, struct err *err);

#endif
