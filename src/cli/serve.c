/* SPDX-License-Identifier: MIT */
/*
 * serve.c — hone serve: be the engine of a home, serve its pages, and take what others send over
 * HTTP and UDP, until told to end.
 */
#include "api/server.h"
#include "api/web.h"
#include "api/wire.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/served.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAKE_TRIES 50 /* of taking the lock from one that dies */
#define TAKE_US    100000

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

/* Does whoever holds the lock answer? One that was killed may hold it for a moment more. */
static bool engine_answers(const char *home)
{
    autofree(json) json_t *reply = NULL;
    int r = wire_call(home, "{\"do\":\"live\"}", &reply, NULL);
    return r != -ENOENT && r != -ECONNREFUSED && r != -EPIPE;
}

static int open_runtime(struct serving *serving, const struct runtime_options *options,
                        struct err *err)
{
    int r;

    for (int tries = 0;; tries++) {
        r = runtime_open(&serving->loop, options, &serving->runtime, err);
        if (r != -EAGAIN || tries == TAKE_TRIES || engine_answers(options->home))
            return r;
        usleep(TAKE_US);
    }
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
    int r = open_runtime(serving, &options, err);
    int pid = r == -EAGAIN ? engine_pid(home) : 0;

    if (pid)
        r = err_set(err, EAGAIN, "another hone process (pid %d) is at work in %s", pid, home);
    if (r == 0)
        series_db_seal(runtime_series(serving->runtime), NULL); /* if not, the log keeps it */
    return r < 0 ? r : server_new(&serving->loop, serving->runtime, &serving->server, err);
}

/* ---- words ---- */

