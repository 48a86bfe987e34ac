/* SPDX-License-Identifier: MIT */
/*
 * base_test.c — what every other module leans on: texts, numbers as text, maps, arenas, JSON,
 * files and locks, times, randomness, checksums.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST(a_text_grows_and_is_always_terminated)
{
    autorelease(str) struct str str = STR_INIT;
    assert_string_equal(str.s, "");
    for (int i = 0; i < 1000; i++) {
        str_addf(&str, "%d,", i);
        assert_int_equal(strlen(str.s), str.len);
    }
    str_cut(&str, 4);
    str_cut(&str, 100);
    assert_string_equal(str.s, "0,1,");
    autofree(mem) char *taken = str_take(&str);
    assert_string_equal(taken, "0,1,");
    assert_string_equal(str.s, "");
    autofree(mem) char *empty = str_take(&str);
    assert_string_equal(empty, "");
}

TEST(room_for_much_keeps_what_is_there)
{
    autorelease(str) struct str str = STR_INIT;

    str_reserve_filled(&str, 10);
    for (size_t more = 1; more <= (size_t)8 << 20; more *= 4) {
        str_add(&str, "abc");
        str_reserve_filled(&str, more);
        assert_true(str.cap > str.len + more);
        assert_int_equal(strlen(str.s), str.len);
        assert_string_equal(str.s + str.len - 3, "abc");
    }
    str_add(&str, "end");
    assert_string_equal(str.s + str.len - 6, "abcend");
}

TEST(room_that_was_given_back_is_used_again)
{
    struct str first = STR_INIT;
    autorelease(str) struct str next = STR_INIT;

    str_reserve_filled(&first, (size_t)3 << 20);
    str_add(&first, "first");
    char *taken = str_take(&first);
    str_give_back(taken);
    str_add(&next, "next");
    str_reserve_filled(&next, (size_t)2 << 20);
    assert_ptr_equal(next.s, taken);
    assert_string_equal(next.s, "next");
    str_reserve_filled(&next, (size_t)5 << 20); /* for which it is too small */
    assert_string_equal(next.s, "next");
    str_give_back(str_take(&next));
    str_give_back(xstrdup("small"));
    str_give_back(NULL);
}

static void check_double(double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    const char *text = double_text(buf, x);
    double back = strtod(text, NULL);
    assert_memory_equal(&x, &back, sizeof(x));
    assert_in_range(strlen(text), 1, 24);
}

TEST(every_double_reads_back_exactly)
{
    static const double odd[] = {0,
                                 -0.0,
                                 0.1,
                                 1e-5,
                                 1e23,
                                 5e-324,
                                 DBL_MAX,
                                 DBL_MIN,
                                 1.0 / 3,
                                 2.5e-308,
                                 9007199254740992.0,
                                 -1e300};
    struct rng rng;

    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        check_double(odd[i]);
    rng_init(&rng, 1, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_u64(&rng);
        double x;
        memcpy(&x, &bits, sizeof(x));
        if (isfinite(x))
            check_double(x);
        check_double(rng_unit(&rng));
        check_double(round(rng_unit(&rng) * 1e6) / 1e4);
    }
}

TEST(doubles_are_written_short)
{
    char buf[DOUBLE_TEXT_SIZE];
    assert_string_equal(double_text(buf, 0.1), "0.1");
    assert_string_equal(double_text(buf, 3), "3");
    assert_string_equal(double_text(buf, 1e-5), "1e-05");
    assert_string_equal(double_text(buf, 0.30000000000000004), "0.30000000000000004");
    assert_string_equal(double_text(buf, NAN), "nan");
    assert_string_equal(double_text(buf, INFINITY), "inf");
    assert_string_equal(double_text(buf, -INFINITY), "-inf");
}

TEST(printable_text_cannot_drive_a_terminal)
{
    autorelease(str) struct str str = STR_INIT;
    static const char bytes[] = "a\tb\x1b[31m\x7f\xc2\x9b\xff\xe6\x97\xa5\xe6\x97\n\0z";
    str_add_printable(&str, bytes, sizeof(bytes) - 1);
    for (size_t i = 0; i < str.len; i++)
        assert_true((unsigned char)str.s[i] >= 0x20 && str.s[i] != 0x7f);
    assert_true(str_starts(str.s, "a b?[31m?"));
    assert_non_null(strstr(str.s, "日"));
    assert_int_equal(str.s[str.len - 1], 'z');
}

