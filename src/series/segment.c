/* SPDX-License-Identifier: MIT */
/*
 * segment.c — a sealed file, mapped. Its index is checked as a whole when it is opened, so that
 * whatever it points to can be used without asking again; blocks are checked when they are read.
 *
 * Pages that can no longer be read become zeros (mapping.h). An index stays within its bounds when
 * parts of it do: a place 0 with the same number of entries is inside its table, and so is none at
 * all. Two things are different: names, which are copied, and offsets, which are looked at.
 */
#include "series/segment.h"

#include "base/crc32c.h"
#include "series/index.h"
#include "series/intern.h"
#include "series/mapping.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are used as they lie");
_Static_assert(sizeof(struct segment_chunk) == 80 && sizeof(struct segment_column) == 104 &&
                   sizeof(struct segment_source) == 64,
               "no padding");

void segment_free(struct segment *segment)
{
    if (segment->mapping)
        mapping_close(segment->mapping);
    free(segment->heap);
    free(segment->name_ends);
    free(segment->name_text);
    free(segment->handle_name);
    free(segment->rising);
    free(segment->local_name);
    free(segment->path);
    free(segment);
}

/* ---- the index ---- */
static const size_t table_sizes[SEGMENT_TABLES] = {
    sizeof(struct segment_source),
    sizeof(struct segment_group),
    sizeof(struct segment_chunk),
    sizeof(struct segment_column),
    sizeof(struct segment_strand),
    sizeof(struct segment_by_name),
    sizeof(uint64_t),
    sizeof(struct memory_drop),
    sizeof(uint64_t),
    1,
};

static void keep_names(struct segment *segment, const void *ends, const void *text)
{
    free(segment->name_ends);
    free(segment->name_text);
    segment->name_ends = xmemdup(ends, segment->counts[TABLE_NAME_ENDS] * sizeof(uint64_t));
    segment->name_text = xmemdup(text, segment->counts[TABLE_NAME_TEXT]);
}

/* Where the tables lie in the bytes of an index; false if they do not fill it exactly. */
static bool find_tables(const uint64_t counts[SEGMENT_TABLES], const unsigned char *bytes, size_t n,
                        const void *ret[SEGMENT_TABLES])
{
    size_t at = sizeof(struct segment_index_head);

    for (int i = 0; i < SEGMENT_TABLES; i++) {
        if (counts[i] > (n - at) / table_sizes[i] || counts[i] > UINT32_MAX)
            return false;
        ret[i] = bytes + at;
        at += (counts[i] * table_sizes[i] + 7) & ~(size_t)7;
        if (at > n)
            return false;
    }
    return at == n;
}

uint64_t segment_index_size(const struct segment_index_head *head)
{
    uint64_t n = sizeof(*head);

    for (int i = 0; i < SEGMENT_TABLES; i++) {
        if (head->counts[i] > UINT32_MAX)
            return 0;
        n += (head->counts[i] * table_sizes[i] + 7) & ~(uint64_t)7;
    }
    return n;
}

/* All but the names. */
static void point_tables(struct segment *segment, const void *const tables[SEGMENT_TABLES])
{
    segment->sources = tables[TABLE_SOURCES];
    segment->groups = tables[TABLE_GROUPS];
    segment->chunks = tables[TABLE_CHUNKS];
    segment->columns = tables[TABLE_COLUMNS];
    segment->strands = tables[TABLE_STRANDS];
    segment->by_name = tables[TABLE_BY_NAME];
    segment->offsets = tables[TABLE_OFFSETS];
    segment->drops = tables[TABLE_DROPS];
}

static bool lay_tables(struct segment *segment, const unsigned char *bytes, size_t n)
{
    const void *tables[SEGMENT_TABLES];

    if (n < sizeof(struct segment_index_head))
        return false;
    memcpy(segment->counts, bytes, sizeof(struct segment_index_head));
    if (!find_tables(segment->counts, bytes, n, tables))
        return false;
    point_tables(segment, tables);
    keep_names(segment, tables[TABLE_NAME_ENDS], tables[TABLE_NAME_TEXT]);
    return true;
}

static bool within(uint64_t first, uint64_t n, uint64_t of)
{
    return first <= of && n <= of - first;
}

static bool names_sound(const struct segment *segment)
{
    uint64_t before = 0;

    for (size_t i = 0; i < segment->counts[TABLE_NAME_ENDS]; i++) {
        uint64_t end = segment->name_ends[i];
        if (end <= before || end > segment->counts[TABLE_NAME_TEXT] ||
            end - before > SERIES_NAME_MAX ||
            memchr(segment->name_text + before, '\0', end - before))
            return false;
        before = end;
    }
    return true;
}

