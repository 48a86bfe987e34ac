/* SPDX-License-Identifier: MIT */
/*
 * stream.c — viewers and what they are sent.
 *
 * A change goes out when it is committed. The first samples after a silence go out at once, those
 * that follow within 100 ms together. A live document is looked at four times a second while
 * somebody watches an experiment that runs. If nothing happens, nobody is woken but for a comment
 * each 15 s, which also finds viewers that have left.
 */
#include "api/auth.h"
#include "api/rows_text.h"
#include "api/stream.h"
#include "api/stream_points.h"
#include "api/stream_ring.h"
#include "api/web_internal.h"
#include "base/map.h"
#include "store/changes.h"

#include <errno.h>

#define KEEP_MS      15000
#define LIVE_MS      250
#define POINTS_MS    100
#define ROWS_MS      1000
#define EXPERIMENTS  100                   /* that one viewer asks for */
#define CATCH_UP_MAX (HTTP_BEHIND_MAX / 2) /* bytes; more: it is quicker to load anew */

struct viewer {
    struct http_stream *to;
    char shown[65]; /* of its secret: auth.h */
    VEC(int64_t) experiments;
};
struct watched { /* an experiment that somebody asked for */
    size_t viewers;
    char *live; /* its last document; NULL: none */
};
struct stream {
    uv_loop_t *loop;
    struct runtime *runtime;
    struct auth *auth; /* NULL: nobody has joined yet */
    uint64_t tokens;   /* changes of them when the viewers were looked at last */
    struct ring *ring;
    VEC(struct viewer *) viewers;
    struct map watched; /* experiment → struct watched */
    struct points_batch *points;
    int64_t points_us; /* mono: when some were sent last */
    uint64_t rows;     /* changes of rows that were looked at */
    uv_timer_t keep_timer, live_timer, points_timer, rows_timer;
    int handles;
    bool ended;
};

/* ---- sending ---- */

static void unwatch(struct stream *stream, int64_t experiment)
{
    struct watched *watched = map_find(&stream->watched, (uint64_t)experiment);

    if (--watched->viewers)
        return;
    map_remove(&stream->watched, (uint64_t)experiment);
    free(watched->live);
    free(watched);
    if (stream->watched.len)
        return;
    series_db_on_rows(runtime_series(stream->runtime), NULL, NULL);
    runtime_hurry(stream->runtime, false);
    points_batch_forget(stream->points);
    uv_timer_stop(&stream->live_timer);
}

static void viewer_free(struct stream *stream, struct viewer *viewer)
{
    vec_foreach (experiment, &viewer->experiments)
        unwatch(stream, *experiment);
    vec_release(&viewer->experiments);
    http_stream_close(viewer->to);
    free(viewer);
    if (stream->viewers.len)
        return;
    uv_timer_stop(&stream->keep_timer);
    uv_timer_stop(&stream->rows_timer);
}

static void add_reset(const struct stream *stream, struct str *to)
{
    str_add(to, "id: ");
    ring_cursor(stream->ring, to);
    str_add(to, "\nevent: reset\ndata: {}\n\n");
}

static int send_reset(struct stream *stream, struct viewer *viewer)
{
    autorelease(str) struct str text = STR_INIT;

    add_reset(stream, &text);
    return http_stream_write(viewer->to, text.s, text.len);
}

/* < 0: it is gone. */
static int tell(struct stream *stream, struct viewer *viewer, const char *text, size_t n)
{
    int r = http_stream_write(viewer->to, text, n);

    if (r != -ENOBUFS)
        return r;
    http_stream_drop(viewer->to);
    return send_reset(stream, viewer);
}

static bool watches(const struct viewer *viewer, int64_t experiment)
{
    vec_foreach (one, &viewer->experiments)
        if (*one == experiment)
            return true;
    return false;
}

/* Who may not ask any more hears no more. */
static void turn_out(struct stream *stream)
{
    if (!stream->auth || auth_refresh(stream->auth, runtime_reader(stream->runtime), NULL) < 0)
        return;
    for (size_t i = stream->viewers.len; i-- > 0;) {
        struct viewer *viewer = stream->viewers.at[i];
        if (auth_still(stream->auth, viewer->shown, runtime_now().wall_us))
            continue;
        vec_remove(&stream->viewers, i);
        http_stream_drop(viewer->to);
        viewer_free(stream, viewer);
    }
}

static void look_at_tokens(struct stream *stream)
{
    uint64_t count = changes_tokens(runtime_changes(stream->runtime));

    if (count == stream->tokens)
        return;
    stream->tokens = count;
    turn_out(stream);
}

