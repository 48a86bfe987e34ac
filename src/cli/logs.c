/* SPDX-License-Identifier: MIT */
/*
 * logs.c — hone logs: the bytes a trial's program wrote, as they are.
 *
 * The output cap punches a hole into the middle of a long file; the hole is jumped over, and said
 * on standard error. Following looks at the files ten times a second: it works on every file
 * system, and costs two fstat() a look. It ends when no attempt is alive and the trial has ended,
 * or when nobody is there to start another.
 */
#include "base/fs.h"
#include "cli/cmd.h"
#include "api/find.h"
#include "cli/output.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_MS  100
#define JSON_CAP (16 << 20) /* a stream in --json is cut to its last 16 MB */

static const struct cmd_option options[] = {
    {"follow", 'f', NULL, "go on as it writes, until it has ended"},
    {"attempt", 0, "N", "of this attempt (the newest)"},
    {"stdout", 0, NULL, "only standard output"},
    {"stderr", 0, NULL, "only standard error"},
    {"tail", 'n', "N", "only the last N lines"},
    {NULL, 0, NULL, NULL},
};

/* One of the two files, and how far it was printed. */
struct stream {
    const char *name;
    bool wanted;
    int fd; /* -1: not there yet */
    off_t at;
};

struct logs {
    const struct cmd_call *call;
    struct store *store;
    struct target *target;
    int64_t attempt, tail; /* tail 0: all */
    char *dir;
    struct stream streams[2];
};

static int write_out(const char *bytes, size_t n)
{
    return fs_write_all(STDOUT_FILENO, bytes, n);
}

static void say_hole(off_t bytes)
{
    autorelease(str) struct str size = STR_INIT;
    str_add_size(&size, (uint64_t)bytes);
    fprintf(stderr, "hone: %s of output were dropped here by limits.output\n", size.s);
}

/* Where bytes begin again at or after `at`, and where they end; false at the end of the file. */
static bool next_data(int fd, off_t at, off_t size, off_t *ret_from, off_t *ret_to)
{
    off_t from = lseek(fd, at, SEEK_DATA);
    if (from < 0 && errno == ENXIO)
        return false;
    if (from < 0) { /* no holes on this file system */
        *ret_from = at;
        *ret_to = size;
        return at < size;
    }
    off_t to = lseek(fd, from, SEEK_HOLE);
    *ret_from = from;
    *ret_to = to < 0 ? size : MIN(to, size);
    return *ret_from < *ret_to;
}

