/* SPDX-License-Identifier: MIT */
/*
 * energy_rapl.c — the processors' own energy counters, as the kernel shows them under powercap.
 *
 *     intel-rapl:0        package-0    counted
 *     intel-rapl:0:0      core         inside the package
 *     intel-rapl:0:1      dram         counted: memory is beside the package
 *     intel-rapl:1        psys         the whole board, told apart
 *     intel-rapl-mmio:0   package-0    the same counter by another way: not looked at
 *
 * AMD's processors use the same names. A counter begins again at 0 when it reaches its range, every
 * 20 to 60 minutes under load: a value below the last one means one wrap. Since 2020 only root may
 * read them (CVE-2020-8694). Invariant: total_uj of a domain is the sum of the steps between its
 * readings; a step that was not seen whole makes the sums incomplete instead of wrong.
 */
#include "agent/energy.h"

#include "base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>

#define ZONE_PREFIX "intel-rapl:"
#define MAX_DOMAINS 1024

static int read_number(const char *path, uint64_t *ret)
{
    autorelease(str) struct str text = STR_INIT;
    char *end;
    int r = fs_read(path, 4096, &text, NULL);

    if (r < 0)
        return r;
    errno = 0;
    unsigned long long x = strtoull(text.s, &end, 10);
    if (errno || !isdigit((unsigned char)text.s[0]) || (*end != '\0' && *end != '\n'))
        return -EIO;
    *ret = x;
    return 0;
}

static char *read_name(const char *dir)
{
    autofree(mem) char *path = xasprintf("%s/name", dir);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, 4096, &text, NULL) < 0)
        return xstrdup("");
    str_cut(&text, strcspn(text.s, "\n"));
    return str_take(&text);
}

static enum rapl_kind kind_of(const char *name)
{
    if (str_starts(name, "package"))
        return RAPL_PACKAGE;
    if (str_eq(name, "dram"))
        return RAPL_DRAM;
    return str_eq(name, "psys") ? RAPL_PSYS : RAPL_PART;
}

static bool counted(const struct rapl_domain *domain)
{
    return domain->kind == RAPL_PACKAGE || domain->kind == RAPL_DRAM;
}

static bool have(const struct rapl *rapl, const char *zone)
{
    vec_foreach (domain, &rapl->domains)
        if (str_eq(domain->zone, zone))
            return true;
    return false;
}

static void add_domain(struct rapl *rapl, const char *dir, const char *zone)
{
    autofree(mem) char *range = xasprintf("%s/max_energy_range_uj", dir);
    struct rapl_domain domain = {.zone = xstrdup(zone), .name = read_name(dir)};

    domain.kind = kind_of(domain.name);
    domain.path = xasprintf("%s/energy_uj", dir);
    if (read_number(range, &domain.range_uj) < 0)
        domain.range_uj = 0;
    vec_push(&rapl->domains, domain);
}

/* The class lists every zone; a bare device tree has those of a package inside it. */
static void find_domains(struct rapl *rapl, const char *dir, int depth)
{
    DIR *folder = opendir(dir);

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!str_starts(entry->d_name, ZONE_PREFIX) || rapl->domains.len >= MAX_DOMAINS)
            continue;
        autofree(mem) char *path = xasprintf("%s/%s", dir, entry->d_name);
        autofree(mem) char *energy = xasprintf("%s/energy_uj", path);
        if (!have(rapl, entry->d_name) && fs_exists(energy))
            add_domain(rapl, path, entry->d_name);
        if (depth < 2)
            find_domains(rapl, path, depth + 1);
    }
    if (folder)
        closedir(folder);
}

static int by_zone(const void *a, const void *b)
{
    return strverscmp(((const struct rapl_domain *)a)->zone, ((const struct rapl_domain *)b)->zone);
}

