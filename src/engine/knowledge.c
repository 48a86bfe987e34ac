/* SPDX-License-Identifier: MIT */
/*
 * knowledge.c — what earlier experiments of the home teach a new one.
 *
 * Their results are carried over into the new space, value by value: a parameter that they did not
 * have is NaN, one that is constant now has its value of now, and a result whose setting lies
 * outside is left out. Which experiments, and how many of their results, is kept as an event of
 * the experiment, so that whoever goes on with it gives the search the same.
 */
#include "engine/internal.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define LOOK_BACK     200 /* experiments that `auto` looks at, newest first */
#define TASKS_MAX     5
#define RESULTS_MIN   5   /* `auto` wants so many */
#define RESULTS_MAX   200 /* of one experiment: the best half, and others evenly */
#define OVERLAP_LEAST 0.5 /* `auto` wants this share of our parameters */
#define EVENTS_FIRST  8   /* the event is among the first */

void knowledge_release(struct knowledge_data *knowledge)
{
    vec_foreach (task, &knowledge->tasks) {
        free((double *)task->x);
        free((double *)task->y);
    }
    vec_release(&knowledge->tasks);
    vec_release(&knowledge->from);
}

/* ---- do two spaces have something in common? ---- */

static bool choices_meet(const struct param *a, const struct param *b)
{
    for (size_t i = 0; i < a->n_choices; i++) {
        double x;
        if (param_parse(b, &a->choices[i], &x, NULL) >= 0)
            return true;
    }
    return false;
}

static bool params_meet(const struct param *a, const struct param *b)
{
    if (a->type != b->type || param_size(a) < 2 || param_size(b) < 2)
        return false;
    if (a->type == PARAM_CHOICE)
        return choices_meet(a, b);
    return a->min <= b->max && b->min <= a->max;
}

/* The share of what varies in `mine` that `other` varied too. */
static double overlap(const struct space *mine, const struct space *other)
{
    double varied = 0, common = 0;

    for (size_t i = 0; i < mine->n; i++) {
        ptrdiff_t k = space_find(other, mine->params[i].name);
        varied += param_size(&mine->params[i]) > 1;
        common += k >= 0 && params_meet(&mine->params[i], &other->params[k]);
    }
    return varied > 0 ? common / varied : 0;
}

/* python3 train.py: the first two words. */
static bool same_program(const struct spec *a, const struct spec *b)
{
    size_t n = MIN(2, a->command.len);

    if (!n || b->command.len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eq(a->command.at[i], b->command.at[i]))
            return false;
    return true;
}

static bool same_objective(const struct spec *a, const struct spec *b)
{
    return b->objective.metric && str_eq(a->objective.metric, b->objective.metric) &&
           a->objective.goal == b->objective.goal;
}

/* ---- results of one experiment, in our space ---- */

struct row {
    int64_t told, number;
    double y;
    double *x; /* NULL: it lies outside of our space */
    bool kept;
};

struct reading {
    const struct space *mine, *other;
    double sign;
    VEC(struct row) rows;
};

/* A value of theirs as ours; false if we have no such value. */
static bool carry_over(const struct param *from, double x, const struct param *to, double *ret)
{
    struct value value = param_value(from, x);
    int r = param_parse(to, &value, ret, NULL);

    value_release(&value);
    return r >= 0 && param_contains(to, *ret);
}

static bool map_point(const struct reading *reading, const double *from, double *ret_x)
{
    const struct space *mine = reading->mine;
    bool known = false;

    for (size_t i = 0; i < mine->n; i++) {
        const struct param *param = &mine->params[i];
        ptrdiff_t k = space_find(reading->other, param->name);
        ret_x[i] = NAN;
        if (!param_active(param, ret_x))
            continue;
        if (param_size(param) == 1)
            ret_x[i] = param_value_at(param, 0);
        else if (k < 0 || isnan(from[k]))
            continue;
        else if (!carry_over(&reading->other->params[k], from[k], param, &ret_x[i]))
            return false;
        else
            known = true;
    }
    return known && !space_forbids(mine, ret_x);
}

static int read_row(const struct trial_row *row, void *arg)
{
    struct reading *reading = arg;
    const struct trial *trial = &row->trial;

    if (trial->state != TRIAL_COMPLETED || !isfinite(trial->value) ||
        row->ndim != reading->other->n)
        return 0;
    double *x = xcalloc(reading->mine->n + 1, sizeof(*x));
    if (!map_point(reading, trial->point, x))
        free(TAKE(x));
    vec_push(&reading->rows,
             ((struct row){trial->told, trial->number, reading->sign * trial->value, x, false}));
    return 0;
}

