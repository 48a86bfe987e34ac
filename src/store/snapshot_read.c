/* SPDX-License-Identifier: MIT */
/*
 * snapshot_read.c — a snapshot looked at without unpacking it to the disk.
 */
#include "store/file.h"

#include <errno.h>

int snapshot_list(const char *home, const char *sha256, snapshot_fn *fn, void *arg, struct err *err)
{
    struct unpacker unpacker = {.fd = -1};
    int r = unpacker_open(&unpacker, home, sha256, err);

    while (r >= 0 && (r = unpacker_next(&unpacker, err)) == 1) {
        struct snapshot_file file = {unpacker.path, unpacker.link, unpacker.size};
        fn(&file, arg);
    }
    unpacker_release(&unpacker);
    return r;
}

static int read_entry(struct unpacker *unpacker, size_t cap, struct str *to, struct err *err)
{
    char bytes[65536];
    ssize_t n;

    if (unpacker->link) {
        str_add(to, unpacker->link);
        return 0;
    }
    if (unpacker->size > cap)
        return err_set(err, EFBIG, "'%.200s' has %llu bytes: more than %zu are not shown",
                       unpacker->path, (unsigned long long)unpacker->size, cap);
    while ((n = unpacker_read(unpacker, bytes, sizeof(bytes), err)) > 0 && to->len <= cap)
        str_add_n(to, bytes, (size_t)n);
    return n < 0 ? (int)n : 0;
}

int snapshot_read(const char *home, const char *sha256, const char *path, size_t cap,
                  struct str *to, struct err *err)
{
    struct unpacker unpacker = {.fd = -1};
    int r = unpacker_open(&unpacker, home, sha256, err);

    while (r >= 0 && (r = unpacker_next(&unpacker, err)) == 1)
        if (str_eq(unpacker.path, path))
            break;
    if (r == 1)
        r = read_entry(&unpacker, cap, to, err);
    else if (r == 0)
        r = err_set(err, ENOENT, "the snapshot %.12s has no file '%.200s'", sha256, path);
    unpacker_release(&unpacker);
    return r;
}
