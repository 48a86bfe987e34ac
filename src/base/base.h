/* SPDX-License-Identifier: MIT */
/*
 * base.h — what every file uses: allocation that cannot fail, owned pointers that free
 * themselves, and a growing array.
 *
 * Memory: running out of it ends the program with a sentence. Every buffer that the outside
 * feeds has a cap of its own, so this happens only when the machine is truly out.
 */
#ifndef HONE_BASE_H
#define HONE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a)    (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))
#define PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#define UNUSED          __attribute__((unused))

/* Zeroed or copied memory; never NULL. Release with free(). */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);

/* autofree(noun) struct noun *x: calls noun_free(x) on every way out of the scope.
 * autofree(mem) char *s: free(s). autorelease(noun) struct noun x: noun_release(&x). */
#define autofree(noun)    __attribute__((cleanup(noun##_autofree)))
#define autorelease(noun) __attribute__((cleanup(noun##_release)))
#define DEFINE_AUTOFREE(noun)                                                                      \
    static inline UNUSED void noun##_autofree(struct noun **p)                                     \
    {                                                                                              \
        if (*p)                                                                                    \
            noun##_free(*p);                                                                       \
    }                                                                                              \
    struct noun /* swallows the semicolon */
static inline UNUSED void mem_autofree(void *p)
{
    free(*(void **)p);
}
/* autoclose int fd = -1: closed on every way out. */
#define autoclose __attribute__((cleanup(fd_autoclose)))
void fd_autoclose(int *fd);

/* Take the value out of a variable that would free it: ownership moves to the reader. */
#define TAKE(p)                                                                                    \
    __extension__({                                                                                \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/* A growing array: struct { T *at; size_t len, cap; }. Zero is the empty one. */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t len, cap;                                                                           \
    }
void vec_grow_(void **at, size_t *cap, size_t need, size_t size);
#define vec_reserve(v, n)                                                                          \
    do {                                                                                           \
        if ((v)->cap < (n)) {                                                                      \
            void *at_ = (v)->at;                                                                   \
            vec_grow_(&at_, &(v)->cap, (n), sizeof(*(v)->at));                                     \
            (v)->at = at_;                                                                         \
        }                                                                                          \
    } while (0)
#define vec_push(v, x)                                                                             \
    do {                                                                                           \
        vec_reserve((v), (v)->len + 1);                                                            \
        (v)->at[(v)->len++] = (x);                                                                 \
    } while (0)
#define vec_last(v) (&(v)->at[(v)->len - 1])
#define vec_remove(v, i)                                                                           \
    do {                                                                                           \
        memmove(&(v)->at[i], &(v)->at[(i) + 1], ((v)->len - (i)-1) * sizeof(*(v)->at));            \
        (v)->len--;                                                                                \
    } while (0)
#define vec_release(v)                                                                             \
    do {                                                                                           \
        free((v)->at);                                                                             \
        (v)->at = NULL;                                                                            \
        (v)->len = (v)->cap = 0;                                                                   \
    } while (0)
#define vec_foreach(p, v) for (__auto_type p = (v)->at; (size_t)(p - (v)->at) < (v)->len; p++)

static inline bool str_eq(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}
static inline bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

#endif
