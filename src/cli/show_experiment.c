/* SPDX-License-Identifier: MIT */
/*
 * show_experiment.c — hone show of an experiment: how it stands and why, its best trials, what
 * mattered, and what the trials said that failed.
 */
#include "api/tuning_sum.h"
#include "base/clock.h"
#include "base/shell.h"
#include "cli/bounds.h"
#include "cli/import.h"
#include "cli/mattered.h"
#include "cli/ranking.h"
#include "cli/served.h"
#include "cli/show.h"

#include <math.h>

#define BEST_SHOWN     5
#define FAILURES_SHOWN 3

/* ---- the head ---- */

/* A reason that only repeats the state is not said; one line of error is the better reason. */
static void show_state(const struct show *show)
{
    const struct experiment *e = &show->target->experiment.experiment;
    enum experiment_state state = shown_row_state(&show->target->experiment, show->engine);
    const char *name = experiment_state_name(state), *why = "";

    if (e->error && !strchr(e->error, '\n'))
        why = e->error;
    else if (e->reason && !str_eq(reason_name(e->reason), name))
        why = reason_help(e->reason);
    show_line(show, "state", experiment_colour(state), "%s%s%s", name, *why ? ": " : "", why);
    if (state == EXPERIMENT_INTERRUPTED)
        show_line(show, "", PLAIN, "'hone resume %lld' goes on with it", (long long)e->id);
}

static void show_counts(const struct show *show)
{
    const int64_t *counts = show->target->experiment.counts;
    autorelease(str) struct str text = STR_INIT;
    int64_t made = 0, planned = show->target->spec.trials;

    for (int i = 0; i < TRIAL_STATES; i++) {
        made += counts[i];
        if (counts[i])
            str_addf(&text, "%s%lld %s", text.len ? ", " : "", (long long)counts[i],
                     trial_state_name((enum trial_state)i));
    }
    if (made == 0)
        str_add(&text, "none yet");
    if (planned > made && !show->target->experiment.experiment.rerun_of_experiment)
        str_addf(&text, "%s of %lld", made ? "" : ",", (long long)planned);
    show_line(show, "trials", PLAIN, "%s", text.s);
}

static void show_objective(const struct show *show)
{
    const struct spec *spec = &show->target->spec;

    for (size_t i = 0; spec->objective.metric && i <= spec->others.len; i++) {
        const struct objective *objective = objective_at(spec, i);
        autorelease(str) struct str text = STR_INIT;
        str_addf(&text, "%s %s", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize",
                 objective->metric);
        if (!isnan(objective->target)) {
            str_add(&text, " until ");
            str_add_number(&text, objective->target);
        }
        show_line(show, i ? "" : "objective", PLAIN, "%s", text.s);
    }
    vec_foreach (constraint, &spec->constraints)
        show_line(show, "constraint", PLAIN, "%s %s %.6g", constraint->metric,
                  constraint->at_least ? ">=" : "<=", constraint->bound);
}

static void show_first(const struct show *show, const struct ranking *ranking)
{
    const struct outcome *row = ranking_at(ranking, 0);
    autorelease(str) struct str words = STR_INIT, value = STR_INIT, model = STR_INIT;

    ranking_words(ranking, show->target, &model);
    if (ranking->results.n_objectives > 1) {
        show_line(show, "best", GREEN, "%s", model.s);
        ranking_cover_words(ranking, show->target, &words);
        if (words.len)
            show_line(show, "", PLAIN, "%s", words.s);
        return;
    }
    space_words(&show->target->spec.space, row->point, &words);
    str_add_number(&value, row->values[0]);
    if (model.len)
        show_line(show, "best", GREEN, "%s", model.s + strlen("best "));
    else
        show_line(show, "best", GREEN, "%s in trial %lld.%lld", value.s,
                  (long long)show->target->experiment.experiment.id, (long long)row->number);
    if (words.len)
        show_line(show, "", PLAIN, "%s", words.s);
}

static void show_lack(const struct show *show, const struct ranking *ranking)
{
    autorelease(str) struct str words = STR_INIT;

    bounds_lack(&ranking->results, &show->target->spec, &words);
    show_line(show, "best", YELLOW, "%s", words.s);
}

static void show_command(const struct show *show)
{
    const struct spec *spec = &show->target->spec;
    autorelease(str) struct str text = STR_INIT;

    if (spec_has_no_program(spec)) {
        show_line(show, "command", PLAIN, "none: it was imported");
        return;
    }
    for (size_t i = 0; i < spec->command.len; i++) {
        str_add(&text, i ? " " : "");
        shell_quote(spec->command.at[i], &text);
    }
    show_line(show, "command", PLAIN, "%s", text.s);
    if (spec->dir)
        show_line(show, "folder", PLAIN, "%s", spec->dir);
}

