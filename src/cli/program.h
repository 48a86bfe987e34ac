/* SPDX-License-Identifier: MIT */
/*
 * program.h — programs: is the one of a spec there, and was one named where a spec belongs?
 */
#ifndef HONE_PROGRAM_H
#define HONE_PROGRAM_H

#include "cli/cmd.h"
#include "model/spec.h"

/* Is the program of the spec there and executable? The sentence names the remedy. */
int program_check(const struct spec *spec, struct err *err);
/* Is `path`, given where a spec belongs, a program? -EINVAL with what to type instead, else 0. */
int program_refuse(const struct cmd *cmd, const char *path, struct err *err);

#endif
