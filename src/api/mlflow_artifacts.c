/* SPDX-License-Identifier: MIT */
/*
 * mlflow_artifacts.c — files of runs and models. Their names are data: what the address tells is
 * looked up in the database, which names an object by its SHA-256; no path is made of it.
 *
 *     PUT ──► unnamed file, hashed (http thread) ──► synced, linked as an object (worker)
 *                                                     └─► row, commit ──► answer (loop)
 *
 *     E/RUN/artifacts/PATH          a file of a run
 *     E/models/MODEL/artifacts/PATH a file of a model: kept with the experiment
 */
#include "api/mlflow_internal.h"
#include "api/web_act.h"
#include "base/clock.h"
#include "net/http_text.h"
#include "store/artifact.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>

#define PATH_BYTES 2000
#define OCTETS     "application/octet-stream"

/* Where a file belongs; `path` is behind "artifacts/". */
struct place {
    int64_t experiment, trial; /* trial 0: a model's */
    char *path;                /* as it is stored; "" the top */
    char *prefix;              /* "models/ID/" of models, else "" */
};

static void place_release(struct place *place)
{
    free(place->path);
    free(place->prefix);
}

/* A name that is only itself: no empty, "." or ".." parts, no backslash or control characters. */
static bool is_plain(const char *path)
{
    for (const char *s = path; *s; s++)
        if (*s == '\\' || iscntrl((unsigned char)*s))
            return false;
    for (const char *s = path;; s++) {
        size_t n = strcspn(s, "/");
        if (!n || (n <= 2 && strspn(s, ".") == n))
            return false;
        s += n;
        if (!*s)
            return true;
    }
}

/* The next part of a path; how long it is. */
static size_t part(const char **s)
{
    const char *from = *s;
    size_t n = strcspn(from, "/");

    *s = from[n] ? from + n + 1 : from + n;
    return n;
}

static bool read_run(const char *id, size_t n, const char *home_id, struct place *ret)
{
    unsigned experiment, number;

    if (n != TRACKED_ID_SIZE - 1 || strspn(id, "0123456789abcdef") < n ||
        strncmp(id, home_id, 16) != 0 || sscanf(id + 16, "%8x%8x", &experiment, &number) != 2)
        return false;
    ret->experiment = experiment;
    ret->trial = number;
    ret->prefix = xstrdup("");
    return number > 0;
}

static bool read_model(const char *top, size_t top_n, const char **rest, struct place *ret)
{
    const char *id = *rest;
    size_t n = part(rest);

    if (!n || top_n > 10 || strspn(top, "0123456789") < top_n)
        return false;
    ret->experiment = strtoll(top, NULL, 10);
    ret->prefix = xasprintf("models/%.*s/", (int)n, id);
    return ret->experiment > 0;
}

/* "7/RUN/artifacts/a/b"; `top`: the path behind it may be empty. */
static int read_place(struct store *store, const char *text, bool top, struct place *ret,
                      struct err *err)
{
    const char *s = text ? text : "", *first = s;
    size_t first_n = part(&s);
    const char *second = s;
    size_t second_n = part(&s);
    bool model = second_n == 6 && strncmp(second, "models", 6) == 0;
    bool good = model ? read_model(first, first_n, &s, ret)
                      : read_run(second, second_n, store_home_id(store), ret);
    const char *word = s;
    size_t word_n = part(&s);

    if (!good || word_n != 9 || strncmp(word, "artifacts", 9) != 0)
        return err_set(err, ENOENT, "'%.200s' names no artifact of a run of this server",
                       text ? text : "");
    if (!*s && top) {
        ret->path = xstrdup(ret->prefix);
        return 0;
    }
    if (!is_plain(s) || strlen(s) > PATH_BYTES)
        return err_set(err, EINVAL, "Invalid path: '%.200s'", s);
    ret->path = xasprintf("%s%s", ret->prefix, s);
    return 0;
}

/* ---- upload ---- */

struct upload {
    uv_work_t work;
    struct web *web;
    struct engine *engine;
    struct http_request *request;
    const char *home;
    struct place place;
    int r;
    struct err err;
};

static void upload_free(struct upload *upload)
{
    place_release(&upload->place);
    err_release(&upload->err);
    free(upload);
}

/* On a worker: what takes as long as the disk. */
static void on_work(uv_work_t *work)
{
    struct upload *upload = work->data;
    const struct http_spool *spool = http_spooled(upload->request);

    upload->r = object_adopt(upload->home, spool->fd, spool->sha256, spool->size, &upload->err);
}

