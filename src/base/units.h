/* SPDX-License-Identifier: MIT */
/*
 * units.h — durations, sizes, percentages and times of day, the way people write them. What is
 * formatted here reads back as exactly the same number.
 */
#ifndef HONE_UNITS_H
#define HONE_UNITS_H

#include "base/str.h"

/* "90", "90s", "1.5h", "2h30m", "10 min", "3d", "250ms"; a bare number is seconds. Units: us, ms,
 * s sec, m min, h hour, d day, w week, and their plurals. 0 or -EINVAL, -ERANGE. */
int duration_parse(const char *text, int64_t *ret_us);
void duration_format(int64_t us, struct str *to); /* "2h30m", "250ms", "0s" */

/* "2G", "2GiB", "512 MB", "1.5g", "4096": K, M, G, T are powers of 1024 with or without B, iB. */
int size_parse(const char *text, uint64_t *ret_bytes);
void size_format(uint64_t bytes, struct str *to); /* "2G", "1536M", "1000" */

/* "2%" is 0.02; without the sign a plain number. nan is refused, inf too. */
int percent_parse(const char *text, double *ret);

/* A moment: "18:00" is the next such local time after `now_us`; "2026-11-20 18:00" local;
 * "2026-11-20T18:00:00Z" RFC 3339. Wall µs. */
int moment_parse(const char *text, int64_t now_us, int64_t *ret_wall_us);

#endif
