/* SPDX-License-Identifier: MIT */
/*
 * command.c — a point of the space, and a configuration, to the words and variables a program is
 * started with.
 *
 * In the command, {name} becomes the value of a known parameter and {checkpoint} the newest
 * checkpoint; {{ and }} are literal braces; any other brace stays as it is, so JSON and shell code
 * in a command are safe. An inactive parameter is not passed: the word "{name}" goes away together
 * with an option word before it, and so does a word like --x={name}.
 *
 * All that has a name is numbered here: the parameters of the space, those of `system`, then the
 * checkpoint.
 */
#include "spec/parse.h"
#include "spec/reader.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

struct filler {
    const struct spec *spec;
    const double *point;
    const double *system; /* NULL: there are none */
    const char *checkpoint;
    bool *used; /* parameters that the command names */
};

static struct filler filler_of(const struct spec *spec, const double *point, const double *system)
{
    return (struct filler){
        .spec = spec, .point = point, .system = spec_has_system(spec) ? system : NULL};
}

static size_t count(const struct filler *f)
{
    return f->spec->space.n + f->spec->system.n;
}

static const struct param *param_at(const struct filler *f, size_t i)
{
    size_t n = f->spec->space.n;
    return i < n ? &f->spec->space.params[i] : &f->spec->system.params[i - n];
}

/* NaN: it is not to be passed. */
static double value_of(const struct filler *f, size_t i)
{
    size_t n = f->spec->space.n;
    return i < n ? f->point[i] : f->system ? f->system[i - n] : NAN;
}

/* Is it for the program, or only for Hone? */
static bool is_passed(const struct filler *f, size_t i)
{
    bool system = i + f->spec->joint_n >= f->spec->space.n;

    return !isnan(value_of(f, i)) &&
           (!system || system_name_of(param_at(f, i)->name) == SYSTEM_OTHER);
}

enum fill { FILL_OK, FILL_INACTIVE /* names an inactive parameter */ };

/* The parameter named by "{name}" at p, -1 if none; *ret_n is the length with braces. */
static ptrdiff_t find_braced(const struct filler *f, const char *p, size_t *ret_n)
{
    const char *end = strchr(p, '}');

    if (!end)
        return -1;
    autofree(mem) char *name = xstrndup(p + 1, (size_t)(end - p - 1));
    *ret_n = (size_t)(end - p) + 1;
    if (str_eq(name, "checkpoint"))
        return (ptrdiff_t)count(f);
    ptrdiff_t i = space_find(&f->spec->space, name);
    if (i >= 0)
        return i;
    i = space_find(&f->spec->system, name);
    return i < 0 ? i : i + (ptrdiff_t)f->spec->space.n;
}

static enum fill fill_braced(const struct filler *f, size_t i, struct str *to)
{
    if (i == count(f)) {
        str_add(to, f->checkpoint ? f->checkpoint : "");
        return FILL_OK;
    }
    f->used[i] = true;
    if (isnan(value_of(f, i)))
        return FILL_INACTIVE;
    param_text(param_at(f, i), value_of(f, i), to);
    return FILL_OK;
}

static enum fill fill_word(const struct filler *f, const char *word, struct str *to)
{
    enum fill result = FILL_OK;
    size_t n;

    for (const char *p = word; *p;) {
        if ((p[0] == '{' && p[1] == '{') || (p[0] == '}' && p[1] == '}')) {
            str_add_char(to, *p);
            p += 2;
            continue;
        }
        ptrdiff_t i = *p == '{' ? find_braced(f, p, &n) : -1;
        if (i < 0) {
            str_add_char(to, *p++);
            continue;
        }
        if (fill_braced(f, (size_t)i, to) == FILL_INACTIVE)
            result = FILL_INACTIVE;
        p += n;
    }
    return result;
}

/* Is the word nothing but one {name}? */
static bool is_only_braces(const char *word)
{
    size_t n = strlen(word);
    return n > 2 && word[0] == '{' && strcspn(word, "}") == n - 1;
}

static void add_command_word(const struct filler *f, const char *word, bool first,
                             struct command_line *ret)
{
    struct str filled = STR_INIT;
    enum fill fill = fill_word(f, word, &filled);

