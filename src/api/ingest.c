/* SPDX-License-Identifier: MIT */
/*
 * ingest.c — lines of other programs.
 *
 *     http thread ──► the server's queue ──► on_write(), loop thread ──┐
 *     udp thread  ──► our queue ──► ingest_turn(), loop thread ────────┴──► writes, answers
 */
#include "api/auth.h"
#include "api/influx_query.h"
#include "api/influx_write.h"
#include "api/metrics_page.h"
#include "api/web_internal.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "net/udp.h"

#define WRITE_MAX   ((size_t)25 << 20)
#define QUERY_MAX   ((size_t)1 << 20)
#define BACKLOG_MAX ((size_t)64 << 20)  /* bytes of datagrams that wait for the loop */
#define WAKE_BYTES  ((size_t)256 << 10) /* as many of them wake it while more are coming */
#define TURN_MS     1000
#define SYNC_MS     100
#define DRAIN_MS    3000 /* a stop waits no longer for commits */

struct ingest {
    uv_loop_t *loop;
    struct runtime *runtime;
    struct observe *observe;
    struct writes *writes;
    struct query_context query;
    struct udp *udp;            /* NULL: none */
    struct udp_counts udp_last; /* when it was stopped */
    uv_async_t wake;
    uv_timer_t turn; /* of summaries; runs while there is something to write */
    uv_timer_t sync; /* a while after something was stored */
    int handles;
    int64_t started_us;     /* wall */
    uv_mutex_t mutex;       /* guards the two below */
    struct str datagrams;   /* lines, each datagram ended by a newline */
    uint64_t overrun_bytes; /* that found the backlog full */
    struct str room;        /* the loop's: where the next datagrams are to go; empty */
    struct drain *drain;    /* what waits for the last commit; NULL: nothing */
    bool closing, drained, late;
};

/* ---- served on the http thread ---- */

static void on_ping(struct web_call *call)
{
    struct http_request *request = call->request;
    autorelease(str) struct str body = STR_INIT;
    const char *verbose = http_param(request, "verbose");

    if (!verbose || str_eq(verbose, "false") || str_eq(verbose, "0")) {
        influx_reply(request, 204, NULL, NULL);
        return;
    }
    str_add(&body, "{\"version\":\"" INFLUX_VERSION "\"}\n");
    influx_reply(request, 200, "application/json", &body);
}

static void on_health(struct web_call *call)
{
    struct http_request *request = call->request;
    autorelease(str) struct str body = STR_INIT;

    str_add(&body, "{\"name\":\"hone\",\"message\":\"ready for queries and writes\","
                   "\"status\":\"pass\",\"version\":\"" INFLUX_VERSION "\"}\n");
    influx_reply(request, 200, "application/json", &body);
}

/* Other sites learn nothing from it: there are no headers that let them in. */
static void on_options(struct web_call *call)
{
    influx_reply(call->request, 200, NULL, NULL);
}

/* ---- served on the loop ---- */

static void count_datagrams(const struct ingest *ingest, struct udp_counts *ret)
{
    *ret = ingest->udp_last;
    if (ingest->udp)
        udp_counts(ingest->udp, ret);
}

