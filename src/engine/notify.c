/* SPDX-License-Identifier: MIT */
/*
 * notify.c — commands as children of the loop with a time limit, webhooks in one of libuv's
 * workers.
 *
 *     notify_send() ──► queue ─┬─► command: at most COMMANDS at a time, killed after COMMAND_MS
 *                              └─► webhook: one at a time; down or busy: again after a pause
 *
 * A job is owned by the list until it is over: its handles are closed first.
 */
#include "engine/notify.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/shell.h"
#include "store/library.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define COMMANDS    4     /* at a time */
#define COMMAND_MS  30000 /* then it is killed */
#define POST_MS     10000 /* a try */
#define TRIES       4     /* of a webhook */
#define FIRST_MS    1000  /* pause before the second try; then 3 times as long */
#define CLOSE_MS    5000  /* what is under way at the end */
#define QUEUE_MAX   1000  /* jobs */
#define OUTPUT_KEPT 2000  /* bytes of a command's output */

extern char **environ;

enum state { JOB_WAITS, JOB_RUNS, JOB_PAUSES, JOB_CLOSING };
struct job {
    struct notify *notify;
    enum state state;
    char *alert;         /* JSON */
    VEC(char *) command; /* ends with a NULL; none: a webhook */
    VEC(char *) env;     /* the same */
    char *dir, *webhook;
    int handles; /* open */

    uv_process_t process;
    uv_pipe_t pipe;
    uv_timer_t timer;
    struct str output;
    char buffer[1024];
    bool late; /* killed for its time */

    uv_work_t work;
    int tries;
    int result; /* of the last try: 0, -EAGAIN worth another one, else not */
    char *why;  /* what went wrong with it */
};
struct notify {
    uv_loop_t *loop;
    VEC(struct job *) jobs;
    int commands, posts; /* that run */
    bool full;           /* that was said */
    uv_timer_t timer;    /* the last patience */
    bool impatient;
    int handles;
};

static void start_jobs(struct notify *notify);

struct notify *notify_new(uv_loop_t *loop)
{
    struct notify *notify = xcalloc(1, sizeof(*notify));
    notify->loop = loop;
    return notify;
}

static void job_free(struct job *job)
{
    vec_foreach (word, &job->command)
        free(*word);
    vec_foreach (variable, &job->env)
        free(*variable);
    vec_release(&job->command);
    vec_release(&job->env);
    str_release(&job->output);
    free(job->alert);
    free(job->dir);
    free(job->webhook);
    free(job->why);
    free(job);
}

static void job_over(struct job *job)
{
    struct notify *notify = job->notify;

    for (size_t i = 0; i < notify->jobs.len; i++)
        if (notify->jobs.at[i] == job) {
            vec_remove(&notify->jobs, i);
            break;
        }
    job_free(job);
    start_jobs(notify);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct job *job = handle->data;
    if (--job->handles == 0)
        job_over(job);
}

/* ---- commands ---- */

static void add_words(const struct job *job, struct str *to)
{
    for (size_t i = 0; i < job->command.len && job->command.at[i]; i++) {
        if (i)
            str_add(to, " ");
        shell_quote(job->command.at[i], to);
    }
}

static void say_end(const struct job *job, int64_t status, int signal)
{
    autorelease(str) struct str words = STR_INIT;
    const char *said = job->output.len ? ": " : "", *text = job->output.len ? job->output.s : "";

    add_words(job, &words);
    if (job->late)
        log_warn("the command of an alert (%s) took too long and was killed%s%s", words.s, said,
                 text);
    else if (signal)
        log_warn("the command of an alert (%s) was ended by signal %d%s%s", words.s, signal, said,
                 text);
    else if (status)
        log_warn("the command of an alert (%s) ended with exit code %lld%s%s", words.s,
                 (long long)status, said, text);
    else
        log_info("the command of an alert (%s) is done%s%s", words.s, said, text);
}

