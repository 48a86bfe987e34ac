/* SPDX-License-Identifier: MIT */
/*
 * diff.c — hone diff: why two trials or experiments differ. Parameters, results, machine, spec and
 * environment side by side, equal rows hidden, and the files of the code that changed.
 *
 * Values are shown exact here, not to six digits: a difference must be seen.
 */
#include "cli/cmd.h"
#include "cli/export.h"
#include "cli/facts.h"
#include "cli/output.h"
#include "store/object.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"all", 'a', NULL, "show equal rows too"},
    {"patch", 0, NULL, "show the changed lines of the code, not only the names of files"},
    {NULL, 0, NULL, NULL},
};

static const char *const sections[] = {"parameters", "results", "machine", "spec", "environment"};

struct diff {
    const struct cmd_call *call;
    struct store *store;
    struct target targets[2];
    struct facts facts[2];
    struct sheet sheet;
    char *code[2];      /* SHA-256 of the snapshot; NULL: none */
    struct str changes; /* of the code */
    bool all;
};

/* An attempt has its own snapshot when the code changed since the experiment began. */
static int keep_code(const struct attempt *attempt, void *arg)
{
    char **code = arg;
    if (attempt->code) {
        free(*code);
        *code = xstrdup(attempt->code);
    }
    return 0;
}

/* ---- the machine ---- */

static void add_fact(struct facts *facts, const char *key, const char *text)
{
    vec_push(&facts->list, ((struct fact){"machine", xstrdup(key), xstrdup(text), NAN}));
}

struct machine {
    const struct export *export;
    struct facts *facts;
};

static void add_configuration(const struct machine *machine, const struct tuning *tuning)
{
    const struct spec *spec = &machine->export->target->spec;
    const struct tuning_phase *last = vec_last(&tuning->phases);
    autofree(mem) char *changes = xasprintf("%lld", (long long)tuning->changes);

    for (size_t i = 0; i < tuning->n_values; i++) {
        autorelease(str) struct str text = STR_INIT;
        str_add_json_text(&text, last->values[i]);
        if (text.len)
            add_fact(machine->facts, system_name_at(spec, i), text.s);
    }
    add_fact(machine->facts, "changes", changes);
}

/* The configuration it ended with, how fast that was, and what it took. */
static int on_machine(const struct trial_row *row, void *arg)
{
    const struct machine *machine = arg;
    const struct export *export = machine->export;
    struct tuning_log log = TUNING_LOG_INIT;
    struct tuning tuning;
    struct trial_pace pace = {NAN, NAN};
    autorelease(str) struct str energy = STR_INIT;

    tuning_log_load(&log, export->store, row->trial.experiment, row->trial.number, NULL);
    int r = tuning_load(&tuning, export->store, &export->target->spec, row, &log, export->err);
    if (r == 0)
        r = trial_pace(export, row, &log, &pace);
    if (r == 0) {
        autofree(mem) char *seconds = xasprintf("%.3g", pace.last);
        add_configuration(machine, &tuning);
        if (isfinite(pace.last))
            add_fact(machine->facts, "seconds per step", seconds);
        str_add_energy(&energy, row->trial.joules, row->trial.joules_measured);
        if (energy.len)
            add_fact(machine->facts, "energy", energy.s);
    }
    tuning_release(&tuning);
    tuning_log_release(&log);
    return r;
}

/* Of an experiment: of its best trial, as with parameters. Without system parameters the machine is
 * as it is, and its figures only vary. */
static int read_machine(const struct diff *diff, int i, struct facts *facts, struct err *err)
{
    const struct target *target = &diff->targets[i];
    autofree(series_db) struct series_db *series = NULL;
    struct export export = {
        .home = diff->call->home, .store = diff->store, .target = target, .err = err};
    struct machine machine = {&export, facts};
    struct trial_query query = {.experiment = target->experiment.experiment.id,
                                .order = ORDER_NUMBER,
                                .number = target->experiment.best_trial};

    if (system_count(&target->spec) == 0)
        return 0;
    int r = series_db_open(diff->call->home, SERIES_READ, &series, err);
    if (r < 0)
        return r;
    export.series = series;
    if (target->has_trial)
        return on_machine(&target->trial, &machine);
    return query.number ? store_trials(diff->store, &query, on_machine, &machine, err) : 0;
}

/* Beside a trial, "last" is the newest trial. */
static int find_both(struct diff *diff, struct err *err)
{
    char **args = diff->call->args;
    struct target *targets = diff->targets;
    int r = 0;

    for (int i = 0; i < 2 && r >= 0; i++)
        r = target_find(diff->store, args[i], FIND_ANY, &targets[i], err);
    for (int i = 0; i < 2 && r >= 0; i++)
        if (!targets[i].has_trial && targets[1 - i].has_trial && str_eq(args[i], "last")) {
            target_release(&targets[i]);
            r = target_find(diff->store, args[i], FIND_TRIAL, &targets[i], err);
        }
    if (r >= 0 && targets[0].has_trial != targets[1].has_trial)
        r = err_set(err, EINVAL, "one of them is an experiment, the other a trial");
    return r;
}

