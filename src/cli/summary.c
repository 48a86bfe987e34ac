/* SPDX-License-Identifier: MIT */
/*
 * summary.c — an experiment summed up for people when it ends.
 */
#include "cli/remote.h"
#include "cli/summary.h"
#include "base/clock.h"
#include "cli/bounds.h"
#include "cli/mattered.h"
#include "cli/output.h"
#include "cli/ranking.h"
#include "cli/table.h"
#include "api/tuning.h"

#include <errno.h>
#include <math.h>

#define BEST_SHOWN 5

struct summary_print {
    const struct cmd_call *call;
    struct store *store;
    struct target *target;
    struct table table;
};

static void add_best(struct summary_print *print, const struct ranking *ranking, size_t i)
{
    const struct outcome *row = ranking_at(ranking, i);
    bool alone = ranking->results.n_objectives == 1;
    autorelease(str) struct str words = STR_INIT, time = STR_INIT;

    space_words(&print->target->spec.space, row->point, &words);
    str_add_duration(&time, row->run_us);
    table_addf(&print->table, BOLD, "%lld.%lld", (long long)print->target->experiment.experiment.id,
               (long long)row->number);
    for (size_t k = 0; k < ranking->results.n_objectives; k++)
        table_number(&print->table, alone && i == 0 ? GREEN : PLAIN, row->values[k]);
    table_add(&print->table, PLAIN, time.s);
    table_add(&print->table, PLAIN, words.s);
}

static void print_table(struct summary_print *print, const struct ranking *ranking)
{
    autorelease(str) struct str words = STR_INIT;
    bool alone = ranking->results.n_objectives == 1;

    table_column(&print->table, "trial", COLUMN_RIGHT);
    for (size_t k = 0; k < ranking->results.n_objectives; k++)
        table_column(&print->table, objective_at(&print->target->spec, k)->metric, COLUMN_RIGHT);
    table_column(&print->table, "time", COLUMN_RIGHT);
    table_column(&print->table, "parameters", COLUMN_SHRINK);
    for (size_t i = 0; i < ranking->order.len && i < BEST_SHOWN; i++)
        add_best(print, ranking, i);
    ranking_words(ranking, print->target, &words);
    if (words.len)
        printf("  %s\n", words.s);
    printf("\n%s\n", alone ? "best trials" : "Pareto front");
    table_print(&print->table, stdout, print->call->colour, terminal_width());
}

static void print_lack(const struct summary_print *print, const struct ranking *ranking)
{
    autorelease(str) struct str words = STR_INIT;

    bounds_lack(&ranking->results, &print->target->spec, &words);
    printf("  %s\n", words.s);
}

static void print_best(struct summary_print *print)
{
    struct ranking ranking;

    if (!print->target->spec.objective.metric)
        return;
    if (ranking_load(print->store, print->target, &ranking, NULL) == 0) {
        if (ranking.order.len)
            print_table(print, &ranking);
        else if (ranking.completed)
            print_lack(print, &ranking);
    }
    ranking_release(&ranking);
}

struct machine {
    struct summary_print *print;
    struct str words;
};

static int on_tuned_trial(const struct trial_row *row, void *arg)
{
    struct machine *machine = arg;
    const struct summary_print *print = machine->print;
    struct tuning_log log = TUNING_LOG_INIT;
    struct tuning tuning;
    autorelease(str) struct str changes = STR_INIT;

    tuning_log_load(&log, print->store, row->trial.experiment, row->trial.number, NULL);
    tuning_load(&tuning, print->store, &print->target->spec, row, &log, NULL);
    tuning_words(&tuning, &print->target->spec, tuning.phases.len - 1, &machine->words);
    str_add_changes(&changes, tuning.changes, tuning.asked,
                    tuning.live.sum_s + tuning.restart.sum_s);
    if (machine->words.len)
        str_addf(&machine->words, " (%s)", changes.s);
    tuning_release(&tuning);
    tuning_log_release(&log);
    return 0;
}

