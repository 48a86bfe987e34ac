/* SPDX-License-Identifier: MIT */
/*
 * main.c — the list of commands, in the order in which a user meets them. To add one: a file with
 * a const struct cmd, a row here; help, man page and completion follow by themselves.
 */
#include "cli/help.h"

extern const struct cmd cmd_init, cmd_check, cmd_run, cmd_tune, cmd_submit, cmd_attach, cmd_stop,
    cmd_pause, cmd_resume, cmd_queue, cmd_ls, cmd_show, cmd_logs, cmd_best, cmd_plot,
    cmd_importance, cmd_replay, cmd_compare, cmd_diff, cmd_report, cmd_rerun, cmd_export,
    cmd_import, cmd_serve, cmd_open, cmd_token, cmd_knowledge, cmd_tag, cmd_note, cmd_star, cmd_rm,
    cmd_gc, cmd_doctor, cmd_help, cmd_version;

const struct cmd *const cmd_list[] = {
    &cmd_init, &cmd_check,  &cmd_run,       &cmd_tune,       &cmd_submit,  &cmd_attach,
    &cmd_stop, &cmd_pause,  &cmd_resume,    &cmd_queue,      &cmd_ls,      &cmd_show,
    &cmd_logs, &cmd_best,   &cmd_plot,      &cmd_importance, &cmd_replay,  &cmd_compare,
    &cmd_diff, &cmd_report, &cmd_rerun,     &cmd_export,     &cmd_import,  &cmd_serve,
    &cmd_open, &cmd_token,  &cmd_knowledge, &cmd_tag,        &cmd_note,    &cmd_star,
    &cmd_rm,   &cmd_gc,     &cmd_doctor,    &cmd_help,       &cmd_version, NULL,
};

/* `hone` alone: what to type first. */
static int tour(void)
{
    puts(HONE_IS "\n"
                 "\n"
                 "to begin, in the folder of your training program:\n"
                 "  hone init -- python3 train.py    write a commented spec, hone.yaml\n"
                 "  hone check hone.yaml             see what it would do\n"
                 "  hone run hone.yaml               run it; Ctrl-C stops, 'hone resume' goes on\n"
                 "or without a file:\n"
                 "  hone run --param lr=0.001..0.1:log --minimize loss -- python3 train.py\n"
                 "then:\n"
                 "  hone best last                   the best trials\n"
                 "  hone show last.1                 everything about one of them\n"
                 "  hone logs last.1                 what it printed\n"
                 "\n"
                 "'hone help' lists all commands, 'hone doctor' says what this machine allows");
    return CMD_OK;
}

int main(int argc, char **argv)
{
    return argc > 1 ? cmd_main(cmd_list, argc, argv) : tour();
}
