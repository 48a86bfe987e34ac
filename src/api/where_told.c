/* SPDX-License-Identifier: MIT */
/*
 * where_told.c — one pass over the trials finds the names, then each row is parsed once.
 */
#include "api/where_told.h"

#include <assert.h>

static struct told_name *find_name(struct where_told *told, const char *name)
{
    uintptr_t at = (uintptr_t)map_text_find(&told->places, name);

    if (at)
        return &told->names.at[at - 1];
    if (told->names.len >= WHERE_TOLD_MAX)
        return NULL;
    assert(told->names.at || !told->names.cap);
    vec_push(&told->names, ((struct told_name){xstrdup(name), false}));
    map_text_put(&told->places, name, (void *)(uintptr_t)told->names.len);
    return vec_last(&told->names);
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct where_told *told = arg;
    autofree(json) json_t *params = NULL;
    const char *key;
    json_t *value;

    if (!row->params_json || str_eq(row->params_json, "{}") ||
        json_parse(row->params_json, strlen(row->params_json), &params, NULL) < 0)
        return 0;
    json_object_foreach(params, key, value)
    {
        struct told_name *name = find_name(told, key);
        if (name && !json_is_number(value) && !json_is_null(value))
            name->text = true;
    }
    return 0;
}

int where_told_load(struct where_told *told, struct store *store, int64_t experiment,
                    struct where_scope *scope, struct err *err)
{
    struct trial_query query = {.experiment = experiment};
    int r = store_trials(store, &query, on_trial, told, err);

    told->first = scope->columns.len;
    vec_foreach (name, &told->names)
        where_scope_param(scope, name->name, name->text ? EXPR_TEXT : EXPR_NUMBER);
    return r < 0 ? r : 0;
}

void where_told_release(struct where_told *told)
{
    vec_foreach (name, &told->names)
        free(name->name);
    vec_release(&told->names);
    map_text_release(&told->places);
    json_decref(told->params);
    arena_release(&told->texts);
}

void where_told_row(struct where_told *told, const char *params_json)
{
    if (!told->names.len)
        return;
    json_decref(told->params);
    told->params = NULL;
    arena_release(&told->texts);
    if (params_json)
        json_parse(params_json, strlen(params_json), &told->params, NULL);
}

bool where_told_has(const struct where_told *told, size_t column)
{
    return column >= told->first && column - told->first < told->names.len;
}

static struct expr_value text_of(struct where_told *told, const json_t *value)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (json_is_string(value))
        return expr_text(json_string_value(value));
    if (json_is_number(value))
        str_add_double(&text, json_number_value(value));
    else
        json_value(&out, value);
    return expr_text(arena_strdup(&told->texts, text.s));
}

struct expr_value where_told_value(struct where_told *told, size_t column)
{
    const struct told_name *name = &told->names.at[column - told->first];
    const json_t *value = json_object_get(told->params, name->name);

    if (!value || json_is_null(value))
        return expr_null();
    return name->text ? text_of(told, value) : expr_number(json_number_value(value));
}
