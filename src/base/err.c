/* SPDX-License-Identifier: MIT */
/*
 * err.c — errors that carry a sentence.
 */
#include "base/err.h"

#include <stdarg.h>

static char *format(const char *fmt, va_list ap) PRINTF(1, 0);
static char *format(const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0)
        s = xstrdup("out of memory");
    return s;
}

static void replace(struct err *err, int code, char *text)
{
    free(err->text);
    err->text = text;
    err->code = code;
}

int err_set_(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return -code;
    va_start(ap, fmt);
    replace(err, code, format(fmt, ap));
    va_end(ap);
    return -code;
}

int err_errno_(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return -code;
    va_start(ap, fmt);
    autofree(mem) char *head = format(fmt, ap);
    va_end(ap);
    replace(err, code, xasprintf("%s: %s", head, strerror(code)));
    return -code;
}

int err_context_(struct err *err, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return -1;
    va_start(ap, fmt);
    autofree(mem) char *head = format(fmt, ap);
    va_end(ap);
    replace(err, err->code, xasprintf("%s: %s", head, err_text(err)));
    return -err->code;
}

const char *err_text(const struct err *err)
{
    return err && err->text ? err->text : "";
}

void err_release(struct err *err)
{
    free(err->text);
    err->text = NULL;
    err->code = 0;
}
