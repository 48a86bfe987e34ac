/* SPDX-License-Identifier: MIT */
/*
 * remote_logs.c — hone logs --follow at a server: what is new, by offset.
 *
 *     how does the trial stand? ──► bytes behind `at` of each stream, until there are no more
 *            ▲                                                │
 *            └──────────── a while, unless it had ended ◄─────┘
 *
 * Whether it has ended is asked before the bytes: what was written before the end is printed. `at`
 * is the place in the program's own file, so a server that went away and came back is asked for
 * exactly what follows. An attempt is read to its end before the next one begins.
 */
#include "base/fs.h"
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>
#include <unistd.h>

#define LOOK_US   300000
#define BLOCK     65536 /* reading backwards for --tail */
#define BYTES_MAX (1 << 20)

struct stream {
    const char *name;
    bool wanted, begun; /* begun: --tail was looked for */
    int64_t at;
};
struct following {
    struct remote *remote;
    char *trial;             /* "3.7" */
    int64_t attempt, newest; /* that is printed; 0: none has begun */
    int64_t tail;            /* 0: all */
    bool only, ended;        /* only: --attempt. ended: nothing is written any more */
    struct stream streams[2];
};
struct piece { /* bytes of a stream, borrowed */
    int64_t from, size;
    const struct str *bytes;
};

/* ---- one request ---- */

static int read_piece(struct following *following, const struct stream *stream, int64_t from,
                      int64_t limit, struct piece *ret, struct err *err)
{
    autofree(mem) char *path = xasprintf(
        "/v1/trials/%s/logs?stream=%s&attempt=%lld&from=%lld&limit=%lld", following->trial,
        stream->name, (long long)following->attempt, (long long)from, (long long)limit);
    int r = remote_read(following->remote, path, &ret->bytes, err);

    ret->from = remote_header(following->remote, "X-Hone-From", from);
    ret->size = remote_header(following->remote, "X-Hone-Size", 0);
    if (r >= 0 && (ret->from < from || (int64_t)ret->bytes->len > limit))
        r = err_set(err, EIO, "%s does not answer as a hone server does",
                    remote_url(following->remote));
    return r;
}

/* Bytes from..to, with zeros for what the output cap dropped. */
static int read_range(struct following *following, const struct stream *stream, int64_t from,
                      int64_t to, struct str *ret, struct err *err)
{
    struct piece piece = {.bytes = NULL};
    int64_t at = from;
    int r = 0;

    str_cut(ret, 0);
    while (at < to && r >= 0) {
        r = read_piece(following, stream, at, to - at, &piece, err);
        if (r < 0 || !piece.bytes->len)
            return r;
        while (at < MIN(piece.from, to)) {
            str_add_char(ret, '\0');
            at++;
        }
        size_t n = (size_t)MIN((int64_t)piece.bytes->len, to - at);
        str_add_n(ret, piece.bytes->s, n);
        at += (int64_t)n;
    }
    return r;
}

/* ---- the last lines ---- */

/* Where the last of `*lines` lines begins in this block, -1: they are more than it has. The newline
 * at the very end closes a line, it begins none. */
static int64_t find_start(const struct str *block, bool at_end, int64_t *lines)
{
    for (size_t i = block->len; i-- > 0; at_end = false)
        if (block->s[i] == '\n' && !at_end && --*lines == 0)
            return (int64_t)i + 1;
    return -1;
}

static int find_tail(struct following *following, struct stream *stream, struct err *err)
{
    autorelease(str) struct str block = STR_INIT;
    struct piece piece = {.bytes = NULL};
    int64_t lines = following->tail, found = -1;
    int r = read_piece(following, stream, 0, 1, &piece, err); /* for its size */

    if (r < 0)
        return r;
    int64_t end = piece.size;
    for (int64_t to = end; to > 0 && found < 0 && r >= 0; to = MAX(to - BLOCK, 0)) {
        int64_t from = MAX(to - BLOCK, 0);
        r = read_range(following, stream, from, to, &block, err);
        int64_t start = r < 0 ? -1 : find_start(&block, to == end, &lines);
        if (start >= 0)
            found = from + start;
    }
    stream->at = MAX(found, 0);
    stream->begun = r >= 0;
    return r;
}

/* ---- what is new ---- */

static void say_hole(int64_t bytes)
{
    autorelease(str) struct str size = STR_INIT;
    str_add_size(&size, (uint64_t)bytes);
    fprintf(stderr, "hone: %s of output were dropped here by limits.output\n", size.s);
}

static int print_stream(struct following *following, struct stream *stream, struct err *err)
{
    struct piece piece = {.bytes = NULL};
    int r = following->tail && !stream->begun ? find_tail(following, stream, err) : 0;

    while (r >= 0) {
        r = read_piece(following, stream, stream->at, BYTES_MAX, &piece, err);
        if (r < 0 || !piece.bytes->len)
            break;
        if (piece.from > stream->at)
            say_hole(piece.from - stream->at);
        r = fs_write_all(STDOUT_FILENO, piece.bytes->s, piece.bytes->len);
        if (r < 0)
            return err_errno(err, -r, "cannot print the output");
        stream->at = piece.from + (int64_t)piece.bytes->len;
    }
    return r;
}

