/* SPDX-License-Identifier: MIT */
/*
 * v1_experiments.c — experiments over HTTP: the list, page by page, and everything about one.
 */
#include "api/cursor.h"
#include "api/etag.h"
#include "api/rows.h"
#include "api/tables.h"
#include "api/tuning_sum.h"
#include "api/web_internal.h"
#include "api/where.h"
#include "base/clock.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     1000

/* ---- a row ---- */

static void put_objective(struct json_out *out, const struct spec *spec)
{
    json_key(out, "objective");
    if (!spec->objective.metric) {
        json_null_out(out);
        return;
    }
    json_begin_object(out);
    json_put_text(out, "metric", spec->objective.metric);
    json_put_text(out, "goal", spec->objective.goal == GOAL_MAXIMIZE ? "maximize" : "minimize");
    json_end_object(out);
}

/* How many trials are planned; null: until somebody stops it. */
static void put_budget(struct json_out *out, const struct experiment *experiment,
                       const struct spec *spec)
{
    double planned = spec->trials ? (double)spec->trials : 0;

    if (!spec->trials && spec->space.n)
        planned = space_size(&spec->space);
    if (experiment->rerun_of_experiment)
        planned = 1;
    json_key(out, "budget");
    if (planned > 0 && planned < 1e15)
        json_int(out, (int64_t)planned);
    else
        json_null_out(out);
}

static void put_place(struct json_out *out, const struct experiment *experiment)
{
    json_put_int(out, "priority", experiment->priority);
    json_put_bool(out, "paused", experiment->paused != 0);
}

static void put_spark(struct json_out *out, const struct digest *digest)
{
    json_key(out, "spark");
    json_begin_array(out);
    for (size_t i = 0; i < digest->n_spark; i++)
        json_double(out, digest->spark[i]);
    json_end_array(out);
    json_key(out, "front");
    if (digest->front >= 0)
        json_int(out, digest->front);
    else
        json_null_out(out);
}

static void put_experiment(struct json_out *out, struct store *store,
                           const struct experiment_row *row, const struct digest *digest)
{
    const char *json = row->experiment.spec_json;
    autofree(mem) char *params = trial_params(store, row->experiment.id, row->best_trial);
    autorelease(spec) struct spec spec;

    spec_init(&spec);
    if (json)
        spec_parse(json, strlen(json), "spec", "/", NULL, &spec, NULL, NULL);
    rows_put_experiment(out, row, /* engine= */ true, params, digest->attempts, true);
    put_place(out, &row->experiment);
    put_objective(out, &spec);
    put_budget(out, &row->experiment, &spec);
    put_spark(out, digest);
    json_end_object(out);
}

/* ---- the list ---- */

struct listing {
    struct web_call *call;
    struct json_out *out;
    struct where *where; /* NULL: all */
    bool sorted;
    int64_t limit;
    struct cursor after;
    VEC(int64_t) numbers; /* those that fit, in their order */
    struct err *err;
};

static int on_row(const struct experiment_row *bare, void *arg)
{
    struct listing *listing = arg;
    struct experiment_row row = *bare;
    struct digest digest;
    int r =
        tables_complete(listing->call->tables, listing->call->store, &row, &digest, listing->err);

    if (r == -ENOENT)
        return 0; /* it was removed this moment */
    if (r >= 0)
        r = where_experiment(listing->where, &row, shown_row_state(&row, /* engine= */ true),
                             listing->err);
    if (r == 1)
        vec_push(&listing->numbers, row.experiment.id);
    return MIN(r, 0);
}

static int find_all(struct listing *listing)
{
    size_t n;

    if (!listing->where) {
        int r = store_experiment_ids(listing->call->store, &listing->numbers.at,
                                     &listing->numbers.len, listing->err);
        listing->numbers.cap = listing->numbers.len;
        return r;
    }
    int r = store_bare_experiments(listing->call->store, 0, 0, on_row, listing, listing->err);

    if (r < 0 || !listing->sorted)
        return r;
    const int64_t *sorted = where_sorted(listing->where, &n);
    listing->numbers.len = 0;
    for (size_t i = 0; i < n; i++)
        vec_push(&listing->numbers, sorted[i]);
    return 0;
}

static int put_numbered(struct listing *listing, int64_t number)
{
    struct web_call *call = listing->call;
    struct experiment_row row = {0};
    struct digest digest;
    char ref[32];

    snprintf(ref, sizeof(ref), "%lld", (long long)number);
    int r = store_find_bare(call->store, ref, &row, listing->err);
    if (r >= 0)
        r = tables_complete(call->tables, call->store, &row, &digest, listing->err);
    if (r >= 0)
        put_experiment(listing->out, call->store, &row, &digest);
    experiment_row_release(&row);
    return r == -ENOENT ? 0 : r;
}

static int put_list(struct listing *listing)
{
    struct json_out *out = listing->out;
    size_t first = cursor_first(&listing->after, listing->sorted ? CURSOR_SORTED : CURSOR_DOWN,
                                listing->numbers.at, listing->numbers.len);
    size_t end = MIN(listing->numbers.len, first + (size_t)listing->limit);
    int r = 0;

    json_begin_object(out);
    json_key(out, "experiments");
    json_begin_array(out);
    for (size_t i = first; i < end && r >= 0; i++)
        r = put_numbered(listing, listing->numbers.at[i]);
    json_end_array(out);
    cursor_put(out, end ? listing->numbers.at[end - 1] : 0, end, listing->numbers.len);
    json_put_int(out, "total", (int64_t)listing->numbers.len);
    json_end_object(out);
    return r;
}

