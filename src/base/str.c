/* SPDX-License-Identifier: MIT */
/*
 * str.c — a growing text, and numbers in their shortest exact form.
 */
#include "base/str.h"
#include "base/decimal.h"
#include "base/rest.h"

#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define USUAL_BYTES 24 /* of one that is formatted: mostly it fits at once */
#define FILLED_MIN  ((size_t)256 << 10)
#define LARGE_MIN   ((size_t)1 << 20)
#define SPARE_MAX   (8 * LARGE_MIN)

void str_release(struct str *str)
{
    if (str->cap)
        free(str->s);
    *str = (struct str)STR_INIT;
}

void str_reserve(struct str *str, size_t more)
{
    size_t need = str->len + more + 1;
    if (need <= str->cap)
        return;
    size_t cap = MAX(need, str->cap + str->cap / 2 + 32);
    str->s = xrealloc(str->cap ? str->s : NULL, cap);
    str->s[str->len] = '\0';
    str->cap = cap;
}

/* Memory that the process had before has its pages; three are asked for all. */
static bool has_pages(uintptr_t from, uintptr_t to, size_t page)
{
    uintptr_t some[] = {from, from + (to - from) / page / 2 * page, to - page};
    unsigned char there = 1;

    for (size_t i = 0; i < ARRAY_LEN(some) && (there & 1); i++)
        if (mincore((void *)some[i], page, &there) < 0)
            return false;
    return there & 1;
}

/* The last large one that was given back. */
static _Atomic(char *) spare;

/* There, if it is large enough. */
static void reserve_large(struct str *str, size_t more)
{
    char *room = atomic_exchange(&spare, NULL);

    if (!room || malloc_usable_size(room) <= str->len + more) {
        free(room);
        return;
    }
    memcpy(room, str->s, str->len + 1);
    if (str->cap)
        free(str->s);
    str->s = room;
    str->cap = malloc_usable_size(room);
}

void str_give_back(void *bytes)
{
    size_t n = malloc_usable_size(bytes);

    free(n >= LARGE_MIN && n <= SPARE_MAX ? atomic_exchange(&spare, bytes) : bytes);
}

/* Its pages are asked for in one go, at half of what it costs to get them one by one as they are
 * written; where the kernel cannot do that, they come so. */
void str_reserve_filled(struct str *str, size_t more)
{
    if (more >= LARGE_MIN && str->len + more >= str->cap)
        reserve_large(str, more);
    str_reserve(str, more >= LARGE_MIN ? (more | (LARGE_MIN - 1)) : more);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)(str->s + str->len) + page - 1) & ~(page - 1);
    uintptr_t to = (uintptr_t)(str->s + str->len + more) & ~(page - 1);

    if (more >= FILLED_MIN && !has_pages(from, to, page))
        madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

void str_add_n(struct str *str, const char *bytes, size_t n)
{
    str_reserve(str, n);
    if (n)
        memcpy(str->s + str->len, bytes, n);
    str->len += n;
    str->s[str->len] = '\0';
}

void str_add(struct str *str, const char *text)
{
    str_add_n(str, text, strlen(text));
}

void str_add_char(struct str *str, char c)
{
    str_reserve(str, 1);
    str->s[str->len++] = c;
    str->s[str->len] = '\0';
}

void str_addv(struct str *str, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    str_reserve(str, USUAL_BYTES);
    size_t room = str->cap - str->len;
    int n = vsnprintf(str->s + str->len, room, fmt, ap);
    if (n > 0 && (size_t)n >= room) {
        str_reserve(str, (size_t)n);
        vsnprintf(str->s + str->len, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    str->len += n > 0 ? (size_t)n : 0;
}

void str_addf(struct str *str, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_addv(str, fmt, ap);
    va_end(ap);
}

void str_cut(struct str *str, size_t len)
{
    if (len >= str->len)
        return;
    str->len = len;
    str->s[len] = '\0';
}

char *str_take(struct str *str)
{
    char *s = str->cap ? str->s : xstrdup("");
    *str = (struct str)STR_INIT;
    return s;
}

const char *double_text(char buf[DOUBLE_TEXT_SIZE], double x)
{
    if (isnan(x))
        return "nan";
    if (isinf(x))
        return x > 0 ? "inf" : "-inf";
    decimal_text(buf, x);
    return buf;
}

void str_add_double(struct str *str, double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    str_add(str, double_text(buf, x));
}

void str_add_exact(struct str *str, double x, uint16_t rest)
{
    if (rest)
        str_addf(str, "%lld", (long long)rest_whole(x, rest));
    else
        str_add_double(str, x);
}

/* Length of the valid UTF-8 sequence at p, 0 if broken. */
static size_t utf8_len(const unsigned char *p, size_t n)
{
    size_t len = p[0] < 0x80                   ? 1
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (len == 2 && p[0] == 0xc2 && p[1] < 0xa0)
        return 0; /* C1 control characters can drive a terminal too */
    return len;
}

void str_add_printable(struct str *str, const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(p + i, n - i);
        if (p[i] == '\t')
            str_add_char(str, ' ');
        else if (len == 0 || p[i] < 0x20 || p[i] == 0x7f)
            str_add_char(str, '?');
        else
            str_add_n(str, bytes + i, len);
        i += len ? len : 1;
    }
}