static void keep_output(struct job *job, const char *bytes, size_t n)
{
    n = MIN(n, OUTPUT_KEPT - MIN(job->output.len, (size_t)OUTPUT_KEPT));
    for (size_t i = 0; i < n; i++) /* one line for the log */
        str_addf(&job->output, "%c",
                 (unsigned char)bytes[i] < 32 || bytes[i] == 127 ? ' ' : bytes[i]);
}

/* What it left in the pipe when it ended; nobody waits for what holds it open beyond that. */
static void read_rest(struct job *job)
{
    uv_os_fd_t fd;
    ssize_t n;

    if (uv_fileno((uv_handle_t *)&job->pipe, &fd) < 0)
        return;
    while (job->output.len < OUTPUT_KEPT && (n = read(fd, job->buffer, sizeof(job->buffer))) > 0)
        keep_output(job, job->buffer, (size_t)n);
    while (job->output.len && job->output.s[job->output.len - 1] == ' ')
        job->output.s[--job->output.len] = '\0';
}

static void close_handles(struct job *job)
{
    job->state = JOB_CLOSING;
    uv_close((uv_handle_t *)&job->process, on_handle_closed);
    uv_close((uv_handle_t *)&job->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&job->timer, on_handle_closed);
}

static void on_exit_(uv_process_t *process, int64_t status, int signal)
{
    struct job *job = process->data;

    read_rest(job);
    say_end(job, status, signal);
    job->notify->commands--;
    close_handles(job);
}

static void on_alloc(uv_handle_t *handle, size_t size UNUSED, uv_buf_t *buf)
{
    struct job *job = handle->data;
    *buf = uv_buf_init(job->buffer, sizeof(job->buffer));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct job *job = stream->data;

    if (n > 0)
        keep_output(job, buf->base, (size_t)n);
    else if (n < 0)
        uv_read_stop(stream);
}

static void kill_tree(struct job *job)
{
    job->late = true;
    if (kill(-job->process.pid, SIGKILL) < 0)
        uv_process_kill(&job->process, SIGKILL);
}

static void on_late(uv_timer_t *timer)
{
    kill_tree(timer->data);
}

static void init_handles(struct job *job)
{
    uv_loop_t *loop = job->notify->loop;

    uv_timer_init(loop, &job->timer);
    uv_pipe_init(loop, &job->pipe, 0);
    job->process.data = job->timer.data = job->pipe.data = job;
    job->handles = 3;
}

static void say_not_started(const struct job *job, int r)
{
    autorelease(str) struct str words = STR_INIT;

    add_words(job, &words);
    log_warn("the command of an alert (%s) cannot be started: %s", words.s, strerror(-r));
}

/* Output and errors go to one pipe. */
static void start_command(struct job *job)
{
    uv_file ends[2] = {-1, -1};
    int r = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);

    init_handles(job);
    if (r >= 0)
        r = uv_pipe_open(&job->pipe, ends[0]);
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
    };
    uv_process_options_t options = {.exit_cb = on_exit_,
                                    .file = job->command.at[0],
                                    .args = job->command.at,
                                    .env = job->env.at,
                                    .cwd = job->dir,
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = stdio};
    if (r >= 0)
        r = uv_spawn(job->notify->loop, &job->process, &options);
    if (ends[1] >= 0)
        close(ends[1]);
    if (r < 0) {
        say_not_started(job, r);
        close_handles(job);
        return;
    }
    job->state = JOB_RUNS;
    job->notify->commands++;
    uv_timer_start(&job->timer, on_late, COMMAND_MS, 0);
    uv_read_start((uv_stream_t *)&job->pipe, on_alloc, on_read);
}

/* ---- webhooks ---- */

static size_t swallow(const char *data UNUSED, size_t size, size_t n, void *arg UNUSED)
{
    return size * n;
}

