/* SPDX-License-Identifier: MIT */
/*
 * events.c — the frame of an event file: bytes to records, records to samples.
 *
 * Whole records are read where they lie in the input; only the one that the input breaks off in is
 * copied. A record whose payload has a wrong CRC is passed over: its length was right. After a
 * wrong CRC of a length nothing can be trusted, and the rest of the file is left unread, as
 * TensorBoard does it.
 *
 * Invariant: `rest` holds the beginning of one record, and never a whole one.
 */
#include "metrics/events.h"

#include "base/crc32c.h"
#include "metrics/events_record.h"

#include <ctype.h>
#include <math.h>

#define HEAD   12 /* u64 length, u32 CRC */
#define FOOT   4
#define FAMILY "events.out.tfevents."

struct events {
    struct events_sink sink;
    struct str rest;
    struct str name; /* PREFIX/ and behind it the tag */
    size_t n_prefix;
    uint64_t skip;    /* bytes of a long record still to come */
    uint64_t skipped; /* … and all of it */
    uint64_t end;
    struct events_record record;
    struct events_counts counts;
};

struct events *events_new(const char *prefix, const struct events_sink *sink)
{
    struct events *events = xcalloc(1, sizeof(*events));

    *events = (struct events){
        .sink = *sink, .rest = STR_INIT, .name = STR_INIT, .record = {.texts = STR_INIT}};
    str_add(&events->name, prefix);
    if (*prefix)
        str_add_char(&events->name, '/');
    events->n_prefix = events->name.len;
    return events;
}

void events_free(struct events *events)
{
    events_record_release(&events->record);
    str_release(&events->rest);
    str_release(&events->name);
    free(events);
}

const struct events_counts *events_counts(const struct events *events)
{
    return &events->counts;
}

uint64_t events_end(const struct events *events)
{
    return events->end;
}

bool events_whole(const struct events *events)
{
    return !events->counts.stopped && !events->rest.len && !events->skip;
}

/* ---- a record ---- */

