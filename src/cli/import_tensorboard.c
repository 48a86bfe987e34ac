/* SPDX-License-Identifier: MIT */
/*
 * import_tensorboard.c — a log folder of TensorBoard: each folder with event files is a run. Its
 * parameters are those of the hparams plugin, or of Lightning's hparams.yaml beside the files.
 *
 * torch's add_hparams() puts them into a folder of their own below the run, with a time as its
 * name; there it is a run of its own, as TensorBoard shows it.
 */
#include "base/fs.h"
#include "cli/import.h"
#include "metrics/events.h"

#include <dirent.h>
#include <errno.h>

#define CHUNK (1 << 20)

struct finding {
    const char *root, *shown; /* in full; as the user wrote it */
    struct import_set *set;
    const char *name;
};

/* A file is found in the order of folders: the first of a folder makes its run. */
static int on_file(const char *path, const char *name, void *arg)
{
    struct finding *finding = arg;
    const char *slash = strrchr(path, '/');

    if (!events_file_name(name) || !slash)
        return 0;
    if (!finding->set->sheets.len)
        import_add_sheet(finding->set, finding->name,
                         xasprintf("TensorBoard's event files in %s", finding->shown));
    struct import_sheet *sheet = vec_last(&finding->set->sheets);
    autofree(mem) char *folder = xstrndup(path, (size_t)(slash - path));
    vec_foreach (row, &sheet->rows)
        if (str_eq(row->path, folder))
            return 0;
    if (sheet->rows.len >= IMPORT_ROWS_MAX)
        return 1;
    const char *label = folder + strlen(finding->root);
    label += strspn(label, "/");
    import_add_run(sheet, &import_tensorboard, folder, *label ? label : ".");
    return 0;
}

static int find(const char *folder, struct import_set *ret, struct err *err)
{
    autofree(mem) char *full = fs_absolute(folder);
    size_t n = strlen(full);
    while (n > 1 && full[n - 1] == '/')
        full[--n] = '\0';
    const char *slash = strrchr(full, '/');
    struct finding finding = {full, folder, ret, slash && slash[1] ? slash + 1 : "runs"};

    int r = import_walk(full, on_file, &finding, err);
    return MIN(r, 0);
}

/* ---- reading ---- */

static void on_param(const struct events_param *param, void *arg)
{
    const struct import_sink *sink = arg;
    char number[DOUBLE_TEXT_SIZE];

    if (!sink->on_param)
        return;
    if (param->kind == EVENTS_TEXT)
        sink->on_param(param->name, param->text, false, sink->arg);
    else if (param->kind == EVENTS_BOOL)
        sink->on_param(param->name, param->number != 0 ? "true" : "false", false, sink->arg);
    else
        sink->on_param(param->name, double_text(number, param->number), false, sink->arg);
}

static void on_sample(const struct sample *sample, void *arg)
{
    const struct import_sink *sink = arg;
    sink->on_sample(sample, sink->arg);
}

static void tell_damage(const char *path, const struct events *events, bool empty,
                        const struct import_sink *sink)
{
    const struct events_counts *counts = events_counts(events);
    autorelease(str) struct str what = STR_INIT;

    if (empty)
        str_add(&what, "is empty");
    else if (counts->records == counts->bad_records && !counts->long_records)
        str_add(&what, "is no event file");
    else if (!events_whole(events))
        str_addf(&what, "damaged at byte %llu, the rest was left out",
                 (unsigned long long)events_end(events));
    else if (counts->bad_records)
        str_addf(&what, "damaged at byte %llu, %llu record%s left out",
                 (unsigned long long)counts->bad_at, (unsigned long long)counts->bad_records,
                 counts->bad_records == 1 ? " was" : "s were");
    if (what.len && sink->on_damage)
        sink->on_damage(path, what.s, sink->arg);
}

static int read_file(const char *path, const struct import_sink *sink, struct events_counts *ret,
                     struct err *err)
{
    struct events_sink through = {on_sample, on_param, (void *)sink};
    autofree(events) struct events *events = events_new("", &through);
    autofree(mem) char *chunk = xmalloc(CHUNK);
    FILE *file = fopen(path, "re");
    bool empty = true;
    size_t n;

    if (!file)
        return err_errno(err, errno, "cannot read %s", path);
    while ((n = fread(chunk, 1, CHUNK, file)) > 0) {
        events_feed(events, chunk, n);
        empty = false;
    }
    bool failed = ferror(file);
    fclose(file);
    *ret = *events_counts(events);
    tell_damage(path, events, empty, sink);
    return failed ? err_errno(err, EIO, "cannot read %s", path) : 0;
}

static int is_events(const struct dirent *entry)
{
    return events_file_name(entry->d_name);
}

/* Files in order of their names, which is that of their times. */
static int read_run(struct import_row *row, const struct import_sink *sink, struct err *err)
{
    autofree(mem) char *settings = xasprintf("%s/hparams.yaml", row->path);
    struct dirent **entries = NULL;
    int n = scandir(row->path, &entries, is_events, alphasort), r = 0;

    if (n < 0)
        return err_errno(err, errno, "cannot read %s", row->path);
    row->foreign = true;
    for (int i = 0; i < n; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", row->path, entries[i]->d_name);
        struct events_counts counts = {0};
        if (r == 0)
            r = read_file(path, sink, &counts, err);
        row->foreign &= counts.records == counts.bad_records && !counts.long_records;
        if (counts.outcome == EVENTS_FAILURE) {
            row->state = TRIAL_FAILED;
            row->reason = REASON_EXIT;
        }
        free(entries[i]);
    }
    free(entries);
    if (r == 0 && sink->on_param && fs_exists(settings))
        import_read_settings(settings, sink);
    return r;
}

const struct import_kind import_tensorboard = {
    .name = "TensorBoard",
    .find = find,
    .read = read_run,
};
