/* SPDX-License-Identifier: MIT */
/*
 * influx_write.c — a body is read once if all its series are known. At the first line of a new one
 * storing stops, the rest is only looked through for further new series, and after the commit of
 * their rows the body is read again from where it was left.
 *
 * While the disk takes nothing, answers are held back: part of a body may be stored already, and a
 * client that is told of a failure sends it once more. Only after PATIENCE_US it is told.
 *
 * A commit may be held up for hours. Requests that need one are then answered at once, and nothing
 * of them is made or stored; so are those that waited for it, whose trials stay without values
 * until their lines are sent again.
 */
#include "api/influx_write.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "engine/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#define HELD_MAX         ((size_t)64 << 20) /* bytes of bodies that wait */
#define SPARE_MAX        ((size_t)1 << 20)
#define ERROR_HEADER_MAX 1024
#define PATIENCE_US      (10 * US_PER_S) /* as InfluxDB's write-timeout */

struct job {
    struct writes *writes;
    struct http_request *request; /* NULL: datagrams */
    char *db;
    struct str own;         /* of datagrams */
    const struct str *body; /* the request's or our own */
    int64_t precision_ns, now_ns;
    size_t held;      /* bytes that it counts for in writes->held */
    size_t done;      /* good lines that are stored */
    int64_t stuck_us; /* mono: since when the disk takes nothing; 0: it does */
    unsigned status;
    struct str error;
};
struct jobs { /* a VEC */
    struct job **at;
    size_t len, cap;
};
struct writes {
    struct engine *engine;
    struct observe *observe;
    struct influx_reader *reader;
    struct jobs waiting;  /* for a commit */
    struct jobs left;     /* answered, but still to be told of their commit */
    struct jobs stalled;  /* in the middle of their lines: the disk is full */
    struct jobs finished; /* to be answered when all is flushed */
    struct str spare;     /* room of datagrams that are stored */
    size_t held;          /* bytes of those that wait or are stalled */
    struct write_counts counts;
};

/* ---- answers ---- */

/* `error`: for its header, NULL: there is none. */
static void reply(struct http_request *request, unsigned status, const char *type, struct str *body,
                  const char *error)
{
    char id[40];
    uint64_t a = random_u64(), b = random_u64();
    const char *headers[] = {"Request-Id",
                             id,
                             "X-Request-Id",
                             id,
                             "X-Influxdb-Version",
                             INFLUX_VERSION,
                             "X-Influxdb-Build",
                             "OSS",
                             error ? "X-Influxdb-Error" : NULL,
                             error,
                             NULL};

    snprintf(id, sizeof(id), "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff), (unsigned)(b >> 48),
             (unsigned long long)(b & 0xffffffffffff));
    http_reply(request, status, type, body, headers);
}

void influx_reply(struct http_request *request, unsigned status, const char *type, struct str *body)
{
    reply(request, status, type, body, NULL);
}

/* The beginning of an error as a header may have it. */
static void error_header(char to[ERROR_HEADER_MAX + 1], const char *text, size_t n)
{
    n = MIN(n, ERROR_HEADER_MAX);
    for (size_t i = 0; i < n; i++)
        to[i] = iscntrl((unsigned char)text[i]) ? ' ' : text[i];
    to[n] = '\0';
}

void influx_reply_error_n(struct http_request *request, unsigned status, const char *text, size_t n)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    char header[ERROR_HEADER_MAX + 1];

    json_begin_object(&out);
    json_key(&out, "error");
    json_text_n(&out, text, n);
    json_end_object(&out);
    str_add_char(&body, '\n');
    error_header(header, text, n);
    reply(request, status, "application/json", &body, header);
}

void influx_reply_error(struct http_request *request, unsigned status, const char *text)
{
    influx_reply_error_n(request, status, text, strlen(text));
}

/* ---- jobs ---- */

/* Its lines are needed once more, later. */
static void hold(struct job *job, struct jobs *jobs)
{
    job->held = job->body->len;
    job->writes->held += job->held;
    vec_push(jobs, job);
}

static void let_go(struct job *job)
{
    job->writes->held -= job->held;
    job->held = 0;
}

static void job_free(struct job *job)
{
    let_go(job);
    free(job->db);
    str_release(&job->own);
    str_release(&job->error);
    free(job);
}

static void job_answer(struct job *job)
{
    if (job->request && job->status == 204)
        influx_reply(job->request, 204, NULL, NULL);
    else if (job->request)
        influx_reply_error_n(job->request, job->status, job->error.s, job->error.len);
    job_free(job);
}

/* Room that is used again costs no page faults. */
static void save_room(struct writes *writes, struct str *room)
{
    str_release(&writes->spare);
    writes->spare = *room;
    *room = (struct str)STR_INIT;
    if (writes->spare.cap > SPARE_MAX)
        str_release(&writes->spare);
    str_cut(&writes->spare, 0);
}

