/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SEARCH_NESTED_H
#define BENCH_SEARCH_NESTED_H

#include <stddef.h>

/* A closed form with conditional parameters, two levels deep, in the shape of "which method, and
 * its settings": linear, trees or network, each with parameters of its own, some of which depend on
 * another of them. To be minimised; the least value is 0 in every instance, and it is reached. */

enum nested_kind { NESTED_FLOAT, NESTED_INT, NESTED_CHOICE };

struct nested_param {
    const char *name;
    enum nested_kind kind;
    int log;          /* numbers: the scale is logarithmic */
    double low, high; /* numbers: the ends; choices: 0 and their count - 1 */
    int parent;       /* active only where this one (an earlier one) is active … */
    unsigned values;  /* … and has one of these values, a bit each; -1, 0: always active */
    int partner;      /* the best value leans on this one's (an earlier one); -1: none */
    double weight;    /* of a wrong value */
};

size_t nested_count(void);
const struct nested_param *nested_at(size_t i);
/* Whether parameter i is active, given the ones before it. Inactive ones are NaN. */
int nested_active(size_t i, const double *x);
/* The value of instance 1, 2, … at x[nested_count()]: numbers as they are, choices by number. */
double nested_value(int instance, const double *x);
/* Where the least value is. */
void nested_optimum(int instance, double *ret_x);

#endif
