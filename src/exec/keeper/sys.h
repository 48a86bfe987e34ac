/* SPDX-License-Identifier: MIT */
/*
 * sys.h — the kernel, without a C library. The keeper starts once for every attempt, and the start
 * of a static C library costs three times that of the whole keeper (it asks the CPU for its
 * features, which traps in virtual machines). So: system calls, and the few helpers below.
 *
 * Every sys_… returns the kernel's answer: ≥ 0, or -errno.
 */
#ifndef HONE_KEEPER_SYS_H
#define HONE_KEEPER_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h> /* memcpy, memset, strlen only */
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    long r;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
#elif defined(__aarch64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the keeper knows x86_64 and aarch64; add the system call of this machine here"
#endif

/* Pointers and numbers alike. */
#define SYS(n, ...) SYS_(n, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYS_(n, a, b, c, d, e, f, ...)                                                             \
    sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline int sys_open(const char *path, int flags, int mode)
{
    return (int)SYS(SYS_openat, -100 /* AT_FDCWD */, path, flags, mode);
}
static inline int sys_close(int fd)
{
    return (int)SYS(SYS_close, fd);
}
static inline long sys_read(int fd, void *to, size_t n)
{
    return SYS(SYS_read, fd, to, n);
}
static inline long sys_write(int fd, const void *from, size_t n)
{
    return SYS(SYS_write, fd, from, n);
}
static inline int sys_kill(int pid, int sig)
{
    return (int)SYS(SYS_kill, pid, sig);
}
_Noreturn void sys_exit(int code);

/* Whole small files. read: the bytes read with a NUL behind them, or -errno. */
long file_read(const char *path, char *to, size_t size);
int file_write(const char *path, const char *text);

bool text_eq(const char *a, const char *b);
/* Where `word` begins in `text`; NULL if nowhere. */
const char *text_find(const char *text, const char *word);
uint64_t text_number(const char *text);
/* Append within `size`; what does not fit is cut. Start with an empty text. */
void text_add(char *to, size_t size, const char *text);
void text_add_number(char *to, size_t size, uint64_t number);
/* Field 22 of /proc/PID/stat, when the process began; 0 if it cannot be read. PID 0: ourselves. */
uint64_t process_start_ticks(int pid);

extern uint64_t page_bytes;
int64_t time_us(int clock);

#endif
