/* SPDX-License-Identifier: MIT */
/*
 * exec_test.c — what a program gets, how its end is told, and that nothing runs twice. Real
 * keepers, real programs.
 */
#include "exec/fixture.h"

#include "exec/state_file.h"
#include <sys/resource.h>
#include <sys/stat.h>

static void check_exit(const char *script, int status, int sig)
{
    struct fixture f;

    fixture_init(&f, script);
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    assert_int_equal(f.look.exit.status, status);
    assert_int_equal(f.look.exit.signal, sig);
    assert_int_equal(f.look.exit.leftovers, 0);
    assert_int_equal(f.look.exit.attempt, f.launch.attempt);
    assert_true(f.look.exit.ended_wall_us >= f.look.exit.started_wall_us);
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(an_exit_status_is_told)
{
    check_exit("exit 0", 0, 0);
    check_exit("exit 85", 85, 0);
}

TEST(a_signal_is_told_apart_from_an_exit)
{
    check_exit("kill -KILL $$", -1, SIGKILL);
    check_exit("kill -SEGV $$", -1, SIGSEGV);
    check_exit("exit 139", 139, 0);
}

TEST(a_program_that_kills_its_process_group_does_not_reach_the_keeper)
{
    check_exit("kill -KILL 0", -1, SIGKILL);
    check_exit("trap '' TERM; kill -TERM 0; exit 4", 4, 0);
}

TEST(a_core_is_told_as_the_kernel_tells_it)
{
    static const char script[] = "ulimit -c unlimited; kill -ABRT $$";
    struct fixture f;
    int status;

    fixture_init(&f, script);
    pid_t bare = fork();
    if (bare == 0) {
        if (chdir(f.home) < 0)
            _exit(1);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(bare, &status, 0), bare);
    fixture_run(&f);
    assert_int_equal(f.look.exit.signal, SIGABRT);
    assert_int_equal(f.look.exit.core, WCOREDUMP(status) ? 1 : 0);
    fixture_release(&f);
}

TEST(arguments_environment_and_folder_arrive_byte_for_byte)
{
    struct fixture f;
    static const char odd[] = "a b\n'\"\\ --x=\xff\xfe \xc3\xa9 {}$(true)";
    const char *argv[] = {"sh", "-c", "printf '%s|%s|%s' \"$1\" \"$ODD\" \"$PWD\"",
                          "sh", odd,  NULL};

    fixture_init(&f, "");
    f.launch.argv = (char *const *)argv;
    f.env[3] = xasprintf("ODD=%s", odd);
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    autofree(mem) char *want = xasprintf("%s|%s|%s", odd, odd, f.home);
    assert_string_equal(out, want);
    fixture_release(&f);
}

TEST(params_and_control_page_are_there_before_the_program)
{
    struct fixture f;

    fixture_init(&f, "cat attempts/7/params.json");
    f.launch.params_json = "{\"lr\": 0.1, \"name\": \"\\u0000 \xc3\xa9\"}";
    f.launch.control_json = "{\"threads\":2}";
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    assert_string_equal(out, f.launch.params_json);
    autofree(mem) char *state = fixture_read(&f, "attempts/7/state");
    struct control_page *page = (void *)state;
    assert_int_equal(page->version, 1);
    assert_int_equal(page->generation, 2);
    assert_int_equal(page->length, strlen(f.launch.control_json));
    assert_memory_equal(page->json, f.launch.control_json, page->length);
    fixture_release(&f);
}

TEST(the_program_starts_clean)
{
    struct fixture f;

    /* no descriptor but 0, 1, 2 (3 is ls's own); nothing blocked or ignored; a session of its own
     */
    fixture_init(&f, "ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2; "
                     "readlink /proc/self/fd/0");
    signal(SIGPIPE, SIG_IGN);
    fixture_run(&f);
    signal(SIGPIPE, SIG_DFL);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    assert_string_equal(out, "0\n1\n2\n3\n0000000000000000\n0000000000000000\n/dev/null\n");
    fixture_release(&f);
}

TEST(a_limit_of_open_files_that_was_raised_since_is_ours_alone)
{
    struct rlimit before, few, many;
    struct fixture f;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = many = before;
    few.rlim_cur = 99;
    many.rlim_cur = 111;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    fixture_init(&f, "ulimit -Sn; ulimit -Hn");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &many), 0);
    fixture_run(&f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    autofree(mem) char *hard = before.rlim_max == RLIM_INFINITY
                                   ? xstrdup("unlimited")
                                   : xasprintf("%llu", (unsigned long long)before.rlim_max);
    autofree(mem) char *wanted = xasprintf("99\n%s\n", hard);
    assert_string_equal(out, wanted);
    fixture_release(&f);
}