static int print_streams(struct following *following, struct err *err)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(following->streams) && r >= 0; i++)
        if (following->streams[i].wanted && following->attempt)
            r = print_stream(following, &following->streams[i], err);
    return r;
}

/* ---- how it stands ---- */

static bool is_over(const struct following *following, const json_t *trial)
{
    const json_t *runs = json_object_get(trial, "runs");
    const char *state = json_get_text(trial, "state", "");

    for (size_t i = 0; following->only && i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        if (json_get_int(run, "attempt", 0) == following->attempt)
            return json_get_text(run, "ended", NULL) != NULL;
    }
    return str_eq(state, "completed") || str_eq(state, "stopped") || str_eq(state, "failed");
}

static int look(struct following *following, struct err *err)
{
    autofree(json) json_t *trial = NULL;
    autofree(mem) char *path = xasprintf("/v1/trials/%s", following->trial);
    int r = remote_call(following->remote, "GET", path, NULL, &trial, err);

    if (r < 0)
        return r;
    following->newest = json_get_int(trial, "attempts", 0);
    if (following->only && following->attempt > following->newest)
        return err_set(err, ENOENT, "trial %s has %lld attempt%s: --attempt %lld is not there",
                       following->trial, (long long)following->newest,
                       following->newest == 1 ? "" : "s", (long long)following->attempt);
    if (!following->attempt)
        following->attempt = following->newest;
    following->ended = is_over(following, trial);
    return 0;
}

/* True: there was another. */
static bool begin_next(struct following *following)
{
    if (following->only || following->attempt >= following->newest)
        return false;
    following->attempt++;
    fprintf(stderr, "hone: attempt %lld begins\n", (long long)following->attempt);
    for (size_t i = 0; i < ARRAY_LEN(following->streams); i++) {
        following->streams[i].at = 0;
        following->streams[i].begun = true; /* --tail is for the first */
    }
    return true;
}

/* 1: there will be no more. */
static int turn(struct following *following, struct err *err)
{
    int r = look(following, err);

    if (r >= 0)
        r = print_streams(following, err);
    while (r >= 0 && begin_next(following))
        r = print_streams(following, err);
    return r < 0 ? r : following->ended;
}

static int follow(struct following *following, struct err *err)
{
    for (int tries = 0;;) {
        int r = turn(following, err);
        if (r == 1)
            return 0;
        if (r < 0 && !remote_again(following->remote, r, err, &tries))
            return r;
        if (r == 0) {
            tries = 0;
            usleep(LOOK_US);
        }
    }
}

/* ---- the command ---- */

/* Which trial `ref` is now: "last" would be another in a moment. An experiment is its newest one,
 * if it is called last or has no other. */
static int find_trial(struct following *following, const char *ref, struct err *err)
{
    autofree(json) json_t *shown = NULL, *newest = NULL;
    autofree(mem) char *last = xasprintf("%s.last", ref);
    int64_t trials = 0;
    const char *state;
    json_t *count;
    int r = remote_show(following->remote, ref, &shown, err);

    json_object_foreach(json_object_get(shown, "trials"), state, count) trials +=
        json_integer_value(count);
    if (r >= 0 && !json_get_text(shown, "trial", NULL)) {
        if (trials != 1 && !str_eq(ref, "last"))
            return err_set(err, EINVAL,
                           "'%s' is an experiment with %lld trials; name one of them, as in %s.1, "
                           "or the newest as %s.last",
                           ref, (long long)trials, ref, ref);
        r = remote_show(following->remote, last, &newest, err);
    }
    if (r >= 0)
        following->trial = xstrdup(json_get_text(newest ? newest : shown, "trial", ""));
    return r;
}

int remote_logs(struct cmd_call *call, struct remote *remote)
{
    autorelease(err) struct err err = ERR_INIT;
    bool out = cmd_flag(call, "stdout"), both = out == cmd_flag(call, "stderr");
    struct following following = {
        .remote = remote,
        .only = cmd_value(call, "attempt"),
        .streams = {{.name = "stdout", .wanted = both || out},
                    {.name = "stderr", .wanted = both || !out}},
    };

    if (call->json)
        return cmd_usage(call, "--json and --follow do not go together");
    if (cmd_number(call, "tail", 1, INT64_MAX, &following.tail) ||
        cmd_number(call, "attempt", 1, INT32_MAX, &following.attempt))
        return CMD_USAGE;
    int r = find_trial(&following, call->args[0], &err);
    if (r >= 0)
        r = follow(&following, &err);
    free(following.trial);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}
