/* SPDX-License-Identifier: MIT */
/*
 * import.h — results that were made elsewhere become a finished experiment. Its trials are
 * observed: they have no attempts.
 *
 * {"do":"import","spec":{…},"environment":{…}|null,"text":"imported from …","trials":[
 *   {"point":[0.1,2,"nan"],"state":"completed","reason":"","values":[0.93],"started_us":…,
 *    "ended_us":…,"step":12|null,"samples":12,"min":0.2,"max":0.93}]}
 * or, of a run with many metrics, "note":"its name there","metrics":[{"metric":"loss","samples":12,
 *    "last":0.3,"min":0.2,"max":0.9,"step":11,"first_nan":3}] instead of the last three.
 * Points are in the order of the spec's parameters; values in that of its objectives. `samples`,
 * `min`, `max` sum up the objective's curve. "owner":"ann" says whose it is; without, nobody's.
 */
#ifndef HONE_IMPORT_H
#define HONE_IMPORT_H

#include "base/json.h"
#include "store/store.h"

/* Write it into the home: through the running engine, or, when there is none, by taking the engine
 * lock for a moment. All of it or nothing. */
int home_import(const char *home, const char *request, int64_t *ret_experiment, struct err *err);
/* Check a request and put its rows into txn, as experiment `id`. */
int import_rows(const json_t *request, int64_t id, int64_t now_us, struct txn *txn,
                struct err *err);

/* The files of its attempts are written: put their samples into the store of series, or have the
 * engine do it. */
int home_gather(const char *home, int64_t experiment, struct err *err);

#endif
