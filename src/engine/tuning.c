/* SPDX-License-Identifier: MIT */
/*
 * tuning.c — of an experiment: its knobs, their configurations, and with which one an attempt
 * begins.
 *
 * What cannot be changed while a trial runs is explored by the trials one after the other: what
 * needs a restart, threads of a program that does not listen, and everything where trials are so
 * short that what is tried inside one is hardly measured before it ends. One in a few begins with
 * what may be better than the best known, as long as there are trials enough that will profit.
 */
#include "engine/internal.h"
#include "engine/tuning.h"
#include "linalg/linalg.h"
#include "tune/width.h"

#include <errno.h>
#include <math.h>

#define LIST_MAX     256  /* configurations that are looked at */
#define BETTER       0.05 /* what the best known must promise before a trial begins with it */
#define EXPLORE_PART 3    /* one in so many of the trials may begin with what may be better */
#define SHORT_S      4    /* trials that are over by then are short */
#define WORDS_MAX    8    /* of a parameter whose words are told apart */
#define PARAMS_MAX   40   /* numbers that tell of a trial; with more nothing is told */

/* ---- knobs ---- */

static double number_of(const struct value *value)
{
    return value->kind == VALUE_INT || value->kind == VALUE_FLOAT ? value->number : NAN;
}

/* Whole numbers, each once. */
static bool counts(const struct param *param)
{
    if (param->type != PARAM_CHOICE)
        return param->type == PARAM_INT;
    for (size_t i = 0; i < param->n_choices; i++) {
        double number = number_of(&param->choices[i]);
        if (!(number >= 0) || number != floor(number))
            return false;
        for (size_t k = 0; k < i; k++)
            if (number_of(&param->choices[k]) == number)
                return false;
    }
    return true;
}

static bool is_count(const struct param *param)
{
    switch (system_name_of(param->name)) {
    case SYSTEM_CPU_QUOTA:
    case SYSTEM_MEMORY:
    case SYSTEM_NICE:
    case SYSTEM_FREQUENCY:
        return false;
    default:
        return counts(param);
    }
}

/* Put a value where it belongs among the `n` that there are: counts rise, choices stay in order. */
static void add_value(struct tuning *tuning, size_t first, const struct param *param, double x,
                      bool count)
{
    autorelease(str) struct str text = STR_INIT;
    double value = count && param->type == PARAM_CHOICE ? number_of(&param->choices[(size_t)x]) : x;
    size_t i = tuning->n_values++;

    param_text(param, x, &text);
    for (; count && i > first && tuning->values[i - 1] > value; i--) {
        tuning->values[i] = tuning->values[i - 1];
        tuning->points[i] = tuning->points[i - 1];
        tuning->labels[i] = tuning->labels[i - 1];
    }
    tuning->values[i] = value;
    tuning->points[i] = x;
    tuning->labels[i] = str_take(&text);
}

static void make_knob(struct tuning *tuning, struct knob *knob, const struct param *param,
                      const struct system_setting *setting)
{
    size_t first = tuning->n_values, size = (size_t)param_size(param);

    *knob = (struct knob){.name = param->name,
                          .kind = is_count(param) ? KNOB_COUNT : KNOB_CHOICE,
                          .values = tuning->values + first,
                          .n = size,
                          .restart = setting->restart,
                          .learning = setting->learning,
                          .labels = (const char *const *)tuning->labels + first};
    for (size_t i = 0; i < size; i++)
        add_value(tuning, first, param, param_value_at(param, (double)i), knob->kind == KNOB_COUNT);
    knob->min = knob->values[0];
    knob->max = knob->values[size - 1];
}

static void make_knobs(struct tuning *tuning, const struct system_setting *settings)
{
    size_t total = 0;

    for (size_t j = 0; j < tuning->n; j++)
        total += (size_t)param_size(&tuning->space.params[j]);
    tuning->knobs = xcalloc(tuning->n, sizeof(*tuning->knobs));
    tuning->values = xcalloc(total + 1, sizeof(*tuning->values));
    tuning->points = xcalloc(total + 1, sizeof(*tuning->points));
    tuning->labels = xcalloc(total + 1, sizeof(*tuning->labels));
    for (size_t j = 0; j < tuning->n; j++)
        make_knob(tuning, &tuning->knobs[j], &tuning->space.params[j], &settings[j]);
}

