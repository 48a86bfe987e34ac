/* SPDX-License-Identifier: MIT */
/*
 * import_spec.c — from a sheet of columns and rows to a spec and points in its space: names that we
 * can use, conditions that the gaps tell, values on our steps.
 */
#include "base/fs.h"
#include "cli/import.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define NO_PROGRAM "(imported)" /* what stands where the command would be */

bool spec_has_no_program(const struct spec *spec)
{
    return spec->command.len == 1 && str_eq(spec->command.at[0], NO_PROGRAM);
}

/* ---- names ---- */

/* Letters, digits, _ . - and a letter first. */
static char *valid_name(const char *text, bool dots)
{
    struct str name = STR_INIT;

    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_'))
        str_add_char(&name, '_');
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || *text == '_' || *text == '-' ||
                     (dots && *text == '.');
        if (((unsigned char)*text & 0xc0) != 0x80)
            str_add_char(&name, plain ? *text : '_');
    }
    return str_take(&name);
}

static bool is_taken(const struct import *import, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(import->names[i], name))
            return true;
    return str_eq(name, "checkpoint");
}

static void name_params(struct import *import)
{
    size_t n = import->sheet.columns.len;

    import->names = xcalloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        const char *from = import->sheet.columns.at[i].name;
        char *name = valid_name(from, true);
        for (int k = 2; is_taken(import, i, name); k++) {
            autofree(mem) char *base = valid_name(from, true);
            free(name);
            name = xasprintf("%s_%d", base, k);
        }
        if (!str_eq(name, from))
            str_addf(&import->sheet.notes, "parameter '%s' is called '%s' here\n", from, name);
        import->names[i] = name;
    }
}

static char *default_name(const struct import *import)
{
    const char *slash = strrchr(import->path, '/');
    autofree(mem) char *stem = xstrdup(slash ? slash + 1 : import->path);
    char *dot = strrchr(stem, '.');

    if (dot && dot > stem)
        *dot = '\0';
    char *name = valid_name(import->sheet.name ? import->sheet.name : stem, false);
    if (strlen(name) > 100)
        name[100] = '\0';
    if (str_eq(name, "last")) {
        free(name);
        name = xstrdup("imported");
    }
    return name;
}

/* ---- conditions ---- */

static bool is_whole(const struct import_column *column)
{
    vec_foreach (x, &column->x)
        if (isnan(*x))
            return false;
    return true;
}

/* Is `column` there exactly where `other`, a choice that always is, has certain values? */
static bool depends_on(const struct import_column *column, const struct import_column *other)
{
    autofree(mem) char *seen = xcalloc(other->choices.len + 1, 1);

    for (size_t i = 0; i < column->x.len; i++) {
        size_t value = (size_t)other->x.at[i];
        char is = isnan(column->x.at[i]) ? 1 : 2;
        if (seen[value] && seen[value] != is)
            return false;
        seen[value] = is;
    }
    return true;
}

static void find_conditions(struct import *import)
{
    struct import_sheet *sheet = &import->sheet;
    size_t n = sheet->columns.len;

    import->hangs = xcalloc(n + 1, sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
        const struct import_column *column = &sheet->columns.at[i];
        if (is_whole(column))
            continue;
        for (size_t k = 0; k < n && !import->hangs[i]; k++) {
            const struct import_column *other = &sheet->columns.at[k];
            if (other->type == PARAM_CHOICE && is_whole(other) && depends_on(column, other))
                import->hangs[i] = k + 1;
        }
        if (!import->hangs[i])
            str_addf(&sheet->notes, "parameter '%s' is missing in some trials\n", column->name);
    }
}

/* ---- the spec ---- */

static void put_when(struct json_out *out, const struct import *import, size_t i)
{
    const struct import_column *column = &import->sheet.columns.at[i];
    size_t at = import->hangs[i] - 1;
    const struct import_column *other = &import->sheet.columns.at[at];
    autofree(mem) bool *needs = xcalloc(other->choices.len + 1, sizeof(bool));

    for (size_t k = 0; k < column->x.len; k++)
        needs[(size_t)other->x.at[k]] |= !isnan(column->x.at[k]);
    json_key(out, "when");
    json_begin_object(out);
    json_key(out, import->names[at]);
    json_begin_array(out);
    for (size_t k = 0; k < other->choices.len; k++)
        if (needs[k])
            value_json(out, &other->choices.at[k]);
    json_end_array(out);
    json_end_object(out);
}

static void put_values(struct json_out *out, const struct import_column *column)
{
    json_key(out, "values");
    json_begin_array(out);
    vec_foreach (choice, &column->choices)
        value_json(out, choice);
    if (column->type != PARAM_CHOICE) /* a range of one number */
        json_double(out, column->min);
    json_end_array(out);
}

static bool is_range(const struct import_column *column)
{
    return column->type != PARAM_CHOICE && column->max > column->min;
}

