/* SPDX-License-Identifier: MIT */
/*
 * view_test.c — the live view against a terminal: a real pseudo-terminal whose bytes go into a
 * small model of a screen (lines that wrap, a cursor, erasing), which then is looked at.
 */
#include "base/clock.h"
#include "cli/picture.h"
#include "cli/sparkline.h"
#include "cli/view.h"
#include "cli/width.h"
#include "tests/test.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

/* --- the model ------------------------------------------------------------------------------ */

#define CELLS  600
#define MARKER '\x05' /* written by the test after the view: all before it has arrived */

struct screen_row {
    char cells[CELLS][8]; /* one character each; the second half of a wide one is "" */
    size_t len;
    bool wrapped; /* goes on in the next row */
};

struct screen {
    size_t columns, rows;
    VEC(struct screen_row) lines; /* scrollback and screen */
    size_t at, column;            /* the cursor */
    bool hidden;                  /* the cursor */
    bool cuts;                    /* does not wrap */
};

static struct screen_row *row_at(struct screen *screen, size_t i)
{
    struct screen_row empty = {.len = 0};
    while (screen->lines.len <= i)
        vec_push(&screen->lines, empty);
    return &screen->lines.at[i];
}

static void put(struct screen *screen, const char *bytes, size_t n, size_t width)
{
    if (screen->column + width > screen->columns && screen->cuts) {
        screen->column = screen->columns > width ? screen->columns - width : 0;
    } else if (screen->column + width > screen->columns) {
        row_at(screen, screen->at)->wrapped = true;
        screen->at++;
        screen->column = 0;
    }
    struct screen_row *row = row_at(screen, screen->at);
    while (row->len < screen->column)
        memcpy(row->cells[row->len++], " ", 2);
    memcpy(row->cells[screen->column], bytes, n);
    row->cells[screen->column][n] = '\0';
    if (width == 2)
        row->cells[screen->column + 1][0] = '\0';
    screen->column += width;
    row->len = MAX(row->len, screen->column);
}

static void erase_below(struct screen *screen)
{
    row_at(screen, screen->at)->len = MIN(row_at(screen, screen->at)->len, screen->column);
    for (size_t i = screen->at + 1; i < screen->lines.len; i++)
        screen->lines.at[i] = (struct screen_row){.len = 0};
}

static void control(struct screen *screen, const char *sequence, char final)
{
    struct screen_row *row = row_at(screen, screen->at);
    size_t top = screen->lines.len > screen->rows ? screen->lines.len - screen->rows : 0;
    size_t n = strtoul(sequence, NULL, 10);

    if (final == 'A')
        screen->at -= MIN(n, screen->at - MIN(top, screen->at));
    else if (final == 'K') {
        row->len = n == 2 ? 0 : MIN(row->len, screen->column);
        row->wrapped = false;
    } else if (final == 'J')
        erase_below(screen);
    else if (str_eq(sequence, "?25"))
        screen->hidden = final == 'l';
    else if (str_eq(sequence, "?7"))
        screen->cuts = final == 'l';
    else
        assert_true(final == 'm' || str_eq(sequence, "?2026"));
}

/* Takes one step; returns the bytes it used. */
static size_t feed_one(struct screen *screen, const char *p)
{
    unsigned char c = (unsigned char)p[0];
    if (c == '\r') {
        screen->column = 0;
    } else if (c == '\n') {
        screen->at++;
        row_at(screen, screen->at);
    } else if (c == '\x1b') {
        char sequence[16] = "";
        size_t n = strspn(p + 2, "0123456789;?");
        assert_int_equal(p[1], '[');
        assert_true(n < sizeof(sequence));
        memcpy(sequence, p + 2, n);
        control(screen, sequence, p[2 + n]);
        return n + 3;
    } else {
        char one[8] = "";
        size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        assert_true(c >= 0x20 && c != 0x7f);
        memcpy(one, p, n);
        put(screen, one, n, text_width(one));
        return n;
    }
    return 1;
}

static void feed(struct screen *screen, const char *bytes)
{
    for (const char *p = bytes; *p;)
        p += feed_one(screen, p);
}

