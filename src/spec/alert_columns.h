/* SPDX-License-Identifier: MIT */
/*
 * alert_columns.h — what the condition of an alert may ask of a running trial: its fields, its
 * parameters, the metrics that the spec names, and any other name as a metric that may come.
 * The reader of specs checks conditions against these columns, the engine evaluates them.
 */
#ifndef HONE_ALERT_COLUMNS_H
#define HONE_ALERT_COLUMNS_H

#include "base/arena.h"
#include "expr/expr.h"
#include "model/spec.h"
#include "model/trial.h"

/* The columns, in the arena; names are the spec's. The same spec gives the same columns. */
const struct expr_column *alert_columns(const struct spec *spec, struct arena *arena,
                                        size_t *ret_n);
/* Parse a condition against them; `now` in it is `now_us`. 0, or -EINVAL with a sentence. One that
 * was stored is taken also if it can never hold. */
int alert_condition_parse(const char *text, const struct expr_column *columns, size_t n,
                          int64_t now_us, bool stored, struct expr **ret, struct err *err);
/* The value of a field or parameter; `run_us`: how long it has run so far. Null: it has none. */
struct expr_value alert_field(const struct spec *spec, const struct trial *trial, int64_t run_us,
                              size_t column);

#endif
