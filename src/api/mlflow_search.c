/* SPDX-License-Identifier: MIT */
/*
 * mlflow_search.c — search over runs and over experiments: choose, sort, a page.
 *
 * What is asked for the order is read once for each row that was chosen, then rows are sorted by
 * these keys. Ties: later starts first, then ids. The JSON of a run is kept until the run changes:
 * a page of 1,000 is copied, not written.
 */
#include "api/mlflow_internal.h"

#include <errno.h>
#include <math.h>

#define RESULTS_MAX 50000
#define ORDERS_MAX  16

/* ---- what is searched ---- */

enum { RUN_ID, RUN_NAME, RUN_USER, RUN_STATUS, RUN_START, RUN_END, RUN_ARTIFACTS };
static const struct mlflow_attribute run_attributes[] = {
    {"run_id", RUN_ID, false, true},
    {"run_name", RUN_NAME, false, false},
    {"run name", RUN_NAME, false, false},
    {"Run name", RUN_NAME, false, false},
    {"Run Name", RUN_NAME, false, false},
    {"user_id", RUN_USER, false, false},
    {"status", RUN_STATUS, false, false},
    {"start_time", RUN_START, true, false},
    {"created", RUN_START, true, false},
    {"Created", RUN_START, true, false},
    {"end_time", RUN_END, true, false},
    {"artifact_uri", RUN_ARTIFACTS, false, false},
    {NULL, 0, false, false},
};
static const struct mlflow_language run_language = {run_attributes, true};

static struct mlflow_value text_value(const char *text)
{
    return (struct mlflow_value){.there = text != NULL, .text = text};
}

static struct mlflow_value number_value(int64_t x, bool there)
{
    return (struct mlflow_value){.there = there, .number = (double)x};
}

struct run_row {
    struct tracked_run *run;
    char *artifacts; /* made when it is asked for */
};

static struct mlflow_value run_attribute(struct run_row *row, int attribute)
{
    const struct tracked_run *run = row->run;

    switch (attribute) {
    case RUN_ID:
        return text_value(run->id);
    case RUN_NAME:
        return text_value(run->name);
    case RUN_USER:
        return text_value(run->user);
    case RUN_STATUS:
        return text_value(mlflow_status_name(run->status));
    case RUN_START:
        return number_value(run->start_ms, true);
    case RUN_END:
        return number_value(run->end_ms, run->end_ms != 0);
    default:
        if (!row->artifacts)
            row->artifacts = mlflow_artifact_uri(run);
        return text_value(row->artifacts);
    }
}

static struct mlflow_value metric_value(const struct tracked_run *run, const char *key)
{
    const struct tracked_metric *metric = tracked_latest(run, key);
    return (struct mlflow_value){.there = metric != NULL, .number = metric ? metric->value : NAN};
}

static struct mlflow_value get_of_run(const void *arg, const struct mlflow_name *name)
{
    struct run_row *row = (struct run_row *)arg;

    switch (name->entity) {
    case MLFLOW_METRIC:
        return metric_value(row->run, name->key);
    case MLFLOW_PARAM:
        return text_value(tracked_find(&row->run->params, name->key));
    case MLFLOW_TAG:
        return text_value(tracked_find(&row->run->tags, name->key));
    default:
        return run_attribute(row, name->attribute);
    }
}

/* The context of a dataset is a tag of the input. */
static const char *dataset_text(const json_t *input, const char *key)
{
    size_t i;
    json_t *tag;

    if (!str_eq(key, "context"))
        return json_get_text(json_object_get(input, "dataset"), key, NULL);
    json_array_foreach(json_object_get(input, "tags"), i, tag)
    {
        if (str_eq(json_get_text(tag, "key", ""), "mlflow.data.context"))
            return json_get_text(tag, "value", NULL);
    }
    return NULL;
}

static bool dataset_fits(const void *arg, const struct mlflow_clause *clause)
{
    const struct run_row *row = arg;
    size_t i;
    json_t *input;

    json_array_foreach(row->run->inputs, i, input)
    {
        struct mlflow_value value = text_value(dataset_text(input, clause->name.key));
        if (mlflow_holds(clause, &value))
            return true;
    }
    return false;
}

/* ---- orders ---- */

struct orders {
    struct mlflow_order at[ORDERS_MAX];
    size_t len;
};

static void orders_release(struct orders *orders)
{
    for (size_t i = 0; i < orders->len; i++)
        mlflow_order_release(&orders->at[i]);
}

static int orders_add(struct orders *orders, const char *text,
                      const struct mlflow_language *language, struct err *err)
{
    if (orders->len == ORDERS_MAX)
        return err_set(err, EINVAL, "order_by has at most %d fields", ORDERS_MAX);
    struct mlflow_order *order = &orders->at[orders->len++];
    *order = (struct mlflow_order){.descending = false};
    int r = mlflow_order_parse(text, language, order, err);
    for (size_t i = 0; r == 0 && i + 1 < orders->len; i++)
        if (orders->at[i].name.entity == order->name.entity &&
            str_eq(orders->at[i].name.key, order->name.key))
            r = err_set(err, EINVAL, "`order_by` contains duplicate fields: %.100s", text);
    return r;
}

