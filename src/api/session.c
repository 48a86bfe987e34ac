/* SPDX-License-Identifier: MIT */
/*
 * session.c — being the engine, or having joined one.
 *
 *            lock free ──► engine: runtime + server ◄─────────────┐
 *   open ──┤                                                      │ lock free
 *            lock taken ─► joined: a connection ── it breaks ──► again
 *
 * Requests go over short blocking calls of their own; the watched events come over one connection.
 */
#include "api/session.h"
#include "api/link.h"
#include "api/routes.h"
#include "api/server.h"
#include "api/wire.h"
#include "base/log.h"
#include "base/rng.h"

#include <errno.h>
#include <unistd.h>

#define LIVE_MS  250
#define AGAIN_MS 50
#define WEB_MS   300 /* what is over sooner needs no pages */
#define TRIES    200 /* of reaching either the lock or the socket: 10 s */

struct session {
    uv_loop_t *loop;
    struct session_options options;
    char *home;
    struct runtime *runtime; /* engine */
    struct server *server;   /* engine */
    struct web *web;         /* engine; NULL: none (yet) */
    int64_t watching;
    int64_t seen;     /* its first so many events have been told; -1: only later ones are wanted */
    uv_timer_t timer; /* engine: live documents; between two homes: try again */
    uv_timer_t web_timer;
    uv_pipe_t pipe; /* joined: the watching connection */
    bool pipe_open;
    struct str in;
    int tries;
    int handles;
    bool told_end;
};

bool session_is_engine(const struct session *session)
{
    return session->runtime != NULL;
}

static void tell_event(struct session *session, const char *json)
{
    if (session->told_end)
        return;
    session->told_end = strstr(json, "\"event\":\"finished\"") != NULL;
    if (session->seen >= 0)
        session->seen++;
    session->options.on_event(json, session->options.arg);
}

static void pipe_closed(uv_handle_t *handle)
{
    struct session *session = handle->data;
    session->handles--;
}

static void drop_pipe(struct session *session)
{
    if (!session->pipe_open)
        return;
    session->pipe_open = false;
    uv_close((uv_handle_t *)&session->pipe, pipe_closed);
}

/* ---- as the engine ---- */

static void on_engine_event(int64_t experiment, const char *json, void *arg)
{
    struct session *session = arg;
    if (session->server)
        server_event(session->server, experiment, json);
    if (experiment == session->watching)
        tell_event(session, json);
}

static void on_engine_failure(const struct err *err, void *arg)
{
    struct session *session = arg;
    session->options.on_failure(err, session->options.arg);
}

static void on_live_timer(uv_timer_t *timer)
{
    struct session *session = timer->data;
    autorelease(str) struct str live = STR_INIT;

    if (session->watching && session->options.on_live &&
        engine_live(runtime_engine(session->runtime), session->watching, runtime_now(), &live) == 0)
        session->options.on_live(live.s, session->options.arg);
}

static void on_web_timer(uv_timer_t *timer)
{
    struct session *session = timer->data;
    autorelease(err) struct err err = ERR_INIT;

    if (web_open(session->loop, session->runtime, session->options.web, &session->web, &err) < 0) {
        log_warn("no pages are served: %s", err_text(&err));
        return;
    }
    struct link_page page = {.experiment = session->watching};
    autofree(mem) char *link = link_to(web_link(session->web), &page);
    if (session->options.on_web)
        session->options.on_web(link, session->options.arg);
}

/* The one that was joined may serve pages, too; if not, there is no link. */
static void on_joined_timer(uv_timer_t *timer)
{
    struct session *session = timer->data;
    struct link_page page = {.experiment = session->watching};
    autofree(mem) char *link = NULL;

    if (link_new(session->home, &page, &link, NULL) >= 0 && session->options.on_web)
        session->options.on_web(link, session->options.arg);
}

static void tell(void *to, const char *key, const char *json)
{
    (void)key;
    tell_event(to, json);
}

/* Whoever has joined an engine leaves it behind, and hears what it missed. */
static int become_engine(struct session *session, bool go_on, struct err *err)
{
    struct runtime_options options = {
        .home = session->home,
        .go_on = go_on,
        .on_event = on_engine_event,
        .on_failure = on_engine_failure,
        .arg = session,
    };
    int r = runtime_open(session->loop, &options, &session->runtime, err);
    if (r < 0)
        return r;
    r = server_new(session->loop, session->runtime, &session->server, err);
    if (r < 0) {
        runtime_close(TAKE(session->runtime));
        return r;
    }
    uv_timer_start(&session->timer, on_live_timer, LIVE_MS, LIVE_MS);
    if (session->options.web)
        uv_timer_start(&session->web_timer, on_web_timer, WEB_MS, 0);
    drop_pipe(session);
    if (session->watching)
        route_catch_up(session->runtime, session->watching, session->seen, tell, session);
    return 0;
}

