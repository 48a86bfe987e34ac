/* SPDX-License-Identifier: MIT */
/*
 * help_docs.c — the manual page, the bash completion and docs/commands.md.
 */
#include "cli/help.h"

/* ---- docs/hone.1 ---- */

/* Text for roff: a backslash is \e, a dash \-, and a line must not begin with . or '. */
static void add_roff(struct str *to, const char *text)
{
    for (bool start = true; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            str_add(to, "\\&");
        if (*text == '\\')
            str_add(to, "\\e");
        else if (*text == '-')
            str_add(to, "\\-");
        else
            str_add_char(to, *text);
        start = *text == '\n';
    }
}

static void man_options(struct str *to, const struct cmd_option *options)
{
    for (; options && options->name; options++) {
        autorelease(str) struct str name = STR_INIT;
        str_add_option(&name, options);
        str_add(to, ".TP\n\\fB");
        add_roff(to, name.s);
        str_add(to, "\\fR\n");
        add_roff(to, options->help);
        str_add_char(to, '\n');
    }
}

static void man_details(struct str *to, const char *text)
{
    while (text && *text) {
        const char *gap = strstr(text, "\n\n");
        autofree(mem) char *paragraph = gap ? xstrndup(text, (size_t)(gap - text)) : xstrdup(text);
        str_add(to, ".PP\n");
        add_roff(to, paragraph);
        str_add_char(to, '\n');
        text = gap ? gap + 2 : NULL;
    }
}

static void man_command(struct str *to, const struct cmd *cmd)
{
    str_addf(to, ".SS \"hone %s%s", cmd->name, *cmd->args ? " " : "");
    add_roff(to, cmd->args);
    str_add(to, "\"\n");
    add_roff(to, cmd->help);
    str_add(to, ".\n");
    man_details(to, cmd->details);
    man_options(to, cmd->options);
}

static void man_facts(struct str *to, const char *title, const struct help_fact *facts)
{
    str_addf(to, ".SH %s\n", title);
    for (; facts->name; facts++) {
        str_addf(to, ".TP\n\\fB%s\\fR\n", facts->name);
        add_roff(to, facts->help);
        str_add_char(to, '\n');
    }
}

void help_man(struct str *to)
{
    str_addf(to,
             ".TH HONE 1 \"\" \"hone %s\" \"User Commands\"\n"
             ".SH NAME\nhone \\- train a model while its hyperparameters are searched\n"
             ".SH SYNOPSIS\n\\fBhone\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
             "[\\fIARGUMENT\\fR]...\n"
             ".SH DESCRIPTION\n"
             "Hone runs trials of a training program side by side, searches its hyperparameters "
             "tunes the machine under them, and records everything. EXPERIMENT "
             "is a number, a name (the newest of that name) or "
             "\\(aqlast\\(aq; TRIAL is EXPERIMENT.NUMBER, EXPERIMENT.last or \\(aqlast\\(aq.\n"
             ".SH COMMANDS\n",
             HONE_VERSION);
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++)
        man_command(to, *cmd);
    str_add(to, ".SH OPTIONS OF EVERY COMMAND\n");
    man_options(to, cmd_common_options);
    man_facts(to, "EXIT STATUS", help_exits);
    man_facts(to, "ENVIRONMENT", help_variables);
    str_add(to, ".SH FILES\n.TP\n\\fI.hone\\fR\nthe home, if there is one in the current folder\n"
                ".TP\n\\fI~/.local/share/hone\\fR\nthe home otherwise\n");
}

/* ---- docs/completion.bash ---- */

static void completion_options(struct str *to, const struct cmd_option *options)
{
    for (; options && options->name; options++)
        str_addf(to, " --%s", options->name);
}

/* What the first argument of a command is completed with. */
static const char *completion_kind(const struct cmd *cmd)
{
    if (strstr(cmd->args, "COMMAND") == cmd->args + 1)
        return "commands";
    if (strstr(cmd->args, "FILE"))
        return "files";
    if (strstr(cmd->args, "EXPERIMENT") || strstr(cmd->args, "TRIAL") || str_eq(cmd->args, "A B"))
        return "names";
    return "none";
}

void help_completion(struct str *to)
{
    str_add(to, "# bash completion for hone; made by 'hone help --completion'\n"
                "_hone()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options= kind=\n"
                "    local commands=\"");
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++)
        str_addf(to, "%s%s", cmd == cmd_list ? "" : " ", (*cmd)->name);
    str_add(to, "\"\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
                "        return\n"
                "    fi\n"
                "    case $command in\n");
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++) {
        str_addf(to, "    %s) kind=%s options=\"", (*cmd)->name, completion_kind(*cmd));
        completion_options(to, cmd_common_options);
        completion_options(to, (*cmd)->options);
        str_add(to, "\" ;;\n");
    }
    str_add(to, "    esac\n"
                "    case $word in\n"
                "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) && return ;;\n"
                "    esac\n"
                "    case $kind in\n"
                "    commands) COMPREPLY=($(compgen -W \"$commands\" -- \"$word\")) ;;\n"
                "    names) COMPREPLY=($(compgen -W \"last $(hone ls --limit 50 2>/dev/null |\n"
                "        awk 'NR > 1 { print $1, $2 }')\" -- \"$word\")) ;;\n"
                "    files) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                "    esac\n"
                "}\n"
                "complete -o filenames -F _hone hone\n");
}

