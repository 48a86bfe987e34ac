/* SPDX-License-Identifier: MIT */
/*
 * settings.c — programs print what they were given: "lr=0.01 batch=32", Namespace(lr=0.01, …).
 *
 * A number in output that has the name and the value of a parameter of its trial is taken for that,
 * and is neither a metric nor the place in a run. A name that came with another value moves: it is
 * a schedule or a counter, and from then on all its values count, also the one that was given.
 */
#include "metrics/line.h"

#include <math.h>

#define SAME 5e-6 /* printed with six digits it is still the same number */

static bool is_parameter(const struct spec *spec, const char *metric)
{
    return metric && space_find(&spec->space, metric) >= 0;
}

/* Does the spec ask for a metric that is called like a parameter? */
static bool is_asked_for(const struct spec *spec)
{
    bool asked = is_parameter(spec, spec->objective.metric);

    vec_foreach (objective, &spec->others)
        asked = asked || is_parameter(spec, objective->metric);
    vec_foreach (constraint, &spec->constraints)
        asked = asked || is_parameter(spec, constraint->metric);
    return asked;
}

/* NaN: it is inactive, or no number. */
static double number_of(const struct param *param, double x)
{
    if (param->type != PARAM_CHOICE || isnan(x))
        return x;
    const struct value *choice = &param->choices[(size_t)x];
    bool number = choice->kind != VALUE_NULL && choice->kind != VALUE_TEXT;
    return number ? choice->number : NAN;
}

void line_give(struct line *line, const struct metrics_given *given)
{
    const struct spec *spec = given->spec;

    if (!spec || !given->point || is_asked_for(spec))
        return;
    for (size_t i = 0; i < spec->space.n; i++) {
        const struct param *param = &spec->space.params[i];
        struct setting setting = {.name = param->name, .value = number_of(param, given->point[i])};
        if (!isnan(setting.value))
            vec_push(&line->settings, setting);
    }
}

static char joined(char c)
{
    return c == '-' || c == ' ' ? '_' : c;
}

/* batch-size is printed as batch_size, or as two words. */
static bool same_name(const char *name, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (joined(name[i]) != joined(s[i]) || name[i] == '\0')
            return false;
    return name[n] == '\0';
}

bool line_is_setting(struct line *line, const char *name, size_t n, double value)
{
    vec_foreach (setting, &line->settings) {
        if (!same_name(setting->name, name, n))
            continue;
        bool same = fabs(value - setting->value) <= SAME * fabs(setting->value);
        setting->moves = setting->moves || !same;
        return !setting->moves;
    }
    return false;
}
