/* SPDX-License-Identifier: MIT */
/*
 * db_damage_test.c — files that were cut, bits that were flipped, disks that are full or lose
 * power: what is sound is read, what is lost is named, nothing acknowledged is gone.
 */
#include "series/db_fixture.h"

#include "base/crc32c.h"
#include "base/rng.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define N_ROWS 40

static char *file_in(const char *home, const char *name)
{
    return xasprintf("%s/series/%s", home, name);
}

/* A home with one log or one segment of two sources. */
static char *make_home(bool sealed)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    for (int64_t i = 0; i < N_ROWS; i++) {
        put2(db, source_of(1, 1), (uint64_t)i + 1, i, "loss", (double)i + 0.5, "acc", (double)i);
        if (i % 4 == 0)
            put1(db, source_of(1, 2), (uint64_t)i + 1, i, "loss", (double)i + 0.5);
    }
    if (sealed)
        assert_int_equal(series_db_compact(db, NULL), 0);
    series_db_free(db);
    return home;
}

/* What is there is right, and in order. Returns how many. */
static size_t check_values(struct series_db *db, struct series_source source, const char *name,
                           double offset, bool *ret_steps)
{
    struct points points = points_of(db, source, name);
    size_t n = points.values.len;

    for (size_t i = 0; i < n; i++) {
        int64_t step = (int64_t)(points.values.at[i] - offset);
        assert_true(points.values.at[i] == (double)step + offset && step >= 0 && step < N_ROWS);
        assert_true(i == 0 || points.values.at[i] > points.values.at[i - 1]);
        if (points.steps.at[i] != step || points.times.at[i] != step * 1000)
            *ret_steps = false;
    }
    points_release(&points);
    return n;
}

struct found {
    size_t loss, acc, other;
    bool steps; /* all are right */
};
static struct found look(struct series_db *db)
{
    struct found found = {.steps = true};

    found.loss = check_values(db, source_of(1, 1), "loss", 0.5, &found.steps);
    found.acc = check_values(db, source_of(1, 1), "acc", 0, &found.steps);
    found.other = check_values(db, source_of(1, 2), "loss", 0.5, &found.steps);
    return found;
}

static void write_file(const char *path, const struct str *bytes, size_t n)
{
    unlink(path); /* ext4 would sync a file that is cut and written again */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->s, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void count_sentence(const char *sentence, void *arg)
{
    assert_true(strlen(sentence) > 10);
    (*(int *)arg)++;
}

/* ---- the log ---- */
TEST(a_log_cut_at_any_byte_keeps_all_records_before)
{
    char *home = make_home(false);
    autofree(mem) char *path = file_in(home, "00000001.wal");
    autorelease(str) struct str bytes = STR_INIT;
    size_t before = 0;

    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t n = 0; n <= bytes.len; n++) {
        write_file(path, &bytes, n);
        struct series_db *db = must_open(home, n % 16 ? SERIES_READ : SERIES_WRITE);
        struct found found = look(db);
        assert_true(found.steps && found.loss == found.acc);
        assert_true(found.loss + found.other >= before);
        assert_true(found.loss + found.other <= before + 1);
        before = found.loss + found.other;
        if (n % 16 == 0) { /* a torn tail is cut, and writing goes on */
            assert_int_equal(put1(db, source_of(9, 9), 0, 1, "more", 1), 0);
            assert_int_equal(wrong_in(db), series_db_flush(db, NULL));
            assert_int_equal(count_of(db, source_of(9, 9), "more"), 1);
        }
        series_db_free(db);
    }
    assert_int_equal(before, N_ROWS + N_ROWS / 4);
    home_end(home);
}

TEST(a_flipped_byte_in_a_log_costs_one_record)
{
    char *home = make_home(false);
    autofree(mem) char *path = file_in(home, "00000001.wal");
    autorelease(str) struct str bytes = STR_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.s[i] ^= (char)(1 << i % 8);
        write_file(path, &bytes, bytes.len);
        struct series_db *db = must_open(home, SERIES_READ);
        struct found found = look(db);
        /* A name's record that is lost takes the rows with it that use it; they are in the first
         * bytes. The last record looks torn. */
        if (i > 200)
            assert_true(found.loss + found.other >= N_ROWS + N_ROWS / 4 - 1);
        if (i < bytes.len - 60)
            assert_non_null(series_db_notes(db)[0]);
        series_db_free(db);
        bytes.s[i] ^= (char)(1 << i % 8);
    }
    home_end(home);
}

