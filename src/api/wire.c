/* SPDX-License-Identifier: MIT */
/*
 * wire.c — the unix socket of a home.
 *
 * Socket addresses hold 107 bytes, homes can be deeper: the folder is opened and the socket named
 * through /proc/self/fd, which is always short.
 */
#include "api/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CALL_TIMEOUT_MS 30000

static int address(const char *home, int *ret_dir, struct sockaddr_un *ret, struct err *err)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    *ret_dir = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*ret_dir < 0)
        return err_errno(err, errno, "cannot open %s", home);
    snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/hone.sock", *ret_dir);
    return 0;
}

int wire_listen(const char *home, int *ret_fd, struct err *err)
{
    struct sockaddr_un to;
    autoclose int dir = -1;
    int r = address(home, &dir, &to, err);
    if (r < 0)
        return r;
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(err, errno, "cannot make a socket");
    unlinkat(dir, "hone.sock", 0); /* we hold the engine's lock: a socket there is a dead one */
    mode_t mask = umask(0177);
    r = bind(fd, (struct sockaddr *)&to, sizeof(to));
    int error = errno;
    umask(mask);
    if (r < 0 || listen(fd, 64) < 0)
        return err_errno(err, r < 0 ? error : errno, "cannot listen on %s/hone.sock", home);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int wire_connect(const char *home, int *ret_fd, struct err *err)
{
    struct sockaddr_un to;
    autoclose int dir = -1;
    int r = address(home, &dir, &to, err);
    if (r < 0)
        return r;
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        return err_errno(err, errno, "no engine answers in %s", home);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int read_line(int fd, int timeout_ms, struct str *line, struct err *err)
{
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        char piece[65536];
        if (poll(&wait, 1, timeout_ms) == 0)
            return err_set(err, ETIMEDOUT, "the engine did not answer in time");
        ssize_t n = recv(fd, piece, sizeof(piece), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, EPIPE, "the engine ended before it answered");
        char *end = memchr(piece, '\n', (size_t)n);
        str_add_n(line, piece, end ? (size_t)(end - piece) : (size_t)n);
        if (end)
            return 0;
        if (line->len > WIRE_LINE_MAX)
            return err_set(err, EMSGSIZE, "the engine's answer is too long");
    }
}

int wire_read_line(int fd, struct str *line, struct err *err)
{
    return read_line(fd, CALL_TIMEOUT_MS, line, err);
}

static int send_line(int fd, const char *text, struct err *err)
{
    size_t n = strlen(text);
    autorelease(str) struct str line = STR_INIT;

    str_add_n(&line, text, n);
    str_add_char(&line, '\n');
    for (size_t done = 0; done < line.len;) {
        ssize_t k = send(fd, line.s + done, line.len - done, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_set(err, EPIPE, "the engine ended before it answered");
        done += (size_t)k;
    }
    return 0;
}

int wire_call(const char *home, const char *request, json_t **ret, struct err *err)
{
    return wire_call_within(home, request, CALL_TIMEOUT_MS, ret, err);
}

int wire_call_within(const char *home, const char *request, int timeout_ms, json_t **ret,
                     struct err *err)
{
    autoclose int fd = -1;
    autorelease(str) struct str line = STR_INIT;
    int r = wire_connect(home, &fd, err);

    if (r >= 0)
        r = send_line(fd, request, err);
    if (r >= 0)
        r = read_line(fd, timeout_ms, &line, err);
    if (r >= 0)
        r = json_parse(line.s, line.len, ret, err);
    if (r < 0)
        return r;
    const char *sentence = json_get_text(*ret, "error", NULL);
    if (!sentence)
        return 0;
    r = err_set(err, (int)json_get_int(*ret, "code", EINVAL), "%s", sentence);
    json_decref(*ret);
    *ret = NULL;
    return r;
}

bool wire_peer_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    return peer.uid == geteuid() || peer.uid == 0;
}

void wire_error(const struct err *err, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    json_begin_object(&out);
    json_put_text(&out, "error", err_text(err));
    json_put_int(&out, "code", err->code);
    json_end_object(&out);
}
