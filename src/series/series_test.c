/* SPDX-License-Identifier: MIT */
/*
 * series_test.c — series from attempts' files: merging, which file wins, holes, torn ends.
 */
#include "tests/test.h"

#include "base/fs.h"
#include "metrics/metrics.h"
#include "series/series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static struct spec spec;

/* A home with the files of trial 5.2. */
struct home {
    char dir[64];
    struct trial trial;
};

static void home_init(struct home *home, int64_t attempts)
{
    const char *tmp = getenv("TMPDIR");
    *home = (struct home){.trial = {.experiment = 5, .number = 2, .state = TRIAL_COMPLETED}};
    home->trial.attempts = attempts;
    snprintf(home->dir, sizeof(home->dir), "%s/hone-series-XXXXXX",
             tmp && strlen(tmp) < 30 ? tmp : "/tmp");
    assert_non_null(mkdtemp(home->dir));
}

static void home_release(struct home *home)
{
    assert_ok(fs_remove_tree(home->dir, NULL), NULL);
}

static char *file_path(const struct home *home, int64_t attempt, const char *name)
{
    autofree(mem) char *dir = attempt_dir(home->dir, 5, 2, attempt);
    assert_ok(fs_make_dirs(dir, 0700, NULL), NULL);
    return xasprintf("%s/%s", dir, name);
}

static void write_file(const struct home *home, int64_t attempt, const char *name, const char *text)
{
    autofree(mem) char *path = file_path(home, attempt, name);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0600, NULL), NULL);
}

/* "loss 0:1 1:0.5; acc 3:0.9" */
static char *series_text(struct series_db *db, const struct home *home, const char *metric)
{
    struct err err = ERR_INIT;
    struct str text = STR_INIT;
    autorelease(series_set) struct series_set set = {{NULL, 0, 0}};
    assert_ok(series_read(db, home->dir, &spec, &home->trial, metric, &set, &err), &err);
    vec_foreach (series, &set.series) {
        str_addf(&text, "%s%s", text.len ? "; " : "", series->metric);
        vec_foreach (point, &series->points) {
            str_addf(&text, " %lld:", (long long)point->step);
            str_add_double(&text, point->value);
        }
    }
    return str_take(&text);
}

static void store_all(struct series_db *db, const struct home *home)
{
    for (int64_t n = home->trial.attempts ? 1 : 0; n <= home->trial.attempts; n++) {
        struct attempt attempt = {.experiment = 5, .trial = 2, .number = n};
        assert_ok(series_store(db, home->dir, &spec, &attempt, NULL), NULL);
    }
}

/* The store tells the same, without the files, however often these were read into it. */
static void check_stored(const struct home *home, const char *metric, const char *expected)
{
    struct home moved = *home;
    autofree(series_db) struct series_db *db = NULL;

    if (home->trial.state == TRIAL_RUNNING || (metric && metric_is_word(metric)))
        return;
    assert_ok(series_db_open(home->dir, SERIES_WRITE, &db, NULL), NULL);
    store_all(db, home);
    store_all(db, home);
    snprintf(moved.dir, sizeof(moved.dir), "/nonexistent");
    autofree(mem) char *got = series_text(db, &moved, metric);
    assert_string_equal(got, expected);
    assert_ok(series_db_drop(db, 5, 0, NULL), NULL);
}

static void check(const struct home *home, const char *metric, const char *expected)
{
    autofree(mem) char *got = series_text(NULL, home, metric);
    assert_string_equal(got, expected);
    check_stored(home, metric, expected);
}

TEST(a_trial_without_files_has_no_series)
{
    autorelease(home) struct home home;
    home_init(&home, 2);
    check(&home, NULL, "");
}

TEST(series_come_in_order_of_appearance_and_one_can_be_asked_for)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "metrics",
               "train loss=1,step=0i\ntrain loss=nan,acc=0.5,step=1i 2000000\n"
               "hone generation=3i\n");
    check(&home, NULL, "loss 0:1 1:nan; acc 1:0.5");
    check(&home, "acc", "acc 1:0.5");
    check(&home, "hone.generation", "hone.generation 0:3");
    check(&home, "none", "");
}

TEST(times_of_the_program_are_kept)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "metrics", "train loss=1 2000000\n");
    autorelease(series_set) struct series_set set = {{NULL, 0, 0}};
    assert_ok(series_read(NULL, home.dir, &spec, &home.trial, NULL, &set, NULL), NULL);
    const struct series *series = series_find(&set, "loss");
    assert_non_null(series);
    assert_int_equal(series->points.at[0].time_us, 2000);
    assert_null(series_find(&set, "acc"));
}

