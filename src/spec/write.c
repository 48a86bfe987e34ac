/* SPDX-License-Identifier: MIT */
/*
 * write.c — a spec as canonical JSON, row by row of the option table: the form that is stored, and
 * that spec_parse() reads back as an equal spec. The space is written in write_space.c.
 */
#include "base/clock.h"
#include "base/units.h"
#include "spec/reader.h"

#include <math.h>

/* ---- other forms of their own ---- */

static void write_texts(char *const *texts, size_t n, struct json_out *out)
{
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        json_text(out, texts[i]);
    json_end_array(out);
}

void write_name(const struct spec *spec, struct json_out *out)
{
    json_text(out, spec->name);
}

void write_command(const struct spec *spec, struct json_out *out)
{
    write_texts(spec->command.at, spec->command.len, out);
}

static void write_figures(int64_t us, struct json_out *out)
{
    autorelease(str) struct str text = STR_INIT;

    if (us == FIGURES_US)
        return;
    us ? duration_format(us, &text) : str_add(&text, "off");
    json_put_text(out, "system", text.s);
}

void write_metrics(const struct spec *spec, struct json_out *out)
{
    json_begin_object(out);
    json_put_bool(out, "only", spec->patterns_only);
    if (spec->tensorboard)
        json_put_text(out, "tensorboard", spec->tensorboard);
    write_figures(spec->figures_us, out);
    json_key(out, "patterns");
    json_begin_array(out);
    for (size_t i = 0; i < spec->patterns.len; i++) {
        const struct text_pair *pair = &spec->patterns.at[i];
        if (!*pair->key) {
            json_text(out, pair->value);
            continue;
        }
        json_begin_object(out);
        json_put_text(out, pair->key, pair->value);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
}

/* The moment, not "18:00": read again tomorrow, it must not move. */
void write_deadline(const struct spec *spec, struct json_out *out)
{
    json_time(out, spec->deadline_us);
}

void write_code_path(const struct spec *spec, struct json_out *out)
{
    json_text(out, spec->code ? spec->code : "none");
}

void write_keep_checkpoints(const struct spec *spec, struct json_out *out)
{
    if (spec->keep_checkpoints == KEEP_ALL) {
        json_text(out, "all");
        return;
    }
    autofree(mem) char *text =
        xasprintf("%s %lld", spec->keep_checkpoints == KEEP_BEST ? "best" : "last",
                  (long long)spec->keep_checkpoints_n);
    json_text(out, text);
}

void write_objectives(const struct spec *spec, struct json_out *out)
{
    json_begin_array(out);
    for (size_t i = 0; i <= spec->others.len; i++) {
        const struct objective *objective = i ? &spec->others.at[i - 1] : &spec->objective;
        json_begin_object(out);
        json_put_text(out, "metric", objective->metric);
        json_put_text(out, "goal", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
        json_end_object(out);
    }
    json_end_array(out);
}

void write_constraints(const struct spec *spec, struct json_out *out)
{
    json_begin_array(out);
    vec_foreach (constraint, &spec->constraints) {
        char bound[DOUBLE_TEXT_SIZE];
        autofree(mem) char *text =
            xasprintf("%s %s %s", constraint->metric,
                      constraint->at_least ? ">=" : "<=", double_text(bound, constraint->bound));
        json_text(out, text);
    }
    json_end_array(out);
}

void write_knowledge(const struct spec *spec, struct json_out *out)
{
    if (spec->knowledge == KNOWLEDGE_LIST)
        write_texts(spec->knowledge_from.at, spec->knowledge_from.len, out);
    else
        json_text(out, spec->knowledge == KNOWLEDGE_AUTO ? "auto" : "off");
}

void write_improvement(const struct spec *spec, struct json_out *out)
{
    if (spec->until_improvement > 0)
        json_double(out, spec->until_improvement);
    else
        json_text(out, "never");
}

/* ---- rows ---- */

static void write_pairs(const struct text_pair *pairs, size_t n, struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i < n; i++)
        json_put_text(out, pairs[i].key, pairs[i].value);
    json_end_object(out);
}

static void write_enum(const struct option *option, const void *member, struct json_out *out)
{
    int number = option->size == sizeof(bool) ? *(const bool *)member : *(const int *)member;
    const struct option_word *word = option->words;

    while (word->number != number)
        word++;
    json_text(out, word->word);
}

static void write_measure(const struct option *option, const void *member, struct json_out *out)
{
    autorelease(str) struct str text = STR_INIT;
    uint64_t x = *(const uint64_t *)member;

    if (x == 0 && option->zero)
        str_add(&text, option->zero);
    else if (option->type == OPTION_DURATION)
        duration_format((int64_t)x, &text);
    else
        size_format(x, &text);
    json_text(out, text.s);
}

static void write_codes(const int64_t *codes, size_t n, struct json_out *out)
{
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        json_int(out, codes[i]);
    json_end_array(out);
}

static void write_member(const struct option *option, const struct spec *spec, struct json_out *out)
{
    const void *member = (const char *)spec + option->offset;
    const VEC(char *) *texts = member;
    const VEC(struct text_pair) *pairs = member;
    const VEC(int64_t) *codes = member;
    int64_t number = option->type == OPTION_INT ? *(const int64_t *)member : 0;

    switch (option->type) {
    case OPTION_TEXT:
    case OPTION_CHOICE:
        json_text(out, *(char *const *)member);
        break;
    case OPTION_TEXTS:
        write_texts(texts->at, texts->len, out);
        break;
    case OPTION_PAIRS:
        write_pairs(pairs->at, pairs->len, out);
        break;
    case OPTION_ENUM:
        write_enum(option, member, out);
        break;
    case OPTION_INT:
        if (number == 0 && option->zero)
            json_text(out, option->zero);
        else
            json_int(out, number);
        break;
    case OPTION_NUMBER:
        json_double(out, *(const double *)member);
        break;
    case OPTION_BOOL:
        json_bool(out, *(const bool *)member);
        break;
    case OPTION_DURATION:
    case OPTION_SIZE:
        write_measure(option, member, out);
        break;
    case OPTION_CODES:
        write_codes(codes->at, codes->len, out);
        break;
    case OPTION_SPECIAL:
        option->write(spec, out);
        break;
    case OPTION_GROUP:
    case OPTION_LATER:
        break;
    }
}

/* What was not given and has no default is left out. */
static bool is_absent(const struct option *option, const struct spec *spec)
{
    const void *member = (const char *)spec + option->offset;

    if (option->type == OPTION_LATER)
        return true;
    if (str_starts(option->path, "objective.") && (!spec->objective.metric || spec->others.len > 0))
        return true; /* several stand in a list */
    if (str_eq(option->path, "alerts"))
        return spec->alerts.len == 0;
    if (str_eq(option->path, "system"))
        return spec->system.n == 0 && spec->joint_n == 0;
    if (option->type == OPTION_TEXT)
        return !*(char *const *)member;
    if (option->type == OPTION_NUMBER)
        return isnan(*(const double *)member);
    if (str_eq(option->path, "limits.deadline"))
        return spec->deadline_us == 0;
    return str_eq(option->path, "objective") && !spec->objective.metric;
}

void spec_json(const struct spec *spec, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    bool in_group = false;

    json_begin_object(&out);
    for (size_t i = 0; i < n_options; i++) {
        const struct option *option = &options[i];
        const char *dot = strchr(option->path, '.');
        if (is_absent(option, spec))
            continue;
        if (in_group && !dot)
            json_end_object(&out);
        bool list = option->type == OPTION_GROUP && option->write && spec->others.len > 0;
        in_group = dot || (option->type == OPTION_GROUP && !list);
        json_key(&out, dot ? dot + 1 : option->path);
        if (list)
            option->write(spec, &out);
        else if (option->type == OPTION_GROUP)
            json_begin_object(&out);
        else
            write_member(option, spec, &out);
    }
    if (in_group)
        json_end_object(&out);
    json_end_object(&out);
}
