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
#define ERR_INIT                                                                                   \
    {                                                                                              \
        0, NULL                                                                                    \
    }

/* Set the sentence (an earlier one is replaced) and return -code. `err` may be NULL. */
#define err_set(err, code, ...) err_negative(err_set_((err), (code), __VA_ARGS__))
/* The same with ": strerror(code)" at the end. */
#define err_errno(err, code, ...) err_negative(err_errno_((err), (code), __VA_ARGS__))
/* Put "…: " before the sentence. Returns -code. */
#define err_context(err, ...) err_negative(err_context_((err), __VA_ARGS__))

int err_set_(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);
int err_errno_(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);
int err_context_(struct err *err, const char *fmt, ...) PRINTF(2, 3);
/* Lets the compiler see that an error's code is below 0 on every path. */
static inline UNUSED int err_negative(int r)
{
    return r < 0 ? r : -1;
}
/* The sentence, or "" when there is none. */
const char *err_text(const struct err *err);
void err_release(struct err *err);

#endif
