/* SPDX-License-Identifier: MIT */
/*
 * mlflow_filter.c — filter strings and orders: words, clauses; and whether they hold.
 *
 * MLflow takes them apart with a library for SQL and then looks at the pieces. This is the language
 * that results, without its accidents: clauses joined by AND, nothing else.
 */
#include "api/mlflow_filter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <strings.h>

#define CLAUSES_MAX 1000
#define LIST_MAX    10000

/* ---- words ---- */

struct words {
    const char *s; /* the rest */
    const char *text;
    const struct mlflow_language *language;
};

static void skip_blanks(struct words *words)
{
    words->s += strspn(words->s, " \t\r\n");
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("_./-:@", c));
}

/* A keyword, in any case, that ends where it ends. */
static bool take_word(struct words *words, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(words);
    if (strncasecmp(words->s, word, n) != 0 || is_name_char(words->s[n]))
        return false;
    words->s += n;
    return true;
}

static bool take_char(struct words *words, char c)
{
    skip_blanks(words);
    if (*words->s != c)
        return false;
    words->s++;
    return true;
}

static int bad(const struct words *words, const char *what, struct err *err)
{
    return err_set(err, EINVAL, "Invalid clause(s) in filter string: %s at '%.60s'", what,
                   *words->s ? words->s : "its end");
}

/* Between quotes, of which a doubled one is one. */
static int take_quoted(struct words *words, struct str *to, struct err *err)
{
    char quote = *words->s++;

    for (; *words->s; words->s++) {
        if (*words->s == quote && words->s[1] != quote) {
            words->s++;
            return 0;
        }
        words->s += *words->s == quote;
        str_add_char(to, *words->s);
    }
    return err_set(err, EINVAL, "Invalid filter '%.200s': a quote is not closed", words->text);
}

/* ---- names ---- */

static const struct {
    const char *word;
    enum mlflow_entity entity;
} entities[] = {
    {"metric", MLFLOW_METRIC},
    {"metrics", MLFLOW_METRIC},
    {"parameter", MLFLOW_PARAM},
    {"parameters", MLFLOW_PARAM},
    {"param", MLFLOW_PARAM},
    {"params", MLFLOW_PARAM},
    {"tag", MLFLOW_TAG},
    {"tags", MLFLOW_TAG},
    {"attribute", MLFLOW_ATTRIBUTE},
    {"attributes", MLFLOW_ATTRIBUTE},
    {"attr", MLFLOW_ATTRIBUTE},
    {"run", MLFLOW_ATTRIBUTE},
    {"dataset", MLFLOW_DATASET},
    {"datasets", MLFLOW_DATASET},
};

static int find_entity(const struct words *words, const char *word, enum mlflow_entity *ret,
                       struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(entities); i++) {
        enum mlflow_entity entity = entities[i].entity;
        if (!str_eq(entities[i].word, word))
            continue;
        if (!words->language->runs && entity != MLFLOW_TAG && entity != MLFLOW_ATTRIBUTE)
            break;
        *ret = entity;
        return 0;
    }
    return err_set(err, EINVAL, "Invalid entity type '%.100s'. Valid values are %s", word,
                   words->language->runs ? "['metric', 'parameter', 'tag', 'attribute', 'dataset']"
                                         : "('attribute', 'tag', 'tags')");
}

static int check_dataset(const char *key, struct err *err)
{
    if (str_eq(key, "name") || str_eq(key, "digest") || str_eq(key, "context"))
        return 0;
    return err_set(err, EINVAL,
                   "Invalid dataset key '%.100s' specified. Valid keys are '{'name', 'digest', "
                   "'context'}'",
                   key);
}

static int find_attribute(const struct words *words, struct mlflow_name *name, struct err *err)
{
    autorelease(str) struct str valid = STR_INIT;

    for (const struct mlflow_attribute *a = words->language->attributes; a->name; a++) {
        if (str_eq(a->name, name->key)) {
            name->attribute = a->id;
            name->numeric = a->numeric;
            return 0;
        }
        str_addf(&valid, "%s'%s'", valid.len ? ", " : "", a->name);
    }
    return err_set(err, EINVAL, "Invalid attribute key '%.100s' specified. Valid keys are '{%s}'",
                   name->key, valid.s);
}

