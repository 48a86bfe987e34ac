/* SPDX-License-Identifier: MIT */
/*
 * server.c — connections on the engine's loop: lines in, routes, lines out after the commit.
 *
 * A peer that reads too slowly loses its connection, not our memory.
 */
#include "api/server.h"
#include "api/routes.h"
#include "api/wire.h"
#include "base/log.h"

#include <errno.h>
#include <unistd.h>

#define LIVE_MS     250
#define BACKLOG_MAX (4u << 20)

struct peer {
    uv_pipe_t pipe;
    struct server *server;
    uint64_t id;
    struct str in;
    int64_t watching; /* experiment; 0: none */
    int64_t joining;  /* the one it watches from the next turn of the loop on; 0: none */
    int64_t after;    /* of its events it has had so many; < 0: it does not know */
};

struct answer;
struct server {
    uv_loop_t *loop;
    struct runtime *runtime;
    uv_pipe_t listener;
    uv_timer_t timer;
    uv_idle_t idle; /* active while a peer is joining */
    VEC(struct peer *) peers;
    VEC(struct answer *) answers; /* that wait for their commit; it may never come */
    uint64_t next_id;
    int handles;
    bool stopped;
};

static void peer_closed(uv_handle_t *handle)
{
    struct peer *peer = handle->data;
    peer->server->handles--;
    str_release(&peer->in);
    free(peer);
}

static void peer_close(struct peer *peer)
{
    struct server *server = peer->server;
    for (size_t i = 0; i < server->peers.len; i++)
        if (server->peers.at[i] == peer) {
            vec_remove(&server->peers, i);
            if (!server->peers.len)
                uv_timer_stop(&server->timer);
            uv_close((uv_handle_t *)&peer->pipe, peer_closed);
            return;
        }
}

struct outgoing {
    uv_write_t write;
    char text[];
};

static void on_written(uv_write_t *write, int status)
{
    (void)status; /* a broken connection is closed by its reader */
    free(write->data);
}

static void peer_send(struct peer *peer, const char *text)
{
    size_t n = strlen(text);

    if (uv_stream_get_write_queue_size((uv_stream_t *)&peer->pipe) > BACKLOG_MAX) {
        peer_close(peer);
        return;
    }
    struct outgoing *out = xmalloc(sizeof(*out) + n + 1);
    memcpy(out->text, text, n);
    out->text[n] = '\n';
    out->write.data = out;
    uv_buf_t buf = uv_buf_init(out->text, (unsigned)n + 1);
    if (uv_write(&out->write, (uv_stream_t *)&peer->pipe, &buf, 1, on_written) < 0)
        free(out);
}

static void send_wrapped(void *to, const char *key, const char *json)
{
    struct peer *peer = to;
    autofree(mem) char *line = xasprintf("{\"%s\":%s}", key, json);
    peer_send(peer, line);
}

void server_event(struct server *server, int64_t experiment, const char *json)
{
    for (size_t i = server->peers.len; i-- > 0;)
        if (server->peers.at[i]->watching == experiment)
            send_wrapped(server->peers.at[i], "event", json);
}

static void send_live(struct peer *peer)
{
    autorelease(str) struct str live = STR_INIT;
    if (peer->watching && engine_live(runtime_engine(peer->server->runtime), peer->watching,
                                      runtime_now(), &live) == 0)
        send_wrapped(peer, "live", live.s);
}

static void on_live_timer(uv_timer_t *timer)
{
    struct server *server = timer->data;
    for (size_t i = server->peers.len; i-- > 0;)
        send_live(server->peers.at[i]);
}

/* The answer waits for the commit; its peer may be gone by then. */
struct answer {
    struct server *server;
    uint64_t peer;
    int64_t watch, after;
    char *text;
};

static void answer_free(struct answer *answer)
{
    free(answer->text);
    free(answer);
}

/* Between two commits, so that no event is missed and none is told twice. */
static void on_joining(uv_idle_t *idle)
{
    struct server *server = idle->data;

    uv_idle_stop(idle);
    for (size_t i = server->peers.len; i-- > 0;) {
        struct peer *peer = server->peers.at[i];
        if (!peer->joining)
            continue;
        peer->watching = peer->joining;
        peer->joining = 0;
        route_catch_up(server->runtime, peer->watching, peer->after, send_wrapped, peer);
    }
}

