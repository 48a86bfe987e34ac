/* SPDX-License-Identifier: MIT */
/*
 * changes.c — a ring under a mutex. A row that is written twice in one transaction is mostly told
 * once: neighbours that are equal are told once.
 */
#include "store/changes.h"
#include "store/internal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

struct changes {
    pthread_mutex_t mutex;
    uint64_t count, tokens;
    pthread_mutex_t listening; /* over the two below, and while fn runs */
    changes_fn *fn;
    void *arg;
    struct change ring[CHANGES_KEPT];
};

struct changes *changes_new(void)
{
    struct changes *changes = xcalloc(1, sizeof(*changes));
    pthread_mutex_init(&changes->mutex, NULL);
    pthread_mutex_init(&changes->listening, NULL);
    return changes;
}

void changes_free(struct changes *changes)
{
    if (!changes)
        return;
    pthread_mutex_destroy(&changes->listening);
    pthread_mutex_destroy(&changes->mutex);
    free(changes);
}

/* What a row is about; false: neither an experiment nor a trial as they are copied. */
static bool change_of(const struct row *row, struct change *ret)
{
    const struct trial *trial = &((const struct put_trial *)row)->trial;
    const struct attempt *attempt = &((const struct put_attempt *)row)->attempt;
    const struct put_summary *summary = (const struct put_summary *)row;
    const struct put_other *other = (const struct put_other *)row;

    switch (row->kind) {
    case ROW_EXPERIMENT:
        *ret = (struct change){((const struct put_experiment *)row)->experiment.id, 0, false};
        return true;
    case ROW_TRIAL:
        *ret = (struct change){trial->experiment, trial->number, false};
        return true;
    case ROW_ATTEMPT:
        *ret = (struct change){attempt->experiment, attempt->trial, false};
        return true;
    case ROW_SUMMARY:
        *ret = (struct change){summary->experiment, summary->trial, false};
        return true;
    case ROW_TAG:
    case ROW_NOTE:
    case ROW_STAR:
    case ROW_RUN:
        *ret = (struct change){other->experiment, other->trial, false};
        return true;
    case ROW_REMOVE_EXPERIMENT:
    case ROW_REMOVE_TRIAL:
        *ret = (struct change){other->experiment, other->trial, true};
        return true;
    default:
        return false;
    }
}

static bool same(const struct change *a, const struct change *b)
{
    return a->experiment == b->experiment && a->trial == b->trial && a->removed == b->removed;
}

void changes_listen(struct changes *changes, changes_fn *fn, void *arg)
{
    pthread_mutex_lock(&changes->listening);
    assert(!fn || !changes->fn);
    changes->fn = fn;
    changes->arg = arg;
    pthread_mutex_unlock(&changes->listening);
}

static void call_listener(struct changes *changes)
{
    pthread_mutex_lock(&changes->listening);
    if (changes->fn)
        changes->fn(changes->arg);
    pthread_mutex_unlock(&changes->listening);
}

void changes_tell(struct changes *changes, const struct txn *txn)
{
    struct change last = {0}, one;

    call_listener(changes);
    pthread_mutex_lock(&changes->mutex);
    for (const struct row *row = txn->first; row; row = row->next)
        if (row->kind == ROW_TOKEN || row->kind == ROW_REMOVE_TOKEN)
            changes->tokens++;
        else if (change_of(row, &one) && !same(&one, &last))
            last = changes->ring[changes->count++ % CHANGES_KEPT] = one;
    pthread_mutex_unlock(&changes->mutex);
}

uint64_t changes_count(struct changes *changes)
{
    pthread_mutex_lock(&changes->mutex);
    uint64_t count = changes->count;
    pthread_mutex_unlock(&changes->mutex);
    return count;
}

uint64_t changes_tokens(struct changes *changes)
{
    pthread_mutex_lock(&changes->mutex);
    uint64_t tokens = changes->tokens;
    pthread_mutex_unlock(&changes->mutex);
    return tokens;
}

int changes_since(struct changes *changes, uint64_t seen, struct change *ret, size_t max)
{
    int n = -ENOBUFS;

    pthread_mutex_lock(&changes->mutex);
    if (seen <= changes->count && changes->count - seen <= CHANGES_KEPT)
        for (n = 0; (size_t)n < max && seen < changes->count; seen++)
            ret[n++] = changes->ring[seen % CHANGES_KEPT];
    pthread_mutex_unlock(&changes->mutex);
    return n;
}
