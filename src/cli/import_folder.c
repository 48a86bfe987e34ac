/* SPDX-License-Identifier: MIT */
/*
 * import_folder.c — the folder of another tracker: who wrote it, its experiments and their runs.
 *
 * The first tracker of the list that finds a run takes the folder. Every run is read once for what
 * it has (parameters, metrics, the last value of the objective), and a second time, when the
 * experiment has its number, for every sample: so no curve is ever held in memory.
 */
#include "base/fs.h"
#include "base/map.h"
#include "base/suggest.h"
#include "cli/import.h"
#include "metrics/line_write.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#define DEPTH_MAX   32
#define METRICS_MAX 10000 /* of a run; more are left out, and said */
#define PARAMS_MAX  10000 /* of an experiment */
#define NAMED_MAX   20    /* metrics, in a sentence */
#define DAMAGE_MAX  10    /* damaged files that are named; more are counted */

static const struct import_kind *const kinds[] = {&import_mlflow, &import_tensorboard,
                                                  &import_tables};

/* ---- walking ---- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_version(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name); /* run-2 before run-10 */
}

static int walk(const char *folder, int depth, int (*fn)(const char *, const char *, void *),
                void *arg, struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, visible, by_version), r = 0;

    if (n < 0)
        return err_errno(err, errno, "cannot read %s", folder);
    for (int i = 0; i < n; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        struct stat st;
        if (r == 0 && lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
                r = walk(path, depth + 1, fn, arg, err);
            else if (S_ISREG(st.st_mode))
                r = fn(path, entries[i]->d_name, arg);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

int import_walk(const char *folder, int (*fn)(const char *path, const char *name, void *arg),
                void *arg, struct err *err)
{
    return walk(folder, 0, fn, arg, err);
}

/* ---- sets ---- */

void import_set_release(struct import_set *set)
{
    vec_foreach (sheet, &set->sheets)
        import_sheet_release(sheet);
    vec_release(&set->sheets);
}

struct import_sheet *import_add_sheet(struct import_set *set, const char *name, char *from)
{
    struct import_sheet sheet = {
        .name = xstrdup(name), .from = from, .runs = true, .notes = STR_INIT};
    vec_push(&set->sheets, sheet);
    return vec_last(&set->sheets);
}

struct import_row *import_add_run(struct import_sheet *sheet, const struct import_kind *kind,
                                  const char *path, const char *label)
{
    struct import_row *row = import_add_row(sheet, 0);

    row->state = TRIAL_COMPLETED;
    row->kind = kind;
    row->path = xstrdup(path);
    row->label = xstrdup(label);
    return row;
}

/* ---- the first reading ---- */

struct setting {
    size_t row;
    char *name, *text;
    bool quoted;
};
struct survey {
    struct import_row *row;
    size_t index;
    bool timed;              /* the tracker itself told when the run was */
    struct map_text metrics; /* name → place in row->metrics, from 1 */
    struct str name;         /* of a metric, as it will be here */
    uint64_t left_out;
    uint64_t unread;              /* lines */
    char *first_unread;           /* where; NULL: none */
    uint64_t damaged;             /* files */
    struct str damage;            /* what is said of them, a line each */
    VEC(struct setting) settings; /* of all rows */
};

static struct summary *summary_of(struct survey *survey, const char *metric)
{
    uintptr_t place = (uintptr_t)map_text_find(&survey->metrics, metric);

    if (place)
        return &survey->row->metrics.at[place - 1];
    if (survey->row->metrics.len >= METRICS_MAX) {
        survey->left_out++;
        return NULL;
    }
    struct summary summary = {.metric = xstrdup(metric),
                              .min = NAN,
                              .max = NAN,
                              .last_step = STEP_NONE,
                              .first_nan_step = STEP_NONE};
    vec_push(&survey->row->metrics, summary);
    map_text_put(&survey->metrics, metric, (void *)(uintptr_t)survey->row->metrics.len);
    return vec_last(&survey->row->metrics);
}

static void survey_sample(const struct sample *sample, void *arg)
{
    struct survey *survey = arg;
    struct import_row *row = survey->row;

    str_cut(&survey->name, 0);
    line_write_name(&survey->name, sample->metric);
    struct summary *summary = summary_of(survey, survey->name.s);
    if (!summary)
        return;
    int64_t next = summary->last_step == STEP_NONE ? 0 : MIN(summary->last_step, INT64_MAX - 1) + 1;
    summary->count++;
    summary->last = sample->value;
    summary->last_step = sample->step == STEP_NONE ? next : sample->step;
    if (isfinite(sample->value)) {
        summary->min = fmin(summary->min, sample->value);
        summary->max = fmax(summary->max, sample->value);
    } else if (summary->first_nan_step == STEP_NONE) {
        summary->first_nan_step = summary->last_step;
    }
    if (survey->timed || sample->time_us <= 0)
        return;
    row->started_us = row->started_us ? MIN(row->started_us, sample->time_us) : sample->time_us;
    row->ended_us = MAX(row->ended_us, sample->time_us);
}

static void survey_param(const char *name, const char *text, bool quoted, void *arg)
{
    struct survey *survey = arg;
    struct setting setting = {survey->index, xstrdup(name), xstrdup(text), quoted};

    vec_push(&survey->settings, setting);
}

static void survey_unread(const char *path, size_t line, void *arg)
{
    struct survey *survey = arg;

    if (survey->unread++ == 0)
        survey->first_unread = xasprintf("%s:%zu", path, line);
}

static void survey_damage(const char *path, const char *what, void *arg)
{
    struct survey *survey = arg;

    if (survey->damaged++ < DAMAGE_MAX)
        str_addf(&survey->damage, "%s: %s\n", path, what);
}

static void survey_release(struct survey *survey)
{
    free(survey->first_unread);
    str_release(&survey->damage);
    map_text_release(&survey->metrics);
    str_release(&survey->name);
    vec_foreach (setting, &survey->settings) {
        free(setting->name);
        free(setting->text);
    }
    vec_release(&survey->settings);
}

/* A table of words is not what was meant; among others it is only told. */
static int look_for_samples(struct import_sheet *sheet, struct err *err)
{
    const struct import_row *without = NULL;
    bool some = false;

    vec_foreach (row, &sheet->rows) {
        some |= row->metrics.len > 0;
        if (row->words && !without)
            without = row;
    }
    if (without && !some)
        return err_set(err, EINVAL,
                       "%s: no column has a number below the header; a table needs a header line, "
                       "and cells parted by commas, semicolons or tabs",
                       without->path);
    if (without)
        str_addf(&sheet->notes, "%s: no column has a number, so the trial has no samples\n",
                 without->path);
    return 0;
}

/* Files that are no event files, and nothing beside them, are not what was meant. */
static int look_for_damage(struct import_sheet *sheet, const struct survey *survey, struct err *err)
{
    bool foreign = sheet->rows.len > 0;

    vec_foreach (row, &sheet->rows)
        foreign &= row->foreign;
    if (foreign)
        return err_set(err, EINVAL, "nothing could be read: %.*s",
                       (int)strcspn(survey->damage.s, "\n"), survey->damage.s);
    str_add_n(&sheet->notes, survey->damage.s, survey->damage.len);
    if (survey->damaged > DAMAGE_MAX)
        str_addf(&sheet->notes, "%llu more files could not be read as a whole\n",
                 (unsigned long long)survey->damaged - DAMAGE_MAX);
    return 0;
}

static int survey_rows(struct import_sheet *sheet, struct survey *survey, struct err *err)
{
    struct import_sink sink = {survey_sample, survey_param, survey_unread, survey_damage, survey};
    int r = 0;

    for (size_t i = 0; i < sheet->rows.len && r == 0; i++) {
        survey->row = &sheet->rows.at[i];
        survey->index = i;
        survey->timed = survey->row->started_us > 0;
        map_text_release(&survey->metrics);
        survey->metrics = (struct map_text)MAP_TEXT_INIT;
        r = survey->row->kind->read(survey->row, &sink, err);
    }
    if (survey->left_out)
        str_addf(&sheet->notes, "runs with more than %d metrics: the others are left out\n",
                 METRICS_MAX);
    if (survey->unread)
        str_addf(&sheet->notes, "%llu line%s not read as a metric: %s%s\n",
                 (unsigned long long)survey->unread, survey->unread == 1 ? " was" : "s were",
                 survey->unread == 1 ? "" : "the first is ", survey->first_unread);
    if (r == 0)
        r = look_for_damage(sheet, survey, err);
    return r == 0 ? look_for_samples(sheet, err) : r;
}

/* ---- parameters ---- */

static int add_params(struct import_sheet *sheet, const struct survey *survey,
                      const struct import_options *options, struct err *err)
{
    VEC(const char *) names = {NULL, 0, 0};
    autorelease(map_text) struct map_text known = MAP_TEXT_INIT;
    int r = 0;

    vec_foreach (setting, &survey->settings) {
        bool ignored = false;
        for (size_t i = 0; i < options->n_ignore; i++)
            ignored = ignored || str_eq(options->ignore[i], setting->name);
        if (ignored || map_text_find(&known, setting->name) || names.len >= PARAMS_MAX)
            continue;
        map_text_put(&known, setting->name, setting);
        vec_push(&names, setting->name);
    }
    autofree(mem) struct import_cell *cells = xcalloc(sheet->rows.len + 1, sizeof(*cells));
    for (size_t i = 0; i < names.len && r == 0; i++) {
        for (size_t k = 0; k < sheet->rows.len; k++)
            cells[k] = (struct import_cell){"", false};
        vec_foreach (setting, &survey->settings)
            if (str_eq(setting->name, names.at[i]))
                cells[setting->row] = (struct import_cell){setting->text, setting->quoted};
        r = import_add_column(sheet, names.at[i], cells, 1, sheet->rows.len, err);
    }
    vec_release(&names);
    return r;
}

/* ---- objectives ---- */

static const struct summary *find_metric(const struct import_row *row, const char *metric)
{
    vec_foreach (summary, &row->metrics)
        if (str_eq(summary->metric, metric))
            return summary;
    return NULL;
}

static bool sheet_has(const struct import_sheet *sheet, const char *metric)
{
    vec_foreach (row, &sheet->rows)
        if (find_metric(row, metric))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "a, b and 3 more": each once, in order. Returns how many there are. */
static size_t name_some(const char **names, size_t n, struct str *to)
{
    size_t unlike = 0;

    if (n)
        qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(names[i], names[i - 1]))
            continue;
        if (unlike < NAMED_MAX)
            str_addf(to, "%s'%s'", unlike ? ", " : "", names[i]);
        unlike++;
    }
    if (unlike > NAMED_MAX)
        str_addf(to, " and %zu more", unlike - NAMED_MAX);
    return unlike;
}

static int no_metric(const struct import_set *set, const char *metric, struct err *err)
{
    VEC(const char *) names = {NULL, 0, 0};

    vec_foreach (sheet, &set->sheets)
        vec_foreach (row, &sheet->rows)
            vec_foreach (summary, &row->metrics)
                vec_push(&names, summary->metric);
    const char *closest = suggest(metric, names.at, names.len);
    autorelease(str) struct str known = STR_INIT;
    size_t n = name_some(names.at, names.len, &known);
    vec_release(&names);
    if (closest)
        return err_set(err, EINVAL, "no run has a metric '%s', did you mean '%s'?", metric,
                       closest);
    if (!n)
        return err_set(err, EINVAL, "no run has a metric '%s', nor any other", metric);
    return err_set(err, EINVAL, "no run has a metric '%s'; there %s %s", metric,
                   n == 1 ? "is" : "are", known.s);
}

/* Each experiment takes those of the objectives that it knows. */
static int add_objective(struct import_set *set, const char *text, struct err *err)
{
    const char *colon = strrchr(text, ':');
    bool up = colon && str_eq(colon, ":maximize"), down = colon && str_eq(colon, ":minimize");
    autofree(mem) char *given = up || down ? xstrndup(text, (size_t)(colon - text)) : xstrdup(text);
    autorelease(str) struct str clean = STR_INIT;
    bool found = false;

    line_write_name(&clean, given);
    const char *name = clean.s;

    vec_foreach (sheet, &set->sheets) {
        if (!sheet_has(sheet, name))
            continue;
        found = true;
        vec_push(&sheet->objectives, ((struct objective){.metric = xstrdup(name),
                                                         .goal = up ? GOAL_MAXIMIZE : GOAL_MINIMIZE,
                                                         .target = NAN}));
    }
    return found ? 0 : no_metric(set, name, err);
}

/* As the engine judges a trial: the last value counts, and without one it has failed. */
static void judge(struct import_sheet *sheet)
{
    size_t n = sheet->objectives.len;

    vec_foreach (row, &sheet->rows) {
        free(row->values);
        row->values = xcalloc(n + 1, sizeof(double));
        for (size_t i = 0; i < n; i++) {
            const struct summary *summary = find_metric(row, sheet->objectives.at[i].metric);
            row->values[i] = summary ? summary->last : NAN;
        }
        if (n && row->state == TRIAL_COMPLETED && !isfinite(row->values[0])) {
            row->state = TRIAL_FAILED;
            row->reason = isnan(row->values[0]) && !find_metric(row, sheet->objectives.at[0].metric)
                              ? REASON_NO_METRIC
                              : REASON_DIVERGED;
        }
    }
    if (!n)
        str_add(&sheet->notes, "no objective: say --objective METRIC to have its trials ranked\n");
}

/* ---- a folder ---- */

static int find_runs(const char *path, struct import_set *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        int r = kinds[i]->find(path, ret, err);
        if (r < 0 || ret->sheets.len)
            return r;
    }
    return err_set(err, EINVAL,
                   "there are no runs: neither TensorBoard's event files, nor MLflow's mlruns, nor "
                   "CSV files");
}

