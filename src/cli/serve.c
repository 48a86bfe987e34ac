/* SPDX-License-Identifier: MIT */
/*
 * serve.c — hone serve: be the engine of a home, and take what others send over HTTP and UDP, until
 * told to end.
 */
#include "api/server.h"
#include "api/web.h"
#include "api/wire.h"
#include "base/log.h"
#include "cli/cmd.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7470

struct serving {
    struct cmd_call *call;
    uv_loop_t loop;
    uv_signal_t interrupt, terminate;
    struct runtime *runtime;
    struct server *server;
    struct web *web;
    bool failed;
    int handles;
};

static void on_event(int64_t experiment, const char *json, void *arg)
{
    struct serving *serving = arg;
    if (serving->server)
        server_event(serving->server, experiment, json);
}

static void on_failure(const struct err *err, void *arg)
{
    struct serving *serving = arg;
    log_error("%s", err_text(err));
    serving->failed = true;
    uv_stop(&serving->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct serving *serving = handle->data;
    (void)number;
    uv_stop(&serving->loop);
}

/* ---- who has it ---- */

static int engine_pid(const char *home)
{
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof(peer);
    autoclose int fd = -1;

    if (wire_connect(home, &fd, NULL) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return 0;
    return peer.pid;
}

static int be_engine(struct serving *serving, struct err *err)
{
    const char *home = serving->call->home;
    struct runtime_options options = {
        .home = home,
        .go_on = true,
        .on_event = on_event,
        .on_failure = on_failure,
        .arg = serving,
    };
    int r = runtime_open(&serving->loop, &options, &serving->runtime, err);
    int pid = r == -EAGAIN ? engine_pid(home) : 0;

    if (pid)
        r = err_set(err, EAGAIN, "another hone process (pid %d) is at work in %s", pid, home);
    return r < 0 ? r : server_new(&serving->loop, serving->runtime, &serving->server, err);
}

/* ---- words ---- */

static void say_address(const struct serving *serving, int port)
{
    const char *address = web_address(serving->web);
    int udp = web_udp_port(serving->web);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (serving->call->json) {
        json_begin_object(&out);
        json_put_text(&out, "address", address);
        if (udp >= 0)
            json_put_int(&out, "udp", udp);
        json_end_object(&out);
    } else {
        autofree(mem) char *wanted = xasprintf(":%d", port);
        const char *colon = strrchr(address, ':');
        if (port && colon && !str_eq(colon, wanted))
            str_addf(&text, "port %d is taken\n", port);
        str_addf(&text, "serving %s at http://%s", serving->call->home, address);
        if (udp >= 0)
            str_addf(&text, ", datagrams at port %d", udp);
    }
    puts(text.s);
    fflush(stdout);
}

static void say_end(const struct serving *serving)
{
    autorelease(str) struct str counts = STR_INIT;
    autofree(json) json_t *json = NULL;

    web_ingest(serving->web, &counts);
    if (serving->call->json) {
        puts(counts.s);
        return;
    }
    if (json_parse(counts.s, counts.len, &json, NULL) < 0)
        return;
    const json_t *udp = json_object_get(json, "udp");
    int64_t bad = json_get_int(json, "bad_lines", 0) + json_get_int(json, "refused_lines", 0);
    int64_t dropped = json_get_int(udp, "dropped", 0) + json_get_int(udp, "cut", 0);
    printf(
        "%lld lines with %lld values came; bad or refused: %lld lines; datagrams dropped: %lld\n",
        (long long)json_get_int(json, "lines", 0), (long long)json_get_int(json, "values", 0),
        (long long)bad, (long long)dropped);
}

/* ---- the loop ---- */

static void begin(struct serving *serving, struct cmd_call *call)
{
    *serving = (struct serving){.call = call, .handles = 2};
    uv_loop_init(&serving->loop);
    uv_signal_init(&serving->loop, &serving->interrupt);
    uv_signal_init(&serving->loop, &serving->terminate);
    serving->interrupt.data = serving->terminate.data = serving;
    uv_signal_start(&serving->interrupt, on_signal, SIGINT);
    uv_signal_start(&serving->terminate, on_signal, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void on_closed(uv_handle_t *handle)
{
    struct serving *serving = handle->data;
    serving->handles--;
}

static void end(struct serving *serving)
{
    if (serving->server)
        server_free(TAKE(serving->server));
    if (serving->web)
        web_close(TAKE(serving->web));
    if (serving->runtime)
        runtime_close(TAKE(serving->runtime));
    uv_close((uv_handle_t *)&serving->interrupt, on_closed);
    uv_close((uv_handle_t *)&serving->terminate, on_closed);
    while (serving->handles > 0)
        uv_run(&serving->loop, UV_RUN_NOWAIT);
    uv_loop_close(&serving->loop);
}

static int run(struct cmd_call *call)
{
    struct serving serving;
    autorelease(err) struct err err = ERR_INIT;
    const char *address = cmd_value(call, "address");
    int64_t port = PORT, udp = -1;

    if (cmd_number(call, "port", 0, 65535, &port) || cmd_number(call, "udp", 0, 65535, &udp))
        return CMD_USAGE;
    struct web_options options = {address ? address : "127.0.0.1", (int)port, (int)udp};
    begin(&serving, call);
    int r = be_engine(&serving, &err);
    if (r >= 0)
        r = web_open(&serving.loop, serving.runtime, &options, &serving.web, &err);
    if (r >= 0) {
        say_address(&serving, (int)port);
        uv_run(&serving.loop, UV_RUN_DEFAULT);
        server_free(TAKE(serving.server));
        web_drain(serving.web);
        say_end(&serving);
    }
    end(&serving);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : serving.failed ? CMD_FAILED : CMD_OK;
}

static const struct cmd_option options[] = {
    {"port", 'p', "N", "where to listen (7470); if it is taken, any free port"},
    {"address", 0, "ADDRESS", "one of this machine's own: 127.0.0.1, ::1, localhost"},
    {"udp", 0, "PORT", "take datagrams of line protocol, too"},
    {NULL, 0, NULL, NULL},
};

const struct cmd cmd_serve = {
    .name = "serve",
    .args = "",
    .help = "take metrics from other programs over HTTP and UDP, and answer queries",
    .details = "Programs that write to InfluxDB can write here: /write and /api/v2/write take line "
               "protocol (plain or gzip), /query knows SHOW and simple SELECT statements, /ping "
               "answers. A database becomes an experiment, each set of tags (but for host) a trial "
               "with the tags as parameters, measurement.field a metric; a field called value "
               "drops its name. A database that does not exist is made; lines without one go to "
               "'outside', and so do datagrams. NaN and infinities are kept; texts are not. An "
               "answer of 204 means that what was sent survives the end of this process, however "
               "it comes.\n\nThe address is printed, and kept in HOME/address while it is served. "
               "/v1/ingest counts what came and what was dropped. /metrics is for Prometheus. "
               "Ctrl-C or SIGTERM ends it. While it runs it is the engine of the home: other "
               "commands submit to it.",
    .min_args = 0,
    .max_args = 0,
    .options = options,
    .run = run,
};
