/* SPDX-License-Identifier: MIT */
/*
 * lever_test.c — levers on real programs with threads and children: affinity and cgroup v1 as this
 * machine has them, cgroup v2 and cpufreq by fake trees. The program is this file itself, told by
 * LEVER_ROLE what to be.
 */
#include "exec/fixture.h"

#include "exec/lever.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- what the program does ---- */

static void ready(void)
{
    autofree(mem) char *path = xasprintf("%s/ready", getenv("DIR"));

    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) == 0)
        pthread_detach(thread);
}

static void role_idle(void)
{
    for (int i = 0; i < 3; i++)
        start(idle);
    if (fork() == 0)
        start(idle);
    else
        ready();
    idle(NULL);
}

/* Threads that start threads and children without end; the parents go on to live for a while. */
static void *short_lived(void *unused)
{
    poll(NULL, 0, 20);
    return unused;
}
static void role_births(void)
{
    for (int i = 0;; i++) {
        start(short_lived);
        if (i % 4 == 0 && fork() == 0) {
            start(short_lived);
            poll(NULL, 0, 20);
            _exit(0);
        }
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (i == 20)
            ready();
        poll(NULL, 0, 1);
    }
}

static atomic_uint turn;
/* Two threads take turns; the one that waits looks again and again. */
static void *spin(void *odd)
{
    for (;;) {
        while ((atomic_load(&turn) & 1) != (odd != NULL))
            continue;
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}
static void role_spin(void)
{
    start(spin);
    ready();
    spin(&turn);
}

static pthread_barrier_t barrier;
/* Both compute for a moment, then wait asleep. */
static void *meet(void *unused)
{
    for (;;) {
        int64_t until = clock_mono_us() + 300;
        while (clock_mono_us() < until)
            continue;
        pthread_barrier_wait(&barrier);
    }
    return unused;
}
static void role_meet(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    start(meet);
    ready();
    meet(NULL);
}

static const struct role {
    const char *name;
    void (*run)(void);
} roles[] = {
    {"idle", role_idle}, {"births", role_births}, {"spin", role_spin}, {"meet", role_meet}};

/* Before main: the program is this executable. */
__attribute__((constructor)) static void be_the_program(void)
{
    const char *name = getenv("LEVER_ROLE");

    if (name)
        alarm(600); /* a test that fails leaves it behind */
    for (size_t i = 0; name && i < ARRAY_LEN(roles); i++)
        if (str_eq(roles[i].name, name))
            roles[i].run();
    if (name)
        _exit(99);
}

/* ---- the fixture: an attempt of it, and its levers ---- */

struct rig {
    struct fixture f;
    struct lever *lever;
    struct lever_roots roots;
    struct cpus all; /* what this test may use */
    struct str notes;
    struct err err;
    char exe[4096];
};

static void rig_init(struct rig *rig, const char *role)
{
    ssize_t n = readlink("/proc/self/exe", rig->exe, sizeof(rig->exe) - 1);

    assert_true(n > 0);
    rig->exe[n] = '\0';
    rig->lever = NULL;
    rig->roots = (struct lever_roots){NULL, NULL};
    rig->notes = (struct str)STR_INIT;
    rig->err = (struct err)ERR_INIT;
    rig->all = (struct cpus){0};
    assert_int_equal(sched_getaffinity(0, sizeof(rig->all), (cpu_set_t *)&rig->all), 0);
    fixture_init(&rig->f, NULL);
    rig->f.argv[0] = rig->exe;
    rig->f.argv[1] = NULL;
    rig->f.env[3] = xasprintf("LEVER_ROLE=%s", role);
}

static void rig_start(struct rig *rig)
{
    fixture_start(&rig->f);
    wait_until(fixture_has(&rig->f, "ready"));
    assert_ok(lever_open(rig->f.dir, &rig->roots, &rig->lever, &rig->err), &rig->err);
}

static void rig_kill(struct rig *rig)
{
    assert_ok(exec_stop(rig->f.dir, true, 0, &rig->err), &rig->err);
    assert_int_equal(fixture_wait(&rig->f), KEEPER_DONE);
}

/* A folder of plain files is not removed by rmdir: do not let the keeper try. */
static void rig_kill_fake(struct rig *rig, const char *folder)
{
    assert_ok(fs_remove_tree(folder, &rig->err), &rig->err);
    rig_kill(rig);
}

static void rig_release(struct rig *rig)
{
    autofree(mem) char *notes = xasprintf("%s/levers", rig->f.dir);

    assert_ok(lever_end(rig->f.dir, &rig->roots, &rig->err), &rig->err);
    assert_ok(lever_end(rig->f.dir, &rig->roots, &rig->err), &rig->err); /* twice is once */
    assert_false(fs_exists(notes));
    lever_free(rig->lever);
    str_release(&rig->notes);
    err_release(&rig->err);
    fixture_release(&rig->f);
}

static bool way_is(const struct rig *rig, enum lever_kind kind, const char *want)
{
    autorelease(str) struct str how = STR_INIT;

    lever_possible(rig->lever, kind, &how);
    return str_starts(how.s, want);
}

static int apply(struct rig *rig, const struct lever_values *want)
{
    str_cut(&rig->notes, 0);
    return lever_apply(rig->lever, want, &rig->notes, &rig->err);
}

static struct lever_values in_force(struct rig *rig)
{
    struct lever_values now;

    assert_ok(lever_read(rig->lever, &now, &rig->err), &rig->err);
    return now;
}

static struct lever_values want_cpus(const struct cpus *cpus)
{
    return (struct lever_values){.given[LEVER_CPUS] = true, .cpus = *cpus};
}

static struct cpus first_of(const struct cpus *cpus)
{
    struct cpus first = {0};

    for (size_t cpu = 0; cpus_count(&first) == 0; cpu++)
        if (cpus_has(cpus, cpu))
            cpus_add(&first, cpu);
    return first;
}

/* ---- processors ---- */

static void check_narrows_and_widens(struct rig *rig)
{
    struct cpus one = first_of(&rig->all);
    struct lever_values want = want_cpus(&one), now;

    assert_ok(apply(rig, &want), &rig->err);
    assert_string_equal(rig->notes.s, "");
    for (int i = 0; i < 20; i++) {
        now = in_force(rig);
        assert_true(now.given[LEVER_CPUS]);
        assert_true(cpus_equal(&now.cpus, &one));
        poll(NULL, 0, 1);
    }
    want = want_cpus(&rig->all);
    assert_ok(apply(rig, &want), &rig->err);
    now = in_force(rig);
    assert_true(cpus_equal(&now.cpus, &rig->all));
}

TEST(affinity_reaches_every_thread_and_child_also_of_a_program_that_never_rests)
{
    static const char *const of[] = {"idle", "births"};

    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct rig rig;
        rig_init(&rig, of[i]);
        fixture_without_cgroups(&rig.f);
        rig_start(&rig);
        assert_true(way_is(&rig, LEVER_CPUS, "affinity"));
        check_narrows_and_widens(&rig);
        rig_kill(&rig);
        rig_release(&rig);
    }
}

