/* SPDX-License-Identifier: MIT */
/*
 * show_trial.c — hone show of one trial: its parameters, how it stands and why, its metrics with
 * a curve of the objective, and each attempt. For a failure the last lines of its stderr are what
 * one wants to see, so they come right after the state.
 */
#include "base/clock.h"
#include "cli/bounds.h"
#include "cli/reasons.h"
#include "cli/show.h"
#include "cli/sparkline.h"
#include "series/series.h"
#include "store/artifact.h"

#include <math.h>
#include <string.h>

#define CURVE_COLUMNS 60

/* Of an observed trial, for which nothing was searched. */
static void show_told_params(const struct show *show)
{
    autorelease(str) struct str words = STR_INIT;

    if (show->target->trial.params_json)
        str_add_flat(&words, show->target->trial.params_json);
    if (words.len)
        show_line(show, "parameters", PLAIN, "%s", words.s);
}

static void show_params(const struct show *show)
{
    const struct space *space = &show->target->spec.space;
    const double *point = show->target->trial.trial.point;
    size_t width = 0;

    if (space->n == 0) {
        show_told_params(show);
        return;
    }
    show_head(show, "parameters");
    for (size_t i = 0; i < space->n; i++)
        width = MAX(width, strlen(space->params[i].name));
    for (size_t i = 0; i < space->n; i++) {
        autorelease(str) struct str text = STR_INIT;
        autofree(mem) char *label = xasprintf("%-*s", (int)width, space->params[i].name);
        if (isnan(point[i]))
            str_add(&text, "-");
        else
            param_text(&space->params[i], point[i], &text);
        show_line(show, label, PLAIN, "%s", text.s);
    }
}

/* ---- metrics ---- */

/* A summary is of the newest attempt. Of one that went on from a checkpoint the attempts before
 * belong to it. */
struct whole {
    struct series_set set; /* empty: there was one attempt */
    struct table *table;
    struct json_out *out;
};

static void whole_load(struct whole *whole, const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    autofree(series_db) struct series_db *db = NULL;

    if (trial->attempts > 1 && series_db_open(show->call->home, SERIES_READ, &db, NULL) == 0)
        series_read(db, show->call->home, &show->target->spec, trial, NULL, &whole->set, NULL);
}

static struct summary whole_summary(const struct whole *whole, const struct summary *newest)
{
    struct summary all = *newest;
    const struct series *series = series_find(&whole->set, newest->metric);

    if (!series || (int64_t)series->points.len <= newest->count)
        return all;
    all.count = (int64_t)series->points.len;
    vec_foreach (point, &series->points) {
        all.min = fmin(all.min, point->value);
        all.max = fmax(all.max, point->value);
        if (!isfinite(point->value) && all.first_nan_step == STEP_NONE)
            all.first_nan_step = point->step;
    }
    return all;
}

static int on_summary(int64_t trial UNUSED, const struct summary *newest, void *arg)
{
    const struct whole *whole = arg;
    struct table *table = whole->table;
    struct summary all = whole_summary(whole, newest), *summary = &all;

    table_add(table, PLAIN, summary->metric);
    if (isnan(summary->last))
        table_add(table, RED, "nan");
    else
        table_number(table, PLAIN, summary->last);
    table_number(table, PLAIN, summary->min);
    table_number(table, PLAIN, summary->max);
    table_addf(table, PLAIN, "%lld", (long long)summary->count);
    if (summary->first_nan_step == STEP_NONE)
        table_add(table, PLAIN, "");
    else
        table_addf(table, RED, "not finite at step %lld", (long long)summary->first_nan_step);
    return 0;
}

static void show_curve(const struct show *show)
{
    const char *metric = show->target->spec.objective.metric;
    struct series_set set = {{0}};
    VEC(double) values = {0};
    autorelease(str) struct str line = STR_INIT;
    autofree(series_db) struct series_db *db = NULL;

    if (metric && series_db_open(show->call->home, SERIES_READ, &db, NULL) == 0 &&
        series_read(db, show->call->home, &show->target->spec, &show->target->trial.trial, metric,
                    &set, NULL) == 0) {
        const struct series *series = series_find(&set, metric);
        for (size_t i = 0; series && i < series->points.len; i++)
            vec_push(&values, series->points.at[i].value);
        if (values.len > 1) {
            str_add_sparkline(&line, values.at, values.len, CURVE_COLUMNS);
            show_line(show, metric, CYAN, "%s", line.s);
        }
    }
    vec_release(&values);
    series_set_release(&set);
}

