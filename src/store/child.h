/* SPDX-License-Identifier: MIT */
/*
 * child.h — ask another program something, and never wait long or read much for the answer.
 */
#ifndef HONE_STORE_CHILD_H
#define HONE_STORE_CHILD_H

#include "base/err.h"
#include "base/str.h"

struct child {
    const char *const *argv; /* argv[0] is looked up in PATH */
    const char *const *envp;
    const char *dir;     /* where it runs */
    int64_t deadline_us; /* mono: killed with its group then */
    size_t cap;          /* most bytes of output */
};
/* Append its standard output; its errors go nowhere and it reads nothing. Returns its exit status
 * (≥ 0), -ENOENT if there is no such program, -ETIMEDOUT, -EFBIG past the cap, -ECHILD if it
 * died of a signal. From any thread. */
int child_ask(const struct child *child, struct str *to);

#endif
