/* SPDX-License-Identifier: MIT */
/*
 * web.c — the engine over HTTP: all tables of routes, who may ask, and the desk that serves each.
 *
 *     http thread ──► on_head(): who, role ──► on_request(): DESK_HTTP, or a desk's queue
 *                                          └─► the server's queue ──► on_wake(), loop thread
 */
#include "api/tables.h"
#include "api/v1_trials_kept.h"
#include "api/web_internal.h"
#include "api/auth_head.h"
#include "api/web_act.h"
#include "base/log.h"
#include "api/influx_write.h"
#include "store/held_view.h"

#include <assert.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CHARTS_THREADS 2

static const struct web_route *const tables[] = {
    pages_routes,       v1_auth_routes,   v1_experiments_routes, v1_history_routes,
    v1_timeline_routes, v1_trials_routes, ingest_routes,         mlflow_routes,
    stream_routes,      v1_series_routes, v1_logs_routes,        v1_files_routes,
    v1_code_routes,     v1_queue_routes,  v1_act_routes,         v1_commands_routes,
};

const struct web_route *web_route_at(size_t i)
{
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (const struct web_route *route = tables[t]; route->methods; route++)
            if (i-- == 0)
                return route;
    return NULL;
}

/* ---- who may ---- */

static int on_head(struct http_request *request, void *arg, unsigned *ret_status, struct err *err)
{
    struct web *web = arg;
    struct store *store = web->readers[DESK_HTTP].store;

    return auth_head(web->auth, store, request, runtime_now(), ret_status, err);
}

/* ---- desks ---- */

static void serve(struct web *web, struct http_request *request, enum web_desk desk)
{
    const struct web_route *route = http_tag(request);
    const struct web_reader *reader = &web->readers[desk];
    const struct caller *who = http_attached(request);
    struct web_call call = {
        .request = request,
        .route = route,
        .who = *who,
        .web = web,
        .home = runtime_home(web->runtime),
        .store = desk == DESK_LOOP ? runtime_reader(web->runtime) : reader->store,
        .series = desk == DESK_LOOP ? runtime_series(web->runtime) : reader->series,
        .charts = reader->charts,
        .tables = reader->tables,
        .kept = reader->kept,
        .view = reader->view,
        .runtime = desk == DESK_LOOP ? web->runtime : NULL,
    };
    stream_cursor(web->stream, call.cursor);
    if (reader->series)
        series_db_refresh(reader->series, NULL);
    route->serve(&call);
}

static void on_request(struct http_request *request, void *arg)
{
    struct web *web = arg;
    const struct web_route *route = http_tag(request);

    if (route->desk == DESK_HTTP)
        serve(web, request, DESK_HTTP);
    else
        desk_put(web->desks[route->desk], request);
}

static void serve_read(struct http_request *request, void *arg)
{
    serve(arg, request, DESK_READ);
}

static void serve_draw(struct http_request *request, void *arg)
{
    serve(arg, request, DESK_DRAW);
}

/* ---- the loop's ---- */

/* Not by uv_async_send(): that is not done before its thread is back from the kernel, and until
 * then the loop turns in circles, which is long where it got the processor of that thread. */
static void on_waiting(void *arg)
{
    struct web *web = arg;
    eventfd_write(web->wake_fd, 1);
}

static void on_wake(uv_poll_t *wake, int status, int events)
{
    struct web *web = wake->data;
    struct http_request *request;
    eventfd_t sent;
    (void)status, (void)events;

    eventfd_read(web->wake_fd, &sent); /* first: what comes later wakes again */
    if (web->closing)
        return; /* they are told that the server stops */
    while (web->http && (request = http_next(web->http)))
        serve(web, request, DESK_LOOP);
    ingest_turn(web->ingest);
}

static int open_wake(struct web *web, struct err *err)
{
    web->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (web->wake_fd < 0)
        return err_errno(err, errno, "the server could not be started");
    int r = uv_poll_init(web->loop, &web->wake, web->wake_fd);
    if (r < 0)
        return err_errno(err, -r, "the server could not be started");
    web->wake.data = web;
    web->handles = 1;
    r = uv_poll_start(&web->wake, UV_READABLE, on_wake);
    return r < 0 ? err_errno(err, -r, "the server could not be started") : 0;
}

/* ---- open, close ---- */

static bool is_influx(const char *path)
{
    return str_eq(path, "/write") || str_eq(path, "/query");
}

static void list_routes(struct web *web)
{
    const struct web_route *route;

    for (size_t i = 0; (route = web_route_at(i)); i++) {
        assert(i + 1 < WEB_ROUTES_MAX);
        web->routes[i] = (struct http_route){
            .methods = route->methods,
            .path = route->path,
            .handler = route->desk == DESK_LOOP ? NULL : on_request,
            .body_max = route->body_max,
            .spool = route->flags & WEB_SPOOL,
            .soon = route->flags & WEB_SOON,
            .tag = route,
            .challenge = is_influx(route->path) ? "Basic realm=\"InfluxDB\"" : NULL,
        };
    }
}

