/* SPDX-License-Identifier: MIT */
/*
 * viewers.c — many who watch /v1/events at once, and whether each has seen everything.
 *
 *     viewers PORT TOKEN VIEWERS [PATH]
 *
 * Prints "ready" when all have been told where they begin, and reads until its input ends and then
 * nothing has come for a second. Then JSON: viewers that were closed, changes that each has seen
 * (least, most), numbers that were missed in a row of ids, resets, batches of points (least, most),
 * whether all end at the same id, bytes of all.
 */
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES 64 /* of a line that matters; the rest of a longer one is skipped */
#define QUIET_MS       1000

struct viewer {
    int fd;
    char line[LINE_MAX_BYTES];
    size_t n; /* bytes of the line so far; those beyond the room are not kept */
    bool body, ready, closed;
    uint64_t seq, changes, missed, resets, points, bytes;
};

struct crowd {
    struct viewer *at;
    size_t n, ready;
    int epoll;
};

static void die(const char *what)
{
    fprintf(stderr, "viewers: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- what a viewer hears ---- */

/* "id: BOOT-SEQ" begins a change, or says where we are. */
static void on_id(struct viewer *viewer, const char *id)
{
    const char *dash = strrchr(id, '-');
    uint64_t seq = dash ? strtoull(dash + 1, NULL, 10) : 0;

    if (viewer->ready && seq > viewer->seq + 1)
        viewer->missed += seq - viewer->seq - 1;
    viewer->seq = seq;
}

static void on_line(struct crowd *crowd, struct viewer *viewer)
{
    const char *line = viewer->line;

    if (!viewer->body) {
        if (viewer->n == 0 || str_eq(line, "\r"))
            viewer->body = true;
        else if (str_starts(line, "HTTP/") && !strstr(line, " 200"))
            die(line);
        return;
    }
    if (str_starts(line, "id: "))
        on_id(viewer, line + 4);
    if (str_starts(line, "id: ") && !viewer->ready) {
        viewer->ready = true;
        crowd->ready++;
    }
    viewer->changes += str_eq(line, "event: change");
    viewer->points += str_eq(line, "event: points");
    viewer->resets += str_eq(line, "event: reset");
}

static void on_bytes(struct crowd *crowd, struct viewer *viewer, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (viewer->n < LINE_MAX_BYTES - 1)
                viewer->line[viewer->n++] = bytes[i];
            continue;
        }
        viewer->line[viewer->n] = '\0';
        on_line(crowd, viewer);
        viewer->n = 0;
    }
    viewer->bytes += n;
}

/* ---- connections ---- */

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connect");
    return fd;
}

static void begin(struct crowd *crowd, int port, const char *token, const char *path)
{
    autorelease(str) struct str request = STR_INIT;

    /* 1.0: the answer comes without chunks */
    str_addf(&request, "GET %s HTTP/1.0\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\n\r\n",
             path, port, token);
    for (size_t i = 0; i < crowd->n; i++) {
        struct viewer *viewer = &crowd->at[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = viewer};
        viewer->fd = dial(port);
        if (send(viewer->fd, request.s, request.len, MSG_NOSIGNAL) != (ssize_t)request.len)
            die("send");
        epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, viewer->fd, &event);
    }
}

/* False: nothing has come in this time. */
static bool turn(struct crowd *crowd, int ms)
{
    static char bytes[65536];
    struct epoll_event events[256];
    int n = epoll_wait(crowd->epoll, events, (int)ARRAY_LEN(events), ms);

    for (int i = 0; i < n; i++) {
        struct viewer *viewer = events[i].data.ptr;
        ssize_t got = recv(viewer->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got > 0) {
            on_bytes(crowd, viewer, bytes, (size_t)got);
        } else if (got == 0 || errno != EAGAIN) {
            viewer->closed = true;
            close(viewer->fd);
        }
    }
    return n > 0;
}

static bool input_ended(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char c;

    return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

/* ---- the report ---- */

static void report(const struct crowd *crowd)
{
    uint64_t closed = 0, missed = 0, resets = 0, bytes = 0, most = 0, least = UINT64_MAX;
    uint64_t points_most = 0, points_least = UINT64_MAX;
    bool same = true;

    for (size_t i = 0; i < crowd->n; i++) {
        const struct viewer *viewer = &crowd->at[i];
        closed += viewer->closed;
        missed += viewer->missed;
        resets += viewer->resets;
        bytes += viewer->bytes;
        most = MAX(most, viewer->changes);
        least = MIN(least, viewer->changes);
        points_most = MAX(points_most, viewer->points);
        points_least = MIN(points_least, viewer->points);
        same = same && viewer->seq == crowd->at[0].seq;
    }
    printf("{\"viewers\":%zu,\"closed\":%llu,\"changes\":[%llu,%llu],\"missed\":%llu,"
           "\"resets\":%llu,\"points\":[%llu,%llu],\"same_end\":%s,\"bytes\":%llu}\n",
           crowd->n, (unsigned long long)closed, (unsigned long long)least,
           (unsigned long long)most, (unsigned long long)missed, (unsigned long long)resets,
           (unsigned long long)points_least, (unsigned long long)points_most,
           same ? "true" : "false", (unsigned long long)bytes);
}

int main(int argc, char **argv)
{
    struct crowd crowd = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    struct rlimit files;

    if (argc < 4) {
        fprintf(stderr, "usage: viewers PORT TOKEN VIEWERS [PATH]\n");
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    crowd.n = strtoul(argv[3], NULL, 10);
    crowd.at = xcalloc(crowd.n, sizeof(*crowd.at));
    begin(&crowd, (int)strtol(argv[1], NULL, 10), argv[2], argc > 4 ? argv[4] : "/v1/events");
    while (crowd.ready < crowd.n)
        turn(&crowd, 1000);
    printf("ready\n");
    fflush(stdout);
    while (!input_ended())
        turn(&crowd, 100);
    while (turn(&crowd, QUIET_MS))
        continue;
    report(&crowd);
    return 0; /* the connections go with the process */
}
