/* SPDX-License-Identifier: MIT */
/*
 * mapping.c — a page that cannot be read is replaced by one of zeros.
 *
 * The kernel says it by SIGBUS, to the thread that touched the page, which goes on after that. So
 * there is one handler for the process, and a list of the mappings for it to look at. The list only
 * grows: what a mapping leaves is used by the next. Other faults go to whoever was there before.
 */
#include "series/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

struct mapping {
    atomic_uintptr_t begin, end; /* addresses; begin 0: free */
    atomic_uintptr_t lost_end;   /* behind the last page that was lost; 0: none */
    struct mapping *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* whoever takes or adds a place */
static _Atomic(struct mapping *) first;
static atomic_uint_least64_t losses;
static struct sigaction before;
static uintptr_t page;

/* ---- the handler ---- */

static struct mapping *find(uintptr_t address)
{
    for (struct mapping *at = atomic_load(&first); at; at = at->next) {
        uintptr_t begin = atomic_load(&at->begin);
        if (begin && address >= begin && address < atomic_load(&at->end) &&
            atomic_load(&at->begin) == begin)
            return at;
    }
    return NULL;
}

/* Counted before it is seen: a reader that met zeros finds another count. */
static bool replace(struct mapping *mapping, uintptr_t address)
{
    uintptr_t at = address & ~(page - 1), end = atomic_load(&mapping->lost_end);

    atomic_fetch_add(&losses, 1);
    while (end < at + page && !atomic_compare_exchange_weak(&mapping->lost_end, &end, at + page))
        ;
    return mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/* Without a handler before us: let it happen again, and take its course. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction none = {.sa_handler = SIG_DFL};

    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else if (before.sa_handler == SIG_DFL || info->si_code > 0) {
        sigaction(number, &none, NULL);
        if (info->si_code <= 0) /* sent by somebody: it does not come again by itself */
            raise(number);
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int error = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct mapping *mapping = info->si_code > 0 ? find(address) : NULL;

    if (!mapping || !replace(mapping, address))
        pass_on(number, info, context);
    errno = error;
}

void mapping_guard(void)
{
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction there;

    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, NULL, &there);
    if ((there.sa_flags & SA_SIGINFO) && there.sa_sigaction == on_bus_error)
        return;
    before = there;
    sigaction(SIGBUS, &ours, NULL);
}

/* ---- mappings ---- */

static struct mapping *take_place(uintptr_t begin, size_t n)
{
    struct mapping *at;

    pthread_mutex_lock(&lock);
    for (at = atomic_load(&first); at && atomic_load(&at->begin); at = at->next)
        ;
    if (!at) {
        at = xcalloc(1, sizeof(*at));
        at->next = atomic_load(&first);
        atomic_store(&first, at);
    }
    atomic_store(&at->lost_end, 0);
    atomic_store(&at->end, begin + n);
    atomic_store(&at->begin, begin);
    pthread_mutex_unlock(&lock);
    return at;
}

int mapping_open(int fd, size_t n, const unsigned char **ret_bytes, struct mapping **ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, mapping_guard);
    void *bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    *ret = take_place((uintptr_t)bytes, n);
    *ret_bytes = bytes;
    return 0;
}

void mapping_close(struct mapping *mapping)
{
    uintptr_t begin = atomic_load(&mapping->begin);
    size_t n = atomic_load(&mapping->end) - begin;

    pthread_mutex_lock(&lock);
    atomic_store(&mapping->begin, 0);
    pthread_mutex_unlock(&lock);
    munmap((void *)begin, n);
}

bool mapping_lost(const struct mapping *mapping, size_t from)
{
    return atomic_load(&mapping->lost_end) > atomic_load(&mapping->begin) + from;
}

uint64_t mapping_losses(void)
{
    return atomic_load(&losses);
}
