/* SPDX-License-Identifier: MIT */
/*
 * auth_limit.h — who guesses has to wait. Wrong secrets are counted by the address they come from;
 * a right one is never held up, so nobody can lock another out.
 */
#ifndef HONE_AUTH_LIMIT_H
#define HONE_AUTH_LIMIT_H

#include "base/base.h"

#define LIMIT_FREE   10 /* wrong ones that cost nothing */
#define LIMIT_MOST_S 60
#define LIMIT_SLOTS  256 /* addresses; the one that has been quiet for longest makes room */

struct limit {
    struct limit_slot {
        uint64_t key; /* 0: free */
        int64_t last_us, until_us;
        unsigned failures;
    } slots[LIMIT_SLOTS];
};

/* Of an address: all of an IPv6 network of 64 bits are one. Never 0. */
struct sockaddr_storage;
uint64_t limit_key(const struct sockaddr_storage *peer);
/* Seconds until the next guess is heard, 0: now. `now_us` is monotonic, here and below. */
unsigned limit_wait_s(const struct limit *limit, uint64_t key, int64_t now_us);
void limit_failed(struct limit *limit, uint64_t key, int64_t now_us);

#endif