/* A piece of a name: quoted, or letters and the like; `dotted`: points belong to it. */
static int take_piece(struct words *words, bool dotted, struct str *to, struct err *err)
{
    if (*words->s == '`' || *words->s == '"' || *words->s == '\'')
        return take_quoted(words, to, err);
    size_t before = to->len;
    while (is_name_char(*words->s) && (dotted || *words->s != '.'))
        str_add_char(to, *words->s++);
    return to->len > before ? 0 : bad(words, "a name is expected", err);
}

static int take_name(struct words *words, struct mlflow_name *ret, struct err *err)
{
    autorelease(str) struct str first = STR_INIT, key = STR_INIT;

    *ret = (struct mlflow_name){.entity = MLFLOW_ATTRIBUTE};
    skip_blanks(words);
    int r = take_piece(words, false, &first, err);
    if (r == 0 && *words->s == '.') {
        words->s++;
        r = find_entity(words, first.s, &ret->entity, err);
        if (r == 0)
            r = take_piece(words, true, &key, err);
    } else if (r == 0) {
        str_add(&key, first.s);
    }
    if (r < 0)
        return r;
    ret->key = xstrdup(key.s);
    ret->numeric = ret->entity == MLFLOW_METRIC;
    if (ret->entity == MLFLOW_ATTRIBUTE)
        return find_attribute(words, ret, err);
    return ret->entity == MLFLOW_DATASET ? check_dataset(ret->key, err) : 0;
}

/* ---- clauses ---- */

static const struct {
    const char *sign;
    enum mlflow_op op;
} signs[] = {
    {">=", MLFLOW_GE}, {"<=", MLFLOW_LE}, {"!=", MLFLOW_NE},
    {">", MLFLOW_GT},  {"<", MLFLOW_LT},  {"=", MLFLOW_EQ},
};

static int take_is(struct words *words, enum mlflow_op *ret, struct err *err)
{
    bool negated = take_word(words, "not");

    if (!take_word(words, "null"))
        return bad(words, "NULL is expected", err);
    *ret = negated ? MLFLOW_IS_NOT_NULL : MLFLOW_IS_NULL;
    return 0;
}

static int take_op(struct words *words, enum mlflow_op *ret, struct err *err)
{
    skip_blanks(words);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t n = strlen(signs[i].sign);
        if (strncmp(words->s, signs[i].sign, n) != 0)
            continue;
        if (strchr("<>=!", words->s[n]) && words->s[n])
            return err_set(err, EINVAL, "Invalid comparator '%.3s'", words->s);
        words->s += n;
        *ret = signs[i].op;
        return 0;
    }
    if (take_word(words, "is"))
        return take_is(words, ret, err);
    if (take_word(words, "not")) {
        *ret = MLFLOW_NOT_IN;
        return take_word(words, "in") ? 0 : bad(words, "IN is expected", err);
    }
    if (take_word(words, "in"))
        *ret = MLFLOW_IN;
    else if (take_word(words, "like"))
        *ret = MLFLOW_LIKE;
    else if (take_word(words, "ilike"))
        *ret = MLFLOW_ILIKE;
    else
        return bad(words, "a comparison is expected", err);
    return 0;
}

static bool is_listed(const struct words *words, const struct mlflow_name *name)
{
    const struct mlflow_attribute *a = words->language->attributes;

    if (name->entity == MLFLOW_DATASET)
        return true;
    for (; name->entity == MLFLOW_ATTRIBUTE && a->name; a++)
        if (a->id == name->attribute && a->listed)
            return true;
    return false;
}

