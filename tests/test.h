/* SPDX-License-Identifier: MIT */
/*
 * test.h — a test is a sentence: TEST(every_algorithm_stays_in_bounds) { … }. Each *_test.c is a
 * program of its own that prints TAP. cmocka's assert_… are at hand. Ends with TEST_MAIN.
 */
#ifndef HONE_TEST_H
#define HONE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/err.h"

#define TEST_MAX 256
static struct CMUnitTest test_list[TEST_MAX];
static size_t test_count;

#define TEST(sentence)                                                                             \
    static void sentence(void **unused_state);                                                     \
    __attribute__((constructor)) static void add_##sentence(void)                                  \
    {                                                                                              \
        if (test_count < TEST_MAX)                                                                 \
            test_list[test_count++] = (struct CMUnitTest){#sentence, sentence, NULL, NULL, NULL};  \
    }                                                                                              \
    static void sentence(void **unused_state UNUSED)

/* r must be ≥ 0; shows the error's sentence if not. */
#define assert_ok(r, err)                                                                          \
    do {                                                                                           \
        int r_ = (r);                                                                              \
        if (r_ < 0)                                                                                \
            fail_msg("%s: %d: %s", #r, r_, err_text(err));                                         \
    } while (0)

/* Leave a test that cannot be done here, and say why. (cmocka's skip() counts as a failure to TAP
 * readers.) */
#define SKIP(why)                                                                                  \
    do {                                                                                           \
        printf("# skipped: %s: %s\n", __func__, (why));                                            \
        return;                                                                                    \
    } while (0)

#define TEST_MAIN                                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        cmocka_set_message_output(CM_OUTPUT_TAP);                                                  \
        return _cmocka_run_group_tests(__FILE__, test_list, test_count, NULL, NULL);               \
    }

#endif
