/* SPDX-License-Identifier: MIT */
/*
 * control.c — a new text into the control page, under the eyes of a running program.
 *
 * A seqlock: generation odd while the text changes. A reader takes the generation, copies, and
 * takes it again; equal and even means whole. The generation found is continued, whoever wrote it
 * (an odd one was left by a writer that died in the middle).
 */
#include "exec/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint64_t page_write(struct control_page *page, const char *json, size_t n)
{
    uint64_t odd = __atomic_load_n(&page->generation, __ATOMIC_RELAXED) | 1;

    __atomic_store_n(&page->generation, odd, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    page->version = 1;
    __atomic_store_n(&page->length, n, __ATOMIC_RELAXED);
    memcpy(page->json, json, n);
    __atomic_store_n(&page->generation, odd + 1, __ATOMIC_RELEASE);
    return odd + 1;
}

int exec_control(const char *dir, const char *json, uint64_t *ret_generation, struct err *err)
{
    autoclose int fd = state_open(dir, O_RDWR, err);
    size_t n = strlen(json);
    struct control_page *page;
    struct stat st;

    if (fd < 0)
        return fd;
    if (n > sizeof(page->json))
        return err_set(err, EMSGSIZE,
                       "the configuration of %zu bytes is too long for the control page, "
                       "which holds %zu",
                       n, sizeof(page->json));
    if (fstat(fd, &st) < 0 || st.st_size < STATE_CONTROL_SIZE)
        return err_set(err, EINVAL, "%s/state is damaged: it is too short", dir);
    page = mmap(NULL, STATE_CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return err_errno(err, errno, "cannot map %s/state", dir);
    *ret_generation = page_write(page, json, n);
    munmap(page, STATE_CONTROL_SIZE);
    return 0;
}