static void answer_now(void *arg)
{
    struct answer *answer = arg;
    struct server *server = answer->server;

    for (size_t i = 0; i < server->peers.len; i++) {
        struct peer *peer = server->peers.at[i];
        if (peer->id != answer->peer)
            continue;
        peer->joining = answer->watch;
        peer->after = answer->after;
        if (answer->watch)
            uv_idle_start(&server->idle, on_joining);
        peer_send(peer, answer->text);
        break;
    }
    for (size_t i = 0; i < server->answers.len; i++)
        if (server->answers.at[i] == answer) {
            vec_remove(&server->answers, i);
            break;
        }
    answer_free(answer);
}

static void on_line(struct peer *peer, const char *line, size_t n)
{
    struct server *server = peer->server;
    struct answer *answer = xcalloc(1, sizeof(*answer));
    autorelease(str) struct str reply = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *request = NULL;
    int r = json_parse(line, n, &request, &err);

    if (r >= 0)
        r = route_request(server->runtime, request, &reply, &answer->watch, &err);
    if (r < 0) {
        str_cut(&reply, 0);
        wire_error(&err, &reply);
    }
    answer->server = server;
    answer->peer = peer->id;
    answer->after = json_get_int(request, "after", -1);
    answer->text = str_take(&reply);
    vec_push(&server->answers, answer);
    engine_when_committed(runtime_engine(server->runtime), answer_now, answer);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct peer *peer = handle->data;
    str_reserve(&peer->in, suggested);
    *buf = uv_buf_init(peer->in.s + peer->in.len, (unsigned)suggested);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct peer *peer = stream->data;
    (void)buf;

    if (n < 0 || peer->in.len + (size_t)n > WIRE_LINE_MAX) {
        peer_close(peer);
        return;
    }
    peer->in.len += (size_t)n;
    peer->in.s[peer->in.len] = '\0';
    for (char *end; (end = memchr(peer->in.s, '\n', peer->in.len));) {
        size_t used = (size_t)(end - peer->in.s);
        on_line(peer, peer->in.s, used);
        memmove(peer->in.s, end + 1, peer->in.len - used - 1);
        str_cut(&peer->in, peer->in.len - used - 1);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *server = listener->data;
    if (status < 0)
        return;
    struct peer *peer = xcalloc(1, sizeof(*peer));
    peer->server = server;
    peer->in = (struct str)STR_INIT;
    peer->id = ++server->next_id;
    uv_pipe_init(server->loop, &peer->pipe, 0);
    peer->pipe.data = peer;
    server->handles++;
    vec_push(&server->peers, peer);
    uv_timer_start(&server->timer, on_live_timer, LIVE_MS, LIVE_MS);
    uv_os_fd_t fd = -1;
    if (uv_accept(listener, (uv_stream_t *)&peer->pipe) < 0 ||
        uv_fileno((uv_handle_t *)&peer->pipe, &fd) < 0 || !wire_peer_allowed(fd) ||
        uv_read_start((uv_stream_t *)&peer->pipe, on_alloc, on_read) < 0)
        peer_close(peer);
}

static void handle_closed(uv_handle_t *handle)
{
    struct server *server = handle->data;
    server->handles--;
}

int server_new(uv_loop_t *loop, struct runtime *runtime, struct server **ret, struct err *err)
{
    int fd = -1;
    int r = wire_listen(runtime_home(runtime), &fd, err);
    if (r < 0)
        return r;
    struct server *server = xcalloc(1, sizeof(*server));
    server->loop = loop;
    server->runtime = runtime;
    uv_pipe_init(loop, &server->listener, 0);
    uv_timer_init(loop, &server->timer);
    uv_idle_init(loop, &server->idle);
    server->listener.data = server->timer.data = server->idle.data = server;
    server->handles = 3;
    r = uv_pipe_open(&server->listener, fd);
    if (r >= 0)
        r = uv_listen((uv_stream_t *)&server->listener, 64, on_connection);
    if (r < 0) {
        server_free(server);
        return err_set(err, EIO, "cannot listen on the home's socket: %s", uv_strerror(r));
    }
    *ret = server;
    return 0;
}

void server_stop(struct server *server)
{
    while (server->peers.len)
        peer_close(server->peers.at[0]);
    if (server->stopped)
        return;
    server->stopped = true;
    uv_close((uv_handle_t *)&server->listener, handle_closed);
    uv_close((uv_handle_t *)&server->timer, handle_closed);
    uv_close((uv_handle_t *)&server->idle, handle_closed);
    while (server->handles > 0)
        uv_run(server->loop, UV_RUN_NOWAIT);
}

void server_free(struct server *server)
{
    server_stop(server);
    vec_release(&server->peers);
    vec_foreach (answer, &server->answers)
        answer_free(*answer);
    vec_release(&server->answers);
    free(server);
}
