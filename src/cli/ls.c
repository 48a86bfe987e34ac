/* SPDX-License-Identifier: MIT */
/*
 * ls.c — hone ls: the experiments of this home, or the trials of one. Newest first; a long list is
 * cut, and the cut is said.
 *
 * Rows are printed from the database as they come, so a hundred thousand trials need no memory.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/output.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define LIMIT 50

static const struct cmd_option options[] = {
    {"limit", 'n', "N", "show at most this many (50)"},
    {"all", 'a', NULL, "show all of them"},
    {"state", 0, "STATE", "only those in this state"},
    {"sort", 0, "KEY", "trials by newest, number, or value (completed ones, best first)"},
    {NULL, 0, NULL, NULL},
};

struct list {
    struct cmd_call *call;
    struct store *store;
    const struct target *target; /* NULL: experiments are listed */
    struct table table;
    int64_t limit; /* 0: all */
    int64_t shown, hidden;
    const char *state;    /* NULL: any */
    bool engine, stopped; /* stopped: there is a column of stopped trials */
};

/* May this row be shown? Counts it as shown or hidden. */
static bool admit(struct list *list, const char *state)
{
    if (list->state && !str_eq(list->state, state))
        return false;
    if (list->limit > 0 && list->shown == list->limit) {
        list->hidden++;
        return false;
    }
    list->shown++;
    return true;
}

static void print_object(struct list *list, const struct str *text)
{
    printf("%s\n%s", list->shown == 1 ? "[" : ",", text->s);
}

static void add_marks(struct table *table, bool starred, char *const *tags, size_t n)
{
    autorelease(str) struct str text = STR_INIT;
    if (starred)
        str_add(&text, "★");
    for (size_t i = 0; i < n; i++)
        str_addf(&text, "%s%s", text.len ? " " : "", tags[i]);
    table_add(table, YELLOW, text.s);
}

static void add_duration(struct table *table, int64_t us)
{
    autorelease(str) struct str text = STR_INIT;
    if (us > 0)
        str_add_duration(&text, us);
    table_add(table, PLAIN, text.s);
}

/* ---- experiments ---- */

/* Is there one with stopped trials? Only then they have a column. */
static int note_stopped(const struct experiment_row *row, void *arg)
{
    if (row->counts[TRIAL_STOPPED] > 0)
        *(bool *)arg = true;
    return row->counts[TRIAL_STOPPED] > 0;
}

/* Trials that were made, of those that were planned: "30", "7/30". */
static void add_planned(struct list *list, const struct experiment_row *row)
{
    const char *json = row->experiment.spec_json;
    autorelease(spec) struct spec spec;
    long long made = 0, planned = 0;

    for (int i = 0; i < TRIAL_STATES; i++)
        made += row->counts[i];
    spec_init(&spec);
    if (row->experiment.rerun_of_experiment)
        planned = 1;
    else if (json && spec_parse(json, strlen(json), "spec", "/", NULL, &spec, NULL, NULL) == 0)
        planned = spec.trials ? spec.trials : (long long)fmin(space_size(&spec.space), 1e15);
    if (planned <= made)
        table_addf(&list->table, PLAIN, "%lld", made);
    else
        table_addf(&list->table, PLAIN, "%lld/%lld", made, planned);
}

static void experiment_columns(struct table *table, bool stopped)
{
    table_column(table, "experiment", COLUMN_RIGHT);
    table_column(table, "name", COLUMN_SHRINK);
    table_column(table, "state", COLUMN_LEFT);
    table_column(table, "trials", COLUMN_RIGHT);
    table_column(table, "done", COLUMN_RIGHT);
    if (stopped)
        table_column(table, "stopped", COLUMN_RIGHT | COLUMN_OPTIONAL);
    table_column(table, "failed", COLUMN_RIGHT);
    table_column(table, "best", COLUMN_RIGHT);
    table_column(table, "started", COLUMN_OPTIONAL);
    table_column(table, "time", COLUMN_RIGHT);
    table_column(table, "", COLUMN_SHRINK);
}