static void show_metrics(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    struct table table = TABLE_INIT;
    struct whole whole = {.table = &table};
    static const char *const titles[] = {"metric", "last", "min", "max", "count", ""};

    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&table, titles[i], i > 0 && i < 5 ? COLUMN_RIGHT : COLUMN_LEFT);
    whole_load(&whole, show);
    fresh_summaries(show->fresh, show->store, trial, on_summary, &whole, NULL);
    series_set_release(&whole.set);
    if (table_rows(&table)) {
        show_head(show, "metrics");
        table_print(&table, stdout, show->call->colour, terminal_width());
        show_curve(show);
    }
    table_release(&table);
}

/* ---- figures of its processes ---- */

struct figures {
    size_t n; /* of the attempt that has the most */
    int64_t attempt;
    size_t here;
    uint64_t seen;
};

static int on_figure(const struct series_info *info, void *arg)
{
    struct figures *figures = arg;

    if (info->source.file != SERIES_SYSTEM)
        return 0;
    figures->here = info->source.attempt == figures->attempt ? figures->here + 1 : 1;
    figures->attempt = info->source.attempt;
    figures->n = MAX(figures->n, figures->here);
    figures->seen += info->stats.count;
    return 0;
}

static void show_figures(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    autofree(series_db) struct series_db *db = NULL;
    struct figures figures = {.attempt = -1};

    if (series_db_open(show->call->home, SERIES_READ, &db, NULL) < 0)
        return;
    series_db_list(db, trial->experiment, trial->number, SERIES_NAME_NONE, on_figure, &figures);
    if (figures.n)
        show_line(show, "figures", PLAIN,
                  "%zu of its processes, %llu values: 'hone export %lld --metrics --system'",
                  figures.n, (unsigned long long)figures.seen, (long long)trial->experiment);
}

/* ---- attempts ---- */

static void add_ending(struct str *to, const struct attempt *attempt)
{
    if (attempt->state != ATTEMPT_ENDED) {
        str_add(to, attempt_state_name(attempt->state));
        return;
    }
    if (attempt->signal)
        str_addf(to, "signal %d (%s)", attempt->signal, strsignal(attempt->signal));
    else if (attempt->exit_status >= 0)
        str_addf(to, "exit %d", attempt->exit_status);
    if (attempt->reason != REASON_NONE && attempt->reason != REASON_EXIT &&
        attempt->reason != REASON_SIGNAL)
        str_addf(to, "%s%s", to->len ? ", " : "", reason_help(attempt->reason));
}

static int on_attempt(const struct attempt *attempt, void *arg)
{
    struct table *table = arg;
    autorelease(str) struct str end = STR_INIT, time = STR_INIT, cpu = STR_INIT, memory = STR_INIT,
                                when = STR_INIT;
    bool ended = attempt->state == ATTEMPT_ENDED;

    add_ending(&end, attempt);
    if (attempt->dropped_bytes) {
        str_add(&end, ", ");
        str_add_size(&end, attempt->dropped_bytes);
        str_add(&end, " of output dropped by limits.output");
    }
    str_add_duration(&time, attempt->run_us);
    str_add_duration(&cpu, attempt->cpu_us);
    str_add_size(&memory, attempt->max_rss_bytes);
    str_add_when(&when, attempt->started_us);
    table_addf(table, BOLD, "%lld", (long long)attempt->number);
    table_add(table, PLAIN, when.s);
    table_add(table, PLAIN, ended || attempt->run_us ? time.s : "");
    table_add(table, PLAIN, ended || attempt->cpu_us ? cpu.s : "");
    table_add(table, PLAIN, attempt->max_rss_bytes ? memory.s : "");
    table_add(table, PLAIN, attempt->host ? attempt->host : "");
    table_add(table, attempt->reason ? YELLOW : PLAIN, end.s);
    return 0;
}

