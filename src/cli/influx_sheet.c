/* SPDX-License-Identifier: MIT */
/*
 * influx_sheet.c — from positions to columns, a window of 65,536 values at a time.
 */
#include "cli/influx_sheet.h"

static void clear(struct influx_sheet *sheet)
{
    vec_foreach (window, &sheet->windows) {
        vec_release(&window->steps);
        vec_release(&window->times_ns);
        vec_release(&window->values);
        vec_release(&window->rests);
    }
    vec_foreach (field, &sheet->fields)
        free(*field);
    sheet->columns.len = sheet->windows.len = sheet->fields.len = sheet->origins.len = 0;
}

void influx_sheet_release(struct influx_sheet *sheet)
{
    clear(sheet);
    str_release(&sheet->head);
    vec_release(&sheet->columns);
    vec_release(&sheet->windows);
    vec_release(&sheet->origins);
    vec_release(&sheet->fields);
}

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct influx_window *window = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        vec_push(&window->steps, chunk->steps[i]);
        vec_push(&window->times_ns, chunk->times_ns[i]);
        vec_push(&window->values, chunk->values[i]);
        vec_push(&window->rests, series_chunk_rest(chunk, i));
    }
    return 0;
}

/* A column of what one metric has from `from` to `to`. 1; 0: nothing; or an error. */
static int load_metric(struct influx_sheet *sheet, struct samples *samples,
                       const struct influx_unit *unit, struct influx_origin origin, uint64_t to,
                       struct err *err)
{
    const struct influx_metric *metric = &unit->metrics.at[origin.metric];
    struct samples_series series = {
        .source = unit->source, .metric = metric->name, .id = metric->id, .whole = metric->whole};
    uint64_t want = MIN(to - origin.from, (uint64_t)INFLUX_WINDOW);
    struct influx_window window = {.values = {NULL, 0, 0}};
    autorelease(str) struct str field = STR_INIT;
    int r = samples->ops->read(samples, &series, origin.from, origin.from + want, on_chunk, &window,
                               err);
    size_t n = window.values.len;

    influx_field(metric->name, &field);
    struct influx_column column = {.field = str_take(&field),
                                   .n = n,
                                   .steps = window.steps.at,
                                   .times_ns = window.times_ns.at,
                                   .values = window.values.at,
                                   .rests = window.rests.at,
                                   .whole = metric->whole,
                                   .more = n == want && origin.from + n < to};
    vec_push(&sheet->fields, (char *)column.field);
    vec_push(&sheet->windows, window);
    vec_push(&sheet->columns, column);
    vec_push(&sheet->origins, origin);
    return r < 0 ? r : n > 0;
}

int influx_sheet_load(struct influx_sheet *sheet, struct samples *samples,
                      const struct influx_unit *unit, bool again, struct err *err)
{
    bool some = false, exact = false;

    clear(sheet);
    for (size_t i = 0; i < unit->metrics.len; i++) {
        const struct influx_metric *metric = &unit->metrics.at[i];
        struct influx_origin origin = {i, again ? metric->done : metric->at};
        uint64_t to = again ? metric->at : metric->total;
        if (metric->id == SERIES_NAME_NONE || origin.from >= to)
            continue;
        int r = load_metric(sheet, samples, unit, origin, to, err);
        if (r < 0)
            return r;
        some |= r > 0;
        exact |= metric->lines;
    }
    sheet->table = (struct influx_table){.head = sheet->head.s,
                                         .stamp = unit->stamp,
                                         .columns = sheet->columns.at,
                                         .n = sheet->columns.len,
                                         .exact = exact};
    return some;
}

void influx_sheet_told(const struct influx_sheet *sheet, struct influx_unit *unit)
{
    unit->stamp = sheet->table.stamp;
    for (size_t i = 0; i < sheet->columns.len; i++) {
        const struct influx_origin *origin = &sheet->origins.at[i];
        unit->metrics.at[origin->metric].at = origin->from + sheet->columns.at[i].at;
    }
}
