/* SPDX-License-Identifier: MIT */
/*
 * web.c — what may be asked over HTTP, and where datagrams go.
 *
 *     http thread ──► its queue ──┐
 *     udp thread  ──► our queue ──┴──► on_wake(), loop thread: all that is there, one flush,
 * answers
 */
#include "api/web.h"
#include "api/influx_query.h"
#include "api/influx_write.h"
#include "api/metrics_page.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "net/udp.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#define WRITE_MAX   ((size_t)25 << 20)
#define QUERY_MAX   ((size_t)1 << 20)
#define BACKLOG_MAX ((size_t)64 << 20) /* bytes of datagrams that wait for the loop */
#define TURN_MS     1000
#define SYNC_MS     100
#define DRAIN_MS    3000 /* a stop waits no longer for commits */

struct web {
    uv_loop_t *loop;
    struct runtime *runtime;
    struct observe *observe;
    struct writes *writes;
    struct query_context query;
    struct http *http;
    struct udp *udp;            /* NULL: none */
    struct udp_counts udp_last; /* when it was stopped */
    char *address_file;
    uv_async_t wake;
    uv_timer_t turn; /* of summaries; runs while there is something to write */
    uv_timer_t sync; /* a while after something was stored */
    int handles;
    int64_t started_us;     /* wall */
    uv_mutex_t mutex;       /* guards the two below */
    struct str datagrams;   /* lines, each datagram ended by a newline */
    uint64_t overrun_bytes; /* that found the backlog full */
    bool closing, drained, late;
};

/* ---- routes on the http thread ---- */

static void on_ping(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    const char *verbose = http_param(request, "verbose");
    (void)arg;

    if (!verbose || str_eq(verbose, "false") || str_eq(verbose, "0")) {
        influx_reply(request, 204, NULL, NULL);
        return;
    }
    str_add(&body, "{\"version\":\"" INFLUX_VERSION "\"}\n");
    influx_reply(request, 200, "application/json", &body);
}

static void on_health(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    (void)arg;

    str_add(&body, "{\"name\":\"hone\",\"message\":\"ready for queries and writes\","
                   "\"status\":\"pass\",\"version\":\"" INFLUX_VERSION "\"}\n");
    influx_reply(request, 200, "application/json", &body);
}

/* ---- routes on the loop's thread ---- */

static void count_datagrams(const struct web *web, struct udp_counts *ret)
{
    *ret = web->udp_last;
    if (web->udp)
        udp_counts(web->udp, ret);
}

static void count_ingest(const struct web *web, struct prometheus_ingest *ret)
{
    struct observe_counts stored;
    struct write_counts came;
    struct udp_counts udp;

    observe_counts(web->observe, &stored);
    writes_counts(web->writes, &came);
    count_datagrams(web, &udp);
    *ret = (struct prometheus_ingest){
        .requests = came.requests,
        .lines = stored.lines,
        .values = stored.values,
        .bytes = came.bytes,
        .rejected = came.bad + came.refused,
        .datagrams = udp.datagrams,
        .dropped = udp.dropped,
        .cut = udp.cut,
    };
}

static void on_write(struct web *web, struct http_request *request)
{
    writes_request(web->writes, request);
}

static void on_query(struct web *web, struct http_request *request)
{
    influx_query(&web->query, request);
}

static void on_ingest(struct web *web, struct http_request *request)
{
    autorelease(str) struct str body = STR_INIT;

    web_ingest(web, &body);
    str_add_char(&body, '\n');
    http_reply(request, 200, "application/json", &body, NULL);
}

static void on_metrics(struct web *web, struct http_request *request)
{
    autorelease(str) struct str body = STR_INIT;
    struct prometheus_ingest ingest;

    count_ingest(web, &ingest);
    metrics_page(runtime_reader(web->runtime), runtime_series(web->runtime), web->started_us,
                 &ingest, &body);
    http_reply(request, 200, PROMETHEUS_TYPE, &body, NULL);
}

static const struct http_route routes[] = {
    {"GET HEAD", "/ping", on_ping, 0},
    {"GET HEAD", "/status", on_ping, 0},
    {"GET HEAD", "/health", on_health, 0},
    {"POST", "/write", NULL, WRITE_MAX},
    {"POST", "/api/v2/write", NULL, WRITE_MAX},
    {"GET POST", "/query", NULL, QUERY_MAX},
    {"GET", "/v1/ingest", NULL, 0},
    {"GET HEAD", "/metrics", NULL, 0},
    {NULL, NULL, NULL, 0},
};
static const struct {
    const char *path;
    void (*serve)(struct web *web, struct http_request *request);
} served[] = {
    {"/write", on_write},      {"/api/v2/write", on_write}, {"/query", on_query},
    {"/v1/ingest", on_ingest}, {"/metrics", on_metrics},
};
static const char *const headers[] = {"X-Influxdb-Version", INFLUX_VERSION, "X-Influxdb-Build",
                                      "OSS", NULL};