static bool source_sound(const struct segment *segment, uint32_t i)
{
    const struct segment_source *source = &segment->sources[i];
    struct series_source key = segment_key(segment, i);

    if (source->file >= SERIES_FILES ||
        !within(source->first_group, source->groups, segment->counts[TABLE_GROUPS]) ||
        !within(source->first_column, source->columns, segment->counts[TABLE_COLUMNS]))
        return false;
    for (uint32_t j = source->first_column; j < source->first_column + source->columns; j++) {
        const struct segment_by_name *entry = &segment->by_name[j];
        if (entry->column < source->first_column ||
            entry->column - source->first_column >= source->columns ||
            segment->columns[entry->column].name != entry->name)
            return false;
    }
    if (i == 0)
        return true;
    struct series_source before = segment_key(segment, i - 1);
    return source_compare(&before, &key) < 0;
}

static bool column_sound(const struct segment *segment, const struct segment_column *column)
{
    if (column->name >= segment->counts[TABLE_NAME_ENDS] ||
        !within(column->first_strand, column->strands, segment->counts[TABLE_STRANDS]) ||
        !column->strands)
        return false;
    for (uint32_t i = 0; i < column->strands; i++) {
        const struct segment_strand *strand = &segment->strands[column->first_strand + i];
        if (strand->group >= segment->counts[TABLE_GROUPS] ||
            !within(strand->first_offset, segment->groups[strand->group].chunks,
                    segment->counts[TABLE_OFFSETS]))
            return false;
    }
    return true;
}

static bool tables_sound(const struct segment *segment)
{
    if (segment->counts[TABLE_BY_NAME] != segment->counts[TABLE_COLUMNS] || !names_sound(segment))
        return false;
    for (size_t i = 0; i < segment->counts[TABLE_GROUPS]; i++)
        if (!within(segment->groups[i].first_chunk, segment->groups[i].chunks,
                    segment->counts[TABLE_CHUNKS]))
            return false;
    for (size_t i = 0; i < segment->counts[TABLE_CHUNKS]; i++)
        if (!segment->chunks[i].count || segment->chunks[i].count > BLOCK_VALUES)
            return false;
    for (size_t i = 0; i < segment->counts[TABLE_COLUMNS]; i++)
        if (!column_sound(segment, &segment->columns[i]))
            return false;
    for (uint32_t i = 0; i < segment->counts[TABLE_SOURCES]; i++)
        if (!source_sound(segment, i))
            return false;
    return true;
}

bool segment_is(const unsigned char *bytes, size_t n)
{
    return n >= 8 &&
           (memcmp(bytes, SEGMENT_MAGIC, 8) == 0 || memcmp(bytes, SEGMENT_MAGIC_1, 8) == 0);
}

static bool load_index(struct segment *segment)
{
    struct segment_trailer trailer;

    if (segment->size < 8 + sizeof(trailer) || segment->size % 8)
        return false;
    memcpy(&trailer, segment->bytes + segment->size - sizeof(trailer), sizeof(trailer));
    if (!segment_is((const unsigned char *)trailer.magic, sizeof(trailer.magic)) ||
        trailer.trailer_crc !=
            crc32c_fast(0, &trailer, offsetof(struct segment_trailer, trailer_crc)) ||
        !within(trailer.index_at, trailer.index_size, segment->size - sizeof(trailer)) ||
        trailer.index_at % 8)
        return false;
    const unsigned char *index = segment->bytes + trailer.index_at;
    if (crc32c_fast(0, index, trailer.index_size) != trailer.index_crc)
        return false;
    segment->blocks_end = trailer.index_at;
    segment->index_size = trailer.index_size;
    return lay_tables(segment, index, trailer.index_size) && tables_sound(segment);
}

static void intern_names(struct segment *segment, struct intern *intern)
{
    size_t n = segment->counts[TABLE_NAME_ENDS];
    uint64_t at = 0;

    segment->handle_name = xcalloc(n + 1, sizeof(*segment->handle_name));
    for (size_t i = 0; i < n; i++) {
        segment->handle_name[i] =
            intern_add(intern, segment->name_text + at, segment->name_ends[i] - at);
        at = segment->name_ends[i];
        segment->locals = MAX(segment->locals, (size_t)segment->handle_name[i] + 1);
    }
    segment->local_name = xmalloc((segment->locals + 1) * sizeof(*segment->local_name));
    memset(segment->local_name, 0xff, (segment->locals + 1) * sizeof(*segment->local_name));
    for (size_t i = 0; i < n; i++)
        segment->local_name[segment->handle_name[i]] = (uint32_t)i;
}

static void count_all(struct segment *segment)
{
    for (size_t i = 0; i < segment->counts[TABLE_COLUMNS]; i++)
        segment->values += segment->columns[i].count;
    for (size_t i = 0; i < segment->counts[TABLE_SOURCES]; i++)
        segment->rows += segment->sources[i].rows;
}

