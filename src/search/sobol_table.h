/* SPDX-License-Identifier: MIT */
/*
 * sobol_table.h — primitive polynomials and initial direction numbers of the Sobol sequence.
 */
#ifndef HONE_SEARCH_SOBOL_TABLE_H
#define HONE_SEARCH_SOBOL_TABLE_H

#include <stdint.h>

#define SOBOL_DIMENSIONS 101
#define SOBOL_DEGREE     9

/* x^degree + c[1]·x^(degree-1) + … + c[degree-1]·x + 1; c[1] is the highest bit of coefficients. */
struct sobol_row {
    uint8_t degree;
    uint8_t coefficients;
    uint16_t initial[SOBOL_DEGREE]; /* `degree` odd numbers, the k-th (from 0) below 2^(k+1) */
};

/* Dimension d is row d - 1; dimension 0 needs none: its numbers are 1/2, 1/4, 1/8, … */
extern const struct sobol_row sobol_table[SOBOL_DIMENSIONS - 1];

#endif
