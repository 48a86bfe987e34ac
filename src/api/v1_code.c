/* SPDX-License-Identifier: MIT */
/*
 * v1_code.c — the code that was recorded: the files of a snapshot, and the text of one.
 */
#include "api/web_route.h"
#include "store/object.h"

#include <errno.h>

#define TEXT_MAX ((size_t)1 << 20)

/* The snapshot that the address names: 64 hex digits, nothing else is looked for. */
static int read_name(struct web_call *call, const char **ret, struct err *err)
{
    const char *name = http_segment(call->request, 0);

    *ret = name;
    if (!name || strlen(name) != SHA256_HEX_SIZE - 1 ||
        strspn(name, "0123456789abcdef") != SHA256_HEX_SIZE - 1)
        return err_set(err, ENOENT, "a snapshot is named by 64 hex digits");
    return 0;
}

/* What is there and no snapshot is as good as not there. */
static void fail(struct web_call *call, int r, const struct err *err)
{
    web_fail(call, r == -EBADMSG ? -ENOENT : r, err);
}

static void on_file(const struct snapshot_file *file, void *arg)
{
    struct json_out *out = arg;

    json_begin_object(out);
    json_put_text(out, "path", file->path);
    json_put_int(out, "size", (int64_t)file->size);
    if (file->link)
        json_put_text(out, "link", file->link);
    json_end_object(out);
}

static void on_list(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    const char *name;
    int r = read_name(call, &name, &err);

    json_begin_object(&out);
    json_key(&out, "files");
    json_begin_array(&out);
    if (r == 0)
        r = snapshot_list(call->home, name, on_file, &out, &err);
    json_end_array(&out);
    json_end_object(&out);
    if (r < 0)
        fail(call, r, &err);
    else
        web_json(call, 200, &body);
}

static void on_text(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    const char *path = http_segment(call->request, 1), *name;
    int r = read_name(call, &name, &err);

    if (r == 0)
        r = snapshot_read(call->home, name, path ? path : "", TEXT_MAX, &body, &err);
    if (r < 0)
        fail(call, r, &err);
    else
        http_reply(call->request, 200, "text/plain; charset=utf-8", &body, NULL);
}

const struct web_route v1_code_routes[] = {
    {"GET", "/v1/code/*", ROLE_VIEWER, DESK_READ, on_list, 0, "The files of a snapshot of code.",
     0},
    {"GET", "/v1/code/*/**", ROLE_VIEWER, DESK_READ, on_text, 0, "The text of one of them.", 0},
    {.methods = NULL},
};