/* What a terminal that wraps does: lines are cut anew, the cursor stays at its place below. */
static void screen_resize(struct screen *screen, size_t columns, size_t rows)
{
    struct screen fresh = {.columns = columns, .rows = rows};
    for (size_t i = 0; i <= screen->at; i++) {
        struct screen_row *row = &screen->lines.at[i];
        for (size_t c = 0; c < row->len; c++)
            if (row->cells[c][0])
                put(&fresh, row->cells[c], strlen(row->cells[c]), text_width(row->cells[c]));
        if (i < screen->at && !row->wrapped) {
            fresh.at++;
            fresh.column = 0;
            row_at(&fresh, fresh.at);
        }
    }
    vec_release(&screen->lines);
    *screen = fresh;
}

/* All lines as text, without spaces at line ends and empty lines at the end. */
static char *screen_text(const struct screen *screen)
{
    struct str text = STR_INIT;
    size_t end = 0;
    for (size_t i = 0; i < screen->lines.len; i++) {
        const struct screen_row *row = &screen->lines.at[i];
        size_t start = text.len;
        for (size_t c = 0; c < row->len; c++)
            str_add(&text, row->cells[c]);
        while (text.len > start && text.s[text.len - 1] == ' ')
            str_cut(&text, text.len - 1);
        end = text.len > start ? text.len + 1 : end;
        str_add_char(&text, '\n');
    }
    str_cut(&text, end);
    return str_take(&text);
}

/* --- a terminal with a view on it ------------------------------------------------------------ */

struct bench {
    int master, slave;
    struct screen screen;
    struct view *view;
};

static void set_size(struct bench *bench, size_t columns, size_t rows)
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    assert_int_equal(ioctl(bench->slave, TIOCSWINSZ, &size), 0);
}

static void bench_init(struct bench *bench, size_t columns, size_t rows, bool colour)
{
    *bench = (struct bench){.screen = {.columns = columns, .rows = rows}};
    assert_int_equal(openpty(&bench->master, &bench->slave, NULL, NULL, NULL), 0);
    set_size(bench, columns, rows);
    bench->view = view_new(bench->slave, colour);
}

static void bench_release(struct bench *bench)
{
    if (bench->view)
        view_free(bench->view);
    close(bench->slave);
    close(bench->master);
    vec_release(&bench->screen.lines);
}

/* Read what arrives at the terminal until `marker` does. */
static void receive(struct bench *bench, char marker)
{
    autorelease(str) struct str bytes = STR_INIT;
    while (!strchr(bytes.s, marker)) {
        struct pollfd ready = {.fd = bench->master, .events = POLLIN};
        assert_int_equal(poll(&ready, 1, 60000), 1);
        str_reserve(&bytes, 4096);
        ssize_t n = read(bench->master, bytes.s + bytes.len, 4096);
        assert_true(n > 0);
        bytes.len += (size_t)n;
        bytes.s[bytes.len] = '\0';
    }
    assert_int_equal(bytes.s[bytes.len - 1], marker);
    str_cut(&bytes, bytes.len - 1);
    feed(&bench->screen, bytes.s);
}

/* Everything the view wrote until now goes to the screen. */
static void settle(struct bench *bench)
{
    const char marker = MARKER;
    assert_int_equal(write(bench->slave, &marker, 1), 1);
    receive(bench, marker);
}

static void check_screen(struct bench *bench, const char *expected)
{
    settle(bench);
    autofree(mem) char *text = screen_text(&bench->screen);
    assert_string_equal(text, expected);
    assert_false(bench->screen.hidden || bench->screen.cuts);
}

static json_t *document(const char *text)
{
    struct err err = ERR_INIT;
    json_t *doc;
    assert_ok(json_parse(text, strlen(text), &doc, &err), &err);
    return doc;
}

