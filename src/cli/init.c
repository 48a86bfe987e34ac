/* SPDX-License-Identifier: MIT */
/*
 * init.c — hone init: a commented spec to start from. Never overwrites a file.
 */
#include "base/fs.h"
#include "base/shell.h"
#include "cli/cmd.h"
#include "spec/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool name_char(char c, bool first)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
        return true;
    return !first && ((c >= '0' && c <= '9') || c == '-');
}

/* The name of the folder, made a name. */
static char *folder_name(void)
{
    autofree(mem) char *cwd = fs_absolute(".");
    const char *base = strrchr(cwd, '/');
    struct str name = STR_INIT;

    for (const char *p = base ? base + 1 : cwd; *p; p++)
        if (name_char(*p, name.len == 0))
            str_add_char(&name, *p);
        else if (name.len)
            str_add_char(&name, '-');
    if (name.len == 0)
        str_add(&name, "experiment");
    return str_take(&name);
}

static int write_new(const char *path, const struct str *text, struct err *err)
{
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(err, EEXIST, "%s is there already and stays as it is: name another file",
                       path);
    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", path);
    int r = fs_write_all(fd, text->s, text->len);
    if (r < 0) {
        unlink(path);
        return err_errno(err, -r, "cannot write %s", path);
    }
    return 0;
}

static int run(struct cmd_call *call)
{
    const char *path = call->n_args ? call->args[0] : "hone.yaml";
    autofree(mem) char *name = folder_name();
    autorelease(str) struct str command = STR_INIT, text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;

    for (int i = 0; i < call->n_rest; i++) {
        str_add(&command, i ? " " : "");
        shell_quote(call->rest[i], &command);
    }
    spec_template(name, call->n_rest ? command.s : NULL, &text);
    if (write_new(path, &text, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (call->json) {
        autorelease(str) struct str json = STR_INIT;
        struct json_out out = JSON_OUT(&json);
        json_begin_object(&out);
        json_put_text(&out, "file", path);
        json_end_object(&out);
        puts(json.s);
    } else {
        printf("wrote %s; edit it, then:\n  hone check %s\n  hone run %s\n", path, path, path);
    }
    return CMD_OK;
}

const struct cmd cmd_init = {
    .name = "init",
    .args = "[FILE] [-- COMMAND]",
    .help = "write a commented spec to start from",
    .details = "FILE is hone.yaml if not given; a file that exists is never overwritten. The words "
               "after -- become the spec's command: hone init -- python3 train.py",
    .max_args = 1,
    .run = run,
};
