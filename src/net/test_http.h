/* SPDX-License-Identifier: MIT */
/*
 * test_http.h — for tests of the server: raw sockets that say and hear.
 */
#ifndef HONE_NET_TEST_HTTP_H
#define HONE_NET_TEST_HTTP_H

#include "net/http.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"

static inline UNUSED int dial(const struct http *http)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(http))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static inline UNUSED void say(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* it has answered already and does not listen any more */
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* All until the server closes. */
static inline UNUSED char *hear(int fd)
{
    struct str all = STR_INIT;
    char piece[4096];

    for (ssize_t n; (n = recv(fd, piece, sizeof(piece), 0)) > 0;)
        str_add_n(&all, piece, (size_t)n);
    close(fd);
    return all.cap ? str_take(&all) : xstrdup("");
}

/* Until `part` has come; fails if the server closes before. */
static inline UNUSED char *hear_until(int fd, const char *part)
{
    struct str all = STR_INIT;
    size_t n = strlen(part);
    char c;

    while (all.len < n || memcmp(all.s + all.len - n, part, n) != 0) {
        if (recv(fd, &c, 1, 0) != 1)
            fail_msg("closed before '%s': %s", part, all.s);
        str_add_char(&all, c);
    }
    return str_take(&all);
}

static inline UNUSED void assert_hears(int fd, const char *part)
{
    free(hear_until(fd, part));
}

static inline UNUSED char *ask(const struct http *http, const char *head, const char *body,
                               size_t n)
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

static inline UNUSED void assert_answer(const struct http *http, const char *head, const char *body,
                                        const char *status, const char *part)
{
    autofree(mem) char *answer = ask(http, head, body, body ? strlen(body) : 0);

    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 || strncmp(answer + 9, status, 3) != 0 ||
        !strstr(answer, part))
        fail_msg("%s: %s", head, answer);
}

#endif
