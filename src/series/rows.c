/* SPDX-License-Identifier: MIT */
/*
 * rows.c — the row groups of a source side by side, woven by their rows' numbers. A heap says whose
 * row is next; of groups with the same number (a row that was taken apart) the older one.
 */
#include "series/rows.h"

#include "series/inside.h"

struct cursor { /* a row group */
    size_t order;
    const struct memory_group *memory; /* NULL: in a segment */
    const struct segment_reader *reader;
    const struct segment_group *group;
    VEC(struct cursor_column {
        uint32_t name;
        const struct segment_strand *strand;
        bool there; /* in this chunk */
    })
    columns;
    uint32_t *rests; /* (its metrics) where their rests are; NULL: there are none */
    uint32_t next;   /* chunk of a segment */
    size_t n, at;    /* rows that are loaded; those that were told */
    const int64_t *steps, *times_ns;
    const uint64_t *rows;
    struct loaded *loaded; /* of a segment */
    double *values;        /* (columns, BLOCK_VALUES) */
};
struct loaded {
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    uint64_t rows[BLOCK_VALUES];
};
struct weave {
    VEC(struct cursor) cursors;
    VEC(struct cursor *) heap; /* the earliest first */
};

static void weave_release(struct weave *weave)
{
    vec_foreach (cursor, &weave->cursors) {
        vec_release(&cursor->columns);
        free(cursor->rests);
        free(cursor->loaded);
        free(cursor->values);
    }
    vec_release(&weave->cursors);
    vec_release(&weave->heap);
}

/* ---- groups ---- */

static void add_memory(struct weave *weave, const struct memory_source *source)
{
    vec_foreach (group, &source->groups) {
        struct cursor cursor = {.order = weave->cursors.len,
                                .memory = *group,
                                .n = (*group)->rows.len,
                                .steps = (*group)->steps.at,
                                .times_ns = (*group)->times_ns.at,
                                .rows = (*group)->rows.at};
        vec_push(&weave->cursors, cursor);
    }
}

static void add_segment(struct weave *weave, const struct segment_reader *reader, uint32_t index)
{
    const struct segment *segment = reader->segment;
    const struct segment_source *source = segment_source(segment, index);

    for (uint32_t i = 0; i < source->groups; i++) {
        struct cursor cursor = {.order = weave->cursors.len,
                                .reader = reader,
                                .group = &segment->groups[source->first_group + i]};
        vec_push(&weave->cursors, cursor);
    }
    for (uint32_t i = 0; i < source->columns; i++) {
        const struct segment_column *column = &segment->columns[source->first_column + i];
        for (uint32_t j = 0; j < column->strands; j++) {
            const struct segment_strand *strand = &segment->strands[column->first_strand + j];
            struct cursor_column made = {segment->handle_name[column->name], strand, false};
            if (strand->group - source->first_group < source->groups)
                vec_push(&weave->cursors.at[strand->group - source->first_group].columns, made);
        }
    }
}

static size_t width_of(const struct cursor *cursor)
{
    return cursor->memory ? cursor->memory->n : cursor->columns.len;
}

static uint32_t name_at(const struct cursor *cursor, size_t i)
{
    return cursor->memory ? cursor->memory->names[i] : cursor->columns.at[i].name;
}

#define REST_NOWHERE UINT32_MAX       /* a metric without rests */
#define REST_ITSELF  (UINT32_MAX - 1) /* a column of rests */

static void find_rests(struct cursor *cursor, struct intern *intern)
{
    size_t n = width_of(cursor);

    cursor->rests = xmalloc((n + 1) * sizeof(*cursor->rests));
    for (size_t i = 0; i < n; i++)
        cursor->rests[i] = intern_is_rest(intern, name_at(cursor, i)) ? REST_ITSELF : REST_NOWHERE;
    for (size_t i = 0; i < n; i++) {
        uint32_t rest = intern_rest(intern, name_at(cursor, i), false);
        for (size_t k = 0; k < n && rest != SERIES_NAME_NONE; k++)
            if (name_at(cursor, k) == rest)
                cursor->rests[i] = (uint32_t)k;
    }
}

static bool load_chunk(struct cursor *cursor)
{
    const struct segment *segment = cursor->reader->segment;
    const struct segment_chunk *chunk = &segment->chunks[cursor->group->first_chunk + cursor->next];
    struct block_stats stats;
    bool any = false;

    if (!cursor->loaded) {
        cursor->loaded = xmalloc(sizeof(*cursor->loaded));
        cursor->values = xcalloc(cursor->columns.len * BLOCK_VALUES, sizeof(*cursor->values));
        cursor->steps = cursor->loaded->steps;
        cursor->times_ns = cursor->loaded->times_ns;
        cursor->rows = cursor->loaded->rows;
    }
    cursor->n = MIN(chunk->count, BLOCK_VALUES);
    segment_chunk_rows(cursor->reader, chunk, cursor->loaded->steps, cursor->loaded->times_ns,
                       cursor->loaded->rows);
    for (size_t i = 0; i < cursor->columns.len; i++) {
        struct cursor_column *column = &cursor->columns.at[i];
        uint64_t offset = segment_offset(segment, column->strand, cursor->next);
        column->there = segment_chunk_values(cursor->reader, offset, cursor->n,
                                             cursor->values + i * BLOCK_VALUES, &stats);
        any |= column->there;
    }
    return any;
}