static int orders_read(struct mlflow_call *call, const struct mlflow_language *language,
                       struct orders *ret, struct err *err)
{
    const json_t *list;
    int r = mlflow_list(call, "order_by", &list, err);

    for (size_t i = 0; r == 0 && i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        r = text ? orders_add(ret, text, language, err)
                 : err_set(err, EINVAL, "Invalid value for parameter 'order_by' supplied.");
    }
    const char *one = call->body ? NULL : http_param(call->web->request, "order_by");
    if (r == 0 && one && *one)
        r = orders_add(ret, one, language, err);
    return r;
}

/* ---- a search ---- */

struct sorted {
    const void *row;
    const struct mlflow_value *keys; /* orders.len of them */
    double tie;                      /* larger first */
    const char *id;
};

struct search {
    struct mlflow_filter filter;
    struct orders orders;
    int view;
    int64_t limit;
    size_t at; /* of the first row of the page */
    VEC(struct mlflow_value) keys;
    VEC(struct sorted) sorted;
};

static int search_read(struct mlflow_call *call, const struct mlflow_language *language,
                       const char *view, struct search *ret, struct err *err)
{
    const char *text;
    int r = mlflow_text(call, "filter", &text, err);

    if (r == 0)
        r = mlflow_filter_parse(text, language, &ret->filter, err);
    if (r == 0)
        r = orders_read(call, language, &ret->orders, err);
    if (r == 0)
        r = mlflow_view(call, view, &ret->view, err);
    if (r == 0)
        r = mlflow_limit(call, 1000, RESULTS_MAX, &ret->limit, err);
    return r == 0 ? mlflow_page(call, &ret->at, err) : r;
}

static void search_release(struct search *search)
{
    vec_release(&search->keys);
    vec_release(&search->sorted);
    mlflow_filter_release(&search->filter);
    orders_release(&search->orders);
}

static bool is_seen(const struct search *search, bool deleted)
{
    return search->view & (deleted ? MLFLOW_DELETED : MLFLOW_ACTIVE);
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct sorted *x = a, *y = b;
    const struct orders *orders = arg;

    for (size_t i = 0; i < orders->len; i++) {
        int less = mlflow_compare(&orders->at[i], &x->keys[i], &y->keys[i]);
        if (less)
            return less;
    }
    if (x->tie != y->tie)
        return x->tie > y->tie ? -1 : 1;
    return strcmp(x->id, y->id);
}

/* Its rows are listed, but for their keys. */
static void search_sort(struct search *search, mlflow_get_fn *get)
{
    size_t width = search->orders.len;

    vec_reserve(&search->keys, search->sorted.len * width + 1);
    vec_foreach (one, &search->sorted) {
        one->keys = search->keys.at + search->keys.len;
        for (size_t i = 0; i < width; i++)
            search->keys.at[search->keys.len++] = get(one->row, &search->orders.at[i].name);
    }
    if (search->sorted.len)
        qsort_r(search->sorted.at, search->sorted.len, sizeof(*search->sorted.at), compare,
                &search->orders);
}

/* Behind the last row of the page. */
static size_t search_end(const struct search *search)
{
    size_t left = search->sorted.len - MIN(search->at, search->sorted.len);
    return search->at + MIN(left, (size_t)search->limit);
}

static void put_token(struct mlflow_call *call, const struct search *search)
{
    char token[24];

    if (search_end(search) >= search->sorted.len)
        return;
    snprintf(token, sizeof(token), "%zu", search_end(search));
    json_put_text(&call->out, "next_page_token", token);
}

/* ---- runs ---- */

struct found_runs {
    VEC(struct run_row) rows;
};

static void choose_runs(const struct search *search, const struct tracked_experiment *experiment,
                        struct found_runs *found)
{
    vec_foreach (run, &experiment->runs) {
        if (!*run || !(*run)->committed || !is_seen(search, (*run)->deleted))
            continue;
        struct run_row row = {*run, NULL};
        if (mlflow_matches(&search->filter, &row, get_of_run, dataset_fits))
            vec_push(&found->rows, row);
        else
            free(row.artifacts);
    }
}

static int choose_all(struct mlflow_call *call, const struct search *search,
                      struct found_runs *found, struct err *err)
{
    const json_t *ids;
    int r = mlflow_list(call, "experiment_ids", &ids, err);

    for (size_t i = 0; r == 0 && i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        char number[24];
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(id));
        const char *text = json_is_integer(id) ? number : json_string_value(id);
        if (!text || !*text || text[strspn(text, "0123456789")])
            return err_set(err, EINVAL,
                           "Invalid experiment ID '%.100s'. Experiment ID must be a valid integer.",
                           text ? text : "");
        const struct tracked_experiment *experiment = tracked_experiment(call->tracked, text);
        if (experiment)
            choose_runs(search, experiment, found);
    }
    return r;
}