/* Of a knob's value, its place among all values. */
static size_t place(const struct tuning *tuning, size_t knob, double value)
{
    const struct knob *k = &tuning->knobs[knob];
    size_t i = 0;

    while (i + 1 < k->n && k->values[i] != value)
        i++;
    return (size_t)(k->values - tuning->values) + i;
}

/* More threads than cpus only get in each other's way. */
static bool makes_sense(const struct run *run, const double *configuration)
{
    double cpus = tuning_value(run, configuration, SYSTEM_CPUS);
    double threads = tuning_value(run, configuration, SYSTEM_THREADS);
    return !(threads > cpus);
}

static void make_list(struct run *run)
{
    struct tuning *tuning = run->tuning;
    size_t n = knobs_list(tuning->knobs, tuning->n, LIST_MAX, &tuning->list), kept = 0;

    for (size_t i = 0; i < n; i++) {
        double *row = tuning->list + i * tuning->n;
        if (makes_sense(run, row))
            memmove(tuning->list + kept++ * tuning->n, row, tuning->n * sizeof(*row));
    }
    tuning->n_list = kept;
    tuning->measured = xcalloc(kept + 1, sizeof(*tuning->measured));
    tuning->told_of = xcalloc(kept + 1, sizeof(*tuning->told_of));
    tuning->frozen = xcalloc(tuning->n, sizeof(*tuning->frozen));
}

size_t tuning_find(const struct tuning *tuning, const double *configuration)
{
    for (size_t i = 0; i < tuning->n_list; i++)
        if (point_equal(tuning->list + i * tuning->n, configuration, tuning->n))
            return i;
    return SIZE_MAX;
}

static double nearest(const struct knob *knob, double wanted)
{
    double best = knob->values[0];

    for (size_t i = 1; i < knob->n; i++)
        if (fabs(knob->values[i] - wanted) < fabs(best - wanted))
            best = knob->values[i];
    return best;
}

/* The knob's value at a point of the space; NaN: it has none there. */
static double value_at(const struct tuning *tuning, size_t knob, double x)
{
    const struct knob *k = &tuning->knobs[knob];
    const double *points = tuning->points + (k->values - tuning->values);

    for (size_t i = 0; i < k->n; i++)
        if (points[i] == x)
            return k->values[i];
    return NAN;
}

static double start_of(const struct run *run, size_t knob)
{
    double value = value_at(run->tuning, knob, run->spec.settings[knob].start);
    return isnan(value) ? nearest(&run->tuning->knobs[knob], MAX(1, floor(run->spec.cpus))) : value;
}

/* What Hone may put in place: a space of its own, or the end of the one that is searched. */
static struct space system_of(const struct spec *spec)
{
    struct space space = {0};

    if (spec_has_system(spec))
        space.params = (struct param *)spec_system_params(spec, &space.n);
    return space;
}

int tuning_open(struct run *run, struct err *err)
{
    struct space space = system_of(&run->spec);

    if (!space.n)
        return 0;
    int r = linalg_open(err);
    if (r < 0)
        return r;
    struct tuning *tuning = run->tuning = xcalloc(1, sizeof(*tuning));
    tuning->space = space;
    tuning->n = space.n;
    tuning->start = xcalloc(tuning->n, sizeof(*tuning->start));
    make_knobs(tuning, run->spec.settings);
    for (size_t j = 0; j < tuning->n; j++)
        tuning->start[j] = start_of(run, j);
    tuning->begun = xmemdup(tuning->start, tuning->n * sizeof(*tuning->begun));
    make_list(run);
    if (run->spec.tune == TUNE_PIPELINED)
        tuning->speed = speed_new(tuning->knobs, tuning->n);
    return 0;
}

static void pending_free(struct pending *pending)
{
    if (pending)
        free(pending->configuration);
    free(pending);
}

