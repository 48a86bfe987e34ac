/* SPDX-License-Identifier: MIT */
/*
 * auth_limit.c — the tenth wrong secret makes its address wait a second, each further one twice as
 * long, up to a minute. A quarter of an hour without one, and it is forgotten.
 */
#include "api/auth_limit.h"
#include "base/clock.h"
#include "base/rng.h"

#include <netinet/in.h>

#define FORGET_US (15 * 60 * US_PER_S)

uint64_t limit_key(const struct sockaddr_storage *peer)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)peer;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)peer;
    uint64_t key = 1;

    if (peer->ss_family == AF_INET)
        key = hash_u64(v4->sin_addr.s_addr);
    else if (peer->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        key = hash_u64(v6->sin6_addr.s6_addr32[3]);
    else if (peer->ss_family == AF_INET6)
        key = hash_bytes(&v6->sin6_addr, 8, 6);
    return key ? key : 1;
}

static bool is_live(const struct limit_slot *slot, uint64_t key, int64_t now_us)
{
    return slot->key == key && now_us - slot->last_us < FORGET_US;
}

unsigned limit_wait_s(const struct limit *limit, uint64_t key, int64_t now_us)
{
    for (size_t i = 0; i < LIMIT_SLOTS; i++) {
        const struct limit_slot *slot = &limit->slots[i];
        if (is_live(slot, key, now_us) && slot->until_us > now_us)
            return (unsigned)((slot->until_us - now_us + US_PER_S - 1) / US_PER_S);
    }
    return 0;
}

static struct limit_slot *slot_of(struct limit *limit, uint64_t key, int64_t now_us)
{
    struct limit_slot *oldest = &limit->slots[0];

    for (size_t i = 0; i < LIMIT_SLOTS; i++) {
        struct limit_slot *slot = &limit->slots[i];
        if (is_live(slot, key, now_us))
            return slot;
        if (!slot->key || (oldest->key && slot->last_us < oldest->last_us))
            oldest = slot;
    }
    *oldest = (struct limit_slot){.key = key};
    return oldest;
}

void limit_failed(struct limit *limit, uint64_t key, int64_t now_us)
{
    struct limit_slot *slot = slot_of(limit, key, now_us);
    int64_t wait_s = 0;

    slot->failures++;
    if (slot->failures >= LIMIT_FREE)
        wait_s = (int64_t)1 << MIN(slot->failures - LIMIT_FREE, 6u);
    slot->last_us = now_us;
    slot->until_us = now_us + MIN(wait_s, LIMIT_MOST_S) * US_PER_S;
}
