/* SPDX-License-Identifier: MIT */
/*
 * control.c — a new text into the control page, under the eyes of a running program.
 *
 * A seqlock: generation odd while the text changes. A reader takes the generation, copies, and
 * takes it again; equal and even means whole. The generation found is continued, whoever wrote it
 * (an odd one was left by a writer that died in the middle).
 *
 * Written by pwrite, not through a mapping as the program reads it: a program that truncates its
 * own file would end us with SIGBUS. The kernel's page is the same, and calls come in order.
 */
#include "exec/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(int fd, const void *bytes, size_t n, size_t at)
{
    ssize_t done = pwrite(fd, bytes, n, (off_t)at);

    if (done < 0)
        return -errno;
    return (size_t)done == n ? 0 : -EIO;
}

static int put_generation(int fd, uint64_t generation)
{
    return put(fd, &generation, sizeof(generation), offsetof(struct control_page, generation));
}

/* The generation is continued only by an even one: a page left odd is never read. */
static int page_write(int fd, const char *json, size_t n, uint64_t *ret_generation)
{
    struct control_page page = {.version = 1, .length = n};
    const size_t at = offsetof(struct control_page, generation);
    int r;

    if (pread(fd, &page.generation, sizeof(page.generation), (off_t)at) < 0)
        return -errno;
    page.generation |= 1;
    r = put_generation(fd, page.generation);
    if (r == 0)
        r = put(fd, &page.version, sizeof(page.version), 0);
    if (r == 0)
        r = put(fd, &page.length, sizeof(page.length), offsetof(struct control_page, length));
    if (r == 0)
        r = put(fd, json, n, offsetof(struct control_page, json));
    *ret_generation = page.generation + 1;
    return r == 0 ? put_generation(fd, *ret_generation) : r;
}

int exec_control(const char *dir, const char *json, uint64_t *ret_generation, struct err *err)
{
    autoclose int fd = state_open(dir, O_RDWR, err);
    size_t n = strlen(json), room = sizeof(((struct control_page *)0)->json);
    struct stat st;

    if (fd < 0)
        return fd;
    if (n > room)
        return err_set(err, EMSGSIZE,
                       "the configuration of %zu bytes is too long for the control page, "
                       "which holds %zu",
                       n, room);
    if (fstat(fd, &st) < 0 || st.st_size < STATE_CONTROL_SIZE)
        return err_set(err, EINVAL, "%s/state is damaged: it is too short", dir);
    int r = page_write(fd, json, n, ret_generation);
    return r < 0 ? err_errno(err, -r, "cannot write %s/state", dir) : 0;
}
