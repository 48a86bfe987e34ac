/* SPDX-License-Identifier: MIT */
/*
 * names.c — what a name means: a field of the row, a parameter, or a metric; inside of a function
 * over a curve also a part of the point that its condition is about. A name that could mean two
 * things is refused until it says which: param.lr, metric.lr, trial.lr.
 */
#include "base/suggest.h"
#include "expr/internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

static const char *prefix_of(const struct parser *p, enum expr_kind kind)
{
    return kind == EXPR_FIELD ? p->scope->noun : kind == EXPR_PARAM ? "param" : "metric";
}

/* Does the name stand for this column, as it is or behind a prefix? */
static bool means(const struct parser *p, const char *name, const struct expr_column *column)
{
    const char *prefix = prefix_of(p, column->kind);
    size_t n = strlen(prefix);

    return str_eq(name, column->name) ||
           (strncmp(name, prefix, n) == 0 && name[n] == '.' && str_eq(name + n + 1, column->name));
}

const char *expr_column_name(const struct parser *p, size_t column)
{
    if (column < p->scope->n)
        return p->scope->columns[column].name;
    vec_foreach (need, &p->expr->needs)
        if (need->column == column)
            return need->name;
    return "";
}

void expr_need_column(struct parser *p, size_t column, unsigned stats, bool points)
{
    struct expr *expr = p->expr;
    struct expr_need *found = NULL;

    vec_foreach (need, &expr->needs)
        if (need->column == column)
            found = need;
    if (!found) {
        struct expr_need need = {
            .column = column,
            .name = arena_strdup(&expr->arena, expr_column_name(p, column)),
            .kind = column < p->scope->n ? p->scope->columns[column].kind : EXPR_METRIC,
        };
        vec_push(&expr->needs, need);
        found = vec_last(&expr->needs);
    }
    found->stats |= stats;
    found->points |= points;
    expr->points |= points;
}

/* A metric that is not listed gets the next number. */
static ptrdiff_t open_metric(struct parser *p, const char *name)
{
    size_t column = p->scope->n;

    if (str_starts(name, "metric."))
        name += strlen("metric.");
    vec_foreach (need, &p->expr->needs) {
        if (need->column >= p->scope->n && str_eq(need->name, name))
            return (ptrdiff_t)need->column;
        column = MAX(column, need->column + 1);
    }
    struct expr_need need = {
        .column = column, .name = arena_strdup(&p->expr->arena, name), .kind = EXPR_METRIC};
    vec_push(&p->expr->needs, need);
    return (ptrdiff_t)column;
}

/* A field that rows have elsewhere: who writes it does not mean a metric. */
static bool is_absent(struct parser *p, const struct token *name)
{
    const char *text = name->text;
    size_t n = strlen(p->scope->noun);

    if (strncmp(text, p->scope->noun, n) == 0 && text[n] == '.')
        text += n + 1;
    for (const char *const *one = p->scope->absent; one && *one && !name->quoted; one++)
        if (str_eq(text, *one)) {
            expr_refuse(p,
                        "'%s' of a %s cannot be asked here (character %zu); a metric of that name "
                        "is metric.%s",
                        text, p->scope->noun, name->at + 1, text);
            return true;
        }
    return false;
}

/* ---- names that mean nothing ---- */

/* train/loss without backquotes reads as train divided by loss. */
static const char *odd_name_at(const struct parser *p, size_t at)
{
    for (size_t i = 0; i < p->scope->n; i++) {
        const char *name = p->scope->columns[i].name;
        if (str_starts(p->text + at, name) && name[strcspn(name, "/-:{}[]@ ")])
            return name;
    }
    return NULL;
}

static bool is_word(const struct parser *p, const char *name)
{
    for (size_t i = 0; i < p->scope->n; i++)
        for (const char *const *word = p->scope->columns[i].words; word && *word; word++)
            if (str_eq(*word, name))
                return true;
    return false;
}

static void refuse_name(struct parser *p, const struct token *name, bool metric)
{
    autofree(mem) const char **names = xcalloc(p->scope->n + 1, sizeof(char *));
    autorelease(str) struct str text = STR_INIT;
    const char *odd = odd_name_at(p, name->at);
    size_t n = 0;

    for (size_t i = 0; i < p->scope->n; i++)
        if (!metric || p->scope->columns[i].kind == EXPR_METRIC)
            names[n++] = p->scope->columns[i].name;
    const char *meant = suggest(name->text, names, n);
    str_add_printable(&text, name->text, strlen(name->text));
    if (odd && !name->quoted)
        expr_refuse(p, "the name %s is written in backquotes: `%s`", odd, odd);
    else if (strcmp(name->text, "nan") == 0)
        expr_refuse(p, "nothing compares with nan: write 'is nan' or 'is finite'");
    else if (!metric && is_word(p, name->text))
        expr_refuse(p, "a text is written in quotes: '%s'", text.s);
    else if (meant)
        expr_refuse(p, "no %s is called '%s': did you mean '%s'?", metric ? "metric" : "column",
                    text.s, meant);
    else if (metric)
        expr_refuse(p, "no metric is called '%s'%s", text.s, n ? "" : ": there is none yet");
    else
        expr_refuse(p, "no column is called '%s' (a text is written in quotes)", text.s);
}

