/* SPDX-License-Identifier: MIT */
/*
 * knowledge.h — hone knowledge: what past workloads taught, read from the home and changed there.
 */
#ifndef HONE_CLI_KNOWLEDGE_H
#define HONE_CLI_KNOWLEDGE_H

#include "cli/cmd.h"
#include "tune/workload.h"

struct known {
    int64_t id; /* 0: not in the home yet */
    struct workload workload;
    bool unread;  /* its JSON is not understood: only what the row itself says is there */
    bool changed; /* to be written */
};
struct known_list {
    VEC(struct known) list; /* by id */
};
void known_list_release(struct known_list *known);
/* All of the home; none if there is no home yet. */
int known_load(const struct cmd_call *call, struct known_list *ret, struct err *err);
/* By id, name, or at least 4 digits of the identity. -ENOENT, -EINVAL with a sentence. */
int known_find(const struct known_list *known, const char *ref, size_t *ret, struct err *err);
/* Write those that changed, remove these identities, and fit the clusters anew over what is left;
 * `known` is what is to be left. */
int known_save(const struct cmd_call *call, struct known_list *known, char *const *removed,
               size_t n_removed, struct err *err);

/* The verbs: an exit code each. */
typedef int known_verb(struct cmd_call *call, struct known_list *known, struct err *err);
known_verb known_export, known_import;

#endif
