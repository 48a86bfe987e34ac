/* SPDX-License-Identifier: MIT */
/*
 * ls.c — hone ls: the experiments of this home, or the trials of one. Newest first; a long list is
 * cut, and the cut is said.
 *
 * Rows are printed from the database as they come, so a hundred thousand trials need no memory.
 * Sorted by an expression they come twice: once for their keys, then those that are shown.
 */
#include "base/clock.h"
#include "cli/bounds.h"
#include "cli/cmd.h"
#include "api/find.h"
#include "api/fresh.h"
#include "cli/left.h"
#include "cli/output.h"
#include "cli/served.h"
#include "api/where.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define LIMIT 50

static const struct cmd_option options[] = {
    {"limit", 'n', "N", "show at most this many (50)"},
    {"all", 'a', NULL, "show all of them"},
    {"state", 0, "STATE", "only those in this state"},
    {"where", 'w', "EXPR",
     "only those for which this holds, as in 'min(loss) < 0.3 and lr > 1e-4'"},
    {"sort", 0, "EXPR", "by newest, number, value (completed ones, best first), or any expression"},
    {"desc", 0, NULL, "with --sort: largest first"},
    {NULL, 0, NULL, NULL},
};

struct list {
    struct cmd_call *call;
    struct store *store;
    const struct target *target; /* NULL: experiments are listed */
    struct table table;
    int64_t limit; /* 0: all */
    int64_t shown, hidden;
    const char *state;   /* NULL: any */
    struct where *where; /* NULL: all, in the store's order */
    struct fresh *fresh; /* NULL: the database has the newest */
    bool again;          /* the rows that fit come once more, sorted */
    struct err *err;
    bool engine;
    struct left left;     /* of what runs: what the engine says */
    const char *user;     /* who types */
    bool stopped, owners; /* there is a column of stopped trials, of owners */
};

static bool has_state(const struct list *list, const char *state)
{
    return !list->state || str_eq(list->state, state);
}

/* May this row, which fits, be shown? Counts it as shown or hidden. */
static bool admit(struct list *list)
{
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

static void add_left(struct table *table, const struct time_left *left)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_left(&text, left);
    table_add(table, PLAIN, text.s);
}

/* ---- experiments ---- */

static struct time_left left_of_row(struct list *list, const struct experiment_row *row)
{
    if (row->experiment.state != EXPERIMENT_RUNNING || !list->engine)
        return TIME_LEFT_UNKNOWN;
    left_ask(&list->left, list->call->home, row->experiment.id);
    return left_of_experiment(&list->left);
}

