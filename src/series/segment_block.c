/* SPDX-License-Identifier: MIT */
/*
 * segment_block.c — the blocks of a segment: one of them checked and decoded, all of them walked
 * over to make a lost index anew or to look for damage.
 */
#include "series/segment.h"

#include "base/crc32c.h"
#include "model/trial.h"
#include "series/index.h"
#include "series/mapping.h"

#include <assert.h>
#include <errno.h>

static const unsigned char *payload_of(const unsigned char *bytes, uint64_t at,
                                       const struct segment_head *head)
{
    return bytes + at + head->length;
}

static bool payload_sound(const unsigned char *bytes, uint64_t at, const struct segment_head *head)
{
    return crc32c_fast(0, payload_of(bytes, at, head), head->size) == head->crc;
}

const unsigned char *segment_block(const struct segment *segment, uint64_t offset,
                                   enum segment_kind kind, struct segment_head *ret)
{
    if (!segment_head_get(segment->bytes, segment->size, offset, ret) || ret->kind != kind ||
        !payload_sound(segment->bytes, offset, ret))
        return NULL;
    return payload_of(segment->bytes, offset, ret);
}

static struct block_stats stats_of(const struct segment_head *head)
{
    const struct segment_numbers *x = &head->numbers;

    return (struct block_stats){head->count, head->nans, head->infs, x->min, x->max,
                                x->sum,      x->squares, x->first,   x->last};
}

bool segment_stats(const struct segment *segment, uint64_t offset, struct block_stats *ret)
{
    struct segment_head head;

    if (!segment_head_get(segment->bytes, segment->size, offset, &head) ||
        head.kind != SEGMENT_VALUES)
        return false;
    *ret = stats_of(&head);
    return true;
}

/* ---- chunks ---- */
static void tell_lost(const struct segment_reader *reader, const char *what, uint64_t offset)
{
    autofree(mem) char *text = xasprintf("%s: the block of %s at %llu is damaged and left out",
                                         reader->segment->path, what, (unsigned long long)offset);
    reader->note(text, reader->arg);
}

static bool chunk_ints(const struct segment_reader *reader, uint64_t offset, size_t n,
                       enum segment_kind kind, int64_t *ret)
{
    static const char *const what[SEGMENT_KINDS] = {
        [SEGMENT_STEPS] = "steps", [SEGMENT_TIMES] = "times", [SEGMENT_ROWS] = "rows' numbers"};
    struct segment_head head;
    uint64_t losses;
    bool sound;

    if (!offset)
        return false;
    do {
        losses = mapping_losses();
        const unsigned char *payload = segment_block(reader->segment, offset, kind, &head);
        sound = payload && head.count == n && block_get_ints(payload, head.size, n, ret) == 0;
    } while (losses != mapping_losses()); /* it may have been lost between check and use */
    if (!sound)
        tell_lost(reader, what[kind], offset);
    return sound;
}

/* By copies, each twice as long as the one before. n ≥ 1. */
static void fill(int64_t *to, size_t n, int64_t x)
{
    to[0] = x;
    for (size_t done = 1; done < n; done *= 2)
        memcpy(to + done, to, MIN(done, n - done) * sizeof(*to));
}

void segment_chunk_rows(const struct segment_reader *reader, const struct segment_chunk *chunk,
                        int64_t *ret_steps, int64_t *ret_times, uint64_t *ret_rows)
{
    size_t n = chunk->count;

    if (ret_steps && !chunk_ints(reader, chunk->steps, n, SEGMENT_STEPS, ret_steps))
        fill(ret_steps, n, STEP_NONE);
    if (ret_times && !chunk_ints(reader, chunk->times, n, SEGMENT_TIMES, ret_times))
        fill(ret_times, n, INT64_MIN);
    if (!ret_rows || chunk_ints(reader, chunk->rows, n, SEGMENT_ROWS, (int64_t *)ret_rows))
        return;
    for (size_t i = 0; i < n; i++)
        ret_rows[i] = chunk->first_row + i;
}