static void put_param(struct json_out *out, const struct import *import, size_t i)
{
    const struct import_column *column = &import->sheet.columns.at[i];

    json_key(out, import->names[i]);
    json_begin_object(out);
    if (is_range(column)) {
        json_put_double(out, "min", column->min);
        json_put_double(out, "max", column->max);
        json_put_text(out, "type", column->type == PARAM_INT ? "int" : "float");
        if (column->log)
            json_put_text(out, "scale", "log");
        if (column->step > 0 && !(column->type == PARAM_INT && column->step == 1))
            json_put_double(out, "step", column->step);
    } else {
        put_values(out, column);
    }
    if (import->hangs[i])
        put_when(out, import, i);
    json_end_object(out);
}

/* A metric's name is plain, too: its curve is written with it. Runs of a folder keep theirs. */
static void put_objectives(struct json_out *out, const struct import_sheet *sheet)
{
    if (!sheet->objectives.len)
        return;
    json_key(out, "objective");
    if (sheet->objectives.len > 1)
        json_begin_array(out);
    vec_foreach (objective, &sheet->objectives) {
        autofree(mem) char *metric =
            sheet->runs ? xstrdup(objective->metric) : valid_name(objective->metric, true);
        json_begin_object(out);
        json_put_text(out, "metric", metric);
        json_put_text(out, "goal", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
        json_end_object(out);
    }
    if (sheet->objectives.len > 1)
        json_end_array(out);
}

static void put_constraints(struct json_out *out, const struct import_sheet *sheet)
{
    if (!sheet->constraints.len)
        return;
    json_key(out, "constraint");
    json_begin_array(out);
    vec_foreach (constraint, &sheet->constraints) {
        char bound[DOUBLE_TEXT_SIZE];
        autofree(mem) char *metric = valid_name(constraint->metric, true);
        autofree(mem) char *text =
            xasprintf("%s %s %s", metric,
                      constraint->at_least ? ">=" : "<=", double_text(bound, constraint->bound));
        json_text(out, text);
    }
    json_end_array(out);
}

static void spec_text(const struct import *import, const char *name, struct str *to)
{
    const struct import_sheet *sheet = &import->sheet;
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_text(&out, "name", name);
    json_key(&out, "command");
    json_begin_array(&out);
    for (size_t i = 0; i < import->n_command; i++)
        json_text(&out, import->command[i]);
    if (!import->n_command)
        json_text(&out, NO_PROGRAM);
    json_end_array(&out);
    json_key(&out, "params");
    json_begin_object(&out);
    for (int later = 0; later < 2; later++) /* what others depend on comes first */
        for (size_t i = 0; i < sheet->columns.len; i++)
            if ((import->hangs[i] != 0) == later)
                put_param(&out, import, i);
    json_end_object(&out);
    put_objectives(&out, sheet);
    put_constraints(&out, sheet);
    json_key(&out, "search");
    json_begin_object(&out);
    json_put_int(&out, "trials", (int64_t)sheet->rows.len);
    json_put_int(&out, "seed", 1); /* a replay of the same file is the same */
    json_end_object(&out);
    json_end_object(&out);
}

static int make_spec(struct import *import, struct err *err)
{
    autofree(mem) char *given = default_name(import), *here = fs_absolute(".");
    autorelease(str) struct str text = STR_INIT;

    if (!import->sheet.columns.len && !import->sheet.runs)
        return err_set(err, EINVAL, "%s has no parameters", import->path);
    name_params(import);
    find_conditions(import);
    spec_text(import, import->name ? import->name : given, &text);
    return spec_parse(text.s, text.len, import->path, here, NULL, &import->spec, NULL, err);
}

/* ---- points ---- */

/* The value of ours that is nearest: rounding there and here may differ in the last digit. */
static double snap(const struct param *param, double x)
{
    if (isnan(x) || param_contains(param, x))
        return x;
    if (param->type != PARAM_CHOICE && (param->step > 0 || param->type == PARAM_INT))
        return param_value_at(param, param_index(param, x));
    return fmin(fmax(x, param->min), param->max);
}

static void make_points(struct import *import)
{
    const struct space *space = &import->spec.space;
    const struct import_sheet *sheet = &import->sheet;

    import->points = xcalloc(sheet->rows.len * space->n + 1, sizeof(double));
    for (size_t i = 0; i < sheet->columns.len; i++) {
        const struct import_column *column = &sheet->columns.at[i];
        ptrdiff_t at = space_find(space, import->names[i]);
        for (size_t row = 0; at >= 0 && row < sheet->rows.len; row++) {
            double x = column->x.at[row];
            if (column->type != PARAM_CHOICE && !is_range(column))
                x = isnan(x) ? x : 0; /* the only choice */
            import->points[row * space->n + (size_t)at] = snap(&space->params[at], x);
        }
    }
    for (size_t row = 0; row < sheet->rows.len; row++)
        space_settle(space, import->points + row * space->n);
}

int import_make_spec(struct import *import, struct err *err)
{
    int r = make_spec(import, err);
    if (r == 0)
        make_points(import);
    return r;
}

void import_release(struct import *import)
{
    for (size_t i = 0; import->names && i < import->sheet.columns.len; i++)
        free(import->names[i]);
    free(import->names);
    free(import->hangs);
    free(import->points);
    spec_release(&import->spec);
    import_sheet_release(&import->sheet);
}
