/* SPDX-License-Identifier: MIT */
/*
 * range.c — {range: [start, end, step]}, half-open like Python's. Step 1 if left out; a negative
 * step counts down.
 *
 * 0.1 + 0.1 + 0.1 is not 0.3, so decimals are counted as whole numbers of their last digit:
 * [0, 1, 0.1] is 0..10 by 1 tenths, and each value is written from that. Whole ranges become
 * integer parameters, others ordered choices.
 */
#include "spec/params.h"

#include <errno.h>
#include <math.h>

#define DIGITS_MAX 15

/* A decimal as units · 10^-digits. */
struct decimal {
    int64_t units;
    int digits;
};

/* Digits behind the point of a number as written, exponent included; may be negative. */
static int decimal_places(const char *text)
{
    const char *point = strchr(text, '.'), *e = strpbrk(text, "eE");
    int places = 0;

    if (str_starts(text, "0x") || str_starts(text, "0o"))
        return 0;
    if (point)
        places = (int)((e ? e : text + strlen(text)) - point - 1);
    return e ? places - (int)strtol(e + 1, NULL, 10) : places;
}

/* x · 10^digits as a whole number; false if it is not one that doubles hold exactly. */
static bool scale_up(double x, int digits, int64_t *ret)
{
    double scaled = nearbyint(x * pow(10, digits));
    *ret = (int64_t)(fabs(scaled) < 0x1p53 ? scaled : 0);
    return fabs(scaled) < 0x1p53;
}

struct range {
    int64_t start, end, step; /* units */
    int digits;
    double n; /* values */
};

static int refuse_range_node(struct reader *reader, const struct param *param,
                             const struct yaml_node *node, const char *why)
{
    return yaml_err(reader->err, node, "parameter '%s': range %s", param->name, why);
}

static int make_range(struct reader *reader, const struct param *param,
                      const struct yaml_node *node, const struct value values[3], struct range *ret)
{
    int64_t units[3];

    ret->digits = 0;
    for (int i = 0; i < 3; i++)
        ret->digits = MAX(ret->digits, decimal_places(values[i].text));
    for (int i = 0; i < 3; i++)
        if (ret->digits > DIGITS_MAX || !scale_up(values[i].number, ret->digits, &units[i]))
            return refuse_range_node(reader, param, node, "has too many digits; use min and max");
    if (units[2] == 0)
        return refuse_range_node(reader, param, node, "has a step of 0");
    *ret = (struct range){units[0], units[1], units[2], ret->digits, 0};
    ret->n = ceil((double)(units[1] - units[0]) / (double)units[2]);
    if (ret->n < 1)
        return refuse_range_node(reader, param, node,
                                 "is empty: it is [start, end, step] without the end");
    return 0;
}

static struct value decimal_value(struct decimal d)
{
    uint64_t units = d.units < 0 ? -(uint64_t)d.units : (uint64_t)d.units, power = 1;

    for (int i = 0; i < d.digits; i++)
        power *= 10;
    autofree(mem) char *text = NULL;
    if (d.digits == 0)
        text = xasprintf("%s%llu", d.units < 0 ? "-" : "", (unsigned long long)units);
    else
        text =
            xasprintf("%s%llu.%0*llu", d.units < 0 ? "-" : "", (unsigned long long)(units / power),
                      d.digits, (unsigned long long)(units % power));
    return value_guess(text, false);
}

static int list_values(struct reader *reader, struct param *param, const struct yaml_node *node,
                       const struct range *range)
{
    if (range->n > VALUES_MAX)
        return refuse_range_node(reader, param, node,
                                 "has more than 10000 values; use min and max");
    param->type = PARAM_CHOICE;
    param->n_choices = (size_t)range->n;
    param->choices = xcalloc(param->n_choices, sizeof(*param->choices));
    param->ordered = param->n_choices > 1;
    for (size_t i = 0; i < param->n_choices; i++)
        param->choices[i] =
            decimal_value((struct decimal){range->start + (int64_t)i * range->step, range->digits});
    return 0;
}

static int fill_range(struct reader *reader, struct param *param, const struct yaml_node *node,
                      const struct value values[3])
{
    struct range range;
    int r = make_range(reader, param, node, values, &range);

    if (r < 0)
        return r;
    if (range.digits > 0 || range.step < 0 || range.n == 1)
        return list_values(reader, param, node, &range);
    param->type = PARAM_INT;
    param->min = (double)range.start;
    param->max = (double)range.start + (range.n - 1) * (double)range.step;
    param->step = (double)range.step;
    return 0;
}

int read_range(struct reader *reader, struct param *param, const struct yaml_node *node)
{
    static const char *const keys[] = {"start", "end", "step"};
    struct value values[3] = {{0}, {0}, value_int(1)};
    int r = 0;

    if (node->kind != YAML_LIST || node->n < 2 || node->n > 3)
        r = refuse_range_node(reader, param, node, "must be [start, end] or [start, end, step]");
    for (size_t i = 0; r == 0 && i < node->n; i++) {
        value_release(&values[i]);
        r = read_bound(reader, node->items[i], param->name, keys[i], &values[i]);
    }
    if (r == 0)
        r = fill_range(reader, param, node, values);
    for (int i = 0; i < 3; i++)
        value_release(&values[i]);
    return r;
}
