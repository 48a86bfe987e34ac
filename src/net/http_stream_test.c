/* SPDX-License-Identifier: MIT */
/*
 * http_stream_test.c — replies that go on: what is written arrives in order, a reader who does not
 * read or has left is told of, and nothing keeps the server from stopping.
 */
#include "net/test_http.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t there; /* posted when `stream` is set */
static struct http_stream *stream;

static void begin(struct http_request *request, void *arg)
{
    static const char *const headers[] = {"Cache-Control", "no-cache", NULL};
    (void)arg;

    stream = http_reply_stream(request, "text/event-stream", headers);
    sem_post(&there);
}

/* On the http thread: nothing is sent before it returns. */
static void drop(struct http_request *request, void *arg)
{
    struct http_stream *to = http_reply_stream(request, "text/plain", NULL);
    (void)arg;

    http_stream_write(to, "one", 3);
    http_stream_write(to, "one", 3);
    http_stream_drop(to);
    http_stream_write(to, "two", 3);
    http_stream_close(to);
}

static void on_waiting(void *arg)
{
    (void)arg;
    sem_post(&there);
}

static const struct http_route routes[] = {
    {"GET", "/events", begin, 0, false, NULL, NULL, false},
    {"GET", "/drop", drop, 0, false, NULL, NULL, false},
    {"GET", "/later", NULL, 0, false, NULL, NULL, false},
    {NULL, NULL, NULL, 0, false, NULL, NULL, false},
};

/* 0: the usual patience, and looks at who has left. */
static struct http *start_with(unsigned head_s)
{
    struct http *http = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct http_options options = {
        .address = "127.0.0.1", .routes = routes, .on_waiting = on_waiting, .head_s = head_s};

    sem_init(&there, 0, 0);
    assert_ok(http_start(&options, &http, &err), &err);
    return http;
}

static struct http *start(void)
{
    return start_with(0);
}

static void await(void)
{
    while (sem_wait(&there) < 0)
        assert_int_equal(errno, EINTR);
}

static int watch(const struct http *http, const char *path)
{
    autofree(mem) char *text = xasprintf("GET %s\r\n" HOST "\r\n", path);
    int fd = dial(http);

    say(fd, text, strlen(text));
    await();
    return fd;
}

static int tell(const char *text)
{
    return http_stream_write(stream, text, strlen(text));
}

TEST(what_is_written_arrives_in_order_until_the_end)
{
    struct http *http = start();
    int fd = watch(http, "/events HTTP/1.1");

    autofree(mem) char *head = hear_until(fd, "\r\n\r\n");
    assert_non_null(strstr(head, "200 OK"));
    assert_non_null(strstr(head, "Content-Type: text/event-stream"));
    assert_non_null(strstr(head, "Cache-Control: no-cache"));
    assert_null(strstr(head, "no-store"));
    assert_int_equal(tell("data: one\n\n"), 0);
    assert_hears(fd, "one\n\n");
    assert_int_equal(tell("data: two\n\n"), 0);
    assert_int_equal(tell("data: three\n\n"), 0);
    autofree(mem) char *three = hear_until(fd, "three\n\n");
    assert_non_null(strstr(three, "two"));
    assert_int_equal(tell("data: last\n\n"), 0);
    http_stream_close(stream);
    autofree(mem) char *last = hear_until(fd, "\r\n0\r\n\r\n");
    assert_non_null(strstr(last, "data: last\n\n"));
    close(fd);
    http_stop(http);
}

TEST(another_thread_may_begin_a_stream)
{
    struct http *http = start();
    int fd = watch(http, "/later HTTP/1.1");

    stream = http_reply_stream(http_next(http), "text/event-stream", NULL);
    assert_int_equal(tell("hello"), 0);
    autofree(mem) char *heard = hear_until(fd, "hello");
    assert_non_null(strstr(heard, "text/event-stream"));
    http_stream_close(stream);
    close(fd);
    http_stop(http);
}

