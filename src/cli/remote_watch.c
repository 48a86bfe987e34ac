/* SPDX-License-Identifier: MIT */
/*
 * remote_watch.c — watching an experiment at a server, in a thread of its own.
 *
 *     GET /v1/events ──── "something of it has changed" ──► GET …/events?after=SEEN ──► the loop
 *                    └─── live documents ─────────────────────────────────────────────►
 *
 * The stream only says when to look; what happened is read by the numbers of the events. So a
 * stream that breaks, skips or begins anew costs nothing but time: each event is told once. A
 * server that is away for a minute is given up; the experiment goes on there.
 */
#include "cli/remote_watch.h"
#include "cli/remote.h"

#include <errno.h>
#include <unistd.h>

#define AGAIN_US  500000
#define GIVE_UP   120 /* tries */
#define PAGE      500
#define QUEUE_MAX 10000 /* live documents beyond are dropped */

enum note_kind { NOTE_EVENT, NOTE_LIVE, NOTE_FAILURE };
struct note {
    enum note_kind kind;
    char *text;
};

struct watch {
    struct watch_options options;
    struct remote *stream, *asking;
    uv_async_t wake;
    uv_thread_t thread;
    uv_loop_t *loop;
    uv_mutex_t mutex; /* guards the two below */
    VEC(struct note) notes;
    bool quit;
    /* of the thread */
    int64_t seen; /* number of the last event that was told */
    bool skip;    /* the first look tells nothing */
    bool finished, closed;
    struct str event, data; /* of the stream: what is being read */
};

/* ---- from the thread to the loop ---- */

static void tell(struct watch *watch, enum note_kind kind, const char *text)
{
    uv_mutex_lock(&watch->mutex);
    if (kind != NOTE_LIVE || watch->notes.len < QUEUE_MAX)
        vec_push(&watch->notes, ((struct note){kind, xstrdup(text)}));
    uv_mutex_unlock(&watch->mutex);
    uv_async_send(&watch->wake);
}

static bool quits(struct watch *watch)
{
    uv_mutex_lock(&watch->mutex);
    bool quit = watch->quit;
    uv_mutex_unlock(&watch->mutex);
    return quit;
}

static void give(struct watch *watch, const struct note *note)
{
    const struct watch_options *options = &watch->options;
    autorelease(err) struct err err = ERR_INIT;

    if (note->kind == NOTE_EVENT)
        options->on_event(note->text, options->arg);
    else if (note->kind == NOTE_LIVE && options->on_live)
        options->on_live(note->text, options->arg);
    else if (note->kind == NOTE_FAILURE) {
        err_set(&err, ECONNREFUSED, "%s", note->text);
        options->on_failure(&err, options->arg);
    }
}

static void on_wake(uv_async_t *async)
{
    struct watch *watch = async->data;
    VEC(struct note) notes = {0};

    uv_mutex_lock(&watch->mutex);
    memcpy(&notes, &watch->notes, sizeof(notes));
    memset(&watch->notes, 0, sizeof(watch->notes));
    uv_mutex_unlock(&watch->mutex);
    vec_foreach (note, &notes) {
        give(watch, note);
        free(note->text);
    }
    vec_release(&notes);
}

/* ---- looking ---- */

/* As the engine tells it: its trial is "3.7". */
static void tell_event(struct watch *watch, json_t *event)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    const json_t *trial = json_object_get(event, "trial");

    if (json_is_null(trial))
        json_object_del(event, "trial");
    if (json_is_integer(trial)) {
        autofree(mem) char *name = xasprintf("%lld.%lld", (long long)watch->options.experiment,
                                             (long long)json_integer_value(trial));
        json_object_set_new(event, "trial", json_string(name));
    }
    json_object_set_new(event, "experiment", json_integer(watch->options.experiment));
    json_value(&out, event);
    if (!watch->finished)
        tell(watch, NOTE_EVENT, text.s);
    if (str_eq(json_get_text(event, "event", ""), "finished"))
        watch->finished = true;
}

/* One page of events: 1 if there are more. *last (json_decref) is the newest that was skipped. */
static int look_once(struct watch *watch, json_t **last, struct err *err)
{
    autofree(json) json_t *reply = NULL;
    autofree(mem) char *path =
        xasprintf("/v1/experiments/%lld/events?after=%lld&limit=%d",
                  (long long)watch->options.experiment, (long long)watch->seen, PAGE);
    int r = remote_call(watch->asking, "GET", path, NULL, &reply, err);

    if (r < 0)
        return r;
    const json_t *events = json_object_get(reply, "events");
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *event = json_array_get(events, i);
        watch->seen = MAX(watch->seen, json_get_int(event, "id", 0));
        if (!watch->skip) {
            tell_event(watch, event);
            continue;
        }
        json_decref(*last);
        *last = json_incref(event);
    }
    return json_array_size(events) == PAGE;
}

