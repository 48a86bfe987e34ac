/* SPDX-License-Identifier: MIT */
/*
 * pattern.h — a regular expression as people write it today, in the words of POSIX. Private to
 * metrics/.
 */
#ifndef HONE_METRICS_PATTERN_H
#define HONE_METRICS_PATTERN_H

#include "base/err.h"
#include "base/str.h"
#include <regex.h>

#define PATTERN_GROUPS_MAX 32 /* of all kinds */

struct pattern_group {
    size_t index; /* in regexec's matches */
    char *name;   /* NULL: a plain group */
};
struct pattern {
    struct str posix;                 /* an extended regular expression */
    VEC(struct pattern_group) groups; /* that capture; (?:…) is left out */
    bool ignore_case;                 /* began with (?i) */
};
#define PATTERN_INIT                                                                               \
    {                                                                                              \
        STR_INIT, {NULL, 0, 0}, false                                                              \
    }

/* Translate: (?<n>…) (?P<n>…) (?:…) (?i) \d \D \w \W \s \S \b \t. 0, or -EINVAL with a sentence
 * about what POSIX cannot do (lazy quantifiers, looking around, back references); *ret is then
 * empty. */
int pattern_parse(const char *text, struct pattern *ret, struct err *err);
void pattern_release(struct pattern *pattern);

#endif
