/* SPDX-License-Identifier: MIT */
/*
 * facts.c — flat facts, and lists of them joined by section and key.
 */
#include "cli/facts.h"
#include "base/clock.h"
#include "base/map.h"
#include "cli/output.h"

#include <math.h>

#define DEPTH_MAX 16 /* of JSON that is flattened */

void facts_release(struct facts *facts)
{
    vec_foreach (fact, &facts->list) {
        free(fact->key);
        free(fact->text);
    }
    vec_release(&facts->list);
}

static void add_text(struct facts *facts, const char *section, const char *key, const char *text)
{
    vec_push(&facts->list, ((struct fact){section, xstrdup(key), xstrdup(text), NAN}));
}

static void add_number(struct facts *facts, const char *section, const char *key, double x)
{
    char buf[DOUBLE_TEXT_SIZE];
    if (!isnan(x))
        vec_push(&facts->list,
                 ((struct fact){section, xstrdup(key), xstrdup(double_text(buf, x)), x}));
}

/* Exact, also where a double is not. */
static void add_step(struct facts *facts, const char *key, int64_t step)
{
    vec_push(&facts->list, ((struct fact){"results", xstrdup(key),
                                          xasprintf("%lld", (long long)step), (double)step}));
}

static void add_time(struct facts *facts, const char *key, int64_t us)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_duration(&text, us);
    add_text(facts, "results", key, us > 0 ? text.s : "");
}

/* ---- JSON, flattened ---- */

static void flatten(struct facts *facts, const char *section, const char *path, const json_t *value,
                    int depth);

static void flatten_members(struct facts *facts, const char *section, const char *path,
                            const json_t *object, int depth)
{
    const char *key;
    json_t *child;

    json_object_foreach((json_t *)object, key, child)
    {
        autofree(mem) char *below = xasprintf("%s%s%s", path, *path ? "." : "", key);
        flatten(facts, section, below, child, depth + 1);
    }
}

static void flatten(struct facts *facts, const char *section, const char *path, const json_t *value,
                    int depth)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (json_is_null(value) || depth > DEPTH_MAX)
        return;
    if (json_is_object(value)) {
        flatten_members(facts, section, path, value, depth);
    } else if (json_is_number(value)) {
        add_number(facts, section, path, json_number_value(value));
    } else if (json_is_string(value)) {
        add_text(facts, section, path, json_string_value(value));
    } else {
        json_value(&out, value);
        add_text(facts, section, path, text.s);
    }
}

static int flatten_text(struct facts *facts, const char *section, const char *json, struct err *err)
{
    autofree(json) json_t *value = NULL;

    if (!json)
        return 0;
    int r = json_parse(json, strlen(json), &value, err);
    if (r < 0)
        return err_context(err, "stored %s", section);
    flatten(facts, section, "", value, 0);
    return 0;
}

int facts_setting(struct facts *facts, const struct target *target, struct err *err)
{
    const struct experiment *experiment = &target->experiment.experiment;
    autofree(mem) char *spec = shown_spec(experiment->spec_json);
    int r = flatten_text(facts, "spec", spec, err);
    return r < 0 ? r : flatten_text(facts, "environment", experiment->environment, err);
}

/* ---- results ---- */

static int on_summary(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    add_number(arg, "results", summary->metric, summary->last);
    return 0;
}

static int trial_results(struct facts *facts, struct store *store, const struct target *target,
                         struct err *err)
{
    const struct trial *trial = &target->trial.trial;
    autorelease(str) struct str state = STR_INIT;

    str_add_state(&state, trial_state_name(trial->state), trial->reason);
    add_text(facts, "results", "state", state.s);
    add_number(facts, "results", "value", trial->value);
    add_number(facts, "results", "best", trial->best);
    if (trial->last_step != STEP_NONE)
        add_step(facts, "step", trial->last_step);
    add_number(facts, "results", "attempts", (double)trial->attempts);
    add_time(facts, "time", trial->run_us);
    int r = store_summaries(store, trial->experiment, trial->number, on_summary, facts, err);
    if (r < 0)
        return r;
    return flatten_text(facts, "parameters", target->trial.params_json, err);
}

static int experiment_results(struct facts *facts, struct store *store, const struct target *target,
                              struct err *err)
{
    const struct experiment_row *row = &target->experiment;
    autofree(mem) char *params = trial_params(store, row->experiment.id, row->best_trial);
    autorelease(str) struct str state = STR_INIT;

    str_add_state(&state, experiment_state_name(row->experiment.state), row->experiment.reason);
    add_text(facts, "results", "name", row->experiment.name);
    add_text(facts, "results", "state", state.s);
    for (int i = 0; i < TRIAL_STATES; i++)
        if (row->counts[i] || trial_state_ended((enum trial_state)i))
            add_number(facts, "results", trial_state_name((enum trial_state)i),
                       (double)row->counts[i]);
    if (row->best_trial) {
        autofree(mem) char *best =
            xasprintf("%lld.%lld", (long long)row->experiment.id, (long long)row->best_trial);
        add_text(facts, "results", "best trial", best);
    }
    add_number(facts, "results", "value", row->best_value);
    add_time(facts, "time", row->experiment.run_us);
    return flatten_text(facts, "parameters", params, err);
}

int facts_results(struct facts *facts, struct store *store, const struct target *target,
                  struct err *err)
{
    return target->has_trial ? trial_results(facts, store, target, err)
                             : experiment_results(facts, store, target, err);
}

/* ---- side by side ---- */

/* The row of a fact, made if it is new. `seen` maps section and key to row + 1. */
static struct sheet_row *row_of(struct sheet *sheet, struct map_text *seen, const struct fact *fact)
{
    autofree(mem) char *id = xasprintf("%s/%s", fact->section, fact->key);
    uintptr_t at = (uintptr_t)map_text_find(seen, id);

    if (at == 0) {
        vec_push(&sheet->rows,
                 ((struct sheet_row){fact->section, fact->key,
                                     xcalloc(sheet->n_lists, sizeof(struct fact *)), true}));
        at = sheet->rows.len;
        map_text_put(seen, id, (void *)at);
    }
    return &sheet->rows.at[at - 1];
}

static bool row_equal(const struct sheet_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!row->cells[i] || !str_eq(row->cells[i]->text, row->cells[0]->text))
            return false;
    return true;
}

void sheet_init(struct sheet *sheet, const struct facts *lists, size_t n)
{
    struct map_text seen = MAP_TEXT_INIT;

    *sheet = (struct sheet){.n_lists = n};
    for (size_t i = 0; i < n; i++)
        vec_foreach (fact, &lists[i].list)
            row_of(sheet, &seen, fact)->cells[i] = fact;
    vec_foreach (row, &sheet->rows)
        row->equal = row_equal(row, n);
    map_text_release(&seen);
}

void sheet_release(struct sheet *sheet)
{
    vec_foreach (row, &sheet->rows)
        free(row->cells);
    vec_release(&sheet->rows);
}
