/* SPDX-License-Identifier: MIT */
/*
 * chart_text.c — a chart as lines of text. Lines are drawn in braille (2 × 4 dots a cell), points
 * as signs, cells as shades; without UTF-8 all of them are ASCII.
 *
 *    title
 *    0.9 ┤   •        labels, then the frame, then the cells
 *    0.5 ┤ •   ×
 *        └┬────┬───
 *         1    10
 */
#include "cli/chart.h"
#include "cli/table.h"
#include "cli/width.h"

#include <math.h>

#define COLUMNS_MIN 24
#define LABEL_MAX   12
#define PATHS_MAX   8 /* lines that an eye can follow */

struct cell {
    uint8_t dots;     /* braille */
    const char *sign; /* over them; NULL: none */
    enum colour colour;
};
struct canvas {
    size_t columns, rows;
    struct cell *cells; /* (rows, columns), upper row first */
    bool ascii, colour;
};

static void canvas_init(struct canvas *canvas, size_t columns, size_t rows,
                        const struct chart_frame *frame)
{
    *canvas = (struct canvas){columns, rows, xcalloc(columns * rows, sizeof(struct cell)),
                              frame->ascii, frame->colour};
}

/* The cell at a place, 0 0 at the lower left; out of it is at its edge. */
static struct cell *cell_at(struct canvas *canvas, double x, double y)
{
    size_t column = (size_t)(fmin(fmax(x, 0), 1) * (double)(canvas->columns - 1) + 0.5);
    size_t row = (size_t)((1 - fmin(fmax(y, 0), 1)) * (double)(canvas->rows - 1) + 0.5);
    return &canvas->cells[row * canvas->columns + column];
}

static void put_sign(struct canvas *canvas, double x, double y, const char *sign,
                     enum colour colour)
{
    struct cell *cell = cell_at(canvas, x, y);
    cell->sign = sign;
    cell->colour = colour;
}

static void put_dot(struct canvas *canvas, double x, double y, enum colour colour)
{
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t column = (size_t)(fmin(fmax(x, 0), 1) * (double)(canvas->columns * 2 - 1) + 0.5);
    size_t row = (size_t)((1 - fmin(fmax(y, 0), 1)) * (double)(canvas->rows * 4 - 1) + 0.5);
    struct cell *cell = &canvas->cells[row / 4 * canvas->columns + column / 2];

    cell->dots |= bits[row % 4][column % 2];
    if (!cell->sign)
        cell->colour = colour;
}

static void put_line(struct canvas *canvas, double x1, double y1, double x2, double y2,
                     enum colour colour)
{
    double dots =
        fmax(fabs(x2 - x1) * (double)canvas->columns * 2, fabs(y2 - y1) * (double)canvas->rows * 4);
    size_t n = (size_t)fmin(dots, 4000) + 1;

    for (size_t i = 0; i <= n; i++) {
        double part = (double)i / (double)n;
        put_dot(canvas, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, colour);
    }
}

static void add_braille(struct str *to, uint8_t dots)
{
    uint32_t c = 0x2800 + dots;
    char utf8[3] = {(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)),
                    (char)(0x80 | (c & 0x3f))};
    str_add_n(to, utf8, sizeof(utf8));
}

static void add_cell(struct str *to, const struct canvas *canvas, const struct cell *cell)
{
    bool colour = canvas->colour && (cell->sign || cell->dots);

    str_add(to, colour_on(colour, cell->colour));
    if (cell->sign)
        str_add(to, cell->sign);
    else if (cell->dots && canvas->ascii)
        str_add_char(to, '.');
    else if (cell->dots)
        add_braille(to, cell->dots);
    else
        str_add_char(to, ' ');
    str_add(to, colour_off(colour, cell->colour));
}

/* ---- signs ---- */

static const struct {
    const char *utf8, *ascii;
    enum colour colour;
} signs[MARKS] = {
    [MARK_LINE] = {"⠤", ".", CYAN},  [MARK_STEPS] = {"⠤", ".", CYAN},
    [MARK_DOT] = {"•", "o", PLAIN},  [MARK_STOPPED] = {"▾", "v", YELLOW},
    [MARK_FAILED] = {"×", "x", RED}, [MARK_BEST] = {"◆", "*", GREEN},
};

static const char *sign_of(const struct canvas *canvas, enum mark mark)
{
    return canvas->ascii ? signs[mark].ascii : signs[mark].utf8;
}

