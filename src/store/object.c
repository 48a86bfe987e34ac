/* SPDX-License-Identifier: MIT */
/*
 * object.c — files named by the SHA-256 of what they hold: HOME/objects/ab/cdef…
 *
 * A file is written in HOME/objects/tmp, synced, and renamed to its name: an object is there
 * whole or not at all, and never changes. Whoever dies while writing leaves a file in tmp, which
 * nobody names; it is swept away when the store is next opened.
 */
#include "base/fs.h"
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHA256_SIZE 32
#define STALE_S     3600

/* ---- hashing ---- */

static int digest_new(void **ret, struct err *err)
{
    const struct libcrypto *lib;
    int r = libcrypto_load(&lib, err);
    if (r < 0)
        return r;
    void *digest = lib->EVP_MD_CTX_new();
    if (!digest || lib->EVP_DigestInit_ex(digest, lib->EVP_sha256(), NULL) != 1) {
        lib->EVP_MD_CTX_free(digest);
        return err_set(err, ENOTSUP, "libcrypto cannot make a SHA-256");
    }
    *ret = digest;
    return 0;
}

static void digest_add(void *digest, const void *bytes, size_t n)
{
    const struct libcrypto *lib;
    if (libcrypto_load(&lib, NULL) == 0)
        lib->EVP_DigestUpdate(digest, bytes, n);
}

/* The name; the digest is freed. */
static void digest_finish(void *digest, char ret[SHA256_HEX_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    const struct libcrypto *lib;
    unsigned char bytes[SHA256_SIZE] = {0};
    if (libcrypto_load(&lib, NULL) == 0) {
        lib->EVP_DigestFinal_ex(digest, bytes, NULL);
        lib->EVP_MD_CTX_free(digest);
    }
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        ret[2 * i] = hex[bytes[i] >> 4];
        ret[2 * i + 1] = hex[bytes[i] & 15];
    }
    ret[2 * SHA256_SIZE] = '\0';
}

int sha256_hex(const void *bytes, size_t n, char ret[SHA256_HEX_SIZE], struct err *err)
{
    void *digest;
    int r = digest_new(&digest, err);
    if (r < 0)
        return r;
    digest_add(digest, bytes, n);
    digest_finish(digest, ret);
    return 0;
}

/* ---- names ---- */

bool sha256_valid(const char *name)
{
    return strspn(name, "0123456789abcdef") == SHA256_HEX_SIZE - 1 &&
           name[SHA256_HEX_SIZE - 1] == '\0';
}

char *object_path(const char *home, const char *sha256)
{
    return xasprintf("%s/objects/%.2s/%s", home, sha256, strlen(sha256) > 2 ? sha256 + 2 : "");
}

