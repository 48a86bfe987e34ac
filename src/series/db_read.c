/* SPDX-License-Identifier: MIT */
/*
 * db_read.c — what callers see of the rows: a source's parts, oldest first, told as one.
 */
#include "series/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lists ---- */
static void info_add(struct series_db *db, const struct series_info *info)
{
    while (db->slots.len <= info->name)
        vec_push(&db->slots, 0u);
    uint32_t *slot = &db->slots.at[info->name];
    if (!*slot) {
        vec_push(&db->infos, *info);
        *slot = (uint32_t)db->infos.len;
        return;
    }
    struct series_info *to = &db->infos.at[*slot - 1];
    block_stats_add(&to->stats, &info->stats);
    range_add(info->first_step, &to->first_step, &to->last_step);
    range_add(info->last_step, &to->first_step, &to->last_step);
    range_add(info->first_ns, &to->first_ns, &to->last_ns);
    range_add(info->last_ns, &to->first_ns, &to->last_ns);
}

static void list_memory(struct series_db *db, const struct memory_source *source, uint32_t name)
{
    if (name != SERIES_NAME_NONE) {
        struct memory_column *column = memory_column(source, name);
        if (column)
            info_add(db, memory_column_info(source, column));
        return;
    }
    vec_foreach (column, &source->columns)
        info_add(db, memory_column_info(source, column));
}

static void list_segment(struct series_db *db, const struct place *place, const struct part *part,
                         uint32_t name)
{
    const struct segment *segment = part->layer->segment;
    const struct segment_source *source = segment_source(segment, part->index);
    struct series_info info = {.source = place->key};

    if (name != SERIES_NAME_NONE) {
        const struct segment_column *column = segment_column(segment, part->index, name);
        if (column) {
            segment_info(segment, column, &info);
            info_add(db, &info);
        }
        return;
    }
    for (uint32_t i = 0; i < source->columns; i++) {
        segment_info(segment, &segment->columns[source->first_column + i], &info);
        info_add(db, &info);
    }
}

static int measure(const struct series_chunk *chunk, void *arg)
{
    struct series_info *to = arg;

    block_stats_add(&to->stats, chunk->stats);
    range_add(chunk->first_step, &to->first_step, &to->last_step);
    range_add(chunk->last_step, &to->first_step, &to->last_step);
    range_add(chunk->first_ns, &to->first_ns, &to->last_ns);
    range_add(chunk->last_ns, &to->first_ns, &to->last_ns);
    return 0;
}

/* Without the values that do not count. */
static void measure_last(struct series_db *db, const struct place *place, struct series_info *info)
{
    struct db_replaced replaced;

    db_replaced_find(db, place, info->name, &replaced);
    if (replaced.len) {
        *info = (struct series_info){.source = info->source,
                                     .name = info->name,
                                     .first_step = INT64_MIN,
                                     .last_step = INT64_MIN,
                                     .first_ns = INT64_MIN,
                                     .last_ns = INT64_MIN,
                                     .replaced = replaced.len};
        db_read_last(db, place, info->name, &replaced, measure, info);
    }
    vec_release(&replaced);
}

static int tell_info(struct series_db *db, const struct place *place, size_t i, series_info_fn *fn,
                     void *arg)
{
    struct series_info info = db->infos.at[i];

    measure_last(db, place, &info);
    if (!db->every)
        series_db_ends(db, &info);
    return fn(&info, arg);
}

static int list_place(struct series_db *db, const struct place *place, uint32_t name,
                      series_info_fn *fn, void *arg)
{
    int r = 0;

    db->infos.len = 0;
    vec_foreach (part, &place->parts) {
        if (part->memory)
            list_memory(db, part->memory, name);
        else
            list_segment(db, place, part, name);
    }
    vec_foreach (info, &db->infos)
        db->slots.at[info->name] = 0;
    for (size_t i = 0; i < db->infos.len && r == 0; i++)
        if (name != SERIES_NAME_NONE || !intern_is_rest(&db->intern, db->infos.at[i].name))
            r = tell_info(db, place, i, fn, arg);
    return r;
}

int series_db_list(struct series_db *db, int64_t experiment, int64_t trial, uint32_t name,
                   series_info_fn *fn, void *arg)
{
    size_t i = directory_from(&db->directory, experiment, trial < 0 ? INT64_MIN : trial);
    int r = 0;

    for (; i < db->directory.places.len && r == 0; i++) {
        const struct place *place = db->directory.places.at[i];
        if (place->key.experiment != experiment || (trial >= 0 && place->key.trial != trial))
            break;
        r = list_place(db, place, name, fn, arg);
    }
    return r;
}

