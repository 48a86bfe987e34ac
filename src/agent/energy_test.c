/* SPDX-License-Identifier: MIT */
/*
 * energy_test.c — joules from a made-up powercap tree, a made-up driver library and a made-up power
 * meter; the model against published measurements.
 */
#include "tests/test.h"

#include "agent/energy.h"
#include "base/fs.h"
#include "base/rng.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static void begin(void)
{
    snprintf(root, sizeof(root), "/tmp/hone-energy-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0755), 0);
}

static void end(void)
{
    fs_remove_tree(root, NULL);
}

/* Written in place, as the kernel changes its files. */
static void put(const char *zone, const char *file, const char *text)
{
    autofree(mem) char *dir = xasprintf("%s/%s", root, zone);
    autofree(mem) char *path = xasprintf("%s/%s", dir, file);
    assert_int_equal(fs_make_dirs(dir, 0755, NULL), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void put_number(const char *zone, const char *file, uint64_t x)
{
    autofree(mem) char *text = xasprintf("%llu\n", (unsigned long long)x);
    put(zone, file, text);
}

static void put_zone(const char *zone, const char *name, uint64_t range_uj, uint64_t energy_uj)
{
    autofree(mem) char *line = xasprintf("%s\n", name);
    put(zone, "name", line);
    put_number(zone, "energy_uj", energy_uj);
    if (range_uj)
        put_number(zone, "max_energy_range_uj", range_uj);
}

/* ---- RAPL ---- */

TEST(a_replayed_tree_with_wraps_is_exact_to_a_microjoule)
{
    static const struct {
        const char *zone, *name;
        uint64_t range;
        bool counted;
    } zones[] = {
        {"intel-rapl:0", "package-0", 262143328850, true},
        {"intel-rapl:0:0", "core", 262143328850, false},
        {"intel-rapl:0:1", "dram", 65712999613, true},
        {"intel-rapl:1", "package-1", 262143328850, true},
        {"intel-rapl:1:0", "dram", 65712999613, true},
        {"intel-rapl:2", "psys", 67108863, false},
        {"intel-rapl-mmio:0", "package-0", 262143328850, false},
    };
    struct rng rng;
    struct err err = ERR_INIT;
    uint64_t at[ARRAY_LEN(zones)], total = 0, psys = 0;
    int wraps = 0;

    begin();
    rng_init(&rng, 1, 0);
    put("intel-rapl", "enabled", "1\n");
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        at[i] = rng_below(&rng, zones[i].range);
        put_zone(zones[i].zone, zones[i].name, zones[i].range, at[i]);
    }
    autofree(rapl) struct rapl *rapl = NULL;
    assert_ok(rapl_open(root, &rapl, &err), &err);
    assert_int_equal(rapl->domains.len, 6); /* the mmio zone is the same package again */

    for (int turn = 0; turn < 200; turn++) {
        for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
            uint64_t step = rng_below(&rng, zones[i].range);
            wraps += at[i] + step >= zones[i].range;
            at[i] = (at[i] + step) % zones[i].range;
            put_number(zones[i].zone, "energy_uj", at[i]);
            total += zones[i].counted ? step : 0;
            psys += i == 5 ? step : 0;
        }
        assert_ok(rapl_read(rapl, &err), &err);
        assert_true(rapl_total_uj(rapl) == total);
        assert_true(rapl_psys_uj(rapl) == psys);
    }
    assert_true(wraps > 100);
    assert_true(rapl_has_psys(rapl) && rapl->complete);
    struct energy energy = rapl_energy(rapl);
    assert_true(energy.measured && str_eq(energy.source, "rapl"));
    assert_true(energy.joules == (double)total / 1e6);
    end();
}

TEST(zones_inside_their_package_are_found_and_counted_once)
{
    begin();
    put_zone("intel-rapl:0", "package-0-die-0", 1000000, 10);
    put_zone("intel-rapl:0/intel-rapl:0:0", "dram", 1000000, 20);
    put_zone("intel-rapl:0/intel-rapl:0:1", "uncore", 1000000, 30);
    put_zone("intel-rapl:0:0", "dram", 1000000, 20);
    autofree(rapl) struct rapl *rapl = NULL;
    struct err err = ERR_INIT;
    assert_ok(rapl_open(root, &rapl, &err), &err);
    assert_int_equal(rapl->domains.len, 3);
    assert_true(rapl_interval_s(rapl, 10) == 0.05);
    end();
}

TEST(a_counter_that_goes_away_ends_the_figure_instead_of_falsifying_it)
{
    begin();
    put_zone("intel-rapl:0", "package-0", 1000, 10);
    put_zone("intel-rapl:0:0", "core", 1000, 10);
    autofree(rapl) struct rapl *rapl = NULL;
    struct err err = ERR_INIT;
    assert_ok(rapl_open(root, &rapl, &err), &err);
    put_number("intel-rapl:0", "energy_uj", 110);
    put("intel-rapl:0:0", "energy_uj", "nonsense\n"); /* is not counted: no harm */
    assert_ok(rapl_read(rapl, &err), &err);
    assert_true(rapl_energy(rapl).joules == 100e-6);

    autofree(mem) char *path = xasprintf("%s/intel-rapl:0/energy_uj", root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rapl_read(rapl, &err), -EIO);
    assert_non_null(strstr(err_text(&err), "intel-rapl:0 (package-0)"));
    assert_true(isnan(rapl_energy(rapl).joules));
    put_number("intel-rapl:0", "energy_uj", 500);
    assert_int_equal(rapl_read(rapl, &err), -EIO); /* what was used meanwhile nobody knows */
    assert_true(isnan(rapl_energy(rapl).joules));
    err_release(&err);
    end();
}

TEST(a_fall_without_a_range_is_not_taken_for_a_wrap)
{
    begin();
    put_zone("intel-rapl:0", "package-0", 0, 1000);
    autofree(rapl) struct rapl *rapl = NULL;
    struct err err = ERR_INIT;
    assert_ok(rapl_open(root, &rapl, &err), &err);
    assert_true(isinf(rapl_interval_s(rapl, 100)));
    put_number("intel-rapl:0", "energy_uj", 5);
    assert_int_equal(rapl_read(rapl, &err), -EIO);
    assert_true(rapl_total_uj(rapl) == 0 && !rapl->complete);
    err_release(&err);
    end();
}

TEST(without_powercap_that_is_said)
{
    struct rapl *rapl = NULL;
    struct err err = ERR_INIT;
    begin();
    assert_int_equal(rapl_open(root, &rapl, &err), -ENOENT);
    assert_int_equal(rapl_open("/nonexistent", &rapl, &err), -ENOENT);
    assert_non_null(strstr(err_text(&err), "no RAPL package"));
    put("intel-rapl:0", "name", "package-0\n"); /* no counter */
    assert_int_equal(rapl_open(root, &rapl, &err), -ENOENT);
    put_zone("intel-rapl:0", "package-0", 1000, 0);
    put("intel-rapl:0", "energy_uj", "-5\n");
    assert_int_equal(rapl_open(root, &rapl, &err), -EIO);
    err_release(&err);
    end();
}

/* Root may read everything: a child that is nobody tries. 0 if all is as it should be. */
static int try_as_nobody(void)
{
    struct rapl *rapl = NULL;
    struct err err = ERR_INIT;

    if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
        return 2;
    int r = rapl_open(root, &rapl, &err);
    bool said = r == -EACCES && strstr(err_text(&err), "chmod a+r") &&
                strstr(err_text(&err), "root only") && strstr(err_text(&err), "udev");
    err_release(&err);
    return said ? 0 : 1;
}

TEST(no_permission_is_said_with_the_remedy)
{
    begin();
    put_zone("intel-rapl:0", "package-0", 1000, 10);
    autofree(mem) char *path = xasprintf("%s/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, 0), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_as_nobody());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    end();
}

/* ---- NVML ---- */

/* A driver whose devices read their figures from a file: device 0 counts energy, 1 has power only,
 * 2 tells nothing, 3 is broken. */
static const char driver[] =
    "#include <stdio.h>\n#include <stdlib.h>\n"
    "static int figure(int i, unsigned long long *ret) {\n"
    "    unsigned long long a = 0, b = 0; int n = 0;\n"
    "    FILE *f = fopen(getenv(\"FAKE_GPU\"), \"r\");\n"
    "    if (f) { n = fscanf(f, \"%llu %llu\", &a, &b); fclose(f); }\n"
    "    *ret = i ? b : a; return n == 2 ? 0 : 999; }\n"
    "int nvmlInit_v2(void) { return 0; }\nint nvmlShutdown(void) { return 0; }\n"
    "int nvmlDeviceGetCount_v2(unsigned *n) { *n = 4; return 0; }\n"
    "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret) {\n"
    "    *ret = (void *)(long)(i + 1); return i == 3 ? 15 : 0; }\n"
    "int nvmlDeviceGetUUID(void *d, char *ret, unsigned n) {\n"
    "    return (long)d == 1 ? snprintf(ret, n, \"GPU-a\") < 0 : 3; }\n"
    "int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *ret) {\n"
    "    return (long)d == 1 ? figure(0, ret) : 3; }\n"
    "int nvmlDeviceGetPowerUsage(void *d, unsigned *ret) {\n"
    "    unsigned long long x = 0; int r = (long)d == 2 ? figure(1, &x) : 3;\n"
    "    *ret = (unsigned)x; return r; }\n";

/* NULL if there is no compiler. */
static char *build_driver(void)
{
    char *library = xasprintf("%s/driver.so", root);
    autofree(mem) char *command =
        xasprintf("cc -shared -fPIC -o %s %s/driver.c >/dev/null 2>&1", library, root);
    autofree(mem) char *figures = xasprintf("%s/figures", root);

    put(".", "driver.c", driver);
    setenv("FAKE_GPU", figures, 1);
    if (system(command) == 0)
        return library;
    free(library);
    return NULL;
}

TEST(devices_give_their_counter_or_the_area_below_their_power)
{
    begin();
    autofree(mem) char *library = build_driver();
    if (!library) {
        end();
        SKIP("no C compiler");
    }
    struct err err = ERR_INIT;
    autofree(gpu_meter) struct gpu_meter *meter = NULL;
    put(".", "figures", "5000 100000");
    assert_ok(gpu_meter_open(library, &meter, &err), &err);
    assert_int_equal(gpu_meter_count(meter), 3);
    assert_string_equal(gpu_meter_id(meter, 0), "GPU-a");
    assert_string_equal(gpu_meter_id(meter, 1), "1");

    gpu_meter_read(meter, 1000000);
    put(".", "figures", "8500 200000");
    gpu_meter_read(meter, 3000000);
    gpu_meter_read(meter, 3000000); /* no time has passed: nothing more */
    assert_true(gpu_meter_energy(meter, 0).joules == 3.5);
    assert_true(gpu_meter_energy(meter, 1).joules == 300);
    assert_true(gpu_meter_energy(meter, 1).measured);
    assert_true(isnan(gpu_meter_energy(meter, 2).joules));

    put(".", "figures", "10 200000"); /* the driver was loaded anew */
    gpu_meter_read(meter, 4000000);
    assert_true(isnan(gpu_meter_energy(meter, 0).joules));
    assert_true(gpu_meter_energy(meter, 1).joules == 500);
    put(".", "figures", "");
    gpu_meter_read(meter, 5000000);
    assert_true(isnan(gpu_meter_energy(meter, 1).joules));
    end();
}

TEST(without_a_driver_that_is_said)
{
    struct gpu_meter *meter = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(gpu_meter_open("/nonexistent/nvml.so", &meter, &err), -ENOENT);
    assert_non_null(strstr(err_text(&err), "no NVIDIA driver"));
    assert_int_equal(gpu_meter_open("libm.so.6", &meter, &err), -ENOENT);
    err_release(&err);
}

/* ---- a power meter ---- */

static int watts_in(const char *text, const char *path, double *ret, struct err *err)
{
    return energy_pdu_watts(text, strlen(text), path, ret, err);
}

TEST(a_power_meters_json_becomes_watts_by_its_path)
{
    struct err err = ERR_INIT;
    double watts = 0;
    const char *text =
        "{\"outlets\":[{\"power_w\":41.5},{\"power_w\":\"7\",\"0\":3}],\"sum\":48.5}";
    assert_ok(watts_in(text, "outlets.0.power_w", &watts, &err), &err);
    assert_true(watts == 41.5);
    assert_ok(watts_in(text, "outlets.1.power_w", &watts, &err), &err);
    assert_true(watts == 7);
    assert_ok(watts_in(text, "outlets.1.0", &watts, &err), &err);
    assert_true(watts == 3);
    assert_ok(watts_in("[12]", "0", &watts, &err), &err);
    assert_true(watts == 12);
}

TEST(an_answer_without_watts_is_one_clear_sentence)
{
    static const struct {
        const char *text, *path, *said;
    } rows[] = {
        {"{\"outlets\":[]}", "outlets.0.power_w", "no '0' on the way"},
        {"{\"outlets\":[{}]}", "outlets.-1", "no '-1' on the way"},
        {"{\"outlets\":[{}]}", "outlets.0x.a", "no '0x' on the way"},
        {"{\"a\":1}", "a.b", "no 'b' on the way"},
        {"{\"a\":1}", "a..", "no '' on the way"},
        {"{\"a\":\"12 W\"}", "a", "not a number of watts"},
        {"{\"a\":-3}", "a", "not a number of watts"},
        {"{\"a\":\"nan\"}", "a", "not a number of watts"},
        {"{\"a\":null}", "a", "not a number of watts"},
        {"{\"a\":1}", "", "not a number of watts"},
        {"<html>", "a", "power meter"},
        {"", "a", "power meter"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT;
        double watts = -7;
        assert_true(watts_in(rows[i].text, rows[i].path, &watts, &err) < 0);
        if (!strstr(err_text(&err), rows[i].said))
            fail_msg("'%s' does not say '%s'", err_text(&err), rows[i].said);
        assert_true(watts == -7);
        err_release(&err);
    }
}

TEST(energy_of_a_window_is_the_area_below_the_samples)
{
    autorelease(power_log) struct power_log log = {0};
    assert_true(isnan(power_log_joules(&log, 0, 0)));
    assert_int_equal(power_log_add(&log, 1000000, 100), 0);
    assert_int_equal(power_log_add(&log, 3000000, 200), 0);
    assert_int_equal(power_log_add(&log, 4000000, 0), 0);
    assert_int_equal(power_log_add(&log, 4000000, 5), -EINVAL);
    assert_int_equal(power_log_add(&log, 2000000, 5), -EINVAL);
    assert_int_equal(power_log_add(&log, 5000000, NAN), -EINVAL);
    assert_int_equal(power_log_add(&log, 5000000, -1), -EINVAL);

    assert_true(power_log_joules(&log, 1000000, 4000000) == 400);
    assert_true(power_log_joules(&log, 2000000, 3500000) == 175 + 75);
    assert_true(power_log_joules(&log, 2000000, 2000000) == 0);
    assert_true(isnan(power_log_joules(&log, 999999, 2000000)));
    assert_true(isnan(power_log_joules(&log, 2000000, 4000001)));
    assert_true(isnan(power_log_joules(&log, 3000000, 2000000)));

    power_log_trim(&log, 3500000);
    assert_int_equal(log.samples.len, 2);
    struct energy energy = power_log_energy(&log, 3500000, 4000000);
    assert_true(energy.joules == 25 && energy.measured);
}

/* ---- figures ---- */

static void expect_text(struct energy energy, const char *text)
{
    autorelease(str) struct str to = STR_INIT;
    energy_format(energy, &to);
    assert_string_equal(to.s, text);
}

TEST(every_figure_says_whether_it_was_measured)
{
    struct energy rapl = {12400, true, false, "rapl"}, gpu = {100, true, false, "nvml"};
    struct energy model = {3, false, false, "model"}, unknown = ENERGY_UNKNOWN;

    expect_text(rapl, "12.4 kJ measured (rapl)");
    expect_text(energy_add(rapl, gpu), "12.5 kJ measured (rapl+nvml)");
    expect_text(energy_add(model, gpu), "103 J estimated (model+nvml)");
    expect_text(energy_share(rapl, 1, 4), "3.1 kJ measured (rapl, apportioned by CPU time)");
    expect_text(energy_share(rapl, 5, 4), "12.4 kJ measured (rapl, apportioned by CPU time)");
    expect_text(energy_share(rapl, 0, 0), "not known");
    expect_text(energy_since(rapl, gpu), "12.3 kJ measured (rapl+nvml)");
    expect_text(energy_since(gpu, rapl), "not known");
    expect_text(energy_add(rapl, unknown), "not known");
    assert_false(energy_add(rapl, unknown).measured);
}

/* ---- the model ---- */

/* The four tables below the other; CPU seconds are not in them: every core counts as busy. */
static struct energy_row *load_pipetune(size_t *ret_n)
{
    static const char *const names[] = {"v1_bfs", "v1_jacobi", "v2_bfs", "v2_jacobi"};
    VEC(struct energy_row) rows = {0};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree(mem) char *path = xasprintf("../shared/data/pipetune/offline_%s.csv", names[i]);
        autorelease(str) struct str text = STR_INIT;
        if (fs_read(path, 1 << 20, &text, NULL) < 0)
            continue;
        for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));) {
            double cores, seconds, uj;
            struct energy_row row;
            if (sscanf(line, "%lf,%*f,%*d,%*d,%*f,%*f,%lf,%lf", &cores, &seconds, &uj) != 3)
                continue;
            row = (struct energy_row){seconds, seconds * cores, uj / 1e6};
            vec_push(&rows, row);
        }
    }
    *ret_n = rows.len;
    return rows.at;
}

