/* SPDX-License-Identifier: MIT */
/*
 * line_write.h — a sample as a line that METRICS_FILE reads back: same metric, step, microsecond
 * and bits of the value (a NaN is a NaN).
 */
#ifndef HONE_METRICS_LINE_WRITE_H
#define HONE_METRICS_LINE_WRITE_H

#include "base/str.h"
#include "metrics/metrics.h"

/* The name as the line has it: spaces, control characters, a backslash and a '#' in front are '_'.
 */
void line_write_name(struct str *to, const char *name);
/* Append it with its newline. A name that is empty, or longer than 255 bytes, is not written:
 * false. */
bool line_write(struct str *to, const struct sample *sample);

#endif
