/* SPDX-License-Identifier: MIT */
/*
 * v1_submit.c — submissions over HTTP: an experiment, or a trial of one once more.
 *
 * Code is sent first, as an object named by its hash, and only if it is not there. Trials run in a
 * checkout of it: nobody's folder need be on the server. Unpacking is done aside, then the
 * submission goes on.
 */
#include "api/checkout.h"
#include "api/rerun.h"
#include "api/submitted.h"
#include "api/web_act.h"
#include "base/fs.h"
#include "spec/parse.h"
#include "store/object.h"

#include <errno.h>

#define PRIORITY_MAX 100 /* as the engine has it */
#define KEY_BYTES    200

static const struct web_key submit_keys[] = {
    {.name = "spec", .type = KEY_OBJECT},
    {.name = "text", .type = KEY_TEXT},
    {.name = "key", .type = KEY_TEXT, .flags = KEY_NULL, .min = 1, .max = KEY_BYTES},
    {.name = "code", .type = KEY_TEXT, .flags = KEY_NULL},
    {.name = "environment", .type = KEY_OBJECT, .flags = KEY_NULL},
    {.name = "env", .type = KEY_TEXTS, .max = 10000},
    {.name = "priority", .type = KEY_INT, .min = -PRIORITY_MAX, .max = PRIORITY_MAX},
    {0},
};
static const struct web_key rerun_keys[] = {
    {.name = "key", .type = KEY_TEXT, .flags = KEY_NULL, .min = 1, .max = KEY_BYTES},
    {0},
};

/* ---- submit ---- */

struct submitting {
    struct web *web;
    struct http_request *request;
    struct caller who;
    json_t *body;
    struct spec spec;
    char *code;             /* its SHA-256; NULL: none */
    struct str environment; /* JSON; "": not known */
    struct trial trial;     /* of which this is a rerun; number 0: of none */
    char *home;
    struct err err;
    int r;
    int64_t id;
};

static void submitting_free(struct submitting *s)
{
    json_decref(s->body);
    spec_release(&s->spec);
    str_release(&s->environment);
    trial_release(&s->trial);
    err_release(&s->err);
    free(s->code);
    free(s->home);
    free(s);
}

static void answer_submit(void *arg)
{
    struct submitting *s = arg;
    struct web_call call = {.request = s->request};
    autorelease(str) struct str body = STR_INIT;

    if (s->r < 0) {
        web_fail(&call, s->r, &s->err);
    } else {
        str_addf(&body, "{\"experiment\":%lld}", (long long)s->id);
        web_json(&call, (unsigned)s->r, &body);
    }
    submitting_free(s);
}

/* "spec": {…} as `hone check --json` prints it, or "text": YAML as in a file. */
static int read_spec(struct submitting *s)
{
    const json_t *spec = json_object_get(s->body, "spec");
    const char *yaml = json_get_text(s->body, "text", NULL);
    autofree(mem) char *dir = fs_absolute(".");
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (!json_is_object(spec) == !yaml)
        return err_set(&s->err, EINVAL, "give either 'spec', an object, or 'text', YAML");
    if (yaml)
        str_add(&text, yaml);
    else
        json_value(&out, spec);
    int r = spec_parse(text.s, text.len, "spec", yaml ? dir : "/", NULL, &s->spec, NULL, &s->err);
    s->spec.priority = json_get_int(s->body, "priority", s->spec.priority);
    return r;
}

static int check_code(struct submitting *s)
{
    if (!s->code)
        return fs_is_dir(s->spec.dir)
                   ? 0
                   : err_set(&s->err, EINVAL,
                             "folder %s is not on the server, and no code came with the spec",
                             s->spec.dir);
    if (!sha256_valid(s->code))
        return err_set(&s->err, EINVAL, "'code' is not a SHA-256");
    if (object_size(s->home, s->code) < 0)
        return err_set(&s->err, ENOENT, "the code is not here: send it first, PUT /v1/objects/%s",
                       s->code);
    return 0;
}

static char **read_env(const json_t *list)
{
    VEC(char *) env = {0};

    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)))
            vec_push(&env, (char *)json_string_value(json_array_get(list, i)));
    if (!env.len)
        return NULL;
    vec_push(&env, NULL);
    return env.at;
}

static int find_known(struct submitting *s, struct store *store)
{
    const char *key = json_get_text(s->body, "key", NULL);

    return submitted_find(runtime_engine(s->web->runtime), store, s->who.user, key,
                          s->trial.number ? NULL : &s->spec, &s->id, &s->err);
}

