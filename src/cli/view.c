/* SPDX-License-Identifier: MIT */
/*
 * view.c — brings the picture to the screen and lines above it.
 *
 *   scrollback and what was said     kept by the terminal, never touched again
 *   ┌ the live part ┐                `picture`: goes up its height, writes over itself
 *   └───────────────┘
 *   █                                the cursor waits below, so that whatever ends us leaves a
 *                                    clean line for the shell
 *
 * No alternate screen; modes change only inside a frame, which is one write: after SIGKILL there is
 * nothing to repair. A terminal that became narrower has wrapped our lines: the height of the old
 * picture is counted again in the new width. Some wrap long before they tell the new size (tmux),
 * and we draw once or twice in the old width: the picture is drawn without wrapping (7), so its
 * lines stay single rows and the count comes right when the size arrives. (Terminals that cut
 * instead of wrapping may lose a line of what was said, nothing else.)
 *
 * The engine may live in this process, so a terminal that does not take our bytes (Ctrl-S, a slow
 * line, a pager) must not hold us: what it does not take now waits in `out`, and pictures are left
 * out until it is empty. A terminal that is gone is forgotten.
 */
#include "cli/view.h"
#include "base/clock.h"
#include "base/fs.h"
#include "cli/picture.h"
#include "cli/width.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define STATUS_EVERY_US (30 * US_PER_S)
#define OUT_MAX         (1 << 20) /* of waiting bytes; lines past that are counted, not kept */
#define LAST_WAIT_MS    1000      /* for a terminal that does not take the end */

struct view {
    int fd;
    bool own_fd; /* reopened: not blocking, without changing what others see */
    bool terminal, colour, gone;
    struct picture picture; /* on the screen, unless `out` waits */
    struct str out;
    size_t left_out;   /* lines that found `out` full */
    int64_t status_us; /* experiment's time of the last status line; -1: none yet */
};

struct view *view_new(int fd, bool colour)
{
    struct view *view = xcalloc(1, sizeof(*view));
    *view = (struct view){.fd = fd, .colour = colour, .out = STR_INIT, .status_us = -1};
    view->terminal = isatty(fd) == 1;
    if (view->terminal) {
        autofree(mem) char *path = xasprintf("/proc/self/fd/%d", fd);
        int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        view->own_fd = own >= 0;
        view->fd = own >= 0 ? own : fd;
    }
    return view;
}

/* Write what the other side takes within `wait_ms` (-1: for ever). */
static void flush(struct view *view, int wait_ms)
{
    size_t done = 0;
    struct pollfd ready = {.fd = view->fd, .events = POLLOUT};

    while (!view->gone && done < view->out.len && poll(&ready, 1, wait_ms) > 0) {
        size_t most = view->own_fd ? SIZE_MAX : PIPE_BUF; /* what a ready pipe takes at once */
        ssize_t n = write(view->fd, view->out.s + done, MIN(view->out.len - done, most));
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno == EAGAIN && wait_ms == 0)
            break;
        else if (n < 0 && errno != EINTR && errno != EAGAIN)
            view->gone = true;
    }
    if (view->gone)
        done = view->out.len;
    memmove(view->out.s, view->out.s + done, view->out.len - done);
    str_cut(&view->out, view->out.len - done);
}