int series_db_names(struct series_db *db, int64_t experiment, int64_t trial, series_info_fn *fn,
                    void *arg)
{
    bool every = db->every;

    db->every = true;
    int r = series_db_list(db, experiment, trial, SERIES_NAME_NONE, fn, arg);
    db->every = every;
    return r;
}

static bool part_has(const struct part *part, uint32_t name)
{
    return part->memory ? memory_column(part->memory, name) != NULL
                        : segment_column(part->layer->segment, part->index, name) != NULL;
}

bool series_db_has_rests(struct series_db *db, int64_t experiment, uint32_t name)
{
    uint32_t rest = intern_rest(&db->intern, name, false);
    size_t i =
        rest == SERIES_NAME_NONE ? SIZE_MAX : directory_from(&db->directory, experiment, INT64_MIN);

    for (; i < db->directory.places.len; i++) {
        const struct place *place = db->directory.places.at[i];
        if (place->key.experiment != experiment)
            break;
        vec_foreach (part, &place->parts)
            if (part_has(part, rest))
                return true;
    }
    return false;
}

bool series_wholes_ask(struct series_wholes *wholes, struct series_db *db,
                       const struct series_info *info)
{
    while (wholes->known.len <= info->name)
        vec_push(&wholes->known, 0);
    signed char *known = &wholes->known.at[info->name];
    if (!*known)
        *known = series_db_has_rests(db, info->source.experiment, info->name) ? 1 : -1;
    return *known > 0;
}

/* ---- values ---- */
struct column_names { /* of a metric, and of its rests; NONE: nobody has such */
    uint32_t values, rests;
};

static int load_memory(struct strand *strand)
{
    const struct memory_group *group = strand->group;
    struct strand_rows *now = &strand->now;

    while (strand->next < group->rows.len) {
        size_t from = strand->next;
        now->n = MIN(group->rows.len - from, BLOCK_VALUES);
        strand->next += now->n;
        memory_gather(group, strand->place, from, now->n, strand->values);
        if (strand->rest)
            memory_gather(group, strand->rest_place, from, now->n, strand->rests);
        now->steps = group->steps.at + from;
        now->times_ns = group->times_ns.at + from;
        now->rows = group->rows.at + from;
        now->values = strand->values;
        now->rests = strand->rest ? strand->rests : NULL;
        strand_rows_measure(now);
        if (range_meets(strand->range, now))
            return 1;
    }
    return 0;
}

/* Where the rests of a metric are in a group; the group's width if it has none. */
static uint32_t find_rest(const struct memory_group *group, uint32_t rest)
{
    uint32_t i = 0;

    while (i < group->n && (rest == SERIES_NAME_NONE || group->names[i] != rest))
        i++;
    return i;
}

static int read_memory(const struct memory_source *source, struct column_names name,
                       const struct series_range *range, series_chunk_fn *fn, void *arg)
{
    const struct memory_column *column = memory_column(source, name.values);
    size_t n = column ? column->strands.len : 0;

    if (!n)
        return 0;
    autofree(mem) struct strand *strands = xmalloc(n * sizeof(*strands));
    for (size_t i = 0; i < n; i++) {
        const struct memory_strand *at = &column->strands.at[i];
        const struct memory_group *group = source->groups.at[at->group];
        strands[i].load = load_memory;
        strands[i].group = group;
        strands[i].place = at->place;
        strands[i].rest_place = find_rest(group, name.rests);
        strands[i].rest = strands[i].rest_place < group->n ? group : NULL;
        strands[i].next = strands[i].at = strands[i].now.n = 0;
        strands[i].range = range;
    }
    return strands_read(strands, n, fn, arg);
}

static int read_segment(struct series_db *db, const struct part *part, struct column_names name,
                        const struct series_range *range, series_chunk_fn *fn, void *arg)
{
    struct segment_reader reader = {part->layer->segment, db_note_fn, db};
    const struct segment_column *column = segment_column(reader.segment, part->index, name.values);
    const struct segment_column *rests =
        name.rests == SERIES_NAME_NONE ? NULL
                                       : segment_column(reader.segment, part->index, name.rests);

    if (!column)
        return 0;
    autofree(mem) struct strand *strands = xmalloc(column->strands * sizeof(*strands));
    for (uint32_t i = 0; i < column->strands; i++)
        segment_strand_init(&strands[i], &reader, column, rests, i, range);
    return strands_read(strands, column->strands, fn, arg);
}