/* A document with n active trials, at `step`. */
static json_t *live(size_t n, int step)
{
    autorelease(str) struct str text = STR_INIT;
    str_addf(&text,
             "{\"experiment\":3,\"name\":\"fashion\",\"state\":\"running\",\"reason\":\"\","
             "\"elapsed_us\":%lld,\"eta_us\":null,\"metric\":\"val_acc\","
             "\"trials\":{\"total\":64,\"queued\":1,\"running\":%zu,\"paused\":0,\"completed\":15,"
             "\"stopped\":0,\"failed\":1},\"best\":{\"trial\":\"3.7\",\"value\":0.93,"
             "\"words\":\"lr=0.01 batch=64\"},\"active\":[",
             step * US_PER_S, n);
    for (size_t i = 0; i < n; i++)
        str_addf(&text,
                 "%s{\"trial\":\"3.%zu\",\"words\":\"lr=0.01 batch=32 name=日本語 "
                 "optimizer=adam\",\"step\":%d,\"value\":0.412,\"curve\":[1,2,3,\"nan\",5],"
                 "\"elapsed_us\":12100000,\"left_us\":30000000,\"attempt\":1,\"stopping\":false}",
                 i ? "," : "", 9 + i, step);
    str_add(&text, "]}");
    return document(text.s);
}

static void update(struct bench *bench, size_t n, int step)
{
    json_t *doc = live(n, step);
    view_update(bench->view, doc);
    json_decref(doc);
}

static void update_and_settle(struct bench *bench, size_t n, int step)
{
    update(bench, n, step);
    settle(bench);
}

/* --- sentences ------------------------------------------------------------------------------- */

static const char picture_80[] =
    "fashion · experiment 3 · running for 40s\n"
    "trial  parameters                           step  val_acc         elapsed  left\n"
    "3.9    lr=0.01 batch=32 name=日本語 optim…    40    0.412  ▁▃▅·█      12s   30s\n"
    "3.10   lr=0.01 batch=32 name=日本語 optim…    40    0.412  ▁▃▅·█      12s   30s\n"
    "best  0.93 in 3.7  lr=0.01 batch=64\n"
    "15 completed · 1 failed · 2 running · 1 queued · 64 in all\n"
    "██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 25%\n";

TEST(the_picture_is_drawn_over_itself)
{
    struct bench bench;
    bench_init(&bench, 80, 24, false);
    for (int step = 1; step <= 40; step++)
        update_and_settle(&bench, (size_t)step % 3 + 1, step);
    check_screen(&bench, picture_80);
    bench_release(&bench);
}

TEST(said_lines_stand_above_the_picture_in_their_order)
{
    struct bench bench;
    autofree(mem) char *expected =
        xasprintf("trial 3.4 failed\n    exit 1\nsecond\n%s", picture_80);

    bench_init(&bench, 80, 24, false);
    update(&bench, 7, 39);
    view_say(bench.view, "trial 3.4 failed\n    exit 1");
    update(&bench, 2, 40);
    view_say(bench.view, "second");
    check_screen(&bench, expected);
    bench_release(&bench);
}

TEST(said_lines_longer_than_the_terminal_wrap_whole)
{
    struct bench bench;
    char line[201] = "";
    autorelease(str) struct str expected = STR_INIT;

    memset(line, 'x', 200);
    str_addf(&expected, "%.80s\n%.80s\n%.40s\n%s", line, line, line, picture_80);
    bench_init(&bench, 80, 24, false);
    update(&bench, 2, 40);
    view_say(bench.view, line);
    check_screen(&bench, expected.s);
    bench_release(&bench);
}

TEST(lines_that_may_be_cut_take_one_row_of_the_terminal)
{
    struct bench bench;
    char line[201] = "";
    autorelease(str) struct str expected = STR_INIT;

    memset(line, 'x', 200);
    str_addf(&expected, "%.78s…\nshort\n%s", line, picture_80);
    bench_init(&bench, 80, 24, false);
    update(&bench, 2, 40);
    view_say_cut(bench.view, line);
    view_say_cut(bench.view, "short");
    check_screen(&bench, expected.s);
    bench_release(&bench);
}

TEST(control_characters_of_programs_do_not_reach_the_terminal)
{
    struct bench bench;
    bench_init(&bench, 80, 24, false);
    view_say(bench.view, "bad \x1b[2J\x07 \xff\xc2\x9b text\r!");
    check_screen(&bench, "bad ?[2J? ??? text?!\n");
    bench_release(&bench);
}

