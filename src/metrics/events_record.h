/* SPDX-License-Identifier: MIT */
/*
 * events_record.h — one record of an event file. Private to metrics/.
 */
#ifndef HONE_METRICS_EVENTS_RECORD_H
#define HONE_METRICS_EVENTS_RECORD_H

#include "base/str.h"
#include "metrics/events.h"
#include "metrics/proto.h"

struct events_value {
    const uint8_t *tag; /* in the payload */
    size_t n;
    double value;
};
struct events_setting {
    struct events_param param;
    size_t name, text; /* where they begin in `texts` */
};
/* Emptied for each record; the memory stays. */
struct events_record {
    double wall_s;
    int64_t step;
    VEC(struct events_value) values;
    VEC(struct events_setting) settings;
    struct str texts; /* of the settings, NUL behind each */
    enum events_outcome outcome;
};
/* False: it is no Event, and `ret` is void. */
bool events_record_read(const uint8_t *payload, size_t n, struct events_record *ret);
void events_record_release(struct events_record *record);

#endif