/* ---- a segment ---- */
TEST(a_segment_cut_at_any_byte_keeps_the_blocks_before)
{
    char *home = make_home(true);
    autofree(mem) char *path = file_in(home, "00000001.seg");
    autorelease(str) struct str bytes = STR_INIT;
    size_t before = 0;

    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t n = 0; n <= bytes.len; n++) {
        write_file(path, &bytes, n);
        struct series_db *db = must_open(home, SERIES_READ);
        struct found found = look(db);
        assert_true(found.loss + found.acc + found.other >= before);
        before = found.loss + found.acc + found.other;
        if (n < bytes.len) {
            int wrong = 0;
            assert_non_null(series_db_notes(db)[0]);
            assert_true(series_db_verify(db, true, count_sentence, &wrong) > 0 && wrong > 0);
        }
        series_db_free(db);
    }
    assert_int_equal(before, 2 * N_ROWS + N_ROWS / 4);
    home_end(home);
}

TEST(a_flipped_byte_in_a_segment_costs_one_block_and_is_named)
{
    char *home = make_home(true);
    autofree(mem) char *path = file_in(home, "00000001.seg");
    autorelease(str) struct str bytes = STR_INIT;
    size_t harmless = 0;

    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t i = 0; i < bytes.len; i++) {
        int wrong = 0;
        bytes.s[i] ^= (char)(1 << i % 8);
        write_file(path, &bytes, bytes.len);
        struct series_db *db = must_open(home, SERIES_READ);
        struct found found = look(db);
        int lost = (found.loss != N_ROWS) + (found.acc != N_ROWS) + (found.other != N_ROWS / 4);
        assert_true(lost + !found.steps <= 1);
        assert_true(series_db_verify(db, true, count_sentence, &wrong) > 0 && wrong > 0);
        if (lost + !found.steps)
            assert_non_null(series_db_notes(db)[0]);
        else
            harmless++;
        series_db_free(db);
        bytes.s[i] ^= (char)(1 << i % 8);
    }
    assert_in_range(harmless, 1, bytes.len - 1);
    home_end(home);
}

TEST(merging_carries_on_what_is_sound)
{
    char *home = make_home(true);
    autofree(mem) char *path = file_in(home, "00000001.seg");
    autorelease(str) struct str bytes = STR_INIT;
    int damaged = 0;

    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t i = 8; i < bytes.len; i += 23) {
        bytes.s[i] ^= 0x10;
        fs_remove_tree(home, NULL);
        assert_int_equal(fs_make_dirs(path, 0700, NULL), 0);
        assert_int_equal(rmdir(path), 0);
        write_file(path, &bytes, bytes.len);
        struct series_db *db = must_open(home, SERIES_WRITE);
        struct found before = look(db);
        put2(db, source_of(1, 1), 1000, 0, "loss", 0.5, "acc", 0);
        assert_int_equal(series_db_compact(db, NULL), 0);
        struct points loss = points_of(db, source_of(1, 1), "loss");
        struct points acc = points_of(db, source_of(1, 1), "acc");
        assert_int_equal(loss.values.len, before.loss + 1);
        assert_int_equal(acc.values.len, before.acc + 1);
        assert_int_equal(count_of(db, source_of(1, 2), "loss"), before.other);
        assert_int_equal(wrong_in(db), 0);
        damaged += before.loss + before.acc + before.other < 2 * N_ROWS + N_ROWS / 4;
        points_release(&loss);
        points_release(&acc);
        series_db_free(db);
        bytes.s[i] ^= 0x10;
    }
    assert_true(damaged > 0);
    home_end(home);
}

TEST(a_file_that_is_no_segment_is_left_out_and_named)
{
    char *home = make_home(true);
    autofree(mem) char *path = file_in(home, "00000007.seg");
    autorelease(str) struct str bytes = STR_INIT;
    int wrong = 0;

    str_add(&bytes, "this is no segment at all");
    write_file(path, &bytes, bytes.len);
    struct series_db *db = must_open(home, SERIES_WRITE);
    assert_int_equal(look(db).loss, N_ROWS);
    assert_non_null(strstr(series_db_notes(db)[0], "00000007.seg is no segment"));
    assert_int_equal(series_db_verify(db, true, count_sentence, &wrong), 1);
    put1(db, source_of(1, 3), 0, 1, "loss", 1);
    series_db_free(db);
    assert_true(fs_exists(path));
    home_end(home);
}

