/* SPDX-License-Identifier: MIT */
/*
 * output.c — rows as words. A number that is unknown is a dash for people, others have six digits.
 */
#include "cli/output.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

void output_line(const struct str *text)
{
    fwrite(text->s, 1, text->len, stdout);
    putchar('\n');
}

void str_add_number(struct str *to, double x)
{
    if (isnan(x))
        str_add_char(to, '-');
    else
        str_addf(to, "%.6g", x);
}

void str_add_size(struct str *to, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double x = (double)bytes / 1000;
    size_t i = 0;

    if (bytes < 1000) {
        str_addf(to, "%d bytes", (int)bytes);
        return;
    }
    for (; x >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
        x /= 1000;
    str_addf(to, x < 9.95 ? "%.1f %s" : "%.0f %s", x, units[i]);
}

void str_add_when(struct str *to, int64_t wall_us)
{
    time_t s = (time_t)(wall_us / US_PER_S);
    struct tm tm;

    if (wall_us == 0 || !localtime_r(&s, &tm)) {
        str_add_char(to, '-');
        return;
    }
    str_addf(to, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
             tm.tm_hour, tm.tm_min);
}

static void add_flat_value(struct str *to, const json_t *value)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (json_is_number(value)) {
        str_add_number(to, json_number_value(value));
    } else if (json_is_string(value)) {
        str_add(to, json_string_value(value));
    } else {
        json_value(&out, value);
        str_add(to, text.s);
    }
}

static void add_members(struct str *to, const char *json, bool system)
{
    autofree(json) json_t *object = NULL;
    const char *key;
    json_t *value;
    size_t start = to->len;

    if (!json || json_parse(json, strlen(json), &object, NULL) < 0)
        return;
    json_object_foreach(object, key, value)
    {
        str_addf(to, "%s%s=", to->len > start ? " " : "", key);
        if (!system || !json_is_number(value) ||
            !system_add_typed(key, json_number_value(value), to))
            add_flat_value(to, value);
    }
}

void str_add_flat(struct str *to, const char *json)
{
    add_members(to, json, false);
}

void str_add_configuration(struct str *to, const char *json)
{
    add_members(to, json, true);
}

enum colour trial_colour(enum trial_state state)
{
    static const enum colour colours[TRIAL_STATES] = {
        [TRIAL_QUEUED] = DIM,      [TRIAL_RUNNING] = CYAN,   [TRIAL_PAUSED] = YELLOW,
        [TRIAL_COMPLETED] = GREEN, [TRIAL_STOPPED] = YELLOW, [TRIAL_FAILED] = RED,
    };
    return colours[state];
}

enum colour experiment_colour(enum experiment_state state)
{
    static const enum colour colours[EXPERIMENT_STATES] = {
        [EXPERIMENT_RUNNING] = CYAN,       [EXPERIMENT_FINISHED] = GREEN,
        [EXPERIMENT_STOPPED] = YELLOW,     [EXPERIMENT_FAILED] = RED,
        [EXPERIMENT_INTERRUPTED] = YELLOW,
    };
    return colours[state];
}

void str_add_state(struct str *to, const char *state, enum reason reason)
{
    str_add(to, state);
    if (reason != REASON_NONE && !str_eq(reason_name(reason), state)) /* interrupted */
        str_addf(to, " (%s)", reason_name(reason));
}

int where_fail(const struct cmd_call *call, int r, const struct err *err)
{
    if (r == -EINVAL)
        return cmd_usage(call, "%s", err_text(err));
    return cmd_fail(call, CMD_FAILED, err);
}