/* ---- joined ---- */

static void on_again(uv_timer_t *timer);

static void lost_engine(struct session *session)
{
    drop_pipe(session);
    session->tries = 0;
    uv_timer_start(&session->timer, on_again, 0, AGAIN_MS);
}

static void on_line(struct session *session, const char *line, size_t n)
{
    autofree(json) json_t *object = NULL;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    const json_t *event, *live;

    if (json_parse(line, n, &object, NULL) < 0)
        return;
    if ((event = json_object_get(object, "event"))) {
        json_value(&out, event);
        tell_event(session, text.s);
    } else if ((live = json_object_get(object, "live")) && session->options.on_live) {
        json_value(&out, live);
        session->options.on_live(text.s, session->options.arg);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct session *session = handle->data;
    str_reserve(&session->in, suggested);
    *buf = uv_buf_init(session->in.s + session->in.len, (unsigned)suggested);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct session *session = stream->data;
    (void)buf;

    if (n < 0 || session->in.len > WIRE_LINE_MAX) {
        lost_engine(session);
        return;
    }
    session->in.len += (size_t)n;
    session->in.s[session->in.len] = '\0';
    for (char *end; (end = memchr(session->in.s, '\n', session->in.len));) {
        size_t used = (size_t)(end - session->in.s);
        on_line(session, session->in.s, used);
        memmove(session->in.s, end + 1, session->in.len - used - 1);
        str_cut(&session->in, session->in.len - used - 1);
    }
}

/* Begin to read the events of the watched experiment from the engine that is there. */
static int open_pipe(struct session *session, struct err *err)
{
    int fd = -1;
    autofree(mem) char *request =
        xasprintf("{\"do\":\"watch\",\"experiment\":%lld,\"after\":%lld}\n",
                  (long long)session->watching, (long long)session->seen);
    int r = wire_connect(session->home, &fd, err);
    if (r < 0)
        return r;
    if (write(fd, request, strlen(request)) < 0) {
        close(fd);
        return err_set(err, EPIPE, "the engine ended");
    }
    uv_pipe_init(session->loop, &session->pipe, 0);
    session->pipe.data = session;
    session->pipe_open = true;
    session->handles++;
    str_cut(&session->in, 0);
    uv_pipe_open(&session->pipe, fd);
    uv_read_start((uv_stream_t *)&session->pipe, on_alloc, on_read);
    return 0;
}

/* The engine is gone: become it, or find the one that was quicker. */
static void on_again(uv_timer_t *timer)
{
    struct session *session = timer->data;
    autorelease(err) struct err err = ERR_INIT;
    int r = -EAGAIN;

    if (session->handles > 2)
        return; /* the old connection is still being closed */
    if (!session->options.join_only)
        r = become_engine(session, true, &err);
    if (r == 0) {
        log_info("took over as the engine of %s", session->home);
        return;
    }
    if (r == -EAGAIN)
        r = open_pipe(session, &err);
    if (r == 0) {
        uv_timer_stop(timer);
        return;
    }
    if (++session->tries < TRIES && (r == -ENOENT || r == -ECONNREFUSED || r == -EPIPE))
        return;
    uv_timer_stop(timer);
    session->options.on_failure(&err, session->options.arg);
}

/* ---- both ---- */

int session_open(uv_loop_t *loop, const struct session_options *options, struct session **ret,
                 struct err *err)
{
    struct session *session = xcalloc(1, sizeof(*session));
    int r = -EAGAIN;

    session->loop = loop;
    session->options = *options;
    session->home = xstrdup(options->home);
    session->in = (struct str)STR_INIT;
    uv_timer_init(loop, &session->timer);
    uv_timer_init(loop, &session->web_timer);
    session->timer.data = session->web_timer.data = session;
    session->handles = 2;
    if (options->join_only)
        r = home_locked(options->home)
                ? 0
                : err_set(err, ENOENT, "no experiment is running in %s", options->home);
    else
        r = become_engine(session, options->go_on, err);
    if (r < 0 && r != -EAGAIN) {
        session_close(session);
        return r;
    }
    *ret = session;
    return 0;
}

static void timer_closed(uv_handle_t *handle)
{
    struct session *session = handle->data;
    session->handles--;
}

void session_close(struct session *session)
{
    uv_timer_stop(&session->timer); /* closing the runtime turns the loop */
    uv_timer_stop(&session->web_timer);
    drop_pipe(session);
    if (session->server)
        server_stop(session->server);
    if (session->web)
        web_close(TAKE(session->web));
    if (session->runtime)
        runtime_close(TAKE(session->runtime));
    if (session->server)
        server_free(TAKE(session->server));
    uv_close((uv_handle_t *)&session->timer, timer_closed);
    uv_close((uv_handle_t *)&session->web_timer, timer_closed);
    while (session->handles > 0)
        uv_run(session->loop, UV_RUN_NOWAIT);
    str_release(&session->in);
    free(session->home);
    free(session);
}

/* A request to the engine that we joined; when it has just gone, be it ourselves and try again.
 * 1: we are the engine now. */
static int call_engine(struct session *session, const char *request, json_t **ret, struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        int r = wire_call(session->home, request, ret, err);
        if (r != -ENOENT && r != -ECONNREFUSED && r != -EPIPE)
            return r;
        r = session->options.join_only ? -EAGAIN : become_engine(session, true, err);
        if (r != -EAGAIN)
            return r < 0 ? r : 1;
        usleep(AGAIN_MS * 1000);
    }
    return err_set(err, ETIMEDOUT, "the engine of %s does not answer", session->home);
}