/* It may have ended while we skipped what was before. */
static void end_if_over(struct watch *watch, json_t *last)
{
    autofree(json) json_t *shown = NULL;
    autofree(mem) char *ref = xasprintf("%lld", (long long)watch->options.experiment);

    if (!last || !str_eq(json_get_text(last, "event", ""), "finished") ||
        remote_show(watch->asking, ref, &shown, NULL) < 0)
        return;
    if (!str_eq(json_get_text(shown, "state", "running"), "running"))
        tell_event(watch, last);
}

static int look(struct watch *watch, struct err *err)
{
    autofree(json) json_t *last = NULL;
    int r;

    do
        r = look_once(watch, &last, err);
    while (r == 1 && !quits(watch));
    if (r < 0)
        return r;
    if (watch->skip)
        end_if_over(watch, last);
    watch->skip = false;
    return 0;
}

/* ---- the stream: lines "event: x", "data: {…}", and an empty one ---- */

static void take_message(struct watch *watch)
{
    autofree(json) json_t *data = NULL;

    if (json_parse(watch->data.s, watch->data.len, &data, NULL) < 0)
        return;
    bool ours = json_get_int(data, "experiment", 0) == watch->options.experiment;
    if (str_eq(watch->event.s, "live") && ours)
        tell(watch, NOTE_LIVE, watch->data.s);
    else if (str_eq(watch->event.s, "reset") || (str_eq(watch->event.s, "change") && ours))
        look(watch, NULL); /* what fails now is looked at with the next message, or anew */
}

static void keep_field(struct str *to, const char *line, size_t n, size_t from)
{
    from += from < n && line[from] == ' ';
    str_cut(to, 0);
    str_add_n(to, line + from, n - from);
}

static int on_line(const char *line, size_t n, void *arg)
{
    struct watch *watch = arg;

    if (n > 6 && memcmp(line, "event:", 6) == 0)
        keep_field(&watch->event, line, n, 6);
    else if (n > 5 && memcmp(line, "data:", 5) == 0)
        keep_field(&watch->data, line, n, 5);
    else if (n == 0 && !watch->data.len) {
        look(watch, NULL); /* its first words, or a comment: what was before them is not told */
    } else if (n == 0) {
        take_message(watch);
        str_cut(&watch->event, 0);
        str_cut(&watch->data, 0);
    }
    return watch->finished || quits(watch);
}

/* ---- the thread ---- */

static int follow_stream(struct watch *watch, int *tries, struct err *err)
{
    autofree(mem) char *path =
        xasprintf("/v1/events?experiments=%lld", (long long)watch->options.experiment);
    int r = look(watch, err); /* also what the stream will not tell again */

    if (r < 0 || watch->finished)
        return r;
    *tries = 0;
    return remote_lines(watch->stream, path, on_line, watch, err);
}

static void run_thread(void *arg)
{
    struct watch *watch = arg;

    for (int tries = 0; !watch->finished && !quits(watch);) {
        autorelease(err) struct err err = ERR_INIT;
        int r = follow_stream(watch, &tries, &err);
        if (r == 0 || quits(watch))
            continue;
        bool hopeless = r == -EACCES || r == -EPERM || r == -ENOENT;
        if (hopeless || ++tries > GIVE_UP) {
            tell(watch, NOTE_FAILURE, err_text(&err));
            return;
        }
        usleep(AGAIN_US);
    }
}

int watch_start(uv_loop_t *loop, const struct cmd_call *call, const struct watch_options *options,
                struct watch **ret, struct err *err)
{
    struct watch *watch = xcalloc(1, sizeof(*watch));
    int r = remote_open(call, &watch->stream, err);

    if (r >= 0)
        r = remote_open(call, &watch->asking, err);
    if (r < 0) {
        remote_free(watch->stream);
        free(watch);
        return r;
    }
    watch->options = *options;
    watch->skip = options->from_now;
    watch->loop = loop;
    watch->event = watch->data = (struct str)STR_INIT;
    uv_mutex_init(&watch->mutex);
    uv_async_init(loop, &watch->wake, on_wake);
    watch->wake.data = watch;
    if (uv_thread_create(&watch->thread, run_thread, watch) < 0)
        abort(); /* no memory */
    *ret = watch;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;
    watch->closed = true;
}

void watch_stop(struct watch *watch)
{
    uv_mutex_lock(&watch->mutex);
    watch->quit = true;
    uv_mutex_unlock(&watch->mutex);
    remote_quit(watch->stream);
    remote_quit(watch->asking);
    uv_thread_join(&watch->thread);
    uv_close((uv_handle_t *)&watch->wake, on_closed);
    while (!watch->closed)
        uv_run(watch->loop, UV_RUN_NOWAIT);
    vec_foreach (note, &watch->notes)
        free(note->text);
    vec_release(&watch->notes);
    uv_mutex_destroy(&watch->mutex);
    remote_free(watch->stream);
    remote_free(watch->asking);
    str_release(&watch->event);
    str_release(&watch->data);
    free(watch);
}
