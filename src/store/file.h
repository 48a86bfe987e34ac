/* SPDX-License-Identifier: MIT */
/*
 * file.h — an object while it is written: bytes are hashed on their way to a file beside, which
 * gets its name when all of them are there.
 */
#ifndef HONE_STORE_FILE_H
#define HONE_STORE_FILE_H

#include "store/library.h"
#include "store/object.h"

struct object_writer {
    const char *home; /* borrowed */
    char *path;       /* of the file beside; NULL when it has its name */
    int fd;
    void *digest;
    uint64_t size;
};
/* Zero is nothing begun; release in any state. What is not committed is removed. */
int object_writer_init(struct object_writer *writer, const char *home, struct err *err);
int object_writer_add(struct object_writer *writer, const void *bytes, size_t n, struct err *err);
/* Durable, under its name. *ret_new: it was not there before (may be NULL). */
int object_writer_commit(struct object_writer *writer, char ret_sha256[SHA256_HEX_SIZE],
                         bool *ret_new, struct err *err);
void object_writer_release(struct object_writer *writer);

/* Remove what writers that died an hour ago or earlier left in HOME/objects/tmp. */
void object_sweep(const char *home);

/* Open an object for reading, after checking that its content still has its name. */
int object_open(const char *home, const char *sha256, int *ret_fd, struct err *err);

/* A snapshot being read, entry by entry. */
struct unpacker {
    const struct libarchive *lib;
    struct archive *archive;
    char sha256[SHA256_HEX_SIZE];
    int fd;
    /* the entry at hand; path NULL: at the end */
    const char *path, *link; /* link NULL: a regular file */
    bool executable;
    uint64_t size;
};
int unpacker_open(struct unpacker *unpacker, const char *home, const char *sha256, struct err *err);
/* The next entry: 1, or 0 at the end. A name that leaves the folder is an error. */
int unpacker_next(struct unpacker *unpacker, struct err *err);
/* Bytes of the entry; 0 at its end. */
ssize_t unpacker_read(struct unpacker *unpacker, void *to, size_t n, struct err *err);
void unpacker_release(struct unpacker *unpacker);

#endif
