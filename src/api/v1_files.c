/* SPDX-License-Identifier: MIT */
/*
 * v1_files.c — the files of a trial: those of its attempts, its checkpoints, and artifacts that
 * tracking clients sent (objects with a logical name).
 */
#include "api/v1_folder.h"
#include "api/web_route.h"
#include "net/http_text.h"
#include "store/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ARTIFACTS "artifacts/"

/* ---- the list ---- */

static void put_file(struct json_out *out, const char *path, uint64_t size, int64_t modified_us)
{
    json_begin_object(out);
    json_put_text(out, "path", path);
    json_put_int(out, "size", (int64_t)size);
    json_put_time(out, "modified", modified_us);
    json_end_object(out);
}

static void on_file(const struct folder_file *file, void *arg)
{
    put_file(arg, file->path, file->size, file->modified_us);
}

static int on_artifact(const struct artifact *artifact, void *arg)
{
    autofree(mem) char *path = xasprintf(ARTIFACTS "%s", artifact->path);

    put_file(arg, path, artifact->size, artifact->time_us);
    return 0;
}

static void on_files(struct web_call *call)
{
    struct folder_trial trial = {.number = 0};
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    int r = folder_find(call, &trial, &err);

    if (r == 0) {
        json_begin_object(&out);
        json_key(&out, "files");
        json_begin_array(&out);
        bool more = folder_list(call->home, &trial, on_file, &out);
        r = store_artifacts(call->store, trial.experiment, trial.number, on_artifact, &out, &err);
        json_end_array(&out);
        json_put_bool(&out, "more", more);
        json_end_object(&out);
    }
    if (r < 0)
        web_fail(call, r, &err);
    else
        web_json(call, 200, &body);
}

/* ---- one file ---- */

static int open_artifact(struct web_call *call, const struct folder_trial *trial, const char *path,
                         int *ret_fd, struct err *err)
{
    char sha256[SHA256_HEX_SIZE];
    uint64_t size;
    int r = store_find_artifact(call->store, trial->experiment, trial->number, path, sha256, &size,
                                err);

    if (r < 0)
        return r;
    autofree(mem) char *object = object_path(call->home, sha256);
    *ret_fd = open(object, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return *ret_fd < 0 ? err_errno(err, errno, "the artifact '%.200s' cannot be opened", path) : 0;
}

static void reply_file(struct web_call *call, const char *path, int fd)
{
    autofree(mem) char *disposition = attachment_text(path);
    const char *headers[] = {"Content-Disposition", disposition, "X-Content-Type-Options",
                             "nosniff", NULL};

    http_reply_file(call->request, "application/octet-stream", fd, headers);
}

static void on_one(struct web_call *call)
{
    struct folder_trial trial = {.number = 0};
    autorelease(err) struct err err = ERR_INIT;
    const char *path = http_segment(call->request, 1);
    int fd = -1;
    int r = folder_find(call, &trial, &err);

    if (r == 0 && !path)
        r = err_set(&err, ENOENT, "no file is named");
    else if (r == 0 && strncmp(path, ARTIFACTS, strlen(ARTIFACTS)) == 0)
        r = open_artifact(call, &trial, path + strlen(ARTIFACTS), &fd, &err);
    else if (r == 0)
        r = folder_open(call->home, &trial, path, &fd, &err);
    if (r < 0)
        web_fail(call, r, &err);
    else
        reply_file(call, path, fd);
}

const struct web_route v1_files_routes[] = {
    {"GET", "/v1/trials/*/files", ROLE_VIEWER, DESK_READ, on_files, 0,
     "The files of a trial: of its attempts, checkpoints, artifacts.", 0},
    {"GET", "/v1/trials/*/files/**", ROLE_VIEWER, DESK_READ, on_one, 0, "One of them, its bytes.",
     0},
    {.methods = NULL},
};
