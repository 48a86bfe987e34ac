/* SPDX-License-Identifier: MIT */
/*
 * cpus.h — a set of processors by the kernel's numbers, written the kernel's way: "0-3,8". Zero is
 * the empty set. Pure.
 */
#ifndef HONE_CPUS_H
#define HONE_CPUS_H

#include "base/str.h"

#define CPUS_MAX 4096
struct cpus {
    uint64_t bits[CPUS_MAX / 64];
};

/* "0-3,8"; spaces and a line end around it do no harm, "" is the empty set. 0, -EINVAL, or -ERANGE
 * for a number from CPUS_MAX on. */
int cpus_parse(const char *text, struct cpus *ret);
void cpus_format(const struct cpus *cpus, struct str *to);

size_t cpus_count(const struct cpus *cpus);
bool cpus_has(const struct cpus *cpus, size_t cpu);
void cpus_add(struct cpus *cpus, size_t cpu);
/* Keep what is in the other too; take in what is in the other. */
void cpus_intersect(struct cpus *cpus, const struct cpus *with);
void cpus_unite(struct cpus *cpus, const struct cpus *with);
bool cpus_equal(const struct cpus *a, const struct cpus *b);

#endif