    if (first || fill == FILL_OK || !(is_only_braces(word) || word[0] == '-')) {
        vec_push(&ret->argv, str_take(&filled));
        return;
    }
    str_release(&filled);
    if (!is_only_braces(word) || ret->argv.len < 2)
        return;
    const char *before = *vec_last(&ret->argv);
    if (before[0] == '-' && !strchr(before, '='))
        free(ret->argv.at[--ret->argv.len]);
}

static void add_argument(const struct spec *spec, const struct param *param, double x,
                         struct command_line *ret)
{
    bool is_bool = param->type == PARAM_CHOICE && param->choices[(size_t)x].kind == VALUE_BOOL;
    struct str word = STR_INIT;

    if (is_bool && !spec->flags_value && param->choices[(size_t)x].number == 0)
        return;
    str_addf(&word, "--%s", param->name);
    if (!is_bool || spec->flags_value) {
        str_add_char(&word, '=');
        param_text(param, x, &word);
    }
    vec_push(&ret->argv, str_take(&word));
}

void add_variable_name(const char *name, struct str *to)
{
    str_add(to, "HONE_PARAM_");
    for (const char *p = name; *p; p++)
        str_add_char(to, (char)(isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_'));
}

static void add_variable(const struct param *param, double x, struct command_line *ret)
{
    struct str entry = STR_INIT;

    add_variable_name(param->name, &entry);
    str_add_char(&entry, '=');
    param_text(param, x, &entry);
    vec_push(&ret->env, str_take(&entry));
}

int spec_command_line(const struct spec *spec, const double *point, const double *system,
                      const char *checkpoint, struct command_line *ret, struct err *err)
{
    struct filler f = filler_of(spec, point, system);
    autofree(mem) bool *used = xcalloc(count(&f), sizeof(*used));

    f.checkpoint = checkpoint;
    f.used = used;
    if (spec->command.len == 0)
        return err_set(err, EINVAL, "no program to run");
    for (size_t i = 0; i < spec->command.len; i++)
        add_command_word(&f, spec->command.at[i], i == 0, ret);
    for (size_t i = 0; i < spec->env.len; i++)
        vec_push(&ret->env, xasprintf("%s=%s", spec->env.at[i].key, spec->env.at[i].value));
    for (size_t i = 0; i < count(&f); i++) {
        if (used[i] || !is_passed(&f, i))
            continue;
        if (spec->pass == PASS_ARGS)
            add_argument(spec, param_at(&f, i), value_of(&f, i), ret);
        else if (spec->pass == PASS_ENV)
            add_variable(param_at(&f, i), value_of(&f, i), ret);
    }
    return 0;
}

void spec_params_json(const struct spec *spec, const double *point, const double *system,
                      struct json_out *out)
{
    struct filler f = filler_of(spec, point, system);

    json_begin_object(out);
    for (size_t i = 0; i < count(&f); i++) {
        if (!is_passed(&f, i))
            continue;
        json_key(out, param_at(&f, i)->name);
        param_json(param_at(&f, i), value_of(&f, i), out);
    }
    json_end_object(out);
}

void command_line_release(struct command_line *line)
{
    vec_foreach (word, &line->argv)
        free(*word);
    vec_foreach (entry, &line->env)
        free(*entry);
    vec_release(&line->argv);
    vec_release(&line->env);
}

/* ---- names that nobody has ---- */

static bool has_braces(const struct str *names, const char *braced)
{
    return names->len && strstr(names->s, braced);
}

static void add_unknown(const struct filler *f, const char *word, struct str *to)
{
    size_t n = 0;

    for (const char *p = word; (p = strchr(p, '{')); p += n) {
        n = p[1] == '{' ? 2 : 1;
        if (n == 2 || (p > word && p[-1] == '$') || !strchr(p, '}') || find_braced(f, p, &n) >= 0)
            continue;
        autofree(mem) char *braced = xstrndup(p, n), *name = xstrndup(p + 1, n - 2);
        if (param_name_valid(name) && !has_braces(to, braced))
            str_addf(to, "%s%s", to->len ? ", " : "", braced);
        n = 1; /* another may begin within */
    }
}

void spec_unknown_names(const struct spec *spec, struct str *to)
{
    const struct filler f = filler_of(spec, NULL, NULL);

    vec_foreach (word, &spec->command)
        add_unknown(&f, *word, to);
}