static bool chunk_rises(const struct segment_reader *reader, const struct segment_chunk *chunk,
                        int64_t *last)
{
    int64_t times[BLOCK_VALUES], before = *last;
    size_t n = MIN(chunk->count, BLOCK_VALUES);

    if (chunk->rising == RISING) {
        *last = chunk->last_ns;
        return chunk->first_ns > before;
    }
    if (chunk->rising == RISING_NOT || !chunk->times ||
        !chunk_ints(reader, chunk->times, n, SEGMENT_TIMES, times))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (times[i] <= *last)
            return false;
        *last = times[i];
    }
    return true;
}

bool segment_group_rises(struct segment *segment, const struct segment_reader *reader,
                         uint32_t group)
{
    enum { UNKNOWN, RISES, FALLS };
    const struct segment_group *at = &segment->groups[group];
    int64_t last = INT64_MIN;
    bool rises = true;

    if (!segment->rising)
        segment->rising = xcalloc(segment->counts[TABLE_GROUPS] + 1, sizeof(*segment->rising));
    if (segment->rising[group] == UNKNOWN) {
        for (uint32_t i = 0; i < at->chunks && rises; i++)
            rises = chunk_rises(reader, &segment->chunks[at->first_chunk + i], &last);
        segment->rising[group] = rises ? RISES : FALLS;
    }
    return segment->rising[group] == RISES;
}

bool segment_chunk_values(const struct segment_reader *reader, uint64_t offset, size_t n,
                          double *ret, struct block_stats *ret_stats)
{
    struct segment_head head;
    uint64_t losses;
    bool sound;

    if (!offset)
        return false;
    do {
        losses = mapping_losses();
        const unsigned char *payload =
            segment_block(reader->segment, offset, SEGMENT_VALUES, &head);
        sound = payload && head.count == n && block_get_doubles(payload, head.size, n, ret) == 0;
    } while (losses != mapping_losses());
    if (sound)
        *ret_stats = stats_of(&head);
    else
        tell_lost(reader, "values", offset);
    return sound;
}

uint64_t segment_offset(const struct segment *segment, const struct segment_strand *strand,
                        uint32_t i)
{
    uint64_t at = strand->first_offset + i;
    return at < segment->counts[TABLE_OFFSETS] ? segment->offsets[at] : 0;
}

/* ---- a column of a group ---- */
/* Without its rests a whole number is the nearest double. */
static void load_rests(struct strand *strand, uint32_t i, size_t n)
{
    const struct segment_reader *reader = strand->arg;
    struct block_stats stats;
    bool there = strand->rest &&
                 segment_chunk_values(reader, segment_offset(reader->segment, strand->rest, i), n,
                                      strand->rests, &stats);

    strand->now.rests = there ? strand->rests : NULL;
}

static int load(struct strand *strand)
{
    const struct segment_reader *reader = strand->arg;
    const struct segment *segment = reader->segment;
    const struct segment_strand *at = strand->from;
    const struct segment_group *group = strand->group;
    struct strand_rows *now = &strand->now;

    while (strand->next < group->chunks) {
        uint64_t offset = segment_offset(segment, at, (uint32_t)strand->next);
        struct segment_chunk chunk = segment->chunks[group->first_chunk + strand->next++];
        now->first_step = chunk.first_step;
        now->last_step = chunk.last_step;
        now->first_ns = chunk.first_ns;
        now->last_ns = chunk.last_ns;
        if (!range_meets(strand->range, now) ||
            !segment_chunk_values(reader, offset, chunk.count, strand->values, &now->stats))
            continue;
        load_rests(strand, (uint32_t)strand->next - 1, chunk.count);
        segment_chunk_rows(reader, &chunk, now->steps ? strand->steps : NULL,
                           now->times_ns ? strand->times_ns : NULL,
                           strand->place ? strand->rows : NULL);
        now->n = chunk.count;
        return 1;
    }
    return 0;
}