/* The tag behind the prefix; NULL: it cannot be a name. "hone.…" is what programs answer us. */
static const char *name_of(struct events *events, const struct events_value *value)
{
    struct str *name = &events->name;

    if (!value->n || value->n + events->n_prefix > EVENTS_NAME_MAX)
        return NULL;
    str_cut(name, events->n_prefix);
    str_add_n(name, (const char *)value->tag, value->n);
    for (char *c = name->s; c < name->s + name->len; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            *c = '_';
    return str_starts(name->s, "hone.") ? NULL : name->s;
}

static int64_t time_of(double wall_s)
{
    return wall_s > 0 && wall_s < 9e9 ? (int64_t)llround(wall_s * 1e6) : 0;
}

static void emit_values(struct events *events)
{
    const struct events_record *record = &events->record;
    struct sample sample = {.step = record->step == STEP_NONE ? 0 : record->step,
                            .time_us = time_of(record->wall_s)};

    vec_foreach (value, &record->values) {
        sample.metric = name_of(events, value);
        sample.value = value->value;
        if (!sample.metric) {
            events->counts.left_out++;
            continue;
        }
        events->counts.samples++;
        events->sink.on_sample(&sample, events->sink.arg);
    }
}

static void emit_params(struct events *events)
{
    struct events_record *record = &events->record;

    if (record->outcome != EVENTS_UNKNOWN)
        events->counts.outcome = record->outcome;
    if (!events->sink.on_param)
        return;
    vec_foreach (setting, &record->settings) {
        setting->param.name = record->texts.s + setting->name;
        setting->param.text = record->texts.s + setting->text;
        events->sink.on_param(&setting->param, events->sink.arg);
    }
}

static uint32_t masked_crc(const void *bytes, size_t n)
{
    uint32_t crc = crc32c_fast(0, bytes, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static uint64_t little(const char *bytes, size_t n)
{
    uint64_t value = 0;

    for (size_t i = n; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static void read_record(struct events *events, const char *payload, size_t n)
{
    events->counts.records++;
    if (little(payload + n, FOOT) != masked_crc(payload, n) ||
        !events_record_read((const uint8_t *)payload, n, &events->record)) {
        if (events->counts.bad_records++ == 0)
            events->counts.bad_at = events->end;
        return;
    }
    emit_values(events);
    emit_params(events);
}

/* ---- the frame ---- */

/* What the record at `bytes` needs in all, as far as n bytes of it tell; 0: its length is wrong. */
static uint64_t record_size(const char *bytes, size_t n)
{
    if (n < HEAD)
        return HEAD;
    if (little(bytes + 8, 4) != masked_crc(bytes, 8))
        return 0;
    uint64_t length = little(bytes, 8);
    return length > INT64_MAX ? 0 : HEAD + length + FOOT;
}

/* Take one record, or a part of one that is passed over. Returns the bytes used; 0: more are
 * needed. */
static size_t take(struct events *events, const char *bytes, size_t n)
{
    if (events->skip) {
        size_t now = (size_t)MIN(events->skip, n);
        events->skip -= now;
        if (!events->skip)
            events->end += events->skipped;
        return now;
    }
    uint64_t size = record_size(bytes, n);
    events->counts.stopped = size == 0;
    if (size > EVENTS_RECORD_MAX) {
        events->counts.long_records++;
        events->skip = events->skipped = size;
        return take(events, bytes, n);
    }
    if (size == 0 || size > n || n < HEAD)
        return 0;
    read_record(events, bytes + HEAD, (size_t)size - HEAD - FOOT);
    events->end += size;
    return (size_t)size;
}

/* Fill up the record that was broken off. Returns the bytes used of the input. */
static size_t top_up(struct events *events, const char *bytes, size_t n)
{
    struct str *rest = &events->rest;
    size_t used = 0;

    while (rest->len && used < n && !events->counts.stopped) {
        uint64_t size = record_size(rest->s, rest->len);
        size_t more = size > rest->len ? (size_t)MIN(size - rest->len, n - used) : 0;
        str_add_n(rest, bytes + used, more);
        used += more;
        size_t taken = take(events, rest->s, rest->len);
        if (taken)
            str_cut(rest, 0); /* all of it: it held no more than one record */
    }
    return used;
}

void events_feed(struct events *events, const char *bytes, size_t n)
{
    size_t at = top_up(events, bytes, n), used = 1;

    while (at < n && used && !events->counts.stopped) {
        used = take(events, bytes + at, n - at);
        at += used;
    }
    if (at < n && !events->counts.stopped)
        str_add_n(&events->rest, bytes + at, n - at);
    if (events->counts.stopped)
        str_cut(&events->rest, 0);
}

/* ---- file names ---- */

bool events_file_name(const char *name)
{
    return strstr(name, "tfevents") != NULL;
}

/* SECONDS.HOST, SECONDS.HOST.PID.N (torch), SECONDS.HOST.PID.N.v2 (TensorFlow). A host's name may
 * have dots, and parts that are numbers. */
void events_file_origin(const char *name, int64_t *ret_s, int64_t *ret_pid)
{
    const char *at = strstr(name, FAMILY);
    int pid = 0, serial = 0, used = 0;

    *ret_s = *ret_pid = 0;
    if (!at || !isdigit((unsigned char)at[strlen(FAMILY)]))
        return;
    *ret_s = strtoll(at + strlen(FAMILY), NULL, 10);
    for (const char *dot = strchr(at + strlen(FAMILY), '.'); dot; dot = strchr(dot + 1, '.'))
        if (sscanf(dot, ".%9d.%9d%n", &pid, &serial, &used) == 2 && used > 0 && pid > 0 &&
            (!dot[used] || str_eq(dot + used, ".v2")))
            *ret_pid = pid;
}
