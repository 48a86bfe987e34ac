/* SPDX-License-Identifier: MIT */
/*
 * v1_queue.h — how busy the cpus are: the difference of two looks at /proc/stat. Pure but for the
 * text, which the caller reads.
 */
#ifndef HONE_V1_QUEUE_H
#define HONE_V1_QUEUE_H

#include "base/json.h"

struct loads;
struct loads *loads_new(void);
void loads_free(struct loads *loads);
/* `stat` is the text of /proc/stat. */
void loads_look(struct loads *loads, const char *stat, int64_t now_us);
/* [0.5, 0.1, null]: by cpu, 0 … 1; null: not known yet. */
void loads_json(const struct loads *loads, struct json_out *out);

#endif
