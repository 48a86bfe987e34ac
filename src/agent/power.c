/* SPDX-License-Identifier: MIT */
/*
 * power.c — how many joules each attempt took, when it ends.
 *
 *     outlet   if a power meter was read over at least half of its life: the mean power, times its
 *              life, times its part of the machine's CPU time; devices are in it
 *     host     RAPL over its life, times its part of the CPU time; its devices are added
 *     model    else, from its own seconds and CPU seconds; its devices are added
 *
 * The meter is looked at when attempts begin and end, at most ten times a second, and on ticks
 * before its counters wrap. A life too short to be seen by that is estimated, and so is that of an
 * attempt which another agent began: nobody here knows how the meters stood.
 */
#include "agent/local.h"

#include "base/clock.h"
#include <math.h>

#define SHORT_LIFE 10 /* looks at the meter: a tenth of the figure may be its neighbours' */

static void meter_look(struct local *local, int64_t now_us)
{
    if (now_us - local->meter_us < local->pace.meter_us)
        return;
    energy_meter_read(local->meter, now_us);
    local->meter_us = now_us;
}

/* The power meter's first reading in the life of an attempt is where its energy begins. */
static void on_watts(double watts, void *arg)
{
    struct local *local = arg;
    int64_t now_us = clock_mono_us();

    if (energy_meter_watts(local->meter, now_us, watts) < 0)
        return;
    local->outlet_us = now_us;
    double joules = energy_meter_outlet(local->meter).joules;
    vec_foreach (at, &local->watches) {
        struct power_mark *mark = &(*at)->power;
        if (mark->outlet_us)
            continue;
        mark->outlet_us = now_us;
        mark->outlet_j = isnan(joules) ? 0 : joules; /* it counts from the first reading of all */
    }
}

void power_open(struct local *local)
{
    const char *url = getenv("HONE_PDU"), *path = getenv("HONE_PDU_PATH");
    struct energy_meter_options options = {
        .powercap = getenv("HONE_POWERCAP"),
        .model = energy_model_default(local->base.machine.cpus),
    };
    local->meter_us = clock_mono_us();
    local->model = options.model;
    local->meter = energy_meter_new(&options, local->meter_us);
    if (url && *url)
        local->pdu = pdu_new(local->loop, url, path ? path : "", on_watts, local);
}

void power_close(struct local *local)
{
    energy_meter_free(local->meter);
    pdu_free(local->pdu);
}

void power_run(struct local *local, bool run)
{
    if (!local->pdu)
        return;
    run ? pdu_start(local->pdu, local->pace.pdu_us) : pdu_stop(local->pdu);
}

void power_tick(struct local *local, int64_t now_us)
{
    double passed_s = (double)(now_us - local->meter_us) / 1e6;

    /* A tick early rather than late. */
    if (passed_s + 0.5 >= energy_meter_interval_s(local->meter))
        meter_look(local, now_us);
}

/* ---- the beginning ---- */

/* "GPU-5a1b,GPU-77c0" of its environment; "-1" hides all from there on. */
static void mark_gpus(struct watch *watch, char *const *envp)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES=";
    const char *list = NULL;

    for (; envp && *envp; envp++)
        if (str_starts(*envp, name))
            list = *envp + strlen(name);
    autofree(mem) char *copy = xstrdup(list ? list : "");
    for (char *rest = copy, *id; (id = strsep(&rest, ",")) && *id && *id != '-';) {
        struct gpu_mark mark = {xstrdup(id), energy_meter_gpu(watch->local->meter, id)};
        vec_push(&watch->power.gpus, mark);
    }
}

void power_begin(struct watch *watch, char *const *envp)
{
    struct local *local = watch->local;
    struct power_mark *mark = &watch->power;

    mark->at_us = clock_mono_us();
    mark->wall_us = clock_wall_us();
    meter_look(local, mark->at_us);
    mark->host = energy_meter_host(local->meter);
    mark->cpu_s = energy_meter_cpu_s(local->meter);
    mark_gpus(watch, envp);
}

/* ---- the end ---- */

/* It was begun by us, and has just ended. A keeper that came second left the attempt to another. */
static bool seen_whole(const struct watch *watch)
{
    return watch->power.at_us && watch->record.started_wall_us >= watch->power.wall_us;
}

static struct energy outlet_of(const struct watch *watch, int64_t life_us)
{
    const struct local *local = watch->local;
    const struct power_mark *mark = &watch->power;
    struct energy energy = energy_meter_outlet(local->meter);
    int64_t span_us = local->outlet_us - mark->outlet_us;

    if (!mark->outlet_us || span_us <= 0 || 2 * span_us < life_us)
        return (struct energy)ENERGY_UNKNOWN;
    energy.joules = (energy.joules - mark->outlet_j) * (double)life_us / (double)span_us;
    return energy;
}

static struct energy gpus_of(const struct watch *watch, struct energy host)
{
    vec_foreach (gpu, &watch->power.gpus) {
        struct energy now = energy_meter_gpu(watch->local->meter, gpu->id);
        host = energy_add(host, energy_since(now, gpu->before));
    }
    return host;
}

static struct energy model_of(const struct watch *watch, const struct ending *ending)
{
    double all = watch->local->base.machine.cpus;
    double share = all > 0 ? MIN(1.0, watch->cpus / all) : 0;

    return energy_model_predict(&watch->local->model, (double)ending->run_us / 1e6,
                                (double)ending->cpu_us / 1e6, share);
}

struct energy power_of(struct watch *watch, const struct ending *ending)
{
    struct local *local = watch->local;
    const struct power_mark *mark = &watch->power;
    int64_t now_us = clock_mono_us(), life_us = now_us - mark->at_us;

    if (!watch->record.magic || watch->record.cause == CAUSE_SPAWN)
        return (struct energy)ENERGY_UNKNOWN;
    if (!seen_whole(watch))
        return model_of(watch, ending);
    meter_look(local, now_us);
    double cpu_s = (double)ending->cpu_us / 1e6;
    double all_cpu_s = energy_meter_cpu_s(local->meter) - mark->cpu_s;
    struct energy outlet = energy_share(outlet_of(watch, life_us), cpu_s, all_cpu_s);
    if (isfinite(outlet.joules))
        return outlet;
    struct energy host = energy_meter_host(local->meter);
    if (str_eq(host.source, "model") || life_us < SHORT_LIFE * local->pace.meter_us)
        return gpus_of(watch, model_of(watch, ending));
    return gpus_of(watch, energy_share(energy_since(host, mark->host), cpu_s, all_cpu_s));
}

void power_release(struct watch *watch)
{
    vec_foreach (gpu, &watch->power.gpus)
        free(gpu->id);
    vec_release(&watch->power.gpus);
}
