/* SPDX-License-Identifier: MIT */
/*
 * http_limits_test.c — what comes slowly, what is large, and what comes over TLS.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "net/test_http.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_BYTES 1000000

static void hello(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    (void)arg;

    str_addf(&body, "hello %zu%s%s", http_body(request)->len,
             http_param(request, "first") ? " first" : "",
             http_param(request, "last") ? " last" : "");
    http_reply(request, 200, "text/plain", &body, NULL);
}

/* The size, the hash, and the first bytes that the file holds. */
static void keep(struct http_request *request, void *arg)
{
    const struct http_spool *spool = http_spooled(request);
    autorelease(str) struct str body = STR_INIT;
    char start[8] = "";
    struct stat st;
    (void)arg;

    assert_int_equal(fstat(spool->fd, &st), 0);
    assert_int_equal(st.st_size, spool->size);
    assert_int_equal(st.st_nlink, 0);
    ssize_t n = pread(spool->fd, start, 3, 0);
    str_addf(&body, "%llu %s %.*s", (unsigned long long)spool->size, spool->sha256, (int)n, start);
    http_reply(request, 201, "text/plain", &body, NULL);
}

static void *write_later(void *arg)
{
    for (int i = 0; i < 50; i++) {
        usleep(1000); /* so that the connection stands still in between, now and then */
        assert(http_stream_write(arg, "piece\n", 6) == 0);
    }
    http_stream_close(arg);
    return NULL;
}

static void stream(struct http_request *request, void *arg)
{
    pthread_t thread;
    (void)arg;

    pthread_create(&thread, NULL, write_later, http_reply_stream(request, "text/plain", NULL));
    pthread_detach(thread);
}

static void file(struct http_request *request, void *arg)
{
    autofree(mem) char *bytes = xcalloc(1, FILE_BYTES);
    int fd = memfd_create("file", MFD_CLOEXEC);
    (void)arg;

    memset(bytes, 'z', FILE_BYTES);
    assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
    http_reply_file(request, "text/plain", fd, NULL);
}

#define LARGE_BYTES ((size_t)24 << 20) /* more than the kernel takes at once */

static void large(struct http_request *request, void *arg)
{
    autorelease(str) struct str body = STR_INIT;
    (void)arg;

    str_reserve(&body, LARGE_BYTES);
    memset(body.s, 'z', LARGE_BYTES);
    body.len = LARGE_BYTES;
    body.s[body.len] = '\0';
    http_reply(request, 200, "text/plain", &body, NULL);
}

static const struct http_route routes[] = {
    {"GET", "/large", large, 0, false, NULL, NULL, false},
    {"GET", "/stream", stream, 0, false, NULL, NULL, false},
    {"GET", "/file", file, 0, false, NULL, NULL, false},
    {"GET POST", "/hello", hello, 1000000, false, NULL, NULL, false},
    {"PUT", "/keep", keep, 3000000, true, NULL, NULL, false},
    {NULL, NULL, NULL, 0, false, NULL, NULL, false},
};

static struct http *start(struct http_options options)
{
    struct http *http = NULL;
    autorelease(err) struct err err = ERR_INIT;

    options.address = "127.0.0.1";
    options.routes = routes;
    assert_ok(http_start(&options, &http, &err), &err);
    return http;
}

/* A byte now and then, until the server has enough. */
static void trickle(int fd, const char *first, char then)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN | POLLRDHUP};

    say(fd, first, strlen(first));
    while (poll(&poll_fd, 1, 50) == 0)
        say(fd, &then, 1);
    free(hear(fd));
}

TEST(a_head_or_a_body_that_trickles_is_cut_off)
{
    struct http *http = start((struct http_options){.head_s = 1, .body_s = 1, .timeout_s = 1});
    int quiet = dial(http), head = dial(http), body = dial(http);
    static const char text[] = "POST /hello HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n";

    say(body, text, strlen(text));
    trickle(head, "GET /hello HTTP/1.1\r\nX-A: ", 'a');
    trickle(body, "x", 'x');
    free(hear(quiet));
    http_stop(http);
}