int db_read_parts(struct series_db *db, const struct place *place, uint32_t name,
                  const struct series_range *range, series_chunk_fn *fn, void *arg)
{
    struct column_names names = {name, intern_rest(&db->intern, name, false)};
    int r = 0;

    for (size_t i = 0; i < place->parts.len && r == 0; i++) {
        const struct part *part = &place->parts.at[i];
        if (part->memory)
            r = read_memory(part->memory, names, range ? range : &series_all, fn, arg);
        else
            r = read_segment(db, part, names, range ? range : &series_all, fn, arg);
    }
    return r;
}

int series_db_read(struct series_db *db, const struct series_source *source, uint32_t name,
                   const struct series_range *range, series_chunk_fn *fn, void *arg)
{
    const struct place *place = directory_find(&db->directory, source);
    struct db_replaced replaced;

    if (!place)
        return 0;
    db_replaced_find(db, place, name, &replaced);
    int r = replaced.len ? db_read_last(db, place, name, &replaced, fn, arg)
                         : db_read_parts(db, place, name, range, fn, arg);
    vec_release(&replaced);
    return r;
}

/* ---- heads ---- */
struct head {
    uint64_t row;
    struct block_stats stats;
    int64_t first_step, last_step, first_ns, last_ns;
};
struct heads {
    VEC(struct head) at;
};

static int by_row(const void *a, const void *b)
{
    const struct head *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void heads_of_segment(const struct part *part, uint32_t name, struct heads *ret)
{
    const struct segment *segment = part->layer->segment;
    const struct segment_column *column = segment_column(segment, part->index, name);

    for (uint32_t i = 0; column && i < column->strands; i++) {
        const struct segment_strand *strand = &segment->strands[column->first_strand + i];
        const struct segment_group *group = &segment->groups[strand->group];
        for (uint32_t j = 0; j < group->chunks; j++) {
            const struct segment_chunk *chunk = &segment->chunks[group->first_chunk + j];
            uint64_t offset = segment_offset(segment, strand, j);
            struct head head = {.row = chunk->first_row,
                                .first_step = chunk->first_step,
                                .last_step = chunk->last_step,
                                .first_ns = chunk->first_ns,
                                .last_ns = chunk->last_ns};
            if (offset && segment_stats(segment, offset, &head.stats))
                vec_push(&ret->at, head);
        }
    }
    if (column && column->strands > 1 && ret->at.len)
        qsort(ret->at.at, ret->at.len, sizeof(*ret->at.at), by_row);
}

struct telling {
    series_chunk_fn *fn;
    void *arg;
};

static int tell_head(const struct series_chunk *chunk, void *arg)
{
    const struct telling *telling = arg;
    struct series_chunk head = *chunk;

    head.steps = head.times_ns = NULL;
    head.values = NULL;
    return telling->fn(&head, telling->arg);
}

static int headers_of(const struct part *part, uint32_t name, series_chunk_fn *fn, void *arg)
{
    struct telling telling = {fn, arg};
    struct heads heads = {0};
    int r = 0;

    if (part->memory) {
        struct column_names names = {name, SERIES_NAME_NONE};
        return read_memory(part->memory, names, &series_all, tell_head, &telling);
    }
    heads_of_segment(part, name, &heads);
    for (size_t i = 0; i < heads.at.len && r == 0; i++) {
        const struct head *head = &heads.at.at[i];
        struct series_chunk chunk = {.n = head->stats.count,
                                     .stats = &head->stats,
                                     .first_step = head->first_step,
                                     .last_step = head->last_step,
                                     .first_ns = head->first_ns,
                                     .last_ns = head->last_ns};
        r = fn(&chunk, arg);
    }
    vec_release(&heads.at);
    return r;
}

int series_db_headers(struct series_db *db, const struct series_source *source, uint32_t name,
                      series_chunk_fn *fn, void *arg)
{
    const struct place *place = directory_find(&db->directory, source);
    struct telling telling = {fn, arg};
    struct db_replaced replaced;
    int r = 0;

    if (!place)
        return 0;
    db_replaced_find(db, place, name, &replaced);
    if (replaced.len)
        r = db_read_last(db, place, name, &replaced, tell_head, &telling);
    for (size_t i = 0; !replaced.len && i < place->parts.len && r == 0; i++)
        r = headers_of(&place->parts.at[i], name, fn, arg);
    vec_release(&replaced);
    return r;
}
