/* SPDX-License-Identifier: MIT */
/*
 * v1_series_ask.c — the question for curves, read from JSON. Pure.
 */
#include "api/v1_series.h"
#include "api/web_keys.h"

#include <errno.h>
#include <math.h>

static const struct web_key ask_keys[] = {
    {.name = "x"},
    {.name = "from", .flags = KEY_NULL},
    {.name = "to", .flags = KEY_NULL},
    {.name = "width", .type = KEY_INT, .min = 1, .max = SERIES_ASK_WIDTH},
    {.name = "smooth"},
    {.name = "lines"},
    {.name = "groups", .flags = KEY_NULL},
    {.name = "middle"},
    {.name = "band"},
    {0},
};
static const struct web_key line_keys[] = {
    {.name = "trial", .type = KEY_TEXT, .flags = KEY_NEEDED},
    {.name = "metric", .type = KEY_TEXT, .flags = KEY_NEEDED},
    {0},
};

void series_ask_release(struct series_ask *ask)
{
    vec_foreach (line, &ask->lines) {
        free(line->trial);
        free(line->metric);
    }
    vec_foreach (group, &ask->groups)
        vec_release(&group->lines);
    vec_release(&ask->lines);
    vec_release(&ask->groups);
}

static bool is_given(const json_t *value)
{
    return value && !json_is_null(value);
}

/* A number that is not given leaves *ret as it is. */
static int read_number(const json_t *body, const char *key, double min, double max, double *ret,
                       struct err *err)
{
    const json_t *value = json_object_get(body, key);

    if (!is_given(value))
        return 0;
    double x = json_number_value(value);
    if (!json_is_number(value) || !(x >= min && x <= max))
        return err_set(err, EINVAL, "%s: a number from %g to %g is wanted", key, min, max);
    *ret = x;
    return 0;
}

/* One of some words, by its place; not given: the first. */
static int read_word(const json_t *body, const char *key, const char *const *words, int *ret,
                     struct err *err)
{
    const json_t *value = json_object_get(body, key);
    autorelease(str) struct str all = STR_INIT;

    *ret = 0;
    if (!is_given(value))
        return 0;
    for (int i = 0; words[i]; i++) {
        if (json_is_string(value) && str_eq(json_string_value(value), words[i])) {
            *ret = i;
            return 0;
        }
        str_addf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    return err_set(err, EINVAL, "%s: one of %s is wanted", key, all.s);
}

static int read_line(const json_t *value, struct series_ask *ask, struct err *err)
{
    if (web_keys_check(value, line_keys, NULL) < 0)
        return err_set(err, EINVAL, "lines: {\"trial\":\"3.7\",\"metric\":\"loss\"} is wanted");
    struct series_ask_line line = {xstrdup(json_get_text(value, "trial", "")),
                                   xstrdup(json_get_text(value, "metric", ""))};
    vec_push(&ask->lines, line);
    return 0;
}

static int read_lines(const json_t *body, struct series_ask *ask, struct err *err)
{
    const json_t *lines = json_object_get(body, "lines");
    size_t n = json_array_size(lines);
    int r = 0;

    if (!json_is_array(lines))
        return err_set(err, EINVAL, "lines: a list is wanted");
    if (n > SERIES_ASK_LINES)
        return err_set(err, EINVAL, "lines: at most %d, not %zu", SERIES_ASK_LINES, n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = read_line(json_array_get(lines, i), ask, err);
    return r;
}

static int read_group(const json_t *value, struct series_ask *ask, size_t *members, struct err *err)
{
    struct series_ask_group *group;

    if (!json_is_array(value))
        return err_set(err, EINVAL, "groups: a list of lists is wanted");
    vec_push(&ask->groups, ((struct series_ask_group){{NULL, 0, 0}}));
    group = vec_last(&ask->groups);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *place = json_array_get(value, i);
        json_int_t at = json_integer_value(place);
        if (!json_is_integer(place) || at < 0 || at >= (json_int_t)ask->lines.len)
            return err_set(err, EINVAL, "groups: places of lines, from 0 to %zu, are wanted",
                           ask->lines.len ? ask->lines.len - 1 : 0);
        if (++*members * ask->width > SERIES_ASK_CELLS)
            return err_set(err, EINVAL, "groups: too many lines for a width of %zu", ask->width);
        vec_push(&group->lines, (size_t)at);
    }
    return 0;
}

static int read_groups(const json_t *body, struct series_ask *ask, struct err *err)
{
    const json_t *groups = json_object_get(body, "groups");
    size_t members = 0;
    int r = 0;

    if (!is_given(groups))
        return 0;
    if (!json_is_array(groups) || json_array_size(groups) > SERIES_ASK_LINES)
        return err_set(err, EINVAL, "groups: a list of at most %d lists is wanted",
                       SERIES_ASK_LINES);
    ask->grouped = true;
    for (size_t i = 0; i < json_array_size(groups) && r == 0; i++)
        r = read_group(json_array_get(groups, i), ask, &members, err);
    return r;
}

static int read_view(const json_t *body, struct series_ask *ask, struct err *err)
{
    static const char *const axes[] = {"step", "time", "relative", NULL};
    double width = 1000;
    int x = 0;
    int r = read_word(body, "x", axes, &x, err);

    if (r == 0)
        r = read_number(body, "from", -1e300, 1e300, &ask->from, err);
    if (r == 0)
        r = read_number(body, "to", -1e300, 1e300, &ask->to, err);
    if (r == 0)
        r = read_number(body, "width", 1, SERIES_ASK_WIDTH, &width, err);
    if (r == 0)
        r = read_number(body, "smooth", 0, 0.9999, &ask->smooth, err);
    if (r == 0 && ask->from > ask->to)
        r = err_set(err, EINVAL, "from: %g is behind to: %g", ask->from, ask->to);
    ask->x = (enum charts_x)x;
    ask->width = (size_t)width;
    return r;
}

int series_ask_parse(const json_t *body, struct series_ask *ret, struct err *err)
{
    static const char *const middles[] = {"mean", "median", NULL};
    static const char *const bands[] = {"minmax", "quartiles", "interval", NULL};
    int middle = 0, band = 0;

    *ret = (struct series_ask){.from = NAN, .to = NAN};
    int r = web_keys_check(body, ask_keys, err);
    if (r == 0)
        r = read_view(body, ret, err);
    if (r == 0)
        r = read_word(body, "middle", middles, &middle, err);
    if (r == 0)
        r = read_word(body, "band", bands, &band, err);
    if (r == 0)
        r = read_lines(body, ret, err);
    if (r == 0)
        r = read_groups(body, ret, err);
    ret->median = middle == 1;
    ret->band = (enum series_band)band;
    return r;
}
