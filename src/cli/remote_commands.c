/* SPDX-License-Identifier: MIT */
/*
 * remote_commands.c — which command is done where when a server is named.
 *
 *     init, check …        here: they touch no home
 *     run, stop, tag …     here, by requests to the server (each in its own file)
 *     ls, show, plot …     there: the server runs them, and what they print is printed here
 *     serve                not at all
 */
#include "base/fs.h"
#include "cli/export.h"
#include "cli/influx_cursor.h"
#include "cli/remote.h"
#include "cli/served.h"
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum place { THERE, HERE, BY_REQUESTS, NOWHERE };

static const struct {
    const char *name;
    enum place place;
} places[] = {
    {"init", HERE},          {"check", HERE},         {"help", HERE},
    {"version", HERE},       {"run", BY_REQUESTS},    {"tune", BY_REQUESTS},
    {"submit", BY_REQUESTS}, {"attach", BY_REQUESTS}, {"stop", BY_REQUESTS},
    {"resume", BY_REQUESTS}, {"pause", BY_REQUESTS},  {"queue", BY_REQUESTS},
    {"tag", BY_REQUESTS},    {"note", BY_REQUESTS},   {"star", BY_REQUESTS},
    {"rm", BY_REQUESTS},     {"serve", NOWHERE},      {"open", BY_REQUESTS},
    {"token", BY_REQUESTS},  {"import", BY_REQUESTS}, {"rerun", BY_REQUESTS},
};

static enum place place_of(const struct cmd *cmd)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (str_eq(places[i].name, cmd->name))
            return places[i].place;
    return THERE;
}

/* ---- the server runs it ---- */

/* Options of ours alone, and where its text is to go: -o FILE is left out, --svg FILE becomes "-".
 */
static int add_option(const struct cmd_given *given, struct json_out *out, const char **ret_file,
                      struct err *err)
{
    const char *name = given->option->name;
    autorelease(str) struct str word = STR_INIT;

    if (str_eq(name, "server") || str_eq(name, "token-file") || str_eq(name, "ca"))
        return 0;
    if (names_file(given->option, given->value)) {
        if (!str_eq(given->option->arg, "FILE"))
            return err_set(err, EINVAL, "--%s does not work against a server", name);
        *ret_file = given->value;
        if (str_eq(name, "output"))
            return 0;
    }
    str_addf(&word, "--%s", name);
    if (given->option->arg)
        str_addf(&word, "=%s", names_file(given->option, given->value) ? "-" : given->value);
    json_text(out, word.s);
    return 0;
}

static int make_body(const struct cmd_call *call, struct str *to, const char **ret_file,
                     struct err *err)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_bool(&out, "plain", true);
    json_put_int(&out, "columns", terminal_width());
    json_put_bool(&out, "colour", call->colour);
    json_key(&out, "args");
    json_begin_array(&out);
    for (size_t i = 0; i < call->n_given; i++) {
        int r = add_option(&call->given[i], &out, ret_file, err);
        if (r < 0)
            return r;
    }
    json_text(&out, "--");
    for (int i = 0; i < call->n_args; i++)
        json_text(&out, call->args[i]);
    json_end_array(&out);
    json_end_object(&out);
    return 0;
}

static int keep_text(const char *file, const char *text, struct err *err)
{
    autoclose int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", file);
    int r = fs_write_all(fd, text, strlen(text));
    return r < 0 ? err_errno(err, -r, "cannot write %s", file) : 0;
}

static int give_text(const char *text, const char *file, struct str *to, struct err *err)
{
    if (to)
        str_add(to, text);
    else if (file)
        return keep_text(file, text, err);
    else
        fputs(text, stdout);
    return 0;
}

int remote_run(const struct cmd_call *call, struct remote *remote, struct str *text)
{
    autorelease(str) struct str body = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *reply = NULL;
    autofree(mem) char *path = xasprintf("/v1/commands/%s", call->cmd->name);
    const char *file = NULL;
    int r = make_body(call, &body, &file, &err);

    if (r < 0)
        return cmd_fail(call, CMD_USAGE, &err);
    r = remote_call(remote, "POST", path, body.s, &reply, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int code = (int)json_get_int(reply, "exit", CMD_FAILED);
    const char *told = json_get_text(reply, "text", "");
    if ((code == CMD_OK || *told) && give_text(told, file, text, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    fflush(stdout);
    fputs(json_get_text(reply, "error", ""), stderr);
    return code;
}

int remote_show(struct remote *remote, const char *ref, json_t **ret, struct err *err)
{
    autorelease(str) struct str body = STR_INIT;
    autofree(json) json_t *reply = NULL;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    json_key(&out, "args");
    json_begin_array(&out);
    json_text(&out, "--");
    json_text(&out, ref);
    json_end_array(&out);
    json_end_object(&out);
    int r = remote_call(remote, "POST", "/v1/commands/show", body.s, &reply, err);
    if (r < 0)
        return r;
    const char *error = json_get_text(reply, "error", "");
    if (json_get_int(reply, "exit", 1) != 0) {
        error += str_starts(error, "hone: ") ? strlen("hone: ") : 0;
        return err_set(err, ENOENT, "%.*s", (int)strcspn(error, "\n"), error);
    }
    *ret = json_incref(json_object_get(reply, "output"));
    return 0;
}

/* ---- all of them ---- */

static int run_there(struct cmd_call *call)
{
    autofree(remote) struct remote *remote = NULL;
    autorelease(err) struct err err = ERR_INIT;

    if (str_eq(call->cmd->name, "export") && export_is_sent(call))
        return call->cmd->run(call);
    int r = remote_open(call, &remote, &err);
    if (r < 0)
        return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
    return cmd_flag(call, "follow") ? remote_logs(call, remote) : remote_run(call, remote, NULL);
}

int remote_command(struct cmd_call *call)
{
    switch (place_of(call->cmd)) {
    case HERE:
    case BY_REQUESTS:
        return call->cmd->run(call);
    case NOWHERE:
        return cmd_usage(call, "this is done at a home, not against the server %s", call->server);
    case THERE:
        break;
    }
    return run_there(call);
}

int remote_act(const struct cmd_call *call, const char *kind, const char *ref, const char *what,
               const char *body)
{
    autofree(remote) struct remote *remote = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *reply = NULL;
    autorelease(str) struct str path = STR_INIT;
    int r = remote_open(call, &remote, &err);

    str_addf(&path, "/v1/%s/", kind);
    percent_encode(ref, "", &path);
    str_addf(&path, "/%s", what);
    if (r >= 0)
        r = remote_call(remote, "POST", path.s, body, &reply, &err);
    return r < 0 ? cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err) : 0;
}