/* Its last bytes and its end come together. */
TEST(one_that_leaves_in_the_middle_is_noticed)
{
    struct http *http = start((struct http_options){
        .spool_dir = ".", .spool_free = 1e-9, .head_s = 100000, .timeout_s = 100000, .body_s = 1});
    static const char *const texts[] = {
        "GET /hello HT",
        "PUT /keep HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nabc",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        int fd = dial(http);
        say(fd, texts[i], strlen(texts[i]));
        shutdown(fd, SHUT_WR);
        free(hear(fd)); /* it is closed from the other side */
    }
    http_stop(http);
}

TEST(one_that_has_said_all_is_answered)
{
    struct http *http = start((struct http_options){.body_s = 1});
    int fd = dial(http);

    say(fd, "GET /hello HTTP/1.0\r\n\r\n", strlen("GET /hello HTTP/1.0\r\n\r\n"));
    shutdown(fd, SHUT_WR);
    autofree(mem) char *answer = hear(fd);
    assert_non_null(strstr(answer, "hello 0"));
    http_stop(http);
}

static void check_form(const struct http *http, size_t fields, bool whole)
{
    static const char head[] =
        "POST /hello HTTP/1.1\r\n" HOST "Content-Type: application/x-www-form-urlencoded";
    autorelease(str) struct str form = STR_INIT;

    str_add(&form, "first=1");
    for (size_t i = 0; i < fields; i++)
        str_add(&form, "&a");
    str_add(&form, "&last=1");
    autofree(mem) char *answer = ask(http, head, form.s, form.len);
    assert_non_null(strstr(answer, " first"));
    assert_int_equal(strstr(answer, " last") != NULL, whole);
}

/* It asks for much, and reads the head. */
static int ask_and_stand_still(const struct http *http)
{
    static const char question[] = "GET /large HTTP/1.1\r\n" HOST "\r\n";
    int fd = dial(http), room = 65536;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    say(fd, question, strlen(question));
    assert_hears(fd, "\r\n\r\n");
    return fd;
}

/* False if whoever stands still already counted as slow when another asked, as may be on a busy machine. */
static bool check_slow_go(unsigned slow_s)
{
    int64_t begun_us = clock_mono_us();
    struct http *http =
        start((struct http_options){.unsent_max = LARGE_BYTES + (8 << 20), .slow_s = slow_s});
    int fd = ask_and_stand_still(http);
    bool served = false;

    autofree(mem) char *refused = ask(http, "GET /large HTTP/1.1\r\nHost: localhost", NULL, 0);
    if (!str_starts(refused, "HTTP/1.1 503 ")) {
        assert_true(clock_mono_us() - begun_us >= slow_s * US_PER_S);
        close(fd);
        http_stop(http);
        return false;
    }
    assert_non_null(strstr(refused, "more answers wait to be read here"));
    assert_non_null(strstr(refused, "Retry-After: 1"));
    autofree(mem) char *small = ask(http, "GET /hello HTTP/1.1\r\nHost: localhost", NULL, 0);
    assert_non_null(strstr(small, "hello"));
    while (!served) { /* until it counts as slow, and goes */
        autofree(mem) char *again = ask(http, "GET /large HTTP/1.1\r\nHost: localhost", NULL, 0);
        served = str_starts(again, "HTTP/1.1 200 ") && strlen(again) > LARGE_BYTES;
        usleep(20000);
    }
    autofree(mem) char *rest = hear(fd);
    assert_true(strlen(rest) < LARGE_BYTES); /* its connection ended in the middle */
    http_stop(http);
    return true;
}

TEST(answers_that_nobody_reads_have_a_cap_together_and_the_slowest_go)
{
    unsigned slow_s = 1;

    while (!check_slow_go(slow_s))
        slow_s *= 2;
}

