/* SPDX-License-Identifier: MIT */
/*
 * served.c — what a server does for its users by running this program: commands that read.
 *
 * The server passes the words as they came. This process, its child, refuses whatever would touch a
 * file or a host that the words name, by the same tables that parse them: so there is no second
 * parser that could see something else in them.
 */
#include "cli/served.h"

#include <errno.h>

const struct web_command served_commands[] = {
    {"ls", ROLE_VIEWER},     {"show", ROLE_VIEWER},    {"logs", ROLE_VIEWER},
    {"best", ROLE_VIEWER},   {"plot", ROLE_VIEWER},    {"importance", ROLE_VIEWER},
    {"replay", ROLE_VIEWER}, {"compare", ROLE_VIEWER}, {"diff", ROLE_VIEWER},
    {"export", ROLE_VIEWER}, {"doctor", ROLE_VIEWER},  {"knowledge", ROLE_VIEWER},
    {"report", ROLE_VIEWER}, {"gc", ROLE_ADMIN},       {NULL, ROLE_NONE},
};

bool served(void)
{
    return getenv(SERVED_VARIABLE) != NULL;
}

bool served_owner(const char *owner, const char *user)
{
    return owner && (served() || !str_eq(owner, user));
}

bool names_file(const struct cmd_option *option, const char *value)
{
    static const char *const kinds[] = {"FILE", "DIR", "URL"};

    for (size_t i = 0; option->arg && i < ARRAY_LEN(kinds); i++)
        if (str_eq(option->arg, kinds[i]))
            return !(i == 0 && str_eq(value, "-"));
    return false;
}

static bool is_served(const char *name)
{
    for (const struct web_command *command = served_commands; command->name; command++)
        if (str_eq(command->name, name))
            return true;
    return false;
}

/* `knowledge` reads but for these, and these write. */
static bool changes_knowledge(const struct cmd_call *call)
{
    const char *verb = call->n_args ? call->args[0] : "ls";

    return str_eq(call->cmd->name, "knowledge") &&
           (!(str_eq(verb, "ls") || str_eq(verb, "show") || str_eq(verb, "export")) ||
            (str_eq(verb, "export") && call->n_args > 1));
}

int served_check(const struct cmd_call *call, struct err *err)
{
    if (!call->cmd || cmd_flag(call, "help"))
        return 0; /* a text */
    if (!is_served(call->cmd->name))
        return err_set(err, EPERM, "'hone %s' is not run by a server", call->cmd->name);
    for (size_t i = 0; i < call->n_given; i++) {
        const struct cmd_given *given = &call->given[i];
        if (names_file(given->option, given->value) || str_eq(given->option->name, "follow"))
            return err_set(err, EPERM, "--%s is not for a server", given->option->name);
    }
    if (changes_knowledge(call))
        return err_set(err, EPERM, "'hone knowledge %s' is done at the server's own home",
                       call->args[0]);
    return 0;
}