static void serve(struct web *web, struct http_request *request)
{
    for (size_t i = 0; i < ARRAY_LEN(served); i++)
        if (str_eq(served[i].path, http_path(request))) {
            served[i].serve(web, request);
            return;
        }
    assert(!"a route without handler is served here");
}

/* ---- threads meet ---- */

static void on_waiting(void *arg)
{
    struct web *web = arg;
    uv_async_send(&web->wake);
}

/* On the udp thread. A datagram need not end with a newline. */
static void on_batch(const struct udp_datagram *datagrams, size_t n, void *arg)
{
    struct web *web = arg;

    uv_mutex_lock(&web->mutex);
    for (size_t i = 0; i < n; i++) {
        if (web->datagrams.len + datagrams[i].n >= BACKLOG_MAX) {
            web->overrun_bytes += datagrams[i].n;
            continue;
        }
        str_add_n(&web->datagrams, datagrams[i].bytes, datagrams[i].n);
        if (datagrams[i].n && datagrams[i].bytes[datagrams[i].n - 1] != '\n')
            str_add_char(&web->datagrams, '\n');
    }
    uv_mutex_unlock(&web->mutex);
    uv_async_send(&web->wake);
}

static void on_turn(uv_timer_t *timer)
{
    struct web *web = timer->data;

    if (!observe_turn(web->observe, runtime_now()))
        uv_timer_stop(timer);
}

/* What waits for a commit is stored after it. */
static void on_sync(uv_timer_t *timer)
{
    struct web *web = timer->data;
    autorelease(err) struct err err = ERR_INIT;

    int r = series_db_sync_begin(runtime_series(web->runtime), &err);
    if (r < 0)
        log_error("%s", err_text(&err));
    writes_settle(web->writes, clock_mono_us());
    if (r != 0 || writes_waiting(web->writes))
        uv_timer_start(timer, on_sync, SYNC_MS, 0);
}

static void take_datagrams(struct web *web)
{
    autorelease(str) struct str lines = STR_INIT;

    uv_mutex_lock(&web->mutex);
    lines = web->datagrams;
    web->datagrams = (struct str)STR_INIT;
    uv_mutex_unlock(&web->mutex);
    if (lines.len)
        writes_datagrams(web->writes, &lines);
}

static void on_wake(uv_async_t *async)
{
    struct web *web = async->data;
    struct http_request *request;

    if (web->closing)
        return; /* they are told that the server stops */
    while (web->http && (request = http_next(web->http)))
        serve(web, request);
    take_datagrams(web);
    writes_settle(web->writes, clock_mono_us());
    if (!uv_is_active((uv_handle_t *)&web->sync))
        uv_timer_start(&web->sync, on_sync, SYNC_MS, 0);
    if (!uv_is_active((uv_handle_t *)&web->turn))
        uv_timer_start(&web->turn, on_turn, TURN_MS, TURN_MS);
}

/* ---- counts ---- */

void web_ingest(const struct web *web, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    struct observe_counts stored;
    struct write_counts came;
    struct udp_counts udp;

    observe_counts(web->observe, &stored);
    writes_counts(web->writes, &came);
    count_datagrams(web, &udp);
    json_begin_object(&out);
    json_put_int(&out, "requests", (int64_t)came.requests);
    json_put_int(&out, "bytes", (int64_t)came.bytes);
    json_put_int(&out, "lines", (int64_t)stored.lines);
    json_put_int(&out, "values", (int64_t)stored.values);
    json_put_int(&out, "texts_left_out", (int64_t)stored.texts);
    json_put_int(&out, "values_without_name", (int64_t)stored.nameless);
    json_put_int(&out, "bad_lines", (int64_t)came.bad);
    json_put_int(&out, "refused_lines", (int64_t)came.refused);
    json_put_int(&out, "failed_bodies", (int64_t)came.failed);
    json_key(&out, "udp");
    json_begin_object(&out);
    json_put_int(&out, "datagrams", (int64_t)udp.datagrams);
    json_put_int(&out, "dropped", (int64_t)udp.dropped);
    json_put_int(&out, "cut", (int64_t)udp.cut);
    json_put_int(&out, "overrun_bytes", (int64_t)(web->overrun_bytes + came.overrun_bytes));
    json_put_int(&out, "buffer_bytes", (int64_t)udp.buffer);
    json_end_object(&out);
    json_end_object(&out);
}

