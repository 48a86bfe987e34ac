/* SPDX-License-Identifier: MIT */
/*
 * figures_devices.c — what goes to and from disks and networks, by /proc/diskstats and
 * /proc/net/dev.
 *
 * Disks are whole ones that hold something of their own: partitions are in their disk, loop, ram
 * and zram are memory or files, and mapped ones (dm-) lie on others: told only if asked for. Of the
 * interfaces the one to oneself is left out, and so is a device that never moved a byte. Devices
 * come and go (a container's interfaces by the hundred): one that is no longer listed is forgotten.
 */
#include "agent/figures_parts.h"

#include "base/fs.h"

#include <math.h>
#include <unistd.h>

#define MAX_DEVICES  256
#define SECTOR_BYTES 512 /* of diskstats, whatever the disk's own are */

enum { DISK_READ, DISK_WRITTEN, DISK_BUSY };
enum { NETWORK_IN, NETWORK_OUT };

void devices_open(struct device_figures *devices, const struct figures_options *options)
{
    devices->disks = kept_open(options->proc, "diskstats");
    devices->networks = kept_open(options->proc, "net/dev");
    devices->block = xasprintf("%s/block", options->sys);
    devices->mapped = options->mapped;
}

static void device_release(struct device *device)
{
    free(device->name);
    for (size_t i = 0; i < DEVICE_FIGURES; i++)
        free(device->names[i]);
}

void devices_close(struct device_figures *devices)
{
    fd_autoclose(&devices->disks);
    fd_autoclose(&devices->networks);
    vec_foreach (device, &devices->disk)
        device_release(device);
    vec_foreach (device, &devices->network)
        device_release(device);
    vec_release(&devices->disk);
    vec_release(&devices->network);
    free(devices->block);
}

/* ---- the set of devices ---- */

struct device_set {
    struct device *at;
    size_t len;
};

/* They are listed in the same order again and again: look first where it was. */
static struct device *find(const struct device_set *set, size_t guess, const char *name, size_t n)
{
    for (size_t i = 0; i < set->len; i++) {
        struct device *device = &set->at[(guess + i) % set->len];
        if (strncmp(device->name, name, n) == 0 && device->name[n] == '\0')
            return device;
    }
    return NULL;
}

/* A new one: its sums begin here. */
static struct device device_new(const char *name, size_t n, bool told)
{
    struct device device = {.name = xstrndup(name, n), .told = told};

    for (size_t i = 0; i < DEVICE_FIGURES; i++)
        device.last[i] = NAN;
    return device;
}

static void name_figures(struct device *device, const char *kind, const char *const *figures,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        device->names[i] = xasprintf("system/%s.%s.%s", kind, device->name, figures[i]);
}

/* Those that this look did not see. */
static size_t sweep(struct device *at, size_t len)
{
    size_t kept = 0;

    for (size_t i = 0; i < len; i++) {
        if (!at[i].seen) {
            device_release(&at[i]);
            continue;
        }
        at[i].seen = false;
        at[kept++] = at[i];
    }
    return kept;
}

/* ---- disks ---- */

static bool is_disk(const struct device_figures *devices, const char *name, size_t n)
{
    static const char *const others[] = {"loop", "ram", "zram"};
    autofree(mem) char *folder = xstrndup(name, n);

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_starts(name, others[i]))
            return false;
    if (str_starts(name, "dm-") && !devices->mapped)
        return false;
    for (char *slash = folder; (slash = strchr(slash, '/'));)
        *slash = '!'; /* as the kernel does in names of folders */
    autofree(mem) char *path = xasprintf("%s/%s", devices->block, folder);
    return fs_exists(path);
}

static struct device *disk_at(struct device_figures *devices, size_t guess, const char *name,
                              size_t n)
{
    static const char *const figures[] = {"read_bytes", "written_bytes", "busy"};
    struct device_set set = {devices->disk.at, devices->disk.len};
    struct device *device = find(&set, guess, name, n);

    if (device || devices->disk.len >= MAX_DEVICES)
        return device;
    struct device made = device_new(name, n, is_disk(devices, name, n));
    if (made.told)
        name_figures(&made, "disk", figures, ARRAY_LEN(figures));
    vec_push(&devices->disk, made);
    return vec_last(&devices->disk);
}

