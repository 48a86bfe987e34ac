/* SPDX-License-Identifier: MIT */
/*
 * find.h — what the user named on the command line, read from the database: an experiment with its
 * spec, and maybe one of its trials.
 */
#ifndef HONE_FIND_H
#define HONE_FIND_H

#include "store/store.h"

enum find {
    FIND_ANY,        /* an experiment or a trial */
    FIND_EXPERIMENT, /* a trial is refused */
    FIND_TRIAL,      /* "last" is the newest trial; a name alone will do if it has only one */
};

struct target {
    struct experiment_row experiment; /* whole */
    struct spec spec;
    bool has_trial;
    struct trial_row trial;
};

/* Why it has no trials: "no trials yet", or that they were removed. Free it. */
char *target_no_trials(struct store *store, const struct target *target);
/* EXPERIMENT, EXPERIMENT.NUMBER, EXPERIMENT.last, last. `ret` is released by the caller even after
 * an error. -ENOENT, -EINVAL with a sentence that names the remedy. */
int target_find(struct store *store, const char *ref, enum find what, struct target *ret,
                struct err *err);
void target_release(struct target *target);
/* "3" or "3.7"; free it. */
char *target_name(const struct target *target);
/* Fill in one trial anew (to see whether it has ended). */
int target_refresh(struct store *store, struct target *target, struct err *err);

#endif
