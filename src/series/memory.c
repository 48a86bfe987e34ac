/* SPDX-License-Identifier: MIT */
/*
 * memory.c — rows in memory: groups grow row by row, statistics are made when somebody asks.
 */
#include "series/memory.h"

#include "base/rng.h"
#include "model/trial.h"
#include "series/intern.h"
#include "series/wal.h"

#include <assert.h>
#include <errno.h>

struct memory *memory_new(uint64_t number, const struct intern *intern)
{
    struct memory *memory = xcalloc(1, sizeof(*memory));
    memory->number = number;
    memory->intern = intern;
    return memory;
}

static void source_clear(struct memory_source *source)
{
    vec_foreach (group, &source->groups) {
        free((*group)->names);
        vec_release(&(*group)->steps);
        vec_release(&(*group)->times_ns);
        vec_release(&(*group)->rows);
        vec_release(&(*group)->values);
        free(*group);
    }
    vec_release(&source->groups);
    vec_foreach (column, &source->columns)
        vec_release(&column->strands);
    vec_release(&source->columns);
    map_release(&source->shapes);
    map_release(&source->by_name);
    source->end = source->rows = source->last = 0;
}

void memory_free(struct memory *memory)
{
    vec_foreach (source, &memory->sources) {
        source_clear(*source);
        free(*source);
    }
    vec_release(&memory->sources);
    map_release(&memory->by_key);
    vec_release(&memory->names);
    vec_release(&memory->handle_name);
    vec_release(&memory->local);
    vec_release(&memory->drops);
    free(memory);
}

/* ---- sources and names ---- */
uint64_t source_hash(const struct series_source *source)
{
    uint64_t hash = hash_u64((uint64_t)source->experiment);

    hash = hash_u64(hash ^ (uint64_t)source->trial);
    return hash_u64(hash ^ ((uint64_t)source->attempt * SERIES_FILES + source->file));
}