void tuning_close(struct run *run)
{
    struct tuning *tuning = run->tuning;
    size_t cursor = 0;
    struct pending *pending;
    struct trial_tuning *past;

    if (!tuning)
        return;
    while ((pending = map_next(&tuning->pending, &cursor, NULL)))
        pending_free(pending);
    map_release(&tuning->pending);
    cursor = 0;
    while ((past = map_next(&tuning->trials, &cursor, NULL))) {
        learning_free(past->learning);
        free(past->good);
        free(past->suspects);
        free(past);
    }
    map_release(&tuning->trials);
    workloads_close(tuning);
    if (tuning->width)
        width_free(tuning->width);
    if (tuning->speed)
        speed_free(tuning->speed);
    for (size_t i = 0; i < tuning->n_values; i++)
        free(tuning->labels[i]);
    free(tuning->labels);
    free(tuning->values);
    free(tuning->points);
    free(tuning->knobs);
    free(tuning->start);
    free(tuning->begun);
    free(tuning->list);
    free(tuning->measured);
    free(tuning->told_of);
    free(tuning->frozen);
    free(tuning);
    run->tuning = NULL;
}

/* ---- configurations ---- */

void tuning_point(const struct run *run, const double *configuration, double *ret_point)
{
    for (size_t j = 0; j < run->tuning->n; j++)
        ret_point[j] = run->tuning->points[place(run->tuning, j, configuration[j])];
}

void tuning_json(const struct run *run, const double *configuration, struct str *to)
{
    autofree(mem) double *point = xcalloc(run->tuning->n, sizeof(*point));
    struct json_out out = JSON_OUT(to);

    tuning_point(run, configuration, point);
    space_json(&run->tuning->space, point, &out);
}

void tuning_name_values(const struct run *run, const double *configuration, struct str *to)
{
    const struct tuning *tuning = run->tuning;

    for (size_t j = 0; j < tuning->n; j++)
        str_addf(to, "%s%s=%s", j ? " " : "", tuning->knobs[j].name,
                 tuning->labels[place(tuning, j, configuration[j])]);
}

bool tuning_from_json(const struct run *run, const char *json, double *ret_configuration)
{
    const struct tuning *tuning = run->tuning;

    for (size_t i = 0; json && i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        autorelease(str) struct str text = STR_INIT;
        tuning_json(run, row, &text);
        if (str_eq(text.s, json)) {
            memcpy(ret_configuration, row, tuning->n * sizeof(*row));
            return true;
        }
    }
    return false;
}

double tuning_value(const struct run *run, const double *configuration, enum system_name name)
{
    const struct tuning *tuning = run->tuning;

    for (size_t j = 0; j < tuning->n; j++)
        if (system_name_of(tuning->knobs[j].name) == name)
            return configuration[j];
    return NAN;
}

/* ---- the beginning of an attempt ---- */

struct trial_tuning *tuning_trial(struct tuning *tuning, int64_t trial)
{
    struct trial_tuning *past = map_find(&tuning->trials, (uint64_t)trial);

    if (!past) {
        past = xcalloc(1, sizeof(*past));
        map_put(&tuning->trials, (uint64_t)trial, past);
    }
    return past;
}

struct learning *tuning_learning(struct run *run, int64_t trial)
{
    struct tuning *tuning = run->tuning;

    if (!tuning->speed || !run->spec.objective.metric || !knobs_learn(tuning->knobs, tuning->n))
        return NULL;
    struct trial_tuning *past = tuning_trial(tuning, trial);
    if (!past->learning)
        past->learning = learning_new(tuning->knobs, tuning->n);
    return past->learning;
}

static bool are_short(const struct run *run)
{
    return run->mean_run_us > 0 && run->mean_run_us < SHORT_S * US_PER_S;
}

bool tuning_inside(const struct knob *knob)
{
    return system_name_of(knob->name) >= SYSTEM_THREADS;
}

/* Can it not be tried while a trial runs? */
static bool by_trials(const struct run *run, const struct knob *knob)
{
    return knob->restart || are_short(run) || (run->tuning->deaf && tuning_inside(knob));
}

/* Do they differ only in what can? */
static bool same_kind(const struct run *run, const double *a, const double *b)
{
    for (size_t j = 0; j < run->tuning->n; j++)
        if (by_trials(run, &run->tuning->knobs[j]) && a[j] != b[j])
            return false;
    return true;
}

static struct belief_ln promise(const struct run *run, int64_t trial, const double *configuration)
{
    const struct tuning *tuning = run->tuning;
    struct belief_ln belief =
        speed_compare(tuning->speed, (uint64_t)trial, configuration, tuning->start, tuning->load);

