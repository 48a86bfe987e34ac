/* SPDX-License-Identifier: MIT */
/*
 * knowledge.c — what earlier experiments of the home teach a new one.
 *
 * Which experiments, and how many of their results, is kept as an event of the experiment, so that
 * whoever goes on with it gives the search the same.
 */
#include "engine/internal.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define LOOK_BACK     200 /* experiments that `auto` looks at, newest first */
#define TASKS_MAX     5
#define RESULTS_MIN   5   /* `auto` wants so many */
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
    double share = lesson_overlap(&mine->space, &other.space);
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
        r = (int)lesson_add(run, store, id, &other, results, least, NULL);
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
    if (lesson_overlap(&run->spec.space, &other.space) <= 0)
        return err_set(err, EINVAL, "experiment '%s' varied none of these parameters", name);
    ptrdiff_t n = lesson_add(run, store, id, &other, 0, 1, err);
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
    struct problem problem = {.space = &run->spec.space, .trials = run->spec.trials};
    if (run->spec.knowledge == KNOWLEDGE_LIST)
        return find_named(run, store, err);
    return search_learns(run->spec.algorithm, &problem) ? find_similar(run, store, err) : 0;
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
