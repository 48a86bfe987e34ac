/* SPDX-License-Identifier: MIT */
/*
 * tail_test.c — an attempt's files read as they grow, and how its end is told.
 */
#include "tests/test.h"

#include "agent/internal.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct spec spec;
static struct metrics_rules *rules;
static struct tail tail;

static void begin(void)
{
    snprintf(dir, sizeof(dir), "/tmp/hone-tail-XXXXXX");
    assert_non_null(mkdtemp(dir));
    spec_init(&spec);
    assert_int_equal(metrics_rules_new(&spec, &rules, NULL), 0);
    tail_init(&tail, dir, rules);
}

static void end(void)
{
    tail_release(&tail);
    metrics_rules_free(rules);
    spec_release(&spec);
    fs_remove_tree(dir, NULL);
}

static void append(const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_int_equal(fs_write_all(fd, text, strlen(text)), 0);
}

static void expect(size_t i, const char *metric, int64_t step, double value)
{
    assert_true(i < tail.samples.len);
    assert_string_equal(tail.samples.at[i].metric, metric);
    assert_int_equal(tail.samples.at[i].step, step);
    assert_true(tail.samples.at[i].value == value);
    assert_true(tail.samples.at[i].time_us > 0);
}

TEST(files_that_do_not_exist_hold_nothing)
{
    begin();
    assert_false(tail_read(&tail, 1));
    tail_finish(&tail, 1);
    assert_int_equal(tail.samples.len, 0);
    end();
}

TEST(what_is_new_is_read_once)
{
    begin();
    append("metrics", "train loss=0.5,step=7i 1700000000000000000\ntrain lo");
    assert_false(tail_read(&tail, 1));
    assert_int_equal(tail.samples.len, 1);
    assert_int_equal(tail.samples.at[0].time_us, 1700000000000000);
    append("metrics", "ss=0.25,step=8i\n");
    assert_false(tail_read(&tail, 5));
    assert_false(tail_read(&tail, 6));
    assert_int_equal(tail.samples.len, 2);
    expect(0, "loss", 7, 0.5);
    expect(1, "loss", 8, 0.25);
    assert_int_equal(tail.samples.at[1].time_us, 5);
    end();
}

static void rewrite(const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);
    autoclose int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    static int64_t seconds = 1700000000;
    assert_int_equal(fs_write_all(fd, text, strlen(text)), 0);
    futimens(fd,
             (struct timespec[]){{seconds, 0}, {seconds, 0}}); /* the kernel's clock is coarse */
    seconds++;
}

TEST(a_file_that_is_written_anew_is_read_anew)
{
    begin();
    append("stdout", "step 1 loss=4\nstep 2 loss=3\n");
    assert_false(tail_read(&tail, 1));
    rewrite("stdout", "step 3 loss=2\n"); /* shorter */
    assert_false(tail_read(&tail, 1));
    rewrite("stdout", "step 4 loss=1\n"); /* as long */
    assert_false(tail_read(&tail, 1));
    rewrite("stdout", "step 5 loss=0.5\nstep 6 loss=0.25\n"); /* longer */
    assert_false(tail_read(&tail, 1));
    assert_int_equal(tail.samples.len, 6);
    for (size_t i = 0; i < 6; i++)
        expect(i, "loss", (int64_t)i + 1, (const double[]){4, 3, 2, 1, 0.5, 0.25}[i]);
    end();
}

TEST(the_last_line_counts_without_its_newline)
{
    begin();
    append("stdout", "loss: 0.5\nloss: 0.25");
    assert_false(tail_read(&tail, 1));
    assert_int_equal(tail.samples.len, 1);
    tail_finish(&tail, 1);
    assert_int_equal(tail.samples.len, 2);
    expect(1, "loss", 1, 0.25);
    end();
}

