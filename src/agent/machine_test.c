/* SPDX-License-Identifier: MIT */
/*
 * machine_test.c — the machine's limits from made-up /proc and /sys trees, devices from a made-up
 * NVML.
 */
#include "tests/test.h"

#include "agent/internal.h"
#include "base/fs.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

static char root[64];

static void begin(void)
{
    snprintf(root, sizeof(root), "/tmp/hone-machine-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void end(void)
{
    fs_remove_tree(root, NULL);
}

static void put(const char *path, const char *text)
{
    autofree(mem) char *full = xasprintf("%s%s", root, path);
    autofree(mem) char *dir = xstrndup(full, (size_t)(strrchr(full, '/') - full));
    assert_int_equal(fs_make_dirs(dir, 0755, NULL), 0);
    assert_int_equal(fs_write_atomic(full, text, strlen(text), 0644, NULL), 0);
}

static struct machine probe(void)
{
    struct machine machine;
    machine_probe_at(root, &machine);
    return machine;
}

static double affinity(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

TEST(without_limits_it_is_what_the_kernel_tells)
{
    begin();
    put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");
    autorelease(machine) struct machine machine = probe();
    assert_true(machine.cpus == affinity());
    assert_int_equal(machine.mem_bytes, 8ULL << 30);
    assert_int_equal(machine.n_gpus, 0);
    assert_true(machine.name[0] != '\0');
    end();
}

/* The first processor that we may use was busy for 12 ticks, all others that we may use for none;
 * one that does not exist, for a thousand. */
TEST(load_is_of_the_processors_that_this_process_may_use)
{
    autorelease(str) struct str stat = STR_INIT;
    struct machine_load load;
    cpu_set_t set;
    int busy = 12;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    str_add(&stat, "cpu  9999 9999 9999 9 9 9 9 9\n");
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &set))
            continue;
        str_addf(&stat, "cpu%d %d 0 0 500 70 0 0 0 0 0\n", i, busy);
        busy = 0;
    }
    str_add(&stat, "cpu4095 1000 0 0 0 0 0 0 0\nintr 1\n");
    begin();
    machine_load_at(root, &load);
    assert_true(isnan(load.busy_s) && load.cpus == affinity());
    put("/proc/stat", stat.s);
    machine_load_at(root, &load);
    assert_true(fabs(load.busy_s - 12.0 / (double)sysconf(_SC_CLK_TCK)) < 1e-9);
    put("/proc/self/cgroup", "0::/a\n");
    put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    machine_load_at(root, &load);
    assert_true(load.cpus == 1);
    end();
}

TEST(a_v2_limit_of_any_parent_counts)
{
    begin();
    put("/proc/meminfo", "MemTotal:        8388608 kB\n");
    put("/proc/self/cgroup", "0::/user.slice/job\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/job/cpu.max", "100000 100000\n");
    put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    autorelease(machine) struct machine machine = probe();
    assert_int_equal(machine.mem_bytes, 1ULL << 30);
    assert_true(machine.cpus == 1);
    end();
}

TEST(v1_quota_and_limit_count)
{
    begin();
    put("/proc/meminfo", "MemTotal:        8388608 kB\n");
    put("/proc/self/cgroup", "9:memory:/a\n4:cpuacct,cpu:/b\n0::/\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "536870912\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
    autorelease(machine) struct machine machine = probe();
    assert_int_equal(machine.mem_bytes, 512ULL << 20);
    assert_true(machine.cpus == 1); /* half a processor still runs one trial */
    end();
}

TEST(a_container_that_cannot_see_its_own_path_is_limited_by_the_root)
{
    begin();
    put("/proc/meminfo", "MemTotal:        8388608 kB\n");
    put("/proc/self/cgroup", "0::/docker/0123456789\n");
    put("/sys/fs/cgroup/memory.max", "2147483648\n");
    autorelease(machine) struct machine machine = probe();
    assert_int_equal(machine.mem_bytes, 2ULL << 30);
    end();
}

/* tests/unit/fake_nvml.c: device 1 is broken, device 3 has no UUID. */
static bool use_fake_nvml(void)
{
    const char *build = getenv("HONE_BUILD");
    autofree(mem) char *library = xasprintf("%s/tests/unit/fake_nvml.so", build ? build : "build");
    setenv("HONE_NVML", library, 1);
    setenv("FAKE_NVML", "GPU-a,!,GPU-c,-", 1);
    return fs_exists(library);
}

static void expect_gpus(const char *visible, int n, const char *const *ids)
{
    struct machine machine = {0};

    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    else
        unsetenv("CUDA_VISIBLE_DEVICES");
    gpu_probe(&machine);
    assert_int_equal(machine.n_gpus, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(machine.gpu_ids[i], ids[i]);
    machine_release(&machine);
}

TEST(devices_are_named_by_uuid_and_what_is_hidden_stays_hidden)
{
    if (!use_fake_nvml())
        SKIP("the fake NVML is not built");
    expect_gpus(NULL, 3, (const char *[]){"GPU-a", "GPU-c", "3"});
    expect_gpus("2,0", 2, (const char *[]){"GPU-c", "GPU-a"});
    expect_gpus("GPU-c,3", 2, (const char *[]){"GPU-c", "3"});
    expect_gpus("0,1,2", 1, (const char *[]){"GPU-a"});
    expect_gpus("0,0,MIG-x", 2, (const char *[]){"GPU-a", "MIG-x"});
    expect_gpus("", 0, NULL);
    expect_gpus("-1", 0, NULL);
    setenv("HONE_NVML", "/nonexistent/libnvml.so", 1);
    expect_gpus(NULL, 0, NULL);
}

TEST_MAIN