/* A server that is down, busy or broken may be up again; one that refuses will refuse again. */
static int judge_answer(struct job *job, int code, const char *error, long status)
{
    if (code == 0 && status >= 200 && status < 300)
        return 0;
    job->why = code ? xstrdup(error) : xasprintf("it answered with status %ld", status);
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT)
        return -EINVAL;
    return code || status >= 500 || status == 408 || status == 429 ? -EAGAIN : -EINVAL;
}

/* On a worker's thread: touches only the job. */
static void post(uv_work_t *work)
{
    struct job *job = work->data;
    autorelease(err) struct err err = ERR_INIT;
    char error[CURL_ERROR_SIZE] = "";
    const struct libcurl *curl = NULL;
    long status = 0;

    free(TAKE(job->why));
    job->result = libcurl_load(&curl, &err);
    void *easy = job->result < 0 ? NULL : curl->curl_easy_init();
    if (!easy) {
        job->why = xstrdup(job->result < 0 ? err_text(&err) : "libcurl does not start");
        job->result = -EINVAL;
        return;
    }
    struct curl_slist *headers = curl->curl_slist_append(NULL, "Content-Type: application/json");
    curl->curl_easy_setopt(easy, CURLOPT_URL, job->webhook);
    curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDS, job->alert);
    curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl->curl_easy_setopt(easy, CURLOPT_USERAGENT, "hone");
    curl->curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    curl->curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)POST_MS);
    curl->curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
    curl->curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
    int code = curl->curl_easy_perform(easy);
    curl->curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    job->result = judge_answer(job, code, *error ? error : curl->curl_easy_strerror(code), status);
    curl->curl_slist_free_all(headers);
    curl->curl_easy_cleanup(easy);
}

static void on_pause_over(uv_timer_t *timer)
{
    struct job *job = timer->data;

    job->state = JOB_WAITS;
    start_jobs(job->notify);
}

static void give_up(struct job *job)
{
    log_warn("the webhook of an alert (%s) was not told, after %d %s: %s", job->webhook, job->tries,
             job->tries == 1 ? "try" : "tries", job->why);
}

static void end_webhook(struct job *job)
{
    job->state = JOB_CLOSING;
    uv_close((uv_handle_t *)&job->timer, on_handle_closed);
}

static void on_posted(uv_work_t *work, int status UNUSED)
{
    struct job *job = work->data;
    struct notify *notify = job->notify;
    uint64_t pause_ms = FIRST_MS;

    notify->posts--;
    job->tries++;
    if (job->result == -EAGAIN && job->tries < TRIES && !notify->impatient) {
        for (int i = 1; i < job->tries; i++)
            pause_ms *= 3;
        job->state = JOB_PAUSES;
        uv_timer_start(&job->timer, on_pause_over, pause_ms, 0);
    } else {
        if (job->result < 0)
            give_up(job);
        end_webhook(job);
    }
    start_jobs(notify);
}

static void start_webhook(struct job *job)
{
    if (!job->handles) {
        uv_timer_init(job->notify->loop, &job->timer);
        job->timer.data = job->work.data = job;
        job->handles = 1;
    }
    job->state = JOB_RUNS;
    job->notify->posts++;
    uv_queue_work(job->notify->loop, &job->work, post, on_posted);
}

/* ---- the queue ---- */

static void start_jobs(struct notify *notify)
{
    for (size_t i = 0; i < notify->jobs.len; i++) {
        struct job *job = notify->jobs.at[i];
        if (job->state != JOB_WAITS)
            continue;
        if (job->webhook && notify->posts == 0)
            start_webhook(job);
        else if (!job->webhook && notify->commands < COMMANDS)
            start_command(job);
    }
}

static struct job *job_new(struct notify *notify, const json_t *alert, const json_t *message)
{
    struct job *job = xcalloc(1, sizeof(*job));
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    json_value(&out, alert);
    job->notify = notify;
    job->alert = xstrdup(json.s);
    job->dir = xstrdup(json_get_text(message, "dir", "/"));
    vec_push(&notify->jobs, job);
    return job;
}

