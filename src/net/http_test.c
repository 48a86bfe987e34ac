/* SPDX-License-Identifier: MIT */
/*
 * http_test.c — a real server on a free port of this machine, asked by raw sockets.
 */
#include "net/gzip.h"
#include "net/test_http.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
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

static void segments(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    (void)arg;

    for (size_t i = 0; http_segment(request, i); i++)
        str_addf(&body, "%s|", http_segment(request, i));
    http_reply(request, 200, "text/plain", &body, NULL);
}

static void below(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    (void)arg;

    str_addf(&body, "below %s", http_segment(request, 0));
    http_reply(request, 200, "text/plain", &body, NULL);
}

/* Room was made, and nothing came. */
static void nothing(struct http_request *request, void *arg)
{
    struct str body = STR_INIT;
    (void)arg;

    str_reserve(&body, 1000);
    http_reply(request, 200, "text/plain", &body, NULL);
    assert_int_equal(body.cap, 0);
}

static void secret(struct http_request *request, void *arg)
{
    (void)arg;
    http_reply_error(request, 401, "who are you?");
}

static void add_end(struct str *to, const struct sockaddr_storage *end, bool with_port)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)end;
    char text[INET_ADDRSTRLEN];

    assert_int_equal(end->ss_family, AF_INET);
    str_add(to, inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text)));
    if (with_port)
        str_addf(to, ":%d", ntohs(v4->sin_port));
}

static void ends(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    struct sockaddr_storage peer, local;
    (void)arg;

    http_peer(request, &peer);
    http_local(request, &local);
    add_end(&body, &peer, false);
    str_add_char(&body, '>');
    add_end(&body, &local, true);
    http_reply(request, 200, "text/plain", &body, NULL);
}

static const struct http_route routes[] = {
    {"GET POST", "/echo", echo, 1000, false, NULL, NULL, false},
    {"GET", "/below/**", below, 0, false, NULL, NULL, false},
    {"GET", "/one/*/*", segments, 0, false, NULL, NULL, false},
    {"GET", "/ends", ends, 0, false, NULL, NULL, false},
    {"GET", "/nothing", nothing, 0, false, NULL, NULL, false},
    {"GET", "/secret", secret, 0, false, NULL, NULL, false},
    {"GET", "/secret/influx", secret, 0, false, NULL, "Basic realm=\"InfluxDB\"", false},
    {"POST", "/later", NULL, 1000, false, NULL, NULL, false},
    {"POST", "/soon", NULL, 1000, false, NULL, NULL, true},
    {NULL, NULL, NULL, 0, false, NULL, NULL, false},
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

TEST(a_request_finds_its_route_and_is_answered)
{
    struct http *http = start();

    assert_answer(http, "GET /echo?q=a%20b+c HTTP/1.1\r\nHost: localhost", NULL, "200",
                  "GET /echo q=a b c body=");
    assert_answer(http, "POST /echo HTTP/1.1\r\nHost: 127.0.0.1:80", "hello", "200",
                  "q=- body=hello");
    assert_answer(http, "GET /below/x/y HTTP/1.1\r\nHost: localhost", NULL, "200", "below x/y");
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

TEST(an_empty_body_is_taken_too)
{
    struct http *http = start();

    assert_answer(http, "GET /nothing HTTP/1.1\r\nHost: localhost", NULL, "200",
                  "Content-Length: 0");
    http_stop(http);
}

TEST(a_star_is_one_segment_decoded_once)
{
    static const struct {
        const char *path, *status, *part;
    } cases[] = {
        {"/one/a/x", "200", "a|x|"},
        {"/one/%61%2e/x", "200", "a.|x|"},
        {"/one/a%2541/x", "200", "a%41|x|"},
        {"/one/a+b/%C3%A4", "200", "a+b|\xc3\xa4|"},
        {"/one/a%2fb/x", "404", "slash"},
        {"/one/a%5cb/x", "404", "slash"},
        {"/one/a\\b/x", "404", "slash"},
        {"/one/../x", "404", "'..'"},
        {"/one/%2e%2E/x", "404", "'..'"},
        {"/one/./x", "404", "'..'"},
        {"/one/a%00b/x", "400", "NUL"},
        {"/one/a%zzb/x", "400", "escape"},
        {"/one/a%4/x", "400", "escape"},
        {"/one//x", "404", "error"},
        {"/one/a/x/", "404", "error"},
        {"/%6fne/a/x", "404", "error"},
        {"/below/x/y%20z", "200", "below x/y z"},
        {"/below/a%2fb", "200", "below a/b"},
        {"/below/a%2f..%2fb", "404", "'..'"},
        {"/below/a/../b", "404", "'..'"},
        {"/below/a//b", "404", "empty"},
        {"/below/a/", "404", "empty"},
        {"/below/%2fetc/passwd", "404", "empty"},
        {"/below/a%5c..%5cb", "404", "slash"},
        {"/below/%00", "400", "NUL"},
        {"/below/", "404", "error"},
        {"http://localhost/one/a/x", "200", "a|x|"},
        {"HTTP://127.0.0.1:80/below/y", "200", "below y"},
        {"http://evil.example/one/a/x", "403", "evil.example"},
        {"http://localhost", "404", "error"},
        {"//localhost/one/a/x", "404", "error"},
    };
    struct http *http = start();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree(mem) char *head = xasprintf("GET %s HTTP/1.1\r\nHost: localhost", cases[i].path);
        assert_answer(http, head, NULL, cases[i].status, cases[i].part);
    }
    http_stop(http);
}

TEST(a_head_may_be_asked_for_whatever_may_be_got)
{
    struct http *http = start();
    autofree(mem) char *answer = ask(http, "HEAD /echo HTTP/1.1\r\nHost: localhost", NULL, 0);

    assert_non_null(strstr(answer, "200 OK"));
    assert_non_null(strstr(answer, "Content-Length: "));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    assert_answer(http, "POST /below/x HTTP/1.1\r\nHost: localhost", NULL, "405", "Allow: GET");
    assert_answer(http, "OPTIONS /echo HTTP/1.1\r\nHost: localhost", NULL, "405",
                  "Allow: GET,POST");
    http_stop(http);
}

TEST(every_answer_says_how_it_is_to_be_taken)
{
    static const char *const wanted[] = {
        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",         "Cross-Origin-Resource-Policy: same-origin",
        "X-Frame-Options: DENY",           "X-Everywhere: yes",
    };
    struct http *http = start();

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", wanted[i]);
        assert_answer(http, "GET /none HTTP/1.1\r\nHost: localhost", NULL, "404", wanted[i]);
    }
    assert_answer(http, "GET /none HTTP/1.1\r\nHost: localhost", NULL, "404",
                  "\"code\":\"not_found\"");
    assert_answer(http, "GET /secret HTTP/1.1\r\nHost: localhost", NULL, "401",
                  "WWW-Authenticate: Bearer\r\n");
    assert_answer(http, "GET /secret/influx HTTP/1.1\r\nHost: localhost", NULL, "401",
                  "WWW-Authenticate: Basic realm=\"InfluxDB\"\r\n");
    http_stop(http);
}