static void show_attempts(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    static const char *const titles[] = {"attempt", "started", "time", "cpu",
                                         "memory",  "host",    "ended"};
    struct table table = TABLE_INIT;

    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&table, titles[i], i == 0 || (i > 1 && i < 5) ? COLUMN_RIGHT : COLUMN_SHRINK);
    store_attempts(show->store, trial->experiment, trial->number, false, on_attempt, &table, NULL);
    if (table_rows(&table)) {
        show_head(show, "attempts");
        table_print(&table, stdout, show->call->colour, terminal_width());
    }
    table_release(&table);
}

static int keep_error(const struct attempt *attempt, void *arg)
{
    char **error = arg;
    free(*error);
    *error = attempt->error ? xstrdup(attempt->error) : NULL;
    return 0;
}

/* An error that a later attempt got over is history. */
char *trial_error(struct store *store, const struct trial *trial)
{
    char *error = NULL;
    if (trial->state != TRIAL_COMPLETED)
        store_attempts(store, trial->experiment, trial->number, false, keep_error, &error, NULL);
    return error;
}

static void show_error(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    autofree(mem) char *error = trial_error(show->store, trial);

    if (!error)
        return;
    show_head(show, "error");
    show_block(error);
    printf("'hone logs %lld.%lld' has all of its output\n", (long long)trial->experiment,
           (long long)trial->number);
}

static void show_value(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    const char *metric = show->target->spec.objective.metric;
    autorelease(str) struct str text = STR_INIT;

    if (!metric || isnan(trial->value))
        return;
    str_add_number(&text, trial->value);
    if (trial->best != trial->value && !isnan(trial->best)) {
        str_add(&text, ", best ");
        str_add_number(&text, trial->best);
    }
    if (trial->last_step != STEP_NONE)
        str_addf(&text, " (step %lld)", (long long)trial->last_step);
    show_line(show, metric, BOLD, "%s", text.s);
    for (size_t i = 0; i < show->target->spec.others.len && i < trial->n_extra; i++) {
        autorelease(str) struct str other = STR_INIT;
        if (isnan(trial->extra[i]))
            continue;
        str_add_number(&other, trial->extra[i]);
        show_line(show, show->target->spec.others.at[i].metric, BOLD, "%s", other.s);
    }
}

static void show_bounds(const struct show *show)
{
    autorelease(str) struct str words = STR_INIT;

    if (bounds_broken(&show->target->spec, &show->target->trial.trial, &words))
        show_line(show, "breaks", YELLOW, "%s", words.s);
}

struct teachers {
    struct str names; /* "experiment 4" */
    size_t n;
};

/* The experiments that taught the search. */
static int on_event(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct teachers *teachers = arg;
    autofree(json) json_t *event = NULL;
    (void)id, (void)time_us, (void)trial;

    if (json_parse(json, strlen(json), &event, NULL) < 0 ||
        !str_eq(json_get_text(event, "event", ""), "knowledge"))
        return 0;
    const json_t *from = json_object_get(event, "from");
    for (size_t i = 0; i < json_array_size(from); i++)
        str_addf(&teachers->names, "%s%lld", teachers->n++ ? ", " : "experiment ",
                 (long long)json_integer_value(json_array_get(from, i)));
    return 1;
}

/* Why there is such a trial, and why it ended early. */
static void show_reasons(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    struct teachers teachers = {.names = STR_INIT};
    autorelease(str) struct str made = STR_INIT, ended = STR_INIT;

    if (trial->why && strstr(trial->why, "known"))
        store_events(show->store, trial->experiment, 0, 16, on_event, &teachers, NULL);
    if (reason_made(trial, teachers.n ? teachers.names.s : NULL, &made))
        show_line(show, "why", PLAIN, "%s", made.s);
    if (reason_ended(trial, &ended))
        show_line(show, made.len ? "" : "why", PLAIN, "%s", ended.s);
    str_release(&teachers.names);
}

/* What a client of MLflow called it; NULL: it is none of theirs. Free it. */
static char *run_name(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    char *name = NULL;

    store_run_name(show->store, trial->experiment, trial->number, &name, NULL);
    return name;
}

