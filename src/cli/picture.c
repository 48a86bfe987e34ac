/* SPDX-License-Identifier: MIT */
/*
 * picture.c — the lines of the live view:
 *
 *   fashion · experiment 3 · running for 1m01s
 *   trial  parameters               step  val_acc              elapsed   left
 *   3.9    lr=0.01 batch=32          120    0.412  ▁▂▃▄▅▅▆▇▇█      12s    30s
 *   3.9    trying threads 2 → 1
 *   … and 5 more
 *   best   0.93 in 3.7  lr=0.01 batch=64
 *   9 completed · 1 failed · 2 running · 1 queued · 64 in all
 *   ████████▌░░░░░░░░░░░░░░ 16%  30s left, until 14:05
 *
 * The table gives each column what its widest cell needs; the parameters get the rest. If that is
 * too little to be read, columns are left out in the order of `dispensable`. Below a small height
 * the last lines win: they say the most.
 */
#include "cli/picture.h"
#include "base/clock.h"
#include "cli/sparkline.h"
#include "cli/width.h"

#include <math.h>
#include <time.h>

enum style { PLAIN, DIM, BOLD, GOOD, BAD };
static const char *const escapes[] = {
    [PLAIN] = "", [DIM] = "\x1b[2m", [BOLD] = "\x1b[1m", [GOOD] = "\x1b[32m", [BAD] = "\x1b[31m",
};

enum column { TRIAL, WORDS, STEP, VALUE, CURVE, ELAPSED, LEFT, COLUMNS };
static const enum column dispensable[] = {CURVE, LEFT, STEP, ELAPSED, VALUE};
#define WORDS_MIN 12 /* fewer columns of parameters tell nothing */
#define GAP       2
#define CURVE_MAX 60

#define CHANCE_ENOUGH    0.8 /* of reaching the target: below, that is said instead of a time */
#define INTERVAL_COLUMNS 100 /* a terminal that has them shows the interval of a time, too */
#define SECONDS_MAX      1e12

struct row {
    char *cells[COLUMNS];
};
struct table {
    VEC(struct row) rows; /* the first is the heading */
    size_t widths[COLUMNS];
    bool hidden[COLUMNS];
};

/* The line that is being written. */
struct pen {
    const struct picture_frame *frame;
    struct picture *picture;
    struct str text;
    size_t width;
};

static void pen_fill(struct pen *pen, size_t columns)
{
    for (; columns > 0 && pen->width < pen->frame->columns; columns--, pen->width++)
        str_add_char(&pen->text, ' ');
}

static void pen_write(struct pen *pen, enum style style, const char *text)
{
    bool styled = pen->frame->colour && style != PLAIN;
    if (styled)
        str_add(&pen->text, escapes[style]);
    pen->width += str_add_fitted(&pen->text, text, pen->frame->columns - pen->width);
    if (styled)
        str_add(&pen->text, "\x1b[m");
}

static void pen_end_line(struct pen *pen)
{
    struct picture_line line = {.width = pen->width};
    line.text = str_take(&pen->text);
    vec_push(&pen->picture->lines, line);
    pen->width = 0;
}

static char *printable(const char *text)
{
    struct str clean = STR_INIT;
    str_add_printable(&clean, text, strlen(text));
    return str_take(&clean);
}

/* Short: nobody reads tenths of a second that change ten times a second. */
static void add_duration(struct str *to, int64_t us)
{
    if (us >= 10 * US_PER_S && us < 59 * US_PER_S)
        str_addf(to, "%ds", (int)((us + US_PER_S / 2) / US_PER_S));
    else
        str_add_duration(to, us);
}

static char *duration_text(const json_t *object, const char *key)
{
    struct str text = STR_INIT;
    const json_t *us = json_object_get(object, key);
    if (json_is_integer(us))
        add_duration(&text, (int64_t)json_integer_value(us));
    return str_take(&text);
}

static char *value_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return xstrdup("");
    return xasprintf("%.5g", json_get_double(object, key, NAN));
}

