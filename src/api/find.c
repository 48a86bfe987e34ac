/* SPDX-License-Identifier: MIT */
/*
 * find.c — from "fashion.3", "last" or "17" to rows.
 */
#include "api/find.h"
#include "base/units.h"
#include "spec/parse.h"

#include <errno.h>

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static int copy_row(const struct trial_row *row, void *arg)
{
    struct trial_row *to = arg;

    *to = *row;
    to->trial.point = row->ndim ? xmemdup(row->trial.point, row->ndim * sizeof(double)) : NULL;
    to->trial.why = copy_text(row->trial.why);
    to->trial.verdict = copy_text(row->trial.verdict);
    to->trial.extra =
        row->trial.n_extra ? xmemdup(row->trial.extra, row->trial.n_extra * sizeof(double)) : NULL;
    to->params_json = copy_text(row->params_json);
    to->note = copy_text(row->note);
    to->run_name = copy_text(row->run_name);
    to->owner = copy_text(row->owner);
    to->tags.at = NULL;
    to->tags.len = to->tags.cap = 0;
    for (size_t i = 0; i < row->tags.len; i++)
        vec_push(&to->tags, xstrdup(row->tags.at[i]));
    return 1;
}

/* Sets has_trial if the query finds one. */
static int read_trial(struct store *store, const struct trial_query *query, struct target *ret,
                      struct err *err)
{
    if (ret->has_trial)
        trial_row_release(&ret->trial);
    ret->trial = (struct trial_row){0};
    ret->has_trial = false;
    int r = store_trials(store, query, copy_row, &ret->trial, err);
    ret->has_trial = ret->trial.trial.number > 0;
    return r < 0 ? r : 0;
}

static int64_t count_trials(const struct target *target)
{
    int64_t n = 0;
    for (int i = 0; i < TRIAL_STATES; i++)
        n += target->experiment.counts[i];
    return n;
}

char *target_no_trials(struct store *store, const struct target *target)
{
    autorelease(str) struct str keep = STR_INIT;

    if (!store_trials_removed(store, target->experiment.experiment.id))
        return xstrdup("no trials yet");
    if (target->spec.keep_trials_us <= 0)
        return xstrdup("no trials any more: they were removed");
    duration_format(target->spec.keep_trials_us, &keep);
    return xasprintf("no trials any more: they were removed, keep.trials is %s", keep.s);
}

static int find_newest(struct store *store, struct target *ret, struct err *err)
{
    int64_t id = ret->experiment.experiment.id;
    struct trial_query query = {.experiment = id, .order = ORDER_NEWEST, .limit = 1};
    int r = read_trial(store, &query, ret, err);

    if (r < 0 || ret->has_trial)
        return r;
    autofree(mem) char *why = target_no_trials(store, ret);
    return err_set(err, ENOENT, "experiment %lld has %s", (long long)id, why);
}

static int find_numbered(struct store *store, int64_t number, struct target *ret, struct err *err)
{
    int64_t id = ret->experiment.experiment.id;
    struct trial_query query = {.experiment = id, .number = number, .limit = 1};
    int r = read_trial(store, &query, ret, err);

    if (r < 0 || ret->has_trial)
        return r;
    return err_set(err, ENOENT, "experiment %lld (%s) has no trial %lld: 'hone ls %lld' lists them",
                   (long long)id, ret->experiment.experiment.name, (long long)number,
                   (long long)id);
}

static int find_trial(struct store *store, const char *ref, int64_t number, bool newest,
                      enum find what, struct target *ret, struct err *err)
{
    if (number > 0)
        return find_numbered(store, number, ret, err);
    if (newest || (what == FIND_TRIAL && (str_eq(ref, "last") || count_trials(ret) == 1)))
        return find_newest(store, ret, err);
    if (what != FIND_TRIAL)
        return 0;
    return err_set(err, EINVAL,
                   "'%s' is an experiment with %lld trials; name one of them, as in %s.1, or the "
                   "newest as %s.last",
                   ref, (long long)count_trials(ret), ref, ref);
}

/* EXPERIMENT.last: cut the ending off. */
static bool cut_last(char *ref)
{
    size_t n = strlen(ref);
    if (n <= 5 || !str_eq(ref + n - 5, ".last"))
        return false;
    ref[n - 5] = '\0';
    return true;
}

static int find_experiment(struct store *store, const char *name, struct target *ret,
                           struct err *err)
{
    int r = store_find_experiment(store, name, true, &ret->experiment, err);
    if (r != -ENOENT || str_eq(name, "last"))
        return r;
    autofree(mem) char *why = xstrdup(err_text(err));
    return err_set(err, ENOENT, "%s: 'hone ls' lists them", why);
}

int target_find(struct store *store, const char *ref, enum find what, struct target *ret,
                struct err *err)
{
    autofree(mem) char *text = xstrdup(ref), *name = NULL;
    bool newest = cut_last(text);
    int64_t number = 0;

    *ret = (struct target){0};
    spec_init(&ret->spec);
    int r = ref_parse(text, &name, &number, err);
    if (r < 0)
        return r;
    if (what == FIND_EXPERIMENT && (number > 0 || newest))
        return err_set(err, EINVAL, "'%s' is a trial; this wants an experiment: %s", ref, name);
    r = find_experiment(store, name, ret, err);
    if (r < 0)
        return r;
    const struct experiment *experiment = &ret->experiment.experiment;
    r = spec_parse(experiment->spec_json, strlen(experiment->spec_json), "spec", "/", NULL,
                   &ret->spec, NULL, err);
    if (r < 0)
        return err_context(err, "experiment %lld", (long long)experiment->id);
    return find_trial(store, text, number, newest, what, ret, err);
}

int target_refresh(struct store *store, struct target *target, struct err *err)
{
    return find_numbered(store, target->trial.trial.number, target, err);
}

void target_release(struct target *target)
{
    experiment_row_release(&target->experiment);
    spec_release(&target->spec);
    if (target->has_trial)
        trial_row_release(&target->trial);
    target->has_trial = false;
}

char *target_name(const struct target *target)
{
    if (target->has_trial)
        return xasprintf("%lld.%lld", (long long)target->trial.trial.experiment,
                         (long long)target->trial.trial.number);
    return xasprintf("%lld", (long long)target->experiment.experiment.id);
}
