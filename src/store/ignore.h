/* SPDX-License-Identifier: MIT */
/*
 * ignore.h — which files a snapshot leaves out: the syntax of .gitignore.
 */
#ifndef HONE_STORE_IGNORE_H
#define HONE_STORE_IGNORE_H

#include "base/base.h"

struct ignore_rule {
    VEC(char *) parts; /* between slashes; "**" stands for any number of folders */
    bool negated;      /* ! takes the path back in */
    bool only_dirs;    /* ended in a slash */
};
struct ignore {
    VEC(struct ignore_rule) rules;
};

/* Add the rules of a text. Lines that mean nothing are left out, as git does. */
void ignore_parse(struct ignore *ignore, const char *text, size_t n);
/* The last rule that matches decides. `path` is relative, without a slash at either end. A folder
 * that is ignored is not entered: what is inside cannot be taken back. */
bool ignore_match(const struct ignore *ignore, const char *path, bool is_dir);
void ignore_release(struct ignore *ignore);

#endif
