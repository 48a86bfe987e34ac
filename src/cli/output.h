/* SPDX-License-Identifier: MIT */
/*
 * output.h — experiments, trials and attempts as JSON objects that scripts rely on, and the same
 * facts in words for people. Keys are only ever added; docs/commands.md lists them.
 */
#ifndef HONE_OUTPUT_H
#define HONE_OUTPUT_H

#include "base/json.h"
#include "cli/table.h"
#include "store/store.h"

/* Does an engine hold this home now? */
bool home_has_engine(const char *home);
/* The state to show: `running` without an engine is interrupted. */
enum experiment_state shown_state(const struct experiment *experiment, bool engine);

/* {"experiment":3,"name":"x","trial":"3.7","state":…,"reason":…,"value":…,"params":{…},
 *  "attempts":1,"started":…,"ended":…,…}; no newline. With `more` the caller adds members before
 * it closes the object. */
void output_trial(struct json_out *out, const char *name, const struct trial_row *row, bool more);
/* The same keys for an experiment: trial is null; value and params are those of its best trial,
 * `best_params` (JSON, NULL: none); attempts counts all of them. */
void output_experiment(struct json_out *out, const struct experiment_row *row, bool engine,
                       const char *best_params, int64_t attempts, bool more);
void output_attempt(struct json_out *out, const struct attempt *attempt);
void output_summary(struct json_out *out, const struct summary *summary);
/* Print the text on standard output with a newline. */
void output_line(const struct str *text);

/* How many attempts an experiment has made; and the parameters of one trial as JSON (NULL: no such
 * trial; free it). */
int64_t count_attempts(struct store *store, int64_t experiment);
char *trial_params(struct store *store, int64_t experiment, int64_t trial);

/* For people. */
void str_add_number(struct str *to, double x);       /* 6 digits; NaN: "-" */
void str_add_size(struct str *to, uint64_t bytes);   /* "1.5 GB" */
void str_add_when(struct str *to, int64_t wall_us);  /* local time, "2026-11-15 23:15"; 0: "-" */
void str_add_flat(struct str *to, const char *json); /* {"lr":0.1,"b":2} → lr=0.1 b=2 */
enum colour trial_colour(enum trial_state state);
enum colour experiment_colour(enum experiment_state state);
/* "failed (exit)" or "completed". */
void str_add_state(struct str *to, const char *state, enum reason reason);

#endif