TEST(a_cpuset_holds_the_tree_where_one_may_be_used_and_goes_with_the_attempt)
{
    static const char *const of[] = {"idle", "births"};

    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct rig rig;
        autofree(mem) char *notes = NULL;
        rig_init(&rig, of[i]);
        rig_start(&rig);
        if (way_is(&rig, LEVER_CPUS, "cgroup v1")) {
            check_narrows_and_widens(&rig);
            assert_true(lever_end(rig.f.dir, NULL, &rig.err) == -EBUSY);
            notes = xasprintf("%s/levers", rig.f.dir);
            assert_true(fs_exists(notes));
        } else {
            printf("# skipped: no cgroup v1 cpuset\n");
        }
        rig_kill(&rig);
        rig_release(&rig);
    }
}

TEST(processors_that_are_not_there_are_left_out_and_said)
{
    struct rig rig;
    struct cpus more, none = {0};
    struct lever_values want, now;

    rig_init(&rig, "idle");
    fixture_without_cgroups(&rig.f);
    rig_start(&rig);
    more = first_of(&rig.all);
    cpus_add(&more, 4000);
    want = want_cpus(&more);
    assert_ok(apply(&rig, &want), &rig.err);
    assert_non_null(strstr(rig.notes.s, ",4000 only"));
    now = in_force(&rig);
    assert_int_equal(cpus_count(&now.cpus), 1);
    want = want_cpus(&none);
    assert_int_equal(apply(&rig, &want), -EINVAL);
    cpus_add(&none, 4001);
    want = want_cpus(&none);
    assert_int_equal(apply(&rig, &want), -EINVAL);
    assert_non_null(strstr(err_text(&rig.err), "cpus: none of the processors '4001'"));
    rig_kill(&rig);
    rig_release(&rig);
}

