/* SPDX-License-Identifier: MIT */
/*
 * load.c — asks a server for one page over and over, on connections that stay open.
 *
 *     load PORT PATH CONNECTIONS SECONDS [HEADER]...
 *
 * "{1-100}" in the path is a number from 1 to 100, another one in each request.
 * Each connection has one request on its way; the next goes out when the answer is whole. Prints
 * JSON: answers with status 200 and others, seconds taken, microseconds until an answer was whole
 * (median and 99 of 100), bytes of the last answer.
 */
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (1 << 20)
#define SAMPLES    (1 << 20)

struct line {
    int fd;
    size_t have, want; /* bytes of the answer; want 0: its head is not there yet */
    int64_t began_ns;
    char *bytes;
};

struct load {
    struct str before, after; /* the request, before and after the number */
    uint64_t first, numbers;  /* numbers 0: there is none */
    uint64_t next;
    int epoll;
    uint64_t good, bad;
    size_t last_bytes;
    uint32_t *samples_us;
    size_t n_samples;
};

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

/* Far apart, so that nothing is asked for twice in a row. */
static uint64_t next_number(struct load *load)
{
    load->next += 7919;
    return load->first + load->next % load->numbers;
}

static void ask(struct load *load, struct line *line)
{
    char text[8192];
    int n = load->numbers ? snprintf(text, sizeof(text), "%s%llu%s", load->before.s,
                                     (unsigned long long)next_number(load), load->after.s)
                          : snprintf(text, sizeof(text), "%s%s", load->before.s, load->after.s);

    line->have = line->want = 0;
    line->began_ns = now_ns();
    if (n >= (int)sizeof(text) || send(line->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        die("send");
}

/* The head is there: how long is it with its body? */
static size_t whole(const char *head)
{
    const char *end = strstr(head, "\r\n\r\n"), *length = strcasestr(head, "\r\nContent-Length: ");

    if (!end)
        return 0;
    return (size_t)(end + 4 - head) +
           (length && length < end ? strtoul(length + strlen("\r\nContent-Length: "), NULL, 10)
                                   : 0);
}

static void finish(struct load *load, const struct line *line)
{
    bool ok = memcmp(line->bytes, "HTTP/1.1 200", 12) == 0;

    load->good += ok;
    load->bad += !ok;
    load->last_bytes = line->have;
    load->samples_us[load->n_samples++ % SAMPLES] = (uint32_t)((now_ns() - line->began_ns) / 1000);
}

static void on_bytes(struct load *load, struct line *line)
{
    ssize_t n = recv(line->fd, line->bytes + line->have, ANSWER_MAX - 1 - line->have, 0);

    if (n <= 0)
        die("the server has closed");
    line->have += (size_t)n;
    line->bytes[line->have] = '\0';
    if (!line->want)
        line->want = whole(line->bytes);
    if (!line->want || line->have < line->want)
        return;
    finish(load, line);
    ask(load, line);
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void report(struct load *load, double seconds)
{
    size_t n = MIN(load->n_samples, SAMPLES);

    if (!n)
        die("no answer came");
    qsort(load->samples_us, n, sizeof(*load->samples_us), compare);
    printf(
        "{\"good\":%llu,\"bad\":%llu,\"seconds\":%.3f,\"p50_us\":%u,\"p99_us\":%u,\"bytes\":%zu}\n",
        (unsigned long long)load->good, (unsigned long long)load->bad, seconds,
        load->samples_us[n / 2], load->samples_us[n * 99 / 100], load->last_bytes);
}

static void run(struct load *load, int port, size_t connections, double seconds)
{
    struct epoll_event events[64];
    int64_t began = now_ns(), until = began + (int64_t)(seconds * 1e9);

    for (size_t i = 0; i < connections; i++) {
        struct line *line = xcalloc(1, sizeof(*line));
        *line = (struct line){.fd = dial(port), .bytes = xmalloc(ANSWER_MAX)};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = line};
        epoll_ctl(load->epoll, EPOLL_CTL_ADD, line->fd, &event);
        ask(load, line);
    }
    while (now_ns() < until) {
        int n = epoll_wait(load->epoll, events, (int)ARRAY_LEN(events), 1000);
        for (int i = 0; i < n; i++)
            on_bytes(load, events[i].data.ptr);
    }
    report(load, (double)(now_ns() - began) / 1e9);
}

static void make_request(struct load *load, int argc, char **argv)
{
    const char *path = argv[2], *open = strchr(path, '{'), *close = open ? strchr(open, '}') : NULL;

    str_add(&load->before, "GET ");
    str_add_n(&load->before, path, close ? (size_t)(open - path) : strlen(path));
    if (close) {
        char *dash;
        load->first = strtoull(open + 1, &dash, 10);
        uint64_t last = *dash == '-' ? strtoull(dash + 1, NULL, 10) : load->first;
        load->numbers = MAX(last, load->first) - load->first + 1;
    }
    str_addf(&load->after, "%s HTTP/1.1\r\nHost: localhost:%s\r\n", close ? close + 1 : "",
             argv[1]);
    for (int i = 5; i < argc; i++)
        str_addf(&load->after, "%s\r\n", argv[i]);
    str_add(&load->after, "\r\n");
}

int main(int argc, char **argv)
{
    struct load load = {
        .before = STR_INIT, .after = STR_INIT, .epoll = epoll_create1(EPOLL_CLOEXEC)};

    if (argc < 5) {
        fprintf(stderr, "usage: load PORT PATH CONNECTIONS SECONDS [HEADER]...\n");
        return 2;
    }
    make_request(&load, argc, argv);
    load.samples_us = xcalloc(SAMPLES, sizeof(*load.samples_us));
    run(&load, (int)strtol(argv[1], NULL, 10), strtoul(argv[3], NULL, 10), strtod(argv[4], NULL));
    return 0; /* the connections go with the process */
}
