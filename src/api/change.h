/* SPDX-License-Identifier: MIT */
/*
 * change.h — changes to what is recorded: tags, notes, stars, removal, knowledge. The same code
 * runs in the engine (route) and in a command that found no engine.
 */
#ifndef HONE_CHANGE_H
#define HONE_CHANGE_H

#include "base/json.h"
#include "series/db.h"
#include "store/store.h"

/* Apply a change to the home: through the running engine's socket, or, when there is none, by
 * taking the engine lock for a moment. `request` is a JSON object text:
 *   {"do":"tag","experiment":3,"trial":7,"tag":"x","add":true}      trial 0: the experiment
 *   {"do":"note","experiment":3,"trial":0,"text":"…"|null}
 *   {"do":"star","experiment":3,"trial":0,"star":true}
 *   {"do":"rm","experiment":3,"trial":0}          with the files of its attempts
 *   {"do":"gc_objects","sha256":["…"]}            with the files of these objects
 *   {"do":"queue","paused":true}                  no experiment starts a trial
 *   {"do":"token_add",…}, {"do":"token_rm",…}     who may ask over HTTP: auth.h
 *   {"do":"knowledge","put":[{…}],"remove":["identity"],"clusters":{"identity":2}}
 *                                                 workloads as in tune/workload.h; all optional
 * On success *ret is the reply object (json_decref). */
int home_change(const char *home, const char *request, json_t **ret, struct err *err);

/* Check a request and put its rows into txn. -ENOENT: not such a request. `running` tells which
 * experiments must not be removed. */
int change_rows(const json_t *request, bool (*running)(int64_t experiment, void *arg), void *arg,
                struct txn *txn, struct err *err);

/* Files of what a request removes; call it when its rows are committed. It may take long. */
void change_files(const char *home, const json_t *request);
/* Samples of what a request removes; call it when its rows are committed. */
int change_series(const json_t *request, struct series_db *db, struct err *err);

#endif