TEST(a_map_does_what_a_plain_array_does)
{
    enum { KEYS = 500 };
    struct map map = MAP_INIT;
    int values[16];
    void *model[KEYS] = {NULL};
    struct rng rng;
    size_t len = 0, cursor = 0, seen = 0;
    uint64_t key;

    rng_init(&rng, 7, 0);
    for (int i = 0; i < 50000; i++) {
        uint64_t k = rng_below(&rng, KEYS), name = k * 0x10000001;
        void *value = &values[rng_below(&rng, ARRAY_LEN(values))];
        assert_ptr_equal(map_find(&map, name), model[k]);
        if (rng_chance(&rng, 0.5)) {
            map_put(&map, name, value);
            model[k] = value;
        } else {
            assert_ptr_equal(map_remove(&map, name), model[k]);
            model[k] = NULL;
        }
    }
    for (size_t k = 0; k < KEYS; k++)
        len += model[k] != NULL;
    assert_int_equal(map.len, len);
    for (void *value; (value = map_next(&map, &cursor, &key)); seen++)
        assert_ptr_equal(value, model[key / 0x10000001]);
    assert_int_equal(seen, len);
    assert_in_range(map.cap, KEYS, 4 * KEYS); /* removed slots are used again */
    map_release(&map);
}

TEST(a_map_of_texts_keeps_its_own_keys)
{
    struct map_text map = MAP_TEXT_INIT;
    char key[32];
    static int values[1000];

    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        assert_null(map_text_find(&map, key));
        map_text_put(&map, key, &values[0]);
        map_text_put(&map, key, &values[i]);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        assert_ptr_equal(map_text_find(&map, key), &values[i]);
    }
    assert_null(map_text_find(&map, ""));
    map_text_release(&map);
}

TEST(an_arena_gives_zeroed_aligned_pieces_that_do_not_overlap)
{
    struct arena arena = ARENA_INIT;
    char *pieces[300];
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        size_t size = i * 37 % 9000;
        pieces[i] = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)i, size);
    }
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        for (size_t k = 0; k < i * 37 % 9000; k++)
            assert_int_equal(pieces[i][k], (char)i);
    assert_null(arena_strdup(&arena, NULL));
    assert_string_equal(arena_strdup(&arena, "text"), "text");
    arena_release(&arena);
    arena_release(&arena);
}

static void check_json_text(const char *text, size_t n, const char *expected)
{
    autorelease(str) struct str str = STR_INIT;
    struct json_out out = JSON_OUT(&str);
    autofree(json) json_t *value = NULL;

    json_text_n(&out, text, n);
    assert_null(strpbrk(str.s, "\n\t\r\x1b\x7f"));
    value = json_loadb(str.s, str.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(value);
    assert_int_equal(json_string_length(value), expected ? strlen(expected) : n);
    assert_memory_equal(json_string_value(value), expected ? expected : text,
                        json_string_length(value));
}

TEST(json_texts_read_back_as_they_were)
{
    char all[128];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)i;
    check_json_text(all, sizeof(all), NULL);
    check_json_text("", 0, NULL);
    check_json_text("é日🚀\"\\/", strlen("é日🚀\"\\/"), NULL);
}

TEST(broken_utf8_becomes_the_replacement_character)
{
    check_json_text("a\xff", 2, "a\uFFFD");
    check_json_text("\xc0\xaf", 2, "\uFFFD\uFFFD");                     /* overlong */
    check_json_text("\xed\xa0\x80", 3, "\uFFFD\uFFFD\uFFFD");           /* surrogate */
    check_json_text("\xf4\x90\x80\x80", 4, "\uFFFD\uFFFD\uFFFD\uFFFD"); /* past U+10FFFF */
    check_json_text("\xe6\x97", 2, "\uFFFD\uFFFD");                     /* torn */
}

TEST(any_bytes_make_valid_json)
{
    struct rng rng;
    char bytes[64];
    rng_init(&rng, 3, 0);
    for (int i = 0; i < 5000; i++) {
        autorelease(str) struct str str = STR_INIT;
        struct json_out out = JSON_OUT(&str);
        size_t n = rng_below(&rng, sizeof(bytes));
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)(rng_chance(&rng, 0.5) ? 0x80 | rng_below(&rng, 128) : rng_u64(&rng));
        json_text_n(&out, bytes, n);
        json_t *value = json_loadb(str.s, str.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(value);
        json_decref(value);
    }
}