static void on_worked(uv_work_t *work, int status UNUSED)
{
    struct upload *upload = work->data;
    const struct http_spool *spool = http_spooled(upload->request);
    struct artifact artifact = {upload->place.experiment,
                                upload->place.trial,
                                upload->place.path,
                                spool->sha256,
                                spool->size,
                                clock_wall_us()};
    struct str answer = STR_INIT;

    upload->web->uploads--;
    if (upload->r < 0) {
        mlflow_fail(upload->request, upload->r, &upload->err);
    } else {
        txn_put_artifact(engine_txn(upload->engine), &artifact);
        str_add(&answer, "{}");
        mlflow_answer_committed(upload->engine, upload->request, &answer);
    }
    upload_free(upload);
}

/* Is there what the file is of, and is it the caller's? */
static int check_owner(struct web_call *call, const struct place *place, struct err *err)
{
    struct tracked *tracked = mlflow_tracked(call);
    char id[TRACKED_ID_SIZE];

    if (!place->trial) {
        autofree(mem) char *model =
            xstrndup(place->prefix + strlen("models/"), strlen(place->prefix) - strlen("models//"));
        return tracked_model(tracked, model)
                   ? 0
                   : err_set(err, ENOENT, "Logged model with ID '%.100s' not found.", model);
    }
    snprintf(id, sizeof(id), "%.16s%08x%08x", store_home_id(call->store),
             (unsigned)place->experiment, (unsigned)place->trial);
    const struct tracked_run *run = tracked_run(tracked, id);
    if (!run)
        return err_set(err, ENOENT, "Run with id=%s not found", id);
    return run->owner ? web_is_owner(call, run->owner, place->experiment, place->trial, err) : 0;
}

void mlflow_artifact_put(struct web_call *call)
{
    struct upload *upload = xcalloc(1, sizeof(*upload));

    *upload = (struct upload){
        .work = {.data = upload},
        .web = call->web,
        .engine = runtime_engine(call->runtime),
        .request = call->request,
        .home = call->home,
        .err = ERR_INIT,
    };
    int r = read_place(call->store, http_segment(call->request, 0), false, &upload->place,
                       &upload->err);
    if (r == 0)
        r = check_owner(call, &upload->place, &upload->err);
    if (r == 0 && !http_spooled(call->request))
        r = err_set(&upload->err, EINVAL, "there is no body");
    if (r == 0)
        r = uv_queue_work(call->web->loop, &upload->work, on_work, on_worked);
    if (r != 0) {
        mlflow_fail(call->request, r, &upload->err);
        upload_free(upload);
        return;
    }
    call->web->uploads++;
}

/* ---- download ---- */

void mlflow_artifact_get(struct web_call *call)
{
    struct place place = {.trial = 0};
    autorelease(err) struct err err = ERR_INIT;
    char sha256[SHA256_HEX_SIZE];
    uint64_t size;
    int fd = -1;
    int r = read_place(call->store, http_segment(call->request, 0), false, &place, &err);

    if (r == 0)
        r = store_find_artifact(call->store, place.experiment, place.trial, place.path, sha256,
                                &size, &err);
    if (r == 0) {
        autofree(mem) char *path = object_path(call->home, sha256);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        r = fd < 0 ? err_errno(&err, EIO, "the object of the artifact is gone") : 0;
    }
    if (r != 0) {
        mlflow_fail(call->request, r, &err);
    } else {
        autofree(mem) char *name = attachment_text(place.path);
        const char *headers[] = {"Content-Disposition", name, "X-Content-Type-Options", "nosniff",
                                 NULL};
        http_reply_file(call->request, OCTETS, fd, headers);
    }
    place_release(&place);
}

/* ---- lists ---- */

struct listing {
    struct json_out *out;
    const char *folder; /* as it is stored, with its slash; "" the top */
    size_t hidden;      /* bytes of it that the client does not see */
    bool whole;         /* paths from the top; else names inside the folder */
    char *last;         /* folder inside it that was told last */
};

static void put_entry(struct listing *listing, const char *path, size_t n, bool is_dir,
                      uint64_t size)
{
    const char *from = path + (listing->whole ? listing->hidden : strlen(listing->folder));
    autofree(mem) char *text = xstrndup(from, (size_t)(path + n - from));

    json_begin_object(listing->out);
    json_put_text(listing->out, "path", text);
    json_put_bool(listing->out, "is_dir", is_dir);
    if (!is_dir)
        json_put_int(listing->out, "file_size", (int64_t)size);
    json_end_object(listing->out);
}

