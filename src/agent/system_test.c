/* SPDX-License-Identifier: MIT */
/*
 * system_test.c — configurations of the machine put in place under real programs, and what is told
 * of their use. The busy program is this file itself, told by its environment to be so. Nothing
 * here needs an idle machine: a thread that waits for a processor wants it as much as one that has
 * it.
 */
#include "agent/fixture.h"

#include <math.h>
#include <pthread.h>
#include <sys/resource.h>

/* ---- the program: two threads that compute, one of them until the file "one" is there ---- */

static void *compute(void *leaves)
{
    for (volatile unsigned n = 1;; n++)
        if (n % 1000000 == 0 && leaves && access("one", F_OK) == 0)
            return NULL;
    return NULL;
}

__attribute__((constructor)) static void be_the_program(void)
{
    static char leaves;
    pthread_t thread;

    if (!getenv("AGENT_TEST_BUSY"))
        return;
    alarm(600); /* a test that fails leaves it behind */
    printf("pid: %d\n", (int)getpid());
    fflush(stdout);
    pthread_create(&thread, NULL, compute, &leaves);
    compute(NULL);
}

static void start_busy(int64_t attempt)
{
    autofree(mem) char *self = realpath("/proc/self/exe", NULL);
    w.extra = "AGENT_TEST_BUSY=1";
    send_command(COMMAND_START, attempt, (const char *[]){self, NULL}, 0);
    w.extra = NULL;
}

/* ---- configurations ---- */

static void configure(int64_t attempt, int64_t generation, const struct lever_values *levers,
                      const char *control_json)
{
    struct agent_command command = {.kind = COMMAND_SYSTEM,
                                    .attempt = attempt,
                                    .generation = generation,
                                    .levers = levers,
                                    .control_json = control_json};
    w.in_command = true;
    agent_command(w.agent, &command);
    w.in_command = false;
}

static void configure_nice(int64_t attempt, int64_t generation, int nice)
{
    struct lever_values want = {.given[LEVER_NICE] = true, .nice = nice};
    configure(attempt, generation, &want, NULL);
}

static pid_t pid_of(int64_t attempt)
{
    wait_for_samples(attempt, 1);
    return (pid_t)w.seen[attempt].samples.at[0].value;
}

static int nice_of(int64_t attempt)
{
    return getpriority(PRIO_PROCESS, (id_t)pid_of(attempt));
}

static struct cpus cpus_of(pid_t pid)
{
    cpu_set_t set;
    struct cpus cpus = {0};
    assert_int_equal(sched_getaffinity(pid, sizeof(set), &set), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpus_add(&cpus, i);
    return cpus;
}

static struct lever_values first_cpu(void)
{
    struct lever_values want = {.given[LEVER_CPUS] = true};
    struct cpus all = cpus_of(0);
    for (size_t i = 0; cpus_count(&want.cpus) == 0; i++)
        if (cpus_has(&all, i))
            cpus_add(&want.cpus, i);
    return want;
}

static void end_of(int64_t attempt)
{
    stop(attempt, true);
    wait_for(&w.seen[attempt].ended, 1);
}

#define IDLE "echo pid: $$; exec sleep 1000"

TEST(a_configuration_is_put_in_place_before_and_after_the_program_has_started)
{
    begin();
    start_shell(1, IDLE);
    configure_nice(1, 1, 3); /* nothing has turned yet: its program cannot be there */
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.generation, 1);
    assert_int_equal(w.seen[1].answer.error, 0);
    assert_null(w.seen[1].text);
    assert_int_equal(nice_of(1), 3);
    configure_nice(1, 2, 5);
    wait_for(&w.seen[1].answered, 2);
    assert_int_equal(w.seen[1].answer.generation, 2);
    assert_int_equal(nice_of(1), 5);
    end_of(1);
    end();
}

TEST(the_same_generation_again_or_an_older_one_is_answered_and_changes_nothing)
{
    begin();
    start_shell(1, IDLE);
    configure_nice(1, 2, 3);
    wait_for(&w.seen[1].answered, 1);
    configure_nice(1, 2, 7);
    wait_for(&w.seen[1].answered, 2);
    configure_nice(1, 1, 7);
    wait_for(&w.seen[1].answered, 3);
    assert_int_equal(w.seen[1].answer.generation, 2);
    assert_int_equal(nice_of(1), 3);
    adopt(1);
    wait_for(&w.seen[1].started, 2);
    assert_int_equal(w.seen[1].turn.generation, 2);
    configure_nice(99, 1, 7); /* nobody there: nothing happens */
    end_of(1);
    configure_nice(1, 3, 7);
    end();
}

