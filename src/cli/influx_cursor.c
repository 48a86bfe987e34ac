/* SPDX-License-Identifier: MIT */
/*
 * influx_cursor.c — positions in memory and as JSON. Names of metrics are any bytes: they are
 * written with %XX, so that they come back as they were.
 */
#include "cli/influx_cursor.h"

#include "base/crc32c.h"
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>

#define CURSOR_VERSION 1

void influx_cursor_init(struct influx_cursor *cursor, int64_t base_ns)
{
    *cursor = (struct influx_cursor){.base_ns = base_ns};
}

static void unit_free(struct influx_unit *unit)
{
    vec_foreach (metric, &unit->metrics)
        free(metric->name);
    vec_release(&unit->metrics);
    free(unit);
}

void influx_cursor_release(struct influx_cursor *cursor)
{
    vec_foreach (unit, &cursor->units)
        unit_free(*unit);
    vec_release(&cursor->units);
    vec_release(&cursor->sending);
    map_text_release(&cursor->places);
    map_text_release(&cursor->kinds);
    vec_foreach (name, &cursor->integers)
        free(*name);
    vec_release(&cursor->integers);
}

/* ---- places ---- */

static void key_begin(struct str *key, const struct series_source *source)
{
    str_addf(key, "%lld.%lld.%d ", (long long)source->trial, (long long)source->attempt,
             (int)source->file);
}

static struct influx_unit *unit_of(struct influx_cursor *cursor, const struct series_source *source,
                                   const char *name)
{
    autorelease(str) struct str key = STR_INIT;
    key_begin(&key, source);
    influx_measurement(name, &key);
    struct influx_unit *unit = map_text_find(&cursor->places, key.s);

    if (unit)
        return unit;
    unit = xcalloc(1, sizeof(*unit));
    unit->source = *source;
    unit->stamp = (struct influx_stamp)INFLUX_STAMP_INIT(cursor->base_ns);
    unit->done_stamp = unit->stamp;
    vec_push(&cursor->units, unit);
    map_text_put(&cursor->places, key.s, unit);
    return unit;
}

static struct influx_metric *metric_in(struct influx_unit *unit, const char *name)
{
    for (size_t i = 0, at = unit->next; i < unit->metrics.len; i++, at++) {
        struct influx_metric *metric = &unit->metrics.at[at % unit->metrics.len];
        if (str_eq(metric->name, name)) {
            unit->next = (at + 1) % unit->metrics.len;
            return metric;
        }
    }
    return NULL;
}

struct influx_metric *influx_cursor_metric(struct influx_cursor *cursor,
                                           const struct series_source *source, const char *name)
{
    struct influx_unit *unit = unit_of(cursor, source, name);
    struct influx_metric *metric = metric_in(unit, name);

    if (!metric) {
        struct influx_metric fresh = {.name = xstrdup(name), .id = SERIES_NAME_NONE};
        vec_push(&unit->metrics, fresh);
        metric = vec_last(&unit->metrics);
    }
    return metric;
}

/* ---- a batch ---- */

void influx_cursor_send(struct influx_cursor *cursor, struct influx_unit *unit)
{
    if (!unit->sending)
        vec_push(&cursor->sending, unit);
    unit->sending = true;
}

void influx_cursor_done(struct influx_cursor *cursor, const struct influx_batch *batch)
{
    vec_foreach (at, &cursor->sending) {
        struct influx_unit *unit = *at;
        unit->sending = false;
        unit->done_stamp = unit->stamp;
        vec_foreach (metric, &unit->metrics)
            metric->done = metric->at;
    }
    cursor->sending.len = 0;
    cursor->points += batch->points;
    cursor->left_out += batch->left_out;
}

/* ---- %XX ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

void percent_encode(const char *text, const char *keep, struct str *to)
{
    for (; *text; text++) {
        if (is_plain(*text) || strchr(keep, *text))
            str_add_char(to, *text);
        else
            str_addf(to, "%%%02X", (unsigned char)*text);
    }
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

void percent_decode(const char *text, size_t n, struct str *to)
{
    for (size_t i = 0; i < n; i++) {
        int high = text[i] == '%' && i + 2 < n ? digit(text[i + 1]) : -1;
        int low = high >= 0 ? digit(text[i + 2]) : -1;
        if (low < 0) {
            str_add_char(to, text[i]);
            continue;
        }
        str_add_char(to, (char)(high * 16 + low));
        i += 2;
    }
}

/* ---- JSON ---- */

static void put_positions(struct json_out *out, const struct influx_unit *unit, bool at)
{
    json_key(out, at ? "at" : "done");
    json_begin_object(out);
    vec_foreach (metric, &unit->metrics) {
        autorelease(str) struct str name = STR_INIT;
        percent_encode(metric->name, "/", &name);
        json_put_int(out, name.s, (int64_t)(at ? metric->at : metric->done));
    }
    json_end_object(out);
}

static void put_unit(struct json_out *out, const struct influx_unit *unit)
{
    json_begin_object(out);
    json_put_int(out, "trial", unit->source.trial);
    json_put_int(out, "attempt", unit->source.attempt);
    json_put_int(out, "file", (int64_t)unit->source.file);
    json_put_int(out, "raw", unit->done_stamp.raw);
    json_put_int(out, "out", unit->done_stamp.out);
    put_positions(out, unit, false);
    if (unit->sending)
        put_positions(out, unit, true);
    json_end_object(out);
}