/* ---- names that mean something ---- */

/* The only column of that name, among metrics or among all; -1 after an error; -2: there is none.
 */
static ptrdiff_t find(struct parser *p, const char *name, bool metric)
{
    ptrdiff_t found = -2;

    for (size_t i = 0; i < p->scope->n; i++) {
        const struct expr_column *column = &p->scope->columns[i], *other;
        if ((metric && column->kind != EXPR_METRIC) || !means(p, name, column))
            continue;
        if (found >= 0) {
            other = &p->scope->columns[found];
            expr_refuse(p, "'%s' can mean two things: write %s.%s or %s.%s", name,
                        prefix_of(p, other->kind), other->name, prefix_of(p, column->kind),
                        column->name);
            return -1;
        }
        found = (ptrdiff_t)i;
    }
    return found;
}

bool name_is_metric(struct parser *p, const struct token *name)
{
    return find(p, name->text, true) >= 0;
}

ptrdiff_t name_metric(struct parser *p, const struct token *name)
{
    ptrdiff_t found = find(p, name->text, true);

    if (found != -2)
        return found;
    if (p->scope->open)
        return is_absent(p, name) ? -1 : open_metric(p, name->text);
    refuse_name(p, name, true);
    return -1;
}

static bool is_metric(const struct parser *p, size_t column)
{
    return column >= p->scope->n || p->scope->columns[column].kind == EXPR_METRIC;
}

static struct node *point_node(struct parser *p, const struct token *name, enum point_part part)
{
    struct node *node = expr_node_new(p, NODE_POINT, EXPR_NUMBER, name->at, NULL, 0);

    if (node) {
        node->part = part;
        node->of_point = true;
        node->end = name->end;
    }
    return node;
}

/* A name in the condition of a function: what the point has, and the metric itself. */
static bool point_part(const struct token *name, enum point_part *ret)
{
    static const struct {
        const char *name;
        enum point_part part;
    } parts[] = {
        {"step", POINT_STEP}, {"epoch", POINT_STEP}, {"time", POINT_TIME}, {"value", POINT_VALUE}};

    for (size_t i = 0; i < ARRAY_LEN(parts) && !name->quoted; i++)
        if (str_eq(parts[i].name, name->text)) {
            *ret = parts[i].part;
            return true;
        }
    return false;
}

/* A metric inside of a function is the one that the function is about. */
static struct node *metric_of_call(struct parser *p, const struct token *name, size_t column)
{
    struct call *call = p->call;

    if (call->column == SIZE_MAX)
        call->column = column;
    if (call->column != column)
        return expr_refuse(
            p,
            "the condition of %s() is about the points of %s: for the last value of %s "
            "write last(%s)",
            call->function->name, expr_column_name(p, call->column), name->text, name->text);
    return point_node(p, name, POINT_VALUE);
}

static struct node *column_node(struct parser *p, const struct token *name, size_t column)
{
    struct node *node =
        expr_node_new(p, NODE_COLUMN, p->scope->columns[column].type, name->at, NULL, 0);

    expr_need_column(p, column, 0, false);
    if (node) {
        node->column = column;
        node->end = name->end;
    }
    return node;
}

static struct node *special(struct parser *p, const struct token *name)
{
    struct node *node = NULL;

    if (str_eq(name->text, "now")) {
        node = expr_node_const(p, expr_number((double)p->scope->now_us / 1e6), name->at);
        if (node)
            node->type = EXPR_TIME;
    } else if (str_eq(name->text, "inf")) {
        node = expr_node_const(p, expr_number(INFINITY), name->at);
    } else {
        refuse_name(p, name, false);
    }
    if (node)
        node->end = name->end;
    return node;
}

struct node *name_node(struct parser *p, const struct token *name)
{
    enum point_part part;

    if (p->call && point_part(name, &part))
        return point_node(p, name, part);
    ptrdiff_t found = find(p, name->text, false);
    if (found == -1)
        return NULL;
    bool constant =
        str_eq(name->text, "now") || str_eq(name->text, "inf") || str_eq(name->text, "nan");
    if (found == -2 && p->scope->open && !constant) {
        if (is_absent(p, name))
            return NULL;
        found = open_metric(p, name->text);
    }
    if (found == -2)
        return special(p, name);
    if (!is_metric(p, (size_t)found))
        return column_node(p, name, (size_t)found);
    if (p->call)
        return metric_of_call(p, name, (size_t)found);
    return call_last(p, (size_t)found, name);
}
