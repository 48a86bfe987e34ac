/* SPDX-License-Identifier: MIT */
/*
 * merge.c — several segments become one. Sources are in order in each of them, so they are walked
 * side by side. Groups of a source with the same metrics become one, packed anew into chunks of
 * 1,024 rows; rows' numbers go on from one segment to the next.
 *
 * A damaged block must not take its neighbours with it: a chunk that lacks one is carried over as
 * it is, with the column left out. If a source would have too many groups, as random subsets of
 * metrics make them, each metric gets one of its own.
 */
#include "series/intern.h"
#include "series/seal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#define GROUPS_MOST (2 * MEMORY_GROUPS)

struct group_in { /* a group of one input */
    size_t input;
    const struct segment_group *group;
    uint64_t base; /* what is added to its rows' numbers */
    VEC(struct group_column {
        uint32_t name;
        const struct segment_strand *strand;
    })
    columns;
};
struct group_out {      /* inputs with the same metrics */
    VEC(size_t) groups; /* places in source.groups, oldest first */
};
struct merging {
    const struct merge_input *inputs;
    size_t n;
    struct segment_writer *writer;
    uint32_t **numbers; /* (n) by name of the input: number in the output + 1 */
    uint32_t *at;       /* (n) the next source of each input */
    bool *has;          /* (n) the source in hand is the one before that */
    /* the source in hand */
    VEC(struct group_in) groups;
    VEC(struct group_out) outs;
    struct pending *pending;
};
struct pending { /* rows of a group that wait for their chunk to be full */
    size_t n, width;
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    uint64_t rows[BLOCK_VALUES];
    VEC(double) values; /* (width, BLOCK_VALUES) */
};

/* ---- names ---- */
static uint32_t number_of(struct merging *merging, size_t input, uint32_t name)
{
    const struct segment *segment = merging->inputs[input].segment;

    if (!merging->numbers[input][name]) {
        /* The handle's number says which names of different inputs are one; it is not ours to ask
         * the handle, but the segment knows. */
        uint32_t handle = segment->handle_name[name];
        uint64_t from = name ? segment->name_ends[name - 1] : 0;
        uint32_t number = segment_put_name(merging->writer, segment->name_text + from,
                                           segment->name_ends[name] - from);
        merging->numbers[input][name] = number + 1;
        for (size_t i = 0; i < merging->n; i++) {
            const struct segment *other = merging->inputs[i].segment;
            if (handle < other->locals && other->local_name[handle] != SERIES_NAME_NONE)
                merging->numbers[i][other->local_name[handle]] = number + 1;
        }
    }
    return merging->numbers[input][name] - 1;
}

/* ---- the source in hand ---- */
static void source_clear(struct merging *merging)
{
    vec_foreach (group, &merging->groups)
        vec_release(&group->columns);
    merging->groups.len = 0;
    vec_foreach (out, &merging->outs)
        vec_release(&out->groups);
    merging->outs.len = 0;
}

