/* SPDX-License-Identifier: MIT */
/*
 * http_stream.c — replies that go on: event streams.
 *
 *     any thread: http_stream_write() ──► pieces ──► read_some(), http thread ──► socket
 *
 * While nothing waits, the connection is suspended: it costs its memory, and libmicrohttpd does not
 * look at it, so that a reader who has left is noticed at the next write, or by streams_look(). A
 * stream has two owners, who writes it and libmicrohttpd's response, and goes with the later one.
 *
 * Invariant: `suspended` only while libmicrohttpd holds the connection among its suspended ones;
 * whoever sets it back resumes it. So the connection is there as long as it is set.
 */
#include "net/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#define BLOCK      4096
#define ALL_BEHIND ((size_t)64 << 20) /* bytes that wait in all streams together */

/* One write. */
struct piece {
    struct piece *next;
    size_t n;
    char bytes[];
};

struct http_stream {
    struct http *http;
    struct http_stream *prev, *next; /* guarded by the server's mutex */
    pthread_mutex_t mutex;           /* guards all below */
    struct MHD_Connection *connection;
    struct piece *first, *last; /* what waits */
    size_t sent;                /* bytes of the first piece */
    size_t behind;              /* bytes of all pieces that are not sent */
    bool suspended;
    bool closed; /* nothing is added any more */
    bool gone;   /* nobody reads any more */
    int owners;
};

/* ---- pieces; with the stream's mutex held ---- */

static void count_sent(struct http_stream *stream, size_t n)
{
    stream->behind -= n;
    __atomic_sub_fetch(&stream->http->behind, n, __ATOMIC_RELAXED);
}

static void add_piece(struct http_stream *stream, const char *bytes, size_t n)
{
    struct piece *piece = xmalloc(sizeof(*piece) + n);

    piece->next = NULL;
    piece->n = n;
    memcpy(piece->bytes, bytes, n);
    *(stream->first ? &stream->last->next : &stream->first) = piece;
    stream->last = piece;
    stream->behind += n;
    __atomic_add_fetch(&stream->http->behind, n, __ATOMIC_RELAXED);
}

static size_t take_pieces(struct http_stream *stream, char *to, size_t max)
{
    size_t n = 0;

    while (stream->first && n < max) {
        struct piece *piece = stream->first;
        size_t part = MIN(piece->n - stream->sent, max - n);
        memcpy(to + n, piece->bytes + stream->sent, part);
        n += part;
        stream->sent += part;
        if (stream->sent < piece->n)
            break;
        stream->first = piece->next;
        stream->sent = 0;
        free(piece);
    }
    count_sent(stream, n);
    return n;
}

static void free_pieces(struct http_stream *stream, struct piece **from)
{
    for (struct piece *piece = TAKE(*from), *next; piece; piece = next) {
        next = piece->next;
        count_sent(stream, piece->n);
        free(piece);
    }
}

static void drop_pieces(struct http_stream *stream, bool all)
{
    if (all && stream->first) { /* what of the first was sent is not counted any more */
        stream->behind += stream->sent;
        __atomic_add_fetch(&stream->http->behind, stream->sent, __ATOMIC_RELAXED);
        stream->sent = 0;
    }
    if (stream->sent) {
        assert(stream->first);
        free_pieces(stream, &stream->first->next);
        stream->last = stream->first;
    } else {
        free_pieces(stream, &stream->first);
    }
}

static void wake(struct http_stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    stream->http->mhd->MHD_resume_connection(stream->connection);
}

/* It has closed its side: nobody who watches a stream does that and stays. */
static bool has_left(const struct http_stream *stream)
{
    const union MHD_ConnectionInfo *info = stream->http->mhd->MHD_get_connection_info(
        stream->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd fd = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};

    return poll(&fd, 1, 0) > 0;
}

/* ---- owners ---- */

static void unlink_stream(struct http_stream *stream)
{
    struct http *http = stream->http;

    pthread_mutex_lock(&http->mutex);
    if (stream->next)
        stream->next->prev = stream->prev;
    *(stream->prev ? &stream->prev->next : &http->streams) = stream->next;
    pthread_mutex_unlock(&http->mutex);
}

