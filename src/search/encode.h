/* SPDX-License-Identifier: MIT */
/*
 * encode.h — points of the space as the features that models see. Private to search/.
 *
 * A number (and an ordered choice) is its place in [0,1], inactive: 1/2. Another choice is its
 * index, inactive: −1. Parameters with one value are left out.
 */
#ifndef HONE_SEARCH_ENCODE_H
#define HONE_SEARCH_ENCODE_H

#include "model/space.h"

struct encoder {
    const struct space *space;
    size_t d;
    size_t *param;  /* (d) which parameter feature j is */
    bool *category; /* (d) */
};
void encoder_init(struct encoder *encoder, const struct space *space);
void encoder_release(struct encoder *encoder);
void encode(const struct encoder *encoder, const double *x, double *ret_features);

#endif