static const char *given(struct web_call *call, const char *name)
{
    const char *text = http_param(call->request, name);
    return text && *text ? text : NULL;
}

static int prepare(struct listing *listing, struct where_ask *ask)
{
    struct web_call *call = listing->call;
    int64_t desc = 0;
    int r = web_number(call, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT, &listing->limit, listing->err);

    if (r >= 0)
        r = web_number(call, "desc", 0, 1, 0, &desc, listing->err);
    if (r >= 0)
        r = cursor_read(call, &listing->after, listing->err);
    *ask = (struct where_ask){.home = call->home,
                              .store = call->store,
                              .condition = given(call, "where"),
                              .key = given(call, "sort"),
                              .desc = desc,
                              .now_us = clock_wall_us(),
                              .plain = true};
    listing->sorted = ask->key != NULL;
    return r < 0 || (!ask->condition && !ask->key) ? r
                                                   : where_new(ask, &listing->where, listing->err);
}

static void get_experiments(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    struct listing listing = {.call = call, .out = &out, .err = &err};
    struct where_ask ask;
    int r = prepare(&listing, &ask);

    if (r >= 0)
        r = find_all(&listing);
    if (r >= 0)
        r = put_list(&listing);
    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_json(call, &text);
    where_free(listing.where);
    vec_release(&listing.numbers);
}

/* ---- one of them: first the loop tells how it runs, then a reader tells the rest ---- */

struct with_live {
    struct caller who; /* first: as all requests have it */
    char *live;        /* NULL: it does not run */
};

static void with_live_free(void *data)
{
    struct with_live *with = data;
    free(with->live);
    free(with);
}

static void ask_loop(struct web_call *call)
{
    struct with_live *with = xcalloc(1, sizeof(*with));
    struct str live = STR_INIT;
    int64_t experiment;

    with->who = call->who;
    if (web_experiment_ref(call, 0, &experiment, NULL) == 0 &&
        engine_live(runtime_engine(call->runtime), experiment, runtime_now(), &live) >= 0)
        with->live = str_take(&live);
    str_release(&live);
    http_attach(call->request, with, with_live_free);
    desk_put(call->web->desks[DESK_READ], call->request);
}

/* As `hone show --json` has it, of what the table knows. */
static void put_whole(struct json_out *out, struct web_call *call, const struct target *target,
                      const struct digest *digest)
{
    const struct experiment_row *row = &target->experiment;
    autofree(mem) char *params = trial_params(call->store, row->experiment.id, row->best_trial);
    autofree(mem) char *spec = shown_spec(row->experiment.spec_json);
    const char *environment = row->experiment.environment;
    struct sums sums;

    tables_sums(call->tables, call->store, target, digest, &sums);
    rows_put_experiment(out, row, /* engine= */ true, params, digest->attempts, true);
    json_put_int(out, "changes", sums.changes);
    json_put_int(out, "changes_asked", sums.asked);
    json_put_double(out, "change_cost_s", sums.cost_s);
    rows_put_energy(out, sums.joules, sums.measured);
    json_put_text(out, "code", row->experiment.code);
    json_put_raw(out, "environment", environment ? environment : "null");
    json_put_raw(out, "spec", spec);
}

static int whole_json(struct web_call *call, const char *live, struct str *to, struct err *err)
{
    const char *ref = http_segment(call->request, 0);
    struct target target = {.has_trial = false};
    struct digest digest;
    struct json_out out = JSON_OUT(to);
    const struct experiment *experiment = &target.experiment.experiment;

    spec_init(&target.spec);
    int r = store_find_bare(call->store, ref ? ref : "", &target.experiment, err);
    if (r >= 0)
        r = tables_complete(call->tables, call->store, &target.experiment, &digest, err);
    if (r >= 0)
        r = spec_parse(experiment->spec_json, strlen(experiment->spec_json), "spec", "/", NULL,
                       &target.spec, NULL, err);
    if (r >= 0) {
        put_whole(&out, call, &target, &digest);
        put_place(&out, experiment);
        put_objective(&out, &target.spec);
        put_budget(&out, experiment, &target.spec);
        put_spark(&out, &digest);
        json_put_raw(&out, "live", live ? live : "null");
        json_end_object(&out);
    }
    target_release(&target);
    return r;
}

static void get_experiment(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;

    if (call->runtime) {
        ask_loop(call);
        return;
    }
    const struct with_live *with = http_attached(call->request);
    int r = whole_json(call, with->live, &text, &err);
    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_json(call, &text);
}

const struct web_route v1_experiments_routes[] = {
    {"GET", "/v1/experiments", ROLE_VIEWER, DESK_READ, get_experiments, 0,
     "Experiments, newest first, or filtered and sorted by expressions; page by page.", 0},
    {"GET", "/v1/experiments/*", ROLE_VIEWER, DESK_LOOP, get_experiment, 0,
     "Everything about an experiment: how it stands, its best, its spec and environment.", 0},
    {0},
};