static void let_go(struct http_stream *stream)
{
    struct http *http = stream->http;

    pthread_mutex_lock(&stream->mutex);
    bool last = --stream->owners == 0;
    pthread_mutex_unlock(&stream->mutex);
    if (!last)
        return;
    unlink_stream(stream);
    drop_pieces(stream, true);
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
    http_let_go(http);
}

void streams_end(struct http *http)
{
    for (struct http_stream *stream = http->streams; stream; stream = stream->next) {
        pthread_mutex_lock(&stream->mutex);
        stream->closed = stream->gone = true;
        wake(stream);
        pthread_mutex_unlock(&stream->mutex);
    }
}

void streams_look(struct http *http)
{
    pthread_mutex_lock(&http->mutex);
    for (struct http_stream *stream = http->streams; stream; stream = stream->next) {
        pthread_mutex_lock(&stream->mutex);
        if (stream->suspended && has_left(stream))
            wake(stream);
        pthread_mutex_unlock(&stream->mutex);
    }
    pthread_mutex_unlock(&http->mutex);
}

/* ---- http thread ---- */

static ssize_t read_some(void *arg, uint64_t pos, char *buf, size_t max)
{
    struct http_stream *stream = arg;
    ssize_t n = MHD_CONTENT_READER_END_WITH_ERROR;
    (void)pos;

    pthread_mutex_lock(&stream->mutex);
    stream->gone = stream->gone || has_left(stream);
    if (!stream->gone && stream->first) {
        n = (ssize_t)take_pieces(stream, buf, max);
    } else if (!stream->gone && stream->closed) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (!stream->gone) {
        n = 0;
        stream->suspended = true;
        stream->http->mhd->MHD_suspend_connection(stream->connection);
    }
    pthread_mutex_unlock(&stream->mutex);
    return n;
}

static void on_gone(void *arg)
{
    struct http_stream *stream = arg;

    pthread_mutex_lock(&stream->mutex);
    assert(!stream->suspended);
    stream->gone = true;
    stream->connection = NULL;
    drop_pieces(stream, true);
    pthread_mutex_unlock(&stream->mutex);
    let_go(stream);
}

/* ---- who writes ---- */

static void link_stream(struct http *http, struct http_stream *stream)
{
    __atomic_add_fetch(&http->owners, 1, __ATOMIC_RELAXED);
    stream->next = http->streams;
    if (http->streams)
        http->streams->prev = stream;
    http->streams = stream;
    stream->closed = stream->gone = http->stopping;
}

struct http_stream *http_reply_stream(struct http_request *request, const char *type,
                                      const char *const *headers)
{
    struct http *http = request->http;
    struct http_stream *stream = xcalloc(1, sizeof(*stream));

    *stream = (struct http_stream){.http = http, .owners = 2};
    pthread_mutex_init(&stream->mutex, NULL);
    struct MHD_Response *response = request->mhd->MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, read_some, stream, on_gone);
    assert(response);
    response_add_headers(request, response, type, headers);
    pthread_mutex_lock(&http->mutex);
    stream->connection = request->connection;
    link_stream(http, stream);
    bool taken = request_answer(request, MHD_HTTP_OK, response);
    pthread_mutex_unlock(&http->mutex);
    if (!taken)
        request->mhd->MHD_destroy_response(response);
    request_let_go(request);
    return stream;
}

int http_stream_write(struct http_stream *stream, const char *bytes, size_t n)
{
    int r = 0;

    pthread_mutex_lock(&stream->mutex);
    assert(!stream->closed || stream->gone);
    size_t all = __atomic_load_n(&stream->http->behind, __ATOMIC_RELAXED);
    if (stream->gone)
        r = -EPIPE;
    else if (n > HTTP_BEHIND_MAX - stream->behind || n > ALL_BEHIND - MIN(all, ALL_BEHIND))
        r = -ENOBUFS;
    if (r == 0 && n) {
        add_piece(stream, bytes, n);
        wake(stream);
    }
    pthread_mutex_unlock(&stream->mutex);
    return r;
}

void http_stream_drop(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    drop_pieces(stream, false);
    pthread_mutex_unlock(&stream->mutex);
}

void http_stream_close(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    stream->closed = true;
    wake(stream);
    pthread_mutex_unlock(&stream->mutex);
    let_go(stream);
}
