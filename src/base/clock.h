/* SPDX-License-Identifier: MIT */
/*
 * clock.h — time. Inside it is µs since 1970 UTC (wall) or since boot (mono, suspend counted);
 * outside it is RFC 3339 UTC. Durations and limits use mono, so a jumping clock harms nothing.
 */
#ifndef HONE_CLOCK_H
#define HONE_CLOCK_H

#include "base/str.h"

#define US_PER_S 1000000LL

int64_t clock_wall_us(void);
int64_t clock_mono_us(void); /* CLOCK_BOOTTIME */

/* "2026-11-15T23:15:02.123456Z" */
void str_add_time(struct str *str, int64_t wall_us);
/* The same; nine digits where it takes them: "2026-11-15T23:15:02.123456789Z". */
void str_add_time_ns(struct str *str, int64_t wall_ns);
/* RFC 3339 → µs. 0 or -EINVAL. */
int time_parse(const char *text, int64_t *ret_wall_us);
/* For people: "850ms", "4.2s", "3m12s", "2h05m", "3d04h". */
void str_add_duration(struct str *str, int64_t us);

#endif
