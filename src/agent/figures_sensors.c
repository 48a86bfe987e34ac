/* SPDX-License-Identifier: MIT */
/*
 * figures_sensors.c — how warm it gets and how many watts it takes: hwmon and thermal zones, the
 * energy meter, and the GPUs that it knows.
 *
 * A machine may have a hundred sensors, and a person looks at the hottest of each kind (coretemp,
 * nvme, acpitz): that is what is told. Reading one may ask the device itself, so of each device the
 * first few are read; for processors the first is that of the whole package. They are found once,
 * when the agent begins.
 */
#include "agent/figures_parts.h"

#include "base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <unistd.h>

#define MAX_SENSORS 64
#define MAX_INPUTS  8 /* of one device */
#define COLDEST     (-60.0)
#define HOTTEST     250.0 /* °C: beyond, there is no sensor behind it */

/* ---- finding sensors ---- */

/* "k10temp\n", "pch skylake": a part of a name has no blanks, dots or slashes. NULL: not told. */
static char *kind_name(const char *dir, const char *file)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, file);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, 4096, &text, NULL) < 0)
        return NULL;
    str_cut(&text, strcspn(text.s, "\n"));
    for (char *p = text.s; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-')
            *p = '_';
    return text.len > 0 ? str_take(&text) : NULL;
}

static size_t kind_index(struct sensor_figures *sensors, const char *name)
{
    for (size_t i = 0; i < sensors->kinds.len; i++)
        if (str_eq(sensors->kinds.at[i].name, name))
            return i;
    struct sensor_kind kind = {.name = xstrdup(name),
                               .figure = xasprintf("system/temperature.%s", name)};
    vec_push(&sensors->kinds, kind);
    return sensors->kinds.len - 1;
}

static bool add_sensor(struct sensor_figures *sensors, const char *dir, const char *file,
                       const char *kind)
{
    struct sensor sensor;

    if (sensors->sensors.len >= MAX_SENSORS || (sensor.fd = kept_open(dir, file)) < 0)
        return false;
    sensor.kind = kind_index(sensors, kind);
    vec_push(&sensors->sensors, sensor);
    return true;
}

/* hwmon3/name, hwmon3/temp1_input …, which may have gaps. */
static void add_hwmon(struct sensor_figures *sensors, const char *dir)
{
    autofree(mem) char *kind = kind_name(dir, "name");
    int found = 0;

    for (int i = 1; kind && i <= 4 * MAX_INPUTS && found < MAX_INPUTS; i++) {
        autofree(mem) char *file = xasprintf("temp%d_input", i);
        found += add_sensor(sensors, dir, file, kind);
    }
}

/* thermal_zone0/type, thermal_zone0/temp */
static void add_zone(struct sensor_figures *sensors, const char *dir)
{
    autofree(mem) char *kind = kind_name(dir, "type");

    if (kind)
        add_sensor(sensors, dir, "temp", kind);
}

static void for_folders(struct sensor_figures *sensors, const char *dir, const char *prefix,
                        void (*add)(struct sensor_figures *sensors, const char *dir))
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, versionsort);

    for (int i = 0; i < n; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", dir, entries[i]->d_name);
        if (str_starts(entries[i]->d_name, prefix))
            add(sensors, path);
        free(entries[i]);
    }
    free(entries);
}

static void name_gpus(struct sensor_figures *sensors)
{
    const struct gpu_meter *gpus = sensors->meter ? energy_meter_gpus(sensors->meter) : NULL;

    for (size_t i = 0; gpus && i < gpu_meter_count(gpus); i++) {
        struct gpu_names names = {
            .busy = xasprintf("system/gpu.%zu.busy", i),
            .memory = xasprintf("system/gpu.%zu.memory_bytes", i),
            .power = xasprintf("system/gpu.%zu.power_watts", i),
            .temperature = xasprintf("system/gpu.%zu.temperature", i),
        };
        vec_push(&sensors->gpus, names);
    }
}

void sensors_open(struct sensor_figures *sensors, const struct figures_options *options)
{
    autofree(mem) char *hwmon = xasprintf("%s/class/hwmon", options->sys);
    autofree(mem) char *thermal = xasprintf("%s/class/thermal", options->sys);

    sensors->meter = options->meter;
    sensors->joules = NAN;
    for_folders(sensors, hwmon, "hwmon", add_hwmon);
    for_folders(sensors, thermal, "thermal_zone", add_zone);
    name_gpus(sensors);
}

void sensors_close(struct sensor_figures *sensors)
{
    vec_foreach (sensor, &sensors->sensors)
        fd_autoclose(&sensor->fd);
    vec_foreach (kind, &sensors->kinds) {
        free(kind->name);
        free(kind->figure);
    }
    vec_foreach (gpu, &sensors->gpus) {
        free(gpu->busy);
        free(gpu->memory);
        free(gpu->power);
        free(gpu->temperature);
    }
    vec_release(&sensors->sensors);
    vec_release(&sensors->kinds);
    vec_release(&sensors->gpus);
}

/* ---- looking ---- */

/* "41850\n", "-2000": thousandths of a degree. */
static double celsius(const char *text)
{
    bool below = scan_word(&text, "-");
    double x;

    if (!scan_number(&text, &x))
        return NAN;
    x = (below ? -x : x) / 1000;
    return x > COLDEST && x < HOTTEST ? x : NAN;
}

static void look_at_temperatures(struct sensor_figures *sensors, struct page *page,
                                 struct figure_list *list)
{
    vec_foreach (kind, &sensors->kinds)
        kind->hottest = NAN;
    vec_foreach (sensor, &sensors->sensors) {
        const char *text = kept_read(sensor->fd, page);
        double *hottest = &sensors->kinds.at[sensor->kind].hottest;
        if (text)
            *hottest = fmax(*hottest, celsius(text)); /* the one that is a number */
    }
    vec_foreach (kind, &sensors->kinds)
        figure_add(list, kind->figure, kind->hottest);
}

/* Only what is measured: an estimate from CPU time would say what the cpu figures say. */
static void look_at_power(struct sensor_figures *sensors, struct figure_list *list)
{
    struct energy host = energy_meter_host(sensors->meter);
    double joules = host.measured ? host.joules : NAN;

    figure_add_rate(list, "system/power_watts", sensors->joules, joules);
    sensors->joules = joules;
}

static void look_at_gpus(const struct sensor_figures *sensors, struct figure_list *list)
{
    const struct gpu_meter *gpus = energy_meter_gpus(sensors->meter);

    for (size_t i = 0; gpus && i < sensors->gpus.len; i++) {
        const struct gpu_names *names = &sensors->gpus.at[i];
        struct gpu_state state;
        gpu_meter_state(gpus, i, &state);
        figure_add(list, names->busy, state.busy_percent);
        figure_add(list, names->memory, state.memory_bytes);
        figure_add(list, names->power, state.watts);
        figure_add(list, names->temperature, state.celsius);
    }
}

void sensors_look(struct sensor_figures *sensors, int64_t now_us, struct page *page,
                  struct figure_list *list)
{
    look_at_temperatures(sensors, page, list);
    if (!sensors->meter)
        return;
    if (energy_meter_host(sensors->meter).measured)
        energy_meter_read(sensors->meter, now_us);
    look_at_power(sensors, list);
    look_at_gpus(sensors, list);
}