static char *curve_text(const json_t *trial, size_t columns)
{
    const json_t *curve = json_object_get(trial, "curve");
    size_t n = MIN(json_array_size(curve), CURVE_MAX), skip = json_array_size(curve) - n;
    double values[CURVE_MAX];
    struct str text = STR_INIT;

    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(curve, skip + i);
        values[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    str_add_sparkline(&text, values, n, columns);
    return str_take(&text);
}

static char *words_text(const json_t *trial)
{
    autofree(mem) char *words = printable(json_get_text(trial, "words", ""));
    autofree(mem) char *system = printable(json_get_text(trial, "system", ""));
    int64_t attempt = json_get_int(trial, "attempt", 1);
    struct str text = STR_INIT;

    if (attempt > 1)
        str_addf(&text, "(attempt %lld) ", (long long)attempt);
    str_addf(&text, "%s%s%s", words, *words && *system ? " · " : "", system);
    return str_take(&text);
}

/* Is its target in doubt? Then a time would promise too much. */
static bool is_doubtful(const json_t *trial)
{
    return json_get_double(trial, "chance", 1) < CHANCE_ENOUGH;
}

static void add_seconds(struct str *to, double seconds)
{
    add_duration(to, (int64_t)(fmin(fmax(seconds, 0), SECONDS_MAX) * US_PER_S));
}

/* "41s", and where there is room the interval: "41s (35s–50s)". */
static char *remaining_text(const json_t *trial, size_t columns)
{
    double left_s = json_get_double(trial, "remaining_s", NAN);
    double low_s = json_get_double(trial, "remaining_low_s", NAN);
    double high_s = json_get_double(trial, "remaining_high_s", NAN);
    struct str text = STR_INIT;

    if (isnan(left_s))
        return duration_text(trial, "left_us");
    if (is_doubtful(trial))
        return str_take(&text);
    add_seconds(&text, left_s);
    if (columns >= INTERVAL_COLUMNS && low_s < high_s) {
        str_add(&text, " (");
        add_seconds(&text, low_s);
        str_add(&text, "–");
        add_seconds(&text, high_s);
        str_add(&text, ")");
    }
    return str_take(&text);
}

static void table_add(struct table *table, const struct row *row)
{
    for (size_t c = 0; c < COLUMNS; c++)
        table->widths[c] = MAX(table->widths[c], text_width(row->cells[c]));
    vec_push(&table->rows, *row);
}

static void table_add_heading(struct table *table, const json_t *document)
{
    struct row row = {.cells = {
                          [TRIAL] = xstrdup("trial"),
                          [WORDS] = xstrdup("parameters"),
                          [STEP] = xstrdup("step"),
                          [VALUE] = printable(json_get_text(document, "metric", "")),
                          [CURVE] = xstrdup(""),
                          [ELAPSED] = xstrdup("elapsed"),
                          [LEFT] = xstrdup("left"),
                      }};
    table_add(table, &row);
}

static void table_add_trial(struct table *table, const json_t *trial, size_t columns)
{
    const json_t *step = json_object_get(trial, "step");
    bool stopping = json_get_bool(trial, "stopping", false);
    bool paused = json_get_bool(trial, "paused", false);
    struct row row = {.cells = {
                          [TRIAL] = printable(json_get_text(trial, "trial", "")),
                          [WORDS] = words_text(trial),
                          [STEP] = json_is_integer(step)
                                       ? xasprintf("%lld", (long long)json_integer_value(step))
                                       : xstrdup(""),
                          [VALUE] = value_text(trial, "value"),
                          [CURVE] = curve_text(trial, columns >= 150   ? 30
                                                      : columns >= 100 ? 20
                                                                       : 10),
                          [ELAPSED] = duration_text(trial, "elapsed_us"),
                          [LEFT] = stopping ? xstrdup("stopping")
                                   : paused ? xstrdup("paused")
                                            : remaining_text(trial, columns),
                      }};
    table_add(table, &row);
}

static void table_release(struct table *table)
{
    vec_foreach (row, &table->rows)
        for (size_t c = 0; c < COLUMNS; c++)
            free(row->cells[c]);
    vec_release(&table->rows);
}

/* Columns that all but the parameters take, gaps included. */
static size_t table_fixed(const struct table *table)
{
    size_t sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        if (c != WORDS && !table->hidden[c])
            sum += table->widths[c] + GAP;
    return sum;
}

static void table_fit(struct table *table, size_t columns)
{
    size_t need = MIN(table->widths[WORDS], WORDS_MIN);

    for (size_t c = 0; c < COLUMNS; c++)
        table->hidden[c] = table->widths[c] == 0;
    for (size_t i = 0; i < ARRAY_LEN(dispensable) && table_fixed(table) + need > columns; i++)
        table->hidden[dispensable[i]] = true;
    size_t fixed = table_fixed(table);
    table->widths[WORDS] = MIN(table->widths[WORDS], columns > fixed ? columns - fixed : 0);
}

static void write_row(struct pen *pen, const struct table *table, const struct row *row,
                      enum style style)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        autorelease(str) struct str cell = STR_INIT;
        if (table->hidden[c])
            continue;
        size_t room = table->widths[c], width = str_add_fitted(&cell, row->cells[c], room);
        bool right = c == STEP || c == VALUE || c == ELAPSED || c == LEFT;
        pen_fill(pen, (c > TRIAL ? GAP : 0) + (right ? room - width : 0));
        pen_write(pen, style, cell.s);
        pen_fill(pen, right ? 0 : room - width);
    }
    pen_end_line(pen);
}