static void say_address(const struct serving *serving, int port)
{
    const char *address = web_address(serving->web);
    int udp = web_udp_port(serving->web);
    autorelease(str) struct str text = STR_INIT;
    autofree(mem) char *link = web_link(serving->web);
    struct json_out out = JSON_OUT(&text);

    if (serving->call->json) {
        json_begin_object(&out);
        json_put_text(&out, "address", address);
        if (udp >= 0)
            json_put_int(&out, "udp", udp);
        json_put_text(&out, "link", link);
        json_end_object(&out);
    } else {
        autofree(mem) char *wanted = xasprintf(":%d", port);
        const char *colon = strrchr(address, ':');
        if (port && colon && !str_eq(colon, wanted))
            str_addf(&text, "port %d is taken\n", port);
        str_addf(&text, "serving %s at %s://%s", serving->call->home,
                 cmd_flag(serving->call, "tls") ? "https" : "http", address);
        if (udp >= 0)
            str_addf(&text, ", datagrams at port %d", udp);
        str_addf(&text, "\nin a browser, once: %s", link);
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
        server_stop(serving->server);
    if (serving->web)
        web_close(TAKE(serving->web));
    if (serving->runtime)
        runtime_close(TAKE(serving->runtime));
    if (serving->server)
        server_free(TAKE(serving->server));
    uv_close((uv_handle_t *)&serving->interrupt, on_closed);
    uv_close((uv_handle_t *)&serving->terminate, on_closed);
    while (serving->handles > 0)
        uv_run(&serving->loop, UV_RUN_NOWAIT);
    uv_loop_close(&serving->loop);
}

/* ---- options ---- */

#define PEM_MAX ((size_t)1 << 20)

/* The text of a certificate or key; NULL if there is no path. */
static int read_pem(const char *path, struct str *to, const char **ret, struct err *err)
{
    int r = path ? fs_read(path, PEM_MAX, to, err) : 0;

    *ret = path ? to->s : NULL;
    return r < 0 ? err_context(err, "--tls") : 0;
}

static const char *name_given(const struct cmd_call *call)
{
    const char *proxy = cmd_value(call, "behind-proxy");
    return proxy ? proxy : cmd_value(call, "name");
}

/* Names come from Host as they are: no port, no slashes. */
static int check_name(const struct cmd_call *call)
{
    const char *name = name_given(call);

    if (name && (!*name || strpbrk(name, ":/ ")))
        return cmd_usage(call, "'%s' is not the name of a server: hone.example.org would be", name);
    return 0;
}

static int run(struct cmd_call *call)
{
    struct serving serving;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str cert = STR_INIT, key = STR_INIT;
    const char *address = cmd_value(call, "address");
    int64_t port = WEB_PORT, udp = -1;

    if (cmd_number(call, "port", 0, 65535, &port) || cmd_number(call, "udp", 0, 65535, &udp) ||
        check_name(call))
        return CMD_USAGE;
    struct web_options options = {
        .address = address ? address : "127.0.0.1",
        .port = (int)port,
        .udp_port = (int)udp,
        .commands = served_commands,
        .trust_local = cmd_flag(call, "trust-local"),
        .name = name_given(call),
        .behind_proxy = cmd_value(call, "behind-proxy") != NULL,
    };
    if (read_pem(cmd_value(call, "tls"), &cert, &options.tls_cert, &err) < 0 ||
        read_pem(cmd_second(call, "tls"), &key, &options.tls_key, &err) < 0)
        return cmd_fail(call, CMD_USAGE, &err);
    begin(&serving, call);
    int r = be_engine(&serving, &err);
    if (r >= 0)
        r = web_open(&serving.loop, serving.runtime, &options, &serving.web, &err);
    if (r >= 0) {
        say_address(&serving, (int)port);
        uv_run(&serving.loop, UV_RUN_DEFAULT);
        server_stop(serving.server);
        web_drain(serving.web);
        say_end(&serving);
    }
    end(&serving);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : serving.failed ? CMD_FAILED : CMD_OK;
}

static const struct cmd_option options[] = {
    {"port", 'p', "N", "where to listen (7470); if it is taken, any free port"},
    {"address", 0, "ADDRESS",
     "where to listen (127.0.0.1); 0.0.0.0: everywhere, with TLS or proxy"},
    {"udp", 0, "PORT", "take datagrams of line protocol, too, on this machine"},
    {"tls", 0, "CERT KEY", "speak HTTPS with this certificate (PEM, with its chain) and its key"},
    {"name", 0, "NAME", "by which browsers know this server, beside its addresses"},
    {"behind-proxy", 0, "NAME", "a proxy of this name speaks TLS for it"},
    {"trust-local", 0, NULL, "as root: own programs on this machine need no token to send metrics"},
    {NULL, 0, NULL, NULL},
};

const struct cmd cmd_serve = {
    .name = "serve",
    .args = "",
    .help = "serve the pages of a home, run what is submitted, take metrics from other programs",
    .details = "While it runs it is the engine of the home, for one person or a team. It prints a "
               "link that opens the pages in a browser, once ('hone open' prints another): all "
               "experiments, their trials, curves, logs and analyses, live, with what one can do "
               "with them (docs/pages.md). 'hone run' and 'hone submit' in this home hand their "
               "experiments to it, and so does 'hone submit --server URL' from elsewhere; 'hone "
               "queue' shows what waits. Everything is JSON over HTTP (docs/openapi.yaml), and "
               "MLflow's clients can log to it. Ctrl-C or SIGTERM ends it: running trials go on, "
               "and the next engine takes them over.\n\nPrograms that write to InfluxDB can write "
               "here: /write and /api/v2/write take line "
               "protocol (plain or gzip), /query knows SHOW and simple SELECT statements, /ping "
               "answers. A database becomes an experiment, each set of tags (but for host) a trial "
               "with the tags as parameters, measurement.field a metric; a field called value "
               "drops its name. A database that does not exist is made; lines without one go to "
               "'outside', and so do datagrams. NaN and infinities are kept; texts are not. An "
               "answer of 204 means that what was sent survives the end of this process, however "
               "it comes.\n\nWho asks needs a token ('hone token add NAME'), a browser the link "
               "that is printed. Programs of the same user on "
               "this machine may send and query metrics without one; not as root, unless "
               "--trust-local says so. Other addresses than this machine's own need TLS: "
               "--tls CERT KEY, or --behind-proxy.\n\nThe address is printed, and kept "
               "in HOME/address while it is served. "
               "/v1/ingest counts what came and what was dropped. /metrics is for Prometheus.",
    .min_args = 0,
    .max_args = 0,
    .options = options,
    .run = run,
};
