/* SPDX-License-Identifier: MIT */
/*
 * write_space.c — parameters, system parameters, forbidden combinations and settings to try, as
 * canonical JSON.
 *
 * Values of parameters keep the text they were written with. A number is written as that text if it
 * is valid JSON (1e-3); what JSON cannot say (.5, 0x1f, True) becomes {"raw": ".5"}.
 */
#include "spec/reader.h"

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

/* One value of a parameter, in natural units. */
static void write_at(const struct param *param, double x, struct json_out *out)
{
    if (param->type == PARAM_CHOICE)
        write_value(&param->choices[(size_t)x], out);
    else
        write_number(param, x, out);
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
            write_at(other, when->values[k], out);
        json_end_array(out);
    }
    json_end_object(out);
}

/* As the space keeps it (prior.c). */
static void write_prior(const struct param *param, struct json_out *out)
{
    const struct prior *prior = &param->prior;

    json_key(out, "prior");
    if (prior->weights) {
        json_begin_array(out);
        for (size_t i = 0; i < param->n_choices; i++)
            json_double(out, prior->weights[i]);
        json_end_array(out);
        return;
    }
    json_begin_object(out);
    json_key(out, "unit");
    json_begin_array(out);
    json_double(out, prior->mean);
    json_double(out, prior->sd);
    json_end_array(out);
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
    if (param->prior.weights || param->prior.sd > 0)
        write_prior(param, out);
    json_end_object(out);
}

void write_params(const struct spec *spec, struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i + spec->joint_n < spec->space.n; i++) {
        json_key(out, spec->space.params[i].name);
        write_param(&spec->space, &spec->space.params[i], out);
    }
    json_end_object(out);
}

static void write_setting(const struct param *param, const struct system_setting *setting,
                          struct json_out *out)
{
    json_begin_object(out);
    if (setting->is_auto)
        json_put_text(out, "values", "auto");
    else if (param->type == PARAM_CHOICE)
        write_choices(param, out);
    else
        write_bounds(param, out);
    if (!isnan(setting->start)) {
        json_key(out, "start");
        write_at(param, setting->start, out);
    }
    json_put_text(out, "apply", setting->restart ? "restart" : "live");
    if (setting->learning != system_changes_learning(param->name))
        json_put_bool(out, "learning", setting->learning);
    json_end_object(out);
}

/* Also those that went to the end of the space. */
void write_system(const struct spec *spec, struct json_out *out)
{
    size_t n;
    const struct param *params = spec_system_params(spec, &n);

    json_begin_object(out);
    for (size_t i = 0; i < n; i++) {
        json_key(out, params[i].name);
        write_setting(&params[i], &spec->settings[i], out);
    }
    json_end_object(out);
}

/* ---- settings ---- */

static void write_clause(const struct param *param, const struct clause *clause,
                         struct json_out *out)
{
    if (clause->n_values > 0) {
        json_begin_array(out);
        for (size_t i = 0; i < clause->n_values; i++)
            write_at(param, clause->values[i], out);
        json_end_array(out);
        return;
    }
    json_begin_object(out);
    if (isfinite(clause->min))
        json_put_double(out, "min", clause->min);
    if (isfinite(clause->max))
        json_put_double(out, "max", clause->max);
    json_end_object(out);
}

void write_forbid(const struct spec *spec, struct json_out *out)
{
    const struct space *space = &spec->space;

    json_begin_array(out);
    for (size_t f = 0; f < space->n_forbids; f++) {
        json_begin_object(out);
        for (size_t i = 0; i < space->forbids[f].n; i++) {
            const struct clause *clause = &space->forbids[f].clauses[i];
            json_key(out, space->params[clause->param].name);
            write_clause(&space->params[clause->param], clause, out);
        }
        json_end_object(out);
    }
    json_end_array(out);
}

void write_tries(const struct spec *spec, struct json_out *out)
{
    json_begin_array(out);
    vec_foreach (x, &spec->tries) {
        json_begin_object(out);
        for (size_t i = 0; i < spec->space.n; i++) {
            if (!isfinite((*x)[i]))
                continue;
            json_key(out, spec->space.params[i].name);
            write_at(&spec->space.params[i], (*x)[i], out);
        }
        json_end_object(out);
    }
    json_end_array(out);
}
