/* SPDX-License-Identifier: MIT */
/*
 * http_file_test.c — files and parts of them, as answers.
 */
#include "net/http_text.h"
#include "net/test_http.h"

#include <fcntl.h>
#include <sys/mman.h>

#define SIZE 1000000
/* as long as that of a file named by its SHA-256 */
#define TAG "\"v1-456789012345678901234567890123456789012345678901234567890123\""

static int file(size_t n)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    autofree(mem) char *bytes = xcalloc(1, n + 1);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)('a' + i % 26);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    return fd;
}

static void serve(struct http_request *request, void *arg)
{
    static const char *const headers[] = {"ETag", TAG, "Content-Disposition", "attachment", NULL};
    const char *which = http_segment(request, 0);
    (void)arg;

    if (str_eq(which, "folder"))
        http_reply_file(request, "text/plain", open("/", O_RDONLY | O_CLOEXEC), NULL);
    else
        http_reply_file(request, "text/plain", file(str_eq(which, "empty") ? 0 : SIZE),
                        str_eq(which, "tagged") ? headers : NULL);
}

static const struct http_route routes[] = {
    {"GET", "/files/*", serve, 0, false, NULL, NULL, false},
    {NULL, NULL, NULL, 0, false, NULL, NULL, false},
};

static struct http *start(void)
{
    struct http *http = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct http_options options = {.address = "127.0.0.1", .routes = routes};

    assert_ok(http_start(&options, &http, &err), &err);
    return http;
}

static void assert_file(const struct http *http, const char *path, const char *head,
                        const char *status, const char *part)
{
    autofree(mem) char *text =
        xasprintf("GET /files/%s HTTP/1.1\r\nHost: localhost%s%s", path, *head ? "\r\n" : "", head);
    assert_answer(http, text, NULL, status, part);
}

TEST(a_file_is_sent_whole)
{
    struct http *http = start();
    autofree(mem) char *answer =
        ask(http, "GET /files/tagged HTTP/1.1\r\nHost: localhost", NULL, 0);
    const char *body = strstr(answer, "\r\n\r\n");

    assert_non_null(strstr(answer, "200 OK"));
    assert_non_null(strstr(answer, "Content-Length: 1000000"));
    assert_non_null(strstr(answer, "Accept-Ranges: bytes"));
    assert_non_null(strstr(answer, "Content-Disposition: attachment"));
    assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
    assert_non_null(body);
    assert_int_equal(strlen(body + 4), SIZE);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(body[4 + i], 'a' + i % 26);
    assert_file(http, "empty", "", "200", "Content-Length: 0");
    assert_file(http, "folder", "", "404", "not a file");
    http_stop(http);
}

TEST(a_part_of_a_file_is_sent)
{
    struct http *http = start();

    assert_file(http, "plain", "Range: bytes=0-2", "206", "\r\n\r\nabc");
    assert_file(http, "plain", "Range: bytes=0-2", "206", "Content-Range: bytes 0-2/1000000");
    assert_file(http, "plain", "Range: bytes=26-27", "206", "\r\n\r\nab");
    assert_file(http, "plain", "Range: bytes=999999-", "206", "\r\n\r\nn");
    assert_file(http, "plain", "Range: bytes=-2", "206", "\r\n\r\nmn");
    assert_file(http, "plain", "Range: bytes=999998-99999999999999999999999", "206", "Length: 2");
    assert_file(http, "plain", "Range: bytes=-99999999", "200", "Content-Length: 1000000");
    assert_file(http, "plain", "Range: bytes=0-1,4-5", "200", "Content-Length: 1000000");
    assert_file(http, "plain", "Range: lines=0-1", "200", "Content-Length: 1000000");
    assert_file(http, "plain", "Range: bytes=5-2", "200", "Content-Length: 1000000");
    assert_file(http, "plain", "Range: bytes=1000000-", "416", "Content-Range: bytes */1000000");
    assert_file(http, "plain", "Range: bytes=-0", "416", "\"error\":");
    assert_file(http, "empty", "Range: bytes=0-", "416", "bytes */0");
    http_stop(http);
}

TEST(another_version_is_sent_whole)
{
    struct http *http = start();

    assert_file(http, "tagged", "Range: bytes=0-2\r\nIf-Range: " TAG, "206", "\r\n\r\nabc");
    assert_file(http, "tagged", "Range: bytes=0-2\r\nIf-Range: \"v0\"", "200", "ETag: " TAG);
    assert_file(http, "tagged", "Range: bytes=0-2\r\nIf-Range: Thu, 01 Jan 1970 00:00:00 GMT",
                "200", "ETag: " TAG);
    assert_file(http, "tagged", "If-None-Match: \"v0\", W/" TAG, "304", "ETag: " TAG);
    assert_file(http, "tagged", "If-None-Match: \"v\", \"v11\"", "200", "ETag: " TAG);
    assert_file(http, "plain", "If-None-Match: *", "304", "ETag: ");
    http_stop(http);
}

TEST(a_head_has_no_body)
{
    struct http *http = start();
    autofree(mem) char *answer =
        ask(http, "HEAD /files/plain HTTP/1.1\r\nHost: localhost", NULL, 0);

    assert_non_null(strstr(answer, "Content-Length: 1000000"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    http_stop(http);
}

TEST(a_name_to_save_under_ends_no_header)
{
    static const struct {
        const char *path, *text;
    } names[] = {
        {"a/b/model-1.bin", "attachment; filename=\"model-1.bin\"; filename*=UTF-8''model-1.bin"},
        {"\"; x\r\n", "attachment; filename=\"___x__\"; filename*=UTF-8''%22%3B%20x%0D%0A"},
        {"\303\274", "attachment; filename=\"__\"; filename*=UTF-8''%C3%BC"},
        {"a/", "attachment; filename=\"\"; filename*=UTF-8''"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree(mem) char *text = attachment_text(names[i].path);
        assert_string_equal(text, names[i].text);
    }
}

TEST_MAIN
