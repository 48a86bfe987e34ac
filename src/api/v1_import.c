/* SPDX-License-Identifier: MIT */
/*
 * v1_import.c — results made elsewhere, over HTTP: the rows of an experiment, then the samples of
 * each of its trials, then the word that all are there. Who sends them has read the other tool's
 * files; here only our own forms are read.
 *
 * Samples come as line protocol into attempt 0 of a trial, the file that a program's own would be
 * in, byte for byte; sent again it is the same file. Only an experiment that was imported takes
 * them, and only from who may change it.
 */
#include "api/rows.h"
#include "api/web_act.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct web_key import_keys[] = {
    {.name = "spec", .type = KEY_OBJECT, .flags = KEY_NEEDED},
    {.name = "environment", .type = KEY_OBJECT, .flags = KEY_NULL},
    {.name = "text", .type = KEY_TEXT, .max = 10000},
    {.name = "trials", .flags = KEY_NEEDED},
    {0},
};
static const struct web_key no_keys[] = {{0}};

/* ---- the rows ---- */

void import_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *request = NULL;
    int r = web_keys(call, import_keys, &request, &err);

    if (r == 0 && !json_is_array(json_object_get(request, "trials")))
        r = err_set(&err, EINVAL, "trials: a list is wanted");
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    json_object_set_new(request, "do", json_string("import"));
    json_object_set_new(request, "owner", json_string(call->who.user));
    web_act(call, request, 201);
}

/* ---- the samples of a trial ---- */

static bool was_imported(const struct experiment *experiment)
{
    const char *text = experiment->environment;
    autofree(json) json_t *environment = NULL;

    return text && ended_words(experiment->state) &&
           json_parse(text, strlen(text), &environment, NULL) == 0 &&
           json_get_text(environment, "imported", NULL);
}

static int check_imported(struct web_call *call, int64_t id, struct err *err)
{
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    int r = web_may_change(call, id, err);

    if (r >= 0)
        r = store_find_experiment(call->store, ref, true, &row, err);
    if (r >= 0 && !was_imported(&row.experiment))
        r = err_set(err, EBUSY, "experiment %s was not imported: its samples are its own", ref);
    return r;
}

static int on_trial(const struct trial_row *row, void *arg)
{
    int64_t *attempts = arg;
    *attempts = row->trial.attempts;
    return 0;
}

static int check_trial(struct web_call *call, int64_t experiment, int64_t trial, struct err *err)
{
    struct trial_query query = {.experiment = experiment, .number = trial, .limit = 1};
    int64_t attempts = -1;
    int r = store_trials(call->store, &query, on_trial, &attempts, err);

    if (r >= 0 && attempts < 0)
        r = err_set(err, ENOENT, "experiment %lld has no trial %lld", (long long)experiment,
                    (long long)trial);
    if (r >= 0 && attempts > 0)
        r = err_set(err, EBUSY, "trial %lld.%lld was run here: its samples are its own",
                    (long long)experiment, (long long)trial);
    return r;
}

static int copy_bytes(int from, int to, uint64_t size)
{
    autofree(mem) char *block = xmalloc(1 << 16);
    uint64_t at = 0;

    while (at < size) {
        ssize_t n = pread(from, block, 1 << 16, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        int r = fs_write_all(to, block, (size_t)n);
        if (r < 0)
            return r;
        at += (uint64_t)n;
    }
    return 0;
}

/* Beside, then renamed: nobody reads a part of it. */
static int keep_samples(const char *dir, const struct http_spool *spool, struct err *err)
{
    autofree(mem) char *path = xasprintf("%s/metrics", dir), *beside = xasprintf("%s.new", path);
    int r = fs_make_dirs(dir, 0777, err);

    if (r < 0)
        return r;
    autoclose int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    r = fd < 0 ? -errno : copy_bytes(spool->fd, fd, spool->size);
    if (r >= 0 && rename(beside, path) < 0)
        r = -errno;
    if (r < 0) {
        unlink(beside);
        return err_errno(err, -r, "the samples cannot be kept");
    }
    return 0;
}

void samples_sent(struct web_call *call)
{
    const struct http_spool *spool = http_spooled(call->request);
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    int64_t experiment = 0, trial = 0;
    int r = web_trial_ref(call, 0, &experiment, &trial, &err);

    if (r >= 0)
        r = check_imported(call, experiment, &err);
    if (r >= 0)
        r = check_trial(call, experiment, trial, &err);
    if (r >= 0 && !spool)
        r = err_set(&err, EINVAL, "there are no samples");
    if (r >= 0) {
        autofree(mem) char *dir = attempt_dir(call->home, experiment, trial, 0);
        r = keep_samples(dir, spool, &err);
    }
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    str_add(&body, "{\"ok\":true}");
    web_json(call, 200, &body);
}

/* ---- all are there ---- */

void gather_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *request = NULL;
    int64_t experiment = 0;
    int r = web_experiment_ref(call, 0, &experiment, &err);

    if (r >= 0)
        r = check_imported(call, experiment, &err);
    if (r >= 0)
        r = web_keys(call, no_keys, &request, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    json_object_set_new(request, "do", json_string("gather"));
    json_object_set_new(request, "experiment", json_integer(experiment));
    web_act(call, request, 200);
}
