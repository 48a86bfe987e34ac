/* SPDX-License-Identifier: MIT */
/*
 * stop.c — the list of the rules that end or pause a poor trial early, and `none`, which does not.
 */
#include "search/stop.h"

#include <assert.h>
#include <math.h>

#define DEFAULT "curve"

/* The rules, in the order of the manual. */
#define RULES(X) X(curve) X(asha) X(hyperband) X(median) X(none)

#define DECLARE(name) extern const struct stop_ops stop_##name;
RULES(DECLARE)
#define LIST(name) &stop_##name,
static const struct stop_ops *const rules[] = {RULES(LIST)};

static void none_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    stop_verdict_init(view, mine, ret);
}

const struct stop_ops stop_none = {
    .name = "none",
    .help = "every trial runs to its end",
    .judge = none_judge,
};

void stop_verdict_init(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    assert(mine < view->n);
    const struct curve *curve = &view->trials[mine].curve;
    *ret = (struct stop_verdict){STOP_GO_ON, NAN, NAN,
                                 NAN,        NAN, curve->n ? curve->steps[curve->n - 1] : 0};
}

const struct stop_ops *stop_find(const char *name)
{
    if (str_eq(name, "auto"))
        name = DEFAULT;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_eq(rules[i]->name, name))
            return rules[i];
    return NULL;
}

size_t stop_count(void)
{
    return ARRAY_LEN(rules);
}

const struct stop_ops *stop_at(size_t i)
{
    assert(i < ARRAY_LEN(rules));
    return rules[i];
}
