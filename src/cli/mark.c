/* SPDX-License-Identifier: MIT */
/*
 * mark.c — requests that change a row of the home.
 */
#include "cli/mark.h"
#include "api/change.h"
#include "cli/remote.h"

/* As much of it as names it: what the server shows. */
static int find_there(const struct cmd_call *call, const char *ref, struct target *ret)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *shown = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = remote_open(call, &remote, &err);

    if (r >= 0)
        r = remote_show(remote, ref, &shown, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    const char *trial = json_get_text(shown, "trial", NULL);
    const char *dot = trial ? strrchr(trial, '.') : NULL;
    const char *note = json_get_text(shown, "note", NULL);
    ret->experiment.experiment.id = json_get_int(shown, "experiment", 0);
    ret->experiment.experiment.name = xstrdup(json_get_text(shown, "name", ""));
    ret->has_trial = dot != NULL;
    ret->trial.trial.experiment = ret->experiment.experiment.id;
    ret->trial.trial.number = dot ? strtoll(dot + 1, NULL, 10) : 0;
    ret->trial.note = dot && note ? xstrdup(note) : NULL;
    ret->experiment.note = !dot && note ? xstrdup(note) : NULL;
    return 0;
}

int mark_find(const struct cmd_call *call, const char *ref, struct target *ret)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;

    *ret = (struct target){0};
    if (call->server)
        return find_there(call, ref, ret);
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (target_find(store, ref, FIND_ANY, ret, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    return 0;
}

void mark_begin(struct json_out *out, const char *what, const struct target *target)
{
    json_begin_object(out);
    json_put_text(out, "do", what);
    json_put_int(out, "experiment", target->experiment.experiment.id);
    json_put_int(out, "trial", target->has_trial ? target->trial.trial.number : 0);
}

static int send_there(const struct cmd_call *call, const char *request)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = remote_open(call, &remote, &err);

    if (r >= 0)
        r = remote_call(remote, "POST", "/v1/changes", request, &reply, &err);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : 0;
}

int mark_send(const struct cmd_call *call, struct json_out *out)
{
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;

    json_end_object(out);
    if (call->server)
        return send_there(call, out->to->s);
    if (home_change(call->home, out->to->s, &reply, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    return 0;
}

void mark_done(const struct cmd_call *call, const struct target *target, const char *what,
               const char *text)
{
    autofree(mem) char *name = target_name(target);
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    if (!call->json) {
        printf("%s %s\n", name, text);
        return;
    }
    json_begin_object(&out);
    json_put_int(&out, "experiment", target->experiment.experiment.id);
    json_put_text(&out, "trial", target->has_trial ? name : NULL);
    json_put_text(&out, "done", what);
    json_end_object(&out);
    puts(json.s);
}