static void draw_cells(struct canvas *canvas, const struct chart *chart)
{
    static const char *const blocks[] = {" ", "░", "▒", "▓", "█"};
    static const char *const letters[] = {" ", ".", ":", "=", "#"};

    for (size_t i = 0; i < canvas->rows * canvas->columns; i++) {
        size_t column = i % canvas->columns * chart->columns / canvas->columns;
        size_t row = (canvas->rows - 1 - i / canvas->columns) * chart->rows / canvas->rows;
        double shade = axis_place(&chart->shade, chart->cells[row * chart->columns + column]);
        if (isnan(shade))
            continue;
        size_t level = (size_t)fmin(fmax(shade, 0) * 5, 4);
        canvas->cells[i].sign = (canvas->ascii ? letters : blocks)[level];
        canvas->cells[i].colour = DIM;
    }
}

static void draw_joined(struct canvas *canvas, const struct chart *chart,
                        const struct chart_layer *layer)
{
    for (size_t i = 1; i < layer->points.len; i++) {
        const struct chart_point *a = &layer->points.at[i - 1], *b = a + 1;
        double ax = axis_place(&chart->x, a->x), ay = axis_place(&chart->y, a->y);
        double bx = axis_place(&chart->x, b->x), by = axis_place(&chart->y, b->y);
        if (isnan(ax + ay + bx + by))
            continue;
        if (layer->mark == MARK_STEPS) {
            put_line(canvas, ax, ay, bx, ay, signs[layer->mark].colour);
            ax = bx;
        }
        put_line(canvas, ax, ay, bx, by, signs[layer->mark].colour);
    }
}

static void draw_layer(struct canvas *canvas, const struct chart *chart,
                       const struct chart_layer *layer)
{
    if (layer->mark == MARK_LINE || layer->mark == MARK_STEPS) {
        draw_joined(canvas, chart, layer);
        return;
    }
    vec_foreach (point, &layer->points) {
        double x = axis_place(&chart->x, point->x);
        double y = isnan(point->y) ? 0 : axis_place(&chart->y, point->y);
        if (!isnan(x) && !isnan(y))
            put_sign(canvas, x, y, sign_of(canvas, layer->mark), signs[layer->mark].colour);
    }
}

/* ---- frame ---- */

/* `text` at the right end of `columns`. */
static void add_right(struct str *to, const char *text, size_t columns)
{
    autorelease(str) struct str cut = STR_INIT, plain = STR_INIT;

    str_add_printable(&plain, text, strlen(text));
    size_t width = str_add_fitted(&cut, plain.s, columns);
    for (; width < columns; width++)
        str_add_char(to, ' ');
    str_add(to, cut.s);
}

static size_t label_width(const struct ticks *ticks)
{
    size_t width = 1;
    vec_foreach (tick, &ticks->list)
        width = MAX(width, text_width(tick->text));
    return MIN(width, (size_t)LABEL_MAX);
}

/* The tick that stands in this row of the canvas, or NULL. */
static const struct tick *tick_in_row(const struct axis *axis, const struct ticks *ticks,
                                      size_t rows, size_t row)
{
    vec_foreach (tick, &ticks->list) {
        double place = fmin(fmax(axis_place(axis, tick->at), 0), 1);
        if ((size_t)((1 - place) * (double)(rows - 1) + 0.5) == row)
            return tick;
    }
    return NULL;
}

static void add_rows(struct str *to, const struct canvas *canvas, const struct axis *y,
                     const struct ticks *ticks, size_t label)
{
    for (size_t row = 0; row < canvas->rows; row++) {
        const struct tick *tick = tick_in_row(y, ticks, canvas->rows, row);
        add_right(to, tick ? tick->text : "", label);
        str_add(to, canvas->ascii ? (tick ? " +" : " |") : (tick ? " ┤" : " │"));
        for (size_t i = 0; i < canvas->columns; i++)
            add_cell(to, canvas, &canvas->cells[row * canvas->columns + i]);
        str_add_char(to, '\n');
    }
}

