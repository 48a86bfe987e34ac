/* SPDX-License-Identifier: MIT */
/*
 * workloads.c — what earlier workloads taught about the machine, and what this one teaches.
 *
 *     submission ─► identity ─► the same workload is known: its effects are the prior
 *     windows    ─► response, profile ─► one like it is known: the same, less sure
 *     a trial has ended ─► effects, response, profile go into the store
 *
 * A prior is confirmed by the windows of the trials, or it is not: it orders nothing.
 */
#include "agent/counters.h"
#include "base/log.h"
#include "engine/internal.h"
#include "store/object.h"
#include "tune/cluster.h"

#include <math.h>

#define UNFIT  0.3 /* ln of the ratio of speeds at which what was known does not fit */
#define MAP_US (60 * US_PER_S)

/* ---- who it is ---- */

static char *machine_kind(const json_t *environment, const struct engine *engine)
{
    return xasprintf("%s, %g cpus", json_get_text(environment, "cpu", "unknown"),
                     engine->machine.cpus);
}

static const char **names_of(const struct space *space)
{
    const char **names = xcalloc(space->n + 1, sizeof(*names));

    for (size_t i = 0; i < space->n; i++)
        names[i] = space->params[i].name;
    return names;
}

static void set_identity(struct run *run, struct workload *workload)
{
    struct err err = ERR_INIT;
    autofree(json) json_t *environment = NULL;
    const char *text = run->experiment.environment ? run->experiment.environment : "{}";
    if (json_parse(text, strlen(text), &environment, &err) < 0)
        err_release(&err);
    autofree(mem) char *machine = machine_kind(environment, run->engine);
    autofree(mem) const char **params = names_of(&run->spec.space);
    autofree(mem) const char **system = names_of(&run->tuning->space);
    const char *program = json_get_text(environment, "program", "");
    autorelease(str) struct str identity = STR_INIT;
    char hash[SHA256_HEX_SIZE];
    const struct workload_program of = {
        .words = (const char *const *)run->spec.command.at,
        .n_words = run->spec.command.len,
        .files = &program,
        .n_files = *program != '\0',
        .params = params,
        .n_params = run->spec.space.n,
        .system = system,
        .n_system = run->tuning->n,
        .machine = machine,
    };
    workload_identity_text(&of, &identity);
    if (sha256_hex(identity.s, identity.len, hash, NULL) >= 0)
        workload_init(workload, hash, run->spec.name, machine);
}

/* ---- what is known ---- */

static int keep_row(const struct workload_row *row, void *arg)
{
    struct tuning *tuning = arg;
    autorelease(err) struct err err = ERR_INIT;

    vec_push(&tuning->known, (struct workload){0});
    struct workload *workload = vec_last(&tuning->known);
    if (workload_decode(row->json, strlen(row->json), workload, &err) < 0) {
        workload_release(workload); /* of another version: not understood, left alone */
        tuning->known.len--;
        return 0;
    }
    workload->cluster = row->cluster;
    return 0;
}

/* Others beside it while it runs, as far as that can be said before. */
static double load_expected(const struct run *run)
{
    double width = run->spec.parallel ? (double)run->spec.parallel
                                      : floor(run->engine->machine.cpus / run->spec.cpus);
    return fmax(run->tuning->load, fmin(1, fmax(0, width - 1)));
}

/* The row of the list that a known configuration is; NULL: there is no such here. */
static const double *row_of(const struct run *run, const char *canonical)
{
    const struct tuning *tuning = run->tuning;

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        autorelease(str) struct str json = STR_INIT;
        autofree(mem) char *mine = NULL;
        tuning_json(run, row, &json);
        if (workload_canonical(json.s, &mine, NULL) >= 0 && str_eq(mine, canonical))
            return row;
    }
    return NULL;
}

static size_t take_prior(struct run *run, const struct workload *from, double certainty)
{
    size_t n = 0;

    for (size_t i = 0; i < from->configurations.len; i++) {
        const struct workload_configuration *known = &from->configurations.at[i];
        const double *row = row_of(run, known->json);
        double deviation;
        if (!row || !workload_prior_here(from, i, certainty, load_expected(run), &deviation) ||
            !speed_prior(run->tuning->speed, row, known->ln_effect, deviation))
            continue;
        run->tuning->told_of[tuning_find(run->tuning, row)] = true;
        n++;
    }
    return n;
}

static void say(struct run *run, const char *text, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "tune_note", run, NULL);

    json_put_text(&out, "text", text);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

