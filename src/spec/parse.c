/* SPDX-License-Identifier: MIT */
/*
 * parse.c — text to spec: tree, older formats, the command line's changes, the option table, and
 * then what only the whole can tell (name, number of trials, what does not go together).
 */
#include "spec/parse.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "spec/reader.h"

#include <errno.h>
#include <math.h>

#define TRIALS_DEFAULT 100
#define TRIALS_MAX     1e9

void spec_overrides_release(struct spec_overrides *overrides)
{
    vec_foreach (text, &overrides->set)
        free(*text);
    vec_foreach (text, &overrides->typed)
        free(*text);
    vec_foreach (text, &overrides->fix)
        free(*text);
    vec_foreach (text, &overrides->param)
        free(*text);
    vec_release(&overrides->set);
    vec_release(&overrides->typed);
    vec_release(&overrides->fix);
    vec_release(&overrides->param);
}

/* The node at "search.seed", for "was it given?" and its place; NULL if absent. */
static const struct yaml_node *given(const struct reader *reader, const char *group,
                                     const char *key)
{
    const struct yaml_node *node = yaml_find(reader->root, group);

    if (node && key)
        node = yaml_find(node, key);
    return node && !yaml_is_null(node) ? node : NULL;
}

/* ---- what only the whole can tell ---- */

static int check_command(struct reader *reader)
{
    const struct spec *spec = reader->spec;

    if (spec->command.len > 0 && spec->command.at[0][0])
        return 0;
    if (reader->nameless)
        return err_set(reader->err, EINVAL,
                       "no program to run: give its command after --, or a spec with 'command'");
    return yaml_err(reader->err, reader->root,
                    "no program to run: add 'command: …', or give it after --");
}

/* What makes no sense without an objective; the default of stop is then none. */
static int check_aimless(struct reader *reader)
{
    static const char *const keys[][2] = {{"constraint", NULL}, {"until", "improvement"}};
    struct stop_settings *stop = &reader->spec->stop;
    const struct yaml_node *node = given(reader, "search", "stop");

    if (node && !str_eq(stop->rule, "none"))
        return yaml_err(reader->err, node,
                        "'search.stop: %s' needs an objective to compare trials by", stop->rule);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        node = given(reader, keys[i][0], keys[i][1]);
        if (node && (reader->spec->constraints.len > 0 || reader->spec->until_improvement > 0))
            return yaml_err(reader->err, node, "'%s' needs an objective", keys[i][0]);
    }
    free(stop->rule);
    *stop = (struct stop_settings){.rule = xstrdup("none"), .chance = NAN};
    return 0;
}

static int check_objective(struct reader *reader)
{
    const struct spec *spec = reader->spec;
    const struct yaml_node *objective = given(reader, "objective", NULL);

    if (objective && (!spec->objective.metric || !*spec->objective.metric))
        return yaml_err(reader->err, objective, "'objective' needs a metric: {metric: val_loss}");
    return spec->objective.metric ? 0 : check_aimless(reader);
}

/* Of the parameters, then the system parameters. */
static const char *name_at(const struct spec *spec, size_t i)
{
    return i < spec->space.n ? spec->space.params[i].name
                             : spec->system.params[i - spec->space.n].name;
}

/* pass: env — two names that differ only in case or punctuation would be one variable. */
static int check_variables(struct reader *reader)
{
    const struct spec *spec = reader->spec;

    if (spec->pass != PASS_ENV)
        return 0;
    for (size_t i = 0; i < spec->space.n + spec->system.n; i++) {
        autorelease(str) struct str mine = STR_INIT;
        add_variable_name(name_at(spec, i), &mine);
        for (size_t k = 0; k < i; k++) {
            autorelease(str) struct str other = STR_INIT;
            add_variable_name(name_at(spec, k), &other);
            if (str_eq(mine.s, other.s))
                return yaml_err(reader->err, reader->root,
                                "parameters '%s' and '%s' would both be the variable %s: rename "
                                "one, or pass them otherwise than by 'pass: env'",
                                name_at(spec, k), name_at(spec, i), mine.s);
        }
    }
    return 0;
}

