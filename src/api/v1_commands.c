/* SPDX-License-Identifier: MIT */
/*
 * v1_commands.c — commands that read, run for a user by the server: the same program as a child, so
 * that an answer is what the command line gives, and nothing of it takes the engine's time.
 *
 * The words come from outside. They are passed as they are, never through a shell; the child knows
 * by a variable that it is served, and refuses by its own tables whatever names a file (cmd.c). It
 * has 60 s and 64 MB.
 */
#include "api/v1_commands.h"
#include "api/web_act.h"

#include <errno.h>
#include <signal.h>

#define BODY_MAX   ((size_t)1 << 20)
#define TEXT_MAX   ((size_t)64 << 20)
#define TIME_MS    60000
#define HELPERS    8 /* at a time */
#define WORDS_MAX  1000
#define COLUMNS_HI 1000 /* of a terminal; what is wider counts as no terminal */

static const struct web_key command_keys[] = {
    {.name = "args", .type = KEY_TEXTS, .max = WORDS_MAX},
    {.name = "plain", .type = KEY_BOOL},
    {.name = "columns", .type = KEY_INT, .min = 0, .max = UINT16_MAX},
    {.name = "colour", .type = KEY_BOOL},
    {0},
};

/* A child, its pipes and its clock: four handles. */
struct helper {
    struct acts *acts;
    struct http_request *request;
    uv_process_t process;
    uv_pipe_t out, err;
    uv_timer_t timer;
    struct str text, error;
    int handles, open; /* open: what is still awaited of exit, out and err */
    int64_t status;
    int signal;
    bool plain, late, long_text;
};

/* It leads a group of its own: what it started goes with it, and lets go of the pipes. The number
 * of a group that has ended may be another's, but then nothing is awaited any more. */
static void kill_child(struct helper *helper)
{
    if (helper->open > 0 && uv_process_get_pid(&helper->process) > 0)
        kill(-uv_process_get_pid(&helper->process), SIGKILL);
}

void helper_stop(struct helper *helper)
{
    helper->late = true;
    kill_child(helper);
}

/* ---- the answer ---- */

static void put_output(const struct helper *helper, struct json_out *out)
{
    autofree(json) json_t *value = NULL;

    json_key(out, "output");
    if (!helper->plain && json_parse(helper->text.s, helper->text.len, &value, NULL) == 0)
        json_value(out, value);
    else
        json_null_out(out);
    json_put_text(out, "text", value ? NULL : helper->text.s);
}

static void answer(struct helper *helper)
{
    struct web_call call = {.request = helper->request};
    autorelease(str) struct str body = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    struct json_out out = JSON_OUT(&body);

    if (helper->late || helper->long_text || helper->signal) {
        err_set(&err, EAGAIN, "%s",
                helper->late        ? "the command took too long, or the server stops"
                : helper->long_text ? "the command prints more than 64 MB"
                                    : "the command was killed");
        web_fail(&call, -EAGAIN, &err);
        return;
    }
    json_begin_object(&out);
    json_put_int(&out, "exit", helper->status);
    put_output(helper, &out);
    json_put_text(&out, "error", helper->error.len ? helper->error.s : NULL);
    json_end_object(&out);
    web_json(&call, 200, &body);
}

static void on_closed(uv_handle_t *handle)
{
    struct helper *helper = handle->data;

    if (--helper->handles > 0)
        return;
    for (size_t i = 0; i < helper->acts->helpers.len; i++)
        if (helper->acts->helpers.at[i] == helper) {
            vec_remove(&helper->acts->helpers, i);
            break;
        }
    str_release(&helper->text);
    str_release(&helper->error);
    free(helper);
}

static void close_all(struct helper *helper)
{
    uv_close((uv_handle_t *)&helper->process, on_closed);
    uv_close((uv_handle_t *)&helper->out, on_closed);
    uv_close((uv_handle_t *)&helper->err, on_closed);
    uv_close((uv_handle_t *)&helper->timer, on_closed);
}

/* Its exit, and the end of what it wrote. */
static void one_less(struct helper *helper)
{
    if (--helper->open > 0)
        return;
    answer(helper);
    close_all(helper);
}

/* ---- the child ---- */

static void on_child_exit(uv_process_t *process, int64_t status, int number)
{
    struct helper *helper = process->data;
    helper->status = status;
    helper->signal = number;
    one_less(helper);
}

static struct str *text_of(struct helper *helper, const void *stream)
{
    return stream == &helper->out ? &helper->text : &helper->error;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct helper *helper = handle->data;
    struct str *text = text_of(helper, handle);

    str_reserve(text, suggested);
    *buf = uv_buf_init(text->s + text->len, (unsigned)suggested);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct helper *helper = stream->data;
    struct str *text = text_of(helper, stream);
    (void)buf;

    if (n < 0) {
        uv_read_stop(stream);
        one_less(helper);
        return;
    }
    text->len += (size_t)n;
    text->s[text->len] = '\0';
    if (text->len > TEXT_MAX && !helper->long_text) {
        helper->long_text = true;
        kill_child(helper);
    }
    if (helper->long_text)
        str_cut(text, 0);
}

