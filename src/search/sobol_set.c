/* SPDX-License-Identifier: MIT */
/*
 * sobol_set.c — a scrambled Sobol sequence: points that fill the space more evenly than chance
 * does.
 *
 * Point number i is, in each dimension, the XOR of the direction numbers of the bits of i's Gray
 * code; any 2^k consecutive points from a multiple of 2^k fall one into each of 2^k equal slices of
 * every axis. The seed scrambles it as Matoušek (1998) does, which keeps that: each dimension's
 * binary digits are multiplied by a random lower triangular matrix with ones on its diagonal, then
 * shifted by a random word.
 */
#include "search/sobol_set.h"
#include "base/rng.h"
#include "search/sobol_table.h"

#define COLUMNS SOBOL_COLUMNS

/* Direction numbers of one dimension by the recurrence of its polynomial (Bratley, Fox 1988). */
static void fill_directions(size_t dim, uint64_t v[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++)
        v[i] = 1ULL << (63 - i);
    if (dim == 0)
        return;
    const struct sobol_row *row = &sobol_table[dim - 1];
    for (unsigned i = 0; i < MIN(row->degree, SOBOL_DEGREE); i++)
        v[i] = (uint64_t)row->initial[i] << (63 - i);
    for (unsigned i = row->degree; i < COLUMNS; i++) {
        uint64_t oldest = v[i - row->degree];
        v[i] = oldest ^ (oldest >> row->degree);
        for (unsigned k = 1; k < row->degree; k++)
            if (row->coefficients >> (row->degree - 1 - k) & 1)
                v[i] ^= v[i - k];
    }
}

static void scramble(uint64_t v[COLUMNS], struct rng *rng)
{
    uint64_t scrambled[COLUMNS] = {0};
    for (unsigned r = 0; r < 64; r++) {
        uint64_t bit = 1ULL << (63 - r);
        uint64_t row = (rng_u64(rng) & ~(bit | (bit - 1))) | bit;
        for (unsigned i = 0; i < COLUMNS; i++)
            if (__builtin_parityll(row & v[i]))
                scrambled[i] |= bit;
    }
    memcpy(v, scrambled, sizeof(scrambled));
}

static double unit(const struct sobol_set *set, size_t dim, uint64_t number)
{
    uint64_t x = set->shifts[dim];
    for (uint64_t gray = number ^ (number >> 1); gray; gray &= gray - 1)
        x ^= set->directions[dim][__builtin_ctzll(gray) % COLUMNS];
    return (double)(x >> 11) * 0x1p-53;
}

void sobol_set_point(const struct sobol_set *set, uint64_t number, double *ret_x)
{
    const struct space *space = set->space;
    struct rng rng;
    size_t dim = 0;

    rng_init(&rng, set->seed, number + 1);
    for (size_t i = 0; i < space->n; i++) {
        double u = 0;
        if (param_size(&space->params[i]) > 1) {
            u = dim < set->dims ? unit(set, dim, number) : rng_unit(&rng);
            dim++;
        }
        ret_x[i] = param_from_unit(&space->params[i], u);
    }
}

void sobol_set_init(struct sobol_set *set, const struct space *space, uint64_t seed)
{
    struct rng rng;

    *set = (struct sobol_set){.space = space, .seed = seed};
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < space->n && set->dims < SOBOL_DIMENSIONS; i++)
        set->dims += param_size(&space->params[i]) > 1;
    set->directions = xcalloc(set->dims, sizeof(*set->directions));
    set->shifts = xcalloc(set->dims, sizeof(*set->shifts));
    for (size_t dim = 0; dim < set->dims; dim++) {
        fill_directions(dim, set->directions[dim]);
        scramble(set->directions[dim], &rng);
        set->shifts[dim] = rng_u64(&rng);
    }
}

void sobol_set_release(struct sobol_set *set)
{
    free(set->directions);
    free(set->shifts);
}
