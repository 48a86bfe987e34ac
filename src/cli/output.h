/* SPDX-License-Identifier: MIT */
/*
 * output.h — experiments, trials and attempts in words for people; api/rows.h has them as JSON.
 */
#ifndef HONE_OUTPUT_H
#define HONE_OUTPUT_H

#include "api/rows.h"
#include "cli/cmd.h"
#include "cli/table.h"

/* Print the text on standard output with a newline. */
void output_line(const struct str *text);

/* For people. */
void str_add_number(struct str *to, double x);       /* 6 digits; NaN: "-" */
void str_add_size(struct str *to, uint64_t bytes);   /* "1.5 GB" */
void str_add_when(struct str *to, int64_t wall_us);  /* local time, "2026-11-15 23:15"; 0: "-" */
void str_add_flat(struct str *to, const char *json); /* {"lr":0.1,"b":2} → lr=0.1 b=2 */
/* The same of system parameters: {"memory":419430400,"cpus":2} → memory=400M cpus=2 */
void str_add_configuration(struct str *to, const char *json);
enum colour trial_colour(enum trial_state state);
enum colour experiment_colour(enum experiment_state state);
/* "failed (exit)" or "completed". */
void str_add_state(struct str *to, const char *state, enum reason reason);

/* A failure of api/where.h: say what went wrong and return the exit code; a wrong expression is
 * wrong usage. */
int where_fail(const struct cmd_call *call, int r, const struct err *err);

#endif