static void finish(struct job *job, unsigned status, const char *text)
{
    struct writes *writes = job->writes;

    job->status = status;
    if (text)
        str_add(&job->error, text);
    writes->counts.failed += status >= 500;
    if (!job->request)
        save_room(writes, &job->own);
    vec_push(&writes->finished, job);
}

/* 1: some of its series are new. */
static int read_lines(struct job *job, struct observed *observed, struct err *err)
{
    struct influx_reader *reader = job->writes->reader;
    struct now now = {job->now_ns / 1000, 0};
    struct influx_line line;
    bool waits = false;

    influx_reader_begin(reader, observed_keys(observed), job->body->s, job->body->len,
                        job->precision_ns, job->now_ns);
    for (size_t i = 0; influx_reader_next(reader, &line); i++) {
        if (i < job->done)
            continue;
        waits |= !observed_knows(observed, line.series, now);
        if (waits)
            continue;
        int r = observed_line(observed, &line, err);
        if (r < 0)
            return r;
        job->done = i + 1;
    }
    return waits;
}

static void fail(struct job *job, unsigned status, const char *text)
{
    str_cut(&job->error, 0);
    str_add(&job->error, text);
    job->writes->counts.failed += job->status < 500;
    job->status = status;
    job_answer(job);
}

/* Has it a series whose trial is not in the database? Nothing is stored. */
static bool has_news(struct job *job, struct observed *observed)
{
    struct influx_reader *reader = job->writes->reader;
    struct influx_line line;
    bool news = false;

    influx_reader_begin(reader, observed_keys(observed), job->body->s, job->body->len,
                        job->precision_ns, job->now_ns);
    while (influx_reader_next(reader, &line)) /* to the end, which is how the reader lets go */
        news |= !observed_has(observed, line.series);
    return news;
}

/* Would it have to wait for a commit, while these wait themselves? Datagrams can. */
static bool is_held_up(struct job *job)
{
    struct writes *writes = job->writes;
    struct observed *observed = NULL;

    if (!job->request || !engine_held_up(writes->engine))
        return false;
    if (!observe_find(writes->observe, job->db))
        return true;
    return observe_open(writes->observe, job->db, (struct now){0, 0}, &observed, NULL) == 0 &&
           has_news(job, observed);
}

static void job_again(void *arg);

static void job_run(struct job *job)
{
    struct writes *writes = job->writes;
    struct observed *observed = NULL;
    struct now now = {job->now_ns / 1000, 0};
    autorelease(err) struct err err = ERR_INIT;

    let_go(job);
    if (is_held_up(job)) {
        fail(job, 503, engine_held_up(writes->engine));
        return;
    }
    int r = observe_open(writes->observe, job->db, now, &observed, &err);

    if (r < 0) {
        finish(job, r == -EINVAL || r == -E2BIG ? 400 : 500, err_text(&err));
        return;
    }
    r = read_lines(job, observed, &err);
    if (r < 0) {
        hold(job, &writes->stalled);
        return;
    }
    if (r > 0) {
        hold(job, &writes->waiting);
        engine_when_committed(writes->engine, job_again, job);
        return;
    }
    struct influx_counts counts = influx_reader_counts(writes->reader);
    writes->counts.bad += counts.bad;
    writes->counts.refused += counts.dropped;
    job->status = (unsigned)influx_reader_status(writes->reader, &job->error);
    finish(job, job->status, NULL);
}

static bool take_from(struct jobs *jobs, const struct job *job)
{
    for (size_t i = 0; i < jobs->len; i++)
        if (jobs->at[i] == job) {
            vec_remove(jobs, i);
            return true;
        }
    return false;
}

static void job_again(void *arg)
{
    struct job *job = arg;
    struct writes *writes = job->writes;

    if (take_from(&writes->left, job)) {
        job_free(job);
        return;
    }
    take_from(&writes->waiting, job);
    job_run(job);
    writes_settle(writes, clock_mono_us());
}

/* ---- from outside ---- */

static struct job *job_new(struct writes *writes)
{
    struct job *job = xcalloc(1, sizeof(*job));

    job->writes = writes;
    job->own = job->error = (struct str)STR_INIT;
    job->precision_ns = 1;
    job->now_ns = clock_wall_us() * 1000;
    return job;
}

/* The database: db, of `bucket` what is before the policy. */
static char *db_of(const struct http_request *request)
{
    const char *db = http_param(request, "db"), *bucket = http_param(request, "bucket");

    if (bucket && *bucket && (!db || !*db))
        return xstrndup(bucket, strcspn(bucket, "/"));
    return xstrdup(db && *db ? db : OBSERVE_OUTSIDE);
}

/* While commits or the disk do not come along, what comes must wait somewhere else. */
static bool is_full(const struct writes *writes, size_t more)
{
    return writes->held && writes->held + more > HELD_MAX;
}

