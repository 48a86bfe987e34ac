/* SPDX-License-Identifier: MIT */
/*
 * help.c — hone help, hone help COMMAND, and hone alone: a short tour of what to type first.
 */
#include "cli/help.h"
#include "base/suggest.h"
#include "cli/table.h"
#include "spec/parse.h"

#define WIDTH 80

const struct help_fact help_exits[] = {
    {"0", "it worked; for run: the experiment finished as asked"},
    {"1", "it did not work out: no such trial, no trial completed, the engine failed"},
    {"2", "wrong usage or spec; nothing was changed"},
    {"130", "interrupted; 'hone resume' goes on"},
    {NULL, NULL},
};

const struct help_fact help_variables[] = {
    {"HONE_HOME", "the folder that holds it all, unless --home says otherwise"},
    {"HONE_LOG", "error, warn (default), info or debug: how much is said on standard error"},
    {"HONE_NVML", "the library of NVIDIA's driver, if not libnvidia-ml.so.1: energy of GPUs"},
    {"HONE_PDU",
     "http://HOST:PORT/PATH of a power meter that answers in JSON: energy at the outlet"},
    {"HONE_PDU_PATH", "where its watts are in that JSON, such as outlets.0.power_w"},
    {"HONE_POWERCAP", "where RAPL is shown, if not in /sys/class/powercap: energy of processors"},
    {"NO_COLOR", "no colours, even on a terminal"},
    {"XDG_DATA_HOME", "where the home is when nothing else says: $XDG_DATA_HOME/hone"},
    {NULL, NULL},
};

static const struct cmd_option options[] = {
    {"man", 0, NULL, "print the manual page"},
    {"completion", 0, NULL, "print the completion for bash"},
    {"markdown", 0, NULL, "print docs/commands.md"},
    {"spec", 0, NULL, "print docs/spec.md: every key of a spec"},
    {NULL, 0, NULL, NULL},
};

void str_add_option(struct str *to, const struct cmd_option *option)
{
    const char *arg = option->arg ? option->arg : "", *gap = option->arg ? " " : "";
    str_addf(to, "--%s%s%s", option->name, gap, arg);
    if (option->letter)
        str_addf(to, ", -%c%s%s", option->letter, gap, arg);
}

/* One paragraph; returns where it ended. */
static const char *add_paragraph(struct str *to, const char *text, size_t indent, size_t width)
{
    size_t column = 0;

    while (*text && *text != '\n') {
        size_t n = strcspn(text, " \n");
        if (column && column + 1 + n > width) {
            str_add_char(to, '\n');
            column = 0;
        }
        str_addf(to, "%*s", column ? 1 : (int)indent, "");
        str_add_n(to, text, n);
        column = (column ? column + 1 : indent) + n;
        text += n + (text[n] == ' ');
    }
    str_add_char(to, '\n');
    return text;
}

void str_add_wrapped(struct str *to, const char *text, size_t indent, size_t width)
{
    while (*text) {
        text = add_paragraph(to, text, indent, width);
        for (; *text == '\n'; text++)
            if (text[1] == '\n')
                str_add_char(to, '\n');
    }
}

static void add_options(struct table *table, const struct cmd_option *list)
{
    for (; list && list->name; list++) {
        autorelease(str) struct str name = STR_INIT;
        str_add_option(&name, list);
        table_add(table, PLAIN, "");
        table_add(table, BOLD, name.s);
        table_add(table, PLAIN, list->help);
    }
}

/* Those of the command, then everybody's. */
static void print_options(const struct cmd_option *list, bool colour)
{
    struct table table = TABLE_INIT;

    for (int i = 0; i < 3; i++)
        table_column(&table, "", COLUMN_LEFT);
    add_options(&table, list);
    add_options(&table, cmd_common_options);
    table_print(&table, stdout, colour, 0);
    table_release(&table);
}

static int help_command(const struct cmd_call *call, const struct cmd *cmd)
{
    autorelease(str) struct str text = STR_INIT;

    str_addf(&text, "hone %s%s%s\n", cmd->name, *cmd->args ? " " : "", cmd->args);
    str_addf(&text, "  %s\n", cmd->help);
    if (cmd->details) {
        str_add_char(&text, '\n');
        str_add_wrapped(&text, cmd->details, 0, WIDTH);
    }
    fputs(text.s, stdout);
    puts("\noptions:");
    print_options(cmd->options, call->colour);
    return CMD_OK;
}

