/* SPDX-License-Identifier: MIT */
/*
 * import.h — results of another tool as columns and rows, and readers that fill them: one file a
 * format. import.c makes an experiment of them.
 */
#ifndef HONE_CLI_IMPORT_H
#define HONE_CLI_IMPORT_H

#include "base/err.h"
#include "metrics/metrics.h"
#include "model/trial.h"

struct import_set;

/* A parameter: what values it may have, and which it had. */
struct import_column {
    char *name; /* as it was called there */
    enum param_type type;
    bool log;
    double min, max, step;     /* FLOAT, INT; step 0: any */
    VEC(struct value) choices; /* CHOICE */
    VEC(double) x;             /* a row each: the number, or the index of the choice; NaN: none */
};
struct import_cell {
    const char *text; /* "": none */
    bool quoted;      /* certainly a text */
};
struct import_sample {
    int64_t step;
    double value;
};
struct import_row {
    enum trial_state state;
    enum reason reason;
    double *values;    /* an objective each, then a constraint each */
    int64_t repeat_of; /* an earlier row, from 1; 0: none */
    int64_t started_us, ended_us;
    VEC(struct import_sample) curve; /* of the first objective, steps rising; may be empty */
    const struct import_kind *kind;  /* of a folder's runs: who reads `path` again; NULL: none */
    char *path, *label;              /* … and what the run is called there */
    bool words;                      /* … it has lines, but no number in them */
    bool foreign;                    /* … its files are not what their names say */
    VEC(struct summary) metrics;     /* … all of them; names are owned */
};
struct import_sheet {
    char *name; /* what the tool called it; NULL: nothing */
    char *from; /* "Optuna study 'x'" */
    VEC(struct import_column) columns;
    VEC(struct objective) objectives;
    VEC(struct constraint) constraints;
    VEC(struct import_row) rows;
    bool runs;        /* of a folder: rows have a path; parameters and objectives may be missing */
    struct str notes; /* sentences for the user, a line each */
};
void import_sheet_release(struct import_sheet *sheet);
/* A row with values of NaN; it is the sheet's, until the next one is added. */
struct import_row *import_add_row(struct import_sheet *sheet, size_t n_values);
/* The index of a value among the choices, which grow if it is new. */
double import_choice(struct import_column *column, struct value value);
/* What parts the cells of a table, by its header line (n bytes): a comma, else a semicolon, else a
 * tab. */
char import_separator(const char *line, size_t n);
/* 0,5 → 0.5, where commas part no cells; anything but such a number is left alone. */
void import_decimal_comma(char *text);
/* A number, NaN for an empty cell or a word for it; false: something else. */
bool import_cell_number(const struct import_cell *cell, double *ret);
/* A parameter from the texts of its values, `rows` of them, `stride` apart; its kind is guessed. */
int import_add_column(struct import_sheet *sheet, const char *name, const struct import_cell *at,
                      size_t stride, size_t rows, struct err *err);

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

/* ---- folders of other trackers: import_folder.c ---- */

/* What is read of a run. Any of them may be NULL. */
struct import_sink {
    sample_fn *on_sample;
    void (*on_param)(const char *name, const char *text, bool quoted, void *arg);
    void (*on_unread)(const char *path, size_t line, void *arg);      /* it is no sample */
    void (*on_damage)(const char *path, const char *what, void *arg); /* once a file */
    void *arg;
};
/* A tracker. Its runs are folders or files; one is read twice: for what it has, then for every
 * sample. Nothing there is changed. */
struct import_kind {
    const char *name; /* "TensorBoard" */
    /* Add the experiments found below the folder, with a row for each run (kind, path, label; state
     * and times as far as known). 0: there are none. */
    int (*find)(const char *folder, struct import_set *ret, struct err *err);
    int (*read)(struct import_row *row, const struct import_sink *sink, struct err *err);
};
extern const struct import_kind import_tensorboard, import_mlflow, import_tables;

struct import_set {
    VEC(struct import_sheet) sheets; /* an experiment each */
};
void import_set_release(struct import_set *set);
struct import_sheet *import_add_sheet(struct import_set *set, const char *name, char *from);
/* A run of a folder; `path` and `label` are copied. */
struct import_row *import_add_run(struct import_sheet *sheet, const struct import_kind *kind,
                                  const char *path, const char *label);
/* Find out who wrote the folder and what there is. -EINVAL: no run of any tracker. */
int import_folder(const char *path, const struct import_options *options, struct import_set *ret,
                  struct err *err);
/* The samples of a row as line protocol, into `file`. */
int import_write_run(struct import_row *row, const char *file, struct err *err);
/* Walk the files below a folder in order of their names, links not followed; fn: not 0 ends it. */
int import_walk(const char *folder, int (*fn)(const char *path, const char *name, void *arg),
                void *arg, struct err *err);

/* A small file of somebody else's folder; what is no regular file is not read (-EINVAL). */
int import_read(const char *path, size_t cap, struct str *to, struct err *err);
/* The settings in a YAML file (Lightning's hparams.yaml); one that cannot be read has none. */
void import_read_settings(const char *path, const struct import_sink *sink);

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
