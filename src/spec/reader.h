/* SPDX-License-Identifier: MIT */
/*
 * reader.h — what the parts of spec/ share while one spec is read. Private to spec/.
 */
#ifndef HONE_SPEC_READER_H
#define HONE_SPEC_READER_H

#include "base/yaml.h"
#include "spec/options.h"
#include "spec/parse.h"

#define PARAMS_MAX       1000  /* parameters in a spec */
#define VALUES_MAX       10000 /* values in a list */
#define VALUES_TOTAL_MAX 20000 /* in all lists together */
#define FORBIDS_MAX      1000  /* forbidden combinations */
#define SYSTEM_MAX       16    /* system parameters */
#define TRIES_MAX        1000  /* settings to run first */
#define OBJECTIVES_MAX   8
#define CONSTRAINTS_MAX  32
#define ALERTS_MAX       32

struct reader {
    struct arena arena;
    const char *name; /* of the file, for errors */
    bool nameless;    /* no file: the experiment is named after its program */
    const char *dir;  /* absolute: what paths are relative to */
    int64_t now_us;
    const struct spec_overrides *overrides; /* may be NULL */
    struct spec *spec;
    struct str *notes; /* may be NULL */
    struct err *err;
    const struct yaml_node *root;
};

void reader_note(struct reader *reader, const char *fmt, ...) PRINTF(2, 3);

/* read.c: the tree into the spec, row by row. */
int read_spec(struct reader *reader, const struct yaml_node *root);
/* Keys of a mapping; `prefix` is "" or "search.". A key with nothing behind it counts as absent. */
int read_keys(struct reader *reader, const char *prefix, const struct yaml_node *map);
/* One of the option's words; NULL after an error. */
const struct option_word *read_word(struct reader *reader, const struct option *option,
                                    const struct yaml_node *node);
/* Scalars as texts and lists of them; `what` is the key, for errors. */
int read_text(struct reader *reader, const struct yaml_node *node, const char *what,
              const char **ret);
/* A whole number as people write it (1e3 too); false if it is none. */
bool whole_number(const struct yaml_node *node, double *ret);
/* Append ", did you mean 'x'?" to a sentence, or nothing. */
const char *did_you_mean(struct reader *reader, const char *found);

/* params.c */
int read_params(struct reader *reader, const struct yaml_node *node);
bool param_name_valid(const char *name);
/* sections.c: keys with a form of their own. */
int read_command(struct reader *reader, const struct yaml_node *node);
int read_metrics(struct reader *reader, const struct yaml_node *node);
int read_knowledge(struct reader *reader, const struct yaml_node *node);
int read_improvement(struct reader *reader, const struct yaml_node *node);
int read_deadline(struct reader *reader, const struct yaml_node *node);
int read_code_short(struct reader *reader, const struct yaml_node *node);
int read_code_path(struct reader *reader, const struct yaml_node *node);
int read_keep_checkpoints(struct reader *reader, const struct yaml_node *node);
int read_name(struct reader *reader, const struct yaml_node *node);
/* goals.c, stopping.c */
int read_objective(struct reader *reader, const struct yaml_node *node);
int read_constraints(struct reader *reader, const struct yaml_node *node);
int read_stop(struct reader *reader, const struct yaml_node *node);
/* system.c, forbid.c, tries.c: when the space is known. */
int read_system(struct reader *reader, const struct yaml_node *node);
int read_forbid(struct reader *reader, const struct yaml_node *node);
int read_tries(struct reader *reader, const struct yaml_node *node);
/* alerts.c */
int read_alerts(struct reader *reader, const struct yaml_node *node);
void write_alerts(const struct spec *spec, struct json_out *out);
/* write.c */
void write_objectives(const struct spec *spec, struct json_out *out);
void write_constraints(const struct spec *spec, struct json_out *out);
void write_stop(const struct spec *spec, struct json_out *out);
void write_knowledge(const struct spec *spec, struct json_out *out);
void write_improvement(const struct spec *spec, struct json_out *out);
void write_name(const struct spec *spec, struct json_out *out);
void write_command(const struct spec *spec, struct json_out *out);
void write_metrics(const struct spec *spec, struct json_out *out);
void write_deadline(const struct spec *spec, struct json_out *out);
void write_code_path(const struct spec *spec, struct json_out *out);
void write_keep_checkpoints(const struct spec *spec, struct json_out *out);
/* write_space.c */
void write_params(const struct spec *spec, struct json_out *out);
void write_system(const struct spec *spec, struct json_out *out);
void write_forbid(const struct spec *spec, struct json_out *out);
void write_tries(const struct spec *spec, struct json_out *out);

/* overrides.c: the tree with the command line's changes. */
int apply_overrides(struct reader *reader, struct yaml_node **root);
/* The place of the whole tree is `source`, which has no lines. */
void move_to(struct yaml_node *node, const char *source);
/* command.c: the variable of a parameter under `pass: env`. */
void add_variable_name(const char *name, struct str *to);
/* names.c */
bool spec_name_valid(const char *name);
/* A valid name from any text: "my model.v2" → "my_model_v2". Free it. */
char *spec_name_from(const char *text);
/* From the file or the program. Free it. */
char *spec_name_default(const struct reader *reader);

/* mlframework.c, pipetune.c: is the tree in an older format? And make Hone's form of it. */
bool is_mlframework(const struct yaml_node *root);
int import_mlframework(struct reader *reader, struct yaml_node **root);
bool is_pipetune(const struct yaml_node *root);
int import_pipetune(struct reader *reader, struct yaml_node **root);

#endif
