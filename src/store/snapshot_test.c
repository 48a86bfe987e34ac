/* SPDX-License-Identifier: MIT */
/*
 * snapshot_test.c — objects and snapshots: equal trees have equal names, everything comes back,
 * nothing gets out, and differences are told.
 */
#include "store/testing.h"

#include "base/clock.h"
#include "store/file.h"
#include "store/line_diff.h"
#include "store/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void put_file(const char *folder, const char *name, const char *text, int mode)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autofree(mem) char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(fs_make_dirs(parent, 0777, NULL), 0);
    assert_int_equal(fs_write_atomic(path, text, strlen(text), mode, NULL), 0);
    assert_int_equal(chmod(path, (mode_t)mode), 0);
}

static struct snapshot take(const char *home, const char *folder)
{
    struct snapshot snapshot;
    struct err err = ERR_INIT;
    assert_ok(snapshot_take(home, folder, &snapshot, &err), &err);
    return snapshot;
}

/* A folder with a home beside and some files; free both by remove_home(top). */
struct place {
    char *top, *home, *code;
};
static struct place make_place(void)
{
    struct place p = {.top = make_home()};
    p.home = xasprintf("%s/home", p.top);
    p.code = xasprintf("%s/code", p.top);
    put_file(p.code, "train.py", "print(1)\n", 0644);
    put_file(p.code, "run.sh", "#!/bin/sh\n", 0755);
    put_file(p.code, "lib/größe.py", "x = 1\n", 0600);
    autofree(mem) char *link = xasprintf("%s/latest", p.code);
    assert_int_equal(symlink("lib/größe.py", link), 0);
    return p;
}
static void remove_place(struct place p)
{
    remove_home(p.top);
    free(p.home);
    free(p.code);
}

static void check_content(const char *folder, const char *name, const char *want)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;
    assert_ok(fs_read(path, 1 << 20, &text, &err), &err);
    assert_string_equal(text.s, want);
}

