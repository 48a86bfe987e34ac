/* SPDX-License-Identifier: MIT */
/*
 * facts.h — an experiment or a trial as a flat list of facts, so that several can be put side by
 * side: results, parameters, spec, environment.
 */
#ifndef HONE_FACTS_H
#define HONE_FACTS_H

#include "api/find.h"

struct fact {
    const char *section; /* "results", "parameters", "spec", "environment" */
    char *key;           /* "lr", "search.seed" */
    char *text;          /* exact */
    double number;       /* NaN: it is not one */
};
struct facts {
    VEC(struct fact) list;
};

void facts_release(struct facts *facts);
/* How it stands, and its parameters (of an experiment: those of its best trial). */
int facts_results(struct facts *facts, struct store *store, const struct target *target,
                  struct err *err);
/* Spec and environment of its experiment, flattened: search.seed, git.commit. */
int facts_setting(struct facts *facts, const struct target *target, struct err *err);

/* Several lists put side by side. */
struct sheet_row {
    const char *section, *key;
    const struct fact **cells; /* one a list; NULL: it has none */
    bool equal;
};
struct sheet {
    VEC(struct sheet_row) rows;
    size_t n_lists;
};
/* Rows in order of the first list, then what only later lists have. Borrows the lists. */
void sheet_init(struct sheet *sheet, const struct facts *lists, size_t n);
void sheet_release(struct sheet *sheet);

#endif
