/* SPDX-License-Identifier: MIT */
/*
 * mlflow_filter.h — MLflow's filter strings and orders:
 *
 *     metrics.loss < 0.5 AND params."batch size" = '32' AND tags.`mlflow.user` LIKE 'a%'
 *     attributes.run_id IN ('…', '…')    tags.x IS NOT NULL    order: metrics.acc DESC
 *
 * A text becomes a list of clauses, all of which must hold. Pure: what a row has is asked through a
 * function.
 */
#ifndef HONE_MLFLOW_FILTER_H
#define HONE_MLFLOW_FILTER_H

#include "base/err.h"
#include "base/str.h"

enum mlflow_entity { MLFLOW_METRIC, MLFLOW_PARAM, MLFLOW_TAG, MLFLOW_ATTRIBUTE, MLFLOW_DATASET };
enum mlflow_op {
    MLFLOW_EQ,
    MLFLOW_NE,
    MLFLOW_LT,
    MLFLOW_LE,
    MLFLOW_GT,
    MLFLOW_GE,
    MLFLOW_LIKE,
    MLFLOW_ILIKE,
    MLFLOW_IN,
    MLFLOW_NOT_IN,
    MLFLOW_IS_NULL,
    MLFLOW_IS_NOT_NULL
};

/* The attributes of what is searched: a table, ended by a NULL name. */
struct mlflow_attribute {
    const char *name;
    int id; /* the caller's */
    bool numeric;
    bool listed; /* may stand before IN */
};
struct mlflow_language {
    const struct mlflow_attribute *attributes;
    bool runs; /* metrics, params and datasets, too; else attributes and tags alone */
};

/* A name as it stands in a clause or an order. */
struct mlflow_name {
    enum mlflow_entity entity;
    int attribute; /* id of an attribute */
    bool numeric;  /* a metric, or such an attribute */
    char *key;
};
struct mlflow_clause {
    struct mlflow_name name;
    enum mlflow_op op;
    double number; /* of what is numeric */
    struct {       /* a VEC: the text, or those of a list */
        char **at;
        size_t len, cap;
    } texts;
};
struct mlflow_filter {
    struct mlflow_clause *at; /* a VEC */
    size_t len, cap;
};
void mlflow_filter_release(struct mlflow_filter *filter);
/* NULL or blank: no clause. -EINVAL with a sentence. */
int mlflow_filter_parse(const char *text, const struct mlflow_language *language,
                        struct mlflow_filter *ret, struct err *err);

struct mlflow_order {
    struct mlflow_name name;
    bool descending;
};
void mlflow_order_release(struct mlflow_order *order);
int mlflow_order_parse(const char *text, const struct mlflow_language *language,
                       struct mlflow_order *ret, struct err *err);

/* What a row has under a name. */
struct mlflow_value {
    bool there;
    double number;
    const char *text;
};
typedef struct mlflow_value mlflow_get_fn(const void *row, const struct mlflow_name *name);
/* Of a dataset clause: does one of the row's datasets fit? */
typedef bool mlflow_dataset_fn(const void *row, const struct mlflow_clause *clause);
bool mlflow_holds(const struct mlflow_clause *clause, const struct mlflow_value *value);
bool mlflow_matches(const struct mlflow_filter *filter, const void *row, mlflow_get_fn *get,
                    mlflow_dataset_fn *datasets);
/* Which comes first: absent ones last, NaN before them. */
int mlflow_compare(const struct mlflow_order *order, const struct mlflow_value *a,
                   const struct mlflow_value *b);
/* SQL's LIKE: % any text, _ any character. */
bool mlflow_like(const char *text, const char *pattern, bool any_case);

#endif
