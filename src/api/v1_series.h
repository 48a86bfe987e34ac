/* SPDX-License-Identifier: MIT */
/*
 * v1_series.h — POST /v1/series: curves of many trials, for a picture of so many columns. The
 * question is JSON, the answer little-endian bytes, every part 8-byte aligned:
 *
 *     "HSR2" u32 kind (0 lines, 1 groups) u32 n u32 zero; f64 x0, x1 (the view that was drawn)
 *     each line:   u32 points, marks; u64 count, nans; f64 first, per; u64 bytes (8 or 4);
 *                  x[points]; y[points]; f64 mark_x[marks]
 *     each group:  u32 points, trials; f64 x[points], middle[points], low[points], high[points]
 *
 * x is f64 if `per` is 0; else u32 k, and x is first + k / per, to the bit. y is f64 or f32, as
 * `bytes` says: f32 where that is exact. Both are filled up to 8 bytes. So what most programs tell,
 * steps and floats, takes half the room. A y that is NaN is a gap. count: all values in view, nans:
 * those of them that are no finite numbers; marks say where these are. x is for a picture: a step
 * from 2^53 on is the nearest double; as it was told it comes from /v1/experiments/N/samples
 * (v1_samples.h).
 */
#ifndef HONE_V1_SERIES_H
#define HONE_V1_SERIES_H

#include "base/json.h"
#include "series/charts.h"

#define SERIES_ASK_LINES 1000
#define SERIES_ASK_WIDTH 16384
#define SERIES_ASK_CELLS (4u << 20) /* groups: members × columns */

enum series_band { BAND_MINMAX, BAND_QUARTILES, BAND_INTERVAL };
struct series_ask_line {
    char *trial, *metric; /* "3.7", or "machine" for its own figures */
};
struct series_ask_group {
    VEC(size_t) lines;
};
struct series_ask {
    enum charts_x x;
    double from, to; /* NaN: that of the data */
    size_t width;
    double smooth; /* [0, 1) */
    VEC(struct series_ask_line) lines;
    bool grouped;
    VEC(struct series_ask_group) groups;
    bool median; /* else the mean */
    enum series_band band;
};
/* -EINVAL with a sentence. `ret` is released by the caller, also after an error. */
int series_ask_parse(const json_t *body, struct series_ask *ret, struct err *err);
void series_ask_release(struct series_ask *ask);

/* The answer where lines are asked for: its beginning, then each line; `left` says how many are to
 * come, with this one. */
void series_answer_begin(const struct series_ask *ask, const struct query_view *view,
                         struct str *to);
void series_answer_line(const struct series_ask *ask, const struct query_chart *chart, size_t left,
                        struct str *to);
/* The whole answer, from the picture of each line; all have the same view. */
void series_answer(const struct series_ask *ask, const struct query_view *view,
                   const struct query_chart *const *charts, struct str *to);

#endif