static void check_spawn_error(const char *program, const char *cwd, int errnum, int step)
{
    struct fixture f;
    const char *argv[] = {program, NULL};

    fixture_init(&f, "");
    autofree(mem) char *plain = xasprintf("%s/plain", f.home);
    autofree(mem) char *text = xasprintf("%s/text", f.home);
    close(open(plain, O_CREAT | O_WRONLY, 0644));
    int fd = open(text, O_CREAT | O_WRONLY, 0755);
    assert_int_equal(write(fd, "no program\n", 11), 11);
    close(fd);
    f.launch.argv = (char *const *)argv;
    if (cwd)
        f.launch.cwd = cwd;
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_SPAWN);
    assert_int_equal(f.look.exit.status, errnum);
    assert_int_equal(f.look.exit.spawn_step, step);
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(a_program_that_cannot_start_says_why)
{
    check_spawn_error("no-such-program", NULL, ENOENT, SPAWN_EXEC);
    check_spawn_error("/no/such/program", NULL, ENOENT, SPAWN_EXEC);
    check_spawn_error("", NULL, ENOENT, SPAWN_EXEC);
    check_spawn_error("./plain", NULL, EACCES, SPAWN_EXEC);
    check_spawn_error("./text", NULL, ENOEXEC, SPAWN_EXEC);
    check_spawn_error("sh", "/no/such/folder", ENOENT, SPAWN_FOLDER);
}

