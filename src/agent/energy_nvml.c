/* SPDX-License-Identifier: MIT */
/*
 * energy_nvml.c — joules of NVIDIA's devices, asked of the driver's own library while it is there.
 *
 * Devices since Volta count millijoules themselves, which is better than adding up power: a reading
 * of power covers only a part of the time (25 % on some devices, arXiv 2312.02741). Older ones give
 * watts, which are joined by lines. A device that once fails to answer has lost energy that nobody
 * saw: its figure is unknown from then on, not too small.
 */
#include "agent/energy.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>

#define UUID_SIZE   96
#define MAX_DEVICES 256
#define CORE_SENSOR 0 /* NVML_TEMPERATURE_GPU */

/* The part of nvml.h that is used here; 0 is success everywhere. */
struct nvml_busy {
    unsigned gpu, memory; /* percent of the time */
};
struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};
struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *ret);
    int (*device)(unsigned index, void **ret);
    int (*uuid)(void *device, char *ret, unsigned size);                /* may be NULL */
    int (*energy_mj)(void *device, unsigned long long *ret_millijoule); /* may be NULL */
    int (*power_mw)(void *device, unsigned *ret_milliwatt);             /* may be NULL */
    int (*busy)(void *device, struct nvml_busy *ret);                   /* may be NULL */
    int (*memory)(void *device, struct nvml_memory *ret);               /* may be NULL */
    int (*celsius)(void *device, int sensor, unsigned *ret);            /* may be NULL */
};

enum way { BY_COUNTER, BY_POWER, BY_NOTHING };

struct gpu {
    void *device;
    char *id;
    enum way way;
    bool lost;
    uint64_t first_mj, last_mj;
    bool sampled; /* at_us and watts are set */
    int64_t at_us;
    double watts;
    double joules; /* BY_POWER */
};

struct gpu_meter {
    struct nvml nvml;
    VEC(struct gpu) gpus;
};