/* The first reading. All that is counted must be readable; other domains may be missing. */
static int begin(struct rapl *rapl, const char *root, struct err *err)
{
    bool any = false;

    vec_foreach (domain, &rapl->domains) {
        int r = read_number(domain->path, &domain->last_uj);
        domain->missing = r < 0;
        if (r < 0 && counted(domain) && (r == -EACCES || r == -EPERM))
            return err_set(err, EACCES,
                           "energy: %s may be read by root only; as root: chmod a+r "
                           "%s/" ZONE_PREFIX "*/energy_uj (until the next boot), or a udev rule "
                           "that does it; otherwise energy is estimated",
                           domain->path, root);
        if (r < 0 && counted(domain))
            return err_errno(err, -r, "energy: cannot read %s", domain->path);
        any = any || counted(domain);
    }
    if (!any)
        return err_set(err, ENOENT, "energy: no RAPL package below %s", root);
    return 0;
}

int rapl_open(const char *root, struct rapl **ret, struct err *err)
{
    autofree(rapl) struct rapl *rapl = xcalloc(1, sizeof(*rapl));
    int r;

    find_domains(rapl, root, 1);
    if (rapl->domains.len)
        qsort(rapl->domains.at, rapl->domains.len, sizeof(*rapl->domains.at), by_zone);
    r = begin(rapl, root, err);
    if (r < 0)
        return r;
    rapl->complete = true;
    *ret = TAKE(rapl);
    return 0;
}

void rapl_free(struct rapl *rapl)
{
    if (!rapl)
        return;
    vec_foreach (domain, &rapl->domains) {
        free(domain->zone);
        free(domain->name);
        free(domain->path);
    }
    vec_release(&rapl->domains);
    free(rapl);
}

/* The step from the last reading. -EIO if it was not seen whole; the next one is again. */
static int advance(struct rapl_domain *domain)
{
    uint64_t now;
    bool was_missing = domain->missing;
    int r = read_number(domain->path, &now);

    domain->missing = r < 0;
    if (r < 0)
        return -EIO;
    uint64_t last = domain->last_uj;
    domain->last_uj = now;
    if (was_missing || (now < last && domain->range_uj < last))
        return -EIO;
    domain->total_uj += now >= last ? now - last : domain->range_uj - last + now;
    return 0;
}

int rapl_read(struct rapl *rapl, struct err *err)
{
    const struct rapl_domain *lost = NULL;

    vec_foreach (domain, &rapl->domains) {
        if (advance(domain) == 0 || !counted(domain))
            continue;
        rapl->complete = false;
        lost = lost ? lost : domain;
    }
    if (lost)
        return err_set(err, EIO, "energy: lost track of %s (%s): its figures end here", lost->zone,
                       lost->name);
    return 0;
}

uint64_t rapl_total_uj(const struct rapl *rapl)
{
    uint64_t total = 0;

    vec_foreach (domain, &rapl->domains)
        if (counted(domain))
            total += domain->total_uj;
    return total;
}

uint64_t rapl_psys_uj(const struct rapl *rapl)
{
    uint64_t total = 0;

    vec_foreach (domain, &rapl->domains)
        if (domain->kind == RAPL_PSYS)
            total += domain->total_uj;
    return total;
}

bool rapl_has_psys(const struct rapl *rapl)
{
    vec_foreach (domain, &rapl->domains)
        if (domain->kind == RAPL_PSYS && !domain->missing)
            return true;
    return false;
}

struct energy rapl_energy(const struct rapl *rapl)
{
    double joules = rapl->complete ? (double)rapl_total_uj(rapl) / 1e6 : NAN;

    return (struct energy){joules, true, false, "rapl"};
}

double rapl_interval_s(const struct rapl *rapl, double watts)
{
    double least = HUGE_VAL;

    vec_foreach (domain, &rapl->domains)
        if (counted(domain) && domain->range_uj > 0)
            least = MIN(least, (double)domain->range_uj / 1e6);
    return watts > 0 ? least / (2 * watts) : HUGE_VAL;
}