static void on_time(uv_timer_t *timer)
{
    helper_stop(timer->data);
}

/* What it may know of our environment, and what it is told. */
struct child_env {
    VEC(char *) words;
};

static void make_env(struct child_env *env, const char *home, const json_t *body)
{
    static const char *const kept[] = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"};

    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (getenv(kept[i]))
            vec_push(&env->words, xasprintf("%s=%s", kept[i], getenv(kept[i])));
    int64_t columns = json_get_int(body, "columns", 0);
    vec_push(&env->words, xasprintf("HONE_HOME=%s", home));
    vec_push(&env->words, xstrdup(SERVED_VARIABLE "=1"));
    if (columns > 0 && columns <= COLUMNS_HI)
        vec_push(&env->words, xasprintf("COLUMNS=%lld", (long long)columns));
    if (json_get_bool(body, "colour", false))
        vec_push(&env->words, xstrdup("HONE_COLOUR=1"));
    vec_push(&env->words, NULL);
}

static void release_words(struct child_env *words)
{
    vec_foreach (word, &words->words)
        free(*word);
    vec_release(&words->words);
}

/* hone NAME ARGS…; the words of the user may begin with anything. */
static void make_words(const char *name, const json_t *body, struct child_env *ret)
{
    const json_t *args = json_object_get(body, "args");

    vec_push(&ret->words, xstrdup("hone"));
    if (!json_get_bool(body, "plain", false))
        vec_push(&ret->words, xstrdup("--json"));
    vec_push(&ret->words, xstrdup(name));
    for (size_t i = 0; i < json_array_size(args); i++)
        vec_push(&ret->words, xstrdup(json_string_value(json_array_get(args, i))));
    vec_push(&ret->words, NULL);
}

static struct helper *helper_new(struct web_call *call, bool plain)
{
    struct helper *helper = xcalloc(1, sizeof(*helper));
    uv_loop_t *loop = call->web->loop;

    helper->acts = call->web->acts;
    helper->request = call->request;
    helper->plain = plain;
    helper->text = helper->error = (struct str)STR_INIT;
    helper->handles = 4;
    helper->open = 3;
    uv_pipe_init(loop, &helper->out, 0);
    uv_pipe_init(loop, &helper->err, 0);
    uv_timer_init(loop, &helper->timer);
    helper->process.data = helper->out.data = helper->err.data = helper->timer.data = helper;
    return helper;
}

static int start(struct web_call *call, char **words, char **env, bool plain, struct err *err)
{
    struct helper *helper = helper_new(call, plain);
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&helper->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&helper->err},
    };
    uv_process_options_t options = {
        .exit_cb = on_child_exit,
        .flags = UV_PROCESS_DETACHED,
        .file = "/proc/self/exe",
        .args = words,
        .env = env,
        .cwd = "/",
        .stdio = stdio,
        .stdio_count = 3,
    };
    vec_push(&helper->acts->helpers, helper);
    int r = uv_spawn(call->web->loop, &helper->process, &options);
    helper->process.data = helper; /* libuv clears it */
    if (r < 0) {
        close_all(helper);
        return err_set(err, EAGAIN, "the command could not be started: %s", uv_strerror(r));
    }
    uv_read_start((uv_stream_t *)&helper->out, on_alloc, on_read);
    uv_read_start((uv_stream_t *)&helper->err, on_alloc, on_read);
    uv_timer_start(&helper->timer, on_time, TIME_MS, 0);
    return 0;
}

/* ---- the route ---- */

static int check_command(struct web_call *call, const char *name, struct err *err)
{
    const struct web_command *command = call->web->commands;

    while (command && command->name && !str_eq(command->name, name))
        command++;
    if (!command || !command->name)
        return err_set(err, ENOENT, "there is no command '%.50s' that a server runs", name);
    if (call->who.role < command->role)
        return err_set(err, EPERM, "'hone %s' is not for your token's role", name);
    if (call->web->acts->helpers.len >= HELPERS)
        return err_set(err, EAGAIN, "%d commands run already: try again in a moment", HELPERS);
    return 0;
}

static void on_command(struct web_call *call)
{
    const char *name = http_segment(call->request, 0);
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *body = NULL;
    struct child_env words = {0}, env = {0};
    int r = check_command(call, name ? name : "", &err);

    if (r >= 0)
        r = web_keys(call, command_keys, &body, &err);
    if (r >= 0) {
        make_words(name, body, &words);
        make_env(&env, call->home, body);
        r = start(call, words.words.at, env.words.at, json_get_bool(body, "plain", false), &err);
    }
    if (r < 0)
        web_fail(call, r, &err);
    release_words(&words);
    release_words(&env);
}

const struct web_route v1_commands_routes[] = {
    {"POST", "/v1/commands/*", ROLE_VIEWER, DESK_LOOP, on_command, BODY_MAX,
     "Run a command that reads (ls, show, best, …) as 'hone NAME ARGS --json' would.", 0},
    {0},
};