/* Is there one with stopped trials, or of somebody else? Only then there is a column for that. */
static int note_columns(const struct experiment_row *row, void *arg)
{
    struct list *list = arg;

    list->stopped |= row->counts[TRIAL_STOPPED] > 0;
    list->owners |= served_owner(row->experiment.owner, list->user);
    return list->stopped && list->owners;
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

static void experiment_columns(struct list *list)
{
    struct table *table = &list->table;

    table_column(table, "experiment", COLUMN_RIGHT);
    table_column(table, "name", COLUMN_SHRINK);
    if (list->owners)
        table_column(table, "owner", COLUMN_SHRINK);
    table_column(table, "state", COLUMN_LEFT);
    table_column(table, "trials", COLUMN_RIGHT);
    table_column(table, "done", COLUMN_RIGHT);
    if (list->stopped)
        table_column(table, "stopped", COLUMN_RIGHT | COLUMN_OPTIONAL);
    table_column(table, "failed", COLUMN_RIGHT);
    table_column(table, "best", COLUMN_RIGHT);
    table_column(table, "started", COLUMN_OPTIONAL);
    table_column(table, "time", COLUMN_RIGHT);
    table_column(table, "left", COLUMN_RIGHT | COLUMN_IF_ANY);
    table_column(table, "", COLUMN_SHRINK);
}

static void experiment_cells(struct list *list, const struct experiment_row *row)
{
    struct time_left left = left_of_row(list, row);
    const struct experiment *e = &row->experiment;
    enum experiment_state state = shown_row_state(row, list->engine);
    autorelease(str) struct str when = STR_INIT, words = STR_INIT;

    str_add_when(&when, e->created_us);
    str_add_state(&words, experiment_state_name(state), e->reason);
    table_addf(&list->table, BOLD, "%lld", (long long)e->id);
    table_add(&list->table, PLAIN, e->name);
    if (list->owners)
        table_add(&list->table, PLAIN, e->owner ? e->owner : "");
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
    add_left(&list->table, &left);
    add_marks(&list->table, row->starred, row->tags.at, row->tags.len);
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct list *list = arg;
    enum experiment_state state = shown_row_state(row, list->engine);

    if (!list->again) {
        if (!has_state(list, experiment_state_name(state)))
            return 0;
        int r = where_experiment(list->where, row, state, list->err);
        if (r <= 0 || where_sorts(list->where))
            return MIN(r, 0);
    }
    if (!admit(list))
        return 0;
    if (!list->call->json) {
        experiment_cells(list, row);
        return 0;
    }
    autofree(mem) char *params = trial_params(list->store, row->experiment.id, row->best_trial);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    rows_put_experiment(&out, row, list->engine, params,
                        count_attempts(list->store, row->experiment.id), true);
    struct time_left left = left_of_row(list, row);
    left_put(&out, &left);
    json_end_object(&out);
    print_object(list, &text);
    return 0;
}

/* ---- trials ---- */

static void trial_columns(struct table *table, const struct spec *spec)
{
    table_column(table, "trial", COLUMN_RIGHT);
    table_column(table, "state", COLUMN_LEFT);
    table_column(table, spec->objective.metric ? spec->objective.metric : "value", COLUMN_RIGHT);
    vec_foreach (other, &spec->others)
        table_column(table, other->metric, COLUMN_RIGHT);
    table_column(table, "step", COLUMN_RIGHT);
    table_column(table, "time", COLUMN_RIGHT);
    table_column(table, "left", COLUMN_RIGHT | COLUMN_IF_ANY);
    table_column(table, "parameters", COLUMN_SHRINK);
    table_column(table, "", COLUMN_SHRINK);
}

/* "completed (breaks mem <= 6)": its value does not count. */
static void add_bounds(struct str *state, const struct spec *spec, const struct trial *trial)
{
    size_t n = 0;

    for (size_t i = 0; trial->state == TRIAL_COMPLETED && i < spec->constraints.len; i++) {
        if (constraint_kept(&spec->constraints.at[i], trial_bounded(spec, trial, i)))
            continue;
        str_add(state, n++ ? ", " : " (breaks ");
        bounds_add(state, &spec->constraints.at[i]);
    }
    str_add(state, n ? ")" : "");
}

static void trial_cells(struct list *list, const struct trial_row *row)
{
    const struct trial *trial = &row->trial;
    struct time_left left = left_of_trial(&list->left, trial);
    autorelease(str) struct str words = STR_INIT, state = STR_INIT;

    space_words(&list->target->spec.space, trial->point, &words);
    if (words.len == 0 && row->params_json)
        str_add_flat(&words, row->params_json); /* observed: nothing was searched */
    str_add_state(&state, trial_state_name(trial->state), trial->reason);
    add_bounds(&state, &list->target->spec, trial);
    table_addf(&list->table, BOLD, "%lld.%lld", (long long)trial->experiment,
               (long long)trial->number);
    table_add(&list->table, trial_colour(trial->state), state.s);
    table_number(&list->table, PLAIN, trial->value);
    for (size_t i = 0; i < list->target->spec.others.len; i++)
        table_number(&list->table, PLAIN, i < trial->n_extra ? trial->extra[i] : NAN);
    if (trial->last_step == STEP_NONE)
        table_add(&list->table, PLAIN, "");
    else
        table_addf(&list->table, PLAIN, "%lld", (long long)trial->last_step);
    add_duration(&list->table, trial->run_us);
    add_left(&list->table, &left);
    table_add(&list->table, PLAIN, words.s);
    add_marks(&list->table, row->starred, row->tags.at, row->tags.len);
}

static int on_trial(const struct trial_row *stored, void *arg)
{
    struct list *list = arg;
    struct trial_row fresh = *stored;
    const struct trial_row *row = &fresh;

    fresh_trial(list->fresh, &fresh.trial);
    if (!list->again) {
        if (!has_state(list, trial_state_name(row->trial.state)))
            return 0;
        int r = where_trial(list->where, row, list->err);
        if (r <= 0 || where_sorts(list->where))
            return MIN(r, 0);
    }
    if (!admit(list))
        return 0;
    if (!list->call->json) {
        trial_cells(list, row);
        return 0;
    }
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    rows_put_trial(&out, list->target->experiment.experiment.name, row, true);
    struct time_left left = left_of_trial(&list->left, &row->trial);
    left_put(&out, &left);
    rows_put_values(&out, &list->target->spec, &row->trial);
    json_end_object(&out);
    print_object(list, &text);
    return 0;
}

/* ---- order ---- */

/* The words that --sort knows besides expressions. */
static bool named_order(const struct cmd_call *call, enum trial_order *ret)
{
    const char *key = cmd_value(call, "sort");

    *ret = ORDER_NEWEST;
    if (key && str_eq(key, "number"))
        *ret = ORDER_NUMBER;
    else if (key && str_eq(key, "value"))
        *ret = ORDER_BEST;
    return !key || (!cmd_flag(call, "desc") && (*ret != ORDER_NEWEST || str_eq(key, "newest")));
}

/* The expressions of the call; none is needed for what the store can do. Experiments have no other
 * order than the newest first. */
static int make_where(struct list *list, const struct target *target, struct where **ret)
{
    const struct cmd_call *call = list->call;
    const char *key = cmd_value(call, "sort");
    enum trial_order order;
    bool named = named_order(call, &order) && (target || order == ORDER_NEWEST);
    struct where_ask ask = {.home = call->home,
                            .store = list->store,
                            .target = target,
                            .condition = cmd_value(call, "where"),
                            .key = named ? NULL : key,
                            .desc = cmd_flag(call, "desc"),
                            .now_us = clock_wall_us()};

    if (ask.desc && !key)
        return cmd_usage(call, "--desc goes with --sort");
    if (!ask.condition && !ask.key)
        return CMD_OK;
    int r = where_new(&ask, ret, list->err);
    return r < 0 ? where_fail(call, r, list->err) : CMD_OK;
}

/* The numbers that are to be shown, in their order; the others are counted. */
static const int64_t *sorted_rows(struct list *list, size_t *ret_n)
{
    size_t n;
    const int64_t *numbers = where_sorted(list->where, &n);

    list->again = true;
    *ret_n = list->limit > 0 ? MIN(n, (size_t)list->limit) : n;
    list->hidden = (int64_t)(n - *ret_n);
    return numbers;
}

static int print_sorted_trials(struct list *list)
{
    size_t n;
    const int64_t *numbers = sorted_rows(list, &n);
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++) {
        struct trial_query query = {.experiment = list->target->experiment.experiment.id,
                                    .number = numbers[i]};
        r = store_trials(list->store, &query, on_trial, list, list->err);
    }
    return r;
}

