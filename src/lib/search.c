/* SPDX-License-Identifier: MIT */
/*
 * search.c — libhone-search's beginning and asking: a problem becomes a search, a suggestion
 * becomes a trial with an id.
 */
#include "lib/internal.h"
#include "spec/parse.h"

#include <math.h>

#define TRIALS_DEFAULT 100

/* ---- new and free ---- */

/* Values are told by their place: objectives first, then what the constraints bound. */
static void shape_values(hone_search *s)
{
    const struct spec *spec = &s->spec;

    s->n_objectives = 1 + spec->others.len;
    s->n_constraints = spec->constraints.len;
    s->n_values = s->n_objectives + s->n_constraints;
    s->sign = xcalloc(s->n_objectives, sizeof(*s->sign));
    s->sign[0] = spec->objective.goal == GOAL_MAXIMIZE ? -1 : 1;
    for (size_t i = 1; i < s->n_objectives; i++)
        s->sign[i] = spec->others.at[i - 1].goal == GOAL_MAXIMIZE ? -1 : 1;
}

static void shape_problem(hone_search *s)
{
    struct spec *spec = &s->spec;

    s->problem = (struct problem){
        .space = &spec->space,
        .trials = spec->trials,
        .seed = spec->seed,
        .n_objectives = s->n_objectives,
        .n_constraints = s->n_constraints,
        .repeats = !spec->no_repeats,
        .tries = (const double *const *)spec->tries.at,
        .n_tries = spec->tries.len,
    };
    /* Nothing here can hold a trial and let it go on later: a rule ends what it would pause. */
    spec->stop.end = true;
    s->rule = stop_find(spec->stop.rule ? spec->stop.rule : "auto");
}

int lib_new(const char *problem, const uint64_t *seed, hone_search **ret, struct err *err)
{
    hone_search *s = xcalloc(1, sizeof(*s));

    s->text = (struct str)STR_INIT;
    s->problem_text = xstrdup(problem);
    spec_init(&s->spec);
    s->spec.objective.metric = xstrdup("value"); /* unless it is named */
    s->spec.seed = random_u64() >> 33;           /* unless it is given */
    int r = spec_parse_params(problem, strlen(problem), &s->spec, err);
    if (r == 0 && s->spec.space.n == 0)
        r = err_set(err, EINVAL, "there are no parameters to search: give 'params'");
    if (r == 0) {
        if (seed)
            s->spec.seed = *seed;
        if (s->spec.trials == 0)
            s->spec.trials = TRIALS_DEFAULT;
        shape_values(s);
        shape_problem(s);
        if (!s->rule)
            r = err_set(err, EINVAL, "unknown stop rule '%s'", s->spec.stop.rule);
    }
    if (r == 0)
        r = search_new(s->spec.algorithm ? s->spec.algorithm : "auto", &s->problem, &s->search,
                       err);
    if (r < 0)
        hone_search_free(s);
    else
        *ret = s;
    return r;
}

hone_search *hone_search_new(const char *problem, char *error, size_t size)
{
    struct err err = ERR_INIT;
    hone_search *s = NULL;

    if (lib_new(problem, NULL, &s, &err) < 0 && size)
        snprintf(error, size, "%s", err_text(&err));
    err_release(&err);
    return s;
}

void hone_search_free(hone_search *s)
{
    if (!s)
        return;
    vec_foreach (asked, &s->trials)
        asked_free(*asked);
    vec_release(&s->trials);
    vec_release(&s->told);
    vec_release(&s->view);
    search_free(s->search);
    spec_release(&s->spec);
    free(s->problem_text);
    free(s->sign);
    err_release(&s->err);
    str_release(&s->text);
    free(s);
}

const char *hone_search_problem(const hone_search *s)
{
    return s->problem_text;
}

const char *hone_search_error(const hone_search *s)
{
    return err_text(&s->err);
}

/* ---- asking ---- */

static int64_t add_trial(hone_search *s, struct asked *asked)
{
    vec_push(&s->trials, asked);
    return (int64_t)s->trials.len;
}

int64_t hone_search_ask(hone_search *s)
{
    struct asked *asked = asked_new(s);
    int r = search_ask(s->search, &asked->suggestion, &s->err);

    if (r == 0) {
        asked->suggestion.by = xstrdup(asked->suggestion.by);
        return add_trial(s, asked);
    }
    asked->suggestion.by = NULL; /* not ours yet */
    asked_free(asked);
    if (r == -EAGAIN)
        return err_set(&s->err, EAGAIN, "no more before a trial in flight is told");
    if (r == -ENODATA && !*err_text(&s->err))
        return err_set(&s->err, ENODATA, "every setting was given out");
    return r;
}

static struct value value_of(const json_t *json)
{
    if (json_is_integer(json))
        return value_int(json_integer_value(json));
    if (json_is_real(json))
        return value_float(json_real_value(json));
    if (json_is_boolean(json))
        return value_bool(json_is_true(json));
    if (json_is_string(json))
        return value_text(json_string_value(json));
    return value_guess("null", false);
}

/* The point of {"lr":0.01,…}: every active parameter, no other. */
static int read_point(const struct space *space, const json_t *params, double *ret_x,
                      struct err *err)
{
    size_t used = 0;

    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        const json_t *json = json_object_get(params, param->name);
        ret_x[i] = NAN;
        if (!param_active(param, ret_x))
            continue;
        if (!json || json_is_object(json) || json_is_array(json))
            return err_set(err, EINVAL, "parameter '%s' needs a value", param->name);
        struct value value = value_of(json);
        int r = param_parse(param, &value, &ret_x[i], err);
        value_release(&value);
        if (r < 0)
            return r;
        used++;
    }
    const char *key;
    json_t *json;
    json_object_foreach((json_t *)params, key, json)
    {
        if (space_find(space, key) < 0)
            return err_set(err, EINVAL, "there is no parameter '%s'", key);
    }
    if (json_object_size(params) != used)
        return err_set(err, EINVAL, "a parameter is given that is not active there");
    if (!space_contains(space, ret_x))
        return err_set(err, EINVAL, "the setting is not in the space");
    return 0;
}

int64_t hone_search_add(hone_search *s, const char *params)
{
    autofree(json) json_t *json = NULL;
    int r = json_parse(params, strlen(params), &json, &s->err);

    if (r == 0 && !json_is_object(json))
        r = err_set(&s->err, EINVAL, "a setting is an object: {\"name\": value, …}");
    if (r < 0)
        return r;
    struct asked *asked = asked_new(s);
    r = read_point(&s->spec.space, json, asked->suggestion.x, &s->err);
    if (r < 0) {
        asked_free(asked);
        return r;
    }
    asked->own = true;
    asked->suggestion.by = xstrdup("user");
    asked->suggestion.seen = (int64_t)s->told.len;
    search_asked(s->search, asked->suggestion.x, WHY_DRAW, false);
    return add_trial(s, asked);
}

int64_t hone_search_count(const hone_search *s)
{
    return (int64_t)s->trials.len;
}
