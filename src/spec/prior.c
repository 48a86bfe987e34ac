/* SPDX-License-Identifier: MIT */
/*
 * prior.c — where the user expects good values of a parameter.
 *
 *     prior: 0.01                     about there
 *     prior: {mean: 0.01, sd: 3}      numbers; in log scale sd is a factor: from 0.01/3 to 0.01·3
 *     prior: adam                     a choice, three times as likely as each other
 *     prior: {adam: 5, sgd: 2}        weights; what is not named has weight 1
 *
 * The space keeps them on the unit axis, and normalised. So they are stored, as they would not come
 * back to the last bit otherwise: {unit: [mean, sd]}, and a list of weights that sum to 1.
 */
#include "base/units.h"
#include "spec/params.h"

#include <errno.h>
#include <math.h>

#define GUESS_SD     0.15
#define GUESS_WEIGHT 3
#define SD_MIN       1e-3 /* on the unit axis */
#define SD_MAX       10
#define WEIGHT_MIN   1e-3
#define WEIGHT_MAX   1e3

/* ---- numbers ---- */

static int read_in_range(struct reader *reader, const struct param *param,
                         const struct yaml_node *node, double *ret)
{
    char lo[DOUBLE_TEXT_SIZE], hi[DOUBLE_TEXT_SIZE];
    struct value value;
    int r = read_bound(reader, node, param->name, "prior", &value);

    if (r < 0)
        return r;
    *ret = value.number;
    value_release(&value);
    if (*ret >= param->min && *ret <= param->max)
        return 0;
    return yaml_err(reader->err, node, "parameter '%s': the prior %s is not in %s to %s",
                    param->name, node->text, double_text(lo, param->min),
                    double_text(hi, param->max));
}

static int read_sd(struct reader *reader, const struct param *param, const struct yaml_node *node,
                   double *ret)
{
    bool is_log = param->scale == SCALE_LOG;
    struct value value;
    int r = read_bound(reader, node, param->name, "sd", &value);

    if (r < 0)
        return r;
    double sd = value.number;
    value_release(&value);
    if (sd <= (is_log ? 1 : 0))
        return yaml_err(reader->err, node, "parameter '%s': %s, not %s", param->name,
                        is_log ? "in log scale 'sd' is a factor above 1" : "'sd' must be above 0",
                        node->text);
    *ret = fmin(fmax((is_log ? log(sd) : sd) / param_width(param), SD_MIN), SD_MAX);
    return 0;
}

/* {unit: [mean, sd]} */
static int read_unit(struct reader *reader, struct param *param, const struct yaml_node *list)
{
    double x[2] = {NAN, NAN};

    for (size_t i = 0; list->kind == YAML_LIST && list->n == 2 && i < 2; i++)
        if (list->items[i]->kind != YAML_SCALAR || percent_parse(list->items[i]->text, &x[i]) < 0)
            x[i] = NAN;
    if (!(x[0] >= 0 && x[0] <= 1 && x[1] >= SD_MIN && x[1] <= SD_MAX))
        return yaml_err(reader->err, list,
                        "parameter '%s': 'unit' is [mean from 0 to 1, sd from 0.001 to 10]",
                        param->name);
    param->prior.mean = x[0];
    param->prior.sd = x[1];
    return 0;
}

static int read_normal(struct reader *reader, struct param *param, const struct yaml_node *map)
{
    const struct yaml_node *mean = yaml_find(map, "mean"), *sd = yaml_find(map, "sd");
    double x = 0;

    for (size_t i = 0; i < map->n; i++)
        if (map->items[i] != mean && map->items[i] != sd)
            return yaml_err(reader->err, map->keys[i],
                            "parameter '%s': a prior is a value or {mean: …, sd: …}, not '%s'",
                            param->name, map->keys[i]->text);
    if (!mean)
        return yaml_err(reader->err, map, "parameter '%s': the prior needs a mean", param->name);
    int r = read_in_range(reader, param, mean, &x);
    if (r < 0)
        return r;
    param->prior.mean = param_to_unit(param, x);
    param->prior.sd = GUESS_SD;
    return sd ? read_sd(reader, param, sd, &param->prior.sd) : 0;
}