TEST(json_is_written_with_commas_where_they_belong)
{
    autorelease(str) struct str str = STR_INIT, again = STR_INIT;
    struct json_out out = JSON_OUT(&str), out_again = JSON_OUT(&again);
    struct err err = ERR_INIT;
    autofree(json) json_t *value = NULL;

    json_begin_object(&out);
    json_put_text(&out, "a", NULL);
    json_put_double(&out, "b", 0.1);
    json_put_double(&out, "c", -INFINITY);
    json_key(&out, "d");
    json_begin_array(&out);
    json_begin_object(&out);
    json_end_object(&out);
    json_begin_array(&out);
    json_end_array(&out);
    json_int(&out, INT64_MIN);
    json_end_array(&out);
    json_put_bool(&out, "e", true);
    json_put_time(&out, "f", 1);
    json_put_raw(&out, "g", "{\"x\":1}");
    json_end_object(&out);
    assert_string_equal(str.s, "{\"a\":null,\"b\":0.1,\"c\":\"-inf\",\"d\":[{},[],"
                               "-9223372036854775808],\"e\":true,"
                               "\"f\":\"1970-01-01T00:00:00.000001Z\",\"g\":{\"x\":1}}");
    assert_ok(json_parse(str.s, str.len, &value, &err), &err);
    json_value(&out_again, value);
    assert_string_equal(again.s, str.s);
    assert_true(isinf(json_get_double(value, "c", 0)));
    assert_int_equal(json_get_int(value, "b", 7), 7);
    assert_true(json_get_bool(value, "e", false));
    assert_string_equal(json_get_text(value, "nothing", "else"), "else");
}

TEST(bad_json_is_refused_with_its_place)
{
    struct err err = ERR_INIT;
    json_t *value;
    assert_int_equal(json_parse("{\n\"a\":x}", 8, &value, &err), -EINVAL);
    assert_true(str_starts(err_text(&err), "line 2, column "));
    assert_int_equal(json_parse("{\"a\":1,\"a\":2}", 13, &value, &err), -EINVAL);
    err_release(&err);
}

TEST(an_error_collects_where_it_happened)
{
    struct err err = ERR_INIT;
    assert_int_equal(err_set(&err, EINVAL, "bound %d", 3), -EINVAL);
    assert_int_equal(err_context(&err, "parameter '%s'", "lr"), -EINVAL);
    assert_string_equal(err_text(&err), "parameter 'lr': bound 3");
    assert_int_equal(err_errno(&err, ENOENT, "cannot read x"), -ENOENT);
    assert_string_equal(err_text(&err), "cannot read x: No such file or directory");
    err_release(&err);
    assert_string_equal(err_text(&err), "");
    assert_int_equal(err_set(NULL, EIO, "nobody listens"), -EIO);
}

/* --- files ------------------------------------------------------------------------------------ */

