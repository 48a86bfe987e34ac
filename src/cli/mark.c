/* SPDX-License-Identifier: MIT */
/*
 * mark.c — requests that change a row of the home.
 */
#include "cli/mark.h"
#include "api/change.h"

int mark_find(const struct cmd_call *call, const char *ref, struct target *ret)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;

    *ret = (struct target){0};
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

int mark_send(const struct cmd_call *call, struct json_out *out)
{
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;

    json_end_object(out);
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