TEST(sha256_is_that_of_the_standard)
{
    char hex[SHA256_HEX_SIZE];
    assert_ok(sha256_hex("abc", 3, hex, NULL), NULL);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(an_object_is_stored_once_and_comes_back)
{
    char *home = make_home();
    struct err err = ERR_INIT;
    char first[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE];
    assert_ok(object_store(home, "a\0b", 3, first, &err), &err);
    assert_ok(object_store(home, "a\0b", 3, again, &err), &err);
    assert_string_equal(first, again);
    autorelease(str) struct str text = STR_INIT;
    assert_ok(object_load(home, first, 100, &text, &err), &err);
    assert_int_equal(text.len, 3);
    assert_memory_equal(text.s, "a\0b", 3);
    autofree(mem) char *tmp = xasprintf("%s/objects/tmp", home);
    assert_int_equal(rmdir(tmp), 0); /* nothing left behind */

    autofree(mem) char *path = object_path(home, first);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(fs_write_atomic(path, "a\0c", 3, 0644, NULL), 0);
    assert_int_equal(object_load(home, first, 100, &text, &err), -EBADMSG);
    assert_ok(object_remove(home, first, &err), &err);
    assert_ok(object_remove(home, first, &err), &err); /* again is no error */
    assert_int_equal(object_load(home, first, 100, &text, &err), -ENOENT);
    assert_int_equal(object_remove(home, "../../etc/passwd", &err), -EINVAL);
    err_release(&err);
    remove_home(home);
}

TEST(what_a_dead_writer_left_is_swept_away_in_time)
{
    char *home = make_home();
    put_file(home, "objects/tmp/old", "x", 0600);
    put_file(home, "objects/tmp/young", "x", 0600);
    autofree(mem) char *old = xasprintf("%s/objects/tmp/old", home);
    autofree(mem) char *young = xasprintf("%s/objects/tmp/young", home);
    struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    store_free(open_home(home));
    assert_false(fs_exists(old));
    assert_true(fs_exists(young));
    remove_home(home);
}

TEST(equal_trees_give_equal_names_whatever_their_times_order_and_place)
{
    struct place a = make_place(), b = make_place();
    put_file(a.code, "z.py", "z", 0644);
    put_file(a.code, "y.py", "y", 0644);
    put_file(b.code, "y.py", "y", 0664);
    put_file(b.code, "z.py", "z", 0600);
    autofree(mem) char *path = xasprintf("%s/z.py", b.code);
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    struct snapshot one = take(a.home, a.code), other = take(b.home, b.code);
    assert_string_equal(one.sha256, other.sha256);
    assert_true(one.is_new);
    assert_int_equal(one.files, 6);
    assert_true(one.size > 0);
    assert_false(take(a.home, a.code).is_new);
    put_file(b.code, "z.py", "Z", 0600);
    assert_string_not_equal(take(b.home, b.code).sha256, one.sha256);
    remove_place(a);
    remove_place(b);
}

TEST(a_snapshot_unpacks_to_what_it_was)
{
    struct place p = make_place();
    struct err err = ERR_INIT;
    autofree(mem) char *out = xasprintf("%s/out", p.top);
    struct snapshot snapshot = take(p.home, p.code);
    assert_ok(snapshot_unpack(p.home, snapshot.sha256, out, &err), &err);
    check_content(out, "train.py", "print(1)\n");
    check_content(out, "lib/größe.py", "x = 1\n");
    check_content(out, "latest", "x = 1\n");
    autofree(mem) char *script = xasprintf("%s/run.sh", out);
    assert_int_equal(access(script, X_OK), 0);
    struct stat st;
    autofree(mem) char *link = xasprintf("%s/latest", out);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(take(p.home, out).sha256, snapshot.sha256);
    assert_int_equal(snapshot_unpack(p.home, snapshot.sha256, out, &err), -ENOTEMPTY);
    err_release(&err);
    remove_place(p);
}

TEST(a_snapshot_leaves_out_what_is_not_code)
{
    struct place p = make_place();
    static const char *const out[] = {".git/config",  ".hone/hone.db",     "node_modules/x/y.js",
                                      "a/b/x.pyc",    "lib/__pycache__/x", "data/set.bin",
                                      "home2/hone.db"};
    for (size_t i = 0; i < ARRAY_LEN(out); i++)
        put_file(p.code, out[i], "x", 0644);
    put_file(p.code, ".honeignore", "*.pyc\n/data/\n", 0644);
    autofree(mem) char *fifo = xasprintf("%s/fifo", p.code);
    assert_int_equal(mkfifo(fifo, 0644), 0);
    autofree(mem) char *large = xasprintf("%s/large", p.code);
    put_file(p.code, "large", "", 0644);
    assert_int_equal(truncate(large, (51 << 20)), 0);
    autofree(mem) char *home = xasprintf("%s/home2", p.code); /* a home inside the folder */
    struct snapshot snapshot = take(home, p.code);
    assert_int_equal(snapshot.files, 5); /* four of the place, and .honeignore */
    remove_place(p);
}

TEST(a_snapshot_leaves_out_secrets_but_those_that_are_asked_for)
{
    struct place p = make_place();
    static const char *const out[] = {".env",        "deploy/.env.local", "tls/key.pem",
                                      ".ssh/config", "id_ed25519",        "keys/a.key"};
    size_t before = take(p.home, p.code).files;

    for (size_t i = 0; i < ARRAY_LEN(out); i++)
        put_file(p.code, out[i], "x", 0600);
    put_file(p.code, "environment.py", "x", 0644);
    assert_int_equal(take(p.home, p.code).files, before + 1);
    put_file(p.code, ".honeignore", "!*.key\n", 0644);
    assert_int_equal(take(p.home, p.code).files, before + 3); /* and .honeignore */
    remove_place(p);
}

TEST(a_folder_that_is_too_large_is_refused_with_its_largest_parts)
{
    struct place p = make_place();
    struct err err = ERR_INIT;
    for (int i = 0; i < 11; i++) {
        autofree(mem) char *name = xasprintf("videos/%d", i);
        put_file(p.code, name, "", 0644);
        autofree(mem) char *path = xasprintf("%s/%s", p.code, name);
        assert_int_equal(truncate(path, 49 << 20), 0);
    }
    struct snapshot snapshot;
    assert_int_equal(snapshot_take(p.home, p.code, &snapshot, &err), -EFBIG);
    assert_non_null(strstr(err_text(&err), "videos (539 MB)"));
    assert_non_null(strstr(err_text(&err), ".honeignore"));
    assert_int_equal(snapshot_take(p.home, "/no/such/folder", &snapshot, &err), -ENOENT);
    err_release(&err);
    remove_place(p);
}

TEST(a_fingerprint_changes_with_the_files_only)
{
    struct place p = make_place();
    uint64_t one, two, three, four;
    assert_ok(snapshot_fingerprint(p.home, p.code, &one, NULL), NULL);
    assert_ok(snapshot_fingerprint(p.home, p.code, &two, NULL), NULL);
    assert_true(one == two);
    put_file(p.code, "train.py", "print(22)\n", 0644);
    assert_ok(snapshot_fingerprint(p.home, p.code, &three, NULL), NULL);
    assert_true(three != one);
    put_file(p.code, "__pycache__/x.pyc", "x", 0644);
    assert_ok(snapshot_fingerprint(p.home, p.code, &four, NULL), NULL);
    assert_true(four == three);
    remove_place(p);
}

/* An archive that we would never write: links and files under any name. */
struct evil {
    const char *path, *link;
};
static ssize_t add_bytes(struct archive *archive UNUSED, void *arg, const void *bytes, size_t n)
{
    str_add_n(arg, bytes, n);
    return (ssize_t)n;
}
static void store_evil(const char *home, const struct evil *evil, size_t n, char ret[65])
{
    const struct libarchive *lib;
    struct err err = ERR_INIT;
    autorelease(str) struct str bytes = STR_INIT;
    assert_ok(libarchive_load(&lib, &err), &err);
    struct archive *archive = lib->archive_write_new();
    lib->archive_write_add_filter_zstd(archive);
    lib->archive_write_set_format_gnutar(archive);
    lib->archive_write_open(archive, &bytes, NULL, add_bytes, NULL);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *entry = lib->archive_entry_new();
        lib->archive_entry_set_pathname(entry, evil[i].path);
        lib->archive_entry_set_filetype(entry, evil[i].link ? S_IFLNK : S_IFREG);
        lib->archive_entry_set_perm(entry, 0644);
        lib->archive_entry_set_size(entry, evil[i].link ? 0 : 1);
        if (evil[i].link)
            lib->archive_entry_set_symlink(entry, evil[i].link);
        assert_int_equal(lib->archive_write_header(archive, entry), ARCHIVE_OK);
        if (!evil[i].link)
            lib->archive_write_data(archive, "x", 1);
        lib->archive_entry_free(entry);
    }
    lib->archive_write_close(archive);
    lib->archive_write_free(archive);
    libarchive_unload(&lib);
    assert_ok(object_store(home, bytes.s, bytes.len, ret, &err), &err);
}

