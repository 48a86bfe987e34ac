/* SPDX-License-Identifier: MIT */
/*
 * chart.c — the life of a chart, and its numbers as JSON.
 */
#include "cli/chart.h"

#include <math.h>

const char *mark_name(enum mark mark)
{
    static const char *const names[MARKS] = {
        [MARK_LINE] = "line",       [MARK_STEPS] = "steps",   [MARK_DOT] = "dot",
        [MARK_STOPPED] = "stopped", [MARK_FAILED] = "failed", [MARK_BEST] = "best",
    };
    return names[mark];
}

void chart_release(struct chart *chart)
{
    vec_foreach (layer, &chart->layers) {
        free(layer->name);
        vec_release(&layer->points);
    }
    vec_foreach (path, &chart->paths)
        free(path->y);
    vec_foreach (axis, &chart->uprights)
        axis_release(axis);
    vec_release(&chart->layers);
    vec_release(&chart->paths);
    vec_release(&chart->uprights);
    axis_release(&chart->x);
    axis_release(&chart->y);
    axis_release(&chart->shade);
    free(chart->title);
    free(chart->cells);
    free(chart->note);
    *chart = (struct chart){0};
}

struct chart_layer *chart_add(struct chart *chart, enum mark mark, const char *name)
{
    struct chart_layer layer = {.name = xstrdup(name), .mark = mark};
    vec_push(&chart->layers, layer);
    return vec_last(&chart->layers);
}

void layer_add(struct chart_layer *layer, double x, double y, double shade, int64_t trial)
{
    struct chart_point point = {x, y, shade, trial};
    vec_push(&layer->points, point);
}

/* ---- JSON ---- */

static void put_axis(struct json_out *out, const char *key, const struct axis *axis)
{
    static const char *const kinds[] = {"linear", "log", "names"};

    if (!axis->title)
        return;
    if (key)
        json_key(out, key);
    json_begin_object(out);
    json_put_text(out, "title", axis->title);
    json_put_text(out, "scale", kinds[axis->kind]);
    json_put_double(out, "min", axis->min);
    json_put_double(out, "max", axis->max);
    if (axis->kind == AXIS_NAMES) {
        json_key(out, "names");
        json_begin_array(out);
        vec_foreach (name, &axis->names)
            json_text(out, *name);
        json_end_array(out);
    }
    json_end_object(out);
}

static void put_trial(struct json_out *out, const struct chart *chart, int64_t trial)
{
    autofree(mem) char *id = xasprintf("%lld.%lld", (long long)chart->experiment, (long long)trial);
    json_put_text(out, "trial", trial ? id : NULL);
}

static void put_layers(struct json_out *out, const struct chart *chart)
{
    json_key(out, "layers");
    json_begin_array(out);
    vec_foreach (layer, &chart->layers) {
        json_begin_object(out);
        json_put_text(out, "name", layer->name);
        json_put_text(out, "mark", mark_name(layer->mark));
        json_key(out, "points");
        json_begin_array(out);
        vec_foreach (point, &layer->points) {
            json_begin_object(out);
            json_put_known(out, "x", point->x);
            json_put_known(out, "y", point->y);
            if (!isnan(point->shade))
                json_put_double(out, "shade", point->shade);
            put_trial(out, chart, point->trial);
            json_end_object(out);
        }
        json_end_array(out);
        json_end_object(out);
    }
    json_end_array(out);
}

static void put_cells(struct json_out *out, const struct chart *chart)
{
    json_key(out, "cells");
    json_begin_array(out);
    for (size_t row = 0; row < chart->rows; row++) {
        json_begin_array(out);
        for (size_t i = 0; i < chart->columns; i++)
            json_double(out, chart->cells[row * chart->columns + i]);
        json_end_array(out);
    }
    json_end_array(out);
}

static void put_paths(struct json_out *out, const struct chart *chart)
{
    json_key(out, "axes");
    json_begin_array(out);
    vec_foreach (axis, &chart->uprights)
        put_axis(out, NULL, axis);
    json_end_array(out);
    json_key(out, "paths");
    json_begin_array(out);
    vec_foreach (path, &chart->paths) {
        json_begin_object(out);
        put_trial(out, chart, path->trial);
        json_put_known(out, "shade", path->shade);
        json_key(out, "at");
        json_begin_array(out);
        for (size_t i = 0; i < chart->uprights.len; i++) {
            if (isnan(path->y[i]))
                json_null_out(out);
            else
                json_double(out, path->y[i]);
        }
        json_end_array(out);
        json_end_object(out);
    }
    json_end_array(out);
}

void chart_json(const struct chart *chart, struct json_out *out)
{
    json_begin_object(out);
    json_put_text(out, "plot", chart->kind);
    json_put_int(out, "experiment", chart->experiment);
    json_put_text(out, "title", chart->title);
    put_axis(out, "x", &chart->x);
    put_axis(out, "y", &chart->y);
    put_axis(out, "shade", &chart->shade);
    put_layers(out, chart);
    if (chart->cells)
        put_cells(out, chart);
    if (chart->uprights.len)
        put_paths(out, chart);
    json_put_text(out, "note", chart->note);
    json_end_object(out);
}