int source_compare(const struct series_source *a, const struct series_source *b)
{
    if (a->experiment != b->experiment)
        return a->experiment < b->experiment ? -1 : 1;
    if (a->trial != b->trial)
        return a->trial < b->trial ? -1 : 1;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

/* Two sources of one hash lie side by side. */
struct memory_source *memory_find(const struct memory *memory, const struct series_source *key)
{
    struct memory_source *source;

    if (memory->recent && source_compare(&memory->recent->key, key) == 0)
        return memory->recent;
    for (uint64_t hash = source_hash(key); (source = map_find(&memory->by_key, hash)); hash++)
        if (source_compare(&source->key, key) == 0)
            return source;
    return NULL;
}

struct memory_source *memory_source(struct memory *memory, const struct series_source *key)
{
    struct memory_source *source = memory_find(memory, key);

    if (!source) {
        uint64_t hash = source_hash(key);
        while (map_find(&memory->by_key, hash))
            hash++;
        source = xcalloc(1, sizeof(*source));
        source->key = *key;
        source->intern = memory->intern;
        map_put(&memory->by_key, hash, source);
        vec_push(&memory->sources, source);
    }
    memory->recent = source;
    return source;
}

void memory_define(struct memory *memory, uint32_t number, uint32_t name, const char *text)
{
    while (memory->names.len <= number) {
        vec_push(&memory->names, NULL);
        vec_push(&memory->handle_name, SERIES_NAME_NONE);
    }
    while (memory->local.len <= name)
        vec_push(&memory->local, SERIES_NAME_NONE);
    memory->names.at[number] = text;
    memory->handle_name.at[number] = name;
    memory->local.at[name] = number;
}

/* ---- groups ---- */
static struct memory_group *group_of(const struct memory_source *source, uint64_t hash,
                                     const uint32_t *names, size_t n, uint32_t *ret)
{
    void *slot;

    for (; (slot = map_find(&source->shapes, hash)); hash++) {
        *ret = (uint32_t)((uintptr_t)slot - 1);
        struct memory_group *group = source->groups.at[*ret];
        if (group->n == n && memcmp(group->names, names, n * sizeof(*names)) == 0)
            return group;
    }
    return NULL;
}

static struct memory_column *column_add(struct memory_source *source, uint32_t name)
{
    struct memory_column *column = memory_column(source, name);

    if (column)
        return column;
    struct memory_column made = {
        .name = name,
        .info = {.source = source->key,
                 .name = name,
                 .first_step = STEP_NONE,
                 .last_step = STEP_NONE,
                 .first_ns = INT64_MIN,
                 .last_ns = INT64_MIN},
    };
    vec_push(&source->columns, made);
    map_put(&source->by_name, name, (void *)(uintptr_t)source->columns.len);
    return vec_last(&source->columns);
}

static struct memory_group *group_add(struct memory_source *source, uint64_t hash,
                                      const uint32_t *names, size_t n, uint32_t *ret)
{
    struct memory_group *group = xcalloc(1, sizeof(*group));

    group->n = (uint32_t)n;
    group->names = xmemdup(names, n * sizeof(*names));
    *ret = (uint32_t)source->groups.len;
    vec_push(&source->groups, group);
    while (map_find(&source->shapes, hash))
        hash++;
    map_put(&source->shapes, hash, (void *)(uintptr_t)source->groups.len);
    for (uint32_t i = 0; i < n; i++) {
        struct memory_strand strand = {*ret, i, 0};
        vec_push(&column_add(source, names[i])->strands, strand);
    }
    return group;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool has_twice(const uint32_t *names, size_t n)
{
    autofree(mem) uint32_t *sorted = xmemdup(names, n * sizeof(*names));

    qsort(sorted, n, sizeof(*sorted), by_number);
    for (size_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1])
            return true;
    return false;
}

static void group_push(struct memory_group *group, const struct series_row *row, uint64_t number,
                       const double *values)
{
    vec_push(&group->steps, row->step);
    vec_push(&group->times_ns, row->time_ns);
    vec_push(&group->rows, number);
    vec_reserve(&group->values, group->values.len + group->n);
    memcpy(group->values.at + group->values.len, values, group->n * sizeof(*values));
    group->values.len += group->n;
}

static struct memory_group *group_find_or_add(struct memory_source *source, const uint32_t *names,
                                              size_t n)
{
    uint64_t hash = hash_bytes(names, n * sizeof(*names), n);
    struct memory_group *group = group_of(source, hash, names, n, &source->last);

    if (group)
        return group;
    if (n > 1 && (source->groups.len >= MEMORY_GROUPS || has_twice(names, n)))
        return n == 2 && names[0] != names[1] && intern_is_rest(source->intern, names[1])
                   ? group_add(source, hash, names, n, &source->last)
                   : NULL;
    return group_add(source, hash, names, n, &source->last);
}

/* A value and its rest, of a row that is taken apart. */
static size_t pair_at(const struct memory_source *source, const struct series_row *row, size_t i)
{
    bool pair = i + 1 < row->n && row->names[i] != row->names[i + 1] &&
                intern_is_rest(source->intern, row->names[i + 1]);
    return pair ? 2 : 1;
}

static bool fits(const struct memory_group *group, const struct series_row *row)
{
    return group->n == row->n &&
           memcmp(group->names, row->names, row->n * sizeof(*row->names)) == 0;
}

void memory_add(struct memory_source *source, const struct series_row *row)
{
    struct memory_group *group = NULL;
    uint64_t number = source->rows++;

    source->end = MAX(source->end, row->end);
    if (source->last < source->groups.len && fits(source->groups.at[source->last], row))
        group = source->groups.at[source->last];
    else
        group = group_find_or_add(source, row->names, row->n);
    if (group) {
        group_push(group, row, number, row->values);
        return;
    }
    for (size_t i = 0, n; i < row->n; i += n) {
        n = pair_at(source, row, i);
        group = group_find_or_add(source, &row->names[i], n);
        assert(group);
        group_push(group, row, number, &row->values[i]);
    }
}

void memory_drop(struct memory *memory, int64_t experiment, int64_t trial)
{
    struct memory_drop drop = {experiment, trial};

    vec_foreach (source, &memory->sources)
        if (drop_matches(&drop, &(*source)->key))
            source_clear(*source);
    vec_push(&memory->drops, drop);
}

/* ---- columns ---- */
struct memory_column *memory_column(const struct memory_source *source, uint32_t name)
{
    void *slot = map_find(&source->by_name, name);
    return slot ? &source->columns.at[(uintptr_t)slot - 1] : NULL;
}

void memory_gather(const struct memory_group *group, uint32_t place, size_t from, size_t n,
                   double *ret)
{
    const double *value = group->values.at + from * group->n + place;

    assert(from + n <= group->rows.len);
    for (size_t i = 0; i < n; i++, value += group->n)
        ret[i] = *value;
}

/* Groups interleave: what was first and last is told by the rows' numbers. */
static void count_rows(struct memory_column *column, const struct memory_group *group,
                       uint32_t place, size_t from, size_t n)
{
    double values[BLOCK_VALUES];
    struct block_stats stats, *all = &column->info.stats;
    double first = all->first, last = all->last;
    bool begun = all->count > 0;
    uint64_t first_row = group->rows.at[from], last_row = group->rows.at[from + n - 1];

    memory_gather(group, place, from, n, values);
    block_stats(values, n, &stats);
    block_stats_add(all, &stats);
    all->first = begun && column->first_row <= first_row ? first : stats.first;
    all->last = begun && column->last_row > last_row ? last : stats.last;
    column->first_row = begun ? MIN(column->first_row, first_row) : first_row;
    column->last_row = begun ? MAX(column->last_row, last_row) : last_row;
    for (size_t i = from; i < from + n; i++) {
        range_add(group->steps.at[i], &column->info.first_step, &column->info.last_step);
        range_add(group->times_ns.at[i], &column->info.first_ns, &column->info.last_ns);
    }
}

const struct series_info *memory_column_info(const struct memory_source *source,
                                             struct memory_column *column)
{
    vec_foreach (strand, &column->strands) {
        const struct memory_group *group = source->groups.at[strand->group];
        while (strand->counted < group->rows.len) {
            size_t n = MIN(group->rows.len - strand->counted, BLOCK_VALUES);
            count_rows(column, group, strand->place, strand->counted, n);
            strand->counted += n;
        }
    }
    return &column->info;
}

/* ---- a log's record ---- */
static int replay_name(struct memory *memory, struct intern *intern,
                       const struct wal_record *record)
{
    uint32_t number = 0;
    const char *text = NULL;
    size_t n = 0;
    int r = wal_get_name(record, &number, &text, &n);

    if (r < 0)
        return r;
    uint32_t name = intern_add(intern, text, n);
    memory_define(memory, number, name, intern->texts.at[name]);
    return 0;
}

static int replay_rows(struct memory *memory, const struct wal_record *record)
{
    struct wal_rows rows;
    int r = wal_rows_init(&rows, record);

    while (r >= 0 && (r = wal_rows_next(&rows)) > 0) {
        vec_foreach (number, &rows.names)
            if (*number >= memory->names.len || !memory->names.at[*number])
                r = -ENOKEY;
        if (r < 0)
            break;
        autofree(mem) uint32_t *names = xmalloc(rows.row.n * sizeof(*names));
        for (size_t i = 0; i < rows.row.n; i++)
            names[i] = memory->handle_name.at[rows.names.at[i]];
        struct series_row row = rows.row;
        row.names = names;
        memory_add(memory_source(memory, &rows.source), &row);
    }
    wal_rows_release(&rows);
    return r;
}

int memory_replay(struct memory *memory, struct intern *intern, const struct wal_record *record,
                  struct err *err)
{
    int64_t experiment, trial;
    int r = 0;

    if (record->type == WAL_NAME)
        r = replay_name(memory, intern, record);
    else if (record->type == WAL_ROWS)
        r = replay_rows(memory, record);
    else if (record->type == WAL_DROP && (r = wal_get_drop(record, &experiment, &trial)) == 0)
        memory_drop(memory, experiment, trial);
    else if (record->type == WAL_BEGIN && (record->size != strlen(WAL_VERSION) ||
                                           memcmp(record->payload, WAL_VERSION, record->size) != 0))
        return err_set(err, EPROTO, "it was written by another version of hone");
    if (r == -ENOKEY)
        return err_set(err, EBADMSG, "a row names a metric that was lost");
    return r < 0 ? err_set(err, EBADMSG, "a record cannot be read") : 0;
}
