/* SPDX-License-Identifier: MIT */
/*
 * show.h — what show.c, show_experiment.c, show_trial.c, show_alerts.c and show_tuning.c share.
 */
#ifndef HONE_SHOW_H
#define HONE_SHOW_H

#include "cli/cmd.h"
#include "api/find.h"
#include "api/fresh.h"
#include "cli/output.h"

struct show {
    const struct cmd_call *call;
    struct store *store;
    const struct target *target;
    bool engine;
    struct fresh *fresh; /* NULL: the database has the newest */
};

/* "label        text" */
void show_line(const struct show *show, const char *label, enum colour colour, const char *fmt, ...)
    PRINTF(4, 5);
/* An empty line and a title. */
void show_head(const struct show *show, const char *title);
/* Text of several lines, set in. */
void show_block(const char *text);
void show_times(const struct show *show, int64_t started_us, int64_t ended_us, int64_t run_us);
void show_marks(const struct show *show, bool starred, const char *note, char *const *tags,
                size_t n_tags);
void show_environment(const struct show *show);
/* The error of a trial's newest attempt, NULL if there is none or it completed; free it. */
char *trial_error(struct store *store, const struct trial *trial);
/* The last events of the experiment, or of the trial if one was named. */
void show_events(const struct show *show);

/* Each alert that fired for the trial; as JSON: a member of an open object. */
void show_alerts(const struct show *show);
void show_alerts_json(const struct show *show, struct json_out *out);

/* What the machine under a trial had at last, its energy; each decision about it. */
void show_trial_tuning(const struct show *show);
void show_decisions(const struct show *show);
/* The same as sums over the trials. */
void show_experiment_tuning(const struct show *show);
/* Members of an open object. */
void show_trial_tuning_json(const struct show *show, struct json_out *out);
/* What is left of a trial or an experiment that runs; else no member. */
void show_left_json(const struct show *show, struct json_out *out);

void show_experiment(const struct show *show);
void show_experiment_json(const struct show *show);
void show_trial(const struct show *show);
void show_trial_json(const struct show *show);

#endif