/* To those who watch the experiment; 0: to all. */
static void send_all(struct stream *stream, int64_t experiment, const char *text, size_t n)
{
    look_at_tokens(stream);
    for (size_t i = stream->viewers.len; i-- > 0;) {
        struct viewer *viewer = stream->viewers.at[i];
        if ((experiment && !watches(viewer, experiment)) || tell(stream, viewer, text, n) == 0)
            continue;
        vec_remove(&stream->viewers, i);
        viewer_free(stream, viewer);
    }
}

static void on_keep_timer(uv_timer_t *timer)
{
    static const char keep[] = ": keep\n\n";

    turn_out(timer->data); /* what has ended by itself */
    send_all(timer->data, 0, keep, strlen(keep));
}

/* ---- live documents ---- */

static void add_live(const char *json, struct str *to)
{
    str_addf(to, "event: live\ndata: %s\n\n", json);
}

/* False: the experiment is not running. */
static bool look_at(struct stream *stream, int64_t experiment, struct watched *watched)
{
    autorelease(str) struct str live = STR_INIT, text = STR_INIT;

    if (engine_live(runtime_engine(stream->runtime), experiment, runtime_now(), &live) < 0)
        return false;
    if (watched->live && str_eq(watched->live, live.s))
        return true;
    add_live(live.s, &text);
    free(watched->live);
    watched->live = str_take(&live);
    send_all(stream, experiment, text.s, text.len);
    return true;
}

/* Sending may end the watching: the numbers are taken first. */
static void on_live_timer(uv_timer_t *timer)
{
    struct stream *stream = timer->data;
    VEC(int64_t) all = {NULL, 0, 0};
    uint64_t experiment;
    size_t cursor = 0;
    bool running = false;

    while (map_next(&stream->watched, &cursor, &experiment))
        vec_push(&all, (int64_t)experiment);
    vec_foreach (one, &all) {
        struct watched *watched = map_find(&stream->watched, (uint64_t)*one);
        running |= watched && look_at(stream, *one, watched);
    }
    vec_release(&all);
    if (!running)
        uv_timer_stop(timer); /* its next event starts it again */
}

static void start_live_timer(struct stream *stream)
{
    if (!stream->ended && !uv_is_active((uv_handle_t *)&stream->live_timer))
        uv_timer_start(&stream->live_timer, on_live_timer, LIVE_MS, LIVE_MS);
}

/* ---- changes ---- */

static void on_event(int64_t experiment, const char *json, void *arg)
{
    struct stream *stream = arg;
    const struct str *text = ring_add(stream->ring, experiment, json, runtime_now().wall_us);

    send_all(stream, 0, text->s, text->len);
    if (map_find(&stream->watched, (uint64_t)experiment))
        start_live_timer(stream);
}

/* Nobody can say which. */
static void on_rows_lost(struct stream *stream)
{
    autorelease(str) struct str text = STR_INIT;

    stream->rows = changes_count(runtime_changes(stream->runtime));
    add_reset(stream, &text);
    send_all(stream, 0, text.s, text.len);
}

/* How many of the rows are of the first one's experiment: they are one event. *ret_trial: the only
 * trial among them; 0: there are several, or all are gone. */
static int same_experiment(const struct change *some, int n, int64_t *ret_trial, bool *ret_removed)
{
    int64_t trial = 0;
    bool several = false;
    int i;

    *ret_removed = false;
    for (i = 0; i < n && some[i].experiment == some[0].experiment; i++) {
        several |= some[i].trial ? trial && some[i].trial != trial : some[i].removed;
        trial = some[i].trial ? some[i].trial : trial;
        *ret_removed |= some[i].removed;
    }
    *ret_trial = several ? 0 : trial;
    return i;
}

static void tell_rows(struct stream *stream, int64_t experiment, int64_t trial, bool removed)
{
    autorelease(str) struct str json = STR_INIT;

    str_addf(&json, "{\"event\":\"%s\"", removed ? "removed" : "updated");
    if (trial)
        str_addf(&json, ",\"trial\":\"%lld.%lld\"", (long long)experiment, (long long)trial);
    str_add(&json, "}");
    on_event(experiment, json.s, stream);
}

/* Rows that no event tells of: runs of other programs, tags, notes. An experiment that the engine
 * has in hand tells of itself. */