static int open_library(struct nvml *nvml, const char *path, struct err *err)
{
    const char *set = getenv("HONE_NVML");

    if (!path)
        path = set && *set ? set : "libnvidia-ml.so.1";
    nvml->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return err_set(err, ENOENT, "energy: no NVIDIA driver here (%s is not found)", path);
    *(void **)&nvml->init = dlsym(nvml->library, "nvmlInit_v2");
    *(void **)&nvml->shutdown = dlsym(nvml->library, "nvmlShutdown");
    *(void **)&nvml->count = dlsym(nvml->library, "nvmlDeviceGetCount_v2");
    *(void **)&nvml->device = dlsym(nvml->library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&nvml->uuid = dlsym(nvml->library, "nvmlDeviceGetUUID");
    *(void **)&nvml->energy_mj = dlsym(nvml->library, "nvmlDeviceGetTotalEnergyConsumption");
    *(void **)&nvml->power_mw = dlsym(nvml->library, "nvmlDeviceGetPowerUsage");
    *(void **)&nvml->busy = dlsym(nvml->library, "nvmlDeviceGetUtilizationRates");
    *(void **)&nvml->memory = dlsym(nvml->library, "nvmlDeviceGetMemoryInfo");
    *(void **)&nvml->celsius = dlsym(nvml->library, "nvmlDeviceGetTemperature");
    if (nvml->init && nvml->shutdown && nvml->count && nvml->device && nvml->init() == 0)
        return 0;
    dlclose(nvml->library);
    nvml->library = NULL;
    return err_set(err, ENOENT, "energy: %s does not answer as NVIDIA's library does", path);
}

static bool read_counter(const struct nvml *nvml, const struct gpu *gpu, uint64_t *ret)
{
    unsigned long long mj = 0;

    if (!nvml->energy_mj || nvml->energy_mj(gpu->device, &mj) != 0)
        return false;
    *ret = mj;
    return true;
}

static bool read_power(const struct nvml *nvml, const struct gpu *gpu, double *ret)
{
    unsigned mw = 0;

    if (!nvml->power_mw || nvml->power_mw(gpu->device, &mw) != 0)
        return false;
    *ret = mw / 1e3;
    return true;
}

static void add_gpu(struct gpu_meter *meter, unsigned index)
{
    const struct nvml *nvml = &meter->nvml;
    struct gpu gpu = {.way = BY_NOTHING};
    char uuid[UUID_SIZE] = "";

    if (nvml->device(index, &gpu.device) != 0)
        return;
    if (nvml->uuid && nvml->uuid(gpu.device, uuid, sizeof(uuid) - 1) != 0)
        uuid[0] = '\0';
    gpu.id = uuid[0] ? xstrdup(uuid) : xasprintf("%u", index);
    if (read_counter(nvml, &gpu, &gpu.first_mj))
        gpu.way = BY_COUNTER;
    else if (read_power(nvml, &gpu, &gpu.watts))
        gpu.way = BY_POWER;
    gpu.last_mj = gpu.first_mj;
    vec_push(&meter->gpus, gpu);
}

int gpu_meter_open(const char *library, struct gpu_meter **ret, struct err *err)
{
    autofree(gpu_meter) struct gpu_meter *meter = xcalloc(1, sizeof(*meter));
    unsigned count = 0;
    int r = open_library(&meter->nvml, library, err);

    if (r < 0)
        return r;
    if (meter->nvml.count(&count) != 0)
        count = 0;
    for (unsigned i = 0; i < MIN(count, MAX_DEVICES); i++)
        add_gpu(meter, i);
    if (meter->gpus.len == 0)
        return err_set(err, ENOENT, "energy: the NVIDIA driver shows no device");
    *ret = TAKE(meter);
    return 0;
}

void gpu_meter_free(struct gpu_meter *meter)
{
    if (!meter)
        return;
    vec_foreach (gpu, &meter->gpus)
        free(gpu->id);
    vec_release(&meter->gpus);
    if (meter->nvml.library) {
        meter->nvml.shutdown();
        dlclose(meter->nvml.library);
    }
    free(meter);
}

/* The driver's counter starts at 0 when it is loaded again: what fell is lost. */
static void on_counter(const struct nvml *nvml, struct gpu *gpu)
{
    uint64_t mj;

    if (!read_counter(nvml, gpu, &mj) || mj < gpu->last_mj)
        gpu->lost = true;
    else
        gpu->last_mj = mj;
}

static void on_power(const struct nvml *nvml, struct gpu *gpu, int64_t now_us)
{
    double watts;

    if (!read_power(nvml, gpu, &watts)) {
        gpu->lost = true;
        return;
    }
    if (gpu->sampled && now_us <= gpu->at_us)
        return;
    if (gpu->sampled)
        gpu->joules += (gpu->watts + watts) / 2 * ((double)(now_us - gpu->at_us) / 1e6);
    gpu->sampled = true;
    gpu->at_us = now_us;
    gpu->watts = watts;
}

void gpu_meter_read(struct gpu_meter *meter, int64_t now_us)
{
    vec_foreach (gpu, &meter->gpus) {
        if (gpu->lost || gpu->way == BY_NOTHING)
            continue;
        if (gpu->way == BY_COUNTER)
            on_counter(&meter->nvml, gpu);
        else
            on_power(&meter->nvml, gpu, now_us);
    }
}

size_t gpu_meter_count(const struct gpu_meter *meter)
{
    return meter->gpus.len;
}

const char *gpu_meter_id(const struct gpu_meter *meter, size_t i)
{
    return meter->gpus.at[i].id;
}

struct energy gpu_meter_energy(const struct gpu_meter *meter, size_t i)
{
    const struct gpu *gpu = &meter->gpus.at[i];
    struct energy energy = {NAN, true, false, "nvml"};

    if (gpu->lost || gpu->way == BY_NOTHING)
        return energy;
    energy.joules =
        gpu->way == BY_COUNTER ? (double)(gpu->last_mj - gpu->first_mj) / 1e3 : gpu->joules;
    return energy;
}

void gpu_meter_state(const struct gpu_meter *meter, size_t i, struct gpu_state *ret)
{
    const struct nvml *nvml = &meter->nvml;
    const struct gpu *gpu = &meter->gpus.at[i];
    struct nvml_busy busy = {0};
    struct nvml_memory memory = {0};
    unsigned celsius = 0;

    *ret = (struct gpu_state){NAN, NAN, NAN, NAN};
    if (nvml->busy && nvml->busy(gpu->device, &busy) == 0)
        ret->busy_percent = busy.gpu;
    if (nvml->memory && nvml->memory(gpu->device, &memory) == 0)
        ret->memory_bytes = (double)memory.used;
    if (nvml->celsius && nvml->celsius(gpu->device, CORE_SENSOR, &celsius) == 0)
        ret->celsius = celsius;
    read_power(nvml, gpu, &ret->watts);
}