static void set_environment(struct job *job, const json_t *alert)
{
    for (char **p = environ; *p; p++)
        if (!str_starts(*p, "HONE_ALERT") && !str_starts(*p, "HONE_TRIAL=") &&
            !str_starts(*p, "HONE_EXPERIMENT="))
            vec_push(&job->env, xstrdup(*p));
    vec_push(&job->env, xasprintf("HONE_ALERT_JSON=%s", job->alert));
    vec_push(&job->env,
             xasprintf("HONE_EXPERIMENT=%lld", (long long)json_get_int(alert, "experiment", 0)));
    vec_push(&job->env, xasprintf("HONE_TRIAL=%s", json_get_text(alert, "trial", "")));
    vec_push(&job->env, xasprintf("HONE_ALERT=%s", json_get_text(alert, "alert", "")));
    vec_push(&job->env, xasprintf("HONE_ALERT_TEXT=%s", json_get_text(alert, "text", "")));
    vec_push(&job->env, NULL);
}

static void add_command(struct notify *notify, const json_t *alert, const json_t *message)
{
    const json_t *command = json_object_get(message, "command");
    struct job *job = job_new(notify, alert, message);

    for (size_t i = 0; i < json_array_size(command); i++)
        vec_push(&job->command, xstrdup(json_string_value(json_array_get(command, i))));
    vec_push(&job->command, NULL);
    set_environment(job, alert);
}

void notify_send(struct notify *notify, const char *json)
{
    autofree(json) json_t *message = NULL;

    if (json_parse(json, strlen(json), &message, NULL) < 0)
        return;
    if (notify->jobs.len >= QUEUE_MAX) {
        if (!notify->full)
            log_warn("more than %d alerts wait to be told: further ones are only recorded",
                     QUEUE_MAX);
        notify->full = true;
        return;
    }
    notify->full = false;
    const json_t *alert = json_object_get(message, "alert");
    const char *webhook = json_get_text(message, "webhook", NULL);
    if (json_array_size(json_object_get(message, "command")) > 0)
        add_command(notify, alert, message);
    if (webhook)
        job_new(notify, alert, message)->webhook = xstrdup(webhook);
    start_jobs(notify);
}

/* ---- the end ---- */

/* One that waits or pauses will not come to it any more. */
static void drop(struct job *job)
{
    autorelease(str) struct str words = STR_INIT;

    if (job->webhook && job->why) {
        give_up(job);
    } else {
        add_words(job, &words);
        log_warn("an alert was not told any more: %s", job->webhook ? job->webhook : words.s);
    }
    if (job->handles)
        end_webhook(job);
}

static void on_impatient(uv_timer_t *timer)
{
    struct notify *notify = timer->data;

    notify->impatient = true;
    for (size_t i = notify->jobs.len; i-- > 0;) {
        struct job *job = notify->jobs.at[i];
        if (job->state == JOB_RUNS && !job->webhook)
            kill_tree(job);
        if (job->state != JOB_WAITS && job->state != JOB_PAUSES)
            continue;
        drop(job);
        if (!job->handles) {
            vec_remove(&notify->jobs, i);
            job_free(job);
        }
    }
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct notify *notify = handle->data;
    notify->handles = 0;
}

void notify_free(struct notify *notify)
{
    if (!notify)
        return;
    uv_timer_init(notify->loop, &notify->timer);
    notify->timer.data = notify;
    notify->handles = 1;
    uv_timer_start(&notify->timer, on_impatient, CLOSE_MS, 0);
    while (notify->jobs.len)
        uv_run(notify->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&notify->timer, on_timer_closed);
    while (notify->handles)
        uv_run(notify->loop, UV_RUN_NOWAIT);
    vec_release(&notify->jobs);
    free(notify);
}
