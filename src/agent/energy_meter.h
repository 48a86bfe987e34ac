/* SPDX-License-Identifier: MIT */
/*
 * energy_meter.h — this machine's energy from the best source it has: what agents use.
 *
 *     host     processors and memory: RAPL, else the model from the machine's busy CPU seconds
 *     gpu      each device alone, by its id
 *     outlet   a power meter's watts, when somebody fetches them; host and gpus are in it
 *
 * All count from the opening. A trial's part of a window is
 *     energy_share(energy_since(host, host_before), its CPU seconds, the machine's CPU seconds)
 * plus energy_since() of its own devices.
 */
#ifndef HONE_AGENT_ENERGY_METER_H
#define HONE_AGENT_ENERGY_METER_H

#include "agent/energy.h"

struct energy_meter_options {
    const char *powercap;      /* NULL: "/sys/class/powercap" */
    const char *proc;          /* NULL: "/proc" */
    const char *nvml;          /* NULL: $HONE_NVML or libnvidia-ml.so.1 */
    struct energy_model model; /* for a machine without RAPL; energy_model_default() */
};

struct energy_meter;

/* Always succeeds: there is always the model. Texts are copied. now_us: monotonic. */
struct energy_meter *energy_meter_new(const struct energy_meter_options *options, int64_t now_us);
void energy_meter_free(struct energy_meter *meter);
DEFINE_AUTOFREE(energy_meter);
/* Look at all sources. Should be called at least every energy_meter_interval_s(). */
void energy_meter_read(struct energy_meter *meter, int64_t now_us);
/* A power meter's reading; a wrong or late one is left out (-EINVAL). */
int energy_meter_watts(struct energy_meter *meter, int64_t at_us, double watts);
/* Longest time between two reads: RAPL wraps at most once in it at 1 kW a package; never above
 * 60 s. */
double energy_meter_interval_s(const struct energy_meter *meter);

/* As of the last read. When RAPL goes away, host goes on with the model and is estimated from there
 * on: it never falls. */
struct energy energy_meter_host(const struct energy_meter *meter);
/* Unknown if there is no such device. */
struct energy energy_meter_gpu(const struct energy_meter *meter, const char *id);
/* The devices, for what else they tell; NULL if there is none. Lives as long as the meter. */
const struct gpu_meter *energy_meter_gpus(const struct energy_meter *meter);
/* From the first to the last reading of the power meter; unknown before the second. */
struct energy energy_meter_outlet(const struct energy_meter *meter);
/* CPU seconds of all processors since the opening, as of the last read; NaN if not told. */
double energy_meter_cpu_s(const struct energy_meter *meter);
/* One sentence for hone doctor: what is measured, and why not more. */
const char *energy_meter_explain(const struct energy_meter *meter);

#endif
