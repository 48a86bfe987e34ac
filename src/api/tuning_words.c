/* SPDX-License-Identifier: MIT */
/*
 * tuning_words.c — configurations, changes and energy, for people and as JSON.
 */
#include "api/tuning.h"

#include <math.h>

void str_add_json_text(struct str *to, const json_t *value)
{
    struct json_out out = JSON_OUT(to);

    if (json_is_string(value))
        str_add(to, json_string_value(value));
    else if (value && !json_is_null(value))
        json_value(&out, value);
}

void str_add_setting(struct str *to, const char *name, const json_t *value)
{
    if (!json_is_number(value) || !system_add_typed(name, json_number_value(value), to))
        str_add_json_text(to, value);
}

void tuning_words(const struct tuning *tuning, const struct spec *spec, size_t phase,
                  struct str *to)
{
    const char *gap = "";

    for (size_t i = 0; i < tuning->n_values; i++) {
        const json_t *value = tuning->phases.at[phase].values[i];
        if (!value)
            continue;
        str_addf(to, "%s%s=", gap, system_name_at(spec, i));
        str_add_setting(to, system_name_at(spec, i), value);
        gap = " ";
    }
}

void tuning_put_system(struct json_out *out, const struct spec *spec, const char *key,
                       json_t *const *values)
{
    json_key(out, key);
    if (!values) {
        json_null_out(out);
        return;
    }
    json_begin_object(out);
    for (size_t i = 0; i < system_count(spec); i++) {
        json_key(out, system_name_at(spec, i));
        if (values[i])
            json_value(out, values[i]);
        else
            json_null_out(out);
    }
    json_end_object(out);
}

void str_add_changes(struct str *to, int64_t changes, int64_t asked, double cost_s)
{
    str_addf(to, "%lld change%s", (long long)changes, changes == 1 ? "" : "s");
    if (cost_s > 0)
        str_addf(to, ", cost %.2g s", cost_s);
    if (asked > 0)
        str_addf(to, "; %lld asked for and not made", (long long)asked);
}

/* What is measured is the machine's; of that an attempt has its part by CPU time (agent/power.c),
 * beside devices that are its own. */
void str_add_energy(struct str *to, double joules, bool measured)
{
    static const char *const units[] = {"J", "kJ", "MJ", "GJ"};
    size_t unit = 0;

    if (!(joules > 0) || isinf(joules))
        return;
    for (; joules >= 999.5 && unit + 1 < ARRAY_LEN(units); unit++)
        joules /= 1000;
    str_addf(to, "%.3g %s %s", joules, units[unit],
             measured ? "measured, its share by CPU time" : "estimated");
}