TEST(samples_without_a_step_are_counted_for_each_metric)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "stdout", "a: 1\nb: 1\na: 2\nEpoch 7 b: 2\nb: 3\n");
    check(&home, NULL, "a 0:1 1:2; b 0:1 7:2 8:3");
}

TEST(a_later_attempt_replaces_the_steps_it_repeats)
{
    autorelease(home) struct home home;
    home_init(&home, 3);
    write_file(&home, 1, "metrics",
               "train a=0,step=0i\ntrain a=1,step=1i\ntrain a=2,step=2i\ntrain a=3,step=3i\n"
               "train b=1,step=9i\n");
    write_file(&home, 3, "metrics", "train a=12,step=2i\ntrain c=1,step=2i\n");
    check(&home, NULL, "a 0:0 1:1 2:12; b 9:1; c 2:1");
}

TEST(a_program_that_begins_again_leaves_nothing_of_its_past)
{
    autorelease(home) struct home home;
    home_init(&home, 2);
    write_file(&home, 1, "stdout", "a: 1\na: 2\na: 3\n");
    write_file(&home, 2, "stdout", "a: 5\n");
    check(&home, NULL, "a 0:5");
}

TEST(in_one_attempt_a_metric_comes_from_one_file)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "metrics", "train loss=1,step=0i\n");
    write_file(&home, 1, "stdout", "loss: 7\nacc: 0.5\n");
    write_file(&home, 1, "stderr", "loss: 8\nacc: 0.6\nlr: 0.1\n");
    check(&home, NULL, "loss 0:1; acc 0:0.5; lr 0:0.1");
    check(&home, "loss", "loss 0:1");
}

TEST(a_bar_that_draws_itself_again_is_one_point_and_a_file_keeps_all)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "stdout", "Epoch 1 a: 1\rEpoch 1 a: 2\rEpoch 2 a: 3\r");
    write_file(&home, 1, "metrics", "train b=1,epoch=1i\ntrain b=2,epoch=1i\n");
    check(&home, NULL, "b 1:1 1:2; a 1:2 2:3");
}

TEST(the_last_line_of_a_running_attempt_waits)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "stdout", "a: 1\na: 0.4");
    home.trial.state = TRIAL_RUNNING;
    check(&home, NULL, "a 0:1");
    home.trial.state = TRIAL_COMPLETED;
    check(&home, NULL, "a 0:1 1:0.4");
}

TEST(a_torn_line_of_a_metrics_file_is_never_read)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    write_file(&home, 1, "metrics", "train a=1,step=0i\ntrain a=0.4");
    home.trial.state = TRIAL_COMPLETED;
    check(&home, NULL, "a 0:1");
}

TEST(a_hole_of_terabytes_is_jumped_over)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    autofree(mem) char *path = file_path(&home, 1, "stdout");
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static const char before[] = "a: 1\na: 2 torn", after[] = "torn a: 3\na: 4\n";
    assert_int_equal(pwrite(fd, before, sizeof(before) - 1, 0), sizeof(before) - 1);
    if (pwrite(fd, after, sizeof(after) - 1, (off_t)1 << 40) < 0) {
        assert_int_equal(errno, EFBIG); /* a file system of small files */
        SKIP("the file system has only small files");
    }
    check(&home, NULL, "a 0:1 1:4");
}

TEST(a_pattern_that_cannot_work_is_an_error)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    autorelease(err) struct err err = ERR_INIT;
    struct text_pair pair = {(char *)"x", (char *)"["};
    struct spec bad = {.patterns = {&pair, 1, 1}};
    struct series_set set = {{NULL, 0, 0}};
    assert_int_equal(series_read(NULL, home.dir, &bad, &home.trial, NULL, &set, &err), -EINVAL);
    assert_non_null(strstr(err_text(&err), "metric 'x'"));
}

TEST(a_pipe_or_a_link_in_the_place_of_a_file_is_no_file)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    autofree(mem) char *metrics = file_path(&home, 1, "metrics");
    autofree(mem) char *err = file_path(&home, 1, "stderr");
    assert_int_equal(mkfifo(metrics, 0600), 0);
    assert_int_equal(symlink("/dev/zero", err), 0);
    write_file(&home, 1, "stdout", "epoch 1 loss: 2\n");
    autofree(mem) char *text = series_text(NULL, &home, NULL);
    assert_string_equal(text, "loss 1:2");
}

TEST(a_file_that_cannot_be_read_is_an_error_with_its_name)
{
    autorelease(home) struct home home;
    home_init(&home, 1);
    autorelease(err) struct err err = ERR_INIT;
    autofree(mem) char *path = file_path(&home, 1, "metrics");
    assert_ok(fs_make_dirs(path, 0700, NULL), NULL);
    struct series_set set = {{NULL, 0, 0}};
    assert_int_equal(series_read(NULL, home.dir, &spec, &home.trial, NULL, &set, &err), -EISDIR);
    assert_non_null(strstr(err_text(&err), "/metrics"));
}