int import_folder(const char *path, const struct import_options *options, struct import_set *ret,
                  struct err *err)
{
    int r = find_runs(path, ret, err);

    for (size_t i = 0; i < ret->sheets.len && r == 0; i++) {
        autorelease(survey) struct survey survey = {
            .metrics = MAP_TEXT_INIT, .name = STR_INIT, .damage = STR_INIT};
        r = survey_rows(&ret->sheets.at[i], &survey, err);
        if (r == 0)
            r = add_params(&ret->sheets.at[i], &survey, options, err);
    }
    for (size_t i = 0; i < options->n_objectives && r == 0; i++)
        r = add_objective(ret, options->objectives[i], err);
    vec_foreach (sheet, &ret->sheets)
        if (r == 0)
            judge(sheet);
    return r;
}

/* ---- the second reading ---- */

struct writing {
    FILE *file;
    struct str line;
};

static void write_sample(const struct sample *sample, void *arg)
{
    struct writing *writing = arg;

    str_cut(&writing->line, 0);
    if (line_write(&writing->line, sample))
        fwrite(writing->line.s, 1, writing->line.len, writing->file);
}

int import_write_run(struct import_row *row, const char *path, struct err *err)
{
    struct writing writing = {.file = fopen(path, "we"), .line = STR_INIT};
    struct import_sink sink = {.on_sample = write_sample, .arg = &writing};

    if (!writing.file)
        return err_errno(err, errno, "cannot write %s", path);
    int r = row->kind->read(row, &sink, err);
    if (ferror(writing.file))
        r = err_errno(err, EIO, "cannot write %s", path);
    if (fclose(writing.file) != 0 && r == 0)
        r = err_errno(err, errno, "cannot write %s", path);
    str_release(&writing.line);
    return r;
}
