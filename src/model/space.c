/* SPDX-License-Identifier: MIT */
/*
 * space.c — all parameters together: points, and how many different ones there are.
 *
 * A condition looks at earlier parameters only, so a point is settled, checked and counted in one
 * walk from the first to the last.
 *
 * Counting: parameters that no condition connects multiply; so each connected group is counted by
 * itself. In a group, a parameter that nobody looks at multiplies too; one that others look at
 * branches into the values that conditions name, and one branch for all others together.
 *
 *     optimizer ∈ {sgd, adam, rmsprop}       sgd:    momentum × nesterov
 *     momentum, nesterov when sgd            others: 2 × 1
 */
#include "model/space.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>

static void param_release(struct param *param)
{
    free(param->name);
    for (size_t i = 0; i < param->n_choices; i++)
        value_release(&param->choices[i]);
    free(param->choices);
    for (size_t i = 0; i < param->n_when; i++)
        free(param->when[i].values);
    free(param->when);
}

void space_release(struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        param_release(&space->params[i]);
    free(space->params);
    *space = (struct space){0};
}

ptrdiff_t space_find(const struct space *space, const char *name)
{
    for (size_t i = 0; i < space->n; i++)
        if (str_eq(space->params[i].name, name))
            return (ptrdiff_t)i;
    return -1;
}

void space_settle(const struct space *space, double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (!param_active(&space->params[i], x))
            x[i] = NAN;
}

bool space_contains(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (param_active(param, x) ? !param_contains(param, x[i]) : !isnan(x[i]))
            return false;
    }
    return true;
}

bool point_equal(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

uint64_t point_hash(const double *x, size_t n)
{
    uint64_t h = n, word;
    for (size_t i = 0; i < n; i++) {
        double plain = isnan(x[i]) ? NAN : x[i] + 0.0; /* one NaN, and no -0 */
        memcpy(&word, &plain, sizeof(word));
        h = hash_u64(h ^ word);
    }
    return h;
}

void space_json(const struct space *space, const double *x, struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i < space->n; i++) {
        if (isnan(x[i]))
            continue;
        json_key(out, space->params[i].name);
        param_json(&space->params[i], x[i], out);
    }
    json_end_object(out);
}

void space_words(const struct space *space, const double *x, struct str *to)
{
    const char *gap = "";
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (isnan(x[i]) || param_size(param) == 1)
            continue;
        str_addf(to, "%s%s=", gap, param->name);
        if (param->type == PARAM_FLOAT)
            str_addf(to, "%.5g", x[i]);
        else
            param_text(param, x[i], to);
        gap = " ";
    }
}

/* Counting. `x` holds the branch being counted; OTHER stands for every value that no condition
 * names. The work is bounded: a group so entangled that it needs more branches than MAX_BRANCHES
 * is answered with its upper bound, the plain product. */
#define OTHER        INFINITY
#define MAX_BRANCHES 100000

struct counting {
    const struct space *space;
    size_t *group;   /* of each parameter: the smallest index in it */
    bool *looked_at; /* some condition names it */
    double *x;
    size_t which; /* the group being counted */
    long branches;
};

static double count_from(struct counting *c, size_t i);

/* Was this value already among those that an earlier condition named? */
static bool named_before(const struct counting *c, size_t i, size_t j, size_t w, size_t v)
{
    double value = c->space->params[j].when[w].values[v];
    for (size_t jj = i + 1; jj <= j; jj++) {
        const struct param *other = &c->space->params[jj];
        for (size_t ww = 0; ww < (jj == j ? w + 1 : other->n_when); ww++) {
            const struct condition *when = &other->when[ww];
            if (when->param != i)
                continue;
            size_t end = jj == j && ww == w ? v : when->n_values;
            for (size_t vv = 0; vv < end; vv++)
                if (when->values[vv] == value)
                    return true;
        }
    }
    return false;
}

static double count_branches(struct counting *c, size_t i)
{
    const struct param *param = &c->space->params[i];
    double sum = 0, others = param_size(param);

    for (size_t j = i + 1; j < c->space->n; j++)
        for (size_t w = 0; w < c->space->params[j].n_when; w++) {
            const struct condition *when = &c->space->params[j].when[w];
            for (size_t v = 0; when->param == i && v < when->n_values; v++) {
                if (!param_contains(param, when->values[v]) || named_before(c, i, j, w, v))
                    continue;
                c->x[i] = when->values[v];
                sum += count_from(c, i + 1);
                others--;
            }
        }
    c->x[i] = OTHER;
    return others > 0 ? sum + others * count_from(c, i + 1) : sum;
}

static double count_from(struct counting *c, size_t i)
{
    while (i < c->space->n && c->group[i] != c->which)
        i++;
    if (i == c->space->n)
        return 1;
    if (++c->branches > MAX_BRANCHES)
        return 1; /* given up: group_size() sees it */
    if (!param_active(&c->space->params[i], c->x)) {
        c->x[i] = NAN;
        return count_from(c, i + 1);
    }
    if (c->looked_at[i])
        return count_branches(c, i);
    c->x[i] = OTHER;
    return param_size(&c->space->params[i]) * count_from(c, i + 1);
}

static double group_size(struct counting *c, size_t which)
{
    c->which = which;
    c->branches = 0;
    double size = count_from(c, which);
    if (c->branches <= MAX_BRANCHES)
        return size;
    size = 1;
    for (size_t i = which; i < c->space->n; i++)
        if (c->group[i] == which)
            size *= param_size(&c->space->params[i]);
    return size;
}

static void join_groups(struct counting *c, size_t a, size_t b)
{
    size_t from = MAX(c->group[a], c->group[b]), to = MIN(c->group[a], c->group[b]);
    for (size_t i = 0; from != to && i < c->space->n; i++)
        if (c->group[i] == from)
            c->group[i] = to;
}

static void find_groups(struct counting *c)
{
    for (size_t i = 0; i < c->space->n; i++)
        c->group[i] = i;
    for (size_t i = 0; i < c->space->n; i++)
        for (size_t w = 0; w < c->space->params[i].n_when; w++) {
            size_t param = c->space->params[i].when[w].param;
            assert(param < i);
            c->looked_at[param] = true;
            join_groups(c, i, param);
        }
}

double space_size(const struct space *space)
{
    struct counting c = {.space = space};
    double size = 1;

    c.group = xcalloc(space->n, sizeof(*c.group));
    c.looked_at = xcalloc(space->n, sizeof(*c.looked_at));
    c.x = xcalloc(space->n, sizeof(*c.x));
    find_groups(&c);
    for (size_t i = 0; i < space->n; i++)
        if (c.group[i] == i)
            size *= group_size(&c, i);
    free(c.group);
    free(c.looked_at);
    free(c.x);
    return size;
}
