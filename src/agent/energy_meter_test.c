/* SPDX-License-Identifier: MIT */
/*
 * energy_meter_test.c — the best source is taken, and its loss is survived, on made-up machines.
 */
#include "tests/test.h"

#include "agent/energy_meter.h"
#include "base/fs.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static char root[64];

static void begin(void)
{
    snprintf(root, sizeof(root), "/tmp/hone-meter-XXXXXX");
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

/* Busy seconds of all processors, in ticks of this system; idle and iowait do not count. */
static void put_busy(double seconds)
{
    double ticks = seconds * (double)sysconf(_SC_CLK_TCK);
    autofree(mem) char *text =
        xasprintf("cpu  %.0f 0 0 777777 888888 0 0 0 0 0\ncpu0 1 2 3\n", ticks);
    put("proc/stat", text);
}

static void put_rapl(const char *energy_uj)
{
    put("powercap/intel-rapl:0/name", "package-0\n");
    put("powercap/intel-rapl:0/max_energy_range_uj", "60000000000\n");
    put("powercap/intel-rapl:0/energy_uj", energy_uj);
}

static struct energy_meter *open_meter(void)
{
    autofree(mem) char *powercap = xasprintf("%s/powercap", root);
    autofree(mem) char *proc = xasprintf("%s/proc", root);
    struct energy_meter_options options = {
        .powercap = powercap, .proc = proc, .nvml = "/nonexistent", .model = {10, 3}};

    return energy_meter_new(&options, 1000000);
}

TEST(a_machine_that_measures_is_measured)
{
    begin();
    put_busy(100);
    put_rapl("5000000\n");
    autofree(energy_meter) struct energy_meter *meter = open_meter();
    assert_true(energy_meter_host(meter).joules == 0);
    assert_true(energy_meter_interval_s(meter) == 30);
    put_rapl("12000000\n");
    put_busy(104);
    energy_meter_read(meter, 2000000);
    struct energy host = energy_meter_host(meter);
    assert_true(host.joules == 7 && host.measured && str_eq(host.source, "rapl"));
    assert_true(energy_meter_cpu_s(meter) == 4);
    assert_true(energy_share(host, 1, energy_meter_cpu_s(meter)).joules == 1.75);
    assert_non_null(strstr(energy_meter_explain(meter), "measured by RAPL (domains: 1)"));
    assert_true(isnan(energy_meter_gpu(meter, "GPU-a").joules));
    end();
}

TEST(one_that_does_not_is_estimated_and_says_how_and_why)
{
    begin();
    put_busy(100);
    autofree(energy_meter) struct energy_meter *meter = open_meter();
    put_busy(106);
    energy_meter_read(meter, 5000000);
    struct energy host = energy_meter_host(meter);
    assert_true(fabs(host.joules - (4 * 10 + 6 * 3)) < 1e-9 && !host.measured);
    assert_non_null(strstr(energy_meter_explain(meter), "10 W idle, 3 J per CPU second"));
    assert_non_null(strstr(energy_meter_explain(meter), "no RAPL package"));
    assert_true(energy_meter_interval_s(meter) == 60);

    put("proc/stat", "nonsense");
    energy_meter_read(meter, 6000000);
    assert_true(isnan(energy_meter_host(meter).joules) && isnan(energy_meter_cpu_s(meter)));
    put_busy(107);
    energy_meter_read(meter, 7000000);
    assert_true(fabs(energy_meter_host(meter).joules - (6 * 10 + 7 * 3)) < 1e-9);
    end();
}

TEST(when_the_counter_is_lost_the_model_goes_on_from_its_last_word)
{
    begin();
    put_busy(100);
    put_rapl("0\n");
    autofree(energy_meter) struct energy_meter *meter = open_meter();
    put_rapl("50000000\n");
    put_busy(110);
    energy_meter_read(meter, 2000000);
    put("powercap/intel-rapl:0/energy_uj", "gone\n");
    put_busy(112);
    energy_meter_read(meter, 3000000);
    struct energy host = energy_meter_host(meter);
    assert_true(fabs(host.joules - (50 + 10 + 2 * 3)) < 1e-9 && !host.measured);
    put_rapl("1\n"); /* it is back, but what happened meanwhile it does not know */
    put_busy(113);
    energy_meter_read(meter, 4000000);
    assert_true(fabs(energy_meter_host(meter).joules - (50 + 20 + 3 * 3)) < 1e-9);
    assert_non_null(strstr(energy_meter_explain(meter), "estimated since it was lost"));
    end();
}

TEST(a_power_meters_readings_become_joules_of_the_outlet)
{
    begin();
    put_busy(1);
    autofree(energy_meter) struct energy_meter *meter = open_meter();
    assert_true(isnan(energy_meter_outlet(meter).joules));
    assert_int_equal(energy_meter_watts(meter, 1000000, 100), 0);
    assert_true(isnan(energy_meter_outlet(meter).joules));
    assert_int_equal(energy_meter_watts(meter, 2000000, 200), 0);
    assert_int_equal(energy_meter_watts(meter, 2000000, 999), -EINVAL);
    assert_int_equal(energy_meter_watts(meter, 3000000, NAN), -EINVAL);
    assert_int_equal(energy_meter_watts(meter, 4000000, 0), 0);
    assert_true(energy_meter_outlet(meter).joules == 350 && energy_meter_outlet(meter).measured);
    end();
}

TEST(this_machine_has_a_meter_too)
{
    struct energy_meter_options options = {.model = energy_model_default(2)};
    autofree(energy_meter) struct energy_meter *meter = energy_meter_new(&options, 0);
    energy_meter_read(meter, 1000000);
    struct energy host = energy_meter_host(meter);
    assert_true(host.joules > 0 || host.measured);
    printf("# %s\n", energy_meter_explain(meter));
}

TEST_MAIN
