/* SPDX-License-Identifier: MIT */
/*
 * tracked_internal.h — what the files of tracked share.
 */
#ifndef HONE_TRACKED_INTERNAL_H
#define HONE_TRACKED_INTERNAL_H

#include "base/map.h"
#include "engine/tracked.h"
#include "store/artifact.h"

#define TRACKED_DEFAULT "Default"

struct tracked {
    struct engine *engine;
    struct store *reader;
    struct series_db *db;
    VEC(struct tracked_experiment *) all; /* by our number; Default has none until it is used */
    struct map by_id;                     /* our number → struct tracked_experiment */
    VEC(struct tracked_model *) models;
    uint64_t values;
    size_t told_bytes; /* of what runs were last told as */
    bool unflushed;    /* the kernel does not have all samples */
};

struct tracked_experiment *tracked_add(struct tracked *tracked, const char *name);
struct tracked_run *tracked_add_run(struct tracked_experiment *experiment, int64_t number);
void tracked_forget(struct tracked_experiment *experiment);
/* Its runs, with what they had told. */
int tracked_load(struct tracked_experiment *experiment, struct err *err);
void tracked_run_free(struct tracked_run *run);
void tracked_release_pairs(struct tracked_pairs *pairs);
/* It has samples that its summaries do not tell of yet. */
void tracked_mark(struct tracked_run *run);
/* It has changed: what it was told as does not hold any more. */
void tracked_untell(struct tracked_run *run);
/* This sample is of the run; does it become the latest of its metric? */
void tracked_take_latest(struct tracked_run *run, const struct tracked_sample *sample,
                         uint32_t name);
/* What is kept beside the rows. */
char *tracked_environment(const struct tracked_experiment *experiment);
void tracked_run_json(const struct tracked_run *run, struct str *to);
struct series_source tracked_source(const struct tracked_run *run);

#endif
