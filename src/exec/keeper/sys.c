/* SPDX-License-Identifier: MIT */
/*
 * sys.c — the start, and the little that a C library would have given.
 *
 * The C start-up object calls __libc_start_main. Ours takes the place of the library's, so none
 * of the library is linked or run: no thread-local storage, no errno, no stdio, no malloc. A call
 * of the library by mistake shows at link time: it brings in the other __libc_start_main.
 */
#include "exec/keeper/sys.h"
#include "exec/keeper/keeper.h"

#include <elf.h>
#include <fcntl.h>
#include <time.h>

uint64_t page_bytes = 4096;

int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv);
int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv)
{
    char **aux = argv + argc + 1;

    while (*aux++) /* behind the environment the kernel puts pairs of numbers */
        ;
    for (const uint64_t *pair = (const uint64_t *)aux; pair[0]; pair += 2)
        if (pair[0] == AT_PAGESZ)
            page_bytes = pair[1];
    sys_exit(start(argc, argv, argv + argc + 1));
}

_Noreturn void sys_exit(int code)
{
    for (;;)
        SYS(SYS_exit_group, code);
}

/* The compiler calls these by itself. The empty asm keeps it from turning the loop into a call of
 * the very function. */
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((char *)to)[i] = ((const char *)from)[i];
        __asm__ volatile("" ::: "memory");
    }
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((char *)to)[i] = (char)byte;
        __asm__ volatile("" ::: "memory");
    }
    return to;
}

size_t strlen(const char *text)
{
    size_t n = 0;

    while (text[n]) {
        n++;
        __asm__ volatile("");
    }
    return n;
}

bool text_eq(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const char *text_find(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (; *text; text++) {
        size_t i = 0;
        while (i < n && text[i] == word[i])
            i++;
        if (i == n)
            return text;
    }
    return NULL;
}

uint64_t text_number(const char *text)
{
    uint64_t x = 0;

    while (*text == ' ' || *text == '\t')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        x = x * 10 + (uint64_t)(*text - '0');
    return x;
}

void text_add(char *to, size_t size, const char *text)
{
    size_t n = strlen(to);

    while (*text && n + 1 < size)
        to[n++] = *text++;
    to[n] = '\0';
}

void text_add_number(char *to, size_t size, uint64_t number)
{
    char digits[24];
    size_t i = sizeof(digits);

    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    text_add(to, size, digits + i);
}

long file_read(const char *path, char *to, size_t size)
{
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    size_t len = 0;

    to[0] = '\0';
    if (fd < 0)
        return fd;
    while (len < size - 1) {
        long n = sys_read(fd, to + len, size - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    sys_close(fd);
    to[len] = '\0';
    return (long)len;
}

int file_write(const char *path, const char *text)
{
    int fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
    long n;

    if (fd < 0)
        return fd;
    n = sys_write(fd, text, strlen(text));
    sys_close(fd);
    return n < 0 ? (int)n : 0;
}

uint64_t process_start_ticks(int pid)
{
    char path[40] = "/proc/", text[1024];
    const char *at = NULL;

    if (pid)
        text_add_number(path, sizeof(path), (uint64_t)pid);
    else
        text_add(path, sizeof(path), "self");
    text_add(path, sizeof(path), "/stat");
    if (file_read(path, text, sizeof(text)) <= 0)
        return 0;
    for (const char *p = text; *p; p++) /* the name in field 2 may hold anything, even ')' */
        if (*p == ')')
            at = p + 1;
    for (int field = 2; at && field < 22; at++) {
        if (!*at)
            return 0;
        if (*at == ' ')
            field++;
    }
    return at ? text_number(at) : 0;
}

int64_t time_us(int clock)
{
    struct timespec now = {0, 0};

    SYS(SYS_clock_gettime, clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
