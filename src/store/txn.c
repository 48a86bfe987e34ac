/* SPDX-License-Identifier: MIT */
/*
 * txn.c — a transaction before it is written: rows in an arena, in order.
 *
 * The engine makes one every turn of its loop, so this costs a few copies and nothing else. A row
 * that is put twice is written once, with what it was last: most trials change several times
 * within one turn. A removal ends that: what is put after it is a new row.
 */
#include "store/artifact.h"
#include "store/internal.h"

struct txn *txn_new(void)
{
    struct txn *txn = xcalloc(1, sizeof(*txn));
    txn->end = &txn->first;
    return txn;
}

void txn_free(struct txn *txn)
{
    if (!txn)
        return;
    arena_release(&txn->arena);
    map_release(&txn->experiments);
    map_release(&txn->trials);
    map_release(&txn->attempts);
    free(txn);
}

bool txn_empty(const struct txn *txn)
{
    return !txn->first;
}

static void *add_row(struct txn *txn, enum row_kind kind, size_t size)
{
    struct row *row = arena_alloc(&txn->arena, size);
    row->kind = kind;
    *txn->end = row;
    txn->end = &row->next;
    return row;
}

/* The row of this key, new or the one that is to be overwritten. */
static void *keyed_row(struct txn *txn, struct map *map, uint64_t key, enum row_kind kind,
                       size_t size)
{
    void *row = map_find(map, key);
    if (!row) {
        row = add_row(txn, kind, size);
        map_put(map, key, row);
    }
    return row;
}

/* A copy of `text`; the earlier copy if that says the same or nothing new is said. */
static char *keep_text(struct txn *txn, const char *before, const char *text)
{
    if (!text || (before && str_eq(before, text)))
        return (char *)before;
    return arena_strdup(&txn->arena, text);
}

void txn_put_experiment(struct txn *txn, const struct experiment *experiment)
{
    struct put_experiment *put =
        keyed_row(txn, &txn->experiments, (uint64_t)experiment->id, ROW_EXPERIMENT, sizeof(*put));
    struct experiment before = put->experiment;
    struct experiment *to = &put->experiment;

    *to = *experiment;
    to->name = keep_text(txn, before.name, experiment->name);
    to->owner = keep_text(txn, before.owner, experiment->owner);
    to->error = arena_strdup(&txn->arena, experiment->error);
    to->code = arena_strdup(&txn->arena, experiment->code);
    to->spec_json = keep_text(txn, before.spec_json, experiment->spec_json);
    to->environment = keep_text(txn, before.environment, experiment->environment);
    if (experiment->search_state) {
        to->search_state =
            arena_memdup(&txn->arena, experiment->search_state, experiment->search_state_size);
        to->kernel = keep_text(txn, before.kernel, experiment->kernel);
    } else {
        to->kernel = before.kernel;
        to->search_state = before.search_state;
        to->search_state_size = before.search_state_size;
    }
}

void txn_put_trial(struct txn *txn, const struct trial *trial, size_t ndim, const char *params_json)
{
    struct put_trial *put =
        keyed_row(txn, &txn->trials, (uint64_t)pair_id(trial->experiment, trial->number), ROW_TRIAL,
                  sizeof(*put));
    struct trial before = put->trial;
    double *point = before.point;

    if (trial->point && (!point || put->ndim != ndim))
        point = arena_alloc(&txn->arena, MAX(ndim, 1) * sizeof(double));
    if (trial->point && ndim)
        memcpy(point, trial->point, ndim * sizeof(double));
    if (trial->point)
        put->ndim = ndim;
    put->trial = *trial;
    put->trial.point = point;
    put->trial.why = keep_text(txn, before.why, trial->why);
    put->trial.verdict = keep_text(txn, before.verdict, trial->verdict);
    put->trial.extra = trial->n_extra ? arena_memdup(&txn->arena, trial->extra,
                                                     trial->n_extra * sizeof(*trial->extra))
                                      : before.extra;
    put->trial.n_extra = trial->n_extra ? trial->n_extra : before.n_extra;
    put->params_json = keep_text(txn, put->params_json, params_json);
}

void txn_put_attempt(struct txn *txn, const struct attempt *attempt)
{
    struct put_attempt *put =
        keyed_row(txn, &txn->attempts, (uint64_t)attempt->id, ROW_ATTEMPT, sizeof(*put));
    put->attempt = *attempt;
    put->attempt.error = arena_strdup(&txn->arena, attempt->error);
    put->attempt.gpus = arena_strdup(&txn->arena, attempt->gpus);
    put->attempt.host = arena_strdup(&txn->arena, attempt->host);
    put->attempt.code = arena_strdup(&txn->arena, attempt->code);
    put->attempt.system = arena_strdup(&txn->arena, attempt->system);
}

void txn_put_summary(struct txn *txn, int64_t experiment, int64_t trial,
                     const struct summary *summary)
{
    struct put_summary *put = add_row(txn, ROW_SUMMARY, sizeof(*put));
    put->experiment = experiment;
    put->trial = trial;
    put->summary = *summary;
    put->summary.metric = arena_strdup(&txn->arena, summary->metric);
}

static struct put_other *add_other(struct txn *txn, enum row_kind kind, int64_t experiment,
                                   int64_t trial, const char *text)
{
    struct put_other *put = add_row(txn, kind, sizeof(*put));
    put->experiment = experiment;
    put->trial = trial;
    put->text = arena_strdup(&txn->arena, text);
    return put;
}

