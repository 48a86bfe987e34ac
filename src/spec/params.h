/* SPDX-License-Identifier: MIT */
/*
 * params.h — what params.c, range.c, when.c, prior.c, system.c, forbid.c and tries.c share.
 * Private to spec/.
 */
#ifndef HONE_SPEC_PARAMS_H
#define HONE_SPEC_PARAMS_H

#include "spec/reader.h"

/* Can it name a parameter? `key` is where it stands. */
int check_param_name(struct reader *reader, const struct yaml_node *key);
/* The values of a parameter: a constant, a list, or a mapping with values, range, or min and max.
 * Other keys of the mapping are not looked at. */
int read_param_values(struct reader *reader, struct param *param, const struct yaml_node *node);
/* Make it a constant; takes the value over. */
void param_set_constant(struct param *param, struct value value);
/* A scalar, or {raw: TEXT}: a plain scalar that JSON could not write as it is. Release *ret. */
int read_value(struct reader *reader, const struct yaml_node *node, const char *name,
               struct value *ret);
/* A finite number; `key` names it in errors. Release *ret. */
int read_bound(struct reader *reader, const struct yaml_node *node, const char *name,
               const char *key, struct value *ret);
/* [start, end, step]: start, start + step, … below end. */
int read_range(struct reader *reader, struct param *param, const struct yaml_node *node);

/* Where the user expects good values. */
int read_prior(struct reader *reader, struct param *param, const struct yaml_node *node);
/* ", did you mean 'x'?" of the parameters there are. */
const char *closest_param(struct reader *reader, const struct space *space, const char *name);

/* Put the space in order and resolve the conditions; `params` is the section, in file order. */
int connect_params(struct reader *reader, struct space *space, const struct yaml_node *params);

#endif