    if (tuning->learning) {
        struct belief_ln worth = learning_compare(tuning->learning, configuration, tuning->start);
        belief.mean -= worth.mean;
        belief.deviation = hypot(belief.deviation, worth.deviation);
    }
    return belief;
}

/* Of those that were measured, here or before: to begin with another costs nothing. Of all, where
 * the usual start is known to fail. */
static const double *best_known(const struct run *run, int64_t trial)
{
    const struct tuning *tuning = run->tuning;
    const double *best = tuning->start;
    bool may_start = speed_feasible(tuning->speed, tuning->start);
    double best_mean = may_start ? -BETTER : INFINITY;

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        if (!speed_feasible(tuning->speed, row) ||
            (may_start && !tuning->measured[i] && !tuning->told_of[i]))
            continue;
        struct belief_ln belief = promise(run, trial, row);
        if (belief.mean < best_mean) {
            best_mean = belief.mean;
            best = row;
        }
    }
    return best;
}

/* The one of another kind that may be better than the best known by most; NULL: none may. */
static const double *most_promising(const struct run *run, int64_t trial, const double *known)
{
    const struct tuning *tuning = run->tuning;
    double best = promise(run, trial, known).mean - BETTER;
    const double *found = NULL;

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        if (!speed_feasible(tuning->speed, row) || same_kind(run, row, known))
            continue;
        struct belief_ln belief = promise(run, trial, row);
        if (belief.mean - belief.deviation < best) {
            best = belief.mean - belief.deviation;
            found = row;
        }
    }
    return found;
}

/* One trial in EXPLORE_PART may, while enough will profit; processor time would not tell. */
static bool explores(const struct run *run, int64_t trial)
{
    const struct tuning *tuning = run->tuning;

    return tuning->by_steps && tuning->explored * EXPLORE_PART < trial - 1 &&
           run->budget - trial >= EXPLORE_PART;
}

static const double *choose(struct run *run, int64_t trial)
{
    struct tuning *tuning = run->tuning;
    const struct trial_tuning *past = tuning_trial(tuning, trial);

    if (!tuning->speed)
        return tuning->start;
    if (past->good) /* it goes on where it was */
        return past->good;
    const double *known = best_known(run, trial);
    const double *other = explores(run, trial) ? most_promising(run, trial, known) : NULL;
    tuning->explored += other != NULL;
    return other ? other : known;
}

/* ---- the hyperparameters of a trial ---- */

static void tell_size(const struct live *live, const double *point)
{
    static const char *const names[] = {"batch", "batch_size", "batchsize", "batch-size", "bs"};
    const struct run *run = live->run;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ptrdiff_t at = space_find(&run->spec.space, names[i]);
        if (at < 0 || isnan(point[at]))
            continue;
        struct value value = param_value(&run->spec.space.params[at], point[at]);
        if (value.number > 0)
            speed_size(run->tuning->speed, (uint64_t)live->attempt.trial, log(value.number));
        value_release(&value);
        return;
    }
}

static bool are_words(const struct param *param)
{
    return param->type == PARAM_CHOICE && isnan(number_of(&param->choices[0]));
}

/* A number is its place in its range; of a few words each is one that is 1 or 0. */
static void tell_params(const struct live *live, const double *point)
{
    const struct run *run = live->run;
    VEC(double) all = {0};

    for (size_t j = 0; j < run->spec.space.n; j++) {
        const struct param *param = &run->spec.space.params[j];
        size_t words = are_words(param) ? param->n_choices : 0;
        bool active = !isnan(point[j]);
        if (param_size(param) == 1 || words > WORDS_MAX)
            continue;
        if (!words)
            vec_push(&all, active ? param_to_unit(param, point[j]) : 0.5);
        for (size_t i = 0; i < words; i++)
            vec_push(&all, active && param_index(param, point[j]) == (double)i);
    }
    if (all.len && all.len <= PARAMS_MAX)
        speed_params(run->tuning->speed, (uint64_t)live->attempt.trial, all.at, all.len);
    vec_release(&all);
}

static void tell_trial(const struct live *live)
{
    const double *point = run_trial(live->run, live->attempt.trial)->point;

    if (!live->run->tuning->speed)
        return;
    tell_size(live, point);
    tell_params(live, point);
}

static void set_system(struct live *live, int64_t generation)
{
    autorelease(str) struct str json = STR_INIT;

    tuning_json(live->run, live->tuned->now, &json);
    free(live->attempt.system);
    live->attempt.system = str_take(&json);
    live->attempt.generation = generation;
}