TEST(of_a_form_with_countless_fields_the_first_ones_are_read)
{
    struct http *http = start((struct http_options){.port = 0});

    check_form(http, 500, true);
    check_form(http, 400000, false);
    http_stop(http);
}

TEST(a_large_body_goes_to_a_file_and_is_hashed)
{
    static const char abc[] =
        "3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad abc";
    static const char none[] =
        "0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 ";
    /* a million times "a": one of the examples of FIPS 180 */
    static const char million[] =
        "1000000 cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0 aaa";
    struct http *http = start((struct http_options){.spool_dir = ".", .spool_free = 1e-9});
    autofree(mem) char *as = xcalloc(1, 3000002);

    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost", "abc", "201", abc);
    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost", "", "201", none);
    memset(as, 'a', 1000000);
    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost", as, "201", million);
    memset(as, 'a', 3000001);
    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost", as, "413", "too_large");
    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip", "x",
                  "415", "gzip");
    http_stop(http);
}

TEST(a_large_body_in_chunks_has_the_same_cap)
{
    struct http *http = start((struct http_options){.spool_dir = ".", .spool_free = 1e-9});
    autofree(mem) char *as = xcalloc(1, 100001), *chunk = NULL;
    int fd = dial(http), other = dial(http);
    static const char head[] =
        "PUT /keep HTTP/1.1\r\n" HOST "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n";

    memset(as, 'a', 100000);
    chunk = xasprintf("186a0\r\n%s\r\n", as);
    say(fd, head, strlen(head));
    say(other, head, strlen(head));
    for (int i = 0; i < 31; i++)
        say(fd, chunk, strlen(chunk));
    for (int i = 0; i < 10; i++)
        say(other, chunk, strlen(chunk));
    say(fd, "0\r\n\r\n", 5);
    say(other, "0\r\n\r\n", 5);
    autofree(mem) char *answer = hear(fd), *good = hear(other);
    assert_non_null(strstr(answer, " 413 "));
    assert_non_null(strstr(good, "1000000 cdc76e5c"));
    http_stop(http);
}

TEST(nothing_is_taken_when_the_disk_would_be_full)
{
    struct http *full = start((struct http_options){.spool_dir = ".", .spool_free = 1});
    struct http *none = start((struct http_options){.spool_dir = NULL});

    assert_answer(full, "PUT /keep HTTP/1.1\r\nHost: localhost", "abc", "507", "almost full");
    assert_answer(none, "PUT /keep HTTP/1.1\r\nHost: localhost", "abc", "500", "no place");
    http_stop(full);
    http_stop(none);
}

TEST(half_a_file_that_was_given_up_harms_nothing)
{
    struct http *http = start((struct http_options){.spool_dir = ".", .spool_free = 1e-9});
    static const char head[] = "PUT /keep HTTP/1.1\r\n" HOST "Content-Length: 2000000\r\n\r\nabc";

    for (int i = 0; i < 10; i++) {
        int fd = dial(http);
        say(fd, head, strlen(head));
        close(fd);
    }
    assert_answer(http, "PUT /keep HTTP/1.1\r\nHost: localhost", "abc", "201", "3 ba7816bf");
    http_stop(http);
}

/* ---- TLS ---- */

struct pem {
    char *dir;
    struct str cert, key;
};

static void pem_make(struct pem *pem)
{
    autorelease(err) struct err err = ERR_INIT;

    *pem = (struct pem){.cert = STR_INIT, .key = STR_INIT};
    pem->dir = xstrdup("/tmp/hone-pem-XXXXXX");
    assert_non_null(mkdtemp(pem->dir));
    autofree(mem) char *command =
        xasprintf("cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                  "-nodes -keyout key -out cert -days 1 -subj /CN=localhost 2>/dev/null",
                  pem->dir);
    assert_int_equal(system(command), 0);
    autofree(mem) char *cert = xasprintf("%s/cert", pem->dir);
    autofree(mem) char *key = xasprintf("%s/key", pem->dir);
    assert_ok(fs_read(cert, 100000, &pem->cert, &err), &err);
    assert_ok(fs_read(key, 100000, &pem->key, &err), &err);
}