/* A grid walks every value, so there must be an end to them. */
static int check_grid(struct reader *reader, double size)
{
    const struct spec *spec = reader->spec;

    if (!str_eq(spec->algorithm, "grid"))
        return 0;
    for (size_t i = 0; i < spec->space.n; i++) {
        const struct param *param = &spec->space.params[i];
        if (!isinf(param_size(param)))
            continue;
        const struct yaml_node *node = yaml_find(yaml_find(reader->root, "params"), param->name);
        return yaml_err(
            reader->err, node,
            "parameter '%s': a grid needs a finite number of values; give it a step or a list",
            param->name);
    }
    if (spec->trials == 0 && size > TRIALS_MAX)
        return yaml_err(reader->err, given(reader, "search", NULL) ?: reader->root,
                        "the grid has %.3g settings, too many to run; give 'search.trials'", size);
    return 0;
}

/* Something must be left to try. */
static int check_forbid(struct reader *reader, double size)
{
    if (size > 0)
        return 0;
    return yaml_err(reader->err, given(reader, "forbid", NULL),
                    "'forbid' forbids every setting, so there is nothing to try");
}

static int settle_trials(struct reader *reader)
{
    struct spec *spec = reader->spec;
    double size = space_size(&spec->space);
    int r = check_forbid(reader, size);

    if (r == 0)
        r = check_grid(reader, size);
    if (r < 0)
        return r;
    if ((double)spec->trials > size)
        reader_note(reader, "the space has only %.0f different setting%s: %.0f trial%s", size,
                    size == 1 ? "" : "s", size, size == 1 ? "" : "s");
    if (spec->trials == 0)
        spec->trials = str_eq(spec->algorithm, "grid") ? (int64_t)size : TRIALS_DEFAULT;
    if ((double)spec->trials > size)
        spec->trials = (int64_t)size;
    if (spec->tries.len > (size_t)spec->trials)
        reader_note(reader, "try: there are %zu settings, but only %lld trial%s", spec->tries.len,
                    (long long)spec->trials, spec->trials == 1 ? "" : "s");
    return 0;
}

/* tune: joint — how fast a setting runs must count, or nothing would tell two configurations of the
 * machine apart. */
static void settle_per(struct reader *reader)
{
    struct spec *spec = reader->spec;

    if (spec->joint_n > 0 && spec->objective.metric && spec->others.len == 0 &&
        !given(reader, "objective", "per"))
        spec->per = PER_SECONDS;
}

static int finish(struct reader *reader)
{
    struct spec *spec = reader->spec;

    int r = check_command(reader);
    if (r == 0)
        r = check_objective(reader);
    if (r == 0)
        r = check_variables(reader);
    if (r == 0)
        r = settle_trials(reader);
    if (r < 0)
        return r;
    settle_per(reader);
    if (!spec->dir)
        spec->dir = xstrdup(reader->dir);
    if (!spec->name)
        spec->name = spec_name_default(reader);
    if (!given(reader, "search", "seed"))
        spec->seed = random_u64() >> 33; /* short enough to be typed again */
    return 0;
}

/* ---- trees ---- */

static int read_tree(struct reader *reader, struct yaml_node *root)
{
    int r = 0;

    if (is_pipetune(root))
        r = import_pipetune(reader, &root);
    else if (is_mlframework(root))
        r = import_mlframework(reader, &root);
    if (r == 0)
        r = apply_overrides(reader, &root);
    if (r == 0 && reader->dir[0] != '/')
        r = err_set(reader->err, ENOENT, "the current folder is gone: go to one that exists");
    if (r < 0)
        return r;
    reader->root = root;
    r = read_spec(reader, root);
    return r < 0 ? r : finish(reader);
}

static void reader_init(struct reader *reader, const char *name, const char *dir,
                        const struct spec_overrides *overrides, struct spec *spec)
{
    autofree(mem) char *absolute = fs_absolute(dir ? dir : ".");

    *reader = (struct reader){.name = name, .overrides = overrides, .spec = spec};
    reader->dir = arena_strdup(&reader->arena, absolute);
    reader->now_us = overrides && overrides->now_us ? overrides->now_us : clock_wall_us();
}

int spec_parse(const char *text, size_t n, const char *name, const char *dir,
               const struct spec_overrides *overrides, struct spec *ret, struct str *ret_notes,
               struct err *err)
{
    struct reader reader;
    struct yaml_node *root;

