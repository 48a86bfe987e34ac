/* SPDX-License-Identifier: MIT */
/*
 * speed_internal.h — the rows of the speed model, and the model fitted to them. Private to
 * speed*.c.
 */
#ifndef HONE_TUNE_SPEED_INTERNAL_H
#define HONE_TUNE_SPEED_INTERNAL_H

#include "surrogate/gp.h"
#include "tune/speed.h"
#include "tune/usl.h"

/* The windows of one trial under one configuration at one load. */
struct speed_row {
    uint64_t trial;
    bool knowledge; /* from speed_prior(); `trial` means nothing */
    size_t configuration;
    double load;
    size_t windows;
    double mean, variance; /* of ln seconds; variance is that of one window */
    double size;           /* of the trial's steps, ln */
};

/* What is known of a trial beside its windows. */
struct speed_trial {
    uint64_t number;
    double ln_size;
    double *params; /* (speed->d); NULL: not told */
};

/* Fitted for one trial at one load: its own rows count in full. */
struct speed_model {
    uint64_t trial;
    double load;
    double size;        /* of the trial's steps, ln */
    size_t *feature_of; /* (configurations) of its free effect; SIZE_MAX: no row */
    size_t *first;      /* (knobs + 1) a count's slope, or a choice's effects; then the load */
    size_t f;           /* features: knobs, load, sizes, levels, parameters, then free effects */
    uint64_t *units;    /* (n_units) that progress is counted in: each has a level of its own */
    size_t n_units, levels, params; /* where their features begin */
    double *theta;                  /* (f) */
    double *covariance;             /* (f, f), lower triangle */
    double *centre;                 /* (f) mean features of the trial's rows */
    double *row_base;               /* (rows) of the row's trial */
    double base, spread;            /* of the trial; spread² is what is left if theta were known */
    bool alike;    /* the base is made of the features of level and parameters, too */
    double apart;  /* deviation of a trial's base from what its parameters say */
    struct gp *gp; /* NULL: free effects instead */
    double gp_scale;
};

struct speed {
    struct knob *knobs;
    size_t n;
    bool many;                  /* more configurations than SPEED_RIDGE */
    VEC(double) configurations; /* (m, n) */
    VEC(bool) infeasible;       /* (m) */
    VEC(struct speed_row) rows;
    VEC(struct speed_trial) trials;
    bool sized; /* some trial has told the size of its steps */
    size_t d;   /* parameters of a trial */
    double change_sum[CHANGE_KINDS];
    size_t change_count[CHANGE_KINDS];
    struct speed_model *model; /* NULL: to be fitted */
    struct usl *laws;          /* (n) as fitted last */
    double *lengths;           /* the process's hyper-parameters as fitted last; NULL: never */
    bool stale;                /* both are to be fitted again, not only fed */
};

/* Also fits laws and lengths if they are stale. */
struct speed_model *speed_fit(struct speed *speed, uint64_t trial, double load);
void speed_model_free(struct speed_model *model);
/* What was told of the trial, in whatever unit; NULL: nothing. */
const struct speed_trial *speed_trial_of(const struct speed *speed, uint64_t trial);
/* Index of the configuration, SIZE_MAX if it was never told. */
size_t speed_find(const struct speed *speed, const double *configuration);
struct belief_ln speed_model_predict(const struct speed *speed, const struct speed_model *model,
                                     const double *configuration);
void speed_model_compare(const struct speed *speed, const struct speed_model *model,
                         const double *configurations, size_t m, const double *b,
                         struct belief_ln *ret);

#endif