TEST(a_reader_that_does_not_read_gets_behind_and_others_do_not)
{
    struct http *http = start();
    autofree(mem) char *block = xcalloc(1, 100000);
    int fd = watch(http, "/events HTTP/1.0"), r; /* 1.0: no chunks */
    struct http_stream *slow = stream;
    size_t taken = 0;

    memset(block, 'x', 100000);
    while ((r = http_stream_write(slow, block, 100000)) == 0)
        assert_true(++taken < 10000);
    assert_int_equal(r, -ENOBUFS);
    assert_true(taken * 100000 > HTTP_BEHIND_MAX - 100000);
    int other = watch(http, "/events HTTP/1.1");
    assert_int_equal(tell("quick"), 0);
    assert_hears(other, "quick");
    http_stream_drop(slow);
    assert_int_equal(http_stream_write(slow, "reset!", 6), 0);
    http_stream_close(slow);
    http_stream_close(stream);
    autofree(mem) char *rest = hear(fd); /* what was on its way comes whole */
    const char *body = strstr(rest, "\r\n\r\n") + 4;
    size_t xs = strspn(body, "x");
    assert_string_equal(body + xs, "reset!");
    assert_true(xs % 100000 == 0 && xs <= taken * 100000);
    close(other);
    http_stop(http);
}

TEST(what_is_dropped_does_not_come)
{
    struct http *http = start();

    assert_answer(http, "GET /drop HTTP/1.0\r\nHost: localhost", NULL, "200", "\r\n\r\ntwo");
    http_stop(http);
}

/* The first write that finds it gone may be the one after. */
static void await_gone(void)
{
    int r;
    while ((r = tell(": keep\n")) == 0)
        usleep(1000);
    assert_int_equal(r, -EPIPE);
}

TEST(a_reader_that_has_left_is_noticed)
{
    struct http *http = start();

    for (int i = 0; i < 3; i++) {
        int fd = watch(http, "/events HTTP/1.1");
        if (i == 1)
            assert_hears(fd, "\r\n\r\n");
        struct linger hard = {.l_onoff = i == 2};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        close(fd);
        await_gone();
        http_stream_drop(stream);
        http_stream_close(stream);
    }
    http_stop(http);
}

TEST(a_reader_that_has_left_is_noticed_without_a_write)
{
    struct http *http = start_with(1);
    int fd = watch(http, "/events HTTP/1.1");

    assert_hears(fd, "\r\n\r\n");
    close(fd);
    while (http_stream_write(stream, "", 0) == 0)
        usleep(10000);
    assert_int_equal(http_stream_write(stream, "", 0), -EPIPE);
    http_stream_close(stream);
    http_stop(http);
}

TEST(only_a_head_is_sent_to_who_asks_for_a_head)
{
    struct http *http = start();
    autofree(mem) char *answer = ask(http, "HEAD /events HTTP/1.1\r\nHost: localhost", NULL, 0);

    await();
    assert_non_null(strstr(answer, "200 OK"));
    await_gone();
    http_stream_close(stream);
    http_stop(http);
}

TEST(stopping_ends_all_streams)
{
    struct http *http = start();
    int fds[20];
    struct http_stream *streams[ARRAY_LEN(fds)];

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = watch(http, "/events HTTP/1.1");
        streams[i] = stream;
        if (i % 2)
            assert_int_equal(tell("something"), 0);
    }
    int late = watch(http, "/later HTTP/1.1");
    struct http_request *request = http_next(http);
    http_stop(http);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        free(hear(fds[i])); /* it ends */
        assert_int_equal(http_stream_write(streams[i], "x", 1), -EPIPE);
        http_stream_close(streams[i]);
    }
    stream = http_reply_stream(request, "text/event-stream", NULL);
    assert_int_equal(tell("to nobody"), -EPIPE);
    http_stream_close(stream);
    close(late);
}

static void *write_much(void *arg)
{
    struct http_stream *to = arg;
    char line[32];

    for (int i = 0; i < 20000; i++) {
        int n = snprintf(line, sizeof(line), "%d\n", i), r;
        while ((r = http_stream_write(to, line, (size_t)n)) == -ENOBUFS)
            usleep(100);
        assert(r == 0);
    }
    http_stream_close(to);
    return NULL;
}

TEST(nothing_is_lost_or_comes_twice_while_it_is_read_and_written)
{
    struct http *http = start();
    int fd = watch(http, "/events HTTP/1.0");
    pthread_t thread;

    pthread_create(&thread, NULL, write_much, stream);
    autofree(mem) char *all = hear(fd);
    pthread_join(thread, NULL);
    char *s = strstr(all, "\r\n\r\n") + 4;
    for (long i = 0; i < 20000; i++, s++)
        assert_int_equal(strtol(s, &s, 10), i);
    assert_string_equal(s, "");
    http_stop(http);
}

TEST_MAIN
