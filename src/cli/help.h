/* SPDX-License-Identifier: MIT */
/*
 * help.h — documents made from the commands' own tables, so that they cannot differ from them.
 */
#ifndef HONE_HELP_H
#define HONE_HELP_H

#include "cli/cmd.h"

/* What this program is, in a line. */
#define HONE_IS "hone trains your model while it searches its hyperparameters"

void help_man(struct str *to);        /* docs/hone.1 */
void help_completion(struct str *to); /* docs/completion.bash */
void help_markdown(struct str *to);   /* docs/commands.md */

/* "--limit N, -n N" */
void str_add_option(struct str *to, const struct cmd_option *option);
/* Words set into lines of at most `width` columns, each after `indent` spaces. */
void str_add_wrapped(struct str *to, const char *text, size_t indent, size_t width);

/* Facts that all of them tell. */
struct help_fact {
    const char *name, *help;
};
extern const struct help_fact help_exits[], help_variables[]; /* end with a NULL name */

#endif
