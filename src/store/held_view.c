/* SPDX-License-Identifier: MIT */
/*
 * held_view.c — a handle under a mutex: its reader asks, and the writer's thread ends what is held.
 */
#include "store/held_view.h"

#include <pthread.h>

struct held_view {
    struct store *store;
    struct changes *changes;
    pthread_mutex_t mutex; /* over all below, and over the use of the handle */
    bool held;
};

/* Under the mutex. */
static void let_go(struct held_view *view)
{
    if (view->held)
        store_view_end(view->store);
    view->held = false;
}

static void on_commit(void *arg)
{
    struct held_view *view = arg;

    pthread_mutex_lock(&view->mutex);
    let_go(view);
    pthread_mutex_unlock(&view->mutex);
}

struct held_view *held_view_new(struct store *store, struct changes *changes)
{
    struct held_view *view = xcalloc(1, sizeof(*view));

    view->store = store;
    view->changes = changes;
    pthread_mutex_init(&view->mutex, NULL);
    changes_listen(changes, on_commit, view);
    return view;
}

void held_view_free(struct held_view *view)
{
    if (!view)
        return;
    changes_listen(view->changes, NULL, NULL);
    let_go(view);
    pthread_mutex_destroy(&view->mutex);
    free(view);
}

struct store *held_view_begin(struct held_view *view)
{
    pthread_mutex_lock(&view->mutex);
    if (!view->held)
        store_view_begin(view->store);
    view->held = true;
    return view->store;
}

void held_view_end(struct held_view *view)
{
    pthread_mutex_unlock(&view->mutex);
}