/* The lower edge with its ticks, and a line of their names where they have room. */
static void add_bottom(struct str *to, const struct canvas *canvas, const struct axis *x,
                       size_t label)
{
    size_t most =
        x->kind == AXIS_NAMES ? MAX(2, canvas->columns / 6) : MAX(2, canvas->columns / 10);
    autofree(mem) const char **edge = xcalloc(canvas->columns, sizeof(*edge));
    autorelease(str) struct str names = STR_INIT;
    size_t at = 0; /* columns used in `names` */
    struct ticks ticks;

    axis_ticks(x, most, &ticks);
    vec_foreach (tick, &ticks.list) {
        double place = fmin(fmax(axis_place(x, tick->at), 0), 1);
        size_t column = (size_t)(place * (double)(canvas->columns - 1) + 0.5);
        autorelease(str) struct str plain = STR_INIT;
        str_add_printable(&plain, tick->text, strlen(tick->text));
        size_t width = text_width(plain.s), start = column - MIN(column, width / 2);
        edge[column] = canvas->ascii ? "+" : "┬";
        start = MIN(start, canvas->columns > width ? canvas->columns - width : 0);
        if (at && start < at + 1)
            continue;
        for (; at < start; at++)
            str_add_char(&names, ' ');
        at += str_add_fitted(&names, plain.s, canvas->columns - at);
    }
    add_right(to, "", label);
    str_add(to, canvas->ascii ? " +" : " └");
    for (size_t i = 0; i < canvas->columns; i++)
        str_add(to, edge[i] ? edge[i] : canvas->ascii ? "-" : "─");
    str_add_char(to, '\n');
    add_right(to, "", label + 2);
    str_addf(to, "%s\n", names.s);
    ticks_release(&ticks);
}

/* An entry of the legend; the line is broken before it if it does not fit. */
static void add_entry(struct str *to, size_t *used, const struct chart_frame *frame,
                      enum colour colour, const char *sign, const char *name)
{
    size_t width = text_width(sign) + 1 + text_width(name);

    if (*used && *used + 3 + width > frame->columns) {
        str_add_char(to, '\n');
        *used = 0;
    }
    str_add(to, *used ? "   " : "");
    *used += width + (*used ? 3 : 0);
    str_addf(to, "%s%s%s ", colour_on(frame->colour, colour), sign,
             colour_off(frame->colour, colour));
    str_add_fitted(to, name, frame->columns - MIN(frame->columns, text_width(sign) + 1));
}

static void add_legend(struct str *to, const struct chart *chart, const struct canvas *canvas,
                       const struct chart_frame *frame)
{
    size_t used = 0;

    vec_foreach (layer, &chart->layers)
        if (layer->points.len && *layer->name)
            add_entry(to, &used, frame, signs[layer->mark].colour, sign_of(canvas, layer->mark),
                      layer->name);
    if (chart->cells) {
        autofree(mem) char *range =
            xasprintf("%.5g to %.5g %s %s", chart->shade.min, chart->shade.max,
                      canvas->ascii ? "#" : "█", chart->shade.title);
        add_entry(to, &used, frame, PLAIN, canvas->ascii ? "." : "░", range);
    }
    if (used)
        str_add_char(to, '\n');
}

/* A line that is cut where the frame ends. */
static void add_text(struct str *to, const char *text, const struct chart_frame *frame)
{
    autorelease(str) struct str plain = STR_INIT;
    str_add_printable(&plain, text, strlen(text));
    str_add_fitted(to, plain.s, frame->columns);
    str_add_char(to, '\n');
}

static void draw_plain(const struct chart *chart, const struct chart_frame *frame, struct str *to)
{
    struct canvas canvas;
    struct ticks ticks;
    autofree(mem) char *names = xasprintf("%s over %s", chart->y.title, chart->x.title);

    axis_ticks(&chart->y, MAX(2, frame->rows / 3), &ticks);
    size_t label = label_width(&ticks);
    canvas_init(&canvas, MAX(COLUMNS_MIN, frame->columns - MIN(frame->columns, label + 3)),
                MAX(5, frame->rows - MIN(frame->rows, 6)), frame);
    if (chart->cells)
        draw_cells(&canvas, chart);
    for (int mark = 0; mark < MARKS; mark++)
        vec_foreach (layer, &chart->layers)
            if ((int)layer->mark == mark)
                draw_layer(&canvas, chart, layer);
    add_text(to, names, frame);
    add_rows(to, &canvas, &chart->y, &ticks, label);
    add_bottom(to, &canvas, &chart->x, label);
    add_legend(to, chart, &canvas, frame);
    free(canvas.cells);
    ticks_release(&ticks);
}

/* ---- parallel coordinates ---- */

