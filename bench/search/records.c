/* SPDX-License-Identifier: MIT */
/*
 * records.c — reading and writing histories.
 */
#include "bench/search/records.h"
#include "bench/search/driver.h"

/* The next field as a number; an absent or empty one is `missing`. */
static double field(char **rest, double missing)
{
    char *end, *word = strsep(rest, ",\r\n");
    if (!word || !*word)
        return missing;
    double value = strtod(word, &end);
    if (*end)
        die("'%s' is not a number", word);
    return value;
}

static struct record parse(char *line, size_t n, const char *path)
{
    char *rest = line;
    struct record record = {.seed = (uint64_t)field(&rest, 0)};

    record.trial = (size_t)field(&rest, 0);
    double row = field(&rest, -1);
    record.repeat = (int)field(&rest, 0);
    record.value = field(&rest, 0);
    double reported = field(&rest, -1);
    record.rerun = field(&rest, 0) > 0;
    if (!(row >= 0 && row < (double)n && reported < (double)n))
        die("%s: trial %zu of seed %llu has no row", path, record.trial,
            (unsigned long long)record.seed);
    record.row = (size_t)row;
    record.reported = reported < 0 ? SIZE_MAX : (size_t)reported;
    return record;
}

void records_load(struct records *records, const char *path, size_t n)
{
    autofree(mem) char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");

    *records = (struct records){0};
    if (!file || getline(&line, &size, file) < 0 ||
        !str_starts(line, "seed,trial,row,repeat,value"))
        die("%s cannot be read", path);
    while (getline(&line, &size, file) > 0) {
        struct record record = parse(line, n, path);
        const struct record *before = records->all.len ? vec_last(&records->all) : NULL;
        bool follows = before && before->seed == record.seed;
        if (record.trial != (follows ? before->trial + 1 : 0))
            die("%s: the trials of seed %llu have gaps", path, (unsigned long long)record.seed);
        vec_push(&records->all, record);
    }
    fclose(file);
}

void records_release(struct records *records)
{
    vec_release(&records->all);
}

const struct record *records_of(const struct records *records, uint64_t seed, size_t *ret_n)
{
    const struct record *first = NULL;

    *ret_n = 0;
    vec_foreach (record, &records->all)
        if (record->seed == seed) {
            first = first ? first : record;
            ++*ret_n;
        }
    return first;
}

void record_write(const struct record *record, FILE *to)
{
    fprintf(to, "%llu,%zu,%zu,%d,%.17g,", (unsigned long long)record->seed, record->trial,
            record->row, record->repeat, record->value);
    if (record->reported != SIZE_MAX)
        fprintf(to, "%zu", record->reported);
    fprintf(to, ",%d\n", record->rerun);
}
