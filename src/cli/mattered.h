/* SPDX-License-Identifier: MIT */
/*
 * mattered.h — what mattered: the parameters that explain the spread of an experiment's results,
 * with a bar each.
 */
#ifndef HONE_MATTERED_H
#define HONE_MATTERED_H

#include "api/find.h"

/* Print it with its title and an empty line before; nothing if too few trials have completed or no
 * parameter explains anything. */
void mattered_print(struct store *store, const struct target *target, bool colour);

/* What `hone importance EXPERIMENT --json` prints. -ENODATA and the like with a sentence: there is
 * nothing to tell. */
int importance_json(struct store *store, const struct target *target, struct str *to,
                    struct err *err);

#endif
