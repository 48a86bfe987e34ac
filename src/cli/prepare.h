/* SPDX-License-Identifier: MIT */
/*
 * prepare.h — from a spec that was read to one that can be submitted: the program is there, the
 * code and the environment are recorded, a checkout is made where one is asked for.
 */
#ifndef HONE_PREPARE_H
#define HONE_PREPARE_H

#include "cli/cmd.h"
#include "engine/engine.h"
#include "store/object.h"

struct prepared {
    struct snapshot snapshot; /* sha256 "" if none */
    struct str environment;
};
void prepared_release(struct prepared *prepared);

/* Is the program of the spec there and executable? The sentence names the remedy. */
int program_check(const struct spec *spec, struct err *err);
/* Record code and environment in the home. What cannot be recorded is said and left out; only a
 * home that cannot be written fails. */
int prepare(const struct cmd_call *call, struct spec *spec, struct prepared *ret, struct err *err);
/* Run in a checkout of snapshot `sha256` instead of the spec's folder. */
int prepare_checkout(const char *home, const char *sha256, struct spec *spec, struct err *err);
/* The submission of a prepared spec. */
struct submission prepared_submission(const struct prepared *prepared, struct spec *spec);

#endif
