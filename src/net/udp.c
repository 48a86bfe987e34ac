/* SPDX-License-Identifier: MIT */
/*
 * udp.c — recvmmsg() in a thread.
 *
 * The kernel's buffer bridges the time in which the thread does not run: it is made as large as
 * permitted (SO_RCVBUFFORCE for root, else SO_RCVBUF up to net.core.rmem_max). SO_MEMINFO tells how
 * many datagrams were dropped since the socket was made, also when none came through after them.
 */
#include "net/udp.h"
#include "net/http_internal.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DATAGRAM_MAX (64u << 10)
#define BUFFER_BYTES (16 << 20)
#define NAP_MIN_NS   2000000
#define NAP_MAX_NS   40000000
#define OVERHEAD     256 /* of a datagram in the kernel's buffer, at least */
#define TRUE_SIZE    768 /* about what a small one takes there */
/* No power of two: else all datagrams fall into the same lines of the cache. */
#define STRIDE (DATAGRAM_MAX + 448)

struct udp {
    struct udp_options options;
    int fd, stop_fd, port;
    pthread_t thread;
    bool stopping;            /* atomic */
    struct udp_counts counts; /* each by atomic steps: read by others */
    struct mmsghdr messages[UDP_BATCH];
    struct iovec places[UDP_BATCH];
    struct udp_datagram datagrams[UDP_BATCH];
    char *block; /* (UDP_BATCH, STRIDE) */
    long nap_ns;
};

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* ---- the thread ---- */

static void lay_out(struct udp *udp)
{
    for (size_t i = 0; i < UDP_BATCH; i++) {
        udp->places[i] = (struct iovec){udp->block + i * STRIDE, DATAGRAM_MAX};
        udp->messages[i].msg_hdr = (struct msghdr){
            .msg_iov = &udp->places[i],
            .msg_iovlen = 1,
        };
    }
}

