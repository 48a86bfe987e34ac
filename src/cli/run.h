/* SPDX-License-Identifier: MIT */
/*
 * run.h — what `run` and `tune` share: an experiment is read, submitted and followed to its end.
 */
#ifndef HONE_RUN_H
#define HONE_RUN_H

#include "cli/overrides.h"

/* Rows for a command's option table: those that change the spec, and how it is run. */
#define RUN_OPTIONS                                                                                \
    OVERRIDE_OPTIONS,                                                                              \
    {                                                                                              \
        "detach", 'd', NULL, "start it in the background and return"                               \
    }

/* Neither a file nor a program? Says so and returns CMD_USAGE; else 0. */
int run_refuse_nothing(struct cmd_call *call);
/* The file of the call, if any, under these changes. Returns the exit code. */
int run_spec(struct cmd_call *call, const struct spec_overrides *overrides);

#endif
