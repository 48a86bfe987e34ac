/* SPDX-License-Identifier: MIT */
/*
 * merge_plan_test.c — a store that grows is not written again and again.
 */
#include "series/merge_plan.h"

#include "tests/test.h"

#define MIB (1ull << 20)

struct pieces {
    VEC(struct merge_piece) all;
    uint64_t written;
};

static void add(struct pieces *pieces, uint64_t bytes)
{
    struct merge_piece piece = {.bytes = bytes};
    size_t from = 0, n;

    vec_push(&pieces->all, piece);
    pieces->written += bytes;
    while ((n = merge_plan(pieces->all.at, pieces->all.len, &from))) {
        struct merge_piece *at = pieces->all.at + from;
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += at[i].bytes;
        at[0].bytes = sum;
        pieces->written += sum;
        memmove(at + 1, at + n, (pieces->all.len - from - n) * sizeof(*at));
        pieces->all.len -= n - 1;
    }
}

static void grow(uint64_t bytes, int times, double most_written, size_t most_pieces)
{
    struct pieces pieces = {0};

    for (int i = 0; i < times; i++)
        add(&pieces, bytes);
    assert_true((double)pieces.written <= most_written * (double)bytes * times);
    assert_in_range(pieces.all.len, 1, most_pieces);
    vec_release(&pieces.all);
}

TEST(each_value_is_written_once_a_level)
{
    grow(23 * MIB, 10000, 5, 100); /* 230 GB: those of 4 GiB are left as they are */
    grow(23 * MIB, 180, 4, 20);
    grow(MIB, 1000, 6, 20);
    grow(10 << 10, 10000, 20, 20); /* small ones are cheap, so there may be few of them */
}

TEST(a_large_segment_is_not_written_anew_for_small_ones)
{
    struct merge_piece pieces[] = {{.bytes = 3800 * MIB}, {.bytes = 23 * MIB}, {.bytes = 23 * MIB},
                                   {.bytes = 23 * MIB},   {.bytes = 23 * MIB}, {.bytes = 23 * MIB},
                                   {.bytes = 23 * MIB},   {.bytes = 23 * MIB}, {.bytes = 23 * MIB},
                                   {.bytes = 23 * MIB}};
    size_t from = 0;

    assert_int_equal(merge_plan(pieces, 9, &from), 0);
    assert_int_equal(merge_plan(pieces, 10, &from), 9);
    assert_int_equal(from, 1);
}

TEST(logs_and_gaps_end_a_run)
{
    struct merge_piece pieces[20] = {0};
    size_t from = 0;

    for (size_t i = 0; i < 20; i++)
        pieces[i].bytes = MIB;
    pieces[9].apart = true;
    assert_int_equal(merge_plan(pieces, 20, &from), 9);
    assert_int_equal(from, 0);
    pieces[4].fixed = true;
    assert_int_equal(merge_plan(pieces, 20, &from), 11);
    assert_int_equal(from, 9);
    assert_int_equal(merge_plan_small(pieces, 20, &from), 4);
    assert_int_equal(from, 0);
    assert_int_equal(merge_plan_small(pieces, 1, &from), 0);
}

TEST_MAIN
