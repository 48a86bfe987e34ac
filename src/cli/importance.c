/* SPDX-License-Identifier: MIT */
/*
 * importance.c — hone importance: how much of the spread of results each parameter explains, with
 * the interval in which that lies, and which of them matter together.
 */
#include "search/importance.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/mattered.h"
#include "api/results.h"
#include "cli/width.h"

#include <errno.h>
#include <math.h>

#define BAR_COLUMNS 24
#define PAIRS_SHOWN 5
#define PAIR_LEAST  0.01 /* smaller interactions are not worth a line */

static const struct cmd_option options[] = {
    {"objective", 0, "METRIC", "which objective, if there are several (the first)"},
    {NULL, 0, NULL, NULL},
};

struct report {
    const struct cmd_call *call;
    const struct target *target;
    size_t objective, results;
    struct importance found;
    size_t *order; /* parameters, the largest share first */
};

static int find_objective(const struct cmd_call *call, const struct spec *spec, size_t *ret,
                          struct err *err)
{
    const char *name = cmd_value(call, "objective");
    autorelease(str) struct str names = STR_INIT;

    *ret = 0;
    for (size_t i = 0; name && i <= spec->others.len; i++) {
        const char *metric = objective_at(spec, i)->metric;
        if (metric && str_eq(metric, name)) {
            *ret = i;
            return 0;
        }
        str_addf(&names, "%s%s", i ? ", " : "", metric ? metric : "none");
    }
    return name ? err_set(err, EINVAL, "'%s' is no objective, but: %s", name, names.s) : 0;
}

static int measure(struct report *report, const struct results *results, struct err *err)
{
    const struct space *space = &report->target->spec.space;
    long long id = report->target->experiment.experiment.id;
    VEC(double) points = {0}, values = {0};

    vec_foreach (row, &results->rows) {
        if (!outcome_counts(row) || !isfinite(row->values[report->objective]))
            continue;
        for (size_t i = 0; i < space->n; i++)
            vec_push(&points, row->point[i]);
        vec_push(&values, row->values[report->objective]);
    }
    report->results = values.len;
    int r = importance_measure(space, points.at, values.at, values.len, &report->found);
    vec_release(&points);
    vec_release(&values);
    if (r == -ENODATA)
        return err_set(err, ENODATA,
                       "%zu results of experiment %lld tell nothing yet: it takes %d completed "
                       "trials",
                       report->results, id, IMPORTANCE_RESULTS_MIN);
    return r < 0 ? err_set(err, -r, "the importance of parameters cannot be computed") : 0;
}

static void sort_params(struct report *report)
{
    size_t n = report->target->spec.space.n;
    const struct param_share *shares = report->found.params;

    report->order = xcalloc(n + 1, sizeof(*report->order));
    for (size_t i = 0; i < n; i++) { /* insertion: equal ones stay in the order of the spec */
        size_t k = i;
        for (; k > 0 && shares[report->order[k - 1]].share < shares[i].share; k--)
            report->order[k] = report->order[k - 1];
        report->order[k] = i;
    }
}

/* ---- for people ---- */

/* Eighths of a column, so that small shares can be told apart. */
static void add_bar(struct str *to, double share)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t eighths = (size_t)(fmin(fmax(share, 0), 1) * BAR_COLUMNS * 8 + 0.5);

    for (size_t i = 0; i < eighths / 8; i++)
        str_add(to, "█");
    str_add(to, parts[eighths % 8]);
}

static void add_share(struct table *table, const char *name, const struct param_share *share)
{
    autorelease(str) struct str bar = STR_INIT;

    add_bar(&bar, share->share);
    table_add(table, BOLD, name);
    table_addf(table, PLAIN, "%.0f%%", share->share * 100);
    table_addf(table, DIM, "%.0f%% to %.0f%%", share->low * 100, share->high * 100);
    table_add(table, CYAN, bar.s);
}

static void begin_table(struct table *table, const char *first)
{
    table_column(table, first, COLUMN_SHRINK);
    table_column(table, "share", COLUMN_RIGHT);
    table_column(table, "likely", COLUMN_RIGHT);
    table_column(table, "", COLUMN_LEFT);
}

static void print_params(const struct report *report)
{
    const struct space *space = &report->target->spec.space;
    struct table table = TABLE_INIT;

    begin_table(&table, "parameter");
    for (size_t i = 0; i < space->n; i++) {
        size_t at = report->order[i];
        if (param_size(&space->params[at]) != 1)
            add_share(&table, space->params[at].name, &report->found.params[at]);
    }
    table_print(&table, stdout, report->call->colour, terminal_width());
    table_release(&table);
}

