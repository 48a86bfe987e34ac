/* SPDX-License-Identifier: MIT */
/*
 * tables.c — reading the tables.
 */
#include "bench/search/tables.h"
#include "base/json.h"
#include "base/rng.h"
#include "bench/search/driver.h"

#include <jansson.h>
#include <math.h>
#include <zlib.h>

const char *const table_names[] = {
    "hpobench_australian",     "hpobench_car",
    "hpobench_phoneme",        "hpobench_vehicle",
    "hpolib_naval_propulsion", "hpolib_protein_structure",
    "nasbench201_cifar10",
};
const size_t n_tables = ARRAY_LEN(table_names);

/* The k of the value that `word` is. */
static double find_value(const json_t *values, const char *word, const char *path)
{
    for (size_t k = 0; k < json_array_size(values); k++) {
        const json_t *value = json_array_get(values, k);
        if (json_is_string(value) ? str_eq(json_string_value(value), word)
                                  : fabs(strtod(word, NULL) - json_number_value(value)) <=
                                        1e-9 * fabs(json_number_value(value)))
            return (double)k;
    }
    die("%s: no parameter has the value '%s'", path, word);
}

static struct param read_param(const json_t *json)
{
    const json_t *values = json_object_get(json, "values");
    size_t n = json_array_size(values);
    struct param param = {.name = xstrdup(json_string_value(json_object_get(json, "name")))};

    if (!str_eq(json_string_value(json_object_get(json, "type")), "categorical")) {
        param.type = PARAM_INT;
        param.max = (double)n - 1;
        return param;
    }
    param.type = PARAM_CHOICE;
    param.n_choices = n;
    param.choices = xcalloc(n, sizeof(*param.choices));
    for (size_t k = 0; k < n; k++)
        param.choices[k] = value_guess(json_string_value(json_array_get(values, k)), false);
    return param;
}

static size_t code_of(const struct table *table, const double *x)
{
    size_t code = 0;
    for (size_t i = 0; i < table->space.n; i++)
        code = code * (size_t)param_size(&table->space.params[i]) + (size_t)x[i];
    return code;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(struct table *table)
{
    autofree(mem) double *sorted = xcalloc(table->n, sizeof(*sorted));

    table->mean = xcalloc(table->n, sizeof(*table->mean));
    for (size_t i = 0; i < table->n; i++) {
        double sum = 0, count = 0;
        for (size_t k = 0; k < TABLE_REPEATS; k++)
            if (!isnan(table->values[i * TABLE_REPEATS + k])) {
                sum += table->values[i * TABLE_REPEATS + k];
                count++;
            }
        if (isnan(table->values[i * TABLE_REPEATS]))
            die("%s: row %zu has no values", table->name, i);
        sorted[i] = table->mean[i] = (table->maximize ? -1 : 1) * sum / count;
    }
    qsort(sorted, table->n, sizeof(*sorted), compare);
    table->best = sorted[0];
    table->median =
        table->n % 2 ? sorted[table->n / 2] : (sorted[table->n / 2 - 1] + sorted[table->n / 2]) / 2;
}

static void read_line(struct table *table, const json_t *params, char *line, const char *path)
{
    double *x = table->points + table->n * table->space.n;
    size_t column = 0, repeat = 0;
    char *rest = line, *word;

    line[strcspn(line, "\r\n")] = '\0';
    for (size_t k = 0; k < TABLE_REPEATS; k++)
        table->values[table->n * TABLE_REPEATS + k] = NAN;
    while ((word = strsep(&rest, ","))) {
        if (column < table->space.n)
            x[column] =
                find_value(json_object_get(json_array_get(params, column), "values"), word, path);
        else if (*word && repeat < TABLE_REPEATS)
            table->values[table->n * TABLE_REPEATS + repeat++] = strtod(word, NULL);
        column++;
    }
    if (column < table->space.n)
        die("%s: line %zu is too short", path, table->n + 2);
    table->row_of[code_of(table, x)] = (int32_t)table->n++;
}

static void read_rows(struct table *table, const json_t *params, const char *path)
{
    char line[4096];
    size_t all = (size_t)space_size(&table->space);
    gzFile file = gzopen(path, "rb");

    if (!file || !gzgets(file, line, sizeof(line)))
        die("%s cannot be read", path);
    table->values = xcalloc(all * TABLE_REPEATS, sizeof(*table->values));
    table->points = xcalloc(all * table->space.n, sizeof(*table->points));
    table->row_of = xcalloc(all, sizeof(*table->row_of));
    memset(table->row_of, 0xff, all * sizeof(*table->row_of));
    while (gzgets(file, line, sizeof(line))) {
        if (table->n == all)
            die("%s has more lines than settings", path);
        read_line(table, params, line, path);
    }
    gzclose(file);
}

void table_load(struct table *table, const char *folder, const char *name)
{
    autofree(mem) char *family = xstrndup(name, strcspn(name, "_"));
    autofree(mem) char *meta = xasprintf("%s/%s.json", folder, family);
    autofree(mem) char *path = xasprintf("%s/%s.csv.gz", folder, name);
    json_t *json = json_load_file(meta, 0, NULL);

    if (!json)
        die("%s cannot be read", meta);
    *table = (struct table){.name = xstrdup(name)};
    table->maximize = str_eq(json_string_value(json_object_get(json, "goal")), "maximize");
    const json_t *params = json_object_get(json, "params");
    table->space.n = json_array_size(params);
    table->space.params = xcalloc(table->space.n, sizeof(*table->space.params));
    for (size_t i = 0; i < table->space.n; i++)
        table->space.params[i] = read_param(json_array_get(params, i));
    read_rows(table, params, path);
    json_decref(json);
    summarise(table);
}

void table_release(struct table *table)
{
    space_release(&table->space);
    free(table->name);
    free(table->values);
    free(table->points);
    free(table->mean);
    free(table->row_of);
}

const double *table_point(const struct table *table, size_t row)
{
    return table->points + row * table->space.n;
}

size_t table_row(const struct table *table, const double *x)
{
    int32_t row = table->row_of[code_of(table, x)];
    if (row < 0)
        die("%s has a hole", table->name);
    return (size_t)row;
}

double table_feedback(const struct table *table, size_t row, uint64_t seed, uint64_t trial,
                      int *ret_repeat)
{
    const double *values = table->values + row * TABLE_REPEATS;
    uint64_t n = 1; /* summarise() saw the first */

    while (n < TABLE_REPEATS && !isnan(values[n]))
        n++;
    uint64_t repeat = hash_u64(seed * 1000003 + trial) % n;
    if (ret_repeat)
        *ret_repeat = (int)repeat;
    return (table->maximize ? -1 : 1) * values[repeat];
}

double *table_deal(const struct table *table, uint64_t seed)
{
    const size_t width = TABLE_REPEATS * sizeof(double);
    double *dealt = xmemdup(table->values, table->n * width);
    double held[TABLE_REPEATS];
    struct rng rng;

    rng_init(&rng, seed, 0);
    for (size_t i = table->n; i > 1; i--) {
        double *a = dealt + (i - 1) * TABLE_REPEATS;
        double *b = dealt + rng_below(&rng, i) * TABLE_REPEATS;
        memcpy(held, a, width);
        memmove(a, b, width);
        memcpy(b, held, width);
    }
    return dealt;
}

double table_regret(const struct table *table, size_t row)
{
    return (table->mean[row] - table->best) / (table->median - table->best);
}