/* What the kernel dropped so far: its count has 32 bits, ours goes on. */
static uint64_t dropped(const struct udp *udp)
{
    uint64_t before = __atomic_load_n(&udp->counts.dropped, __ATOMIC_RELAXED);
    uint32_t figures[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof(figures);

    if (getsockopt(udp->fd, SOL_SOCKET, SO_MEMINFO, figures, &size) < 0)
        return before;
    return before + (uint32_t)(figures[SK_MEMINFO_DROPS] - (uint32_t)before);
}

static void hand_over(struct udp *udp, size_t n)
{
    size_t whole = 0, bytes = 0;

    for (size_t i = 0; i < n; i++) {
        if (udp->messages[i].msg_hdr.msg_flags & MSG_TRUNC)
            continue;
        udp->datagrams[whole++] =
            (struct udp_datagram){udp->places[i].iov_base, udp->messages[i].msg_len};
        bytes += udp->messages[i].msg_len;
    }
    count(&udp->counts.datagrams, n);
    count(&udp->counts.bytes, bytes);
    count(&udp->counts.batches, 1);
    if (whole < n)
        count(&udp->counts.cut, n - whole);
    if (whole)
        udp->options.on_batch(udp->datagrams, whole, udp->options.arg);
}

/* False: nothing more is there, or little. */
static bool take_batch(struct udp *udp)
{
    int n = recvmmsg(udp->fd, udp->messages, UDP_BATCH, MSG_DONTWAIT, NULL);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    hand_over(udp, (size_t)n);
    return n == UDP_BATCH;
}

/* What comes meanwhile is taken together: a wake-up costs more than many datagrams. The kernel's
 * buffer must hold many times as much as came in the last one. */
static void nap(struct udp *udp, uint64_t came)
{
    uint64_t room = udp->counts.buffer / TRUE_SIZE;

    if (udp->options.on_pause)
        udp->options.on_pause(udp->options.arg);
    if (came > room / 4)
        udp->nap_ns = MAX(udp->nap_ns / 2, NAP_MIN_NS);
    else if (came < room / 10)
        udp->nap_ns = MIN(udp->nap_ns * 2, NAP_MAX_NS);
    nanosleep(&(struct timespec){.tv_nsec = udp->nap_ns}, NULL);
}

static bool is_stopping(const struct udp *udp)
{
    return __atomic_load_n(&udp->stopping, __ATOMIC_ACQUIRE);
}

/* As much as the kernel can have held at the stop, and no more: some never cease to send. */
static void take_rest(struct udp *udp)
{
    const struct udp_counts *counts = &udp->counts, first = *counts;

    while (counts->bytes - first.bytes + (counts->datagrams - first.datagrams) * OVERHEAD <=
               counts->buffer &&
           take_batch(udp))
        ;
}

static void *udp_main(void *arg)
{
    struct udp *udp = arg;
    struct pollfd fds[] = {{udp->fd, POLLIN, 0}, {udp->stop_fd, POLLIN, 0}};

    while (!is_stopping(udp)) {
        uint64_t before = udp->counts.datagrams;
        poll(fds, ARRAY_LEN(fds), -1);
        while (!is_stopping(udp) && take_batch(udp))
            ;
        __atomic_store_n(&udp->counts.dropped, dropped(udp), __ATOMIC_RELAXED);
        if (!is_stopping(udp))
            nap(udp, udp->counts.datagrams - before);
    }
    take_rest(udp);
    return NULL;
}

/* ---- the socket ---- */

static void set_options(struct udp *udp)
{
    int bytes = BUFFER_BYTES;
    socklen_t size = sizeof(bytes);

    if (setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
        setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (getsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0)
        udp->counts.buffer = (size_t)bytes;
}

static int bind_socket(struct udp *udp, const struct addrinfo *info)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    char port[NI_MAXSERV];

    udp->fd = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (udp->fd < 0)
        return -errno;
    set_options(udp);
    if (bind(udp->fd, info->ai_addr, info->ai_addrlen) < 0 ||
        getsockname(udp->fd, (struct sockaddr *)&name, &size) < 0)
        return -errno;
    if (getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
        return -EIO;
    udp->port = (int)strtol(port, NULL, 10);
    return 0;
}

static int open_socket(struct udp *udp, struct err *err)
{
    const char *address = udp->options.address;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST}, *info = NULL;
    char port[16];
    int r = guard_address(address, false, err);

    if (r < 0)
        return r;
    snprintf(port, sizeof(port), "%d", udp->options.port);
    const char *host = strchr("0123456789:", address[0]) ? address : "127.0.0.1";
    if (getaddrinfo(host, port, &hints, &info) != 0)
        return err_set(err, EINVAL, "'%s' is no address", address);
    r = bind_socket(udp, info);
    freeaddrinfo(info);
    return r < 0 ? err_errno(err, -r, "cannot take datagrams at %s, port %s", host, port) : 0;
}

static void udp_free(struct udp *udp)
{
    fd_autoclose(&udp->fd);
    fd_autoclose(&udp->stop_fd);
    free(udp->block);
    free(udp);
}

int udp_start(const struct udp_options *options, struct udp **ret, struct err *err)
{
    struct udp *udp = xcalloc(1, sizeof(*udp));

    udp->options = *options;
    udp->fd = -1;
    udp->stop_fd = eventfd(0, EFD_CLOEXEC);
    udp->nap_ns = NAP_MIN_NS;
    udp->block = xmalloc((size_t)UDP_BATCH * STRIDE);
    lay_out(udp);
    int r =
        udp->stop_fd < 0 ? err_errno(err, errno, "cannot make an eventfd") : open_socket(udp, err);
    if (r == 0 && (r = pthread_create(&udp->thread, NULL, udp_main, udp)) != 0)
        r = err_errno(err, r, "cannot start a thread");
    if (r < 0) {
        udp_free(udp);
        return r;
    }
    *ret = udp;
    return 0;
}

void udp_stop(struct udp *udp, struct udp_counts *ret)
{
    uint64_t one = 1;

    __atomic_store_n(&udp->stopping, true, __ATOMIC_RELEASE);
    ssize_t written = write(udp->stop_fd, &one, sizeof(one));

    (void)written; /* a counter of 1 takes it always */
    pthread_join(udp->thread, NULL);
    if (ret)
        udp_counts(udp, ret);
    udp_free(udp);
}

int udp_port(const struct udp *udp)
{
    return udp->port;
}

void udp_counts(const struct udp *udp, struct udp_counts *ret)
{
    ret->datagrams = __atomic_load_n(&udp->counts.datagrams, __ATOMIC_RELAXED);
    ret->bytes = __atomic_load_n(&udp->counts.bytes, __ATOMIC_RELAXED);
    ret->batches = __atomic_load_n(&udp->counts.batches, __ATOMIC_RELAXED);
    ret->dropped = dropped(udp);
    ret->cut = __atomic_load_n(&udp->counts.cut, __ATOMIC_RELAXED);
    ret->buffer = udp->counts.buffer;
}