TEST(both_ends_of_a_connection_are_known)
{
    struct http *http = start();
    autofree(mem) char *port = xasprintf("127.0.0.1>127.0.0.1:%d", http_port(http));

    assert_answer(http, "GET /ends HTTP/1.1\r\nHost: localhost", NULL, "200", port);
    http_stop(http);
}

static void assert_all(const struct http *http, const char *const (*cases)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        autofree(mem) char *head = xasprintf("GET /echo HTTP/1.1\r\n%s", cases[i][0]);
        assert_answer(http, head, NULL, cases[i][1], "echo");
    }
}

TEST(names_of_others_are_refused)
{
    static const char *const cases[][2] = {
        {"Host: [::1]:7470", "200"},
        {"Host: LocalHost", "200"},
        {"Host: localhost:7470\r\nOrigin: http://localhost:7470", "200"},
        {"Host: localhost:7470\r\nSec-Fetch-Site: same-origin", "200"},
        {"Host: localhost:7470\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate", "200"},
        {"Host: localhost:7470\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate", "200"},
    };
    static const char *const bad[][2] = {
        {"Host: evil.example", "Host"},
        {"Host: localhost.evil.example", "Host"},
        {"Host: 10.0.0.1", "Host"},
        {"Host: hone.example", "Host"},
        {"Host: ", "Host"},
        {"Host: localhost\r\nOrigin: https://evil.example", "evil.example"},
        {"Host: localhost\r\nOrigin: null", "error"},
        {"Host: localhost\r\nOrigin: ", "error"},
        {"Host: localhost:7470\r\nOrigin: http://localhost:3000", "localhost:3000"},
        {"Host: localhost:7470\r\nOrigin: http://127.0.0.1:7470", "127.0.0.1"},
        {"Host: localhost:7470\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors", "other"},
        {"Host: localhost:7470\r\nSec-Fetch-Site: same-site", "other"},
    };
    struct http *http = start();

    assert_all(http, cases, ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autofree(mem) char *head = xasprintf("GET /echo HTTP/1.1\r\n%s", bad[i][0]);
        assert_answer(http, head, NULL, "403", bad[i][1]);
    }
    http_stop(http);
}