static void show_head_lines(const struct show *show, const struct ranking *ranking)
{
    const struct experiment_row *row = &show->target->experiment;
    const struct experiment *e = &row->experiment;
    autofree(mem) char *user = cmd_user();

    show_line(show, "experiment", BOLD, "%lld %s", (long long)e->id, e->name);
    if (show->target->spec.description)
        show_line(show, "", PLAIN, "%s", show->target->spec.description);
    show_state(show);
    if (served_owner(e->owner, user))
        show_line(show, "owner", PLAIN, "%s", e->owner);
    if (e->rerun_of_experiment)
        show_line(show, "rerun of", PLAIN, "%lld.%lld", (long long)e->rerun_of_experiment,
                  (long long)e->rerun_of_trial);
    show_counts(show);
    show_objective(show);
    if (ranking->order.len)
        show_first(show, ranking);
    else if (ranking->completed)
        show_lack(show, ranking);
    show_command(show);
    bool runs = shown_row_state(&show->target->experiment, show->engine) == EXPERIMENT_RUNNING;
    show_times(show, e->created_us, runs ? 0 : e->ended_us, e->run_us);
    show_experiment_tuning(show);
    if (e->code)
        show_line(show, "code", PLAIN, "%.12s%s", e->code,
                  show->target->spec.code_isolate ? ", run from its record" : "");
    show_marks(show, row->starred, row->note, row->tags.at, row->tags.len);
}

/* ---- trials ---- */

static void show_best(const struct show *show, const struct ranking *ranking)
{
    const struct spec *spec = &show->target->spec;
    size_t n = ranking->results.n_objectives;
    struct table table = TABLE_INIT;

    if (!ranking->order.len || show->target->experiment.counts[TRIAL_COMPLETED] < 2)
        return;
    table_column(&table, "trial", COLUMN_RIGHT);
    for (size_t k = 0; k < n; k++)
        table_column(&table, objective_at(spec, k)->metric, COLUMN_RIGHT);
    table_column(&table, "parameters", COLUMN_SHRINK);
    for (size_t i = 0; i < ranking->order.len && i < BEST_SHOWN; i++) {
        const struct outcome *row = ranking_at(ranking, i);
        autorelease(str) struct str words = STR_INIT;
        space_words(&spec->space, row->point, &words);
        table_addf(&table, PLAIN, "%lld.%lld", (long long)show->target->experiment.experiment.id,
                   (long long)row->number);
        for (size_t k = 0; k < n; k++)
            table_number(&table, PLAIN, row->values[k]);
        table_add(&table, PLAIN, words.s);
    }
    show_head(show, n > 1 ? "Pareto front" : "best trials");
    table_print(&table, stdout, show->call->colour, terminal_width());
    table_release(&table);
}

struct failures {
    const struct show *show;
    int64_t left;
};

static int on_failure(const struct trial_row *row, void *arg)
{
    struct failures *failures = arg;
    const struct trial *trial = &row->trial;

    if (trial->state != TRIAL_FAILED)
        return 0;
    autofree(mem) char *error = trial_error(failures->show->store, trial);
    printf("%lld.%lld  %s\n", (long long)trial->experiment, (long long)trial->number,
           reason_help(trial->reason));
    if (error)
        show_block(error);
    return --failures->left == 0;
}

/* The newest ones: of many they are most often the same. */
static void show_failures(const struct show *show)
{
    const struct experiment_row *row = &show->target->experiment;
    struct trial_query query = {.experiment = row->experiment.id, .order = ORDER_NEWEST};
    struct failures failures = {show, FAILURES_SHOWN};

    if (row->counts[TRIAL_FAILED] == 0)
        return;
    show_head(show, row->counts[TRIAL_FAILED] > FAILURES_SHOWN ? "failed trials, the newest"
                                                               : "failed trials");
    store_trials(show->store, &query, on_failure, &failures, NULL);
}

void show_experiment(const struct show *show)
{
    const struct experiment *e = &show->target->experiment.experiment;
    struct ranking ranking = {0};

    if (show->target->spec.objective.metric)
        ranking_load(show->store, show->target, &ranking, NULL);
    show_head_lines(show, &ranking);
    if (e->error && strchr(e->error, '\n')) {
        show_head(show, "error");
        show_block(e->error);
    }
    show_failures(show);
    show_best(show, &ranking);
    ranking_release(&ranking);
    mattered_print(show->store, show->target, show->call->colour);
    show_environment(show);
    show_events(show);
}

/* How much the front covers: {volume, share, reference}; null: not known. */
static void put_cover(const struct show *show, struct json_out *out)
{
    struct ranking ranking;

    if (!show->target->spec.others.len)
        return;
    ranking_load(show->store, show->target, &ranking, NULL);
    struct cover cover =
        results_cover(&ranking.results, &show->target->spec, ranking.order.at, ranking.order.len);
    json_key(out, "hypervolume");
    if (isfinite(cover.volume)) {
        json_begin_object(out);
        json_put_double(out, "volume", cover.volume);
        json_put_known(out, "share", cover.share);
        json_key(out, "reference");
        json_begin_array(out);
        for (size_t k = 0; k < ranking.results.n_objectives; k++)
            json_double(out, cover.reference[k]);
        json_end_array(out);
        json_end_object(out);
    } else {
        json_null_out(out);
    }
    ranking_release(&ranking);
}

void show_experiment_json(const struct show *show)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    rows_put_whole_experiment(&out, show->store, show->target, show->engine);
    show_left_json(show, &out);
    put_cover(show, &out);
    json_end_object(&out);
    output_line(&text);
}
