/* SPDX-License-Identifier: MIT */
/*
 * export_summary.c — hone export --summary: a row for each trial, with what tuning the machine
 * brought and cost. What SelfTF wrote as summary.csv.
 *
 * Seconds per step are total time over progress, from one step that was reported to the next
 * larger one, where both ran in one configuration, their times are known, and the clock was not set
 * between them. The best configuration is the quickest of those that made STEPS_MIN steps.
 */
#include "base/clock.h"
#include "cli/export.h"
#include "series/series.h"

#include <math.h>

#define STEPS_MIN 5

/* Of a metric: a fall is a counter that began anew, or work that is done again. */
struct count {
    bool some;
    int64_t first, furthest; /* since it fell */
    int64_t fallen;          /* by so much, in all */
};

struct pace {
    double seconds, steps;
};

struct summing {
    const struct export *export;
    struct tuning_log log;

    /* of the trial */
    const struct trial_row *row;
    struct tuning tuning;
    VEC(struct pace) paces;   /* of each phase */
    VEC(struct count) counts; /* by the place of the metric */

    /* of the attempt */
    int64_t attempt, step, time_us; /* the furthest step; time 0: none yet */
    size_t phase, place;            /* it ran in; of its metric */
};

/* Has the counter fallen? A little less than before are workers that report side by side. */
static bool count_step(struct count *count, int64_t step)
{
    int64_t fall = 0, fallen;
    bool fell = count->some && step < count->furthest &&
                !__builtin_sub_overflow(count->furthest, step, &fall) &&
                (step <= count->first || fall > STEPS_MIN) &&
                !__builtin_add_overflow(count->fallen, fall, &fallen);

    if (fell)
        count->fallen = fallen;
    if (fell || !count->some)
        count->first = count->furthest = step;
    count->some = true;
    count->furthest = MAX(count->furthest, step);
    return fell;
}

static struct count *count_at(struct summing *sum, size_t place)
{
    while (sum->counts.len <= place)
        vec_push(&sum->counts, (struct count){0});
    return &sum->counts.at[place];
}

/* Where the clock was set, its times and those of the decisions may differ: by the step. */
static size_t phase_of(const struct summing *sum, const struct series_point *point)
{
    bool jumped = tuning_jumped(&sum->tuning, sum->attempt, 0, 0);

    return tuning_phase_at(&sum->tuning, sum->attempt, jumped ? 0 : point->time_us, point->step);
}

static void on_sample(const struct series_sample *sample, void *arg)
{
    struct summing *sum = arg;
    const struct series_point *point = &sample->point;

    if (count_step(count_at(sum, sample->place), point->step) && sample->place == sum->place)
        sum->time_us = 0;
    if (!point->time_us || (sum->time_us && point->step <= sum->step))
        return;
    size_t phase = phase_of(sum, point);
    if (sum->time_us && phase == sum->phase && point->time_us >= sum->time_us &&
        !tuning_jumped(&sum->tuning, sum->attempt, sum->time_us, point->time_us)) {
        sum->paces.at[phase].seconds += (double)(point->time_us - sum->time_us) / US_PER_S;
        sum->paces.at[phase].steps += (double)point->step - (double)sum->step;
    }
    sum->step = point->step;
    sum->time_us = point->time_us;
    sum->phase = phase;
    sum->place = sample->place;
}

struct series_walk export_walk(const struct export *export, const struct trial *trial,
                               int64_t attempt)
{
    return (struct series_walk){
        .db = export->series,
        .home = export->home,
        .spec = &export->target->spec,
        .point = trial->point,
        .experiment = trial->experiment,
        .trial = trial->number,
        .attempt = attempt,
        .ended = attempt < trial->attempts || trial->state != TRIAL_RUNNING,
        .stored = true,
    };
}

static int measure(struct summing *sum)
{
    const struct trial *trial = &sum->row->trial;
    int r = 0;

    for (size_t i = 0; i < sum->tuning.phases.len; i++)
        vec_push(&sum->paces, ((struct pace){0, 0}));
    for (int64_t n = trial->attempts ? 1 : 0; r == 0 && n <= trial->attempts; n++) {
        struct series_walk walk = export_walk(sum->export, trial, n);
        sum->attempt = n;
        sum->time_us = 0;
        vec_foreach (count, &sum->counts)
            count->some = false;
        r = series_walk(&walk, on_sample, sum, sum->export->err);
    }
    return r;
}