static double upright_place(const struct chart *chart, size_t i)
{
    return (double)i / (double)MAX(1, chart->uprights.len - 1);
}

static void draw_path(struct canvas *canvas, const struct chart *chart,
                      const struct chart_path *path, enum colour colour)
{
    for (size_t i = 1; i < chart->uprights.len; i++) {
        double a = axis_place(&chart->uprights.at[i - 1], path->y[i - 1]);
        double b = axis_place(&chart->uprights.at[i], path->y[i]);
        if (!isnan(a) && !isnan(b))
            put_line(canvas, upright_place(chart, i - 1), a, upright_place(chart, i), b, colour);
    }
}

/* Names or ends of the upright axes, each near its place; a lower line for every second one. */
static void add_ends(struct str *to, const struct chart *chart, size_t columns, int which)
{
    size_t room = MAX(3, columns / MAX(1, chart->uprights.len) - 1), at = 0;

    for (size_t i = 0; i < chart->uprights.len; i++) {
        const struct axis *axis = &chart->uprights.at[i];
        size_t column = (size_t)(upright_place(chart, i) * (double)(columns - 1) + 0.5);
        autofree(mem) char *end = axis->kind == AXIS_NAMES
                                      ? xstrdup(axis->names.at[which > 0 ? axis->names.len - 1 : 0])
                                      : xasprintf("%.4g", which > 0 ? axis->max : axis->min);
        autorelease(str) struct str plain = STR_INIT, cut = STR_INIT;
        const char *text = which == 0 ? axis->title : end;
        str_add_printable(&plain, text, strlen(text));
        size_t width = str_add_fitted(&cut, plain.s, room);
        size_t start = column - MIN(column, width / 2);
        start = MIN(start, columns > width ? columns - width : 0);
        for (; at < start; at++)
            str_add_char(to, ' ');
        str_add(to, cut.s);
        at += width;
    }
    str_add_char(to, '\n');
}

static void draw_parallel(const struct chart *chart, const struct chart_frame *frame,
                          struct str *to)
{
    struct canvas canvas;
    size_t n = chart->paths.len, shown = MIN(n, (size_t)PATHS_MAX);

    canvas_init(&canvas, MAX(COLUMNS_MIN, frame->columns - 1),
                MAX(5, frame->rows - MIN(frame->rows, 7)), frame);
    for (size_t k = n - shown; k < n; k++) /* the best are last */
        draw_path(&canvas, chart, &chart->paths.at[k],
                  k + 1 == n   ? GREEN
                  : k + 4 >= n ? CYAN
                               : PLAIN);
    for (size_t i = 0; i < chart->uprights.len; i++)
        for (size_t row = 0; row < canvas.rows; row++)
            put_sign(&canvas, upright_place(chart, i), (double)row / (double)(canvas.rows - 1),
                     frame->ascii ? "|" : "│", DIM);
    add_ends(to, chart, canvas.columns, 1);
    for (size_t i = 0; i < canvas.rows * canvas.columns; i++) {
        add_cell(to, &canvas, &canvas.cells[i]);
        if ((i + 1) % canvas.columns == 0)
            str_add_char(to, '\n');
    }
    add_ends(to, chart, canvas.columns, -1);
    add_ends(to, chart, canvas.columns, 0);
    if (shown < n)
        str_addf(to, "the best %zu of %zu trials; --svg draws all of them\n", shown, n);
    free(canvas.cells);
}

static void add_all(const struct chart *chart, const struct chart_frame *frame, struct str *to)
{
    str_add(to, colour_on(frame->colour, BOLD));
    add_text(to, chart->title, frame);
    str_add(to, colour_off(frame->colour, BOLD));
    if (chart->uprights.len)
        draw_parallel(chart, frame, to);
    else
        draw_plain(chart, frame, to);
    if (chart->note)
        add_text(to, chart->note, frame);
}

/* Names may hold anything, and what is cut ends in …: one '~' a character. */
static void add_ascii(struct str *to, const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x80)
            str_add_char(to, *text);
        else if (((unsigned char)*text & 0xc0) != 0x80)
            str_add_char(to, '~');
}

void chart_text(const struct chart *chart, const struct chart_frame *frame, struct str *to)
{
    autorelease(str) struct str text = STR_INIT;

    if (!frame->ascii) {
        add_all(chart, frame, to);
        return;
    }
    add_all(chart, frame, &text);
    add_ascii(to, text.s);
}
