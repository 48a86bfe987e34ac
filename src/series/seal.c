/* SPDX-License-Identifier: MIT */
/*
 * seal.c — the rows of a log become a segment: sources in order, groups as they are, chunks of
 * 1,024 rows.
 */
#include "series/seal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void seal_name(char ret[SEAL_NAME_SIZE], uint64_t first, uint64_t last)
{
    if (first == last)
        snprintf(ret, SEAL_NAME_SIZE, "%08llu.seg", (unsigned long long)first);
    else
        snprintf(ret, SEAL_NAME_SIZE, "%08llu-%08llu.seg", (unsigned long long)first,
                 (unsigned long long)last);
}

void wal_name(char ret[SEAL_NAME_SIZE], uint64_t number)
{
    snprintf(ret, SEAL_NAME_SIZE, "%08llu.wal", (unsigned long long)number);
}

#define BESIDE_SIZE (SEAL_NAME_SIZE + 8)
static void beside_name(char ret[BESIDE_SIZE], uint64_t first, uint64_t last)
{
    char name[SEAL_NAME_SIZE];

    seal_name(name, first, last);
    snprintf(ret, BESIDE_SIZE, "%s.new", name);
}

int seal_begin(const struct seal_folder *folder, struct segment_writer *writer, uint64_t first,
               uint64_t last, struct err *err)
{
    char beside[BESIDE_SIZE];

    beside_name(beside, first, last);
    return segment_writer_open(writer, folder->dir_fd, beside, folder->io, err);
}

int seal_commit(const struct seal_folder *folder, struct segment_writer *writer, uint64_t first,
                uint64_t last, struct err *err)
{
    char beside[BESIDE_SIZE], name[SEAL_NAME_SIZE];
    int r = segment_writer_finish(writer, err);

    beside_name(beside, first, last);
    seal_name(name, first, last);
    if (r == 0 && renameat(folder->dir_fd, beside, folder->dir_fd, name) < 0)
        r = err_errno(err, errno, "cannot seal series");
    if (r < 0) {
        unlinkat(folder->dir_fd, beside, 0);
        return r;
    }
    if (folder->io->sync(folder->dir_fd) < 0)
        return err_errno(err, errno, "cannot seal series");
    return 1;
}

/* ---- rows ---- */
static int by_source(const void *a, const void *b)
{
    return source_compare(&(*(struct memory_source *const *)a)->key,
                          &(*(struct memory_source *const *)b)->key);
}

struct sealing {
    const struct memory *memory;
    struct segment_writer *writer;
    uint32_t *numbers; /* (names of the log) in the segment + 1; 0: not yet */
};

static uint32_t number_of(struct sealing *sealing, uint32_t name)
{
    uint32_t local = sealing->memory->local.at[name];
    const char *text = sealing->memory->names.at[local];

    if (!sealing->numbers[local])
        sealing->numbers[local] = segment_put_name(sealing->writer, text, strlen(text)) + 1;
    return sealing->numbers[local] - 1;
}

static void seal_group(struct sealing *sealing, const struct memory_group *group)
{
    double values[BLOCK_VALUES];

    segment_put_group(sealing->writer);
    for (uint32_t i = 0; i < group->n; i++)
        number_of(sealing, group->names[i]);
    for (size_t at = 0; at < group->rows.len; at += BLOCK_VALUES) {
        size_t n = MIN(group->rows.len - at, BLOCK_VALUES);
        segment_put_chunk(sealing->writer, n, group->steps.at + at, group->times_ns.at + at,
                          group->rows.at + at);
        for (uint32_t i = 0; i < group->n; i++) {
            memory_gather(group, i, at, n, values);
            segment_put_values(sealing->writer, number_of(sealing, group->names[i]), values);
        }
    }
}

static void seal_source(struct sealing *sealing, const struct memory_source *source)
{
    struct segment_key key = {source->key.experiment,     source->key.trial, source->key.attempt,
                              (uint64_t)source->key.file, source->end,       source->rows};

    if (!source->rows)
        return;
    segment_put_source(sealing->writer, &key);
    vec_foreach (group, &source->groups)
        seal_group(sealing, *group);
}

static bool worth_a_file(const struct memory *memory)
{
    vec_foreach (source, &memory->sources)
        if ((*source)->rows)
            return true;
    return memory->drops.len > 0;
}

int seal_memory(const struct seal_folder *folder, const struct memory *memory, struct err *err)
{
    struct segment_writer writer;

    if (!worth_a_file(memory))
        return 0;
    int r = seal_begin(folder, &writer, memory->number, memory->number, err);
    if (r == 0) {
        size_t n = memory->sources.len;
        struct sealing sealing = {memory, &writer,
                                  xcalloc(memory->names.len + 1, sizeof(uint32_t))};
        struct memory_source **sorted = xcalloc(n + 1, sizeof(*sorted));
        for (size_t i = 0; i < n; i++)
            sorted[i] = memory->sources.at[i];
        qsort(sorted, n, sizeof(*sorted), by_source);
        vec_foreach (drop, &memory->drops)
            segment_put_drop(&writer, drop);
        for (size_t i = 0; i < n && !writer.error; i++)
            seal_source(&sealing, sorted[i]);
        free(sorted);
        free(sealing.numbers);
        r = seal_commit(folder, &writer, memory->number, memory->number, err);
    }
    segment_writer_release(&writer);
    return r;
}