/* Mean relative error over the other half; `first` 0: even rows. */
static double error_of_half(const struct energy_row *rows, size_t n, size_t first)
{
    struct energy_row *half = xcalloc(n, sizeof(*half));
    struct energy_model model;
    struct err err = ERR_INIT;
    size_t n_half = 0, within = 0;
    double sum = 0;

    for (size_t i = first; i < n; i += 2)
        half[n_half++] = rows[i];
    assert_ok(energy_model_fit(half, n_half, &model, &err), &err);
    for (size_t i = 1 - first; i < n; i += 2) {
        struct energy e = energy_model_predict(&model, rows[i].seconds, rows[i].cpu_s, 1);
        double error = fabs(e.joules / rows[i].joules - 1);
        assert_false(e.measured);
        sum += error;
        within += error <= 0.1;
    }
    free(half);
    size_t rest = n - n_half;
    printf("# fitted on %s rows: %.1f W + %.2f J per core second; others: mean error %.1f %%, "
           "%zu of %zu within 10 %%\n",
           first ? "odd" : "even", model.idle_watts, model.joules_per_cpu_s,
           100 * sum / (double)rest, within, rest);
    assert_true(within * 10 >= rest * 9);
    return sum / (double)rest;
}

TEST(the_model_fitted_on_every_other_row_of_pipetune_predicts_the_rest_within_ten_percent)
{
    size_t n;
    autofree(mem) struct energy_row *rows = load_pipetune(&n);
    if (n == 0)
        SKIP("no ../shared/data/pipetune");
    assert_true(n > 600);
    assert_true(error_of_half(rows, n, 0) < 0.1);
    assert_true(error_of_half(rows, n, 1) < 0.1);
}

