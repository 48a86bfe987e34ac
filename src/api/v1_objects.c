/* SPDX-License-Identifier: MIT */
/*
 * v1_objects.c — files named by the hash of their content: the code that comes with a submission.
 * It is sent only if it is not there yet. Whoever waits for the disk is a worker of its own.
 */
#include "api/web_act.h"
#include "store/object.h"

#include <errno.h>

static int object_name(struct web_call *call, const char **ret, struct err *err)
{
    *ret = http_segment(call->request, 0);
    if (!*ret || !sha256_valid(*ret))
        return err_set(err, ENOENT, "an object is named by its SHA-256: 64 digits, 0-9 and a-f");
    return 0;
}

void object_asked(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    const char *sha256 = NULL;
    int r = object_name(call, &sha256, &err);

    if (r == 0 && object_size(call->home, sha256) < 0)
        r = err_set(&err, ENOENT, "object %s is not here", sha256);
    if (r < 0)
        web_fail(call, r, &err);
    else
        http_reply(call->request, 200, NULL, NULL, NULL);
}

/* ---- sent ---- */

struct sending {
    struct http_request *request;
    const char *sha256; /* in the request */
    char *home;
    int r;
    struct err err;
};

static void answer_sent(struct http_request *request, const char *sha256, bool known)
{
    struct web_call call = {.request = request};
    autorelease(str) struct str body = STR_INIT;

    str_addf(&body, "{\"sha256\":\"%s\"}", sha256);
    web_json(&call, known ? 200 : 201, &body);
}

static void keep_object(void *arg)
{
    struct sending *sending = arg;
    const struct http_spool *spool = http_spooled(sending->request);

    sending->r =
        object_adopt(sending->home, spool->fd, sending->sha256, spool->size, &sending->err);
}

static void on_kept(void *arg, bool closing)
{
    struct sending *sending = arg;
    struct web_call call = {.request = sending->request};
    (void)closing;

    if (sending->r < 0)
        web_fail(&call, sending->r, &sending->err);
    else
        answer_sent(sending->request, sending->sha256, false);
    err_release(&sending->err);
    free(sending->home);
    free(sending);
}

static void keep_later(struct web_call *call, const char *sha256)
{
    struct sending *sending = xcalloc(1, sizeof(*sending));

    *sending = (struct sending){
        .request = call->request,
        .sha256 = sha256,
        .home = xstrdup(call->home),
        .err = ERR_INIT,
    };
    web_work(call->web, keep_object, on_kept, sending);
}

void object_sent(struct web_call *call)
{
    const struct http_spool *spool = http_spooled(call->request);
    autorelease(err) struct err err = ERR_INIT;
    const char *sha256 = NULL;
    int r = object_name(call, &sha256, &err);

    if (r == 0 && !spool)
        r = err_set(&err, EINVAL, "the object has no bytes");
    if (r == 0 && !str_eq(spool->sha256, sha256))
        r = err_set(&err, EEXIST, "what came is not object %s: its SHA-256 is %s", sha256,
                    spool->sha256);
    if (r < 0)
        web_fail(call, r, &err);
    else if (object_size(call->home, sha256) >= 0)
        answer_sent(call->request, sha256, true);
    else
        keep_later(call, sha256);
}