static int read_number_prior(struct reader *reader, struct param *param,
                             const struct yaml_node *node)
{
    double x;

    if (node->kind == YAML_MAP && node->n == 1 && yaml_find(node, "unit"))
        return read_unit(reader, param, yaml_find(node, "unit"));
    if (node->kind == YAML_MAP)
        return read_normal(reader, param, node);
    int r = read_in_range(reader, param, node, &x);
    if (r < 0)
        return r;
    param->prior.mean = param_to_unit(param, x);
    param->prior.sd = GUESS_SD;
    return 0;
}

/* ---- choices ---- */

static int read_choice(struct reader *reader, const struct param *param,
                       const struct yaml_node *node, size_t *ret)
{
    struct err why = ERR_INIT;
    struct value value;
    double x = 0;
    int r = read_value(reader, node, param->name, &value);

    if (r < 0)
        return r;
    r = param_parse(param, &value, &x, &why);
    value_release(&value);
    if (r < 0)
        r = yaml_err(reader->err, node, "the prior of %s", err_text(&why));
    err_release(&why);
    *ret = (size_t)x;
    return r;
}

static int read_weight(struct reader *reader, const struct param *param,
                       const struct yaml_node *node, double *ret)
{
    if (node->kind == YAML_SCALAR && percent_parse(node->text, ret) == 0 && *ret > 0)
        return 0;
    return yaml_err(reader->err, node,
                    "parameter '%s': a weight of the prior must be a number above 0, not %s",
                    param->name, yaml_describe(node, &reader->arena));
}

static int read_weight_list(struct reader *reader, const struct param *param,
                            const struct yaml_node *list, double *weights)
{
    int r = 0;

    if (list->n != param->n_choices)
        return yaml_err(reader->err, list,
                        "parameter '%s': the prior has %zu weights for %zu values", param->name,
                        list->n, param->n_choices);
    for (size_t i = 0; i < list->n && r == 0; i++)
        r = read_weight(reader, param, list->items[i], &weights[i]);
    return r;
}

static int read_weight_map(struct reader *reader, const struct param *param,
                           const struct yaml_node *map, double *weights)
{
    for (size_t i = 0; i < map->n; i++) {
        size_t k = 0;
        int r = read_choice(reader, param, map->keys[i], &k);
        if (r == 0)
            r = read_weight(reader, param, map->items[i], &weights[k]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What sums to 1 stays as it is, to the last bit. */
static int normalise(struct reader *reader, const struct param *param, const struct yaml_node *node)
{
    double *weights = param->prior.weights, sum = 0;

    for (size_t i = 0; i < param->n_choices; i++)
        sum += weights[i];
    if (fabs(sum - 1) < 1e-9)
        return 0;
    for (size_t i = 0; i < param->n_choices; i++) {
        if (weights[i] < WEIGHT_MIN || weights[i] > WEIGHT_MAX)
            return yaml_err(reader->err, node,
                            "parameter '%s': weights of the prior go from 0.001 to 1000",
                            param->name);
        weights[i] /= sum;
    }
    return 0;
}

static int read_choice_prior(struct reader *reader, struct param *param,
                             const struct yaml_node *node)
{
    double *weights = param->prior.weights = xcalloc(param->n_choices, sizeof(*weights));
    size_t guess = 0;
    int r;

    for (size_t i = 0; i < param->n_choices; i++)
        weights[i] = 1;
    if (node->kind == YAML_LIST)
        r = read_weight_list(reader, param, node, weights);
    else if (node->kind == YAML_MAP && !yaml_find(node, "raw"))
        r = read_weight_map(reader, param, node, weights);
    else if ((r = read_choice(reader, param, node, &guess)) == 0)
        weights[guess] = GUESS_WEIGHT;
    return r < 0 ? r : normalise(reader, param, node);
}

int read_prior(struct reader *reader, struct param *param, const struct yaml_node *node)
{
    if (param_size(param) == 1)
        return 0; /* there is nothing to expect */
    if (param->type == PARAM_CHOICE)
        return read_choice_prior(reader, param, node);
    return read_number_prior(reader, param, node);
}
