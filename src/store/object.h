/* SPDX-License-Identifier: MIT */
/*
 * object.h — files named by the SHA-256 of their content, under HOME/objects/ab/cdef…; and code
 * snapshots as such objects (tar + zstd by libarchive, opened on first use).
 */
#ifndef HONE_OBJECT_H
#define HONE_OBJECT_H

#include "base/err.h"
#include "base/str.h"

#define SHA256_HEX_SIZE 65

int sha256_hex(const void *bytes, size_t n, char ret[SHA256_HEX_SIZE], struct err *err);

/* Is this the name of an object: 64 digits, 0-9 and a-f? */
bool sha256_valid(const char *name);
/* Bytes of a stored object; -1: it is not there, or the name is none. */
int64_t object_size(const char *home, const char *sha256);
/* Path of an object (free it). */
char *object_path(const char *home, const char *sha256);
int object_remove(const char *home, const char *sha256, struct err *err);
/* Store bytes; durable when it returns 0. Storing them again changes nothing. */
int object_store(const char *home, const void *bytes, size_t n, char ret_sha256[SHA256_HEX_SIZE],
                 struct err *err);
/* Give an unnamed, written file (O_TMPFILE on the file system of the home) the name of its content,
 * which the caller has hashed; durable when it returns 0. What is there already stays. */
int object_adopt(const char *home, int fd, const char *sha256, uint64_t size, struct err *err);
/* Append an object of at most `cap` bytes to `to`; -EBADMSG if it is damaged. */
int object_load(const char *home, const char *sha256, size_t cap, struct str *to, struct err *err);

struct snapshot {
    char sha256[SHA256_HEX_SIZE]; /* of the archive: equal trees give equal names */
    uint64_t size;                /* of the archive */
    size_t files;
    bool is_new; /* was not stored before */
};
/* Pack the folder into an object: regular files and links, sorted, without times and owners, minus
 * .honeignore (gitignore syntax), .git, .hone, the home itself, node_modules, __pycache__ and
 * files over 50 MB. At most 500 MB in all (-EFBIG with a sentence naming the largest folders).
 * Durable when it returns 0. */
int snapshot_take(const char *home, const char *folder, struct snapshot *ret, struct err *err);
/* Unpack into an empty or new folder. Refuses names that leave it. */
int snapshot_unpack(const char *home, const char *sha256, const char *folder, struct err *err);
/* A quick fingerprint of the same files by size and mtime: has the code changed since? */
int snapshot_fingerprint(const char *home, const char *folder, uint64_t *ret, struct err *err);
/* The files of a snapshot, sorted; what is given is borrowed for the call. */
struct snapshot_file {
    const char *path, *link; /* link NULL: a regular file */
    uint64_t size;
};
typedef void snapshot_fn(const struct snapshot_file *file, void *arg);
int snapshot_list(const char *home, const char *sha256, snapshot_fn *fn, void *arg,
                  struct err *err);
/* Append one file of it, or where a link points. -ENOENT: it has none of that path; -EFBIG: it is
 * larger than `cap`. */
int snapshot_read(const char *home, const char *sha256, const char *path, size_t cap,
                  struct str *to, struct err *err);
/* Two snapshots compared: a line a file that differs ("changed train.py", "added x", "removed y"),
 * with a unified diff of text files when `with_diff`. */
int snapshot_diff(const char *home, const char *sha_a, const char *sha_b, bool with_diff,
                  struct str *to, struct err *err);

/* What was there when the experiment began, as a JSON object: host, kernel, cpu, cpus,
 * memory_bytes, hone, command, user, folder; git {commit, branch, dirty, patch, patch_bytes} of
 * `folder`; python {version, executable, packages} if the program is a Python or a script of one;
 * program: a hash of the files that the command names; variables (null where name or value looks
 * like a secret). The patch is stored as an object. Asks git (≤ 5 s) and Python (≤ 10 s): call it
 * from a worker thread. */
struct environment_of {
    const char *folder;       /* of the code, with its git */
    const char *dir;          /* where the program runs; NULL: `folder` */
    const char *const *words; /* of its command */
    size_t n_words;
    const char *const *envp;
};
int environment_record(const char *home, const struct environment_of *of, struct str *to_json,
                       struct err *err);

#endif
