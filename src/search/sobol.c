/* SPDX-License-Identifier: MIT */
/*
 * sobol.c — a scrambled Sobol sequence: points that fill the space more evenly than chance does.
 *
 * Point number i is, in each dimension, the XOR of the direction numbers of the bits of i's Gray
 * code; any 2^k consecutive points from a multiple of 2^k fall one into each of 2^k equal slices of
 * every axis. The seed scrambles it as Matoušek (1998) does, which keeps that: each dimension's
 * binary digits are multiplied by a random lower triangular matrix with ones on its diagonal, then
 * shifted by a random word.
 *
 * Each parameter with more than one value takes a dimension, in the order of the file; those past
 * the last dimension of the table are drawn at random.
 */
#include "search/draw.h"
#include "search/sobol_table.h"

#define COLUMNS 40 /* good for 2^40 points */

struct sobol {
    struct search base;
    uint64_t drawn;
    size_t dims;
    uint64_t (*directions)[COLUMNS]; /* (dims, COLUMNS), scrambled; bit 63 counts 1/2 */
    uint64_t *shifts;                /* (dims) */
};

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

static double sobol_unit(const struct sobol *sobol, size_t dim, uint64_t number)
{
    uint64_t x = sobol->shifts[dim];
    for (uint64_t gray = number ^ (number >> 1); gray; gray &= gray - 1)
        x ^= sobol->directions[dim][__builtin_ctzll(gray) % COLUMNS];
    return (double)(x >> 11) * 0x1p-53;
}

static void sobol_point(const struct search *s, uint64_t number, double *ret_x)
{
    const struct sobol *sobol = (const struct sobol *)s;
    struct rng rng;
    size_t dim = 0;

    rng_init(&rng, s->problem.seed, number + 1);
    for (size_t i = 0; i < s->space->n; i++) {
        double u = 0;
        if (param_size(&s->space->params[i]) > 1) {
            u = dim < sobol->dims ? sobol_unit(sobol, dim, number) : rng_unit(&rng);
            dim++;
        }
        ret_x[i] = param_from_unit(&s->space->params[i], u);
    }
}

static int sobol_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    return draw_fresh(s, sobol_point, &((struct sobol *)s)->drawn, ret->x, err);
}

static int sobol_init(struct search *s, struct err *err UNUSED)
{
    struct sobol *sobol = (struct sobol *)s;
    struct rng rng;

    rng_init(&rng, s->problem.seed, 0);
    for (size_t i = 0; i < s->space->n && sobol->dims < SOBOL_DIMENSIONS; i++)
        sobol->dims += param_size(&s->space->params[i]) > 1;
    sobol->directions = xcalloc(sobol->dims, sizeof(*sobol->directions));
    sobol->shifts = xcalloc(sobol->dims, sizeof(*sobol->shifts));
    for (size_t dim = 0; dim < sobol->dims; dim++) {
        fill_directions(dim, sobol->directions[dim]);
        scramble(sobol->directions[dim], &rng);
        sobol->shifts[dim] = rng_u64(&rng);
    }
    return 0;
}

static void sobol_release(struct search *s)
{
    struct sobol *sobol = (struct sobol *)s;
    free(sobol->directions);
    free(sobol->shifts);
}

static void sobol_save(const struct search *s, struct str *to)
{
    draw_save(((const struct sobol *)s)->drawn, to);
}

static int sobol_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    return draw_load(bytes, n, &((struct sobol *)s)->drawn, err);
}

const struct search_ops search_sobol = {
    .name = "sobol",
    .help = "a scrambled Sobol sequence: fills the space evenly",
    .size = sizeof(struct sobol),
    .init = sobol_init,
    .ask = sobol_ask,
    .save = sobol_save,
    .load = sobol_load,
    .release = sobol_release,
    .several = true,
};
