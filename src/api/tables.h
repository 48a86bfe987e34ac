/* SPDX-License-Identifier: MIT */
/*
 * tables.h — the tables of a home's experiments (table.h) as one reading thread keeps them: made
 * when first asked for, then brought up to date by the trials that were written since, thrown away
 * when all together are too large, least recently used first. What the list of experiments needs of
 * each is small and stays.
 */
#ifndef HONE_TABLES_H
#define HONE_TABLES_H

#include "api/table.h"
#include "store/changes.h"

#define TABLES_BYTES ((size_t)256 << 20)
#define SPARK_MAX    40

struct tables;
/* `changes` (borrowed) tells what was written; NULL: tables are read anew for every question. */
struct tables *tables_new(struct changes *changes, size_t bytes_max);
void tables_free(struct tables *tables);

/* As of now or later. It is the tables', until the next call. -ENOENT: no such experiment. */
int tables_get(struct tables *tables, struct store *store, int64_t experiment,
               struct trial_table **ret, struct err *err);

/* Of all trials. */
struct digest {
    int64_t trials, attempts;
    int64_t counts[TRIAL_STATES];
    double best_value; /* of completed ones, as the objective has it; NaN: none */
    int64_t best_trial;
    double joules;           /* of those where they are known */
    bool measured;           /* all of them */
    double spark[SPARK_MAX]; /* the best value so far, by number, spread over all */
    size_t n_spark;
    int64_t front; /* of several objectives: trials that no other one beats in all; -1: of one */
};
int tables_digest(struct tables *tables, struct store *store, int64_t experiment,
                  struct digest *ret, struct err *err);
/* Fill in counts and best of a row that was read without them. What the search says is the best
 * goes before what the values say. */
int tables_complete(struct tables *tables, struct store *store, struct experiment_row *row,
                    struct digest *ret, struct err *err);
/* What tuning did in all trials of an experiment, and their energy: tuning_sum.h. Without system
 * parameters it is in the digest (of now, borrowed); once the experiment has ended it is kept. */
struct sums {
    int64_t changes, asked;
    double cost_s, joules;
    bool measured;
};
void tables_sums(struct tables *tables, struct store *store, const struct target *target,
                 const struct digest *digest, struct sums *ret);

/* A long answer about an experiment that has ended, kept until anything of it is written; one for
 * each, `question` tells which. NULL: not kept. It lives until the next call. */
const struct str *tables_answer(struct tables *tables, int64_t experiment, int64_t question);
/* Of what was read after the last tables_answer(). */
void tables_keep_answer(struct tables *tables, int64_t experiment, int64_t question,
                        const struct str *answer);

#endif
