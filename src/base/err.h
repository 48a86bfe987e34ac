/* SPDX-License-Identifier: MIT */
/*
 * err.h — an error on its way up: −errno as the return value, and a sentence for the user.
 *
 * The sentence is written where the cause is known; callers add where it happened:
 *     experiment 'mnist': parameter 'lr': lower bound 3 is above upper bound 1
 */
#ifndef HONE_ERR_H
#define HONE_ERR_H

#include "base/base.h"

struct err {
    int code;   /* errno, 0: no error */
    char *text; /* owned; NULL: no error */
};
#define ERR_INIT {0, NULL}

/* Set the sentence (an earlier one is replaced) and return -code. `err` may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);
/* The same with ": strerror(code)" at the end. */
int err_errno(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);
/* Put "…: " before the sentence. Returns -code. */
int err_context(struct err *err, const char *fmt, ...) PRINTF(2, 3);
/* The sentence, or "" when there is none. */
const char *err_text(const struct err *err);
void err_release(struct err *err);

#endif