TEST(steps_are_counted_per_metric_where_none_is_given)
{
    begin();
    append("metrics",
           "train loss=3\ntrain acc=1\ntrain loss=2\ntrain loss=1,step=10i\ntrain loss=0\n");
    tail_read(&tail, 1);
    expect(0, "loss", 0, 3);
    expect(1, "acc", 0, 1);
    expect(2, "loss", 1, 2);
    expect(3, "loss", 10, 1);
    expect(4, "loss", 11, 0);
    end();
}

TEST(a_logged_metric_is_not_counted_again_from_the_output)
{
    begin();
    append("stdout", "loss: 0.5\nacc: 0.75\n");
    append("metrics", "train loss=0.5,step=1i\n");
    tail_read(&tail, 1);
    assert_int_equal(tail.samples.len, 2);
    expect(0, "loss", 1, 0.5);
    expect(1, "acc", 0, 0.75);
    end();
}

TEST(a_large_file_takes_several_turns)
{
    begin();
    autorelease(str) struct str text = STR_INIT;
    for (int i = 0; i < 100000; i++)
        str_addf(&text, "train loss=%d,step=%di\n", i, i);
    append("metrics", text.s);
    int turns = 1;
    while (tail_read(&tail, 1))
        turns++;
    assert_true(turns > 3);
    assert_int_equal(tail.samples.len, 100000);
    expect(99999, "loss", 99999, 99999);
    end();
}

/* 1 MiB of lines, the middle punched out in the middle of two lines. */
TEST(a_hole_is_passed_over_with_the_lines_it_cut)
{
    begin();
    autorelease(str) struct str text = STR_INIT;
    while (text.len < 1 << 20)
        str_add(&text, "loss: 123456789\n       ");
    append("stdout", text.s);
    autofree(mem) char *path = xasprintf("%s/stdout", dir);
    autoclose int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 65536 + 4096, 786432) < 0) {
        end();
        SKIP("the file system has no holes");
    }
    while (tail_read(&tail, 1))
        ;
    tail_finish(&tail, 1);
    assert_true(tail.samples.len > 1000 && tail.samples.len < (1 << 20) / 23);
    vec_foreach (sample, &tail.samples)
        assert_true(sample->value == 123456789);
    end();
}

TEST(an_attempt_that_uses_endless_names_is_held_to_ten_thousand_and_its_output_to_one)
{
    autorelease(str) struct str lines = STR_INIT, output = STR_INIT;

    for (int i = 0; i < 12000; i++)
        str_addf(&lines, "train name%d=1\n", i);
    for (int i = 0; i < 1500; i++)
        str_addf(&output, "step %d word%d: 1\n", i, i);
    begin();
    append("stdout", output.s);
    while (tail_read(&tail, 1))
        ;
    assert_int_equal(tail.samples.len, 1000);
    append("metrics", lines.s);
    while (tail_read(&tail, 1))
        ;
    assert_int_equal(tail.samples.len, 10000);
    end();
}

TEST(a_second_reader_gives_lines_of_a_file_written_anew_the_same_ends)
{
    begin();
    append("stdout", "step 1 loss=4\nstep 2 loss=3\n");
    assert_false(tail_read(&tail, 1));
    rewrite("stdout", "step 3 loss=2\n");
    assert_false(tail_read(&tail, 1));
    assert_int_equal(tail.samples.len, 3);
    uint64_t last = tail.samples.at[2].end;
    assert_true(last > tail.samples.at[1].end);
    struct tail second;
    tail_init(&second, dir, NULL);
    assert_false(tail_read(&second, 1));
    assert_int_equal(second.samples.len, 1);
    assert_int_equal(second.samples.at[0].end, last);
    tail_release(&second);
    end();
}

/* ---- endings ---- */

static struct str said = STR_INIT;

static struct ending ending_of(struct exit_record record, struct asked asked)
{
    struct ending ending;
    asked.dir = dir;
    str_release(&said);
    ending_from_record(&record, &asked, &said, &ending);
    return ending;
}