TEST(the_fit_finds_the_model_that_made_the_rows)
{
    struct energy_row rows[] = {{10, 5, 10 * 20 + 5 * 3}, {4, 16, 4 * 20 + 16 * 3}, {7, 0, 140}};
    struct energy_model model;
    struct err err = ERR_INIT;
    assert_ok(energy_model_fit(rows, 3, &model, &err), &err);
    assert_true(fabs(model.idle_watts - 20) < 1e-9 && fabs(model.joules_per_cpu_s - 3) < 1e-9);
    struct energy half = energy_model_predict(&model, 10, 1, 0.5);
    assert_true(fabs(half.joules - 103) < 1e-6 && !half.measured);

    /* Busy rows that need less than idle ones: no negative cost of a CPU second. */
    struct energy_row odd[] = {{10, 0, 200}, {10, 10, 150}};
    assert_ok(energy_model_fit(odd, 2, &model, &err), &err);
    assert_true(model.joules_per_cpu_s == 0 && model.idle_watts > 15 && model.idle_watts < 20);
    /* Always all cores: the terms cannot be told apart. */
    struct energy_row same[] = {{10, 20, 500}, {5, 10, 250}};
    assert_ok(energy_model_fit(same, 2, &model, &err), &err);
    assert_true(model.joules_per_cpu_s == 0 && fabs(model.idle_watts - 50) < 1e-9);
}

TEST(what_is_no_measurement_does_not_spoil_the_fit)
{
    struct energy_row rows[] = {{10, 5, 100}, {10, 5, 100}};
    struct energy_model model = {-1, -1};
    struct err err = ERR_INIT;
    assert_int_equal(energy_model_fit(rows, 1, &model, &err), -EINVAL);
    static const double bad[] = {NAN, 0, -1, INFINITY};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        rows[1] = (struct energy_row){10, 5, bad[i]};
        assert_int_equal(energy_model_fit(rows, 2, &model, &err), -EINVAL);
        rows[1] = (struct energy_row){bad[i], 5, 100};
        assert_int_equal(energy_model_fit(rows, 2, &model, &err), -EINVAL);
    }
    assert_true(model.idle_watts == -1);
    model = energy_model_default(4);
    assert_true(fabs(energy_model_predict(&model, 1, 4, 1).joules - 14) < 1e-9);
    err_release(&err);
}

TEST_MAIN