TEST(a_newer_configuration_takes_over_what_an_older_one_has_not_done)
{
    begin();
    start_shell(1, IDLE);
    configure_nice(1, 1, 3);
    configure(1, 2, NULL, "{\"threads\":1}");
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.generation, 2);
    assert_int_equal(nice_of(1), 3);
    autofree(mem) char *path = xasprintf("%s/1/state", w.home);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct control_page page;
    assert_int_equal(pread(fd, &page, sizeof(page), 0), sizeof(page));
    assert_memory_equal(page.json, "{\"threads\":1}", 13);
    end_of(1);
    end();
}

TEST(a_fresh_agent_puts_the_same_generation_in_place_again)
{
    begin();
    start_shell(1, IDLE);
    configure_nice(1, 4, 3);
    wait_for(&w.seen[1].answered, 1);
    pid_t pid = w.seen[1].pid;
    agent_end();
    agent_begin();
    adopt(1);
    configure_nice(1, 4, 6);
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.generation, 4);
    assert_int_equal(nice_of(1), 6);
    end_of(1);
    end();
    waitpid(pid, NULL, WNOHANG);
}

TEST(what_is_refused_is_answered_with_a_sentence_and_the_rest_is_done)
{
    begin();
    start_shell(1, IDLE);
    struct lever_values want = {.given = {[LEVER_CPUS] = true, [LEVER_NICE] = true}, .nice = 4};
    cpus_add(&want.cpus, CPUS_MAX - 1);
    configure(1, 1, &want, NULL);
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.error, -EINVAL);
    assert_non_null(strstr(w.seen[1].text, "cpus: none of the processors '4095' may be used here"));
    assert_int_equal(nice_of(1), 4);
    configure_nice(1, 2, 55);
    wait_for(&w.seen[1].answered, 2);
    assert_int_equal(w.seen[1].answer.error, -EINVAL);
    assert_string_equal(w.seen[1].text, "nice: 55 is not between -20 and 19");
    autofree(mem) char *long_text = xcalloc(1, 2 * STATE_CONTROL_SIZE);
    memset(long_text, ' ', 2 * STATE_CONTROL_SIZE - 1);
    configure(1, 3, NULL, long_text);
    wait_for(&w.seen[1].answered, 3);
    assert_int_equal(w.seen[1].answer.error, -EMSGSIZE);
    end_of(1);
    end();
}

TEST(processors_that_are_not_there_are_named_in_the_answer)
{
    begin();
    start_shell(1, IDLE);
    struct lever_values want = first_cpu();
    cpus_add(&want.cpus, CPUS_MAX - 1);
    configure(1, 1, &want, NULL);
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.error, 0);
    assert_non_null(strstr(w.seen[1].text, ",4095 only "));
    struct cpus now = cpus_of(pid_of(1));
    assert_int_equal(cpus_count(&now), 1);
    end_of(1);
    end();
}

TEST(what_a_program_writes_at_its_beginning_and_behind_a_change_is_read_at_once)
{
    begin();
    ((struct local *)w.agent)->pace.tick_us = 3600LL * US_PER_S;
    start_shell(1, "while :; do echo 'loss: 0.5'; sleep 0.02; done");
    configure_nice(1, 1, 3);
    wait_for(&w.seen[1].answered, 1);
    WAIT(w.seen[1].samples.len > 0);
    w.tuned = true;
    start_shell(2, "while :; do echo 'loss: 0.5'; sleep 0.02; done");
    w.tuned = false;
    WAIT(w.seen[2].samples.len > 0);
    end_of(1);
    end_of(2);
    end();
}

TEST(a_paused_attempt_gets_its_levers_all_the_same)
{
    begin();
    start_shell(1, IDLE);
    pid_of(1);
    struct agent_command pause = {.kind = COMMAND_PAUSE, .attempt = 1, .turn = 1};
    agent_command(w.agent, &pause);
    wait_for(&w.seen[1].paused, 1);
    configure_nice(1, 1, 3);
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.error, 0);
    assert_int_equal(nice_of(1), 3);
    end_of(1);
    end();
}