/* "trying threads 2 → 1 · may not reach 0.93: 40 %"; empty if there is nothing to say. */
static char *note_text(const json_t *document, const json_t *trial)
{
    autofree(mem) char *tuning = printable(json_get_text(trial, "tuning", ""));
    struct str text = STR_INIT;

    str_add(&text, tuning);
    if (is_doubtful(trial)) {
        autofree(mem) char *target = value_text(document, "target");
        str_addf(&text, "%smay not reach %s: %.0f %%", text.len ? " · " : "",
                 *target ? target : "the target", 100 * json_get_double(trial, "chance", 0));
    }
    return str_take(&text);
}

/* What is tried on the machine, and doubts, below the table. */
static void write_notes(struct pen *pen, const json_t *document, size_t shown, size_t room)
{
    const json_t *active = json_object_get(document, "active");

    for (size_t i = 0; i < shown && room > 0; i++) {
        const json_t *trial = json_array_get(active, i);
        autofree(mem) char *note = note_text(document, trial);
        if (!*note)
            continue;
        autofree(mem) char *id = printable(json_get_text(trial, "trial", ""));
        autofree(mem) char *line = xasprintf("%-*s%s", (int)strlen("trial") + GAP, id, note);
        pen_write(pen, is_doubtful(trial) ? BAD : DIM, line);
        pen_end_line(pen);
        room--;
    }
}

static void write_table(struct pen *pen, const json_t *document, size_t max_lines)
{
    struct table table = {0};
    const json_t *active = json_object_get(document, "active");
    size_t n = json_array_size(active), room = max_lines > 1 ? max_lines - 1 : 0;
    size_t shown = n <= room ? n : room > 1 ? room - 1 : 0;

    if (n == 0)
        return;
    table_add_heading(&table, document);
    for (size_t i = 0; i < shown; i++)
        table_add_trial(&table, json_array_get(active, i), pen->frame->columns);
    table_fit(&table, pen->frame->columns);
    for (size_t i = 0; i < table.rows.len && shown > 0; i++)
        write_row(pen, &table, &table.rows.at[i], i == 0 ? DIM : PLAIN);
    if (shown < n) {
        autofree(mem) char *more = xasprintf("… and %zu more", n - shown);
        pen_write(pen, DIM, more);
        pen_end_line(pen);
    } else {
        write_notes(pen, document, shown, room - shown);
    }
    table_release(&table);
}

static void write_title(struct pen *pen, const json_t *document)
{
    autofree(mem) char *name = printable(json_get_text(document, "name", ""));
    const char *state = json_get_text(document, "state", "running");
    const char *reason = json_get_text(document, "reason", "");
    autofree(mem) char *elapsed = duration_text(document, "elapsed_us");
    autofree(mem) char *rest =
        xasprintf(" · experiment %lld · %s%s%s%s %s %s",
                  (long long)json_get_int(document, "experiment", 0), state, *reason ? " (" : "",
                  reason, *reason ? ")" : "", str_eq(state, "running") ? "for" : "after", elapsed);

    pen_write(pen, BOLD, name);
    pen_write(pen, PLAIN, rest);
    pen_end_line(pen);
}

static void write_best(struct pen *pen, const json_t *document)
{
    const json_t *best = json_object_get(document, "best");
    if (!json_is_object(best))
        return;
    autofree(mem) char *value = value_text(best, "value");
    autofree(mem) char *words = printable(json_get_text(best, "words", ""));
    autofree(mem) char *rest = xasprintf(" in %s  %s", json_get_text(best, "trial", "?"), words);

    pen_write(pen, PLAIN, "best  ");
    pen_write(pen, GOOD, value);
    pen_write(pen, PLAIN, rest);
    pen_end_line(pen);
}

static const struct {
    const char *key;
    enum style style;
    bool always;
} counts[] = {
    {"completed", PLAIN, true}, {"stopped", PLAIN, false}, {"failed", BAD, true},
    {"running", PLAIN, false},  {"paused", PLAIN, false},  {"queued", PLAIN, true},
};

