/* SPDX-License-Identifier: MIT */
/*
 * line.c — the readings of one line, and the axis they belong to.
 *
 * Invariant: every reading's name is a NUL-terminated text inside line.names; the two grow and are
 * cut together.
 */
#include "metrics/line.h"

#include <math.h>

#define AXIS_LIMIT 9007199254740992.0 /* 2^53: whole numbers above it are not exact */

void line_clear(struct line *line, int64_t time_us)
{
    line->readings.len = 0;
    str_cut(&line->names, 0);
    for (size_t i = 0; i < AXES; i++)
        line->axis[i] = STEP_NONE;
    line->inner_step = false;
    line->time_us = time_us;
    line->ns = 0;
}

void line_release(struct line *line)
{
    vec_release(&line->settings);
    vec_release(&line->readings);
    str_release(&line->names);
    for (size_t i = 0; i < ARRAY_LEN(line->work); i++)
        str_release(&line->work[i]);
}

void line_add(struct line *line, const char *name, size_t n, double value, bool weak)
{
    struct reading reading = {.name = line->names.len, .value = value, .weak = weak};
    str_add_n(&line->names, name, n);
    for (char *p = line->names.s + reading.name; *p; p++)
        if (*p == ' ' || *p == '\t')
            *p = '_';
    str_add_n(&line->names, "", 1);
    vec_push(&line->readings, reading);
}

static bool has_name(const struct line *line, const char *name)
{
    vec_foreach (reading, &line->readings)
        if (str_eq(line->names.s + reading->name, name))
            return true;
    return false;
}

void line_add_output(struct line *line, const char *name, size_t n, double value, bool weak)
{
    bool ours = n >= 5 && memcmp(name, "hone.", 5) == 0;
    if (n == 0 || n > OUTPUT_NAME_MAX || ours || line->readings.len >= OUTPUT_READINGS)
        return;
    line_add(line, name, n, value, weak);
    struct reading added = *vec_last(&line->readings);
    line->readings.len--;
    if (has_name(line, line->names.s + added.name))
        str_cut(&line->names, added.name);
    else
        line->readings.len++;
}

void line_cut(struct line *line, size_t readings)
{
    if (readings >= line->readings.len)
        return;
    str_cut(&line->names, line->readings.at[readings].name);
    line->readings.len = readings;
}

void line_drop_weak(struct line *line, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < line->readings.len; i++)
        if (!line->readings.at[i].weak)
            line->readings.at[kept++] = line->readings.at[i];
    line->readings.len = MIN(kept, line->readings.len);
}

bool line_has_axis(const struct line *line)
{
    for (size_t i = 0; i < AXES; i++)
        if (line->axis[i] != STEP_NONE)
            return true;
    return false;
}

/* "Epoch [2/5], Step [100/600]": such a step begins again in every epoch and orders nothing. */
int64_t line_step(const struct line *line, int64_t epoch)
{
    if (line->axis[AXIS_EPOCH] != STEP_NONE)
        epoch = line->axis[AXIS_EPOCH];
    bool use_step = !line->inner_step || epoch == STEP_NONE;
    if (line->axis[AXIS_STEP] != STEP_NONE && use_step)
        return line->axis[AXIS_STEP];
    return epoch != STEP_NONE ? epoch : line->axis[AXIS_ITERATION];
}

enum axis axis_find(const char *name, size_t n)
{
    static const struct {
        const char *name;
        enum axis axis;
    } names[] = {
        {"step", AXIS_STEP},      {"global_step", AXIS_STEP},
        {"_step", AXIS_STEP},     {"trainer/global_step", AXIS_STEP},
        {"epoch", AXIS_EPOCH},    {"iteration", AXIS_ITERATION},
        {"iter", AXIS_ITERATION}, {"batch", AXIS_ITERATION},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (text_is(name, n, names[i].name))
            return names[i].axis;
    return AXIS_NONE;
}

bool line_set_axis(struct line *line, enum axis axis, double value)
{
    if (!(fabs(value) < AXIS_LIMIT) || value != trunc(value))
        return false;
    if (line->axis[axis] == STEP_NONE)
        line->axis[axis] = (int64_t)value;
    return true;
}

bool line_set_axis_number(struct line *line, enum axis axis, const struct number *number)
{
    if (!number->whole)
        return line_set_axis(line, axis, number->value);
    if (number->integer == STEP_NONE)
        return false;
    if (line->axis[axis] == STEP_NONE)
        line->axis[axis] = number->integer;
    return true;
}