static int watch(struct session *session, int64_t experiment, int64_t seen, struct err *err)
{
    session->watching = experiment;
    session->seen = seen;
    session->told_end = false;
    if (session->runtime)
        route_catch_up(session->runtime, experiment, seen, tell, session);
    else if (!session->options.join_only && session->options.web)
        uv_timer_start(&session->web_timer, on_joined_timer, WEB_MS, 0);
    if (!session->runtime && open_pipe(session, err) < 0)
        lost_engine(session); /* it has just gone: the next one knows the experiment too */
    return 0;
}

int session_watch(struct session *session, int64_t experiment, struct err *err)
{
    return watch(session, experiment, -1, err);
}

int session_submit(struct session *session, struct submission *submission, int64_t *ret_experiment,
                   struct err *err)
{
    autofree(mem) char *token = xasprintf("%016llx", (unsigned long long)random_u64());
    const char *owner = submission->owner ? submission->owner : "";

    if (!session->runtime) {
        autorelease(str) struct str request = STR_INIT;
        autofree(json) json_t *reply = NULL;
        if (!submission->key)
            submission->key = token;
        route_submit_text(submission, &request);
        int r = call_engine(session, request.s, &reply, err);
        if (r < 0)
            return r;
        /* The engine that died may have kept it before it could answer. */
        *ret_experiment = json_get_int(reply, "experiment", 0);
        if (r == 1)
            r = store_submission(runtime_reader(session->runtime), owner, submission->key,
                                 ret_experiment, err);
        if (r < 0)
            return r;
        if (*ret_experiment)
            return watch(session, *ret_experiment, 0, err);
    }
    int r = engine_submit(runtime_engine(session->runtime), runtime_reader(session->runtime),
                          submission, runtime_now(), ret_experiment, err);
    session->watching = r < 0 ? 0 : *ret_experiment;
    return r;
}

int session_resume(struct session *session, int64_t experiment, struct err *err)
{
    if (!session->runtime) {
        autofree(mem) char *request =
            xasprintf("{\"do\":\"resume\",\"experiment\":%lld}", (long long)experiment);
        autofree(json) json_t *reply = NULL;
        int r = call_engine(session, request, &reply, err);
        if (r < 0)
            return r;
        if (r == 0)
            return watch(session, experiment, -1, err);
    }
    int r = engine_resume(runtime_engine(session->runtime), runtime_reader(session->runtime),
                          experiment, runtime_now(), err);
    if (r < 0 && r != -EEXIST)
        return r;
    session->watching = experiment;
    return 0;
}

int session_extend(struct session *session, int64_t experiment, const struct extension *extension,
                   struct err *err)
{
    if (!session->runtime) {
        autofree(mem) char *request =
            xasprintf("{\"do\":\"resume\",\"experiment\":%lld,\"trials\":{\"%s\":%lld}}",
                      (long long)experiment, extension->add ? "add" : "set",
                      (long long)(extension->add ? extension->add : extension->total));
        autofree(json) json_t *reply = NULL;
        int r = call_engine(session, request, &reply, err);
        if (r < 0)
            return r;
        if (r == 0)
            return watch(session, experiment, -1, err);
    }
    int r = engine_extend(runtime_engine(session->runtime), runtime_reader(session->runtime),
                          experiment, extension, runtime_now(), err);
    if (r >= 0)
        session->watching = experiment;
    return r;
}

int session_stop(struct session *session, int64_t experiment, enum stop_mode mode, struct err *err)
{
    static const char *const words[] = {"drain", "now", "interrupt", "kill"};
    if (!session->runtime) {
        autofree(mem) char *request =
            xasprintf("{\"do\":\"stop\",\"experiment\":%lld,\"mode\":\"%s\"}",
                      (long long)experiment, words[mode]);
        autofree(json) json_t *reply = NULL;
        int r = call_engine(session, request, &reply, err);
        if (r <= 0)
            return r;
    }
    return engine_stop(runtime_engine(session->runtime), experiment, mode, runtime_now(), err);
}