/* Does this comparison go with that name? */
static int check_op(const struct words *words, const struct mlflow_clause *clause, struct err *err)
{
    const struct mlflow_name *name = &clause->name;
    bool ordered = clause->op >= MLFLOW_LT && clause->op <= MLFLOW_GE;
    bool equal = clause->op == MLFLOW_EQ || clause->op == MLFLOW_NE;

    if (clause->op >= MLFLOW_IS_NULL) {
        if (name->entity == MLFLOW_TAG || name->entity == MLFLOW_PARAM)
            return 0;
        return err_set(err, EINVAL,
                       "IS NULL / IS NOT NULL is only supported for tags and params, not for "
                       "'%.100s'",
                       name->key);
    }
    if (clause->op == MLFLOW_IN || clause->op == MLFLOW_NOT_IN)
        return is_listed(words, name)
                   ? 0
                   : err_set(err, EINVAL,
                             "'%.100s' does not support comparison with a list of quoted string "
                             "values.",
                             name->key);
    if (name->numeric ? ordered || equal : !ordered)
        return 0;
    return err_set(err, EINVAL, "Invalid comparator for '%.100s', which is %s", name->key,
                   name->numeric ? "a number: one of >, >=, !=, =, <, <="
                                 : "a text: one of =, !=, LIKE, ILIKE");
}

static int take_number(struct words *words, double *ret, struct err *err)
{
    char *end;

    skip_blanks(words);
    size_t n = strspn(words->s, "+-0123456789.eE");
    *ret = strtod(words->s, &end);
    if (!n || end == words->s || end > words->s + n || is_name_char(*end))
        return err_set(err, EINVAL, "Expected numeric value type. Found '%.60s'", words->s);
    words->s = end;
    return 0;
}

static int take_text(struct words *words, struct mlflow_clause *clause, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;

    skip_blanks(words);
    if (*words->s != '\'' && *words->s != '"')
        return err_set(err, EINVAL,
                       "Expected a quoted string value for '%.100s' (e.g. 'my-value'). Got value "
                       "%.60s",
                       clause->name.key, words->s);
    int r = take_quoted(words, &text, err);
    if (r == 0)
        vec_push(&clause->texts, xstrdup(text.s));
    return r;
}

static int take_list(struct words *words, struct mlflow_clause *clause, struct err *err)
{
    int r = take_char(words, '(') ? 0 : bad(words, "a list in parentheses is expected", err);

    while (r == 0) {
        if (clause->texts.len >= LIST_MAX)
            return err_set(err, EINVAL, "a list has at most %d values", LIST_MAX);
        r = take_text(words, clause, err);
        if (r == 0 && !take_char(words, ','))
            return take_char(words, ')') ? 0 : bad(words, "')' is expected", err);
    }
    return r;
}

static int take_value(struct words *words, struct mlflow_clause *clause, struct err *err)
{
    if (clause->op >= MLFLOW_IS_NULL)
        return 0;
    if (clause->op == MLFLOW_IN || clause->op == MLFLOW_NOT_IN)
        return take_list(words, clause, err);
    return clause->name.numeric ? take_number(words, &clause->number, err)
                                : take_text(words, clause, err);
}

static int take_clause(struct words *words, struct mlflow_filter *filter, struct err *err)
{
    if (filter->len >= CLAUSES_MAX)
        return err_set(err, EINVAL, "a filter has at most %d clauses", CLAUSES_MAX);
    vec_push(filter, ((struct mlflow_clause){.op = MLFLOW_EQ}));
    struct mlflow_clause *clause = vec_last(filter);
    int r = take_name(words, &clause->name, err);
    if (r == 0)
        r = take_op(words, &clause->op, err);
    if (r == 0)
        r = check_op(words, clause, err);
    return r == 0 ? take_value(words, clause, err) : r;
}

int mlflow_filter_parse(const char *text, const struct mlflow_language *language,
                        struct mlflow_filter *ret, struct err *err)
{
    struct words words = {text ? text : "", text, language};
    int r = 0;

    skip_blanks(&words);
    while (r == 0 && *words.s) {
        r = take_clause(&words, ret, err);
        skip_blanks(&words);
        if (r == 0 && *words.s) {
            if (!take_word(&words, "and"))
                r = bad(&words, "AND is expected", err);
            skip_blanks(&words);
            if (r == 0 && !*words.s)
                r = bad(&words, "a clause is expected", err);
        }
    }
    return r;
}