static int print_sorted_experiments(struct list *list)
{
    size_t n;
    const int64_t *numbers = sorted_rows(list, &n);
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++) {
        struct experiment_row row = {0};
        autofree(mem) char *id = xasprintf("%lld", (long long)numbers[i]);
        r = store_find_experiment(list->store, id, true, &row, list->err);
        if (r >= 0)
            r = on_experiment(&row, list);
        experiment_row_release(&row);
    }
    return r;
}

/* ---- the command ---- */

/* What was counted beyond the limit, without reading the rows: the counts of the experiment. */
static int64_t count_all(const struct target *target, const char *state)
{
    int64_t n = 0;
    for (int i = 0; i < TRIAL_STATES; i++)
        if (!state || str_eq(state, trial_state_name((enum trial_state)i)))
            n += target->experiment.counts[i];
    return n;
}

static void print_none(struct list *list)
{
    if (list->where || list->state) {
        puts(list->where ? "none fits" : "none in this state");
        return;
    }
    autofree(mem) char *why = target_no_trials(list->store, list->target);
    puts(why);
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
        print_none(list);
    if (list->hidden > 0)
        printf("and %lld more: --all shows them\n", (long long)list->hidden);
}

static int walk_trials(struct list *list)
{
    const struct target *target = list->target;
    struct trial_query query = {.experiment = target->experiment.experiment.id,
                                .goal = target->spec.objective.goal};
    bool all = list->state || list->where;

    named_order(list->call, &query.order);
    if (where_sorts(list->where))
        query.order = ORDER_NUMBER;
    query.limit = all ? 0 : list->limit;
    int r = store_trials(list->store, &query, on_trial, list, list->err);
    if (r >= 0 && where_sorts(list->where))
        return print_sorted_trials(list);
    if (!list->where && query.order != ORDER_BEST)
        list->hidden = count_all(target, list->state) - list->shown;
    return r;
}

