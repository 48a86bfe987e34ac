/* SPDX-License-Identifier: MIT */
/*
 * drawing.h — one line drawn, with the state of its drawing, so that what came since can be added.
 * A trace is one that keeps the line's points instead of a picture, so that others can be drawn
 * from it without the store. Private to charts.c.
 */
#ifndef HONE_DRAWING_H
#define HONE_DRAWING_H

#include "series/charts.h"
#include "series/course.h"

struct drawing {
    struct charts_ask ask;
    int64_t experiment, trial;
    char *metric;
    struct query_chart *chart; /* NULL: never drawn, or a trace */
    size_t trace_max;          /* a trace keeps at most so many points; 0: it is none */
    double *x, *y;             /* (cap), n of them: of a trace, before any smoothing */
    size_t n, cap;
    bool drawn; /* … and it is the picture of this line */
    struct query_smooth smooth;
    struct course seen;  /* what the store said of it then */
    uint64_t rows, ties; /* of the last part: drawn; those of them at `last` */
    int64_t last, next;  /* the last x, as it is stored; the next step to count */
    int64_t last_step;   /* of the last row drawn */
    int64_t first_ns;    /* where CHARTS_RELATIVE begins */
    bool grows;          /* all rows have an x of their own, which never falls */
    uint64_t values;     /* read so far, over all drawings */
};
/* `metric` is copied. */
void drawing_init(struct drawing *drawing, const struct charts_ask *ask,
                  const struct charts_line *line);
void drawing_release(struct drawing *drawing);
/* Another line takes its place, and the memory of its picture. ask->bands is as before. */
void drawing_restart(struct drawing *drawing, const struct charts_ask *ask,
                     const struct charts_line *line);

/* A trace of at most so many points. Of ask only x counts. */
void drawing_init_trace(struct drawing *drawing, const struct charts_ask *ask,
                        const struct charts_line *line, size_t max);

enum drawing_done { DRAWING_SAME, DRAWING_GREW, DRAWING_DRAWN };
/* Draw what the store has by now. The chart is not NULL afterwards. `trace` is one of the same line
 * and x, or NULL: what must be drawn whole is drawn from it, and it is brought up to date for that,
 * unless the line is too long for it. */
enum drawing_done drawing_update(struct drawing *drawing, struct series_db *db,
                                 struct drawing *trace);

#endif
