/* SPDX-License-Identifier: MIT */
/*
 * figures_test.c — the machine's figures from made-up /proc and /sys trees, an attempt's from a
 * made-up and from a real process tree, and what a look costs here.
 */
#include "tests/test.h"

#include "agent/figures.h"
#include "base/fs.h"
#include "model/trial.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND 1000000

static char root[64];

static void begin(void)
{
    snprintf(root, sizeof(root), "/tmp/hone-figures-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void end(void)
{
    fs_remove_tree(root, NULL);
}

/* Changed in place, as the kernel changes its own. */
static void put(const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", root, name);
    autofree(mem) char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(fs_make_dirs(dir, 0755, NULL), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static struct figures *open_figures(struct energy_meter *meter, bool mapped)
{
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    autofree(mem) char *sys = xasprintf("%s/sys", root);
    struct figures_options options = {.proc = proc, .sys = sys, .meter = meter, .mapped = mapped};

    return figures_new(&options);
}

/* NaN: absent. Every name comes at most once. */
static double figure(const struct figure_list *list, const char *name)
{
    double found = NAN;

    assert_non_null(list);
    for (size_t i = 0; i < list->samples.len; i++) {
        const struct agent_sample *sample = &list->samples.at[i];
        assert_true(isfinite(sample->value));
        assert_true(sample->step == STEP_NONE);
        if (!str_eq(sample->metric, name))
            continue;
        assert_true(isnan(found));
        found = sample->value;
    }
    return found;
}

#define check_figure(list, name, expected)                                                         \
    do {                                                                                           \
        double got_ = figure(list, name), expected_ = (expected);                                  \
        if (!(fabs(got_ - expected_) <= 1e-9 * fabs(expected_) + 1e-12))                           \
            fail_msg("%s is %g, not %g", name, got_, expected_);                                   \
    } while (0)
#define check_absent(list, name) assert_true(isnan(figure(list, name)))

/* ---- processors ---- */

TEST(processors_are_told_in_all_and_one_by_one)
{
    begin();
    put("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\n"
                     "cpu1 50 0 50 400 0 0 0 0 0 0\nintr 5 cpu9\n");
    put("proc/loadavg", "1.25 0.80 1.20 2/613 4711\n");
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    const struct figure_list *list = figures_look(figures, SECOND, 7);
    check_figure(list, "system/load", 1.25);
    assert_int_equal(list->samples.len, 1); /* shares need two looks */
    assert_int_equal(list->samples.at[0].time_us, 7);
    put("proc/stat", "cpu  150 10 110 900 10 10 5 5 40 0\ncpu0 120 0 50 400 0 0 0 30 20 0\n"
                     "cpu1 50 0 50 450 50 0 0 0 20 0\nintr 5 cpu9\n");
    list = figures_look(figures, 3 * SECOND, 8);
    check_figure(list, "system/cpu", 45);
    check_figure(list, "system/cpu_user", 30);
    check_figure(list, "system/cpu_system", 12.5);
    check_figure(list, "system/cpu_iowait", 5);
    check_figure(list, "system/cpu_steal", 2.5);
    check_figure(list, "system/cpu.0", 100);
    check_figure(list, "system/cpu.1", 0); /* waiting for a disk is not busy */
    check_absent(list, "system/cpu.9");
    end();
}

/* Half of the first, all of the last core. */
static void put_cores(int n, int seconds)
{
    autorelease(str) struct str text = STR_INIT;

    str_addf(&text, "cpu  %d 0 0 %d\n", 100 * seconds, 100 * (n - 1) * seconds);
    for (int i = 0; i < n; i++) {
        int busy = i == 0 ? 25 : i == n - 1 ? 100 : 50;
        str_addf(&text, "cpu%d %d 0 0 %d\n", i, busy * seconds, (100 - busy) * seconds);
    }
    put("proc/stat", text.s);
}

TEST(of_very_many_processors_the_extremes_are_told)
{
    begin();
    put_cores(65, 1);
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    figures_look(figures, SECOND, 7);
    put_cores(65, 2);
    const struct figure_list *list = figures_look(figures, 2 * SECOND, 8);
    check_figure(list, "system/cpu.min", 25);
    check_figure(list, "system/cpu.max", 100);
    check_absent(list, "system/cpu.0");
    put_cores(64, 3); /* one was switched off */
    list = figures_look(figures, 3 * SECOND, 9);
    check_figure(list, "system/cpu.63", 100);
    check_absent(list, "system/cpu.min");
    end();
}

TEST(after_a_while_without_looks_no_rate_is_told)
{
    begin();
    put_cores(2, 1);
    put("proc/net/dev", "a |b\nc|d\n eth0: 100 1 0 0 0 0 0 0 200 1\n");
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    figures_look(figures, SECOND, 7);
    put_cores(2, 2);
    put("proc/net/dev", "a |b\nc|d\n eth0: 200 1 0 0 0 0 0 0 500 1\n");
    assert_true(figures_look(figures, 2 * SECOND, 8)->samples.len > 0);
    figures_forget(figures);
    put_cores(2, 900);
    assert_int_equal(figures_look(figures, 900 * (int64_t)SECOND, 9)->samples.len, 0);
    put_cores(2, 901);
    check_figure(figures_look(figures, 901 * (int64_t)SECOND, 9), "system/cpu.0", 25);
    end();
}

/* ---- memory ---- */

TEST(memory_swap_and_pressure)
{
    begin();
    put("proc/meminfo", "MemTotal:        8000 kB\nMemFree:  10 kB\nMemAvailable:    6000 kB\n"
                        "SwapCached: 1 kB\nSwapTotal: 1000 kB\nSwapFree: 900 kB\n");
    put("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n"
                                "full avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n");
    put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    const struct figure_list *list = figures_look(figures, SECOND, 7);
    check_figure(list, "system/memory_bytes", 2000 * 1024);
    check_figure(list, "system/memory_available_bytes", 6000 * 1024);
    check_figure(list, "system/memory_total_bytes", 8000 * 1024);
    check_figure(list, "system/swap_bytes", 100 * 1024);
    check_absent(list, "system/pressure.memory.some");
    put("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n"
                                "full avg10=0.00 avg60=0.00 avg300=0.00 total=900000\n");
    put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9000000\n");
    list = figures_look(figures, 3 * SECOND, 8);
    check_figure(list, "system/pressure.memory.some", 25);
    check_figure(list, "system/pressure.memory.full", 20);
    check_figure(list, "system/pressure.cpu.some", 100); /* never more than all of the time */
    check_absent(list, "system/pressure.cpu.full");
    check_absent(list, "system/pressure.io.some");
    end();
}

/* ---- devices ---- */

#define DISKS(reads, busy, mapped)                                                                 \
    "   7       0 loop0 9 0 9 0 9 0 9 0 0 9 9\n"                                                   \
    " 254       0 vda 10 0 " reads " 5 20 0 300 9 0 " busy " 6192043 1454456 189\n"                \
    " 254       1 vda1 10 0 5000 5 20 0 300 9 0 400 6192043\n"                                     \
    " 253       0 dm-0 10 0 5000 5 20 0 " mapped " 9 0 400 6192043\n"                              \
    " 252       0 sdz 0 0 0 0 0 0 0 0 0 0 0\n"                                                     \
    " 253       1 zram0 9 0 9 0 9 0 9 0 0 9 9\n"

static void put_disks(void)
{
    static const char *const disks[] = {"loop0", "vda", "dm-0", "sdz", "zram0"};

    for (size_t i = 0; i < ARRAY_LEN(disks); i++) {
        autofree(mem) char *size = xasprintf("sys/block/%s/size", disks[i]);
        put(size, "1\n");
    }
    put("proc/diskstats", DISKS("1000", "400", "300"));
}

static void check_disks(bool mapped)
{
    begin();
    put_disks();
    autofree(figures) struct figures *figures = open_figures(NULL, mapped);
    assert_int_equal(figures_look(figures, SECOND, 7)->samples.len, 0);
    put("proc/diskstats", DISKS("1200", "900", "340"));
    const struct figure_list *list = figures_look(figures, 2 * SECOND, 8);
    check_figure(list, "system/disk.vda.read_bytes", 200 * 512);
    check_figure(list, "system/disk.vda.written_bytes", 0);
    check_figure(list, "system/disk.vda.busy", 50);
    assert_int_equal(list->samples.len, mapped ? 6 : 3);
    if (mapped)
        check_figure(list, "system/disk.dm-0.written_bytes", 40 * 512);
    end();
}

TEST(disks_are_whole_and_real_ones)
{
    check_disks(false);
    check_disks(true);
}

#define HEADINGS                                                                                   \
    "Inter-|   Receive                                                |  Transmit\n"               \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"         \
    "    lo: 42610802  220708 0 0 0 0 0 0 42610802  220708 0 0 0 0 0 0\n"                          \
    "  ifb0:       0       0    0    0    0     0          0         0        0       0 0\n"

TEST(networks_come_and_go)
{
    begin();
    put("proc/net/dev",
        HEADINGS "  eth0: 1000 1 0 0 0 0 0 0 500 2 0\n veth1:70 1 0 0 0 0 0 0 7 1\n");
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    assert_int_equal(figures_look(figures, SECOND, 7)->samples.len, 0);
    put("proc/net/dev", HEADINGS "  eth0: 3000 1 0 0 0 0 0 0 600 2 0\n");
    const struct figure_list *list = figures_look(figures, 3 * SECOND, 8);
    check_figure(list, "system/network.eth0.in_bytes", 1000);
    check_figure(list, "system/network.eth0.out_bytes", 50);
    assert_int_equal(list->samples.len, 2);
    put("proc/net/dev",
        HEADINGS " veth1: 900 1 0 0 0 0 0 0 900 1\n  eth0: 10 1 0 0 0 0 0 0 700 2\n");
    list = figures_look(figures, 4 * SECOND, 9);
    assert_int_equal(list->samples.len, 1); /* a new veth1; eth0 was reset and has fallen */
    check_figure(list, "system/network.eth0.out_bytes", 100);
    end();
}

/* ---- sensors ---- */

TEST(the_hottest_of_each_kind_of_sensor_is_told)
{
    begin();
    put("sys/class/hwmon/hwmon0/name", "coretemp\n");
    put("sys/class/hwmon/hwmon0/temp1_input", "41850\n");
    put("sys/class/hwmon/hwmon0/temp3_input", "44000\n");
    put("sys/class/hwmon/hwmon1/name", "nvme\n");
    put("sys/class/hwmon/hwmon1/temp1_input", "-2500\n");
    put("sys/class/hwmon/hwmon2/name", "broken\n");
    put("sys/class/hwmon/hwmon2/temp1_input", "-273150\n");
    put("sys/class/hwmon/hwmon3/name", "fan only\n");
    put("sys/class/thermal/thermal_zone0/type", "pch skylake.x\n");
    put("sys/class/thermal/thermal_zone0/temp", "51000\n");
    put("sys/class/thermal/thermal_zone1/type", "coretemp\n");
    put("sys/class/thermal/thermal_zone1/temp", "43000\n");
    put("sys/class/thermal/cooling_device0/type", "Fan\n");
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    const struct figure_list *list = figures_look(figures, SECOND, 7);
    check_figure(list, "system/temperature.coretemp", 44);
    check_figure(list, "system/temperature.nvme", -2.5);
    check_figure(list, "system/temperature.pch_skylake_x", 51);
    assert_int_equal(list->samples.len, 3);
    put("sys/class/hwmon/hwmon0/temp3_input", "");
    check_figure(figures_look(figures, SECOND, 7), "system/temperature.coretemp", 43);
    end();
}

static struct energy_meter *meter_of(const char *nvml)
{
    autofree(mem) char *powercap = xasprintf("%s/sys/class/powercap", root);
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    struct energy_meter_options options = {
        .powercap = powercap, .proc = proc, .nvml = nvml, .model = energy_model_default(2)};

    return energy_meter_new(&options, SECOND);
}

TEST(watts_are_told_where_they_are_measured)
{
    begin();
    put("sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    put("proc/stat", "cpu  100 0 100 800 0 0 0 0\n");
    autofree(energy_meter) struct energy_meter *meter = meter_of("/nonexistent/nvml.so");
    autofree(figures) struct figures *figures = open_figures(meter, false);
    figures_look(figures, SECOND, 7);
    put("sys/class/powercap/intel-rapl:0/energy_uj", "91000000\n");
    check_figure(figures_look(figures, 3 * SECOND, 8), "system/power_watts", 45);
    put("sys/class/powercap/intel-rapl:0/energy_uj", "gone\n");
    check_absent(figures_look(figures, 4 * SECOND, 9), "system/power_watts"); /* estimated now */
    check_absent(figures_look(figures, 5 * SECOND, 9), "system/power_watts");
    end();
}

TEST(gpus_are_told_by_number)
{
    const char *build = getenv("HONE_BUILD");
    autofree(mem) char *library = xasprintf("%s/tests/unit/fake_nvml.so", build ? build : "build");

    if (!fs_exists(library))
        SKIP("the fake NVML is not built");
    begin();
    setenv("FAKE_NVML", "GPU-a,GPU-b,-", 1);
    autofree(energy_meter) struct energy_meter *meter = meter_of(library);
    autofree(figures) struct figures *figures = open_figures(meter, false);
    const struct figure_list *list = figures_look(figures, SECOND, 7);
    check_figure(list, "system/gpu.0.busy", 10);
    check_figure(list, "system/gpu.1.memory_bytes", 2147483648.0);
    check_figure(list, "system/gpu.1.temperature", 41);
    check_absent(list, "system/gpu.1.power_watts");
    check_absent(list, "system/gpu.2.busy");
    assert_int_equal(list->samples.len, 6);
    end();
}

/* ---- anything else ---- */

TEST(a_machine_that_shows_nothing_has_no_figures)
{
    begin();
    autofree(figures) struct figures *figures = open_figures(NULL, false);
    assert_int_equal(figures_look(figures, SECOND, 7)->samples.len, 0);
    assert_int_equal(figures_look(figures, 2 * SECOND, 7)->samples.len, 0);
    end();
}

TEST(odd_texts_are_passed_over)
{
    static const char *const odd[] = {
        "",
        "\n",
        "cpu",
        "cpu \n",
        "cpu  1 2\n",
        "cpu  1 2 3 4\ncpu",
        "cpu0:",
        "some total",
        "MemTotal:",
        "  eth0:\n",
        "  eth0: 5",
        " 8 0\n 8 0 sda\n",
        "9",
        "-",
        "1.",
        "some avg10=1 total=\nfull total=x\n",
        "cpu  99999999999999999999999 1 1 1\ncpu99999999999 1 1 1 1\n",
        ":::::\n : 1 2 3\n",
    };
    static const char *const files[] = {"proc/stat",
                                        "proc/loadavg",
                                        "proc/meminfo",
                                        "proc/pressure/io",
                                        "proc/diskstats",
                                        "proc/net/dev",
                                        "sys/class/hwmon/hwmon0/temp1_input"};

    begin();
    put("sys/class/hwmon/hwmon0/name", "\n");
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        for (size_t file = 0; file < ARRAY_LEN(files); file++)
            put(files[file], odd[i]);
        autofree(figures) struct figures *figures = open_figures(NULL, true);
        for (int64_t now = 1; now < 4; now++)
            figure(figures_look(figures, now * SECOND, 7), "");
        figures_look(figures, SECOND, 7); /* time that goes back */
    }
    end();
}

/* ---- an attempt ---- */

#define PROCESS(name) "proc/" name "/"

/* A keeper and its program; ticks, switches and bytes of the program. */
static void put_tree(int ticks, int wait_ns, int switches, int bytes)
{
    autofree(mem) char *stat = xasprintf(
        "78 (my (program) S 77 1 1 0 -1 4 10 0 5 0 %d 0 0 0 20 0 3 0 5000 1000 250 1 1\n", ticks);
    autofree(mem) char *wait = xasprintf("1 %d %d\n", wait_ns, switches);
    autofree(mem) char *io = xasprintf("rchar: 9\nwchar: 9\nsyscr: 9\nsyscw: 9\nread_bytes: %d\n"
                                       "write_bytes: 0\ncancelled_write_bytes: 3\n",
                                       bytes);

    put("proc/77/stat", "77 (keeper) S 1 1 1 0 -1 4 10 0 0 0 0 0 0 0 20 0 1 0 4000 1000 10 1 1\n");
    put("proc/77/io", "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n");
    put("proc/77/task/77/children", "78 ");
    put("proc/77/task/77/schedstat", "0 0 0\n");
    put("proc/78/stat", stat);
    put("proc/78/io", io);
    put("proc/78/task/78/children", "");
    put("proc/78/task/78/schedstat", wait);
    put("proc/78/cgroup", "0::/hone/x\n");
    put("sys/fs/cgroup/hone/x/cgroup.procs", "78\n");
    put("sys/fs/cgroup/hone/x/memory.current", "5000000\n");
}

TEST(an_attempt_is_its_whole_tree)
{
    begin();
    put_tree(100, 1000, 10, 4096);
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    autofree(mem) char *sys = xasprintf("%s/sys", root);
    struct attempt_figures figures;
    double page = (double)sysconf(_SC_PAGESIZE), tick = (double)sysconf(_SC_CLK_TCK);
    attempt_figures_init(&figures, proc, 77);
    const struct figure_list *list = attempt_look(&figures, sys, SECOND, 7);
    check_figure(list, "system/attempt.memory_bytes", 260 * page);
    check_figure(list, "system/attempt.threads", 3);
    check_figure(list, "system/attempt.processes", 1);
    check_figure(list, "system/cgroup.memory_bytes", 5000000);
    check_absent(list, "system/attempt.cpu");
    check_absent(list, "system/attempt.switches");
    put_tree(400, 500001000, 30, 8192);
    list = attempt_look(&figures, sys, 3 * SECOND, 8);
    check_figure(list, "system/attempt.cpu", 100 * 300 / tick / 2);
    check_figure(list, "system/attempt.wait", 25);
    check_figure(list, "system/attempt.switches", 10);
    check_figure(list, "system/attempt.read_bytes", 2048);
    check_figure(list, "system/attempt.written_bytes", 0);
    check_figure(list, "system/attempt.major_faults", 0);
    check_absent(list, "system/cgroup.cpu");
    attempt_forget(&figures);
    check_absent(attempt_look(&figures, sys, 4 * SECOND, 8), "system/attempt.cpu");
    fs_remove_tree(proc, NULL);
    assert_null(attempt_look(&figures, sys, 5 * SECOND, 9));
    attempt_figures_release(&figures);
    end();
}

/* ---- the table in docs/ ---- */

/* "| `system/disk.NAME.busy` | …": what it stands for as a pattern of the shell; false: no such
 * row. Words in capitals are any text. */
static bool row_pattern(const char *line, struct str *to)
{
    size_t n = str_starts(line, "| `system/") ? strcspn(line + 3, "`") : 0;

    str_cut(to, 0);
    for (const char *p = line + 3; p < line + 3 + n; p++) {
        bool any = isupper((unsigned char)*p);
        if (!any || to->len == 0 || to->s[to->len - 1] != '*')
            str_add_char(to, any ? '*' : *p);
    }
    return n > 0;
}

static bool documented(const char *docs, const char *name)
{
    autofree(mem) char *copy = xstrdup(docs);
    autorelease(str) struct str pattern = STR_INIT;

    for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
        if (row_pattern(line, &pattern) && fnmatch(pattern.s, name, 0) == 0)
            return true;
    return false;
}

static void check_documented(const char *docs, const struct figure_list *list)
{
    for (size_t i = 0; i < list->samples.len; i++)
        if (!documented(docs, list->samples.at[i].metric))
            fail_msg("docs/system.md has no row for %s", list->samples.at[i].metric);
}

TEST(every_figure_of_this_machine_has_a_row_in_the_docs)
{
    autorelease(str) struct str docs = STR_INIT;
    struct figures_options options = {0};
    autofree(figures) struct figures *figures = figures_new(&options);
    struct attempt_figures attempt;

    assert_int_equal(fs_read("docs/system.md", 1 << 20, &docs, NULL), 0);
    assert_true(documented(docs.s, "system/disk.sda.busy"));
    assert_false(documented(docs.s, "system/disk.sda.busier"));
    attempt_figures_init(&attempt, "/proc", getpid());
    for (int64_t now = 1; now <= 2; now++) {
        check_documented(docs.s, figures_look(figures, now * SECOND, 7));
        check_documented(docs.s, attempt_look(&attempt, "/sys", now * SECOND, 7));
    }
    attempt_figures_release(&attempt);
}

/* ---- what it costs ---- */

static double cpu_us(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void *wait_for_end(void *end)
{
    char c;

    return read(*(int *)end, &c, 1) < 0 ? end : NULL;
}

/* Microseconds of CPU for a look at this process, with so many more threads. */
static double attempt_cost(int n_threads)
{
    enum { LOOKS = 100 };
    struct attempt_figures attempt;
    pthread_t threads[64];
    int ends[2];

    assert_true(n_threads <= (int)ARRAY_LEN(threads));
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < n_threads; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_end, &ends[0]), 0);
    attempt_figures_init(&attempt, "/proc", getpid());
    double before = cpu_us();
    for (int64_t i = 1; i <= LOOKS; i++)
        check_figure(attempt_look(&attempt, "/sys", i * SECOND, 7), "system/attempt.threads",
                     n_threads);
    double cost = (cpu_us() - before) / LOOKS;
    attempt_figures_release(&attempt);
    close(ends[1]);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    close(ends[0]);
    return cost;
}

/* On this machine, as it is. The figure is printed: another load must not fail it; but a tenth of a
 * core is no longer a matter of load. */
TEST(looking_once_a_second_takes_little_of_a_core)
{
    enum { LOOKS = 200 };
    struct figures_options options = {0};
    autofree(figures) struct figures *figures = figures_new(&options);
    double before = cpu_us();

    for (int64_t i = 1; i <= LOOKS; i++)
        figures_look(figures, i * SECOND, i * SECOND);
    double machine = (cpu_us() - before) / LOOKS;
    double one = attempt_cost(0), many = attempt_cost(64);
    printf("# a look: machine %.0f µs, attempt of 1 thread %.0f µs, of 65 threads %.0f µs: %.3f to "
           "%.3f %% of a core at one a second\n",
           machine, one, many, (machine + one) / 1e4, (machine + many) / 1e4);
    assert_true(machine + many < 100000);
}

TEST_MAIN
