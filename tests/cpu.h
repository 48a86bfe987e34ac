/* SPDX-License-Identifier: MIT */
/*
 * cpu.h — how long something takes this process, whatever else the machine does meanwhile.
 */
#ifndef HONE_TEST_CPU_H
#define HONE_TEST_CPU_H

#include "base/clock.h"

#include <time.h>

static inline int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

#endif
