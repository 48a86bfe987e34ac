/* SPDX-License-Identifier: MIT */
/*
 * events_test.c — event files of a trial become its samples: as they grow, those of its own only,
 * each once.
 */
#include "tests/test.h"

#include "agent/internal.h"
#include "base/fs.h"
#include "base/log.h"
#include "series/db.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLD           "events.out.tfevents.1000000000.box.1.0"
#define FRESH         "events.out.tfevents.9000000000.box" /* as tensorboardX names them */
#define TORCH_SAMPLES 67

static char base[64], logs[96], dir[96];
static struct spec spec;
static struct metrics_rules *rules;
static struct tail tail;
static struct str torch, said;

static void on_log(enum log_level level UNUSED, const char *line, void *arg UNUSED)
{
    str_addf(&said, "%s\n", line);
}

static void load_torch(void)
{
    autorelease(err) struct err err = ERR_INIT;
    glob_t found;

    torch = (struct str)STR_INIT;
    assert_int_equal(glob("tests/tfevents/torch/events.*", 0, NULL, &found), 0);
    assert_ok(fs_read(found.gl_pathv[0], 1 << 20, &torch, &err), &err);
    globfree(&found);
}

static void open_tail(const char *folder)
{
    struct event_place place = {.dir = dir, .cwd = base, .folder = folder, .attempt_id = "home-7"};

    tail_init(&tail, dir, rules);
    tail.events = event_tail_new(&place);
}

static void put_at(const char *folder, const char *name, const char *bytes, size_t n)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);

    assert_int_equal(fs_make_dirs(folder, 0777, NULL), 0);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_int_equal(fs_write_all(fd, bytes, n), 0);
}

static void put(const char *name, size_t from, size_t to)
{
    put_at(logs, name, torch.s + from, to - from);
}

/* The attempt begins when its parameters are written. */
static void start_attempt(void)
{
    put_at(dir, "params.json", "{}", 2);
}