TEST(a_good_end_has_no_error)
{
    begin();
    append("stderr", "warning: something\n");
    struct ending e = ending_of(
        (struct exit_record){
            .run_us = 7, .user_us = 2, .system_us = 3, .dropped_stdout = 4, .dropped_stderr = 5},
        (struct asked){0});
    assert_int_equal(e.reason, REASON_NONE);
    assert_null(e.error);
    assert_int_equal(e.run_us, 7);
    assert_int_equal(e.cpu_us, 5);
    assert_int_equal(e.dropped_bytes, 9);
    end();
}

TEST(a_failed_program_is_shown_with_its_last_words)
{
    begin();
    append("stderr", "Traceback\nValueError: no\n");
    struct ending e = ending_of((struct exit_record){.status = 3}, (struct asked){0});
    assert_int_equal(e.reason, REASON_EXIT);
    assert_int_equal(e.exit_status, 3);
    assert_false(e.transient);
    assert_non_null(strstr(e.error, "exit status 3\nTraceback\nValueError: no"));
    str_release(&said);
    end();
}

TEST(a_signal_is_called_by_its_name)
{
    begin();
    struct ending e =
        ending_of((struct exit_record){.signal = SIGSEGV, .status = -1}, (struct asked){0});
    assert_int_equal(e.reason, REASON_SIGNAL);
    assert_int_equal(e.exit_status, -1);
    assert_int_equal(e.signal, SIGSEGV);
    assert_string_equal(e.error, "killed by signal 11 (segmentation fault)");
    str_release(&said);
    end();
}

TEST(limits_are_named_with_their_size)
{
    begin();
    struct exit_record killed = {.signal = SIGKILL, .status = -1, .oom = 1};
    struct ending e = ending_of(killed, (struct asked){.memory_bytes = 2ULL << 30});
    assert_int_equal(e.reason, REASON_OOM);
    assert_string_equal(e.error, "over its memory limit of 2 GiB");
    killed = (struct exit_record){.signal = SIGKILL, .status = -1, .cause = CAUSE_TIME};
    e = ending_of(killed, (struct asked){.time_limit_us = 90 * US_PER_S});
    assert_int_equal(e.reason, REASON_TIMEOUT);
    assert_non_null(strstr(e.error, "over its time limit of 1m30s"));
    e = ending_of((struct exit_record){.oom = 2}, (struct asked){0});
    assert_int_equal(e.reason, REASON_NONE); /* a helper died, the program went on and succeeded */
    str_release(&said);
    end();
}

TEST(a_program_that_cannot_start_gets_a_hint)
{
    begin();
    struct ending e = ending_of((struct exit_record){.cause = CAUSE_SPAWN, .status = ENOENT},
                                (struct asked){.program = "trian.py"});
    assert_int_equal(e.reason, REASON_SPAWN);
    assert_false(e.transient);
    assert_string_equal(e.error, "cannot start 'trian.py': no such file or directory "
                                 "(is it installed and in PATH?)");
    e = ending_of((struct exit_record){.cause = CAUSE_SPAWN, .status = EAGAIN}, (struct asked){0});
    assert_true(e.transient);
    str_release(&said);
    end();
}

TEST(what_was_asked_for_is_cancelled_whatever_the_status)
{
    begin();
    struct ending e = ending_of((struct exit_record){.cause = CAUSE_STOP}, (struct asked){0});
    assert_int_equal(e.reason, REASON_CANCELLED);
    e = ending_of((struct exit_record){.cause = CAUSE_KILL, .signal = 9}, (struct asked){0});
    assert_int_equal(e.reason, REASON_CANCELLED);
    assert_null(e.error);
    e = ending_of((struct exit_record){.cause = CAUSE_SIGNAL_TO_KEEPER, .signal = 15},
                  (struct asked){0});
    assert_int_equal(e.reason, REASON_LOST);
    assert_true(e.transient);
    str_release(&said);
    end();
}

TEST_MAIN