/* The strand of a column that lies in a group; NULL: none does. */
static const struct segment_strand *strand_in(const struct segment *segment,
                                              const struct segment_column *column, uint32_t group)
{
    for (uint32_t i = 0; column && i < column->strands; i++) {
        const struct segment_strand *strand = &segment->strands[column->first_strand + i];
        if (strand->group == group)
            return strand;
    }
    return NULL;
}

void segment_strand_init(struct strand *strand, const struct segment_reader *reader,
                         const struct segment_column *column, const struct segment_column *rests,
                         uint32_t i, const struct series_range *range)
{
    const struct segment *segment = reader->segment;
    const struct segment_strand *at = &segment->strands[column->first_strand + i];

    strand->load = load;
    strand->from = at;
    strand->group = &segment->groups[at->group];
    strand->rest = strand_in(segment, rests, at->group);
    strand->place = column->strands > 1; /* numbers of rows are wanted, and all else is woven */
    strand->next = 0;
    strand->range = range;
    strand->arg = (void *)(uintptr_t)reader;
    strand->at = 0;
    bool all = strand->place;
    strand->now =
        (struct strand_rows){.steps = range->no_steps && !all ? NULL : strand->steps,
                             .times_ns = range->no_times && !all ? NULL : strand->times_ns,
                             .rows = strand->rows,
                             .values = strand->values};
}

/* ---- all blocks ---- */
struct rebuild {
    const struct segment *segment;
    struct index index;
    bool in_source, in_group, in_chunk;
    uint32_t source, group;
    uint64_t row;
    uint32_t count;
};

static void know_names(struct rebuild *rebuild, uint32_t n)
{
    while (rebuild->index.name_ends.len < n && n <= SERIES_NAMES_MAX) {
        autofree(mem) char *text = xasprintf("(lost name %zu)", rebuild->index.name_ends.len);
        index_name(&rebuild->index, text, strlen(text));
    }
}

static void on_name(struct rebuild *rebuild, const struct segment_head *head,
                    const unsigned char *payload)
{
    if (head->name >= SERIES_NAMES_MAX || head->size == 0 || head->size > SERIES_NAME_MAX ||
        memchr(payload, '\0', head->size))
        return;
    know_names(rebuild, head->name);
    if (rebuild->index.name_ends.len == head->name)
        index_name(&rebuild->index, (const char *)payload, head->size);
}

static void on_source(struct rebuild *rebuild, const struct segment_head *head,
                      const unsigned char *payload)
{
    struct segment_key key;

    rebuild->in_source = rebuild->in_group = rebuild->in_chunk = false;
    if (head->size != sizeof(key))
        return;
    memcpy(&key, payload, sizeof(key));
    rebuild->source = head->source;
    rebuild->in_source = key.file < SERIES_FILES && index_source(&rebuild->index, &key);
}

/* True if the block belongs to the source in hand, and its chunk is begun. */
static bool find_chunk(struct rebuild *rebuild, const struct segment_head *head)
{
    if (!rebuild->in_source || head->source != rebuild->source)
        return false;
    if (!rebuild->in_group || head->group != rebuild->group) {
        index_group(&rebuild->index);
        rebuild->in_group = true;
        rebuild->in_chunk = false;
        rebuild->group = head->group;
    }
    if (!rebuild->in_chunk || head->row != rebuild->row) {
        index_chunk(&rebuild->index, head->row, head->count);
        rebuild->in_chunk = true;
        rebuild->row = head->row;
        rebuild->count = head->count;
    }
    return head->count == rebuild->count;
}

