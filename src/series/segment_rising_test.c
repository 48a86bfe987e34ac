/* SPDX-License-Identifier: MIT */
/*
 * segment_rising_test.c — whether times rise is told by the index, and told alike by the blocks
 * where the index cannot: it was made anew, or the file is older.
 */
#include "series/db_fixture.h"
#include "series/intern.h"
#include "series/segment_write.h"

#include <fcntl.h>

#define NONE INT64_MIN

struct group_case {
    size_t chunks;
    int64_t times[2][3];
    enum segment_rising told[2];
    bool rises;
};
static const struct group_case cases[] = {
    {1, {{1, 2, 3}}, {RISING}, true},
    {2, {{1, 2, 3}, {4, 5, 9}}, {RISING, RISING}, true},
    {2, {{1, 2, 3}, {3, 5, 9}}, {RISING, RISING}, false}, /* it goes back between them */
    {1, {{1, 2, 2}}, {RISING_NOT}, false},
    {2, {{-5, 0, 7}, {9, 8, 10}}, {RISING, RISING_NOT}, false},
    {1, {{1, NONE, 3}}, {RISING_NOT}, false},
    {1, {{NONE, NONE, NONE}}, {RISING_UNKNOWN}, false}, /* no times at all */
};

static void write_cases(int dir_fd)
{
    static const int64_t steps[3] = {0, 1, 2};
    static const double values[3] = {1, 2, 3};
    struct segment_key key = {1, 1, 0, SERIES_OUTSIDE, 0, 3};
    struct segment_writer writer;
    struct err err = ERR_INIT;
    uint64_t row = 0;

    assert_ok(segment_writer_open(&writer, dir_fd, "segment", &series_io, &err), &err);
    uint32_t name = segment_put_name(&writer, "loss", 4);
    segment_put_source(&writer, &key);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        segment_put_group(&writer);
        for (size_t c = 0; c < cases[i].chunks; c++, row += 3) {
            segment_put_chunk(&writer, 3, steps, cases[i].times[c],
                              (uint64_t[]){row, row + 1, row + 2});
            segment_put_values(&writer, name, values);
        }
    }
    assert_ok(segment_writer_finish(&writer, &err), &err);
    segment_writer_release(&writer);
}

static void on_note(const char *sentence UNUSED, void *arg UNUSED)
{
}

static void check_groups(struct segment *segment)
{
    struct segment_reader reader = {segment, on_note, NULL};

    assert_int_equal(segment->counts[TABLE_GROUPS], ARRAY_LEN(cases));
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(segment_group_rises(segment, &reader, i), cases[i].rises);
}

TEST(an_index_tells_whether_times_rise_and_blocks_tell_the_same)
{
    autorelease(str) struct str bytes = STR_INIT;
    char *home = home_new();
    autofree(mem) char *path = xasprintf("%s/segment", home);
    autofree(segment) struct segment *whole = NULL, *rebuilt = NULL;
    struct intern intern = {0};
    struct err err = ERR_INIT;
    int dir_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    write_cases(dir_fd);
    close(dir_fd);
    assert_ok(fs_read(path, 1 << 20, &bytes, &err), &err);
    home_end(home);
    const unsigned char *all = (const unsigned char *)bytes.s;
    assert_ok(segment_open_bytes("whole", all, bytes.len, &intern, on_note, NULL, &whole, &err),
              &err);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t c = 0; c < cases[i].chunks; c++)
            assert_int_equal(whole->chunks[whole->groups[i].first_chunk + c].rising,
                             cases[i].told[c]);
    check_groups(whole);
    assert_ok(segment_open_bytes("cut", all, bytes.len - 1, &intern, on_note, NULL, &rebuilt, &err),
              &err);
    assert_non_null(rebuilt->heap);
    assert_int_equal(rebuilt->chunks[0].rising, RISING_UNKNOWN);
    check_groups(rebuilt);
    intern_release(&intern);
}

TEST_MAIN