static void announce(struct run *run, const struct workload *from, enum match_kind kind, size_t n,
                     struct now now)
{
    autofree(mem) char *text = xasprintf("%zu configurations are known from '%s' (by %s)", n,
                                         from->name, match_name(kind));
    say(run, text, now);
}

/* Look for one like it, by what is known of it so far. */
static void match(struct run *run, const struct workload *query, struct now now)
{
    struct tuning *tuning = run->tuning;
    struct workload_match found = {.index = SIZE_MAX};

    workload_match(tuning->known.at, tuning->known.len, query, &found);
    if (found.kind == MATCH_NONE || found.index >= tuning->known.len)
        return;
    const struct workload *from = &tuning->known.at[found.index];
    size_t n = take_prior(run, from, found.certainty);
    if (n < 2)
        return;
    tuning->matched = found.kind;
    announce(run, from, found.kind, n, now);
}

static const struct workload *known_before(const struct tuning *tuning)
{
    vec_foreach (workload, &tuning->known)
        if (str_eq(workload->identity, tuning->workload.identity))
            return workload;
    return NULL;
}

/* What the same workload failed under is not tried, as long as something else is left. */
static void avoid_failures(struct run *run, struct now now)
{
    struct tuning *tuning = run->tuning;
    const struct workload *before = known_before(tuning);
    autorelease(str) struct str names = STR_INIT;
    size_t n = 0;

    if (!before)
        return;
    vec_foreach (failed, &before->failed)
        n += row_of(run, *failed) != NULL;
    if (n == 0 || n >= tuning->n_list)
        return;
    vec_foreach (failed, &before->failed) {
        const double *row = row_of(run, *failed);
        if (!row)
            continue;
        speed_infeasible(tuning->speed, row);
        str_addf(&names, "%s%s", names.len ? ", " : "", *failed);
    }
    autofree(mem) char *text =
        xasprintf("it failed under %s before, which %s not tried; 'hone knowledge forget' forgets",
                  names.s, n == 1 ? "is" : "are");
    say(run, text, now);
}

void workloads_open(struct run *run, struct store *store, struct now now)
{
    struct tuning *tuning = run->tuning;
    autorelease(err) struct err err = ERR_INIT;

    if (!tuning || !tuning->speed || run->spec.knowledge == KNOWLEDGE_OFF)
        return;
    set_identity(run, &tuning->workload);
    if (!tuning->workload.identity || !store)
        return;
    if (store_workloads(store, keep_row, tuning, &err) < 0)
        log_warn("what earlier workloads taught is not used: %s", err_text(&err));
    avoid_failures(run, now);
    match(run, &tuning->workload, now);
}

void workloads_close(struct tuning *tuning)
{
    vec_foreach (workload, &tuning->known)
        workload_release(workload);
    vec_release(&tuning->known);
    workload_release(&tuning->workload);
}

/* ---- what it teaches ---- */

static void learn_effects(const struct live *live, struct workload *to)
{
    const struct run *run = live->run;
    const struct tuning *tuning = run->tuning;
    uint64_t key = progress_key(live);

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        autorelease(str) struct str json = STR_INIT;
        if (!tuning->measured[i])
            continue;
        struct belief_ln effect =
            speed_compare(tuning->speed, key, row, tuning->start, tuning->load);
        struct learning *learning = tuning_learning(live->run, live->attempt.trial);
        if (learning)
            effect.mean -= learning_compare(learning, row, tuning->start).mean;
        size_t windows = speed_windows(tuning->speed, key, row, tuning->load);
        tuning_json(run, row, &json);
        workload_learn(to, json.s, effect.mean, fmax(effect.deviation, 0.01),
                       (double)MAX(1, windows), tuning->load);
    }
}

void workloads_profile(struct live *live, const struct profile *profile)
{
    struct tuning *tuning = live->run->tuning;

    if (!tuning || !tuning->workload.identity)
        return;
    for (size_t i = 0; i < COUNTERS; i++)
        if (!counter_kind((enum counter)i)->echo)
            workload_count(&tuning->workload, profile->at[i].name, profile->at[i].value,
                           profile->at[i].scaled, i < COUNTER_TASK_CLOCK);
}

/* What was known says how fast it is under what runs, too: a program or machine that has changed
 * shows there first. Another size of its steps looks the same, and costs a few looks more. */