/* By path: what is in one folder follows each other. */
static int on_artifact(const struct artifact *artifact, void *arg)
{
    struct listing *listing = arg;
    size_t n = strlen(listing->folder);
    const char *path = artifact->path;

    if (strncmp(path, listing->folder, n) != 0)
        return 0;
    size_t length = strcspn(path + n, "/");
    if (!path[n + length]) {
        put_entry(listing, path, n + length, false, artifact->size);
        return 0;
    }
    if (listing->last && strncmp(listing->last, path, n + length) == 0 &&
        !listing->last[n + length])
        return 0;
    free(listing->last);
    listing->last = xstrndup(path, n + length);
    put_entry(listing, path, n + length, true, 0);
    return 0;
}

static int list(struct store *store, const struct place *place, bool whole, struct json_out *out,
                struct err *err)
{
    size_t n = strlen(place->path);
    autofree(mem) char *folder =
        xasprintf("%s%s", place->path, n && place->path[n - 1] != '/' ? "/" : "");
    struct listing listing = {
        .out = out, .folder = folder, .hidden = strlen(place->prefix), .whole = whole};

    json_key(out, "files");
    json_begin_array(out);
    int r = store_artifacts(store, place->experiment, place->trial, on_artifact, &listing, err);
    json_end_array(out);
    free(listing.last);
    return r;
}

/* GET artifacts/list?run_id=&path= */
int mlflow_artifacts_list(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const char *path;
    int r = mlflow_run(call, &run, err);

    if (r == 0)
        r = mlflow_text(call, "path", &path, err);
    if (r == 0 && path && *path && !is_plain(path))
        r = err_set(err, EINVAL, "Invalid path: '%.200s'", path);
    if (r != 0)
        return r;
    struct place place = {run->of->experiment.id, run->number, xstrdup(path ? path : ""),
                          xstrdup("")};
    autofree(mem) char *uri = mlflow_artifact_uri(run);
    json_put_text(&call->out, "root_uri", uri);
    r = list(call->web->store, &place, true, &call->out, err);
    place_release(&place);
    return r;
}

/* GET mlflow-artifacts/artifacts?path=E/RUN/artifacts/sub */
void mlflow_artifact_list(struct web_call *call)
{
    struct place place = {.trial = 0};
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str answer = STR_INIT;
    struct json_out out = JSON_OUT(&answer);
    int r = read_place(call->store, http_param(call->request, "path"), true, &place, &err);

    json_begin_object(&out);
    if (r == 0)
        r = list(call->store, &place, false, &out, &err);
    json_end_object(&out);
    if (r != 0)
        mlflow_fail(call->request, r, &err);
    else
        http_reply(call->request, 200, "application/json", &answer, NULL);
    place_release(&place);
}

/* ---- removal ---- */

struct doomed {
    VEC(char *) paths;
    const char *path; /* it, and what is in it */
};

static int on_doomed(const struct artifact *artifact, void *arg)
{
    struct doomed *doomed = arg;
    size_t n = strlen(doomed->path);

    if (strncmp(artifact->path, doomed->path, n) == 0 &&
        (!artifact->path[n] || artifact->path[n] == '/' || !n || doomed->path[n - 1] == '/'))
        vec_push(&doomed->paths, xstrdup(artifact->path));
    return 0;
}

void mlflow_artifact_delete(struct web_call *call)
{
    struct place place = {.trial = 0};
    struct doomed doomed = {{NULL, 0, 0}, NULL};
    autorelease(err) struct err err = ERR_INIT;
    struct engine *engine = runtime_engine(call->runtime);
    struct str answer = STR_INIT;
    int r = read_place(call->store, http_segment(call->request, 0), true, &place, &err);

    doomed.path = place.path;
    if (r == 0)
        r = mlflow_may_change(call, mlflow_tracked(call), place.experiment, place.trial, &err);
    if (r == 0)
        r = store_artifacts(call->store, place.experiment, place.trial, on_doomed, &doomed, &err);
    vec_foreach (path, &doomed.paths) {
        if (r == 0)
            txn_remove_artifact(engine_txn(engine), place.experiment, place.trial, *path);
        free(*path);
    }
    vec_release(&doomed.paths);
    place_release(&place);
    if (r != 0) {
        mlflow_fail(call->request, r, &err);
        return;
    }
    str_add(&answer, "{}");
    mlflow_answer_committed(engine, call->request, &answer);
}