TEST(what_the_keeper_has_lost_is_not_given_to_its_program)
{
    struct rig rig;
    struct cpus one;
    struct lever_values want, now;

    rig_init(&rig, "idle");
    fixture_without_cgroups(&rig.f);
    rig_start(&rig);
    one = first_of(&rig.all);
    assert_int_equal(sched_setaffinity(rig.f.pid, sizeof(one), (cpu_set_t *)&one), 0);
    want = want_cpus(&rig.all);
    assert_ok(apply(&rig, &want), &rig.err);
    now = in_force(&rig);
    assert_true(cpus_equal(&now.cpus, &one));
    assert_int_equal(rig.notes.len > 0, cpus_count(&rig.all) > 1);
    rig_kill(&rig);
    rig_release(&rig);
}

/* ---- time and memory ---- */

static double used_since(struct rig *rig, const struct lever_sample *before, int64_t us)
{
    struct lever_sample after;
    struct lever_use use;

    wait_until(clock_mono_us() - before->at_us >= us);
    assert_ok(lever_sample(rig->lever, clock_mono_us(), &after, &rig->err), &rig->err);
    lever_use(before, &after, &use);
    lever_sample_release(&after);
    return use.used_cpus;
}

TEST(a_quota_limits_the_whole_tree_and_is_lifted_again)
{
    struct rig rig;
    struct lever_sample before;
    struct lever_values want = {.given[LEVER_CPU_QUOTA] = true, .quota_cpus = 0.1};

    rig_init(&rig, "spin");
    rig_start(&rig);
    if (way_is(&rig, LEVER_CPU_QUOTA, "cgroup")) {
        assert_true(isinf(in_force(&rig).quota_cpus));
        assert_ok(apply(&rig, &want), &rig.err);
        assert_true(fabs(in_force(&rig).quota_cpus - 0.1) < 1e-9);
        assert_ok(lever_sample(rig.lever, clock_mono_us(), &before, &rig.err), &rig.err);
        assert_true(used_since(&rig, &before, 400000) < 0.3);
        lever_sample_release(&before);
        want.quota_cpus = INFINITY;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_true(isinf(in_force(&rig).quota_cpus));
        want.quota_cpus = 0.001;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_non_null(strstr(rig.notes.s, "least possible"));
    }
    want.quota_cpus = 0;
    assert_int_equal(apply(&rig, &want), -EINVAL);
    want.quota_cpus = NAN;
    assert_int_equal(apply(&rig, &want), -EINVAL);
    rig_kill(&rig);
    rig_release(&rig);
}

TEST(memory_is_lowered_raised_and_never_set_below_what_is_in_use)
{
    struct rig rig;
    struct lever_values want = {.given[LEVER_MEMORY] = true, .memory_bytes = 512 << 20};

    rig_init(&rig, "idle");
    rig.f.launch.memory_bytes = 256 << 20;
    rig_start(&rig);
    if (way_is(&rig, LEVER_MEMORY, "cgroup")) {
        assert_int_equal(in_force(&rig).memory_bytes, 256 << 20);
        assert_ok(apply(&rig, &want), &rig.err);
        assert_int_equal(in_force(&rig).memory_bytes, 512 << 20);
        want.memory_bytes = 128 << 20;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_int_equal(in_force(&rig).memory_bytes, 128 << 20);
        assert_string_equal(rig.notes.s, "");
        want.memory_bytes = 4096;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_true(in_force(&rig).memory_bytes > 4096);
        assert_non_null(strstr(rig.notes.s, "memory: 4K is less than what is in use"));
        want.memory_bytes = UINT64_MAX;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_true(in_force(&rig).memory_bytes == UINT64_MAX);
    } else {
        printf("# skipped: no cgroup limits memory here\n");
    }
    rig_kill(&rig);
    assert_int_equal(rig.f.look.exit.cause, CAUSE_KILL); /* it lived till then */
    rig_release(&rig);
}

