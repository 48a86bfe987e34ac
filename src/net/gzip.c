/* SPDX-License-Identifier: MIT */
/*
 * gzip.c — zlib, a piece at a time, so that a small bomb is stopped at the cap.
 */
#include "net/gzip.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <zlib.h>

#define PIECE   ((size_t)64 << 10)
#define AS_GZIP (16 + MAX_WBITS)

/* One piece more. What inflate() said; *to grew. */
static int inflate_piece(z_stream *stream, struct str *to)
{
    str_reserve(to, PIECE);
    stream->next_out = (Bytef *)to->s + to->len;
    stream->avail_out = PIECE;
    int r = inflate(stream, Z_NO_FLUSH);
    to->len += PIECE - stream->avail_out;
    to->s[to->len] = '\0';
    return r;
}

static int inflate_all(z_stream *stream, size_t max, struct str *to, struct err *err)
{
    size_t begin = to->len;

    for (;;) {
        int r = inflate_piece(stream, to);
        if (to->len - begin > max)
            return err_set(err, EFBIG, "the inflated body is larger than %zu bytes", max);
        if (r == Z_STREAM_END && stream->avail_in == 0)
            return 0;
        if (r == Z_STREAM_END)
            r = inflateReset(stream); /* one more member */
        if (r != Z_OK)
            return err_set(err, EINVAL, "the body is not whole or not gzip");
    }
}

int gzip_inflate(const char *bytes, size_t n, size_t max, struct str *to, struct err *err)
{
    z_stream stream = {.next_in = (Bytef *)bytes};

    assert(n <= UINT_MAX);
    stream.avail_in = (uInt)n;
    if (inflateInit2(&stream, AS_GZIP) != Z_OK)
        return err_set(err, ENOMEM, "no memory to inflate");
    int r = inflate_all(&stream, max, to, err);
    inflateEnd(&stream);
    return r;
}
