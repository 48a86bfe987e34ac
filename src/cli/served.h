/* SPDX-License-Identifier: MIT */
/*
 * served.h — commands that a server runs for its users, and how this program behaves as one.
 */
#ifndef HONE_SERVED_H
#define HONE_SERVED_H

#include "api/v1_commands.h"
#include "cli/cmd.h"

/* Who may have them run; ends with a NULL name. What is not listed is never run by a server. */
extern const struct web_command served_commands[];

/* Does a server run this process for a user? */
bool served(void);
/* Is it to be said whose an experiment is? Not of `user` who types. An owner may be NULL: nobody.
 */
bool served_owner(const char *owner, const char *user);
/* 0, or -EPERM with a sentence if the call names a file, or another home or server. */
int served_check(const struct cmd_call *call, struct err *err);
/* Does an option's value name a file of who types? "-" is standard output. */
bool names_file(const struct cmd_option *option, const char *value);

#endif
