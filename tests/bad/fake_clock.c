/* SPDX-License-Identifier: MIT */
/*
 * fake_clock.c — a wall clock that jumps, to be preloaded. The file that FAKE_CLOCK names holds the
 * seconds to add, as text; it is read at every look at the clock, so that a test may change it
 * while a program runs. The monotonic clock is left alone, as it is when a machine's time is set.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
    const char *path = getenv("FAKE_CLOCK");
    char text[32];
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long r = syscall(SYS_clock_gettime, clock, ret);
    if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret->tv_sec += offset();
    return (int)r;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    int r = clock_gettime(CLOCK_REALTIME, &now);
    (void)zone;
    *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return r;
}

time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
