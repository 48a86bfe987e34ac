/* SPDX-License-Identifier: MIT */
/*
 * v1_commands.h — commands that a server runs for its users: this very program, as a child.
 */
#ifndef HONE_V1_COMMANDS_H
#define HONE_V1_COMMANDS_H

#include "api/web_route.h"

/* The child finds this in its environment: it must not touch files that its words name, nor
 * another home or server. */
#define SERVED_VARIABLE "HONE_SERVED"

/* What may be run, and by whom. A table ends with a NULL name. */
struct web_command {
    const char *name;
    enum role role;
};

#endif