/* Single trials are asked for by the thousand: they have a handle and a view of their own. */
static int open_trials(const struct web *web, struct web_reader *ret, struct err *err)
{
    struct changes *changes = runtime_changes(web->runtime);
    int r = store_open_read(runtime_home(web->runtime), &ret->trials, err);

    if (r < 0)
        return r;
    store_map(ret->trials);
    ret->view = held_view_new(ret->trials, changes);
    ret->kept = kept_trials_new(changes, KEPT_BYTES);
    return 0;
}

static int open_reader(const struct web *web, enum web_desk desk, struct web_reader *ret,
                       struct err *err)
{
    const char *home = runtime_home(web->runtime);
    int r = store_open_read(home, &ret->store, err);

    if (r == 0 && desk == DESK_READ)
        r = series_db_open(home, SERIES_READ, &ret->series, err);
    if (r == 0 && desk == DESK_DRAW)
        r = charts_open(home, CHARTS_THREADS, CHARTS_BYTES, &ret->charts, err);
    if (r == 0 && desk == DESK_HTTP)
        r = open_trials(web, ret, err);
    if (r == 0 && desk == DESK_READ)
        ret->tables = tables_new(runtime_changes(web->runtime), TABLES_BYTES);
    return r;
}

static int open_desks(struct web *web, struct err *err)
{
    int r = open_reader(web, DESK_HTTP, &web->readers[DESK_HTTP], err);

    if (r == 0)
        r = open_reader(web, DESK_READ, &web->readers[DESK_READ], err);
    if (r == 0)
        r = open_reader(web, DESK_DRAW, &web->readers[DESK_DRAW], err);
    if (r < 0)
        return r;
    web->desks[DESK_READ] = desk_new(serve_read, web);
    web->desks[DESK_DRAW] = desk_new(serve_draw, web);
    if (!web->desks[DESK_READ] || !web->desks[DESK_DRAW])
        return err_set(err, EAGAIN, "a thread could not be started");
    return 0;
}

static int start_http(struct web *web, const struct web_options *options, struct err *err)
{
    struct http_options http = {
        .address = options->address,
        .port = options->port,
        .routes = web->routes,
        .spool_dir = runtime_home(web->runtime),
        .on_head = on_head,
        .on_waiting = on_waiting,
        .arg = web,
    };
    web_auth_http(web, options, &http);
    int r = http_start(&http, &web->http, err);
    if (r == -EADDRINUSE && options->port) {
        http.port = 0;
        r = http_start(&http, &web->http, err);
    }
    if (r < 0)
        return r;
    return web_auth_address(web, options, err);
}

int web_open(uv_loop_t *loop, struct runtime *runtime, const struct web_options *options,
             struct web **ret, struct err *err)
{
    struct web *web = xcalloc(1, sizeof(*web));

    web->loop = loop;
    web->started_us = runtime_now().wall_us;
    web->runtime = runtime;
    web->acts = acts_new();
    web->stream = stream_new(loop, runtime);
    web->commands = options->commands;
    list_routes(web);
    int r = open_wake(web, err);
    if (r == 0)
        r = ingest_new(loop, runtime, web_auth_udp(options), options->udp_port, &web->ingest, err);
    if (r == 0)
        r = open_desks(web, err);
    if (r == 0)
        r = web_auth_open(web, options, err);
    if (r == 0)
        r = start_http(web, options, err);
    if (r < 0) {
        web_close(web);
        return r;
    }
    *ret = web;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct web *web = handle->data;
    web->handles--;
}

void web_drain(struct web *web)
{
    if (web->closing)
        return;
    web->closing = true;
    mlflow_drain(web);
    ingest_drain(web->ingest);
}

static void close_readers(struct web *web)
{
    for (size_t i = 0; i < DESKS; i++) {
        struct web_reader *reader = &web->readers[i];
        if (web->desks[i])
            desk_free(web->desks[i]);
        if (reader->charts)
            charts_free(reader->charts);
        tables_free(reader->tables);
        kept_trials_free(reader->kept);
        held_view_free(reader->view);
        if (reader->trials)
            store_free(reader->trials);
        if (reader->series)
            series_db_free(reader->series);
        if (reader->store)
            store_free(reader->store);
    }
}

void web_close(struct web *web)
{
    if (web->http)
        web_drain(web);
    web->closing = true;
    stream_end(web->stream);
    if (web->http)
        http_stop(web->http);
    close_readers(web);
    acts_free(web->acts, web->loop);
    stream_free(web->stream);
    if (web->address_file)
        unlink(web->address_file);
    if (web->handles)
        uv_close((uv_handle_t *)&web->wake, on_closed);
    while (web->handles > 0)
        uv_run(web->loop, UV_RUN_NOWAIT);
    fd_autoclose(&web->wake_fd);
    if (web->ingest)
        ingest_free(web->ingest); /* the last: a late commit still finds what waited for it */
    web_auth_close(web);
    free(web->address_file);
    free(web);
}

const char *web_address(const struct web *web)
{
    return http_address(web->http);
}

int web_udp_port(const struct web *web)
{
    return ingest_udp_port(web->ingest);
}

void web_ingest(const struct web *web, struct str *to)
{
    ingest_json(web->ingest, to);
}

uint64_t web_lost(const struct web *web)
{
    return ingest_lost(web->ingest);
}
