/* SPDX-License-Identifier: MIT */
/*
 * remote_submit.c — an experiment to a server.
 *
 * The code is packed as at home, into a folder of ours (~/.cache/hone), and sent if the server does
 * not have it. Trials run there in a checkout of it, with the server's own environment: nobody's
 * variables, which may hold secrets, leave this machine; what a program needs stands under `env:`
 * in the spec.
 *
 * Every submission has a key. If the server goes away before it answers, it is sent again under the
 * same key, and nothing runs twice.
 */
#include "cli/remote_submit.h"
#include "base/fs.h"
#include "base/rng.h"
#include "cli/prepare.h"
#include "spec/parse.h"

#include <errno.h>
#include <unistd.h>

#define TRIES    20
#define AGAIN_US 500000

static int send_object(struct remote *remote, const char *home, const char *sha256, struct err *err)
{
    autofree(mem) char *path = xasprintf("/v1/objects/%s", sha256);
    autofree(mem) char *file = object_path(home, sha256);
    int r = remote_has(remote, path, err);

    return r == 0 ? remote_put(remote, path, file, err) : r < 0 ? r : 0;
}

/* The code, and what git had not committed. */
static int send_objects(struct remote *remote, const char *home, const struct prepared *prepared,
                        struct err *err)
{
    autofree(json) json_t *environment = NULL;
    const char *sha256 = prepared->snapshot.sha256;
    int r = *sha256 ? send_object(remote, home, sha256, err) : 0;

    if (r < 0 ||
        json_parse(prepared->environment.s, prepared->environment.len, &environment, NULL) < 0)
        return r;
    const char *patch = json_get_text(json_object_get(environment, "git"), "patch", NULL);
    return patch ? send_object(remote, home, patch, err) : 0;
}

static void make_body(const struct prepared *prepared, const struct spec *spec, const char *key,
                      struct str *to)
{
    struct json_out out = JSON_OUT(to);
    autorelease(str) struct str text = STR_INIT;

    spec_json(spec, &text);
    json_begin_object(&out);
    json_put_raw(&out, "spec", text.s);
    json_put_text(&out, "key", key);
    json_put_text(&out, "code", *prepared->snapshot.sha256 ? prepared->snapshot.sha256 : NULL);
    if (prepared->environment.len)
        json_put_raw(&out, "environment", prepared->environment.s);
    json_end_object(&out);
}

int remote_post(struct remote *remote, const char *path, const char *body, int64_t *ret_experiment,
                struct err *err)
{
    autofree(json) json_t *reply = NULL;
    int r = -EAGAIN;

    for (int i = 0; i < TRIES && (r == -EAGAIN || r == -ECONNREFUSED); i++) {
        if (i) {
            err_release(err);
            usleep(AGAIN_US);
        }
        r = remote_call(remote, "POST", path, body, &reply, err);
    }
    if (r >= 0)
        *ret_experiment = json_get_int(reply, "experiment", 0);
    return r;
}

/* Ask before anything is packed: the server would refuse it only then. */
static int may_submit(struct remote *remote, struct err *err)
{
    autofree(json) json_t *me = NULL;
    autorelease(str) struct str user = STR_INIT;
    int r = remote_call(remote, "GET", "/v1/me", NULL, &me, err);

    if (r < 0 || !str_eq(json_get_text(me, "role", ""), "viewer"))
        return r;
    const char *name = json_get_text(me, "user", "your token");
    str_add_printable(&user, name, MIN(strlen(name), 200));
    return err_set(err, EPERM, "this needs the role user: %s has the role viewer", user.s);
}

int remote_submit(struct cmd_call *call, struct remote *remote, struct spec *spec, const char *key,
                  int64_t *ret_experiment, struct err *err)
{
    autofree(mem) char *random = xasprintf("%016llx", (unsigned long long)random_u64());
    autofree(mem) char *cache = remote_cache();
    autorelease(str) struct str body = STR_INIT;
    struct cmd_call here = *call;
    struct prepared prepared = {.environment = STR_INIT};
    int r = may_submit(remote, err);

    if (r < 0)
        return r;
    here.home = cache;
    spec->code_isolate = false; /* its checkout is made there */
    r = prepare(&here, spec, &prepared, err);
    if (r >= 0)
        r = send_objects(remote, cache, &prepared, err);
    if (r >= 0) {
        make_body(&prepared, spec, key ? key : random, &body);
        r = remote_post(remote, "/v1/experiments", body.s, ret_experiment, err);
    }
    prepared_release(&prepared);
    return r;
}
