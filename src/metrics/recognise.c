/* SPDX-License-Identifier: MIT */
/*
 * recognise.c — finds the numbers that training programs print for people.
 *
 *     Epoch 3/10, step 120: loss 0.41, acc=0.87 | lr: 1e-3
 *     └─ axis ─┘  └─ axis ┘ └─ readings: a name of one to three words, then a number ─┘
 *
 * A reading with ':' or '=' is strong, with a space only it is weak. A line is believed
 *  - wholly, when it has an axis (a word such as epoch or step with a number) or a progress bar;
 *  - in its strong readings, when it is made of nothing else but a label in front, brackets, and
 *    marks between. Prose ("served 3 files from port: 80") has words left over and gives nothing.
 */
#include "metrics/token.h"

#include <math.h>

#define NAME_WORDS 3

struct word {
    const char *s;
    size_t n;
};

struct recogniser {
    struct line *line;
    struct scan scan;
    struct token token;
    struct word words[NAME_WORDS]; /* of the name in the making */
    size_t n_words;                /* may be more: then it is no name */
    char separator;                /* ':' or '=' behind the words; 0: none */
    bool after_value;              /* a unit may follow */
    int depth;                     /* of brackets */
    bool any;                      /* a strong reading was seen */
    bool axis;                     /* believed because of an axis */
    bool bar;                      /* … or of a progress bar */
    bool prose;                    /* something is left over */
    double index;                  /* "[12]" or "12:" at the beginning; NaN: none */
};

/* Words that join a sentence, and so end a name. */
static const char *const joints[] = {
    "in",   "of",    "at",  "to",       "for",     "from",     "with",     "after",   "by",
    "the",  "is",    "was", "on",       "than",    "took",     "and",      "over",    "a",
    "an",   "are",   "has", "or",       "until",   "no",       "not",      "if",      "any",
    "when", "found", "got", "detected", "without", "ignoring", "skipping", "contains"};
/* "best epoch: 5", "steps per epoch: 938" do not say where we are. */
static const char *const not_axis[] = {"best",    "per", "every", "each",   "total", "max",
                                       "maximum", "num", "last",  "warmup", "first", "mini"};
/* Places in source files: "train.py:30". */
static const char *const sources[] = {"py", "c",  "cc", "cpp", "cu",    "h",    "hpp", "js",
                                      "ts", "rs", "go", "jl",  "ipynb", "java", "lua", "r"};
static const char *const clocks[] = {"ts", "time", "timestamp", "_timestamp", "unixtime"};

static bool is_source(const char *name, size_t n)
{
    const char *dot = memrchr(name, '.', n);
    if (!dot)
        return false;
    size_t rest = n - (size_t)(dot + 1 - name);
    return text_in(dot + 1, rest, sources, ARRAY_LEN(sources));
}

/* Never worth a series: time left, a place in a source file, seconds since 1970. */
static bool is_noise(const char *name, size_t n, double value)
{
    bool clock = value >= 1e9 && text_in(name, n, clocks, ARRAY_LEN(clocks));
    return clock || text_is(name, n, "eta") || is_source(name, n);
}

static void forget_words(struct recogniser *r)
{
    r->n_words = 0;
    r->separator = 0;
}

/* The words led to no number. A short label in front of the readings is usual; more is prose. */
static void leave_words(struct recogniser *r)
{
    if (r->n_words && r->depth == 0 && (r->any || r->n_words > NAME_WORDS))
        r->prose = true;
    forget_words(r);
}

static bool is_joint(const struct word *word)
{
    return text_in(word->s, word->n, joints, ARRAY_LEN(joints));
}

static const struct word *last_word(const struct recogniser *r)
{
    return r->n_words && r->n_words <= NAME_WORDS ? &r->words[r->n_words - 1] : NULL;
}