static double seconds_per_step(struct pace pace)
{
    return pace.steps > 0 ? pace.seconds / pace.steps : NAN;
}

static struct pace overall(const struct summing *sum)
{
    struct pace all = {0, 0};
    vec_foreach (pace, &sum->paces) {
        all.seconds += pace->seconds;
        all.steps += pace->steps;
    }
    return all;
}

/* All phases with the values of this one. */
static struct pace pace_like(const struct summing *sum, size_t phase)
{
    struct pace all = {0, 0};
    for (size_t i = 0; i < sum->paces.len; i++)
        if (tuning_same_values(&sum->tuning, i, phase)) {
            all.seconds += sum->paces.at[i].seconds;
            all.steps += sum->paces.at[i].steps;
        }
    return all;
}

/* The phase with the quickest configuration; -1 if none ran long enough to tell. */
static ptrdiff_t best_phase(const struct summing *sum)
{
    ptrdiff_t best = -1;
    double least = INFINITY;

    for (size_t i = 0; i < sum->paces.len; i++) {
        struct pace pace = pace_like(sum, i);
        if (pace.steps >= STEPS_MIN && seconds_per_step(pace) < least) {
            best = (ptrdiff_t)i;
            least = seconds_per_step(pace);
        }
    }
    return best;
}

static double mean_cost(struct tuning_cost cost)
{
    return cost.n ? cost.sum_s / (double)cost.n : NAN;
}

/* ---- the row ---- */

struct figures {
    double value, runtime_s, steps, per_step, first, last, target;
    double changes, cost_s, live_s, restart_s, joules;
};
static const struct {
    const char *name;
    size_t offset;
} columns[] = {
    {"value", offsetof(struct figures, value)},
    {"runtime_s", offsetof(struct figures, runtime_s)},
    {"steps", offsetof(struct figures, steps)},
    {"seconds_per_step", offsetof(struct figures, per_step)},
    {"first_seconds_per_step", offsetof(struct figures, first)},
    {"last_seconds_per_step", offsetof(struct figures, last)},
    {"target", offsetof(struct figures, target)},
    {"changes", offsetof(struct figures, changes)},
    {"change_cost_s", offsetof(struct figures, cost_s)},
    {"live_change_s", offsetof(struct figures, live_s)},
    {"restart_change_s", offsetof(struct figures, restart_s)},
    {"energy_j", offsetof(struct figures, joules)},
};

static double figure_at(const struct figures *figures, size_t i)
{
    double figure;

    memcpy(&figure, (const char *)figures + columns[i].offset, sizeof(figure));
    return figure;
}

/* The last step; where steps fell, all that were made. */
static int64_t steps_of(const struct summing *sum)
{
    int64_t steps = sum->row->trial.last_step, made;

    vec_foreach (count, &sum->counts)
        if (count->fallen && !__builtin_add_overflow(count->furthest, count->fallen, &made))
            steps = MAX(steps, made);
    return steps;
}

/* A step is written as it is: as a double a large one would be another. */
static bool is_step(const struct trial *trial, size_t column)
{
    return columns[column].offset == offsetof(struct figures, steps) &&
           trial->last_step != STEP_NONE;
}

static struct figures figures_of(const struct summing *sum)
{
    const struct trial *trial = &sum->row->trial;
    const struct tuning *tuning = &sum->tuning;

    return (struct figures){
        .value = trial->value,
        .runtime_s = (double)trial->run_us / US_PER_S,
        .steps = trial->last_step == STEP_NONE ? NAN : (double)trial->last_step,
        .per_step = seconds_per_step(overall(sum)),
        .first = seconds_per_step(sum->paces.at[0]),
        .last = seconds_per_step(*vec_last(&sum->paces)),
        .target = sum->export->target->spec.objective.target,
        .changes = (double)tuning->changes,
        .cost_s = tuning->live.sum_s + tuning->restart.sum_s,
        .live_s = mean_cost(tuning->live),
        .restart_s = mean_cost(tuning->restart),
        .joules = trial->joules > 0 ? trial->joules : NAN,
    };
}

static const char *energy_word(const struct trial *trial)
{
    return !(trial->joules > 0) ? "" : trial->joules_measured ? "measured" : "estimated";
}

