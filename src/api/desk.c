/* SPDX-License-Identifier: MIT */
/*
 * desk.c — a queue of requests and the thread that serves them.
 */
#include "api/desk.h"

#include <pthread.h>

struct desk {
    desk_serve_fn *serve;
    void *arg;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t more;
    VEC(struct http_request *) queue;
    size_t taken; /* of the queue, from its beginning */
    bool stopping;
};

/* NULL: it is over. */
static struct http_request *next(struct desk *desk)
{
    struct http_request *request = NULL;

    pthread_mutex_lock(&desk->mutex);
    while (!desk->stopping && desk->taken == desk->queue.len)
        pthread_cond_wait(&desk->more, &desk->mutex);
    if (!desk->stopping) {
        request = desk->queue.at[desk->taken++];
        if (desk->taken == desk->queue.len)
            desk->taken = desk->queue.len = 0;
    }
    pthread_mutex_unlock(&desk->mutex);
    return request;
}

static void *work(void *arg)
{
    struct desk *desk = arg;
    struct http_request *request;

    while ((request = next(desk)))
        desk->serve(request, desk->arg);
    return NULL;
}

struct desk *desk_new(desk_serve_fn *serve, void *arg)
{
    struct desk *desk = xcalloc(1, sizeof(*desk));

    desk->serve = serve;
    desk->arg = arg;
    pthread_mutex_init(&desk->mutex, NULL);
    pthread_cond_init(&desk->more, NULL);
    if (pthread_create(&desk->thread, NULL, work, desk) != 0) {
        pthread_mutex_destroy(&desk->mutex);
        pthread_cond_destroy(&desk->more);
        free(desk);
        return NULL;
    }
    return desk;
}

static void turn_away(struct http_request *request)
{
    http_reply_error(request, 503, "the server is stopping");
}

void desk_put(struct desk *desk, struct http_request *request)
{
    pthread_mutex_lock(&desk->mutex);
    bool stopping = desk->stopping;
    if (!stopping) {
        vec_push(&desk->queue, request);
        pthread_cond_signal(&desk->more);
    }
    pthread_mutex_unlock(&desk->mutex);
    if (stopping)
        turn_away(request);
}

void desk_free(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    desk->stopping = true;
    pthread_cond_signal(&desk->more);
    pthread_mutex_unlock(&desk->mutex);
    pthread_join(desk->thread, NULL);
    for (size_t i = desk->taken; i < desk->queue.len; i++)
        turn_away(desk->queue.at[i]);
    vec_release(&desk->queue);
    pthread_mutex_destroy(&desk->mutex);
    pthread_cond_destroy(&desk->more);
    free(desk);
}
