/* SPDX-License-Identifier: MIT */
/*
 * read.c — the tree into the spec, driven by the option table: for each key its row, for each row
 * its type's reader. Every error names the place of the value or key it is about.
 */
#include "spec/reader.h"
#include "base/clock.h"
#include "base/suggest.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>

void reader_note(struct reader *reader, const char *fmt, ...)
{
    va_list ap;

    if (!reader->notes)
        return;
    va_start(ap, fmt);
    str_addv(reader->notes, fmt, ap);
    va_end(ap);
    str_add_char(reader->notes, '\n');
}

const char *did_you_mean(struct reader *reader, const char *found)
{
    if (!found)
        return "";
    autofree(mem) char *text = xasprintf(", did you mean '%s'?", found);
    return arena_strdup(&reader->arena, text);
}

int read_text(struct reader *reader, const struct yaml_node *node, const char *what,
              const char **ret)
{
    if (node->kind != YAML_SCALAR)
        return yaml_err(reader->err, node, "'%s' must be a text, not %s", what,
                        yaml_describe(node, &reader->arena));
    *ret = node->text;
    return 0;
}

static void *member(struct reader *reader, const struct option *option)
{
    return (char *)reader->spec + option->offset;
}

static void set_text(char **text, const char *to)
{
    free(*text);
    *text = xstrdup(to);
}

/* "'search.trials' must be a whole number from 1 to 10, not 'many'" */
static int refuse(struct reader *reader, const struct option *option, const struct yaml_node *node,
                  const char *what)
{
    return yaml_err(reader->err, node, "'%s' must be %s%s%s, not %s", option->path, what,
                    option->zero ? " or " : "", option->zero ? option->zero : "",
                    yaml_describe(node, &reader->arena));
}

static int refuse_range(struct reader *reader, const struct option *option,
                        const struct yaml_node *node, const char *kind)
{
    char lo[DOUBLE_TEXT_SIZE], hi[DOUBLE_TEXT_SIZE];
    autofree(mem) char *what = NULL;
    double x;

    double_text(lo, option->min);
    double_text(hi, option->max);
    if (option->max < 1e9)
        what = xasprintf("%s from %s to %s", kind, lo, hi);
    else if (node->kind == YAML_SCALAR && percent_parse(node->text, &x) == 0 && x > option->max)
        what = xasprintf("%s of at most %.15g", kind, option->max);
    else if (option->min > -1e300)
        what = xasprintf("%s of %s or more", kind, lo);
    return refuse(reader, option, node, what ? what : kind);
}

/* ---- one reader a type ---- */

static int read_texts(struct reader *reader, const struct option *option,
                      const struct yaml_node *node)
{
    VEC(char *) *texts = member(reader, option);

    if (node->kind == YAML_MAP)
        return refuse(reader, option, node, option->form);
    for (size_t i = 0; i < (node->kind == YAML_LIST ? node->n : 1); i++) {
        const char *text = NULL;
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        int r = read_text(reader, item, option->path, &text);
        if (r < 0)
            return r;
        vec_push(texts, xstrdup(text));
    }
    return 0;
}

static int read_pairs(struct reader *reader, const struct option *option,
                      const struct yaml_node *node)
{
    VEC(struct text_pair) *pairs = member(reader, option);

    if (node->kind != YAML_MAP)
        return refuse(reader, option, node, option->form);
    for (size_t i = 0; i < node->n; i++) {
        const char *key = node->keys[i]->text, *value = NULL;
        if (!*key || strchr(key, '='))
            return yaml_err(reader->err, node->keys[i], "'%s' cannot name a variable", key);
        int r = read_text(reader, node->items[i], option->path, &value);
        if (r < 0)
            return r;
        struct text_pair pair = {xstrdup(key), xstrdup(value)};
        vec_push(pairs, pair);
    }
    return 0;
}

static int unknown_word(struct reader *reader, const struct option *option,
                        const struct yaml_node *node)
{
    autorelease(str) struct str list = STR_INIT;
    const char *words[32];
    size_t n = 0;

    option_list_words(option, &list);
    for (const struct option_word *word = option->words; word->word && n < 32; word++)
        words[n++] = word->word;
    const char *close = node->kind == YAML_SCALAR ? suggest(node->text, words, n) : NULL;
    if (close)
        return yaml_err(reader->err, node, "'%s' cannot be '%s'%s (there are: %s)", option->path,
                        node->text, did_you_mean(reader, close), list.s);
    return yaml_err(reader->err, node, "'%s' must be one of %s, not %s", option->path, list.s,
                    yaml_describe(node, &reader->arena));
}