/* Units of the batch come first, in its order. */
static enum influx_sent kind_of(const struct influx_cursor *cursor, const char *name)
{
    return (enum influx_sent)(uintptr_t)map_text_find(&cursor->kinds, name);
}

static void put_kind(struct influx_cursor *cursor, const char *name, enum influx_sent kind)
{
    map_text_put(&cursor->kinds, name, (void *)(uintptr_t)kind);
    if (kind == INFLUX_INTEGERS)
        vec_push(&cursor->integers, xstrdup(name));
}

void influx_cursor_settle(struct influx_cursor *cursor)
{
    vec_foreach (unit, &cursor->units)
        vec_foreach (metric, &(*unit)->metrics)
            if (metric->at && !kind_of(cursor, metric->name))
                put_kind(cursor, metric->name, INFLUX_FLOATS);
    vec_foreach (unit, &cursor->units)
        vec_foreach (metric, &(*unit)->metrics) {
            if (metric->whole && !kind_of(cursor, metric->name))
                put_kind(cursor, metric->name, INFLUX_INTEGERS);
            metric->whole = kind_of(cursor, metric->name) == INFLUX_INTEGERS;
        }
}

static void put_integers(struct json_out *out, const struct influx_cursor *cursor)
{
    json_key(out, "integers");
    json_begin_array(out);
    vec_foreach (name, &cursor->integers) {
        autorelease(str) struct str key = STR_INIT;
        percent_encode(*name, "/", &key);
        json_text(out, key.s);
    }
    json_end_array(out);
}

static void parse_integers(struct influx_cursor *cursor, const json_t *from)
{
    for (size_t i = 0; i < json_array_size(from); i++) {
        const char *key = json_string_value(json_array_get(from, i));
        autorelease(str) struct str name = STR_INIT;
        if (!key)
            continue;
        percent_decode(key, strlen(key), &name);
        put_kind(cursor, name.s, INFLUX_INTEGERS);
    }
}

void influx_cursor_format(const struct influx_cursor *cursor, const char *to, struct str *ret)
{
    struct json_out out = JSON_OUT(ret);

    json_begin_object(&out);
    json_put_int(&out, "version", CURSOR_VERSION);
    json_put_text(&out, "to", to);
    json_put_int(&out, "points", (int64_t)cursor->points);
    json_put_int(&out, "left_out", (int64_t)cursor->left_out);
    if (cursor->integers.len)
        put_integers(&out, cursor);
    json_key(&out, "series");
    json_begin_array(&out);
    vec_foreach (unit, &cursor->sending)
        put_unit(&out, *unit);
    vec_foreach (unit, &cursor->units)
        if (!(*unit)->sending)
            put_unit(&out, *unit);
    json_end_array(&out);
    json_end_object(&out);
}

static uint64_t position(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

static int parse_unit(struct influx_cursor *cursor, int64_t experiment, json_t *from)
{
    struct series_source source = {experiment, json_get_int(from, "trial", -1),
                                   json_get_int(from, "attempt", -1), SERIES_METRICS};
    int64_t file = json_get_int(from, "file", -1);
    json_t *done = json_object_get(from, "done"), *at = json_object_get(from, "at"), *value;
    struct influx_unit *unit = NULL;
    const char *key;

    if (source.trial < 0 || source.attempt < 0 || file < 0 || file >= SERIES_FILES)
        return -EINVAL;
    source.file = (enum series_file)file;
    json_object_foreach(done, key, value)
    {
        autorelease(str) struct str name = STR_INIT;
        percent_decode(key, strlen(key), &name);
        struct influx_metric *metric = influx_cursor_metric(cursor, &source, name.s);
        metric->done = metric->at = position(value);
        if (at)
            metric->at = MAX(metric->done, position(json_object_get(at, key)));
        unit = unit_of(cursor, &source, name.s);
    }
    if (!unit)
        return -EINVAL;
    unit->done_stamp.raw = json_get_int(from, "raw", INFLUX_NO_TIME);
    unit->done_stamp.out = json_get_int(from, "out", cursor->base_ns - 1);
    unit->stamp = unit->done_stamp;
    if (at)
        influx_cursor_send(cursor, unit);
    return 0;
}

int influx_cursor_parse(const char *text, size_t n, int64_t experiment,
                        struct influx_cursor *cursor, struct err *err)
{
    autofree(json) json_t *root = NULL;
    size_t i;
    json_t *unit;
    int r = json_parse(text, n, &root, err);

    if (r < 0)
        return r;
    if (json_get_int(root, "version", 0) != CURSOR_VERSION)
        return err_set(err, EINVAL, "it was written by another version of hone");
    cursor->points = position(json_object_get(root, "points"));
    cursor->left_out = position(json_object_get(root, "left_out"));
    parse_integers(cursor, json_object_get(root, "integers"));
    json_array_foreach(
        json_object_get(root, "series"), i,
        unit) if (parse_unit(cursor, experiment, unit) <
                  0) return err_set(err, EINVAL, "series %zu: no positions that could be read", i);
    return 0;
}

char *influx_cursor_name(int64_t experiment, const char *target)
{
    autorelease(str) struct str name = STR_INIT;
    uint32_t crc = crc32c_fast(0, target, strlen(target));

    str_addf(&name, "%" PRId64 "-", experiment);
    for (size_t i = 0; i < 64 && target[i]; i++)
        str_add_char(&name, is_plain(target[i]) ? target[i] : '_');
    str_addf(&name, "-%08x.json", crc);
    return str_take(&name);
}