TEST(a_segment_that_is_left_out_stays_when_its_neighbours_are_merged)
{
    char *home = home_new();
    autofree(mem) char *path = file_in(home, "00000003.seg");
    autorelease(str) struct str bytes = STR_INIT;
    struct series_size size;
    struct series_db *db = must_open(home, SERIES_WRITE);

    for (int64_t i = 1; i <= 5; i++) {
        put1(db, source_of(1, i), 0, i, "loss", (double)i);
        assert_int_equal(db_seal_all(db, NULL), 0);
    }
    series_db_free(db);
    str_add(&bytes, "what was a segment");
    write_file(path, &bytes, bytes.len);
    for (int round = 0; round < 3; round++) {
        db = must_open(home, SERIES_WRITE);
        assert_true(fs_exists(path));
        assert_non_null(strstr(series_db_notes(db)[0], "00000003.seg is no segment"));
        put1(db, source_of(1, 1), 0, 6 + round, "loss", 1);
        for (int i = 0; i < 3; i++)
            assert_int_equal(series_db_compact(db, NULL), 0);
        assert_int_equal(count_of(db, source_of(1, 1), "loss"), 2 + round);
        for (int64_t i = 2; i <= 5; i++)
            assert_int_equal(count_of(db, source_of(1, i), "loss"), i != 3);
        series_db_size(db, &size);
        series_db_free(db);
    }
    assert_in_range(size.segments, 2, 4);
    assert_true(fs_exists(path));
    home_end(home);
}

TEST(what_cannot_be_opened_is_told_in_a_sentence)
{
    char *home = make_home(false);
    autofree(mem) char *log = file_in(home, "00000001.wal");
    autofree(mem) char *file = xasprintf("%s/file", home), *below = xasprintf("%s/series", file);
    autorelease(str) struct str bytes = STR_INIT;
    struct series_db *db = NULL;
    struct err err = ERR_INIT;

    /* A log of another version: its first record says so. */
    assert_int_equal(fs_read(log, 1 << 20, &bytes, NULL), 0);
    char *version = memmem(bytes.s, bytes.len, WAL_VERSION, strlen(WAL_VERSION));
    assert_non_null(version);
    version[strlen(WAL_VERSION) - 1] = '2';
    uint32_t crc = crc32c(0, bytes.s, 4);
    crc = crc32c(crc, bytes.s + 8, strlen(WAL_VERSION) + 1);
    memcpy(bytes.s + 4, &crc, sizeof(crc));
    write_file(log, &bytes, bytes.len);
    for (int mode = SERIES_READ; mode <= SERIES_WRITE; mode++) {
        assert_int_equal(series_db_open(home, (enum series_mode)mode, &db, &err), -EPROTO);
        assert_non_null(strstr(err_text(&err), "00000001.wal: it was written by another version"));
        err_release(&err);
    }
    /* A file where a folder should be. */
    write_file(file, &bytes, 1);
    assert_true(series_db_open(file, SERIES_WRITE, &db, &err) < 0);
    assert_non_null(err.text);
    err_release(&err);
    assert_int_equal(series_db_open(file, SERIES_READ, &db, &err), -ENOTDIR);
    assert_non_null(strstr(err_text(&err), below));
    err_release(&err);
    home_end(home);
}

TEST(what_a_crash_left_beside_a_merged_segment_is_removed)
{
    char *home = make_home(true);
    autofree(mem) char *one = file_in(home, "00000001.seg"), *log = file_in(home, "00000002.wal"),
                       *both = file_in(home, "00000001-00000002.seg"),
                       *beside = file_in(home, "00000003.seg.new");
    autorelease(str) struct str bytes = STR_INIT;

    assert_int_equal(fs_read(one, 1 << 20, &bytes, NULL), 0);
    write_file(both, &bytes, bytes.len);
    write_file(log, &bytes, 100);
    write_file(beside, &bytes, 100);
    struct series_db *db = must_open(home, SERIES_READ);
    assert_int_equal(look(db).loss, N_ROWS);
    series_db_free(db);
    assert_true(fs_exists(one) && fs_exists(log) && fs_exists(beside));
    db = must_open(home, SERIES_WRITE);
    assert_int_equal(look(db).loss, N_ROWS);
    assert_false(fs_exists(one) || fs_exists(log) || fs_exists(beside));
    series_db_free(db);
    home_end(home);
}