static void count_ingest(const struct ingest *ingest, struct prometheus_ingest *ret)
{
    struct observe_counts stored;
    struct write_counts came;
    struct udp_counts udp;

    observe_counts(ingest->observe, &stored);
    writes_counts(ingest->writes, &came);
    count_datagrams(ingest, &udp);
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

static void on_write(struct web_call *call)
{
    struct ingest *ingest = call->web->ingest;
    struct http_request *request = call->request;
    writes_request(ingest->writes, request);
}

static void on_query(struct web_call *call)
{
    struct ingest *ingest = call->web->ingest;
    struct http_request *request = call->request;
    autofree(mem) char *self = user_self();
    bool may_drop = call->who.role >= ROLE_ADMIN || str_eq(call->who.user, self);

    influx_query(&ingest->query, request, call->who.role >= ROLE_USER, may_drop);
}

static void on_ingest(struct web_call *call)
{
    struct ingest *ingest = call->web->ingest;
    struct http_request *request = call->request;
    autorelease(str) struct str body = STR_INIT;

    ingest_json(ingest, &body);
    str_add_char(&body, '\n');
    http_reply(request, 200, "application/json", &body, NULL);
}

static void on_metrics(struct web_call *call)
{
    struct ingest *ingest = call->web->ingest;
    struct http_request *request = call->request;
    autorelease(str) struct str body = STR_INIT;
    struct prometheus_ingest counts;

    count_ingest(ingest, &counts);
    metrics_page(runtime_reader(ingest->runtime), runtime_series(ingest->runtime),
                 ingest->started_us, &counts, &body);
    http_reply(request, 200, PROMETHEUS_TYPE, &body, NULL);
}

const struct web_route ingest_routes[] = {
    {"GET HEAD", "/ping", ROLE_NONE, DESK_HTTP, on_ping, 0, "Is it there? As InfluxDB answers.", 0},
    {"GET HEAD", "/status", ROLE_NONE, DESK_HTTP, on_ping, 0, "The same.", 0},
    {"GET HEAD", "/health", ROLE_NONE, DESK_HTTP, on_health, 0, "Is it well?", 0},
    {"POST", "/write", ROLE_USER, DESK_LOOP, on_write, WRITE_MAX,
     "Line protocol, as InfluxDB 1.x takes it.", WEB_STOCK},
    {"POST", "/api/v2/write", ROLE_USER, DESK_LOOP, on_write, WRITE_MAX,
     "Line protocol, as InfluxDB 2.x takes it.", WEB_STOCK},
    {"GET POST", "/query", ROLE_VIEWER, DESK_LOOP, on_query, QUERY_MAX,
     "InfluxQL: SHOW and simple SELECT statements.", WEB_STOCK},
    {"OPTIONS", "/write", ROLE_VIEWER, DESK_HTTP, on_options, 0, "As InfluxDB answers: yes.",
     WEB_STOCK},
    {"OPTIONS", "/query", ROLE_VIEWER, DESK_HTTP, on_options, 0, "The same.", WEB_STOCK},
    {"GET", "/v1/ingest", ROLE_VIEWER, DESK_LOOP, on_ingest, 0,
     "What came from outside, and what was dropped.", WEB_STOCK},
    {"GET HEAD", "/metrics", ROLE_VIEWER, DESK_LOOP, on_metrics, 0,
     "How things stand, for Prometheus.", WEB_STOCK},
    {NULL, NULL, ROLE_NONE, DESK_HTTP, NULL, 0, NULL, 0},
};

/* ---- datagrams, summaries, syncs ---- */

/* On the udp thread. A datagram need not end with a newline. */
static void on_batch(const struct udp_datagram *datagrams, size_t n, void *arg)
{
    struct ingest *ingest = arg;

    uv_mutex_lock(&ingest->mutex);
    for (size_t i = 0; i < n; i++) {
        if (ingest->datagrams.len + datagrams[i].n >= BACKLOG_MAX) {
            ingest->overrun_bytes += datagrams[i].n;
            continue;
        }
        str_add_n(&ingest->datagrams, datagrams[i].bytes, datagrams[i].n);
        if (datagrams[i].n && datagrams[i].bytes[datagrams[i].n - 1] != '\n')
            str_add_char(&ingest->datagrams, '\n');
    }
    bool many = ingest->datagrams.len >= WAKE_BYTES;
    uv_mutex_unlock(&ingest->mutex);
    if (many)
        uv_async_send(&ingest->wake);
}

/* To be woken costs more than the lines of a batch. */
static void on_pause(void *arg)
{
    struct ingest *ingest = arg;
    uv_async_send(&ingest->wake);
}

static void on_turn(uv_timer_t *timer)
{
    struct ingest *ingest = timer->data;

    if (!observe_turn(ingest->observe, runtime_now()))
        uv_timer_stop(timer);
}

/* What waits for a commit is stored after it. */
static void on_sync(uv_timer_t *timer)
{
    struct ingest *ingest = timer->data;
    autorelease(err) struct err err = ERR_INIT;

    int r = series_db_sync_begin(runtime_series(ingest->runtime), &err);
    if (r < 0)
        log_error("%s", err_text(&err));
    writes_settle(ingest->writes, clock_mono_us());
    if (r != 0 || writes_waiting(ingest->writes))
        uv_timer_start(timer, on_sync, SYNC_MS, 0);
}

static void take_datagrams(struct ingest *ingest)
{
    uv_mutex_lock(&ingest->mutex);
    struct str lines = ingest->datagrams;
    ingest->datagrams = ingest->room;
    uv_mutex_unlock(&ingest->mutex);
    if (lines.len)
        writes_datagrams(ingest->writes, &lines);
    ingest->room = lines;
}

void ingest_turn(struct ingest *ingest)
{
    if (ingest->closing)
        return;
    take_datagrams(ingest);
    writes_settle(ingest->writes, clock_mono_us());
    if (!uv_is_active((uv_handle_t *)&ingest->sync))
        uv_timer_start(&ingest->sync, on_sync, SYNC_MS, 0);
    if (!uv_is_active((uv_handle_t *)&ingest->turn))
        uv_timer_start(&ingest->turn, on_turn, TURN_MS, TURN_MS);
}

static void on_wake(uv_async_t *async)
{
    ingest_turn(async->data);
}

/* ---- counts ---- */

void ingest_json(const struct ingest *ingest, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    struct observe_counts stored;
    struct write_counts came;
    struct udp_counts udp;

    observe_counts(ingest->observe, &stored);
    writes_counts(ingest->writes, &came);
    count_datagrams(ingest, &udp);
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
    json_put_int(&out, "overrun_bytes", (int64_t)(ingest->overrun_bytes + came.overrun_bytes));
    json_put_int(&out, "buffer_bytes", (int64_t)udp.buffer);
    json_end_object(&out);
    json_end_object(&out);
}

uint64_t ingest_lost(const struct ingest *ingest)
{
    struct write_counts came;
    struct udp_counts udp;

    writes_counts(ingest->writes, &came);
    count_datagrams(ingest, &udp);
    return udp.dropped + udp.cut + came.bad + came.refused + came.failed + ingest->overrun_bytes +
           came.overrun_bytes;
}

/* ---- open, close ---- */

static int start_udp(struct ingest *ingest, const char *address, int port, struct err *err)
{
    struct udp_options udp = {
        .address = address,
        .port = port,
        .on_batch = on_batch,
        .on_pause = on_pause,
        .arg = ingest,
    };
    return port < 0 ? 0 : udp_start(&udp, &ingest->udp, err);
}

static void on_removed(int64_t experiment, int64_t trial, void *arg)
{
    struct ingest *ingest = arg;
    observe_removed(ingest->observe, experiment, trial);
}

int ingest_new(uv_loop_t *loop, struct runtime *runtime, const char *address, int udp_port,
               struct ingest **ret, struct err *err)
{
    struct ingest *ingest = xcalloc(1, sizeof(*ingest));
    struct engine *engine = runtime_engine(runtime);
    struct series_db *db = runtime_series(runtime);

    ingest->loop = loop;
    ingest->started_us = runtime_now().wall_us;
    ingest->runtime = runtime;
    ingest->datagrams = ingest->room = (struct str)STR_INIT;
    uv_mutex_init(&ingest->mutex);
    uv_async_init(loop, &ingest->wake, on_wake);
    uv_timer_init(loop, &ingest->turn);
    uv_timer_init(loop, &ingest->sync);
    ingest->wake.data = ingest->turn.data = ingest->sync.data = ingest;
    ingest->handles = 3;
    int r = observe_new(engine, runtime_reader(runtime), db, &ingest->observe, err);
    if (r == 0) {
        runtime_on_removed(runtime, on_removed, ingest);
        ingest->writes = writes_new(engine, ingest->observe);
        ingest->query =
            (struct query_context){engine, runtime_reader(runtime), db, ingest->observe};
        r = start_udp(ingest, address, udp_port, err);
    }
    if (r < 0) {
        ingest_free(ingest);
        return r;
    }
    uv_timer_start(&ingest->turn, on_turn, 0, TURN_MS); /* what an earlier server did not sum up */
    *ret = ingest;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct ingest *ingest = handle->data;
    ingest->handles--;
}

/* On a full disk nobody waits for the commit: it may come when the ingest has gone. */
struct drain {
    struct ingest *ingest; /* NULL: it has */
};

static void on_drained(void *arg)
{
    struct drain *drain = arg;

    if (drain->ingest) {
        drain->ingest->drained = true;
        drain->ingest->drain = NULL;
    }
    free(drain);
}

static void on_late(uv_timer_t *timer)
{
    struct ingest *ingest = timer->data;
    ingest->late = true;
}

void ingest_drain(struct ingest *ingest)
{
    if (ingest->closing)
        return;
    ingest->closing = true;
    if (ingest->udp)
        udp_stop(TAKE(ingest->udp), &ingest->udp_last);
    take_datagrams(ingest);
    writes_settle(ingest->writes, clock_mono_us());
    observe_turn(ingest->observe, runtime_now());
    ingest->drain = xcalloc(1, sizeof(*ingest->drain));
    ingest->drain->ingest = ingest;
    engine_when_committed(runtime_engine(ingest->runtime), on_drained, ingest->drain);
    uv_timer_start(&ingest->turn, on_late, DRAIN_MS, 0);
    uv_timer_start(&ingest->sync, on_sync, SYNC_MS, 0);
    while (!ingest->late && (!ingest->drained || writes_waiting(ingest->writes)))
        uv_run(ingest->loop, UV_RUN_ONCE);
}

void ingest_free(struct ingest *ingest)
{
    if (ingest->writes)
        ingest_drain(ingest);
    if (ingest->drain)
        ingest->drain->ingest = NULL;
    uv_close((uv_handle_t *)&ingest->wake, on_closed);
    uv_close((uv_handle_t *)&ingest->turn, on_closed);
    uv_close((uv_handle_t *)&ingest->sync, on_closed);
    while (ingest->handles > 0)
        uv_run(ingest->loop, UV_RUN_NOWAIT);
    if (ingest->writes)
        writes_free(ingest->writes);
    runtime_on_removed(ingest->runtime, NULL, NULL);
    if (ingest->observe)
        observe_free(ingest->observe);
    uv_mutex_destroy(&ingest->mutex);
    str_release(&ingest->datagrams);
    str_release(&ingest->room);
    free(ingest);
}

struct observe *ingest_observe(const struct ingest *ingest)
{
    return ingest->observe;
}

int ingest_udp_port(const struct ingest *ingest)
{
    return ingest->udp ? udp_port(ingest->udp) : -1;
}
