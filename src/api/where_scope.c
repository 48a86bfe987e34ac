/* SPDX-License-Identifier: MIT */
/*
 * where_scope.c — fields from the tables of where_fields.c, parameters and metrics from the spec,
 * further metrics as they are found.
 */
#include "api/where_scope.h"

static void add_fields(struct where_scope *scope)
{
    for (const struct where_field *field = scope->fields; field->name; field++) {
        struct expr_column column = {.name = field->name,
                                     .kind = EXPR_FIELD,
                                     .type = field->type,
                                     .words = where_words(field->words)};
        vec_push(&scope->columns, column);
    }
    scope->n_fields = scope->columns.len;
}

/* All texts of a choice, up to a NULL. */
static const char *const *words_of(struct where_scope *scope, const struct param *param)
{
    const char **words = arena_alloc(&scope->arena, (param->n_choices + 1) * sizeof(*words));
    size_t n = 0;

    for (size_t i = 0; i < param->n_choices; i++)
        if (param->choices[i].kind == VALUE_TEXT)
            words[n++] = param->choices[i].text;
    return words;
}

static void add_params(struct where_scope *scope, const struct space *space)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        enum expr_type type = where_param_type(param);
        struct expr_column column = {.name = param->name,
                                     .kind = EXPR_PARAM,
                                     .type = type,
                                     .words = type == EXPR_TEXT ? words_of(scope, param) : NULL};
        vec_push(&scope->columns, column);
    }
    scope->n_params = space->n;
}

static void add_objective(struct where_scope *scope, const struct objective *objective)
{
    where_scope_metric(scope, objective->metric, objective->goal == GOAL_MAXIMIZE ? 1 : -1);
}

static void add_named(struct where_scope *scope, const struct spec *spec)
{
    add_objective(scope, &spec->objective);
    vec_foreach (other, &spec->others)
        add_objective(scope, other);
    vec_foreach (constraint, &spec->constraints)
        where_scope_metric(scope, constraint->metric, constraint->at_least ? 1 : -1);
}

void where_scope_init(struct where_scope *scope, const struct spec *spec)
{
    *scope = (struct where_scope){.noun = spec ? "trial" : "experiment",
                                  .fields = spec ? where_trial_fields : where_experiment_fields};
    add_fields(scope);
    if (!spec)
        return;
    add_params(scope, &spec->space);
    add_named(scope, spec);
}

void where_scope_release(struct where_scope *scope)
{
    vec_release(&scope->columns);
    map_text_release(&scope->places);
    arena_release(&scope->arena);
}

size_t where_scope_find(const struct where_scope *scope, const char *name)
{
    return (size_t)(uintptr_t)map_text_find(&scope->places, name);
}

void where_scope_metric(struct where_scope *scope, const char *name, int better)
{
    if (!name || where_scope_find(scope, name))
        return;
    struct expr_column column = {.name = arena_strdup(&scope->arena, name),
                                 .kind = EXPR_METRIC,
                                 .type = EXPR_NUMBER,
                                 .better = better};
    vec_push(&scope->columns, column);
    map_text_put(&scope->places, name, (void *)(uintptr_t)scope->columns.len);
}

void where_scope_param(struct where_scope *scope, const char *name, enum expr_type type)
{
    struct expr_column column = {
        .name = arena_strdup(&scope->arena, name), .kind = EXPR_PARAM, .type = type};
    vec_push(&scope->columns, column);
}

int where_scope_parse(const struct where_scope *scope, const char *option, const char *text,
                      enum expr_type want, int64_t now_us, struct expr **ret, struct err *err)
{
    struct expr_scope names = {.noun = scope->noun,
                               .columns = scope->columns.at,
                               .n = scope->columns.len,
                               .now_us = now_us};

    if (!text)
        return 0;
    int r = expr_parse(text, &names, want, ret, err);
    if (r < 0)
        err_context(err, "%s", option);
    return r;
}
