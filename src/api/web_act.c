/* SPDX-License-Identifier: MIT */
/*
 * web_act.c — requests of routes.h over HTTP: checked, served on the loop's thread, answered after
 * the commit.
 */
#include "api/web_act.h"
#include "api/change.h"
#include "api/routes.h"
#include "api/v1_queue.h"

#include <errno.h>

/* ---- an act: its answer waits for the commit, that of a removal for its files, too ---- */

struct act {
    struct web *web; /* NULL: it has closed */
    struct http_request *request;
    unsigned status;
    struct str reply;
    char *home;
    json_t *removal; /* NULL: none */
};

struct acts *acts_new(void)
{
    struct acts *acts = xcalloc(1, sizeof(*acts));
    acts->loads = loads_new();
    return acts;
}

void acts_free(struct acts *acts, uv_loop_t *loop)
{
    vec_foreach (helper, &acts->helpers)
        helper_stop(*helper);
    while (acts->helpers.len)
        uv_run(loop, UV_RUN_ONCE);
    vec_release(&acts->helpers);
    vec_foreach (act, &acts->waiting)
        (*act)->web = NULL;
    vec_release(&acts->waiting);
    loads_free(acts->loads);
    free(acts);
}

/* ---- work aside ---- */

struct job {
    uv_work_t work;
    struct web *web;
    void (*run)(void *arg);
    void (*done)(void *arg, bool closing);
    void *arg;
};

static void on_work(uv_work_t *work)
{
    struct job *job = work->data;
    job->run(job->arg);
}

static void on_worked(uv_work_t *work, int status)
{
    struct job *job = work->data;
    (void)status;
    job->web->handles--;
    job->done(job->arg, job->web->closing);
    free(job);
}

void web_work(struct web *web, void (*work)(void *), void (*done)(void *, bool), void *arg)
{
    struct job *job = xcalloc(1, sizeof(*job));

    *job = (struct job){.web = web, .run = work, .done = done, .arg = arg};
    job->work.data = job;
    web->handles++;
    if (uv_queue_work(web->loop, &job->work, on_work, on_worked) < 0)
        abort(); /* it has no way to fail */
}

static void answer(struct act *act)
{
    struct web_call call = {.request = act->request};

    web_json(&call, act->status, &act->reply);
    str_release(&act->reply);
    json_decref(act->removal);
    free(act->home);
    free(act);
}

static void remove_files(void *arg)
{
    const struct act *act = arg;
    change_files(act->home, act->removal);
}

static void on_files_removed(void *arg, bool closing)
{
    (void)closing;
    answer(arg);
}

/* It waits no more. */
static void leave(struct act *act)
{
    struct acts *acts = act->web->acts;

    for (size_t i = 0; i < acts->waiting.len; i++)
        if (acts->waiting.at[i] == act) {
            vec_remove(&acts->waiting, i);
            return;
        }
}

static void on_committed(void *arg)
{
    struct act *act = arg;

    if (act->web)
        leave(act);
    if (act->removal && act->web && !act->web->closing)
        web_work(act->web, remove_files, on_files_removed, act);
    else
        answer(act); /* files that are left `hone gc` finds */
}

void web_act(struct web_call *call, const json_t *request, unsigned status)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str reply = STR_INIT;
    int64_t watch = 0;
    int r = route_request(call->runtime, request, &reply, &watch, &err);

    if (r < 0) { /* the request is well formed: what is wrong is how things stand */
        web_fail(call, r == -EINVAL ? -EBUSY : r, &err);
        return;
    }
    struct act *act = xcalloc(1, sizeof(*act));
    bool removal = str_eq(json_get_text(request, "do", ""), "rm");
    *act = (struct act){
        .web = call->web,
        .request = call->request,
        .status = status,
        .reply = reply,
        .home = xstrdup(call->home),
        .removal = removal ? json_deep_copy(request) : NULL,
    };
    reply = (struct str)STR_INIT;
    vec_push(&call->web->acts->waiting, act);
    engine_when_committed(runtime_engine(call->runtime), on_committed, act);
}

int web_is_owner(const struct web_call *call, const char *owner, int64_t experiment, int64_t trial,
                 struct err *err)
{
    if (call->who.role >= ROLE_ADMIN || str_eq(owner, call->who.user))
        return 0;
    autofree(mem) char *which =
        trial ? xasprintf("trial %lld.%lld", (long long)experiment, (long long)trial)
              : xasprintf("experiment %lld", (long long)experiment);
    return err_set(err, EPERM, "%s belongs to %s: only its owner or an admin may", which,
                   *owner ? owner : "somebody else");
}

int web_may_change(struct web_call *call, int64_t experiment, struct err *err)
{
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)experiment);
    int r = store_find_experiment(call->store, ref, false, &row, err);
    const char *owner = row.experiment.owner;

    return r < 0 ? r : web_is_owner(call, owner ? owner : "", experiment, 0, err);
}