void txn_put_event(struct txn *txn, int64_t time_us, int64_t experiment, int64_t trial,
                   const char *json)
{
    add_other(txn, ROW_EVENT, experiment, trial, json)->time_us = time_us;
}

void txn_tag(struct txn *txn, int64_t experiment, int64_t trial, const char *tag, bool add)
{
    add_other(txn, ROW_TAG, experiment, trial, tag)->on = add;
}

void txn_note(struct txn *txn, int64_t experiment, int64_t trial, const char *text)
{
    add_other(txn, ROW_NOTE, experiment, trial, text);
}

void txn_star(struct txn *txn, int64_t experiment, int64_t trial, bool star)
{
    add_other(txn, ROW_STAR, experiment, trial, NULL)->on = star;
}

void txn_put_object(struct txn *txn, const char *sha256, const char *kind, uint64_t size,
                    int64_t time_us)
{
    struct put_other *put = add_other(txn, ROW_OBJECT, 0, 0, sha256);
    put->kind = arena_strdup(&txn->arena, kind);
    put->size = size;
    put->time_us = time_us;
}

void txn_remove_object(struct txn *txn, const char *sha256)
{
    add_other(txn, ROW_REMOVE_OBJECT, 0, 0, sha256);
}

void txn_put_workload(struct txn *txn, const struct workload_row *row)
{
    struct put_workload *put = add_row(txn, ROW_WORKLOAD, sizeof(*put));
    put->workload = *row;
    put->workload.identity = arena_strdup(&txn->arena, row->identity);
    put->workload.name = arena_strdup(&txn->arena, row->name);
    put->workload.machine = arena_strdup(&txn->arena, row->machine);
    put->workload.json = arena_strdup(&txn->arena, row->json);
}

void txn_cluster_workload(struct txn *txn, const char *identity, int64_t cluster)
{
    struct put_workload *put = add_row(txn, ROW_CLUSTER_WORKLOAD, sizeof(*put));
    put->workload.identity = arena_strdup(&txn->arena, identity);
    put->workload.cluster = cluster;
}

void txn_remove_workload(struct txn *txn, const char *identity)
{
    add_other(txn, ROW_REMOVE_WORKLOAD, 0, 0, identity);
}

void txn_put_submission(struct txn *txn, const char *owner, const char *key, int64_t experiment)
{
    add_other(txn, ROW_SUBMISSION, experiment, 0, key)->kind = arena_strdup(&txn->arena, owner);
}

void txn_pause_queue(struct txn *txn, bool paused)
{
    add_other(txn, ROW_QUEUE, 0, 0, NULL)->on = paused;
}

static void add_token(struct txn *txn, enum row_kind kind, const struct token_row *row)
{
    struct put_token *put = add_row(txn, kind, sizeof(*put));
    put->token = *row;
    put->token.kind = arena_strdup(&txn->arena, row->kind);
    put->token.user = arena_strdup(&txn->arena, row->user);
    put->token.role = arena_strdup(&txn->arena, row->role);
    put->token.sha256 = arena_strdup(&txn->arena, row->sha256);
}

void txn_put_token(struct txn *txn, const struct token_row *row)
{
    add_token(txn, ROW_TOKEN, row);
}

void txn_remove_token(struct txn *txn, int64_t id)
{
    add_token(txn, ROW_REMOVE_TOKEN, &(struct token_row){.id = id});
}

void txn_remove_tokens_of(struct txn *txn, const char *user)
{
    add_token(txn, ROW_REMOVE_TOKEN, &(struct token_row){.user = user});
}

void txn_put_run(struct txn *txn, int64_t experiment, int64_t trial, const char *json)
{
    add_other(txn, ROW_RUN, experiment, trial, json);
}

void txn_put_model(struct txn *txn, int64_t experiment, const char *id, const char *json)
{
    add_other(txn, ROW_MODEL, experiment, 0, json)->kind = arena_strdup(&txn->arena, id);
}

void txn_put_artifact(struct txn *txn, const struct artifact *artifact)
{
    struct put_other *put =
        add_other(txn, ROW_ARTIFACT, artifact->experiment, artifact->trial, artifact->path);
    put->kind = arena_strdup(&txn->arena, artifact->sha256);
    put->size = artifact->size;
    put->time_us = artifact->time_us;
}

void txn_remove_artifact(struct txn *txn, int64_t experiment, int64_t trial, const char *path)
{
    add_other(txn, ROW_REMOVE_ARTIFACT, experiment, trial, path);
}

void txn_remove_secret(struct txn *txn, const char *sha256)
{
    add_token(txn, ROW_REMOVE_TOKEN, &(struct token_row){.sha256 = sha256});
}

static void forget_rows(struct txn *txn)
{
    map_release(&txn->experiments);
    map_release(&txn->trials);
    map_release(&txn->attempts);
}

void txn_remove_experiment(struct txn *txn, int64_t experiment)
{
    add_other(txn, ROW_REMOVE_EXPERIMENT, experiment, 0, NULL);
    forget_rows(txn);
}

void txn_remove_trial(struct txn *txn, int64_t experiment, int64_t trial)
{
    add_other(txn, ROW_REMOVE_TRIAL, experiment, trial, NULL);
    forget_rows(txn);
}