TEST(names_and_numbers_that_were_told_are_ours)
{
    static const char *const names[] = {"hone.example", "other.example", NULL};
    static const char *const cases[][2] = {
        {"Host: hone.example", "200"},
        {"Host: HONE.example:8443\r\nOrigin: https://hone.example:8443", "200"},
        {"Host: 127.0.0.1:7470\r\nOrigin: https://other.example", "200"},
        {"Host: 10.1.2.3:7470", "200"},
        {"Host: [fd00::1]\r\nOrigin: http://[fd00::1]", "200"},
    };
    struct http *http = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct http_options options = {
        .address = "0.0.0.0", .routes = routes, .names = names, .any_address = true};

    assert_ok(http_start(&options, &http, &err), &err);
    assert_all(http, cases, ARRAY_LEN(cases));
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: evil.example", NULL, "403", "Host");
    assert_answer(http, "GET /echo HTTP/1.1\r\nHost: 10.1.2.3\r\nOrigin: http://10.6.6.6", NULL,
                  "403", "10.6.6.6");
    http_stop(http);
    options.address = "example.com";
    assert_int_equal(http_start(&options, &http, &err), -EINVAL);
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

static struct http_request *say_soon(const struct http *http, int fd)
{
    static const char text[] =
        "POST /soon HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";

    say(fd, text, strlen(text));
    await_request();
    struct http_request *request = http_next((struct http *)(uintptr_t)http);
    assert_non_null(request);
    assert_string_equal(http_body(request)->s, "hi");
    return request;
}

/* Where it is not at once, others get theirs meanwhile. */
TEST(an_answer_that_is_awaited_may_come_at_once_or_later)
{
    struct http *http = start();
    int fd = dial(http);

    for (int i = 0; i < 30; i++) {
        struct http_request *request = say_soon(http, fd);
        if (i % 3 == 2)
            assert_answer(http, "GET /echo HTTP/1.1\r\nHost: localhost", NULL, "200", "echo");
        http_reply(request, 204, NULL, NULL, NULL);
        assert_hears(fd, "HTTP/1.1 204 No Content\r\n");
        assert_hears(fd, "\r\n\r\n");
    }
    close(fd);
    http_stop(http);
}

TEST(stopping_ends_the_wait_for_an_answer)
{
    struct http *http = start();
    int fd = dial(http);

    http_reply(say_soon(http, fd), 204, NULL, NULL, NULL);
    assert_hears(fd, "\r\n\r\n");
    struct http_request *request = say_soon(http, fd);
    http_stop(http);
    autofree(mem) char *heard = hear(fd);
    assert_non_null(heard);
    http_reply_error(request, 500, "to nobody");
}

static int64_t requests_of_one;

static int count_them(struct http_request *request, void *arg, unsigned *ret_status,
                      struct err *err)
{
    (void)arg, (void)ret_status, (void)err;
    requests_of_one = ++*http_note(request);
    return 0;
}

TEST(a_note_stays_with_its_connection)
{
    static const char text[] = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct http_options options = {.address = "127.0.0.1", .routes = routes, .on_head = count_them};
    struct http *http = NULL;

    assert_int_equal(http_start(&options, &http, NULL), 0);
    int fd = dial(http);
    for (int64_t i = 1; i <= 3; i++) {
        say(fd, text, strlen(text));
        assert_hears(fd, "\r\n\r\n");
        assert_int_equal(requests_of_one, i);
    }
    close(fd);
    fd = dial(http);
    say(fd, text, strlen(text));
    assert_hears(fd, "\r\n\r\n");
    assert_int_equal(requests_of_one, 1);
    close(fd);
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

TEST(a_head_that_others_could_read_differently_is_refused)
{
    static const char *const odd[] = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" HOST,
        "Content-Length: 0\r\nContent-Length: 5\r\n" HOST,
        "Content-Length: 5\r\nContent-Length: 5\r\n" HOST,
        "Content-Length: +0\r\n" HOST,
        "Content-Length: \r\n" HOST,
        "Content-Length : 5\r\n" HOST,
        "Transfer-Encoding: gzip, chunked\r\n" HOST,
        "Transfer-Encoding: xchunked\r\n" HOST,
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" HOST,
        HOST HOST,
        "X-A: b\r\n",
    };
    struct http *http = start();

    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        autofree(mem) char *text = xasprintf("POST /echo HTTP/1.1\r\n%s\r\n0\r\n\r\n"
                                             "GET /echo?q=smuggled HTTP/1.1\r\n" HOST "\r\n",
                                             odd[i]);
        int fd = dial(http);
        say(fd, text, strlen(text));
        autofree(mem) char *answer = hear(fd);
        if (strncmp(answer, "HTTP/1.1 400 ", 13) != 0 || strstr(answer, "smuggled"))
            fail_msg("%s: %s", odd[i], answer);
    }
    http_stop(http);
}

TEST(only_addresses_of_this_machine_are_served)
{
    static const char *const bad[] = {"0.0.0.0", "192.168.1.1", "::", "10.1.2.3"};
    static const char *const none[] = {"example.com", "", "127.1.1", "banana"};
    struct http *http = NULL, *first = start();
    autorelease(err) struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_options options = {.address = bad[i], .routes = routes};
        assert_int_equal(http_start(&options, &http, &err), -EACCES);
        assert_non_null(strstr(err_text(&err), "this machine alone"));
    }
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        struct http_options options = {.address = none[i], .routes = routes};
        assert_int_equal(http_start(&options, &http, &err), -EINVAL);
        assert_non_null(strstr(err_text(&err), "is no address"));
    }
    struct http_options again = {
        .address = "localhost", .port = http_port(first), .routes = routes};
    assert_int_equal(http_start(&again, &http, &err), -EADDRINUSE);
    http_stop(first);
}

TEST_MAIN