static void put_frequency(const char *name, const char *khz)
{
    autofree(mem) char *path = xasprintf("cpu/%s", name);
    put_file(path, khz);
}

TEST(what_outlives_an_attempt_is_taken_back_when_it_ends_or_is_lost)
{
    struct lever_values want = first_cpu();
    struct cpus all = cpus_of(0);
    begin();
    autofree(mem) char *root = xasprintf("%s/cpu", w.home);
    struct lever_roots roots = {.cpu = root};
    ((struct local *)w.agent)->roots = &roots;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        autofree(mem) char *most = xasprintf("cpu%zu/cpufreq/scaling_max_freq", i);
        autofree(mem) char *low = xasprintf("cpu%zu/cpufreq/cpuinfo_min_freq", i);
        autofree(mem) char *high = xasprintf("cpu%zu/cpufreq/cpuinfo_max_freq", i);
        if (!cpus_has(&all, i))
            continue;
        put_frequency(most, "2000000\n");
        put_frequency(low, "800000\n");
        put_frequency(high, "3000000\n");
    }
    size_t cpu = 0;
    while (!cpus_has(&want.cpus, cpu))
        cpu++;
    autofree(mem) char *file = xasprintf("cpu/cpu%zu/cpufreq/scaling_max_freq", cpu);
    want.given[LEVER_FREQUENCY] = true;
    want.frequency_khz = 1500000;
    for (int64_t i = 1; i <= 2; i++) {
        autofree(mem) char *notes = xasprintf("%s/%d/levers", w.home, (int)i);
        start_shell(i, IDLE);
        configure(i, 1, &want, NULL);
        wait_for(&w.seen[i].answered, 1);
        assert_int_equal(w.seen[i].answer.error, 0);
        check_file(file, "1500000");
        assert_true(fs_exists(notes));
        if (i == 1)
            stop(i, false);
        else
            kill(w.seen[i].pid, SIGKILL);
        wait_for(&w.seen[i].ended, 1);
        check_file(file, "2000000");
        assert_false(fs_exists(notes));
    }
    end();
}

/* ---- use ---- */

/* Not each window says so on a busy machine: the kernel counts a wait for a processor when it is
 * over, and between two looks at a clock others may run. */
static bool is_of_two_threads(const struct attempt_use *use)
{
    double wanted = (use->cpu_s + use->wait_s) / use->seconds;

    return use->running == 2 && wanted > 1 && wanted < 2.5 && use->cpu_s > 0 &&
           use->cpu_s < 2.2 * use->seconds + 0.05;
}

TEST(the_use_of_two_busy_threads_is_about_what_it_is)
{
    begin();
    hurry();
    start_shell(2, IDLE); /* not tuned: nothing is told of it */
    w.tuned = true;
    start_busy(1);
    const struct attempt_use *use = &w.seen[1].use;
    WAIT(w.seen[1].used >= 2 && is_of_two_threads(use));
    assert_int_equal(use->threads, 2);
    assert_true(use->seconds > 0.1);
    assert_true(use->machine_cpus >= 1);
    assert_true(isnan(use->machine_busy_cpus) ||
                (use->machine_busy_cpus >= 0 && use->machine_busy_cpus <= use->machine_cpus));
    assert_true(use->memory_bytes > 10000 && use->voluntary_switches >= 0);
    assert_true(isnan(use->io_bytes) || use->io_bytes >= 0);
    assert_true(isnan(use->pressure_cpu) || (use->pressure_cpu >= 0 && use->pressure_cpu <= 1));
    assert_int_equal(w.seen[2].used, 0);
    end_of(1);
    end_of(2);
    w.tuned = false;
    end();
}

