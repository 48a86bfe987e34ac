/* SPDX-License-Identifier: MIT */
/*
 * where_sought.c — finding experiments by words: what one types into a box for search.
 */
#include "api/where_sought.h"

#include <stdlib.h>

/* In an expression these join, so a text with one of them was meant to be one. */
static const char *const joints[] = {"and", "or", "not", "in", "is"};

static bool is_joint(const char *word, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(joints); i++)
        if (strlen(joints[i]) == n && strncasecmp(joints[i], word, n) == 0)
            return true;
    return false;
}

bool where_only_words(const char *text)
{
    if (!text || !text[strspn(text, " \t")] || strpbrk(text, "<>=!~()'\"`&|*+,"))
        return false;
    for (const char *s = text; *s;) {
        s += strspn(s, " \t");
        size_t n = strcspn(s, " \t");
        if (is_joint(s, n))
            return false;
        s += n;
    }
    return true;
}

static bool has(const char *text, const char *word)
{
    return text && strcasestr(text, word);
}

/* The spec is read only where nothing else has the word, and only if it may. */
static bool described(const char *spec, const char *word)
{
    autofree(json) json_t *json = NULL;

    return has(spec, "\"description\"") && json_parse(spec, strlen(spec), &json, NULL) == 0 &&
           has(json_get_text(json, "description", NULL), word);
}

static bool says(const struct experiment_row *row, const char *word)
{
    const struct experiment *experiment = &row->experiment;
    char number[32];

    snprintf(number, sizeof(number), "%lld", (long long)experiment->id);
    if (has(experiment->name, word) || has(row->note, word) || has(experiment->owner, word) ||
        str_eq(number, word))
        return true;
    vec_foreach (tag, &row->tags)
        if (has(*tag, word))
            return true;
    return described(experiment->spec_json, word);
}

int where_seeks(const struct where_row *row, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!says(row->experiment, words[i]))
            return 0;
    return 1;
}
