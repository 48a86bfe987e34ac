/* SPDX-License-Identifier: MIT */
/*
 * note.c — hone note: a text kept with an experiment or trial. Without a text it prints the one
 * that is there.
 */
#include "cli/mark.h"

#define NOTE_MAX (64 << 10)

static const struct cmd_option options[] = {
    {"clear", 0, NULL, "take the note away"},
    {NULL, 0, NULL, NULL},
};

static int send_note(const struct cmd_call *call, const struct target *target, const char *text)
{
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);

    mark_begin(&out, "note", target);
    json_put_text(&out, "text", text);
    int code = mark_send(call, &out);
    if (code == 0)
        mark_done(call, target, text ? "note" : "clear", text ? "noted" : "has no note now");
    return code;
}

static int print_note(const struct cmd_call *call, const struct target *target)
{
    const char *note = target->has_trial ? target->trial.note : target->experiment.note;

    if (call->json) {
        autofree(mem) char *name = target_name(target);
        autorelease(str) struct str json = STR_INIT;
        struct json_out out = JSON_OUT(&json);
        json_begin_object(&out);
        json_put_int(&out, "experiment", target->experiment.experiment.id);
        json_put_text(&out, "trial", target->has_trial ? name : NULL);
        json_put_text(&out, "note", note);
        json_end_object(&out);
        puts(json.s);
    } else if (note) {
        puts(note);
    }
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    bool clear = cmd_flag(call, "clear");
    autorelease(str) struct str text = STR_INIT;
    struct target target;

    for (int i = 1; i < call->n_args; i++)
        str_addf(&text, "%s%s", i > 1 ? " " : "", call->args[i]);
    if (clear && text.len)
        return cmd_usage(call, "--clear takes the note away; a text beside it makes no sense");
    if (text.len > NOTE_MAX)
        return cmd_usage(call, "a note has at most %d bytes", NOTE_MAX);
    int code = mark_find(call, call->args[0], &target);
    if (code == 0 && !clear && text.len == 0)
        code = print_note(call, &target);
    else if (code == 0)
        code = send_note(call, &target, clear ? NULL : text.s);
    target_release(&target);
    return code;
}

const struct cmd cmd_note = {
    .name = "note",
    .args = "EXPERIMENT|TRIAL [TEXT]",
    .help = "keep a note with an experiment or trial",
    .details = "Without TEXT it prints the note. A text that begins with a dash goes after --.",
    .min_args = 1,
    .max_args = -1,
    .options = options,
    .run = run,
};
