/* SPDX-License-Identifier: MIT */
/*
 * where_fields.c — what an expression may ask of a trial and of an experiment, a row each. What is
 * not known is null; times are seconds since 1970, durations seconds.
 */
#include "base/clock.h"
#include "api/where_parts.h"

#include <math.h>
#include <pthread.h>

static struct expr_value known(double x)
{
    return isnan(x) ? expr_null() : expr_number(x);
}

static struct expr_value moment(int64_t us)
{
    return us ? expr_number((double)us / US_PER_S) : expr_null();
}

static struct expr_value step_value(int64_t step)
{
    return step == STEP_NONE ? expr_null() : expr_integer(step);
}

static struct expr_value above_zero(double x)
{
    return x > 0 ? expr_number(x) : expr_null();
}

static struct expr_value list_value(char *const *tags, size_t n)
{
    return (struct expr_value){.type = EXPR_LIST, .n = n, .list = (const char *const *)tags};
}

static struct expr_value reason_value(enum reason reason)
{
    return expr_text(reason == REASON_NONE ? NULL : reason_name(reason));
}

static struct expr_value text_value(const char *text)
{
    return expr_text(text && *text ? text : NULL);
}

/* ---- trials ---- */

#define TRIAL(name, value)                                                                         \
    static struct expr_value name(const struct where_row *row)                                     \
    {                                                                                              \
        const struct trial *trial = &row->trial->trial;                                            \
        (void)trial;                                                                               \
        return value;                                                                              \
    }

TRIAL(trial_number, expr_number((double)trial->number))
TRIAL(trial_state, expr_text(trial_state_name(trial->state)))
TRIAL(trial_reason, reason_value(trial->reason))
TRIAL(trial_value, known(trial->value))
TRIAL(trial_best, known(trial->best))
TRIAL(trial_step, step_value(trial->last_step))
TRIAL(trial_first_nan, step_value(trial->first_nan_step))
TRIAL(trial_attempts, expr_number((double)trial->attempts))
TRIAL(trial_retries, expr_number((double)trial->retries))
TRIAL(trial_duration, expr_number((double)trial->run_us / US_PER_S))
TRIAL(trial_created, moment(trial->created_us))
TRIAL(trial_started, moment(trial->started_us))
TRIAL(trial_ended, moment(trial->ended_us))
TRIAL(trial_repeat_of, above_zero((double)trial->repeat_of))
TRIAL(trial_joules, above_zero(trial->joules))
TRIAL(trial_tags, list_value(row->trial->tags.at, row->trial->tags.len))
TRIAL(trial_note, text_value(row->trial->note))
TRIAL(trial_run_name, text_value(row->trial->run_name))
TRIAL(trial_starred, expr_bool(row->trial->starred))

const struct where_field where_trial_fields[] = {
    {"number", EXPR_NUMBER, WORDS_NONE, trial_number},
    {"trial", EXPR_NUMBER, WORDS_NONE, trial_number},
    {"state", EXPR_TEXT, WORDS_TRIAL_STATE, trial_state},
    {"reason", EXPR_TEXT, WORDS_REASON, trial_reason},
    {"value", EXPR_NUMBER, WORDS_NONE, trial_value},
    {"best", EXPR_NUMBER, WORDS_NONE, trial_best},
    {"step", EXPR_NUMBER, WORDS_NONE, trial_step},
    {"first_nan", EXPR_NUMBER, WORDS_NONE, trial_first_nan},
    {"attempts", EXPR_NUMBER, WORDS_NONE, trial_attempts},
    {"retries", EXPR_NUMBER, WORDS_NONE, trial_retries},
    {"duration", EXPR_NUMBER, WORDS_NONE, trial_duration},
    {"time", EXPR_NUMBER, WORDS_NONE, trial_duration},
    {"created", EXPR_TIME, WORDS_NONE, trial_created},
    {"started", EXPR_TIME, WORDS_NONE, trial_started},
    {"ended", EXPR_TIME, WORDS_NONE, trial_ended},
    {"repeat_of", EXPR_NUMBER, WORDS_NONE, trial_repeat_of},
    {"joules", EXPR_NUMBER, WORDS_NONE, trial_joules},
    {"tags", EXPR_LIST, WORDS_NONE, trial_tags},
    {"note", EXPR_TEXT, WORDS_NONE, trial_note},
    {"run_name", EXPR_TEXT, WORDS_NONE, trial_run_name},
    {"starred", EXPR_BOOL, WORDS_NONE, trial_starred},
    {NULL, EXPR_NULL, WORDS_NONE, NULL},
};

