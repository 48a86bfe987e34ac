/* SPDX-License-Identifier: MIT */
/*
 * disk.h — what folders take on the disk, and whether something in them still lives.
 */
#ifndef HONE_DISK_H
#define HONE_DISK_H

#include "store/store.h"

/* Bytes that a file or tree takes on the disk; 0 if it is not there. */
uint64_t disk_bytes(const char *path);
/* The experiment's folder with all its attempts and checkpoints; free it. */
char *experiment_dir(const char *home, int64_t experiment);
/* Paths of one trial: attempts and checkpoints, "T.1", "T.checkpoints"; NULL-terminated, each and
 * the list to be freed (disk_paths_free). */
char **trial_paths(const char *home, int64_t experiment, int64_t trial);
void disk_paths_free(char **paths);
uint64_t disk_bytes_of(char *const *paths);
/* rm -r of each. */
int disk_remove(char *const *paths, struct err *err);
/* How many attempts of it (trial 0: of the whole experiment) have a living keeper. */
int living_attempts(struct store *store, const char *home, int64_t experiment, int64_t trial);

#endif