/* The axis that the words before a number name. */
static enum axis words_axis(const struct recogniser *r)
{
    const struct word *last = last_word(r);
    if (!last)
        return AXIS_NONE;
    const struct word *before = r->n_words > 1 ? last - 1 : NULL;
    if (before && text_in(before->s, before->n, not_axis, ARRAY_LEN(not_axis)))
        return AXIS_NONE;
    return axis_find(last->s, last->n);
}

/* A name from the words on: joined as written; a joint inside a weak one begins it anew. */
static void add_reading(struct recogniser *r, double value)
{
    char name[OUTPUT_NAME_MAX + 1];
    size_t first = 0, n = 0;
    bool weak = !r->separator;
    for (size_t i = 0; weak && i < r->n_words; i++)
        if (is_joint(&r->words[i]))
            first = i + 1;
    for (size_t i = first; i < r->n_words; i++) {
        size_t need = r->words[i].n + (i > first);
        if (n + need > OUTPUT_NAME_MAX)
            return;
        if (i > first)
            name[n++] = '_';
        memcpy(name + n, r->words[i].s, r->words[i].n);
        n += r->words[i].n;
    }
    if (is_noise(name, n, value) || line_is_setting(r->line, name, n, value))
        return;
    line_add_output(r->line, name, n, value, weak);
}

/* "batch=32" may be what the program was given; "batch 32/938" counts. */
static bool is_setting(const struct recogniser *r, double value, bool ratio)
{
    const struct word *last = last_word(r);
    return !ratio && line_is_setting(r->line, last->s, last->n, value);
}

/* A number stands where the words (if any) wanted one. */
static void on_value(struct recogniser *r, double value, bool whole, bool ratio, double of)
{
    enum axis axis = words_axis(r);
    bool is_axis = axis != AXIS_NONE && (whole || ratio);
    if (is_axis && is_setting(r, value, ratio)) {
        r->any = r->any || r->separator;
        r->axis = r->axis || !r->separator; /* "batch 32 loss 0.4" is believed, without a place */
    } else if (is_axis) {
        r->axis = line_set_axis(r->line, axis, value) || r->axis;
        r->line->inner_step = r->line->inner_step || (axis == AXIS_STEP && ratio);
    } else if (!last_word(r)) {
        r->prose = r->prose || (r->depth == 0 && (r->any || r->n_words));
    } else {
        r->axis = r->axis || axis != AXIS_NONE; /* "epoch 0.32": a place, but no whole step */
        r->any = r->any || r->separator;
        r->prose = r->prose || (!r->separator && r->depth == 0);
        add_reading(r, ratio && of > 0 ? value / of : value);
    }
    forget_words(r);
    r->after_value = true;
}

/* nan, inf or tensor(…) where a value is expected. */
static bool try_special(struct recogniser *r)
{
    double value;
    size_t n = r->n_words ? value_parse(r->token.s, r->scan.end, &value) : 0;
    if (!n)
        return false;
    r->scan.p = r->token.s + n;
    on_value(r, value, false, false, NAN);
    return true;
}

static void add_word(struct recogniser *r, const char *s, size_t n)
{
    if (r->n_words < NAME_WORDS)
        r->words[r->n_words] = (struct word){s, n};
    r->n_words++;
}

/* "Epoch3", "step120": axis and number in one word. */
static bool try_axis_word(struct recogniser *r)
{
    size_t n = r->token.n;
    while (n && r->token.s[n - 1] >= '0' && r->token.s[n - 1] <= '9')
        n--;
    struct number number;
    if (n == r->token.n || axis_find(r->token.s, n) == AXIS_NONE)
        return false;
    if (!number_parse(r->token.s + n, r->token.s + r->token.n, &number))
        return false;
    leave_words(r);
    add_word(r, r->token.s, n);
    on_value(r, number.value, true, false, NAN);
    return true;
}

/* "3.2 s, loss 0.4" has a unit, "0.41 tok/s 4567" a name. */
static bool is_unit(const struct recogniser *r)
{
    struct scan ahead = r->scan;
    struct token next;
    if (!unit_known(r->token.s, r->token.n))
        return false;
    token_next(&ahead, &next);
    bool separator = next.kind == TOKEN_MARK && (*next.s == ':' || *next.s == '=');
    return !separator && next.kind != TOKEN_NUMBER && next.kind != TOKEN_RATIO;
}

