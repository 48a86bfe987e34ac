/* SPDX-License-Identifier: MIT */
/*
 * cmd.h — a command of the command line: one file each, one const struct cmd each, listed in
 * main.c. Usage, help, man page and completion are made from these structs.
 */
#ifndef HONE_CMD_H
#define HONE_CMD_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* Exit codes that scripts may rely on. */
enum {
    CMD_OK = 0,
    CMD_FAILED = 1, /* it did not work out: no such trial, no trial completed, engine failed */
    CMD_USAGE = 2,  /* wrong usage or spec; nothing was changed */
    CMD_INTERRUPTED = 130, /* Ctrl-C; can be resumed */
};

struct cmd_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    const char *arg;  /* "N", "FILE"; "CERT KEY": two values; NULL: a flag */
    const char *help;
};

struct cmd_call;
struct cmd {
    const char *name, *args, *help;   /* help: one line, lower case, no full stop. args: "[FILE]
                                         [-- COMMAND]"; without "--" in it, words after -- are
                                         ordinary arguments */
    const char *details;              /* paragraphs for `hone help NAME`; may be NULL */
    int min_args, max_args;           /* -1: any number */
    const struct cmd_option *options; /* ends with a NULL name; may be NULL. --home, --json,
                                         --server, --help are everybody's. An option whose arg is
                                         FILE, DIR or URL names something of who types */
    int (*run)(struct cmd_call *call);
};

struct cmd_call {
    const struct cmd *cmd;
    char *home;         /* absolute; resolved from --home, HONE_HOME, .hone, XDG */
    const char *server; /* --server or HONE_SERVER: instead of the home; NULL: none */
    bool json;          /* --json */
    bool colour;        /* standard output is a terminal and NO_COLOR is not set */
    int n_args;
    char **args; /* positional */
    int n_rest;  /* words after "--" */
    char **rest;
    struct cmd_given { /* options as given, in order */
        const struct cmd_option *option;
        const char *value, *second;
    } * given;
    size_t n_given;
};

/* Read the words of a command line. 0; or -EINVAL with a sentence, then call->cmd is the command
 * that was meant, NULL if none. `ret` is released by the caller in any case. */
int cmd_parse(const struct cmd *const *list, int argc, char **argv, struct cmd_call *ret,
              struct err *err);
void cmd_call_release(struct cmd_call *call);
/* The whole program: parse, run, flush. Returns the exit code. */
int cmd_main(const struct cmd *const *list, int argc, char **argv);
/* NULL if there is none of that name. */
const struct cmd *cmd_find(const struct cmd *const *list, const char *name);
/* Options that every command has: --home, --json, --server, --help; ends with a NULL name. */
extern const struct cmd_option cmd_common_options[];
/* The user who types: free it. */
char *cmd_user(void);
/* The folder that holds it all: `given` (--home), HONE_HOME, .hone here, XDG. Absolute; free it. */
char *cmd_home(const char *given);

bool cmd_flag(const struct cmd_call *call, const char *name);
/* The last value given, NULL if none. */
const char *cmd_value(const struct cmd_call *call, const char *name);
/* The second one of an option that has two. */
const char *cmd_second(const struct cmd_call *call, const char *name);
/* The last value given as a whole number in [min, max]; *ret is left alone if it was not given.
 * 0, or CMD_USAGE after having said what is wrong. */
int cmd_number(const struct cmd_call *call, const char *name, int64_t min, int64_t max,
               int64_t *ret);
/* Say "hone: SENTENCE" on standard error and return `code`. */
int cmd_fail(const struct cmd_call *call, int code, const struct err *err);
/* Say "hone COMMAND: SENTENCE" and where help is; returns CMD_USAGE. */
int cmd_usage(const struct cmd_call *call, const char *fmt, ...) PRINTF(2, 3);

extern const struct cmd *const cmd_list[]; /* ends with NULL; in main.c */

#endif
