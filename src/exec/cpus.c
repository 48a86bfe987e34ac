/* SPDX-License-Identifier: MIT */
/*
 * cpus.c — sets of processors: a bit each, in the order in which sched_setaffinity wants them.
 */
#include "exec/cpus.h"

#include <ctype.h>
#include <errno.h>

bool cpus_has(const struct cpus *cpus, size_t cpu)
{
    return cpu < CPUS_MAX && (cpus->bits[cpu / 64] >> (cpu % 64) & 1);
}

void cpus_add(struct cpus *cpus, size_t cpu)
{
    if (cpu < CPUS_MAX)
        cpus->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

size_t cpus_count(const struct cpus *cpus)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(cpus->bits); i++)
        n += (size_t)__builtin_popcountll(cpus->bits[i]);
    return n;
}

void cpus_intersect(struct cpus *cpus, const struct cpus *with)
{
    for (size_t i = 0; i < ARRAY_LEN(cpus->bits); i++)
        cpus->bits[i] &= with->bits[i];
}

void cpus_unite(struct cpus *cpus, const struct cpus *with)
{
    for (size_t i = 0; i < ARRAY_LEN(cpus->bits); i++)
        cpus->bits[i] |= with->bits[i];
}

bool cpus_equal(const struct cpus *a, const struct cpus *b)
{
    return memcmp(a->bits, b->bits, sizeof(a->bits)) == 0;
}

/* A number at *at, which moves behind it. */
static int number_parse(const char **at, size_t *ret)
{
    size_t n = 0;

    if (!isdigit((unsigned char)**at))
        return -EINVAL;
    for (; isdigit((unsigned char)**at); (*at)++) {
        n = n * 10 + (size_t)(**at - '0');
        if (n >= CPUS_MAX)
            return -ERANGE;
    }
    *ret = n;
    return 0;
}

static int range_parse(const char **at, struct cpus *to)
{
    size_t first, last;
    int r = number_parse(at, &first);

    if (r < 0)
        return r;
    last = first;
    if (**at == '-') {
        (*at)++;
        r = number_parse(at, &last);
    }
    if (r < 0 || last < first)
        return r < 0 ? r : -EINVAL;
    for (size_t cpu = first; cpu <= last; cpu++)
        cpus_add(to, cpu);
    return 0;
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

int cpus_parse(const char *text, struct cpus *ret)
{
    const char *at = skip_space(text);
    struct cpus cpus = {0};

    for (bool more = *at != '\0'; more;) {
        int r = range_parse(&at, &cpus);
        if (r < 0)
            return r;
        more = *at == ',';
        at += more;
    }
    if (*skip_space(at))
        return -EINVAL;
    *ret = cpus;
    return 0;
}

void cpus_format(const struct cpus *cpus, struct str *to)
{
    const char *comma = "";

    for (size_t first = 0; first < CPUS_MAX; first++) {
        size_t last = first;
        if (!cpus_has(cpus, first))
            continue;
        while (cpus_has(cpus, last + 1))
            last++;
        str_addf(to, "%s%zu", comma, first);
        if (last > first)
            str_addf(to, "-%zu", last);
        comma = ",";
        first = last;
    }
}