static void check_width(const struct screen *screen, size_t columns)
{
    for (size_t i = 0; i < screen->lines.len; i++) {
        assert_false(screen->lines.at[i].wrapped);
        assert_in_range(screen->lines.at[i].len, 0, columns - 1);
    }
}

TEST(no_line_is_wider_than_the_terminal)
{
    static const size_t widths[] = {1, 2, 5, 10, 20, 40, 61, 80, 120, 200};
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        struct bench bench;
        bench_init(&bench, widths[i], 24, true);
        update(&bench, 3, 1);
        update(&bench, 2, 100000);
        settle(&bench);
        if (widths[i] > 2)
            check_width(&bench.screen, widths[i]);
        bench_release(&bench);
    }
}

TEST(a_narrow_terminal_keeps_the_parameters_and_the_value)
{
    struct bench bench;
    bench_init(&bench, 40, 24, false);
    update(&bench, 1, 40);
    check_screen(&bench, "fashion · experiment 3 · running for 4…\n"
                         "trial  parameters      val_acc  elapsed\n"
                         "3.9    lr=0.01 batch…    0.412      12s\n"
                         "best  0.93 in 3.7  lr=0.01 batch=64\n"
                         "15 completed · 1 failed · 1 running · …\n"
                         "██▎░░░░░░ 25%\n");
    bench_release(&bench);
}

TEST(a_wide_terminal_shows_all_parameters)
{
    struct bench bench;
    bench_init(&bench, 200, 24, false);
    update(&bench, 1, 40);
    settle(&bench);
    autofree(mem) char *text = screen_text(&bench.screen);
    assert_non_null(strstr(text, "lr=0.01 batch=32 name=日本語 optimizer=adam    40"));
    bench_release(&bench);
}

TEST(the_picture_survives_every_change_of_the_size)
{
    static const size_t widths[] = {40, 200, 33, 80, 60, 25, 80};
    struct bench bench;
    autofree(mem) char *expected = xasprintf("said before\n%s", picture_80);

    bench_init(&bench, 80, 40, false);
    view_say(bench.view, "said before");
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        update(&bench, 5, 39);
        settle(&bench);
        screen_resize(&bench.screen, widths[i], 40);
        set_size(&bench, widths[i], 40);
    }
    update(&bench, 2, 40);
    check_screen(&bench, expected);
    bench_release(&bench);
}

TEST(the_picture_survives_a_terminal_that_wraps_before_it_tells)
{
    static const size_t widths[] = {60, 45, 110, 40, 80};
    struct bench bench;
    autofree(mem) char *expected = xasprintf("said before\nand after\n%s", picture_80);

    bench_init(&bench, 80, 40, false);
    view_say(bench.view, "said before");
    view_say(bench.view, "and after");
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        update_and_settle(&bench, 5, 38);
        screen_resize(&bench.screen, widths[i], 40);
        update_and_settle(&bench, 5, 39);
        update_and_settle(&bench, 5, 40);
        set_size(&bench, widths[i], 40);
    }
    update(&bench, 2, 40);
    check_screen(&bench, expected);
    bench_release(&bench);
}

TEST(more_trials_than_lines_are_counted)
{
    struct bench bench;
    bench_init(&bench, 80, 10, false);
    view_say(bench.view, "said");
    for (int step = 1; step < 5; step++)
        update_and_settle(&bench, 30, step);
    autofree(mem) char *text = screen_text(&bench.screen);
    assert_non_null(strstr(text, "\n… and 27 more\n"));
    assert_ptr_equal(strstr(text, "said\nfashion"), text);
    assert_in_range(bench.screen.lines.len, 1, 11);
    bench_release(&bench);
}

TEST(a_very_low_terminal_keeps_the_last_lines)
{
    for (size_t rows = 2; rows < 8; rows++) {
        struct bench bench;
        bench_init(&bench, 80, rows, false);
        for (int step = 1; step < 4; step++)
            update_and_settle(&bench, 9, step);
        autofree(mem) char *text = screen_text(&bench.screen);
        assert_non_null(strstr(text, "25%"));
        assert_in_range(bench.screen.lines.len, 1, rows);
        bench_release(&bench);
    }
}