/* There is one server, whatever is asked for; InfluxDB still knows which words there are. */
static bool is_consistency(const char *level)
{
    static const char *const levels[] = {"", "any", "one", "quorum", "all"};

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (strcasecmp(level, levels[i]) == 0)
            return true;
    return false;
}

void writes_request(struct writes *writes, struct http_request *request)
{
    const char *consistency = http_param(request, "consistency");

    writes->counts.requests++;
    if (consistency && !is_consistency(consistency)) {
        influx_reply_error(request, 400, "invalid consistency level");
        return;
    }
    if (is_full(writes, http_body(request)->len)) {
        writes->counts.failed++;
        influx_reply_error(request, 503, "too much waits to be stored: send it again later");
        return;
    }
    struct job *job = job_new(writes);
    const char *precision = http_param(request, "precision");

    job->request = request;
    job->db = db_of(request);
    job->body = http_body(request);
    if (precision)
        job->precision_ns = influx_precision_ns(str_eq(precision, "us") ? "u" : precision);
    writes->counts.bytes += job->body->len;
    job_run(job);
}

void writes_datagrams(struct writes *writes, struct str *body)
{
    if (is_full(writes, body->len)) {
        writes->counts.overrun_bytes += body->len;
        str_release(body);
        return;
    }
    struct job *job = job_new(writes);

    job->db = xstrdup(OBSERVE_OUTSIDE);
    job->own = *body;
    *body = (struct str)STR_INIT;
    job->body = &job->own;
    writes->counts.bytes += job->body->len;
    job_run(job);
    *body = writes->spare;
    writes->spare = (struct str)STR_INIT;
}

/* Commits are held up: requests that wait for one are told, datagrams go on waiting. */
static void leave_waiting(struct writes *writes)
{
    const char *why = engine_held_up(writes->engine);
    size_t kept = 0;

    vec_foreach (at, &writes->waiting) {
        struct job *job = *at;
        if (!job->request) {
            writes->waiting.at[kept++] = job;
            continue;
        }
        let_go(job);
        writes->counts.failed++;
        influx_reply_error(TAKE(job->request), 503, why);
        vec_push(&writes->left, job);
    }
    writes->waiting.len = kept;
}

/* Those that have waited long enough are told. Whether their lines will be stored is unknown. */
static void lose_patience(struct jobs *jobs, int64_t now_us, const char *text)
{
    size_t kept = 0;

    vec_foreach (job, jobs) {
        if (!(*job)->stuck_us)
            (*job)->stuck_us = now_us;
        if (now_us - (*job)->stuck_us < PATIENCE_US)
            jobs->at[kept++] = *job;
        else
            fail(*job, 500, text);
    }
    jobs->len = kept;
}

static void run_stalled(struct writes *writes)
{
    struct jobs jobs = writes->stalled;

    writes->stalled = (struct jobs){0};
    vec_foreach (job, &jobs)
        job_run(*job);
    vec_release(&jobs);
}

void writes_settle(struct writes *writes, int64_t now_us)
{
    autorelease(err) struct err err = ERR_INIT;
    int r = 0;

    if (engine_held_up(writes->engine))
        leave_waiting(writes);
    if (!writes->finished.len && !writes->stalled.len)
        return;
    do {
        r = observe_flush(writes->observe, &err);
        if (r < 0)
            break;
        vec_foreach (job, &writes->finished)
            job_answer(*job);
        writes->finished.len = 0;
        run_stalled(writes);
    } while (writes->finished.len);
    lose_patience(&writes->finished, now_us, err_text(&err));
    lose_patience(&writes->stalled, now_us, r < 0 ? err_text(&err) : "there is no room");
}

bool writes_waiting(const struct writes *writes)
{
    return writes->waiting.len + writes->stalled.len + writes->finished.len > 0;
}

void writes_counts(const struct writes *writes, struct write_counts *ret)
{
    *ret = writes->counts;
}

struct writes *writes_new(struct engine *engine, struct observe *observe)
{
    struct writes *writes = xcalloc(1, sizeof(*writes));

    writes->engine = engine;
    writes->observe = observe;
    writes->spare = (struct str)STR_INIT;
    writes->reader = influx_reader_new();
    return writes;
}

static void fail_all(struct jobs *jobs, unsigned status, const char *text)
{
    vec_foreach (job, jobs)
        fail(*job, status, text);
    vec_release(jobs);
}

void writes_free(struct writes *writes)
{
    fail_all(&writes->waiting, 503, "the server is stopping");
    fail_all(&writes->stalled, 503, "the server is stopping");
    writes_settle(writes, clock_mono_us());
    fail_all(&writes->finished, 500, "the server is stopping, and the disk took nothing");
    vec_foreach (job, &writes->left)
        job_free(*job);
    vec_release(&writes->left);
    influx_reader_free(writes->reader);
    str_release(&writes->spare);
    free(writes);
}