static void print_facts(const char *title, const struct help_fact *facts)
{
    printf("\n%s:\n", title);
    for (; facts->name; facts++)
        printf("  %-14s %s\n", facts->name, facts->help);
}

static int help_all(const struct cmd_call *call)
{
    struct table table = TABLE_INIT;

    puts(HONE_IS "\n"
                 "and tunes the machine under it ('hone tune', or 'system:' in a spec)\n\n"
                 "usage: hone COMMAND [OPTION]… [ARGUMENT]…\n\ncommands:");
    for (int i = 0; i < 3; i++)
        table_column(&table, "", COLUMN_LEFT);
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++) {
        table_add(&table, PLAIN, "");
        table_addf(&table, BOLD, "%s %s", (*cmd)->name, (*cmd)->args);
        table_add(&table, PLAIN, (*cmd)->help);
    }
    table_print(&table, stdout, call->colour, 0);
    table_release(&table);
    puts("\nEXPERIMENT is a number, a name (the newest of that name) or 'last';\n"
         "TRIAL is EXPERIMENT.NUMBER, EXPERIMENT.last or 'last'.\n\noptions of every command:");
    print_options(NULL, call->colour);
    print_facts("exit codes", help_exits);
    print_facts("variables", help_variables);
    puts("\n'hone help COMMAND' tells more about one of them");
    return CMD_OK;
}

static void put_options(struct json_out *out, const struct cmd_option *list)
{
    json_key(out, "options");
    json_begin_array(out);
    for (; list && list->name; list++) {
        char letter[2] = {list->letter, '\0'};
        json_begin_object(out);
        json_put_text(out, "name", list->name);
        json_put_text(out, "letter", list->letter ? letter : NULL);
        json_put_text(out, "arg", list->arg);
        json_put_text(out, "help", list->help);
        json_end_object(out);
    }
    json_end_array(out);
}

/* --json: one command, or with NULL all of them. */
static int help_json(const struct cmd *one)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_array(&out);
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++) {
        if (one && *cmd != one)
            continue;
        json_begin_object(&out);
        json_put_text(&out, "name", (*cmd)->name);
        json_put_text(&out, "args", (*cmd)->args);
        json_put_text(&out, "help", (*cmd)->help);
        put_options(&out, (*cmd)->options);
        json_end_object(&out);
    }
    json_end_array(&out);
    puts(text.s);
    return CMD_OK;
}

static int unknown(const struct cmd_call *call, const char *name)
{
    VEC(const char *) names = {0};
    for (const struct cmd *const *cmd = cmd_list; *cmd; cmd++)
        vec_push(&names, (*cmd)->name);
    const char *closest = suggest(name, names.at, names.len);
    vec_release(&names);
    if (closest)
        return cmd_usage(call, "there is no command '%s', did you mean '%s'?", name, closest);
    return cmd_usage(call, "there is no command '%s'", name);
}

static const struct {
    const char *option;
    void (*make)(struct str *to);
} documents[] = {
    {"man", help_man},
    {"completion", help_completion},
    {"markdown", help_markdown},
    {"spec", spec_docs},
};

static int run(struct cmd_call *call)
{
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        autorelease(str) struct str text = STR_INIT;
        if (!cmd_flag(call, documents[i].option))
            continue;
        documents[i].make(&text);
        fputs(text.s, stdout);
        return CMD_OK;
    }
    if (call->n_args == 0)
        return call->json ? help_json(NULL) : help_all(call);
    const struct cmd *cmd = cmd_find(cmd_list, call->args[0]);
    if (!cmd)
        return unknown(call, call->args[0]);
    return call->json ? help_json(cmd) : help_command(call, cmd);
}

const struct cmd cmd_help = {
    .name = "help",
    .args = "[COMMAND]",
    .help = "list the commands, or explain one",
    .max_args = 1,
    .options = options,
    .run = run,
};
