/* SPDX-License-Identifier: MIT */
/*
 * fake_nvml.c — NVIDIA's management library for machines without a device, as a shared object that
 * HONE_NVML names. FAKE_NVML lists the devices by UUID: "GPU-a,GPU-b". A device called "-" has no
 * UUID, one called "!" is broken. Without it there are four.
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
