/* SPDX-License-Identifier: MIT */
/*
 * http_test.c — a real server on a free port of this machine, asked by raw sockets.
 */
#include "net/gzip.h"
#include "net/http.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

static sem_t waiting; /* posted for each request that http_next() has */

static void on_waiting(void *arg)
{
    (void)arg;
    sem_post(&waiting);
}

/* Answers with method, path, the parameter q and the body. */
static void echo(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    const char *q = http_param(request, "q");
    (void)arg;

    str_addf(&body, "%s %s q=%s body=", http_method(request), http_path(request), q ? q : "-");
    str_add_n(&body, http_body(request)->s, http_body(request)->len);
    http_reply(request, 200, "text/plain", &body, NULL);
}

static const struct http_route routes[] = {
    {"GET POST", "/echo", echo, 1000},
    {"GET", "/below/*", echo, 0},
    {"POST", "/later", NULL, 1000},
    {NULL, NULL, NULL, 0},
};
static const char *const headers[] = {"X-Everywhere", "yes", NULL};

static struct http *start(void)
{
    struct http *http = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct http_options options = {
        .address = "127.0.0.1",
        .routes = routes,
        .headers = headers,
        .on_waiting = on_waiting,
        .bodies_max = 5000,
    };
    sem_init(&waiting, 0, 0);
    assert_ok(http_start(&options, &http, &err), &err);
    return http;
}

static int dial(const struct http *http)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(http))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void say(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* it has answered already and does not listen any more */
        bytes += sent;
        n -= (size_t)sent;
    }
}

static char *hear(int fd)
{
    struct str all = STR_INIT;
    char piece[4096];

    for (ssize_t n; (n = recv(fd, piece, sizeof(piece), 0)) > 0;)
        str_add_n(&all, piece, (size_t)n);
    close(fd);
    return all.cap ? str_take(&all) : xstrdup("");
}

static char *ask(const struct http *http, const char *head, const char *body, size_t n)
{
    autorelease(str) struct str text = STR_INIT;
    int fd = dial(http);

    str_addf(&text, "%s\r\nConnection: close\r\n", head);
    if (body)
        str_addf(&text, "Content-Length: %zu\r\n", n);
    str_add(&text, "\r\n");
    str_add_n(&text, body, body ? n : 0);
    say(fd, text.s, text.len);
    return hear(fd);
}

static void assert_answer(const struct http *http, const char *head, const char *body,
                          const char *status, const char *part)
{
    autofree(mem) char *answer = ask(http, head, body, body ? strlen(body) : 0);

    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 || strncmp(answer + 9, status, 3) != 0 ||
        !strstr(answer, part))
        fail_msg("%s: %s", head, answer);
}

TEST(a_request_finds_its_route_and_is_answered)
{
    struct http *http = start();

    assert_answer(http, "GET /echo?q=a%20b+c HTTP/1.1\r\nHost: localhost", NULL, "200",
                  "GET /echo q=a b c body=");
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: 127.0.0.1:80", "hello", "200",
                  "q=- body=hello");
    assert_answer(http, "GET /below/x/y HTTP/1.1\r\nHost: localhost", NULL, "200", "/below/x/y");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", "X-Everywhere: yes");
    assert_answer(http, "GET /none HTTP/1.1\r\nHost: localhost", NULL, "404", "{\"error\":");
    assert_answer(http, "GET /belo HTTP/1.1\r\nHost: localhost", NULL, "404", "{\"error\":");
    assert_answer(http, "DELETE /echo HTTP/1.1\r\nHost: localhost", NULL, "405", "{\"error\":");
    http_stop(http);
}

TEST(parameters_are_decoded_once)
{
    struct http *http = start();

    assert_answer(http, "GET /echo?q=%2541 HTTP/1.1\r\nHost: localhost", NULL, "200", "q=%41 ");
    assert_answer(http,
                  "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                  "Content-Type: application/x-www-form-urlencoded",
                  "x=1&q=a%2bb+%25zz%4&y", "200", "q=a+b %zz%4 ");
    http_stop(http);
}

