/* SPDX-License-Identifier: MIT */
/*
 * space.h — the hyperparameters that may vary, and points in their space.
 *
 * A point is one double a parameter, in natural units: the number itself for FLOAT and INT, the
 * index of the choice for CHOICE. NaN: the parameter is inactive there (its `when` does not hold).
 * A constant is a CHOICE of one. Every point outside search/ is canonical: space_settle() was
 * applied, so equal settings are equal points.
 */
#ifndef HONE_SPACE_H
#define HONE_SPACE_H

#include "model/value.h"

enum param_type { PARAM_FLOAT, PARAM_INT, PARAM_CHOICE };
enum param_scale { SCALE_LINEAR, SCALE_LOG };

/* Active only where parameter `param` (an earlier index) has one of these values. */
struct condition {
    size_t param;
    double *values; /* natural units of that parameter */
    size_t n_values;
};

/* A part of a forbidden combination: parameter `param` is active and has one of these values, or,
 * with none listed, lies in [min, max]. */
struct clause {
    size_t param;
    double *values;
    size_t n_values;
    double min, max;
};
/* Points where all clauses hold are not in the space. */
struct forbid {
    struct clause *clauses;
    size_t n;
};

/* Where the user expects good values. A choice has a weight each (they sum to 1); a number a mean
 * and a deviation on the axis of param_to_unit(). */
struct prior {
    double *weights; /* CHOICE; NULL: none */
    double mean, sd; /* FLOAT, INT; sd 0: none */
};

struct param {
    char *name;
    enum param_type type;
    enum param_scale scale; /* FLOAT, INT */
    double min, max;        /* FLOAT, INT: inclusive */
    double step;            /* FLOAT, INT: values are min + k·step; 0: any (INT: 1) */
    struct value *choices;  /* CHOICE */
    size_t n_choices;
    bool ordered; /* CHOICE: the order means something (a range, a list of numbers) */
    struct condition *when;
    size_t n_when; /* all must hold */
    struct prior prior;
};

struct space {
    struct param *params;
    size_t n;
    struct forbid *forbids;
    size_t n_forbids;
};

void space_release(struct space *space);
/* Index of the parameter called `name`, or -1. */
ptrdiff_t space_find(const struct space *space, const char *name);
/* Number of different settings; INFINITY with a free float. Exact but for conditions or forbidden
 * combinations so entangled that counting takes too long: then an upper bound. */
double space_size(const struct space *space);
/* Number of values of one parameter; INFINITY for a free float. */
double param_size(const struct param *param);
/* The k-th value of a finite parameter, k < param_size. */
double param_value_at(const struct param *param, double k);
/* The inverse: the k of the value nearest to x. */
double param_index(const struct param *param, double x);
/* Map u in [0,1] to a value of the parameter (scale, rounding to step, choices of equal width). */
double param_from_unit(const struct param *param, double u);
/* The inverse: the middle of the value's cell in [0,1]; 0.5 for NaN. */
double param_to_unit(const struct param *param, double x);
/* The length of that axis: of the natural units, or of their logarithm; INFINITY beyond doubles. */
double param_width(const struct param *param);
/* Is x in bounds and on its steps? Not for NaN. */
bool param_contains(const struct param *param, double x);
/* Is the parameter active at x? Looks at earlier parameters only. */
bool param_active(const struct param *param, const double *x);
/* Make x canonical: inactive parameters become NaN. */
void space_settle(const struct space *space, double *x);
/* Does it hold at x (canonical)? What is not finite there (TRY_FREE) is in no clause. */
bool forbid_holds(const struct forbid *forbid, const double *x);
/* Does a forbidden combination hold at x? */
bool space_forbids(const struct space *space, const double *x);
/* Is x canonical, in bounds, on its steps, and not forbidden? */
bool space_contains(const struct space *space, const double *x);
/* Equal points, NaN equal to NaN. */
bool point_equal(const double *a, const double *b, size_t n);
uint64_t point_hash(const double *x, size_t n);
/* The value of an active parameter as the program receives it. */
void param_text(const struct param *param, double x, struct str *to);
void param_json(const struct param *param, double x, struct json_out *out);
/* The value at x as a struct value (release it). */
struct value param_value(const struct param *param, double x);
/* Natural units of a value given by the user: number or choice. 0 or -EINVAL with a sentence. */
int param_parse(const struct param *param, const struct value *value, double *ret_x,
                struct err *err);
/* {"lr":0.01,"batch":32}: the active parameters, in their order. */
void space_json(const struct space *space, const double *x, struct json_out *out);
/* The same for people: lr=0.01 batch=32, floats to 5 digits. Constants are left out. */
void space_words(const struct space *space, const double *x, struct str *to);

#endif
