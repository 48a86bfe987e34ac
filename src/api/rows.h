/* SPDX-License-Identifier: MIT */
/*
 * rows.h — experiments, trials and attempts as JSON objects that scripts rely on, for commands and
 * over HTTP. Keys are only ever added; docs/commands.md lists them.
 */
#ifndef HONE_ROWS_H
#define HONE_ROWS_H

#include "base/json.h"
#include "store/store.h"

/* Does an engine hold this home now? */
bool home_has_engine(const char *home);
/* The state to show: `running` without an engine is interrupted. */
enum experiment_state shown_state(const struct experiment *experiment, bool engine);
/* The same of a row with its counts: it runs, too, while a tracking client says so of a trial of
 * it. No engine holds such a one: it can be removed, and there is nothing to stop. */
enum experiment_state shown_row_state(const struct experiment_row *row, bool engine);
/* "has finished", "was stopped", "has failed"; NULL: it has not ended. */
const char *ended_words(enum experiment_state state);

/* A stored spec (NULL: none) as it is shown: values under `env` that look like secrets become
 * "•••". JSON; free it. */
char *shown_spec(const char *spec_json);

/* {"experiment":3,"name":"x","trial":"3.7","state":…,"reason":…,"value":…,"params":{…},
 *  "attempts":1,"started":…,"ended":…,…}; no newline. With `more` the caller adds members before
 * it closes the object. */
void rows_put_trial(struct json_out *out, const char *name, const struct trial_row *row, bool more);
/* `values`, an objective each, where the spec has several. */
void rows_put_values(struct json_out *out, const struct spec *spec, const struct trial *trial);
/* The same keys for an experiment: trial is null; value and params are those of its best trial,
 * `best_params` (JSON, NULL: none); attempts counts all of them. */
void rows_put_experiment(struct json_out *out, const struct experiment_row *row, bool engine,
                         const char *best_params, int64_t attempts, bool more);
/* "owner": of a run of a tracking client who made it, else that of the experiment. */
void rows_put_owner(struct json_out *out, struct store *store, const struct trial *trial);
void rows_put_attempt(struct json_out *out, const struct attempt *attempt);
void rows_put_summary(struct json_out *out, const struct summary *summary);

/* How many attempts an experiment has made; and the parameters of one trial as JSON (NULL: no such
 * trial; free it). */
int64_t count_attempts(struct store *store, int64_t experiment);
char *trial_params(struct store *store, int64_t experiment, int64_t trial);

#endif