static void add_groups(struct merging *merging, size_t input, uint64_t base)
{
    const struct segment *segment = merging->inputs[input].segment;
    const struct segment_source *source = &segment->sources[merging->at[input]];
    size_t first = merging->groups.len;

    for (uint32_t i = 0; i < source->groups; i++) {
        struct group_in group = {
            .input = input, .group = &segment->groups[source->first_group + i], .base = base};
        vec_push(&merging->groups, group);
    }
    for (uint32_t i = 0; i < source->columns; i++) {
        const struct segment_column *column = &segment->columns[source->first_column + i];
        for (uint32_t j = 0; j < column->strands; j++) {
            const struct segment_strand *strand = &segment->strands[column->first_strand + j];
            struct group_column made = {number_of(merging, input, column->name), strand};
            if (strand->group - source->first_group < source->groups)
                vec_push(&merging->groups.at[first + strand->group - source->first_group].columns,
                         made);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    const struct group_column *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool same_metrics(const struct group_in *a, const struct group_in *b)
{
    if (a->columns.len != b->columns.len)
        return false;
    for (size_t i = 0; i < a->columns.len; i++)
        if (a->columns.at[i].name != b->columns.at[i].name)
            return false;
    return true;
}

/* Two groups of one input may have the same metrics in another order: they stay apart. */
static struct group_out *find_out(struct merging *merging, const struct group_in *group)
{
    vec_foreach (out, &merging->outs) {
        const struct group_in *last = &merging->groups.at[*vec_last(&out->groups)];
        if (last->input != group->input && same_metrics(last, group))
            return out;
    }
    return NULL;
}

static void join_groups(struct merging *merging)
{
    for (size_t i = 0; i < merging->groups.len; i++) {
        struct group_in *group = &merging->groups.at[i];
        if (!group->columns.len)
            continue;
        qsort(group->columns.at, group->columns.len, sizeof(*group->columns.at), by_number);
        struct group_out *out = find_out(merging, group);
        if (!out) {
            struct group_out made = {0};
            vec_push(&merging->outs, made);
            out = vec_last(&merging->outs);
        }
        vec_push(&out->groups, i);
    }
}

/* ---- rows ---- */
static void ignore(const char *sentence UNUSED, void *arg UNUSED)
{
}

static void pending_flush(struct merging *merging, const struct group_in *group)
{
    struct pending *pending = merging->pending;

    if (!pending->n)
        return;
    segment_put_chunk(merging->writer, pending->n, pending->steps, pending->times_ns,
                      pending->rows);
    for (size_t i = 0; i < group->columns.len; i++)
        segment_put_values(merging->writer, group->columns.at[i].name,
                           pending->values.at + i * BLOCK_VALUES);
    pending->n = 0;
}

struct chunk_in { /* decoded */
    size_t n;
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    uint64_t rows[BLOCK_VALUES];
    VEC(double) values; /* (width, BLOCK_VALUES) */
    VEC(bool) there;    /* (width) */
    bool whole;
};

static void chunk_load(const struct merging *merging, const struct group_in *group, uint32_t i,
                       struct chunk_in *ret)
{
    const struct segment *segment = merging->inputs[group->input].segment;
    const struct segment_chunk *chunk = &segment->chunks[group->group->first_chunk + i];
    struct segment_reader reader = {segment, ignore, NULL};
    struct block_stats stats;

    ret->n = chunk->count;
    ret->whole = true;
    segment_chunk_rows(&reader, chunk, ret->steps, ret->times_ns, ret->rows);
    for (size_t j = 0; j < ret->n; j++)
        ret->rows[j] += group->base;
    vec_reserve(&ret->values, group->columns.len * BLOCK_VALUES);
    vec_reserve(&ret->there, group->columns.len);
    for (size_t j = 0; j < group->columns.len; j++) {
        uint64_t offset = segment->offsets[group->columns.at[j].strand->first_offset + i];
        ret->there.at[j] = segment_chunk_values(&reader, offset, ret->n,
                                                ret->values.at + j * BLOCK_VALUES, &stats);
        ret->whole &= ret->there.at[j];
    }
}

/* A chunk with a lost column, as it is. */
static void put_as_is(struct merging *merging, const struct group_in *group,
                      const struct chunk_in *chunk)
{
    bool any = false;

    for (size_t i = 0; i < group->columns.len; i++)
        any |= chunk->there.at[i];
    if (!any)
        return;
    pending_flush(merging, group);
    segment_put_chunk(merging->writer, chunk->n, chunk->steps, chunk->times_ns, chunk->rows);
    for (size_t i = 0; i < group->columns.len; i++)
        if (chunk->there.at[i])
            segment_put_values(merging->writer, group->columns.at[i].name,
                               chunk->values.at + i * BLOCK_VALUES);
}

static void put_packed(struct merging *merging, const struct group_in *group,
                       const struct chunk_in *chunk)
{
    struct pending *pending = merging->pending;

    vec_reserve(&pending->values, group->columns.len * BLOCK_VALUES);
    for (size_t at = 0, n; at < chunk->n; at += n) {
        n = MIN(chunk->n - at, BLOCK_VALUES - pending->n);
        memcpy(pending->steps + pending->n, chunk->steps + at, n * sizeof(int64_t));
        memcpy(pending->times_ns + pending->n, chunk->times_ns + at, n * sizeof(int64_t));
        memcpy(pending->rows + pending->n, chunk->rows + at, n * sizeof(uint64_t));
        for (size_t i = 0; i < group->columns.len; i++)
            memcpy(pending->values.at + i * BLOCK_VALUES + pending->n,
                   chunk->values.at + i * BLOCK_VALUES + at, n * sizeof(double));
        pending->n += n;
        if (pending->n == BLOCK_VALUES)
            pending_flush(merging, group);
    }
}

static void merge_group(struct merging *merging, const struct group_out *out,
                        struct chunk_in *chunk)
{
    const struct group_in *group = NULL;

    segment_put_group(merging->writer);
    vec_foreach (place, &out->groups) {
        group = &merging->groups.at[*place];
        for (uint32_t i = 0; i < group->group->chunks && !merging->writer->error; i++) {
            chunk_load(merging, group, i, chunk);
            if (chunk->whole)
                put_packed(merging, group, chunk);
            else
                put_as_is(merging, group, chunk);
        }
    }
    if (group)
        pending_flush(merging, group);
}

/* ---- a group for each metric ---- */
struct apart {
    struct merging *merging;
    uint32_t name, rest; /* in the output; rest NONE: it has none */
    uint64_t row;        /* of the next one: within one metric, so none is left out */
};
struct apart_name {
    uint32_t handle;
    const char *text;
    size_t n;
};

static void apart_flush(struct apart *apart)
{
    struct pending *pending = apart->merging->pending;

    if (!pending->n)
        return;
    segment_put_chunk(apart->merging->writer, pending->n, pending->steps, pending->times_ns,
                      pending->rows);
    segment_put_values(apart->merging->writer, apart->name, pending->values.at);
    if (apart->rest != SERIES_NAME_NONE)
        segment_put_values(apart->merging->writer, apart->rest, pending->values.at + BLOCK_VALUES);
    pending->n = 0;
}

static int apart_take(const struct series_chunk *chunk, void *arg)
{
    struct apart *apart = arg;
    struct pending *pending = apart->merging->pending;

    for (size_t i = 0; i < chunk->n; i++) {
        pending->steps[pending->n] = chunk->steps[i];
        pending->times_ns[pending->n] = chunk->times_ns[i];
        pending->rows[pending->n] = apart->row++;
        pending->values.at[BLOCK_VALUES + pending->n] = chunk->rests ? chunk->rests[i] : 0;
        pending->values.at[pending->n++] = chunk->values[i];
        if (pending->n == BLOCK_VALUES)
            apart_flush(apart);
    }
    return 0;
}

static const struct segment_column *column_in(const struct merging *merging, size_t input,
                                              uint32_t name)
{
    return merging->has[input] && name != SERIES_NAME_NONE
               ? segment_column(merging->inputs[input].segment, merging->at[input] - 1, name)
               : NULL;
}

static void read_input(struct merging *merging, size_t input, uint32_t name, uint32_t rest,
                       struct apart *apart)
{
    struct segment_reader reader = {merging->inputs[input].segment, ignore, NULL};
    const struct segment_column *column = column_in(merging, input, name);
    const struct segment_column *rests = column_in(merging, input, rest);

    if (!column)
        return;
    apart->name = number_of(merging, input, column->name);
    struct strand *strands = xmalloc(column->strands * sizeof(*strands));
    for (uint32_t i = 0; i < column->strands; i++)
        segment_strand_init(&strands[i], &reader, column, rests, i, &series_all);
    strands_read(strands, column->strands, apart_take, apart);
    free(strands);
}

/* A metric's rests come right behind it: no byte is below theirs. */
static int by_text(const void *a, const void *b)
{
    const struct apart_name *x = a, *y = b;
    int r = memcmp(x->text, y->text, MIN(x->n, y->n));
    return r ? r : (x->n > y->n) - (x->n < y->n);
}

struct apart_names {
    struct apart_name *at; /* a VEC */
    size_t len, cap;
};

/* Those of the source in hand, in order and each once. */
static void list_names(const struct merging *merging, struct apart_names *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < merging->n; i++) {
        const struct segment *segment = merging->inputs[i].segment;
        const struct segment_source *source =
            merging->has[i] ? &segment->sources[merging->at[i] - 1] : NULL;
        for (uint32_t j = 0; source && j < source->columns; j++) {
            uint32_t name = segment->columns[source->first_column + j].name;
            uint64_t from = name ? segment->name_ends[name - 1] : 0;
            struct apart_name made = {segment->handle_name[name], segment->name_text + from,
                                      segment->name_ends[name] - from};
            vec_push(ret, made);
        }
    }
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(*ret->at), by_text);
    for (size_t i = 0; i < ret->len; i++)
        if (i == 0 || ret->at[i].handle != ret->at[n - 1].handle)
            ret->at[n++] = ret->at[i];
    ret->len = n;
}

/* Is `next` the name of the rests of `name`? */
static bool is_rest_of(const struct apart_name *next, const struct apart_name *name)
{
    return next->n == name->n + 1 && intern_text_is_rest(next->text, next->n) &&
           memcmp(next->text, name->text, name->n) == 0;
}

static uint32_t number_of_handle(struct merging *merging, uint32_t handle)
{
    for (size_t i = 0; i < merging->n; i++) {
        const struct segment_column *column = column_in(merging, i, handle);
        if (column)
            return number_of(merging, i, column->name);
    }
    return SERIES_NAME_NONE;
}

static void take_apart(struct merging *merging)
{
    struct apart_names names = {0};

    list_names(merging, &names);
    vec_reserve(&merging->pending->values, 2 * BLOCK_VALUES);
    for (size_t i = 0; i < names.len && !merging->writer->error; i++) {
        struct apart apart = {.merging = merging, .rest = SERIES_NAME_NONE};
        uint32_t handle = names.at[i].handle, rest = SERIES_NAME_NONE;
        if (i + 1 < names.len && is_rest_of(&names.at[i + 1], &names.at[i])) {
            rest = names.at[++i].handle;
            apart.rest = number_of_handle(merging, rest);
        }
        segment_put_group(merging->writer);
        for (size_t j = 0; j < merging->n; j++)
            read_input(merging, j, handle, rest, &apart);
        apart_flush(&apart);
    }
    vec_release(&names);
}

/* ---- sources ---- */
/* The smallest source that any input has next; false at the end. Dropped ones are passed over. */
static bool next_source(struct merging *merging, struct series_source *ret)
{
    bool any = false;

    for (size_t i = 0; i < merging->n; i++) {
        const struct merge_input *input = &merging->inputs[i];
        while (input->dropped && merging->at[i] < segment_sources(input->segment) &&
               input->dropped[merging->at[i]])
            merging->at[i]++;
        if (merging->at[i] == segment_sources(input->segment))
            continue;
        struct series_source key = segment_key(input->segment, merging->at[i]);
        if (!any || source_compare(&key, ret) < 0)
            *ret = key;
        any = true;
    }
    return any;
}

static bool has_next(const struct merging *merging, size_t i, const struct series_source *key)
{
    const struct segment *segment = merging->inputs[i].segment;

    if (merging->at[i] == segment_sources(segment))
        return false;
    struct series_source there = segment_key(segment, merging->at[i]);
    return source_compare(&there, key) == 0;
}

static void merge_source(struct merging *merging, const struct series_source *source,
                         struct chunk_in *chunk)
{
    struct segment_key key = {
        source->experiment, source->trial, source->attempt, (uint64_t)source->file, 0, 0};

    for (size_t i = 0; i < merging->n; i++) {
        merging->has[i] = has_next(merging, i, source);
        if (!merging->has[i])
            continue;
        const struct segment_source *at = &merging->inputs[i].segment->sources[merging->at[i]];
        add_groups(merging, i, key.rows);
        key.end = MAX(key.end, at->end);
        key.rows += at->rows;
        merging->at[i]++;
    }
    segment_put_source(merging->writer, &key);
    join_groups(merging);
    if (merging->outs.len > GROUPS_MOST)
        take_apart(merging);
    else
        vec_foreach (out, &merging->outs)
            merge_group(merging, out, chunk);
    source_clear(merging);
}

static void put_drops(struct merging *merging)
{
    for (size_t i = 0; i < merging->n; i++)
        for (size_t j = 0; j < segment_drops(merging->inputs[i].segment); j++) {
            struct memory_drop drop = segment_drop(merging->inputs[i].segment, j);
            segment_put_drop(merging->writer, &drop);
        }
}

static void merge_all(struct merging *merging)
{
    struct chunk_in *chunk = xcalloc(1, sizeof(*chunk));
    struct series_source source = {0};

    while (!merging->writer->error && next_source(merging, &source))
        merge_source(merging, &source, chunk);
    vec_release(&chunk->values);
    vec_release(&chunk->there);
    free(chunk);
}

static void merging_release(struct merging *merging)
{
    for (size_t i = 0; i < merging->n; i++)
        free(merging->numbers[i]);
    free(merging->numbers);
    free(merging->at);
    free(merging->has);
    vec_release(&merging->pending->values);
    free(merging->pending);
    vec_release(&merging->groups);
    vec_release(&merging->outs);
}

static int write_merged(const struct seal_folder *folder, const struct merge_input *inputs,
                        size_t n, uint64_t first, uint64_t last, bool keep_drops, struct err *err)
{
    struct segment_writer writer;
    int r = seal_begin(folder, &writer, first, last, err);

    if (r == 0) {
        struct merging merging = {.inputs = inputs,
                                  .n = n,
                                  .writer = &writer,
                                  .numbers = xcalloc(n, sizeof(uint32_t *)),
                                  .at = xcalloc(n, sizeof(uint32_t)),
                                  .has = xcalloc(n, sizeof(bool)),
                                  .pending = xcalloc(1, sizeof(struct pending))};
        for (size_t i = 0; i < n; i++)
            merging.numbers[i] =
                xcalloc(inputs[i].segment->counts[TABLE_NAME_ENDS] + 1, sizeof(uint32_t));
        if (keep_drops)
            put_drops(&merging);
        merge_all(&merging);
        merging_release(&merging);
        r = seal_commit(folder, &writer, first, last, err);
    }
    segment_writer_release(&writer);
    return r;
}

/* The indices are copied: they must not change while sources are walked side by side. */
int seal_merge(const struct seal_folder *folder, const struct merge_input *inputs, size_t n,
               uint64_t first, uint64_t last, bool keep_drops, struct err *err)
{
    autofree(mem) struct segment *segments = xcalloc(n + 1, sizeof(*segments));
    autofree(mem) struct merge_input *copies = xcalloc(n + 1, sizeof(*copies));
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        r = segment_index_copy(inputs[i].segment, &segments[i], err);
        copies[i] = (struct merge_input){&segments[i], inputs[i].dropped};
    }
    if (r == 0)
        r = write_merged(folder, copies, n, first, last, keep_drops, err);
    for (size_t i = 0; i < n; i++)
        free(segments[i].heap);
    return r;
}