static void print_pairs(const struct report *report)
{
    const struct space *space = &report->target->spec.space;
    struct table table = TABLE_INIT;

    begin_table(&table, "together, beyond each alone");
    for (size_t i = 0; i < report->found.n_pairs && i < PAIRS_SHOWN; i++) {
        const struct pair_share *pair = &report->found.pairs[i];
        autofree(mem) char *names =
            xasprintf("%s × %s", space->params[pair->a].name, space->params[pair->b].name);
        if (pair->share.share >= PAIR_LEAST)
            add_share(&table, names, &pair->share);
    }
    if (table_rows(&table)) {
        printf("\n");
        table_print(&table, stdout, report->call->colour, terminal_width());
    }
    table_release(&table);
}

static void print_report(const struct report *report)
{
    const struct spec *spec = &report->target->spec;

    printf("what explains the spread of %s over %zu results\n",
           objective_at(spec, report->objective)->metric, report->results);
    print_params(report);
    print_pairs(report);
    if (report->found.explained < 0.1)
        printf("\nall together explain little (%.0f%%): the rest is noise, or takes more trials to "
               "see\n",
               report->found.explained * 100);
    else
        printf("\nall together explain %.0f%% of results not seen\n",
               report->found.explained * 100);
}

/* ---- for scripts ---- */

static void put_share(struct json_out *out, const struct param_share *share)
{
    json_put_double(out, "share", share->share);
    json_put_double(out, "low", share->low);
    json_put_double(out, "high", share->high);
    json_end_object(out);
}

static void put_json(const struct report *report, struct json_out *out)
{
    const struct spec *spec = &report->target->spec;

    json_begin_object(out);
    json_put_int(out, "experiment", report->target->experiment.experiment.id);
    json_put_text(out, "objective", objective_at(spec, report->objective)->metric);
    json_put_int(out, "results", (int64_t)report->results);
    json_put_double(out, "explained", report->found.explained);
    json_key(out, "params");
    json_begin_array(out);
    for (size_t i = 0; i < spec->space.n; i++) {
        json_begin_object(out);
        json_put_text(out, "param", spec->space.params[report->order[i]].name);
        put_share(out, &report->found.params[report->order[i]]);
    }
    json_end_array(out);
    json_key(out, "pairs");
    json_begin_array(out);
    for (size_t i = 0; i < report->found.n_pairs; i++) {
        const struct pair_share *pair = &report->found.pairs[i];
        json_begin_object(out);
        json_put_text(out, "a", spec->space.params[pair->a].name);
        json_put_text(out, "b", spec->space.params[pair->b].name);
        put_share(out, &pair->share);
    }
    json_end_array(out);
    json_end_object(out);
}

static void print_json(const struct report *report)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    put_json(report, &out);
    output_line(&text);
}

/* ---- the command ---- */

static int make_report(struct report *report, struct store *store, struct err *err)
{
    const struct target *target = report->target;
    struct results results = {0};
    int r = 0;

    if (!target->spec.objective.metric)
        r = err_set(err, ENODATA, "experiment %lld has no objective: nothing can matter",
                    (long long)target->experiment.experiment.id);
    if (r == 0 && report->call)
        r = find_objective(report->call, &target->spec, &report->objective, err);
    if (r == 0)
        r = results_load(store, target, &results, err);
    if (r == 0)
        r = measure(report, &results, err);
    results_release(&results);
    return r;
}

static void release_report(struct report *report)
{
    importance_release(&report->found);
    free(report->order);
}

int importance_json(struct store *store, const struct target *target, struct str *to,
                    struct err *err)
{
    struct report report = {.target = target};
    struct json_out out = JSON_OUT(to);
    int r = make_report(&report, store, err);

    if (r == 0) {
        sort_params(&report);
        put_json(&report, &out);
        release_report(&report);
    }
    return r;
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    struct report report = {.call = call, .target = &target};

    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int r = target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err);
    if (r == 0)
        r = make_report(&report, store, &err);
    if (r == 0) {
        sort_params(&report);
        (call->json ? print_json : print_report)(&report);
        release_report(&report);
    }
    target_release(&target);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_importance = {
    .name = "importance",
    .args = "EXPERIMENT",
    .help = "which parameters mattered, alone and together",
    .details = "The share of the spread of results that each parameter explains alone, and which "
               "pairs explain more together than each alone. 'likely' holds the share in 9 of 10 "
               "resamplings of the results: where it is wide, more trials are needed to tell.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