TEST(clearing_takes_only_the_picture_off)
{
    struct bench bench;
    bench_init(&bench, 80, 24, true);
    view_say(bench.view, "said");
    update(&bench, 4, 1);
    view_clear(bench.view);
    view_clear(bench.view);
    check_screen(&bench, "said\n");
    view_say(bench.view, "more");
    check_screen(&bench, "said\nmore\n");
    bench_release(&bench);
}

TEST(freeing_leaves_the_last_picture_and_the_cursor_below)
{
    struct bench bench;
    bench_init(&bench, 80, 24, true);
    update(&bench, 2, 40);
    view_free(bench.view);
    bench.view = NULL;
    check_screen(&bench, picture_80);
    assert_int_equal(bench.screen.at, 7);
    assert_int_equal(bench.screen.column, 0);
    bench_release(&bench);
}

TEST(a_stopped_terminal_does_not_hold_the_program)
{
    struct bench bench;
    autorelease(str) struct str expected = STR_INIT;

    bench_init(&bench, 80, 24, false);
    update(&bench, 2, 1);
    assert_int_equal(tcflow(bench.slave, TCOOFF), 0);
    for (int i = 0; i < 5; i++) {
        autofree(mem) char *line = xasprintf("line %d", i);
        view_say(bench.view, line);
        update(&bench, 2, i);
        str_addf(&expected, "%s\n", line);
    }
    assert_int_equal(tcflow(bench.slave, TCOON), 0);
    update(&bench, 2, 40);
    str_add(&expected, picture_80);
    check_screen(&bench, expected.s);
    bench_release(&bench);
}

TEST(a_terminal_that_is_gone_is_forgotten)
{
    struct bench bench;
    bench_init(&bench, 80, 24, false);
    update(&bench, 2, 1);
    close(bench.master);
    for (int i = 0; i < 100; i++) {
        update(&bench, 2, i);
        view_say(bench.view, "anybody there?");
    }
    bench.master = open("/dev/null", O_RDWR | O_CLOEXEC);
    bench_release(&bench);
}

TEST(a_pipe_gets_plain_lines_and_seldom_a_status)
{
    static const char long_line[] =
        "trial 3.5 completed after 1s: 0.9  learning_rate=0.00046788 "
        "optimizer_momentum_decay=0.64727 batch_size=256 number_of_layers=3";
    int ends[2];
    char bytes[4096] = "";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct view *view = view_new(ends[1], false);
    for (int step = 100; step < 165; step++) {
        json_t *doc = live(2, step);
        view_update(view, doc);
        json_decref(doc);
    }
    view_say(view, "trial 3.4 failed\n    exit 1");
    view_say_cut(view, long_line);
    view_clear(view);
    view_free(view);
    close(ends[1]);
    assert_true(read(ends[0], bytes, sizeof(bytes) - 1) > 0);
    close(ends[0]);
    assert_string_equal(bytes,
                        "fashion: 16 of 64 trials ended, 1 failed, 2 running, best 0.93 in 3.7\n"
                        "fashion: 16 of 64 trials ended, 1 failed, 2 running, best 0.93 in 3.7\n"
                        "trial 3.4 failed\n    exit 1\n"
                        "trial 3.5 completed after 1s: 0.9  learning_rate=0.00046788 "
                        "optimizer_momentum_decay=0.64727 batch_size=256 number_of_layers=3\n");
}

TEST(a_pipe_that_nobody_reads_does_not_hold_the_program)
{
    int ends[2];
    char line[1001] = "";
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct view *view = view_new(ends[1], false);
    memset(line, 'x', 1000);
    for (int i = 0; i < 3000; i++)
        view_say(view, line);
    close(ends[0]);
    view_free(view);
    close(ends[1]);
}

