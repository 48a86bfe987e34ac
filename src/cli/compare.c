/* SPDX-License-Identifier: MIT */
/*
 * compare.c — hone compare: any number of experiments or trials side by side, a column each.
 */
#include "cli/cmd.h"
#include "cli/facts.h"
#include "cli/output.h"

#include <errno.h>
#include <math.h>

struct compare {
    const struct cmd_call *call;
    struct store *store;
    struct target *targets;
    struct facts *facts;
    size_t n;
};

static int read_one(struct compare *compare, const char *ref, struct err *err)
{
    struct target *target = &compare->targets[compare->n];
    struct facts *facts = &compare->facts[compare->n];

    compare->n++;
    int r = target_find(compare->store, ref, FIND_ANY, target, err);
    if (r < 0)
        return r;
    if (target->has_trial != compare->targets[0].has_trial)
        return err_set(err, EINVAL,
                       "'%s' and '%s' are an experiment and a trial; compare like "
                       "with like",
                       compare->call->args[0], ref);
    struct experiment *experiment = &target->experiment.experiment;
    experiment->state = shown_row_state(&target->experiment, home_has_engine(compare->call->home));
    return facts_results(facts, compare->store, target, err);
}

static void add_rows(struct table *table, const struct sheet *sheet)
{
    vec_foreach (row, &sheet->rows) {
        table_add(table, DIM, row->key);
        for (size_t i = 0; i < sheet->n_lists; i++) {
            const struct fact *fact = row->cells[i];
            if (fact && !isnan(fact->number))
                table_number(table, row->equal ? PLAIN : BOLD, fact->number);
            else
                table_add(table, row->equal ? PLAIN : BOLD, fact ? fact->text : "");
        }
    }
}

static void print_table(const struct compare *compare)
{
    struct table table = TABLE_INIT;
    struct sheet sheet;

    sheet_init(&sheet, compare->facts, compare->n);
    table_column(&table, "", COLUMN_LEFT);
    for (size_t i = 0; i < compare->n; i++) {
        autofree(mem) char *name = target_name(&compare->targets[i]);
        table_column(&table, name, COLUMN_RIGHT | COLUMN_SHRINK);
    }
    add_rows(&table, &sheet);
    table_print(&table, stdout, compare->call->colour, terminal_width());
    table_release(&table);
    sheet_release(&sheet);
}

static void put_target(const struct compare *compare, const struct target *target,
                       struct json_out *out)
{
    const struct experiment_row *row = &target->experiment;

    if (target->has_trial) {
        rows_put_trial(out, row->experiment.name, &target->trial, false);
        return;
    }
    autofree(mem) char *params = trial_params(compare->store, row->experiment.id, row->best_trial);
    rows_put_experiment(out, row, home_has_engine(compare->call->home), params,
                        count_attempts(compare->store, row->experiment.id), false);
}

static void print_json(const struct compare *compare)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_array(&out);
    for (size_t i = 0; i < compare->n; i++)
        put_target(compare, &compare->targets[i], &out);
    json_end_array(&out);
    output_line(&text);
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autofree(mem) struct target *targets = xcalloc((size_t)call->n_args, sizeof(*targets));
    autofree(mem) struct facts *facts = xcalloc((size_t)call->n_args, sizeof(*facts));
    int r = store_open_read(call->home, &store, &err);
    struct compare compare = {call, store, targets, facts, 0};

    for (int i = 0; i < call->n_args && r >= 0; i++)
        r = read_one(&compare, call->args[i], &err);
    if (r >= 0 && call->json)
        print_json(&compare);
    else if (r >= 0)
        print_table(&compare);
    for (size_t i = 0; i < compare.n; i++) {
        target_release(&targets[i]);
        facts_release(&facts[i]);
    }
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_compare = {
    .name = "compare",
    .args = "EXPERIMENT…|TRIAL…",
    .help = "experiments or trials side by side",
    .details = "State, value, time and parameters, a column each; of experiments those of the best "
               "trial. Rows that differ stand out on a terminal. 'hone diff' tells why two differ.",
    .min_args = 2,
    .max_args = -1,
    .run = run,
};
