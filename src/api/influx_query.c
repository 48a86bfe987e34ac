/* SPDX-License-Identifier: MIT */
/*
 * influx_query.c — the home as a source of series for queries.
 */
#include "api/influx_query.h"
#include "api/influx_write.h"
#include "api/influxql.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "engine/runtime.h"

#include <errno.h>

struct tag_set {
    struct influxql_tag *tags;
    size_t n;
};
struct found { /* a series that was handed out: its id is the place */
    struct series_source source;
    uint32_t name;
};
struct source {
    const struct query_context *context;
    struct arena arena;
    struct map tag_sets; /* trial → struct tag_set */
    VEC(struct found) found;
    bool observed; /* the database at hand */
    bool may_drop;
    bool changed; /* something that is to be committed before the answer */
};

/* ---- databases ---- */

struct names {
    influxql_name_fn *fn;
    void *to;
    VEC(int64_t) observed; /* told by the names of their databases */
    const struct query_context *context;
};

static int on_observed(const char *db, int64_t experiment, void *arg)
{
    struct names *names = arg;

    vec_push(&names->observed, experiment);
    return names->fn(db, names->to);
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct names *names = arg;

    if (observe_find(names->context->observe, row->experiment.name))
        return 0;
    vec_foreach (id, &names->observed)
        if (*id == row->experiment.id)
            return 0;
    return names->fn(row->experiment.name, names->to);
}

static int databases(void *arg, influxql_name_fn *fn, void *to)
{
    struct source *source = arg;
    struct names names = {.fn = fn, .to = to, .context = source->context};
    int r = observe_walk(source->context->observe, on_observed, &names);

    if (r == 0)
        r = store_experiments(source->context->reader, INT64_MAX, on_experiment, &names, NULL);
    vec_release(&names.observed);
    return r;
}

static int64_t find_experiment(struct source *source, const char *db)
{
    autorelease(experiment_row) struct experiment_row row = {.starred = false};
    int64_t id = observe_find(source->context->observe, db);

    source->observed = id != 0;
    if (id)
        return id;
    if (store_find_experiment(source->context->reader, db, false, &row, NULL) < 0)
        return 0;
    return row.experiment.id;
}

/* ---- series ---- */

static int compare_tags(const void *x, const void *y)
{
    const struct influxql_tag *a = x, *b = y;
    return strcmp(a->key, b->key);
}

static const char *tag_value(struct source *source, const json_t *value)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (json_is_string(value))
        return arena_strdup(&source->arena, json_string_value(value));
    json_value(&out, value);
    return arena_strdup(&source->arena, text.s);
}

static void add_tag(struct source *source, struct tag_set *set, const char *key, const char *value)
{
    set->tags[set->n++] = (struct influxql_tag){arena_strdup(&source->arena, key), value};
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct source *source = arg;
    struct tag_set *set = arena_alloc(&source->arena, sizeof(*set));
    autofree(json) json_t *params = NULL;
    const char *key;
    json_t *value;

    if (row->params_json)
        json_parse(row->params_json, strlen(row->params_json), &params, NULL);
    set->tags = arena_alloc(&source->arena, (json_object_size(params) + 1) * sizeof(*set->tags));
    json_object_foreach(params, key, value) add_tag(source, set, key, tag_value(source, value));
    if (!source->observed && !json_object_get(params, "trial")) {
        autofree(mem) char *number = xasprintf("%lld", (long long)row->trial.number);
        add_tag(source, set, "trial", arena_strdup(&source->arena, number));
    }
    qsort(set->tags, set->n, sizeof(*set->tags), compare_tags);
    map_put(&source->tag_sets, (uint64_t)row->trial.number, set);
    return 0;
}

struct listing {
    struct source *source;
    influxql_series_fn *fn;
    void *to;
};

static int on_info(const struct series_info *info, void *arg)
{
    struct listing *listing = arg;
    struct source *source = listing->source;
    const struct tag_set *set = map_find(&source->tag_sets, (uint64_t)info->source.trial);

    if (!set)
        return 0;
    struct influxql_series series = {
        .metric = series_db_name_text(source->context->db, info->name),
        .tags = set->tags,
        .n_tags = set->n,
        .id = source->found.len,
    };
    vec_push(&source->found, ((struct found){info->source, info->name}));
    return listing->fn(&series, listing->to);
}

static int series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    struct source *source = arg;
    struct listing listing = {source, fn, to};
    struct trial_query query = {.experiment = find_experiment(source, db), .order = ORDER_NUMBER};

    if (!query.experiment)
        return -ENOENT;
    map_release(&source->tag_sets);
    source->tag_sets = (struct map)MAP_INIT;
    int r = store_trials(source->context->reader, &query, on_trial, source, NULL);
    return r < 0 ? r
                 : series_db_names(source->context->db, query.experiment, -1, on_info, &listing);
}

static const char *type(void *arg, const char *db, const char *measurement, const char *field)
{
    struct source *source = arg;
    return observe_field_type(source->context->observe, db, measurement, field);
}

struct reading {
    influxql_points_fn *fn;
    void *to;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct reading *reading = arg;
    struct influxql_points points = {chunk->n, chunk->times_ns, chunk->values, chunk->rests};

