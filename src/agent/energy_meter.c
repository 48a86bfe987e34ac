/* SPDX-License-Identifier: MIT */
/*
 * energy_meter.c — chooses the best source of energy that the machine has, and stays with it.
 *
 * Invariant: host joules never fall. When RAPL is lost, what it told until the last good reading
 * stays, the model adds what came after, and the sum is called estimated.
 */
#include "agent/energy_meter.h"

#include "base/fs.h"

#include <math.h>
#include <unistd.h>

#define PACKAGE_WATTS  1000.0
#define MAX_INTERVAL_S 60.0

struct energy_meter {
    char *proc;
    struct rapl *rapl;     /* NULL: none, or lost */
    struct gpu_meter *gpu; /* NULL: none */
    struct energy_model model;
    struct energy host;
    double modelled_from_j; /* host joules at the moment from which the model counts */
    int64_t model_us, now_us;
    double opened_cpu_s, model_cpu_s, cpu_s;
    struct power_log outlet; /* the last reading */
    double outlet_j;         /* NaN before the second */
    struct str explained;
};

/* Of all processors since boot; idle and waiting for I/O are not busy. NaN if not told. */
static double busy_cpu_s(const char *proc)
{
    autofree(mem) char *path = xasprintf("%s/stat", proc);
    autorelease(str) struct str text = STR_INIT;
    double user, nice, system, irq = 0, softirq = 0, steal = 0;

    if (fs_read(path, 16 << 20, &text, NULL) < 0 ||
        sscanf(text.s, "cpu %lf %lf %lf %*f %*f %lf %lf %lf", &user, &nice, &system, &irq, &softirq,
               &steal) < 3)
        return NAN;
    return (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

static void open_sources(struct energy_meter *meter, const struct energy_meter_options *options)
{
    struct err err = ERR_INIT;
    const char *powercap = options->powercap ? options->powercap : "/sys/class/powercap";

    if (rapl_open(powercap, &meter->rapl, &err) == 0)
        str_addf(&meter->explained, "processors measured by RAPL (domains: %zu)",
                 meter->rapl->domains.len);
    else
        str_addf(&meter->explained, "processors estimated: %.3g W idle, %.3g J per CPU second (%s)",
                 meter->model.idle_watts, meter->model.joules_per_cpu_s, err_text(&err));
    err_release(&err);
    if (gpu_meter_open(options->nvml, &meter->gpu, &err) == 0)
        str_addf(&meter->explained, "; devices measured by NVML: %zu", gpu_meter_count(meter->gpu));
    err_release(&err);
}

struct energy_meter *energy_meter_new(const struct energy_meter_options *options, int64_t now_us)
{
    struct energy_meter *meter = xcalloc(1, sizeof(*meter));

    meter->proc = xstrdup(options->proc ? options->proc : "/proc");
    meter->model = options->model;
    meter->explained = (struct str)STR_INIT;
    meter->outlet_j = NAN;
    open_sources(meter, options);
    meter->model_us = meter->now_us = now_us;
    meter->opened_cpu_s = meter->model_cpu_s = meter->cpu_s = busy_cpu_s(meter->proc);
    meter->host = (struct energy){0, meter->rapl != NULL, false, meter->rapl ? "rapl" : "model"};
    if (meter->gpu)
        gpu_meter_read(meter->gpu, now_us);
    return meter;
}

void energy_meter_free(struct energy_meter *meter)
{
    if (!meter)
        return;
    rapl_free(meter->rapl);
    gpu_meter_free(meter->gpu);
    power_log_release(&meter->outlet);
    str_release(&meter->explained);
    free(meter->proc);
    free(meter);
}

/* The moment is the one of the last good reading: what came after it is the model's. */
static void lose_rapl(struct energy_meter *meter, const struct err *err)
{
    rapl_free(TAKE(meter->rapl));
    meter->modelled_from_j = meter->host.joules;
    meter->model_us = meter->now_us;
    meter->model_cpu_s = meter->cpu_s;
    meter->host.measured = false;
    meter->host.source = "rapl, then model";
    str_addf(&meter->explained, "; estimated since it was lost (%s)", err_text(err));
}

static void read_rapl(struct energy_meter *meter)
{
    struct err err = ERR_INIT;

    if (rapl_read(meter->rapl, &err) < 0)
        lose_rapl(meter, &err);
    else
        meter->host.joules = rapl_energy(meter->rapl).joules;
    err_release(&err);
}

/* Without CPU seconds there is no estimate: unknown while they cannot be read. */
static void read_model(struct energy_meter *meter)
{
    double seconds = (double)(meter->now_us - meter->model_us) / 1e6;
    double cpu_s = meter->cpu_s - meter->model_cpu_s;
    struct energy step = energy_model_predict(&meter->model, seconds, cpu_s, 1);

    meter->host.joules = meter->modelled_from_j + step.joules;
}

void energy_meter_read(struct energy_meter *meter, int64_t now_us)
{
    if (meter->rapl)
        read_rapl(meter);
    meter->now_us = MAX(meter->now_us, now_us);
    meter->cpu_s = busy_cpu_s(meter->proc);
    if (!meter->rapl)
        read_model(meter);
    if (meter->gpu)
        gpu_meter_read(meter->gpu, now_us);
}

int energy_meter_watts(struct energy_meter *meter, int64_t at_us, double watts)
{
    const struct power_log *log = &meter->outlet;
    int r = power_log_add(&meter->outlet, at_us, watts);

    if (r < 0 || log->samples.len < 2)
        return r;
    meter->outlet_j = isnan(meter->outlet_j) ? 0 : meter->outlet_j;
    meter->outlet_j += power_log_joules(log, log->samples.at[0].at_us, at_us);
    power_log_trim(&meter->outlet, at_us);
    return 0;
}

double energy_meter_interval_s(const struct energy_meter *meter)
{
    double rapl_s = meter->rapl ? rapl_interval_s(meter->rapl, PACKAGE_WATTS) : HUGE_VAL;

    return MIN(rapl_s, MAX_INTERVAL_S);
}

struct energy energy_meter_host(const struct energy_meter *meter)
{
    return meter->host;
}

struct energy energy_meter_gpu(const struct energy_meter *meter, const char *id)
{
    struct energy unknown = ENERGY_UNKNOWN;

    for (size_t i = 0; meter->gpu && i < gpu_meter_count(meter->gpu); i++)
        if (str_eq(gpu_meter_id(meter->gpu, i), id))
            return gpu_meter_energy(meter->gpu, i);
    return unknown;
}

const struct gpu_meter *energy_meter_gpus(const struct energy_meter *meter)
{
    return meter->gpu;
}

struct energy energy_meter_outlet(const struct energy_meter *meter)
{
    return (struct energy){meter->outlet_j, true, false, "pdu"};
}

double energy_meter_cpu_s(const struct energy_meter *meter)
{
    return meter->cpu_s - meter->opened_cpu_s;
}

const char *energy_meter_explain(const struct energy_meter *meter)
{
    return meter->explained.s;
}
