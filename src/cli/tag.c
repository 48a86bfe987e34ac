/* SPDX-License-Identifier: MIT */
/*
 * tag.c — hone tag: short words on experiments and trials, shown by ls.
 */
#include "cli/mark.h"

#define TAG_MAX 64

static const struct cmd_option options[] = {
    {"remove", 0, NULL, "take the tags off"},
    {NULL, 0, NULL, NULL},
};

/* A tag is one word that a terminal can show. */
static bool is_tag(const char *tag)
{
    size_t n = strlen(tag);
    for (const char *p = tag; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == ',' || *p == 0x7f)
            return false;
    return n > 0 && n <= TAG_MAX;
}

static int send_tag(const struct cmd_call *call, const struct target *target, const char *tag,
                    bool add)
{
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);

    mark_begin(&out, "tag", target);
    json_put_text(&out, "tag", tag);
    json_put_bool(&out, "add", add);
    return mark_send(call, &out);
}

static int run(struct cmd_call *call)
{
    bool add = !cmd_flag(call, "remove");
    struct target target;

    for (int i = 1; i < call->n_args; i++)
        if (!is_tag(call->args[i]))
            return cmd_usage(call, "'%s' is no tag: one word without commas, at most %d bytes",
                             call->args[i], TAG_MAX);
    int code = mark_find(call, call->args[0], &target);
    for (int i = 1; i < call->n_args && code == 0; i++)
        code = send_tag(call, &target, call->args[i], add);
    if (code == 0)
        mark_done(call, &target, add ? "tag" : "untag", add ? "tagged" : "untagged");
    target_release(&target);
    return code;
}

const struct cmd cmd_tag = {
    .name = "tag",
    .args = "EXPERIMENT|TRIAL TAG…",
    .help = "put tags on an experiment or trial",
    .min_args = 2,
    .max_args = -1,
    .options = options,
    .run = run,
};
