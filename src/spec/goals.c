/* SPDX-License-Identifier: MIT */
/*
 * goals.c — what to optimise, and what must hold meanwhile.
 *
 *     objective: val_loss                                        a metric to minimize
 *     objective: [{metric: acc, goal: max}, latency_ms]          several: their Pareto front
 *     constraint: [latency_ms <= 20, acc >= 90%]
 */
#include "base/units.h"
#include "spec/reader.h"

#include <errno.h>
#include <math.h>

/* ---- objectives ---- */

static int read_metric(struct reader *reader, const struct yaml_node *node)
{
    const char *metric;
    int r = read_text(reader, node, "objective", &metric);

    if (r < 0)
        return r;
    free(reader->spec->objective.metric);
    reader->spec->objective.metric = xstrdup(metric);
    return 0;
}

static int check_item(struct reader *reader, const struct yaml_node *item, bool several)
{
    const struct yaml_node *per = yaml_find(item, "per"), *target = yaml_find(item, "target");
    const struct yaml_node *average = yaml_find(item, "average");
    const struct yaml_node *workers = yaml_find(item, "workers");

    if (item->kind == YAML_LIST || yaml_is_null(item))
        return yaml_err(reader->err, item,
                        "'objective': a list holds metrics or mappings {metric: …, goal: …}, not "
                        "%s",
                        yaml_describe(item, &reader->arena));
    if (per && !yaml_is_null(per))
        return yaml_err(reader->err, per, "'objective.per' does not go with a list of objectives");
    if (several && target && !yaml_is_null(target))
        return yaml_err(reader->err, target,
                        "'objective.target' goes with one objective; there are several");
    if (several && average && !yaml_is_null(average))
        return yaml_err(reader->err, average,
                        "'objective.average' goes with one objective; there are several");
    if (several && workers && !yaml_is_null(workers))
        return yaml_err(reader->err, workers,
                        "'objective.workers' goes with one objective; there are several");
    return 0;
}

/* One item of the list through the rows of the table, into spec->objective. */
static int read_item(struct reader *reader, const struct yaml_node *item, bool several)
{
    struct spec *spec = reader->spec;
    int r = check_item(reader, item, several);

    spec->objective = (struct objective){.target = NAN, .average = 1};
    if (r == 0)
        r = item->kind == YAML_MAP ? read_keys(reader, "objective.", item)
                                   : read_metric(reader, item);
    if (r == 0 && (!spec->objective.metric || !*spec->objective.metric))
        r = yaml_err(reader->err, item, "'objective' needs a metric: {metric: val_loss}");
    return r;
}

static int check_new(struct reader *reader, const struct yaml_node *item)
{
    const struct spec *spec = reader->spec;

    for (size_t i = 0; i < spec->others.len; i++)
        if (str_eq(spec->others.at[i].metric, spec->objective.metric))
            return yaml_err(reader->err, item, "'objective': the metric '%s' stands twice",
                            spec->objective.metric);
    return 0;
}

/* All are collected in `others`, the first is taken out at the end. */
static int read_list(struct reader *reader, const struct yaml_node *list)
{
    struct spec *spec = reader->spec;

    if (list->n == 0 || list->n > OBJECTIVES_MAX)
        return yaml_err(reader->err, list, "'objective': a list holds 1 to %d objectives",
                        OBJECTIVES_MAX);
    free(spec->objective.metric);
    for (size_t i = 0; i < list->n; i++) {
        int r = read_item(reader, list->items[i], list->n > 1);
        if (r == 0)
            r = check_new(reader, list->items[i]);
        if (r < 0)
            return r;
        vec_push(&spec->others, spec->objective);
    }
    spec->objective = spec->others.at[0];
    vec_remove(&spec->others, 0);
    return 0;
}

int read_objective(struct reader *reader, const struct yaml_node *node)
{
    return node->kind == YAML_LIST ? read_list(reader, node) : read_metric(reader, node);
}

/* ---- constraints ---- */

static char *trimmed(const char *text, size_t n)
{
    while (n > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        n--;
    }
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    return xstrndup(text, n);
}

/* "latency_ms <= 20". At the bound is within it, also with < and >, which is said. */
static int read_constraint(struct reader *reader, const struct yaml_node *node)
{
    const char *text = node->kind == YAML_SCALAR ? node->text : "";
    size_t n = strcspn(text, "<>");
    const char *bound = text + n + (text[n] != '\0');
    struct constraint constraint = {.at_least = text[n] == '>'};

    bound += *bound == '=';
    autofree(mem) char *number = trimmed(bound, strlen(bound));
    autofree(mem) char *metric = trimmed(text, n);
    if (!text[n] || !*metric || strchr(metric, '=') || percent_parse(number, &constraint.bound) < 0)
        return yaml_err(reader->err, node,
                        "'constraint' must be like latency_ms <= 20 or acc >= 0.9, not %s",
                        yaml_describe(node, &reader->arena));
    if (bound == text + n + 1)
        reader_note(reader, "constraint: '%s' is taken as %s %c= %s: the bound itself is allowed",
                    text, metric, text[n], number);
    constraint.metric = TAKE(metric);
    vec_push(&reader->spec->constraints, constraint);
    return 0;
}

int read_constraints(struct reader *reader, const struct yaml_node *node)
{
    size_t n = node->kind == YAML_LIST ? node->n : 1;

    if (n > CONSTRAINTS_MAX)
        return yaml_err(reader->err, node->items[CONSTRAINTS_MAX],
                        "'constraint': more than %d of them", CONSTRAINTS_MAX);
    for (size_t i = 0; i < n; i++) {
        int r = read_constraint(reader, node->kind == YAML_LIST ? node->items[i] : node);
        if (r < 0)
            return r;
    }
    return 0;
}
