/* SPDX-License-Identifier: MIT */
/*
 * http_soon.c — one who talks alone, a request behind the other, has the http thread for a moment:
 * his connection is not put aside. To put it aside, to fall asleep and to be woken up again takes
 * longer than most answers do, and more of the processor.
 *
 * Whoever else comes is kept waiting for a millisecond at most, and then nobody talks alone.
 */
#include "base/clock.h"
#include "net/http_internal.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

#define SOON_NS  1000000 /* an answer is waited for so long, asleep … */
#define WATCH_US 60      /* … and so long awake before, … */
#define VAIN     20      /* … but not for so many requests after it was in vain */

/* Who answers needs another one. */
static bool one_processor(void)
{
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1;
}

void soon_init(struct http *http)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&http->answered, &attr);
    pthread_condattr_destroy(&attr);
    http->vain = one_processor() ? UINT_MAX : 0;
}

bool soon_alone(struct http *http, const struct http_request *request)
{
    bool same = http->talks == request->link;

    http->talks = request->link;
    return request->route->soon && same && request->link;
}

static void relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Where it was in vain the machine is busy, and it is let be for a while. */
static void watch_for_answer(struct http *http, const struct http_request *request)
{
    int64_t until_us = clock_mono_us() + WATCH_US;

    if (http->vain) {
        http->vain -= http->vain != UINT_MAX;
        return;
    }
    do {
        for (int i = 0; i < 50; i++) {
            if (request_state(request) == REQUEST_ANSWERED)
                return;
            relax();
        }
    } while (clock_mono_us() < until_us);
    http->vain = VAIN;
}

void soon_await(struct http *http, const struct http_request *request)
{
    struct timespec until;

    watch_for_answer(http, request);
    if (request_state(request) == REQUEST_ANSWERED)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SOON_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&http->mutex);
    http->awaited = request;
    while (request->state != REQUEST_ANSWERED && !http->stopping)
        if (pthread_cond_timedwait(&http->answered, &http->mutex, &until) != 0)
            break;
    http->awaited = NULL;
    pthread_mutex_unlock(&http->mutex);
}
