/* SPDX-License-Identifier: MIT */
/*
 * tail_test.c — last lines for people, newest checkpoint for the next attempt.
 */
#include "exec/fixture.h"

#include <sys/stat.h>

static void put(const struct fixture *f, const char *name, const char *bytes, size_t n)
{
    autofree(mem) char *path = xasprintf("%s/%s", f->home, name);
    autoclose int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

    assert_int_equal(write(fd, bytes, n), n);
}

static void check_tail(const struct fixture *f, size_t max, const char *want)
{
    autorelease(str) struct str text = STR_INIT;

    exec_tail(f->home, max, &text);
    assert_string_equal(text.s, want);
}

TEST(the_tail_begins_at_a_line)
{
    struct fixture f;

    fixture_init(&f, "");
    check_tail(&f, 100, "");
    put(&f, "stdout", "out\n", 4);
    check_tail(&f, 100, "out\n"); /* no stderr: stdout */
    put(&f, "stderr", "", 0);
    check_tail(&f, 100, "out\n");
    put(&f, "stderr", "first\nsecond\nthird", 18);
    check_tail(&f, 100, "first\nsecond\nthird");
    check_tail(&f, 14, "second\nthird");
    check_tail(&f, 9, "third");
    check_tail(&f, 3, "ird"); /* one long line: its end */
    fixture_release(&f);
}

TEST(the_tail_is_safe_for_a_terminal)
{
    static const char colours[] = "\x1b[1;33mwarm\x1b[0m \x1b]0;title\agreen \x1b[";
    struct fixture f;

    fixture_init(&f, "");
    put(&f, "stderr", "\x1b[2Jgone\n\xff\n", 11);
    check_tail(&f, 100, "gone\n?\n");
    put(&f, "stderr", colours, sizeof(colours) - 1);
    check_tail(&f, 100, "warm green ");
    put(&f, "stderr", "a\x1b\nb\x1b", 5);
    check_tail(&f, 100, "a\nb");
    fixture_release(&f);
}

TEST(the_newest_checkpoint_has_the_highest_step)
{
    struct fixture f;
    static const char *const names[] = {
        "1-100", "2-100", "3-90",    "4-9999999.tmp", "x-7",
        "5-",    "-8",    "6-1000x", "10-0",          "99999999999999999999-1000000"};
    int64_t step = 0;

    fixture_init(&f, "");
    assert_null(checkpoint_newest("/no/such/folder", &step));
    assert_null(checkpoint_newest(f.home, &step));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(&f, names[i], "", 0);
    autofree(mem) char *newest = checkpoint_newest(f.home, &step);
    autofree(mem) char *want = xasprintf("%s/2-100", f.home);
    assert_string_equal(newest, want);
    assert_int_equal(step, 100);
    fixture_release(&f);
}

TEST_MAIN