static void pem_release(struct pem *pem)
{
    fs_remove_tree(pem->dir, NULL);
    free(pem->dir);
    str_release(&pem->cert);
    str_release(&pem->key);
}

static char *ask_tls(const struct http *http, const char *path, const char *options)
{
    autofree(mem) char *command =
        xasprintf("printf 'GET %s HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: "
                  "close\\r\\n\\r\\n' | openssl s_client %s -quiet -connect %s 2>/dev/null",
                  path, options, http_address(http));
    FILE *pipe = popen(command, "r");
    struct str answer = STR_INIT;
    char piece[4096];

    assert_non_null(pipe);
    str_reserve(&answer, 1);
    for (size_t n; (n = fread(piece, 1, sizeof(piece), pipe)) > 0;)
        str_add_n(&answer, piece, n);
    pclose(pipe);
    return str_take(&answer);
}

TEST(requests_come_over_tls)
{
    autorelease(pem) struct pem pem;
    pem_make(&pem);
    struct http *http = start((struct http_options){.tls_cert = pem.cert.s, .tls_key = pem.key.s});
    autofree(mem) char *newest = ask_tls(http, "/hello", "-tls1_3"),
                       *new = ask_tls(http, "/hello", "-tls1_2");
    autofree(mem) char *old = ask_tls(http, "/hello", "-tls1_1 -cipher ALL:@SECLEVEL=0");
    int plain = dial(http);

    assert_non_null(strstr(newest, "hello 0"));
    assert_non_null(strstr(new, "hello 0"));
    assert_string_equal(old, "");
    say(plain, "GET /hello HTTP/1.1\r\n" HOST "\r\n",
        strlen("GET /hello HTTP/1.1\r\n" HOST "\r\n"));
    autofree(mem) char *answer = hear(plain);
    assert_null(strstr(answer, "hello"));
    http_stop(http);
}

TEST(streams_and_files_go_over_tls)
{
    autorelease(pem) struct pem pem;
    pem_make(&pem);
    struct http *http = start((struct http_options){.tls_cert = pem.cert.s, .tls_key = pem.key.s});
    autofree(mem) char *stream_said = ask_tls(http, "/stream", ""),
                       *file_said = ask_tls(http, "/file", "");
    size_t pieces = 0, zs = 0;

    for (const char *s = stream_said; (s = strstr(s, "piece\n")); s++)
        pieces++;
    for (const char *s = strstr(file_said, "\r\n\r\n"); s && *s; s++)
        zs += *s == 'z';
    assert_int_equal(pieces, 50);
    assert_int_equal(zs, FILE_BYTES);
    http_stop(http);
}

TEST(certificates_that_are_none_are_refused_with_a_sentence)
{
    autorelease(pem) struct pem pem, other;
    pem_make(&pem);
    pem_make(&other);
    const struct http_options bad[] = {
        {.tls_cert = "nonsense", .tls_key = pem.key.s},
        {.tls_cert = pem.cert.s, .tls_key = "nonsense"},
        {.tls_cert = pem.cert.s, .tls_key = other.key.s},
        {.tls_cert = "", .tls_key = ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_options options = bad[i];
        struct http *http = NULL;
        autorelease(err) struct err err = ERR_INIT;
        options.address = "127.0.0.1";
        options.routes = routes;
        int before = open("/", O_RDONLY | O_CLOEXEC);
        assert_int_equal(http_start(&options, &http, &err), -EINVAL);
        assert_non_null(strstr(err_text(&err), "certificate"));
        assert_null(strchr(err_text(&err), '\n'));
        int after = open("/", O_RDONLY | O_CLOEXEC);
        assert_int_equal(after, before + 1); /* nothing is left open, nothing closed twice */
        close(before);
        close(after);
    }
}

TEST_MAIN