    return reading->fn(&points, reading->to);
}

static int points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                  int64_t max_ns, influxql_points_fn *fn, void *to)
{
    struct source *source = arg;
    const struct found *found = &source->found.at[of->id];
    struct series_range range = {.min_step = INT64_MIN,
                                 .max_step = INT64_MAX,
                                 .min_ns = min_ns,
                                 .max_ns = max_ns,
                                 .no_steps = true};
    struct reading reading = {fn, to};
    (void)db;

    /* A query finds out by itself which points count, and only of its range. */
    series_db_every(source->context->db, true);
    int r = series_db_read(source->context->db, &found->source, found->name, &range, on_chunk,
                           &reading);
    series_db_every(source->context->db, false);
    return r;
}

/* ---- changes ---- */

static int create(void *arg, const char *db, struct err *err)
{
    struct source *source = arg;
    struct observed *observed;
    const char *held_up = engine_held_up(source->context->engine);

    if (held_up && !observe_find(source->context->observe, db))
        return err_set(err, ENOSPC, "%s", held_up);
    source->changed = true;
    return observe_open(source->context->observe, db, runtime_now(), &observed, err);
}

static int drop(void *arg, const char *db, struct err *err)
{
    struct source *source = arg;
    autorelease(experiment_row) struct experiment_row row = {.starred = false};
    const struct query_context *context = source->context;

    if (!source->may_drop)
        return err_set(err, EPERM, "'%s' is dropped by an admin, or by the server's own user", db);
    if (!observe_find(context->observe, db) &&
        store_find_experiment(context->reader, db, false, &row, NULL) >= 0)
        return err_set(err, EACCES, "'%s' did not come from outside: 'hone rm' removes it", db);
    source->changed = true;
    return observe_drop(context->observe, db, err);
}

/* ---- requests ---- */

struct answer { /* that waits for a commit */
    struct http_request *request;
    struct str text;
    bool csv;
};

static void send_answer(struct answer *answer)
{
    influx_reply(answer->request, 200, answer->csv ? "text/csv" : "application/json",
                 &answer->text);
    str_release(&answer->text);
}

static void on_committed(void *arg)
{
    struct answer *answer = arg;
    send_answer(answer);
    free(answer);
}

static bool wants_csv(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept");
    return accept && (strstr(accept, "application/csv") || strstr(accept, "text/csv"));
}

/* As InfluxDB has it: 10,000 where no size is given, or none that could be. */
static size_t chunk_rows(const struct http_request *request)
{
    const char *chunked = http_param(request, "chunked"), *size = http_param(request, "chunk_size");
    char *end = NULL;
    long long rows = size ? strtoll(size, &end, 10) : 0;

    if (!chunked || !str_eq(chunked, "true"))
        return 0;
    return rows > 0 && !*end ? (size_t)rows : 10000;
}

/* True: it changed something. */
static bool run(const struct query_context *context, const struct influxql *query,
                const struct http_request *request, bool may_drop, struct answer *answer)
{
    struct source source = {
        .context = context, .arena = ARENA_INIT, .tag_sets = MAP_INIT, .may_drop = may_drop};
    const struct influxql_source callbacks = {
        .arg = &source,
        .databases = databases,
        .series = series,
        .points = points,
        .type = type,
        .create = create,
        .drop = drop,
    };
    struct influxql_options options = {
        .db = http_param(request, "db"),
        .epoch = http_param(request, "epoch"),
        .format = answer->csv ? INFLUXQL_CSV : INFLUXQL_JSON,
        .chunk_rows = chunk_rows(request),
        .warn = !str_eq(http_method(request), "POST"),
    };
    observe_flush(context->observe, NULL); /* what came is seen */
    influxql_run(query, &callbacks, &options, &answer->text);
    vec_release(&source.found);
    map_release(&source.tag_sets);
    arena_release(&source.arena);
    return source.changed;
}

void influx_query(const struct query_context *context, struct http_request *request,
                  bool may_change, bool may_drop)
{
    autofree(influxql) struct influxql *query = NULL;
    autorelease(err) struct err err = ERR_INIT;
    const char *text = http_param(request, "q");
    struct answer answer = {request, STR_INIT, wants_csv(request)};

    if (!text || !*text) {
        influx_reply_error(request, 400, "missing required parameter \"q\"");
        return;
    }
    if (influxql_parse_bound(text, http_param(request, "params"), clock_wall_us() * 1000, &query,
                             &err) < 0) {
        influx_reply_error(request, 400, err_text(&err));
        return;
    }
    bool writes = influxql_writes(query);
    if (writes && !str_eq(http_method(request), "POST") && !influxql_only_creates(query)) {
        influx_reply_error(request, 405, "what changes something must be sent by POST");
        return;
    }
    if (writes && !may_change) {
        influx_reply_error(request, 403, "what changes something needs the role user");
        return;
    }
    bool changed = run(context, query, request, may_drop, &answer);
    if (!changed || txn_empty(engine_txn(context->engine)))
        send_answer(&answer);
    else
        engine_when_committed(context->engine, on_committed, xmemdup(&answer, sizeof(answer)));
}
