/* SPDX-License-Identifier: MIT */
/*
 * walk.h — every setting of a finite space, one after another: the order of the file, the last
 * parameter fastest. Only canonical points come up; inactive parameters take no turn.
 */
#ifndef HONE_SEARCH_WALK_H
#define HONE_SEARCH_WALK_H

#include "model/space.h"

/* A parameter with infinitely many values, or NULL: then the space can be walked. */
const struct param *walk_obstacle(const struct space *space);
/* The first setting. */
void walk_first(const struct space *space, double *ret_x);
/* The setting after x; false at the end, with x unchanged. */
bool walk_next(const struct space *space, double *x);
/* The same, but where x is forbidden, past those after it that are forbidden for the same reason:
 * a combination of early parameters is passed in one step. */
bool walk_past(const struct space *space, double *x);

#endif
