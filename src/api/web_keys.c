/* SPDX-License-Identifier: MIT */
/*
 * web_keys.c — bodies against their tables of keys.
 */
#include "api/web_keys.h"

#include <errno.h>

/* How many characters; it is valid UTF-8, as all texts of JSON. */
static int64_t characters(const char *text)
{
    int64_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int check_text(const struct web_key *key, const json_t *value, struct err *err)
{
    if (!json_is_string(value))
        return err_set(err, EINVAL, "%s: a text is wanted", key->name);
    int64_t n = characters(json_string_value(value));
    if (key->max && (n < key->min || n > key->max))
        return err_set(err, EINVAL, "%s: %lld to %lld characters are wanted", key->name,
                       (long long)key->min, (long long)key->max);
    return 0;
}

static int check_word(const struct web_key *key, const json_t *value, struct err *err)
{
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    size_t n = strlen(word);

    for (const char *at = key->words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (n == length && strncmp(at, word, n) == 0)
            return 0;
        at += length;
    }
    return err_set(err, EINVAL, "%s: one of %s is wanted", key->name, key->words);
}

static int check_int(const struct web_key *key, const json_t *value, struct err *err)
{
    json_int_t x = json_integer_value(value);

    if (!json_is_integer(value) || x < key->min || x > key->max)
        return err_set(err, EINVAL, "%s: a whole number from %lld to %lld is wanted", key->name,
                       (long long)key->min, (long long)key->max);
    return 0;
}

static int check_texts(const struct web_key *key, const json_t *value, struct err *err)
{
    size_t n = json_array_size(value);

    if (!json_is_array(value) || n > (size_t)key->max)
        return err_set(err, EINVAL, "%s: a list of at most %lld texts is wanted", key->name,
                       (long long)key->max);
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_array_get(value, i)))
            return err_set(err, EINVAL, "%s: a list of texts is wanted", key->name);
    return 0;
}

static int check_object(const struct web_key *key, const json_t *value, struct err *err)
{
    if (!json_is_object(value))
        return err_set(err, EINVAL, "%s: an object is wanted", key->name);
    int r = key->keys ? web_keys_check(value, key->keys, err) : 0;
    if (r < 0)
        err_context(err, "%s", key->name);
    return r;
}

static int check_value(const struct web_key *key, const json_t *value, struct err *err)
{
    if (json_is_null(value))
        return key->flags & KEY_NULL ? 0 : err_set(err, EINVAL, "%s: null is not taken", key->name);
    switch (key->type) {
    case KEY_TEXT:
        return check_text(key, value, err);
    case KEY_WORD:
        return check_word(key, value, err);
    case KEY_INT:
        return check_int(key, value, err);
    case KEY_BOOL:
        return json_is_boolean(value)
                   ? 0
                   : err_set(err, EINVAL, "%s: true or false is wanted", key->name);
    case KEY_OBJECT:
        return check_object(key, value, err);
    case KEY_TEXTS:
        return check_texts(key, value, err);
    case KEY_ANY:
        break;
    }
    return 0;
}

static const struct web_key *find_key(const struct web_key *keys, const char *name)
{
    while (keys->name && !str_eq(keys->name, name))
        keys++;
    return keys->name ? keys : NULL;
}

int web_keys_check(const json_t *body, const struct web_key *keys, struct err *err)
{
    const char *name;
    json_t *value;
    int r;

    if (!json_is_object(body))
        return err_set(err, EINVAL, "an object is wanted");
    json_object_foreach((json_t *)body, name, value)
    {
        const struct web_key *key = find_key(keys, name);
        r = key ? check_value(key, value, err)
                : err_set(err, EINVAL, "there is no key '%.100s' here", name);
        if (r < 0)
            return r;
    }
    for (; keys->name; keys++)
        if (keys->flags & KEY_NEEDED && !json_object_get(body, keys->name))
            return err_set(err, EINVAL, "'%s' is missing", keys->name);
    return 0;
}
