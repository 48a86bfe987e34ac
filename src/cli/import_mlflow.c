/* SPDX-License-Identifier: MIT */
/*
 * import_mlflow.c — MLflow's file store: mlruns/EXPERIMENT/RUN/, with meta.yaml, metrics/KEY (lines
 * "time_ms value step"), params/KEY. What was deleted there (.trash, lifecycle_stage) is left out.
 */
#include "base/arena.h"
#include "base/fs.h"
#include "base/yaml.h"
#include "cli/import.h"

#include <dirent.h>
#include <errno.h>

#define META_MAX  (1 << 20)
#define PARAM_MAX (1 << 20)

/* ---- meta.yaml ---- */

struct meta {
    struct arena arena;
    struct yaml_node *root; /* NULL: there is none that can be read */
};

static void meta_load(struct meta *meta, const char *folder)
{
    autofree(mem) char *path = xasprintf("%s/meta.yaml", folder);
    autorelease(str) struct str text = STR_INIT;

    *meta = (struct meta){.root = NULL};
    if (import_read(path, META_MAX, &text, NULL) < 0 ||
        yaml_parse(text.s, text.len, path, &meta->arena, &meta->root, NULL) < 0)
        meta->root = NULL;
}

static void meta_release(struct meta *meta)
{
    arena_release(&meta->arena);
}

static const char *meta_text(const struct meta *meta, const char *key)
{
    const struct yaml_node *node = meta->root ? yaml_find(meta->root, key) : NULL;
    return node && node->kind == YAML_SCALAR && !yaml_is_null(node) ? node->text : "";
}

static int64_t meta_time_us(const struct meta *meta, const char *key)
{
    long long ms = strtoll(meta_text(meta, key), NULL, 10);
    return ms > 0 && ms < INT64_MAX / 1000 ? (int64_t)ms * 1000 : 0;
}

static bool is_deleted(const struct meta *meta)
{
    return str_eq(meta_text(meta, "lifecycle_stage"), "deleted");
}

/* A number in older versions, a word in others. */
static void set_state(const char *status, struct import_row *row, int *open)
{
    if (str_eq(status, "4") || str_eq(status, "FAILED")) {
        row->state = TRIAL_FAILED;
        row->reason = REASON_EXIT;
    } else if (str_eq(status, "5") || str_eq(status, "KILLED")) {
        row->state = TRIAL_STOPPED;
        row->reason = REASON_CANCELLED;
    } else if (!str_eq(status, "3") && !str_eq(status, "FINISHED")) {
        row->state = TRIAL_STOPPED; /* it runs, or died without a word */
        row->reason = REASON_LOST;
        ++*open;
    }
}

/* ---- finding ---- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_start(const void *a, const void *b)
{
    const struct import_row *x = a, *y = b;
    if (x->started_us != y->started_us)
        return x->started_us < y->started_us ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void add_run(struct import_sheet *sheet, const char *folder, const char *name, int *open)
{
    autorelease(meta) struct meta meta;

    meta_load(&meta, folder);
    bool is_run = *meta_text(&meta, "run_id") || *meta_text(&meta, "run_uuid");
    if (!is_run || is_deleted(&meta) || sheet->rows.len >= IMPORT_ROWS_MAX)
        return;
    const char *label = meta_text(&meta, "run_name");
    struct import_row *row = import_add_run(sheet, &import_mlflow, folder, *label ? label : name);
    row->started_us = meta_time_us(&meta, "start_time");
    row->ended_us = meta_time_us(&meta, "end_time");
    set_state(meta_text(&meta, "status"), row, open);
}

static void add_runs(struct import_sheet *sheet, const char *folder)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, visible, alphasort), open = 0;

    for (int i = 0; i < n; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        if (fs_is_dir(path))
            add_run(sheet, path, entries[i]->d_name, &open);
        free(entries[i]);
    }
    free(entries);
    if (sheet->rows.len)
        qsort(sheet->rows.at, sheet->rows.len, sizeof(*sheet->rows.at), by_start);
    if (open)
        str_addf(&sheet->notes, "%d run%s not ended there: taken as stopped\n", open,
                 open == 1 ? " has" : "s have");
}

/* True if the folder is an experiment. One without runs adds none. */
static bool add_experiment(const char *folder, struct import_set *set)
{
    autorelease(meta) struct meta meta;

    meta_load(&meta, folder);
    if (!*meta_text(&meta, "experiment_id") || *meta_text(&meta, "run_id") ||
        *meta_text(&meta, "run_uuid"))
        return false;
    if (is_deleted(&meta))
        return true;
    const char *name = meta_text(&meta, "name");
    struct import_sheet *sheet = import_add_sheet(
        set, *name ? name : "mlflow", xasprintf("MLflow experiment '%s'", *name ? name : folder));
    add_runs(sheet, folder);
    if (!sheet->rows.len) {
        import_sheet_release(sheet);
        set->sheets.len--;
    }
    return true;
}

