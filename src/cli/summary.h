/* SPDX-License-Identifier: MIT */
/*
 * summary.h — the last words of a run: best trials, what mattered, where the results are, what to
 * type next.
 */
#ifndef HONE_SUMMARY_H
#define HONE_SUMMARY_H

#include "cli/cmd.h"

/* `final` is the "finished" event. */
void summary_print(const struct cmd_call *call, const json_t *final);

#endif
