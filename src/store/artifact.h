/* SPDX-License-Identifier: MIT */
/*
 * artifact.h — what tracking clients (MLflow's) tell and our own tables have no column for: files
 * of a trial, each a logical name and an object; what a run carries beside its trial; models.
 */
#ifndef HONE_ARTIFACT_H
#define HONE_ARTIFACT_H

#include "store/object.h"
#include "store/store.h"

struct artifact {
    int64_t experiment, trial; /* trial 0: of the experiment itself */
    const char *path;          /* "model/weights.bin": data, never a path on the disk */
    const char *sha256;        /* of the object that holds it */
    uint64_t size;
    int64_t time_us; /* wall: when it came */
};
/* New, or in place of the one of this path; the object gets its row, too. */
void txn_put_artifact(struct txn *txn, const struct artifact *artifact);
void txn_remove_artifact(struct txn *txn, int64_t experiment, int64_t trial, const char *path);

/* Those of a trial, by path (as bytes). What is given is borrowed for the call. */
typedef int artifact_fn(const struct artifact *artifact, void *arg); /* not 0: stop, returned */
int store_artifacts(struct store *store, int64_t experiment, int64_t trial, artifact_fn *fn,
                    void *arg, struct err *err);
/* The object that holds it, and its size. -ENOENT with a sentence. */
int store_find_artifact(struct store *store, int64_t experiment, int64_t trial, const char *path,
                        char ret_sha256[SHA256_HEX_SIZE], uint64_t *ret_size, struct err *err);

/* What a client told of a run, a JSON object (engine/runs.h says what is in it); and a model. */
void txn_put_run(struct txn *txn, int64_t experiment, int64_t trial, const char *json);
void txn_put_model(struct txn *txn, int64_t experiment, const char *id, const char *json);
typedef int run_json_fn(int64_t trial, const char *json, void *arg);
int store_runs(struct store *store, int64_t experiment, run_json_fn *fn, void *arg,
               struct err *err);
/* Whose a trial is: who made the run, else the owner of its experiment. NULL: not known; free it.
 */
int store_owner(struct store *store, int64_t experiment, int64_t trial, char **ret,
                struct err *err);
/* What the client called the run. NULL: it is no run of theirs, or has no name; free it. */
int store_run_name(struct store *store, int64_t experiment, int64_t trial, char **ret,
                   struct err *err);
typedef int model_fn(int64_t experiment, const char *id, const char *json, void *arg);
int store_models(struct store *store, model_fn *fn, void *arg, struct err *err);

#endif
