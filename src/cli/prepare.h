/* SPDX-License-Identifier: MIT */
/*
 * prepare.h — from a spec that was read to one that can be submitted: the code and the
 * environment are recorded, a checkout is made where one is asked for.
 */
#ifndef HONE_PREPARE_H
#define HONE_PREPARE_H

#include "cli/cmd.h"
#include "engine/engine.h"
#include "store/object.h"

struct prepared {
    struct snapshot snapshot; /* sha256 "" if none */
    struct str environment;
    char *owner; /* the user who runs this command */
};
void prepared_release(struct prepared *prepared);

/* Record code and environment in the home. What cannot be recorded is said and left out; only a
 * home that cannot be written fails. */
int prepare(const struct cmd_call *call, struct spec *spec, struct prepared *ret, struct err *err);
/* The submission of a prepared spec. */
struct submission prepared_submission(const struct prepared *prepared, struct spec *spec);

#endif
