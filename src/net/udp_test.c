/* SPDX-License-Identifier: MIT */
/*
 * udp_test.c — datagrams over loopback.
 */
#include "net/udp.h"
#include "base/str.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

struct heard {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct str all;
    size_t datagrams;
    bool hold; /* keep the thread in its callback */
    int fd;    /* of who sends on */
};

static void on_batch(const struct udp_datagram *datagrams, size_t n, void *arg)
{
    struct heard *heard = arg;

    pthread_mutex_lock(&heard->mutex);
    for (size_t i = 0; i < n; i++)
        str_add_n(&heard->all, datagrams[i].bytes, datagrams[i].n);
    heard->datagrams += n;
    pthread_cond_broadcast(&heard->cond);
    while (heard->hold)
        pthread_cond_wait(&heard->cond, &heard->mutex);
    pthread_mutex_unlock(&heard->mutex);
}

static void await_datagrams(struct heard *heard, size_t n)
{
    pthread_mutex_lock(&heard->mutex);
    while (heard->datagrams < n)
        pthread_cond_wait(&heard->cond, &heard->mutex);
    pthread_mutex_unlock(&heard->mutex);
}

static void set_hold(struct heard *heard, bool hold)
{
    pthread_mutex_lock(&heard->mutex);
    heard->hold = hold;
    pthread_cond_broadcast(&heard->cond);
    pthread_mutex_unlock(&heard->mutex);
}

static struct udp *start_with(struct heard *heard, udp_batch_fn *fn)
{
    struct udp *udp = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct udp_options options = {.address = "127.0.0.1", .on_batch = fn, .arg = heard};

    *heard = (struct heard){.all = STR_INIT};
    pthread_mutex_init(&heard->mutex, NULL);
    pthread_cond_init(&heard->cond, NULL);
    assert_ok(udp_start(&options, &udp, &err), &err);
    return udp;
}

static struct udp *start(struct heard *heard)
{
    return start_with(heard, on_batch);
}

static int dial(const struct udp *udp)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)udp_port(udp))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

TEST(datagrams_come_whole_and_in_order)
{
    struct heard heard;
    struct udp *udp = start(&heard);
    autorelease(str) struct str sent = STR_INIT;
    struct udp_counts counts;
    int fd = dial(udp);

    for (int i = 0; i < 300; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "m v=%d\n", i);
        str_add(&sent, text);
        assert_int_equal(send(fd, text, (size_t)n, 0), n);
    }
    await_datagrams(&heard, 300);
    udp_counts(udp, &counts);
    assert_int_equal(counts.datagrams, 300);
    assert_int_equal(counts.bytes, sent.len);
    assert_int_equal(counts.dropped, 0);
    assert_true(counts.buffer > 0);
    assert_string_equal(heard.all.s, sent.s);
    udp_stop(udp, NULL);
    str_release(&heard.all);
    close(fd);
}

TEST(what_the_kernel_holds_is_handed_over_before_the_end)
{
    struct heard heard;
    struct udp *udp = start(&heard);
    int fd = dial(udp);

    heard.hold = true;
    assert_int_equal(send(fd, "a", 1, 0), 1);
    await_datagrams(&heard, 1);
    for (int i = 0; i < 200; i++)
        assert_int_equal(send(fd, "b", 1, 0), 1);
    set_hold(&heard, false);
    udp_stop(udp, NULL);
    assert_int_equal(heard.all.len, 201);
    str_release(&heard.all);
    close(fd);
}

/* For each that comes another one is sent: there is always one more to take. */
static void send_on(const struct udp_datagram *datagrams, size_t n, void *arg)
{
    struct heard *heard = arg;

    pthread_mutex_lock(&heard->mutex);
    heard->datagrams += n;
    pthread_cond_broadcast(&heard->cond);
    for (size_t i = 0; i < n; i++)
        if (send(heard->fd, datagrams[i].bytes, datagrams[i].n, 0) < 0)
            abort();
    pthread_mutex_unlock(&heard->mutex);
}

TEST(it_ends_while_others_go_on_sending)
{
    struct heard heard;
    struct udp *udp = start_with(&heard, send_on);
    struct udp_counts counts;
    static char large[8000];

    heard.fd = dial(udp);
    for (int i = 0; i < 4; i++)
        assert_int_equal(send(heard.fd, large, sizeof(large), 0), sizeof(large));
    await_datagrams(&heard, 100);
    alarm(60); /* rather than to wait for ever */
    udp_stop(udp, &counts);
    alarm(0);
    assert_int_equal(counts.datagrams, heard.datagrams);
    close(heard.fd);
}

/* While nobody reads, the kernel drops what does not fit: all of that is counted. */
TEST(every_drop_is_counted)
{
    struct heard heard;
    struct udp *udp = start(&heard);
    struct udp_counts counts;
    autofree(mem) char *large = xcalloc(1, 60000);
    uint64_t sent = 1;
    int fd = dial(udp);

    udp_counts(udp, &counts);
    set_hold(&heard, true);
    assert_int_equal(send(fd, "a", 1, 0), 1);
    await_datagrams(&heard, 1);
    for (size_t bytes = 0; bytes < 3 * counts.buffer; bytes += 60000, sent++)
        assert_int_equal(send(fd, large, 60000, 0), 60000);
    set_hold(&heard, false);
    do { /* the count comes with the next one that gets through */
        assert_int_equal(send(fd, "b", 1, 0), 1);
        sent++;
        await_datagrams(&heard, counts.datagrams + 1);
        udp_counts(udp, &counts);
    } while (counts.datagrams + counts.dropped < sent);
    assert_true(counts.dropped > 0);
    assert_int_equal(counts.datagrams + counts.dropped, sent);
    udp_stop(udp, NULL);
    str_release(&heard.all);
    close(fd);
}

TEST(only_addresses_of_this_machine_are_taken)
{
    struct udp *udp = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct udp_options options = {.address = "0.0.0.0", .on_batch = on_batch};

    assert_int_equal(udp_start(&options, &udp, &err), -EACCES);
}

TEST_MAIN