TEST(without_cgroups_quota_and_memory_are_refused_with_what_would_help)
{
    struct rig rig;
    autorelease(str) struct str kinds = STR_INIT;
    struct lever_values want = {.given[LEVER_CPU_QUOTA] = true, .quota_cpus = 1};

    rig_init(&rig, "idle");
    fixture_without_cgroups(&rig.f);
    rig_start(&rig);
    assert_int_equal(apply(&rig, &want), -ENOTSUP);
    assert_non_null(strstr(err_text(&rig.err), "cpu_quota: not possible: no cgroup may be made"));
    assert_non_null(strstr(err_text(&rig.err), "run Hone as root"));
    want = (struct lever_values){.given[LEVER_MEMORY] = true, .memory_bytes = 1 << 30};
    assert_int_equal(apply(&rig, &want), -ENOTSUP);
    assert_false(in_force(&rig).given[LEVER_MEMORY]);
    lever_kinds(rig.lever, &kinds);
    assert_true(str_starts(kinds.s, "cpus: affinity\ncpu_quota: not possible: "));
    rig_kill(&rig);
    rig_release(&rig);
}

TEST(the_machine_tells_its_levers_before_anything_runs)
{
    struct rig rig;
    autofree(lever) struct lever *machine = NULL;
    struct lever_values want = {.given[LEVER_NICE] = true};

    rig_init(&rig, "idle");
    machine = lever_open_machine(exec_cgroups(rig.f.exec), NULL);
    rig.f.launch.memory_bytes = 1 << 30;
    rig_start(&rig);
    for (enum lever_kind kind = 0; kind < LEVER_KINDS; kind++) {
        autorelease(str) struct str before = STR_INIT, running = STR_INIT;
        assert_int_equal(lever_possible(machine, kind, &before),
                         lever_possible(rig.lever, kind, &running));
        assert_string_equal(before.s, running.s);
    }
    assert_int_equal(lever_apply(machine, &want, &rig.notes, &rig.err), -ESRCH);
    rig_kill(&rig);
    rig_release(&rig);
}

/* ---- niceness ---- */

static bool autogroup_is(pid_t pid, int nice)
{
    autofree(mem) char *path = xasprintf("/proc/%d/autogroup", (int)pid);
    autorelease(str) struct str text = STR_INIT;
    int is = 0;

    if (fs_read(path, 4096, &text, NULL) < 0 || text.len == 0)
        return true; /* this kernel has none */
    return sscanf(text.s, "/autogroup-%*d nice %d", &is) == 1 && is == nice;
}

TEST(niceness_holds_for_every_thread_and_for_their_autogroup)
{
    struct rig rig;
    struct lever_values want = {.given[LEVER_NICE] = true, .nice = 7};
    struct lever_sample sample;

    rig_init(&rig, "idle");
    rig_start(&rig);
    assert_ok(exec_look(rig.f.dir, &rig.f.look, &rig.err), &rig.err);
    assert_ok(apply(&rig, &want), &rig.err);
    assert_int_equal(in_force(&rig).nice, 7);
    assert_ok(lever_sample(rig.lever, 0, &sample, &rig.err), &rig.err);
    assert_true(sample.threads.len >= 5);
    vec_foreach (thread, &sample.threads)
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)thread->tid), 7);
    lever_sample_release(&sample);
    if (geteuid() == 0)
        assert_true(autogroup_is(rig.f.look.keeper.program_pid, 7));
    want.nice = 20;
    assert_int_equal(apply(&rig, &want), -EINVAL);
    want.nice = 0;
    assert_int_equal(apply(&rig, &want), geteuid() == 0 ? 0 : -EPERM);
    rig_kill(&rig);
    rig_release(&rig);
}