static void experiment_cells(struct list *list, const struct experiment_row *row)
{
    const struct experiment *e = &row->experiment;
    enum experiment_state state = shown_state(e, list->engine);
    autorelease(str) struct str when = STR_INIT, words = STR_INIT;

    str_add_when(&when, e->created_us);
    str_add_state(&words, experiment_state_name(state), e->reason);
    table_addf(&list->table, BOLD, "%lld", (long long)e->id);
    table_add(&list->table, PLAIN, e->name);
    table_add(&list->table, experiment_colour(state), words.s);
    add_planned(list, row);
    table_addf(&list->table, PLAIN, "%lld", (long long)row->counts[TRIAL_COMPLETED]);
    if (list->stopped)
        table_addf(&list->table, PLAIN, "%lld", (long long)row->counts[TRIAL_STOPPED]);
    table_addf(&list->table, row->counts[TRIAL_FAILED] ? RED : PLAIN, "%lld",
               (long long)row->counts[TRIAL_FAILED]);
    table_number(&list->table, PLAIN, row->best_value);
    table_add(&list->table, PLAIN, when.s);
    add_duration(&list->table, e->run_us);
    add_marks(&list->table, row->starred, row->tags.at, row->tags.len);
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct list *list = arg;

    if (!admit(list, experiment_state_name(shown_state(&row->experiment, list->engine))))
        return 0;
    if (!list->call->json) {
        experiment_cells(list, row);
        return 0;
    }
    autofree(mem) char *params = trial_params(list->store, row->experiment.id, row->best_trial);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    output_experiment(&out, row, list->engine, params,
                      count_attempts(list->store, row->experiment.id), false);
    print_object(list, &text);
    return 0;
}

/* ---- trials ---- */

static void trial_columns(struct table *table, const struct spec *spec)
{
    table_column(table, "trial", COLUMN_RIGHT);
    table_column(table, "state", COLUMN_LEFT);
    table_column(table, spec->objective.metric ? spec->objective.metric : "value", COLUMN_RIGHT);
    table_column(table, "step", COLUMN_RIGHT);
    table_column(table, "time", COLUMN_RIGHT);
    table_column(table, "parameters", COLUMN_SHRINK);
    table_column(table, "", COLUMN_SHRINK);
}

static void trial_cells(struct list *list, const struct trial_row *row)
{
    const struct trial *trial = &row->trial;
    autorelease(str) struct str words = STR_INIT, state = STR_INIT;

    space_words(&list->target->spec.space, trial->point, &words);
    str_add_state(&state, trial_state_name(trial->state), trial->reason);
    table_addf(&list->table, BOLD, "%lld.%lld", (long long)trial->experiment,
               (long long)trial->number);
    table_add(&list->table, trial_colour(trial->state), state.s);
    table_number(&list->table, PLAIN, trial->value);
    if (trial->last_step == STEP_NONE)
        table_add(&list->table, PLAIN, "");
    else
        table_addf(&list->table, PLAIN, "%lld", (long long)trial->last_step);
    add_duration(&list->table, trial->run_us);
    table_add(&list->table, PLAIN, words.s);
    add_marks(&list->table, row->starred, row->tags.at, row->tags.len);
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct list *list = arg;

    if (!admit(list, trial_state_name(row->trial.state)))
        return 0;
    if (!list->call->json) {
        trial_cells(list, row);
        return 0;
    }
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    output_trial(&out, list->target->experiment.experiment.name, row, false);
    print_object(list, &text);
    return 0;
}

static int parse_order(const struct cmd_call *call, enum trial_order *ret)
{
    const char *key = cmd_value(call, "sort");

    if (!key || str_eq(key, "newest"))
        *ret = ORDER_NEWEST;
    else if (str_eq(key, "number"))
        *ret = ORDER_NUMBER;
    else if (str_eq(key, "value"))
        *ret = ORDER_BEST;
    else
        return cmd_usage(call, "--sort knows newest, number and value, not '%s'", key);
    return 0;
}

