/* SPDX-License-Identifier: MIT */
/*
 * v1_folder.h — the files of a trial, by names that clients give. Such a name is looked up below
 * the trial's own folders only, without following any link:
 *
 *     1/stdout            the folder of attempt 1
 *     checkpoints/a.pt    what the trial keeps over its attempts
 */
#ifndef HONE_V1_FOLDER_H
#define HONE_V1_FOLDER_H

#include "api/web_route.h"

#define FOLDER_FILES 10000 /* that are listed */

/* The trial that segment 0 of the address names, and how many attempts it has had. -ENOENT with a
 * sentence. */
struct folder_trial {
    int64_t experiment, number, attempts;
};
int folder_find(struct web_call *call, struct folder_trial *ret, struct err *err);

struct folder_file {
    const char *path; /* as above; for the call only */
    uint64_t size;
    int64_t modified_us; /* wall */
};
typedef void folder_fn(const struct folder_file *file, void *arg);
/* Regular files of attempts 1..n and of the checkpoints, sorted; Hone's own state is left out.
 * True: there are more than FOLDER_FILES. */
bool folder_list(const char *home, const struct folder_trial *trial, folder_fn *fn, void *arg);
/* A regular file for reading. -ENOENT with a sentence for everything else. */
int folder_open(const char *home, const struct folder_trial *trial, const char *path, int *ret_fd,
                struct err *err);

#endif
