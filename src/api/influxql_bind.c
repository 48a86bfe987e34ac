/* SPDX-License-Identifier: MIT */
/*
 * influxql_bind.c — $name in a query: what `params` tells of it stands there as if it had been
 * written. A text is a 'text' and never a name, unless it is told to be one: {"identifier":"x"}.
 */
#include "api/influxql_parser.h"
#include "base/json.h"

static const struct {
    const char *key;
    enum token_kind kind;
} forms[] = {
    /* {"regex":"^a"} */
    {"string", TOKEN_STRING},
    {"identifier", TOKEN_NAME},
    {"regex", TOKEN_REGEX},
};

static void bind_number(struct token *token, const json_t *value, struct arena *arena)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_value(&out, value);
    token->text = arena_strdup(arena, text.s);
    token->kind = json_is_integer(value) ? TOKEN_INTEGER : TOKEN_NUMBER;
    token->number = json_number_value(value);
    token->integer = json_is_integer(value) ? json_integer_value(value) : 0;
}

static void bind_object(struct token *token, const json_t *value, struct arena *arena)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const char *text = json_string_value(json_object_get(value, forms[i].key));
        if (!text)
            continue;
        token->kind = forms[i].kind;
        token->text = arena_strdup(arena, text);
    }
}

void bind_token(struct lexer *lexer, struct token *token)
{
    const json_t *value = json_object_get(lexer->params, token->text);

    token->kind = TOKEN_UNBOUND;
    if (json_is_string(value)) {
        token->kind = TOKEN_STRING;
        token->text = arena_strdup(lexer->arena, json_string_value(value));
    } else if (json_is_boolean(value)) {
        token->kind = TOKEN_WORD;
        token->text = json_is_true(value) ? "true" : "false";
    } else if (json_is_number(value)) {
        bind_number(token, value, lexer->arena);
    } else if (json_is_object(value)) {
        bind_object(token, value, lexer->arena);
    }
}
