/* SPDX-License-Identifier: MIT */
/*
 * size.c — how many different settings a space has.
 *
 * Parameters that nothing connects multiply; so each group that conditions and forbidden
 * combinations connect is counted by itself. In a group, a parameter that nobody looks at
 * multiplies too; one that is looked at branches into pieces: sets of values that no condition and
 * no clause tells apart.
 *
 *     optimizer ∈ {sgd, adam, rmsprop}       sgd:    momentum × nesterov
 *     momentum, nesterov when sgd            others: 2 × 1
 *
 * A branch in which a forbidden combination holds counts nothing. The work is bounded: a group so
 * entangled that it needs more than MAX_WORK is answered with its upper bound, the plain product.
 */
#include "model/space.h"

#include <assert.h>
#include <math.h>

#define MAX_WORK (24 << 20) /* a million settings one by one, a dozen looks at each: 0.1 s */
#define BRANCH   8          /* the work of a branch; a look at a forbidden combination is 1 */

struct piece {
    double x;     /* one of its values */
    double count; /* how many there are; INFINITY: an interval */
};
struct pieces {
    VEC(struct piece) list; /* empty: nobody looks at the parameter */
};

/* Values that somebody tells from the others: [from, to], as numbers of values where the parameter
 * is finite, else as the values themselves. */
struct mark {
    double from, to;
};
struct marks {
    VEC(struct mark) list;
};

/* Of a forbidden combination. */
struct sight {
    size_t last; /* its last parameter: there it is looked at */
    long work;   /* what a look costs */
};

struct counting {
    const struct space *space;
    size_t *group;         /* of each parameter: the smallest index in it */
    struct pieces *pieces; /* of each parameter */
    struct sight *sights;  /* of each forbidden combination */
    double *x;             /* the branch being counted */
    size_t which;          /* the group being counted */
    long work;
};

/* ---- pieces ---- */

/* The number of the first value at or above x; n if there is none. */
static double first_from(const struct param *param, double n, double x)
{
    if (x <= param->min)
        return 0;
    if (x > param->max)
        return n;
    double k = fmax(param_index(param, x) - 1, 0);
    while (k < n && param_value_at(param, k) < x)
        k++;
    return k;
}

static void add_mark(struct marks *marks, const struct param *param, double min, double max)
{
    struct mark mark = {fmax(min, param->min), fmin(max, param->max)};
    double n = param_size(param);

    if (param->type == PARAM_CHOICE) {
        mark = (struct mark){min, max};
    } else if (!isinf(n)) {
        mark.from = first_from(param, n, min);
        mark.to = first_from(param, n, max);
        if (mark.to == n || param_value_at(param, mark.to) > max)
            mark.to--;
    }
    if (mark.from <= mark.to)
        vec_push(&marks->list, mark);
}

static void add_values(struct marks *marks, const struct param *param, const double *values,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (param_contains(param, values[i]))
            add_mark(marks, param, values[i], values[i]);
}

static void find_marks(const struct space *space, size_t i, struct marks *marks)
{
    const struct param *param = &space->params[i];

    for (size_t j = i + 1; j < space->n; j++)
        for (size_t w = 0; w < space->params[j].n_when; w++) {
            const struct condition *when = &space->params[j].when[w];
            if (when->param == i)
                add_values(marks, param, when->values, when->n_values);
        }
    for (size_t f = 0; f < space->n_forbids; f++)
        for (size_t k = 0; k < space->forbids[f].n; k++) {
            const struct clause *clause = &space->forbids[f].clauses[k];
            if (clause->param != i)
                continue;
            if (clause->n_values == 0)
                add_mark(marks, param, clause->min, clause->max);
            add_values(marks, param, clause->values, clause->n_values);
        }
}

struct edge {
    double at;
    int change; /* of the number of marks from here on */
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Where marks begin and end, in order; `beyond` is from a mark's end to where it is over. */
static struct edge *sort_edges(const struct marks *marks, double beyond)
{
    struct edge *edges = xcalloc(2 * marks->list.len, sizeof(*edges));