static int list_trials(struct list *list, const char *ref)
{
    struct target target;
    autofree(where) struct where *where = NULL;
    int code = CMD_OK, r = target_find(list->store, ref, FIND_EXPERIMENT, &target, list->err);

    if (r == 0)
        code = make_where(list, &target, &where);
    if (r == 0 && code == CMD_OK) {
        list->target = &target;
        list->fresh = fresh_new(list->call->home, &target.spec);
        list->where = where;
        if (list->engine && target.experiment.experiment.state == EXPERIMENT_RUNNING)
            left_ask(&list->left, list->call->home, target.experiment.experiment.id);
        trial_columns(&list->table, &target.spec);
        r = walk_trials(list);
        if (r >= 0)
            print_list(list);
    }
    list->target = NULL;
    list->where = NULL;
    fresh_free(TAKE(list->fresh));
    target_release(&target);
    return r < 0 ? cmd_fail(list->call, CMD_FAILED, list->err) : code;
}

static int walk_experiments(struct list *list)
{
    int r = store_experiments(list->store, list->where ? 0 : list->limit, note_columns, list,
                              list->err);

    experiment_columns(list);
    if (r >= 0)
        r = store_experiments(list->store, 0, on_experiment, list, list->err);
    if (r >= 0 && where_sorts(list->where))
        r = print_sorted_experiments(list);
    return r;
}

static int list_experiments(struct list *list)
{
    autofree(where) struct where *where = NULL;
    autofree(mem) char *user = cmd_user();
    int code = make_where(list, NULL, &where);

    if (code != CMD_OK)
        return code;
    list->where = where;
    list->user = user;
    int r = walk_experiments(list);
    if (r < 0)
        code = cmd_fail(list->call, CMD_FAILED, list->err);
    else if (list->shown || list->state || list->where || list->call->json)
        print_list(list);
    else
        printf("no experiments yet in %s\n", list->call->home);
    list->where = NULL;
    list->user = NULL;
    return code;
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
    struct list list = {
        .call = call, .limit = LIMIT, .state = cmd_value(call, "state"), .err = &err};
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
    left_release(&list.left);
    return code;
}

const struct cmd cmd_ls = {
    .name = "ls",
    .args = "[EXPERIMENT]",
    .help = "list the experiments, or the trials of one",
    .details = "EXPERIMENT is a number, a name (the newest of that name) or 'last'. With --json an "
               "array of all of them, newest first, unless --limit says less.\n\n"
               "--where and --sort take expressions over parameters, metrics, curves of metrics, "
               "and what is known of a row (state, reason, value, step, duration, started, tags, "
               "…), such as:\n\n"
               "    min(val_loss, step > 1000) < 0.3 and time_to(acc >= 0.9) < 2h\n\n"
               "docs/expressions.md describes them. What a row does not have comes last.",
    .max_args = 1,
    .options = options,
    .run = run,
};