static int copy_bytes(int fd, off_t from, off_t to)
{
    autofree(mem) char *buf = xmalloc(1 << 16);
    while (from < to) {
        ssize_t n = pread(fd, buf, (size_t)MIN(to - from, 1 << 16), from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int r = write_out(buf, (size_t)n);
        if (r < 0)
            return r;
        from += n;
    }
    return 0;
}

/* Print what was added since the last time. */
static int print_new(struct stream *stream)
{
    struct stat st;
    off_t from, to;

    if (stream->fd < 0 || fstat(stream->fd, &st) < 0)
        return 0;
    while (stream->at < st.st_size && next_data(stream->fd, stream->at, st.st_size, &from, &to)) {
        if (from > stream->at)
            say_hole(from - stream->at);
        int r = copy_bytes(stream->fd, from, to);
        if (r < 0)
            return r;
        stream->at = to;
    }
    return 0;
}

/* Start of the last `lines` lines: read backwards by blocks. */
static off_t tail_start(int fd, int64_t lines)
{
    autofree(mem) char *buf = xmalloc(1 << 16);
    struct stat st;
    off_t end = fstat(fd, &st) < 0 ? 0 : st.st_size;
    bool last = true; /* the newline at the very end closes a line, it begins none */

    while (end > 0) {
        off_t from = MAX(end - (1 << 16), 0);
        ssize_t n = pread(fd, buf, (size_t)(end - from), from);
        if (n <= 0)
            return 0;
        for (ssize_t i = n; i-- > 0; last = false)
            if (buf[i] == '\n' && !last && --lines == 0)
                return from + i + 1;
        end = from;
    }
    return 0;
}

static void open_stream(struct logs *logs, struct stream *stream)
{
    if (!stream->wanted || stream->fd >= 0)
        return;
    autofree(mem) char *path = xasprintf("%s/%s", logs->dir, stream->name);
    stream->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (stream->fd >= 0 && logs->tail > 0)
        stream->at = tail_start(stream->fd, logs->tail);
}

static void close_streams(struct logs *logs)
{
    for (size_t i = 0; i < ARRAY_LEN(logs->streams); i++) {
        if (logs->streams[i].fd >= 0)
            close(logs->streams[i].fd);
        logs->streams[i].fd = -1;
        logs->streams[i].at = 0;
    }
}

static void choose_attempt(struct logs *logs, int64_t number)
{
    const struct trial *trial = &logs->target->trial.trial;

    close_streams(logs);
    free(logs->dir);
    logs->attempt = number;
    logs->dir = attempt_dir(logs->call->home, trial->experiment, trial->number, number);
}

static int print_streams(struct logs *logs)
{
    for (size_t i = 0; i < ARRAY_LEN(logs->streams); i++) {
        open_stream(logs, &logs->streams[i]);
        int r = print_new(&logs->streams[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool attempt_alive(const struct logs *logs)
{
    struct attempt_look look;
    return exec_look(logs->dir, &look, NULL) == 0 && look.life == LIFE_ALIVE;
}

/* Another look after the attempt is over: has the trial ended, or is there a next attempt? */
static bool may_go_on(struct logs *logs)
{
    if (target_refresh(logs->store, logs->target, NULL) < 0)
        return false;
    const struct trial *trial = &logs->target->trial.trial;
    if (trial->attempts > logs->attempt && !cmd_value(logs->call, "attempt")) {
        fprintf(stderr, "hone: attempt %lld begins\n", (long long)trial->attempts);
        choose_attempt(logs, trial->attempts);
        return true;
    }
    if (cmd_value(logs->call, "attempt"))
        return false;
    return !trial_state_ended(trial->state) && home_has_engine(logs->call->home);
}

/* What an attempt wrote before its end was seen is printed by the look that follows. */
static int follow(struct logs *logs)
{
    for (;;) {
        bool alive = logs->attempt > 0 && attempt_alive(logs);
        int r = logs->attempt > 0 ? print_streams(logs) : 0;
        if (r < 0)
            return r;
        if (!alive && !may_go_on(logs))
            return logs->attempt > 0 ? print_streams(logs) : 0;
        poll(NULL, 0, POLL_MS);
    }
}

static void stream_json(struct logs *logs, struct stream *stream, struct json_out *out)
{
    struct stat st;
    autofree(mem) char *buf = NULL;

    open_stream(logs, stream);
    json_key(out, stream->name);
    if (stream->fd < 0 || fstat(stream->fd, &st) < 0 || stream->at >= st.st_size) {
        json_text(out, "");
        return;
    }
    off_t from = MAX(stream->at, st.st_size - JSON_CAP);
    buf = xmalloc((size_t)(st.st_size - from));
    ssize_t n = pread(stream->fd, buf, (size_t)(st.st_size - from), from);
    json_text_n(out, buf, (size_t)MAX(n, 0));
}

static int print_json(struct logs *logs)
{
    autofree(mem) char *name = target_name(logs->target);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_text(&out, "trial", name);
    json_put_int(&out, "attempt", logs->attempt);
    for (size_t i = 0; i < ARRAY_LEN(logs->streams); i++)
        if (logs->streams[i].wanted)
            stream_json(logs, &logs->streams[i], &out);
    json_end_object(&out);
    output_line(&text);
    return 0;
}

static int choose(struct logs *logs, struct err *err)
{
    const struct trial *trial = &logs->target->trial.trial;
    autofree(mem) char *name = target_name(logs->target);
    int64_t number = trial->attempts;

    if (cmd_number(logs->call, "attempt", 1, INT32_MAX, &number))
        return -EINVAL;
    if (number > trial->attempts)
        return err_set(err, ENOENT, "trial %s has %lld attempt%s: --attempt %lld is not there",
                       name, (long long)trial->attempts, trial->attempts == 1 ? "" : "s",
                       (long long)number);
    if (number == 0 && !cmd_flag(logs->call, "follow"))
        return err_set(err, ENOENT, "trial %s has not started yet: -f waits for it", name);
    choose_attempt(logs, number);
    return 0;
}

static int print(struct logs *logs, struct err *err)
{
    int r = choose(logs, err);

    if (r < 0)
        return r;
    if (logs->call->json)
        r = print_json(logs);
    else
        r = cmd_flag(logs->call, "follow") ? follow(logs) : print_streams(logs);
    if (r < 0)
        return err_errno(err, -r, "cannot print the output");
    return 0;
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    bool out = cmd_flag(call, "stdout"), both = out == cmd_flag(call, "stderr");
    struct logs logs = {
        .call = call,
        .target = &target,
        .streams = {{"stdout", both || out, -1, 0}, {"stderr", both || !out, -1, 0}}};

    if (call->json && cmd_flag(call, "follow"))
        return cmd_usage(call, "--json and --follow do not go together");
    if (cmd_number(call, "tail", 1, INT64_MAX, &logs.tail))
        return CMD_USAGE;
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    logs.store = store;
    int r = target_find(store, call->args[0], FIND_TRIAL, &target, &err);
    if (r == 0)
        r = print(&logs, &err);
    close_streams(&logs);
    free(logs.dir);
    target_release(&target);
    if (r < 0 && !*err_text(&err))
        return CMD_USAGE; /* it was said where it was found */
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_logs = {
    .name = "logs",
    .args = "TRIAL",
    .help = "what a trial's program printed; -f follows it",
    .details = "Prints the bytes as they were written: standard output, then standard error, of "
               "the newest attempt. TRIAL is EXPERIMENT.NUMBER, EXPERIMENT.last or 'last'. Output "
               "that limits.output dropped is mentioned on standard error.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