const struct option_word *read_word(struct reader *reader, const struct option *option,
                                    const struct yaml_node *node)
{
    autorelease(str) struct str list = STR_INIT;
    const struct option_word *word = option->words;

    while (node->kind == YAML_SCALAR && word->word && !str_eq(word->word, node->text))
        word++;
    if (node->kind != YAML_SCALAR || !word->word) {
        unknown_word(reader, option, node);
        return NULL;
    }
    if (!word->later)
        return word;
    option_list_words(option, &list);
    yaml_err(reader->err, node, "'%s: %s' is not available yet (there are: %s)", option->path,
             word->word, list.s);
    return NULL;
}

static int read_enum(struct reader *reader, const struct option *option,
                     const struct yaml_node *node)
{
    const struct option_word *word = read_word(reader, option, node);

    if (!word)
        return -EINVAL;
    if (option->size == sizeof(bool))
        *(bool *)member(reader, option) = word->number;
    else
        *(unsigned *)member(reader, option) = (unsigned)word->number;
    return 0;
}

static int read_choice(struct reader *reader, const struct option *option,
                       const struct yaml_node *node)
{
    const struct option_word *word = read_word(reader, option, node);

    if (!word)
        return -EINVAL;
    set_text(member(reader, option), word->word);
    return 0;
}

bool whole_number(const struct yaml_node *node, double *ret)
{
    if (node->kind != YAML_SCALAR)
        return false;
    struct value value = value_guess(node->text, false);
    bool whole = (value.kind == VALUE_INT || value.kind == VALUE_FLOAT) &&
                 value.number == nearbyint(value.number) && fabs(value.number) <= 0x1p53;
    *ret = value.number;
    value_release(&value);
    return whole;
}

static bool is_zero_word(const struct option *option, const struct yaml_node *node)
{
    return option->zero && node->kind == YAML_SCALAR && str_eq(node->text, option->zero);
}

static int read_int(struct reader *reader, const struct option *option,
                    const struct yaml_node *node)
{
    double x = 0;

    if (!is_zero_word(option, node) &&
        (!whole_number(node, &x) || x < option->min || x > option->max))
        return refuse_range(reader, option, node, "a whole number");
    *(int64_t *)member(reader, option) = (int64_t)x;
    return 0;
}

static int read_number(struct reader *reader, const struct option *option,
                       const struct yaml_node *node)
{
    double x;

    if (node->kind != YAML_SCALAR || percent_parse(node->text, &x) < 0 || x < option->min ||
        x > option->max)
        return refuse_range(reader, option, node, "a number");
    *(double *)member(reader, option) = x;
    return 0;
}

static int read_bool(struct reader *reader, const struct option *option,
                     const struct yaml_node *node)
{
    static const char *const words[] = {"false", "no", "off", "true", "yes", "on"};

    for (size_t i = 0; node->kind == YAML_SCALAR && i < ARRAY_LEN(words); i++)
        if (str_eq(node->text, words[i])) {
            *(bool *)member(reader, option) = i >= 3;
            return 0;
        }
    return refuse(reader, option, node, "true or false");
}

static int read_duration(struct reader *reader, const struct option *option,
                         const struct yaml_node *node)
{
    int64_t us = 0;

    if (!is_zero_word(option, node) &&
        (node->kind != YAML_SCALAR || duration_parse(node->text, &us) < 0))
        return refuse(reader, option, node, "a time like 90s, 10m or 2h30m");
    if (us == 0 && option->zero && !is_zero_word(option, node))
        return refuse(reader, option, node, "longer than 0,"); /* who wants no limit says so */
    *(int64_t *)member(reader, option) = us;
    return 0;
}

static int read_size(struct reader *reader, const struct option *option,
                     const struct yaml_node *node)
{
    uint64_t bytes = 0;

    if (!is_zero_word(option, node) &&
        (node->kind != YAML_SCALAR || size_parse(node->text, &bytes) < 0))
        return refuse(reader, option, node, "a size like 512M or 2G");
    *(uint64_t *)member(reader, option) = bytes;
    return 0;
}

