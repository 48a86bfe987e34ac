/* SPDX-License-Identifier: MIT */
/*
 * write.c — a spec as canonical JSON, row by row of the option table: the form that is stored, and
 * that spec_parse() reads back as an equal spec.
 *
 * Values of parameters keep the text they were written with. A number is written as that text if it
 * is valid JSON (1e-3); what JSON cannot say (.5, 0x1f, True) becomes {"raw": ".5"}.
 */
#include "base/clock.h"
#include "base/units.h"
#include "spec/reader.h"

#include <ctype.h>
#include <math.h>

/* ---- values of parameters ---- */

/* Would a JSON reader take it, and a 64-bit one hold it? */
static bool is_json_number(const char *text)
{
    const char *p = text + (*text == '-');
    size_t n = strspn(p, "0123456789");
    bool whole = true;

    if (n == 0 || (n > 1 && *p == '0'))
        return false;
    p += n;
    if (*p == '.') {
        size_t fraction = strspn(p + 1, "0123456789");
        if (fraction == 0)
            return false;
        p += 1 + fraction;
        whole = false;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        size_t exponent = strspn(p, "0123456789");
        if (exponent == 0)
            return false;
        p += exponent;
        whole = false;
    }
    return !*p && (whole ? n <= 18 : isfinite(strtod(text, NULL)));
}

static bool is_json_plain(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        return str_eq(value->text, "null");
    case VALUE_BOOL:
        return str_eq(value->text, "true") || str_eq(value->text, "false");
    case VALUE_INT:
    case VALUE_FLOAT:
        return is_json_number(value->text);
    case VALUE_TEXT:
        break;
    }
    return false;
}

static void write_value(const struct value *value, struct json_out *out)
{
    if (value->kind == VALUE_TEXT) {
        json_text(out, value->text);
    } else if (is_json_plain(value)) {
        json_raw(out, value->text);
    } else {
        json_begin_object(out);
        json_put_text(out, "raw", value->text);
        json_end_object(out);
    }
}

static void write_number(const struct param *param, double x, struct json_out *out)
{
    if (param->type == PARAM_INT)
        json_int(out, (int64_t)x);
    else
        json_double(out, x);
}

static void write_bounds(const struct param *param, struct json_out *out)
{
    json_put_text(out, "type", param->type == PARAM_INT ? "int" : "float");
    json_put_text(out, "scale", param->scale == SCALE_LOG ? "log" : "linear");
    json_key(out, "min");
    write_number(param, param->min, out);
    json_key(out, "max");
    write_number(param, param->max, out);
    if (param->step > 0) {
        json_key(out, "step");
        write_number(param, param->step, out);
    }
}

static void write_choices(const struct param *param, struct json_out *out)
{
    json_key(out, "values");
    json_begin_array(out);
    for (size_t i = 0; i < param->n_choices; i++)
        write_value(&param->choices[i], out);
    json_end_array(out);
}

static void write_when(const struct space *space, const struct param *param, struct json_out *out)
{
    json_key(out, "when");
    json_begin_object(out);
    for (size_t i = 0; i < param->n_when; i++) {
        const struct condition *when = &param->when[i];
        const struct param *other = &space->params[when->param];
        json_key(out, other->name);
        json_begin_array(out);
        for (size_t k = 0; k < when->n_values; k++)
            if (other->type == PARAM_CHOICE)
                write_value(&other->choices[(size_t)when->values[k]], out);
            else
                write_number(other, when->values[k], out);
        json_end_array(out);
    }
    json_end_object(out);
}

static void write_param(const struct space *space, const struct param *param, struct json_out *out)
{
    if (param->type == PARAM_CHOICE && param->n_choices == 1 && param->n_when == 0) {
        write_value(&param->choices[0], out);
        return;
    }
    json_begin_object(out);
    if (param->type == PARAM_CHOICE)
        write_choices(param, out);
    else
        write_bounds(param, out);
    if (param->n_when > 0)
        write_when(space, param, out);
    json_end_object(out);
}

void write_params(const struct spec *spec, struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i < spec->space.n; i++) {
        json_key(out, spec->space.params[i].name);
        write_param(&spec->space, &spec->space.params[i], out);
    }
    json_end_object(out);
}

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

void write_metrics(const struct spec *spec, struct json_out *out)
{
    json_begin_object(out);
    json_put_bool(out, "only", spec->patterns_only);
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
    if (option->type == OPTION_TEXT)
        return !*(char *const *)member;
    if (option->type == OPTION_NUMBER)
        return isnan(*(const double *)member);
    if (str_eq(option->path, "limits.deadline"))
        return spec->deadline_us == 0;
    return str_starts(option->path, "objective") && !spec->objective.metric;
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
        in_group = dot || option->type == OPTION_GROUP;
        json_key(&out, dot ? dot + 1 : option->path);
        if (option->type == OPTION_GROUP)
            json_begin_object(&out);
        else
            write_member(option, spec, &out);
    }
    if (in_group)
        json_end_object(&out);
    json_end_object(&out);
}
