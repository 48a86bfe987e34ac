/* SPDX-License-Identifier: MIT */
/*
 * bounds.h — constraints in words: which of them a trial breaks, and why no trial is the best one.
 */
#ifndef HONE_CLI_BOUNDS_H
#define HONE_CLI_BOUNDS_H

#include "api/results.h"

/* "mem <= 6". */
void bounds_add(struct str *to, const struct constraint *constraint);
/* "mem <= 6 (it is 8), ms <= 20 (ms was not reported)". False, and nothing: it breaks none as far
 * as one knows. What is missing counts once the trial is complete. */
bool bounds_broken(const struct spec *spec, const struct trial *trial, struct str *to);
/* Of completed trials none is the best: "no trial keeps its constraints: mem <= 0 (the lowest is
 * 1)", or which objective is missing. */
void bounds_lack(const struct results *results, const struct spec *spec, struct str *to);

#endif