/* ---- opening ---- */
static int open_mapped(struct segment *segment, struct intern *intern, note_fn *note, void *arg,
                       struct err *err)
{
    if (!load_index(segment)) {
        if (!segment_is(segment->bytes, segment->size))
            return err_set(err, EBADMSG, "%s is no segment of series", segment->path);
        autorelease(str) struct str bytes = STR_INIT;
        segment_rebuild(segment, &bytes);
        size_t n = bytes.len;
        segment->heap = str_take(&bytes);
        if (!lay_tables(segment, segment->heap, n) || !tables_sound(segment))
            return err_set(err, EBADMSG, "%s cannot be read", segment->path);
        autofree(mem) char *text =
            xasprintf("%s: its index is damaged or cut off; made anew from %zu sources' "
                      "blocks",
                      segment->path, (size_t)segment_sources(segment));
        note(text, arg);
    }
    intern_names(segment, intern);
    count_all(segment);
    return 0;
}

int segment_open_bytes(const char *path, const unsigned char *bytes, size_t n,
                       struct intern *intern, note_fn *note, void *arg, struct segment **ret,
                       struct err *err)
{
    autofree(segment) struct segment *segment = xcalloc(1, sizeof(*segment));

    segment->path = xstrdup(path);
    segment->bytes = bytes;
    segment->size = n;
    int r = open_mapped(segment, intern, note, arg, err);
    if (r < 0)
        return r;
    *ret = TAKE(segment);
    return 0;
}

static int map_file(int fd, struct segment *segment, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "cannot read %s", segment->path);
    if (st.st_size < 8)
        return err_set(err, EBADMSG, "%s is no segment of series", segment->path);
    int r = mapping_open(fd, (size_t)st.st_size, &segment->bytes, &segment->mapping);
    if (r < 0)
        return err_errno(err, -r, "cannot map %s", segment->path);
    segment->size = (size_t)st.st_size;
    segment->inode = st.st_ino;
    return 0;
}

int segment_open(int dir_fd, const char *folder, const char *name, struct intern *intern,
                 note_fn *note, void *arg, struct segment **ret, struct err *err)
{
    autofree(segment) struct segment *segment = xcalloc(1, sizeof(*segment));
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    segment->path = xasprintf("%s/%s", folder, name);
    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", segment->path);
    int r = map_file(fd, segment, err);
    if (r == 0)
        r = open_mapped(segment, intern, note, arg, err);
    if (r < 0)
        return r;
    *ret = TAKE(segment);
    return 0;
}

bool segment_index_lost(const struct segment *segment)
{
    return segment->mapping && !segment->heap &&
           mapping_lost(segment->mapping, segment->blocks_end);
}

int segment_index_copy(const struct segment *segment, struct segment *ret, struct err *err)
{
    size_t n = segment->index_size;
    const void *tables[SEGMENT_TABLES];

    *ret = *segment;
    ret->heap = NULL;
    if (segment->heap)
        return 0;
    ret->heap = xmemdup(segment->bytes + segment->blocks_end, n);
    if (segment_index_lost(segment) || !find_tables(ret->counts, ret->heap, n, tables))
        return err_set(err, EIO, "%s: its index can no longer be read", segment->path);
    point_tables(ret, tables);
    return 0;
}

/* ---- looking things up ---- */
struct series_source segment_key(const struct segment *segment, uint32_t i)
{
    const struct segment_source *source = &segment->sources[i];
    return (struct series_source){source->experiment, source->trial, source->attempt,
                                  (enum series_file)source->file};
}

const struct segment_column *segment_column(const struct segment *segment, uint32_t source,
                                            uint32_t name)
{
    const struct segment_source *at = &segment->sources[source];
    uint32_t local = name < segment->locals ? segment->local_name[name] : SERIES_NAME_NONE;
    size_t lo = at->first_column, hi = lo + at->columns;

    while (local != SERIES_NAME_NONE && lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (segment->by_name[mid].name == local)
            return &segment->columns[segment->by_name[mid].column];
        if (segment->by_name[mid].name < local)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

void segment_info(const struct segment *segment, const struct segment_column *column,
                  struct series_info *ret)
{
    const struct segment_numbers *x = &column->numbers;

    ret->name = segment->handle_name[column->name];
    ret->stats = (struct block_stats){column->count, column->nans, column->infs, x->min, x->max,
                                      x->sum,        x->squares,   x->first,     x->last};
    ret->first_step = column->first_step;
    ret->last_step = column->last_step;
    ret->first_ns = column->first_ns;
    ret->last_ns = column->last_ns;
}
