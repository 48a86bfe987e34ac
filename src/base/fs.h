/* SPDX-License-Identifier: MIT */
/*
 * fs.h — files and folders: read whole ones, replace them without a moment of half a file, locks.
 */
#ifndef HONE_FS_H
#define HONE_FS_H

#include "base/err.h"
#include "base/str.h"

/* mkdir -p. */
int fs_make_dirs(const char *path, int mode, struct err *err);
/* Read a whole file of at most `cap` bytes (-EFBIG past that) and append it to `to`. */
int fs_read(const char *path, size_t cap, struct str *to, struct err *err);
/* Write beside, fsync, rename over: readers see the old or the new text, never a part. */
int fs_write_atomic(const char *path, const char *bytes, size_t n, int mode, struct err *err);
/* Write all or fail; EINTR is retried. */
int fs_write_all(int fd, const char *bytes, size_t n);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* rm -r, without following links. -ENOENT is success. */
int fs_remove_tree(const char *path, struct err *err);
/* True for NFS, SMB, Lustre and the like, where shared memory and locks are not to be trusted. */
bool fs_is_network(const char *path);
/* Bytes that a user may still write there; UINT64_MAX if unknown. */
uint64_t fs_free_bytes(const char *path);
/* Absolute form without resolving links; free() it. */
char *fs_absolute(const char *path);

/* Exclusive lock of an open file (open file description lock: it lives with the description, goes
 * with its last descriptor). 0, -EAGAIN if another holds it. */
int fs_lock(int fd);
/* True if some other description holds it. */
bool fs_locked(int fd);

#endif
