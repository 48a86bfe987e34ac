/* SPDX-License-Identifier: MIT */
/*
 * gc.c — hone gc: free what no row names any more and what `keep:` says may go.
 *
 *   folders      of attempts whose trial or experiment was removed
 *   trials       ended longer ago than keep.trials, unless starred
 *   checkpoints  of ended trials beyond keep.checkpoints: `best N` keeps those of the N best trials
 *                of the experiment, `last N` the newest N of each trial
 *   checkouts    that nothing which may go on runs in (gc_objects.c)
 *   objects      code and patches that no experiment names (gc_objects.c)
 *   cursors      of exports of experiments that were removed (gc_cursors.c)
 *   samples      of what was removed, when no engine runs (gc_series.c)
 *
 * Safe beside a running engine: a row is committed before its folder is made, so a folder that was
 * listed before the rows were read and has none is garbage; rows go through home_change().
 */
#include "cli/gc.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "cli/disk.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

static const struct cmd_option options[] = {
    {"dry-run", 0, NULL, "say what would go, and leave it"},
    {NULL, 0, NULL, NULL},
};

int gc_remove(struct gc *gc, enum gc_kind kind, const char *path, struct err *err)
{
    uint64_t bytes = disk_bytes(path);
    int r = gc->dry ? 0 : fs_remove_tree(path, err);

    if (r < 0)
        return r;
    gc->count[kind]++;
    gc->bytes += bytes;
    return 0;
}

/* ---- folders that no row names ---- */

static int on_known(const struct trial_row *row, void *arg)
{
    map_put(arg, (uint64_t)row->trial.number, arg);
    return 0;
}

/* The numbers of an experiment's trials; none if it was removed. */
static int known_trials(struct gc *gc, int64_t experiment, struct map *ret, struct err *err)
{
    struct trial_query query = {.experiment = experiment, .bare = true};
    int r = store_trials(gc->store, &query, on_known, ret, err);
    return r < 0 ? r : 0;
}

/* "12.3", "12.checkpoints" → 12; 0: a name that is not ours. */
static int64_t leading_number(const char *name)
{
    char *end;
    long long n = *name >= '1' && *name <= '9' ? strtoll(name, &end, 10) : 0;
    return n > 0 && (*end == '.' || *end == '\0') ? n : 0;
}

static int sweep_names(struct gc *gc, int64_t experiment, const char *folder, char *const *names,
                       size_t n, struct err *err)
{
    struct map known = MAP_INIT;
    int r = known_trials(gc, experiment, &known, err);

    for (size_t i = 0; i < n && r >= 0; i++) {
        int64_t trial = leading_number(names[i]);
        autofree(mem) char *path = xasprintf("%s/%s", folder, names[i]);
        if (trial && !map_find(&known, (uint64_t)trial))
            r = gc_remove(gc, GC_FOLDERS, path, err);
    }
    if (r >= 0 && known.len == 0 && !gc->dry)
        rmdir(folder); /* stays if something of somebody else is in it */
    map_release(&known);
    return r;
}

struct names gc_list(const char *folder)
{
    struct names names = {{0}};
    DIR *dir = opendir(folder);

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            vec_push(&names.list, xstrdup(entry->d_name));
    if (dir)
        closedir(dir);
    return names;
}

void names_release(struct names *names)
{
    vec_foreach (name, &names->list)
        free(*name);
    vec_release(&names->list);
}

static int sweep_folders(struct gc *gc, struct err *err)
{
    autofree(mem) char *top = xasprintf("%s/experiments", gc->call->home);
    struct names experiments = gc_list(top);
    int r = 0;

    for (size_t i = 0; i < experiments.list.len && r >= 0; i++) {
        int64_t experiment = leading_number(experiments.list.at[i]);
        autofree(mem) char *folder = xasprintf("%s/%s", top, experiments.list.at[i]);
        if (!experiment)
            continue;
        struct names names = gc_list(folder);
        r = sweep_names(gc, experiment, folder, names.list.at, names.list.len, err);
        names_release(&names);
    }
    names_release(&experiments);
    return r;
}

/* ---- the command ---- */

static int sweep_all(struct gc *gc, struct err *err)
{
    static int (*const sweeps[])(struct gc *, struct err *) = {
        sweep_folders, gc_expire, gc_checkouts, gc_objects, gc_cursors, gc_series};
    int r = store_open_read(gc->call->home, &gc->store, err);

    for (size_t i = 0; i < ARRAY_LEN(sweeps) && r >= 0; i++)
        r = sweeps[i](gc, err);
    return r;
}

static const char *const kind_names[GC_KINDS][2] = {
    [GC_FOLDERS] = {"folder", "folders"},
    [GC_TRIALS] = {"trial", "trials"},
    [GC_CHECKPOINTS] = {"checkpoint", "checkpoints"},
    [GC_CHECKOUTS] = {"checkout", "checkouts"},
    [GC_OBJECTS] = {"object", "objects"},
    [GC_CURSORS] = {"cursor", "cursors"},
};

static void print_json(const struct gc *gc)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_bool(&out, "dry_run", gc->dry);
    json_put_int(&out, "bytes", (int64_t)gc->bytes);
    for (int i = 0; i < GC_KINDS; i++)
        json_put_int(&out, kind_names[i][1], gc->count[i]);
    json_end_object(&out);
    output_line(&text);
}

static void print_words(const struct gc *gc)
{
    autorelease(str) struct str text = STR_INIT;
    bool any = false;

    str_add(&text, gc->dry ? "would free " : "freed ");
    str_add_size(&text, gc->bytes);
    for (int i = 0; i < GC_KINDS; i++) {
        if (!gc->count[i])
            continue;
        str_addf(&text, "%s%lld %s", any ? ", " : ": ", (long long)gc->count[i],
                 kind_names[i][gc->count[i] != 1]);
        any = true;
    }
    puts(any || gc->bytes ? text.s : "nothing to free");
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct gc gc = {.call = call, .dry = cmd_flag(call, "dry-run"), .now_us = clock_wall_us()};
    int r = sweep_all(&gc, &err);

    if (gc.store)
        store_free(gc.store);
    if (r < 0 && r != -ENOENT)
        return cmd_fail(call, CMD_FAILED, &err);
    if (call->json)
        print_json(&gc);
    else
        print_words(&gc);
    return CMD_OK;
}

const struct cmd cmd_gc = {
    .name = "gc",
    .args = "",
    .help = "free what is not needed any more",
    .details =
        "Goes: folders of removed trials; trials that ended longer ago than keep.trials, unless "
        "starred; checkpoints of ended trials beyond keep.checkpoints ('best N' keeps those of the "
        "N best trials, 'last N' the newest N of each trial); checkouts (of rerun and "
        "code.isolate) "
        "that no running or interrupted experiment runs in: they are made again when needed; code "
        "snapshots that no experiment names; cursors (how far an experiment was sent to InfluxDB) "
        "and samples of what was removed.\n\n"
        "Checkouts and snapshots stay for ten minutes after they were last asked for, since an "
        "experiment may just be about to begin; files that a crash left in the home for a day.",
    .options = options,
    .run = run,
};
