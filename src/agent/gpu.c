/* SPDX-License-Identifier: MIT */
/*
 * gpu.c — the devices that trials may get, asked of NVIDIA's management library.
 *
 * The library is opened when it is there and closed again: Hone links to nothing of it. Devices are
 * named by UUID, which means the same to every program and driver; by index where there is none. A
 * CUDA_VISIBLE_DEVICES that somebody (a batch system) has set is law: what it hides stays hidden.
 */
#include "agent/internal.h"

#include <dlfcn.h>

#define UUID_SIZE 96

/* The part of nvml.h that is used here; 0 is success everywhere. */
struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *ret);
    int (*device)(unsigned index, void **ret);
    int (*uuid)(void *device, char *ret, unsigned size);
};

static bool nvml_open(struct nvml *nvml)
{
    const char *path = getenv("HONE_NVML");

    nvml->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return false;
    *(void **)&nvml->init = dlsym(nvml->library, "nvmlInit_v2");
    *(void **)&nvml->shutdown = dlsym(nvml->library, "nvmlShutdown");
    *(void **)&nvml->count = dlsym(nvml->library, "nvmlDeviceGetCount_v2");
    *(void **)&nvml->device = dlsym(nvml->library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&nvml->uuid = dlsym(nvml->library, "nvmlDeviceGetUUID");
    if (nvml->init && nvml->shutdown && nvml->count && nvml->device && nvml->init() == 0)
        return true;
    dlclose(nvml->library);
    return false;
}

static void nvml_close(struct nvml *nvml)
{
    nvml->shutdown();
    dlclose(nvml->library);
}

/* "GPU-5a1b…", or "3" where the device has no UUID. NULL if it cannot be used at all. */
static char *device_name(const struct nvml *nvml, unsigned index)
{
    void *device = NULL;
    char uuid[UUID_SIZE] = "";

    if (nvml->device(index, &device) != 0)
        return NULL;
    if (!nvml->uuid || nvml->uuid(device, uuid, sizeof(uuid) - 1) != 0 || !uuid[0])
        return xasprintf("%u", index);
    return xstrdup(uuid);
}

/* The device that an entry of CUDA_VISIBLE_DEVICES means: an index, or the beginning of a UUID.
 * -1: none. */
static int find_device(const char *entry, char *const *names, int n)
{
    char *end;
    long index = strtol(entry, &end, 10);

    if (end != entry && *end == '\0')
        return index >= 0 && index < n && names[index] ? (int)index : -1;
    for (int i = 0; i < n; i++)
        if (names[i] && *entry && str_starts(names[i], entry))
            return i;
    return -1;
}

static bool have(const struct machine *machine, const char *name)
{
    for (int i = 0; i < machine->n_gpus; i++)
        if (str_eq(machine->gpu_ids[i], name))
            return true;
    return false;
}

static void add(struct machine *machine, const char *name)
{
    if (machine->n_gpus < MACHINE_GPUS && !have(machine, name))
        machine->gpu_ids[machine->n_gpus++] = xstrdup(name);
}

/* As CUDA does: in the order of the list, up to the first entry that means nothing. Parts of a
 * device (MIG-…) are passed on by their own name. */
static void add_visible(struct machine *machine, const char *list, char *const *names, int n)
{
    autofree(mem) char *copy = xstrdup(list);

    for (char *rest = copy, *entry; (entry = strsep(&rest, ","));) {
        entry += strspn(entry, " ");
        if (str_starts(entry, "MIG-")) {
            add(machine, entry);
            continue;
        }
        int i = find_device(entry, names, n);
        if (i < 0)
            return;
        add(machine, names[i]);
    }
}

void gpu_probe(struct machine *ret)
{
    struct nvml nvml = {0};
    unsigned count = 0;
    char *names[MACHINE_GPUS] = {NULL};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    if (!nvml_open(&nvml))
        return;
    if (nvml.count(&count) != 0)
        count = 0;
    count = MIN(count, MACHINE_GPUS);
    for (unsigned i = 0; i < count; i++)
        names[i] = device_name(&nvml, i);
    if (visible)
        add_visible(ret, visible, names, (int)count);
    for (unsigned i = 0; i < count; i++) {
        if (!visible && names[i])
            add(ret, names[i]);
        free(names[i]);
    }
    nvml_close(&nvml);
}
