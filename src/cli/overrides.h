/* SPDX-License-Identifier: MIT */
/*
 * overrides.h — the options by which `check`, `run` and the like change a spec from the command
 * line, and their reading.
 */
#ifndef HONE_OVERRIDES_H
#define HONE_OVERRIDES_H

#include "cli/cmd.h"
#include "spec/parse.h"

/* Rows for a command's option table. */
#define OVERRIDE_OPTIONS                                                                           \
    {"fix", 'p', "NAME=VALUE", "give a parameter one value: -p lr=0.1"},                           \
        {"param", 0, "NAME=RANGE",                                                                 \
         "add or replace a parameter: lr=0.001..0.1:log, batch=32,64, layers=1..4:int"},           \
        {"set", 0, "KEY=VALUE", "set any key of the spec: --set search.parallel=4"},               \
        {"name", 0, "NAME", "name of the experiment"},                                             \
        {"trials", 0, "N", "how many trials to run"},                                              \
        {"parallel", 0, "N", "how many of them side by side"},                                     \
        {"seed", 0, "N", "seed of the search"},                                                    \
        {"time", 0, "TIME", "stop after this long: 30s, 10m, 2h"},                                 \
        {"priority", 0, "N", "place in the queue, -100 to 100: higher ones start trials first"},   \
        {"minimize", 0, "METRIC", "the metric to bring down; several: one option each"},           \
    {                                                                                              \
        "maximize", 0, "METRIC", "the metric to bring up"                                          \
    }

/* Fill `ret` from the call; release with spec_overrides_release(). The words after -- are
 * borrowed. */
void overrides_read(const struct cmd_call *call, struct spec_overrides *ret);
/* Neither a file nor a program: then it is hone.yaml of this folder, which `hone init` writes, and
 * is said so. 0, or CMD_USAGE after having said what is missing. */
int overrides_file(struct cmd_call *call);

#endif