void workloads_fit(struct live *live, const struct window_result *window, struct now now)
{
    const struct run *run = live->run;
    const struct tuning *tuning = run->tuning;
    const struct workload *before = tuning->matched == MATCH_IDENTITY ? known_before(tuning) : NULL;
    autorelease(str) struct str start = STR_INIT, mine = STR_INIT;
    autofree(mem) char *a = NULL, *b = NULL;

    if (!before || live->tuned->fitted || window->bound || !(before->response.seconds > 0) ||
        window->seconds < WINDOW_LIMITS.least_s) /* a look: programs may begin slowly */
        return;
    live->tuned->fitted = true;
    tuning_json(run, tuning->start, &start);
    tuning_json(run, live->tuned->now, &mine);
    if (workload_canonical(start.s, &a, NULL) < 0 || workload_canonical(mine.s, &b, NULL) < 0)
        return;
    const struct workload_configuration *from = workload_find(before, a);
    const struct workload_configuration *to = workload_find(before, b);
    if (!from || !to)
        return;
    double expected = log(before->response.seconds) + to->ln_effect - from->ln_effect;
    if (fabs(window->ln_seconds - expected) < UNFIT)
        return;
    speed_doubt_prior(tuning->speed);
    tuned_note(live, now,
               "a step takes %.2g times as long as was known: what is known is checked again",
               exp(window->ln_seconds - expected));
}

/* Two configurations are measured, and the same workload is not known: one like it may be. */
void workloads_look(struct live *live, struct now now)
{
    struct tuning *tuning = live->run->tuning;
    size_t measured = 0;

    if (!tuning->workload.identity || tuning->matched != MATCH_NONE || !tuning->known.len)
        return;
    for (size_t i = 0; i < tuning->n_list; i++)
        measured += tuning->measured[i];
    if (measured < 2 || measured == tuning->looked)
        return;
    tuning->looked = measured;
    learn_effects(live, &tuning->workload);
    match(live->run, &tuning->workload, now);
}

/* The map is drawn anew with it. */
static void put_clusters(struct run *run, const struct workload *mine)
{
    struct tuning *tuning = run->tuning;
    VEC(struct workload) all = {0};

    vec_foreach (workload, &tuning->known)
        if (!str_eq(workload->identity, mine->identity))
            vec_push(&all, *workload);
    vec_push(&all, *mine);
    cluster_workloads(all.at, all.len, CLUSTER_SEED);
    vec_foreach (workload, &all)
        txn_cluster_workload(run->engine->tick->txn, workload->identity, workload->cluster);
    vec_release(&all);
}

void workloads_fail(struct live *live, const double *configuration)
{
    struct tuning *tuning = live->run->tuning;
    autorelease(str) struct str json = STR_INIT;

    if (!tuning->workload.identity)
        return;
    tuning_json(live->run, configuration, &json);
    tuning->failed |= workload_fail(&tuning->workload, json.s);
}

/* What its windows said. */
static void learn_windows(struct live *live, const struct ending *ending)
{
    struct tuning *tuning = live->run->tuning;
    struct workload_response *response = &tuning->workload.response;

    learn_effects(live, &tuning->workload);
    if (ending->run_us > 0)
        response->cpus = (double)ending->cpu_us / (double)ending->run_us;
    if (ending->max_rss_bytes)
        response->memory_bytes = (double)ending->max_rss_bytes;
    response->seconds =
        exp(speed_predict(tuning->speed, progress_key(live), tuning->start, tuning->load).mean);
}

void workloads_learn(struct live *live, const struct ending *ending, struct now now, bool whole)
{
    struct run *run = live->run;
    struct tuning *tuning = run->tuning;
    struct workload all;
    autorelease(str) struct str json = STR_INIT;

    if (!tuning || !tuning->workload.identity || !(live->progress.n_windows || tuning->failed))
        return;
    tuning->failed = false;
    tuning->workload.runs += whole;
    tuning->workload.updated_us = now.wall_us;
    if (live->progress.n_windows)
        learn_windows(live, ending);
    const struct workload *before = known_before(tuning);
    workload_copy(before ? before : &tuning->workload, &all);
    if (before)
        workload_merge(&all, &tuning->workload);
    workload_encode(&all, &json);
    txn_put_workload(run->engine->tick->txn, &(struct workload_row){.identity = all.identity,
                                                                    .name = all.name,
                                                                    .machine = all.machine,
                                                                    .updated_us = now.wall_us,
                                                                    .json = json.s});
    if (!tuning->clustered_us || now.mono_us - tuning->clustered_us >= MAP_US) {
        tuning->clustered_us = now.mono_us;
        put_clusters(run, &all);
    }
    workload_release(&all);
}
