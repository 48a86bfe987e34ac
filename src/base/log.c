/* SPDX-License-Identifier: MIT */
/*
 * log.c — one line a message, "hone: …" on standard error or to the sink that is set.
 *
 * The level and the sink are the program's, set once by main and the live view.
 */
#include "base/log.h"

#include <stdarg.h>

static enum log_level level_shown = LOG_WARN;
static void (*line_sink)(enum log_level, const char *, void *);
static void *line_sink_arg;

void log_set_level(enum log_level level)
{
    level_shown = level;
}

void log_set_sink(void (*sink)(enum log_level, const char *, void *), void *arg)
{
    line_sink = sink;
    line_sink_arg = arg;
}

static void say(enum log_level level, const char *fmt, va_list ap) PRINTF(2, 0);
static void say(enum log_level level, const char *fmt, va_list ap)
{
    char *line = NULL;
    if (level > level_shown || vasprintf(&line, fmt, ap) < 0)
        return;
    if (line_sink)
        line_sink(level, line, line_sink_arg);
    else
        fprintf(stderr, "hone: %s\n", line);
    free(line);
}

#define DEFINE_LOG(name, level)                                                                    \
    void name(const char *fmt, ...)                                                                \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        say(level, fmt, ap);                                                                       \
        va_end(ap);                                                                                \
    }
DEFINE_LOG(log_error, LOG_ERROR)
DEFINE_LOG(log_warn, LOG_WARN)
DEFINE_LOG(log_info, LOG_INFO)
DEFINE_LOG(log_debug, LOG_DEBUG)