TEST(a_group_with_a_quota_is_as_nice_as_its_threads)
{
    struct rig rig;
    struct lever_values want = {.given[LEVER_NICE] = true, .nice = 5};
    autofree(mem) char *shares = NULL;
    autorelease(str) struct str text = STR_INIT;

    rig_init(&rig, "idle");
    rig_start(&rig);
    if (way_is(&rig, LEVER_CPU_QUOTA, "cgroup v1")) {
        assert_ok(apply(&rig, &want), &rig.err);
        want = (struct lever_values){.given[LEVER_CPU_QUOTA] = true, .quota_cpus = 1};
        assert_ok(apply(&rig, &want), &rig.err);
        shares = xasprintf("/sys/fs/cgroup/cpu/hone-test%d.%lld/cpu.shares", (int)getpid(),
                           (long long)rig.f.launch.attempt);
        if (fs_exists(shares)) { /* else we are in a cgroup of our own */
            assert_int_equal(fs_read(shares, 100, &text, NULL), 0);
            assert_string_equal(text.s, "336\n");
        }
    }
    rig_kill(&rig);
    rig_release(&rig);
}

TEST(levers_move_while_the_attempt_is_paused)
{
    for (int without = 0; without < 2; without++) {
        struct rig rig;
        struct lever_values want, now;
        rig_init(&rig, "idle");
        if (without)
            fixture_without_cgroups(&rig.f);
        rig_start(&rig);
        assert_ok(exec_pause(rig.f.dir, 1, &rig.err), &rig.err);
        wait_until(exec_look(rig.f.dir, &rig.f.look, NULL) == 0 && rig.f.look.turn.turn == 1);
        want = want_cpus(&rig.all);
        want.cpus = first_of(&rig.all);
        want.given[LEVER_NICE] = true;
        want.nice = 3;
        assert_ok(apply(&rig, &want), &rig.err);
        assert_ok(exec_pause(rig.f.dir, 2, &rig.err), &rig.err);
        wait_until(exec_look(rig.f.dir, &rig.f.look, NULL) == 0 && rig.f.look.turn.turn == 2);
        now = in_force(&rig);
        assert_true(cpus_equal(&now.cpus, &want.cpus));
        assert_int_equal(now.nice, 3);
        rig_kill(&rig);
        rig_release(&rig);
    }
}

/* ---- fake trees ---- */

static void fake_put(const char *root, const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", root, name);
    autofree(mem) char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    struct err err = ERR_INIT;

    assert_ok(fs_make_dirs(folder, 0755, &err), &err);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0644, &err), &err);
}

static void check_fake(const char *root, const char *name, const char *want)
{
    autofree(mem) char *path = xasprintf("%s/%s", root, name);
    autorelease(str) struct str text = STR_INIT;

    assert_int_equal(fs_read(path, 4096, &text, NULL), 0);
    assert_string_equal(text.s, want);
}

/* An attempt that believes to be held by cgroup v2 in the fixture's own folder. */
static char *rig_fake_v2(struct rig *rig)
{
    struct cgroup_plan *plan = (struct cgroup_plan *)exec_cgroups(rig->f.exec);
    char *root = xasprintf("%s/v2", rig->f.home);
    char *folder = xasprintf("%s/hone-x/%lld", root, (long long)rig->f.launch.attempt);

    fixture_without_cgroups(&rig->f);
    *plan = (struct cgroup_plan){.kind = CGROUP_V2, .tree = xasprintf("%s/hone-x", root)};
    fake_put(folder, "cgroup.procs", "");
    fake_put(root, "cgroup.subtree_control", "");
    fake_put(root, "cgroup.controllers", "cpuset cpu memory\n");
    fake_put(root, "hone-x/cgroup.subtree_control", "cpuset cpu memory\n");
    rig->roots.cgroup = root;
    return folder;
}

