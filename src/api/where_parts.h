/* SPDX-License-Identifier: MIT */
/*
 * where_parts.h — what where.c and where_fields.c share: the row under evaluation, and the fields
 * of trials and experiments as tables.
 */
#ifndef HONE_WHERE_PARTS_H
#define HONE_WHERE_PARTS_H

#include "expr/expr.h"
#include "store/store.h"

/* One of both is set. */
struct where_row {
    const struct trial_row *trial;
    const struct experiment_row *experiment;
    enum experiment_state shown;
};

enum where_words { WORDS_NONE, WORDS_TRIAL_STATE, WORDS_EXPERIMENT_STATE, WORDS_REASON };
struct where_field {
    const char *name;
    enum expr_type type;
    enum where_words words; /* all that its text can be */
    struct expr_value (*get)(const struct where_row *row);
};
extern const struct where_field where_trial_fields[], where_experiment_fields[]; /* end: no name */

/* All of them up to a NULL; the array is static. */
const char *const *where_words(enum where_words words);

/* A parameter as a column, and its value in a trial. */
enum expr_type where_param_type(const struct param *param);
struct expr_value where_param(const struct param *param, double x);

#endif