    reader_init(&reader, name, dir, overrides, ret);
    reader.notes = ret_notes;
    reader.err = err;
    int r = yaml_parse(text, n, name, &reader.arena, &root, err);
    if (r == 0)
        r = read_tree(&reader, root);
    arena_release(&reader.arena);
    return r;
}

/* The keys of spec_parse_params(). */
static int check_part(struct reader *reader, const struct yaml_node *root)
{
    static const char *const known[] = {"params",    "forbid",     "try",
                                        "objective", "constraint", "search"};

    for (size_t i = 0; root->kind == YAML_MAP && i < root->n; i++) {
        const char *key = root->keys[i]->text;
        size_t k = 0;
        while (k < ARRAY_LEN(known) && !str_eq(known[k], key))
            k++;
        if (k == ARRAY_LEN(known))
            return yaml_err(reader->err, root->keys[i], "unknown key '%s'%s", key,
                            did_you_mean(reader, suggest(key, known, ARRAY_LEN(known))));
    }
    return 0;
}

static int read_part(struct reader *reader, struct yaml_node *root)
{
    move_to(root, reader->name);
    reader->root = root;
    int r = check_part(reader, root);
    if (r == 0)
        r = read_spec(reader, root);
    if (r == 0)
        r = check_objective(reader);
    return r < 0 ? r : check_forbid(reader, space_size(&reader->spec->space));
}

int spec_parse_params(const char *text, size_t n, struct spec *ret, struct err *err)
{
    struct err why = ERR_INIT;
    struct reader reader = {.name = "params", .dir = "/", .spec = ret, .err = &why};
    struct yaml_node *root;
    int r = yaml_parse(text, n, reader.name, &reader.arena, &root, &why);

    if (r == 0)
        r = read_part(&reader, root);
    if (r < 0) { /* without its place: the text was made by a program */
        const char *sentence = err_text(&why);
        size_t place = strlen(reader.name) + 2;
        err_set(err, -r, "%s", str_starts(sentence, "params: ") ? sentence + place : sentence);
    }
    err_release(&why);
    arena_release(&reader.arena);
    return r;
}

/* No text at all (path NULL), or text that came without a file name. */
static int parse_nameless(const struct str *text, const struct spec_overrides *overrides,
                          struct spec *ret, struct str *ret_notes, struct err *err)
{
    struct reader reader;
    struct yaml_node here = {.source = "the command line"}, *root = &here;
    int r = 0;

    reader_init(&reader, text ? "standard input" : "the command line", ".", overrides, ret);
    reader.nameless = true;
    reader.notes = ret_notes;
    reader.err = err;
    if (text)
        r = yaml_parse(text->s, text->len, reader.name, &reader.arena, &root, err);
    else
        root = yaml_map(&reader.arena, &here);
    if (r == 0)
        r = read_tree(&reader, root);
    arena_release(&reader.arena);
    return r;
}

static int read_file(const char *path, struct str *text, struct err *err)
{
    int r = fs_is_dir(path) ? -EISDIR : fs_read(path, YAML_TEXT_MAX, text, err);

    if (r == -EISDIR)
        return err_set(err, EISDIR, "%s is a folder, not a spec", path);
    if (r == -EFBIG)
        return err_set(err, EFBIG, "%s: larger than 4 MiB, too large for a file written by people",
                       path);
    return r;
}

static char *folder_of(const char *absolute)
{
    const char *slash = strrchr(absolute, '/');
    return slash == absolute || !slash ? xstrdup("/")
                                       : xstrndup(absolute, (size_t)(slash - absolute));
}

int spec_load(const char *path, const struct spec_overrides *overrides, struct spec *ret,
              struct str *ret_notes, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;

    if (!path)
        return parse_nameless(NULL, overrides, ret, ret_notes, err);
    bool input = str_eq(path, "-");
    int r = read_file(input ? "/dev/stdin" : path, &text, err);
    if (r < 0)
        return r;
    if (input)
        return parse_nameless(&text, overrides, ret, ret_notes, err);
    autofree(mem) char *absolute = fs_absolute(path);
    autofree(mem) char *dir = folder_of(absolute);
    r = spec_parse(text.s, text.len, path, dir, overrides, ret, ret_notes, err);
    if (r == 0 && !ret->file)
        ret->file = TAKE(absolute);
    return r;
}
