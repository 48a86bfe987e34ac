/* SPDX-License-Identifier: MIT */
/*
 * test_search.h — searches and spaces for tests, built in a line. Tests only.
 */
#ifndef HONE_TEST_SEARCH_H
#define HONE_TEST_SEARCH_H

#include <errno.h>

#include "model/test_space.h"
#include "search/search.h"
#include "tests/test.h"

static inline UNUSED struct search *search_for(const char *name, const struct problem *problem)
{
    struct search *s = NULL;
    struct err err = ERR_INIT;
    assert_ok(search_new(name, problem, &s, &err), &err);
    return s;
}

/* The next point into x; false at the end of a finite space, for which there is a sentence. */
static inline UNUSED bool ask_point(struct search *s, double *x)
{
    struct suggestion next = {.x = x};
    struct err err = ERR_INIT;
    int r = search_ask(s, &next, &err);

    if (r == -ENODATA)
        assert_true(*err_text(&err));
    else
        assert_ok(r, &err);
    err_release(&err);
    return r == 0;
}

static inline UNUSED void tell_value(struct search *s, const double *x, double value)
{
    search_tell(s, x, &(struct result){.value = value});
}

/* The newest forbidden combination gets one more clause: `param` lies in [min, max]. */
static inline UNUSED void space_forbid_and(struct space *space, size_t param, double min,
                                           double max)
{
    struct forbid *last = &space->forbids[space->n_forbids - 1];

    last->clauses = xrealloc(last->clauses, (last->n + 1) * sizeof(*last->clauses));
    last->clauses[last->n++] = (struct clause){.param = param, .min = min, .max = max};
}

/* Points where `param` lies in [min, max] are forbidden. */
static inline UNUSED void space_forbid(struct space *space, size_t param, double min, double max)
{
    space->forbids = xrealloc(space->forbids, (space->n_forbids + 1) * sizeof(*space->forbids));
    space->forbids[space->n_forbids++] = (struct forbid){0};
    space_forbid_and(space, param, min, max);
}

#endif
