/* SPDX-License-Identifier: MIT */
/*
 * picture.h — what the live view shows, as lines: from the document of view.h to texts that fit a
 * terminal of a given size. Pure; view.c brings them to the screen.
 */
#ifndef HONE_PICTURE_H
#define HONE_PICTURE_H

#include "base/json.h"

struct picture_line {
    char *text;   /* with colours, if any; no newline */
    size_t width; /* columns it takes */
};
struct picture {
    VEC(struct picture_line) lines;
};
#define PICTURE_INIT                                                                               \
    {                                                                                              \
        {                                                                                          \
            NULL, 0, 0                                                                             \
        }                                                                                          \
    }

struct picture_frame {
    size_t columns, rows; /* no line is wider, there are not more lines */
    bool colour;
    int64_t now_us; /* wall time, for the clock time of the end */
};

/* Draw anew; the old lines are replaced. */
void picture_draw(struct picture *picture, const json_t *document,
                  const struct picture_frame *frame);
void picture_clear(struct picture *picture);

/* The same in one plain line, for logs. */
void picture_status(const json_t *document, struct str *to);

#endif
