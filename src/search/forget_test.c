/* SPDX-License-Identifier: MIT */
/*
 * forget_test.c — a suggestion that was prepared and thrown away leaves no trace: the search goes
 * on as if it had never been computed. Without this a replay from the record would differ.
 */
#include "model/test_space.h"
#include "search/search.h"
#include "tests/test.h"

#include <math.h>

#define ROUNDS 14

static double made_up(const double *x)
{
    return (x[0] - 0.3) * (x[0] - 0.3) + fabs(x[1] - 4);
}

static struct search *open_search(const char *name, const struct space *space)
{
    struct problem problem = {.space = space, .trials = 40, .seed = 7};
    struct search *s = NULL;
    autorelease(err) struct err err = ERR_INIT;

    assert_ok(search_new(name, &problem, &s, &err), &err);
    return s;
}

/* One suggestion and its result. */
static void step(struct search *s, double *ret_x)
{
    struct suggestion suggestion = {.x = ret_x};
    autorelease(err) struct err err = ERR_INIT;

    assert_ok(search_ask(s, &suggestion, &err), &err);
    struct result result = {.kind = RESULT_VALUE, .value = made_up(ret_x)};
    search_tell(s, ret_x, &result);
}

static void check_forgets(const char *name, const struct space *space)
{
    autofree(search) struct search *plain = open_search(name, space);
    autofree(search) struct search *fickle = open_search(name, space);

    for (int i = 0; i < ROUNDS; i++) {
        double a[2], b[2];
        for (int k = 0; k < i % 3; k++) {
            search_prepare(fickle, NULL);
            search_forget(fickle);
        }
        step(plain, a);
        step(fickle, b);
        if (!point_equal(a, b, 2))
            fail_msg("%s: ask %d gives %g %g instead of %g %g", name, i + 1, b[0], b[1], a[0],
                     a[1]);
    }
}

TEST(a_suggestion_that_was_thrown_away_leaves_no_trace)
{
    struct space space = {0};

    space_add(&space, param_float(0, 1));
    space_add(&space, param_int(1, 9));
    for (size_t i = 0; i < search_count(); i++)
        if (!str_eq(search_at(i)->name, "grid")) /* it wants a finite space */
            check_forgets(search_at(i)->name, &space);
    check_forgets("auto", &space);
    space_release(&space);
}

TEST(grid_goes_on_where_it_was)
{
    struct space space = {0};

    space_add(&space, param_int(0, 3));
    space_add(&space, param_int(1, 9));
    check_forgets("grid", &space);
    space_release(&space);
}

TEST_MAIN