static void begin(void)
{
    snprintf(base, sizeof(base), "/tmp/hone-events-XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(logs, sizeof(logs), "%s/logs", base);
    snprintf(dir, sizeof(dir), "%s/attempt", base);
    spec_init(&spec);
    assert_int_equal(metrics_rules_new(&spec, &rules, NULL), 0);
    said = (struct str)STR_INIT;
    log_set_sink(on_log, NULL);
    load_torch();
    open_tail("logs");
}

static void end(void)
{
    tail_release(&tail);
    metrics_rules_free(rules);
    spec_release(&spec);
    str_release(&torch);
    str_release(&said);
    log_set_sink(NULL, NULL);
    fs_remove_tree(base, NULL);
}

static void read_to_end(void)
{
    while (tail_read(&tail, 1))
        ;
}

static size_t count_of(const char *metric)
{
    size_t n = 0;
    vec_foreach (sample, &tail.samples)
        n += str_eq(sample->metric, metric);
    return n;
}

TEST(files_are_read_as_they_grow)
{
    begin();
    read_to_end();
    start_attempt();
    read_to_end();
    assert_int_equal(tail.samples.len, 0);
    for (size_t at = 0; at < torch.len; at += 100) {
        put(FRESH, at, MIN(at + 100, torch.len));
        read_to_end();
    }
    assert_int_equal(tail.samples.len, TORCH_SAMPLES);
    assert_int_equal(count_of("loss"), 30);
    assert_string_equal(tail.samples.at[0].metric, "loss");
    assert_int_equal(tail.samples.at[0].file, SERIES_EVENTS);
    assert_true(tail.samples.at[0].time_us > 1700000000000000);
    end();
}

TEST(the_folder_of_a_run_is_part_of_the_name)
{
    autofree(mem) char *deep = NULL;

    begin();
    deep = xasprintf("%s/fold 2/train", logs);
    start_attempt();
    put(FRESH, 0, torch.len);
    read_to_end();
    put_at(deep, FRESH, torch.s, torch.len);
    put_at(deep, "model.ckpt", "bytes", 5);
    read_to_end();
    assert_int_equal(tail.samples.len, 2 * TORCH_SAMPLES);
    assert_int_equal(count_of("loss"), 30);
    assert_int_equal(count_of("fold_2/train/loss"), 30);
    end();
}

TEST(files_of_an_old_run_are_not_read)
{
    begin();
    put(OLD, 0, torch.len);
    struct stat old, new;
    autofree(mem) char *path = xasprintf("%s/" OLD, logs),
                       *params = xasprintf("%s/params.json", dir);
    assert_int_equal(stat(path, &old), 0);
    do { /* the clock of the file system moves in steps */
        unlink(params);
        start_attempt();
        assert_int_equal(stat(params, &new), 0);
    } while (new.st_mtim.tv_sec == old.st_mtim.tv_sec &&new.st_mtim.tv_nsec == old.st_mtim.tv_nsec);
    put(FRESH, 0, torch.len / 2);
    read_to_end();
    put(OLD, 0, torch.len);
    read_to_end();
    size_t half = tail.samples.len;
    assert_true(half > 0 && half < TORCH_SAMPLES);
    end();
}

TEST(reading_goes_on_after_a_crash_without_loss_or_doubling)
{
    begin();
    start_attempt();
    put(FRESH, 0, torch.len / 2);
    read_to_end();
    size_t half = tail.samples.len;
    uint64_t last = vec_last(&tail.samples)->end;
    tail_release(&tail);
    put_at(dir, "events", "loss value=7,st", 15); /* it broke off here */
    put(FRESH, torch.len / 2, torch.len);
    open_tail("logs");
    read_to_end();
    assert_int_equal(tail.samples.len, TORCH_SAMPLES);
    assert_true(tail.samples.at[half - 1].end == last); /* the same samples at the same places */
    assert_true(tail.samples.at[half].end > last);
    end();
}

TEST(what_cannot_be_written_now_is_written_later)
{
    autofree(mem) char *spool = NULL;

    begin();
    spool = xasprintf("%s/events", dir);
    start_attempt();
    put(FRESH, 0, torch.len);
    assert_int_equal(mkdir(spool, 0777), 0);
    read_to_end();
    read_to_end();
    assert_int_equal(tail.samples.len, 0);
    assert_int_equal(rmdir(spool), 0);
    read_to_end();
    assert_int_equal(tail.samples.len, TORCH_SAMPLES);
    end();
}

TEST(a_damaged_file_is_read_up_to_the_damage)
{
    begin();
    start_attempt();
    put(FRESH, 0, 1000);
    read_to_end();
    size_t before = tail.samples.len;
    assert_true(before > 0);
    torch.s[torch.len / 2] ^= 1;
    put(FRESH, 1000, torch.len);
    read_to_end();
    assert_true(tail.samples.len > before && tail.samples.len < TORCH_SAMPLES);
    assert_non_null(strstr(said.s, "damaged"));
    end();
}

/* ---- several attempts in one folder ---- */

/* A process with that attempt in its environment, which waits to be ended. */
static pid_t stand_in(const char *attempt_id)
{
    autofree(mem) char *pair = xasprintf("HONE_ATTEMPT_ID=%s", attempt_id);
    char *const argv[] = {(char *)"cat", NULL}, *const envp[] = {pair, NULL};
    int in[2], ready[2];
    char byte;

    assert_int_equal(pipe2(in, 0), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0); /* closed by the exec */
    pid_t pid = fork();
    if (pid == 0) {
        close(in[1]);
        dup2(in[0], 0);
        execve("/bin/cat", argv, envp);
        _exit(127);
    }
    close(in[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    fcntl(in[1], F_SETFD, FD_CLOEXEC); /* stays open until we end */
    return pid;
}

static void end_stand_in(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static char *name_with(pid_t pid)
{
    return xasprintf("events.out.tfevents.9000000000.box.%d.0", (int)pid);
}

TEST(a_file_of_another_attempt_is_left_to_it)
{
    autofree(mem) char *theirs = NULL, *ours = NULL;

    begin();
    pid_t other = stand_in("home-8"), mine = stand_in("home-7");
    theirs = name_with(other);
    ours = name_with(mine);
    start_attempt();
    put(theirs, 0, torch.len);
    read_to_end();
    assert_int_equal(tail.samples.len, 0);
    event_tail_share(tail.events);
    put(FRESH, 0, torch.len);
    read_to_end();
    assert_int_equal(tail.samples.len, 0);
    assert_non_null(strstr(said.s, "may be of another trial"));
    put(ours, 0, torch.len);
    read_to_end();
    assert_int_equal(tail.samples.len, TORCH_SAMPLES);
    end_stand_in(other);
    end_stand_in(mine);
    end();
}

TEST(in_its_own_folder_every_file_is_its_own)
{
    autofree(mem) char *work = NULL, *name = NULL;

    begin();
    pid_t other = stand_in("home-8");
    name = name_with(other);
    work = xasprintf("%s/work/runs", dir);
    tail_release(&tail);
    open_tail("attempt/work");
    event_tail_share(tail.events);
    start_attempt();
    put_at(work, name, torch.s, torch.len);
    read_to_end();
    assert_int_equal(count_of("runs/loss"), 30);
    end_stand_in(other);
    end();
}

TEST(what_is_no_event_file_does_no_harm)
{
    begin();
    start_attempt();
    put_at(logs, FRESH, "this is no event file, but it has the name of one", 49);
    put_at(logs, FRESH ".2", "", 0);
    autofree(mem) char *link = xasprintf("%s/again", logs), *fifo = xasprintf("%s/tfevents", logs);
    assert_int_equal(symlink(".", link), 0);
    assert_int_equal(mkfifo(fifo, 0666), 0);
    read_to_end();
    read_to_end();
    assert_int_equal(tail.samples.len, 0);
    end();
}

TEST_MAIN