static int find(const char *folder, struct import_set *ret, struct err *err)
{
    autofree(mem) char *inner = xasprintf("%s/mlruns", folder);
    const char *root = fs_is_dir(inner) ? inner : folder;
    struct dirent **entries = NULL;

    if (add_experiment(root, ret))
        return 0;
    int n = scandir(root, &entries, visible, alphasort);
    if (n < 0)
        return err_errno(err, errno, "cannot read %s", root);
    for (int i = 0; i < n; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", root, entries[i]->d_name);
        if (fs_is_dir(path))
            add_experiment(path, ret);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

/* ---- reading ---- */

struct reading {
    const struct import_sink *sink;
    size_t root; /* bytes of the folder's path: the rest is the key, which may have slashes */
};

/* "1700000000123 0.25 7"; older versions leave out the step, newer ones add to it. */
static bool read_line(const char *line, const char *key, struct sample *ret)
{
    char *end;
    long long ms = strtoll(line, &end, 10);

    *ret = (struct sample){.metric = key, .step = STEP_NONE};
    if (end == line || *end != ' ')
        return false;
    ret->time_us = ms > 0 && ms < INT64_MAX / 1000 ? (int64_t)ms * 1000 : 0;
    const char *value = end + 1;
    ret->value = strtod(value, &end);
    if (end == value || (*end && *end != ' ' && *end != '\n'))
        return false;
    if (*end == ' ') {
        const char *step = end + 1;
        long long x = strtoll(step, &end, 10);
        ret->step = end > step ? (int64_t)x : STEP_NONE;
    }
    return true;
}

static int on_metric(const char *path, const char *name, void *arg)
{
    const struct reading *reading = arg;
    const struct import_sink *sink = reading->sink;
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0, number = 0;
    struct sample sample;

    (void)name;
    if (!file)
        return 0;
    while (getline(&line, &cap, file) > 0) {
        number++;
        if (read_line(line, path + reading->root, &sample))
            sink->on_sample(&sample, sink->arg);
        else if (sink->on_unread)
            sink->on_unread(path, number, sink->arg);
    }
    free(line);
    fclose(file);
    return 0;
}

static int on_param(const char *path, const char *name, void *arg)
{
    const struct reading *reading = arg;
    autorelease(str) struct str text = STR_INIT;

    (void)name;
    if (import_read(path, PARAM_MAX, &text, NULL) < 0)
        return 0;
    while (text.len && text.s[text.len - 1] == '\n')
        str_cut(&text, text.len - 1);
    reading->sink->on_param(path + reading->root, text.s, false, reading->sink->arg);
    return 0;
}

static int read_run(struct import_row *row, const struct import_sink *sink, struct err *err)
{
    autofree(mem) char *metrics = xasprintf("%s/metrics", row->path),
                       *params = xasprintf("%s/params", row->path);
    struct reading reading = {sink, strlen(metrics) + 1};
    int r = 0;

    if (fs_is_dir(metrics))
        r = import_walk(metrics, on_metric, &reading, err);
    reading.root = strlen(params) + 1;
    if (r == 0 && sink->on_param && fs_is_dir(params))
        r = import_walk(params, on_param, &reading, err);
    return r;
}

const struct import_kind import_mlflow = {
    .name = "MLflow",
    .find = find,
    .read = read_run,
};