/* ---- a disk that is full, or fails ---- */
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER; /* workers write, too */
static size_t disk_room;
static int sync_errno;

static ssize_t small_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    pthread_mutex_lock(&disk_lock);
    n = MIN(n, disk_room);
    disk_room -= n;
    pthread_mutex_unlock(&disk_lock);
    if (n)
        return pwrite(fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

static int small_sync(int fd)
{
    if (!sync_errno)
        return fd < 0 ? -1 : 0;
    errno = sync_errno;
    sync_errno = 0;
    return -1;
}
static const struct series_io small_disk = {small_pwrite, small_sync};

static struct series_db *open_small(const char *home)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    assert_ok(series_db_open_with(home, SERIES_WRITE, &small_disk, &db, &err), &err);
    db->log_bytes = 20000;
    return db;
}

static void give_room(size_t bytes)
{
    pthread_mutex_lock(&disk_lock);
    disk_room = bytes;
    pthread_mutex_unlock(&disk_lock);
}

TEST(a_full_disk_loses_nothing_and_goes_on_when_there_is_room)
{
    char *home = home_new();
    struct rng rng;
    struct series_source source = source_of(1, 1);
    int64_t n = 0;
    int full = 0;

    rng_init(&rng, 5, 0);
    give_room(5000);
    struct series_db *db = open_small(home);
    for (int round = 0; round < 300; round++) {
        int r = 0;
        for (int i = 0; i < 400 && r == 0; i++) {
            r = put1(db, source, (uint64_t)n + 1, n, "x", (double)n);
            n += r == 0;
        }
        assert_true(r == 0 || r == -ENOSPC);
        r = round % 10 == 9 ? series_db_compact(db, NULL) : series_db_sync(db, NULL);
        assert_true(r == 0 || r == -ENOSPC);
        full += r != 0;
        if (r != 0)
            give_room(rng_below(&rng, 40000) + 1);
    }
    assert_true(full > 5);
    give_room(SIZE_MAX);
    assert_int_equal(series_db_sync(db, NULL), 0);
    for (int round = 0; round < 2; round++) {
        struct points points = points_of(db, source, "x");
        assert_int_equal(points.values.len, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(points.values.at[i] == (double)i);
        points_release(&points);
        series_db_free(db);
        db = open_small(home);
    }
    assert_int_equal(wrong_in(db), 0);
    series_db_free(db);
    home_end(home);
}

TEST(rows_are_refused_when_the_buffer_cannot_be_written)
{
    char *home = home_new();
    struct series_source source = source_of(1, 1);
    int64_t n = 0;
    int r = 0;

    give_room(100);
    struct series_db *db = open_small(home);
    while (r == 0 && n < 1000000) {
        r = put1(db, source, (uint64_t)n + 1, n, "x", (double)n);
        n += r == 0;
    }
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(count_of(db, source, "x"), n);
    give_room(SIZE_MAX);
    assert_int_equal(put1(db, source, (uint64_t)n + 1, n, "x", (double)n), 0);
    series_db_free(db);
    db = open_small(home);
    assert_int_equal(count_of(db, source, "x"), n + 1);
    series_db_free(db);
    home_end(home);
}

TEST(after_a_failed_sync_the_rows_are_written_to_another_file)
{
    char *home = home_new();
    struct err err = ERR_INIT;

    give_room(SIZE_MAX);
    struct series_db *db = open_small(home);
    put1(db, source_of(1, 1), 0, 1, "x", 1);
    sync_errno = EIO;
    assert_int_equal(series_db_sync(db, &err), -EIO);
    assert_non_null(strstr(err_text(&err), "cannot write series"));
    err_release(&err);
    assert_int_equal(series_db_sync(db, NULL), 0);
    autofree(mem) char *path = file_in(home, "00000001.seg");
    assert_true(fs_exists(path));
    assert_int_equal(count_of(db, source_of(1, 1), "x"), 1);
    series_db_free(db);
    home_end(home);
}

/* ---- a machine that loses power ---- */
/* What is known to be on the disk: the bytes of a file at its last sync, and the names in the
 * folder at its last one. Everything else may or may not be there. */
struct name {
    char text[64];
};
struct kept {
    struct name name; /* no name is ever used twice */
    struct str bytes;
};
static struct {
    const char *home;
    VEC(struct kept) files;
    VEC(struct name) names;
} disk;

static void list_names(void)
{
    autofree(mem) char *folder = xasprintf("%s/series", disk.home);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    assert_non_null(dir);
    disk.names.len = 0;
    while ((entry = readdir(dir))) {
        struct name name;
        snprintf(name.text, sizeof(name.text), "%.63s", entry->d_name);
        if (entry->d_name[0] != '.')
            vec_push(&disk.names, name);
    }
    closedir(dir);
}

static struct str *kept_bytes(const char *name)
{
    vec_foreach (file, &disk.files)
        if (str_eq(file->name.text, name))
            return &file->bytes;
    struct kept made = {.bytes = STR_INIT};
    snprintf(made.name.text, sizeof(made.name.text), "%s", name);
    vec_push(&disk.files, made);
    return &vec_last(&disk.files)->bytes;
}

/* What is written beside is known by the name that it will have. */
static struct name name_of_fd(int fd)
{
    char path[64], target[256] = "";
    struct name name;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_true(readlink(path, target, sizeof(target) - 1) > 0);
    snprintf(name.text, sizeof(name.text), "%.63s", strrchr(target, '/') + 1);
    char *beside = strstr(name.text, ".new");
    if (beside)
        *beside = '\0';
    return name;
}

static int noting_sync(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    if (S_ISDIR(st.st_mode)) {
        list_names();
        return 0;
    }
    struct str *bytes = kept_bytes(name_of_fd(fd).text);
    str_cut(bytes, 0);
    str_reserve(bytes, (size_t)st.st_size);
    assert_int_equal(pread(fd, bytes->s, (size_t)st.st_size, 0), st.st_size);
    bytes->len = (size_t)st.st_size;
    return 0;
}
static const struct series_io power = {pwrite, noting_sync};

/* A file as it may be after the cut: what was synced, and any part of what came later. */
static void put_remains(const char *to, const char *name, struct rng *rng)
{
    autofree(mem) char *from = file_in(disk.home, name), *path = file_in(to, name);
    autorelease(str) struct str now = STR_INIT;
    struct str *synced = kept_bytes(name);

    if (fs_read(from, 64 << 20, &now, NULL) == 0 && now.len > synced->len &&
        memcmp(now.s, synced->s, synced->len) == 0 && rng_chance(rng, 0.5)) {
        size_t more = synced->len + rng_below(rng, now.len - synced->len + 1);
        size_t bad = rng_below(rng, more - synced->len + 1);
        memset(now.s + more - bad, 0, rng_chance(rng, 0.5) ? bad : 0);
        write_file(path, &now, more);
        return;
    }
    write_file(path, synced, synced->len);
}

static char *cut_power(struct rng *rng)
{
    char *home = home_new();
    autofree(mem) char *folder = xasprintf("%s/series", home);

    assert_int_equal(fs_make_dirs(folder, 0700, NULL), 0);
    vec_foreach (name, &disk.names)
        put_remains(home, name->text, rng);
    return home;
}

static void check_after_cut(struct rng *rng, int64_t synced, int64_t appended)
{
    char *home = cut_power(rng);
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);
    struct points points = points_of(db, source, "x");

    assert_in_range(points.values.len, synced, appended);
    for (size_t i = 0; i < points.values.len; i++)
        assert_true(points.values.at[i] == (double)i && points.steps.at[i] == (int64_t)i);
    assert_int_equal(series_db_end(db, &source), points.values.len);
    assert_int_equal(wrong_in(db), 0);
    points_release(&points);
    series_db_free(db);
    home_end(home);
}

