/* SPDX-License-Identifier: MIT */
/*
 * rerun.c — what a trial ran with.
 */
#include "api/rerun.h"

#define SUFFIX         "-rerun"
#define NAME_MAX_BYTES 200 /* of an experiment's name */

static int note_code(const struct attempt *attempt, void *arg)
{
    char **code = arg;
    if (attempt->code) {
        free(*code);
        *code = xstrdup(attempt->code);
    }
    return 0;
}

char *rerun_code(struct store *store, const struct target *target)
{
    const struct experiment *experiment = &target->experiment.experiment;
    char *code = experiment->code ? xstrdup(experiment->code) : NULL;
    store_attempts(store, experiment->id, target->trial.trial.number, false, note_code, &code,
                   NULL);
    return code;
}

void rerun_name(struct spec *spec)
{
    size_t n = strlen(spec->name), end = strlen(SUFFIX);

    if (n + end > NAME_MAX_BYTES || (n > end && str_eq(spec->name + n - end, SUFFIX)))
        return;
    char *name = xasprintf("%s" SUFFIX, spec->name);
    free(spec->name);
    spec->name = name;
}

bool spec_has_program(const struct spec *spec)
{
    return spec->command.len > 1 || (spec->command.len == 1 && spec->command.at[0][0] != '(');
}