/* ---- experiments ---- */

static double count_trials(const struct experiment_row *row)
{
    double n = 0;
    for (int i = 0; i < TRIAL_STATES; i++)
        n += (double)row->counts[i];
    return n;
}

#define EXPERIMENT(name, value)                                                                    \
    static struct expr_value name(const struct where_row *row)                                     \
    {                                                                                              \
        const struct experiment *experiment = &row->experiment->experiment;                        \
        (void)experiment;                                                                          \
        return value;                                                                              \
    }
#define COUNT(name, state) EXPERIMENT(name, expr_number((double)row->experiment->counts[state]))

EXPERIMENT(experiment_id, expr_number((double)experiment->id))
EXPERIMENT(experiment_name, text_value(experiment->name))
EXPERIMENT(experiment_state, expr_text(experiment_state_name(row->shown)))
EXPERIMENT(experiment_reason, reason_value(experiment->reason))
EXPERIMENT(experiment_error, text_value(experiment->error))
EXPERIMENT(experiment_trials, expr_number(count_trials(row->experiment)))
COUNT(experiment_queued, TRIAL_QUEUED)
COUNT(experiment_running, TRIAL_RUNNING)
COUNT(experiment_completed, TRIAL_COMPLETED)
COUNT(experiment_stopped, TRIAL_STOPPED)
COUNT(experiment_failed, TRIAL_FAILED)
EXPERIMENT(experiment_best, known(row->experiment->best_value))
EXPERIMENT(experiment_best_trial, above_zero((double)row->experiment->best_trial))
EXPERIMENT(experiment_created, moment(experiment->created_us))
EXPERIMENT(experiment_ended, moment(row->shown == EXPERIMENT_RUNNING ? 0 : experiment->ended_us))
EXPERIMENT(experiment_duration, expr_number((double)experiment->run_us / US_PER_S))
EXPERIMENT(experiment_tags, list_value(row->experiment->tags.at, row->experiment->tags.len))
EXPERIMENT(experiment_note, text_value(row->experiment->note))
EXPERIMENT(experiment_starred, expr_bool(row->experiment->starred))
EXPERIMENT(experiment_owner, text_value(experiment->owner))
EXPERIMENT(experiment_priority, expr_number((double)experiment->priority))
EXPERIMENT(experiment_paused, expr_bool(experiment->paused != HELD_NOT))