TEST(cgroup_v2_gets_cpuset_quota_and_both_memory_limits)
{
    struct rig rig;
    autofree(mem) char *folder = NULL, *root = NULL;
    autorelease(str) struct str cpus = STR_INIT;
    struct lever_values want, now;

    rig_init(&rig, "idle");
    folder = rig_fake_v2(&rig);
    root = (char *)rig.roots.cgroup;
    fake_put(folder, "cpuset.cpus", "\n");
    fake_put(folder, "cpu.max", "max 100000\n");
    fake_put(folder, "cpu.weight.nice", "0\n");
    fake_put(folder, "memory.high", "max\n");
    fake_put(folder, "memory.max", "max\n");
    fake_put(folder, "memory.current", "16777216\n");
    fake_put(folder, "memory.stat", "anon 8388608\nactive_file 4194304\ninactive_file 4194304\n");
    rig_start(&rig);
    assert_true(way_is(&rig, LEVER_CPUS, "cgroup v2"));
    now = in_force(&rig);
    assert_true(isinf(now.quota_cpus) && now.memory_bytes == UINT64_MAX);
    want = want_cpus(&rig.all);
    want.cpus = first_of(&rig.all);
    want.given[LEVER_CPU_QUOTA] = want.given[LEVER_MEMORY] = true;
    want.given[LEVER_NICE] = true;
    want.nice = 4;
    want.quota_cpus = 1.5;
    want.memory_bytes = 64 << 20;
    assert_ok(apply(&rig, &want), &rig.err);
    cpus_format(&want.cpus, &cpus);
    check_fake(folder, "cpuset.cpus", cpus.s);
    check_fake(folder, "cpu.max", "150000 100000");
    check_fake(folder, "cpu.weight.nice", "4");
    check_fake(folder, "memory.high", "67108864");
    check_fake(folder, "memory.max", "67108864");
    now = in_force(&rig);
    assert_true(now.quota_cpus > 1.499 && now.quota_cpus < 1.501);
    assert_int_equal(now.memory_bytes, 64 << 20);
    /* 8 MiB are in use for good, the cache of files is not; a small program gets
     * 16 MiB on top */
    want = (struct lever_values){.given[LEVER_MEMORY] = true, .memory_bytes = 1 << 20};
    assert_ok(apply(&rig, &want), &rig.err);
    check_fake(folder, "memory.max", "25165824");
    assert_string_equal(rig.notes.s,
                        "memory: 1M is less than what is in use, 8M; limited to 24M\n");
    rig_kill_fake(&rig, folder);
    rig_release(&rig);
}

TEST(the_softer_memory_limit_is_written_first)
{
    struct rig rig;
    autofree(mem) char *folder = NULL, *root = NULL;
    struct lever_values want = {.given[LEVER_MEMORY] = true, .memory_bytes = 1 << 20};

    rig_init(&rig, "idle");
    folder = rig_fake_v2(&rig);
    root = (char *)rig.roots.cgroup;
    fake_put(folder, "memory.high", "max\n");
    fake_put(folder, "memory.max/is a folder", "");
    fake_put(folder, "memory.current", "0\n");
    rig_start(&rig);
    assert_int_equal(apply(&rig, &want), -EISDIR);
    check_fake(folder, "memory.high", "1048576");
    rig_kill_fake(&rig, folder);
    rig_release(&rig);
}

TEST(a_controller_that_was_not_passed_on_is_and_its_absence_explained)
{
    struct rig rig;
    autofree(mem) char *folder = NULL, *root = NULL;
    struct lever_values want = {.given[LEVER_CPU_QUOTA] = true, .quota_cpus = 1}, now;

    rig_init(&rig, "idle");
    folder = rig_fake_v2(&rig);
    root = (char *)rig.roots.cgroup;
    fake_put(root, "hone-x/cgroup.subtree_control", "");
    rig_start(&rig);
    assert_int_equal(apply(&rig, &want), -ENOTSUP); /* a fake tree grows no files */
    assert_non_null(strstr(err_text(&rig.err), "does not appear there"));
    check_fake(root, "cgroup.subtree_control", "+cpu");
    check_fake(root, "hone-x/cgroup.subtree_control", "+cpu");
    want = want_cpus(&rig.all);
    want.cpus = first_of(&rig.all);
    assert_ok(apply(&rig, &want), &rig.err); /* by affinity instead */
    assert_non_null(strstr(rig.notes.s, "by affinity, since the cpuset did not work"));
    now = in_force(&rig);
    assert_int_equal(cpus_count(&now.cpus), 1);
    rig_kill_fake(&rig, folder);
    rig_release(&rig);
}