static void write_counts(struct pen *pen, const json_t *trials)
{
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        int64_t n = json_get_int(trials, counts[i].key, 0);
        if (n == 0 && !counts[i].always)
            continue;
        autofree(mem) char *text = xasprintf("%lld %s", (long long)n, counts[i].key);
        pen_write(pen, PLAIN, pen->width ? " · " : "");
        pen_write(pen, n ? counts[i].style : PLAIN, text);
    }
    int64_t total = json_get_int(trials, "total", 0);
    autofree(mem) char *text = xasprintf(" · %lld in all", (long long)total);
    pen_write(pen, PLAIN, total > 0 ? text : "");
    pen_end_line(pen);
}

static int64_t ended(const json_t *trials)
{
    return json_get_int(trials, "completed", 0) + json_get_int(trials, "stopped", 0) +
           json_get_int(trials, "failed", 0);
}

/* "30s left, until 14:05"; nothing if the end is not known. */
static void add_end(struct str *to, const json_t *document, int64_t now_us)
{
    int64_t eta_us = json_get_int(document, "eta_us", -1);
    struct tm tm;
    char clock[32];

    if (eta_us < 0)
        return;
    time_t end = (time_t)((now_us + eta_us) / US_PER_S);
    localtime_r(&end, &tm);
    strftime(clock, sizeof(clock), eta_us < 20 * 3600 * US_PER_S ? "%H:%M" : "%b %d %H:%M", &tm);
    add_duration(to, eta_us);
    str_addf(to, " left, until %s", clock);
}

static void add_bar(struct str *to, double done, size_t columns)
{
    static const char *const parts[] = {"░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    size_t eighths = (size_t)(fmin(fmax(done, 0), 1) * (double)columns * 8);
    for (size_t i = 0; i < columns; i++, eighths -= MIN(eighths, 8))
        str_add(to, parts[MIN(eighths, 8)]);
}

static void write_progress(struct pen *pen, const json_t *document)
{
    const json_t *trials = json_object_get(document, "trials");
    int64_t total = json_get_int(trials, "total", 0);
    autorelease(str) struct str bar = STR_INIT, rest = STR_INIT;

    if (total > 0) {
        double done = fmin((double)ended(trials) / (double)total, 1);
        add_bar(&bar, done, pen->frame->columns >= 70 ? 40 : pen->frame->columns / 4);
        str_addf(&rest, " %d%%  ", (int)(100 * done));
    }
    add_end(&rest, document, pen->frame->now_us);
    if (rest.len == 0)
        return;
    pen_write(pen, PLAIN, bar.s);
    pen_write(pen, PLAIN, rest.s);
    pen_end_line(pen);
}

static void clear(struct picture *picture)
{
    vec_foreach (line, &picture->lines)
        free(line->text);
    picture->lines.len = 0;
}

static void drop_first_lines(struct picture *picture, size_t keep)
{
    while (picture->lines.len > keep) {
        free(picture->lines.at[0].text);
        vec_remove(&picture->lines, 0);
    }
}

void picture_draw(struct picture *picture, const json_t *document,
                  const struct picture_frame *frame)
{
    enum { AROUND = 4 }; /* title, best, counts, progress */
    struct pen pen = {.frame = frame, .picture = picture, .text = STR_INIT};

    clear(picture);
    write_title(&pen, document);
    write_table(&pen, document, frame->rows > AROUND ? frame->rows - AROUND : 0);
    write_best(&pen, document);
    write_counts(&pen, json_object_get(document, "trials"));
    write_progress(&pen, document);
    str_release(&pen.text);
    drop_first_lines(picture, frame->rows);
}

void picture_clear(struct picture *picture)
{
    clear(picture);
    vec_release(&picture->lines);
}

void picture_status(const json_t *document, struct str *to)
{
    const json_t *trials = json_object_get(document, "trials");
    const json_t *best = json_object_get(document, "best");
    autofree(mem) char *name = printable(json_get_text(document, "name", ""));
    int64_t total = json_get_int(trials, "total", 0), failed = json_get_int(trials, "failed", 0);

    str_addf(to, "%s: %lld", name, (long long)ended(trials));
    if (total > 0)
        str_addf(to, " of %lld", (long long)total);
    str_addf(to, " trials ended, %lld failed, %lld running", (long long)failed,
             (long long)json_get_int(trials, "running", 0));
    if (json_is_object(best)) {
        autofree(mem) char *value = value_text(best, "value");
        str_addf(to, ", best %s in %s", value, json_get_text(best, "trial", "?"));
    }
    if (json_get_int(document, "eta_us", -1) >= 0) {
        autofree(mem) char *left = duration_text(document, "eta_us");
        str_addf(to, ", %s left", left);
    }
}
