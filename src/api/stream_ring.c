/* SPDX-License-Identifier: MIT */
/*
 * stream_ring.c — event i lies at i % size; those before `first` are gone.
 */
#include "api/stream_ring.h"
#include "api/rows_text.h"
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

struct ring {
    uint64_t boot, first, next; /* numbers of events: [first, next); they begin with 1 */
    _Atomic uint64_t newest;    /* next - 1, for other threads */
    size_t size, bytes, max_bytes;
    struct str *events; /* (size) */
};

struct ring *ring_new(uint64_t boot, size_t max_events, size_t max_bytes)
{
    struct ring *ring = xcalloc(1, sizeof(*ring));

    assert(max_events > 0);
    ring->boot = boot;
    ring->first = ring->next = 1;
    ring->size = max_events;
    ring->max_bytes = max_bytes;
    ring->events = xcalloc(max_events, sizeof(*ring->events));
    return ring;
}

static void forget_first(struct ring *ring)
{
    struct str *event = &ring->events[ring->first++ % ring->size];

    ring->bytes -= event->len;
    str_release(event);
}

void ring_free(struct ring *ring)
{
    while (ring->first < ring->next)
        forget_first(ring);
    free(ring->events);
    free(ring);
}

/* "3.7" → 7; 0: there is none. */
static int64_t trial_of(const json_t *event)
{
    const char *text = json_get_text(event, "trial", "");
    const char *dot = strrchr(text, '.');

    return dot ? atoll(dot + 1) : 0;
}

static void put_change(struct json_out *out, int64_t experiment, const json_t *event,
                       int64_t wall_us)
{
    int64_t trial = trial_of(event);
    const char *key;
    json_t *value;

    json_begin_object(out);
    json_put_int(out, "experiment", experiment);
    json_key(out, "trial");
    if (trial)
        json_int(out, trial);
    else
        json_null_out(out);
    json_put_time(out, "time", wall_us);
    json_object_foreach((json_t *)event, key, value)
    {
        if (str_eq(key, "experiment") || str_eq(key, "trial") || str_eq(key, "time"))
            continue;
        json_key(out, key);
        json_value(out, value);
    }
    json_end_object(out);
}

static void write_cursor(const struct ring *ring, uint64_t number, char ret[RING_CURSOR_SIZE])
{
    char *to = hex_put(ret, ring->boot);

    *to++ = '-';
    *digits_put(to, number) = '\0';
}

static void put_cursor(const struct ring *ring, uint64_t number, struct str *to)
{
    char text[RING_CURSOR_SIZE];

    write_cursor(ring, number, text);
    str_add(to, text);
}

const struct str *ring_add(struct ring *ring, int64_t experiment, const char *json, int64_t wall_us)
{
    autofree(json) json_t *event = NULL;
    struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_parse(json, strlen(json), &event, NULL); /* ours; were it none, the change alone is told */
    str_add(&text, "id: ");
    put_cursor(ring, ring->next, &text);
    str_add(&text, "\nevent: change\ndata: ");
    put_change(&out, experiment, event, wall_us);
    str_add(&text, "\n\n");
    while (ring->first < ring->next &&
           (ring->next - ring->first >= ring->size || ring->bytes + text.len > ring->max_bytes))
        forget_first(ring);
    struct str *place = &ring->events[ring->next++ % ring->size];
    ring->bytes += text.len;
    *place = text;
    atomic_store(&ring->newest, ring->next - 1);
    return place;
}

void ring_cursor(const struct ring *ring, struct str *to)
{
    put_cursor(ring, ring->next - 1, to);
}

void ring_cursor_now(const struct ring *ring, char ret[RING_CURSOR_SIZE])
{
    write_cursor(ring, atomic_load(&ring->newest), ret);
}

/* The number in a cursor of ours: one that was given out. */
static bool read_cursor(const struct ring *ring, const char *cursor, uint64_t *ret)
{
    autorelease(str) struct str same = STR_INIT;
    unsigned long long number;
    const char *dash = strchr(cursor, '-');

    if (!dash || sscanf(dash + 1, "%20llu", &number) != 1 || number >= ring->next)
        return false;
    put_cursor(ring, number, &same);
    *ret = number;
    return str_eq(same.s, cursor);
}

int ring_after(const struct ring *ring, const char *cursor, size_t max_bytes, struct str *to)
{
    size_t bytes = 0;
    uint64_t heard;

    if (!read_cursor(ring, cursor, &heard) || heard + 1 < ring->first)
        return -ESTALE;
    for (uint64_t i = heard + 1; i < ring->next; i++)
        bytes += ring->events[i % ring->size].len;
    if (bytes > max_bytes)
        return -ESTALE;
    for (uint64_t i = heard + 1; i < ring->next; i++)
        str_add_n(to, ring->events[i % ring->size].s, ring->events[i % ring->size].len);
    return 0;
}
