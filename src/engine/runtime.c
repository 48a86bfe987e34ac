/* SPDX-License-Identifier: MIT */
/*
 * runtime.c — turns of the loop become ticks of the engine.
 *
 *   loop thread                          writer thread
 *   ───────────                          ─────────────
 *   events … ── prepare: engine_tick() ──► store_apply()   one transaction, fsync
 *   effects  ◄── async: engine_committed() ◄──┘
 *
 * Suggestions of the search are computed by libuv's workers, and come back to the loop.
 * While a commit is under way, further changes gather for the next: group commit without a timer.
 * Samples are in the store of series before the tick that was decided by them is committed; the
 * disk has them at most SYNC_MS later.
 * A full disk is waited out: nothing new starts meanwhile, because effects wait for their commit.
 */
#include "engine/runtime.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "engine/code_watch.h"
#include "engine/migrate.h"
#include "engine/notify.h"
#include "engine/record.h"
#include "store/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define SYNC_MS  80  /* after the first flush that a power cut could undo */
#define RETRY_MS 500 /* while the disk is full */

#define MIGRATE_MS 50 /* how often, and how long at a time */
#define MIGRATE_US 5000

extern char **environ;

struct runtime {
    uv_loop_t *loop;
    struct runtime_options options;
    char *home;
    int lock_fd;
    struct store *store, *reader;
    struct changes *changes; /* told by the writer */
    struct record *record;
    runtime_removed_fn *on_removed; /* NULL: nobody is told */
    void *removed_arg;
    runtime_event_fn *on_event; /* NULL: nobody else hears */
    void *event_arg;
    struct engine *engine;
    struct agent *agent;
    struct code_watch *code_watch;
    struct notify *notify;
    uv_prepare_t prepare;
    uv_timer_t timer;
    uv_timer_t sync_timer;
    uv_timer_t migrate_timer;
    struct migration *migration; /* NULL: the store has it all */
    bool no_room;                /* samples wait for room on the disk */
    uv_async_t async;

    uv_thread_t writer;
    uv_mutex_t mutex; /* guards the five below */
    uv_cond_t cond;
    struct tick *pending, *done;
    bool quitting;
    char *complaint;    /* of the writer, to be said on the loop's thread */
    struct err failure; /* code 0: none */
    bool busy;          /* loop thread: a tick is with the writer */
    bool failed;
    int handles; /* still to be closed */
    int jobs;    /* with the workers */
};

/* A job of the search, with a worker. */
struct work {
    uv_work_t request;
    struct runtime *runtime;
    struct search_job *job;
};

struct now runtime_now(void)
{
    return (struct now){clock_wall_us(), clock_mono_us()};
}