TEST(unpacking_never_leaves_its_folder)
{
    struct place p = make_place();
    static const struct evil cases[][2] = {
        {{"../x", NULL}}, {{"/tmp/hone-evil-x", NULL}},   {{"a/../../x", NULL}},
        {{"./x", NULL}},  {{"up", ".."}, {"up/x", NULL}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        char sha256[SHA256_HEX_SIZE];
        autofree(mem) char *out = xasprintf("%s/out%zu", p.top, i);
        store_evil(p.home, cases[i], cases[i][1].path ? 2 : 1, sha256);
        assert_true(snapshot_unpack(p.home, sha256, out, &err) < 0);
        assert_true(strlen(err_text(&err)) > 0);
        err_release(&err);
    }
    autofree(mem) char *escaped = xasprintf("%s/x", p.top);
    assert_false(fs_exists(escaped));
    assert_false(fs_exists("/tmp/hone-evil-x"));
    remove_place(p);
}

TEST(a_diff_tells_what_was_added_removed_and_changed)
{
    struct place p = make_place();
    struct err err = ERR_INIT;
    struct snapshot one = take(p.home, p.code);
    autofree(mem) char *script = xasprintf("%s/run.sh", p.code);
    assert_int_equal(unlink(script), 0);
    put_file(p.code, "train.py", "print(2)\n", 0644);
    put_file(p.code, "new.py", "n\n", 0644);
    struct snapshot two = take(p.home, p.code);
    autorelease(str) struct str text = STR_INIT;
    assert_ok(snapshot_diff(p.home, one.sha256, two.sha256, false, &text, &err), &err);
    assert_string_equal(text.s, "added new.py\nremoved run.sh\nchanged train.py\n");
    str_cut(&text, 0);
    assert_ok(snapshot_diff(p.home, one.sha256, two.sha256, true, &text, &err), &err);
    assert_string_equal(text.s, "added new.py\nremoved run.sh\nchanged train.py\n"
                                "--- a/train.py\n+++ b/train.py\n@@ -1,1 +1,1 @@\n"
                                "-print(1)\n+print(2)\n");
    str_cut(&text, 0);
    assert_ok(snapshot_diff(p.home, one.sha256, one.sha256, true, &text, &err), &err);
    assert_string_equal(text.s, "");
    remove_place(p);
}

static const struct {
    const char *a, *b, *want; /* hunks only */
} diffs[] = {
    {"", "", ""},
    {"a\nb\n", "a\nb\n", ""},
    {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
    {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
    {"a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
    {"a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n"},
    {"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n6\n7\n", "@@ -4,3 +4,4 @@\n 4\n 5\n 6\n+7\n"},
    {"x\n1\n2\n3\n4\n5\n6\n7\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\nY\n",
     "@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-y\n+Y\n"},
    {"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", NULL}, /* Myers' own example: 5 edits */
};

TEST(lines_are_compared_as_diff_does)
{
    for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
        autorelease(str) struct str got = STR_INIT;
        line_diff("f", diffs[i].a, strlen(diffs[i].a), diffs[i].b, strlen(diffs[i].b), &got);
        const char *hunks = strstr(got.s, "@@");
        if (diffs[i].want) {
            assert_string_equal(hunks ? hunks : "", diffs[i].want);
            continue;
        }
        int edits = 0;
        for (const char *line = hunks; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            edits += *line == '+' || *line == '-';
        }
        assert_int_equal(edits, 5);
    }
}

TEST(texts_that_share_nothing_are_replaced_as_a_whole)
{
    autorelease(str) struct str a = STR_INIT, b = STR_INIT, got = STR_INIT;
    for (int i = 0; i < 3000; i++) {
        str_addf(&a, "a%d\n", i);
        str_addf(&b, "b%d\n", i);
    }
    line_diff("f", a.s, a.len, b.s, b.len, &got);
    assert_non_null(strstr(got.s, "@@ -1,3000 +1,3000 @@\n-a0\n-a1\n"));
}

TEST(a_hundred_files_are_packed_quickly)
{
    struct place p = make_place();
    for (int i = 0; i < 100; i++) {
        autofree(mem) char *name = xasprintf("src/%d/file.py", i);
        put_file(p.code, name, "import os\nprint(os.getcwd())\n", 0644);
    }
    int64_t start = clock_mono_us();
    take(p.home, p.code);
    print_message("# snapshot of 104 files: %.1f ms\n", (double)(clock_mono_us() - start) / 1e3);
    remove_place(p);
}

TEST_MAIN
