/* SPDX-License-Identifier: MIT */
/*
 * rm.c — hone rm: take an experiment or a trial away, rows first, then files. What dies between the
 * two leaves folders that no row names, and `hone gc` finds those.
 */
#include "cli/disk.h"
#include "cli/mark.h"
#include "cli/output.h"

#include <errno.h>
#include <unistd.h>

static const struct cmd_option options[] = {
    {"yes", 'y', NULL, "do not ask"},
    {NULL, 0, NULL, NULL},
};

static int check_idle(const struct cmd_call *call, const struct target *target, struct err *err)
{
    int64_t id = target->experiment.experiment.id;
    int64_t trial = target->has_trial ? target->trial.trial.number : 0;
    autofree(store) struct store *store = NULL;
    bool engine = home_has_engine(call->home);
    int r = store_open_read(call->home, &store, err);

    if (r < 0)
        return r;
    int living = living_attempts(store, call->home, id, trial);
    bool busy = target->has_trial
                    ? engine && !trial_state_ended(target->trial.trial.state) &&
                          target->experiment.experiment.state == EXPERIMENT_RUNNING
                    : engine && target->experiment.experiment.state == EXPERIMENT_RUNNING;
    if (living > 0 || busy)
        return err_set(err, EBUSY, "experiment %lld is running: 'hone stop %lld' stops it first",
                       (long long)id, (long long)id);
    return 0;
}

/* What goes, in words. */
static void describe(const struct target *target, char *const *paths, struct str *to)
{
    const struct experiment_row *row = &target->experiment;
    int64_t n = 0;

    for (int i = 0; i < TRIAL_STATES; i++)
        n += row->counts[i];
    if (target->has_trial)
        str_addf(to, "trial %lld.%lld of %s (%s)", (long long)row->experiment.id,
                 (long long)target->trial.trial.number, row->experiment.name,
                 trial_state_name(target->trial.trial.state));
    else
        str_addf(to, "experiment %lld, %s, with %lld trial%s", (long long)row->experiment.id,
                 row->experiment.name, (long long)n, n == 1 ? "" : "s");
    str_addf(to, ", %s results and files (", target->has_trial ? "its" : "their");
    str_add_size(to, disk_bytes_of(paths));
    str_add(to, ")");
}

/* 0: go on. */
static int ask(const struct cmd_call *call, const char *what)
{
    char answer[16] = "";

    if (cmd_flag(call, "yes"))
        return 0;
    if (!isatty(STDIN_FILENO) || call->json)
        return cmd_usage(call, "this would remove %s; say --yes if it should", what);
    fprintf(stderr, "remove %s? [y/N] ", what);
    if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return 0;
    fputs("nothing was removed\n", stderr);
    return CMD_FAILED;
}

static int remove_all(const struct cmd_call *call, const struct target *target, char *const *paths)
{
    autorelease(str) struct str request = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    struct json_out out = JSON_OUT(&request);

    mark_begin(&out, "rm", target);
    int code = mark_send(call, &out);
    if (code == 0 && disk_remove(paths, &err) < 0)
        code = cmd_fail(call, CMD_FAILED, &err);
    if (code == 0)
        mark_done(call, target, "rm",
                  target->has_trial
                      ? "removed"
                      : "removed; 'hone gc' frees its code if no other experiment uses it");
    return code;
}

static int remove_target(const struct cmd_call *call, const struct target *target)
{
    int64_t id = target->experiment.experiment.id;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str what = STR_INIT;
    char **paths;

    if (check_idle(call, target, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (target->has_trial) {
        paths = trial_paths(call->home, id, target->trial.trial.number);
    } else {
        paths = xcalloc(2, sizeof(*paths));
        paths[0] = experiment_dir(call->home, id);
    }
    describe(target, paths, &what);
    int code = ask(call, what.s);
    if (code == 0)
        code = remove_all(call, target, paths);
    disk_paths_free(paths);
    return code;
}

/* The server sees to it that nothing of it runs, and to the files. */
static int remove_there(const struct cmd_call *call, const struct target *target)
{
    static char *const no_files[] = {NULL};
    autofree(mem) char *name = target_name(target);
    autofree(mem) char *what =
        xasprintf("%s %s at %s, with results and files", target->has_trial ? "trial" : "experiment",
                  name, call->server);
    int code = ask(call, what);

    return code ? code : remove_all(call, target, no_files);
}

static int run(struct cmd_call *call)
{
    struct target target;
    int code = mark_find(call, call->args[0], &target);

    if (code == 0)
        code = call->server ? remove_there(call, &target) : remove_target(call, &target);
    target_release(&target);
    return code;
}

const struct cmd cmd_rm = {
    .name = "rm",
    .args = "EXPERIMENT|TRIAL",
    .help = "remove an experiment or trial with its files",
    .details = "Says what goes and asks; without a terminal it needs --yes. What is running is "
               "refused.\n\n"
               "Recorded code stays, since other experiments may share it: 'hone gc' frees what no "
               "experiment names any more, once ten minutes have passed since it was stored.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