TEST(a_document_without_anything_is_drawn)
{
    static const char *const odd[] = {
        "{}",
        "[]",
        "{\"active\":[{}],\"trials\":{\"total\":0}}",
        "{\"active\":[null,3,{\"curve\":[null,1e308,-1e308],\"value\":\"nan\"}],\"best\":{}}",
        "{\"eta_us\":9000000000000000,\"trials\":{\"total\":1,\"completed\":5}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct bench bench;
        bench_init(&bench, 60, 24, true);
        json_t *doc = document(odd[i]);
        view_update(bench.view, doc);
        json_decref(doc);
        settle(&bench);
        check_width(&bench.screen, 60);
        bench_release(&bench);
    }
}

static void check_sparkline(const double *values, size_t n, size_t columns, const char *expected)
{
    autorelease(str) struct str str = STR_INIT;
    assert_int_equal(str_add_sparkline(&str, values, n, columns), text_width(expected));
    assert_string_equal(str.s, expected);
}

TEST(a_sparkline_shows_the_curve)
{
    check_sparkline((double[]){0, 1, 2, 3, 4, 5, 6, 7}, 8, 20, "▁▂▃▄▅▆▇█");
    check_sparkline((double[]){0, 0, 7, 7, 3, 4}, 6, 3, "▁█▅");
    check_sparkline((double[]){1, NAN, INFINITY, 0}, 4, 9, "█··▁");
    check_sparkline((double[]){5, 5}, 2, 9, "▄▄");
    check_sparkline((double[]){-1.7e308, 1.7e308}, 2, 9, "▁█");
    check_sparkline((double[]){0, 5e-324}, 2, 9, "▁▁");
    check_sparkline((double[]){NAN}, 1, 9, "·");
    check_sparkline(NULL, 0, 9, "");
}

TEST(texts_are_cut_between_characters)
{
    autorelease(str) struct str str = STR_INIT;
    assert_int_equal(text_width("aé日e\u0301🚀"), 1 + 1 + 2 + 1 + 2);
    assert_int_equal(str_add_fitted(&str, "日本語", 6), 6);
    assert_int_equal(str_add_fitted(&str, "日本語", 4), 3);
    assert_int_equal(str_add_fitted(&str, "日本語", 1), 1);
    assert_int_equal(str_add_fitted(&str, "日本語", 0), 0);
    assert_string_equal(str.s, "日本語日……");
}

static void check_event(const char *event, const char *expected)
{
    autorelease(str) struct str line = STR_INIT;
    json_t *doc = document(event);
    assert_int_equal(view_event_line(doc, &line), *expected != '\0');
    assert_string_equal(line.s, expected);
    json_decref(doc);
}

static bool may_cut(const char *event)
{
    json_t *doc = document(event);
    bool may = view_event_may_cut(doc);
    json_decref(doc);
    return may;
}

TEST(failures_and_notices_are_never_cut)
{
    assert_true(may_cut("{\"event\":\"trial_ended\",\"state\":\"completed\"}"));
    assert_true(may_cut("{\"event\":\"trial_ended\",\"state\":\"stopped\"}"));
    assert_false(may_cut("{\"event\":\"trial_ended\",\"state\":\"failed\"}"));
    assert_true(may_cut("{\"event\":\"trial_paused\"}"));
    assert_false(may_cut("{\"event\":\"trial_retry\"}"));
    assert_false(may_cut("{\"event\":\"notice\",\"text\":\"x\"}"));
    assert_false(may_cut("{}"));
}

