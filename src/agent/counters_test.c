/* SPDX-License-Identifier: MIT */
/*
 * counters_test.c — counters from made-up /proc and /sys trees and a made-up processor, and what
 * this machine's kernel tells of a real child.
 */
#include "tests/test.h"

#include "agent/counters_parts.h"
#include "base/fs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static void begin(void)
{
    snprintf(root, sizeof(root), "/tmp/hone-counters-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void end(void)
{
    fs_remove_tree(root, NULL);
}

static void put(const char *path, const char *text)
{
    autofree(mem) char *full = xasprintf("%s/%s", root, path);
    autofree(mem) char *dir = xstrndup(full, (size_t)(strrchr(full, '/') - full));
    assert_int_equal(fs_make_dirs(dir, 0755, NULL), 0);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void gone(const char *path)
{
    autofree(mem) char *full = xasprintf("%s/%s", root, path);
    assert_int_equal(fs_remove_tree(full, NULL), 0);
}

/* A process of a made-up /proc with one thread. */
static void put_process(int pid, int parent, long user_ticks, const char *name)
{
    autofree(mem) char *stat = xasprintf("proc/%d/stat", pid);
    autofree(mem) char *schedstat = xasprintf("proc/%d/task/%d/schedstat", pid, pid);
    autofree(mem) char *io = xasprintf("proc/%d/io", pid);
    autofree(mem) char *text =
        xasprintf("%d (%s) R %d 1 1 0 -1 4194560 100 200 3 4 %ld 20 30 40 20 "
                  "0 2 0 %d 1000000 256 18446744073709551615 0\n",
                  pid, name, parent, user_ticks, 5000 + pid);
    put(stat, text);
    put(schedstat, "1000 2000000000 5\n");
    put(io, "rchar: 1000\nwchar: 2000\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\n"
            "write_bytes: 8192\ncancelled_write_bytes: 77\n");
}

/* ---- a made-up processor ---- */

struct fake_event {
    bool open;
    uint32_t type;
    uint64_t config;
    pid_t tid;
    int leader; /* its own number if it stands first */
    bool kernel;
    uint64_t figures[3]; /* count, enabled, running */
    int failure;
};
#define FAKE_EVENTS 2000
struct fake {
    struct fake_event events[FAKE_EVENTS];
    int n;
    size_t room;        /* hardware events that fit into a group */
    size_t unseen_room; /* … and really can run; 0: the same */
    uint64_t unknown;   /* a hardware event that this processor does not have */
    bool no_hardware, no_kernel;
};

static size_t group_size(const struct fake *fake, int leader)
{
    size_t n = 0;
    for (int i = 0; i < fake->n; i++)
        n += fake->events[i].open && fake->events[i].leader == leader;
    return n;
}

static int fake_open(void *context, struct perf_event_attr *attr, pid_t tid, int group_fd)
{
    struct fake *fake = context;
    bool software = attr->type == PERF_TYPE_SOFTWARE;

    assert_true(attr->inherit && attr->size == sizeof(*attr));
    assert_int_equal(attr->read_format,
                     PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    if (fake->no_kernel && !attr->exclude_kernel)
        return -EACCES;
    if (!software && fake->no_hardware)
        return -EOPNOTSUPP;
    if (attr->type == PERF_TYPE_HARDWARE && fake->unknown && attr->config == fake->unknown)
        return -ENOENT;
    if (group_fd >= 0 && group_size(fake, group_fd) >= fake->room)
        return -EINVAL;
    assert_true(fake->n < FAKE_EVENTS);
    fake->events[fake->n] = (struct fake_event){
        .open = true,
        .type = attr->type,
        .config = attr->config,
        .tid = tid,
        .leader = group_fd >= 0 ? group_fd : fake->n,
        .kernel = !attr->exclude_kernel,
    };
    return fake->n++;
}

static int fake_read(void *context, int fd, uint64_t ret[3])
{
    struct fake *fake = context;
    struct fake_event *event = &fake->events[fd];

    assert_true(event->open);
    if (event->failure)
        return event->failure;
    memcpy(ret, event->figures, sizeof(event->figures));
    if (fake->unseen_room && group_size(fake, event->leader) > fake->unseen_room)
        ret[0] = ret[2] = 0;
    return 0;
}

static void fake_close(void *context, int fd)
{
    struct fake *fake = context;
    assert_true(fake->events[fd].open);
    fake->events[fd].open = false;
}

static const struct perf_ops fake_ops = {fake_open, fake_read, fake_close};

/* Let every open event stand there; the counts of threads differ by their number. */
static void run(struct fake *fake, uint64_t count, uint64_t enabled, uint64_t running)
{
    for (int i = 0; i < fake->n; i++)
        memcpy(fake->events[i].figures, (uint64_t[]){count, enabled, running},
               sizeof(fake->events[i].figures));
}

static struct fake_event *find_event(struct fake *fake, uint32_t type, uint64_t config, pid_t tid)
{
    for (int i = 0; i < fake->n; i++) {
        struct fake_event *event = &fake->events[i];
        if (event->open && event->type == type && event->config == config && event->tid == tid)
            return event;
    }
    return NULL;
}

static struct counters *open_fake(struct fake *fake)
{
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    autofree(mem) char *sys = xasprintf("%s/sys", root);
    struct counters_options options = {
        .pid = 10, .proc = proc, .sys = sys, .pfm = "/nonexistent", .ops = &fake_ops};
    struct counters *counters = NULL;
    struct err err = ERR_INIT;

    options.context = fake;
    assert_ok(counters_open(&options, &counters, &err), &err);
    return counters;
}

static struct counts read_at(struct counters *counters, int64_t seconds)
{
    struct counts counts;
    counters_read(counters, seconds * 1000000, &counts);
    return counts;
}

static struct profile between(const struct counts *before, const struct counts *after)
{
    struct profile profile;
    profile_between(before, after, &profile);
    return profile;
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

/* ---- events ---- */

TEST(groups_are_as_large_as_the_hardware_can_count)
{
    begin();
    put_process(10, 1, 0, "train");
    for (size_t room = 1; room <= 6; room++) {
        struct fake *fake = xcalloc(1, sizeof(*fake));
        fake->room = room;
        autofree(counters) struct counters *counters = open_fake(fake);
        autofree(mem) char *text =
            xasprintf("26 of 30 hardware events in %zu groups, 4 of 4 software events",
                      (26 + room - 1) / room);
        assert_string_equal(counters_explain(counters), text);
        for (int i = 0; i < fake->n; i++)
            if (fake->events[i].type == PERF_TYPE_SOFTWARE)
                assert_true(group_size(fake, i) == 1 && fake->events[i].kernel);
            else
                assert_true(!fake->events[i].kernel);
        counters_free(TAKE(counters));
        for (int i = 0; i < fake->n; i++)
            assert_false(fake->events[i].open);
        free(fake);
    }
    end();
}

TEST(counts_are_scaled_by_the_time_that_they_ran)
{
    begin();
    put_process(10, 1, 0, "train");
    put_process(11, 10, 0, "worker");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 4;
    autofree(counters) struct counters *counters = open_fake(fake);

    run(fake, 0, 0, 0);
    struct counts before = read_at(counters, 1);
    NEAR(before.values[COUNTER_CYCLES], 0.0);
    run(fake, 1000, 800, 200);
    struct counts middle = read_at(counters, 2);
    NEAR(middle.values[COUNTER_CYCLES], 2 * 4000.0); /* two processes */
    /* A quarter of the time from the first moment to here, but all of it since the last reading. */
    run(fake, 1700, 1600, 1000);
    struct counts after = read_at(counters, 3);
    NEAR(after.values[COUNTER_CYCLES], 2 * 4700.0);

    /* One thread's group was not seen: it is taken to be as the other's. */
    run(fake, 2700, 2600, 2000);
    find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 11)->figures[0] = 1700;
    find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 11)->figures[2] = 1000;
    struct counts last = read_at(counters, 4);
    NEAR(last.values[COUNTER_CYCLES], 2 * 5700.0);
    NEAR(last.values[COUNTER_TASK_CLOCK], 2 * 5700e-9);
    end();
}

TEST(a_count_whose_turn_did_not_come_is_missing_and_made_up_for_by_the_next)
{
    begin();
    put_process(10, 1, 0, "train");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 4;
    autofree(counters) struct counters *counters = open_fake(fake);
    struct fake_event *cycles = find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 10);

    run(fake, 100, 100, 100);
    struct counts a = read_at(counters, 1);
    run(fake, 200, 200, 200);
    memcpy(cycles->figures, (uint64_t[]){100, 200, 100}, sizeof(cycles->figures));
    struct counts b = read_at(counters, 2);
    run(fake, 300, 300, 300);
    memcpy(cycles->figures, (uint64_t[]){200, 300, 200}, sizeof(cycles->figures));
    struct counts c = read_at(counters, 3);

    assert_true(between(&a, &b).at[COUNTER_CYCLES].missing);
    assert_false(between(&a, &b).at[COUNTER_BRANCHES].missing);
    NEAR(c.values[COUNTER_CYCLES] - a.values[COUNTER_CYCLES], 200.0);
    NEAR(between(&a, &c).at[COUNTER_CYCLES].value, 1.0);
    end();
}

TEST(groups_that_never_run_are_made_smaller)
{
    begin();
    put_process(10, 1, 0, "train");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 8;
    fake->unseen_room = 3; /* somebody else holds the others */
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts counts[4];

    for (int i = 0; i < 4; i++) {
        run(fake, 1000000000, 1000000000, 1000000000);
        counts[i] = read_at(counters, i);
    }
    assert_true(isnan(counts[0].values[COUNTER_CYCLES]));  /* in eights */
    assert_true(isnan(counts[1].values[COUNTER_CYCLES]));  /* in fours */
    assert_false(isnan(counts[2].values[COUNTER_CYCLES])); /* in twos */
    assert_int_equal(counts[3].generation, 2);
    assert_non_null(strstr(counters_explain(counters), "in 13 groups"));
    assert_true(between(&counts[1], &counts[3]).at[COUNTER_CYCLES].missing);
    /* Another grouping began in between: nothing of before may be compared. */
    assert_true(between(&counts[0], &counts[2]).at[COUNTER_TASK_CLOCK].missing);
    assert_false(between(&counts[2], &counts[3]).at[COUNTER_TASK_CLOCK].missing);
    end();
}

TEST(what_the_machine_does_not_count_is_missing_and_never_zero)
{
    begin();
    put_process(10, 1, 0, "train");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 4;
    fake->unknown = PERF_COUNT_HW_BUS_CYCLES;
    autofree(counters) struct counters *counters = open_fake(fake);
    run(fake, 5, 5, 5);
    struct counts a = read_at(counters, 1);
    run(fake, 9, 9, 9);
    struct counts b = read_at(counters, 2);
    struct profile profile = between(&a, &b);
    assert_true(profile.at[COUNTER_BUS_CYCLES].missing);
    assert_true(isnan(profile.at[COUNTER_BUS_CYCLES].value));
    assert_true(profile.at[COUNTER_SLOTS_ISSUED].missing); /* a name that only libpfm knows */
    NEAR(profile.at[COUNTER_REF_CYCLES].value, 1.0);
    NEAR(profile.at[COUNTER_INSTRUCTIONS].value, 4.0);
    end();
}

TEST(without_hardware_counters_that_is_said)
{
    begin();
    put_process(10, 1, 0, "train");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->no_hardware = fake->no_kernel = true;
    autofree(counters) struct counters *counters = open_fake(fake);
    assert_string_equal(counters_explain(counters),
                        "0 of 30 hardware events (this machine shows none), "
                        "2 of 4 software events");
    run(fake, 7, 7, 7);
    struct counts counts = read_at(counters, 1);
    for (size_t i = 0; i < COUNTERS_HARDWARE; i++)
        assert_true(isnan(counts.values[i]));
    NEAR(counts.values[COUNTER_PAGE_FAULTS], 7.0);
    /* They happen in the kernel: without it they would read 0. */
    assert_true(isnan(counts.values[COUNTER_CONTEXT_SWITCHES]));
    assert_true(isnan(counts.values[COUNTER_MIGRATIONS]));
    end();
}

TEST(a_tree_of_many_threads_takes_a_share_of_the_descriptors_only)
{
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    pid_t tids[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct rlimit before, few;
    double counts[COUNTERS_PERF];
    size_t n_open = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){400, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    fake->room = 4;
    struct perf *perf = perf_new("/nonexistent", &fake_ops, fake);
    perf_attach(perf, tids, ARRAY_LEN(tids));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

    for (int i = 0; i < fake->n; i++) {
        const struct fake_event *event = &fake->events[i];
        n_open += event->open;
        for (size_t t = 0; event->open && t < ARRAY_LEN(tids); t++) /* all threads or none */
            assert_non_null(find_event(fake, event->type, event->config, tids[t]));
    }
    assert_true(n_open > 50 && n_open <= 100);
    run(fake, 3, 3, 3);
    assert_false(perf_read(perf, counts));
    size_t known = 0;
    for (size_t i = 0; i < COUNTERS_PERF; i++) {
        assert_true(isnan(counts[i]) || i == COUNTER_TASK_CLOCK || counts[i] == 30);
        known += !isnan(counts[i]);
    }
    assert_int_equal(known * ARRAY_LEN(tids), n_open);
    perf_free(perf);
}

TEST(counters_that_disappear_while_running_become_missing)
{
    begin();
    put_process(10, 1, 0, "train");
    put_process(11, 10, 0, "worker");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 4;
    autofree(counters) struct counters *counters = open_fake(fake);
    run(fake, 5, 5, 5);
    struct counts a = read_at(counters, 1);
    run(fake, 9, 9, 9);
    find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 11)->failure = -EIO;
    find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 10)->figures[0] = 1;
    gone("proc/11/io");
    gone("proc/10/task/10/schedstat");
    gone("proc/11/task/11/schedstat");
    struct counts b = read_at(counters, 2);
    struct profile profile = between(&a, &b);
    assert_true(profile.at[COUNTER_BRANCH_MISSES].missing);
    assert_true(profile.at[COUNTER_CACHE_MISSES].missing); /* it fell */
    assert_false(profile.at[COUNTER_CYCLES].missing);
    assert_true(profile.at[COUNTER_READ_CHARS].missing);
    assert_true(profile.at[COUNTER_RUN_WAIT].missing);
    assert_false(profile.at[COUNTER_CPU_USER].missing);
    end();
}

/* ---- names ---- */

TEST(names_are_resolved_by_libpfm_where_it_is_there)
{
    begin();
    put_process(10, 1, 0, "train");
    put("pfm.c", "#include <linux/perf_event.h>\n#include <string.h>\n"
                 "int pfm_initialize(void) { return 0; }\n"
                 "int pfm_get_perf_event_encoding(const char *name, int plm,\n"
                 "        struct perf_event_attr *attr, char **fstr, int *idx) {\n"
                 "    (void)plm; (void)fstr; (void)idx;\n"
                 "    if (strcmp(name, \"UOPS_ISSUED:ANY\") != 0) return -4;\n"
                 "    attr->type = PERF_TYPE_RAW; attr->config = 0x10e; return 0; }\n");
    autofree(mem) char *library = xasprintf("%s/pfm.so", root);
    autofree(mem) char *command =
        xasprintf("cc -shared -fPIC -o %s %s/pfm.c >/dev/null 2>&1", library, root);
    if (system(command) != 0) {
        end();
        SKIP("no C compiler");
    }
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    fake->room = 4;
    struct perf *perf = perf_new(library, &fake_ops, fake);
    perf_attach(perf, (pid_t[]){10}, 1);
    assert_non_null(find_event(fake, PERF_TYPE_RAW, 0x10e, 10));
    /* What it does not know is taken by the kernel's number. */
    assert_non_null(find_event(fake, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 10));
    perf_free(perf);
    end();
}

TEST(libpfm_and_the_kernel_mean_the_same_events)
{
    autofree(mem) struct fake *by_name = xcalloc(1, sizeof(*by_name));
    autofree(mem) struct fake *by_number = xcalloc(1, sizeof(*by_number));
    by_name->room = by_number->room = 8;
    struct perf *a = perf_new(NULL, &fake_ops, by_name);
    struct perf *b = perf_new("/nonexistent", &fake_ops, by_number);
    perf_attach(a, (pid_t[]){1}, 1);
    perf_attach(b, (pid_t[]){1}, 1);
    assert_int_equal(by_number->n, 30);
    for (int i = 0; i < by_number->n; i++)
        assert_non_null(
            find_event(by_name, by_number->events[i].type, by_number->events[i].config, 1));
    perf_free(a);
    perf_free(b);
}

/* ---- /proc ---- */

TEST(a_tree_is_the_sum_of_its_processes)
{
    begin();
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    put_process(10, 1, 100, "train) S 1 (x");
    put_process(11, 10, 200, "worker");
    put_process(12, 11, 300, "worker's own");
    put_process(13, 1, 99999, "somebody else");
    put("proc/self/stat", "nonsense");
    put("proc/14/stat", "14 (half");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts counts = read_at(counters, 1);
    NEAR(counts.values[COUNTER_CPU_USER], (600 + 3 * 30) / ticks);
    NEAR(counts.values[COUNTER_CPU_SYSTEM], (3 * 60) / ticks);
    NEAR(counts.values[COUNTER_MAJOR_FAULTS], 21.0);
    NEAR(counts.values[COUNTER_THREADS], 6.0);
    NEAR(counts.values[COUNTER_RESIDENT], 3 * 256 * page);
    NEAR(counts.values[COUNTER_READ_CHARS], 3000.0);
    NEAR(counts.values[COUNTER_WRITE_BYTES], 3 * 8192.0);
    NEAR(counts.values[COUNTER_RUN_WAIT], 6.0);
    end();
}

TEST(a_tree_is_found_from_parents_to_children_where_the_kernel_tells_them)
{
    begin();
    put_process(10, 1, 100, "train");
    put_process(11, 999, 200, "worker"); /* parents are not asked */
    put_process(12, 999, 300, "worker's own");
    put_process(13, 10, 99999, "somebody else");
    put("proc/10/task/10/children", "");
    put("proc/10/task/20/children", "11 10 x 13");
    put("proc/11/task/11/children", "12 ");
    put("proc/12/task/12/children", "");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts counts = read_at(counters, 1);
    NEAR(counts.values[COUNTER_CPU_USER], (600 + 3 * 30) / (double)sysconf(_SC_CLK_TCK));
    gone("proc/12");
    counts = read_at(counters, 2);
    NEAR(counts.values[COUNTER_CPU_USER], (300 + 2 * 30) / (double)sysconf(_SC_CLK_TCK));
    end();
}

TEST(waiting_for_a_processor_is_not_lost_with_the_thread)
{
    begin();
    put_process(10, 1, 0, "train");
    put("proc/10/task/20/schedstat", "0 3000000000 1\n");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts a = read_at(counters, 1);
    NEAR(a.values[COUNTER_RUN_WAIT], 5.0);
    gone("proc/10/task/20");
    put("proc/10/task/10/schedstat", "0 2500000000 1\n");
    put("proc/10/task/21/schedstat", "0 1000000000 1\n");
    struct counts b = read_at(counters, 2);
    NEAR(between(&a, &b).at[COUNTER_RUN_WAIT].value, 1.5);
    put("proc/10/task/21/schedstat", "0 250000000 1\n"); /* another thread of that number */
    struct counts c = read_at(counters, 3);
    NEAR(between(&b, &c).at[COUNTER_RUN_WAIT].value, 0.25);
    end();
}

TEST(when_the_root_has_ended_its_figures_are_missing)
{
    begin();
    put_process(10, 1, 0, "train");
    put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    assert_false(isnan(read_at(counters, 1).values[COUNTER_CPU_USER]));
    /* Its number is given to another, who started later. */
    put("proc/10/stat", "10 (new) R 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 99999 1 1 1\n");
    assert_true(isnan(read_at(counters, 2).values[COUNTER_CPU_USER]));
    gone("proc/10");
    struct counts counts = read_at(counters, 3);
    assert_true(isnan(counts.values[COUNTER_CPU_USER]));
    assert_true(isnan(counts.values[COUNTER_THREADS]));
    NEAR(counts.values[COUNTER_MACHINE_CPU], 2.5);

    struct counters *none = NULL;
    struct err err = ERR_INIT;
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    struct counters_options options = {.pid = 10, .proc = proc, .ops = &fake_ops, .context = fake};
    assert_int_equal(counters_open(&options, &none, &err), -ESRCH);
    assert_non_null(strstr(err_text(&err), "no process 10"));
    err_release(&err);
    end();
}

TEST(broken_files_are_missing_figures)
{
    begin();
    put_process(10, 1, 0, "train");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    put("proc/10/stat", "10 (x) R 1 1 1 0 -1 0 0 0 0 0 x 1 0 0 20 0 1 0 5010 1 1 1\n");
    put("proc/10/io", "rchar: many\nwchar 5\n");
    put("proc/10/cgroup", "::\n0\n4:cpu:\n");
    put("proc/10/task/10/schedstat", "\n");
    put("proc/pressure/io", "some avg10=0.00 total=\nfull");
    struct counts counts = read_at(counters, 1);
    for (size_t i = 0; i < COUNTERS; i++)
        assert_true(isnan(counts.values[i]) || i < COUNTERS_PERF);
    end();
}

/* ---- pressure and cgroups ---- */

TEST(a_v2_cgroup_that_is_the_trees_own_counts)
{
    begin();
    put_process(10, 1, 0, "keeper");
    put_process(11, 10, 0, "train");
    put("proc/10/cgroup", "0::/hone\n");
    put("proc/11/cgroup", "0::/hone/7\n");
    put("proc/pressure/memory", "some avg10=1.00 avg60=0.00 avg300=0.00 total=3000000\n"
                                "full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n");
    put("sys/fs/cgroup/hone/cgroup.procs", "10\n9\n"); /* somebody else is in there */
    put("sys/fs/cgroup/hone/cpu.stat", "usage_usec 1\n");
    put("sys/fs/cgroup/hone/7/cgroup.procs", "11\n");
    put("sys/fs/cgroup/hone/7/cpu.stat",
        "usage_usec 5000000\nuser_usec 1\nthrottled_usec 250000\n");
    put("sys/fs/cgroup/hone/7/memory.current", "1048576\n");
    put("sys/fs/cgroup/hone/7/memory.stat", "anon 5\nfile_mapped 7\nfile 4096\n");
    put("sys/fs/cgroup/hone/7/cpu.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts counts = read_at(counters, 1);
    NEAR(counts.values[COUNTER_CGROUP_CPU], 5.0);
    NEAR(counts.values[COUNTER_CGROUP_THROTTLED], 0.25);
    NEAR(counts.values[COUNTER_CGROUP_MEMORY], 1048576.0);
    NEAR(counts.values[COUNTER_CGROUP_CACHE], 4096.0);
    NEAR(counts.values[COUNTER_PRESSURE_CPU], 0.5);
    assert_true(isnan(counts.values[COUNTER_PRESSURE_IO]));
    NEAR(counts.values[COUNTER_MACHINE_MEMORY], 3.0);
    NEAR(counts.values[COUNTER_MACHINE_MEMORY_FULL], 1.0);

    put("sys/fs/cgroup/hone/7/cgroup.procs", "11\n4711\n");
    assert_true(isnan(read_at(counters, 2).values[COUNTER_CGROUP_CPU]));
    end();
}

TEST(v1_hierarchies_count_one_by_one)
{
    begin();
    put_process(10, 1, 0, "train");
    put("proc/10/cgroup", "9:memory:/job\n4:cpu,cpuacct:/job\n0::/\n");
    put("sys/fs/cgroup/unified/cgroup.procs", "1\n10\n");
    put("sys/fs/cgroup/unified/cpu.stat", "usage_usec 77\n");
    put("sys/fs/cgroup/memory/job/cgroup.procs", "10\n");
    put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2048\n");
    put("sys/fs/cgroup/memory/job/memory.stat", "cache 1024\nrss 1\n");
    put("sys/fs/cgroup/cpu/job/cgroup.procs", "10\n");
    put("sys/fs/cgroup/cpu/job/cpuacct.usage", "3000000000\n");
    put("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 1\nthrottled_time 500000000\n");
    autofree(mem) struct fake *fake = xcalloc(1, sizeof(*fake));
    autofree(counters) struct counters *counters = open_fake(fake);
    struct counts counts = read_at(counters, 1);
    NEAR(counts.values[COUNTER_CGROUP_CPU], 3.0);
    NEAR(counts.values[COUNTER_CGROUP_THROTTLED], 0.5);
    NEAR(counts.values[COUNTER_CGROUP_MEMORY], 2048.0);
    NEAR(counts.values[COUNTER_CGROUP_CACHE], 1024.0);
    assert_true(isnan(counts.values[COUNTER_PRESSURE_CPU]));
    end();
}

/* ---- profiles ---- */

TEST(every_counter_has_a_name_of_its_own_and_a_scale)
{
    for (enum counter i = 0; i < COUNTERS; i++) {
        const struct counter_kind *kind = counter_kind(i);
        assert_true(kind->name && kind->unit && kind->small > 0 && kind->large > kind->small);
        for (enum counter j = 0; j < i; j++)
            assert_string_not_equal(kind->name, counter_kind(j)->name);
    }
}

static struct counts zero_counts(void)
{
    return (struct counts){0};
}

TEST(events_are_told_per_instruction_so_that_speed_does_not_change_them)
{
    struct counts before = zero_counts(), fast = zero_counts(), slow = zero_counts();
    fast.at_us = 1000000;
    slow.at_us = 4000000;
    fast.values[COUNTER_INSTRUCTIONS] = slow.values[COUNTER_INSTRUCTIONS] = 2e9;
    fast.values[COUNTER_BRANCH_MISSES] = slow.values[COUNTER_BRANCH_MISSES] = 1e7;
    struct profile a = between(&before, &fast), b = between(&before, &slow);
    NEAR(a.at[COUNTER_BRANCH_MISSES].value, 0.005);
    NEAR(b.at[COUNTER_BRANCH_MISSES].value, 0.005);
    NEAR(a.at[COUNTER_INSTRUCTIONS].value, 2e9);
    NEAR(b.at[COUNTER_INSTRUCTIONS].value, 5e8);
}

TEST(no_counter_dominates_a_distance)
{
    struct counts before = zero_counts(), base = zero_counts();
    base.at_us = 1000000;
    for (size_t i = 0; i < COUNTERS; i++)
        base.values[i] = counter_kind(i)->small;
    base.values[COUNTER_INSTRUCTIONS] = 1e9;
    for (size_t i = 0; i < COUNTERS; i++)
        if (counter_kind(i)->per == PER_INSTRUCTION)
            base.values[i] *= 1e9;
    struct profile a = between(&before, &base);
    double least = INFINITY, most = 0;

    /* Ten times as much of one counter, whichever it is, moves the profile about as far. */
    for (size_t i = 0; i < COUNTERS; i++) {
        struct counts other = base;
        if (counter_kind(i)->echo || i == COUNTER_INSTRUCTIONS)
            continue;
        other.values[i] *= 10;
        struct profile b = between(&before, &other);
        double d = profile_distance(&a, &b, NULL);
        least = MIN(least, d);
        most = MAX(most, d);
    }
    assert_true(least > 0 && most < 5 * least);
}

TEST(what_is_missing_or_said_twice_is_not_compared)
{
    struct counts before = zero_counts(), after = zero_counts(), other = zero_counts();
    size_t n;
    after.at_us = other.at_us = 1000000;
    after.values[COUNTER_INSTRUCTIONS] = other.values[COUNTER_INSTRUCTIONS] = 1e9;
    other.values[COUNTER_TASK_CLOCK] = other.values[COUNTER_CGROUP_CPU] = 50;
    other.values[COUNTER_READ_CHARS] = NAN;
    after.values[COUNTER_READ_CHARS] = 1e9;
    struct profile a = between(&before, &after), b = between(&before, &other);
    assert_true(profile_distance(&a, &b, &n) == 0);
    assert_int_equal(n, COUNTERS - 3);
    assert_true(b.at[COUNTER_READ_CHARS].missing);

    /* No time, or time that runs backwards: sums are missing, levels are not. */
    struct profile none = between(&after, &before);
    assert_true(none.at[COUNTER_INSTRUCTIONS].missing && !none.at[COUNTER_THREADS].missing);
    for (size_t i = 0; i < COUNTERS; i++)
        before.values[i] = NAN;
    struct profile nothing = between(&before, &before);
    assert_true(isnan(profile_distance(&nothing, &a, &n)) && n == 0);
}

/* ---- this machine ---- */

#define PAGES 2000

/* Works when told, says so, and stays until it is ended. */
static void child_main(int in, int out)
{
    char c;
    static char block[65536];
    char *memory =
        mmap(NULL, PAGES * 4096UL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *null = fopen("/dev/null", "w");

    madvise(memory, PAGES * 4096UL, MADV_NOHUGEPAGE);
    while (read(in, &c, 1) == 1) {
        pid_t pid = fork(); /* started after the counters were: counted all the same */
        if (pid == 0) {
            for (size_t i = 0; i < PAGES; i++)
                memory[i * 4096] = 1;
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        for (int i = 0; null && i < 16; i++)
            fwrite(block, 1, sizeof(block), null);
        fflush(null);
        if (write(out, "x", 1) != 1)
            break;
    }
    _exit(0);
}

TEST(the_work_of_a_real_child_is_seen_from_outside)
{
    int to[2], from[2];
    char c;
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(to[1]);
        child_main(to[0], from[1]);
    }
    struct counters_options options = {.pid = pid};
    struct err err = ERR_INIT;
    autofree(counters) struct counters *counters = NULL;
    assert_ok(counters_open(&options, &counters, &err), &err);
    printf("# %s\n", counters_explain(counters));
    struct counts before = read_at(counters, 0);
    assert_int_equal(write(to[1], "x", 1), 1);
    assert_int_equal(read(from[0], &c, 1), 1);
    struct counts after = read_at(counters, 1);
    struct profile profile = between(&before, &after);

    assert_true(profile.at[COUNTER_PAGE_FAULTS].missing ||
                profile.at[COUNTER_PAGE_FAULTS].value >= PAGES);
    assert_true(profile.at[COUNTER_CONTEXT_SWITCHES].missing ||
                profile.at[COUNTER_CONTEXT_SWITCHES].value >= 1);
    assert_true(profile.at[COUNTER_TASK_CLOCK].missing || profile.at[COUNTER_TASK_CLOCK].value > 0);
    assert_true(profile.at[COUNTER_WRITE_CHARS].missing ||
                profile.at[COUNTER_WRITE_CHARS].value >= 16 * 65536);
    assert_true(profile.at[COUNTER_THREADS].value == 1);
    assert_true(profile.at[COUNTER_RESIDENT].value > 0);
    assert_false(profile.at[COUNTER_CPU_USER].missing);

    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(isnan(read_at(counters, 2).values[COUNTER_THREADS]));
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}

TEST_MAIN