static void head(const struct export *export)
{
    const struct spec *spec = &export->target->spec;
    static const char *const prefixes[] = {"best_", "final_"};

    fputs("trial,state,reason", export->to);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        csv_next(export->to, columns[i].name);
    csv_next(export->to, "energy");
    for (size_t k = 0; k < ARRAY_LEN(prefixes); k++)
        for (size_t i = 0; i < system_count(spec); i++) {
            autofree(mem) char *name = xasprintf("%s%s", prefixes[k], system_name_at(spec, i));
            csv_next(export->to, name);
        }
    csv_param_names(export);
    fputc('\n', export->to);
}

static void csv_row(const struct summing *sum)
{
    const struct trial *trial = &sum->row->trial;
    const struct figures figures = figures_of(sum);
    FILE *to = sum->export->to;
    ptrdiff_t best = best_phase(sum);

    fprintf(to, "%lld.%lld,%s,%s", (long long)trial->experiment, (long long)trial->number,
            trial_state_name(trial->state), trial->reason ? reason_name(trial->reason) : "");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (is_step(trial, i))
            fprintf(to, ",%lld", (long long)steps_of(sum));
        else
            csv_next_known(to, figure_at(&figures, i));
    csv_next(to, energy_word(trial));
    for (size_t i = 0; i < sum->tuning.n_values; i++)
        csv_next_value(to, best < 0 ? NULL : sum->tuning.phases.at[best].values[i]);
    for (size_t i = 0; i < sum->tuning.n_values; i++)
        csv_next_value(to, vec_last(&sum->tuning.phases)->values[i]);
    csv_params(sum->export, trial);
    fputc('\n', to);
}

static void json_row(const struct summing *sum)
{
    const struct trial *trial = &sum->row->trial;
    const struct spec *spec = &sum->export->target->spec;
    const struct figures figures = figures_of(sum);
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    ptrdiff_t best = best_phase(sum);

    json_begin_object(&out);
    json_put_text(&out, "trial", id);
    json_put_text(&out, "state", trial_state_name(trial->state));
    json_put_text(&out, "reason", trial->reason ? reason_name(trial->reason) : NULL);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (is_step(trial, i))
            json_put_int(&out, columns[i].name, steps_of(sum));
        else
            json_put_known(&out, columns[i].name, figure_at(&figures, i));
    json_put_text(&out, "energy", *energy_word(trial) ? energy_word(trial) : NULL);
    tuning_put_system(&out, spec, "best", best < 0 ? NULL : sum->tuning.phases.at[best].values);
    tuning_put_system(&out, spec, "final", vec_last(&sum->tuning.phases)->values);
    json_put_raw(&out, "params", sum->row->params_json ? sum->row->params_json : "{}");
    json_end_object(&out);
    fprintf(sum->export->to, "%s\n", text.s);
}

/* The tuning and the paces of a trial; the tuning is to be released. */
static int load(struct summing *sum, const struct trial_row *row, const struct tuning_log *log)
{
    const struct export *export = sum->export;

    sum->row = row;
    sum->paces.len = sum->counts.len = 0;
    int r = tuning_load(&sum->tuning, export->store, &export->target->spec, row, log, export->err);
    return r < 0 ? r : measure(sum);
}

int trial_pace(const struct export *export, const struct trial_row *row,
               const struct tuning_log *log, struct trial_pace *ret)
{
    struct summing sum = {.export = export};
    int r = load(&sum, row, log);

    *ret = (struct trial_pace){NAN, NAN};
    if (r == 0)
        *ret = (struct trial_pace){seconds_per_step(overall(&sum)),
                                   seconds_per_step(*vec_last(&sum.paces))};
    vec_release(&sum.paces);
    vec_release(&sum.counts);
    tuning_release(&sum.tuning);
    return r;
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct summing *sum = arg;
    const struct export *export = sum->export;
    int r = load(sum, row, &sum->log);

    if (r == 0)
        (export->jsonl ? json_row : csv_row)(sum);
    tuning_release(&sum->tuning);
    return r;
}

int export_summary(const struct export *export)
{
    struct summing sum = {.export = export};
    int64_t id = export->target->experiment.experiment.id;
    struct trial_query query = {.experiment = id, .order = ORDER_NUMBER};
    int r = tuning_log_load(&sum.log, export->store, id, 0, export->err);

    if (!export->jsonl)
        head(export);
    if (r == 0)
        r = store_trials(export->store, &query, on_trial, &sum, export->err);
    vec_release(&sum.paces);
    vec_release(&sum.counts);
    tuning_log_release(&sum.log);
    return r;
}
