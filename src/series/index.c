/* SPDX-License-Identifier: MIT */
/*
 * index.c — what is known of a source is gathered while its blocks come by, and laid down when it
 * ends: its columns side by side, each with its strands side by side.
 */
#include "series/index.h"

#include <assert.h>

void index_init(struct index *index)
{
    *index = (struct index){.name_text = STR_INIT};
}

void index_release(struct index *index)
{
    vec_release(&index->sources);
    vec_release(&index->groups);
    vec_release(&index->chunks);
    vec_release(&index->columns);
    vec_release(&index->strands);
    vec_release(&index->by_name);
    vec_release(&index->offsets);
    vec_release(&index->drops);
    vec_release(&index->name_ends);
    str_release(&index->name_text);
    vec_release(&index->now);
    vec_release(&index->now_strands);
    vec_release(&index->cells);
    map_release(&index->by_column);
}

void index_name(struct index *index, const char *text, size_t n)
{
    str_add_n(&index->name_text, text, n);
    vec_push(&index->name_ends, (uint64_t)index->name_text.len);
}

void index_drop(struct index *index, int64_t experiment, int64_t trial)
{
    struct memory_drop drop = {experiment, trial};
    vec_push(&index->drops, drop);
}

/* ---- a group ends: an offset for each chunk of each column ---- */
static int by_column_chunk(const void *a, const void *b)
{
    const struct index_cell *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

static void group_end(struct index *index)
{
    struct segment_group *group = index->in_group ? vec_last(&index->groups) : NULL;

    index->in_group = false;
    if (!group || !index->cells.len)
        return;
    qsort(index->cells.at, index->cells.len, sizeof(*index->cells.at), by_column_chunk);
    vec_foreach (cell, &index->cells) {
        if (cell == index->cells.at || cell->column != cell[-1].column) {
            struct index_strand strand = {cell->column, (uint32_t)index->groups.len - 1,
                                          index->offsets.len};
            vec_push(&index->now_strands, strand);
            for (uint32_t i = 0; i < group->chunks; i++)
                vec_push(&index->offsets, (uint64_t)0);
        }
        index->offsets.at[vec_last(&index->now_strands)->first_offset + cell->chunk] = cell->offset;
    }
    index->cells.len = 0;
}

/* ---- a source ends ---- */
static int by_column_group(const void *a, const void *b)
{
    const struct index_strand *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int by_name(const void *a, const void *b)
{
    const struct segment_by_name *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void put_columns(struct index *index, struct segment_source *source)
{
    source->first_column = (uint32_t)index->columns.len;
    source->columns = (uint32_t)index->now.len;
    vec_foreach (made, &index->now) {
        struct segment_by_name entry = {made->column.name, (uint32_t)index->columns.len};
        vec_push(&index->columns, made->column);
        vec_push(&index->by_name, entry);
    }
    vec_foreach (strand, &index->now_strands) {
        struct segment_strand made = {strand->group, 0, strand->first_offset};
        struct segment_column *column = &index->columns.at[source->first_column + strand->column];
        if (!column->strands++)
            column->first_strand = (uint32_t)index->strands.len;
        vec_push(&index->strands, made);
    }
    if (source->columns)
        qsort(index->by_name.at + source->first_column, source->columns, sizeof(*index->by_name.at),
              by_name);
}

static void source_end(struct index *index)
{
    group_end(index);
    if (!index->in_source)
        return;
    struct segment_source *source = vec_last(&index->sources);
    index->in_source = false;
    if (index->now_strands.len)
        qsort(index->now_strands.at, index->now_strands.len, sizeof(*index->now_strands.at),
              by_column_group);
    put_columns(index, source);
    source->groups = (uint32_t)index->groups.len - source->first_group;
    index->now.len = index->now_strands.len = 0;
    map_release(&index->by_column);
}

/* ---- what comes by ---- */
bool index_source(struct index *index, const struct segment_key *key)
{
    source_end(index);
    struct segment_source source = {key->experiment,
                                    key->trial,
                                    key->attempt,
                                    key->end,
                                    key->rows,
                                    (uint32_t)key->file,
                                    (uint32_t)index->groups.len,
                                    0,
                                    0,
                                    0,
                                    0};
    if (index->sources.len) {
        const struct segment_source *last = vec_last(&index->sources);
        struct series_source a = {last->experiment, last->trial, last->attempt, last->file};
        struct series_source b = {key->experiment, key->trial, key->attempt,
                                  (enum series_file)key->file};
        if (source_compare(&a, &b) >= 0)
            return false;
    }
    vec_push(&index->sources, source);
    index->in_source = true;
    return true;
}

void index_group(struct index *index)
{
    struct segment_group group = {(uint32_t)index->chunks.len, 0};

    group_end(index);
    assert(index->in_source);
    vec_push(&index->groups, group);
    index->in_group = true;
}

void index_chunk(struct index *index, uint64_t first_row, uint32_t count)
{
    struct segment_chunk chunk = {
        .first_step = INT64_MIN,
        .last_step = INT64_MIN,
        .first_ns = INT64_MIN,
        .last_ns = INT64_MIN,
        .first_row = first_row,
        .last_row = first_row + count - 1,
        .count = count,
    };
    assert(index->in_group && count > 0);
    vec_push(&index->chunks, chunk);
    vec_last(&index->groups)->chunks++;
}

void index_steps(struct index *index, uint64_t offset, const struct segment_span *span)
{
    struct segment_chunk *chunk = vec_last(&index->chunks);
    chunk->steps = offset;
    chunk->first_step = span->first;
    chunk->last_step = span->last;
}

void index_times(struct index *index, uint64_t offset, const struct segment_span *span)
{
    struct segment_chunk *chunk = vec_last(&index->chunks);
    chunk->times = offset;
    chunk->first_ns = span->first;
    chunk->last_ns = span->last;
}

void index_rising(struct index *index, enum segment_rising rising)
{
    vec_last(&index->chunks)->rising = rising;
}

void index_rows(struct index *index, uint64_t offset, uint64_t last_row)
{
    struct segment_chunk *chunk = vec_last(&index->chunks);
    chunk->rows = offset;
    chunk->last_row = last_row;
}

static uint32_t column_of(struct index *index, uint32_t name)
{
    void *slot = map_find(&index->by_column, name);

    if (slot)
        return (uint32_t)((uintptr_t)slot - 1);
    struct index_column made = {
        .column = {.name = name,
                   .first_step = INT64_MIN,
                   .last_step = INT64_MIN,
                   .first_ns = INT64_MIN,
                   .last_ns = INT64_MIN},
    };
    vec_push(&index->now, made);
    map_put(&index->by_column, name, (void *)(uintptr_t)index->now.len);
    return (uint32_t)index->now.len - 1;
}

static void stats_of(const struct segment_column *column, struct block_stats *ret)
{
    const struct segment_numbers *x = &column->numbers;
    *ret = (struct block_stats){column->count, column->nans, column->infs, x->min, x->max,
                                x->sum,        x->squares,   x->first,     x->last};
}

void index_values(struct index *index, uint32_t name, uint64_t offset,
                  const struct block_stats *stats)
{
    const struct segment_chunk *chunk = vec_last(&index->chunks);
    uint32_t place = column_of(index, name);
    struct index_cell cell = {place, vec_last(&index->groups)->chunks - 1, offset};
    struct index_column *made = &index->now.at[place];
    struct segment_column *column = &made->column;
    struct block_stats all;
    bool begun = column->count > 0;

    vec_push(&index->cells, cell);
    stats_of(column, &all);
    block_stats_add(&all, stats);
    if (!begun || chunk->first_row < made->first_row) {
        all.first = stats->first;
        made->first_row = chunk->first_row;
    } else {
        all.first = column->numbers.first;
    }
    if (!begun || chunk->last_row >= made->last_row) {
        all.last = stats->last;
        made->last_row = chunk->last_row;
    } else {
        all.last = column->numbers.last;
    }
    column->count = all.count;
    column->nans = all.nans;
    column->infs = all.infs;
    column->numbers =
        (struct segment_numbers){all.min, all.max, all.sum, all.squares, all.first, all.last};
    range_add(chunk->first_step, &column->first_step, &column->last_step);
    range_add(chunk->last_step, &column->first_step, &column->last_step);
    range_add(chunk->first_ns, &column->first_ns, &column->last_ns);
    range_add(chunk->last_ns, &column->first_ns, &column->last_ns);
}

/* ---- all of it ---- */
static void put_table(struct str *to, const void *at, size_t n, size_t size)
{
    static const char zeros[8];

    if (n)
        str_add_n(to, at, n * size);
    str_add_n(to, zeros, (8 - to->len % 8) % 8);
}

#define PUT(table) put_table(ret, index->table.at, index->table.len, sizeof(*index->table.at))
void index_finish(struct index *index, struct str *ret)
{
    source_end(index);
    struct segment_index_head head = {{
        index->sources.len,
        index->groups.len,
        index->chunks.len,
        index->columns.len,
        index->strands.len,
        index->by_name.len,
        index->offsets.len,
        index->drops.len,
        index->name_ends.len,
        index->name_text.len,
    }};
    put_table(ret, &head, 1, sizeof(head));
    PUT(sources);
    PUT(groups);
    PUT(chunks);
    PUT(columns);
    PUT(strands);
    PUT(by_name);
    PUT(offsets);
    PUT(drops);
    PUT(name_ends);
    put_table(ret, index->name_text.s, index->name_text.len, 1);
}
#undef PUT