TEST(a_cap_of_frequency_follows_the_processors_and_is_taken_back_at_the_end)
{
    struct rig rig;
    autofree(mem) char *root = NULL;
    struct lever_values want = {.given[LEVER_FREQUENCY] = true, .frequency_khz = 1500000};
    struct cpus one;

    rig_init(&rig, "idle");
    fixture_without_cgroups(&rig.f);
    if (cpus_count(&rig.all) < 2 || !cpus_has(&rig.all, 0) || !cpus_has(&rig.all, 1)) {
        fixture_release(&rig.f);
        SKIP("needs cpus 0 and 1");
    }
    rig.roots.cpu = root = xasprintf("%s/cpu", rig.f.home);
    for (int cpu = 0; cpu < 2; cpu++) {
        autofree(mem) char *folder = xasprintf("%s/cpu%d/cpufreq", root, cpu);
        fake_put(folder, "scaling_max_freq", cpu ? "2100000\n" : "2000000\n");
        fake_put(folder, "cpuinfo_min_freq", "800000\n");
        fake_put(folder, "cpuinfo_max_freq", "3000000\n");
    }
    rig_start(&rig);
    assert_int_equal(in_force(&rig).frequency_khz, 2100000);
    assert_ok(apply(&rig, &want), &rig.err);
    check_fake(root, "cpu0/cpufreq/scaling_max_freq", "1500000");
    check_fake(root, "cpu1/cpufreq/scaling_max_freq", "1500000");
    one = first_of(&rig.all);
    want = want_cpus(&one);
    assert_ok(apply(&rig, &want), &rig.err);
    check_fake(root, "cpu0/cpufreq/scaling_max_freq", "1500000");
    check_fake(root, "cpu1/cpufreq/scaling_max_freq", "2100000");
    want = (struct lever_values){.given[LEVER_FREQUENCY] = true, .frequency_khz = 5};
    assert_ok(apply(&rig, &want), &rig.err);
    assert_string_equal(rig.notes.s, "frequency: cpu 0 cannot do 5 kHz: 800000\n");
    rig_kill(&rig);
    assert_ok(lever_end(rig.f.dir, &rig.roots, &rig.err), &rig.err);
    check_fake(root, "cpu0/cpufreq/scaling_max_freq", "2000000");
    rig_release(&rig);
}

/* ---- use ---- */

static bool spins_since(struct rig *rig, const struct lever_sample *before, struct lever_use *use)
{
    struct lever_sample after;

    assert_ok(lever_sample(rig->lever, clock_mono_us(), &after, &rig->err), &rig->err);
    lever_use(before, &after, use);
    lever_sample_release(&after);
    return lever_spins(use);
}

TEST(a_program_that_spins_is_told_from_one_that_sleeps_on_one_processor)
{
    static const char *const of[] = {"spin", "meet"};

    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct rig rig;
        struct cpus one;
        struct lever_values want;
        struct lever_sample before;
        struct lever_use use = {0};
        rig_init(&rig, of[i]);
        one = first_of(&rig.all);
        want = want_cpus(&one);
        rig_start(&rig);
        assert_ok(apply(&rig, &want), &rig.err);
        assert_ok(lever_sample(rig.lever, clock_mono_us(), &before, &rig.err), &rig.err);
        if (i == 0) {
            wait_until(spins_since(&rig, &before, &use));
            assert_int_equal(lever_cpus_allowed(use.running, 1, true), 2);
        } else {
            wait_until(!spins_since(&rig, &before, &use) && use.running == 2 &&
                       use.sleeps_per_s >= 5);
        }
        lever_sample_release(&before);
        rig_kill(&rig);
        rig_release(&rig);
    }
}

TEST(levers_of_what_has_ended_or_never_was_say_so)
{
    struct rig rig;
    struct lever *other = NULL;
    struct lever_values want = {.given[LEVER_NICE] = true}, now;

    rig_init(&rig, "idle");
    assert_int_equal(lever_open(rig.f.dir, NULL, &other, &rig.err), -ESRCH);
    assert_ok(lever_end(rig.f.dir, NULL, &rig.err), &rig.err);
    rig_start(&rig);
    rig_kill(&rig);
    assert_int_equal(apply(&rig, &want), -ESRCH);
    assert_int_equal(lever_read(rig.lever, &now, &rig.err), -ESRCH);
    assert_int_equal(lever_open(rig.f.dir, NULL, &other, &rig.err), -ESRCH);
    fake_put(rig.f.dir, "levers", "folder /etc\nfolder relative\n");
    assert_int_equal(lever_end(rig.f.dir, NULL, &rig.err), -EINVAL);
    fake_put(rig.f.dir, "levers", "folder /etc\n");
    rig_release(&rig);
    assert_true(fs_is_dir("/etc"));
}

TEST_MAIN
