/* SPDX-License-Identifier: MIT */
/*
 * base.c — allocation that cannot fail, and the growth of arrays.
 */
#include "base/base.h"

#include <stdarg.h>
#include <unistd.h>

static void *checked(void *p, size_t size)
{
    if (!p && size) {
        fprintf(stderr, "hone: out of memory (%zu bytes wanted)\n", size);
        abort();
    }
    return p;
}

void *xmalloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size ? size : 1), n * size);
}

void *xrealloc(void *p, size_t size)
{
    return checked(realloc(p, size ? size : 1), size);
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    n = strnlen(s, n);
    char *copy = xmalloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

void *xmemdup(const void *p, size_t n)
{
    void *copy = xmalloc(n);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s = NULL;

    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        checked(NULL, strlen(fmt));
    return s;
}

void fd_autoclose(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

void vec_grow_(void **at, size_t *cap, size_t need, size_t size)
{
    size_t n = *cap ? *cap + *cap / 2 + 1 : 8;
    if (n < need)
        n = need;
    *at = xrealloc(*at, n * size);
    *cap = n;
}
