/* SPDX-License-Identifier: MIT */
/*
 * output.c — stdout and stderr. The program writes straight into the files (O_APPEND), so nothing
 * is copied and nothing is lost when the keeper dies.
 *
 *      0        head                      size - tail       size
 *      ├─ kept ──┤────────── hole ─────────┤───── kept ──────┤
 *
 * head = tail = min(32 MiB, cap/2)
 *
 * The file keeps its length and its offsets; the hole reads as zeros and takes no space.
 */
#include "exec/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <asm/termbits.h>

#define KEEP_MAX (32ull << 20)
#define BLOCK    4096ull
#define SOON     20000 /* µs */
#define COPIES   64    /* reads at a time: more than the kernel holds of a terminal's output */

static int pty_open(struct keeper *k)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct termios term;
    int unlock = 0;
    long r;

    k->pty_fd = sys_open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0);
    if (k->pty_fd < 0)
        return k->pty_fd;
    r = SYS(SYS_ioctl, k->pty_fd, TIOCSPTLCK, &unlock);
    if (r < 0)
        return (int)r;
    r = SYS(SYS_ioctl, k->pty_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (r < 0)
        return (int)r;
    k->slave_fd = (int)r;
    SYS(SYS_ioctl, k->slave_fd, TIOCSWINSZ, &size);
    if (SYS(SYS_ioctl, k->slave_fd, TCGETS, &term) == 0) {
        term.c_oflag &= ~(tcflag_t)OPOST; /* a newline stays one byte */
        term.c_lflag &= ~(tcflag_t)ECHO;
        SYS(SYS_ioctl, k->slave_fd, TCSETS, &term);
    }
    return 0;
}

int output_open(struct keeper *k)
{
    int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;

    k->out.fd = sys_open("stdout", flags, 0644);
    if (k->out.fd < 0)
        return k->out.fd;
    k->err.fd = sys_open("stderr", flags, 0644);
    if (k->err.fd < 0)
        return k->err.fd;
    return k->flags & LAUNCH_FLAG_PTY ? pty_open(k) : 0;
}

static uint64_t kept(const struct keeper *k)
{
    uint64_t half = k->output_bytes / 2 / BLOCK * BLOCK;

    if (half < BLOCK)
        half = BLOCK;
    return half < KEEP_MAX ? half : KEEP_MAX;
}

/* Returns how many bytes the stream grew since the last look. */
static uint64_t stream_cap(const struct keeper *k, struct stream *stream)
{
    uint64_t keep = kept(k), start = stream->hole_end > keep ? stream->hole_end : keep, end, grown;
    struct stat st;

    if (stream->fd < 0 || SYS(SYS_fstat, stream->fd, &st) < 0)
        return 0;
    if ((uint64_t)st.st_size < stream->size) { /* `echo >/dev/stdout` cuts it: begin again */
        stream->lost += stream->hole_end ? stream->hole_end - keep : 0;
        stream->hole_end = stream->size = 0;
        start = keep;
    }
    grown = (uint64_t)st.st_size - stream->size;
    stream->size = (uint64_t)st.st_size;
    if ((uint64_t)st.st_blocks * 512 <= k->output_bytes || stream->size < keep + start)
        return grown;
    end = (stream->size - keep) / BLOCK * BLOCK;
    if (end > start && SYS(SYS_fallocate, stream->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           start, end - start) == 0)
        stream->hole_end = end;
    return grown;
}

/* Look again before half of the cap could have been written at the speed just seen. */
int64_t output_cap(struct keeper *k)
{
    uint64_t out = stream_cap(k, &k->out), err = stream_cap(k, &k->err);
    uint64_t grown = out > err ? out : err;

    if (grown > k->output_bytes / 4)
        return SOON;
    return grown > k->output_bytes / 64 ? TICK / 8 : TICK;
}

uint64_t output_dropped(const struct keeper *k, const struct stream *stream)
{
    return stream->lost + (stream->hole_end ? stream->hole_end - kept(k) : 0);
}

bool output_copy(struct keeper *k)
{
    static char bytes[16384];

    for (int i = 0; i < COPIES; i++) { /* not for ever: limits wait while we copy */
        long n = sys_read(k->pty_fd, bytes, sizeof(bytes)), done = 0;
        if (n == -EAGAIN || n == -EINTR)
            return true;
        if (n <= 0) /* EIO: the last holder of the other side is gone */
            return false;
        while (done < n) {
            long w = sys_write(k->out.fd, bytes + done, (size_t)(n - done));
            if (w <= 0)
                break;
            done += w;
        }
        k->out.lost += (uint64_t)(n - done);
    }
    return true;
}
