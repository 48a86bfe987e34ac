/* SPDX-License-Identifier: MIT */
/*
 * pdu.c — one HTTP/1.0 GET at a time, read to its end, and the number in it.
 *
 *     timer ─► resolve ─► connect ─► write ─► read … ─► watts, or a warning
 *
 * Each question is a `struct question` that owns its connection and goes when that is closed; the
 * meter only points to the newest. Whoever gives one up cuts that tie, so what still comes back
 * from the loop meets nobody. An answer is capped: a meter says a few lines.
 */
#include "agent/pdu.h"

#include "agent/energy.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <strings.h>
#include <uv.h>

#define MAX_ANSWER  (256u << 10)
#define US_PER_MS   1000
#define PATIENCE_MS 10000 /* for one answer */
#define PROBE_MS    3000  /* for somebody who waits for it */

struct question {
    struct pdu *pdu;   /* NULL: given up */
    uint64_t asked_ms; /* by the loop's clock */
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    uv_getaddrinfo_t resolve;
    bool resolving; /* the loop still holds `resolve` */
    bool closed;
    char room[4096];
    struct str answer;
};

struct pdu {
    uv_timer_t timer;
    char *host, *port, *page, *path;
    char *wrong; /* with the address; NULL: nothing */
    struct str request;
    struct question *question; /* NULL: none is under way */
    bool warned;
    char *why; /* it did not help the last time; NULL: it never failed */
    pdu_watts_fn *on_watts;
    void *arg;
};

/* ---- the address ---- */

/* "http://[::1]:8080/status": brackets keep a host with colons together. */
static int parse_url(struct pdu *pdu, const char *url)
{
    static const char scheme[] = "http://";
    if (!str_starts(url, scheme))
        return -EINVAL;
    const char *host = url + strlen(scheme);
    const char *end = host + strcspn(host, "/");
    const char *host_end =
        *host == '[' ? strchr(host, ']') : memchr(host, ':', (size_t)(end - host));
    if (*host == '[' && (!host_end || host_end > end))
        return -EINVAL;
    const char *colon = *host == '[' ? host_end + 1 : host_end;
    host += *host == '[';
    host_end = host_end ? host_end : end;
    pdu->host = xstrndup(host, (size_t)(host_end - host));
    pdu->port =
        colon && *colon == ':' ? xstrndup(colon + 1, (size_t)(end - colon - 1)) : xstrdup("80");
    pdu->page = xstrdup(*end ? end : "/");
    return *pdu->host && *pdu->port && strspn(pdu->port, "0123456789") == strlen(pdu->port)
               ? 0
               : -EINVAL;
}

/* ---- the end of a question ---- */

static void question_end(struct question *question)
{
    if (!question->closed || question->resolving)
        return;
    str_release(&question->answer);
    free(question);
}

static void on_question_closed(uv_handle_t *handle)
{
    struct question *question = handle->data;
    question->closed = true;
    question_end(question);
}

static void give_up(struct pdu *pdu)
{
    struct question *question = TAKE(pdu->question);

    if (!question)
        return;
    question->pdu = NULL;
    if (question->resolving)
        uv_cancel((uv_req_t *)&question->resolve);
    uv_close((uv_handle_t *)&question->tcp, on_question_closed);
}

static void fail(struct pdu *pdu, const char *why)
{
    if (!pdu->warned)
        log_warn("the power meter at %s:%s does not help: %s", pdu->host, pdu->port, why);
    pdu->warned = true;
    free(pdu->why);
    pdu->why = xstrdup(why);
    give_up(pdu);
}

/* ---- the answer ---- */

/* Where the body begins, or NULL while the head has not ended. */
static const char *body_of(const struct str *answer)
{
    const char *end = strstr(answer->s, "\r\n\r\n");
    return end ? end + 4 : NULL;
}

/* What the head says of the body's length; SIZE_MAX: it ends with the connection. */
static size_t length_of(const char *head, const char *body)
{
    static const char name[] = "\r\nContent-Length:";

    for (const char *p = head; (p = strstr(p, "\r\n")) && p < body - 2; p += 2)
        if (strncasecmp(p, name, strlen(name)) == 0)
            return (size_t)strtoull(p + strlen(name), NULL, 10);
    return SIZE_MAX;
}

static bool is_whole(const struct str *answer)
{
    const char *body = body_of(answer);
    return body && answer->len - (size_t)(body - answer->s) >= length_of(answer->s, body);
}

static void on_answer(struct question *question)
{
    struct pdu *pdu = question->pdu;
    const struct str *answer = &question->answer;
    const char *body = body_of(answer);
    autorelease(err) struct err err = ERR_INIT;
    double watts;
    int status = 0;

    if (sscanf(answer->s, "HTTP/%*d.%*d %d", &status) != 1 || !body) {
        fail(pdu, "what it says is not HTTP");
        return;
    }
    if (status != 200) {
        autofree(mem) char *why = xasprintf("it answers with status %d", status);
        fail(pdu, why);
        return;
    }
    size_t n = answer->len - (size_t)(body - answer->s);
    if (energy_pdu_watts(body, MIN(n, length_of(answer->s, body)), pdu->path, &watts, &err) < 0) {
        fail(pdu, err_text(&err));
        return;
    }
    pdu->warned = false;
    give_up(pdu);
    pdu->on_watts(watts, pdu->arg);
}

static void on_room(uv_handle_t *handle, size_t n UNUSED, uv_buf_t *ret)
{
    struct question *question = handle->data;
    *ret = uv_buf_init(question->room, sizeof(question->room));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct question *question = stream->data;

    if (!question->pdu)
        return;
    if (n > 0)
        str_add_n(&question->answer, bytes->base, (size_t)n);
    if (n == UV_EOF || is_whole(&question->answer))
        on_answer(question);
    else if (n < 0)
        fail(question->pdu, uv_strerror((int)n));
    else if (question->answer.len > MAX_ANSWER)
        fail(question->pdu, "its answer does not end");
}

