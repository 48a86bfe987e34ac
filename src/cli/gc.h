/* SPDX-License-Identifier: MIT */
/*
 * gc.h — what gc.c (what no row names), gc_objects.c (code) and gc_expire.c (what `keep:` lets go)
 * share.
 */
#ifndef HONE_GC_H
#define HONE_GC_H

#include "cli/cmd.h"
#include "cli/output.h"

enum gc_kind {
    GC_FOLDERS,
    GC_TRIALS,
    GC_CHECKPOINTS,
    GC_CHECKOUTS,
    GC_OBJECTS,
    GC_CURSORS,
    GC_KINDS
};

struct gc {
    const struct cmd_call *call;
    struct store *store;
    bool dry; /* count only */
    int64_t now_us;
    int64_t count[GC_KINDS];
    uint64_t bytes;
};

/* Remove a tree (unless dry) and count it. */
int gc_remove(struct gc *gc, enum gc_kind kind, const char *path, struct err *err);
/* Send a request to the engine or the home. */
int gc_change(struct gc *gc, const char *request, struct err *err);
/* Checkouts that nothing will run in. */
int gc_checkouts(struct gc *gc, struct err *err);
/* Was the file or folder there, and touched longer ago than this? */
bool gc_older(const struct gc *gc, const char *path, int64_t age_us);
/* Trials and checkpoints that keep.trials and keep.checkpoints do not keep. */
int gc_expire(struct gc *gc, struct err *err);

/* Objects that no experiment names. */
int gc_objects(struct gc *gc, struct err *err);

/* Positions of exports of experiments that are gone. */
int gc_cursors(struct gc *gc, struct err *err);

/* Samples: pack them. */
int gc_series(struct gc *gc, struct err *err);

/* Names in a folder, without those that begin with a dot. */
struct names {
    VEC(char *) list;
};
struct names gc_list(const char *folder);
void names_release(struct names *names);

#endif