/* What it repeats, and what repeats it: `hone rerun`. */
static void show_reruns(const struct show *show)
{
    const struct trial *trial = &show->target->trial.trial;
    const struct experiment *e = &show->target->experiment.experiment;
    autofree(mem) int64_t *again = NULL;
    autorelease(str) struct str names = STR_INIT;
    size_t n = 0;

    if (e->rerun_of_experiment)
        show_line(show, "rerun of", PLAIN, "%lld.%lld", (long long)e->rerun_of_experiment,
                  (long long)e->rerun_of_trial);
    store_reruns(show->store, trial->experiment, trial->number, &again, &n, NULL);
    for (size_t i = 0; i < n; i++)
        str_addf(&names, "%s%lld.1", i ? ", " : "", (long long)again[i]);
    if (n)
        show_line(show, "rerun as", PLAIN, "%s", names.s);
}

void show_trial(const struct show *show)
{
    const struct trial_row *row = &show->target->trial;
    const struct trial *trial = &row->trial;
    const char *name = show->target->experiment.experiment.name;
    autofree(mem) char *called = run_name(show);

    show_line(show, "trial", BOLD, "%lld.%lld of %s%s%s", (long long)trial->experiment,
              (long long)trial->number, name, called ? ": " : "", called ? called : "");
    show_line(show, "state", trial_colour(trial->state), "%s%s%s", trial_state_name(trial->state),
              trial->reason ? ": " : "", trial->reason ? reason_help(trial->reason) : "");
    show_value(show);
    show_bounds(show);
    show_reasons(show);
    show_reruns(show);
    show_times(show, trial->started_us, trial->ended_us, trial->run_us);
    show_trial_tuning(show);
    show_figures(show);
    show_marks(show, row->starred, row->note, row->tags.at, row->tags.len);
    show_error(show);
    show_params(show);
    show_metrics(show);
    show_attempts(show);
    show_alerts(show);
    show_decisions(show);
    show_environment(show);
    show_events(show);
}

/* ---- JSON ---- */

static int attempt_json(const struct attempt *attempt, void *arg)
{
    rows_put_attempt(arg, attempt);
    return 0;
}

static int summary_json(int64_t trial UNUSED, const struct summary *newest, void *arg)
{
    const struct whole *whole = arg;
    struct summary summary = whole_summary(whole, newest);

    rows_put_summary(whole->out, &summary);
    return 0;
}

static void put_reruns(const struct show *show, struct json_out *out)
{
    const struct trial *trial = &show->target->trial.trial;
    const struct experiment *e = &show->target->experiment.experiment;
    autofree(mem) char *of = NULL;
    autofree(mem) int64_t *again = NULL;
    size_t n = 0;

    if (e->rerun_of_experiment)
        of =
            xasprintf("%lld.%lld", (long long)e->rerun_of_experiment, (long long)e->rerun_of_trial);
    json_put_text(out, "rerun_of", of);
    store_reruns(show->store, trial->experiment, trial->number, &again, &n, NULL);
    json_key(out, "reruns");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++) {
        autofree(mem) char *name = xasprintf("%lld.1", (long long)again[i]);
        json_text(out, name);
    }
    json_end_array(out);
}

void show_trial_json(const struct show *show)
{
    const struct trial_row *row = &show->target->trial;
    const struct experiment *experiment = &show->target->experiment.experiment;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    struct whole whole = {.out = &out};

    rows_put_trial(&out, experiment->name, row, true);
    rows_put_values(&out, &show->target->spec, &row->trial);
    rows_put_owner(&out, show->store, &row->trial);
    json_key(&out, "metrics");
    json_begin_array(&out);
    whole_load(&whole, show);
    fresh_summaries(show->fresh, show->store, &row->trial, summary_json, &whole, NULL);
    series_set_release(&whole.set);
    json_end_array(&out);
    json_key(&out, "runs");
    json_begin_array(&out);
    store_attempts(show->store, experiment->id, row->trial.number, false, attempt_json, &out, NULL);
    json_end_array(&out);
    show_alerts_json(show, &out);
    show_trial_tuning_json(show, &out);
    autofree(mem) char *name = run_name(show);
    json_put_text(&out, "run_name", name);
    put_reruns(show, &out);
    json_put_text(&out, "code", experiment->code);
    json_put_raw(&out, "environment", experiment->environment ? experiment->environment : "null");
    json_end_object(&out);
    output_line(&text);
}
