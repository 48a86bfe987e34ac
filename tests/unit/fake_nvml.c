/* SPDX-License-Identifier: MIT */
/*
 * fake_nvml.c — NVIDIA's management library for machines without a device, as a shared object that
 * HONE_NVML names. FAKE_NVML lists the devices by UUID: "GPU-a,GPU-b". A device called "-" has no
 * UUID, one called "!" is broken. Without it there are four. Device i is busy for 10·(i + 1)
 * percent of the time, has used i + 1 GiB and 40 + i °C; the one without a UUID tells nothing of
 * that.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS      0
#define BAD_ARGUMENT 2
#define UNSUPPORTED  3

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size);
int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2]);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret_total_free_used[3]);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret);

static const char *devices(void)
{
    const char *list = getenv("FAKE_NVML");
    return list ? list : "GPU-a,GPU-b,GPU-c,GPU-d";
}

/* The entry's text and length; NULL past the last. */
static const char *entry(unsigned index, size_t *ret_n)
{
    const char *p = devices();
    for (; index > 0 && p; index--) {
        p = strchr(p, ',');
        p = p ? p + 1 : NULL;
    }
    *ret_n = p ? strcspn(p, ",") : 0;
    return p && *p ? p : NULL;
}

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *ret)
{
    size_t n;
    for (*ret = 0; entry(*ret, &n); (*ret)++)
        ;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    size_t n;
    const char *text = entry(index, &n);
    if (!text)
        return BAD_ARGUMENT;
    *ret = (void *)(uintptr_t)(index + 1);
    return *text == '!' ? UNSUPPORTED : SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
    size_t n;
    const char *text = entry((unsigned)(uintptr_t)device - 1, &n);
    if (!text || n + 1 > size)
        return BAD_ARGUMENT;
    if (*text == '-')
        return UNSUPPORTED;
    memcpy(ret, text, n);
    ret[n] = '\0';
    return SUCCESS;
}

/* From 1 on; 0: it does not tell. */
static unsigned number_of(void *device)
{
    unsigned number = (unsigned)(uintptr_t)device;
    size_t n;
    const char *text = entry(number - 1, &n);

    return text && *text != '-' ? number : 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2])
{
    ret[0] = 10 * number_of(device);
    ret[1] = 1;
    return ret[0] ? SUCCESS : UNSUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret_total_free_used[3])
{
    unsigned long long used = (unsigned long long)number_of(device) << 30;

    ret_total_free_used[0] = 80ULL << 30;
    ret_total_free_used[1] = (80ULL << 30) - used;
    ret_total_free_used[2] = used;
    return used ? SUCCESS : UNSUPPORTED;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret)
{
    *ret = 39 + number_of(device);
    return sensor == 0 && *ret > 39 ? SUCCESS : UNSUPPORTED;
}