TEST(an_idle_program_uses_nothing_and_no_window_holds_a_pause)
{
    begin();
    hurry();
    w.tuned = true;
    start_shell(1, IDLE);
    start_shell(2, IDLE);
    /* on a busy machine the shell itself is still coming up in the first windows */
    for (int windows = 1; windows <= 20; windows++) {
        wait_for(&w.seen[1].used, windows);
        if (w.seen[1].use.running == 0)
            break;
    }
    assert_int_equal(w.seen[1].use.running, 0);
    assert_true(w.seen[1].use.cpu_s < 0.5 * w.seen[1].use.seconds);
    struct agent_command command = {.kind = COMMAND_PAUSE, .attempt = 1, .turn = 1};
    agent_command(w.agent, &command);
    wait_for(&w.seen[1].paused, 1);
    int used = w.seen[1].used;
    wait_for(&w.seen[2].used, w.seen[2].used + 2);
    assert_int_equal(w.seen[1].used, used);
    command = (struct agent_command){.kind = COMMAND_RESUME, .attempt = 1, .turn = 2};
    int64_t resumed_us = clock_mono_us();
    agent_command(w.agent, &command);
    wait_for(&w.seen[1].used, used + 1);
    assert_true(w.seen[1].use.seconds <= (double)(clock_mono_us() - resumed_us) / 1e6);
    end_of(1);
    end_of(2);
    w.tuned = false;
    end();
}

/* Without turning the loop. */
static void await_threads(pid_t pid, size_t n)
{
    autofree(mem) char *path = xasprintf("/proc/%d/task", (int)pid);
    int64_t until_us = clock_mono_us() + PATIENCE_MS * 1000LL;
    while (count_files(path) != n) {
        assert_true(clock_mono_us() < until_us);
        usleep(1000);
    }
}

TEST(threads_that_spin_keep_their_processors)
{
    struct lever_values want = first_cpu();
    struct cpus all = cpus_of(0);
    if (cpus_count(&all) < 2)
        SKIP("needs two processors");
    begin();
    hurry();
    w.tuned = true;
    start_busy(1);
    WAIT(w.seen[1].use.spins);
    want.given[LEVER_NICE] = true;
    want.nice = 2;
    configure(1, 1, &want, NULL);
    wait_for(&w.seen[1].answered, 1);
    assert_int_equal(w.seen[1].answer.error, -EBUSY);
    assert_string_equal(w.seen[1].text, "its 2 threads spin: fewer cpus would stall them");
    assert_int_equal(nice_of(1), 2);
    struct cpus now = cpus_of(pid_of(1));
    assert_true(cpus_equal(&now, &all));
    configure(1, 2, &want, "{\"threads\":1}"); /* told to change: it may take a moment */
    put_file("one", "");
    await_threads(pid_of(1), 1);
    wait_for(&w.seen[1].answered, 2);
    assert_int_equal(w.seen[1].answer.error, 0);
    now = cpus_of(pid_of(1));
    assert_int_equal(cpus_count(&now), 1);
    end_of(1);
    w.tuned = false;
    end();
}

/* What the kernel says of its time in user mode. */
static unsigned long user_ticks(pid_t pid)
{
    autofree(mem) char *path = xasprintf("/proc/%d/stat", (int)pid);
    autorelease(str) struct str text = STR_INIT;
    unsigned long ticks = 0;

    assert_int_equal(fs_read(path, 4096, &text, NULL), 0);
    const char *rest = strrchr(text.s, ')');
    assert_int_equal(sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks), 1);
    return ticks;
}

TEST(a_profile_is_told_once_and_leaves_nothing_open)
{
    begin();
    struct local *local = hurry();
    size_t before = 0;
    w.tuned = true;
    int64_t profile_us = local->pace.profile_us;
    local->pace.profile_us = INT64_MAX; /* until it has computed, on a busy machine, too */
    start_busy(1);
    WAIT(local->profiled);
    unsigned long ticks = user_ticks(pid_of(1));
    WAIT(user_ticks(pid_of(1)) > ticks + 5);
    local->pace.profile_us = profile_us;
    start_shell(2, "while :; do sleep 0.01; done"); /* says nothing: has one all the same */
    WAIT(w.seen[1].profiled && w.seen[2].profiled);
    assert_null(local->profiled);
    before = count_fds();
    const struct profile *profile = &w.seen[1].profile;
    const struct profile_entry *cpu = &profile->at[COUNTER_CPU_USER];
    assert_string_equal(cpu->name, "cpu-user");
    assert_true(!cpu->missing && cpu->value > 0);
    assert_true(profile->at[COUNTER_THREADS].value >= 2);
    wait_for(&w.seen[1].used, w.seen[1].used + 2);
    assert_int_equal(w.seen[1].profiled, 1);
    assert_int_equal(count_fds(), before);
    end_of(1);
    end_of(2);
    w.tuned = false;
    end();
}

TEST_MAIN