static char *make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    char *path = xasprintf("%s/base_test.XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_folder(char *path)
{
    struct err err = ERR_INIT;
    assert_ok(fs_remove_tree(path, &err), &err);
    assert_false(fs_exists(path));
    assert_ok(fs_remove_tree(path, &err), &err);
    free(path);
}

TEST(folders_are_made_with_their_parents)
{
    char *top = make_folder();
    struct err err = ERR_INIT;
    autofree(mem) char *deep = xasprintf("%s/a/b//c/", top);
    autofree(mem) char *file = xasprintf("%s/a/file", top);
    autofree(mem) char *under = xasprintf("%s/a/file/x", top);

    assert_ok(fs_make_dirs(deep, 0755, &err), &err);
    assert_ok(fs_make_dirs(deep, 0755, &err), &err);
    assert_true(fs_is_dir(deep));
    assert_ok(fs_write_atomic(file, "x", 1, 0644, &err), &err);
    assert_int_equal(fs_make_dirs(under, 0755, &err), -ENOTDIR);
    assert_int_equal(fs_make_dirs(file, 0755, &err), -ENOTDIR);
    err_release(&err);
    remove_folder(top);
}

TEST(removing_a_tree_does_not_follow_links)
{
    char *top = make_folder(), *other = make_folder();
    autofree(mem) char *link = xasprintf("%s/link", top);
    autofree(mem) char *kept = xasprintf("%s/kept", other);
    struct err err = ERR_INIT;

    assert_ok(fs_write_atomic(kept, "", 0, 0600, &err), &err);
    assert_int_equal(symlink(other, link), 0);
    remove_folder(top);
    assert_true(fs_exists(kept));
    remove_folder(other);
}

TEST(a_file_is_read_whole_or_refused)
{
    char *top = make_folder();
    autofree(mem) char *path = xasprintf("%s/file", top);
    autorelease(str) struct str text = STR_INIT, big = STR_INIT;
    struct err err = ERR_INIT;

    for (int i = 0; i < 200000; i++)
        str_add_char(&big, (char)i);
    assert_ok(fs_write_atomic(path, big.s, big.len, 0600, &err), &err);
    assert_ok(fs_read(path, big.len, &text, &err), &err);
    assert_int_equal(text.len, big.len);
    assert_memory_equal(text.s, big.s, big.len);
    assert_int_equal(fs_read(path, big.len - 1, &text, &err), -EFBIG);
    assert_int_equal(fs_read(top, 10, &text, &err), -EISDIR);
    err_release(&err);
    remove_folder(top);
}

/* Replace the file with one letter many times over, for ever. */
static void replace_for_ever(const char *path)
{
    static char bytes[20000];
    for (int i = 0;; i++) {
        memset(bytes, 'a' + i % 26, sizeof(bytes));
        if (fs_write_atomic(path, bytes, sizeof(bytes), 0600, NULL) < 0)
            _exit(1);
    }
}

TEST(a_reader_never_sees_half_a_file)
{
    char *top = make_folder();
    autofree(mem) char *path = xasprintf("%s/file", top);
    struct err err = ERR_INIT;

    assert_ok(fs_write_atomic(path, "", 0, 0600, &err), &err);
    pid_t pid = fork();
    if (pid == 0)
        replace_for_ever(path);
    for (int changes = 0, last = 0; changes < 20;) {
        autorelease(str) struct str text = STR_INIT;
        assert_ok(fs_read(path, 1 << 20, &text, &err), &err);
        assert_true(text.len == 0 || text.len == 20000);
        assert_true(text.len == 0 || text.s[0] == text.s[19999]);
        changes += text.s[0] != last;
        last = text.s[0];
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    remove_folder(top);
}

TEST(a_lock_keeps_others_out_until_its_holder_is_gone)
{
    char *top = make_folder(), byte;
    autofree(mem) char *path = xasprintf("%s/lock", top);
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pid_t pid = fork();
    if (pid == 0) {
        int own = open(path, O_RDWR | O_CLOEXEC);
        byte = fs_lock(own) == 0 ? 'y' : 'n';
        (void)!write(ends[1], &byte, 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_true(fs_locked(fd));
    assert_int_equal(fs_lock(fd), -EAGAIN);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_false(fs_locked(fd));
    assert_int_equal(fs_lock(fd), 0);
    assert_false(fs_locked(fd)); /* our own does not count */
    close(ends[0]);
    close(ends[1]);
    remove_folder(top);
}

TEST(paths_become_absolute)
{
    autofree(mem) char *cwd = getcwd(NULL, 0), *here = fs_absolute("."), *top = fs_absolute("/x");
    autofree(mem) char *file = fs_absolute("./a/b"), *expected = xasprintf("%s/a/b", cwd);
    assert_string_equal(here, cwd);
    assert_string_equal(top, "/x");
    assert_string_equal(file, expected);
}

/* --- times, numbers --------------------------------------------------------------------------- */

TEST(times_read_back_as_they_were)
{
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (int i = 0; i < 2000; i++) {
        autorelease(str) struct str text = STR_INIT;
        int64_t us = (int64_t)rng_below(&rng, 8000000000000000) - 2000000000000000, back;
        str_add_time(&text, us);
        assert_int_equal(time_parse(text.s, &back), 0);
        assert_int_equal(back, us);
    }
}

/* As the C library tells it. */
static void check_time(int64_t wall_us)
{
    autorelease(str) struct str text = STR_INIT;
    char plain[80];
    int64_t us = wall_us % 1000000;
    time_t s = (time_t)(wall_us / 1000000) - (us < 0);
    struct tm tm;

    gmtime_r(&s, &tm);
    snprintf(plain, sizeof(plain), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(us < 0 ? us + 1000000 : us));
    str_add_time(&text, wall_us);
    assert_string_equal(text.s, plain);
}

static void check_time_ns(int64_t wall_ns, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_time_ns(&text, wall_ns);
    assert_string_equal(text.s, expected);
}

TEST(nanoseconds_are_told_where_there_are_some)
{
    check_time_ns(0, "1970-01-01T00:00:00.000000Z");
    check_time_ns(1, "1970-01-01T00:00:00.000000001Z");
    check_time_ns(-1, "1969-12-31T23:59:59.999999999Z");
    check_time_ns(-1000, "1969-12-31T23:59:59.999999Z");
    check_time_ns(INT64_C(1700000000123456789), "2023-11-14T22:13:20.123456789Z");
    check_time_ns(INT64_C(1700000000123456000), "2023-11-14T22:13:20.123456Z");
    check_time_ns(INT64_MAX, "2262-04-11T23:47:16.854775807Z");
    check_time_ns(INT64_MIN + 1, "1677-09-21T00:12:43.145224193Z");
}

TEST(times_are_those_of_the_calendar)
{
    static const int64_t year_us = INT64_C(31556952000000);
    static const int64_t edges[] = {
        0,
        1,
        999999,
        1000000,
        86399999999,
        86400000000,
        INT64_C(951782399999999),    /* before 2000-02-29 */
        INT64_C(951868800000000),    /* behind it */
        INT64_C(4107542400000000),   /* 2100-03-01: no 29th */
        INT64_C(253402300799999999), /* the last of 9999 */
        INT64_C(253402300800000000),
        INT64_MAX,
        -1,
        -1000000,
        INT64_MIN,
    };

    for (size_t i = 0; i < ARRAY_LEN(edges); i++)
        check_time(edges[i]);
    for (int64_t day = 0; day < 366 * 401; day++)
        check_time(day * INT64_C(86400000000) + day);
    for (uint64_t i = 0; i < 20000; i++)
        check_time((int64_t)(hash_u64(i) % (uint64_t)(9000 * year_us)));
}

TEST(times_of_other_zones_are_understood)
{
    int64_t us;
    assert_int_equal(time_parse("2026-11-15T23:15:02+01:30", &us), 0);
    autorelease(str) struct str text = STR_INIT;
    str_add_time(&text, us);
    assert_string_equal(text.s, "2026-11-15T21:45:02.000000Z");
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-11-15T23:15:02",
                                      "2026-11-15T23:15:02Zx",
                                      "2026-13-15T23:15:02Z",
                                      "2026-11-15T23:15:02+1"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(time_parse(bad[i], &us), -EINVAL);
}

static void check_duration(int64_t us, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_duration(&text, us);
    assert_string_equal(text.s, expected);
}

TEST(durations_are_short)
{
    check_duration(-5, "0ms");
    check_duration(850000, "850ms");
    check_duration(4200000, "4.2s");
    check_duration(59499999, "59.5s");
    check_duration(59500000, "1m00s");
    check_duration(192 * US_PER_S, "3m12s");
    check_duration(7500 * US_PER_S, "2h05m");
    check_duration(273600 * US_PER_S, "3d04h");
}

TEST(randomness_repeats_with_its_seed)
{
    struct rng a, b, c;
    rng_init(&a, 42, 1);
    rng_init(&b, 42, 1);
    rng_init(&c, 42, 2);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_u64(&a);
        assert_int_equal(x, rng_u64(&b));
        same += x == rng_u64(&c);
    }
    assert_int_equal(same, 0);
}

TEST(randomness_is_even)
{
    enum { BINS = 7, N = 70000 };
    struct rng rng;
    int counts[BINS] = {0};
    double chi2 = 0, sum = 0, squares = 0;

    rng_init(&rng, 9, 0);
    for (int i = 0; i < N; i++)
        counts[rng_below(&rng, BINS)]++;
    for (int k = 0; k < BINS; k++)
        chi2 += pow(counts[k] - N / BINS, 2) / (N / BINS);
    assert_true(chi2 < 22.5); /* 6 degrees of freedom: p = 0.001 */
    for (int i = 0; i < N; i++) {
        double u = rng_unit(&rng), x = rng_normal(&rng);
        assert_true(u >= 0 && u < 1);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / N) < 0.02);
    assert_true(fabs(squares / N - 1) < 0.02);
}

TEST(checksums_are_castagnolis)
{
    char zeros[32] = {0}, ones[32];
    memset(ones, 0xff, sizeof(ones));
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
    assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
    assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43);
    assert_int_equal(crc32c(0, "", 0), 0);
}

TEST_MAIN