/* ---- the question ---- */

static void on_written(uv_write_t *write, int status)
{
    struct question *question = write->data;
    if (question->pdu && status < 0)
        fail(question->pdu, uv_strerror(status));
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct question *question = connect->data;
    if (!question->pdu)
        return;
    const struct str *request = &question->pdu->request;
    uv_buf_t bytes = uv_buf_init(request->s, (unsigned)request->len);
    uv_stream_t *stream = (uv_stream_t *)&question->tcp;
    int r = status;

    if (r == 0)
        r = uv_read_start(stream, on_room, on_read);
    if (r == 0)
        r = uv_write(&question->write, stream, &bytes, 1, on_written);
    if (r < 0)
        fail(question->pdu, uv_strerror(r));
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *found)
{
    struct question *question = resolve->data;
    int r = status;

    question->resolving = false;
    if (question->pdu && r == 0)
        r = uv_tcp_connect(&question->connect, &question->tcp, found->ai_addr, on_connected);
    uv_freeaddrinfo(found);
    if (!question->pdu)
        question_end(question);
    else if (r < 0)
        fail(question->pdu, uv_strerror(r));
}

static void ask(struct pdu *pdu)
{
    struct question *question = xcalloc(1, sizeof(*question));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

    *question =
        (struct question){.pdu = pdu, .asked_ms = uv_now(pdu->timer.loop), .answer = STR_INIT};
    uv_tcp_init(pdu->timer.loop, &question->tcp);
    question->tcp.data = question->connect.data = question->write.data = question->resolve.data =
        question;
    pdu->question = question;
    int r = uv_getaddrinfo(pdu->timer.loop, &question->resolve, on_resolved, pdu->host, pdu->port,
                           &hints);
    question->resolving = r == 0;
    if (r < 0)
        fail(pdu, uv_strerror(r));
}

static void on_time(uv_timer_t *timer)
{
    struct pdu *pdu = timer->data;

    if (pdu->wrong) {
        if (!pdu->warned)
            log_warn("%s", pdu->wrong);
        pdu->warned = true;
        return;
    }
    if (pdu->question && uv_now(timer->loop) - pdu->question->asked_ms < PATIENCE_MS)
        return;
    if (pdu->question)
        fail(pdu, "it does not answer in time");
    ask(pdu);
}

/* ---- birth and death ---- */

struct pdu *pdu_new(struct uv_loop_s *loop, const char *url, const char *path,
                    pdu_watts_fn *on_watts, void *arg)
{
    struct pdu *pdu = xcalloc(1, sizeof(*pdu));

    *pdu = (struct pdu){.path = xstrdup(path), .on_watts = on_watts, .arg = arg};
    pdu->request = (struct str)STR_INIT;
    if (parse_url(pdu, url) < 0)
        pdu->wrong = xasprintf("HONE_PDU: '%s' is not like http://HOST:PORT/PATH", url);
    else
        str_addf(&pdu->request,
                 "GET %s HTTP/1.0\r\nHost: %s\r\nAccept: application/json\r\n"
                 "Connection: close\r\n\r\n",
                 pdu->page, pdu->host);
    uv_timer_init(loop, &pdu->timer);
    uv_unref((uv_handle_t *)&pdu->timer);
    pdu->timer.data = pdu;
    return pdu;
}

static void on_pdu_closed(uv_handle_t *handle)
{
    struct pdu *pdu = handle->data;

    str_release(&pdu->request);
    free(pdu->host);
    free(pdu->port);
    free(pdu->page);
    free(pdu->path);
    free(pdu->wrong);
    free(pdu->why);
    free(pdu);
}

void pdu_free(struct pdu *pdu)
{
    if (!pdu)
        return;
    give_up(pdu);
    uv_close((uv_handle_t *)&pdu->timer, on_pdu_closed);
}

void pdu_start(struct pdu *pdu, int64_t interval_us)
{
    uint64_t ms = (uint64_t)MAX(interval_us / US_PER_MS, 1);

    if (!uv_is_active((uv_handle_t *)&pdu->timer))
        uv_timer_start(&pdu->timer, on_time, 0, ms);
}

void pdu_stop(struct pdu *pdu)
{
    uv_timer_stop(&pdu->timer);
    give_up(pdu);
}

/* ---- asked once ---- */

static void on_probed(double watts, void *arg)
{
    *(double *)arg = watts;
}

static void on_impatient(uv_timer_t *timer)
{
    fail(timer->data, "it does not answer in time");
}

static int probe(struct pdu *pdu, struct err *err)
{
    if (pdu->wrong)
        return err_set(err, EINVAL, "%s", pdu->wrong);
    pdu->warned = true; /* err says it instead */
    uv_timer_start(&pdu->timer, on_impatient, PROBE_MS, 0);
    ask(pdu);
    while (pdu->question)
        uv_run(pdu->timer.loop, UV_RUN_ONCE);
    return pdu->why ? err_set(err, EIO, "%s", pdu->why) : 0;
}

int pdu_probe(const char *url, const char *path, double *ret_watts, struct err *err)
{
    uv_loop_t loop;
    int r = uv_loop_init(&loop);

    if (r < 0)
        return err_set(err, -r, "%s", uv_strerror(r));
    struct pdu *pdu = pdu_new(&loop, url, path, on_probed, ret_watts);
    r = probe(pdu, err);
    pdu_free(pdu);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return r;
}