static void on_word(struct recogniser *r)
{
    bool unit = r->after_value && is_unit(r);
    r->after_value = false;
    if (unit || try_special(r) || try_axis_word(r))
        return;
    if (r->separator == '=') { /* optimizer=adam */
        forget_words(r);
        return;
    }
    if (r->separator && r->n_words <= NAME_WORDS) /* "Test set: Average loss: 0.3" */
        forget_words(r);
    else if (r->separator)
        leave_words(r);
    add_word(r, r->token.s, r->token.n);
}

static void open_bracket(struct recogniser *r, char c)
{
    bool call = c == '(' && r->n_words && r->token.s > r->scan.start &&
                word_char(r->token.s - 1, r->token.s);
    if (words_axis(r) == AXIS_NONE) { /* "Epoch [1/5]" goes on */
        r->prose = r->prose || call;  /* Namespace(lr=0.1, …) is a setting, not a result */
        leave_words(r);
    }
    r->depth++;
}

static void on_mark(struct recogniser *r)
{
    char c = *r->token.s;
    r->after_value = false;
    if ((c == ':' || c == '=') && r->n_words && !r->separator) {
        r->separator = c;
        return;
    }
    if (c == '[' || c == '(') {
        open_bracket(r, c);
        return;
    }
    leave_words(r);
    if ((c == ']' || c == ')') && r->depth)
        r->depth--;
}

/* A date or a path after "name:" is a value of another kind; elsewhere it may only lead. */
static void on_junk(struct recogniser *r)
{
    r->after_value = false;
    if (r->separator)
        forget_words(r);
    else if (r->any && r->depth == 0)
        r->prose = true;
    leave_words(r);
}

/* "45%|████", "938/938 [====": how far the bar is; "Epoch 9/9 ━━━" is an axis all the same. */
static void on_bar(struct recogniser *r)
{
    r->bar = true;
    if (words_axis(r) != AXIS_NONE && !isnan(r->token.of))
        on_value(r, r->token.value, true, true, r->token.of);
    forget_words(r);
}

static void on_token(struct recogniser *r)
{
    const struct token *token = &r->token;
    switch (token->kind) {
    case TOKEN_WORD:
        on_word(r);
        break;
    case TOKEN_NUMBER:
    case TOKEN_RATIO:
        on_value(r, token->value, token->whole, token->kind == TOKEN_RATIO, token->of);
        break;
    case TOKEN_BAR:
        on_bar(r);
        break;
    case TOKEN_MARK:
        on_mark(r);
        break;
    default:
        on_junk(r);
    }
}

/* The boosters' "[12]\ttrain-rmse:0.4" and "12:\tlearn: 0.4" count their iterations in front. */
static double leading_index(const char *s, const char *end)
{
    struct number number;
    bool bracket = s < end && *s == '[';
    const char *p = s + bracket;
    size_t n = p < end && *p >= '0' && *p <= '9' ? number_parse(p, end, &number) : 0;
    p += n;
    if (!n || !number.whole || p + 1 >= end || *p != (bracket ? ']' : ':'))
        return NAN;
    return p[1] == ' ' || p[1] == '\t' ? number.value : NAN;
}

void recognise(struct line *line, const char *s, size_t n)
{
    struct recogniser r = {.line = line, .scan = {s, s, s + n}};
    size_t before = line->readings.len;
    r.index = leading_index(s, s + n);
    for (token_next(&r.scan, &r.token); r.token.kind != TOKEN_END; token_next(&r.scan, &r.token))
        on_token(&r);
    leave_words(&r);
    if (r.axis || r.bar)
        return;
    if (r.prose || !r.any) {
        line_cut(line, before);
        return;
    }
    line_drop_weak(line, before);
    if (!isnan(r.index))
        line_set_axis(line, AXIS_ITERATION, r.index);
}
