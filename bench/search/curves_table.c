/* SPDX-License-Identifier: MIT */
/*
 * curves_table.c — read a table of learning curves.
 */
#include "bench/search/curves.h"

#include <err.h>
#include <math.h>
#include <libgen.h>
#include <zlib.h>

#define LINE_MAX_BYTES 8192

#define ROWS_MAX 10000

static bool is_log(const char *name)
{
    return str_eq(name, "batch_size") || str_eq(name, "learning_rate") ||
           str_eq(name, "weight_decay") || str_eq(name, "max_units");
}

static bool is_int(const char *name)
{
    return str_eq(name, "batch_size") || str_eq(name, "num_layers") || str_eq(name, "max_units");
}

static void read_head(struct curve_table *table, char *line)
{
    char *rest = NULL, *name = strtok_r(line, ",", &rest);
    for (size_t j = 0; j < PARAMS && name; j++, name = strtok_r(NULL, ",", &rest))
        table->params[j] = (struct param){.name = xstrdup(name),
                                          .type = is_int(name) ? PARAM_INT : PARAM_FLOAT,
                                          .scale = is_log(name) ? SCALE_LOG : SCALE_LINEAR,
                                          .min = INFINITY,
                                          .max = -INFINITY};
}

static void read_row(struct curve_table *table, const char *line, const char *path)
{
    char *end;
    double *point = table->points[table->n];
    for (size_t j = 0; j < PARAMS + 1 + EPOCHS; j++) {
        double x = strtod(line, &end);
        if (end == line)
            errx(1, "%s: line %zu has too few numbers", path, table->n + 2);
        line = end + (*end == ',');
        if (j < PARAMS) {
            point[j] = x;
            table->params[j].min = fmin(table->params[j].min, x);
            table->params[j].max = fmax(table->params[j].max, x);
        } else if (j == PARAMS)
            table->seconds[table->n] = x;
        else
            table->accuracy[table->n][j - PARAMS - 1] = x;
    }
    table->best = fmax(table->best, table->accuracy[table->n++][EPOCHS - 1]);
}

void curve_table_load(struct curve_table *table, const char *path)
{
    autofree(mem) char *copy = xstrdup(path);
    autofree(mem) char *line = xmalloc(LINE_MAX_BYTES);

    *table = (struct curve_table){.best = -INFINITY};
    snprintf(table->name, sizeof(table->name), "%.*s", (int)strcspn(basename(copy), "."),
             basename(copy));
    table->points = xcalloc(ROWS_MAX, sizeof(*table->points));
    table->seconds = xcalloc(ROWS_MAX, sizeof(*table->seconds));
    table->accuracy = xcalloc(ROWS_MAX, sizeof(*table->accuracy));
    gzFile f = gzopen(path, "rb");
    if (!f || !gzgets(f, line, LINE_MAX_BYTES))
        errx(1, "cannot read %s", path);
    read_head(table, line);
    while (table->n < ROWS_MAX && gzgets(f, line, LINE_MAX_BYTES))
        read_row(table, line, path);
    if (gzclose(f) != Z_OK || table->n == 0)
        errx(1, "cannot read %s", path);
    table->space = (struct space){.params = table->params, .n = PARAMS};
}

void curve_table_release(struct curve_table *table)
{
    for (size_t j = 0; j < PARAMS; j++)
        free(table->params[j].name);
    free(table->points);
    free(table->seconds);
    free(table->accuracy);
}
