/* SPDX-License-Identifier: MIT */
/*
 * auth_limit_test.c — who guesses waits.
 */
#include "api/auth_limit.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define SECOND 1000000LL

TEST(who_guesses_waits_longer_each_time_up_to_a_minute)
{
    static const unsigned waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
    struct limit *limit = xcalloc(1, sizeof(*limit));
    int64_t at_us = SECOND;

    for (int i = 0; i < LIMIT_FREE - 1; i++) {
        limit_failed(limit, 7, at_us);
        assert_int_equal(limit_wait_s(limit, 7, at_us), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        limit_failed(limit, 7, at_us);
        assert_int_equal(limit_wait_s(limit, 7, at_us), waits[i]);
        assert_int_equal(limit_wait_s(limit, 7, at_us + waits[i] * SECOND - 1), 1);
        assert_int_equal(limit_wait_s(limit, 8, at_us), 0); /* another address */
        at_us += waits[i] * SECOND;
        assert_int_equal(limit_wait_s(limit, 7, at_us), 0);
    }
    limit_failed(limit, 7, at_us + 15 * 60 * SECOND); /* a quarter of an hour later */
    assert_int_equal(limit_wait_s(limit, 7, at_us + 15 * 60 * SECOND), 0);
    free(limit);
}

TEST(more_addresses_than_there_is_room_for_do_no_harm)
{
    struct limit *limit = xcalloc(1, sizeof(*limit));

    for (uint64_t key = 1; key <= 3 * LIMIT_SLOTS; key++)
        limit_failed(limit, key, (int64_t)key);
    for (int i = 0; i < LIMIT_FREE; i++)
        limit_failed(limit, 99, 1000 + i);
    assert_int_equal(limit_wait_s(limit, 99, 1010), 1);
    free(limit);
}

TEST(networks_of_64_bits_are_one_address)
{
    struct sockaddr_storage a = {.ss_family = AF_INET6}, b = a, v4 = {.ss_family = AF_INET};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a;

    inet_pton(AF_INET6, "2001:db8::1", &six->sin6_addr);
    inet_pton(AF_INET6, "2001:db8::ffff:2", &((struct sockaddr_in6 *)&b)->sin6_addr);
    assert_true(limit_key(&a) == limit_key(&b));
    inet_pton(AF_INET6, "2001:db8:1::1", &((struct sockaddr_in6 *)&b)->sin6_addr);
    assert_true(limit_key(&a) != limit_key(&b));
    inet_pton(AF_INET6, "::ffff:10.1.2.3", &six->sin6_addr);
    inet_pton(AF_INET, "10.1.2.3", &((struct sockaddr_in *)&v4)->sin_addr);
    assert_true(limit_key(&a) == limit_key(&v4));
}

TEST_MAIN
