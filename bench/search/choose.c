/* SPDX-License-Identifier: MIT */
/*
 * choose.c — what our model would name the best in the histories of others: how much of our lead is
 * search, and how much is choice.
 *
 *     choose DATA PEERS OUT [SEARCHER…]
 *
 * For every PEERS/TABLE-SEARCHER.csv (records.h) writes OUT/TABLE-SEARCHER.csv: the same, but
 * `reported` is our posterior's choice. It is made after 25, 50 and 100 trials, which is where
 * figures are taken, from those trials alone; elsewhere nothing is reported. A file that is newer
 * than the history and our program is kept.
 */
#include "bench/search/driver.h"
#include "bench/search/records.h"
#include "bench/search/tables.h"

#include <glob.h>
#include <sys/stat.h>

static const size_t marks[] = {25, 50, 100};

static bool is_mark(size_t trials)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i] == trials)
            return true;
    return false;
}

/* The n trials of one seed, with our choices written into them. */
static void choose(const struct table *table, struct record *records, size_t n)
{
    struct problem problem = {
        .space = &table->space, .trials = (int64_t)n, .seed = records->seed, .repeats = true};
    autofree(search) struct search *s = must_search("bayes", &problem);
    struct best best;

    for (size_t i = 0; i < n; i++) {
        struct result result = {.kind = RESULT_VALUE,
                                .value = (table->maximize ? -1 : 1) * records[i].value};
        search_tell(s, table_point(table, records[i].row), &result);
        records[i].reported = SIZE_MAX;
        if (is_mark(i + 1) && search_best(s, &best) == 0)
            records[i].reported = table_row(table, best.x);
    }
}

static void choose_all(const struct table *table, const char *from, const char *to)
{
    autorelease(records) struct records records;
    struct output out = output_open(RECORD_HEAD, "%s", to);
    size_t end;

    records_load(&records, from, table->n);
    for (size_t i = 0; i < records.all.len; i = end) {
        end = i + 1;
        while (end < records.all.len && records.all.at[end].seed == records.all.at[i].seed)
            end++;
        choose(table, records.all.at + i, end - i);
    }
    vec_foreach (record, &records.all)
        record_write(record, out.file);
    output_finish(&out);
    printf("%s: %zu trials\n", to, records.all.len);
    fflush(stdout);
}

static bool newer(const char *path, const char *than)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(than, &b) == 0 && a.st_mtime > b.st_mtime;
}

/* The searcher of a path FOLDER/TABLE-SEARCHER.csv; to be freed. */
static char *searcher_of(const char *path, const char *table)
{
    const char *name = strrchr(path, '/') + 1 + strlen(table) + 1;
    return xstrndup(name, strlen(name) - strlen(".csv"));
}

static bool wanted(const char *searcher, char *const *names)
{
    if (!*names)
        return true;
    for (; *names; names++)
        if (str_eq(searcher, *names))
            return true;
    return false;
}

static void choose_table(const char *name, char **argv)
{
    autofree(mem) char *pattern = xasprintf("%s/%s-*.csv", argv[2], name);
    struct table table = {0};
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        autofree(mem) char *searcher = searcher_of(found.gl_pathv[i], name);
        autofree(mem) char *to = xasprintf("%s/%s-%s.csv", argv[3], name, searcher);
        if (!wanted(searcher, argv + 4) ||
            (newer(to, found.gl_pathv[i]) && newer(to, "/proc/self/exe")))
            continue;
        if (!table.name)
            table_load(&table, argv[1], name);
        choose_all(&table, found.gl_pathv[i], to);
    }
    globfree(&found);
    table_release(&table);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: choose DATA PEERS OUT [SEARCHER…]");
    for (size_t t = 0; t < n_tables; t++)
        choose_table(table_names[t], argv);
    return 0;
}
