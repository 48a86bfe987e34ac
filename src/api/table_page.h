/* SPDX-License-Identifier: MIT */
/*
 * table_page.h — columns and rows of a table as JSON: GET /v1/experiments/E/trials.
 */
#ifndef HONE_TABLE_PAGE_H
#define HONE_TABLE_PAGE_H

#include "api/table.h"
#include "base/arena.h"
#include "base/json.h"

#define PAGE_COLUMNS_MAX 1000

/* What was asked for, in its order. Zero is none. */
struct page_columns {
    struct arena arena;
    VEC(struct table_column) list;
};
/* "number,params.lr": -EINVAL with a sentence. A metric need not be there (yet): its cells are
 * empty, `at` is SIZE_MAX. Names with a comma have it doubled. */
int page_columns_parse(struct page_columns *columns, const struct trial_table *table,
                       const char *names, struct err *err);
/* Number, state, value, every parameter, the last value of every metric, time. While the
 * table has not read its metrics, those of these rows and of a sample of all are taken. */
int page_columns_default(struct page_columns *columns, const struct trial_table *table,
                         struct store *store, const uint32_t *rows, size_t n, struct err *err);
void page_columns_release(struct page_columns *columns);

/* [{"name":"params.lr","kind":"param","type":"number","min":…,"max":…},…] */
void page_put_columns(struct json_out *out, struct trial_table *table,
                      const struct page_columns *columns);
/* [[…],…] */
int page_put_rows(struct json_out *out, const struct trial_table *table, struct store *store,
                  const struct page_columns *columns, const uint32_t *rows, size_t n,
                  struct err *err);

#endif
