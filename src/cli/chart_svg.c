/* SPDX-License-Identifier: MIT */
/*
 * chart_svg.c — a chart as an SVG document: no script, no font, no file besides it. Every point
 * says its trial and values when the mouse is on it.
 *
 *     title
 *   y ┌────────────┐ legend
 *     │            │ or scale
 *     └────────────┘ of shades
 *           x
 */
#include "cli/chart.h"

#include <math.h>

#define WIDTH  760.0
#define HEIGHT 460.0

struct box {
    double left, top, right, bottom;
};
#define SIDE_WIDTH 150.0 /* of the legend */

struct svg {
    struct str *to;
    const struct chart *chart;
    struct box box;
};

/* ---- small parts ---- */

static void add_escaped(struct str *to, const char *text)
{
    autorelease(str) struct str plain = STR_INIT;

    str_add_printable(&plain, text, strlen(text));
    for (const char *p = plain.s; *p; p++) {
        if (*p == '<')
            str_add(to, "&lt;");
        else if (*p == '>')
            str_add(to, "&gt;");
        else if (*p == '&')
            str_add(to, "&amp;");
        else if (*p == '"')
            str_add(to, "&quot;");
        else
            str_add_char(to, *p);
    }
}

/* Cut what is too long for its place: at the start of a character. */
static void add_short(struct str *to, const char *text, size_t most)
{
    autorelease(str) struct str cut = STR_INIT;
    size_t n = strlen(text);

    if (n <= most) {
        add_escaped(to, text);
        return;
    }
    for (n = most - 1; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    str_add_n(&cut, text, n);
    add_escaped(to, cut.s);
    str_add(to, "…");
}

static void add_label(struct svg *svg, double x, double y, const char *anchor, const char *class,
                      const char *text, size_t most)
{
    str_addf(svg->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s>", x, y, anchor,
             class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
    add_short(svg->to, text, most);
    str_add(svg->to, "</text>\n");
}

static void add_line(struct svg *svg, const char *class, double x1, double y1, double x2, double y2)
{
    str_addf(svg->to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
             class, x1, y1, x2, y2);
}

/* Light yellow (0) over green to dark blue (1): readable in grey, and for the colour-blind. */
static void add_shade(struct str *to, double shade)
{
    static const unsigned char stops[][3] = {
        {253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}};
    size_t last = ARRAY_LEN(stops) - 1;
    double at = fmin(fmax(shade, 0), 1) * (double)last;
    size_t i = MIN((size_t)at, last - 1);
    double part = at - (double)i;

    str_add_char(to, '#');
    for (size_t c = 0; c < 3; c++)
        str_addf(to, "%02x", (unsigned)(stops[i][c] * (1 - part) + stops[i + 1][c] * part + 0.5));
}

static double clamp_place(double place)
{
    return fmin(fmax(place, 0), 1);
}

static double x_of(const struct svg *svg, double x)
{
    return svg->box.left +
           clamp_place(axis_place(&svg->chart->x, x)) * (svg->box.right - svg->box.left);
}

static double y_on(const struct svg *svg, const struct axis *axis, double y)
{
    return svg->box.bottom - clamp_place(axis_place(axis, y)) * (svg->box.bottom - svg->box.top);
}

/* ---- frame and axes ---- */

static void add_x_axis(struct svg *svg)
{
    const struct axis *axis = &svg->chart->x;
    struct ticks ticks;

    axis_ticks(axis, axis->kind == AXIS_NAMES ? 12 : 9, &ticks);
    vec_foreach (tick, &ticks.list) {
        double x = x_of(svg, tick->at);
        if (!svg->chart->cells)
            add_line(svg, "grid", x, svg->box.top, x, svg->box.bottom);
        add_label(svg, x, svg->box.bottom + 18, "middle", NULL, tick->text,
                  MAX(4, 84 / MAX(1, ticks.list.len)));
    }
    add_label(svg, (svg->box.left + svg->box.right) / 2, svg->box.bottom + 40, "middle", "name",
              axis->title, 60);
    ticks_release(&ticks);
}

static void add_y_axis(struct svg *svg)
{
    const struct axis *axis = &svg->chart->y;
    double middle = (svg->box.top + svg->box.bottom) / 2;
    struct ticks ticks;

    axis_ticks(axis, axis->kind == AXIS_NAMES ? 20 : 8, &ticks);
    vec_foreach (tick, &ticks.list) {
        double y = y_on(svg, axis, tick->at);
        if (!svg->chart->cells)
            add_line(svg, "grid", svg->box.left, y, svg->box.right, y);
        add_label(svg, svg->box.left - 8, y + 4, "end", NULL, tick->text, 9);
    }
    str_addf(svg->to,
             "<text class=\"name\" text-anchor=\"middle\" transform=\"translate(16 %.1f) "
             "rotate(-90)\">",
             middle);
    add_short(svg->to, axis->title, 44);
    str_add(svg->to, "</text>\n");
    ticks_release(&ticks);
}

static void add_frame(struct svg *svg)
{
    const struct box *b = &svg->box;
    str_addf(svg->to,
             "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
             b->left, b->top, b->right - b->left, b->bottom - b->top);
}

/* ---- what is drawn ---- */

static void add_cells(struct svg *svg)
{
    const struct chart *chart = svg->chart;
    const struct box *b = &svg->box;
    double w = (b->right - b->left) / (double)chart->columns;
    double h = (b->bottom - b->top) / (double)chart->rows;

    str_add(svg->to, "<g shape-rendering=\"crispEdges\">\n");
    for (size_t i = 0; i < chart->rows * chart->columns; i++) {
        double shade = axis_place(&chart->shade, chart->cells[i]);
        if (isnan(shade))
            continue;
        size_t above = i / chart->columns + 1;
        str_addf(svg->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"",
                 b->left + (double)(i % chart->columns) * w, b->bottom - (double)above * h, w + 0.1,
                 h + 0.1);
        add_shade(svg->to, shade);
        str_add(svg->to, "\"/>\n");
    }
    str_add(svg->to, "</g>\n");
}

static void add_tip(struct svg *svg, const struct chart_point *point)
{
    if (!point->trial)
        return;
    str_addf(svg->to, "<title>%lld.%lld: %.6g, %.6g</title>", (long long)svg->chart->experiment,
             (long long)point->trial, point->x, point->y);
}

/* A mark's outline around 0 0. */
static const char *mark_shape(enum mark mark)
{
    switch (mark) {
    case MARK_STOPPED:
        return "<path class=\"stopped\" d=\"M-4-3H4L0 4Z\"";
    case MARK_FAILED:
        return "<path class=\"failed\" d=\"M-3-3L3 3M-3 3L3-3\"";
    case MARK_BEST:
        return "<path class=\"best\" d=\"M0-6.5L6.5 0L0 6.5L-6.5 0Z\"";
    default:
        return "<circle class=\"dot\" r=\"3.6\"";
    }
}

static void add_points(struct svg *svg, const struct chart_layer *layer)
{
    vec_foreach (point, &layer->points) {
        double x = x_of(svg, point->x);
        double y = isnan(point->y) ? svg->box.bottom - 7 : y_on(svg, &svg->chart->y, point->y);
        if (isnan(x) || isnan(y))
            continue;
        str_addf(svg->to, "%s transform=\"translate(%.1f %.1f)\"", mark_shape(layer->mark), x, y);
        if (!isnan(point->shade) && layer->mark == MARK_DOT) {
            str_add(svg->to, " style=\"fill:");
            add_shade(svg->to, point->shade);
            str_add(svg->to, "\"");
        }
        str_add_char(svg->to, '>');
        add_tip(svg, point);
        str_add(svg->to, layer->mark == MARK_DOT ? "</circle>\n" : "</path>\n");
    }
}

static void add_joined(struct svg *svg, const struct chart_layer *layer)
{
    bool first = true;

    if (!layer->points.len)
        return;
    str_add(svg->to, "<path class=\"line\" d=\"");
    vec_foreach (point, &layer->points) {
        double x = x_of(svg, point->x), y = y_on(svg, &svg->chart->y, point->y);
        if (isnan(x) || isnan(y))
            continue;
        if (!first && layer->mark == MARK_STEPS)
            str_addf(svg->to, "H%.1f", x);
        str_addf(svg->to, "%c%.1f %.1f", first ? 'M' : 'L', x, y);
        first = false;
    }
    str_add(svg->to, "\"/>\n");
}

static void add_layers(struct svg *svg)
{
    for (int mark = 0; mark < MARKS; mark++)
        vec_foreach (layer, &svg->chart->layers) {
            if ((int)layer->mark != mark)
                continue;
            if (mark == MARK_LINE || mark == MARK_STEPS)
                add_joined(svg, layer);
            else
                add_points(svg, layer);
        }
}

/* ---- beside it ---- */

static double add_legend(struct svg *svg)
{
    double x = svg->box.right + 18, y = svg->box.top + 10;

    vec_foreach (layer, &svg->chart->layers) {
        if (!layer->points.len || !*layer->name)
            continue;
        if (layer->mark == MARK_LINE || layer->mark == MARK_STEPS)
            add_line(svg, "line", x - 6, y, x + 6, y);
        else
            str_addf(svg->to, "%s transform=\"translate(%.1f %.1f)\"/>\n", mark_shape(layer->mark),
                     x, y);
        add_label(svg, x + 12, y + 4, "start", NULL, layer->name, 18);
        y += 20;
    }
    return y;
}

/* The scale of shades: a bar from worst to best, its ends named. */
static void add_scale(struct svg *svg, double top)
{
    const struct axis *axis = &svg->chart->shade;
    double x = svg->box.right + 12, height = svg->box.bottom - top - 34;
    autofree(mem) char *low = xasprintf("%.5g", axis->min), *high = xasprintf("%.5g", axis->max);

    if (!axis->title)
        return;
    add_label(svg, x, top + 14, "start", "name", axis->title, 18);
    for (int i = 0; i < 32; i++) {
        str_addf(svg->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%.1f\" fill=\"", x,
                 top + 24 + height * (1 - (i + 1) / 32.0), height / 32 + 0.3);
        add_shade(svg->to, i / 31.0);
        str_add(svg->to, "\"/>\n");
    }
    add_label(svg, x + 20, top + 24 + height, "start", NULL, low, 12);
    add_label(svg, x + 20, top + 34, "start", NULL, high, 12);
}

/* ---- parallel coordinates ---- */

static double upright_x(const struct svg *svg, size_t i)
{
    size_t n = svg->chart->uprights.len;
    return svg->box.left + (svg->box.right - svg->box.left) * (double)i / (double)MAX(1, n - 1);
}

static void add_path(struct svg *svg, const struct chart_path *path)
{
    bool joined = false;

    str_addf(svg->to, "<path fill=\"none\" stroke-opacity=\"%.2f\" stroke=\"",
             0.35 + 0.55 * path->shade);
    add_shade(svg->to, path->shade);
    str_add(svg->to, "\" d=\"");
    for (size_t i = 0; i < svg->chart->uprights.len; i++) {
        if (isnan(path->y[i])) {
            joined = false;
            continue;
        }
        str_addf(svg->to, "%c%.1f %.1f", joined ? 'L' : 'M', upright_x(svg, i),
                 y_on(svg, &svg->chart->uprights.at[i], path->y[i]));
        joined = true;
    }
    str_addf(svg->to, "\"><title>%lld.%lld</title></path>\n", (long long)svg->chart->experiment,
             (long long)path->trial);
}

static void add_upright(struct svg *svg, size_t i)
{
    const struct axis *axis = &svg->chart->uprights.at[i];
    double x = upright_x(svg, i);
    struct ticks ticks;

    add_line(svg, "upright", x, svg->box.top, x, svg->box.bottom);
    axis_ticks(axis, axis->kind == AXIS_NAMES ? 12 : 6, &ticks);
    vec_foreach (tick, &ticks.list) {
        double y = y_on(svg, axis, tick->at);
        add_line(svg, "upright", x - 3, y, x, y);
        str_addf(svg->to, "<text class=\"halo\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x - 5,
                 y + 4);
        add_short(svg->to, tick->text, 9);
        str_add(svg->to, "</text>\n");
    }
    add_label(svg, x, svg->box.bottom + (i % 2 ? 34 : 18), "middle", "name", axis->title, 16);
    ticks_release(&ticks);
}

static void add_parallel(struct svg *svg)
{
    vec_foreach (path, &svg->chart->paths)
        add_path(svg, path);
    for (size_t i = 0; i < svg->chart->uprights.len; i++)
        add_upright(svg, i);
}

/* ---- the whole ---- */

static const char style[] =
    "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}"
    ".name{font-weight:bold}.note{fill:#777}.halo{font-size:10px;paint-order:stroke;"
    "stroke:#fff;stroke-width:3px}"
    ".grid{stroke:#e4e4e4}.upright{stroke:#555}.frame{fill:none;stroke:#999}"
    ".dot{fill:#3b7dd8;fill-opacity:.75;stroke:#fff;stroke-width:.6}"
    ".line{fill:none;stroke:#d95f02;stroke-width:2}"
    ".stopped{fill:#e6a817;stroke:#fff;stroke-width:.6}"
    ".failed{fill:none;stroke:#c22;stroke-width:1.6}"
    ".best{fill:#d62728;stroke:#fff}</style>\n";

static void add_chart(struct svg *svg)
{
    if (svg->chart->uprights.len) {
        add_parallel(svg);
        add_scale(svg, svg->box.top - 10);
        return;
    }
    if (svg->chart->cells)
        add_cells(svg);
    add_x_axis(svg);
    add_y_axis(svg);
    add_frame(svg);
    add_layers(svg);
    add_scale(svg, add_legend(svg));
}

void chart_svg(const struct chart *chart, struct str *to)
{
    double wide = fmax(WIDTH, 90.0 * (double)chart->uprights.len + 70 + SIDE_WIDTH);
    double left = chart->uprights.len ? 60 : 84;
    struct svg svg = {to, chart, {left, 44, wide - SIDE_WIDTH, HEIGHT - 68}};

    str_addf(to,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
             "height=\"%.0f\">\n",
             wide, HEIGHT, wide, HEIGHT);
    str_add(to, style);
    str_addf(to, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", wide, HEIGHT);
    add_label(&svg, left, 26, "start", "title", chart->title, 90);
    add_chart(&svg);
    if (chart->note)
        add_label(&svg, left, HEIGHT - 10, "start", "note", chart->note, 110);
    str_add(to, "</svg>\n");
}