static void look_at_rows(struct stream *stream)
{
    struct changes *changes = runtime_changes(stream->runtime);
    struct change some[256];
    int64_t trial;
    bool removed;
    int n;

    while ((n = changes_since(changes, stream->rows, some, ARRAY_LEN(some))) > 0) {
        stream->rows += (uint64_t)n;
        for (int i = 0; i < n;) {
            int64_t experiment = some[i].experiment;
            i += same_experiment(&some[i], n - i, &trial, &removed);
            if (!engine_has(runtime_engine(stream->runtime), experiment))
                tell_rows(stream, experiment, trial, removed);
        }
    }
    if (n < 0)
        on_rows_lost(stream);
}

static void on_rows_timer(uv_timer_t *timer)
{
    look_at_rows(timer->data);
}

/* ---- points ---- */

static void on_text(int64_t experiment, const struct str *text, void *arg)
{
    send_all(arg, experiment, text->s, text->len);
}

static void tell_points(struct stream *stream)
{
    stream->points_us = runtime_now().mono_us;
    points_batch_tell(stream->points, runtime_series(stream->runtime), on_text, stream);
}

static void on_points_timer(uv_timer_t *timer)
{
    tell_points(timer->data);
}

static void on_rows(const struct series_source *source, const struct series_row *rows, size_t n,
                    void *arg)
{
    struct stream *stream = arg;

    if (!source->trial || !map_find(&stream->watched, (uint64_t)source->experiment))
        return;
    for (size_t i = 0; i < n; i++)
        points_batch_add(stream->points, source, &rows[i]);
    if (points_batch_empty(stream->points) || uv_is_active((uv_handle_t *)&stream->points_timer))
        return;
    int64_t wait_us = stream->points_us + POINTS_MS * 1000 - runtime_now().mono_us;
    uv_timer_start(&stream->points_timer, on_points_timer, (uint64_t)MAX(0, wait_us + 999) / 1000,
                   0);
}

/* ---- joining ---- */

/* "3,4,17" */
static int read_experiments(const char *text, struct viewer *viewer, struct err *err)
{
    while (*text) {
        char *end;
        errno = 0;
        long long number = strtoll(text, &end, 10);
        if (errno || end == text || number < 1 || (*end && *end != ','))
            return err_set(err, EINVAL, "experiments=%.40s: numbers with commas are wanted", text);
        if (!watches(viewer, number))
            vec_push(&viewer->experiments, (int64_t)number);
        if (viewer->experiments.len > EXPERIMENTS)
            return err_set(err, EINVAL, "experiments: at most %d", EXPERIMENTS);
        text = *end ? end + 1 : end;
    }
    return 0;
}

static void watch(struct stream *stream, int64_t experiment)
{
    struct watched *watched = map_find(&stream->watched, (uint64_t)experiment);

    if (!watched) {
        watched = xcalloc(1, sizeof(*watched));
        map_put(&stream->watched, (uint64_t)experiment, watched);
        series_db_on_rows(runtime_series(stream->runtime), on_rows, stream);
        runtime_hurry(stream->runtime, true);
    }
    watched->viewers++;
    if (engine_has(runtime_engine(stream->runtime), experiment))
        start_live_timer(stream);
}

/* Its cursor, what it missed, and how things stand. */
static void greet(struct stream *stream, struct viewer *viewer, const char *after)
{
    autorelease(str) struct str text = STR_INIT, missed = STR_INIT;

    str_add(&text, "retry: 1000\nid: ");
    ring_cursor(stream->ring, &text);
    str_add(&text, "\n\n");
    http_stream_write(viewer->to, text.s, text.len);
    if (after && *after && ring_after(stream->ring, after, CATCH_UP_MAX, &missed) < 0)
        send_reset(stream, viewer);
    http_stream_write(viewer->to, missed.s, missed.len);
    vec_foreach (experiment, &viewer->experiments) {
        autorelease(str) struct str live = STR_INIT, event = STR_INIT;
        if (engine_live(runtime_engine(stream->runtime), *experiment, runtime_now(), &live) < 0)
            continue;
        add_live(live.s, &event);
        http_stream_write(viewer->to, event.s, event.len);
    }
}

/* From which row on a newcomer is told, who is the only one. Cuts the rows off a cursor of
 * stream_cursor(); who comes back goes on where they were last looked at. */
static uint64_t take_rows(const struct stream *stream, char *after)
{
    uint64_t count = changes_count(runtime_changes(stream->runtime));
    char *dot = after ? strchr(after, '.') : NULL;

    if (!dot)
        return after ? stream->rows : count;
    *dot = '\0';
    return MIN(strtoull(dot + 1, NULL, 10), count);
}

