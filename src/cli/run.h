/* SPDX-License-Identifier: MIT */
/*
 * run.h — what `run` and `tune` share: an experiment is read, submitted and followed to its end.
 */
#ifndef HONE_RUN_H
#define HONE_RUN_H

#include "cli/overrides.h"

/* Rows for a command's option table: those that change the spec, and how it is run. */
#define RUN_OPTIONS                                                                                \
    OVERRIDE_OPTIONS, {"detach", 'd', NULL, "start it in the background and return"},              \
    {                                                                                              \
        "port", 0, "N", "serve its pages there (7470; taken: any free port); off: do not"          \
    }

/* The spec of the call under these changes. 0, or CMD_USAGE after having said what is wrong: wrong
 * specs are wrong usage. */
int run_read_spec(struct cmd_call *call, const struct spec_overrides *overrides, struct spec *spec);
/* The file of the call, if any, under these changes. Returns the exit code. */
int run_spec(struct cmd_call *call, const struct spec_overrides *overrides);

#endif
