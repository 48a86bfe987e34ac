/* SPDX-License-Identifier: MIT */
/*
 * submit.c — hone submit: hand an experiment to the engine at work in the home, or to a server, and
 * return.
 */
#include "api/routes.h"
#include "api/rows.h"
#include "api/wire.h"
#include "cli/prepare.h"
#include "cli/remote_submit.h"
#include "cli/run.h"

#include <errno.h>

static const struct cmd_option options[] = {
    OVERRIDE_OPTIONS,
    {"key", 0, "TEXT", "your own name for it: the same again gives the same experiment, for ever"},
    {NULL, 0, NULL, NULL},
};

#define KEY_MAX 200

struct submitted {
    int64_t id;
    bool known; /* its key was used before: nothing new was begun */
};

static int submit_here(struct cmd_call *call, struct spec *spec, struct submitted *ret,
                       struct err *err)
{
    struct prepared prepared = {.environment = STR_INIT};
    autorelease(str) struct str request = STR_INIT;
    autofree(json) json_t *reply = NULL;

    if (!home_has_engine(call->home))
        return err_set(err, ENOENT,
                       "nobody is at work in %s: 'hone serve' takes submissions, 'hone run' runs "
                       "it at once",
                       call->home);
    int r = prepare(call, spec, &prepared, err);
    if (r >= 0) {
        struct submission submission = prepared_submission(&prepared, spec);
        submission.key = cmd_value(call, "key");
        route_submit_text(&submission, &request);
        r = wire_call(call->home, request.s, &reply, err);
    }
    *ret = (struct submitted){json_get_int(reply, "experiment", 0),
                              json_get_bool(reply, "known", false)};
    prepared_release(&prepared);
    return r;
}

static int submit_there(struct cmd_call *call, struct spec *spec, struct submitted *ret,
                        struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    const char *key = cmd_value(call, "key");
    int r = remote_open(call, &remote, err);

    if (r >= 0)
        r = remote_submit(call, remote, spec, key, &ret->id, err);
    if (r >= 0)
        ret->known = key && remote_status(remote) == 200; /* 201: it is new */
    return r;
}

static void say(const struct cmd_call *call, const struct submitted *submitted)
{
    long long id = (long long)submitted->id;

    if (call->json)
        printf("{\"experiment\":%lld%s}\n", id, submitted->known ? ",\"known\":true" : "");
    else if (submitted->known)
        printf("experiment %lld was submitted with this key before; nothing new is begun: 'hone "
               "attach %lld' shows it\n",
               id, id);
    else
        printf("experiment %lld is submitted: 'hone attach %lld' shows it\n", id, id);
}

static int submit(struct cmd_call *call, struct spec *spec)
{
    autorelease(err) struct err err = ERR_INIT;
    struct submitted submitted = {0};
    int r = call->server ? submit_there(call, spec, &submitted, &err)
                         : submit_here(call, spec, &submitted, &err);

    if (r < 0)
        return cmd_fail(call, r == -EINVAL || r == -ERANGE ? CMD_USAGE : CMD_FAILED, &err);
    say(call, &submitted);
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    const char *key = cmd_value(call, "key");
    struct spec_overrides overrides;
    autorelease(spec) struct spec spec;
    int code = overrides_file(call);

    spec_init(&spec);
    if (code)
        return code;
    if (key && (!*key || strlen(key) > KEY_MAX))
        return cmd_usage(call, "--key has 1 to %d bytes", KEY_MAX);
    overrides_read(call, &overrides);
    code = run_read_spec(call, &overrides, &spec);
    spec_overrides_release(&overrides);
    return code ? code : submit(call, &spec);
}

const struct cmd cmd_submit = {
    .name = "submit",
    .args = "[FILE] [-- COMMAND]",
    .help = "hand an experiment to the engine at work, or to a server, and return",
    .details =
        "FILE and the options are those of 'hone run'. The engine is the one at work in the "
        "home ('hone serve', or a 'hone run'), or with --server that of another machine: "
        "then the code is sent along, and trials run there in a checkout of it, with the "
        "server's environment and what the spec says under env.\n\n"
        "With --key a submission that is sent again names the experiment that it began, "
        "whether that still runs or not, and begins nothing: so a script may try until it gets "
        "an answer. Another spec with the same key is refused: it needs another key.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
