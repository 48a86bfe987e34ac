/* SPDX-License-Identifier: MIT */
/*
 * datagrams.c — sends one-line datagrams at a steady rate, as the bench of UDP asks.
 *
 *     datagrams PORT RATE SECONDS
 *
 * RATE × SECONDS datagrams to 127.0.0.1, each one line of one field, of 50 runs in turn, no two
 * with the same time. A part of the second's datagrams leaves every millisecond. Who was kept from
 * running catches up at twice the rate, and not at once: a burst would fill the receiver's buffer,
 * and that would not be the receiver's doing. Prints: datagrams sent, seconds taken, own CPU
 * seconds.
 */
#include "base/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH      128
#define LINE_BYTES 96
#define RUNS       50
#define TICK_NS    INT64_C(1000000)
#define FIRST_NS   INT64_C(1700000000000000000)

struct batch {
    char lines[BATCH][LINE_BYTES];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH];
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec ts = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        continue;
}

static int connect_to(int port)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
        perror("datagrams");
        exit(1);
    }
    return fd;
}

static void prepare(struct batch *batch)
{
    for (size_t i = 0; i < BATCH; i++) {
        batch->parts[i].iov_base = batch->lines[i];
        batch->messages[i].msg_hdr.msg_iov = &batch->parts[i];
        batch->messages[i].msg_hdr.msg_iovlen = 1;
    }
}

/* Without snprintf: the sender shares the processor with the receiver. */
static size_t put_line(char *to, int64_t k)
{
    char *at = stpcpy(to, "udp,run=r");
    int64_t run = k % RUNS, time_ns = FIRST_NS + k * 1000000;

    *at++ = (char)('0' + run / 10);
    *at++ = (char)('0' + run % 10);
    at = stpcpy(at, " loss=0.");
    for (int64_t i = 0, digits = k * 7919; i < 6; i++, digits /= 10)
        *at++ = (char)('0' + digits % 10);
    *at++ = ' ';
    for (int i = 18; i >= 0; i--, time_ns /= 10)
        at[i] = (char)('0' + time_ns % 10);
    at[19] = '\n';
    return (size_t)(at + 20 - to);
}

/* Datagrams `first` up to first + n; n is at most BATCH. */
static void send_some(int fd, struct batch *batch, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        batch->parts[i].iov_len = put_line(batch->lines[i], first + i);
    for (int64_t sent = 0; sent < n;) {
        int r = sendmmsg(fd, batch->messages + sent, (unsigned)(n - sent), 0);
        if (r < 0 && errno != EINTR && errno != ENOBUFS) {
            perror("datagrams");
            exit(1);
        }
        sent += MAX(r, 0);
    }
}

int main(int argc, char **argv)
{
    int64_t rate = argc == 4 ? strtoll(argv[2], NULL, 10) : 0;
    int64_t all = argc == 4 ? (int64_t)(strtod(argv[3], NULL) * (double)rate) : 0;
    int64_t done = 0, tick = MAX(1, rate / 1000);

    if (all <= 0) {
        fprintf(stderr, "datagrams: PORT RATE SECONDS\n");
        return 2;
    }
    autofree(mem) struct batch *batch = xcalloc(1, sizeof(*batch));
    prepare(batch);
    int fd = connect_to((int)strtol(argv[1], NULL, 10));
    int64_t began = now_ns(CLOCK_MONOTONIC);
    while (done < all) {
        int64_t due = (int64_t)((double)(now_ns(CLOCK_MONOTONIC) - began) * 1e-9 * (double)rate);
        int64_t end = MIN(MIN(due + tick, all), done + 2 * tick);
        while (done < end) {
            int64_t n = MIN(end - done, BATCH);
            send_some(fd, batch, done, n);
            done += n;
        }
        sleep_until(now_ns(CLOCK_MONOTONIC) + TICK_NS);
    }
    printf("%lld %.3f %.3f\n", (long long)done, 1e-9 * (double)(now_ns(CLOCK_MONOTONIC) - began),
           1e-9 * (double)now_ns(CLOCK_PROCESS_CPUTIME_ID));
    close(fd);
    return 0;
}