static int submit(struct submitting *s)
{
    struct runtime *runtime = s->web->runtime;
    autofree(mem) char **env = read_env(json_object_get(s->body, "env"));

    struct submission submission = {
        .spec = &s->spec,
        .code = s->code,
        .code_size = s->code ? (uint64_t)MAX(0, object_size(s->home, s->code)) : 0,
        .environment = s->environment.len ? s->environment.s : NULL,
        .envp = env,
        .point = s->trial.point,
        .rerun_of_experiment = s->trial.experiment,
        .rerun_of_trial = s->trial.number,
        .owner = *s->who.user ? s->who.user : NULL,
        .key = json_get_text(s->body, "key", NULL),
    };
    return engine_submit(runtime_engine(runtime), runtime_reader(runtime), &submission,
                         runtime_now(), &s->id, &s->err);
}

/* What a rerun finds here. Of our variables only those that say where things are. */
static void record_environment(struct submitting *s)
{
    static const char *const kept[] = {"PATH", "HOME", "LANG"};
    VEC(char *) env = {0};

    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (getenv(kept[i]))
            vec_push(&env, xasprintf("%s=%s", kept[i], getenv(kept[i])));
    vec_push(&env, NULL);
    const struct environment_of of = {.folder = s->spec.code ? s->spec.code : s->spec.dir,
                                      .dir = s->spec.dir,
                                      .words = (const char *const *)s->spec.command.at,
                                      .n_words = s->spec.command.len,
                                      .envp = (const char *const *)env.at};
    if (environment_record(s->home, &of, &s->environment, NULL) < 0)
        str_cut(&s->environment, 0);
    vec_foreach (word, &env)
        free(*word);
    vec_release(&env);
}

static void unpack_code(void *arg)
{
    struct submitting *s = arg;

    if (s->code)
        s->r = checkout_make(s->home, s->code, &s->spec, &s->err);
    if (s->r >= 0 && s->trial.number)
        record_environment(s);
}

static void on_unpacked(void *arg, bool closing)
{
    struct submitting *s = arg;

    if (s->r >= 0 && closing)
        s->r = err_set(&s->err, EAGAIN, "the server stops");
    if (s->r >= 0)
        s->r = find_known(s, runtime_reader(s->web->runtime)); /* it came twice at once */
    if (s->r >= 0 && s->id) {
        s->r = 200;
    } else if (s->r >= 0) {
        s->r = submit(s);
        s->r = s->r < 0 ? s->r : 201;
    }
    if (s->r < 0)
        answer_submit(s);
    else
        engine_when_committed(runtime_engine(s->web->runtime), answer_submit, s);
}

/* Read what it is about, then its code. */
static int read_experiment(struct submitting *s, struct web_call *call)
{
    const json_t *environment = json_object_get(s->body, "environment");
    const char *code = json_get_text(s->body, "code", NULL);
    struct json_out out = JSON_OUT(&s->environment);
    (void)call;

    s->code = code ? xstrdup(code) : NULL;
    if (json_is_object(environment))
        json_value(&out, environment);
    return read_spec(s);
}

static int read_trial(struct submitting *s, struct web_call *call)
{
    const char *ref = http_segment(call->request, 0);
    struct target target;
    int r = target_find(call->store, ref ? ref : "", FIND_TRIAL, &target, &s->err);

    if (r == -EINVAL)
        r = -ENOENT; /* as other routes say that this is no trial */
    if (r >= 0 && !spec_has_program(&target.spec))
        r = err_set(&s->err, EBUSY, "trial %s was not run by Hone: there is nothing to run", ref);
    if (r >= 0) {
        s->code = rerun_code(call->store, &target);
        s->spec = target.spec;
        spec_init(&target.spec);
        s->trial = target.trial.trial;
        target.trial.trial = (struct trial){.number = 0};
        rerun_name(&s->spec);
    }
    target_release(&target);
    return r;
}

static void begin(struct web_call *call, const struct web_key *keys,
                  int (*read)(struct submitting *s, struct web_call *call))
{
    struct submitting *s = xcalloc(1, sizeof(*s));

    *s = (struct submitting){.web = call->web,
                             .request = call->request,
                             .who = call->who,
                             .environment = STR_INIT,
                             .home = xstrdup(call->home),
                             .err = ERR_INIT};
    spec_init(&s->spec);
    s->r = web_keys(call, keys, &s->body, &s->err);
    if (s->r >= 0)
        s->r = read(s, call);
    if (s->r >= 0)
        s->r = find_known(s, call->store);
    if (s->r >= 0 && s->id) {
        s->r = 200;
        engine_when_committed(runtime_engine(call->runtime), answer_submit, s);
        return;
    }
    if (s->r >= 0)
        s->r = check_code(s);
    if (s->r < 0)
        answer_submit(s);
    else if (s->code || s->trial.number)
        web_work(call->web, unpack_code, on_unpacked, s);
    else
        on_unpacked(s, false);
}

void submit_asked(struct web_call *call)
{
    begin(call, submit_keys, read_experiment);
}

void rerun_asked(struct web_call *call)
{
    begin(call, rerun_keys, read_trial);
}