static int read_side(struct diff *diff, int i, struct err *err)
{
    struct target *target = &diff->targets[i];
    struct experiment *experiment = &target->experiment.experiment;
    int r = 0;

    experiment->state = shown_row_state(&target->experiment, home_has_engine(diff->call->home));
    if (experiment->code)
        diff->code[i] = xstrdup(experiment->code);
    if (target->has_trial)
        r = store_attempts(diff->store, experiment->id, target->trial.trial.number, false,
                           keep_code, &diff->code[i], err);
    if (r >= 0)
        r = facts_results(&diff->facts[i], diff->store, target, err);
    if (r >= 0)
        r = read_machine(diff, i, &diff->facts[i], err);
    if (r >= 0)
        r = facts_setting(&diff->facts[i], target, err);
    return r;
}

static int compare_code(struct diff *diff, struct err *err)
{
    if (!diff->code[0] || !diff->code[1] || str_eq(diff->code[0], diff->code[1]))
        return 0;
    int r = snapshot_diff(diff->call->home, diff->code[0], diff->code[1],
                          cmd_flag(diff->call, "patch"), &diff->changes, err);
    return r < 0 ? err_context(err, "code snapshots") : 0;
}

static int read_both(struct diff *diff, struct err *err)
{
    int r = store_open_read(diff->call->home, &diff->store, err);
    if (r >= 0)
        r = find_both(diff, err);
    for (int i = 0; i < 2 && r >= 0; i++)
        r = read_side(diff, i, err);
    if (r >= 0)
        r = compare_code(diff, err);
    if (r >= 0)
        sheet_init(&diff->sheet, diff->facts, 2);
    return r;
}

static bool shown(const struct diff *diff, const struct sheet_row *row, const char *section)
{
    return str_eq(row->section, section) && (diff->all || !row->equal);
}

static size_t add_section(const struct diff *diff, struct table *table, const char *section)
{
    size_t n = 0;
    vec_foreach (row, &diff->sheet.rows) {
        if (!shown(diff, row, section))
            continue;
        if (n++ == 0) {
            table_add(table, BOLD, section);
            table_add(table, PLAIN, "");
            table_add(table, PLAIN, "");
        }
        table_addf(table, DIM, "  %s", row->key);
        for (int i = 0; i < 2; i++)
            table_add(table,
                      row->equal ? PLAIN
                      : i        ? GREEN
                                 : RED,
                      row->cells[i] ? row->cells[i]->text : "-");
    }
    return n;
}

static void print_code(const struct diff *diff)
{
    bool colour = diff->call->colour;
    bool same = diff->code[0] && diff->code[1] && str_eq(diff->code[0], diff->code[1]);

    if (same && !diff->all)
        return;
    printf("%scode%s\n", colour_on(colour, BOLD), colour_off(colour, BOLD));
    if (!diff->code[0] || !diff->code[1])
        puts(diff->code[0] || diff->code[1] ? "  only one of them has a snapshot"
                                            : "  no snapshot was taken (code: in the spec)");
    else
        fputs(same ? "  the same\n" : diff->changes.s, stdout);
}

static void print_table(const struct diff *diff)
{
    struct table table = TABLE_INIT;
    size_t n = 0;

    table_column(&table, "", COLUMN_LEFT);
    for (int i = 0; i < 2; i++) {
        autofree(mem) char *name = target_name(&diff->targets[i]);
        table_column(&table, name, COLUMN_SHRINK);
    }
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        n += add_section(diff, &table, sections[i]);
    if (n)
        table_print(&table, stdout, diff->call->colour, terminal_width());
    else if (diff->changes.len == 0)
        puts("no difference");
    if (diff->code[0] || diff->code[1] || diff->all)
        print_code(diff);
    table_release(&table);
}

static void put_row(struct json_out *out, const struct sheet_row *row)
{
    static const char *const names[] = {"a", "b"};

    json_begin_object(out);
    json_put_text(out, "section", row->section);
    json_put_text(out, "key", row->key);
    for (int i = 0; i < 2; i++)
        json_put_text(out, names[i], row->cells[i] ? row->cells[i]->text : NULL);
    json_put_bool(out, "equal", row->equal);
    json_end_object(out);
}

static void print_json(const struct diff *diff)
{
    autofree(mem) char *a = target_name(&diff->targets[0]), *b = target_name(&diff->targets[1]);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_text(&out, "a", a);
    json_put_text(&out, "b", b);
    json_key(&out, "rows");
    json_begin_array(&out);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        vec_foreach (row, &diff->sheet.rows)
            if (shown(diff, row, sections[i]))
                put_row(&out, row);
    json_end_array(&out);
    json_put_text(&out, "code_a", diff->code[0]);
    json_put_text(&out, "code_b", diff->code[1]);
    json_put_text(&out, "code_changes", diff->changes.s);
    json_end_object(&out);
    output_line(&text);
}

static void diff_release(struct diff *diff)
{
    for (int i = 0; i < 2; i++) {
        target_release(&diff->targets[i]);
        facts_release(&diff->facts[i]);
        free(diff->code[i]);
    }
    sheet_release(&diff->sheet);
    str_release(&diff->changes);
    if (diff->store)
        store_free(diff->store);
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(diff) struct diff diff = {
        .call = call, .changes = STR_INIT, .all = cmd_flag(call, "all")};

    if (read_both(&diff, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (call->json)
        print_json(&diff);
    else
        print_table(&diff);
    return CMD_OK;
}

const struct cmd cmd_diff = {
    .name = "diff",
    .args = "A B",
    .help = "why two trials or experiments differ",
    .details = "Parameters, results, machine, spec, environment and code of two trials, or of two "
               "experiments, side by side; equal rows are hidden unless --all. Values are exact. "
               "Beside a trial, 'last' is the newest trial.",
    .min_args = 2,
    .max_args = 2,
    .options = options,
    .run = run,
};