const struct where_field where_experiment_fields[] = {
    {"number", EXPR_NUMBER, WORDS_NONE, experiment_id},
    {"experiment", EXPR_NUMBER, WORDS_NONE, experiment_id},
    {"name", EXPR_TEXT, WORDS_NONE, experiment_name},
    {"state", EXPR_TEXT, WORDS_EXPERIMENT_STATE, experiment_state},
    {"reason", EXPR_TEXT, WORDS_REASON, experiment_reason},
    {"error", EXPR_TEXT, WORDS_NONE, experiment_error},
    {"trials", EXPR_NUMBER, WORDS_NONE, experiment_trials},
    {"queued", EXPR_NUMBER, WORDS_NONE, experiment_queued},
    {"running", EXPR_NUMBER, WORDS_NONE, experiment_running},
    {"completed", EXPR_NUMBER, WORDS_NONE, experiment_completed},
    {"done", EXPR_NUMBER, WORDS_NONE, experiment_completed},
    {"stopped", EXPR_NUMBER, WORDS_NONE, experiment_stopped},
    {"failed", EXPR_NUMBER, WORDS_NONE, experiment_failed},
    {"best", EXPR_NUMBER, WORDS_NONE, experiment_best},
    {"value", EXPR_NUMBER, WORDS_NONE, experiment_best},
    {"best_trial", EXPR_NUMBER, WORDS_NONE, experiment_best_trial},
    {"created", EXPR_TIME, WORDS_NONE, experiment_created},
    {"started", EXPR_TIME, WORDS_NONE, experiment_created},
    {"ended", EXPR_TIME, WORDS_NONE, experiment_ended},
    {"duration", EXPR_NUMBER, WORDS_NONE, experiment_duration},
    {"time", EXPR_NUMBER, WORDS_NONE, experiment_duration},
    {"tags", EXPR_LIST, WORDS_NONE, experiment_tags},
    {"note", EXPR_TEXT, WORDS_NONE, experiment_note},
    {"starred", EXPR_BOOL, WORDS_NONE, experiment_starred},
    {"owner", EXPR_TEXT, WORDS_NONE, experiment_owner},
    {"priority", EXPR_NUMBER, WORDS_NONE, experiment_priority},
    {"paused", EXPR_BOOL, WORDS_NONE, experiment_paused},
    {NULL, EXPR_NULL, WORDS_NONE, NULL},
};

/* ---- words ---- */

static const char *trial_states[TRIAL_STATES + 1];
static const char *experiment_states[EXPERIMENT_STATES + 1];
static const char *reasons[REASONS]; /* without NONE, with NULL */

static void fill_words(void)
{
    for (int i = 0; i < TRIAL_STATES; i++)
        trial_states[i] = trial_state_name((enum trial_state)i);
    for (int i = 0; i < EXPERIMENT_STATES; i++)
        experiment_states[i] = experiment_state_name((enum experiment_state)i);
    for (int i = 1; i < REASONS; i++)
        reasons[i - 1] = reason_name((enum reason)i);
}

/* Threads that read ask at the same time. */
const char *const *where_words(enum where_words words)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_words);
    switch (words) {
    case WORDS_TRIAL_STATE:
        return trial_states;
    case WORDS_EXPERIMENT_STATE:
        return experiment_states;
    case WORDS_REASON:
        return reasons;
    case WORDS_NONE:
    default:
        return NULL;
    }
}

/* ---- parameters ---- */

static enum expr_type type_of(enum value_kind kind)
{
    static const enum expr_type types[] = {
        [VALUE_NULL] = EXPR_NULL,    [VALUE_BOOL] = EXPR_BOOL, [VALUE_INT] = EXPR_NUMBER,
        [VALUE_FLOAT] = EXPR_NUMBER, [VALUE_TEXT] = EXPR_TEXT,
    };
    return types[kind];
}

enum expr_type where_param_type(const struct param *param)
{
    enum expr_type type = EXPR_NULL;

    if (param->type != PARAM_CHOICE)
        return EXPR_NUMBER;
    for (size_t i = 0; i < param->n_choices; i++) {
        enum expr_type one = type_of(param->choices[i].kind);
        if (type != EXPR_NULL && one != EXPR_NULL && one != type)
            return EXPR_ANY;
        type = one == EXPR_NULL ? type : one;
    }
    return type == EXPR_NULL ? EXPR_ANY : type;
}

struct expr_value where_param(const struct param *param, double x)
{
    if (isnan(x))
        return expr_null();
    if (param->type != PARAM_CHOICE)
        return expr_number(x);
    size_t i = x >= 0 && x < (double)param->n_choices ? (size_t)x : SIZE_MAX;
    if (i == SIZE_MAX || param->choices[i].kind == VALUE_NULL)
        return expr_null();
    const struct value *choice = &param->choices[i];
    if (choice->kind == VALUE_TEXT)
        return expr_text(choice->text);
    return choice->kind == VALUE_BOOL ? expr_bool(choice->number != 0)
                                      : expr_number(choice->number);
}
