/* SPDX-License-Identifier: MIT */
/*
 * shell.h — words the way a POSIX shell quotes them, without a shell: no variables, no globs, no
 * commands. 'single', "double" (where \ escapes $ ` " \), backslash, blanks between words.
 */
#ifndef HONE_SHELL_H
#define HONE_SHELL_H

#include "base/err.h"
#include "base/str.h"

struct words {
    VEC(char *) list;
};
void words_release(struct words *words);
/* Append the words of `text`. -EINVAL with a sentence for a quote that does not end. */
int shell_split(const char *text, struct words *ret, struct err *err);
/* Append one word, quoted only if need be: shell_split() gives it back, and a shell too. */
void shell_quote(const char *word, struct str *to);

#endif
