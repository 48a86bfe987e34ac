/* SPDX-License-Identifier: MIT */
/*
 * keeper_image.c — from bytes in our own text to an executable file without a name.
 *
 * A memfd is sealed, so what runs is what was built. Some systems bar executing memory
 * (vm.memfd_noexec, SELinux); there a file serves that is unlinked before it is used. Either way
 * an upgrade of hone does not touch keepers that run, and nothing is left to clean up.
 */
#include "exec/keeper_image.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

extern const char hone_keeper_image[], hone_keeper_image_end[];

/* A second, read-only description: the kernel executes no file that is open for writing. */
static int reopen(int fd)
{
    autofree(mem) char *path = xasprintf("/proc/self/fd/%d", fd);
    int r = open(path, O_RDONLY | O_CLOEXEC);

    return r < 0 ? -errno : r;
}

static int image_write(int fd)
{
    size_t n = (uintptr_t)hone_keeper_image_end - (uintptr_t)hone_keeper_image;

    return fs_write_all(fd, hone_keeper_image, n);
}

int keeper_image_in_memory(int *ret_fd, struct err *err)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    autoclose int fd = memfd_create("hone-keeper", flags | MFD_EXEC);
    int r;

    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 every memfd is executable */
        fd = memfd_create("hone-keeper", flags);
    if (fd < 0)
        return err_errno(err, errno, "cannot hold the keeper in memory");
    r = image_write(fd);
    if (r == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        r = -errno;
    if (r == 0)
        r = reopen(fd);
    if (r < 0)
        return err_errno(err, -r, "cannot hold the keeper in memory");
    *ret_fd = r;
    return 0;
}

static int image_file(const char *folder)
{
    autofree(mem) char *path = xasprintf("%s/hone-keeper-XXXXXX", folder);
    autoclose int fd = mkostemp(path, O_CLOEXEC);
    int r;

    if (fd < 0)
        return -errno;
    r = image_write(fd);
    if (r == 0 && fchmod(fd, 0700) < 0)
        r = -errno;
    if (r == 0)
        r = reopen(fd);
    if (unlink(path) < 0 && r >= 0) {
        close(r);
        r = -errno;
    }
    return r;
}

int keeper_image_in_file(int *ret_fd, struct err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int r = runtime && runtime[0] == '/' ? image_file(runtime) : -ENOENT;

    if (r < 0)
        r = image_file("/tmp");
    if (r < 0)
        return err_errno(err, -r, "cannot write the keeper to a file in /tmp");
    *ret_fd = r;
    return 0;
}