/* Is there a row at hand? */
static bool has_row(struct cursor *cursor)
{
    if (cursor->at < cursor->n)
        return true;
    if (cursor->memory || !cursor->columns.len)
        return false;
    while (cursor->next < cursor->group->chunks) {
        bool any = load_chunk(cursor);
        cursor->next++;
        cursor->at = 0;
        if (any && cursor->n)
            return true;
    }
    return false;
}

/* ---- the heap ---- */

static bool before(const struct cursor *a, const struct cursor *b)
{
    uint64_t x = a->rows[a->at], y = b->rows[b->at];
    return x != y ? x < y : a->order < b->order;
}

static void sink(struct weave *weave, size_t i)
{
    struct cursor **heap = weave->heap.at;

    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < weave->heap.len && before(heap[left], heap[least]))
            least = left;
        if (right < weave->heap.len && before(heap[right], heap[least]))
            least = right;
        if (least == i)
            return;
        struct cursor *other = heap[i];
        heap[i] = heap[least];
        heap[least] = other;
        i = least;
    }
}

static bool is_there(const struct cursor *cursor, size_t i)
{
    return cursor->memory || cursor->columns.at[i].there;
}

static double value_at(const struct cursor *cursor, size_t i)
{
    const struct memory_group *memory = cursor->memory;

    return memory ? memory->values.at[cursor->at * memory->n + i]
                  : cursor->values[i * BLOCK_VALUES + cursor->at];
}

static uint16_t rest_at(const struct cursor *cursor, size_t i, double value)
{
    uint32_t at = cursor->rests ? cursor->rests[i] : REST_NOWHERE;

    return at < REST_ITSELF && is_there(cursor, at) ? rest_checked(value, value_at(cursor, at)) : 0;
}

static void tell_row(const struct cursor *cursor, series_cell_fn *fn, void *arg)
{
    size_t at = cursor->at, n = width_of(cursor);
    struct series_cell cell = {.step = cursor->steps[at], .time_ns = cursor->times_ns[at]};

    for (size_t i = 0; i < n; i++) {
        if (!is_there(cursor, i) || (cursor->rests && cursor->rests[i] == REST_ITSELF))
            continue;
        cell.name = name_at(cursor, i);
        cell.value = value_at(cursor, i);
        cell.rest = rest_at(cursor, i, cell.value);
        fn(&cell, arg);
    }
}

static void tell_all(struct weave *weave, series_cell_fn *fn, void *arg)
{
    vec_foreach (cursor, &weave->cursors)
        if (has_row(cursor))
            vec_push(&weave->heap, cursor);
    for (size_t i = weave->heap.len / 2; i > 0; i--)
        sink(weave, i - 1);
    while (weave->heap.len) {
        struct cursor *cursor = weave->heap.at[0];
        tell_row(cursor, fn, arg);
        cursor->at++;
        if (!has_row(cursor))
            weave->heap.at[0] = weave->heap.at[--weave->heap.len];
        sink(weave, 0);
    }
}

/* ---- cells that count ---- */

struct sieve_metric {
    struct db_replaced replaced;
    size_t next;
    uint64_t place; /* of its next value */
};
struct sieve {
    struct series_db *db;
    const struct place *from;
    series_cell_fn *fn;
    void *arg;
    struct map places; /* name → metrics[i], as i + 1 */
    VEC(struct sieve_metric) metrics;
};

static struct sieve_metric *metric_of(struct sieve *sieve, uint32_t name)
{
    uintptr_t place = (uintptr_t)map_find(&sieve->places, name);

    if (!place) {
        struct sieve_metric made = {.next = 0};
        db_replaced_find(sieve->db, sieve->from, name, &made.replaced);
        vec_push(&sieve->metrics, made);
        place = sieve->metrics.len;
        map_put(&sieve->places, name, (void *)place);
    }
    return &sieve->metrics.at[place - 1];
}

static void sift(const struct series_cell *cell, void *arg)
{
    struct sieve *sieve = arg;
    struct sieve_metric *metric = metric_of(sieve, cell->name);
    const struct db_replaced *replaced = &metric->replaced;

    if (metric->next < replaced->len && replaced->at[metric->next] == metric->place++)
        metric->next++;
    else
        sieve->fn(cell, sieve->arg);
}

static void sieve_release(struct sieve *sieve)
{
    vec_foreach (metric, &sieve->metrics)
        vec_release(&metric->replaced);
    vec_release(&sieve->metrics);
    map_release(&sieve->places);
}

static void rows_of(struct series_db *db, const struct place *place, series_cell_fn *fn, void *arg)
{
    for (size_t i = 0; i < place->parts.len; i++) {
        const struct part *part = &place->parts.at[i];
        struct segment_reader reader = {part->layer->segment, db_note_fn, db};
        autorelease(weave) struct weave weave = {0};
        if (part->memory)
            add_memory(&weave, part->memory);
        else
            add_segment(&weave, &reader, part->index);
        vec_foreach (cursor, &weave.cursors)
            if (db->intern.rests)
                find_rests(cursor, &db->intern);
        tell_all(&weave, fn, arg);
    }
}

void series_db_rows(struct series_db *db, const struct series_source *source, series_cell_fn *fn,
                    void *arg)
{
    const struct place *place = directory_find(&db->directory, source);
    autorelease(sieve) struct sieve sieve = {
        .db = db, .from = place, .fn = fn, .arg = arg, .places = MAP_INIT};

    if (place && series_db_is_lines(db, source))
        rows_of(db, place, sift, &sieve);
    else if (place)
        rows_of(db, place, fn, arg);
}