TEST(events_are_told_in_a_line)
{
    check_event("{\"event\":\"trial_started\",\"trial\":\"3.4\",\"words\":\"lr=0.1\"}", "");
    check_event("{\"event\":\"trial_ended\",\"trial\":\"3.4\",\"state\":\"completed\","
                "\"reason\":\"\",\"value\":0.93,\"best\":true,\"seconds\":3.2,\"error\":null,"
                "\"words\":\"lr=0.1\"}",
                "trial 3.4 completed after 3.2s: 0.93 (best so far)  lr=0.1");
    check_event("{\"event\":\"trial_ended\",\"trial\":\"3.4\",\"state\":\"stopped\","
                "\"reason\":\"pruned\",\"value\":0.5,\"best\":false,\"seconds\":90}",
                "trial 3.4 stopped (pruned) after 1m30s: 0.5");
    check_event("{\"event\":\"trial_ended\",\"trial\":\"3.4\",\"state\":\"failed\","
                "\"reason\":\"exit\",\"value\":null,\"seconds\":0.5,"
                "\"error\":\"exit status 3\\nTraceback\\n  \\u001b[1mboom\\n\",\"words\":\"a=1\"}",
                "trial 3.4 failed after 500ms  a=1\n    exit status 3\n    Traceback\n"
                "      ?[1mboom");
    check_event("{\"event\":\"trial_retry\",\"trial\":\"3.4\",\"reason\":\"lost\",\"wait_s\":1.2}",
                "trial 3.4 was ended (lost) and starts again in 1.2s");
    check_event("{\"event\":\"trial_retry\",\"trial\":\"3.4\",\"reason\":\"interrupted\","
                "\"wait_s\":0}",
                "trial 3.4 was ended (interrupted) and starts again with 'hone resume'");
    check_event("{\"event\":\"trial_paused\",\"trial\":\"3.4\",\"value\":0.5,\"step\":9,"
                "\"words\":\"lr=0.1\"}",
                "trial 3.4 paused at step 9: 0.5  lr=0.1");
    check_event("{\"event\":\"trial_resumed\",\"trial\":\"3.4\",\"value\":null}",
                "trial 3.4 goes on");
    check_event("{\"event\":\"trial_parked\",\"trial\":\"3.4\",\"value\":null,\"step\":9}",
                "trial 3.4 ended with a checkpoint, still paused at step 9");
    check_event("{\"event\":\"trial_parked\",\"trial\":\"3.4\",\"value\":null,\"step\":9,"
                "\"reason\":\"interrupted\"}",
                "trial 3.4 interrupted, still paused at step 9");
    check_event("{\"event\":\"started\",\"experiment\":3,\"name\":\"fashion\"}",
                "experiment 3 started: fashion");
    check_event("{\"event\":\"finished\",\"experiment\":3,\"state\":\"finished\",\"trials\":"
                "{\"completed\":9,\"stopped\":2,\"failed\":1},\"best\":{\"trial\":\"3.7\","
                "\"value\":0.93,\"params\":{}}}",
                "experiment 3 finished: 9 completed, 2 stopped, 1 failed; best 0.93 in trial 3.7");
    check_event("{\"event\":\"knowledge\",\"from\":[4],\"results\":[30]}",
                "learning from 30 results of experiment 4");
    check_event("{\"event\":\"knowledge\",\"from\":[4,2],\"results\":[30,12]}",
                "learning from 42 results of experiments 4, 2");
    check_event("{\"event\":\"extended\",\"experiment\":3,\"from\":4,\"trials\":9}",
                "experiment 3 goes on to 9 trials, 4 before");
    check_event("{\"event\":\"paused\",\"experiment\":3,\"running\":2}",
                "experiment 3 starts no more trials until 'hone resume 3'");
    check_event("{\"event\":\"frozen\",\"experiment\":3,\"running\":2}",
                "experiment 3 stands still until 'hone resume 3'");
    check_event("{\"event\":\"unpaused\",\"experiment\":3,\"running\":0}", "experiment 3 goes on");
    check_event("{\"event\":\"queue_paused\",\"experiment\":3,\"running\":2}",
                "the queue is paused until 'hone resume --all'");
    check_event("{\"event\":\"priority\",\"experiment\":3,\"priority\":-5}",
                "experiment 3 has priority -5 now");
    check_event("{\"event\":\"notice\",\"text\":\"the disk is nearly full\"}",
                "the disk is nearly full");
    check_event("{\"event\":\"something_new\"}", "");
    check_event("{}", "");
}