static void tell_disk(struct device *disk, const double *now, struct figure_list *list)
{
    double busy_ms = now[DISK_BUSY] - disk->last[DISK_BUSY];

    if (now[DISK_READ] > 0 || now[DISK_WRITTEN] > 0) {
        figure_add_rate(list, disk->names[DISK_READ], disk->last[DISK_READ], now[DISK_READ]);
        figure_add_rate(list, disk->names[DISK_WRITTEN], disk->last[DISK_WRITTEN],
                        now[DISK_WRITTEN]);
        figure_add_share(list, disk->names[DISK_BUSY], busy_ms, list->seconds * 1e3);
    }
    memcpy(disk->last, now, sizeof(disk->last));
}

/* " 254  0 vda reads merged SECTORS ms writes merged SECTORS ms in-flight MS …" */
static void look_at_disk(struct device_figures *devices, size_t guess, const char *at,
                         struct figure_list *list)
{
    double major, minor, x[10];

    if (!scan_number(&at, &major) || !scan_number(&at, &minor))
        return;
    at += strspn(at, " ");
    const char *name = at;
    size_t n = strcspn(name, " \n");
    at += n;
    for (size_t i = 0; i < ARRAY_LEN(x); i++)
        if (!scan_number(&at, &x[i]))
            return;
    struct device *disk = disk_at(devices, guess, name, n);
    if (!disk)
        return;
    disk->seen = true;
    if (disk->told)
        tell_disk(disk, (double[]){x[2] * SECTOR_BYTES, x[6] * SECTOR_BYTES, x[9]}, list);
}

/* ---- networks ---- */

static struct device *network_at(struct device_figures *devices, size_t guess, const char *name,
                                 size_t n)
{
    static const char *const figures[] = {"in_bytes", "out_bytes"};
    struct device_set set = {devices->network.at, devices->network.len};
    struct device *device = find(&set, guess, name, n);

    if (device || devices->network.len >= MAX_DEVICES)
        return device;
    struct device made = device_new(name, n, !(n == 2 && str_starts(name, "lo")));
    if (made.told)
        name_figures(&made, "network", figures, ARRAY_LEN(figures));
    vec_push(&devices->network, made);
    return vec_last(&devices->network);
}

static void tell_network(struct device *network, double in, double out, struct figure_list *list)
{
    if (in > 0 || out > 0) {
        figure_add_rate(list, network->names[NETWORK_IN], network->last[NETWORK_IN], in);
        figure_add_rate(list, network->names[NETWORK_OUT], network->last[NETWORK_OUT], out);
    }
    network->last[NETWORK_IN] = in;
    network->last[NETWORK_OUT] = out;
}

/* "  eth0: BYTES packets errs drop fifo frame compressed multicast BYTES …"; the two lines of
 * headings have no number there. */
static void look_at_network(struct device_figures *devices, size_t guess, const char *at,
                            struct figure_list *list)
{
    double x[9];

    at += strspn(at, " ");
    const char *name = at;
    size_t n = strcspn(name, ":\n");
    if (n == 0 || name[n] != ':')
        return;
    at += n + 1;
    for (size_t i = 0; i < ARRAY_LEN(x); i++)
        if (!scan_number(&at, &x[i]))
            return;
    struct device *network = network_at(devices, guess, name, n);
    if (!network)
        return;
    network->seen = true;
    if (network->told)
        tell_network(network, x[0], x[8], list);
}

void devices_look(struct device_figures *devices, struct page *page, struct figure_list *list)
{
    const char *at = kept_read(devices->disks, page);
    size_t line = 0;

    if (at) {
        do
            look_at_disk(devices, line++, at, list);
        while (scan_line(&at));
    }
    devices->disk.len = sweep(devices->disk.at, devices->disk.len);
    at = kept_read(devices->networks, page);
    line = 0;
    if (at) {
        do
            look_at_network(devices, line++, at, list);
        while (scan_line(&at));
    }
    devices->network.len = sweep(devices->network.at, devices->network.len);
}