void mlflow_filter_release(struct mlflow_filter *filter)
{
    vec_foreach (clause, filter) {
        vec_foreach (text, &clause->texts)
            free(*text);
        vec_release(&clause->texts);
        free(clause->name.key);
    }
    vec_release(filter);
}

/* ---- orders ---- */

int mlflow_order_parse(const char *text, const struct mlflow_language *language,
                       struct mlflow_order *ret, struct err *err)
{
    struct words words = {text, text, language};
    int r = take_name(&words, &ret->name, err);

    if (r < 0)
        return r;
    if (take_word(&words, "desc"))
        ret->descending = true;
    else
        take_word(&words, "asc");
    skip_blanks(&words);
    if (*words.s || ret->name.entity == MLFLOW_DATASET)
        return err_set(err, EINVAL, "Invalid order_by clause '%.200s'. Could not be parsed.", text);
    return 0;
}

void mlflow_order_release(struct mlflow_order *order)
{
    free(order->name.key);
    order->name.key = NULL;
}

/* ---- do they hold? ---- */

static const char *next_character(const char *s)
{
    s++;
    while (((unsigned char)*s & 0xc0) == 0x80)
        s++;
    return s;
}

static bool same_char(char a, char b, bool any_case)
{
    return a == b || (any_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

bool mlflow_like(const char *text, const char *pattern, bool any_case)
{
    const char *star = NULL, *again = NULL; /* behind the last %, and where it was tried last */

    while (*text) {
        if (*pattern == '%') {
            star = ++pattern;
            again = text;
        } else if (*pattern == '_') {
            pattern++;
            text = next_character(text);
        } else if (*pattern && same_char(*text, *pattern, any_case)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "%")];
}

static bool in_list(const struct mlflow_clause *clause, const char *text)
{
    vec_foreach (one, &clause->texts)
        if (str_eq(*one, text))
            return true;
    return false;
}

static bool number_holds(enum mlflow_op op, double x, double y)
{
    switch (op) {
    case MLFLOW_EQ:
        return x == y;
    case MLFLOW_NE:
        return x != y;
    case MLFLOW_LT:
        return x < y;
    case MLFLOW_LE:
        return x <= y;
    case MLFLOW_GT:
        return x > y;
    default:
        return x >= y;
    }
}

bool mlflow_holds(const struct mlflow_clause *clause, const struct mlflow_value *value)
{
    if (clause->op >= MLFLOW_IS_NULL)
        return value->there == (clause->op == MLFLOW_IS_NOT_NULL);
    if (!value->there)
        return false;
    if (clause->name.numeric)
        return number_holds(clause->op, value->number, clause->number);
    const char *text = value->text ? value->text : "";
    switch (clause->op) {
    case MLFLOW_LIKE:
    case MLFLOW_ILIKE:
        return mlflow_like(text, clause->texts.at[0], clause->op == MLFLOW_ILIKE);
    case MLFLOW_NE:
    case MLFLOW_NOT_IN:
        return !in_list(clause, text);
    default:
        return in_list(clause, text);
    }
}

bool mlflow_matches(const struct mlflow_filter *filter, const void *row, mlflow_get_fn *get,
                    mlflow_dataset_fn *datasets)
{
    vec_foreach (clause, filter) {
        if (clause->name.entity == MLFLOW_DATASET) {
            if (!datasets || !datasets(row, clause))
                return false;
            continue;
        }
        struct mlflow_value value = get(row, &clause->name);
        if (!mlflow_holds(clause, &value))
            return false;
    }
    return true;
}

/* 0: a value, 1: NaN, 2: none. */
static int rank(const struct mlflow_order *order, const struct mlflow_value *value)
{
    if (!value->there)
        return 2;
    return order->name.numeric && isnan(value->number);
}

int mlflow_compare(const struct mlflow_order *order, const struct mlflow_value *a,
                   const struct mlflow_value *b)
{
    int x = rank(order, a), y = rank(order, b), less;

    if (x || y)
        return (x > y) - (x < y);
    if (order->name.numeric)
        less = (a->number > b->number) - (a->number < b->number);
    else
        less = strcmp(a->text ? a->text : "", b->text ? b->text : "");
    return order->descending ? -less : less;
}