uint64_t web_lost(const struct web *web)
{
    struct write_counts came;
    struct udp_counts udp;

    writes_counts(web->writes, &came);
    count_datagrams(web, &udp);
    return udp.dropped + udp.cut + came.bad + came.refused + came.failed + web->overrun_bytes +
           came.overrun_bytes;
}

/* ---- open, close ---- */

static int start_http(struct web *web, const struct web_options *options, struct err *err)
{
    struct http_options http = {
        .address = options->address,
        .port = options->port,
        .routes = routes,
        .headers = headers,
        .on_waiting = on_waiting,
        .arg = web,
    };
    int r = http_start(&http, &web->http, err);
    if (r == -EADDRINUSE && options->port) {
        http.port = 0;
        r = http_start(&http, &web->http, err);
    }
    if (r < 0)
        return r;
    autofree(mem) char *line = xasprintf("%s\n", http_address(web->http));
    web->address_file = xasprintf("%s/address", runtime_home(web->runtime));
    return fs_write_atomic(web->address_file, line, strlen(line), 0600, err);
}

static int start_udp(struct web *web, const struct web_options *options, struct err *err)
{
    struct udp_options udp = {
        .address = options->address,
        .port = options->udp_port,
        .on_batch = on_batch,
        .arg = web,
    };
    return options->udp_port < 0 ? 0 : udp_start(&udp, &web->udp, err);
}

static void on_removed(int64_t experiment, int64_t trial, void *arg)
{
    struct web *web = arg;
    observe_removed(web->observe, experiment, trial);
}

int web_open(uv_loop_t *loop, struct runtime *runtime, const struct web_options *options,
             struct web **ret, struct err *err)
{
    struct web *web = xcalloc(1, sizeof(*web));
    struct engine *engine = runtime_engine(runtime);
    struct series_db *db = runtime_series(runtime);

    web->loop = loop;
    web->started_us = runtime_now().wall_us;
    web->runtime = runtime;
    web->datagrams = (struct str)STR_INIT;
    uv_mutex_init(&web->mutex);
    uv_async_init(loop, &web->wake, on_wake);
    uv_timer_init(loop, &web->turn);
    uv_timer_init(loop, &web->sync);
    web->wake.data = web->turn.data = web->sync.data = web;
    web->handles = 3;
    int r = observe_new(engine, runtime_reader(runtime), db, &web->observe, err);
    if (r == 0) {
        runtime_on_removed(runtime, on_removed, web);
        web->writes = writes_new(engine, web->observe);
        web->query = (struct query_context){engine, runtime_reader(runtime), db, web->observe};
        r = start_http(web, options, err);
    }
    if (r == 0)
        r = start_udp(web, options, err);
    if (r < 0) {
        web_close(web);
        return r;
    }
    uv_timer_start(&web->turn, on_turn, 0, TURN_MS); /* what an earlier server did not sum up */
    *ret = web;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct web *web = handle->data;
    web->handles--;
}

static void on_drained(void *arg)
{
    struct web *web = arg;
    web->drained = true;
}

static void on_late(uv_timer_t *timer)
{
    struct web *web = timer->data;
    web->late = true;
}

void web_drain(struct web *web)
{
    if (web->closing)
        return;
    web->closing = true;
    if (web->udp)
        udp_stop(TAKE(web->udp), &web->udp_last);
    take_datagrams(web);
    writes_settle(web->writes, clock_mono_us());
    observe_turn(web->observe, runtime_now());
    engine_when_committed(runtime_engine(web->runtime), on_drained, web);
    uv_timer_start(&web->turn, on_late, DRAIN_MS, 0);
    uv_timer_start(&web->sync, on_sync, SYNC_MS, 0);
    while (!web->late && (!web->drained || writes_waiting(web->writes)))
        uv_run(web->loop, UV_RUN_ONCE);
}

void web_close(struct web *web)
{
    if (web->http && web->writes)
        web_drain(web);
    web->closing = true;
    if (web->http)
        http_stop(web->http);
    if (web->address_file)
        unlink(web->address_file);
    uv_close((uv_handle_t *)&web->wake, on_closed);
    uv_close((uv_handle_t *)&web->turn, on_closed);
    uv_close((uv_handle_t *)&web->sync, on_closed);
    while (web->handles > 0)
        uv_run(web->loop, UV_RUN_NOWAIT);
    if (web->writes)
        writes_free(web->writes);
    runtime_on_removed(web->runtime, NULL, NULL);
    if (web->observe)
        observe_free(web->observe);
    uv_mutex_destroy(&web->mutex);
    str_release(&web->datagrams);
    free(web->address_file);
    free(web);
}

const char *web_address(const struct web *web)
{
    return http_address(web->http);
}

int web_udp_port(const struct web *web)
{
    return web->udp ? udp_port(web->udp) : -1;
}
