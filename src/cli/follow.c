/* SPDX-License-Identifier: MIT */
/*
 * follow.c — the loop under `run`, `resume` and `attach`.
 *
 * Ctrl-C once: start nothing more and ask for checkpoints; twice: kill; once more, if even that has
 * no effect: leave. A terminal that goes away changes nothing: SIGHUP and broken pipes are ignored,
 * and the work goes on.
 */
#include "cli/follow.h"
#include "base/log.h"
#include "cli/detach.h"
#include "cli/remote.h"
#include "cli/remote_watch.h"
#include "cli/served.h"
#include "cli/summary.h"
#include "cli/view.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define STUCK_MS 1000 /* this long after being told to kill, nothing has ended */

struct follow {
    struct cmd_call *call;
    struct follow_options options;
    uv_loop_t loop;
    uv_signal_t interrupt, terminate;
    struct session *session; /* NULL: at a server */
    struct watch *watch;     /* at a server */
    struct web_options web;  /* no address: no pages */
    struct view *view;       /* NULL: --json, quiet */
    int64_t id;
    int interrupts;
    uint64_t interrupted_ms; /* loop time of the last one */
    bool done, left, failed, closing;
    char *final; /* the "finished" event */
};

struct session *follow_session(struct follow *follow)
{
    return follow->session;
}

static void say(struct follow *follow, const char *line)
{
    if (follow->view)
        view_say(follow->view, line);
    else if (!follow->options.quiet && !follow->call->json)
        fprintf(stderr, "%s\n", line);
}

static void sink(enum log_level level, const char *line, void *arg)
{
    struct follow *follow = arg;
    (void)level;
    if (follow->view) {
        autofree(mem) char *whole = xasprintf("hone: %s", line);
        view_say(follow->view, whole);
    } else {
        fprintf(stderr, "hone: %s\n", line);
    }
}

static void on_event(const char *json, void *arg)
{
    struct follow *follow = arg;
    autofree(json) json_t *event = NULL;
    autorelease(str) struct str line = STR_INIT;

    if (json_parse(json, strlen(json), &event, NULL) < 0)
        return;
    if (follow->options.detach)
        detach_ready(follow->options.detach, json_get_int(event, "experiment", 0));
    if (str_eq(json_get_text(event, "event", ""), "finished")) {
        free(follow->final);
        follow->final = xstrdup(json);
        follow->done = true;
        uv_stop(&follow->loop);
    }
    if (follow->call->json && !follow->options.quiet) {
        puts(json);
        fflush(stdout);
    } else if (!follow->done && view_event_line(event, &line)) {
        if (follow->view && view_event_may_cut(event))
            view_say_cut(follow->view, line.s);
        else
            say(follow, line.s);
    }
}

static void on_live(const char *json, void *arg)
{
    struct follow *follow = arg;
    autofree(json) json_t *document = NULL;
    if (follow->view && json_parse(json, strlen(json), &document, NULL) == 0)
        view_update(follow->view, document);
}

static void on_web(const char *link, void *arg)
{
    struct follow *follow = arg;
    autofree(mem) char *line = xasprintf("watch it at %s", link);

    if (follow->view && isatty(STDOUT_FILENO))
        view_say(follow->view, line);
    else if (!follow->options.quiet)
        fprintf(stderr, "%s\n", line);
}

static void on_failure(const struct err *err, void *arg)
{
    struct follow *follow = arg;
    log_error("%s", err_text(err));
    follow->failed = true;
    uv_stop(&follow->loop);
}

/* A third Ctrl-C, well after the second: the engine cannot even note the end (its disk is full).
 * What still runs is held by its keepers and found by resume. */
static void leave_if_stuck(struct follow *follow)
{
    if (uv_now(&follow->loop) - follow->interrupted_ms < STUCK_MS)
        return;
    say(follow, "leaving as it is: 'hone resume' goes on");
    follow->left = true;
    uv_stop(&follow->loop);
}

static int stop(struct follow *follow, enum stop_mode mode, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;

    if (follow->session)
        return session_stop(follow->session, follow->id, mode, err);
    autofree(mem) char *path = xasprintf("/v1/experiments/%lld/stop", (long long)follow->id);
    int r = remote_open(follow->call, &remote, err);
    return r < 0
               ? r
               : remote_call(remote, "POST", path,
                             mode == STOP_KILL ? "{\"mode\":\"kill\"}" : "{\"mode\":\"interrupt\"}",
                             &reply, err);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct follow *follow = signal->data;
    autorelease(err) struct err err = ERR_INIT;
    (void)number;

    if (follow->closing)
        return; /* the loop turns once more, but there is nothing left to stop */
    if (follow->options.join_only || !follow->id) {
        follow->left = true;
        uv_stop(&follow->loop);
        return;
    }
    if (follow->interrupts >= 2) {
        leave_if_stuck(follow);
        return;
    }
    follow->interrupts++;
    follow->interrupted_ms = uv_now(&follow->loop);
    say(follow, follow->interrupts == 1
                    ? "stopping: nothing more starts, running trials are asked for a checkpoint "
                      "(Ctrl-C again kills them)"
                    : "killing the running trials");
    if (stop(follow, follow->interrupts == 1 ? STOP_INTERRUPT : STOP_KILL, &err) < 0 &&
        err.code != ENOENT)
        on_failure(&err, follow);
}

