/* SPDX-License-Identifier: MIT */
/*
 * log.h — words for the operator, on standard error. Spoken by engine, agent, api and cli only.
 */
#ifndef HONE_LOG_H
#define HONE_LOG_H

#include "base/base.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* What is worth less than this stays unsaid. Default LOG_WARN; HONE_LOG=debug raises it. */
void log_set_level(enum log_level level);
/* Where lines go instead of standard error (NULL: back to it). The live view uses this to print
 * above itself. `line` has no newline. */
void log_set_sink(void (*sink)(enum log_level level, const char *line, void *arg), void *arg);

void log_error(const char *fmt, ...) PRINTF(1, 2);
void log_warn(const char *fmt, ...) PRINTF(1, 2);
void log_info(const char *fmt, ...) PRINTF(1, 2);
void log_debug(const char *fmt, ...) PRINTF(1, 2);

#endif