static int read_codes(struct reader *reader, const struct option *option,
                      const struct yaml_node *node)
{
    VEC(int64_t) *codes = member(reader, option);
    double x;

    for (size_t i = 0; i < (node->kind == YAML_SCALAR ? 1 : node->n); i++) {
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        if (!whole_number(item, &x) || x < option->min || x > option->max)
            return refuse_range(reader, option, item, "an exit code");
        vec_push(codes, (int64_t)x);
    }
    return 0;
}

static int read_later(struct reader *reader, const struct option *option,
                      const struct yaml_node *node)
{
    return yaml_err(reader->err, node, "'%s' is not available yet", option->path);
}

/* ---- rows ---- */

static int read_group(struct reader *reader, const struct option *group,
                      const struct yaml_node *node);

static int read_option(struct reader *reader, const struct option *option,
                       const struct yaml_node *node)
{
    switch (option->type) {
    case OPTION_GROUP:
        return read_group(reader, option, node);
    case OPTION_TEXT: {
        const char *text = NULL;
        int r = read_text(reader, node, option->path, &text);
        if (r == 0)
            set_text(member(reader, option), text);
        return r;
    }
    case OPTION_TEXTS:
        return read_texts(reader, option, node);
    case OPTION_PAIRS:
        return read_pairs(reader, option, node);
    case OPTION_CHOICE:
        return read_choice(reader, option, node);
    case OPTION_ENUM:
        return read_enum(reader, option, node);
    case OPTION_INT:
        return read_int(reader, option, node);
    case OPTION_NUMBER:
        return read_number(reader, option, node);
    case OPTION_BOOL:
        return read_bool(reader, option, node);
    case OPTION_DURATION:
        return read_duration(reader, option, node);
    case OPTION_SIZE:
        return read_size(reader, option, node);
    case OPTION_CODES:
        return read_codes(reader, option, node);
    case OPTION_SPECIAL:
        return option->read(reader, node);
    case OPTION_LATER:
        return read_later(reader, option, node);
    }
    return 0;
}

int read_keys(struct reader *reader, const char *prefix, const struct yaml_node *map)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_node *key = map->keys[i];
        autofree(mem) char *path = xasprintf("%s%s", prefix, key->text);
        const struct option *option = option_find(path);
        if (option && !*prefix && !option_is_top(option))
            return yaml_err(reader->err, key, "'%s' is written as a mapping: %.*s: {%s: …}", path,
                            (int)strcspn(path, "."), path, strchr(path, '.') + 1);
        if (!option)
            return yaml_err(reader->err, key, "unknown key '%s'%s", path,
                            did_you_mean(reader, option_suggest(path)));
        if (option->type == OPTION_LATER)
            return read_later(reader, option, key);
        if (yaml_is_null(map->items[i]) || option->late)
            continue;
        int r = read_option(reader, option, map->items[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_group(struct reader *reader, const struct option *group,
                      const struct yaml_node *node)
{
    if (node->kind == YAML_MAP) {
        autofree(mem) char *prefix = xasprintf("%s.", group->path);
        return read_keys(reader, prefix, node);
    }
    if (group->read)
        return group->read(reader, node);
    return refuse(reader, group, node, group->form);
}

/* Defaults are written in the table as in a spec and read in the same way. */
static int read_defaults(struct reader *reader)
{
    struct yaml_node here = {.source = reader->name};

    for (size_t i = 0; i < n_options; i++) {
        if (!options[i].fallback)
            continue;
        const struct yaml_node *node =
            yaml_scalar(&reader->arena, &here, options[i].fallback, false);
        int r = read_option(reader, &options[i], node);
        if (r < 0)
            return r;
    }
    return 0;
}

/* In the table's order: `try` looks at `forbid`. */
static int read_late(struct reader *reader, const struct yaml_node *root)
{
    int r = 0;

    for (size_t i = 0; i < n_options && r == 0; i++) {
        const struct yaml_node *node = options[i].late ? yaml_find(root, options[i].path) : NULL;
        if (node && !yaml_is_null(node))
            r = read_option(reader, &options[i], node);
    }
    return r;
}

int read_spec(struct reader *reader, const struct yaml_node *root)
{
    if (root->kind != YAML_MAP)
        return yaml_err(reader->err, root, "a spec is a mapping (name: value), not %s",
                        yaml_describe(root, &reader->arena));
    int r = read_defaults(reader);
    if (r == 0)
        r = read_keys(reader, "", root);
    return r < 0 ? r : read_late(reader, root);
}
