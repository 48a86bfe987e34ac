/* SPDX-License-Identifier: MIT */
/*
 * mapping_test.c — files that are cut while they are mapped: what is behind the cut is lost, the
 * process and the rest are not.
 */
#include "series/mapping.h"

#include "series/db_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROWS 60000

static int file_of(size_t n)
{
    int fd = memfd_create("mapping", MFD_CLOEXEC);
    autofree(mem) char *bytes = xmalloc(n);

    memset(bytes, 'x', n);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    return fd;
}

TEST(bytes_behind_a_cut_are_zeros_and_are_counted)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 4 * page;
    autoclose int fd = file_of(n);
    const unsigned char *bytes;
    struct mapping *mapping;
    uint64_t losses = mapping_losses();

    mapping_guard();
    assert_int_equal(mapping_open(fd, n, &bytes, &mapping), 0);
    assert_int_equal(bytes[n - 1], 'x');
    assert_false(mapping_lost(mapping, 0));
    assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
    assert_int_equal(bytes[2 * page - 1], 'x');
    assert_int_equal(mapping_losses(), losses);
    assert_int_equal(bytes[2 * page], 0);
    assert_int_equal(bytes[3 * page - 1], 0);
    assert_int_equal(mapping_losses(), losses + 1);
    assert_true(mapping_lost(mapping, 0) && mapping_lost(mapping, 2 * page));
    assert_false(mapping_lost(mapping, 3 * page));
    mapping_close(mapping);
}

TEST(a_place_is_used_again)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct mapping *before = NULL;

    mapping_guard();
    for (int i = 0; i < 3; i++) {
        autoclose int fd = file_of(page);
        const unsigned char *bytes;
        struct mapping *mapping;
        assert_int_equal(mapping_open(fd, page, &bytes, &mapping), 0);
        assert_false(mapping_lost(mapping, 0));
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(bytes[0], 0);
        assert_true(!before || before == mapping);
        before = mapping;
        mapping_close(mapping);
    }
}

static void touch_other(size_t page)
{
    int fd = file_of(page), ours = file_of(page);
    const volatile char *other = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
    const unsigned char *bytes;
    struct mapping *mapping;

    assert_int_equal(mapping_open(ours, page, &bytes, &mapping), 0);
    assert_true(other != MAP_FAILED && ftruncate(fd, 0) == 0);
    signal(SIGBUS, SIG_DFL); /* that of the tests */
    mapping_guard();
    (void)other[0];
}

TEST(a_fault_elsewhere_takes_its_course)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        touch_other((size_t)sysconf(_SC_PAGESIZE));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* ---- segments ---- */

static double value_at(int64_t i)
{
    return (double)(i * 7919 % 104729) / 7;
}

static char *segment_path(const char *home)
{
    return xasprintf("%s/series/00000001.seg", home);
}

static char *make_home(void)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    mapping_guard();
    for (int64_t i = 0; i < ROWS; i++)
        put1(db, source_of(1, i % 2 + 1), (uint64_t)i + 1, i, "loss", value_at(i));
    assert_int_equal(series_db_compact(db, NULL), 0);
    series_db_free(db);
    return home;
}

/* Every value that is told is the right one; how many. */
static size_t check(struct series_db *db, int64_t trial)
{
    struct points points = points_of(db, source_of(1, trial), "loss");
    size_t n = points.values.len;

    for (size_t i = 0; i < n; i++)
        if (points.steps.at[i] != STEP_NONE)
            assert_true(points.values.at[i] == value_at(points.steps.at[i]));
    points_release(&points);
    return n;
}

static void cut(const char *home, double part)
{
    autofree(mem) char *path = segment_path(home);
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, (off_t)((double)st.st_size * part)), 0);
}

TEST(a_segment_that_is_cut_under_a_reader_costs_what_is_behind_the_cut)
{
    char *home = make_home();
    struct series_db *db = must_open(home, SERIES_READ);

    assert_int_equal(check(db, 1) + check(db, 2), ROWS);
    cut(home, 0.75);
    check(db, 1);
    check(db, 2);
    assert_true(wrong_in(db) > 0);
    /* The index was at the end; it is made anew from the blocks. */
    assert_int_equal(series_db_refresh(db, NULL), 0);
    assert_int_equal(check(db, 1), ROWS / 2);
    size_t left = check(db, 2);
    assert_true(left > ROWS / 8 && left < ROWS / 2);
    series_db_free(db);
    home_end(home);
}

TEST(blocks_that_are_lost_leave_the_index_and_the_others)
{
    char *home = make_home();
    struct series_db *db = must_open(home, SERIES_READ);
    autofree(mem) char *path = segment_path(home);
    autorelease(str) struct str bytes = STR_INIT;
    FILE *file;

    assert_int_equal(check(db, 1) + check(db, 2), ROWS);
    assert_int_equal(fs_read(path, 1 << 26, &bytes, NULL), 0);
    cut(home, 0.5);
    check(db, 2); /* pages behind the cut are zeros from now on … */
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.s, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(series_db_refresh(db, NULL), 0); /* … until the file is opened anew */
    assert_int_equal(check(db, 1) + check(db, 2), ROWS);
    series_db_free(db);
    home_end(home);
}

TEST(an_index_that_is_lost_is_made_anew_before_segments_are_merged)
{
    char *home = make_home();
    struct series_db *db = must_open(home, SERIES_WRITE);

    assert_int_equal(put1(db, source_of(2, 1), 1, 1, "loss", 1), 0);
    cut(home, 0.75);
    check(db, 1);
    series_db_compact(db, NULL);
    assert_int_equal(series_db_refresh(db, NULL), 0);
    assert_int_equal(series_db_compact(db, NULL), 0);
    assert_int_equal(check(db, 1), ROWS / 2);
    assert_true(check(db, 2) > ROWS / 8);
    assert_int_equal(count_of(db, source_of(2, 1), "loss"), 1);
    series_db_free(db);
    home_end(home);
}

TEST_MAIN