/* How the machine ended up: of one trial. Of several, `hone show` tells. */
static void print_machine(struct summary_print *print)
{
    int64_t id = print->target->experiment.experiment.id;
    const struct spec *spec = &print->target->spec;
    struct trial_query query = {.experiment = id, .number = 1};
    struct machine machine = {print, STR_INIT};
    int64_t made = 0;

    for (int i = 0; i < TRIAL_STATES; i++)
        made += print->target->experiment.counts[i];
    if (made == 1 && system_count(spec))
        store_trials(print->store, &query, on_tuned_trial, &machine, NULL);
    if (machine.words.len)
        printf("  machine: %s\n", machine.words.s);
    str_release(&machine.words);
}

static void print_head(const struct json_t *final)
{
    const json_t *trials = json_object_get(final, "trials");
    const char *state = json_get_text(final, "state", ""),
               *reason = json_get_text(final, "reason", "");
    enum reason why = REASON_NONE;

    reason_parse(reason, &why);
    printf("experiment %lld '%s' %s", (long long)json_get_int(final, "experiment", 0),
           json_get_text(final, "name", ""), state);
    if (why != REASON_NONE && !str_eq(state, "interrupted"))
        printf(" (%s)", reason_help(why));
    printf(": %lld completed", (long long)json_get_int(trials, "completed", 0));
    if (json_get_int(trials, "stopped", 0))
        printf(", %lld stopped", (long long)json_get_int(trials, "stopped", 0));
    if (json_get_int(trials, "failed", 0))
        printf(", %lld failed", (long long)json_get_int(trials, "failed", 0));
    printf("\n");
    if (json_get_text(final, "error", NULL))
        printf("  %s\n", json_get_text(final, "error", ""));
}

/* "the target 0.05 was not reached: best 0.12" */
static void print_missed(const json_t *missed)
{
    double best = json_get_double(missed, "best", NAN);
    int64_t average = json_get_int(missed, "average", 1);

    if (!json_is_object(missed))
        return;
    printf("  the target %.6g was not reached", json_get_double(missed, "target", NAN));
    if (average > 1)
        printf(" by the mean of %lld values", (long long)average);
    if (isnan(best))
        printf(": no value was reported\n");
    else
        printf(": best %.6g\n", best);
}

static void print_next(const struct cmd_call *call, const json_t *final)
{
    const char *hone = program_invocation_name; /* as it was typed: it may not be in PATH */
    long long id = json_get_int(final, "experiment", 0);
    const char *state = json_get_text(final, "state", "");
    const char *best = json_get_text(json_object_get(final, "best"), "trial", NULL);

    printf("\nresults are in %s\n", call->home);
    if (str_eq(state, "interrupted")) {
        printf("next: %s resume %lld\n", hone, id);
        return;
    }
    printf("next: %s ls %lld", hone, id);
    if (best)
        printf(" · %s show %s · %s export %lld --csv", hone, best, hone, id);
    else
        printf(" · %s logs %lld.1", hone, id);
    printf("\n");
}

/* What the server knows of it. */
static void print_there(const struct cmd_call *call, char *ref)
{
    autofree(remote) struct remote *remote = NULL;
    struct cmd_call ask = {
        .cmd = cmd_find(cmd_list, "best"),
        .server = call->server,
        .colour = call->colour,
        .n_args = 1,
        .args = &ref,
    };

    if (remote_open(call, &remote, NULL) < 0)
        return;
    puts("\nbest trials");
    fflush(stdout);
    remote_run(&ask, remote, NULL);
    printf("\nresults are at %s\n", remote_url(remote));
}

void summary_print(const struct cmd_call *call, const json_t *final)
{
    autofree(store) struct store *store = NULL;
    struct target target;
    struct summary_print print = {.call = call, .target = &target};
    autofree(mem) char *ref = xasprintf("%lld", (long long)json_get_int(final, "experiment", 0));

    print_head(final);
    print_missed(json_object_get(final, "missed"));
    if (call->server) {
        if (json_get_text(json_object_get(final, "best"), "trial", NULL))
            print_there(call, ref);
        return;
    }
    if (store_open_read(call->home, &store, NULL) == 0) {
        print.store = store;
        if (target_find(store, ref, FIND_EXPERIMENT, &target, NULL) == 0) {
            print_machine(&print);
            print_best(&print);
            mattered_print(store, &target, call->colour);
        }
        target_release(&target);
    }
    table_release(&print.table);
    print_next(call, final);
}
