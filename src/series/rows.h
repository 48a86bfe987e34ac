/* SPDX-License-Identifier: MIT */
/*
 * rows.h — the rows of a source in the order in which they came, all metrics together: what one
 * log call told stands together. Private to series/.
 */
#ifndef HONE_SERIES_ROWS_H
#define HONE_SERIES_ROWS_H

#include "series/db.h"

struct series_cell { /* a value of a row */
    uint32_t name;
    int64_t step, time_ns;
    double value;
    uint16_t rest; /* base/rest.h */
};
/* Rests are told with their values, not as cells of their own. */
typedef void series_cell_fn(const struct series_cell *cell, void *arg);
/* Values that do not count (series_db_lines) are left out. A chunk of each row group is held: 8 KiB
 * for a metric. Of a source with so many row groups that a merge took its rows apart (merge.c) each
 * metric keeps its order, and rows come apart. */
void series_db_rows(struct series_db *db, const struct series_source *source, series_cell_fn *fn,
                    void *arg);

#endif
