/* SPDX-License-Identifier: MIT */
/*
 * encode.c — points of the space as features.
 */
#include "search/encode.h"

#include <math.h>

void encoder_init(struct encoder *encoder, const struct space *space)
{
    *encoder = (struct encoder){
        .space = space,
        .param = xcalloc(space->n + 1, sizeof(*encoder->param)),
        .category = xcalloc(space->n + 1, sizeof(*encoder->category)),
    };
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (param_size(param) <= 1)
            continue;
        encoder->category[encoder->d] = param->type == PARAM_CHOICE && !param->ordered;
        encoder->param[encoder->d++] = i;
    }
}

void encoder_release(struct encoder *encoder)
{
    free(encoder->param);
    free(encoder->category);
}

void encode(const struct encoder *encoder, const double *x, double *ret_features)
{
    for (size_t j = 0; j < encoder->d; j++) {
        size_t i = encoder->param[j];
        if (encoder->category[j])
            ret_features[j] = isnan(x[i]) ? -1 : x[i];
        else
            ret_features[j] = param_to_unit(&encoder->space->params[i], x[i]);
    }
}