TEST(the_path_of_the_program_is_searched_not_ours)
{
    struct fixture f;
    const char *argv[] = {"hone-test-tool", NULL};

    fixture_init(&f, "");
    autofree(mem) char *bin = xasprintf("%s/bin", f.home);
    autofree(mem) char *tool = xasprintf("%s/hone-test-tool", bin);
    assert_int_equal(mkdir(bin, 0755), 0);
    int fd = open(tool, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
    assert_true(write(fd, "#!/bin/sh\nexit 21\n", 18) == 18);
    close(fd);
    f.launch.argv = (char *const *)argv;
    free(f.env[0]);
    f.env[0] = xstrdup("PATH=/no/such/folder:bin:/bin"); /* relative: seen from cwd */
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    assert_int_equal(f.look.exit.status, 21);
    fixture_release(&f);
}

TEST(usage_and_times_are_recorded)
{
    struct fixture f;

    fixture_init(&f, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    fixture_run(&f);
    assert_true(f.look.exit.user_us + f.look.exit.system_us > 0);
    assert_true(f.look.exit.run_us >= f.look.exit.user_us / 2);
    assert_true(f.look.exit.max_rss_bytes > 100000);
    assert_true(f.look.keeper.program_pid > 0);
    assert_true(f.look.keeper.program_pid != f.look.keeper.keeper_pid);
    assert_int_equal(f.look.keeper.keeper_pid, f.pid);
    fixture_release(&f);
}

TEST(an_ended_attempt_is_not_started_again)
{
    struct fixture f;

    fixture_init(&f, "echo run >>$DIR/runs");
    fixture_run(&f);
    fixture_start(&f);
    assert_int_equal(fixture_wait(&f), KEEPER_ENDED);
    assert_int_equal(f.look.life, LIFE_ENDED);
    autofree(mem) char *runs = fixture_read(&f, "runs");
    assert_string_equal(runs, "run\n");
    fixture_release(&f);
}

TEST(a_second_keeper_of_a_living_attempt_leaves)
{
    struct fixture f;
    pid_t first;
    int first_fd;

    fixture_init(&f, "echo run >>$DIR/runs; while [ ! -e $DIR/go ]; do sleep 0.01; done");
    fixture_start(&f);
    wait_until(fixture_has(&f, "runs"));
    first = f.pid;
    first_fd = f.pidfd;
    fixture_start(&f);
    assert_int_equal(fixture_wait(&f), KEEPER_TAKEN);
    assert_int_equal(f.look.life, LIFE_ALIVE);
    assert_int_equal(f.look.keeper.keeper_pid, first);
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    f.pid = first;
    f.pidfd = first_fd;
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    autofree(mem) char *runs = fixture_read(&f, "runs");
    assert_string_equal(runs, "run\n");
    fixture_release(&f);
}

TEST(another_process_can_watch_and_stop_what_we_started)
{
    struct fixture f;
    int status;

    fixture_init(&f, "touch $DIR/up; sleep 1000");
    fixture_start(&f);
    wait_until(fixture_has(&f, "up"));
    pid_t other = fork();
    if (other == 0) {
        struct attempt_look look;
        struct pollfd wait = {.events = POLLIN};
        bool good = exec_look(f.dir, &look, NULL) == 0 && look.life == LIFE_ALIVE &&
                    exec_watch(&look, &wait.fd) == 0 && exec_stop(f.dir, true, 0, NULL) == 0 &&
                    poll(&wait, 1, (int)(DEADLINE_US / 1000)) == 1 && exec_look(f.dir, &look, NULL) == 0 &&
                    look.life == LIFE_ENDED && look.exit.cause == CAUSE_KILL;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    assert_int_equal(exec_watch(&f.look, &status), -ESRCH);
    fixture_release(&f);
}

TEST(a_terminal_is_given_when_asked_for)
{
    struct fixture f;

    fixture_init(&f, "[ -t 1 ] && echo terminal; [ -t 2 ] || echo file >&2; seq 1 20000");
    f.launch.pty = true;
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    autofree(mem) char *err = fixture_read(&f, "attempts/7/stderr");
    assert_int_equal(strncmp(out, "terminal\n1\n2\n3\n", 15), 0);
    assert_string_equal(out + strlen(out) - 13, "\n19999\n20000\n");
    assert_null(strchr(out, '\r'));
    assert_string_equal(err, "file\n");
    fixture_release(&f);
}

TEST(a_program_may_close_its_output)
{
    check_exit("exec >&- 2>&-; exit 3", 3, 0);
}

TEST(an_attempt_takes_at_most_five_inodes)
{
    struct fixture f;

    fixture_init(&f, "ls attempts/7 | tr '\\n' ' '");
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    assert_string_equal(out, "params.json state stderr stdout ");
    fixture_release(&f);
}

TEST(a_folder_that_was_never_started_has_no_life)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "");
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.life, LIFE_NONE);
    fixture_release(&f);
}

TEST(a_folder_that_cannot_be_made_is_an_error_with_its_name)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "");
    f.launch.dir = "/dev/null/attempt";
    assert_true(exec_start(f.exec, &f.launch, &f.pid, &f.pidfd, &err) < 0);
    assert_non_null(strstr(err_text(&err), "/dev/null"));
    err_release(&err);
    fixture_release(&f);
}

TEST(a_command_beyond_the_kernels_limit_is_refused)
{
    struct fixture f;
    struct err err = ERR_INIT;
    autofree(mem) char *huge = xcalloc(1, 4 << 20);
    const char *argv[] = {"true", huge, NULL};

    memset(huge, 'x', (4 << 20) - 1);
    fixture_init(&f, "");
    f.launch.argv = (char *const *)argv;
    assert_int_equal(exec_start(f.exec, &f.launch, &f.pid, &f.pidfd, &err), -E2BIG);
    err_release(&err);
    fixture_release(&f);
}

TEST_MAIN