static void on_column(struct rebuild *rebuild, const struct segment_head *head, uint64_t offset)
{

    if (!find_chunk(rebuild, head))
        return;
    if (head->kind == SEGMENT_VALUES) {
        if (head->name >= SERIES_NAMES_MAX)
            return;
        struct block_stats stats = stats_of(head);
        know_names(rebuild, head->name + 1);
        index_values(&rebuild->index, head->name, offset, &stats);
        return;
    }
    if (head->kind == SEGMENT_STEPS)
        index_steps(&rebuild->index, offset, &head->span);
    else if (head->kind == SEGMENT_TIMES)
        index_times(&rebuild->index, offset, &head->span);
    else
        index_rows(&rebuild->index, offset, (uint64_t)head->span.last);
}

void segment_rebuild(struct segment *segment, struct str *ret)
{
    struct rebuild rebuild = {.segment = segment};
    struct segment_head head;
    uint64_t at = 8;

    index_init(&rebuild.index);
    while (segment_next(segment->bytes, segment->size, at, &at, &head)) {
        const unsigned char *payload = payload_of(segment->bytes, at, &head);
        uint64_t offset = at;
        at += head.length + head.size;
        segment->blocks_end = at;
        if (!payload_sound(segment->bytes, offset, &head))
            continue;
        if (head.kind == SEGMENT_NAME)
            on_name(&rebuild, &head, payload);
        else if (head.kind == SEGMENT_SOURCE)
            on_source(&rebuild, &head, payload);
        else if (head.kind == SEGMENT_DROP && head.size == sizeof(struct memory_drop)) {
            struct memory_drop drop;
            memcpy(&drop, payload, sizeof(drop));
            index_drop(&rebuild.index, drop.experiment, drop.trial);
        } else if (head.kind >= SEGMENT_STEPS) {
            on_column(&rebuild, &head, offset);
        }
    }
    index_finish(&rebuild.index, ret);
    index_release(&rebuild.index);
}

/* ---- looking for damage ---- */
/* Who owns the block at an offset: for people, so slow is fine. */
static char *owner_of(const struct segment *segment, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < segment->counts[TABLE_SOURCES]; i++) {
        const struct segment_source *source = &segment->sources[i];
        for (uint32_t j = 0; j < source->columns; j++) {
            const struct segment_column *column = &segment->columns[source->first_column + j];
            uint64_t name_at = column->name ? segment->name_ends[column->name - 1] : 0;
            for (uint32_t k = 0; k < column->strands; k++) {
                const struct segment_strand *strand = &segment->strands[column->first_strand + k];
                for (uint32_t c = 0; c < segment->groups[strand->group].chunks; c++) {
                    uint64_t offset = segment_offset(segment, strand, c);
                    if (offset >= from && offset < to)
                        return xasprintf("values of '%.*s' of trial %lld.%lld",
                                         (int)(segment->name_ends[column->name] - name_at),
                                         segment->name_text + name_at,
                                         (long long)source->experiment, (long long)source->trial);
                }
            }
        }
    }
    return xstrdup("steps, times, a name or a source");
}

static void tell_damage(const struct segment *segment, uint64_t from, uint64_t to, note_fn *note,
                        void *arg)
{
    autofree(mem) char *owner = owner_of(segment, from, to);
    autofree(mem) char *text =
        xasprintf("%s: %llu bytes at %llu are damaged: %s", segment->path,
                  (unsigned long long)(to - from), (unsigned long long)from, owner);
    note(text, arg);
}

static bool decodes(const struct segment_head *head, const unsigned char *payload)
{
    int64_t ints[BLOCK_VALUES];
    double doubles[BLOCK_VALUES];

    if (head->kind == SEGMENT_VALUES)
        return block_get_doubles(payload, head->size, head->count, doubles) == 0;
    return head->kind < SEGMENT_STEPS ||
           block_get_ints(payload, head->size, head->count, ints) == 0;
}