static void start_signal(struct follow *follow, uv_signal_t *handle, int number)
{
    uv_signal_init(&follow->loop, handle);
    handle->data = follow;
    uv_signal_start(handle, on_signal, number);
}

/* Where to serve pages: --port, else HONE_PORT, else the usual place. */
static int read_port(const struct cmd_call *call, struct web_options *ret)
{
    const char *text = cmd_value(call, "port"), *variable = getenv("HONE_PORT");
    char *end;

    text = text ? text : variable && *variable ? variable : NULL;
    *ret = (struct web_options){.port = WEB_PORT, .udp_port = -1, .commands = served_commands};
    if (text && str_eq(text, "off"))
        return 0;
    ret->address = "127.0.0.1";
    if (!text)
        return 0;
    long port = strtol(text, &end, 10);
    if (end == text || *end || port < 0 || port > 65535)
        return cmd_usage(call, "port '%s': a number from 0 to 65535 is wanted, or off", text);
    ret->port = (int)port;
    return 0;
}

int follow_open(struct cmd_call *call, const struct follow_options *options, struct follow **ret)
{
    struct follow *follow = xcalloc(1, sizeof(*follow));
    autorelease(err) struct err err = ERR_INIT;
    int code;

    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    follow->call = call;
    follow->options = *options;
    code = read_port(call, &follow->web);
    if (code) {
        free(follow);
        return code;
    }
    uv_loop_init(&follow->loop);
    start_signal(follow, &follow->interrupt, SIGINT);
    start_signal(follow, &follow->terminate, SIGTERM);
    struct session_options session = {
        .home = call->home,
        .join_only = options->join_only,
        .go_on = options->go_on,
        .on_event = on_event,
        .on_live = call->json || options->quiet ? NULL : on_live,
        .on_failure = on_failure,
        .web = follow->web.address ? &follow->web : NULL,
        .on_web = on_web,
        .arg = follow,
    };
    if (!call->server && session_open(&follow->loop, &session, &follow->session, &err) < 0) {
        code = cmd_fail(call, CMD_FAILED, &err);
        follow_close(follow);
        return code;
    }
    if (!call->json && !options->quiet)
        follow->view = view_new(STDOUT_FILENO, call->colour);
    log_set_sink(sink, follow);
    *ret = follow;
    return 0;
}

void follow_close(struct follow *follow)
{
    follow->closing = true;
    log_set_sink(NULL, NULL);
    if (follow->view)
        view_free(follow->view);
    if (follow->session)
        session_close(follow->session);
    if (follow->watch)
        watch_stop(follow->watch);
    uv_close((uv_handle_t *)&follow->interrupt, NULL);
    uv_close((uv_handle_t *)&follow->terminate, NULL);
    uv_run(&follow->loop, UV_RUN_DEFAULT);
    uv_loop_close(&follow->loop);
    free(follow->final);
    free(follow);
}

static int exit_code(const json_t *final)
{
    const char *state = json_get_text(final, "state", "");
    int64_t completed = json_get_int(json_object_get(final, "trials"), "completed", 0);

    if (str_eq(state, "interrupted"))
        return CMD_INTERRUPTED;
    return completed > 0 && !str_eq(state, "failed") ? CMD_OK : CMD_FAILED;
}

static void watch_server(struct follow *follow, int64_t id)
{
    autorelease(err) struct err err = ERR_INIT;
    struct watch_options options = {
        .experiment = id,
        .from_now = follow->options.from_now,
        .on_event = on_event,
        .on_live = follow->view ? on_live : NULL,
        .on_failure = on_failure,
        .arg = follow,
    };
    if (watch_start(&follow->loop, follow->call, &options, &follow->watch, &err) < 0)
        on_failure(&err, follow);
}

int follow_run(struct follow *follow, int64_t id)
{
    struct cmd_call *call = follow->call;
    autofree(json) json_t *final = NULL;
    int code = CMD_FAILED;

    follow->id = id;
    if (call->server)
        watch_server(follow, id);
    if (!follow->done && !follow->failed)
        uv_run(&follow->loop, UV_RUN_DEFAULT);
    if (follow->view)
        view_clear(follow->view);
    if (follow->final && json_parse(follow->final, strlen(follow->final), &final, NULL) == 0)
        code = exit_code(final);
    else if (follow->left)
        code = follow->interrupts ? CMD_INTERRUPTED : CMD_OK;
    bool summary = final && !call->json && !follow->options.quiet && !follow->options.no_summary;
    follow_close(follow);
    if (summary)
        summary_print(call, final);
    return code;
}