static void admit(struct stream *stream, struct http_request *request, struct viewer *viewer)
{
    static const char *const headers[] = {"Cache-Control", "no-store", "X-Accel-Buffering", "no",
                                          NULL};
    const struct auth_caller *who = http_attached(request);
    const char *last = http_header(request, "Last-Event-ID");
    const char *asked = last ? last : http_param(request, "after");
    autofree(mem) char *after = asked ? xstrdup(asked) : NULL;

    snprintf(viewer->shown, sizeof(viewer->shown), "%s", who->shown);
    viewer->to = http_reply_stream(request, "text/event-stream", headers);
    vec_foreach (experiment, &viewer->experiments)
        watch(stream, *experiment);
    if (viewer->experiments.len) /* what is not told to it any more is there to be read */
        series_db_flush(runtime_series(stream->runtime), NULL);
    vec_push(&stream->viewers, viewer);
    if (!uv_is_active((uv_handle_t *)&stream->keep_timer))
        uv_timer_start(&stream->keep_timer, on_keep_timer, KEEP_MS, KEEP_MS);
    uint64_t rows = take_rows(stream, after);
    greet(stream, viewer, after);
    if (uv_is_active((uv_handle_t *)&stream->rows_timer))
        return;
    uv_timer_start(&stream->rows_timer, on_rows_timer, ROWS_MS, ROWS_MS);
    stream->rows = rows; /* nobody has looked at them while nobody listened */
    look_at_rows(stream);
}

void stream_join(struct stream *stream, struct http_request *request, struct auth *auth)
{
    const char *experiments = http_param(request, "experiments");
    struct viewer *viewer = xcalloc(1, sizeof(*viewer));
    autorelease(err) struct err err = ERR_INIT;

    stream->auth = auth;
    if (stream->ended) {
        http_reply_error(request, 503, "the server is stopping");
    } else if (experiments && read_experiments(experiments, viewer, &err) < 0) {
        http_reply_error(request, 400, err_text(&err));
    } else {
        admit(stream, request, viewer);
        return;
    }
    vec_release(&viewer->experiments);
    free(viewer);
}

static void on_events(struct web_call *call)
{
    stream_join(call->web->stream, call->request, call->web->auth);
}

const struct web_route stream_routes[] = {
    {"GET", "/v1/events", ROLE_VIEWER, DESK_LOOP, on_events, 0,
     "What happens, as it happens: server-sent events.", 0},
    {.methods = NULL},
};

/* ---- beginning and end ---- */

struct stream *stream_new(uv_loop_t *loop, struct runtime *runtime)
{
    struct stream *stream = xcalloc(1, sizeof(*stream));
    uv_timer_t *timers[] = {&stream->keep_timer, &stream->live_timer, &stream->points_timer,
                            &stream->rows_timer};

    stream->loop = loop;
    stream->runtime = runtime;
    stream->ring = ring_new(random_u64(), RING_EVENTS, RING_BYTES);
    stream->points = points_batch_new();
    for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
        uv_timer_init(loop, timers[i]);
        uv_unref((uv_handle_t *)timers[i]);
        timers[i]->data = stream;
    }
    stream->handles = ARRAY_LEN(timers);
    runtime_on_event(runtime, on_event, stream);
    return stream;
}

void stream_end(struct stream *stream)
{
    if (stream->ended)
        return;
    stream->ended = true;
    if (!points_batch_empty(stream->points))
        tell_points(stream);
    while (stream->viewers.len) {
        struct viewer *viewer = *vec_last(&stream->viewers);
        stream->viewers.len--;
        viewer_free(stream, viewer);
    }
    runtime_on_event(stream->runtime, NULL, NULL);
}

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;
    stream->handles--;
}

void stream_free(struct stream *stream)
{
    stream_end(stream);
    uv_close((uv_handle_t *)&stream->keep_timer, on_closed);
    uv_close((uv_handle_t *)&stream->live_timer, on_closed);
    uv_close((uv_handle_t *)&stream->points_timer, on_closed);
    uv_close((uv_handle_t *)&stream->rows_timer, on_closed);
    while (stream->handles > 0)
        uv_run(stream->loop, UV_RUN_NOWAIT);
    map_release(&stream->watched);
    vec_release(&stream->viewers);
    points_batch_free(stream->points);
    ring_free(stream->ring);
    free(stream);
}

void stream_cursor(const struct stream *stream, char ret[STREAM_CURSOR_SIZE])
{
    ring_cursor_now(stream->ring, ret);
    char *to = ret + strlen(ret);
    *to++ = '.';
    *digits_put(to, changes_count(runtime_changes(stream->runtime))) = '\0';
}

size_t stream_viewers(const struct stream *stream)
{
    return stream->viewers.len;
}