static void read_size(const struct view *view, size_t *ret_columns, size_t *ret_rows)
{
    struct winsize size = {0};
    if (ioctl(view->fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    *ret_columns = size.ws_col;
    *ret_rows = size.ws_row;
}

/* Rows of the screen that the picture takes in a terminal of this width now. */
static size_t picture_height(const struct picture *picture, size_t columns)
{
    size_t rows = 0;
    vec_foreach (line, &picture->lines)
        rows += line->width > columns ? (line->width + columns - 1) / columns : 1;
    return rows;
}

/* To the first line of the live part. */
static void add_up(struct view *view)
{
    size_t columns, rows;
    read_size(view, &columns, &rows);
    size_t height = picture_height(&view->picture, columns);
    str_add_char(&view->out, '\r');
    if (height > 0)
        str_addf(&view->out, "\x1b[%zuA", height);
}

/* One frame: the terminal shows all of it at once (2026), the cursor does not flicker (25). */
static void begin_frame(struct view *view)
{
    str_add(&view->out, "\x1b[?2026h\x1b[?25l");
    add_up(view);
}

static void end_frame(struct view *view)
{
    str_add(&view->out, "\x1b[?7l");
    /* Whole lines are erased, not their ends: tmux would wrap the erased ends as well. */
    vec_foreach (line, &view->picture.lines)
        str_addf(&view->out, "\x1b[2K%s\n", line->text);
    str_add(&view->out, "\x1b[J\x1b[?7h\x1b[?25h\x1b[?2026l");
    flush(view, 0);
}

static void add_said(struct view *view, const char *text)
{
    const char *end = view->terminal ? "\x1b[K\n" : "\n";
    for (;;) {
        size_t n = strcspn(text, "\n");
        str_add(&view->out, view->terminal ? "\x1b[2K" : "");
        str_add_printable(&view->out, text, n);
        str_add(&view->out, end);
        if (!text[n])
            return;
        text += n + 1;
    }
}

static void add_left_out(struct view *view)
{
    if (view->left_out == 0)
        return;
    autofree(mem) char *text = xasprintf("(%zu lines were left out here)", view->left_out);
    view->left_out = 0;
    add_said(view, text);
}

void view_say(struct view *view, const char *line)
{
    if (view->out.len > OUT_MAX) {
        flush(view, 0);
        if (view->out.len > OUT_MAX) {
            view->left_out++;
            return;
        }
    }
    if (view->terminal)
        begin_frame(view);
    add_left_out(view);
    add_said(view, line);
    if (view->terminal)
        end_frame(view);
    else
        flush(view, 0);
}

void view_say_cut(struct view *view, const char *line)
{
    autorelease(str) struct str clean = STR_INIT, cut = STR_INIT;
    size_t columns, rows;

    if (!view->terminal) {
        view_say(view, line);
        return;
    }
    read_size(view, &columns, &rows);
    str_add_printable(&clean, line, strlen(line));
    str_add_fitted(&cut, clean.s, columns - (columns > 1)); /* as the picture */
    view_say(view, cut.s);
}

/* For logs: now and then a line, so that a long run is seen to live. */
static void update_plain(struct view *view, const json_t *document)
{
    autorelease(str) struct str line = STR_INIT;
    int64_t elapsed_us = json_get_int(document, "elapsed_us", 0);

    if (view->status_us < 0)
        view->status_us = elapsed_us;
    if (elapsed_us - view->status_us < STATUS_EVERY_US)
        return;
    view->status_us = elapsed_us;
    picture_status(document, &line);
    view_say(view, line.s);
}

void view_update(struct view *view, const json_t *document)
{
    struct picture_frame frame = {.colour = view->colour, .now_us = clock_wall_us()};

    flush(view, 0);
    if (!view->terminal) {
        update_plain(view, document);
        return;
    }
    if (view->gone || view->out.len > 0)
        return;
    begin_frame(view);
    add_left_out(view);
    read_size(view, &frame.columns, &frame.rows);
    frame.columns -= frame.columns > 1; /* a full line leaves the cursor in doubt */
    frame.rows -= frame.rows > 1;       /* the cursor's own */
    picture_draw(&view->picture, document, &frame);
    end_frame(view);
}

void view_clear(struct view *view)
{
    if (!view->terminal || view->picture.lines.len == 0)
        return;
    begin_frame(view);
    picture_clear(&view->picture);
    end_frame(view);
}

void view_free(struct view *view)
{
    flush(view, view->terminal ? LAST_WAIT_MS : -1);
    picture_clear(&view->picture);
    str_release(&view->out);
    if (view->own_fd)
        close(view->fd);
    free(view);
}