TEST(names_of_others_are_refused)
{
    struct http *http = start();

    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: evil.example", NULL, "403", "Host");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost.evil.example", NULL, "403", "Host");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: 10.0.0.1", NULL, "403", "Host");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: [::1]:7470", NULL, "200", "echo");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example",
                  NULL, "403", "evil.example");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: null", NULL, "403",
                  "error");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:7470",
                  NULL, "200", "echo");
    http_stop(http);
}

TEST(a_body_beyond_its_cap_is_refused)
{
    struct http *http = start();
    autofree(mem) char *large = xcalloc(1, 2001), *chunked = NULL;

    memset(large, 'x', 2000);
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: localhost", large, "413", "1000 bytes");
    chunked = xasprintf("POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n7d0\r\n%s\r\n0\r\n\r\n",
                        large);
    int fd = dial(http);
    say(fd, chunked, strlen(chunked));
    autofree(mem) char *answer = hear(fd);
    assert_non_null(strstr(answer, " 413 "));
    large[1000] = '\0';
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: localhost", large, "200", "body=xxx");
    assert_answer(http, "GET /below/x HTTP/1.1\r\nHost: localhost", "x", "413", "0 bytes");
    http_stop(http);
}

/* n bytes 'y' */
static struct str packed(size_t n)
{
    struct str to = STR_INIT;
    autofree(mem) char *plain = xcalloc(1, n + 1);
    z_stream stream = {.next_in = (Bytef *)plain, .avail_in = (uInt)n};

    memset(plain, 'y', n);
    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    str_reserve(&to, n + 1000);
    stream.next_out = (Bytef *)to.s;
    stream.avail_out = (uInt)(n + 1000);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to.len = stream.total_out;
    deflateEnd(&stream);
    return to;
}

TEST(gzip_is_inflated_up_to_the_cap)
{
    static const char head[] = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip";
    struct http *http = start();
    autorelease(str) struct str small = packed(1000), bomb = packed(1000000);
    autofree(mem) char *good = ask(http, head, small.s, small.len);
    autofree(mem) char *bad = ask(http, head, bomb.s, MIN(bomb.len, 1000));
    autofree(mem) char *cut = ask(http, head, small.s, small.len - 1);

    assert_non_null(strstr(good, "body=yyyyy"));
    assert_true(strstr(bad, " 413 ") || strstr(bad, " 400 "));
    assert_non_null(strstr(cut, " 400 "));
    assert_answer(http, head, "not gzip", "400", "not gzip");
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: br", "x",
                  "415", "'br'");
    http_stop(http);
}

TEST(a_bomb_is_stopped_at_the_cap)
{
    autorelease(str) struct str bomb = packed(10000000), to = STR_INIT, two = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;

    assert_int_equal(gzip_inflate(bomb.s, bomb.len, 1000, &to, &err), -EFBIG);
    assert_true(to.len < 200000);
    autorelease(str) struct str one = packed(10);
    str_add_n(&two, one.s, one.len);
    str_add_n(&two, one.s, one.len);
    str_cut(&to, 0);
    assert_ok(gzip_inflate(two.s, two.len, 1000, &to, &err), &err);
    assert_string_equal(to.s, "yyyyyyyyyyyyyyyyyyyy");
    assert_int_equal(gzip_inflate("", 0, 1000, &to, &err), -EINVAL);
}

static void await_request(void)
{
    while (sem_wait(&waiting) < 0)
        assert_int_equal(errno, EINTR);
}

/* Bodies of 900 bytes stand until there is room for no more, however they come. */
TEST(all_bodies_together_have_a_cap)
{
    static const char head[] = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip";
    autorelease(str) struct str small = packed(900), text = STR_INIT;
    struct http *http = start();
    struct http_request *request;
    int fds[5];

    str_add(&text, "POST /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   "Content-Length: 900\r\n\r\n");
    for (int i = 0; i < 900; i++)
        str_add_char(&text, 'x');
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = dial(http);
        say(fds[i], text.s, text.len);
        sem_wait(&waiting);
    }
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: localhost", text.s, "503", "later");
    autofree(mem) char *inflated = ask(http, head, small.s, small.len);
    assert_non_null(strstr(inflated, " 503 "));
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: localhost", "small", "200", "body=small");
    while ((request = http_next(http)))
        http_reply(request, 204, NULL, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        autofree(mem) char *answer = hear(fds[i]);
        assert_non_null(strstr(answer, " 204 "));
    }
    autofree(mem) char *again = ask(http, head, small.s, small.len);
    assert_non_null(strstr(again, "body=yyyyy"));
    http_stop(http);
}

