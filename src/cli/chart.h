/* SPDX-License-Identifier: MIT */
/*
 * chart.h — a chart as numbers: axes, points, lines, shaded cells. plot_…c fill it from results;
 * chart_text.c, chart_svg.c and chart_json() bring it to a terminal, a picture, a script.
 */
#ifndef HONE_CHART_H
#define HONE_CHART_H

#include "base/json.h"
#include "model/space.h"

enum axis_kind { AXIS_LINEAR, AXIS_LOG, AXIS_NAMES };

struct tick {
    double at; /* natural units */
    char *text;
};
struct axis {
    char *title; /* NULL: no such axis */
    enum axis_kind kind;
    bool whole;       /* only whole numbers are marked */
    double min, max;  /* LOG: both > 0. NAMES: −0.5 and n − 0.5; the k-th name is at k */
    double low, high; /* what is to be seen: min and max without the margin */
    VEC(char *) names;
};

/* An axis over the finite ones of n values, a little wider than they are. Log if `log` and all are
 * above 0. With no finite value it goes from 0 to 1. */
void axis_of_values(struct axis *axis, const char *title, bool log, const double *x, size_t n);
/* An axis over all values of a parameter: its bounds and scale, or its choices. */
void axis_of_param(struct axis *axis, const struct param *param);
/* Leave the margin out, if that leaves a width. */
void axis_tighten(struct axis *axis);
/* Where x lies: 0 at min, 1 at max; outside it may be below or above. NaN: nowhere. */
double axis_place(const struct axis *axis, double x);
/* The value there. */
double axis_value(const struct axis *axis, double place);
/* At most `most` (≥ 2) ticks inside the axis, at round values. Free with ticks_release. */
struct ticks {
    VEC(struct tick) list;
};
void axis_ticks(const struct axis *axis, size_t most, struct ticks *ret);
void ticks_release(struct ticks *ticks);
void axis_release(struct axis *axis);

enum mark {               /* later ones are drawn over earlier ones */
            MARK_LINE,    /* joined in their order */
            MARK_STEPS,   /* the same, level and then up or down */
            MARK_DOT,     /* a result */
            MARK_STOPPED, /* ended early */
            MARK_FAILED,  /* y NaN: at the lower edge */
            MARK_BEST,
            MARKS
};
const char *mark_name(enum mark mark); /* "dot" */

struct chart_point {
    double x, y;
    double shade; /* 0 … 1, NaN: none; 1 is best or last */
    int64_t trial;
};
struct chart_layer {
    char *name; /* for the legend; "": not in it */
    enum mark mark;
    VEC(struct chart_point) points;
};
/* One line over all upright axes. */
struct chart_path {
    double *y; /* a value an axis, in its units; NaN: not there */
    double shade;
    int64_t trial;
};

struct chart {
    const char *kind; /* "history"; static */
    char *title;
    int64_t experiment;
    struct axis x, y;
    struct axis shade; /* of cells and shades: worst (0) to best (1) where they are values */
    VEC(struct chart_layer) layers;
    size_t columns, rows;      /* of cells; 0: none */
    double *cells;             /* (rows, columns), lowest row first: values on the shade axis */
    VEC(struct axis) uprights; /* parallel coordinates: then x and y are not used */
    VEC(struct chart_path) paths;
    char *note; /* a sentence below; NULL: none */
};

void chart_release(struct chart *chart);
/* A new layer; it is the chart's, until the next one is added. */
struct chart_layer *chart_add(struct chart *chart, enum mark mark, const char *name);
void layer_add(struct chart_layer *layer, double x, double y, double shade, int64_t trial);
/* The numbers, for scripts. */
void chart_json(const struct chart *chart, struct json_out *out);

struct chart_frame {
    size_t columns, rows; /* of the terminal that may be used */
    bool ascii, colour;
};
/* For a terminal: lines with newlines, none wider than the frame (of 40 columns or more). */
void chart_text(const struct chart *chart, const struct chart_frame *frame, struct str *to);
/* A whole SVG document that needs nothing else. */
void chart_svg(const struct chart *chart, struct str *to);

#endif