TEST(a_power_cut_loses_nothing_that_was_synced)
{
    char *home = home_new();
    struct series_db *db = NULL;
    struct rng rng;
    int64_t n = 0, synced = 0;

    rng_init(&rng, 11, 0);
    disk.home = home;
    assert_int_equal(series_db_open_with(home, SERIES_WRITE, &power, &db, NULL), 0);
    list_names();
    for (int i = 0; i < 150; i++) {
        uint64_t what = rng_below(&rng, 12);
        if (what < 6)
            for (uint64_t j = rng_below(&rng, 30); j > 0; j--, n++)
                put1(db, source_of(1, 1), (uint64_t)n + 1, n, "x", (double)n);
        else if (what < 9)
            assert_int_equal(series_db_flush(db, NULL), 0);
        else if (what < 11)
            assert_int_equal(series_db_sync(db, NULL), 0);
        else
            assert_int_equal(series_db_compact(db, NULL), 0);
        synced = what >= 9 ? n : synced;
        check_after_cut(&rng, synced, n);
    }
    assert_true(synced > 300);
    series_db_free(db);
    vec_foreach (file, &disk.files)
        str_release(&file->bytes);
    vec_release(&disk.files);
    vec_release(&disk.names);
    home_end(home);
}

/* ---- a disk that fails to sync a log, and has no room for segments ---- */
static _Atomic bool lose_log, no_segments;

