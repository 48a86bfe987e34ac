/* SPDX-License-Identifier: MIT */
/*
 * seconds.h — times as the store has them, whole nanoseconds, as seconds for pictures.
 */
#ifndef HONE_SECONDS_H
#define HONE_SECONDS_H

#include "base/base.h"

/* The double nearest to ns / 10^9. So a time that was told in milliseconds is the very number that
 * its decimal text is, which the answer to a page relies on to say it in half the room. */
double seconds_of(int64_t ns);
/* The same of each, four at a time where the processor can. */
void seconds_of_all(const int64_t *ns, size_t n, double *ret);

#endif