TEST(decisions_about_the_machine_are_told_in_their_words)
{
    check_event("{\"event\":\"tuned\",\"trial\":\"1.3\",\"advice\":\"adopt\",\"words\":"
                "\"threads 2 → 1: predicted −38 % per step (31–44), cost 0.1 s; measured −41 %\"}",
                "1.3  threads 2 → 1: predicted −38 % per step (31–44), cost 0.1 s; measured −41 %");
    check_event("{\"event\":\"tuned\",\"trial\":\"1.3\",\"advice\":\"try\","
                "\"from\":{\"threads\":2},\"to\":{\"threads\":1}}",
                "1.3  threads=2 → threads=1");
    check_event("{\"event\":\"tuned\",\"trial\":\"1.3\",\"advice\":\"keep\",\"words\":\"x\"}", "");
    check_event("{\"event\":\"changed\",\"trial\":\"1.3\",\"kind\":\"live\",\"generation\":2,"
                "\"system\":{\"threads\":1,\"cpus\":2},\"cost_s\":0.07,\"step\":124}",
                "1.3  threads=1 cpus=2: the change cost 0.07 s");
    check_event("{\"event\":\"changed\",\"trial\":\"1.3\",\"kind\":\"restart\","
                "\"system\":{\"workers\":4},\"cost_s\":12.5}",
                "1.3  workers=4: the restart cost 12 s");
    check_event("{\"event\":\"changed\",\"trial\":\"1.3\",\"kind\":\"live\",\"system\":"
                "{\"memory\":419430400,\"frequency\":1200000},\"cost_s\":0.07}",
                "1.3  memory=400M frequency=1.2GHz: the change cost 0.07 s");
    check_event("{\"event\":\"changed\",\"trial\":\"1.3\",\"cost_s\":null}", "");
    check_event("{\"event\":\"tune_note\",\"trial\":\"1.3\",\"text\":\"it reports no steps\"}",
                "1.3  it reports no steps");
    check_event("{\"event\":\"tune_note\",\"trial\":null,\"text\":\"two side by side\"}",
                "two side by side");
}

TEST(odd_events_of_tuning_are_no_harm)
{
    check_event("{\"event\":\"tuned\",\"advice\":\"try\",\"to\":3}", "?   → ");
    check_event("{\"event\":\"changed\",\"trial\":7,\"system\":[],\"cost_s\":1}",
                "?  : the change cost 1 s");
    check_event("{\"event\":\"tune_note\",\"trial\":\"1.1\"}", "1.1  ");
}

/* One running trial whose machine is tuned; `more` are further members of it. */
static void check_tuned(const char *more, const char *expected)
{
    struct bench bench;
    autofree(mem) char *text = xasprintf(
        "{\"experiment\":1,\"name\":\"job\",\"state\":\"running\",\"elapsed_us\":60000000,"
        "\"target\":0.93,\"metric\":\"acc\",\"trials\":{\"total\":1,\"running\":1},"
        "\"active\":[{\"trial\":\"1.1\",\"words\":\"lr=0.1\",\"step\":9,\"value\":0.5,"
        "\"elapsed_us\":12100000,\"left_us\":null%s}]}",
        more);
    json_t *doc = document(text);

    bench_init(&bench, 110, 24, false);
    view_update(bench.view, doc);
    settle(&bench);
    autofree(mem) char *screen = screen_text(&bench.screen);
    if (!strstr(screen, expected))
        assert_string_equal(screen, expected);
    json_decref(doc);
    bench_release(&bench);
}

TEST(the_picture_shows_the_configuration_and_the_time_that_remains)
{
    check_tuned(",\"system\":\"threads=1 cpus=2\",\"remaining_s\":41.2",
                "1.1    lr=0.1 · threads=1 cpus=2     9  0.5      12s   41s\n");
    check_tuned(",\"remaining_s\":41.2,\"remaining_low_s\":35,\"remaining_high_s\":50",
                "1.1    lr=0.1         9  0.5      12s  41s (35s–50s)\n");
    check_tuned(",\"tuning\":\"trying threads 2 → 1\"", "\n1.1    trying threads 2 → 1\n");
}

TEST(a_target_in_doubt_is_said_instead_of_a_time)
{
    check_tuned(",\"remaining_s\":41.2,\"chance\":0.4",
                "1.1    lr=0.1         9  0.5      12s\n1.1    may not reach 0.93: 40 %\n");
    check_tuned(",\"remaining_s\":1e300,\"chance\":0.9,\"tuning\":\"a\\u001bb\"", "\n1.1    a?b\n");
}

TEST_MAIN