int64_t object_size(const char *home, const char *sha256)
{
    struct stat st;

    if (!sha256_valid(sha256))
        return -1;
    autofree(mem) char *path = object_path(home, sha256);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

int object_remove(const char *home, const char *sha256, struct err *err)
{
    if (!sha256_valid(sha256))
        return err_set(err, EINVAL, "'%s' does not name an object", sha256);
    autofree(mem) char *path = object_path(home, sha256);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(err, errno, "cannot remove %s", path);
    return 0;
}

/* ---- writing ---- */

int object_writer_init(struct object_writer *writer, const char *home, struct err *err)
{
    autofree(mem) char *tmp = xasprintf("%s/objects/tmp", home);
    *writer = (struct object_writer){.home = home, .fd = -1};
    int r = fs_make_dirs(tmp, 0777, err);
    if (r >= 0)
        r = digest_new(&writer->digest, err);
    if (r < 0)
        return r;
    writer->path = xasprintf("%s/XXXXXX", tmp);
    writer->fd = mkostemp(writer->path, O_CLOEXEC);
    if (writer->fd < 0) {
        r = err_errno(err, errno, "cannot write in %s", tmp);
        free(TAKE(writer->path));
    }
    return r;
}

int object_writer_add(struct object_writer *writer, const void *bytes, size_t n, struct err *err)
{
    int r = fs_write_all(writer->fd, bytes, n);
    if (r < 0)
        return err_errno(err, -r, "cannot write %s", writer->path);
    digest_add(writer->digest, bytes, n);
    writer->size += n;
    return 0;
}

static int sync_dir(const char *path)
{
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Give the written file its name. */
static int settle(struct object_writer *writer, const char *sha256)
{
    autofree(mem) char *path = object_path(writer->home, sha256);
    autofree(mem) char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    autofree(mem) char *top = xasprintf("%s/objects", writer->home);

    if (mkdir(folder, 0777) == 0)
        sync_dir(top);
    else if (errno != EEXIST)
        return -errno;
    if (fchmod(writer->fd, 0444) < 0 || fsync(writer->fd) < 0)
        return -errno;
    if (rename(writer->path, path) < 0)
        return -errno;
    free(TAKE(writer->path));
    return sync_dir(folder);
}

int object_writer_commit(struct object_writer *writer, char ret_sha256[SHA256_HEX_SIZE],
                         bool *ret_new, struct err *err)
{
    struct stat st;
    digest_finish(TAKE(writer->digest), ret_sha256);
    autofree(mem) char *path = object_path(writer->home, ret_sha256);
    bool there = stat(path, &st) == 0 && (uint64_t)st.st_size == writer->size;
    if (ret_new)
        *ret_new = !there;
    if (there) {
        utimensat(AT_FDCWD, path, NULL, 0); /* wanted again: `gc` waits for the row */
        return 0;
    }
    int r = settle(writer, ret_sha256);
    if (r < 0)
        return err_errno(err, -r, "cannot write %s", path);
    return 0;
}

void object_writer_release(struct object_writer *writer)
{
    char unused[SHA256_HEX_SIZE];
    if (writer->digest)
        digest_finish(TAKE(writer->digest), unused);
    if (writer->path) {
        unlink(writer->path);
        free(TAKE(writer->path));
        close(writer->fd);
    } else if (writer->home && writer->fd >= 0) {
        close(writer->fd);
    }
    writer->fd = -1;
}

int object_store(const char *home, const void *bytes, size_t n, char ret_sha256[SHA256_HEX_SIZE],
                 struct err *err)
{
    struct object_writer writer = {.fd = -1};
    int r = object_writer_init(&writer, home, err);
    if (r >= 0)
        r = object_writer_add(&writer, bytes, n, err);
    if (r >= 0)
        r = object_writer_commit(&writer, ret_sha256, NULL, err);
    object_writer_release(&writer);
    return r;
}

static int link_object(const char *home, int fd, const char *path)
{
    autofree(mem) char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    autofree(mem) char *top = xasprintf("%s/objects", home);
    autofree(mem) char *self = xasprintf("/proc/self/fd/%d", fd);

    if (mkdir(folder, 0777) == 0)
        sync_dir(top);
    else if (errno != EEXIST)
        return -errno;
    if (fchmod(fd, 0444) < 0 || fsync(fd) < 0)
        return -errno;
    if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
        return -errno;
    return sync_dir(folder);
}

int object_adopt(const char *home, int fd, const char *sha256, uint64_t size, struct err *err)
{
    struct stat st;

    if (!sha256_valid(sha256))
        return err_set(err, EINVAL, "'%s' does not name an object", sha256);
    autofree(mem) char *top = xasprintf("%s/objects", home), *path = object_path(home, sha256);
    int r = fs_make_dirs(top, 0777, err);
    if (r < 0)
        return r;
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == size) {
        utimensat(AT_FDCWD, path, NULL, 0); /* wanted again: `gc` waits for the row */
        return 0;
    }
    r = link_object(home, fd, path);
    return r < 0 ? err_errno(err, -r, "cannot write %s", path) : 0;
}

void object_sweep(const char *home)
{
    autofree(mem) char *tmp = xasprintf("%s/objects/tmp", home);
    DIR *dir = opendir(tmp);
    struct stat st;
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_mtime + STALE_S < time(NULL))
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

/* ---- reading ---- */

static int hash_file(int fd, char ret[SHA256_HEX_SIZE], struct err *err)
{
    char bytes[65536];
    ssize_t n = 0;
    void *digest;
    int r = digest_new(&digest, err);
    if (r < 0)
        return r;
    for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
        digest_add(digest, bytes, (size_t)n);
    int code = errno;
    digest_finish(digest, ret);
    return n < 0 ? err_errno(err, code, "cannot read") : 0;
}

int object_open(const char *home, const char *sha256, int *ret_fd, struct err *err)
{
    char found[SHA256_HEX_SIZE];
    if (!sha256_valid(sha256))
        return err_set(err, EINVAL, "'%s' does not name an object", sha256);
    autofree(mem) char *path = object_path(home, sha256);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open the object %s", path);
    int r = hash_file(fd, found, err);
    if (r < 0) {
        err_context(err, "object %s", path);
        return r;
    }
    if (!str_eq(found, sha256))
        return err_set(err, EBADMSG, "object %s is damaged: its content has another SHA-256", path);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int object_load(const char *home, const char *sha256, size_t cap, struct str *to, struct err *err)
{
    autoclose int fd = -1;
    int r = object_open(home, sha256, &fd, err);
    if (r < 0)
        return r;
    autofree(mem) char *path = object_path(home, sha256);
    return fs_read(path, cap, to, err);
}