    for (size_t i = 0; i < marks->list.len; i++) {
        edges[2 * i] = (struct edge){marks->list.at[i].from, 1};
        edges[2 * i + 1] = (struct edge){marks->list.at[i].to + beyond, -1};
    }
    qsort(edges, 2 * marks->list.len, sizeof(*edges), compare_edges);
    return edges;
}

/* Runs of values between edges; those that no mark covers are one piece together. */
static void cut_finite(const struct param *param, const struct marks *marks, struct pieces *pieces)
{
    autofree(mem) struct edge *edges = sort_edges(marks, 1);
    struct piece others = {0, 0};
    double from = 0, n = param_size(param);
    int covered = 0;

    for (size_t i = 0; i <= 2 * marks->list.len; i++) {
        double to = i < 2 * marks->list.len ? edges[i].at : n;
        struct piece piece = {param_value_at(param, fmin(from, n - 1)), to - from};
        if (to > from && covered > 0)
            vec_push(&pieces->list, piece);
        else if (to > from)
            others = (struct piece){piece.x, others.count + piece.count};
        if (i < 2 * marks->list.len)
            covered += edges[i].change;
        from = to;
    }
    if (others.count > 0)
        vec_push(&pieces->list, others);
}

/* The edges themselves, and what lies between them. */
static void cut_free(const struct param *param, const struct marks *marks, struct pieces *pieces)
{
    autofree(mem) struct edge *edges = sort_edges(marks, 0);
    double from = param->min;

    for (size_t i = 0; i <= 2 * marks->list.len; i++) {
        bool end = i == 2 * marks->list.len;
        double to = end ? param->max : edges[i].at, middle = from / 2 + to / 2;
        struct piece between = {middle, INFINITY}, edge = {to, 1};
        if (middle > from && middle < to)
            vec_push(&pieces->list, between);
        if (!end && (i == 0 || to > from))
            vec_push(&pieces->list, edge);
        from = to;
    }
}

static void find_pieces(const struct space *space, size_t i, struct pieces *pieces)
{
    const struct param *param = &space->params[i];
    struct marks marks = {0};

    find_marks(space, i, &marks);
    if (marks.list.len > 0 && isinf(param_size(param)))
        cut_free(param, &marks, pieces);
    else if (marks.list.len > 0)
        cut_finite(param, &marks, pieces);
    vec_release(&marks.list);
}

/* ---- counting ---- */

static double count_from(struct counting *c, size_t i);

/* Nothing left of infinitely many is nothing. */
static double times(double n, double rest)
{
    return rest > 0 ? n * rest : 0;
}

/* Does a forbidden combination that ends with parameter i hold? */
static bool is_forbidden(struct counting *c, size_t i)
{
    for (size_t f = 0; f < c->space->n_forbids; f++) {
        if (c->sights[f].last != i)
            continue;
        c->work += c->sights[f].work;
        if (forbid_holds(&c->space->forbids[f], c->x))
            return true;
    }
    return false;
}

static double count_pieces(struct counting *c, size_t i)
{
    double sum = 0;

    vec_foreach (piece, &c->pieces[i].list) {
        if (c->work > MAX_WORK)
            break;
        c->work += (long)c->space->n_forbids / 16;
        c->x[i] = piece->x;
        if (!is_forbidden(c, i))
            sum += times(piece->count, count_from(c, i + 1));
    }
    return sum;
}

static double count_from(struct counting *c, size_t i)
{
    while (i < c->space->n && c->group[i] != c->which)
        i++;
    if (i == c->space->n)
        return 1;
    if ((c->work += BRANCH) > MAX_WORK)
        return 1; /* given up: group_size() sees it */
    c->x[i] = NAN;
    if (!param_active(&c->space->params[i], c->x))
        return count_from(c, i + 1);
    if (c->pieces[i].list.len > 0)
        return count_pieces(c, i);
    return times(param_size(&c->space->params[i]), count_from(c, i + 1)); /* nobody looks at it */
}

static double group_size(struct counting *c, size_t which)
{
    c->which = which;
    c->work = 0;
    double size = count_from(c, which);
    if (c->work <= MAX_WORK)
        return size;
    size = 1;
    for (size_t i = which; i < c->space->n; i++)
        if (c->group[i] == which)
            size *= param_size(&c->space->params[i]);
    return size;
}

/* ---- groups ---- */

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
            assert(c->space->params[i].when[w].param < i);
            join_groups(c, i, c->space->params[i].when[w].param);
        }
    for (size_t f = 0; f < c->space->n_forbids; f++) {
        const struct forbid *forbid = &c->space->forbids[f];
        assert(forbid->n > 0);
        for (size_t k = 0; k < forbid->n; k++) {
            const struct clause *clause = &forbid->clauses[k];
            join_groups(c, forbid->clauses[0].param, clause->param);
            c->sights[f].last = MAX(c->sights[f].last, clause->param);
            c->sights[f].work = MAX(c->sights[f].work, 1 + (long)clause->n_values / 16);
        }
    }
}

double space_size(const struct space *space)
{
    struct counting c = {.space = space};
    double size = 1;

    c.group = xcalloc(space->n, sizeof(*c.group));
    c.pieces = xcalloc(space->n, sizeof(*c.pieces));
    c.sights = xcalloc(space->n_forbids, sizeof(*c.sights));
    c.x = xcalloc(space->n, sizeof(*c.x));
    find_groups(&c);
    for (size_t i = 0; i < space->n; i++)
        find_pieces(space, i, &c.pieces[i]);
    for (size_t i = 0; i < space->n && size > 0; i++)
        if (c.group[i] == i)
            size = times(size, group_size(&c, i));
    for (size_t i = 0; i < space->n; i++)
        vec_release(&c.pieces[i].list);
    free(c.group);
    free(c.pieces);
    free(c.sights);
    free(c.x);
    return size;
}