TEST(a_request_may_be_answered_later_by_another_thread)
{
    struct http *http = start();
    int fd = dial(http);
    const char text[] = "POST /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        "Content-Length: 2\r\n\r\nhi";

    assert_null(http_next(http));
    say(fd, text, strlen(text));
    await_request();
    struct http_request *request = http_next(http);
    assert_non_null(request);
    assert_null(http_next(http));
    assert_string_equal(http_body(request)->s, "hi");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", "echo");
    http_reply(request, 204, NULL, NULL, NULL);
    autofree(mem) char *answer = hear(fd);
    assert_non_null(strstr(answer, "HTTP/1.1 204"));
    http_stop(http);
}

TEST(a_request_without_a_body_waits_in_line_once)
{
    static const char text[] = "POST /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               "Content-Length: 0\r\n\r\n";
    struct http *http = start();

    for (int i = 0; i < 50; i++) {
        int fd = dial(http);
        say(fd, text, strlen(text));
        await_request();
        struct http_request *request = http_next(http);
        assert_non_null(request);
        assert_null(http_next(http));
        http_reply(request, 204, NULL, NULL, NULL);
        autofree(mem) char *answer = hear(fd);
        assert_non_null(strstr(answer, "HTTP/1.1 204"));
        assert_null(http_next(http));
        assert_int_equal(sem_trywait(&waiting), -1);
    }
    http_stop(http);
}

TEST(stopping_waits_for_nobody)
{
    struct http *http = start();
    const char text[] = "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    int taken = dial(http), untaken = dial(http), silent = dial(http);

    say(taken, text, strlen(text));
    await_request();
    struct http_request *request = http_next(http);
    say(untaken, text, strlen(text));
    await_request();
    http_stop(http);
    autofree(mem) char *first = hear(taken), *second = hear(untaken), *third = hear(silent);
    assert_true(first && second); /* whatever they hear, the wait is over */
    assert_string_equal(third, "");
    http_reply_error(request, 500, "to nobody"); /* still ours, and harmless */
}

TEST(a_client_that_leaves_harms_nothing)
{
    struct http *http = start();
    const char text[] = "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    int fd = dial(http), half = dial(http);

    say(half, text, 20);
    close(half);
    say(fd, text, strlen(text));
    await_request();
    close(fd);
    http_reply(http_next(http), 204, NULL, NULL, NULL);
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", "echo");
    http_stop(http);
}

TEST(what_is_not_http_harms_nothing)
{
    static const struct {
        const char *text, *status; /* NULL: no answer is waited for */
    } odd[] = {
        {"\r\n\r\n\r\n", NULL},
        {"GET\r\n\r\n", NULL},
        {"\x16\x03\x01\x02", NULL},
        {"GET /echo HTTP/9.9\r\n\r\n", " 505 "},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
         " 400 "},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", " 400 "},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
         " 413 "},
    };
    struct http *http = start();

    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        char answer[16] = "";
        int fd = dial(http);
        say(fd, odd[i].text, strlen(odd[i].text));
        if (odd[i].status)
            assert_true(recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL) > 0);
        if (odd[i].status && !strstr(answer, odd[i].status))
            fail_msg("%s: %s", odd[i].text, answer);
        close(fd);
    }
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", "echo");
    http_stop(http);
}

TEST(only_addresses_of_this_machine_are_served)
{
    static const char *const bad[] = {"0.0.0.0", "192.168.1.1", "::", "example.com", "", "127.1.1"};
    struct http *http = NULL, *first = start();
    autorelease(err) struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_options options = {.address = bad[i], .routes = routes};
        assert_int_equal(http_start(&options, &http, &err), -EACCES);
        assert_non_null(strstr(err_text(&err), "this machine alone"));
    }
    struct http_options again = {
        .address = "localhost", .port = http_port(first), .routes = routes};
    assert_int_equal(http_start(&again, &http, &err), -EADDRINUSE);
    http_stop(first);
}

TEST_MAIN
