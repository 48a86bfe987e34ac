/* SPDX-License-Identifier: MIT */
/*
 * space.c — all parameters together, and points: settled, checked, compared, written. How many
 * there are is counted in size.c.
 *
 * A condition looks at earlier parameters only, so a point is settled and checked in one walk from
 * the first to the last.
 */
#include "model/space.h"
#include "base/rng.h"

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
    free(param->prior.weights);
}

static void forbid_release(struct forbid *forbid)
{
    for (size_t i = 0; i < forbid->n; i++)
        free(forbid->clauses[i].values);
    free(forbid->clauses);
}

void space_release(struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        param_release(&space->params[i]);
    free(space->params);
    for (size_t i = 0; i < space->n_forbids; i++)
        forbid_release(&space->forbids[i]);
    free(space->forbids);
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

/* Not where the parameter is inactive (NaN) or not given yet (TRY_FREE). */
static bool clause_holds(const struct clause *clause, double x)
{
    if (!isfinite(x))
        return false;
    if (clause->n_values == 0)
        return x >= clause->min && x <= clause->max;
    for (size_t i = 0; i < clause->n_values; i++)
        if (clause->values[i] == x)
            return true;
    return false;
}

bool forbid_holds(const struct forbid *forbid, const double *x)
{
    for (size_t i = 0; i < forbid->n; i++)
        if (!clause_holds(&forbid->clauses[i], x[forbid->clauses[i].param]))
            return false;
    return true;
}

bool space_forbids(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n_forbids; i++)
        if (forbid_holds(&space->forbids[i], x))
            return true;
    return false;
}

bool space_contains(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (param_active(param, x) ? !param_contains(param, x[i]) : !isnan(x[i]))
            return false;
    }
    return !space_forbids(space, x);
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