static void sort_runs(struct search *search, const struct found_runs *found)
{
    vec_foreach (row, &found->rows) {
        struct sorted one = {row, NULL, (double)row->run->start_ms, row->run->id};
        vec_push(&search->sorted, one);
    }
    search_sort(search, get_of_run);
}

/* As mlflow_put_run() writes it; borrowed until the run changes. NULL: too much is kept already. */
static const char *told(struct tracked_run *run)
{
    struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (!tracked_told(run)) {
        mlflow_put_run(&out, run);
        tracked_tell(run, str_take(&text));
    }
    return tracked_told(run);
}

static void put_runs(struct mlflow_call *call, const struct search *search)
{
    json_key(&call->out, "runs");
    json_begin_array(&call->out);
    for (size_t at = search->at; at < search_end(search); at++) {
        struct tracked_run *run = ((const struct run_row *)search->sorted.at[at].row)->run;
        const char *text = told(run);
        if (text)
            json_raw(&call->out, text);
        else
            mlflow_put_run(&call->out, run);
    }
    json_end_array(&call->out);
    put_token(call, search);
}

int mlflow_runs_search(struct mlflow_call *call, struct err *err)
{
    struct search search = {.view = MLFLOW_ACTIVE};
    struct found_runs found = {{NULL, 0, 0}};
    int r = search_read(call, &run_language, "run_view_type", &search, err);

    if (r == 0)
        r = choose_all(call, &search, &found, err);
    if (r == 0) {
        sort_runs(&search, &found);
        put_runs(call, &search);
    }
    vec_foreach (row, &found.rows)
        free(row->artifacts);
    vec_release(&found.rows);
    search_release(&search);
    return r;
}

/* ---- experiments ---- */

enum { EXPERIMENT_NAME, EXPERIMENT_NUMBER, EXPERIMENT_CREATED, EXPERIMENT_UPDATED };
static const struct mlflow_attribute experiment_attributes[] = {
    {"name", EXPERIMENT_NAME, false, false},
    {"experiment_id", EXPERIMENT_NUMBER, false, true},
    {"creation_time", EXPERIMENT_CREATED, true, false},
    {"last_update_time", EXPERIMENT_UPDATED, true, false},
    {NULL, 0, false, false},
};
static const struct mlflow_language experiment_language = {experiment_attributes, false};

struct found_experiment {
    const struct tracked_experiment *experiment;
    char id[24]; /* with zeros before it, so that texts sort as numbers do */
};

static struct mlflow_value get_of_experiment(const void *arg, const struct mlflow_name *name)
{
    const struct found_experiment *row = arg;
    const struct tracked_experiment *experiment = row->experiment;

    if (name->entity == MLFLOW_TAG)
        return text_value(tracked_find(&experiment->tags, name->key));
    switch (name->attribute) {
    case EXPERIMENT_NAME:
        return text_value(experiment->name);
    case EXPERIMENT_CREATED:
        return number_value(experiment->created_ms, true);
    case EXPERIMENT_UPDATED:
        return number_value(experiment->updated_ms, true);
    default:
        return text_value(row->id);
    }
}

struct found_experiments {
    VEC(struct found_experiment) rows;
};

static void choose_experiments(struct mlflow_call *call, const struct search *search,
                               struct found_experiments *found)
{
    for (size_t i = 0; i < tracked_count(call->tracked); i++) {
        const struct tracked_experiment *experiment = tracked_at(call->tracked, i);
        struct found_experiment row = {experiment, ""};
        if (!is_seen(search, experiment->deleted))
            continue;
        snprintf(row.id, sizeof(row.id), "%lld", (long long)tracked_number(experiment));
        if (!mlflow_matches(&search->filter, &row, get_of_experiment, NULL))
            continue;
        snprintf(row.id, sizeof(row.id), "%020lld", (long long)tracked_number(experiment));
        vec_push(&found->rows, row);
    }
}

static void sort_experiments(struct search *search, const struct found_experiments *found)
{
    vec_foreach (row, &found->rows) {
        double tie = search->orders.len ? (double)tracked_number(row->experiment)
                                        : (double)row->experiment->created_ms;
        struct sorted one = {row, NULL, tie, row->id};
        vec_push(&search->sorted, one);
    }
    search_sort(search, get_of_experiment);
}

static void put_experiments(struct mlflow_call *call, const struct search *search)
{
    json_key(&call->out, "experiments");
    json_begin_array(&call->out);
    for (size_t at = search->at; at < search_end(search); at++) {
        const struct found_experiment *row = search->sorted.at[at].row;
        mlflow_put_experiment(&call->out, row->experiment);
    }
    json_end_array(&call->out);
    put_token(call, search);
}

int mlflow_experiments_search(struct mlflow_call *call, struct err *err)
{
    struct search search = {.view = MLFLOW_ACTIVE};
    struct found_experiments found = {{NULL, 0, 0}};
    int r = search_read(call, &experiment_language, "view_type", &search, err);

    if (r == 0) {
        choose_experiments(call, &search, &found);
        sort_experiments(&search, &found);
        put_experiments(call, &search);
    }
    vec_release(&found.rows);
    search_release(&search);
    return r;
}
