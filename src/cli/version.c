/* SPDX-License-Identifier: MIT */
/*
 * version.c — hone version.
 */
#include "cli/cmd.h"

static int run(struct cmd_call *call)
{
    if (call->json)
        printf("{\"version\":\"%s\"}\n", HONE_VERSION);
    else
        printf("hone %s\n", HONE_VERSION);
    return CMD_OK;
}

const struct cmd cmd_version = {
    .name = "version",
    .args = "",
    .help = "print the version",
    .run = run,
};