/* What does not fit in a gap between two blocks is the filling before the index. */
static int verify_gap(const struct segment *segment, uint64_t from, uint64_t to, note_fn *note,
                      void *arg)
{
    bool zeros = to - from < 8 && to == segment->blocks_end;

    for (uint64_t i = from; i < to && zeros; i++)
        zeros = segment->bytes[i] == 0;
    if (from >= to || zeros)
        return 0;
    tell_damage(segment, from, to, note, arg);
    return 1;
}

/* How long the file once was, by the beginning of its index; 0: that is gone, too. */
static uint64_t size_once(const struct segment *segment)
{
    uint64_t at = (segment->blocks_end + 7) & ~(uint64_t)7, n;
    struct segment_index_head head;

    if (at > segment->size || segment->size - at < sizeof(head))
        return 0;
    memcpy(&head, segment->bytes + at, sizeof(head));
    n = segment_index_size(&head);
    bool same = head.counts[TABLE_SOURCES] == segment->counts[TABLE_SOURCES] &&
                head.counts[TABLE_CHUNKS] == segment->counts[TABLE_CHUNKS] &&
                head.counts[TABLE_COLUMNS] == segment->counts[TABLE_COLUMNS];
    return same && n ? at + n + sizeof(struct segment_trailer) : 0;
}

static void tell_index(const struct segment *segment, note_fn *note, void *arg)
{
    bool ends = segment_is(segment->bytes + segment->size - 8, 8);
    uint64_t once = ends ? 0 : size_once(segment);
    autorelease(str) struct str text = STR_INIT;

    str_addf(&text, "%s: ", segment->path);
    if (ends)
        str_add(&text, "its index is damaged");
    else if (once > segment->size)
        str_addf(&text, "it is cut short: it ends at %zu of %llu bytes, in its index",
                 segment->size, (unsigned long long)once);
    else
        str_addf(&text,
                 "it is cut short: it ends at %zu bytes without its index, and what stood behind "
                 "that is lost",
                 segment->size);
    note(text.s, arg);
}

/* Rows of a source that its chunks have; those of columns that lie apart count more than once. */
static uint64_t rows_there(const struct segment *segment, const struct segment_source *source)
{
    uint64_t rows = 0;

    for (uint32_t i = 0; i < source->groups; i++) {
        const struct segment_group *group = &segment->groups[source->first_group + i];
        for (uint32_t j = 0; j < group->chunks; j++)
            rows += segment->chunks[group->first_chunk + j].count;
    }
    return rows;
}

/* A source says how many rows it had. */
static void tell_missing(const struct segment *segment, note_fn *note, void *arg)
{
    for (uint32_t i = 0; i < segment_sources(segment); i++) {
        const struct segment_source *source = &segment->sources[i];
        uint64_t rows = rows_there(segment, source);
        if (rows >= source->rows)
            continue;
        autofree(mem) char *text =
            xasprintf("%s: %llu of %llu rows of trial %lld.%lld are missing", segment->path,
                      (unsigned long long)(source->rows - rows), (unsigned long long)source->rows,
                      (long long)source->experiment, (long long)source->trial);
        note(text, arg);
    }
}

int segment_verify(const struct segment *segment, note_fn *note, void *arg)
{
    struct segment_head head;
    uint64_t at = 8, offset = 0;
    int wrong = 0;

    if (segment->heap) {
        tell_index(segment, note, arg);
        tell_missing(segment, note, arg);
        wrong++;
    }
    if (!segment_is(segment->bytes, segment->size))
        wrong += verify_gap(segment, 0, 8, note, arg);
    while (segment_next(segment->bytes, segment->blocks_end, at, &offset, &head)) {
        uint64_t end = offset + head.length + head.size;
        wrong += verify_gap(segment, at, offset, note, arg);
        if (!payload_sound(segment->bytes, offset, &head) ||
            !decodes(&head, payload_of(segment->bytes, offset, &head))) {
            tell_damage(segment, offset, end, note, arg);
            wrong++;
        }
        at = end;
    }
    return wrong + verify_gap(segment, at, segment->blocks_end, note, arg);
}