int home_lock(const char *home, int *ret_fd, struct err *err)
{
    autofree(mem) char *path = xasprintf("%s/engine.lock", home);
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", path);
    int r = fs_lock(fd);
    if (r == -EAGAIN)
        return err_set(err, EAGAIN, "another hone process is at work in %s", home);
    if (r < 0)
        return err_errno(err, -r, "cannot lock %s", path);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

bool home_locked(const char *home)
{
    autofree(mem) char *path = xasprintf("%s/engine.lock", home);
    autoclose int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 && fs_locked(fd);
}

/* ---- the writer's side ---- */

static void complain(struct runtime *runtime, const struct err *err)
{
    uv_mutex_lock(&runtime->mutex);
    free(runtime->complaint);
    runtime->complaint = err->code == ENOSPC ? xasprintf("%s: %s", err_text(err), strerror(ENOSPC))
                                             : xstrdup(err_text(err));
    uv_mutex_unlock(&runtime->mutex);
    uv_async_send(&runtime->async);
}

/* Apply, waiting out a full disk. */
static int apply_patiently(struct runtime *runtime, const struct tick *tick, struct err *err)
{
    for (bool said = false;;) {
        int r = store_apply(runtime->store, tick_txn(tick), err);
        if (r != -ENOSPC && r != -EBUSY)
            return r;
        if (!said)
            complain(runtime, err);
        said = true;
        uv_mutex_lock(&runtime->mutex);
        if (!runtime->quitting)
            uv_cond_timedwait(&runtime->cond, &runtime->mutex, 500 * 1000000ULL);
        bool quitting = runtime->quitting;
        uv_mutex_unlock(&runtime->mutex);
        if (quitting)
            return r;
    }
}

static void writer_main(void *arg)
{
    struct runtime *runtime = arg;

    for (;;) {
        uv_mutex_lock(&runtime->mutex);
        while (!runtime->pending && !runtime->quitting)
            uv_cond_wait(&runtime->cond, &runtime->mutex);
        struct tick *tick = runtime->pending;
        runtime->pending = NULL;
        uv_mutex_unlock(&runtime->mutex);
        if (!tick)
            return;
        struct err err = ERR_INIT;
        int r = apply_patiently(runtime, tick, &err);
        uv_mutex_lock(&runtime->mutex);
        runtime->done = tick;
        if (r < 0)
            runtime->failure = err;
        else
            err_release(&err);
        uv_mutex_unlock(&runtime->mutex);
        uv_async_send(&runtime->async);
    }
}

/* ---- the loop's side ---- */

static void hand_over(struct runtime *runtime, struct tick *tick)
{
    runtime->busy = true;
    uv_mutex_lock(&runtime->mutex);
    runtime->pending = tick;
    uv_cond_signal(&runtime->cond);
    uv_mutex_unlock(&runtime->mutex);
}

static void do_work(uv_work_t *request)
{
    struct work *work = request->data;
    search_job_run(work->job, clock_mono_us);
}

static void on_worked(uv_work_t *request, int status)
{
    struct work *work = request->data;
    (void)status; /* it is never cancelled */
    work->runtime->jobs--;
    engine_search_done(work->runtime->engine, work->job, runtime_now());
    free(work);
}

static void start_jobs(struct runtime *runtime)
{
    struct search_job *job;

    while (engine_search_due(runtime->engine, &job)) {
        struct work *work = xcalloc(1, sizeof(*work));
        *work = (struct work){.runtime = runtime, .job = job};
        work->request.data = work;
        runtime->jobs++;
        uv_queue_work(runtime->loop, &work->request, do_work, on_worked);
    }
}

static void hold_up(struct runtime *runtime, const char *why)
{
    log_error("%s: nothing new starts until that is over", why);
    engine_hold_up(runtime->engine, why);
}

static void on_timer(uv_timer_t *timer)
{
    (void)timer; /* the turn of the loop that it causes does the work */
}

/* ---- samples ---- */

static void on_sync_timer(uv_timer_t *timer)
{
    struct runtime *runtime = timer->data;
    autorelease(err) struct err err = ERR_INIT;

    if (record_sync(runtime->record, &err) < 0)
        log_error("%s", err_text(&err));
}

/* Older samples go into the store beside the work. */
static void on_migrate_timer(uv_timer_t *timer)
{
    struct runtime *runtime = timer->data;
    int64_t until_us = clock_mono_us() + MIGRATE_US;

    while (runtime->migration && clock_mono_us() < until_us)
        if (migration_turn(runtime->migration))
            migration_free(TAKE(runtime->migration));
    if (!runtime->migration)
        uv_timer_stop(timer);
}

void runtime_gather(struct runtime *runtime, int64_t experiment)
{
    if (runtime->migration)
        migration_add(runtime->migration, experiment);
    else
        runtime->migration =
            migration_of(runtime->home, runtime->reader, runtime_series(runtime), experiment);
    uv_timer_start(&runtime->migrate_timer, on_migrate_timer, 0, MIGRATE_MS);
}

/* False: the disk is full, and what rests on the samples has to wait. */
static bool flush_samples(struct runtime *runtime)
{
    autorelease(err) struct err err = ERR_INIT;
    int r = record_flush(runtime->record, &err);

    if (r < 0) {
        if (!runtime->no_room)
            hold_up(runtime, err_text(&err));
        uv_timer_start(&runtime->timer, on_timer, RETRY_MS, 0);
    } else if (record_unsynced(runtime->record) &&
               !uv_is_active((uv_handle_t *)&runtime->sync_timer)) {
        uv_timer_start(&runtime->sync_timer, on_sync_timer, SYNC_MS, 0);
        uv_unref((uv_handle_t *)&runtime->sync_timer);
    }
    if (r >= 0 && runtime->no_room)
        engine_hold_up(runtime->engine, NULL);
    runtime->no_room = r < 0;
    return r >= 0;
}

static void set_timer(struct runtime *runtime, struct now now)
{
    int64_t wake_us = MIN(engine_wake_us(runtime->engine),
                          code_watch_wake_us(runtime->code_watch, runtime->engine));
    if (wake_us == INT64_MAX) {
        uv_timer_stop(&runtime->timer);
        return;
    }
    int64_t wait_us = MAX(1000, wake_us - now.mono_us);
    uv_timer_start(&runtime->timer, on_timer, (uint64_t)(wait_us + 999) / 1000, 0);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct runtime *runtime = prepare->data;
    struct now now = runtime_now();

    if (runtime->failed)
        return;
    if (runtime->busy) {
        start_jobs(runtime);
        return;
    }
    if (!flush_samples(runtime))
        return;
    struct tick *tick = engine_tick(runtime->engine, now);
    if (tick)
        hand_over(runtime, tick);
    start_jobs(runtime);
    code_watch_turn(runtime->code_watch, runtime->engine, now);
    uv_update_time(runtime->loop);
    set_timer(runtime, now);
}

static void on_committed(uv_async_t *async)
{
    struct runtime *runtime = async->data;

    uv_mutex_lock(&runtime->mutex);
    struct tick *tick = TAKE(runtime->done);
    autofree(mem) char *complaint = TAKE(runtime->complaint);
    bool failed = runtime->failure.code != 0;
    uv_mutex_unlock(&runtime->mutex);
    if (complaint)
        hold_up(runtime, complaint);
    if (!tick)
        return;
    runtime->busy = false;
    engine_hold_up(runtime->engine, NULL);
    if (!failed) {
        engine_committed(runtime->engine, tick);
        return;
    }
    tick_free(tick);
    runtime->failed = true;
    if (runtime->options.on_failure)
        runtime->options.on_failure(&runtime->failure, runtime->options.arg);
}

static void send_command(const struct agent_command *command, void *arg)
{
    struct runtime *runtime = arg;
    agent_command(runtime->agent, command);
}

static void on_agent_event(const struct agent_event *event, void *arg)
{
    struct runtime *runtime = arg;
    const struct attempt *attempt;

    if (!runtime->engine)
        return;
    attempt = engine_attempt(runtime->engine, event->attempt);
    if (event->kind == EVENT_SAMPLES && attempt)
        record_samples(runtime->record, attempt, event);
    else if (event->kind == EVENT_FIGURES && (attempt || event->attempt == 0))
        record_figures(runtime->record, attempt, event);
    engine_on_event(runtime->engine, event, runtime_now());
}

static void on_engine_event(int64_t experiment, const char *json, void *arg)
{
    struct runtime *runtime = arg;
    if (runtime->options.on_event)
        runtime->options.on_event(experiment, json, runtime->options.arg);
    if (runtime->on_event)
        runtime->on_event(experiment, json, runtime->event_arg);
}

static void on_notify(const char *json, void *arg)
{
    struct runtime *runtime = arg;
    notify_send(runtime->notify, json);
}

/* The Python SDK beside the program: in the source tree or where `make install` puts it. */
static char *find_python_path(void)
{
    static const char *const places[] = {"../share/hone/python", "../sdk/python",
                                         "../../sdk/python"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    if (n <= 0)
        return NULL;
    exe[n] = '\0';
    *strrchr(exe, '/') = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        autofree(mem) char *path = xasprintf("%s/%s", exe, places[i]);
        autofree(mem) char *package = xasprintf("%s/hone/__init__.py", path);
        if (fs_exists(package))
            return realpath(path, NULL);
    }
    return NULL;
}

static int make_engine(struct runtime *runtime, struct err *err)
{
    autofree(mem) char *python_path = find_python_path();
    struct now now = runtime_now();
    int r = agent_local_new(runtime->loop, store_home_id(runtime->store), on_agent_event, runtime,
                            &runtime->agent, err);

    if (r < 0)
        return r;
    runtime->engine = engine_new(&(struct engine_options){
        .home = runtime->home,
        .home_id = store_home_id(runtime->store),
        .machine = &runtime->agent->machine,
        .seed = random_u64(),
        .envp = environ,
        .series = record_db(runtime->record),
        .python_path = python_path,
        .send = send_command,
        .on_event = on_engine_event,
        .on_notify = on_notify,
        .arg = runtime,
    });
    return engine_load(runtime->engine, runtime->reader, runtime->options.go_on, now, err);
}

static void start_handles(struct runtime *runtime)
{
    runtime->code_watch = code_watch_new(runtime->loop, runtime->home);
    runtime->notify = notify_new(runtime->loop);
    uv_mutex_init(&runtime->mutex);
    uv_cond_init(&runtime->cond);
    uv_prepare_init(runtime->loop, &runtime->prepare);
    uv_timer_init(runtime->loop, &runtime->timer);
    uv_timer_init(runtime->loop, &runtime->sync_timer);
    uv_async_init(runtime->loop, &runtime->async, on_committed);
    runtime->prepare.data = runtime->timer.data = runtime->async.data = runtime;
    runtime->sync_timer.data = runtime->migrate_timer.data = runtime;
    uv_timer_init(runtime->loop, &runtime->migrate_timer);
    if (runtime->migration)
        uv_timer_start(&runtime->migrate_timer, on_migrate_timer, MIGRATE_MS, MIGRATE_MS);
    uv_unref((uv_handle_t *)&runtime->migrate_timer);
    uv_prepare_start(&runtime->prepare, on_prepare);
    uv_thread_create(&runtime->writer, writer_main, runtime);
}

static void release_parts(struct runtime *runtime)
{
    if (runtime->agent)
        agent_free(runtime->agent);
    if (runtime->engine)
        engine_free(runtime->engine);
    if (runtime->migration)
        migration_free(runtime->migration);
    if (runtime->record)
        record_free(runtime->record);
    if (runtime->reader)
        store_free(runtime->reader);
    if (runtime->store)
        store_free(runtime->store);
    changes_free(runtime->changes);
    err_release(&runtime->failure);
    fd_autoclose(&runtime->lock_fd);
    free(runtime->home);
    free(runtime);
}

int runtime_open(uv_loop_t *loop, const struct runtime_options *options, struct runtime **ret,
                 struct err *err)
{
    int lock_fd = -1;
    int r = fs_make_dirs(options->home, 0700, err);
    if (r == 0)
        r = home_lock(options->home, &lock_fd, err);
    if (r < 0)
        return r;
    struct runtime *runtime = xcalloc(1, sizeof(*runtime));
    runtime->loop = loop;
    runtime->options = *options;
    runtime->home = xstrdup(options->home);
    runtime->lock_fd = lock_fd;
    runtime->changes = changes_new();
    r = store_open(options->home, &runtime->store, err);
    if (r >= 0)
        store_tell(runtime->store, runtime->changes);
    if (r >= 0)
        r = store_open_read(options->home, &runtime->reader, err);
    if (r >= 0)
        r = record_open(options->home, &runtime->record, err);
    if (r >= 0) {
        runtime->migration =
            migration_new(options->home, runtime->reader, record_db(runtime->record));
        r = make_engine(runtime, err);
    }
    if (r < 0) {
        release_parts(runtime);
        return r;
    }
    start_handles(runtime);
    *ret = runtime;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct runtime *runtime = handle->data;
    runtime->handles--;
}

/* What the writer has is still written; what was decided since, the next engine decides again. */
static void finish_writing(struct runtime *runtime)
{
    uv_mutex_lock(&runtime->mutex);
    runtime->quitting = true;
    uv_cond_signal(&runtime->cond);
    uv_mutex_unlock(&runtime->mutex);
    uv_thread_join(&runtime->writer);
    if (runtime->done)
        tick_free(TAKE(runtime->done));
    free(TAKE(runtime->complaint));
}

void runtime_close(struct runtime *runtime)
{
    finish_writing(runtime);
    uv_prepare_stop(&runtime->prepare);
    while (runtime->jobs > 0)
        uv_run(runtime->loop, UV_RUN_ONCE);
    code_watch_free(runtime->code_watch);
    agent_free(TAKE(runtime->agent));
    notify_free(runtime->notify);
    uv_close((uv_handle_t *)&runtime->prepare, on_closed);
    uv_close((uv_handle_t *)&runtime->timer, on_closed);
    uv_close((uv_handle_t *)&runtime->sync_timer, on_closed);
    uv_close((uv_handle_t *)&runtime->migrate_timer, on_closed);
    uv_close((uv_handle_t *)&runtime->async, on_closed);
    for (runtime->handles = 5; runtime->handles > 0;)
        uv_run(runtime->loop, UV_RUN_NOWAIT);
    uv_mutex_destroy(&runtime->mutex);
    uv_cond_destroy(&runtime->cond);
    release_parts(runtime);
}

struct engine *runtime_engine(struct runtime *runtime)
{
    return runtime->engine;
}

struct series_db *runtime_series(struct runtime *runtime)
{
    return record_db(runtime->record);
}

void runtime_on_removed(struct runtime *runtime, runtime_removed_fn *fn, void *arg)
{
    runtime->on_removed = fn;
    runtime->removed_arg = arg;
}

void runtime_on_event(struct runtime *runtime, runtime_event_fn *fn, void *arg)
{
    runtime->on_event = fn;
    runtime->event_arg = arg;
}

void runtime_hurry(struct runtime *runtime, bool hurry)
{
    agent_local_hurry(runtime->agent, hurry);
}

void runtime_removed(struct runtime *runtime, int64_t experiment, int64_t trial)
{
    if (runtime->on_removed)
        runtime->on_removed(experiment, trial, runtime->removed_arg);
}

struct changes *runtime_changes(struct runtime *runtime)
{
    return runtime->changes;
}

struct store *runtime_reader(struct runtime *runtime)
{
    return runtime->reader;
}

const char *runtime_home(const struct runtime *runtime)
{
    return runtime->home;
}
