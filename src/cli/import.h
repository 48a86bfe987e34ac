/* SPDX-License-Identifier: MIT */
/*
 * import.h — results of another tool as columns and rows, and readers that fill them: one file a
 * format. import.c makes an experiment of them.
 */
#ifndef HONE_CLI_IMPORT_H
#define HONE_CLI_IMPORT_H

#include "base/err.h"
#include "model/trial.h"

/* A parameter: what values it may have, and which it had. */
struct import_column {
    char *name; /* as it was called there */
    enum param_type type;
    bool log;
    double min, max, step;     /* FLOAT, INT; step 0: any */
    VEC(struct value) choices; /* CHOICE */
    VEC(double) x;             /* a row each: the number, or the index of the choice; NaN: none */
};
struct import_sample {
    int64_t step;
    double value;
};
struct import_row {
    enum trial_state state;
    enum reason reason;
    double *values; /* an objective each */
    int64_t started_us, ended_us;
    VEC(struct import_sample) curve; /* of the first objective, steps rising; may be empty */
};
struct import_sheet {
    char *name; /* what the tool called it; NULL: nothing */
    char *from; /* "Optuna study 'x'" */
    VEC(struct import_column) columns;
    VEC(struct objective) objectives;
    VEC(struct import_row) rows;
    struct str notes; /* sentences for the user, a line each */
};
void import_sheet_release(struct import_sheet *sheet);
/* A row with values of NaN; it is the sheet's, until the next one is added. */
struct import_row *import_add_row(struct import_sheet *sheet, size_t n_objectives);
/* The index of a value among the choices, which grow if it is new. */
double import_choice(struct import_column *column, struct value value);

struct import_options {
    const char *study;             /* Optuna: NULL if there is only one */
    const char *const *objectives; /* COLUMN[:maximize|:minimize], n_objectives of them */
    size_t n_objectives;
    const char *const *ignore; /* columns to leave out */
    size_t n_ignore;
};
/* `ret` is zero and released by the caller in any case. -EINVAL: not such a file, or not usable,
 * with a sentence. */
int import_optuna(const char *path, const struct import_options *options, struct import_sheet *ret,
                  struct err *err);
int import_csv(const char *path, const struct import_options *options, struct import_sheet *ret,
               struct err *err);

#define IMPORT_ROWS_MAX 1000000

/* A sheet on its way to an experiment. */
struct import {
    const char *path;
    const char *name;     /* as the user wants it; NULL: as the tool or file is called */
    char *const *command; /* n_command words; none: nothing can be run */
    size_t n_command;
    struct import_sheet sheet;
    char **names;  /* of the columns, as parameters of ours */
    size_t *hangs; /* a column each: one more than the column it depends on; 0: none */
    struct spec spec;
    double *points; /* (rows, space.n) */
};
/* Fill spec and points from the sheet. */
int import_make_spec(struct import *import, struct err *err);
void import_release(struct import *import);

/* Imported, and no program was named that could run more of its trials. */
bool spec_has_no_program(const struct spec *spec);

#endif
