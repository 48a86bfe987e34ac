/* SPDX-License-Identifier: MIT */
/*
 * unpack.c — a snapshot back into a folder.
 *
 * Every name is opened part by part below the folder without following links, so neither "../x"
 * nor a link inside the archive leads outside. Links are made as they were: where they point is
 * the program's business.
 */
#include "base/fs.h"
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

/* ---- reading entries ---- */

static int unpack_error(struct unpacker *unpacker, struct err *err)
{
    const char *text = unpacker->lib->archive_error_string(unpacker->archive);
    return err_set(err, EBADMSG, "cannot unpack the snapshot %.12s: %s", unpacker->sha256,
                   text ? text : "libarchive failed");
}

int unpacker_open(struct unpacker *unpacker, const char *home, const char *sha256, struct err *err)
{
    *unpacker = (struct unpacker){.fd = -1};
    int r = libarchive_load(&unpacker->lib, err);
    if (r >= 0)
        r = object_open(home, sha256, &unpacker->fd, err);
    if (r < 0)
        return r;
    const struct libarchive *lib = unpacker->lib;
    memcpy(unpacker->sha256, sha256, SHA256_HEX_SIZE);
    unpacker->archive = lib->archive_read_new();
    if (!unpacker->archive)
        return err_set(err, ENOMEM, "libarchive is out of memory");
    if (lib->archive_read_support_filter_zstd(unpacker->archive) != ARCHIVE_OK ||
        lib->archive_read_support_format_tar(unpacker->archive) != ARCHIVE_OK ||
        lib->archive_read_open_fd(unpacker->archive, unpacker->fd, CHUNK) != ARCHIVE_OK)
        return unpack_error(unpacker, err);
    return 0;
}

void unpacker_release(struct unpacker *unpacker)
{
    if (unpacker->archive)
        unpacker->lib->archive_read_free(unpacker->archive);
    libarchive_unload(&unpacker->lib);
    if (unpacker->fd >= 0)
        close(unpacker->fd);
    unpacker->archive = NULL;
    unpacker->fd = -1;
}

/* Relative, and no part is empty, "." or "..". */
static bool stays_inside(const char *path)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

int unpacker_next(struct unpacker *unpacker, struct err *err)
{
    const struct libarchive *lib = unpacker->lib;
    struct archive_entry *entry;
    unpacker->path = NULL;
    int r = lib->archive_read_next_header(unpacker->archive, &entry);
    if (r == ARCHIVE_EOF)
        return 0;
    if (r < ARCHIVE_WARN)
        return unpack_error(unpacker, err);
    const char *path = lib->archive_entry_pathname(entry);
    mode_t type = lib->archive_entry_filetype(entry);
    if (!path || !stays_inside(path) || (type != S_IFREG && type != S_IFLNK))
        return err_set(err, EBADMSG,
                       "the snapshot %.12s holds '%s', which no snapshot of ours does: refused",
                       unpacker->sha256, path ? path : "");
    unpacker->path = path;
    unpacker->link = type == S_IFLNK ? lib->archive_entry_symlink(entry) : NULL;
    unpacker->executable = (lib->archive_entry_perm(entry) & 0100) != 0;
    unpacker->size = (uint64_t)MAX(lib->archive_entry_size(entry), 0);
    return 1;
}

ssize_t unpacker_read(struct unpacker *unpacker, void *to, size_t n, struct err *err)
{
    ssize_t got = unpacker->lib->archive_read_data(unpacker->archive, to, n);
    return got < 0 ? unpack_error(unpacker, err) : got;
}

/* ---- making files ---- */

/* Open (and make) the folder of `path` below `top`. */
static int open_parent(int top, const char *path)
{
    int fd = fcntl(top, F_DUPFD_CLOEXEC, 0);
    for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        autofree(mem) char *part = xstrndup(path, (size_t)(slash - path));
        if (mkdirat(fd, part, 0777) < 0 && errno != EEXIST) {
            int code = errno;
            close(fd);
            return -code;
        }
        int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int code = errno;
        close(fd);
        errno = code;
        fd = next;
    }
    return fd < 0 ? -errno : fd;
}

static int make_file(struct unpacker *unpacker, int parent, const char *name, struct err *err)
{
    char bytes[CHUNK];
    autoclose int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              unpacker->executable ? 0777 : 0666);
    if (fd < 0)
        return err_errno(err, errno, "cannot make %s", unpacker->path);
    for (;;) {
        ssize_t n = unpacker_read(unpacker, bytes, sizeof(bytes), err);
        if (n <= 0)
            return (int)n;
        int r = fs_write_all(fd, bytes, (size_t)n);
        if (r < 0)
            return err_errno(err, -r, "cannot write %s", unpacker->path);
    }
}

static int make_entry(struct unpacker *unpacker, int top, struct err *err)
{
    const char *slash = strrchr(unpacker->path, '/');
    const char *name = slash ? slash + 1 : unpacker->path;
    autoclose int parent = open_parent(top, unpacker->path);
    if (parent < 0) {
        int code = -parent;
        parent = -1;
        return err_errno(err, code, "cannot make the folder of %s", unpacker->path);
    }
    if (!unpacker->link)
        return make_file(unpacker, parent, name, err);
    if (symlinkat(unpacker->link, parent, name) < 0)
        return err_errno(err, errno, "cannot make the link %s", unpacker->path);
    return 0;
}

static int check_empty(const char *folder, struct err *err)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    if (!dir)
        return err_errno(err, errno, "cannot read %s", folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..");
    closedir(dir);
    return n ? err_set(err, ENOTEMPTY, "%s is not empty", folder) : 0;
}

int snapshot_unpack(const char *home, const char *sha256, const char *folder, struct err *err)
{
    struct unpacker unpacker = {.fd = -1};
    autoclose int top = -1;

    int r = fs_make_dirs(folder, 0777, err);
    if (r >= 0)
        r = check_empty(folder, err);
    if (r < 0)
        return r;
    top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return err_errno(err, errno, "cannot open %s", folder);
    r = unpacker_open(&unpacker, home, sha256, err);
    while (r >= 0 && (r = unpacker_next(&unpacker, err)) == 1)
        r = make_entry(&unpacker, top, err);
    unpacker_release(&unpacker);
    return r;
}
