/* SPDX-License-Identifier: MIT */
/*
 * udp.h — datagrams, taken by a thread of its own as fast as the kernel gives them, many at a time.
 * What the kernel had to drop is counted.
 */
#ifndef HONE_NET_UDP_H
#define HONE_NET_UDP_H

#include "base/err.h"

#define UDP_BATCH 128 /* datagrams handed over at once, at most */

struct udp;

struct udp_datagram {
    char *bytes;
    size_t n;
};
/* On the udp thread; the bytes are its own for the call. */
typedef void udp_batch_fn(const struct udp_datagram *datagrams, size_t n, void *arg);
struct udp_options {
    const char *address; /* a loopback address or "localhost"; others are refused */
    int port;            /* 0: any free one */
    udp_batch_fn *on_batch;
    void (*on_pause)(
        void *arg); /* after some batches: nothing more is there for now; may be NULL */
    void *arg;
};
struct udp_counts {
    uint64_t datagrams, bytes, batches;
    uint64_t dropped; /* by the kernel, because its buffer was full */
    uint64_t cut;     /* longer than a datagram may be; not handed over */
    size_t buffer;    /* bytes that the kernel holds for us */
};

int udp_start(const struct udp_options *options, struct udp **ret, struct err *err);
/* What the kernel held is handed over first. The last counts go to `ret`; it may be NULL. */
void udp_stop(struct udp *udp, struct udp_counts *ret);
int udp_port(const struct udp *udp);
void udp_counts(const struct udp *udp, struct udp_counts *ret);

#endif