static bool ends_with(struct name name, const char *end)
{
    size_t n = strlen(name.text), m = strlen(end);
    return n >= m && str_eq(name.text + n - m, end);
}

static ssize_t picky_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (!no_segments || !ends_with(name_of_fd(fd), ".seg"))
        return pwrite(fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

/* It says so once, as the kernel does. */
static int forgetful_sync(int fd)
{
    if (!lose_log || !ends_with(name_of_fd(fd), ".wal"))
        return 0;
    lose_log = false;
    errno = EIO;
    return -1;
}
static const struct series_io losing_disk = {picky_pwrite, forgetful_sync};

static void check_never_forgotten(bool frozen)
{
    char *home = home_new();
    autofree(mem) char *path = file_in(home, "00000001.seg");
    struct series_db *db = NULL;

    assert_int_equal(series_db_open_with(home, SERIES_WRITE, &losing_disk, &db, NULL), 0);
    assert_int_equal(put1(db, source_of(1, 1), 0, 1, "x", 1), 0);
    no_segments = true;
    if (frozen)
        assert_int_equal(db_seal_all(db, NULL), -ENOSPC);
    lose_log = true;
    assert_int_equal(series_db_sync(db, NULL), -EIO);
    for (int64_t i = 2; i < 5; i++) {
        assert_int_equal(series_db_sync(db, NULL), -ENOSPC);
        assert_int_equal(put1(db, source_of(1, 1), 0, i, "x", 1), 0);
    }
    no_segments = false;
    assert_int_equal(series_db_sync(db, NULL), 0);
    assert_true(fs_exists(path));
    assert_int_equal(count_of(db, source_of(1, 1), "x"), 4);
    assert_int_equal(series_db_sync(db, NULL), 0);
    series_db_free(db);
    home_end(home);
}

/* What a sync beside the work came to is told by the call that sees its end. */
static int sync_beside(struct series_db *db)
{
    int r;

    while ((r = series_db_sync_begin(db, NULL)) == 1)
        usleep(100);
    return r;
}

TEST(a_sync_that_failed_beside_the_work_is_told_and_made_good_by_a_seal)
{
    char *home = home_new();
    autofree(mem) char *path = file_in(home, "00000001.seg");
    struct series_db *db = NULL;

    assert_int_equal(series_db_open_with(home, SERIES_WRITE, &losing_disk, &db, NULL), 0);
    assert_int_equal(put1(db, source_of(1, 1), 0, 1, "x", 1), 0);
    assert_int_equal(sync_beside(db), 0);
    no_segments = lose_log = true;
    assert_int_equal(put1(db, source_of(1, 1), 0, 2, "x", 1), 0);
    assert_int_equal(series_db_sync_begin(db, NULL), 1);
    assert_int_equal(db_seal_all(db, NULL), -ENOSPC); /* another log begins meanwhile */
    assert_int_equal(put1(db, source_of(1, 1), 0, 3, "x", 1), 0);
    assert_int_equal(sync_beside(db), -EIO);
    assert_int_equal(sync_beside(db), -ENOSPC);
    assert_int_equal(series_db_sync(db, NULL), -ENOSPC);
    no_segments = false;
    assert_int_equal(sync_beside(db), 0);
    assert_true(fs_exists(path));
    assert_int_equal(count_of(db, source_of(1, 1), "x"), 3);
    /* One that runs is waited for when the home is closed. */
    assert_int_equal(put1(db, source_of(1, 1), 0, 4, "x", 1), 0);
    assert_int_equal(series_db_sync_begin(db, NULL), 1);
    series_db_free(db);
    home_end(home);
}

TEST(a_failed_sync_is_not_forgotten_until_the_log_is_sealed)
{
    check_never_forgotten(/* frozen= */ false);
    check_never_forgotten(/* frozen= */ true);
}

TEST_MAIN