static struct tuned *tuned_new(const struct run *run)
{
    struct tuned *tuned = xcalloc(1, sizeof(*tuned));

    tuned->now = xcalloc(run->tuning->n, sizeof(*tuned->now));
    tuned->changed_s = tuned->changed_step = tuned->changed_ahead_s = NAN;
    return tuned;
}

void tuned_free(struct tuned *tuned)
{
    if (!tuned)
        return;
    if (tuned->decide)
        decide_free(tuned->decide);
    free(tuned->now);
    free(tuned);
}

static void take_pending(struct live *live, const struct pending *pending)
{
    struct tuned *tuned = live->tuned;
    size_t size = live->run->tuning->n * sizeof(*tuned->now);

    memcpy(tuned->now, pending->configuration, size);
    tuned->change = pending->kind;
    tuned->changed_s = pending->since_s;
    tuned->changed_step = pending->step;
    tuned->changed_ahead_s = pending->ahead_s;
    tuned->failed = pending->failed;
}

/* The search has chosen. */
static void take_point(struct live *live)
{
    struct run *run = live->run;
    size_t first = run->spec.space.n - run->tuning->n;
    const double *point = run_trial(run, live->attempt.trial)->point + first;

    for (size_t j = 0; j < run->tuning->n; j++)
        live->tuned->now[j] = value_at(run->tuning, j, point[j]);
}

/* Where a trial begins otherwise than the one before it, and why. */
static void say_begin(const struct live *live, struct now now)
{
    const struct tuning *tuning = live->run->tuning;
    const double *to = live->tuned->now;
    autorelease(str) struct str words = STR_INIT;

    if (!tuning->speed || live->attempt.number > 1 || point_equal(to, tuning->begun, tuning->n))
        return;
    struct decision decision = {
        .from = tuning->begun, .to = to, .against = to, .over = tuning->begun};
    decision.predicted = speed_compare(tuning->speed, (uint64_t)live->attempt.trial, to,
                                       tuning->begun, tuning->load);
    decision.measured = decision.cost_s = NAN;
    decision_format(&decision, tuning->knobs, tuning->n, &words);
    tuned_note(live, now, "it begins with %s", words.s);
    memcpy(tuning->begun, to, tuning->n * sizeof(*to));
}

void tuning_begin(struct live *live, struct now now)
{
    struct run *run = live->run;
    uint64_t trial = (uint64_t)live->attempt.trial;

    progress_begin(live);
    if (!run->tuning)
        return;
    tell_trial(live);
    live->tuned = tuned_new(run);
    struct pending *pending = map_find(&run->tuning->pending, trial);
    if (pending) {
        take_pending(live, pending);
        map_remove(&run->tuning->pending, trial);
        pending_free(pending);
    } else if (run->spec.tune == TUNE_JOINT) {
        take_point(live);
    } else {
        memcpy(live->tuned->now, choose(run, live->attempt.trial),
               run->tuning->n * sizeof(*live->tuned->now));
        say_begin(live, now);
    }
    set_system(live, 1);
}

void tuning_adopt(struct live *live, struct now now)
{
    struct run *run = live->run;

    (void)now;
    progress_begin(live);
    if (!run->tuning)
        return;
    tell_trial(live);
    live->tuned = tuned_new(run);
    if (run->spec.tune == TUNE_JOINT)
        take_point(live);
    else if (!tuning_from_json(run, live->attempt.system, live->tuned->now))
        memcpy(live->tuned->now, run->tuning->start, run->tuning->n * sizeof(double));
    set_system(live, MAX(1, live->attempt.generation));
}

void tuning_pend(struct run *run, int64_t trial, const double *configuration, enum change_kind kind,
                 const struct progress *progress)
{
    struct pending *pending = xcalloc(1, sizeof(*pending));

    pending->configuration =
        xmemdup(configuration, run->tuning->n * sizeof(*pending->configuration));
    pending->kind = kind;
    pending->since_s = progress->at_s;
    pending->step = progress->step;
    pending->ahead_s = progress->ahead_s;
    pending_free(map_find(&run->tuning->pending, (uint64_t)trial));
    map_put(&run->tuning->pending, (uint64_t)trial, pending);
}
