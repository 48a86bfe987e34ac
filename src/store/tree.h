/* SPDX-License-Identifier: MIT */
/*
 * tree.h — the files of a folder that belong to its code, sorted by name.
 */
#ifndef HONE_STORE_TREE_H
#define HONE_STORE_TREE_H

#include "base/arena.h"
#include "base/err.h"

#define TREE_FILE_BYTES  (50ull << 20) /* a larger file is data, not code */
#define TREE_TOTAL_BYTES (500ull << 20)
#define TREE_FILES       100000

struct tree_file {
    const char *path; /* relative to the folder */
    const char *link; /* where it points; NULL: a regular file */
    bool executable;
    uint64_t size;
    int64_t mtime_ns;
};
struct tree {
    struct arena arena;
    VEC(struct tree_file) files;
    uint64_t total_bytes;
};

/* List what snapshot_take() describes. `home` is left out if it is inside. -EFBIG past the limits,
 * with a sentence that names the largest folders. `ret` is released by the caller, also after an
 * error. */
int tree_list(const char *folder, const char *home, struct tree *ret, struct err *err);
void tree_release(struct tree *tree);

#endif