static void add_sample(const struct series_sample *sample, void *arg)
{
    struct str *text = arg;
    str_addf(text, "%s%zu %s %lld:", text->len ? "; " : "", sample->place, sample->metric,
             (long long)sample->point.step);
    str_add_double(text, sample->point.value);
}

TEST(a_walk_hands_out_every_sample_in_the_order_of_the_files)
{
    autorelease(home) struct home home;
    autorelease(str) struct str text = STR_INIT;

    home_init(&home, 2);
    struct series_walk walk = {
        .home = home.dir, .spec = &spec, .experiment = 5, .trial = 2, .attempt = 2, .ended = true};
    write_file(&home, 1, "metrics", "train loss=9,step=1i\n");
    write_file(&home, 2, "metrics",
               "train loss=1,acc=0.5,step=4i\nhone generation=2i,step=4i\ntrain loss=2,step=4i\n");
    write_file(&home, 2, "stdout", "loss=7\nspeed=3\nspeed=4\n");
    assert_ok(series_walk(&walk, add_sample, &text, NULL), NULL);
    static const char *const expected =
        "0 loss 4:1; 1 acc 4:0.5; 0 loss 4:2; 2 speed 0:3; 2 speed 1:4";
    assert_string_equal(text.s, expected);

    /* The store tells the same, from its log and from a segment, without the files. */
    autofree(series_db) struct series_db *db = NULL;
    assert_ok(series_db_open(home.dir, SERIES_WRITE, &db, NULL), NULL);
    store_all(db, &home);
    walk.db = db;
    walk.home = "/nonexistent";
    for (int i = 0; i < 2; i++) {
        text.len = 0;
        assert_ok(series_walk(&walk, add_sample, &text, NULL), NULL);
        assert_string_equal(text.s, expected);
        assert_ok(series_db_compact(db, NULL), NULL);
    }
}

static void put_figure(struct series_db *db, int64_t attempt, const char *name, int64_t time_ns,
                       double value)
{
    struct series_source source = {5, 2, attempt, SERIES_SYSTEM};
    uint32_t number = series_db_name(db, name, strlen(name));
    struct series_row row = {
        .step = STEP_NONE, .time_ns = time_ns, .n = 1, .names = &number, .values = &value};
    assert_ok(series_db_append(db, &source, &row, 1, NULL), NULL);
}

static void add_value(const char *metric, const struct series_value *value, void *arg)
{
    struct str *text = arg;
    str_addf(text, "%s%s ", text->len ? "; " : "", metric);
    if (value->step != STEP_NONE)
        str_addf(text, "%lld", (long long)value->step);
    str_add(text, ":");
    str_add_double(text, value->value);
}

static void check_stream(const struct series_ask *ask, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    assert_ok(series_stream(ask, add_value, &text, &err), &err);
    assert_string_equal(text.s, expected);
}

TEST(a_stream_tells_what_is_read_a_metric_at_a_time)
{
    autorelease(home) struct home home;
    autofree(series_db) struct series_db *db = NULL;
    static const char *const expected = "a 0:0; a 1:1; a 2:12; b 9:1; bar 1:2; bar 2:3; c 2:1";
    static const char *const some[] = {"c", "system/attempt.cpu"};

    home_init(&home, 3);
    write_file(&home, 1, "metrics",
               "train a=0,step=0i\ntrain a=1,step=1i\ntrain a=2,step=2i\ntrain a=3,step=3i\n"
               "train b=1,step=9i\n");
    write_file(&home, 1, "stdout", "Epoch 1 bar: 1\rEpoch 1 bar: 2\rEpoch 2 bar: 3\r");
    write_file(&home, 3, "metrics", "train a=12,step=2i\ntrain c=1,step=2i\n");
    assert_ok(series_db_open(home.dir, SERIES_WRITE, &db, NULL), NULL);
    struct series_ask ask = {.home = home.dir, .spec = &spec, .trial = &home.trial};
    check_stream(&ask, expected);
    ask.held = 2;
    check_stream(&ask, expected);
    put_figure(db, 1, "system/attempt.cpu", 1, 50);
    put_figure(db, 3, "system/attempt.cpu", 2, 60);
    ask.db = db;
    check_stream(&ask, expected);
    store_all(db, &home);
    ask.home = "/nonexistent";
    check_stream(&ask, expected);
    ask.metrics = some;
    ask.n_metrics = 2;
    check_stream(&ask, "c 2:1");
    ask.system = true;
    check_stream(&ask, "system/attempt.cpu :50; system/attempt.cpu :60; c 2:1");
}

TEST_MAIN
