/* SPDX-License-Identifier: MIT */
/*
 * parse.h — from files and command lines to a struct spec, and back to text.
 *
 * One option table (options.c) is the source of parsing, checks, help, docs/spec.md and errors.
 * Errors read: train.yaml:7:3: unknown key 'parms', did you mean 'params'?
 */
#ifndef HONE_SPEC_PARSE_H
#define HONE_SPEC_PARSE_H

#include "model/spec.h"

/* Changes made on the command line, applied over the file before it is checked. */
struct spec_overrides {
    VEC(char *) set; /* "search.parallel=4": any key of the spec, value in YAML */
    VEC(char *)
    typed;           /* beside set: how it was spelled, "--parallel 4", for errors; NULL, or
                        none there: as "--set search.parallel=4" */
    VEC(char *) fix; /* -p "lr=0.1": give a parameter one value */
    VEC(char *)
    param; /* --param "lr=0.001..0.1:log", "batch=32,64,128", "layers=1..4:int",
              "seed=7", "epochs=5..20..5": add or replace a parameter */
    const char *const *command; /* words after --, NULL: none */
    size_t n_command;
    int64_t now_us; /* wall: resolves limits.deadline */
    /* Can this pattern work (metric "": a list's)? Asked where its place is known; NULL: nobody. */
    int (*check_pattern)(const char *metric, const char *pattern, struct err *err);
};
void spec_overrides_release(struct spec_overrides *overrides);

/* Read `path` (NULL: only the overrides; "-": standard input). Knows Hone's spec, mlframework's
 * parameters.yml and PipeTune's pipetune.conf. Relative paths are relative to the file's folder.
 * `ret` must be spec_init()ed and is released by the caller even after an error.
 * `ret_notes` (may be NULL): sentences for the user that are not errors, a line each. */
int spec_load(const char *path, const struct spec_overrides *overrides, struct spec *ret,
              struct str *ret_notes, struct err *err);
/* Read text, named `name` in errors, relative to folder `dir`. */
int spec_parse(const char *text, size_t n, const char *name, const char *dir,
               const struct spec_overrides *overrides, struct spec *ret, struct str *ret_notes,
               struct err *err);
/* A part of a spec, for a search without a program: a mapping with `params`, and maybe `forbid`,
 * `try`, `objective`, `constraint` and `search`, in JSON or YAML. Fills ret->space, ret->tries and
 * what else is named, all with their defaults (trials 0: not said). Errors name no place, just the
 * parameter. `ret` must be spec_init()ed and is released by the caller even after an error. */
int spec_parse_params(const char *text, size_t n, struct spec *ret, struct err *err);
/* Fit the system parameters to the machine, at submission: `auto` ends at its cpus; values of cpus
 * beyond them, and of threads beyond four times as many, go away, and settings of `try` with them.
 * 0, or -EINVAL with a sentence if none is left. A second time changes nothing. */
int spec_system_resolve(struct spec *spec, double machine_cpus, struct err *err);
/* The configuration that a trial with `cpus` starts with: spec->system.n doubles. */
void spec_system_start(const struct spec *spec, double cpus, double *ret_x);
/* The whole spec as canonical JSON; spec_parse() of it gives an equal spec. */
void spec_json(const struct spec *spec, struct str *to);
/* `hone check`: the expanded plan for people: command, parameters with their number of values,
 * size of the space, trials, limits. */
void spec_plan(const struct spec *spec, struct str *to);
/* docs/spec.md, from the option table. */
void spec_docs(struct str *to);
/* A commented starting spec for `hone init`; `command` may be NULL. */
void spec_template(const char *name, const char *command, struct str *to);

/* What a trial's program is started with. */
struct command_line {
    VEC(char *) argv; /* without a terminating NULL */
    VEC(char *) env;  /* "KEY=value" beyond the inherited environment */
};
/* Replace {name}, append --name=value, make HONE_PARAM_… variables when pass: env.
 * `system` is a point of spec->system; NULL, or tune: off: its parameters are not passed. Those
 * that Hone puts in place itself (cpus, threads …) are not passed unless the command names them.
 * `checkpoint` (may be NULL) is what {checkpoint} becomes ("" if NULL). */
int spec_command_line(const struct spec *spec, const double *point, const double *system,
                      const char *checkpoint, struct command_line *ret, struct err *err);
/* What $HONE_PARAMS holds: the active parameters, then those of `system` that are the program's. */
void spec_params_json(const struct spec *spec, const double *point, const double *system,
                      struct json_out *out);
void command_line_release(struct command_line *line);
/* Names in braces in the command that are no parameter's, each once, for `hone check`: they reach
 * the program as they are. JSON and ${VARIABLE} of a shell are left out. */
void spec_unknown_names(const struct spec *spec, struct str *to);

#endif
