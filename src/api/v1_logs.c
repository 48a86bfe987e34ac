/* SPDX-License-Identifier: MIT */
/*
 * v1_logs.c — what a trial's program printed, by offset, while it runs and afterwards.
 *
 * The output cap punches a hole into the middle of a long file: an answer begins behind it (the
 * header X-Hone-From says where) and ends before the next one.
 */
#include "api/v1_folder.h"
#include "api/web_route.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT     65536
#define LIMIT_MAX (4 << 20)

struct logs_ask {
    const char *stream; /* stdout or stderr */
    int64_t attempt, from, limit;
};
struct logs {
    int64_t size, from; /* of the file now; where the bytes begin */
    struct str bytes;
};

static int read_ask(struct web_call *call, int64_t attempts, struct logs_ask *ret, struct err *err)
{
    int r = web_number(call, "attempt", 1, INT32_MAX, attempts, &ret->attempt, err);

    ret->stream = http_param(call->request, "stream");
    if (!ret->stream)
        ret->stream = "stdout";
    if (r == 0)
        r = web_number(call, "from", INT64_MIN + 1, INT64_MAX, 0, &ret->from, err);
    if (r == 0)
        r = web_number(call, "limit", 1, LIMIT_MAX, LIMIT, &ret->limit, err);
    if (r == 0 && !str_eq(ret->stream, "stdout") && !str_eq(ret->stream, "stderr"))
        r = err_set(err, EINVAL, "stream=%.40s: stdout or stderr is wanted", ret->stream);
    if (r == 0 && (ret->attempt > attempts || !attempts))
        r = err_set(err, ENOENT, "it has %lld attempts", (long long)attempts);
    return r;
}

/* Where bytes begin at or after `from`, and how many there are before a hole. */
static int64_t data_at(int fd, int64_t *from, int64_t size)
{
    off_t data = lseek(fd, *from, SEEK_DATA);

    if (data < 0) /* the rest is a hole, or the file system knows none */
        return errno == ENXIO ? 0 : size - *from;
    off_t hole = lseek(fd, data, SEEK_HOLE);
    *from = data;
    return MAX(0, (hole < 0 ? size : MIN(hole, size)) - data);
}

static int read_bytes(int fd, const struct logs_ask *ask, struct logs *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    ret->size = st.st_size;
    ret->from = ask->from < 0 ? MAX(0, ret->size + ask->from) : MIN(ask->from, ret->size);
    int64_t n = MIN(ask->limit, data_at(fd, &ret->from, ret->size));
    str_reserve(&ret->bytes, (size_t)n);
    while (n > 0) {
        ssize_t got = pread(fd, ret->bytes.s + ret->bytes.len, (size_t)n,
                            ret->from + (int64_t)ret->bytes.len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        ret->bytes.len += (size_t)got;
        n -= got;
    }
    return 0;
}

static int read_logs(struct web_call *call, struct logs_ask *ask, struct logs *ret, struct err *err)
{
    struct folder_trial trial = {.number = 0};
    autoclose int fd = -1;
    int r = folder_find(call, &trial, err);

    if (r == 0)
        r = read_ask(call, trial.attempts, ask, err);
    if (r < 0)
        return r;
    autofree(mem) char *path = xasprintf("%lld/%s", (long long)ask->attempt, ask->stream);
    if (folder_open(call->home, &trial, path, &fd, NULL) < 0)
        return 0; /* it has not begun */
    r = read_bytes(fd, ask, ret);
    return r < 0 ? err_errno(err, -r, "the log cannot be read") : 0;
}

static void on_logs(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct logs_ask ask = {.stream = NULL};
    struct logs logs = {.bytes = STR_INIT};
    char size[24], from[24], attempt[24];
    const char *headers[] = {"X-Hone-Size",    size,    "X-Hone-From", from,
                             "X-Hone-Attempt", attempt, NULL};
    int r = read_logs(call, &ask, &logs, &err);

    if (r < 0) {
        str_release(&logs.bytes);
        web_fail(call, r, &err);
        return;
    }
    snprintf(size, sizeof(size), "%lld", (long long)logs.size);
    snprintf(from, sizeof(from), "%lld", (long long)logs.from);
    snprintf(attempt, sizeof(attempt), "%lld", (long long)ask.attempt);
    http_reply(call->request, 200, "text/plain; charset=utf-8", &logs.bytes, headers);
}

const struct web_route v1_logs_routes[] = {
    {"GET", "/v1/trials/*/logs", ROLE_VIEWER, DESK_READ, on_logs, 0,
     "What its program printed, by offset.", 0},
    {.methods = NULL},
};