static int by_told(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int64_t p = x->told ? x->told : INT64_MAX, q = y->told ? y->told : INT64_MAX;
    if (p != q)
        return p < q ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_value(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    if (x->y != y->y)
        return x->y < y->y ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Mark at most RESULTS_MAX of the first `n`: the best half, and others evenly over the time. */
static size_t choose_rows(struct row *rows, size_t n)
{
    VEC(struct row *) usable = {0};
    size_t kept = 0, m;

    for (size_t i = 0; i < n; i++)
        if (rows[i].x)
            vec_push(&usable, &rows[i]);
    m = usable.len;
    if (m)
        qsort(usable.at, m, sizeof(*usable.at), by_value);
    for (; kept < m && (m <= RESULTS_MAX || kept < RESULTS_MAX / 2); kept++)
        usable.at[kept]->kept = true;
    size_t rest = m - kept, room = MIN(rest, RESULTS_MAX - MIN(kept, RESULTS_MAX)), seen = 0;
    for (size_t i = 0; i < n && room; i++) {
        if (!rows[i].x || rows[i].kept)
            continue;
        if ((seen + 1) * room / rest > seen * room / rest) {
            rows[i].kept = true;
            kept++;
        }
        seen++;
    }
    vec_release(&usable);
    return kept;
}

static void make_task(const struct reading *reading, size_t n, size_t kept, struct task *ret)
{
    size_t d = reading->mine->n, k = 0;
    double *x = xcalloc(kept * d + 1, sizeof(*x)), *y = xcalloc(kept + 1, sizeof(*y));

    for (size_t i = 0; i < n; i++) {
        const struct row *row = &reading->rows.at[i];
        if (!row->kept)
            continue;
        memcpy(x + k * d, row->x, d * sizeof(*x));
        y[k++] = row->y;
    }
    *ret = (struct task){x, y, kept};
}

/* Add what experiment `id` of spec `other` teaches: its first `results` results, 0: all. Returns
 * how many of them lie in our space; fewer than `least`: none is taken. */
static ptrdiff_t add_task(struct run *run, struct store *store, int64_t id,
                          const struct spec *other, int64_t results, size_t least, struct err *err)
{
    struct reading reading = {.mine = &run->spec.space,
                              .other = &other->space,
                              .sign = other->objective.goal == GOAL_MAXIMIZE ? -1 : 1};
    struct trial_query query = {.experiment = id, .bare = true};
    ptrdiff_t r = store_trials(store, &query, read_row, &reading, err);
    size_t n = reading.rows.len;

    if (r >= 0 && n) {
        qsort(reading.rows.at, n, sizeof(*reading.rows.at), by_told);
        n = results ? MIN(n, (size_t)results) : n;
        r = (ptrdiff_t)choose_rows(reading.rows.at, n);
    }
    if (r > 0 && (size_t)r >= least) {
        struct task task;
        make_task(&reading, n, (size_t)r, &task);
        vec_push(&run->knowledge.tasks, task);
        vec_push(&run->knowledge.from, ((struct lesson){id, (int64_t)n}));
    }
    vec_foreach (row, &reading.rows)
        free(row->x);
    vec_release(&reading.rows);
    return r;
}

static int parse_stored(const char *text, struct spec *ret, struct err *err)
{
    if (!text)
        return err_set(err, EINVAL, "its spec is not stored");
    return spec_parse(text, strlen(text), "stored spec", "/", NULL, ret, NULL, err);
}

/* ---- auto: the most similar ones ---- */

struct candidate {
    int64_t experiment;
    double score;
};
struct survey {
    const struct run *run;
    VEC(struct candidate) found;
};

static bool has_enough(const struct experiment_row *row)
{
    enum experiment_state state = row->experiment.state;
    return (state == EXPERIMENT_FINISHED || state == EXPERIMENT_STOPPED ||
            state == EXPERIMENT_INTERRUPTED) &&
           row->counts[TRIAL_COMPLETED] >= RESULTS_MIN;
}

/* How alike they are; 0: not enough. The same program counts for more. */
static double likeness(const struct spec *mine, const char *spec_json)
{
    autorelease(spec) struct spec other;

    spec_init(&other);
    if (parse_stored(spec_json, &other, NULL) < 0 || !same_objective(mine, &other))
        return 0;
    double share = overlap(&mine->space, &other.space);
    return share < OVERLAP_LEAST ? 0 : share + same_program(mine, &other);
}

static int consider(const struct experiment_row *row, void *arg)
{
    struct survey *survey = arg;

    if (!has_enough(row))
        return 0;
    double score = likeness(&survey->run->spec, row->experiment.spec_json);
    if (score > 0)
        vec_push(&survey->found, ((struct candidate){row->experiment.id, score}));
    return 0;
}

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->experiment > y->experiment ? -1 : x->experiment < y->experiment;
}

/* By number, as it was written down; `ret` is spec_init()ed. */
static int find_spec(struct store *store, const char *ref, int64_t *ret_id, struct spec *ret,
                     struct err *err)
{
    struct experiment_row row = {0};
    int r = store_find_experiment(store, ref, true, &row, err);

    if (r < 0)
        return r;
    *ret_id = row.experiment.id;
    r = parse_stored(row.experiment.spec_json, ret, err);
    experiment_row_release(&row);
    return r;
}

static int add_by_number(struct run *run, struct store *store, int64_t experiment, int64_t results,
                         size_t least)
{
    autofree(mem) char *ref = xasprintf("%lld", (long long)experiment);
    autorelease(spec) struct spec other;
    int64_t id;

    spec_init(&other);
    int r = find_spec(store, ref, &id, &other, NULL);
    if (r >= 0)
        r = (int)add_task(run, store, id, &other, results, least, NULL);
    return r;
}

static int find_similar(struct run *run, struct store *store, struct err *err)
{
    struct survey survey = {.run = run};
    int r = store_experiments(store, LOOK_BACK, consider, &survey, err);

    if (survey.found.len)
        qsort(survey.found.at, survey.found.len, sizeof(*survey.found.at), by_score);
    for (size_t i = 0; r >= 0 && i < survey.found.len && run->knowledge.tasks.len < TASKS_MAX; i++)
        add_by_number(run, store, survey.found.at[i].experiment, 0, RESULTS_MIN);
    vec_release(&survey.found);
    return r < 0 ? r : 0;
}

/* ---- a list: these, or a sentence ---- */

static int add_named(struct run *run, struct store *store, const char *name, struct err *err)
{
    autorelease(spec) struct spec other;
    int64_t id = 0;

    spec_init(&other);
    int r = find_spec(store, name, &id, &other, err);
    if (r < 0)
        return r;
    vec_foreach (lesson, &run->knowledge.from)
        if (lesson->experiment == id)
            return 0; /* named twice */
    if (!other.objective.metric)
        return err_set(err, EINVAL, "experiment '%s' has no objective to learn from", name);
    if (overlap(&run->spec.space, &other.space) <= 0)
        return err_set(err, EINVAL, "experiment '%s' varied none of these parameters", name);
    ptrdiff_t n = add_task(run, store, id, &other, 0, 1, err);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return err_set(err, EINVAL, "experiment '%s' has no result within these parameters", name);
    return 0;
}

static int find_named(struct run *run, struct store *store, struct err *err)
{
    int r = 0;

    if (run->spec.knowledge_from.len > TASKS_MAX)
        r = err_set(err, EINVAL, "at most %d experiments can be learned from", TASKS_MAX);
    vec_foreach (name, &run->spec.knowledge_from)
        if (r >= 0)
            r = add_named(run, store, *name, err);
    if (r < 0)
        err_context(err, "knowledge");
    return r;
}

int knowledge_find(struct run *run, struct store *store, struct err *err)
{
    if (!store || run->spec.knowledge == KNOWLEDGE_OFF || run->experiment.rerun_of_trial ||
        !run->spec.objective.metric)
        return 0;
    if (run->spec.knowledge == KNOWLEDGE_LIST)
        return find_named(run, store, err);
    return find_similar(run, store, err);
}

/* ---- what was used is an event, and comes back from it ---- */

void knowledge_announce(struct run *run, struct now now)
{
    autorelease(str) struct str json = STR_INIT;

    if (!run->knowledge.from.len)
        return;
    struct json_out out = event_begin(&json, "knowledge", run, NULL);
    json_key(&out, "from");
    json_begin_array(&out);
    vec_foreach (lesson, &run->knowledge.from)
        json_int(&out, lesson->experiment);
    json_end_array(&out);
    json_key(&out, "results");
    json_begin_array(&out);
    vec_foreach (lesson, &run->knowledge.from)
        json_int(&out, lesson->results);
    json_end_array(&out);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

struct lessons {
    VEC(struct lesson) list;
};

static int read_event(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct lessons *lessons = arg;
    autofree(json) json_t *event = NULL;
    (void)id, (void)time_us, (void)trial;

    if (json_parse(json, strlen(json), &event, NULL) < 0 ||
        !str_eq(json_get_text(event, "event", ""), "knowledge"))
        return 0;
    const json_t *from = json_object_get(event, "from");
    const json_t *results = json_object_get(event, "results");
    for (size_t i = 0; i < json_array_size(from); i++)
        vec_push(&lessons->list, ((struct lesson){json_integer_value(json_array_get(from, i)),
                                                  json_integer_value(json_array_get(results, i))}));
    return 1;
}

/* An experiment that was removed meanwhile teaches no more. */
int knowledge_load(struct run *run, struct store *store, struct err *err)
{
    struct lessons lessons = {0};
    int r = store_events(store, run->experiment.id, 0, EVENTS_FIRST, read_event, &lessons, err);

    vec_foreach (lesson, &lessons.list)
        if (r >= 0 && lesson->results > 0)
            add_by_number(run, store, lesson->experiment, lesson->results, 1);
    vec_release(&lessons.list);
    return r < 0 ? r : 0;
}