/* ---- docs/commands.md ---- */

/* In a table a bar would end the cell. */
static void add_cell(struct str *to, const char *text)
{
    for (; *text; text++)
        str_addf(to, "%s%c", *text == '|' ? "\\" : "", *text);
}

static void markdown_options(struct str *to, const struct cmd_option *options)
{
    if (!options || !options->name)
        return;
    str_add(to, "\n| option | |\n|---|---|\n");
    for (; options->name; options++) {
        autorelease(str) struct str name = STR_INIT;
        str_add_option(&name, options);
        str_addf(to, "| `%s` | ", name.s);
        add_cell(to, options->help);
        str_add(to, " |\n");
    }
}

static void markdown_facts(struct str *to, const char *title, const struct help_fact *facts)
{
    str_addf(to, "\n## %s\n\n| | |\n|---|---|\n", title);
    for (; facts->name; facts++)
        str_addf(to, "| `%s` | %s |\n", facts->name, facts->help);
}

static const char json_text_md[] =
    "\n## JSON\n\n"
    "`ls`, `show`, `best`, `compare` and `export --jsonl` give the same objects. Keys may be "
    "added, "
    "never renamed.\nA number that is not known is null; nan and inf are the texts \"nan\", "
    "\"inf\", \"-inf\"; times are RFC 3339 UTC.\n\n"
    "| key | of a trial | of an experiment |\n|---|---|---|\n"
    "| `experiment` | number | number |\n"
    "| `name` | of the experiment | the same |\n"
    "| `trial` | `\"3.7\"` | null |\n"
    "| `state` | queued, running, paused, completed, stopped, failed | running, finished, stopped, "
    "failed, interrupted |\n"
    "| `reason` | `\"\"` or why: exit, signal, oom, timeout, lost, diverged, pruned, … | the same "
    "|\n"
    "| `value` | last value of the objective | that of its best trial |\n"
    "| `best` | best value of the objective | `{trial, value, params}` of its best trial, or null "
    "|\n"
    "| `params` | object | those of its best trial, or null |\n"
    "| `attempts` | how many were made | over all trials |\n"
    "| `seconds` | running time over its attempts, also of the one that runs | running time |\n"
    "| `created`, `started`, `ended` | time or null | time or null |\n"
    "| `step`, `first_nan_step` | number or null | |\n"
    "| `trials` | | number of trials in each state |\n"
    "| `remaining_s`, `remaining_low_s`, `remaining_high_s` | while it runs and an engine "
    "answers: seconds to its end, with their interval, or null (`ls` and `show`); else absent | "
    "the same, to the end "
    "of its last trial |\n"
    "| `chance` | beside them: of reaching the target, or null | the best of its last trials |\n"
    "| `starred`, `tags`, `note` | marks | marks |\n"
    "| `repeat_of` | the trial whose setting it runs again, or null | |\n"
    "| `why` | how it was suggested: `{why, by, seen, mean, deviation, acquisition}`, or null | |\n"
    "| `verdict` | of the rule that stopped or paused it: `{rule, step, chance, threshold, rung, "
    "mean, deviation}`, or null | |\n\n"
    "`best --json` adds `runs` (how often the setting was run), `mean` and `deviation` (of the "
    "search's model) and `values` (an objective each).\n"
    "`show TRIAL --json` adds `owner`, `metrics` (an object a metric) and `runs` (an object an "
    "attempt: exit, "
    "signal, oom, seconds, …);\n`show EXPERIMENT --json` adds `spec` (secrets under `env` as "
    "`•••`), `environment` and `code`.\n";

void help_markdown(struct str *to)
{
    str_add(to, "# Commands\n\nMade by `hone help --markdown`.\n\n");
    str_add(to, "EXPERIMENT is a number, a name (the newest of that name) or `last`; TRIAL is\n"
                "EXPERIMENT.NUMBER, EXPERIMENT.last or `last`.\n");
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++) {
        str_addf(to, "\n## hone %s%s%s\n\n%s.\n", (*cmd)->name, *(*cmd)->args ? " " : "",
                 (*cmd)->args, (*cmd)->help);
        if ((*cmd)->details) {
            str_add_char(to, '\n');
            str_add_wrapped(to, (*cmd)->details, 0, 100);
        }
        markdown_options(to, (*cmd)->options);
    }
    str_add(to, "\n## Options of every command\n");
    markdown_options(to, cmd_common_options);
    markdown_facts(to, "Exit codes", help_exits);
    markdown_facts(to, "Variables", help_variables);
    str_add(to, json_text_md);
}
