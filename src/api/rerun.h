/* SPDX-License-Identifier: MIT */
/*
 * rerun.h — a trial once more, exactly: what of it is submitted again.
 */
#ifndef HONE_RERUN_H
#define HONE_RERUN_H

#include "api/find.h"

/* The code that the trial's last attempt ran with; free it. NULL: none was recorded. */
char *rerun_code(struct store *store, const struct target *target);
/* NAME-rerun: the newest of NAME stays the experiment that one looks for. */
void rerun_name(struct spec *spec);
/* Is there a program to run? Where results came from elsewhere, (words in brackets) stand in its
 * place. */
bool spec_has_program(const struct spec *spec);

#endif
