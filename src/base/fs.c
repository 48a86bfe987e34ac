/* SPDX-License-Identifier: MIT */
/*
 * fs.c — small, complete file operations.
 */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

int fs_make_dirs(const char *path, int mode, struct err *err)
{
    autofree(mem) char *copy = xstrdup(path);

    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        int code = mkdir(copy, (mode_t)mode) < 0 ? errno : 0;
        if (code && code != EEXIST && !(end && fs_is_dir(copy)))
            return err_errno(err, code, "cannot make the folder %s", copy);
        *p = end;
        if (!end)
            break;
    }
    if (!fs_is_dir(path))
        return err_set(err, ENOTDIR, "%s is not a folder", path);
    return 0;
}

int fs_read(const char *path, size_t cap, struct str *to, struct err *err)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t start = to->len;

    if (fd < 0)
        return err_errno(err, errno, "cannot read %s", path);
    for (;;) {
        str_reserve(to, 65536);
        ssize_t n = read(fd, to->s + to->len, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "cannot read %s", path);
        if (n == 0)
            return 0;
        to->len += (size_t)n;
        to->s[to->len] = '\0';
        if (to->len - start > cap)
            return err_set(err, EFBIG, "%s is larger than %zu bytes", path, cap);
    }
}

int fs_write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

int fs_write_atomic(const char *path, const char *bytes, size_t n, int mode, struct err *err)
{
    autofree(mem) char *beside = xasprintf("%s.%d.tmp", path, (int)getpid());
    autoclose int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);

    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", path);
    int r = fs_write_all(fd, bytes, n);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (r == 0 && rename(beside, path) < 0)
        r = -errno;
    if (r < 0) {
        unlink(beside);
        return err_errno(err, -r, "cannot write %s", path);
    }
    return 0;
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path) < 0 && errno != ENOENT ? errno : 0;
}

int fs_remove_tree(const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0 && errno == ENOENT)
        return 0;
    int r = nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
    if (r != 0)
        return err_errno(err, r < 0 ? errno : r, "cannot remove %s", path);
    return 0;
}

bool fs_is_network(const char *path)
{
    static const unsigned long network[] = {
        0x6969 /* nfs */,        0x517b /* smb */,    0xfe534d42 /* smb2 */, 0xff534d42 /* cifs */,
        0x0bd00bd0 /* lustre */, 0x564c /* ncp */,    0x5346414f /* afs */,  0x6b414653 /* kafs */,
        0x47504653 /* gpfs */,   0xc36400 /* ceph */, 0x65735546 /* fuse */, 0x01021997 /* 9p */,
        0x19830326 /* fhgfs */,
    };
    struct statfs st;
    if (statfs(path, &st) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(network); i++)
        if ((unsigned long)st.f_type == network[i])
            return true;
    return false;
}

uint64_t fs_free_bytes(const char *path)
{
    struct statvfs st;
    if (statvfs(path, &st) < 0)
        return UINT64_MAX;
    return (uint64_t)st.f_bavail * st.f_frsize;
}

char *fs_absolute(const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    autofree(mem) char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return xstrdup(path);
    if (str_eq(path, ".") || path[0] == '\0')
        return TAKE(cwd);
    while (str_starts(path, "./"))
        path += 2;
    return xasprintf("%s/%s", str_eq(cwd, "/") ? "" : cwd, path);
}

static int lock_call(int fd, int command, struct flock *lock)
{
    *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, command, lock);
}

int fs_lock(int fd)
{
    struct flock lock;
    if (lock_call(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    return errno == EACCES ? -EAGAIN : -errno;
}

bool fs_locked(int fd)
{
    struct flock lock;
    return lock_call(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
