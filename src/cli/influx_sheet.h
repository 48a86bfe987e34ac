/* SPDX-License-Identifier: MIT */
/*
 * influx_sheet.h — the columns of an influx_table, read from where the samples are, a window at a
 * time.
 */
#ifndef HONE_INFLUX_SHEET_H
#define HONE_INFLUX_SHEET_H

#include "cli/influx_cursor.h"
#include "cli/samples.h"

#define INFLUX_WINDOW 65536 /* values of a metric in memory */

struct influx_window { /* values of one metric */
    VEC(int64_t) steps;
    VEC(int64_t) times_ns;
    VEC(double) values;
    VEC(uint16_t) rests; /* (values) */
};
struct influx_origin { /* of a column: its metric in the unit, the position of its first value */
    size_t metric;
    uint64_t from;
};
struct influx_sheet { /* a table and what it borrows */
    struct influx_table table;
    struct str head; /* measurement and tags: set before loading */
    VEC(struct influx_column) columns;
    VEC(struct influx_window) windows;
    VEC(struct influx_origin) origins;
    VEC(char *) fields;
};
void influx_sheet_release(struct influx_sheet *sheet);
/* What there is behind `at` of the unit's metrics, as much as fits into windows; `again`: from
 * `done` to `at`. 1; 0: nothing; or an error. */
int influx_sheet_load(struct influx_sheet *sheet, struct samples *samples,
                      const struct influx_unit *unit, bool again, struct err *err);
/* The unit's metrics are told as far as the table was. */
void influx_sheet_told(const struct influx_sheet *sheet, struct influx_unit *unit);

#endif