/* What was counted beyond the limit, without reading the rows: the counts of the experiment. */
static int64_t count_all(const struct target *target, const char *state)
{
    int64_t n = 0;
    for (int i = 0; i < TRIAL_STATES; i++)
        if (!state || str_eq(state, trial_state_name((enum trial_state)i)))
            n += target->experiment.counts[i];
    return n;
}

static void print_list(struct list *list)
{
    if (list->call->json) {
        puts(list->shown ? "\n]" : "[]");
        return;
    }
    if (list->shown)
        table_print(&list->table, stdout, list->call->colour, terminal_width());
    else
        puts(list->state ? "none in this state" : "no trials yet");
    if (list->hidden > 0)
        printf("and %lld more: --all shows them\n", (long long)list->hidden);
}

static int list_trials(struct list *list, const char *ref)
{
    struct target target;
    autorelease(err) struct err err = ERR_INIT;
    struct trial_query query = {0};
    int code = parse_order(list->call, &query.order);

    if (code)
        return code;
    int r = target_find(list->store, ref, FIND_EXPERIMENT, &target, &err);
    if (r == 0) {
        list->target = &target;
        trial_columns(&list->table, &target.spec);
        query.experiment = target.experiment.experiment.id;
        query.goal = target.spec.objective.goal;
        query.limit = list->state ? 0 : list->limit;
        r = store_trials(list->store, &query, on_trial, list, &err);
        if (query.order != ORDER_BEST)
            list->hidden = count_all(&target, list->state) - list->shown;
    }
    if (r >= 0)
        print_list(list);
    list->target = NULL;
    target_release(&target);
    return r < 0 ? cmd_fail(list->call, CMD_FAILED, &err) : CMD_OK;
}

static int list_experiments(struct list *list)
{
    autorelease(err) struct err err = ERR_INIT;

    int r = store_experiments(list->store, list->limit, note_stopped, &list->stopped, &err);
    experiment_columns(&list->table, list->stopped);
    if (r >= 0)
        r = store_experiments(list->store, 0, on_experiment, list, &err);
    if (r < 0)
        return cmd_fail(list->call, CMD_FAILED, &err);
    if (list->shown || list->state || list->call->json)
        print_list(list);
    else
        printf("no experiments yet in %s\n", list->call->home);
    return CMD_OK;
}

/* A home that is not there yet is empty, not wrong. */
static int list_nothing(const struct cmd_call *call)
{
    if (call->json)
        puts("[]");
    else
        printf("no experiments yet in %s: 'hone init' writes a spec, 'hone run' runs it\n",
               call->home);
    return CMD_OK;
}

static bool known_state(const char *state, bool trials)
{
    enum trial_state t;
    enum experiment_state e;
    return trials ? trial_state_parse(state, &t) == 0 : experiment_state_parse(state, &e) == 0;
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct list list = {.call = call, .limit = LIMIT, .state = cmd_value(call, "state")};
    int code = cmd_number(call, "limit", 1, INT32_MAX, &list.limit);

    if (code)
        return code;
    if (cmd_flag(call, "all") || (call->json && !cmd_value(call, "limit")))
        list.limit = 0;
    if (list.state && !known_state(list.state, call->n_args > 0))
        return cmd_usage(call, "'%s' is no state of %s", list.state,
                         call->n_args ? "trials" : "experiments");
    int r = store_open_read(call->home, &store, &err);
    if (r == -ENOENT && call->n_args == 0)
        return list_nothing(call);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    list.store = store;
    list.engine = home_has_engine(call->home);
    code = call->n_args ? list_trials(&list, call->args[0]) : list_experiments(&list);
    table_release(&list.table);
    return code;
}

const struct cmd cmd_ls = {
    .name = "ls",
    .args = "[EXPERIMENT]",
    .help = "list the experiments, or the trials of one",
    .details = "EXPERIMENT is a number, a name (the newest of that name) or 'last'. With --json an "
               "array of all of them, newest first, unless --limit says less.",
    .max_args = 1,
    .options = options,
    .run = run,
};
