/* SPDX-License-Identifier: MIT */
/*
 * import_tables.c — a folder of CSV files: metrics.csv is the run of its folder, as Lightning's
 * CSVLogger leaves it (version_N/metrics.csv with hparams.yaml beside it); any other file is a run
 * of its own. Columns are metrics, an empty cell is no sample. The step is the column `step`, else
 * `epoch` or `iteration`, else the number of the row; a line whose step is a word is not read.
 * `time` or `timestamp` are seconds.
 */
#include "base/arena.h"
#include "base/fs.h"
#include "base/rest.h"
#include "base/yaml.h"
#include "cli/import.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <math.h>

#define COLUMNS_MAX  10000
#define SETTINGS_MAX (4 << 20)

/* ---- finding ---- */

struct finding {
    const char *root, *shown; /* in full; as the user wrote it */
    struct import_set *set;
    const char *name;
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static int on_file(const char *path, const char *name, void *arg)
{
    struct finding *finding = arg;
    const char *slash = strrchr(path, '/');

    if (!ends_with(name, ".csv") || !slash)
        return 0;
    autofree(mem) char *folder = xstrndup(path, (size_t)(slash - path));
    autofree(mem) char *whole = xasprintf("%s/metrics.csv", folder);
    bool of_folder = str_eq(name, "metrics.csv");
    if (!of_folder && fs_exists(whole))
        return 0;
    if (!finding->set->sheets.len)
        import_add_sheet(finding->set, finding->name,
                         xasprintf("the tables in %s", finding->shown));
    struct import_sheet *sheet = vec_last(&finding->set->sheets);
    if (sheet->rows.len >= IMPORT_ROWS_MAX)
        return 1;
    const char *label = (of_folder ? folder : path) + strlen(finding->root);
    label += strspn(label, "/");
    import_add_run(sheet, &import_tables, path, *label ? label : ".");
    return 0;
}

static int find(const char *folder, struct import_set *ret, struct err *err)
{
    autofree(mem) char *full = fs_absolute(folder);
    size_t n = strlen(full);
    while (n > 1 && full[n - 1] == '/')
        full[--n] = '\0';
    const char *slash = strrchr(full, '/');
    struct finding finding = {full, folder, ret, slash && slash[1] ? slash + 1 : "tables"};

    int r = import_walk(full, on_file, &finding, err);
    return MIN(r, 0);
}

/* ---- settings ---- */

/* {model: {depth: 3}} is model.depth; lists are no settings. */
static void put_settings(const struct yaml_node *map, const char *prefix, int depth,
                         const struct import_sink *sink)
{
    for (size_t i = 0; map->kind == YAML_MAP && i < map->n && depth < 8; i++) {
        const struct yaml_node *item = map->items[i];
        autofree(mem) char *name =
            xasprintf("%s%s%s", prefix, *prefix ? "." : "", map->keys[i]->text);
        if (item->kind == YAML_SCALAR && !yaml_is_null(item))
            sink->on_param(name, item->text, item->quoted, sink->arg);
        else
            put_settings(item, name, depth + 1, sink);
    }
}

int import_read(const char *path, size_t cap, struct str *to, struct err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return err_errno(err, errno, "cannot read %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, EINVAL, "%s is no file", path);
    return fs_read(path, cap, to, err);
}

void import_read_settings(const char *path, const struct import_sink *sink)
{
    autorelease(str) struct str text = STR_INIT;
    struct arena arena = {NULL};
    struct yaml_node *root = NULL;

    if (import_read(path, SETTINGS_MAX, &text, NULL) == 0 &&
        yaml_parse(text.s, text.len, path, &arena, &root, NULL) == 0)
        put_settings(root, "", 0, sink);
    arena_release(&arena);
}

/* ---- reading ---- */

enum use { USE_METRIC, USE_STEP, USE_EPOCH, USE_ITERATION, USE_TIME };

struct table {
    VEC(char *) names;
    VEC(char *) cells; /* in the present line */
    char mark;         /* what parts them */
    int64_t row;
    bool some;                          /* a number was read */
    size_t wide, wide_line, wide_cells; /* lines with more cells than the header; the first */
};

static enum use use_of(const char *name)
{
    static const struct {
        const char *name;
        enum use use;
    } uses[] = {{"step", USE_STEP},           {"global_step", USE_STEP}, {"epoch", USE_EPOCH},
                {"iteration", USE_ITERATION}, {"time", USE_TIME},        {"timestamp", USE_TIME},
                {"wall time", USE_TIME},      {"wall_time", USE_TIME}};

    for (size_t i = 0; i < ARRAY_LEN(uses); i++)
        if (strcasecmp(uses[i].name, name) == 0)
            return uses[i].use;
    return USE_METRIC;
}

/* Cut a line into its cells, in place; quotes are undone, a quoted line break is not known here. */
static void split(char *line, struct table *table)
{
    char *from = line, *to = line;
    bool quoted = false;

    table->cells.len = 0;
    line[strcspn(line, "\r\n")] = '\0';
    vec_push(&table->cells, to);
    for (; *from && table->cells.len <= COLUMNS_MAX; from++) {
        if (*from == '"' && quoted && from[1] == '"')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        else if (*from == table->mark && !quoted) {
            *to++ = '\0';
            vec_push(&table->cells, to);
        } else
            *to++ = *from;
    }
    *to = '\0';
    if (table->mark != ',')
        vec_foreach (cell, &table->cells)
            import_decimal_comma(*cell);
}

static bool number_of(const char *text, double *ret)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    *ret = strtod(text, &end);
    return *text && end > text && !end[strspn(end, " ")];
}

/* A cell that tells a value; whole numbers keep all their 64 bits. */
static bool value_of(const char *text, struct sample *ret)
{
    text += strspn(text, " \t");
    size_t n = strspn(text, "+-0123456789");

    ret->rest = 0;
    if (!number_of(text, &ret->value))
        return false;
    if (text[n + strspn(text + n, " ")])
        return true;
    errno = 0;
    long long whole = strtoll(text, NULL, 10);
    if (errno == 0 && rest_needed(whole)) {
        ret->value = (double)whole;
        ret->rest = rest_of(whole);
    }
    return true;
}

/* Something stands where the header has no name. */
static void look_for_more(struct table *table)
{
    for (size_t i = table->names.len; i < table->cells.len; i++) {
        if (!*table->cells.at[i])
            continue;
        if (table->wide++ == 0) {
            table->wide_line = (size_t)table->row + 2;
            table->wide_cells = table->cells.len;
        }
        return;
    }
}

static void tell_more(const struct table *table, const char *path, const struct import_sink *sink)
{
    autorelease(str) struct str what = STR_INIT;

    if (!table->wide || !sink->on_damage)
        return;
    str_addf(&what, "line %zu has %zu cells, the header %zu: what is beyond was left out",
             table->wide_line, table->wide_cells, table->names.len);
    if (table->wide > 1)
        str_addf(&what, ", there and in %zu more line%s", table->wide - 1,
                 table->wide == 2 ? "" : "s");
    sink->on_damage(path, what.s, sink->arg);
}

/* The step of the present line by the best column that tells one. False: a word is there. */
static bool step_of(const struct table *table, int64_t *ret)
{
    enum use best = USE_TIME, word = USE_TIME;
    double x;

    *ret = table->row;
    for (size_t i = 0; i < table->names.len && i < table->cells.len; i++) {
        const char *cell = table->cells.at[i];
        enum use use = use_of(table->names.at[i]);
        if (use == USE_METRIC || use >= best)
            continue;
        if (!number_of(cell, &x)) {
            word = cell[strspn(cell, " ")] ? MIN(word, use) : word;
        } else if (x == trunc(x) && fabs(x) <= 9e15) {
            best = use;
            *ret = (int64_t)x;
        }
    }
    return word >= best;
}

static int64_t time_of(const struct table *table)
{
    double x;

    for (size_t i = 0; i < table->names.len && i < table->cells.len; i++)
        if (use_of(table->names.at[i]) == USE_TIME && number_of(table->cells.at[i], &x) &&
            x > 1e8 && x < 9e9) /* seconds since 1970, and not since the run began */
            return (int64_t)llround(x * 1e6);
    return 0;
}

static void put_line(struct table *table, const char *path, const struct import_sink *sink)
{
    struct sample sample = {.time_us = time_of(table)};

    look_for_more(table);
    if (!step_of(table, &sample.step)) {
        if (sink->on_unread)
            sink->on_unread(path, (size_t)table->row + 2, sink->arg);
        return;
    }
    for (size_t i = 0; i < table->names.len && i < table->cells.len; i++) {
        enum use use = use_of(table->names.at[i]);
        sample.metric = table->names.at[i];
        if ((use == USE_METRIC || use == USE_EPOCH) && *sample.metric &&
            value_of(table->cells.at[i], &sample)) {
            table->some = true;
            sink->on_sample(&sample, sink->arg);
        }
    }
}

static void read_table(FILE *file, const char *path, struct table *table,
                       const struct import_sink *sink)
{
    static const char mark_of_order[] = "\xef\xbb\xbf";
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, file) > 0) {
        bool first = !table->names.len;
        if (first)
            table->mark = import_separator(line, strlen(line));
        split(line + (first && str_starts(line, mark_of_order) ? 3 : 0), table);
        if (!first) {
            put_line(table, path, sink);
            table->row++;
            continue;
        }
        vec_foreach (cell, &table->cells)
            vec_push(&table->names, xstrdup(*cell));
    }
    free(line);
}

static int read_run(struct import_row *row, const struct import_sink *sink, struct err *err)
{
    const char *slash = strrchr(row->path, '/');
    autofree(mem) char *folder = xstrndup(row->path, slash ? (size_t)(slash - row->path) : 0);
    autofree(mem) char *settings = xasprintf("%s/hparams.yaml", folder);
    struct table table = {.row = 0};
    FILE *file = fopen(row->path, "re");

    if (!file)
        return err_errno(err, errno, "cannot read %s", row->path);
    read_table(file, row->path, &table, sink);
    tell_more(&table, row->path, sink);
    row->words = table.row > 0 && !table.some;
    bool failed = ferror(file);
    fclose(file);
    vec_foreach (name, &table.names)
        free(*name);
    vec_release(&table.names);
    vec_release(&table.cells);
    if (sink->on_param && fs_exists(settings))
        import_read_settings(settings, sink);
    return failed ? err_errno(err, EIO, "cannot read %s", row->path) : 0;
}

const struct import_kind import_tables = {
    .name = "CSV",
    .find = find,
    .read = read_run,
};
